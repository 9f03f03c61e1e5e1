"""A motion as it was run: pieces between changes of mode, each with its dense solution, and what happens between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.integration.segment import Segment
from kineta.records import dataclass
from kineta.results.impacts import Impact
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.solution import Solution


@dataclass(frozen=True)
class ChangeStep:
    """A step of a change: the ``impacts`` of contacts, and the transition of their mode; or the switch number ``switch``."""

    switch: int
    impacts: tuple[Impact, ...]


@dataclass(frozen=True)
class MotionPiece:
    """Steps of a motion in one ``mode``: times t (k,) and states y (k, n) from its start to its end, and the ``solution``
    between them. ``steps`` lead to it from the piece before; None where that only goes on.
    """

    mode: BoundSystem
    t: FloatArray
    y: FloatArray
    solution: Callable[[FloatArray], FloatArray] | None = field(repr=False)
    steps: tuple[ChangeStep, ...] | None = None


def pieces(task: SimulationProblem, solution: Solution) -> list[MotionPiece]:
    """Return the pieces of the *solution* of *task*, in order. Raises :class:`SimulationError` for impacts at its start."""
    assert solution.record is not None
    impacts = list(solution.impacts[0])
    # Impacts at the start are in no transition.
    if len(impacts) > sum(n for steps in solution.transitions for _, n in steps):
        raise SimulationError(
            f"'{impacts[0].contact}' strikes at the start, and neighbouring motions strike at other times or not: there is no "
            "derivative. Begin a little before, or behind the impact"
        )
    changes = _changes(solution.transitions, iter(impacts))
    found = list[MotionPiece]()
    for segment in solution.record.segments:
        found += _of_segment(segment, task.made, changes)
    assert next(changes, None) is None
    return _until(found, float(solution.t[0][-1]))


def _until(found: list[MotionPiece], end: float) -> list[MotionPiece]:
    """The pieces *found* up to the *end* of the motion: an event ends it within the last step."""
    last = found[-1]
    if last.solution is None or not float(last.t[-1]) > end:
        return found
    before = last.t < end
    t, y = np.append(last.t[before], end), np.vstack([last.y[before], last.solution(np.array([end]))])
    return [*found[:-1], replace(last, t=t, y=y)]


def _changes(
    transitions: Sequence[tuple[tuple[int, int], ...]], impacts: Iterator[Impact]
) -> Iterator[tuple[ChangeStep, ...]]:
    for steps in transitions:
        yield tuple(ChangeStep(switch, tuple(next(impacts) for _ in range(n))) for switch, n in steps)


def _of_segment(
    segment: Segment, made: BoundSystem, changes: Iterator[tuple[ChangeStep, ...]]
) -> Iterator[MotionPiece]:
    """The pieces of a *segment*, from one transition within it to the next."""
    ended = segment.solution is None and len(segment.t) == 1 and segment.t[0] == segment.t0
    steps = next(changes) if segment.jumped or ended else None
    t, y = np.concatenate([[segment.t0], segment.t]), np.vstack([segment.y0, segment.y])
    mode, start = segment.mode or made, 0
    for row, later in segment.later:
        yield MotionPiece(mode, t[start : row + 1], y[start : row + 1], _function(segment), steps)
        mode, start, steps = later(), row + 1, next(changes)
    if start < len(t) or ended:
        yield MotionPiece(mode, t[start:], y[start:], _function(segment), steps)


def _function(segment: Segment) -> Callable[[FloatArray], FloatArray] | None:
    solution = segment.solution
    if solution is None:
        return None
    return lambda t: np.ascontiguousarray(np.asarray(solution(t)).T)
