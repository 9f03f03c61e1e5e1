"""The document about URDF says what the reader does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from kineta.cli.main import app
from kineta.model.io.urdf import coverage
from tests.support import ROOT

DOCUMENT = (ROOT / "docs" / "urdf.md").read_text(encoding="utf-8")


def test_the_document_names_every_element_and_attribute() -> None:
    attributes = {a for own, _ in coverage._READ.values() for a in own}
    attributes |= {a for own in coverage._LEFT_OUT_ATTRIBUTES.values() for a in own}
    elements = {e for table in (coverage._READ, coverage._SWITCHES) for e in table}
    elements |= {e for own in coverage._LEFT_OUT.values() for e in own}
    assert [n for n in sorted(attributes) if f"`{n}`" not in DOCUMENT] == []
    assert [n for n in sorted(elements) if f"`<{n}>`" not in DOCUMENT] == []


def test_the_examples_of_the_document_are_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (crane,) = re.findall(r"```xml\n(.*?)```", DOCUMENT, re.DOTALL)
    Path("crane.urdf").write_text(crane, encoding="utf-8")
    Path("broken.urdf").write_text(
        crane.replace('<child link="load-hook"/>', '<child link="load-hok"/>'), encoding="utf-8"
    )
    blocks = re.findall(r"```console\n\$ kineta (.*?)\n(.*?)```", DOCUMENT, re.DOTALL)
    codes = []
    for arguments, shown in blocks:
        run = CliRunner().invoke(app, arguments.split())
        assert run.stderr + run.stdout == shown
        codes.append(run.exit_code)
    assert codes == [0, 1]
