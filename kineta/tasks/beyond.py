"""How far given motions go beyond limits, which hold nothing in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.compiler import Equations
from kineta.errors import warn
from kineta.expr.graph import ZERO
from kineta.expr.program import program
from kineta.formalism.touch import Touch
from kineta.formulas import simplified

FloatArray = NDArray[np.float64]

#: By how much a limit may be missed that is rounding [rad or m].
ROUNDING = 1e-9


def limits(equations: Equations) -> list[Touch]:
    """The ends of limits of a system."""
    return [touch for touch in equations.derivation.touches if touch.limit] if equations.system.contacts else []


def gaps(equations: Equations) -> tuple[Sequence[str], llvm.NativeFunction]:
    """Names of the ends of limits; and of t, q, v and p how far they are away, with derivatives by the speeds, (ends, 1 + nv)."""
    return equations.kept("gaps of limits", lambda: _gaps(equations))


def _gaps(equations: Equations) -> tuple[Sequence[str], llvm.NativeFunction]:
    d = equations.alone()
    rows = [touch.normal for touch in d.touches if touch.limit and touch.normal is not None]
    refs = [x for row in rows for x in (row.levels[0], *(row.gradient.get(k, ZERO) for k in range(len(d.symbols.v))))]
    own, made = simplified(d, {"gaps": refs}, ())
    inputs = {"t": (own.t,), "q": own.q, "v": own.v, "p": own.p}
    compiled = llvm.compile([program(own.graph, inputs, {"gaps": ((len(refs),), made["gaps"])}, "gaps")], batch=True)
    return [row.constraint for row in rows], compiled.function("gaps")


def warn_beyond(equations: Equations, t: FloatArray, q: FloatArray, v: FloatArray, p: FloatArray) -> None:
    """Warn where a given motion goes beyond a limit: with the first that it does most, when, and by how much."""
    if not limits(equations):
        return
    names, made = gaps(equations)
    found = made.batch(t[:, None], q, v, p).reshape(len(t), len(names), -1)[:, :, 0]
    if not found.min() < -ROUNDING:
        return
    k, i = map(int, np.unravel_index(int(found.argmin()), found.shape))
    warn(
        f"Model '{equations.system.name}': the motion goes beyond the limit '{names[i]}', by {-found[k, i]:.3g} at "
        f"t = {t[k]:g} s: limits hold only in runs."
    )
