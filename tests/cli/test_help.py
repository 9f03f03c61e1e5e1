"""What a person who does not know the command finds: help, examples in it, completion, a first model."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kineta.cli.main import app
from kineta.cli.options import Verb
from tests.cli.conftest import Command
from tests.support import EXAMPLES, ROOT, quick_but


def verbs(group: click.Group = app, name: str = "") -> Iterator[tuple[str, Verb]]:
    """Every verb, with what is typed to call it."""
    for command in group.commands.values():
        called = f"{name} {command.name}".strip()
        if isinstance(command, click.Group):
            yield from verbs(command, called)
        else:
            assert isinstance(command, Verb)
            yield called, command


VERBS = dict(verbs())


@pytest.mark.parametrize("name", VERBS)
def test_help_is_plain_and_fits_a_terminal(kineta: Command, name: str) -> None:
    done = kineta(*name.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: kineta {name} ")
    usage, _, examples = done.out.partition("\nExamples:\n")
    assert examples.startswith(f"  kineta {name}") or f"$(kineta {name} " in examples
    assert "<" not in usage
    assert all(p.help for p in VERBS[name].params)
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_the_list_of_verbs_is_not_cut_short(kineta: Command) -> None:
    assert "..." not in kineta("--help").out.partition("Commands:")[2]


#: Families of motions take long: those that the page on the command shows are followed by the test of that page.
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
#: All verbs but those that serve until they are interrupted.
ENDING = [name for name in VERBS if name not in ("play", "lsp")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", quick_but(ENDING, ["kinematics", "new", "periodic", "reactions", "report", "servo", "simulate"])
)
def test_examples_of_the_help_run(kineta: Command, here: Path, name: str) -> None:
    if name != "examples copy":  # which overwrites nothing
        for model in (
            "double_pendulum",
            "spinning_top",
            "fourbar",
            "crane_servo",
            "car_chain",
            "hopper",
            "bouncing_ball",
        ):
            shutil.copy(EXAMPLES / f"{model}.kin", here)
    (here / "data.csv").write_text("t,q1,q2\n0,2,2.5\n0.1,1.949,2.514\n0.2,1.798,2.549\n0.3,1.558,2.565\n")
    recorded = (f"{t / 10},{math.sin(t / 3)},{math.cos(t / 2)},0,0\n" for t in range(20))
    (here / "recorded.csv").write_text("t,q1,q2,tau[q1'],tau[q2']\n" + "".join(recorded))
    (here / "arm.urdf").write_text(
        "<robot name='arm'><link name='a'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
    )
    for line in VERBS[name].examples:
        # What stands behind two spaces explains; what a shell does with the output is not the command's.
        (called,) = re.findall(r"kineta (?:(?!  |\)\"| >).)*", line)
        if name == "periodic" and f"$ {called}\n" in PAGE:
            continue
        done = kineta(*shlex.split(called)[1:])
        assert done.code == 0, (line, done.err)
        for made in here.glob("*.[ch]"):
            made.unlink()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("der", ["derive"]),
        ("examples co", ["copy"]),
        ("examples copy spinn", ["spinning_top"]),
        ("simulate a.kin --me", ["--method"]),
        ("simulate a.kin --method dop", ["dop853", "dopri5"]),
        ("eval a.kin --quantity mass_m", ["mass_matrix", "mass_matrix_by_q"]),
        ("derive a.kin --formalism newt", ["newton_euler"]),
        ("check dou", []),
    ],
)
def test_the_shell_completes(kineta: Command, monkeypatch: pytest.MonkeyPatch, typed: str, offered: list[str]) -> None:
    monkeypatch.setenv("_KINETA_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"kineta {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    done = kineta()
    assert (done.code, done.err) == (0, "")
    assert [w.removeprefix("plain,") for w in done.out.splitlines() if w.startswith("plain,")] == offered
    assert offered or done.out == "file,dou\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_takes_the_script(tmp_path: Path) -> None:
    (tmp_path / "kineta").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kineta "$@"\n')
    (tmp_path / "kineta").chmod(0o755)
    typed = (
        'eval "$(kineta completion bash)"; COMP_WORDS=(kineta simu); COMP_CWORD=1; '
        '_kineta_completion kineta; echo "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", typed], capture_output=True, text=True, timeout=600, env={**os.environ, "PATH": path}
    )
    assert (done.stdout, done.stderr) == ("simulate\n", "")


@pytest.mark.slow
def test_a_new_model_is_written_and_runs(kineta: Command, here: Path) -> None:
    assert kineta("new", "crane", "--to", "models").out == "written: models/crane.kin\n"
    text = (here / "models" / "crane.kin").read_text(encoding="utf-8")
    assert kineta("check", "models/crane.kin").out.startswith("crane: 2 bodies, 2 degrees of freedom\n")
    for command in re.findall(r"# +kineta (.*?)(?:  .*)?\n", text):
        assert kineta(*command.replace("crane", "models/crane").split()).code == 0
    assert (here / "models" / "crane.png").exists()
    assert kineta("new", "кран.kin", "--json").json == {"files": ["кран.kin"]}


@pytest.mark.parametrize("name", ["my-crane", "2cranes", "models/crane", "", "-", "a;b", "a b", "q'"])
def test_a_name_that_is_none(kineta: Command, here: Path, name: str) -> None:
    done = kineta("new", "--", name)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "kineta: Expected a name of letters, digits and _ that begins with a letter, "
        f"found '{name}'; --to names the folder.\n"
    )
    assert list(here.iterdir()) == []


def test_a_new_model_overwrites_nothing(kineta: Command, here: Path) -> None:
    (here / "crane.kin").write_text("mine")
    assert kineta("new", "crane").err == "kineta: crane.kin exists already; give --force to overwrite it.\n"
    assert (here / "crane.kin").read_text() == "mine"
