"""Consistent states: coordinates and speeds on the constraints, near a guess or near perturbed guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.constraints import NumericConstraints
from kineta.records import dataclass

#: Number of perturbed guesses, and the distances of their coordinates and of their speeds from the first guess.
GUESSES = 8
POSITION_DISTANCES, SPEED_DISTANCES = np.geomspace(1e-2, 1.0, GUESSES), np.geomspace(1e-1, 1e2, GUESSES)


@dataclass(frozen=True)
class ConsistentState:
    """State *q*, *v* on the constraints, or of least residual.

    residuals, scale : residuals of the constraints, and the scale of their tolerance
    distances : distances of the successful guesses of coordinates and of speeds from the first, in words; ``''`` for the first
    """

    q: FloatArray
    v: FloatArray
    residuals: FloatArray
    scale: float
    distances: tuple[str, str]

    @property
    def worst(self) -> int:
        """Index of the largest residual."""
        return int(np.abs(self.residuals).argmax())

    @property
    def violation(self) -> float:
        """Largest residual; infinite where one is not finite."""
        return _largest(self.residuals)

    @property
    def satisfied(self) -> bool:
        """Whether all residuals are within tolerance."""
        return self.violation <= tolerances.CONSTRAINT_TOLERANCE * self.scale


def consistent_state(
    constraints: NumericConstraints,
    t: float,
    q: FloatArray,
    v: FloatArray,
    held: tuple[Sequence[int], Sequence[int], Sequence[int]] = ((), (), ()),
) -> ConsistentState:
    """Consistent state at the time *t* near the guess *q*, *v*; *held*: speeds that do not move coordinates, fixed
    speeds, and fixed coordinates.
    Quasi-velocities satisfy the constraints on the speeds, and stay.

    Where Newton's method fails from the guess, as at a vanishing gradient, it restarts from perturbed guesses; for speeds
    only where a constraint is nonlinear in them.
    """
    on_position, still = constraints.on_position, np.zeros(len(constraints.system.base_speeds))
    others = [k for k in range(len(constraints.labels)) if k not in set(on_position)]

    def moved(change: FloatArray) -> FloatArray:
        change[list(held[0])] = 0.0
        return np.where(np.isin(range(len(q)), held[2]), q, constraints.retract(t, q, change))

    def changed(change: FloatArray) -> FloatArray:
        change[list(held[1])] = 0.0
        return v + change

    there, far = _best_solution(
        q,
        len(still),
        moved,
        lambda guess: constraints.project_position(t, guess, held[0], held[2]),
        lambda x: _largest(constraints.residuals(t, x, still)[on_position]) / constraints.scale(x, still),
        POSITION_DISTANCES if on_position else (),
    )
    if constraints.system.quasi:
        off = np.where(
            np.isin(range(len(constraints.labels)), on_position), constraints.residuals(t, there, still), 0.0
        )
        return ConsistentState(there, v, off, constraints.scale(there, v), (far, ""))
    speeds, fast = _best_solution(
        v,
        len(v),
        changed,
        lambda guess: constraints.project_velocity(t, there, guess, held[1]),
        lambda x: _largest(constraints.residuals(t, there, x)[others]) / constraints.scale(there, x),
        () if constraints.compiled.linear else SPEED_DISTANCES,
    )
    off = constraints.residuals(t, there, speeds)
    return ConsistentState(there, speeds, off, constraints.scale(there, speeds), (far, fast))


def _best_solution(
    guess: FloatArray,
    n: int,
    beside: Callable[[FloatArray], FloatArray],
    solve: Callable[[FloatArray], FloatArray],
    missed: Callable[[FloatArray], float],
    distances: Sequence[float] | FloatArray,
) -> tuple[FloatArray, str]:
    """Solution of least *missed* residual from the *guess*, or from guesses perturbed by changes (n,) of these *distances*
    until one is within tolerance; and its distance in words.
    """
    rng, best = np.random.default_rng(0), solve(guess)
    least, said = missed(best), ""
    for far in distances:
        if least <= tolerances.CONSTRAINT_TOLERANCE:
            break
        found = solve(beside(far * rng.standard_normal(n)))
        if (off := missed(found)) < least:
            best, least, said = found, off, f"about {far:.1g}"
    return best, said


def _largest(off: FloatArray) -> float:
    """Largest absolute residual; infinite where one is not finite."""
    return float(np.abs(np.where(np.isfinite(off), off, np.inf)).max(initial=0.0))
