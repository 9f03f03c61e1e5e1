"""Pauses of the loop, whose places depend on the load of the machine or on the number of states, leave no trace in a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration import native
from tests.support import EXAMPLES

#: Models and their spans: a tree, a closed mechanism, one that rolls, impacts, stick-slip, a program of motion.
MODELS = {
    "double_pendulum": 20.0,
    "fourbar": 4.0,
    "rattleback": 1.0,
    "bouncing_ball": 3.0,
    "friction_oscillator": 20.0,
    "hopper": 1.0,
    "tracking_arm": 2.0,
}
#: Times of the result, as parts of the span.
TIMES: dict[str, Mapping[str, Any]] = {
    "last": {"t_eval": [1.0]},
    "one": {"t_eval": [0.4]},
    "some": {"samples": 7},
    "steps": {},
}


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("name", MODELS)
def test_the_result_does_not_depend_on_the_pauses(name: str, times: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system, span = kn.load(EXAMPLES / f"{name}.kin"), MODELS[name]
    given = {k: np.multiply(x, span) if k == "t_eval" else x for k, x in TIMES[times].items()}
    found = []
    for pause in (1e9, 0.0):
        monkeypatch.setattr(native, "PAUSE", pause)
        monkeypatch.setattr(native, "STEADY", pause)
        found.append(kn.simulate(system, span, **given))
    whole, paused = found
    assert whole.t.tolist() == paused.t.tolist()
    assert np.array_equal(whole.y, paused.y)
    assert whole.changes == paused.changes
    assert whole.message == paused.message
    assert whole.nfev == paused.nfev


@pytest.mark.parametrize("end", [20.0, -20.0])
def test_a_single_time_far_from_the_start_is_reached(end: float) -> None:
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    steps = kn.simulate(system, (0.0, end), rtol=1e-10)
    (alone,) = kn.simulate(system, (0.0, end), rtol=1e-10, t_eval=[end]).q
    assert np.array_equal(alone, steps.q[-1])
