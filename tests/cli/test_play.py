"""``kineta play``: the playground as a folder; what the verb refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from kineta.playground import site as sites
from tests.cli.conftest import Command


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of Python for browsers, on a machine without node and npm."""
    monkeypatch.setattr(sites, "which", lambda name: None)
    folder = tmp_path / "python"
    folder.mkdir()
    for name in sites.PARTS:
        (folder / name).write_bytes(name.encode())
    return folder


@pytest.mark.slow
def test_the_verb_writes_the_folder(kineta: Command, here: Path, python: Path) -> None:
    done = kineta("play", "--pyodide", str(python), "--to", "site")
    assert (done.code, done.out) == (0, "written: site/index.html\n")
    assert (here / "site" / "pyodide" / "pyodide.mjs").is_file()
    again = kineta("play", "--pyodide", str(python), "--to", "site")
    assert again.code == 1
    assert "exists already; give --force" in again.err
    assert kineta("play", "--pyodide", str(python), "--to", "site", "--force").code == 0


def test_what_the_verb_refuses(kineta: Command, here: Path, python: Path) -> None:
    for given, said in (
        (["model.kin"], "model.kin: there is no such file."),
        (["a.kin", "--to", "site"], "Expected either a model to play with or a folder to write to, found both."),
    ):
        done = kineta("play", "--pyodide", str(python), *given)
        assert done.code == 1
        assert said in done.err
