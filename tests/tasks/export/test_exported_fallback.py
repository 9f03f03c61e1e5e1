"""Exported runs that go over to time stepping and back: compiled without a warning, they have the bits of ``kn.simulate``."""

from __future__ import annotations

import ctypes
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.hybrid import chattering
from tests.hybrid.test_classics import painleve
from tests.hybrid.test_contact_faults import BAR, TABLE, body_and_springs, rounded
from tests.kernels.wasm_machine import Instance
from tests.simulation.test_time_stepping_fallback import START
from tests.tasks.export.test_exported_run import CHANGED, COMPILER, REACHED, InC
from tests.tasks.export.test_wasm_module import check_motion, told
from tests.tasks.export.unfused import unfused

in_c = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

#: A rod with so much friction that no forces at its start obey the laws.
ROD = painleve(1.1 * (1 + 3 * math.cos(1.0) ** 2) / (3 * math.sin(1.0) * math.cos(1.0)))


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten steps by events with something closed are too many."""
    monkeypatch.setattr(chattering, "CROWD", 10)
    monkeypatch.setattr(chattering, "CROWDED", 1e9)


def compare(folder: Path, system: kn.System, end: float, spells: int, optimise: str = "-O0", **start: Any) -> None:
    """Assert that the run in C has the bits of a run, its changes and as many spells of time stepping."""
    equations = kn.derive(system)
    with unfused():
        result = kn.simulate(equations, end, samples=21, **start)
    said = [note for note in result.notes if "found by time stepping" in note]
    assert len(said) == min(spells, 3)
    run = InC(folder, kn.export_run(equations, end, **start), system.name, optimise)
    table = run.simulate(21)
    n = len(result.y)
    assert table[:, 0].tobytes() == result.t.tobytes()
    assert np.ascontiguousarray(table[:, 1 : 1 + n].T).tobytes() == np.ascontiguousarray(result.y).tobytes()
    assert run.counts() == [result.steps, result.rejected, result.nfev]
    assert run.begin() == REACHED
    changes = list[Any]()
    while (status := run.advance(end)) == CHANGED:
        changes += run.changes()
    assert status == REACHED
    assert changes == [*result.changes]
    seconds = ctypes.c_double()
    assert run.function("stepped")(run.run, ctypes.byref(seconds)) == spells
    if spells <= len(said):
        times = [note.split() for note in said]
        assert seconds.value == pytest.approx(sum(float(w[5]) - float(w[3]) for w in times), abs=1e-5 * spells)


@in_c
@pytest.mark.slow
def test_a_rod_without_forces_at_its_start_is_stepped_and_goes_on_by_events(tmp_path: Path) -> None:
    compare(tmp_path, ROD, 0.1, 1)


@in_c
@pytest.mark.slow
def test_two_spells_of_a_bar_on_sprung_legs_have_the_bits_of_simulate(tmp_path: Path, hurried: None) -> None:
    compare(tmp_path, kn.loads(BAR.text), 0.4, 2, **START)


@in_c
@pytest.mark.slow
@pytest.mark.parametrize(("seed", "spells"), [(4, 5), (6, 1)])
def test_a_pushed_table_on_sprung_feet_has_the_bits_of_simulate(tmp_path: Path, seed: int, spells: int) -> None:
    """Forces that obey no law, and steps by events that are too many, at default settings."""
    rng = np.random.default_rng(seed)
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "f": rounded(rng, -600, 600)}
    v = {"x'": float(rng.choice([0.0, rounded(rng, -1, 1)]))}
    compare(tmp_path, kn.loads(TABLE.text), 2.0, spells, "-O1", p=p, v=v)


@pytest.mark.slow
def test_the_rod_in_webassembly_has_the_bits_of_simulate() -> None:
    equations = kn.derive(ROD)
    with unfused():
        result = kn.simulate(equations, 0.1, samples=5)
    run = kn.export_run(equations, 0.1, language="wasm")
    info, instance = told(run), Instance(run.files[f"{ROD.name}_run.wasm"])
    places = info["places"]
    assert instance.call("begin", places["root"]) == REACHED
    check_motion(instance, places, len(run.states), result)
    assert struct.unpack("<q", instance.get(places["handed"], 8)) == (1,)


@pytest.mark.slow
def test_events_and_switches_keep_to_events() -> None:
    """Zeros and what switches set are looked for by events alone."""
    for run in (
        kn.export_run(ROD, events=[kn.event(kn.symbol("t") - 0.5)]),
        kn.export_run(kn.loads(BAR.text + "parameters off = 0; when late : t >= 1 : off = 1;")),
    ):
        assert not any("_stepped" in text.decode() for text in run.files.values())
