"""What is known of every case of a run of several."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError
from kineta.tasks.status import DONE, EVENT

if TYPE_CHECKING:
    from kineta.tasks.result import Result

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: What is counted of every case.
COUNTS = ("status", "recorded", "nfev", "steps", "rejected")
#: What is told of every case.
TOLD = ("changes", "notes")


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases of a run, one entry each.

    Attributes
    ----------
    status, messages : as those of a run
    t, end : the time at which the case ended [s], and the values of all series then, by name
    recorded : how many of the times of the run it has reached
    nfev, steps, rejected, energy_balance : as those of a run
    events : for every event, the cases (m,) of its zeros
    changes, notes : as those of a run
    """

    status: IntArray
    messages: tuple[str, ...]
    t: FloatArray
    end: Mapping[str, FloatArray]
    recorded: IntArray
    nfev: IntArray
    steps: IntArray
    rejected: IntArray
    energy_balance: FloatArray
    events: tuple[IntArray, ...]
    changes: tuple[tuple[tuple[float, str], ...], ...]
    notes: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.status)

    def variables(self) -> dict[str, Any]:
        """What a data set holds of them, beside the coordinates ``case`` and ``series``."""
        found: dict[str, Any] = {f"case.{n}": ("case", getattr(self, n)) for n in COUNTS}
        found["case.t"] = ("case", self.t, {"units": "s"})
        found["case.energy_balance"] = ("case", self.energy_balance)
        found["case.message"] = ("case", list(self.messages))
        found |= {f"case.{n}": ("case", [json.dumps(x) for x in getattr(self, n)]) for n in TOLD}
        found["case.end"] = (("case", "series"), np.stack(list(self.end.values()), axis=-1))
        return found | {f"event{i}.case": (f"event{i}", events) for i, events in enumerate(self.events)}

    @property
    def success(self) -> NDArray[np.bool_]:
        """Which cases reached their end or a terminal event."""
        return np.isin(self.status, (DONE, EVENT))


def case(run: Result, i: int) -> Result:
    """Case *i* of *run* as a run of its own: what it reached, and the state at the event that ended it."""
    cases = run.cases
    if cases is None:
        raise ArgumentError(f"Expected a run of several cases, found {run!r}.")
    if isinstance(i, bool) or not isinstance(i, int | np.integer) or not -len(cases) <= i < len(cases):
        raise ArgumentError(f"Run of '{run.model}': expected a case from 0 to {len(cases) - 1}, found {i!r}.")
    i = int(i) % len(cases)
    k = int(cases.recorded[i])
    found = [events == i for events in cases.events]
    at_event = any(cases.t[i] in t[mine] for t, mine in zip(run.t_events, found, strict=True))
    # The grid has no place for the time of an event.
    beyond = at_event and (k == 0 or run.t[k - 1] != cases.t[i])

    def row(name: str, values: FloatArray) -> FloatArray:
        return np.append(values[i, :k], cases.end[name][i]) if beyond else values[i, :k].copy()

    names = (*run.q_names, *run.v_names)
    rows = [row(n, run.y[:, j]) for j, n in enumerate(names)]
    return replace(
        run,
        t=np.append(run.t[:k], cases.t[i]) if beyond else run.t[:k].copy(),
        y=np.array(rows).reshape(len(names), k + beyond),
        outputs={n: row(n, x) for n, x in run.outputs.items()},
        kinetic_energy=row("kinetic_energy", run.kinetic_energy),
        potential_energy=row("potential_energy", run.potential_energy),
        work=row("work", run.work),
        energy_balance=float(cases.energy_balance[i]),
        parameters={n: float(np.broadcast_to(x, (len(cases), 1))[i, 0]) for n, x in run.parameters.items()},
        status=int(cases.status[i]),
        message=cases.messages[i],
        nfev=int(cases.nfev[i]),
        steps=int(cases.steps[i]),
        rejected=int(cases.rejected[i]),
        seconds=run.seconds / len(cases),
        t_events=tuple(t[mine] for t, mine in zip(run.t_events, found, strict=True)),
        y_events=tuple(y[mine] for y, mine in zip(run.y_events, found, strict=True)),
        notes=(*run.notes, *cases.notes[i]),
        changes=cases.changes[i],
        cases=None,
    )
