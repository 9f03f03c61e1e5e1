"""Transitions of contacts within the loop: those that a run hands back to Python, to the bit, and with less Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.hybrid.contact_modes import ContactModes
from tests.support import EXAMPLES, hand_back_transitions

#: Examples with their ends, and the largest number of their transitions that Python makes: at the start, and where switches are.
RUNS = {
    "bouncing_ball": (3.0, 1),
    "hopper": (3.0, 11),
    "thrown_box": (2.0, 1),
    "friction_oscillator": (6.0, 1),
    "rocking_block": (2.0, 1),
}


@pytest.mark.parametrize("name", RUNS)
def test_transitions_in_the_loop_are_those_handed_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system, (end, most), calls, change = (
        kn.load(EXAMPLES / f"{name}.kin"),
        RUNS[name],
        list[float](),
        ContactModes.change,
    )

    def counted(self: ContactModes, t: float, *rest: Any, **more: Any) -> Any:
        calls.append(t)
        return change(self, t, *rest, **more)

    monkeypatch.setattr(ContactModes, "change", counted)
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
