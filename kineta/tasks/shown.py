"""The outputs of a model along a given motion: those that coordinates, speeds and accelerations decide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.compiler import Equations
from kineta.expr.node import Expr
from kineta.expr.program import program
from kineta.formulas import simplified
from kineta.model.infer import MULTIPLIER, highest
from kineta.model.system import System
from kineta.tasks.trajectory import Trajectory

FloatArray = NDArray[np.float64]


def outputs(path: Trajectory) -> dict[str, FloatArray]:
    """The outputs (k,) along a motion, by name."""
    names = list(_of_motions(path.system))
    if not names:
        return {}
    made = path.equations.kept("outputs along a motion", lambda: _compiled(path.equations))
    found = made.batch(path.t[:, None], path.q, path.v, path.vdot, path.p)
    return dict(zip(names, found.T, strict=True))


def _of_motions(system: System) -> dict[str, Expr]:
    """The outputs that a motion decides, whatever the forces."""
    return {o.name: o.value for o in system.outputs if highest(system, o.value) <= 2 and not _held(o.value)}


def _held(e: Expr) -> bool:
    """Whether *e* is made of forces of constraints."""
    return any(n.startswith(MULTIPLIER) for n in e.symbols())


def _compiled(equations: Equations) -> llvm.NativeFunction:
    d = equations.alone()
    own, made = simplified(d, {"outputs": d.expression_of_levels(*_of_motions(equations.system).values())}, ())
    inputs = {"t": (own.t,), "q": own.q, "v": own.v, "vdot": own.vdot, "p": own.p}
    shape = {"outputs": ((len(made["outputs"]),), made["outputs"])}
    return llvm.compile([program(own.graph, inputs, shape, "outputs")], batch=True).function("outputs")
