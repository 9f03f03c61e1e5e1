"""Contact of points and bodies with a plane, with ground of a given height, or with each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from kineta.algebra.expression import Expr, Scalar, expr, symbol
from kineta.errors import ArgumentError, Location, ModelError, one_of, shown
from kineta.model import units
from kineta.model.axis import Axis
from kineta.model.body import GROUND, Station, station
from kineta.model.bounds import Bound, broken_constant
from kineta.model.checks import contact_checks
from kineta.model.checks.diagnostics import CheckError
from kineta.model.coercion import COERCIONS, entries, scalar
from kineta.model.constraints import placement, rolling, shapes
from kineta.model.constraints.shapes import PLANE, Touching
from kineta.model.contacts import parameter_condition
from kineta.model.contacts import restitution as options
from kineta.model.contacts.parameter_condition import WHILE
from kineta.model.elements import compliant_contact
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.elements.coordinate import Place
from kineta.model.kind import Kind, Production, Scope, Unilateral
from kineta.model.named_expressions import substitute_names
from kineta.model.vectors import part
from kineta.records import dataclass
from kineta.values import word

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token

_NONE = expr(0)
_UNDAMPED = "damping says nothing without a stiffness; give both, or a restitution."

#: Options of a contact.
_OPTIONS = ("restitution", "friction", "static", "smooth", "stiffness", "damping")


@dataclass(frozen=True, slots=True)
class Contact(Unilateral):
    """Places of bodies that may touch a surface and cannot pass it; each is a contact of its own.

    ``shape`` is one of ``shapes.SHAPES``, of the ``sizes`` [m]; ``starts`` are the points, or the centres of the shapes, and
    ``axis`` the axis of a capsule, wheel, disk or torus in the axes of its body; a box has the axes of its body. The ``surface``
    is a ``plane``, or a ball, capsule or box of the ``surface_sizes`` [m], fixed in the body of ``end`` with its centre there.
    ``normal`` is the normal of the plane, on the side of the bodies, or the axis of the capsule. With a ``height`` [m], the only
    point or round shape touches ground of this height above the plane: an expression of the components of the point, or of the
    centre in place of any point of the ground, in ground axes, and of t.

    ``restitution`` is Newton's, or Poisson's where ``poisson`` is set. ``friction`` is the coefficient of Coulomb's law, and
    ``static`` the coefficient in sticking, if different. With a speed ``smooth`` [m/s] no contact sticks: the
    force of friction grows with the speed s as s / sqrt(s^2 + smooth^2). It acts while all parameters of ``conditions``, which
    switches set, have these values.
    """

    name: str
    shape: str
    sizes: tuple[Expr, ...]
    starts: tuple[Station, ...]
    end: Station
    normal: Axis | None
    axis: Axis | None = None
    height: Expr | None = None
    restitution: Expr = _NONE
    poisson: bool = False
    friction: Expr = _NONE
    static: Expr | None = None
    smooth: Expr | None = None
    location: Location | None = field(default=None, compare=False, repr=False)
    conditions: tuple[tuple[str, Expr], ...] = ()
    surface: str = PLANE
    surface_sizes: tuple[Expr, ...] = ()

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the contact."""
        given = (self.height, self.restitution, self.friction, self.static, self.smooth)
        places = (x for s in (*self.starts, self.end) for x in s.position)
        return (
            *self.sizes,
            *self.surface_sizes,
            *(x for x in given if x is not None),
            *places,
            *(x for _, x in self.conditions),
        )

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on."""
        return (*dict.fromkeys(s.body for s in self.starts), self.end.body)

    def rows(self, scope: Scope) -> tuple[str, ...]:
        """Names of its rows: of each place ``n`` along the normal, ``u`` and ``w`` along the surface."""
        return tuple(f"{place}.{c}" for place in self.places(scope) for c in "nuw")

    def impacts(self, scope: Scope) -> tuple[str, ...]:
        """The names of the contact at each of its places."""
        return self.places(scope)

    def places(self, scope: Scope) -> tuple[str, ...]:
        """The name of the contact at each of its places: ``foot``, or ``box.A`` where there are several bodies or points, and
        ``log.low`` or ``log.A.low`` where a body has several places.
        """
        return tuple(self.touchings(scope))

    def touchings(self, scope: Scope) -> dict[str, Touching]:
        """The places at which it may touch, by name."""
        owners = placement.owners(scope, self.name, self.starts)
        return {
            f"{self.name}{owner}{'.' * bool(place.name)}{place.name}": place
            for owner, start in zip(owners, self.starts, strict=True)
            for place in (shapes.hard(self.at(start)) if self.height is None else (self.at(start),))
        }

    def at(self, start: Station) -> Touching:
        """The shape at *start* on the surface."""
        shape = ("", self.shape, self.sizes, start, self.axis)
        return Touching(*shape, self.surface, self.surface_sizes, self.end, self.normal)

    @property
    def gaps(self) -> tuple[Expr, ...]:
        """The height of the ground."""
        return () if self.height is None else (self.height,)


def _places(value: object, *_: object) -> tuple[Station, ...]:
    found = entries(value)
    if isinstance(value, set | frozenset):
        raise ArgumentError(f"Expected places in their order, as in (foot, heel), found {shown(value)}.")
    return tuple(station(p) for p in ((value,) if found is None else found))


COERCIONS["tuple[Station, ...]"] = _places


def contact(
    name: str,
    shape: str,
    starts: Place | Sequence[Place],
    end: Place,
    *,
    normal: Sequence[Scalar] | None = None,
    sizes: Scalar | Sequence[Scalar] = (),
    axis: Sequence[Scalar] | None = None,
    surface: str = PLANE,
    surface_sizes: Scalar | Sequence[Scalar] = (),
    surface_axis: Sequence[Scalar] | None = None,
    height: Scalar | None = None,
    restitution: Scalar = 0.0,
    law: str | None = None,
    friction: Scalar = 0.0,
    static: Scalar | None = None,
    smooth: Scalar | None = None,
    conditions: Mapping[str, Scalar] | None = None,
    stiffness: Scalar | None = None,
    damping: Scalar = 0.0,
) -> Contact | CompliantContact:
    """:class:`Contact` of points or bodies with a plane, with ground of a given height, or with a ball, capsule or box of another
    body; with a *stiffness* the element :class:`CompliantContact`.

    shape : ``point``, ``capsule``, ``box``, or a shape of :func:`rolling`, with its ``sizes`` [m]: radius and length of a capsule
        between the centres of its ends, the sides of a box
    starts, end : the points or centres that may touch, and a place of the plane, or the centre of the surface (points, stations,
        or bodies: their origins)
    normal : (3,) of the plane, in the axes of the body of *end*, on the side of the bodies
    axis : (3,) of a capsule, wheel, disk or torus, in the axes of its body
    surface, surface_sizes, surface_axis : ``ball``, ``capsule`` or ``box`` on which points, balls and capsules touch, in place of
        a plane, with its sizes [m]; the axis of a capsule, (3,), in the axes of the body of *end*
    height : of the ground above the plane [m], an expression of the components of the only point, or of the centre of the only
        round shape in place of any point of the ground, as ``kn.symbol("Heel.x")``
    law : of the *restitution*, ``newton`` by default or ``poisson``; of the *stiffness*, ``kelvin_voigt`` by default or
        ``hunt_crossley``
    friction, static : coefficients of kinetic friction, and of static friction, if different
    smooth : a speed of slip over which friction grows, in place of sticking [m/s]
    conditions : parameters, by name, with the values at which it acts; as they are set by switches
    stiffness, damping : of a compliant contact, as its law has them

    Raises :class:`ArgumentError` for what a compliant contact does not have, and for *damping* without a *stiffness*.
    """
    shape, surface = word(shape, "a shape"), word(surface, "a surface")
    if surface == PLANE and surface_axis is not None:
        raise ArgumentError(f"Contact '{name}': a plane has a normal; leave out 'surface_axis'.")
    if surface != PLANE and normal is not None:
        raise ArgumentError(
            f"Contact '{name}': a {surface} has no normal; leave it out, or give 'surface_axis' to a capsule."
        )
    upright = normal if surface == PLANE else surface_axis
    on: Any = (surface, surface_sizes)  # which the record coerces
    if stiffness is not None:
        hard = {"height": height, "static": static, "conditions": conditions or None}
        hard |= {"restitution": None if expr(restitution).value == 0 else restitution}
        if (fault := _hard(n for n, x in hard.items() if x is not None)) is not None:
            raise ArgumentError(f"Contact '{name}': {fault}")
        how = one_of("kelvin_voigt" if law is None else law, compliant_contact.LAWS, "a law of compliant contact")
        compliant = CompliantContact(
            *(name, shape, sizes, starts, end, upright, stiffness, how, damping, friction, smooth),  # type: ignore[arg-type]  # the same
            axis=axis,  # type: ignore[arg-type]  # a record takes what it is given
            surface=on[0],
            surface_sizes=on[1],
        )
        if text := broken_constant(compliant.kind.bounds(compliant)):
            raise CheckError("Contact", name, None, text)
        return compliant
    if expr(damping).value != 0:
        raise ArgumentError(f"Contact '{name}': {_UNDAMPED}")
    poisson = options.poisson("newton" if law is None else law)
    over = None if height is None else _by_components(scalar(height))
    given = (name, shape, sizes, starts, end, upright, axis, over, restitution, poisson, friction, static, smooth)
    found = Contact(*given, None, conditions or {}, *on)  # type: ignore[arg-type]  # a record takes what it is given
    if text := broken_constant(_coefficients(found)):
        raise CheckError("Contact", name, None, text)
    return found


def _hard(given: Iterable[str]) -> str | None:
    """Sentence on what a compliant contact does not have, of the options *given*; None for none of them."""
    found = next(iter(given), None)
    return None if found is None else f"a contact with a stiffness has no {_HARD[found]}; leave out one of them."


#: What a compliant contact does not have, in words.
_HARD = {
    "restitution": "restitution: the rebound follows from its damping",
    "static": "static friction: it never sticks",
    "conditions": "conditions",
    "height": "height",
}


def _read(
    source: Source,
    name: Token,
    shape: Token,
    sizes: Node | None,
    surface: Token | None,
    surface_sizes: Node | None,
    places: Node,
    end: Node,
    height: Node | None,
    *given: Node,
) -> Contact | CompliantContact:
    source.noted(shape)
    starts = [placement.read(source, node) for node in places.children]
    second, normal = placement.read(source, end)
    if surface is not None:
        source.noted(surface)
    elif normal is None:
        text = f"the plane of contact '{name}' needs its normal, as in {second.body} axis (0, 0, 1)."
        raise ModelError(text, source.location(end))
    axis = next((a for _, a in starts if a is not None), None)
    for node, (place, own) in zip(places.children, starts, strict=True):
        if own not in (None, axis):
            text = f"expected one axis for all places, in the axes of the body of each, found another one at '{place.body}'."
            raise ModelError(text, source.location(node))
    chosen, conditions = parameter_condition.split(given)
    found = options.option_nodes(source, chosen, _OPTIONS)

    def coefficient(option: str, what: str) -> Expr | None:
        value = found.get(option)
        return None if value is None else source.coefficient(value, f"{what} of contact '{name}'")

    friction, slow = coefficient("friction", "the friction"), found.get("smooth")
    speed = None if slow is None else source.expression(slow, units.VELOCITY, f"the speed smooth of contact '{name}'")

    def measured(given: Node | None, what: Token | None) -> tuple[Expr, ...]:
        return tuple(
            source.expression(size, units.LENGTH, f"a size of the {what} '{name}'")
            for size in (() if given is None else given.children)
        )

    on = (PLANE if surface is None else str(surface), measured(surface_sizes, surface))
    geometry = (
        str(name),
        str(shape),
        measured(sizes, shape),
        tuple(place for place, _ in starts),
        second,
        normal,
    )
    rubs = _NONE if friction is None else friction
    if "stiffness" in found:
        given_too = {**found, "conditions": conditions, "height": height}
        if (fault := _hard(n for n in _HARD if given_too.get(n))) is not None:
            raise ModelError(f"contact '{name}': {fault}", source.location(name))
        law = str(found.get("law", "kelvin_voigt"))
        k, c = (
            source.expression(found[n], unit, f"the {n} of contact '{name}'") if n in found else _NONE
            for n, unit in zip(("stiffness", "damping"), compliant_contact.LAWS[law], strict=True)
        )
        return CompliantContact(*geometry, k, law, c, rubs, speed, source.location(name), axis, *on)
    if "damping" in found:
        raise ModelError(f"contact '{name}': {_UNDAMPED}", source.location(name))
    return Contact(
        *geometry,
        axis,
        None
        if height is None
        else _by_components(source.expression(height, units.LENGTH, f"the height of contact '{name}'")),
        *options.restitution(source, found, f"contact '{name}'"),
        rubs,
        coefficient("static", "the static friction"),
        speed,
        source.location(name),
        parameter_condition.read(source, conditions, "condition"),
        *on,
    )


def _written(contact: Contact) -> str:
    height = "" if contact.height is None else f" height {contact.height}"
    friction = None if contact.friction.value == 0 else contact.friction
    more = options.restitution_clause(contact.restitution, contact.poisson)
    more += options.option_clause(friction=friction, static=contact.static, smooth=contact.smooth)
    more += parameter_condition.clause(contact.conditions, "while")
    return f"{shapes.clause([contact.at(s) for s in contact.starts])}{height}{more}"


def _fault(system: Scope, contact: Contact) -> tuple[str, str] | None:
    if not contact.starts:
        return "expected a place that may touch, found none.", ""
    if (wrong := shapes.shape_fault(contact.at(contact.starts[0]), shapes.SHAPES)) is not None:
        return wrong
    for i, start in enumerate(contact.starts):
        if start in contact.starts[:i]:
            return f"the place '{placement.names(system, contact.name, contact.starts)[i]}' is given twice.", start.body
        fixed = placement.fault(system, start.body, contact.end.body)
        if fixed is not None:
            return fixed
    text = contact_checks.friction_fault(
        system, contact.friction, contact.static, contact.smooth, "a coefficient of friction"
    )
    return (text, "") if text else _of_height(system, contact) or parameter_condition.fault(system, contact.conditions)


def _by_components(height: Expr) -> Expr:
    """A *height* in which places are named ``P.x``, not ``r(P).x``."""
    parts = {n: own for n in height.symbols() if (own := part(n)) is not None and own.order == 0}
    plain = {n: own for n, own in parts.items() if own.component is not None and own.vector.frame == GROUND}
    return substitute_names({n: symbol(f"{x.vector.of}.{'xyz'[x.component or 0]}") for n, x in plain.items()}, height)


def _bounds(contact: Contact) -> tuple[Bound, ...]:
    return (*shapes.bounds(contact.at(contact.starts[0])), *_coefficients(contact))


def _coefficients(contact: Contact) -> tuple[Bound, ...]:
    """The ranges of the restitution, the friction, and its speed."""
    smooth = () if contact.smooth is None else (Bound(contact.smooth, "'smooth'", positive=True),)
    return Bound(contact.restitution, "a restitution", 1), Bound(contact.friction, "a coefficient of friction"), *smooth


def _of_height(system: Scope, contact: Contact) -> tuple[str, str] | None:
    """Sentence on a wrong height of the ground, and the word at fault."""
    if contact.height is None:
        return None
    flat = contact.end.body == GROUND and contact.surface == PLANE
    if contact.shape not in ("point", *rolling.SHAPES) or len(contact.starts) != 1 or not flat:
        text = "only a single point or round shape, and a plane of the ground, may have a height between them."
        model = contact.end.body.rpartition(".")[0]
        if contact.end.body == f"{model}.{GROUND}":
            text += f" The ground of model '{model}' is the frame '{contact.end.body}' here; write the contact beside 'use'."
        return text, ""
    (start,) = contact.starts
    own = [name for name, place in placement.stations(system).items() if place == start]
    if not own:
        text = f"a height needs a name for its place; describe it, as in point P on {start.body} = (0, 0, 0)."
        return text, start.body
    allowed = {"t", *(f"{name}.{c}" for name in own for c in "xyz")}
    (height,) = system.expand(contact.height)
    for name in height.symbols():
        if not any(name in names for names in (allowed, system.parameters)):
            text = f"expected a height over {own[-1]}.x, {own[-1]}.y, {own[-1]}.z, parameters and the time, found '{name}' in it."
            return text, name
    return None


def _constants(contact: Contact) -> tuple[Expr, ...]:
    """Sizes, places, the restitution and the speed of smooth friction."""
    smooth = () if contact.smooth is None else (contact.smooth,)
    return (
        *contact.sizes,
        *contact.surface_sizes,
        *(x for s in (*contact.starts, contact.end) for x in s.position),
        contact.restitution,
        *smooth,
        *(x for _, x in contact.conditions),
    )


#: Its statement reads both, since an option tells them apart.
KIND = Contact.kind = Kind(
    Contact,
    "contact",
    {
        "contact": Production(
            f'":" NAME ["=" sizes] ["on" NAME ["=" sizes]] "between" places "and" hold ["height" sum] {options.OPTIONS} {WHILE}',
            _read,
        )
    },
    _written,
    constants=_constants,
    fault=_fault,
    bounds=_bounds,
)
