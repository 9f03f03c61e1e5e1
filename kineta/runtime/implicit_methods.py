"""The functions of implicit methods: the Jacobian of the rate for stiff solvers, and the residual of a DAE solver::

    q' - qdot(t, q, v) = 0        M v' + bias - tau - A^T mu = 0        A v + A_0 = 0

Accelerations, multipliers and constraints are solved together. The constraints are those on the speeds: index 2. With those on
the position, index 3, IDA does not pass its first steps.
"""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.equations.equations import Equations
from kineta.expr.graph import ZERO
from kineta.expr.program import StraightLineProgram
from kineta.integration.external import Implicit, Jacobian
from kineta.mechanics.tangent import along, multiplier_symbols, residuals
from kineta.model.reserved_symbols import added_force
from kineta.passes.substitute import substitute
from kineta.runtime.applied_forces import AppliedForces
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.constraint_treatment import FREE, SOLVED, STABILISED, run_derivation
from kineta.runtime.functions import SETUP, lowered, run_functions


def jacobian(equations: Equations, run: BoundSystem) -> Jacobian:
    """Jacobian (n, n) of the rate of *run* by the state y (n,), exact, as a function of t and y.

    The columns of quadratures are zero; entries that are not finite, at kinks of the rate, are zero, too.
    """
    forces = run.forces
    key = ("jacobian", forces.none, tuple(forces.expressions.items()))
    made = equations.bounded_memo(
        key, lambda: CompiledFunctions(_slope_programs(equations, forces), batch=True, group=str)
    )
    h, rows = made.interpreted(SETUP)(np.concatenate([run.p, forces.constant])), made["slope"].batch

    states = run.code.layout.states(equations.system)
    directions = np.eye(states)

    def at(t: float, y: FloatArray) -> FloatArray:
        J = np.zeros((len(y), len(y)))
        columns = rows(np.array([t]), np.array(y), directions, h)
        J[:, :states] = np.where(np.isfinite(columns), columns, 0.0).T
        return J

    return at


def _slope_programs(equations: Equations, forces: AppliedForces) -> tuple[StraightLineProgram, StraightLineProgram]:
    """Setup program, and the directional derivative of the rate along coordinates and speeds."""
    held = equations.system.constraints or equations.system.programs
    d = run_derivation(equations, STABILISED if held else FREE)
    found, layout = run_functions(d, forces, ())
    direction, slope = along(d.graph, found["rate"], [x for k in range(layout.order) for x in d.symbols.level(k)])
    setup, programs = lowered(d, {"slope": slope}, layout, direction)
    return setup, programs["slope"]


def dae_residual(equations: Equations, run: BoundSystem) -> Implicit:
    """Residual of the equations of *run* as a DAE."""
    from kineta.codegen.python_call import state_wrapper  # which needs llvmlite

    forces = run.forces
    key = ("implicit", forces.none, tuple(forces.expressions.items()))
    made = equations.bounded_memo(key, lambda: CompiledFunctions(_residual_programs(equations, forces), group=str))
    h, residual = made.interpreted(SETUP)(np.concatenate([run.p, forces.constant])), made["implicit"]
    nq, nv = equations.system.nq, equations.system.nv
    unknown = residual.program.n_outputs - nq - nv - run.code.layout.integrals
    return Implicit(state_wrapper(residual, h), unknown, (nq, nq + nv))


def _residual_programs(equations: Equations, forces: AppliedForces) -> tuple[StraightLineProgram, StraightLineProgram]:
    """Setup program, and the left sides as functions of t, of y with the multipliers, and of their rates."""
    d = run_derivation(equations, SOLVED)
    _, layout = run_functions(d, forces, ())
    g, s, unknown = d.graph, d.symbols, multiplier_symbols(d)
    moving = [g.symbol(f"rate of {name}") for name in s.system.q_names]
    sides = [g.symbol(f"rate of side {k}") for k in range(len(layout.slides))]
    other = [*[g.symbol("rate of the work")] * layout.works, *sides]
    own = (*s.qdot, *d["power"].refs[: layout.works], *[ZERO] * len(sides))
    rates = [g.sub(x, rate) for x, rate in zip((*moving, *other), own, strict=True)]
    left = [*rates[: len(moving)], *residuals(d)[0], *rates[len(moving) :], *(r.levels[-1] for r in d.rows)]
    acting = {added_force(n): d.expression(e)[0] for n, e in forces.expressions.items()}
    left = list(substitute(g, left, acting)) if acting else left
    beside = [g.symbol(f"rate of a multiplier {k}") for k in range(len(unknown))]
    setup, programs = lowered(d, {"implicit": left}, layout, [*moving, *s.vdot, *other, *beside], unknown)
    return setup, programs["implicit"]
