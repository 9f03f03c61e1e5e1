"""Compliant contact: a surface that yields, and pushes back by a spring and a damper while it is pressed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kineta import tolerances
from kineta.algebra.expression import Expr, expr, symbol
from kineta.algebra.functions import maximum, sqrt, step
from kineta.errors import Location, did_you_mean
from kineta.model import units
from kineta.model.axis import Axis
from kineta.model.body import Station
from kineta.model.bounds import Bound
from kineta.model.constraints import placement, shapes
from kineta.model.constraints.shapes import PLANE, Touching
from kineta.model.kind import Element, Kind, Scope
from kineta.model.units import Dimension
from kineta.records import dataclass

_NONE = expr(0)
#: Laws of compliant contact, with the dimensions of stiffness and damping.
LAWS: Mapping[str, tuple[Dimension, Dimension]] = {
    "kelvin_voigt": (units.STIFFNESS, units.DAMPING),
    "hunt_crossley": (units.times(units.FORCE, units.LENGTH, -1.5), units.times(units.NUMBER, units.VELOCITY, -1)),
}
#: Names of the gap and its rate in the laws, which no point has.
GAP, RATE = "contact.gap", "contact.rate"


@dataclass(frozen=True, slots=True)
class CompliantContact(Element):
    """Places of bodies that press into a surface; each is a contact of its own.

    ``shape`` is ``point``, ``ball``, ``capsule`` or ``box``, of the ``sizes`` [m], with the ``axis`` of a capsule; ``starts``
    are the points, or the centres. The ``surface`` is a ``plane``, or a ball, capsule or box of the ``surface_sizes`` [m], fixed
    in the body of ``end`` with its centre there; ``normal`` is that of the plane, on the side of the bodies, or the axis of the
    capsule.

    At the depth d the surface pushes by k d + c d' where the ``law`` is ``kelvin_voigt``, of the ``stiffness`` k [N/m] and the
    ``damping`` c [N s/m]; by k d^1.5 (1 + 1.5 a d') where it is ``hunt_crossley``, of the ``stiffness`` k [N/m^1.5] and the
    ``damping`` a [s/m]; it never pulls. ``friction`` is a coefficient; the force of friction grows with the speed s of slip as
    s / sqrt(s^2 + smooth^2), with the speed ``smooth`` [m/s].
    """

    name: str
    shape: str
    sizes: tuple[Expr, ...]
    starts: tuple[Station, ...]
    end: Station
    normal: Axis | None
    stiffness: Expr
    law: str = "kelvin_voigt"
    damping: Expr = _NONE
    friction: Expr = _NONE
    smooth: Expr | None = None
    location: Location | None = field(default=None, compare=False, repr=False)
    axis: Axis | None = None
    surface: str = PLANE
    surface_sizes: tuple[Expr, ...] = ()

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on."""
        return (*dict.fromkeys(s.body for s in self.starts), self.end.body)

    def at(self, start: Station) -> Touching:
        """The shape at *start* on the surface."""
        shape = ("", self.shape, self.sizes, start, self.axis)
        return Touching(*shape, self.surface, self.surface_sizes, self.end, self.normal)

    @property
    def touchings(self) -> tuple[Touching, ...]:
        """The places at which it may touch."""
        return tuple(place for start in self.starts for place in shapes.touchings(self.at(start)))

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
    return _depth() ** 2 / sqrt(maximum(-symbol(GAP), tolerances.ROUNDING_TOLERANCE))


def _written(contact: CompliantContact) -> str:
    law = "" if contact.law == "kelvin_voigt" else f" {contact.law}"
    more = f", stiffness = {contact.stiffness}{law}"
    for name, value in (("damping", contact.damping), ("friction", contact.friction), ("smooth", contact.smooth)):
        more += "" if value is None or value.value == 0 else f", {name} = {value}"
    return f"{shapes.clause([contact.at(s) for s in contact.starts])}{more}"


def _fault(system: Scope, contact: CompliantContact) -> tuple[str, str] | None:
    if contact.law not in LAWS:
        near = did_you_mean(contact.law, LAWS)
        return f"expected a law of compliant contact ({', '.join(LAWS)}), found '{contact.law}'.{near}", contact.law
    if not contact.starts:
        return "expected a place that may touch, found none.", ""
    if (wrong := shapes.compliant_fault(contact.at(contact.starts[0]))) is not None:
        return wrong
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
        *shapes.bounds(contact.at(contact.starts[0])),
        Bound(contact.stiffness, "a stiffness", positive=True),
        Bound(contact.damping, "a damping"),
        Bound(contact.friction, "a coefficient of friction"),
        *smooth,
    )


def parts(contact: CompliantContact) -> str:
    """The forces at each place: ``n`` along the normal, with friction ``u`` and ``w`` along the surface."""
    return "n" if contact.smooth is None else "nuw"


def _places(system: Scope, contact: CompliantContact) -> list[str]:
    """The names of the places behind that of the *contact*, each with a dot, in the order of ``touchings``."""
    owners = placement.owners(system, contact.name, contact.starts)
    each = zip(owners, contact.starts, strict=True)
    own = [f"{owner}.{place.name}" for owner, start in each for place in shapes.touchings(contact.at(start))]
    return [f"{name.strip('.')}." if name.strip(".") else "" for name in own]


#: Its statement is that of a contact, with the option ``stiffness``.
KIND = CompliantContact.kind = Kind(
    CompliantContact,
    "contact",
    {},
    _written,
    constants=lambda c: c.expressions,
    fault=_fault,
    bounds=_bounds,
    forces=lambda system, c: tuple(f"{place}{part}" for place in _places(system, c) for part in parts(c)),
)
