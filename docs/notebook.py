"""Run the cells of the notebook, and write it with what they show: ``python docs/notebook.py``.

A cell's value shows itself by ``_repr_html_`` or ``_repr_latex_``, as in Jupyter, and as text.
"""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path
from typing import Any

import kineta as kn

PAGE = Path(__file__).with_name("notebook.ipynb")

CELLS = (
    "# A load on a cart, in a notebook\n\nModels, runs, equations and what follows from them show themselves. "
    "This page is written by `python docs/notebook.py`, which runs its cells.",
    '''import kineta as kn

system = kn.loads("""
model crane;
gravity (0, 0, -9.81);
parameters M = 2 kg, m = 1 kg, l = 0.8 m, k = 40 N/m;
coordinates x, q;
Cart | Sx(x) = m(M);
Load ~ Cart | Ry(q), Sz(-l) = m(m);
spring wall = k on x;
initial q = 0.4;
output Load.position;
""")
system''',
    "A live page stands in a frame where a cell ends with `kn.posture(system)`. The equations of motion are LaTeX:",
    "equations = kn.derive(system)\nequations",
    "equations.matrix_form()",
    "So are expressions:",
    'l, q = kn.symbols("l q")\nl * kn.cos(q) / 2',
    "A run, with what became of it:",
    "run = kn.simulate(system, 5.0)\nrun",
    "Where it rests, and how it moves near there:",
    "kn.equilibrium(system)",
    'kn.modes(system, about={"q": 0.0})',
    "How the end of the run depends on a parameter:",
    'kn.sensitivity(system, 2.0, by=["l"])',
    "And whether all of this is true:",
    "kn.verify(system, states=5, digits=0)",
)


def executed() -> dict[str, Any]:
    """The notebook, in the format of Jupyter (nbformat 4)."""
    names: dict[str, Any] = {}
    cells, count = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KinetaWarning)
        for k, text in enumerate(CELLS):
            common = {"id": f"cell-{k}", "metadata": {}, "source": text.splitlines(keepends=True)}
            if not _is_code(text):
                cells.append({"cell_type": "markdown", **common})
                continue
            count += 1
            shown = [
                {
                    "output_type": "execute_result",
                    "execution_count": count,
                    "metadata": {},
                    "data": _bundle(_value(text, names)),
                }
            ]
            cells.append({"cell_type": "code", **common, "execution_count": count, "outputs": shown})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _is_code(text: str) -> bool:
    try:
        return bool(ast.parse(text).body)
    except SyntaxError:
        return False


def _value(text: str, names: dict[str, Any]) -> Any:
    """The value of the last expression of a cell."""
    *lines, last = ast.parse(text).body
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(lines, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def _bundle(value: Any) -> dict[str, Any]:
    found = {"text/plain": repr(value)}
    for kind, method in (("text/html", "_repr_html_"), ("text/latex", "_repr_latex_")):
        if (shown := getattr(value, method, lambda: None)()) is not None:
            found[kind] = shown
    return {kind: text.splitlines(keepends=True) for kind, text in found.items()}


if __name__ == "__main__":
    PAGE.write_text(json.dumps(executed(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
