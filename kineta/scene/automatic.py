"""Solids that nobody asked for: what bodies, elements, constraints and contacts of a description look like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from kineta.algebra.expression import Expr
from kineta.expr.graph import ZERO
from kineta.model.axis import Axis, Z
from kineta.model.body import GROUND, Body, Station
from kineta.model.constraints.loop import Loop
from kineta.model.constraints.rolling import Rolling
from kineta.model.contacts.contact import Contact
from kineta.model.elements.coordinate import Length
from kineta.model.elements.damper import Damper
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.spring import Spring
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.system import System
from kineta.scene.scene import BODY, ELEMENT, FIXED, JOINT, Solid
from kineta.scene.stage import Stage, mass

#: Points in contact from which on a body is their convex hull.
CORNERS = 4
#: Round surfaces, of rolling and of contacts.
_ROUND = ("wheel", "disk", "ball", "torus", "ellipsoid")


def furnish(stage: Stage) -> None:
    """Add the solids of bodies, elements, constraints and contacts of a stage with all its frames."""
    system = stage.d.symbols.system
    held = _anchors(system)
    for kind, at in held.get(GROUND, ()):
        if kind == "loop" and any(x.value != 0 for x in at.position):
            stage.solid("rod", 0, "", FIXED, start=stage.number((ZERO,) * 3), end=stage.values(at.position))
        if kind in ("loop", "line"):
            stage.solid("pin", 0, "", FIXED, at=stage.values(at.position))
    for body in system.tree:
        _body(stage, body, held.get(body.name, ()))
    _round_bodies(stage, system)
    _lines(stage, system)
    _planes(stage, system)
    if not any(s.part == BODY for s in stage.solids):
        for body in system.tree:
            stage.solid("triad", stage.places[body.name], body.name, BODY)


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


def _body(stage: Stage, body: Body, held: Sequence[Anchor]) -> None:
    """The solids of a body: rods to what takes hold of it, the hull of its corners, and its mass."""
    own, frame, system = body.inertia, stage.places[body.name], stage.d.symbols.system
    corners = [place for kind, place in held if kind == "contact"]
    flat = (
        stage.d.symbols.system.nv and len(corners) == 2 and len(held) == sum(k in ("contact", "point") for k, _ in held)
    )
    hull = len(corners) >= CORNERS or (flat and body.base == GROUND)
    if hull:
        points = stage.values([x for c in corners for x in c.position])
        stage.solid("hull", frame, body.name, BODY, points=points, com=stage.values(own.com))
    if (normal := _standing(system, body, held)) is not None:
        at, axis = stage.values(corners[0].position), stage.direction(normal)
        stage.solid("block", frame, body.name, BODY, at=at, axis=axis)
        return
    firm = any(kind in ("loop", "line") for kind, _ in held) or any(
        s.kind == "rod" and s.owner == body.name for s in stage.solids
    )
    for kind, place in held:
        at = stage.values(place.position)
        away = any(x.value != 0 for x in place.position)
        if kind == "point" and firm:
            stage.solid("dot", frame, body.name, BODY, at=at)
        elif away and not hull:
            stage.solid("rod", frame, body.name, BODY, start=stage.number((ZERO,) * 3), end=at)
        if kind == "loop":
            stage.solid("pin", frame, body.name, JOINT, at=at)
        elif kind == "contact" and not hull:
            stage.solid("tip", frame, body.name, BODY, at=at)
    if own.mass.value != 0 and not hull:
        stage.add(Solid("inertia", frame, body.name, BODY, mass(stage, own)))


def _standing(system: System, body: Body, held: Sequence[Anchor]) -> Axis | None:
    """The normal of the plane on which a mass without moments stands, that shifts alone move: a block rather than a ball."""
    shifted = all(isinstance(m, ElementaryMotion) and not m.turns for m in body.motions)
    if not shifted or any(x.value != 0 for x in body.inertia.moments) or [kind for kind, _ in held] != ["contact"]:
        return None
    planes = (c for c in system.contacts if isinstance(c, Contact) and held[0][1] in c.starts)
    return next((c.normal for c in planes if c.end.body == body.base), None)


def _surfaces(system: System) -> Iterator[tuple[str, Sequence[Expr], Station, Axis | None]]:
    """Kind, sizes, centre and axis of the round surfaces that roll or touch."""
    for c in (*system.constraints, *system.contacts):
        if isinstance(c, Rolling):
            yield c.shape, c.sizes, c.start, c.axis
        elif isinstance(c, Contact) and c.shape in _ROUND:
            yield from ((c.shape, c.sizes, start, c.axis) for start in c.starts)


def _round_bodies(stage: Stage, system: System) -> None:
    seen: set[Station] = set()
    for shape, sizes, start, axis in _surfaces(system):
        if start in seen or start.body == GROUND:
            continue
        seen.add(start)
        frame, at = stage.station(start)
        kind, about = "sphere" if shape == "ball" else shape, stage.direction(Z if axis is None else axis)
        stage.solid(kind, frame, start.body, BODY, at=at, sizes=stage.values(sizes), axis=about)


def _lines(stage: Stage, system: System) -> None:
    """Springs, dampers and forces between places, springs along slides, links of loops."""
    for e in system.elements:
        if not isinstance(e, Spring | Damper | GeneralizedForce):
            continue
        kind = {Spring: "spring", Damper: "damper"}.get(type(e), "line")
        if isinstance(e.coordinate, Length):
            between = e.coordinate
            (a, start), (b, end) = stage.station(between.start), stage.station(between.end)
            stage.solid(kind, a, "", ELEMENT, to=b, name=e.name, start=start, end=end)
            continue
        names = " ".join(sorted({"t", *system.q_names} & {n.rstrip("'") for n in e.coordinate.symbols()}))
        for s in [x for x in stage.solids if x.kind in ("rail", "slide") and x.name == names and names]:
            if kind != "line":
                wall = "wall" if s.kind == "rail" else kind
                stage.solid(
                    f"{kind}_on_rail" if wall == "wall" else kind,
                    s.frame,
                    "",
                    ELEMENT,
                    to=s.to,
                    name=e.name,
                    start=s.numbers["at"],
                    end=stage.number((ZERO,) * 3),
                    axis=s.numbers["axis"],
                )
    for c in system.constraints:
        if isinstance(c, Loop) and c.joint == "distance":
            (a, start), (b, end) = stage.station(c.start), stage.station(c.end)
            stage.solid("link", a, "", ELEMENT, to=b, name=c.name, start=start, end=end)
        elif isinstance(c, Loop) and c.joint in ("line", "prismatic", "cylindrical") and c.axis is not None:
            frame, at = stage.station(c.start)
            part = FIXED if c.start.body == GROUND else ELEMENT
            stage.solid("rail", frame, "", part, to=stage.places[c.end.body], at=at, axis=stage.direction(c.axis))


def _planes(stage: Stage, system: System) -> None:
    """The planes on which bodies roll or lie."""
    seen = set()
    for c in (*system.constraints, *system.contacts):
        if isinstance(c, Rolling | Contact) and (c.end, c.normal) not in seen:
            seen.add((c.end, c.normal))
            frame, at = stage.station(c.end)
            if isinstance(c, Rolling) and c.surface is not None:
                continue  # a plane that only touches the surface
            stage.solid("plane", frame, c.end.body, FIXED, name=c.name, at=at, axis=stage.direction(c.normal))
