"""The functions of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kineta as kn
from kineta.runtime import functions
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation

MODEL = Path(__file__).parents[2] / "examples" / "slider_crank.kin"
DIGESTS = """
import kineta as kn
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from kineta.runtime.functions import lowered, run_functions

system = kn.load({model!r})
d = run_derivation(kn.derive(system), PROJECTED)
found, layout = run_functions(d, applied_forces(system, None), ())
setup, programs = lowered(d, found, layout)
print(setup.digest, *(p.digest for p in programs.values()))
"""


@pytest.mark.slow
def test_programs_are_the_same_in_every_process() -> None:
    """Machine code of one process is found in the cache by the next: nothing depends on the order of a set."""
    command = [sys.executable, "-c", DIGESTS.format(model=str(MODEL))]
    texts = (
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        for seed in "12"
    )
    first, second = (done.stdout for done in texts)
    assert first == second
    assert len(first.split()) == 5


HOPPER = (Path(__file__).parents[2] / "examples" / "hopper.kin").read_text()


def programs_of(text: str) -> list[str]:
    """Digests of all programs of a run of the model *text*."""
    system = kn.loads(text)
    d = run_derivation(kn.derive(system), PROJECTED)
    found, layout = functions.run_functions(d, applied_forces(system, None), ())
    setup, programs = functions.lowered(d, found, layout)
    return [setup.digest, *(one.digest for one in programs.values())]


def test_programs_of_large_graphs_are_simplified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("kineta.runtime.functions.KEPT", 0)
    first = programs_of(HOPPER)
    entries = set(tmp_path.rglob("*"))
    monkeypatch.setattr("kineta.runtime.functions.simplified", None)
    assert programs_of(HOPPER) == first
    assert set(tmp_path.rglob("*")) == entries


def test_kept_programs_are_those_of_their_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("kineta.runtime.functions.KEPT", 0)
    first = programs_of(HOPPER)
    other = programs_of(HOPPER.replace("9.81", "9.8125"))
    monkeypatch.setattr("kineta.runtime.functions.KEPT", 10**9)
    assert (programs_of(HOPPER), programs_of(HOPPER.replace("9.81", "9.8125"))) == (first, other)
    assert first != other
