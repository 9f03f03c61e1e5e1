"""Contacts, limits and dry friction as rows that a run switches on and off.

A *touch* is one place that may touch, one end of a limit, or one joint that may stick. Its normal row keeps a gap closed, by a
force that pushes; its tangents keep it from slipping, by forces up to a bound. What it does at an instant are numbers of the
block h: whether it is ``closed``, whether it is ``stuck`` or ``slips``, and the direction in which it slips, or begins to.
Where more is closed or stuck than motion tells apart, forces along n, u and w may be given instead that are there beside the
least ones. Slip in space that just begins from rest keeps to its direction more firmly than one that goes on; what sticks
as near to its bound as it might begin to slip may bear a little more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.node import DESCRIPTIONS, Expr
from kineta.formalism.closures.rolling import SHAPES
from kineta.formalism.closures.sight import Sight, constant
from kineta.formalism.constraint import Row, anywhere, row_of, vanishes
from kineta.formalism.elements import Elements
from kineta.formalism.symbols import Symbols
from kineta.model.body import Station
from kineta.model.constraints.rolling import Rolling
from kineta.model.contacts import Unilateral
from kineta.model.contacts.contact import Contact, names
from kineta.model.contacts.friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.dimensions import unit_of
from kineta.passes.differentiate import gradient
from kineta.spatial.rotation import normals
from kineta.spatial.vector import Vector

#: Rows up to which a system has a program for all of them that solves for their forces.
FEW = 6
#: The numbers of a touch that a run switches.
FLAGS = ("closed", "stuck", "slips", "along u", "along w", "along n", "begins")


@dataclass(frozen=True, slots=True)
class Touch:
    """What may touch, or stick.

    normal : the gap, which is zero where it is closed; None for friction in a joint, which is never open
    tangents : the velocities of slip, none without friction
    bound : the coefficient of friction, or the force of friction where there is no normal; ``static`` is that of what sticks
    smooth : the speed of slip over which friction grows, None where it is Coulomb's
    restitution : of an impact, Newton's or Poisson's
    limit : whether it is the end of a limit; unit : of the gap, ``''`` where none is known
    speed : the place of the speed of which its only row is the rate, up to the sign; None for others, and in systems in
        which it is not worth while, or not enough, to know
    varies : whether the bound changes with the motion, and may come to be less than zero
    """

    name: str
    normal: Row | None
    tangents: tuple[Row, ...] = ()
    bound: Ref = ZERO
    static: Ref = ZERO
    smooth: Ref | None = None
    restitution: Ref = ZERO
    poisson: bool = False
    limit: bool = False
    unit: str = "m"
    speed: int | None = None
    varies: bool = False

    @property
    def rows(self) -> tuple[Row, ...]:
        """The normal row, if there is one, then the tangents."""
        return self.tangents if self.normal is None else (self.normal, *self.tangents)

    @property
    def flags(self) -> tuple[str, ...]:
        """Names of the numbers that a run switches; no name of a model looks like them."""
        return tuple(f"{self.name}: {flag}" for flag in FLAGS)


def standing(touches: Sequence[Touch]) -> frozenset[str]:
    """The names of those whose forces always belong to the equations of a run: of friction in joints, and with it of what holds
    single speeds.
    """
    always = [touch for touch in touches if touch.normal is None]
    return pressing(touches, {touch.name for touch in always}) if always else frozenset()


def pressing(touches: Sequence[Touch], names: Collection[str]) -> frozenset[str]:
    """The *names* of what presses, beside those of friction in joints and of what holds single speeds."""
    beside = (touch.name for touch in touches if touch.normal is None or touch.speed is not None)
    return frozenset((*names, *beside))


def touches(on: Elements) -> tuple[Touch, ...]:
    """All that may touch or stick in a system, in the order of its description."""
    symbols = on.mechanism.symbols
    if not symbols.system.contacts:
        return ()
    states = [anywhere(symbols, seed) for seed in range(2)]
    all_of_them = (touch for record in symbols.system.contacts for touch in _moved(on, record))
    resting = {p.name for p in symbols.system.parameters}
    found = tuple(
        replace(
            _moving(symbols.graph, touch, states),
            varies=not resting.issuperset(Expr(symbols.graph, touch.bound).symbols()),
        )
        for touch in all_of_them
    )
    if sum(len(touch.rows) for touch in found) <= FEW or symbols.system.constraints or symbols.system.quasi:
        return found
    return tuple(replace(touch, speed=_speed(symbols, touch)) for touch in found)


def _moved(on: Elements, record: Unilateral) -> Iterator[Touch]:
    """The touches of *record*. Raises :class:`ModelError` for a gap that no motion changes."""
    for touch in _KINDS[type(record)](on, record):
        if touch.normal is not None and not touch.normal.gradient:
            text = f"no motion changes the gap of '{touch.name}'; expected one that opens and closes. Leave it out."
            raise ModelError(f"Model '{on.mechanism.symbols.system.name}': {text}", record.location)
        yield touch


def _speed(symbols: Symbols, touch: Touch) -> int | None:
    """The speed of which the only row of *touch* is the rate, up to the sign; None where it is more."""
    row = touch.rows[0] if len(touch.rows) == 1 else None
    if row is None or row.rest != ZERO or len(row.gradient) != 1:
        return None
    ((k, partial),) = row.gradient.items()
    return k if partial in (ONE, neg(ONE)) and row.levels[-1] in (symbols.v[k], neg(symbols.v[k])) else None


def _moving(graph: Graph, touch: Touch, states: Sequence[Mapping[str, float]]) -> Touch:
    """*touch* without the tangents along which nothing can move: a plane mechanism has one."""
    moved = (r for r in touch.tangents if not vanishes(graph, r.levels[0], states))
    return replace(touch, tangents=tuple(moved))


def _contact(on: Elements, contact: Contact) -> Iterator[Touch]:
    given = (contact.restitution, contact.friction, contact.friction if contact.static is None else contact.static)
    restitution, bound, static = on.expression(*given)
    smooth = None if contact.smooth is None else on.expression(contact.smooth)[0]
    for place, start in zip(names(on.mechanism.symbols.system, contact), contact.starts, strict=True):
        name = contact.name if len(contact.starts) == 1 else f"{contact.name}.{place}"
        n, u, w = _on_ground(on, contact, name) if contact.height is not None else _on_plane(on, contact, start, name)
        tangents = () if bound == ZERO else (u, w)
        yield Touch(name, n, tangents, bound, static, smooth, restitution, contact.poisson)


def _on_plane(on: Elements, contact: Contact, start: Station, name: str) -> tuple[Row, Row, Row]:
    """The gap between a shape and a plane, and the velocities of slip along it."""
    given = (contact.shape, contact.sizes, start, contact.end, contact.normal, contact.axis)
    rolling = Rolling(name, *given, location=contact.location)
    sight = Sight(on.kinematics, contact.end.body)
    n, u, w = (constant(on.graph, e) for e in (contact.normal, *normals(contact.normal)))
    touching = SHAPES[contact.shape](on, rolling, sight, n, on.expression(*contact.sizes))
    above = sight.position(start)
    symbols = on.mechanism.symbols
    drift = Vector(on.graph, *symbols.rates(above.sum.refs))
    velocity = drift + sight.turning(start.body).cross(touching.arm)
    gap = on.graph.sub(n.dot(above.less(sight.position(contact.end))), touching.height)
    return (
        row_of(symbols, f"{name}.n", gap),
        row_of(symbols, f"{name}.u", u.dot(velocity), order=1),
        row_of(symbols, f"{name}.w", w.dot(velocity), order=1),
    )


def _on_ground(on: Elements, contact: Contact, name: str) -> tuple[Row, Row, Row]:
    """The gap between a point and ground of a given height over a plane, along the normal of the ground there."""
    g, symbols, (point,) = on.graph, on.mechanism.symbols, contact.starts
    assert contact.height is not None
    up, u = (constant(g, e) for e in (contact.normal, normals(contact.normal)[0]))
    (height,) = on.expression(contact.height)
    over = on.kinematics.position(point) - on.kinematics.position(contact.end)
    N = up - Vector(g, *slope(on, contact.height, point))
    size = g.sqrt(N.dot(N))
    if size == ZERO:
        text = f"contact '{name}': the height {contact.height!r} rises as its point does, so that no gap is left between them; "
        text += "expected a height over the directions along the plane."
        raise ModelError(f"Model '{symbols.system.name}': {text}", contact.location)
    share = g.div(ONE, size)
    n = N * share
    whole = row_of(symbols, f"{name}.n", g.sub(up.dot(over), height))
    normal = replace(
        whole,
        levels=tuple(g.mul(share, x) for x in whole.levels),
        gradient={k: g.mul(share, x) for k, x in whole.gradient.items()},
        rest=g.mul(share, whole.rest),
    )
    across = u - n * n.dot(u)
    e = across * g.div(ONE, g.sqrt(across.dot(across)))
    velocity = on.kinematics.velocity(point)
    first, second = e.dot(velocity), n.cross(e).dot(velocity)
    return normal, row_of(symbols, f"{name}.u", first, order=1), row_of(symbols, f"{name}.w", second, order=1)


def slope(on: Elements, height: Expr, point: Station) -> list[Ref]:
    """The derivatives of a *height* by the components of the only point that it names, in ground axes."""
    names = {n.rpartition(".")[0] for n in height.symbols() if "." in n}
    components = [DESCRIPTIONS.symbol(f"{name}.{c}") for name in names for c in "xyz"]
    partials = gradient(DESCRIPTIONS, height.ref, components) if components else {}
    shown = [Expr(DESCRIPTIONS, partials.get(c, ZERO)) for c in components] or [Expr(DESCRIPTIONS, ZERO)] * 3
    return on.expression(*shown)


def _limit(on: Elements, limit: Limit) -> Iterator[Touch]:
    g = on.graph
    (value, restitution) = on.expression(limit.value, limit.restitution)
    unit = unit_of(on.mechanism.symbols.system, limit.value)
    for name, end, sign in (("lower", limit.lower, 1), ("upper", limit.upper, -1)):
        if end is not None:
            gap = g.sub(value, on.expression(end)[0])
            row = row_of(on.mechanism.symbols, f"{limit.name}.{name}", gap if sign > 0 else neg(gap))
            yield Touch(row.constraint, row, restitution=restitution, poisson=limit.poisson, limit=True, unit=unit)


def _friction(on: Elements, friction: Friction) -> Iterator[Touch]:
    static = friction.force if friction.static is None else friction.static
    force, held, coordinate = on.expression(friction.force, static, friction.coordinate)
    smooth = None if friction.smooth is None else on.expression(friction.smooth)[0]
    row = row_of(on.mechanism.symbols, friction.name, on.rate(coordinate), order=1)
    yield Touch(friction.name, None, (row,), force, held, smooth)


_KINDS: Mapping[type, Callable[[Elements, Any], Iterator[Touch]]] = {
    Contact: _contact,
    Limit: _limit,
    Friction: _friction,
}
