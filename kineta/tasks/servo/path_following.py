"""Path following along servo-constraints: algebraic for flat systems, by integration of the internal dynamics otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.integrate import DOP853, DenseOutput

from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.numerics.linear_algebra import det
from kineta.tasks.servo.derivative_array import Hold, Jet

#: The shortest step, relative to the time span.
SHORTEST = 1e-7
#: Number of jets at which the structure of the derivative array is determined anew.
LOOKS = 8


class Path:
    """Path following from jet to jet, with a watch for singular positions."""

    def __init__(self, hold: Hold, state: Jet, span: float, answer: FloatArray | None = None) -> None:
        self.hold = hold
        self.state = state
        self._span = self._step = abs(span)
        self.answer = hold.answer(hold.balanced(state)[1]) if answer is None else answer

    def to(self, t: float, guess: Jet | None = None) -> Jet:
        """Return the jet at the time *t* nearest to the *guess*, by default to the extrapolated last one. Raises
        :class:`SimulationError` for a singular position on the way.
        """
        while self.state.t != t:
            whole = abs(t - self.state.t) <= self._step
            ahead = t if whole else self.state.t + float(np.copysign(self._step, t - self.state.t))
            reached = self._reached(ahead, guess if whole else None)
            if reached is not None:
                self.state, self.answer = reached
                self._step = min(2 * self._step, self._span)
            elif (step := abs(ahead - self.state.t)) > SHORTEST * self._span:
                self._step = step / 2
            else:
                raise SimulationError(self.lost())
        return self.state

    def _reached(self, t: float, guess: Jet | None) -> tuple[Jet, FloatArray] | None:
        found = self.hold.met(self.hold.array.later(self.state, t) if guess is None else guess)
        if found is None:
            return None
        state, A = found
        answer = self.hold.answer(A)
        return (state, answer) if det(self.answer.T @ answer) > 0 else None

    def lost(self) -> str:
        """Return the sentence on a path that ends early."""
        system = self.hold.array.system
        names = " and ".join(f"'{p.name}'" for p in system.programs)
        return (
            f"Model '{system.name}': the motion comes to a singular position at t = {self.state.t:.6g} s, beyond which the "
            f"actuators cannot hold {names}. End it before, or give another path."
        )


def followed(hold: Hold, state: Jet, times: FloatArray) -> Iterator[Jet]:
    """Yield the jets of a flat system at *times*. Raises :class:`SimulationError` for a system that is flat at the start alone:
    at rest, where a force is normal to the motion that it drives.
    """
    path = Path(hold, state, times[-1] - times[0])
    asked = set(times[:: max(1, len(times) // LOOKS)].tolist())
    for t in times.tolist():
        reached = path.to(t)
        if t in asked and hold.decided(reached).free > hold.structure.free:
            raise SimulationError(
                f"Model '{hold.array.system.name}': the position at t = {times[0]:g} s that meets the programs is singular: at "
                f"t = {t:g} s a part of the motion is free that is held there. Give a start beside it."
            )
        yield reached


def integrated(
    hold: Hold, state: Jet, times: FloatArray, rtol: float, atol: float, steps: list[DenseOutput]
) -> Iterator[Jet]:
    """Yield the jets at *times* by integration of the internal dynamics from *state*: of the motion, projected onto the programs,
    and of the first-order states. Append the interpolants of its steps, of coordinates, states and speeds, to *steps*.

    Rates are those of the consistent jet nearest to the state of the method, so that residuals do not grow.
    """
    array, n, nq = hold.array, hold.array.n, hold.array.system.nq
    path, last = Path(hold, state, times[-1] - times[0]), state

    def near(t: float, y: FloatArray) -> Jet:
        return Jet(t, y[:nq], np.concatenate([y[nq:], last.x[n:]]))

    def rate(t: float, y: FloatArray) -> FloatArray:
        nonlocal last
        found = hold.met(near(t, y))
        if found is None:
            return np.full(nq + n, np.nan)
        last = found[0]
        return np.concatenate([array.qdot(last), last.x[n : 2 * n]])

    solver = DOP853(rate, times[0], np.concatenate([state.q, state.x[:n]]), times[-1], rtol=rtol, atol=atol)
    yield state
    rest = times[1:].tolist()
    while rest:
        solver.step()
        short = solver.step_size is not None and solver.step_size < SHORTEST * abs(times[-1] - times[0])
        if solver.status == "failed" or (short and solver.status == "running"):
            raise SimulationError(path.lost())
        steps.append(solver.dense_output())
        while rest and (rest[0] - solver.t) * solver.direction <= 0:
            t = rest.pop(0)
            yield path.to(t, near(t, steps[-1](t)))
        path.to(solver.t, near(solver.t, solver.y))
