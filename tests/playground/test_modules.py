"""The way from a text to its page needs neither NumPy nor SciPy nor LLVM, and makes the same bytes without them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kineta.playground import browser
from tests.model.urdf.texts import FINGER
from tests.support import EXAMPLES

#: Pages of examples, and of a robot in URDF, where nothing is to be had; as data, without what all pages share.
WITHOUT = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "scipy", "llvmlite", "sympy", "matplotlib", "click", "rich"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
from kineta.playground import browser
browser.prepare()
"""
MADE = """
import base64, json, re, sys, zlib
from pathlib import Path
from kineta.model.io import dumps, load
found = {}
for path in map(Path, sys.argv[1:]):
    page = browser.page(path.read_text() if path.suffix == ".kin" else dumps(load(path)))["page"]
    packed = re.search(r'id="data">(.*?)</script>', page, re.S)[1]
    found[path.stem] = json.loads(zlib.decompress(base64.b64decode(packed)))
print(json.dumps(found))
"""
BARE = 'assert not {"numpy", "scipy", "llvmlite"} & {n for n, m in sys.modules.items() if getattr(m, "__file__", None)}'


def pages(program: str, files: Sequence[Path]) -> dict[str, Any]:
    """The data of the pages of *files* by a *program* in a process of its own: operands have the order in which they came up."""
    run = [sys.executable, "-c", program, *map(str, files)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_modules_have_the_same_bytes_without_numpy(tmp_path: Path) -> None:
    """Of every fourth example, of one that rolls, and of a robot."""
    robot = tmp_path / "finger.urdf"
    robot.write_text(FINGER)
    files = [robot, *sorted(EXAMPLES.glob("*.kin"))[::4], EXAMPLES / "bicycle.kin"]
    wanted = pages(f"from kineta.playground import browser\n{MADE}", files)
    for name, found in pages(f"{WITHOUT}{MADE}{BARE}", files).items():
        assert found["wasm"] == wanted[name]["wasm"], name
        assert found["module"] == wanted[name]["module"], name
        assert found["scene"].keys() == wanted[name]["scene"].keys()


def test_a_mistake_has_its_place() -> None:
    found = browser.page("model a;\nA | Rx(q) + = 1;\n")
    assert (found["line"], found["column"]) == (2, 11)
    assert found["mistake"] == "expected ',' or '=', found '+'."
    found = browser.page("model a;\nArm ~ Amr | Rx(q) = 1;\n")
    assert found == {"mistake": found["mistake"], "line": 2, "column": 1}
    assert "base 'Amr' does not exist" in found["mistake"]
    assert "model.kin" not in found["mistake"]


def test_what_is_noticed_stands_beside_the_page() -> None:
    text = EXAMPLES.joinpath("double_pendulum.kin").read_text(encoding="utf-8")
    assert browser.page(text)["notes"] == []
    assert "<math" in browser.equations(text)
