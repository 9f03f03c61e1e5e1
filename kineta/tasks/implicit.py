"""The motion as differential-algebraic equations, for methods that solve accelerations, multipliers and constraints together::

    q' - qdot(t, q, v) = 0        M v' + bias - tau - A^T mu = 0        A v + A_0 = 0

The constraints are those on the speeds: index 2. With those on the position, index 3, IDA does not pass its first steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.compiler import Equations
from kineta.expr.graph import neg
from kineta.expr.program import Program
from kineta.numerics.foreign import Implicit
from kineta.passes.substitute import substitute
from kineta.tasks.code import Bound
from kineta.tasks.computed import functions, lowered
from kineta.tasks.forces import Forces
from kineta.tasks.keeping import SOLVED, derivation

FloatArray = NDArray[np.float64]


def implicit(equations: Equations, run: Bound) -> Implicit:
    """The equations of *run*."""
    forces = run.forces
    key = ("implicit", forces.none, tuple(forces.expressions.items()))
    setup, program = equations.kept(key, lambda: _programs(equations, forces))
    h = reference.compile(setup)(np.concatenate([run.p, forces.constant]))
    value = llvm.compile([program]).function(program.name)
    nq, nv = equations.system.nq, equations.system.nv
    n = nq + nv + run.code.layout.integrals
    unknown = program.n_outputs - n

    def residual(t: float, y: FloatArray, rate: FloatArray) -> FloatArray:
        found = value(np.array([t]), np.array(y[:n]), np.concatenate([rate[nq : nq + nv], y[n:]]), h)
        found[:nq] += rate[:nq]
        found[nq + nv : n] += rate[nq + nv : n]
        return np.asarray(found)

    return Implicit(residual, unknown, (nq, nq + nv))


def _programs(equations: Equations, forces: Forces) -> tuple[Program, Program]:
    """Setup, and the left sides, of t, y, accelerations and multipliers; less the rates of what has one beside the speeds."""
    d = derivation(equations, SOLVED)
    g, s = d.graph, d.symbols
    _, layout = functions(d, forces, ())
    unknown = [f"multiplier {i}" for i in range(len(d.rows))]
    balance = [g.sub(a, b) for a, b in zip(d["inverse"].refs, s.tau, strict=True)]
    for row, name in zip(d.rows, unknown, strict=True):
        for k, partial in row.gradient.items():
            balance[k] = g.sub(balance[k], g.mul(partial, g.symbol(name)))
    work = [neg(x) for x in d["power"].refs] * layout.works
    left = [*(neg(x) for x in s.qdot), *balance, *work, *(r.levels[-1] for r in d.rows)]
    acting = {f"tau.{n}": d.expression(e)[0] for n, e in forces.expressions.items()}
    left = list(substitute(g, left, acting)) if acting else left
    names = [*(f"{n}'" for n in s.names), *unknown]
    setup, programs = lowered(d, {"implicit": left}, layout, names)
    return setup, programs["implicit"]
