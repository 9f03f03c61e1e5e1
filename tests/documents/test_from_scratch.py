"""``docs/from_scratch.md`` runs as it stands and prints what it says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from typing import Any

import numpy as np
import pytest

from tests.support import ROOT

PAGE = (ROOT / "docs" / "from_scratch.md").read_text(encoding="utf-8")
#: (code, what the text says it prints)
BLOCKS = re.findall(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", PAGE, re.M | re.S)

Names = dict[str, Any]


@pytest.fixture(scope="module")
def run() -> tuple[Names, list[str]]:
    """All blocks run in order: their names, and what each printed."""
    names: Names = {"__name__": "from_scratch"}
    printed = []
    for code, _ in BLOCKS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "docs/from_scratch.md", "exec"), names)
        printed.append("\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n")))
    return names, printed


def test_every_block_prints_what_the_page_says(run: tuple[Names, list[str]]) -> None:
    for (code, said), printed in zip(BLOCKS, run[1], strict=True):
        assert printed == said.rstrip(), code


def test_it_is_two_hundred_lines_and_fifty_to_try_it_out() -> None:
    code = "\n".join(code for code, _ in BLOCKS)
    lines = code.splitlines()
    defined = experiments = 0
    for statement in ast.parse(code).body:
        size = sum(bool(line.strip()) for line in lines[statement.lineno - 1 : statement.end_lineno])
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            defined += size
        else:
            experiments += size
    assert 190 <= defined <= 210
    assert 45 <= experiments <= 55


def test_it_needs_numpy_and_llvmlite_only() -> None:
    imported = re.findall(r"^(?:from|import) (\w+)", "".join(code for code, _ in BLOCKS), re.M)
    assert set(imported) == {"math", "re", "collections", "numpy", "ctypes", "struct", "llvmlite"}


def test_the_robot_is_the_one_of_the_examples() -> None:
    example = (ROOT / "examples" / "hopping_robot.kin").read_text(encoding="utf-8")
    for line in re.findall(r"^.*\|.*;$", PAGE, re.M):
        assert line.strip() in example


def test_double_pendulum_has_the_equations_of_every_textbook(run: tuple[Names, list[str]]) -> None:
    names = run[0]
    links = names["read"]("upper | Ry(q1), Sz(l1) = m1, o, o, o ; lower~upper | Ry(q2), Sz(l2) = m2, o, o, o ;")
    p = {"m1": 1.3, "m2": 0.7, "l1": 0.9, "l2": 1.1, "o": 0.0}
    q, v = {"q1": 0.4, "q2": -1.3}, {"q1": 0.8, "q2": 2.1}
    M, bias = names["mass_and_bias"](links, q, v, p, np.array([0, 0, 9.81], dtype=object))  # z points down
    c, s = np.cos(q["q2"]), np.sin(q["q2"])
    a, b, d = 1.3 * 0.81 + 0.7 * (0.81 + 1.21), 0.7 * 0.9 * 1.1, 0.7 * 1.21
    np.testing.assert_allclose(M.astype(float), [[a + 2 * b * c, d + b * c], [d + b * c, d]], rtol=1e-13)
    both = 9.81 * 0.7 * 1.1 * np.sin(-0.9)
    gravity = [9.81 * 2.0 * 0.9 * np.sin(0.4) + both, both]
    coriolis = [-b * s * (2 * 0.8 * 2.1 + 2.1**2), b * s * 0.8**2]
    np.testing.assert_allclose(bias.astype(float), np.add(gravity, coriolis), rtol=1e-12)


def test_the_energy_error_falls_with_the_fourth_power_of_the_step(run: tuple[Names, list[str]]) -> None:
    names = run[0]
    worst = []
    for h in (1 / 128, 1 / 256):
        inputs = np.array(names["state"])
        step = names["jit"](inputs, names["rk4"](names["rate"], inputs, h))
        y, drift = names["start"], 0.0
        for _ in range(round(0.5 / h)):
            y = step(y)
            drift = max(drift, abs(names["measure"](y)[0] / names["measure"](names["start"])[0] - 1))
        worst.append(drift)
    assert worst[0] > 14 * worst[1]
