"""The certificate convicts the guilty: single breaks of the package are found by ``verify`` on small models."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import kineta as kn
from tests.mutants.models import MODELS
from tests.mutants.runner import ROOT, changed
from tests.mutants.table import MUTANTS

#: Processes that judge at the same time.
PROCESSES = 2
#: Part of the mutants that has to be found.
FOUND = 0.95


def test_there_are_many_mutants_and_each_changes_one_place() -> None:
    assert len(MUTANTS) >= 120
    assert len({(m.file, m.old, m.new) for m in MUTANTS}) == len(MUTANTS)
    for mutant in MUTANTS:
        changed(mutant)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("area", MODELS)
def test_the_models_are_certified_where_nothing_is_changed(area: str) -> None:
    for text in MODELS[area]:
        certificate = kn.verify(kn.loads(text), states=4, digits=0)
        assert certificate.holds, str(certificate)


@pytest.mark.slow
def test_every_mutant_is_found() -> None:
    """But for those that the table excuses, each with its reason; a crash without a sentence counts as not found."""
    command = [sys.executable, "-m", "tests.mutants.runner"]
    started = [
        subprocess.Popen([*command, str(k), str(PROCESSES)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for k in range(PROCESSES)
    ]
    found = [json.loads(line) for process in started for line in process.communicate()[0].splitlines()]
    assert len(found) == len(MUTANTS)
    wrong, killed = [], 0
    for k, how, said in sorted(found):
        mutant = MUTANTS[k]
        killed += how in ("verdict", "error")
        expected = "survives" if mutant.excused else mutant.dies
        if how != expected:
            wrong.append(f"kineta/{mutant.file}: {mutant.old!r} -> {mutant.new!r}: expected {expected}, {how}. {said}")
    assert not wrong, "\n".join(wrong)
    assert killed >= FOUND * len(MUTANTS)
