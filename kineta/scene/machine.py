"""``Machine``: a scene with values of its parameters, as surfaces in the poses of its frames."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.codegen import numpy as interpreter
from kineta.errors import SimulationError
from kineta.numerics.linear_algebra import norm
from kineta.records import dataclass
from kineta.scene.scene import BODY, FIXED, Scene, Solid
from kineta.threads import once

#: Radius of a rod, relative to the size of the machine: of one of few bodies, and of one of many.
ROD, THIN, MANY = 0.022, 0.015, 20
#: Largest radius of a rod, relative to the length of the longest.
STOUT = 0.25
#: Solids that have no end, and that pictures draw around the machine.
GROUNDS = ("plane", "field")
#: Largest length that is drawn [m].
LARGEST = 1e15


@dataclass(frozen=True, eq=False)
class Pose:
    """Frames (n, 12), axes by rows and origin, and what moves with them (m,), at the time *t*."""

    t: float
    frames: FloatArray
    moving: FloatArray

    def frame(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Axes (to ground axes) and origin of a frame."""
        row = self.frames[k]
        return row[:9].reshape(3, 3), row[9:]


@dataclass(frozen=True, eq=False)
class Machine:
    """A *scene* with the parameters *p* (np,), sized by a first pose at *t*, *q*, *v*."""

    scene: Scene
    p: FloatArray
    t: float
    q: FloatArray
    v: FloatArray

    def poses(self, t: FloatArray, q: FloatArray, v: FloatArray) -> Iterator[Pose]:
        """The poses at times (k,) in states (k, nq), (k, nv)."""
        frames, _, moving = self._evaluated(t, q, v)
        return map(Pose, t.tolist(), frames, moving)

    @once
    def first(self) -> Pose:
        """The pose by which the machine is sized."""
        return next(self.poses(np.array([self.t]), self.q[None], self.v[None]))

    @once
    def numbers(self) -> FloatArray:
        """The numbers of the solids. Raises :class:`SimulationError` for a size that no solid has."""
        found = np.asarray(self._evaluated(np.array([self.t]), self.q[None], self.v[None])[1][0])
        for s in self.scene.solids:
            sizes = found[list(s.numbers.get("sizes", ()))]
            for wrong in sizes[~((sizes > 0) & (sizes < LARGEST))]:
                raise SimulationError(
                    f"Model '{self.scene.model}': expected sizes of the {s.kind} of '{s.owner or 'ground'}' above zero and below "
                    f"{LARGEST:g} m, found {wrong:g}."
                )
        return found

    def _evaluated(self, t: FloatArray, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        k, program = len(t), self.scene.program
        found = interpreter.compile(program)(t[:, None], q, v, np.broadcast_to(self.p, (k, len(self.p))))
        frames, numbers, moving = np.split(found, np.cumsum([b.size for b in program.outputs])[:-1], axis=-1)
        return frames.reshape(k, -1, 12), numbers, moving

    def value(self, solid: Solid, name: str) -> FloatArray:
        """The numbers of a *solid* of this name."""
        return np.asarray(self.numbers[list(solid.numbers[name])])

    @once
    def rounding(self) -> FloatArray:
        """What the last digits of the state are worth in what moves, in the first pose (m,)."""
        digits = 1e-13 * np.where(np.arange(len(self.q) + len(self.v)) % 2, -1.0, 1.0)
        y = np.concatenate([self.q, self.v])
        near = y + digits * (np.abs(y) + self.size)
        q, v = np.split(near, [len(self.q)])
        beside = next(self.poses(np.array([self.t]), q[None], v[None]))
        return np.asarray(100 * np.abs(beside.moving - self.first.moving))

    @once
    def up(self) -> FloatArray:
        """The direction against gravity (3,); zero without."""
        g = self.numbers[list(self.scene.up)]
        length = float(np.sqrt(g @ g))
        return g / length if length > 0 else g

    # -- sizes ---------------------------------------------------------------------------------------------------------

    @once
    def box(self) -> FloatArray:
        """Lowest and highest coordinates (2, 3) of what is seen in the first pose, by places alone, without scenery.

        Raises :class:`SimulationError` for a machine too large to be drawn.
        """
        seen = [s for s in self.scene.solids if s.kind not in GROUNDS]
        places = [self._places(s) for s in [s for s in seen if not self.is_scenery(s)] or seen]
        every = np.concatenate([x for x in places if len(x)] or [np.array([[-0.5] * 3, [0.5] * 3])])
        if not (np.abs(every) < LARGEST).all():
            raise SimulationError(
                f"Model '{self.scene.model}': expected places of a machine within {LARGEST:g} m to draw, found one "
                f"{np.abs(every).max():g} m from the origin."
            )
        return np.array([every.min(axis=0), every.max(axis=0)])

    def is_scenery(self, solid: Solid) -> bool:
        """Whether a *solid* is a shape that the model gives the ground under gravity: a road is no measure of a car."""
        return solid.part == FIXED and "axes" in solid.numbers and bool(self.up.any())

    def _places(self, solid: Solid) -> FloatArray:
        R, r = self.first.frame(solid.frame)
        named = ("start", "end", "at", "com") if solid.to < 0 else ("start",)
        found = [R @ self.value(solid, n) + r for n in named if n in solid.numbers]
        if "points" in solid.numbers:
            found += list(self.value(solid, "points").reshape(-1, 3) @ R.T + r)
        if solid.to >= 0:
            A, a = self.first.frame(solid.to)
            found.append(A @ self.value(solid, "end") + a if "end" in solid.numbers else a)
        reach = 0.0
        if "sizes" in solid.numbers:
            sizes = self.value(solid, "sizes")
            reach = float(np.abs(sizes).sum() if solid.kind == "torus" else np.abs(sizes).max(initial=0.0))
            reach *= 0.5 if solid.kind == "box" else 1.0
        elif solid.kind == "inertia" and not self.rods.get(solid.owner):
            reach = gyration(self, solid)
        if reach > 0:
            found += [x + reach * d for x in found[:1] for d in (*np.eye(3), *-np.eye(3))]
        return np.array(found).reshape(-1, 3)

    @once
    def rods(self) -> dict[str, int]:
        """How many rods and other solids each body has beside its mass and meshes."""
        found: dict[str, int] = {}
        for s in self.scene.solids:
            if s.part == BODY and s.kind not in ("inertia", "mesh"):
                found[s.owner] = found.get(s.owner, 0) + 1
        return found

    @once
    def size(self) -> float:
        """The diagonal of the box [m]."""
        return float(norm(np.ptp(self.box, axis=0))) or 1.0

    @once
    def radius(self) -> float:
        """The radius of a rod [m]: of short ones beside large bodies a part of the longest."""
        usual = (THIN if len(self.scene.bodies) > MANY else ROD) * self.size
        rods = [self.value(s, "end") - self.value(s, "start") for s in self.scene.solids if s.kind == "rod"]
        longest = float(max(map(norm, rods), default=0.0))
        return min(usual, STOUT * longest) if longest > tolerances.STATE_TOLERANCE * self.size else usual


def gyration(m: Machine, s: Solid) -> float:
    """Half the side of a cube with the largest moment of inertia of a body [m]; zero without mass."""
    mass, J = float(m.value(s, "mass")[0]), m.value(s, "tensor")
    return float(np.sqrt(max(1.5 * J[:3].max() / mass, 0.0))) if mass > 0 else 0.0
