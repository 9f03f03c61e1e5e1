"""Smooth friction in a joint: a force against a rate that grows with it and does not jump."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.errors import Location
from kineta.model.bounds import Bound
from kineta.model.checks import contact_checks
from kineta.model.kind import Element, Kind, one_force
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.kind import Scope


@dataclass(frozen=True, slots=True)
class SmoothFriction(Element):
    """A force of size ``force`` against the rate s of a coordinate, or of any expression of the position, which grows with it as
    s / sqrt(s^2 + smooth^2), in N, or N m for an angle. It never sticks.
    """

    name: str
    force: Expr
    coordinate: Expr
    smooth: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def coordinate_fault(system: Scope, coordinate: Expr) -> tuple[str, str] | None:
    """Sentence on a wrong *coordinate* of friction, and the word at fault; None for a valid coordinate."""
    (plain,) = system.expand(coordinate)
    speed = next((n for n in plain.symbols() if n in system.speeds), None)
    if speed is not None:
        advice = f"; friction acts against the rate of what it is on: write on {speed[:-1]}" if speed[-1] == "'" else ""
        return f"expected an expression of the position, found the speed '{speed}'{advice}.", speed
    text = contact_checks.immobility_fault(system, coordinate)
    return (text, "") if text else None


def _fault(system: Scope, friction: SmoothFriction) -> tuple[str, str] | None:
    text = contact_checks.friction_fault(system, friction.force, None, friction.smooth, "a force")
    return coordinate_fault(system, friction.coordinate) or ((text, "") if text else None)


#: Its statement is that of dry friction, with the option ``smooth``.
KIND = SmoothFriction.kind = Kind(
    SmoothFriction,
    "friction",
    {},
    lambda f: f"= {f.force}, smooth = {f.smooth} on {f.coordinate}",
    positions=lambda f: (f.coordinate,),
    constants=lambda f: (f.smooth,),
    fault=_fault,
    bounds=lambda f: (Bound(f.force, "a force"), Bound(f.smooth, "'smooth'", positive=True)),
    forces=one_force,
)
