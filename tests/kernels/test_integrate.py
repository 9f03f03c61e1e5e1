"""The loop of one motion by every back end and by Python: the same steps, zeros and transitions, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration.loop_abi import ConstraintData, RunData
from kineta.integration.native import NativeRun
from kineta.integration.segment import Segment, Transitions
from kineta.kernels.integrate import integration_loop
from kineta.kernels.machine_code import machine_code
from kineta.kernels.projection import measure_noise
from kineta.numerics.tableaux import DOPRI5, TABLEAUX
from tests.kernels.test_language import bits, in_c
from tests.support import EXAMPLES

#: Examples with their ends and watched events: plain, with quaternions, closed, with impacts, with friction, with both.
RUNS = {
    "double_pendulum": (0.4, ("q1", "q2'")),
    "spatial_chain": (0.6, ()),
    "fourbar": (0.1, ()),
    "andrews": (0.0002, ()),
    "bouncing_ball": (1.0, ()),
    "friction_oscillator": (1.0, ()),
    "rocking_block": (0.8, ()),
}


def by_python(kernel: Any, *static: Any) -> Callable[..., int]:
    """The kernel itself, as machine code is made of it."""
    return partial(kernel, *static)


def record(segments: list[Segment]) -> list[bytes]:
    """Times, states, zeros, transitions and interpolants of a run, whatever its pauses."""
    parts: list[list[Any]] = [[] for _ in range(7)]
    for s in segments:
        assert s.zeros is not None
        changed = s.changed or Transitions(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
        steps = np.ones(len(s.t), dtype=bool)
        steps[changed.rows] = False
        dense = s.solution.coefficients[steps] if s.solution is not None else np.zeros(0)  # type: ignore[attr-defined]
        for part, found in zip(parts, (s.t, s.y, *s.zeros, changed.flags, dense), strict=True):
            part.append(found.ravel())
    return [bits(np.concatenate(part)) for part in parts]


@pytest.mark.parametrize(
    ("name", "method"),
    [("double_pendulum", "dopri5"), *(pytest.param(n, m, marks=pytest.mark.slow) for n in RUNS for m in TABLEAUX)],
)
def test_python_machine_code_and_c_make_the_same_steps(
    name: str, method: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    end, watched = RUNS[name]
    equations = kn.derive(kn.load(EXAMPLES / f"{name}.kin"))
    segments: list[Segment] = []
    once = NativeRun._segment
    monkeypatch.setattr(NativeRun, "_segment", lambda run: segments.append(once(run)) or segments[-1])
    found = []
    for backend in (None, by_python, partial(in_c, folder=tmp_path)):
        segments.clear()
        if backend is not None:
            monkeypatch.setattr("kineta.kernels.integrate.machine_code", backend)
        with np.errstate(all="ignore"):
            result = kn.simulate(
                equations, end, method=method, events=[kn.symbol(w) for w in watched], dense_output=True
            )
        found.append((record(segments), result.steps, result.rejected))
    assert found[0] == found[1] == found[2]
    assert found[0][1] > 2


def test_a_loop_is_compiled_once_a_process() -> None:
    assert integration_loop(DOPRI5) is integration_loop(DOPRI5)


def test_a_pivot_of_exactly_zero_leaves_tolerances_numbers() -> None:
    """Infinite errors of coordinates and of speeds have no difference, and every step would be rejected."""
    constraints = ConstraintData(speeds=np.array([0.0, 1.0]), met=0.0, far=0.1)
    run = RunData(n=2, y=np.array([0.3, -2.0]), constraints=constraints)
    for measure in (measure_noise, machine_code(measure_noise)):
        constraints.noise_q = constraints.noise_v = np.nan
        measure(run)
        assert 0.0 < constraints.noise_q < constraints.noise_v < np.inf
