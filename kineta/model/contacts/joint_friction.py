"""Dry friction in a joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import ArgumentError, Location, ModelError
from kineta.model import units
from kineta.model.bounds import Bound
from kineta.model.checks import contact_checks
from kineta.model.contacts import parameter_condition, restitution
from kineta.model.contacts.parameter_condition import WHILE
from kineta.model.elements.smooth_friction import SmoothFriction, coordinate_fault
from kineta.model.kind import Kind, Production, Scope, Unilateral
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token

_BOTH = "smooth friction never sticks; leave out 'static' or 'smooth'."

_ALWAYS = "smooth friction is a force and always there; leave out 'smooth', or give the force a factor in place of conditions."


@dataclass(frozen=True, slots=True)
class Friction(Unilateral):
    """Dry friction on a coordinate, or on any expression of the position: a force ``force`` against its rate, in N, or N m for
    an angle; up to ``static``, if that is another one, where it sticks. It acts while all parameters of ``conditions``, which
    switches set, have these values.
    """

    plural: ClassVar[str] = "dry friction"

    name: str
    force: Expr
    coordinate: Expr
    static: Expr | None = None
    location: Location | None = field(default=None, compare=False, repr=False)
    conditions: tuple[tuple[str, Expr], ...] = ()

    def impacts(self, scope: Scope) -> tuple[str, ...]:
        """None: friction never strikes."""
        return ()

    @property
    def along(self) -> Expr:
        """The coordinate on which it acts."""
        return self.coordinate


def friction(
    name: str,
    force: Scalar,
    coordinate: Expr,
    *,
    static: Scalar | None = None,
    smooth: Scalar | None = None,
    conditions: Mapping[str, Scalar] | None = None,
) -> Friction | SmoothFriction:
    """Friction of a size *force* against the rate of *coordinate*, an expression of q and t: dry :class:`Friction`, or with
    *smooth* the element :class:`SmoothFriction`.

    static : largest force in sticking, if different
    smooth : a rate over which the force grows, in place of sticking
    conditions : of dry friction, parameters, by name, with the values at which it acts; as they are set by switches

    Raises :class:`ArgumentError` for *static* or *conditions* together with *smooth*.
    """
    if smooth is None:
        return Friction(name, force, coordinate, static, conditions=conditions or {})  # type: ignore[arg-type]  # a record takes what it is given
    if static is not None:
        raise ArgumentError(f"Friction '{name}': {_BOTH}")
    if conditions:
        raise ArgumentError(f"Friction '{name}': {_ALWAYS}")
    return SmoothFriction(name, force, coordinate, smooth)  # type: ignore[arg-type]  # the same


def _read(source: Source, name: Token, force: Node, *rest: Node) -> Friction | SmoothFriction:
    (*given, node), conditions = parameter_condition.split(rest)
    along = source.quantity(node)
    found = restitution.option_nodes(source, given, ("static", "smooth"))

    rate = source.is_rate(along.value)  # which is refused once the whole text is known

    def sized(value: Node, what: str) -> Expr:
        size = source.quantity(value)
        if not rate:
            source.fits(value, size, f"the {what} of friction '{name}'", along, units.ENERGY)
        return size.value

    static = sized(found["static"], "static force") if "static" in found else None
    smooth = found.get("smooth")
    if smooth is None:
        held = parameter_condition.read(source, conditions, "condition")
        return Friction(str(name), sized(force, "force"), along.value, static, source.location(name), held)
    if static is not None:
        raise ModelError(f"friction '{name}': {_BOTH}", source.location(name))
    if conditions:
        raise ModelError(f"friction '{name}': {_ALWAYS}", source.location(name))
    known = None if rate or along.plain or along.dimension is None else units.times(along.dimension, units.TIME, -1)
    speed = source.expression(smooth, known, f"the rate of friction '{name}'")
    return SmoothFriction(str(name), sized(force, "force"), along.value, speed, source.location(name))


def _fault(system: Scope, friction: Friction) -> tuple[str, str] | None:
    text = contact_checks.friction_fault(system, friction.force, friction.static, None, "a force")
    found = coordinate_fault(system, friction.coordinate) or ((text, "") if text else None)
    return found or parameter_condition.fault(system, friction.conditions)


def _written(friction: Friction) -> str:
    size = f"= {friction.force}{restitution.option_clause(static=friction.static)} on {friction.coordinate}"
    return size + parameter_condition.clause(friction.conditions, "while")


#: Its statement reads both, since an option tells them apart.
_FORM: Production[Any] = Production(f'"=" sum {restitution.OPTIONS} "on" sum {WHILE}', _read)

KIND = Friction.kind = Kind(
    Friction,
    "friction",
    {"friction": _FORM},
    _written,
    constants=lambda f: tuple(x for _, x in f.conditions),
    positions=lambda f: (f.coordinate,),
    fault=_fault,
    bounds=lambda f: (Bound(f.force, "a force"),),
)
