"""``Cases``: the outcomes of the cases of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray, Mask
from kineta.records import dataclass
from kineta.results.impacts import Impact
from kineta.results.outcomes import DONE, EVENT

#: Integer fields of every case.
COUNTS = ("status", "recorded", "nfev", "steps", "rejected")
#: Text fields of every case.
TOLD = ("changes", "impacts", "notes")


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases of an ensemble, one entry each.

    Attributes
    ----------
    status, messages : as those of a run
    t, end : the time at which the case ended [s], and the values of all series then, by name
    recorded : number of recorded times of the run before the case ended
    nfev, steps, rejected, energy_balance : as those of a run
    events : for every event, the cases (m,) of its zeros
    residual : by how much each case missed constraints; () in files that hold it for all alone
    changes, impacts, notes : as those of a run
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
    changes: Sequence[tuple[tuple[float, str], ...]]
    impacts: Sequence[tuple[Impact, ...]]
    notes: Sequence[tuple[str, ...]]
    residual: FloatArray | tuple[()] = ()

    def __len__(self) -> int:
        return len(self.status)

    def variables(self) -> dict[str, Any]:
        """Return the variables of a data set with the coordinates ``case`` and ``series``."""
        import json  # takes as long as much of a short call

        found: dict[str, Any] = {f"case.{n}": ("case", getattr(self, n)) for n in COUNTS}
        found["case.t"] = ("case", self.t, {"units": "s"})
        found["case.energy_balance"] = ("case", self.energy_balance)
        if len(self.residual):
            found["case.residual"] = ("case", self.residual)
        found["case.message"] = ("case", list(self.messages))
        found |= {f"case.{n}": ("case", [json.dumps(x) for x in getattr(self, n)]) for n in TOLD}
        found["case.end"] = (("case", "series"), np.stack(list(self.end.values()), axis=-1))
        return found | {f"event{i}.case": (f"event{i}", events) for i, events in enumerate(self.events)}

    @property
    def success(self) -> Mask:
        """The mask of cases that reached their end or a terminal event."""
        return np.isin(self.status, (DONE, EVENT))
