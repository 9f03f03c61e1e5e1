"""Forces of pairs of shapes that touch each other, averaged over steps of time stepping, as series by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration.time_stepping import PART_OF_STEP
from kineta.kernels.time_stepping.pair_rows import FORCE, PAIR_FORCE_NUMBERS, PRESSING
from kineta.model.contacts.mutual_contact import PAIR_COMPONENTS
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.results.result import Result

#: The most pairs whose forces are series: of more, those that press most.
MOST_SERIES = 60
#: Components of the force of a pair: the sum of what presses, and the force on the first of both shapes in ground axes.
COMPONENTS = dict(zip(PAIR_COMPONENTS, (PRESSING, FORCE, FORCE + 1, FORCE + 2), strict=True))


class PairForces:
    """Forces of pairs in steps of the *size* from *t0* on: of all, or of those in which the times of a *grid* lie."""

    def __init__(self, t0: float, size: float, grid: FloatArray | None) -> None:
        self._t0, self._size = t0, size
        self._asked = None if grid is None else np.unique(self.steps(grid))
        self._rows = list[FloatArray]()

    def steps(self, t: FloatArray) -> IntArray:
        """The numbers of the steps in which the times *t* lie, 0 at the start."""
        return np.ceil((t - self._t0) / self._size - PART_OF_STEP).astype(np.int64)

    def add(self, rows: FloatArray) -> None:
        """Add forces (k, PAIR_FORCE_NUMBERS) of steps."""
        if self._asked is not None:
            rows = rows[np.isin(rows[:, 0], self._asked)]
        if len(rows):
            self._rows.append(rows)

    @property
    def rows(self) -> FloatArray:
        """All forces, rising by step."""
        return np.concatenate(self._rows) if self._rows else np.zeros((0, PAIR_FORCE_NUMBERS))

    def most(self) -> dict[int, float]:
        """The largest sum of what presses of each pair, by its key."""
        rows = self.rows
        keys, place = np.unique(rows[:, 1].astype(np.int64), return_inverse=True)
        largest = np.zeros(len(keys))
        np.maximum.at(largest, place, rows[:, PRESSING])
        return dict(zip(keys.tolist(), largest.tolist(), strict=True))

    def series(self, names: Mapping[int, str], t: FloatArray) -> dict[str, FloatArray]:
        """The forces of pairs of these *names*, by their keys, at the times *t* (k,)."""
        rows, asked = self.rows, self.steps(t)
        found = {name: np.zeros((len(COMPONENTS), len(t))) for name in names.values()}
        for key, name in names.items():
            own = rows[rows[:, 1] == key]
            if len(own):
                at = np.searchsorted(own[:, 0], asked).clip(0, len(own) - 1)
                same = own[at, 0] == asked
                found[name][:, same] = own[at[same]][:, [*COMPONENTS.values()]].T
        return {
            f"{MULTIPLIER}{name}.{c}": x
            for name, all_of in found.items()
            for c, x in zip(COMPONENTS, all_of, strict=True)
        }


def series_pairs(forces: Sequence[PairForces], names: Mapping[int, str]) -> tuple[dict[int, str], tuple[str, ...]]:
    """The pairs whose *forces*, of one motion or many, are series, by their keys with their *names*; a sentence for more."""
    most = dict[int, float]()
    for own in forces:
        for key, force in own.most().items():
            most[key] = max(force, most.get(key, 0.0))
    shown = sorted(sorted(most, key=lambda key: -most[key])[:MOST_SERIES])
    said = f"Of {len(most)} pairs that press each other, the forces of the {MOST_SERIES} that press most are series."
    return {key: names[key] for key in shown}, (said,) if len(most) > MOST_SERIES else ()


def with_pair_forces(found: Result, forces: Sequence[PairForces], names: Mapping[int, str]) -> Result:
    """The result *found* of one motion or many with the *forces* of pairs, of each motion, among its series."""
    shown, said = series_pairs(forces, names)
    if not shown:
        return found
    told: dict[str, Any] = {"notes": (*found.notes, *said)}
    cases, t = found.cases, found.t
    if cases is None:
        own = forces[0].series(shown, t)
        sol = None if found.sol is None else SolutionWithForces(found.sol, forces[0], shown)
        return replace(found, outputs={**found.outputs, **own}, units=_units(found, own), sol=sol, **told)
    each = [one.series(shown, np.append(t, end)) for one, end in zip(forces, cases.t.tolist(), strict=True)]
    many = {name: np.stack([own[name] for own in each]) for name in each[0]}
    late = np.arange(len(t)) >= cases.recorded[:, None]
    series = {name: np.where(late, np.nan, x[:, :-1]) for name, x in many.items()}
    ended = replace(cases, end={**cases.end, **{name: x[:, -1].copy() for name, x in many.items()}})
    return replace(found, outputs={**found.outputs, **series}, units=_units(found, many), cases=ended, **told)


def _units(found: Result, more: Iterable[str]) -> dict[str, str]:
    return {**found.units, **dict.fromkeys(more, "N")}


class SolutionWithForces:
    """The *solution* of a run as a function of the time, with *forces* of the pairs of these *names*."""

    def __init__(self, solution: Any, forces: PairForces, names: Mapping[int, str]) -> None:
        self._solution, self._forces, self._names = solution, forces, names

    def __getattr__(self, name: str) -> Any:
        """What the solution has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._solution, name)

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*."""
        return np.asarray(self._solution(t))

    def sampled(self, run: Result, times: FloatArray) -> Result:
        """*run* at other times."""
        own = self._forces.series(self._names, times)
        plain = replace(
            run, outputs={name: x for name, x in run.outputs.items() if name not in own}, sol=self._solution
        )
        found: Result = self._solution.sampled(plain, times)
        return replace(found, outputs={**found.outputs, **self._forces.series(self._names, found.t)}, sol=self)
