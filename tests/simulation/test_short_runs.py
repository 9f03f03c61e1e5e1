"""Short runs make nothing that is not looked at, and keep what does not change: without a trace in any result."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.simulation import postprocess
from kineta.simulation.energy_balance import Energies
from tests.support import EXAMPLES

PENDULUM = """model pendulum; gravity (0, -9.81, 0); parameters m = 1 kg, l = 1 m;
first | Rz(q), Sy(-l) = m; initial q = 1; output energy;"""


@pytest.fixture
def equations() -> kn.Equations:
    return kn.derive(kn.loads(PENDULUM))


def _fields(run: kn.Result) -> dict[str, Any]:
    names = (
        "t",
        "y",
        "message",
        "status",
        "nfev",
        "steps",
        "units",
        "parameters",
        "energy_balance",
        "notes",
        "kinetic_energy",
    )
    return {name: np.asarray(x).tolist() if isinstance(x := getattr(run, name), np.ndarray) else x for name in names}


def test_fields_are_made_once_and_when_one_is_asked_for(
    equations: kn.Equations, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, fields = [], postprocess._fields
    monkeypatch.setattr(postprocess, "_fields", lambda *given: made.append(1) or fields(*given))
    run = kn.simulate(equations, 0.1)
    assert run.success
    assert run.seconds > 0
    assert not made
    assert run.t[-1] == 0.1
    assert run.message.startswith("reached t = 0.1 s; energy balance")
    assert run.cases is None
    assert run.t is run.t
    assert made == [1]


def test_copies_have_all_fields(equations: kn.Equations) -> None:
    wanted = _fields(kn.simulate(equations, 0.1))
    for other in (
        pickle.loads(pickle.dumps(kn.simulate(equations, 0.1))),
        copy.copy(kn.simulate(equations, 0.1)),
        copy.deepcopy(kn.simulate(equations, 0.1)),
    ):
        assert _fields(other) == wanted


def test_threads_that_look_at_once_see_one_result(equations: kn.Equations) -> None:
    run, start = kn.simulate(equations, 0.1), threading.Barrier(8)
    seen: list[Any] = []

    def look() -> None:
        start.wait()
        seen.append((run.t, run.y, run.units))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(one[k] is seen[0][k] for one in seen for k in range(3))


def test_a_result_has_no_other_attributes(equations: kn.Equations) -> None:
    run: Any = kn.simulate(equations, 0.1)
    with pytest.raises(AttributeError, match="'Result' object has no attribute 'times'"):
        run.times  # noqa: B018
    assert not hasattr(run, "_repr_svg_")


def test_a_result_that_was_looked_at_keeps_no_machine_code() -> None:
    equations = kn.derive(kn.loads(PENDULUM))
    run = kn.simulate(equations, 0.1)
    assert run.t[-1] == 0.1
    alive = weakref.ref(equations)
    del equations
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("name", ["simple_pendulum", "fourbar", "hopper", "rattleback", "tracking_arm"])
def test_a_second_run_begins_as_the_first(name: str) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{name}.kin"))
    first, *others = (kn.simulate(equations, span) for span in (0.02, (0.5, 0.52), 0.02))
    assert np.array_equal(first.y, others[1].y)
    assert first.notes == others[1].notes
    assert first.nfev == others[1].nfev


def test_a_start_that_is_refused_is_refused_again() -> None:
    equations = kn.derive(kn.loads("model m; coordinates x; A | Sx(x) = 1; force f = 1/x on x; initial x = 0;"))
    said = []
    for _ in range(2):
        with pytest.raises(kn.SimulationError) as caught:
            kn.simulate(equations, 1.0)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize("bad", [None, np.nan, np.inf])
def test_measures_of_energies_are_those_of_their_definition(lead: tuple[int, ...], bad: float | None) -> None:
    rng = np.random.default_rng(1)
    kinetic, potential, work = rng.normal(size=(3, *lead, 7)) * 10.0 ** rng.integers(-9, 9, (3, *lead, 1))
    if bad is not None:
        potential[..., 4] = bad
    kept = kinetic + potential - work
    with np.errstate(invalid="ignore"):
        forms = (kinetic, potential - potential[..., :1], work, potential * (100 * np.finfo(float).eps))
        size = np.max(np.abs(forms), axis=(0, -1))
        balance = np.abs(kept - kept[..., :1]).max(axis=-1) / size
    found = Energies(np.stack([kinetic, potential], axis=-1), work)
    assert np.array_equal(found.size, size, equal_nan=True)
    assert np.array_equal(found.balance, balance, equal_nan=True)
