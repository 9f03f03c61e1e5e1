"""Shapes that may touch each other: their sizes and laws, and their compiled kinematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.codegen.llvm import NativeFunction
from kineta.equations.equations import Equations
from kineta.kernels.time_stepping.near_pairs import ENDLESS
from kineta.kernels.time_stepping.pair_features import BALL, BOX, CAPSULE, DERIVATIVES, PLANE
from kineta.mechanics.contact.shape_terms import ALL_AXES, AXIS, NO_AXES, shape_symbols, shape_terms
from kineta.model.reserved_symbols import added_force
from kineta.records import dataclass
from kineta.runtime.constraint_treatment import STEPPED, run_derivation
from kineta.runtime.functions import state_programs


@dataclass(frozen=True)
class TouchingShape:
    """A *shape* of this *name* in a *body* of the component of this number, of a *group* that may touch each other.

    radius : that its core is rounded with; half : half sizes of the core along its axes; offset, axis : its centre and its axis
    in the axes of the body
    """

    name: str
    component: int
    body: str
    shape: str
    radius: float
    half: tuple[float, float, float]
    offset: tuple[float, float, float]
    axis: tuple[float, float, float]
    group: int

    @property
    def bulk(self) -> float:
        """Its smallest half size, without bound for a plane."""
        return {BOX: min(self.half), PLANE: ENDLESS}.get(KINDS[self.shape], self.radius)


#: The numbers of shapes in kernels, and what axes they have.
KINDS = {"ball": BALL, "capsule": CAPSULE, "box": BOX, "plane": PLANE}
AXES = {BALL: NO_AXES, CAPSULE: AXIS, BOX: ALL_AXES, PLANE: AXIS}


@dataclass(frozen=True)
class TouchLaw:
    """Friction, friction in sticking, restitution of a group, whether this is Poisson's, and the overlap [m] at the start up to
    which it is pushed apart.
    """

    friction: float
    static: float
    restitution: float
    poisson: bool
    overlap: float


class ShapeFunction:
    """The compiled kinematics of shapes in *bodies* of a component, with these *axes*, and the blocks that move each."""

    def __init__(
        self, equations: Equations, bodies: Sequence[str], axes: Sequence[int], blocks: Sequence[Sequence[int]]
    ) -> None:
        d = run_derivation(equations, STEPPED)
        refs, self.coupled, velocities = shape_terms(d, bodies, axes, blocks)
        system = equations.system
        own = [name for k in range(len(bodies)) for name in shape_symbols(k)]
        constant = (*system.parameter_names, *(added_force(n) for n in system.v_names), *own)
        setup, made = state_programs(
            d, {"places": refs}, {"y": [*d.symbols.level(0), *d.symbols.level(1)]}, constant, "shapes"
        )
        self._setup = setup.name
        self.programs = setup, made["places"]
        self._functions = CompiledFunctions(self.programs)
        self.still = tuple(not any(row.gradient for row in rows) for rows in zip(*velocities, strict=True))
        self.sizes = [DERIVATIVES + 6 * sum(len(blocks[b]) for b in own) for own in self.coupled]

    @property
    def function(self) -> NativeFunction:
        """The machine code."""
        return self._functions["places"]

    def block(self, given: FloatArray) -> FloatArray:
        """The block h of parameters, constant forces, and the radii and offsets of the shapes."""
        return np.asarray(self._functions.interpreted(self._setup)(given))


def shape_function(
    equations: Equations, bodies: tuple[str, ...], axes: tuple[int, ...], blocks: Sequence[Sequence[int]]
) -> ShapeFunction:
    """:class:`ShapeFunction`, the same for components that are alike."""
    if equations.like is not None:
        first, names = equations.like
        back = {own: name for name, own in names.items()}
        return shape_function(first, tuple(back.get(b, b) for b in bodies), axes, blocks)
    key = (ShapeFunction, bodies, axes)
    return equations.bounded_memo(key, lambda: ShapeFunction(equations, bodies, axes, blocks))
