"""The scripts of the examples run, and the gallery shows the models as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import EXAMPLES, ROOT


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


@pytest.mark.slow
def test_the_gallery_has_a_picture_of_every_example(tmp_path: Path) -> None:
    run("gallery.py", str(tmp_path / "pictures"), cwd=tmp_path)
    models = {p.stem: p for p in EXAMPLES.glob("*.kin")}
    assert {p.stem for p in (tmp_path / "pictures").iterdir()} == set(models)
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name, path in models.items():
        assert path.read_text(encoding="utf-8").rstrip() in page, name
        assert (ROOT / "docs" / "images" / "gallery" / f"{name}.png").exists()
