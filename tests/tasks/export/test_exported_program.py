"""Programs of exported runs, which print them: their words, and what they say of changes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import kineta as kn
from kineta.tasks.export.run_names import CONTACT_OUTCOMES
from tests.support import EXAMPLES
from tests.tasks.export.test_exported_run import COMPILER, FLAGS, example

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


def build(folder: Path, name: str) -> None:
    """Compile the program *name* in its folder."""
    sources = (f"{name}_run.c", f"{name}_main.c")
    subprocess.run([str(COMPILER), *FLAGS, *sources, "-o", name, "-lm"], cwd=folder, check=True)


def test_a_program_prints_the_motion(tmp_path: Path) -> None:
    run = kn.export_run(kn.load(EXAMPLES / "cart_pendulum.kin"), name="crane")
    run.save(tmp_path)
    assert list(run.files) == ["crane_run.h", "crane_run.c", "crane_main.c"]
    assert run.as_dict()["units"]["q1"] == "m"
    build(tmp_path, "crane")
    head, *rows = subprocess.run(
        ["./crane", "2", "5"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert head.split(",") == ["t", *run.states, *run.observed]
    assert [float(row.split(",")[0]) for row in rows] == [0.0, 0.5, 1.0, 1.5, 2.0]


@pytest.mark.slow
def test_a_program_tells_changes_and_the_culprit(tmp_path: Path) -> None:
    """In a process of its own; a start below the ground is a sentence with the name."""
    run = kn.export_run(example("bouncing_ball"), 1.5, name="ball")
    run.save(tmp_path)
    assert run.contacts == ["floor"]
    build(tmp_path, "ball")
    done = subprocess.run(["./ball", "1.5", "4"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line.partition(" at")[0] for line in done.stderr.splitlines()] == ["floor strikes"] * 2
    assert len(done.stdout.splitlines()) == 5
    main = tmp_path / "ball_main.c"
    main.write_text(main.read_text().replace("    if ((wrong", "    problem.q[1] = 0.01;\n    if ((wrong", 1))
    build(tmp_path, "ball")
    done = subprocess.run(["./ball"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(f"t = 0 s: 'floor': {CONTACT_OUTCOMES['PENETRATES'][1]}\n")


@pytest.mark.slow
def test_a_program_takes_tolerances_and_refuses_other_words(tmp_path: Path) -> None:
    printed = {}
    for rtol in (1e-9, 1e-5):
        here = tmp_path / f"{rtol:g}"
        here.mkdir()
        kn.export_run(example("double_pendulum"), 2.0, rtol=rtol, atol=1e-3 * rtol, name="arm").save(here)
        build(here, "arm")

        def say(*words: str, here: Path = here) -> Any:
            return subprocess.run(["./arm", *words], cwd=here, capture_output=True, text=True, check=False)

        printed[rtol] = say("2", "5").stdout
        given = say("--rtol", "1e-5", "2", "5", "--atol", "1e-8", "--max-step", "100")
        assert (given.returncode, given.stderr) == (0, "")
        printed[rtol, "given"] = given.stdout
    assert printed[1e-9, "given"] == printed[1e-5] == printed[1e-5, "given"] != printed[1e-9]
    wanted = (
        "Expected an end, a whole number of samples, two or more, and numbers above zero behind --rtol and --atol and "
        "--max-step, as in './arm_main 2 101 --rtol 1e-6', found '{}'.\n"
    )
    for words, wrong in (
        (("1", "2.5"), "2.5"),
        (("1", "1"), "1"),
        (("1", "11", "3"), "3"),
        (("end",), "end"),
        (("nan",), "nan"),
        (("1", "1e99"), "1e99"),
        (("--rtol", "0"), "0"),
        (("1", "--max-step"), "--max-step"),
        (("--max-step", "small"), "small"),
        (("--rtol=1e-6",), "--rtol=1e-6"),
        (("2 s",), "2 s"),
    ):
        refused = say(*words)
        assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", wanted.format(wrong)), words


@pytest.mark.slow
def test_a_program_of_time_stepping_takes_its_step(tmp_path: Path) -> None:
    kn.export_run(example("bouncing_ball"), 1.0, name="ball", method="moreau").save(tmp_path)
    build(tmp_path, "ball")
    shown = {
        step: subprocess.run(
            ["./ball", "1", "3", "--max-step", step], cwd=tmp_path, capture_output=True, check=True
        ).stdout
        for step in ("1e-3", "1e-2")
    }
    plain = subprocess.run(["./ball", "1", "3"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert shown["1e-3"] == plain != shown["1e-2"]
    done = subprocess.run(["./ball", "--rtol", "1"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.endswith("behind --max-step, as in './ball_main 2 101 --max-step 1e-6', found '--rtol'.\n")
