"""The documents do what they say: their Python runs and prints what they show, their models read, their links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import click
import matplotlib as mpl
import pytest

import kineta as kn
from kineta.cli.main import app
from kineta.mechanics.quantities import QUANTITIES
from tests.support import ROOT, quick_but

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Read by a test of its own.
SCRIPTED = ("from_scratch.md",)
#: Those whose Python takes a second and more.
LONG = [ROOT / "docs" / f"{name}.md" for name in "equilibrium inertia motions python servo simulation".split()]

#: Python, and what the page says it prints: the text behind it, or remarks such as ``print(1 + 1)  # 2``.
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)
REMARK = re.compile(r"^print\(.*\) +# ([<\d].*)$", re.M)


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), flags=re.M | re.S)


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize(
    "document",
    quick_but([d for d in DOCUMENTS if d.name not in SCRIPTED and blocks(d, "python")], LONG),
    ids=relative,
)
def test_python_runs_and_prints_what_the_page_says(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpl.use("agg")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    files = re.compile(r"`(\w+\.urdf)`[^`]*```xml\n(.*?)^```", flags=re.M | re.S)
    for name, content in files.findall(document.read_text(encoding="utf-8")):
        Path(name).write_text(content, encoding="utf-8")
    space: dict[str, object] = {}
    for code, said in PYTHON.findall(document.read_text(encoding="utf-8")):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, relative(document), "exec"), space)
        if said:
            assert out.getvalue() == said, code
        printed = rounded(out.getvalue()).splitlines()
        assert [r for r in REMARK.findall(code) if rounded(r) not in printed] == []


def rounded(text: str) -> str:
    """*text* without the rounding errors that it tells of, which differ from machine to machine."""
    return re.sub(r"energy balance \S+\d", "energy balance", text)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "kin")], ids=relative)
def test_models_read(document: Path, tmp_path: Path) -> None:
    for text in blocks(document, "kin"):
        if named := re.match(r"# (\w+\.kin):", text):  # which others use
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
        system = kn.loads(text, str(tmp_path / document.name))
        assert system.bodies or system.elements


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "CHANGELOG.md"], ids=relative)
def test_links_lead_somewhere(document: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", document.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", prose):
        assert (document.parent / target).exists(), f"{relative(document)}: {target}"


def test_the_commands_of_the_readme_have_these_verbs_and_options() -> None:
    called = re.findall(r"^kineta (.*?)(?:  .*)?$", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M)
    assert len(called) > len(app.commands) - 2
    for line in called:
        verb, *words = line.replace("[", "").replace("]", "").split()
        command = app.commands[verb]
        if isinstance(command, click.Group):
            command = command.commands[words[0]]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {w for w in words if w.startswith("-")} <= options, line


def test_the_page_about_the_command_line_names_all_its_verbs() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[`(\w+)`\]\(#\1\) \|", page, flags=re.M) == list(app.commands)


def test_the_index_names_all_pages_and_quantities() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {p.name for p in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert set(re.findall(r"^\| \[([\w.]+\.md)\]", page, flags=re.M)) == pages
    named = "".join(row for row in page.splitlines() if row.startswith("| `"))
    assert [q for q in QUANTITIES if f"`{q}`" not in named] == []
