"""The plan of the house: rooms of at most twenty files, doors that list them, no circles of imports, one name for one class."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "kineta"
PACKAGES = sorted(f.parent for f in HOUSE.rglob("__init__.py"))

#: Folders of tests that are about the whole and not about a package.
WHOLE = {"architecture", "documents", "mutants", "reference_problems", "truth"}
#: Folders of tests of a part of a package.
INSIDE = {"model/urdf"}
#: Packages that are tested with those they serve.
UNTESTED = {"interop", "library"}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("kineta", cache_dir=None)


def circles(graph: grimp.ImportGraph) -> list[set[str]]:
    """The strongly connected components of more than one module (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph.find_modules_directly_imported_by(module):
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            place = stack.index(module)
            component = set(stack[place:])
            del stack[place:]
            if len(component) > 1:
                found.append(component)

    for module in sorted(graph.modules):
        if module not in index:
            visit(module)
    return found


def name(package: Path) -> str:
    return ".".join(package.relative_to(ROOT).parts)


def files(package: Path) -> set[str]:
    """The modules and packages in a package."""
    modules = {f.stem for f in package.glob("*.py")} - {"__init__"}
    return modules | {f.parent.name for f in package.glob("*/__init__.py")}


def test_the_circles_are_found() -> None:
    graph = grimp.ImportGraph()
    for a, b in ("ab", "bc", "ca", "cd", "de", "ed", "ef"):
        graph.add_import(importer=a, imported=b)
    assert sorted(map(sorted, circles(graph))) == [["a", "b", "c"], ["d", "e"]]


def test_no_circle_of_imports(graph: grimp.ImportGraph) -> None:
    """Imports for types count."""
    assert [sorted(circle) for circle in circles(graph)] == []


@pytest.mark.parametrize("package", PACKAGES, ids=name)
def test_a_package_has_at_most_twenty_files(package: Path) -> None:
    modules = [f for f in package.glob("*.py") if f.name != "__init__.py"]
    assert len(modules) <= 20


def rows(package: Path, door: ast.Module) -> set[str]:
    """The files of which the table in the door of a package is made: those that it imports."""
    found = set()
    for node in ast.walk(door):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(name(package)):
            rest = (node.module or "").removeprefix(name(package)).strip(".")
            found |= {rest.partition(".")[0]} if rest else {n.name for n in node.names}
    return found


@pytest.mark.parametrize("package", PACKAGES, ids=name)
def test_the_door_of_a_package_names_its_files_and_no_others(package: Path) -> None:
    """In its docstring, or as rows of its table."""
    door = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    named = set(re.findall(r"(?<!:)``([a-z][a-z0-9_]*)``", ast.get_docstring(door) or ""))
    own = files(package) - {"__main__"}
    assert named <= own
    assert own <= named | rows(package, door)


def test_no_class_name_stands_twice() -> None:
    places = defaultdict(set)
    for file in HOUSE.rglob("*.py"):
        for name in re.findall(r"^ *class (\w+)[(:]", file.read_text(encoding="utf-8"), flags=re.M):
            places[name].add(str(file.relative_to(ROOT)))
    assert {n: sorted(p) for n, p in places.items() if len(p) > 1} == {}


def test_records_are_made_in_one_way() -> None:
    """The decorator of the standard library compiles all methods at import (:mod:`kineta.records`)."""
    others = [
        f
        for f in HOUSE.rglob("*.py")
        if re.search(r"dataclasses import .*\bdataclass\b|dataclasses\.dataclass", f.read_text())
    ]
    assert others == [HOUSE / "records.py"]


def test_tests_mirror_the_packages() -> None:
    """A folder of tests has the name of a package, and every package of the house has a folder of tests."""
    folders = {f.parent.relative_to(ROOT / "tests") for f in (ROOT / "tests").rglob("test_*.py")} - {Path()}
    mirrors = {f for f in folders if f.parts[0] not in WHOLE and str(f) not in INSIDE}
    assert [str(f) for f in sorted(mirrors) if not (HOUSE / f / "__init__.py").exists()] == []
    tested = {f.parts[0] for f in mirrors}
    assert {p.name for p in PACKAGES if p.parent == HOUSE} - tested == UNTESTED


#: Where equations that no other thread has are derived, or a derivation apart from equations stands in a record.
OWN_DERIVATIONS = {
    "equations/equations.py",
    "runtime/tangent.py",
    "tasks/linear/symbolic_tangent.py",
    "tasks/verification/laws/invariance.py",
    "tasks/verification/sampled_equations.py",
}


@pytest.mark.slow
def test_derivations_that_threads_share_are_reached_under_the_lock_alone() -> None:
    found = set()
    for file in HOUSE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if ".derivation" not in text:
            continue
        tree = ast.parse(text)
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "derivation" and id(node) not in called:
                found.add(file.relative_to(HOUSE).as_posix())
    assert found == OWN_DERIVATIONS
