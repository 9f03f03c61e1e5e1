"""Compliant contact: a surface that yields, and pushes back by a spring and a damper while it is pressed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kineta.algebra.expression import Expr, expr, symbol
from kineta.algebra.functions import maximum, sqrt, step
from kineta.errors import Location, did_you_mean
from kineta.model import units
from kineta.model.axis import Axis
from kineta.model.body import Station
from kineta.model.bounds import Bound
from kineta.model.constraints import placement
from kineta.model.kind import Element, Kind, Scope
from kineta.model.units import Dimension

_NONE = expr(0)
#: Laws of compliant contact, with the dimensions of stiffness and damping.
LAWS: Mapping[str, tuple[Dimension, Dimension]] = {
    "kelvin_voigt": (units.STIFFNESS, units.DAMPING),
    "hunt_crossley": (units.times(units.FORCE, units.LENGTH, -1.5), units.times(units.NUMBER, units.VELOCITY, -1)),
}
#: A depth [m] too small to matter: a root has no slope at zero, and what touches nowhere has slopes, too.
SHALLOW = 1e-12
#: Names of the gap and its rate in the laws, which no point has.
GAP, RATE = "contact.gap", "contact.rate"


@dataclass(frozen=True, slots=True)
class CompliantContact(Element):
    """Places of bodies that press into a plane; each is a contact of its own.

    ``shape`` is ``point`` or ``ball``, of the ``sizes`` [m]; ``starts`` are the points, or the centres of the balls. The plane is
    fixed in the body of ``end``, goes through that place and has the normal ``normal``, on the side of the bodies.

    At the depth d the plane pushes by k d + c d' where the ``law`` is ``kelvin_voigt``, of the ``stiffness`` k [N/m] and the
    ``damping`` c [N s/m]; by k d^1.5 (1 + 1.5 a d') where it is ``hunt_crossley``, of the ``stiffness`` k [N/m^1.5] and the
    ``damping`` a [s/m]; it never pulls. ``friction`` is a coefficient; the force of friction grows with the speed s of slip as
    s / sqrt(s^2 + smooth^2), with the speed ``smooth`` [m/s].
    """

    name: str
    shape: str
    sizes: tuple[Expr, ...]
    starts: tuple[Station, ...]
    end: Station
    normal: Axis
    stiffness: Expr
    law: str = "kelvin_voigt"
    damping: Expr = _NONE
    friction: Expr = _NONE
    smooth: Expr | None = None
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on."""
        return (*dict.fromkeys(s.body for s in self.starts), self.end.body)

    @property
    def radius(self) -> Expr:
        """The distance from a start to the place that touches."""
        return self.sizes[0] if self.sizes else _NONE

    @property
    def elastic(self) -> Expr:
        """The force of the spring, of the gap."""
        return self.stiffness * (_bent() if self.law == "hunt_crossley" else _depth())

    @property
    def push(self) -> Expr:
        """The normal force, of the gap and its rate."""
        if self.law == "hunt_crossley":
            return maximum(self.elastic * (1 - 1.5 * self.damping * symbol(RATE)), 0)
        return maximum(self.elastic - self.damping * symbol(RATE) * step(-symbol(GAP)), 0)

    @property
    def energy(self) -> Expr:
        """What the spring stores, of the gap."""
        return self.elastic * _depth() * (0.4 if self.law == "hunt_crossley" else 0.5)


def _depth() -> Expr:
    return maximum(-symbol(GAP), 0)


def _bent() -> Expr:
    """The depth to the power of 1.5."""
    return _depth() ** 2 / sqrt(maximum(-symbol(GAP), SHALLOW))


def _written(contact: CompliantContact) -> str:
    sizes = f" = {contact.radius}" if contact.sizes else ""
    starts = ", ".join(placement.place(s, None) for s in contact.starts)
    law = "" if contact.law == "kelvin_voigt" else f" {contact.law}"
    more = f", stiffness = {contact.stiffness}{law}"
    for name, value in (("damping", contact.damping), ("friction", contact.friction), ("smooth", contact.smooth)):
        more += "" if value is None or value.value == 0 else f", {name} = {value}"
    return f": {contact.shape}{sizes} between {starts} and {placement.place(contact.end, contact.normal)}{more}"


def _fault(system: Scope, contact: CompliantContact) -> tuple[str, str] | None:
    if contact.shape not in ("point", "ball"):
        near = did_you_mean(contact.shape, ("point", "ball"))
        text = f"expected a point or a ball, which alone may be compliant, found '{contact.shape}'.{near}"
        return text, contact.shape
    if contact.law not in LAWS:
        near = did_you_mean(contact.law, LAWS)
        return f"expected a law of compliant contact ({', '.join(LAWS)}), found '{contact.law}'.{near}", contact.law
    if not contact.starts:
        return "expected a place that may touch, found none.", ""
    if len(contact.sizes) != (contact.shape == "ball"):
        has = "a point has no size" if contact.shape == "point" else "a ball has 1 size, radius"
        return f"{has}, found {', '.join(map(str, contact.sizes)) or 'none'}.", contact.shape
    for i, start in enumerate(contact.starts):
        if start in contact.starts[:i]:
            return f"the place at '{start.body}' is given twice.", start.body
        if (fixed := placement.fault(system, start.body, contact.end.body)) is not None:
            return fixed
    return _of_friction(contact)


def _of_friction(contact: CompliantContact) -> tuple[str, str] | None:
    """Sentence on friction without its speed of slip, or a speed without friction."""
    if (contact.friction.value == 0) == (contact.smooth is None):
        return None
    if contact.smooth is None:
        return "friction of a compliant contact grows with the slip; give its speed, as in smooth = 1 mm/s.", ""
    return "'smooth' says nothing without friction; give a coefficient of friction, or leave 'smooth' out.", ""


def _bounds(contact: CompliantContact) -> tuple[Bound, ...]:
    smooth = () if contact.smooth is None else (Bound(contact.smooth, "'smooth'", positive=True),)
    return (
        *(Bound(size, "a radius", positive=True) for size in contact.sizes),
        Bound(contact.stiffness, "a stiffness", positive=True),
        Bound(contact.damping, "a damping"),
        Bound(contact.friction, "a coefficient of friction"),
        *smooth,
    )


#: Its statement is that of a contact, with the option ``stiffness``.
KIND = CompliantContact.kind = Kind(
    CompliantContact,
    "contact",
    {},
    _written,
    constants=lambda c: c.expressions,
    fault=_fault,
    bounds=_bounds,
)
