"""Rates at the stages of a step. Near a singular configuration they are evaluated at states projected onto the constraints.

There a constraint becomes redundant, its pivot in the accelerations vanishes, and the accelerations have a pole off the
manifold. A step that meets a small pivot is *guarded*: all its stages are projected before evaluation.
"""

from __future__ import annotations

from kineta.integration.loop_abi import RunData
from kineta.kernels.language import fabs, kernel
from kineta.kernels.sliding.rate import evaluate_sliding
from kineta.memory import Reals
from kineta.numerics.tableaux import Tableau
from kineta.records import dataclass

#: Relative pivot, the square of the distance from the singular configuration, below which steps are guarded.
LOW = 1e-2


@dataclass(frozen=True)
class LoopMethod:
    """What a loop is translated for.

    fused : sums of products are rounded once; projecting : states are projected onto constraints; touching : contacts change
        their modes within the loop; sampling : the run is a case of an ensemble, which keeps its state at given times alone;
    switching : switches act within the loop of an ensemble; kinked : steps end at kinks of the rate; sliding : the motion may
    slide along surfaces where it jumps
    """

    tableau: Tableau
    fused: bool
    projecting: bool
    touching: bool
    sampling: bool = False
    switching: bool = False
    kinked: bool = False
    sliding: bool = False


@kernel
def block_of(method: LoopMethod, run: RunData) -> Reals:
    """The block h of the functions of a run, behind which contacts have their modes."""
    if method.touching:
        return run.contacts.motion.block
    return run.block


@kernel
def lowest_pivot(run: RunData, rates: Reals) -> float:
    """The smallest pivot among *rates*, relative to its largest value so far; 1 at most."""
    c = run.constraints
    lowest = 1.0
    for i in range(c.watched):
        lowest = min(lowest, fabs(rates[c.pivots + i]) / c.largest[i])
    return lowest


@kernel
def measure_pivots(run: RunData, t: float, count: int, states: Reals) -> None:
    """The largest pivots of the constraints in some regular *states* (count, n)."""
    c = run.constraints
    for i in range(c.watched):
        c.largest[i] = 0.0
    run.time[0] = t
    for r in range(count):
        run.rate(run.time, states[r * run.n :], run.block, run.k)
        for i in range(c.watched):
            c.largest[i] = max(c.largest[i], fabs(run.k[c.pivots + i]))


@kernel
def is_to_guard(run: RunData) -> bool:
    """Whether an unguarded step has met a small pivot."""
    return not run.constraints.guarded and run.constraints.met < LOW


@kernel
def evaluate(method: LoopMethod, run: RunData, t: float, out: Reals) -> None:
    """The rate at the state tried, in a guarded step at its projection; nothing in a step that is to be guarded."""
    if not method.projecting or not is_to_guard(run):
        evaluate_always(method, run, t, out)


@kernel
def rate_of(method: LoopMethod, run: RunData, y: Reals, out: Reals) -> None:
    """The rate in the state y, at the time that functions see; with the sides of surfaces on which the motion may slide."""
    if method.sliding:
        evaluate_sliding(run, y, out)
    else:
        run.rate(run.time, y, run.block, out)


@kernel
def evaluate_always(method: LoopMethod, run: RunData, t: float, out: Reals) -> None:
    """The rate at the state tried, in a guarded step at its projection."""
    run.time[0] = t
    run.evaluations += 1
    if not method.projecting:
        rate_of(method, run, run.new, out)
    else:
        c = run.constraints
        if c.guarded:
            c.position(run.time, run.new, run.block, c.before)
            c.velocity(run.time, c.before, run.block, c.after)
            rate_of(method, run, c.after, out)
        else:
            rate_of(method, run, run.new, out)
        c.met = min(c.met, lowest_pivot(run, out))
