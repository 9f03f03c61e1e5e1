"""Transitions of contacts within the loop: those that a run hands back to Python, to the bit, and with less Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.hybrid.automaton import HybridRun
from tests.support import EXAMPLES, hand_back_transitions

#: Examples with their ends, and the largest number of their transitions that Python asks for: where switches are.
RUNS = {
    "bouncing_ball": (3.0, 0),
    "hopper": (3.0, 10),
    "thrown_box": (2.0, 0),
    "friction_oscillator": (6.0, 0),
    "rocking_block": (2.0, 0),
}


@pytest.mark.parametrize("name", RUNS)
def test_transitions_in_the_loop_are_those_handed_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system, (end, most), calls, change = (
        kn.load(EXAMPLES / f"{name}.kin"),
        RUNS[name],
        list[float](),
        HybridRun._changed,
    )

    def counted(self: HybridRun, t: float, *rest: Any) -> Any:
        calls.append(t)
        return change(self, t, *rest)

    monkeypatch.setattr(HybridRun, "_changed", counted)
    run = kn.simulate(system, end, samples=61)
    assert len(calls) <= most
    calls.clear()
    hand_back_transitions(monkeypatch)
    other = kn.simulate(system, end, samples=61)
    assert len(calls) > most
    assert run.success
    assert run.changes == other.changes
    assert np.array_equal(run.y, other.y)
    assert run.impacts == other.impacts
    assert (run.steps, run.rejected) == (other.steps, other.rejected)
    for row in run.series:
        assert np.array_equal(run[row], other[row], equal_nan=True), row
    assert run.energy_balance == other.energy_balance
