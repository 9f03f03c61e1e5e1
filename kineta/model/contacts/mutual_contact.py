"""Contact of many bodies that may touch each other: ``contact wall : box = a, b, c among Brick[1..20], friction = 0.6;``.

One statement stands for a contact of each pair of its bodies. Time stepping takes them as a table, of which it looks at what is
near; elsewhere each pair is a contact of its own, and has rows by its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

from kineta.algebra.expression import Expr, Scalar, expr
from kineta.errors import ArgumentError, Location, ModelError, did_you_mean
from kineta.model import units
from kineta.model.axis import Axis, Z
from kineta.model.body import Station
from kineta.model.bounds import Bound, broken_constant
from kineta.model.checks import contact_checks
from kineta.model.checks.diagnostics import CheckError
from kineta.model.coercion import COERCIONS, ModelRecord, entries
from kineta.model.constraints import placement
from kineta.model.constraints.rolling import Shape
from kineta.model.constraints.shapes import BODIES, PLANE, Touching, hard
from kineta.model.contacts import restitution as options
from kineta.model.contacts.contact import Contact
from kineta.model.kind import Kind, Production, Scope, Unilateral
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.records import dataclass
from kineta.values import word

if TYPE_CHECKING:
    from kineta.model.description import Description
    from kineta.model.io.kin_source import Node, Source, Token

_NONE = expr(0)
#: Options of the statement.
_OPTIONS = ("restitution", "friction", "static", "overlap")
#: Shapes that may touch each other, each after those that may touch it as the surface of a contact.
SHAPES: Mapping[str, Shape] = {
    **{shape: BODIES[shape] for shape in ("ball", "capsule", "box")},
    PLANE: Shape((), axis=True),
}
_RANKS = {shape: rank for rank, shape in enumerate(SHAPES)}
#: Pairs of balls up to which runs without a method take each pair by itself, and find its impacts by events.
FEW_PAIRS = 10
#: The most places at which pairs may touch, that have rows and names of their own.
MOST_PLACES = 500
#: Components of the force of a pair, and the most pairs whose forces are known by name before a run.
PAIR_COMPONENTS, MOST_NAMED = "nxyz", 10_000


@dataclass(frozen=True, slots=True)
class AlikeShapes(ModelRecord):
    """Bodies of one ``shape`` of the ``sizes`` [m], with their centres at the ``places``. Capsules and planes have an ``axis`` in
    the axes of the body of each; that of a plane is its normal, on the side of what it bears.
    """

    shape: str
    sizes: tuple[Expr, ...]
    places: tuple[Station, ...]
    axis: Axis | None = None


@dataclass(frozen=True, slots=True)
class MutualContact(Unilateral):
    """Contact of each two of all ``shapes``, with Newton's ``restitution``, or Poisson's where ``poisson`` is set, Coulomb's
    coefficient of ``friction``, and that in sticking, ``static``, if different. Shapes that overlap at the start of a run by
    ``overlap`` [m] at most are pushed apart.
    """

    name: str
    shapes: tuple[AlikeShapes, ...]
    restitution: Expr = _NONE
    poisson: bool = False
    friction: Expr = _NONE
    static: Expr | None = None
    overlap: Expr = _NONE
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the contact."""
        given = (self.restitution, self.friction, self.static, self.overlap)
        places = (x for own in self.shapes for s in own.places for x in s.position)
        return (*(x for own in self.shapes for x in own.sizes), *(x for x in given if x is not None), *places)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on."""
        return tuple(dict.fromkeys(s.body for own in self.shapes for s in own.places))

    @property
    def members(self) -> tuple[tuple[AlikeShapes, Station], ...]:
        """All places, each with what has its shape."""
        return tuple((own, place) for own in self.shapes for place in own.places)

    @property
    def count(self) -> int:
        """Number of pairs."""
        n = sum(len(own.places) for own in self.shapes)
        return n * (n - 1) // 2

    @property
    def few(self) -> bool:
        """Whether runs without a method find impacts by events: of few pairs, of balls, which touch at one place."""
        return self.count <= FEW_PAIRS and all(own.shape == "ball" for own in self.shapes)

    @property
    def told(self) -> str:
        """Sentence on a run that takes its pairs as a table."""
        return f"'{self.name}' is of {self.count} pair{'s' * (self.count != 1)}, of which steps look at those that are near."

    def rows(self, scope: Scope) -> tuple[str, ...]:
        """Names of the rows of each pair, as ``pile.A.B.n``; none where pairs touch at more than ``MOST_PLACES``."""
        return tuple(f"{place}.{c}" for place in self.impacts(scope) for c in "nuw")

    def impacts(self, scope: Scope) -> tuple[str, ...]:
        """Names of the places of all pairs, as for :meth:`rows`."""
        return () if self.places > MOST_PLACES else tuple(x for pair in self.pairs() for x in pair.impacts(scope))

    @property
    def places(self) -> int:
        """Number of places at which pairs may touch."""
        number = Counter(own.shape for own, _ in self.members)
        touching, kinds = 0, [*number]
        for k, one in enumerate(kinds):
            touching += number[one] * (number[one] - 1) // 2 * _places(one, one)
            touching += sum(number[one] * number[other] * _places(one, other) for other in kinds[k + 1 :])
        return touching

    @property
    def owners(self) -> tuple[str, ...]:
        """A name for each place: that of its body, with a number from the second place of a body on."""
        seen: dict[str, int] = {}
        found = []
        for _, place in self.members:
            seen[place.body] = seen.get(place.body, 0) + 1
            name = placement.own_name(self.name, place.body)
            found.append(name + (f"_{seen[place.body]}" if seen[place.body] > 1 else ""))
        return tuple(found)

    @property
    def names(self) -> Iterator[str]:
        """Names of all pairs."""
        return (f"{self.name}.{a}.{b}" for a, b in combinations(self.owners, 2))

    def pairs(self) -> Iterator[Contact]:
        """The contact of each two places of bodies that are not the same. Raises :class:`ModelError` for too many."""
        if self.places > MOST_PLACES:
            text = f"contact '{self.name}' is of {self.count} pairs that touch at {self.places} places, and at most"
            text += f" {MOST_PLACES} have equations of their own; run"
            raise ModelError(
                f"{text} it by method 'moreau', which looks at those that are near, alone, without events, switches and samples.",
                self.location,
            )
        for name, pair in zip(self.names, combinations(self.members, 2), strict=True):
            (own, start), (other, end) = sorted(pair, key=lambda member: _RANKS[member[0].shape])
            if start.body != end.body and own.shape != PLANE:
                yield Contact(
                    name,
                    own.shape,
                    own.sizes,
                    (start,),
                    end,
                    other.axis,
                    own.axis,
                    restitution=self.restitution,
                    poisson=self.poisson,
                    friction=self.friction,
                    static=self.static,
                    location=self.location,
                    surface=other.shape,
                    surface_sizes=other.sizes,
                )

    @property
    def gaps(self) -> tuple[Expr, ...]:
        """None has a height."""
        return ()


@cache
def _places(one: str, other: str) -> int:
    """Number of places at which two shapes may touch."""
    shape, surface = sorted((one, other), key=_RANKS.__getitem__)
    if shape == PLANE:
        return 0
    sizes = [(expr(1),) * len(SHAPES[x].sizes) for x in (shape, surface)]
    axes = [Z if SHAPES[x].axis else None for x in (shape, surface)]
    place = Touching("", shape, sizes[0], Station("A"), axes[0], surface, sizes[1], Station("B"), axes[1])
    return len(hard(place))


def mutual_contacts(system: Description) -> list[MutualContact]:
    """The contacts of *system* that are of many bodies."""
    return [c for c in system.contacts if isinstance(c, MutualContact)]


def pair_forces(system: Description) -> Iterator[str]:
    """Names of the forces of pairs, of runs that take these as a table: ``lambda.pile.A.B.n``, the sum of what presses, and
    ``x``, ``y``, ``z``, the force on A in ground axes.
    """
    for contact in mutual_contacts(system):
        if contact.count <= MOST_NAMED:
            yield from (f"{MULTIPLIER}{name}.{c}" for name in contact.names for c in PAIR_COMPONENTS)


def names_pairs(system: Description) -> bool:
    """Whether outputs of *system* name forces of pairs."""
    leads = tuple(f"{MULTIPLIER}{c.name}." for c in mutual_contacts(system))
    return any(n.startswith(leads) for o in system.outputs for n in o.value.symbols())


def _alike(value: object, *_: object) -> tuple[AlikeShapes, ...]:
    found = entries(value)
    if found is None or not all(isinstance(x, AlikeShapes) for x in found):
        raise ArgumentError("Expected a row of AlikeShapes, as kn.mutual_contact makes it.")
    return tuple(found)


COERCIONS["tuple[AlikeShapes, ...]"] = _alike


def mutual_contact(
    name: str,
    shapes: Sequence[tuple[Any, ...]],
    *,
    restitution: Scalar = 0.0,
    law: str | None = None,
    friction: Scalar = 0.0,
    static: Scalar | None = None,
    overlap: Scalar = 0.0,
) -> MutualContact:
    """:class:`MutualContact` of each two of many bodies.

    shapes : rows of a shape (``ball``, ``capsule``, ``box`` or ``plane``), its sizes [m] (radius; radius and length between the
        centres of the ends; three sides; none), the bodies, points or places that are the centres of such, and of a capsule or a
        plane its axis (3,) in the axes of the body of each
    law : of the *restitution*, ``newton`` by default or ``poisson``
    friction, static : coefficients of kinetic friction, and of static friction, if different
    overlap : depth up to which shapes that overlap at the start of a run by time stepping are pushed apart [m]

    Raises :class:`ArgumentError` for rows that are none, and for values out of their range.
    """
    rows, found = list[AlikeShapes](), entries(shapes)
    for row in found if found else (None,):
        own = entries(row)
        if own is None or len(own) not in (3, 4):
            raise ArgumentError(
                f"Contact '{name}': expected rows of a shape, its sizes and places, as in ('ball', r, ['A', 'B'])."
            )
        rows.append(AlikeShapes(word(own[0], "a shape"), *own[1:]))
    poisson = options.poisson("newton" if law is None else law)
    made = MutualContact(name, tuple(rows), restitution, poisson, friction, static, overlap)  # type: ignore[arg-type]  # a record takes what it is given
    if text := broken_constant(_bounds(made)):
        raise CheckError("Contact", name, None, text)
    return made


def _read(source: Source, name: Token, *given: Node) -> MutualContact:
    rows, chosen = list[AlikeShapes](), list[Any]()
    for node in given:
        shape, sizes, *members = node.children
        source.noted(shape)
        what, places = f"a size of the {shape} '{name}'", list[tuple[Station, Axis | None]]()
        measured = [source.expression(x, units.LENGTH, what) for x in (() if sizes is None else sizes.children)]
        for member in members:
            if member.data == "option":
                chosen.append(member)
                continue
            station, axis = placement.read(source, member)
            if chosen:
                text = f"expected options behind all places, found the place '{station.body}' behind one."
                raise ModelError(text, source.location(member))
            if str(shape) in SHAPES and (axis is not None) != SHAPES[str(shape)].axis:
                raise ModelError(_axis_fault(str(shape), station.body), source.location(member))
            places.append((station, axis))
        for axis, some in groupby(places, key=lambda place: place[1]):
            rows.append(AlikeShapes(str(shape), tuple(measured), tuple(place for place, _ in some), axis))
    found = options.option_nodes(source, chosen, _OPTIONS)

    def coefficient(option: str, what: str) -> Expr | None:
        value = found.get(option)
        return None if value is None else source.coefficient(value, f"{what} of contact '{name}'")

    rubs = coefficient("friction", "the friction")
    return MutualContact(
        str(name),
        tuple(rows),
        *options.restitution(source, found, f"contact '{name}'"),
        _NONE if rubs is None else rubs,
        coefficient("static", "the static friction"),
        source.expression(found["overlap"], units.LENGTH, f"the overlap of contact '{name}'")
        if "overlap" in found
        else _NONE,
        source.location(name),
    )


def _written(contact: MutualContact) -> str:
    friction = None if contact.friction.value == 0 else contact.friction
    rows = list[str]()
    for own in contact.shapes:
        sizes = f" = {', '.join(map(str, own.sizes))}" if own.sizes else ""
        rows.append(f"{own.shape}{sizes} among {', '.join(placement.place(place, own.axis) for place in own.places)}")
    more = options.restitution_clause(contact.restitution, contact.poisson)
    overlap = None if contact.overlap.value == 0 else contact.overlap
    more += options.option_clause(friction=friction, static=contact.static, overlap=overlap)
    return f": {' and '.join(rows)}{more}"


def _axis_fault(shape: str, at: str) -> str:
    """Sentence on a missing axis of a *shape*, or on one that it does not have."""
    if SHAPES[shape].axis:
        return f"a {shape} needs its axis, in the axes of its body, as in {at} axis (0, 0, 1)."
    return f"a {shape} has no axis; leave it out at '{at}'."


def _fault(system: Scope, contact: MutualContact) -> tuple[str, str] | None:
    for own in contact.shapes:
        if own.shape not in SHAPES:
            return (
                f"expected a shape ({', '.join(SHAPES)}){did_you_mean(own.shape, SHAPES)}, found '{own.shape}'.",
                own.shape,
            )
        known = SHAPES[own.shape].sizes
        if len(own.sizes) != len(known):
            has = f"{len(known)} size{'s' * (len(known) != 1)}" if known else "no size"
            named = f", its {', '.join(known)}" if known else ""
            return f"a {own.shape} has {has}{named}; found {len(own.sizes)}.", own.shape
        if (own.axis is not None) != SHAPES[own.shape].axis:
            return _axis_fault(own.shape, own.places[0].body if own.places else "A"), own.shape
    members = [place for _, place in contact.members]
    if len({place.body for place in members}) < 2:
        return "expected at least two bodies that may touch each other.", members[0].body if members else ""
    seen = set()
    for place in members:
        if place in seen:
            return f"the place at '{place.body}' is given twice.", place.body
        seen.add(place)
        if place.body not in system.frames:
            return placement.fault(system, place.body, place.body)
    text = contact_checks.friction_fault(system, contact.friction, contact.static, None, "a coefficient of friction")
    return (text, "") if text else None


def _bounds(contact: MutualContact) -> tuple[Bound, ...]:
    """The ranges of sizes, the restitution, and the friction."""
    sizes = (
        Bound(x, f"a {what}", positive=True)
        for own in contact.shapes
        for x, what in zip(own.sizes, SHAPES[own.shape].sizes if own.shape in SHAPES else (), strict=False)
    )
    return (
        *sizes,
        Bound(contact.restitution, "a restitution", 1),
        Bound(contact.friction, "a coefficient of friction"),
        Bound(contact.overlap, "an overlap"),
    )


def _constants(contact: MutualContact) -> tuple[Expr, ...]:
    """Sizes, places, and the law: a table has one for all steps."""
    return contact.expressions


KIND = MutualContact.kind = Kind(
    MutualContact,
    "contact",
    {"mutual_contact": Production('":" alike ("and" alike)*', _read)},
    _written,
    constants=_constants,
    fault=_fault,
    bounds=_bounds,
)
