"""Whether a state meets the constraints of its system."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.tasks import arguments
from kineta.tasks.closing import Closing
from kineta.tasks.rank import contradiction

FloatArray = NDArray[np.float64]

#: By how much a start may miss a constraint, relative to the size of the state; and by how much where it is brought back: six
#: digits, as results print them.
MISSED, PRINTED = 1e-9, 1e-4


def brought_back(
    equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """The start *q*, *v* of a motion, or of several cases, where one misses constraints by no more than numbers of few digits do:
    a state on them; and what is to be said of it.
    """
    system = equations.system
    if not system.constraints:
        return q, v, ()
    cases = arguments.cases({"q": q, "v": v, "p": p})
    lead = () if cases is None else (cases,)
    starts = [np.broadcast_to(x, (cases or 1, x.shape[-1])) for x in (q, v, p)]
    moved, worst = [starts[0].copy(), starts[1].copy()], 0.0
    for i, (one, speeds, own) in enumerate(zip(*starts, strict=True)):
        closing = Closing(equations, own)
        known = closing.on_position if system.quasi else slice(None)
        off, size = _off(closing, t, one, speeds, known), closing.size(one, speeds)
        if MISSED * size < off <= PRINTED * size:
            there = closing.position(t, one)
            rates = speeds if system.quasi else closing.velocity(t, there, speeds)
            if _off(closing, t, there, rates, known) <= MISSED * size:
                moved[0][i], moved[1][i], worst = there, rates, max(worst, off)
    if not worst:
        return q, v, ()
    q, v = (x.reshape(*lead, x.shape[-1]) for x in moved)
    return q, v, (f"the start missed constraints by up to {worst:.1e} and was brought back onto them",)


def _off(closing: Closing, t: float, q: FloatArray, v: FloatArray, known: list[int] | slice) -> float:
    """How far a state misses the levels *known*."""
    speeds = np.zeros(len(closing.system.base_speeds)) if closing.system.quasi else v
    return float(np.abs(closing.off(t, q, speeds)[known]).max(initial=0.0))


def missed(equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray) -> str:
    """Which constraint, or rate of one, the state at *t* misses; ``''`` for none."""
    system = equations.system
    if not system.constraints:
        return ""
    closing = Closing(equations, p)
    k, value = farthest(equations, closing, t, q, v)
    if abs(value) <= MISSED * closing.size(q, v):
        return ""
    if not system.quasi and (why := contradiction(closing, t, q, v)):
        return f"Model '{system.name}': {why}"
    size = f"{value:.3g} {closing.unit(k)}".rstrip()
    return (
        f"Model '{system.name}': the start misses {closing.named(k)}: it is {size} at t = {t:g} s, and has to be 0. "
        "Give initial values that meet it, or let kn.assemble (kineta assemble) find some."
    )


def farthest(equations: Equations, closing: Closing, t: float, q: FloatArray, v: FloatArray) -> tuple[int, float]:
    """The level that the state at *t* misses most, by number and value: one on the position, where one of these is missed."""
    own = equations.system.quasi
    values = equations.function("constraints", "numpy")(t, q, v, p=closing.p) if own else closing.off(t, q, v)
    off, allowed = np.where(np.isfinite(values), np.abs(values), np.inf), MISSED * closing.size(q, v)
    first = [k for k in closing.on_position if off[k] > allowed] or range(len(off))
    k = max(first, key=lambda k: float(off[k]))
    return k, float(values[k])
