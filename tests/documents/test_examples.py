"""The scripts of the examples run, and the gallery shows the models as they are."""

from __future__ import annotations

import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from tests.support import EXAMPLES, ROOT

NAMES = sorted(p.stem for p in EXAMPLES.glob("*.kin"))


def run(script: str, *arguments: str, cwd: Path) -> str:
    command = [sys.executable, str(EXAMPLES / script), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_demo_derives_checks_moves_and_draws(tmp_path: Path) -> None:
    said = run("demo.py", cwd=tmp_path)
    assert "Нога | Rx(q1), Ry(q2), Sz(q3), Rz(q4) = m_n, J_nx, J_ny, J_nz ;" in said
    assert "1903+3708" in said
    written = {p.name for p in (tmp_path / "demo").iterdir()}
    machines = {"puma560_machine.png", "flyball_governor_machine.png"}
    assert written == {"equations.tex", "hopping_robot.c", "hopping_robot.h", "leg.png", "puma560.png"} | machines


def test_the_pictures_of_machines_are_small_and_shown() -> None:
    page = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
    pictures = sorted((ROOT / "docs" / "images" / "machines").glob("*.png"))
    assert all(p.stat().st_size < 60_000 for p in pictures)
    assert [p.stem for p in pictures if f"machines/{p.name}" not in page] == ["several"]


@pytest.mark.slow
def test_the_machines_of_the_gallery_are_drawn(tmp_path: Path) -> None:
    run("machines.py", str(tmp_path / "machines"), cwd=tmp_path)
    kept = {p.name for p in (ROOT / "docs" / "images" / "machines").iterdir()}
    assert {p.name for p in (tmp_path / "machines").iterdir()} == kept


@cache
def gallery() -> dict[str, Any]:
    """What the script of the gallery defines."""
    return runpy.run_path(str(EXAMPLES / "gallery.py"))


@pytest.mark.slow
def test_the_gallery_is_written(tmp_path: Path) -> None:
    run("gallery.py", str(tmp_path / "pictures"), "double_pendulum", "delta_robot", cwd=tmp_path)
    assert {p.name for p in (tmp_path / "pictures").iterdir()} == {"double_pendulum.png", "delta_robot.png"}
    assert sorted(gallery()["PICTURES"]) == NAMES


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*redundant and left out:kineta.errors.KinetaWarning")
@pytest.mark.parametrize("name", NAMES)
def test_the_gallery_has_a_picture_of_every_example(name: str) -> None:
    gallery()["drawn"](name)
    assert all(axes.has_data() for axes in plt.gcf().axes)
    plt.close()
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert (EXAMPLES / f"{name}.kin").read_text(encoding="utf-8").rstrip() in page
    assert (ROOT / "docs" / "images" / "gallery" / f"{name}.png").exists()
