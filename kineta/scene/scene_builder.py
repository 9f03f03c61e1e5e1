"""``SceneBuilder``: frames, numbers and solids of a scene while it is made, and the walk along the motions of the bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from kineta.algebra.expression import Expr
from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.model.body import GROUND, Body, Inertia, Station
from kineta.model.coercion import vector
from kineta.model.constraints.rolling import Rolling
from kineta.model.contacts.contact import Contact
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion, Motion
from kineta.model.reserved_symbols import TIME
from kineta.records import dataclass
from kineta.scene.scene import BODY, FIXED, JOINT, Solid
from kineta.spatial.rotation import about, rodrigues
from kineta.spatial.vector import Matrix, Vector, identity

#: Kinds of solids at joints that turn.
HINGES = ("hinge", "ball")


@dataclass
class SceneBuilder:
    """The scene of a derivation while it is made.

    frames : axes (to ground axes) and origin of every frame, the ground first; owners : the body of each, "" for the ground
    places : the frame of each body; numbers : of solids, in the order in which they were asked for
    shaped_bodies : bodies with solids of their own, described in the model; masked : those between which joints are not seen
    tables : frames without mass that carry planes
    """

    d: Derivation
    frames: list[tuple[Matrix, Vector]]
    owners: list[str]
    places: dict[str, int]
    shaped_bodies: frozenset[str] = frozenset()
    masked: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    numbers: list[Ref] = field(default_factory=list)
    moving: list[Ref] = field(default_factory=list)
    solids: list[Solid] = field(default_factory=list)
    hinges: dict[str, int] = field(default_factory=dict)

    def number(self, refs: Iterable[Ref]) -> tuple[int, ...]:
        """The places of *refs* among the numbers."""
        first = len(self.numbers)
        self.numbers.extend(refs)
        return tuple(range(first, len(self.numbers)))

    def values(self, expressions: Sequence[Expr]) -> tuple[int, ...]:
        """The places of expressions of parameters among the numbers."""
        return self.number(self.d.symbols.expression(*expressions))

    def direction(self, axis: Sequence[Expr | float]) -> tuple[int, ...]:
        """The places of a direction among the numbers."""
        return self.values(vector(axis))

    def shown(self, refs: Iterable[Ref]) -> tuple[int, ...]:
        """The places of *refs* among the results that move."""
        first = len(self.moving)
        self.moving.extend(refs)
        return tuple(range(first, len(self.moving)))

    def solid(
        self, kind: str, frame: int, owner: str, part: str, *, to: int = -1, name: str = "", **numbers: tuple[int, ...]
    ) -> None:
        """Add a solid with these numbers, as :meth:`add` does."""
        self.add(Solid(kind, frame, owner, part, numbers, to, name))

    def add(self, solid: Solid) -> None:
        """Add a *solid*, but for one of a body with solids of its own, and for a joint or rail between bodies that mask it."""
        if solid.part == BODY and solid.owner in self.shaped_bodies:
            return
        beside = {solid.owner, self.owners[solid.frame], solid.name if solid.kind in HINGES else ""} - {""}
        joint = solid.part == JOINT or solid.kind == "rail"
        if joint and beside and (beside <= self.masked or beside & self.tables):
            return
        self.solids.append(solid)

    def station(self, station: Station) -> tuple[int, tuple[int, ...]]:
        """The frame of a place, and the places of its position in it among the numbers."""
        return self.places[station.body], self.values(station.position)

    def changes(self, motion: ElementaryMotion) -> tuple[str, ...]:
        """The coordinates, and the time, by which *motion* moves, in alphabetical order; none for a constant motion."""
        return tuple(sorted({TIME, *self.d.symbols.system.q_names} & set(motion.argument.symbols())))


def ground_scene(d: Derivation, shaped_bodies: frozenset[str], masked: frozenset[str]) -> SceneBuilder:
    """A scene with the ground alone."""
    g, system = d.graph, d.symbols.system
    planes = {c.end.body for c in (*system.constraints, *system.contacts) if isinstance(c, Rolling | Contact)}
    tables = frozenset(b.name for b in system.bodies if b.name in planes and b.inertia.mass.value == 0)
    return SceneBuilder(d, [(identity(g), Vector(g))], [""], {GROUND: 0}, shaped_bodies, masked, tables)


def mass(builder: SceneBuilder, own: Inertia) -> dict[str, tuple[int, ...]]:
    """The numbers of an inertia: mass, centre of mass, tensor, and whether it has all moments."""
    complete = float(all(x.value != 0 for x in own.moments))
    return {
        "mass": builder.values([own.mass]),
        "com": builder.values(own.com),
        "tensor": builder.values([*own.moments, *own.products]),
        "complete": builder.number([builder.d.graph.const(complete)]),
    }


def walk(builder: SceneBuilder, body: Body) -> None:
    """Add the frames on the way to *body*, rods along its constant shifts, and its joints."""
    _Walk(builder, body).through(body.motions)


class _Walk:
    """The way from a base to its body: the frame reached, and the constant placement (R, r) since then."""

    def __init__(self, builder: SceneBuilder, body: Body) -> None:
        self.builder, self.body, self.graph = builder, body, builder.d.graph
        self.frame = builder.places[body.base]
        self.owner = builder.owners[self.frame]
        self.R, self.r = identity(self.graph), Vector(self.graph)
        self.turned = False  # whether a hinge stands at the origin of the frame reached
        shifts = [m for m in body.motions if isinstance(m, ElementaryMotion) and not m.turns and builder.changes(m)]
        #: Whether the body floats: its motions are no joints that could be seen.
        self.floats = body.base == GROUND and (
            len(shifts) > 1 or any(isinstance(m, Joint) and "vx" in m.twist for m in body.motions)
        )

    def through(self, motions: Sequence[Motion]) -> None:
        for motion in motions:
            if isinstance(motion, Joint):
                self._joint(motion)
            elif isinstance(motion, ElementaryMotion):
                self._turn(motion) if motion.turns else self._shift(motion)
        moved = any(m.moved_by((TIME, *self.builder.d.symbols.system.q_names)) for m in motions)
        hinge = self.frame
        if not (self.R.is_identity and self.r.is_zero):
            own = self.body.name if self.builder.owners[self.frame] else ""
            self._advance(identity(self.graph), Vector(self.graph), own)
        self.builder.places[self.body.name] = self.frame
        self.builder.hinges[self.body.name] = hinge if moved else self.frame

    def _joint(self, joint: Joint) -> None:
        Q, d = joint.frame(self.graph, self.builder.d.symbols.joint(joint)[0])
        if d.is_zero and not self.floats:
            self._hinge("ball", Vector(self.graph))
        self._advance(Q, d, self.body.name)

    def _turn(self, motion: ElementaryMotion) -> None:
        g, s = self.graph, self.builder.d.symbols
        (angle,) = s.expression(motion.argument)
        axis = s.direction(motion.axis)
        units = [i for i in range(3) if motion.axis == tuple(float(i == k) for k in range(3))]
        Q = about(g, units[0], g.cos(angle), g.sin(angle)) if units else rodrigues(axis, angle)
        if not self.builder.changes(motion):
            self.R = self.R.times(Q)
            return
        if not self.floats:
            again = self.turned and self.r.is_zero
            self._hinge("ball" if again else "hinge", self.R @ axis)
        self._advance(Q, Vector(g), self.body.name)
        self.turned = not self.floats

    def _hinge(self, kind: str, axis: Vector) -> None:
        """A joint at the place reached; two turns about one place are a ball."""
        s = self.builder
        if kind == "ball" and self.turned and self.r.is_zero and s.solids and s.solids[-1].kind in HINGES:
            s.solids[-1] = replace(s.solids[-1], kind="ball")
            return
        at = s.number(self.r.refs)
        s.solid(kind, self.frame, self.owner, JOINT, name=self.body.name, at=at, axis=s.number(axis.refs))

    def _shift(self, motion: ElementaryMotion) -> None:
        s = self.builder
        (distance,) = s.d.symbols.expression(motion.argument)
        axis = s.d.symbols.direction(motion.axis)
        if not s.changes(motion):
            before, self.r = self.r, self.r + self.R @ (axis * distance)
            self._rod(before, self.r, self.owner)
            return
        start, at, across = self.frame, s.number(self.r.refs), s.number((self.R @ axis).refs)
        self._advance(identity(self.graph), axis * distance, self.body.name)
        if self.floats:
            return
        kind, part = ("rail", FIXED) if start == 0 else ("slide", JOINT)
        names = " ".join(s.changes(motion))
        s.solid(kind, start, self.body.name, part, to=self.frame, name=names, at=at, axis=across)

    def _rod(self, start: Vector, end: Vector, owner: str) -> None:
        s = self.builder
        if start.refs != end.refs:
            part = BODY if owner else FIXED
            s.solid("rod", self.frame, owner, part, start=s.number(start.refs), end=s.number(end.refs))

    def _advance(self, Q: Matrix, d: Vector, owner: str) -> None:
        """Go to a frame after the placement and a motion (Q, d)."""
        base, origin = self.builder.frames[self.frame]
        A = base.times(self.R)
        self.builder.frames.append((A.times(Q), origin + base @ self.r + A @ d))
        self.builder.owners.append(owner)
        self.frame, self.owner = len(self.builder.frames) - 1, owner
        self.R, self.r = identity(self.graph), Vector(self.graph)
        self.turned = False
