"""Dry friction in a joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kineta.errors import Location
from kineta.expr.node import Expr, Scalar
from kineta.model import units
from kineta.model.contacts import options, sound
from kineta.model.elements.kind import Form, Kind
from kineta.model.given import Record

if TYPE_CHECKING:
    from lark import Token

    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source
    from kineta.model.system import System


@dataclass(frozen=True, slots=True)
class Friction(Record):
    """Dry friction on a coordinate, or on any expression of the position: a force ``force`` against its rate, in N, or N m for
    an angle; up to ``static``, if that is another one, where it sticks. With a rate ``smooth`` nothing sticks: the force
    grows with the rate s as s / sqrt(s^2 + smooth^2).
    """

    name: str
    force: Expr
    coordinate: Expr
    static: Expr | None = None
    smooth: Expr | None = None
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the friction."""
        return tuple(x for x in (self.force, self.coordinate, self.static, self.smooth) if x is not None)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it takes hold of."""
        return ()


def friction(
    name: str, force: Scalar, coordinate: Expr, *, static: Scalar | None = None, smooth: Scalar | None = None
) -> Friction:
    """Dry :class:`Friction` of a size *force* against the rate of *coordinate*, an expression of q and t.

    static : the force up to which it sticks, if that is another one
    smooth : a rate over which the force grows, in place of sticking
    """
    return Friction(name, force, coordinate, static, smooth)  # type: ignore[arg-type]  # a record takes what it is given


def _read(source: Source, name: Token, force: Node, *rest: Node) -> Friction:
    *given, node = rest
    along = source.quantity(node)
    found = options.given(source, given, ("static", "smooth"))

    rate = source.is_rate(along.value)  # which is refused once the whole text is known

    def sized(value: Node, what: str) -> Expr:
        size = source.quantity(value)
        if not rate:
            source.fits(value, size, f"the {what} of friction '{name}'", along, units.ENERGY)
        return size.value

    static = sized(found["static"], "static force") if "static" in found else None
    known = None if rate or along.plain or along.dimension is None else units.times(along.dimension, units.TIME, -1)
    given_rate = found.get("smooth")
    smooth = None if given_rate is None else source.expression(given_rate, known, f"the rate of friction '{name}'")
    return Friction(str(name), sized(force, "force"), along.value, static, smooth, source.location(name))


def _written(friction: Friction) -> str:
    more = options.written(static=friction.static, smooth=friction.smooth)
    return f"= {friction.force}{more} on {friction.coordinate}"


def _fault(system: System, friction: Friction) -> tuple[str, str] | None:
    (coordinate,) = system.expand(friction.coordinate)
    speed = next((n for n in coordinate.symbols() if n in system.speeds), None)
    if speed is not None:
        advice = f"; friction acts against the rate of what it is on: write on {speed[:-1]}" if speed[-1] == "'" else ""
        return f"expected an expression of the position, found the speed '{speed}'{advice}.", speed
    text = sound.idle(system, friction.coordinate)
    text = text or sound.sticking(system, friction.force, friction.static, friction.smooth, "a force")
    return (text, "") if text else None


KIND = Kind(
    Friction,
    "friction",
    {"friction": Form(f'"=" sum {options.OPTIONS} "on" sum', _read)},
    _written,
    positions=lambda f: (f.coordinate,),
    constants=lambda f: () if f.smooth is None else (f.smooth,),
    fault=_fault,
)
