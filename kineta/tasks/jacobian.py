"""The derivative of a run's rate by its state, for implicit methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.compiler import Equations
from kineta.expr.program import Program
from kineta.numerics.foreign import Jacobian
from kineta.passes.differentiate import forward
from kineta.tasks.code import Bound
from kineta.tasks.computed import functions, lowered
from kineta.tasks.forces import Forces
from kineta.tasks.keeping import FREE, STABILISED, derivation

FloatArray = NDArray[np.float64]


def jacobian(equations: Equations, run: Bound) -> Jacobian:
    """The derivative (n, n) of the rate of *run* by the state y (n,), exact, as a function of t and y.

    Nothing depends on the work done: its column is zero. So are entries that are not finite, at corners of the rate.
    """
    forces = run.forces
    key = ("jacobian", forces.none, tuple(forces.expressions.items()))
    setup, slope = equations.kept(key, lambda: _programs(equations, forces))
    h = reference.compile(setup)(np.concatenate([run.p, forces.constant]))
    rows = llvm.compile([slope], batch=True).function(slope.name).batch

    def at(t: float, y: FloatArray) -> FloatArray:
        J = np.zeros((len(y), len(y)))
        states = len(y) - run.code.layout.integrals
        columns = rows(np.array([t]), np.array(y), np.eye(states), h)
        J[:, :states] = np.where(np.isfinite(columns), columns, 0.0).T
        return J

    return at


def _programs(equations: Equations, forces: Forces) -> tuple[Program, Program]:
    """Setup, and the change of the rate in a direction of coordinates and speeds."""
    held = equations.system.constraints or equations.system.programs
    d = derivation(equations, STABILISED if held else FREE)
    found, layout = functions(d, forces, ())
    states = [x for k in range(layout.order) for x in d.symbols.level(k)]
    names = [f"d {d.graph.name(x)}" for x in states]
    seeds = dict(zip(states, map(d.graph.symbol, names), strict=True))
    setup, programs = lowered(d, {"slope": forward(d.graph, found["rate"], seeds)}, layout, names)
    return setup, programs["slope"]
