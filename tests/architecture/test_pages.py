"""The pages for engineers name what is there: every file, record, function and table in backticks exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md", ROOT / "docs" / "design" / "0017-rooms.md"]
#: Folders in which a file of a page may stand.
PLACES = (ROOT, ROOT / "kineta", ROOT / "kineta" / "model" / "io")
#: Words in backticks that are no names of the code: of tools, of the language, of metadata, of what a reader will write.
TOOLS = {"import-linter", "lint-imports", "mypy", "ruff"}
WORDS = {*TOOLS, "CHANGELOG.md", "CONTRIBUTING.md", "fractions.py", "_", "lambda.", "__init__", "__init__.py"}


@cache
def defined() -> set[str]:
    """Names of modules, classes, functions, methods and constants, plain and with the module or class before them, where they
    are defined or inherited.
    """
    found = set()
    bases: list[tuple[str, str]] = []
    for file in (ROOT / "kineta").rglob("*.py"):
        own = file.parent.name if file.stem == "__init__" else file.stem
        found.add(own)
        for scope, node in scopes(ast.parse(file.read_text(encoding="utf-8")), own):
            names = [node.name] if isinstance(node, ast.ClassDef | ast.FunctionDef) else targets(node)
            found |= {*names, *(f"{scope}.{n}" for n in names)}
            if isinstance(node, ast.ClassDef):
                bases += [(node.name, base.id) for base in node.bases if isinstance(base, ast.Name)]
    for name, base in bases:
        found |= {f"{name}.{n.removeprefix(base)[1:]}" for n in tuple(found) if n.startswith(f"{base}.")}
    return found


def scopes(tree: ast.Module, own: str) -> list[tuple[str, ast.stmt]]:
    rows: list[tuple[str, ast.stmt]] = [(own, node) for node in tree.body]
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            rows += [(node.name, child) for child in node.body]
    return rows


def targets(node: ast.stmt) -> list[str]:
    given = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [n.id for t in given for n in ast.walk(t) if isinstance(n, ast.Name)]


@pytest.mark.parametrize("page", [p for p in PAGES if p.exists()], ids=lambda p: p.name)
def test_what_stands_in_backticks_exists(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    known, missing = defined(), []
    for word in dict.fromkeys(re.findall(r"`([^`\n]+)`", prose)):
        if "/" in word and " " not in word:
            there = any((place / word).exists() for place in PLACES)
        elif re.fullmatch(r"[\w.]+", word):
            there = word in known or any((place / word).exists() for place in PLACES)
        else:
            there = True
        if not there and word not in WORDS:
            missing.append(word)
    assert missing == []


def test_the_index_has_about_forty_terms_in_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| ([^|]+) \|", page.partition("## Where to find what")[2], flags=re.M)[1:]
    plain = [re.sub("[^a-z ]", "", t.lower().replace("é", "e")) for t in terms if set(t) != {"-"}]
    assert plain == sorted(plain)
    assert len(plain) >= 40
    for (
        term
    ) in "stick-slip,Delassus operator,zero dynamics,consistent initialisation,event location,constraint drift".split(
        ","
    ):
        assert f"| {term}" in page


def test_code_for_kinds_is_that_of_the_plug_in() -> None:
    """Imports included: each block of the page is a file that tests install and run."""
    plug_in = Path(__file__).parent / "plug_in" / "kineta_plug_in"
    files = [f.read_text(encoding="utf-8") for f in plug_in.glob("*.py")]
    blocks = re.findall(r"```python\n(from .*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    assert all(any(text.endswith(block) for text in files) for block in blocks)
