"""The functions of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
