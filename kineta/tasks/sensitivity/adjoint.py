"""Adjoint integration: the gradient of one number, backwards along a motion.

For J = final(y(T)) + int g dt along y' = f(t, y, p), with the adjoint variables w(T) = d(final)/dy, one backward integration
gives the whole gradient::

    w' = -w df/dy - dg/dy          dJ/dp = d(final)/dp + int (w df/dp + dg/dp) dt          dJ/dy(0) = w(0)

The states are integrated backwards too; each step begins at the recorded end of a forward step, so that decaying motions do not
grow backwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.errors import SimulationError
from kineta.expr.graph import ZERO, Ref, neg
from kineta.integration.native import NativeRun
from kineta.integration.problem import Problem
from kineta.kernels.integrate import integration_loop
from kineta.mechanics.tangent import pulled_back
from kineta.model.reserved_symbols import added_force
from kineta.numerics.tableaux import TABLEAUX
from kineta.passes.differentiate import gradient
from kineta.passes.evaluate import evaluate
from kineta.runtime.compiled import CompiledSystem
from kineta.runtime.constraint_treatment import FREE
from kineta.runtime.functions import StateLayout, state_programs
from kineta.tasks.sensitivity.variational_equations import Varied


def code(equations: Equations, by: Varied, goal: Expr | None) -> CompiledSystem:
    """Return the rates of states, adjoint variables and the gradient by the names *by* that are symbols of the equations."""
    return equations.bounded_memo(("adjoint", by, goal), lambda: _code(equations, by, goal))


def _code(equations: Equations, by: Varied, goal: Expr | None) -> CompiledSystem:
    d = equations.alone(watched=True)
    g, s = d.graph, d.symbols
    states = [*s.q, *s.v]
    weights = [g.symbol(f"weight of {g.names[g.lhs[x >> 1]]}") for x in states]
    symbols = [g.symbol(name) for name in map(by.symbol, by.names) if name is not None]
    more = d.expression(goal)[0] if goal is not None else ZERO
    more = g.add(more, g.sum(g.mul(w, rate) for w, rate in zip(weights, s.qdot, strict=False)))
    slopes = pulled_back(d, weights[len(s.q) :], more, {*states, *symbols})
    rate = [*d["state_rate"].refs, *(neg(slopes.get(x, ZERO)) for x in (*states, *symbols))]
    y = [*states, *weights, *(g.symbol(f"slope {k}") for k in range(len(symbols)))]
    constant = (*s.system.parameter_names, *(added_force(n) for n in s.names))
    return CompiledSystem(*state_programs(d, {"rate": rate}, {"y": y}, constant, "adjoint"), StateLayout(0), FREE)


def back(
    made: CompiledSystem,
    h: FloatArray,
    t: FloatArray,
    rows: FloatArray,
    final: FloatArray,
    method: str,
    rtol: float,
    atol: float,
) -> FloatArray:
    """Return the adjoint variables at the start, then the gradient: from the times *t* (k,) and states *rows* (k, n) of the
    forward motion, and the derivatives *final* at its end.
    """
    n = rows.shape[1]
    problem = Problem(made.rate.address, h, float(t[-1]), float(t[-2]), np.concatenate([rows[-1], final]))
    run = NativeRun(TABLEAUX[method], integration_loop(TABLEAUX[method]), problem, rtol=rtol, atol=atol)
    state = problem.y0
    for k in range(len(t) - 2, -1, -1):
        if k < len(t) - 2:
            run.go_on(float(t[k]), h, np.concatenate([rows[k + 1], state[n:]]))
        for segment in run:
            state = segment.y[-1] if len(segment.y) else state
        if segment.end != "" or not np.isfinite(state).all():
            raise SimulationError(
                f"The derivatives cannot be carried back beyond t = {t[k + 1]:g} s: they are not finite there."
            )
    return np.asarray(state[n:])


def final_slopes(
    equations: Equations, by: Varied, final: Expr | None, t: float, y: FloatArray, p: FloatArray, tau: FloatArray
) -> FloatArray:
    """Return the derivatives of *final* at a state *y* (nq + nv,) by the state and by the symbols among *by*."""
    with equations.shared() as d:
        g, s = d.graph, d.symbols
        symbols: Sequence[Ref] = [*s.q, *s.v, *(g.symbol(n) for n in map(by.symbol, by.names) if n is not None)]
        if final is None:
            return np.zeros(len(symbols))
        (value,) = d.expression(final)
        slopes = gradient(g, value, set(symbols), at_rest=True)
    names = (*s.system.q_names, *s.names, *s.system.parameter_names, *(added_force(n) for n in s.names))
    at = dict(zip(names, (*y, *p, *tau), strict=True)) | {"t": t}
    return np.array(evaluate(g, [slopes.get(x, ZERO) for x in symbols], at), dtype=np.float64)
