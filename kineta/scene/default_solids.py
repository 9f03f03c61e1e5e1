"""Default solids: what bodies, elements, constraints and contacts without shapes of their own look like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations

from kineta.algebra.expression import Expr
from kineta.expr.graph import ZERO
from kineta.expr.walk import reachable
from kineta.model.axis import Axis, Z
from kineta.model.body import GROUND, Body, Station
from kineta.model.constraints.equation import Constraint
from kineta.model.constraints.loop import Loop
from kineta.model.constraints.placement import stations
from kineta.model.constraints.rolling import Rolling
from kineta.model.constraints.shapes import PLANE, SURFACES
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.limit import Limit
from kineta.model.contacts.mutual_contact import MutualContact
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.elements.coordinate import Length
from kineta.model.elements.damper import Damper
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.spring import Spring
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.system import System
from kineta.model.vectors import norm, part
from kineta.scene.cams import cams
from kineta.scene.centres import centres
from kineta.scene.scene import BODY, ELEMENT, FIXED, JOINT, Solid
from kineta.scene.scene_builder import SceneBuilder, mass
from kineta.spatial.vector import Vector

#: Points in contact from which on a body is their convex hull.
CORNERS = 4
#: Joints of loops along whose axis the one end slides.
SLIDING = ("line", "prismatic", "cylindrical")
#: Shapes of rolling and of contacts that are drawn.
_DRAWN = ("wheel", "disk", "ball", "torus", "ellipsoid", "capsule", "box")


def add_default_solids(builder: SceneBuilder) -> None:
    """Add the solids of bodies, elements, constraints and contacts to a scene with all its frames."""
    system = builder.d.symbols.system
    held, turned = _anchors(system), cams(system)
    for kind, at in held.get(GROUND, ()):
        if kind == "loop" and any(x.value != 0 for x in at.position):
            builder.solid("rod", 0, "", FIXED, start=builder.number((ZERO,) * 3), end=builder.values(at.position))
        if kind in ("loop", "line"):
            builder.solid("pin", 0, "", FIXED, at=builder.values(at.position))
    for body in system.tree:
        _body(builder, body, held.get(body.name, ()), turned.get(body.name, ()))
    _round_bodies(builder, system)
    _lines(builder, system)
    _planes(builder, system)
    for centre in centres(system):
        builder.solid("pin", 0, "", FIXED, at=builder.values(centre))
    if not any(s.part == BODY for s in builder.solids):
        for body in system.tree:
            builder.solid("triad", builder.places[body.name], body.name, BODY)


Anchor = tuple[str, Station]


def _anchors(system: System) -> dict[str, list[Anchor]]:
    """Where something takes hold of each body: ends of loops (``loop``), ends of springs and the like (``line``), points in
    contact (``contact``) and named points (``point``).
    """
    found: dict[str, list[Anchor]] = {}
    lines = (e.coordinate for e in system.elements if isinstance(e, Spring | Damper | GeneralizedForce))
    ends: Iterable[Anchor] = chain(
        (("loop", place) for c in system.constraints if isinstance(c, Loop) for place in (c.start, c.end)),
        (("line", place) for c in lines if isinstance(c, Length) for place in (c.start, c.end)),
        (("contact", p) for c in system.contacts if isinstance(c, Contact) and c.shape == "point" for p in c.starts),
        (("point", Station(p.body, p.position)) for p in system.points),
    )
    seen: set[Station] = set()
    for kind, place in ends:
        if place not in seen:
            seen.add(place)
            found.setdefault(place.body, []).append((kind, place))
    return found


def _body(builder: SceneBuilder, body: Body, held: Sequence[Anchor], cam: Sequence[Expr]) -> None:
    """The solids of a body: rods to what takes hold of it, the hull of its corners, or of those of a *cam*, and its mass."""
    own, frame, system = body.inertia, builder.places[body.name], builder.d.symbols.system
    corners = [place for kind, place in held if kind == "contact"]
    flat = (
        builder.d.symbols.system.nv
        and len(corners) == 2
        and len(held) == sum(k in ("contact", "point") for k, _ in held)
    )
    hull = bool(cam) or len(corners) >= CORNERS or (flat and body.base == GROUND)
    if hull:
        points = builder.values(cam or [x for c in corners for x in c.position])
        builder.solid("hull", frame, body.name, BODY, points=points, com=builder.values(own.com))
    if (normal := _standing(system, body, held)) is not None:
        at, axis = builder.values(corners[0].position), builder.direction(normal)
        builder.solid("bead", frame, body.name, BODY, at=at, axis=axis)
        return
    firm = any(kind in ("loop", "line") for kind, _ in held) or any(
        s.kind == "rod" and s.owner == body.name for s in builder.solids
    )
    for kind, place in held:
        at = builder.values(place.position)
        away = any(x.value != 0 for x in place.position)
        if kind == "point" and firm:
            builder.solid("dot", frame, body.name, BODY, at=at)
        elif away and not hull:
            builder.solid("rod", frame, body.name, BODY, start=builder.number((ZERO,) * 3), end=at)
        if kind == "loop":
            builder.solid("pin", frame, body.name, JOINT, at=at)
        elif kind == "contact" and not hull:
            builder.solid("tip", frame, body.name, BODY, at=at)
    if own.mass.value != 0 and not hull and not _slides(system, body, held):
        builder.add(Solid("inertia", frame, body.name, BODY, mass(builder, own)))


def _slides(system: System, body: Body, held: Sequence[Anchor]) -> bool:
    """Whether a body is a mass without moments where a loop lets it slide along a line: the block that is drawn there."""
    own = body.inertia
    ends = [c.end for c in system.constraints if isinstance(c, Loop) and c.joint in SLIDING]
    return (
        not any(x.value != 0 for x in own.moments)
        and len(held) == 1
        and any(("loop", x) == held[0] and x.position == own.com for x in ends)
    )


def _standing(system: System, body: Body, held: Sequence[Anchor]) -> Axis | None:
    """The normal of the plane on which a mass without moments stands, that shifts alone move: a bead on it."""
    shifted = all(isinstance(m, ElementaryMotion) and not m.turns for m in body.motions)
    if not shifted or any(x.value != 0 for x in body.inertia.moments) or [kind for kind, _ in held] != ["contact"]:
        return None
    planes = (c for c in system.contacts if isinstance(c, Contact) and held[0][1] in c.starts)
    return next((c.normal for c in planes if c.end.body == body.base), None)


def _surfaces(system: System) -> Iterator[tuple[str, Sequence[Expr], Station, Axis | None]]:
    """Kind, sizes, centre and axis of the shapes that roll or touch."""
    for c in (*system.constraints, *system.contacts, *system.elements):
        if isinstance(c, Rolling):
            yield c.shape, c.sizes, c.start, c.axis
        elif isinstance(c, Contact | CompliantContact):
            yield from ((c.shape, c.sizes, start, c.axis) for start in c.starts if c.shape in _DRAWN)
            if c.surface in _DRAWN:
                yield c.surface, c.surface_sizes, c.end, c.normal
        elif isinstance(c, MutualContact):
            yield from ((own.shape, own.sizes, place, own.axis) for own, place in c.members if own.shape in _DRAWN)


def _round_bodies(builder: SceneBuilder, system: System) -> None:
    seen: set[Station] = set()
    for shape, sizes, start, axis in _surfaces(system):
        if start in seen or (start.body == GROUND and shape not in SURFACES):
            continue
        seen.add(start)
        part = FIXED if start.body == GROUND else BODY
        frame, at = builder.station(start)
        kind, about = "sphere" if shape == "ball" else shape, builder.direction(Z if axis is None else axis)
        builder.solid(kind, frame, start.body, part, at=at, sizes=builder.values(sizes), axis=about)


def _lines(builder: SceneBuilder, system: System) -> None:
    """Springs, dampers and forces between places, springs along slides and between two of them, links of loops, ropes."""
    by_name: dict[str, list[Solid]] = {}
    for s in builder.solids:
        if s.kind in ("rail", "slide"):
            by_name.setdefault(s.name, []).append(s)
    for e in system.elements:
        if not isinstance(e, Spring | Damper | GeneralizedForce):
            continue
        kind = {Spring: "spring", Damper: "damper"}.get(type(e), "line")
        if isinstance(e.coordinate, Length):
            between = e.coordinate
            (a, start), (b, end) = builder.station(between.start), builder.station(between.end)
            builder.solid(kind, a, "", ELEMENT, to=b, name=e.name, start=start, end=end)
            continue
        moved = {"t", *system.q_names} & {n.rstrip("'") for n in e.coordinate.symbols()}
        of = by_name.get(" ".join(sorted(moved)), [])
        for s in of if kind != "line" else ():
            on_rail = f"{kind}_on_rail" if s.kind == "rail" else kind
            numbers = {"start": s.numbers["at"], "end": builder.number((ZERO,) * 3), "axis": s.numbers["axis"]}
            builder.solid(on_rail, s.frame, "", ELEMENT, to=s.to, name=e.name, **numbers)
        if not of and (ends := _apart(builder, e.coordinate, [by_name.get(name, []) for name in moved])):
            origin = builder.number((ZERO,) * 3)
            builder.solid(kind, ends[0], "", ELEMENT, to=ends[1], name=e.name, start=origin, end=origin)
    for c in system.constraints:
        if isinstance(c, Loop) and c.joint == "distance":
            (a, start), (b, end) = builder.station(c.start), builder.station(c.end)
            builder.solid("link", a, "", ELEMENT, to=b, name=c.name, start=start, end=end)
        elif isinstance(c, Loop) and c.joint in SLIDING and c.axis is not None:
            _slot(builder, c, c.axis)
    for name, one, other, longest in _ropes(system):
        (a, start), (b, end) = builder.station(one), builder.station(other)
        numbers = {"start": start, "end": end}
        if longest is None:
            builder.solid("line", a, "", ELEMENT, to=b, name=name, **numbers)
        else:
            builder.solid("rope", a, "", ELEMENT, to=b, name=name, **numbers, length=builder.values((longest,)))


def _slot(builder: SceneBuilder, loop: Loop, axis: Axis) -> None:
    """The rail of a loop along a line, and the block on it, in a frame along the rail at the end of the loop."""
    frame, at = builder.station(loop.start)
    R, r = builder.frames[builder.places[loop.end.body]]
    end = Vector(builder.d.graph, *builder.d.symbols.expression(*loop.end.position))
    builder.frames.append((builder.frames[frame][0], r + R @ end))
    owner = "" if loop.end.body == GROUND else loop.end.body
    builder.owners.append(owner)
    block, along = len(builder.frames) - 1, builder.direction(axis)
    place = FIXED if loop.start.body == GROUND else ELEMENT
    builder.solid("rail", frame, "", place, to=block, at=at, axis=along)
    builder.solid("block", block, owner, BODY if owner else FIXED, at=builder.number((ZERO,) * 3), axis=along)


def _apart(builder: SceneBuilder, coordinate: Expr, slides: Sequence[Sequence[Solid]]) -> tuple[int, int] | None:
    """The frames of two bodies on rails along one axis of the ground, if *coordinate* is the difference of their two places."""
    if [len(x) for x in slides] != [1, 1]:
        return None
    moved = builder.d.symbols.system.q_names
    one_slope, other_slope = [coordinate.diff(n) for n in coordinate.symbols() if n.rstrip("'") in moved]
    if (one_slope + other_slope).value != 0:
        return None
    (one,), (other,) = slides
    axes = [[builder.numbers[k] for k in s.numbers["axis"]] for s in (one, other)]
    return (one.to, other.to) if one.kind == other.kind == "rail" and axes[0] == axes[1] else None


def _ropes(system: System) -> Iterator[tuple[str, Station, Station, Expr | None]]:
    """Name and ends of the distances ``|r(A) - r(B)|`` in constraints on coordinates and in limits, and the length up to which
    one is slack, where a limit has it alone, below a bound of parameters.
    """
    known, given = stations(system), {*system.parameter_names}
    for c in (*system.constraints, *system.contacts):
        if not isinstance(c, Constraint | Limit):
            continue
        found = [
            x.vector for x in map(part, c.value.symbols()) if x is not None and x.vector.kind == "r" and not x.rates
        ]
        places = [own for own in dict.fromkeys(found) if own.of in known]
        within = set(reachable(c.value.graph, [c.value.ref])) if len(places) > 1 else set()
        for a, b in combinations(places, 2):
            if a.frame == b.frame and norm(a - b).ref >> 1 in within:
                longest = c.upper if isinstance(c, Limit) and norm(a - b).ref == c.value.ref else None
                longest = longest if longest is not None and {*longest.symbols()} <= given else None
                yield c.name, known[a.of], known[b.of], longest


def _planes(builder: SceneBuilder, system: System) -> None:
    """The planes on which bodies roll or lie."""
    seen = set[tuple[Station, Axis]]()
    for c in (*system.constraints, *system.contacts, *system.elements):
        if isinstance(c, MutualContact):
            for own, place in c.members:
                if own.shape == PLANE and own.axis is not None and (place, own.axis) not in seen:
                    seen.add((place, own.axis))
                    frame, at = builder.station(place)
                    builder.solid(
                        "plane", frame, place.body, FIXED, name=c.name, at=at, axis=builder.direction(own.axis)
                    )
            continue
        if not isinstance(c, Rolling | Contact | CompliantContact) or c.normal is None:
            continue
        if not isinstance(c, Rolling) and c.surface != PLANE:
            continue
        if isinstance(c, Contact) and c.height is not None:
            continue  # a field
        if (c.end, c.normal) not in seen:
            seen.add((c.end, c.normal))
            frame, at = builder.station(c.end)
            if isinstance(c, Rolling) and c.surface is not None:
                continue  # a plane that only touches the surface
            builder.solid("plane", frame, c.end.body, FIXED, name=c.name, at=at, axis=builder.direction(c.normal))
