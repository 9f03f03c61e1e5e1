"""The documents do what they say: their Python runs, their models read, their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

import kineta as kn
from tests.support import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Read by a test of its own.
SCRIPTED = ("from_scratch.md",)


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), flags=re.M | re.S)


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize(
    "document", [d for d in DOCUMENTS if d.name not in SCRIPTED and blocks(d, "python")], ids=relative
)
def test_python_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    files = re.compile(r"`(\w+\.urdf)`[^`]*```xml\n(.*?)^```", flags=re.M | re.S)
    for name, content in files.findall(document.read_text(encoding="utf-8")):
        Path(name).write_text(content, encoding="utf-8")
    space: dict[str, object] = {}
    for block in blocks(document, "python"):
        exec(compile(block, relative(document), "exec"), space)


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "kin")], ids=relative)
def test_models_read(document: Path) -> None:
    for text in blocks(document, "kin"):
        assert kn.loads(text, relative(document)).bodies


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "CHANGELOG.md"], ids=relative)
def test_links_lead_somewhere(document: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", document.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", prose):
        assert (document.parent / target).exists(), f"{relative(document)}: {target}"
