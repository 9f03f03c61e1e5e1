"""From the text of a model to its page in a browser, without NumPy, SciPy and LLVM.

A browser imports this file before all others of kineta.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from kineta.errors import KinetaError, KinetaWarning
from kineta.expr.op import FLOAT, UNARY, Op
from kineta.expr.program import StraightLineProgram
from kineta.playground import plain_arrays, stand_in

#: The name of the text in sentences.
FILE = "model.kin"
#: What is read and made at first, so that the parser and the kernels are there before somebody waits.
_WARM = "model warm;\nA | Rx(q), Sz(1) = 1;\n"


def prepare() -> None:
    """Take plain arrays in the place of NumPy's, and evaluate programs by plain Python."""
    stand_in.install()
    import_module("kineta.codegen.numpy").compile = interpreted  # type: ignore[attr-defined]
    import_module("kineta.codegen.compiled_functions").CALLS = math.inf  # type: ignore[attr-defined]
    page(_WARM)


def page(text: str) -> dict[str, Any]:
    """What becomes of a *text*: its ``page``, and remarks as ``notes``; or the ``mistake`` as a sentence, with its line and
    column, both from 1, where they are known.
    """
    from kineta.model.io import loads
    from kineta.page.document import computed_page
    from kineta.tasks.posture import posture

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", KinetaWarning)
        try:
            made = computed_page(posture(loads(text, FILE), assembled=False))
        except KinetaError as error:
            at, sentence = error.location, str(error)
            if at is None:
                return {"mistake": sentence, "line": 0, "column": 0}
            return {
                "mistake": sentence.replace(f" ({at})", "").removeprefix(f"{at}: "),
                "line": at.line,
                "column": at.column,
            }
    return {"page": made, "notes": [str(w.message) for w in said if issubclass(w.category, KinetaWarning)]}


def equations(text: str) -> str:
    """The equations of a *text* of which there is a page, as HTML."""
    from kineta.equations.equations import equations_of
    from kineta.model.io import loads
    from kineta.page.equations import equations_html

    return equations_html(equations_of(loads(text, FILE)))


def interpreted(program: StraightLineProgram) -> Callable[..., Any]:
    """A function of one plain array (..., size) per input block that returns the results, (..., n_outputs)."""
    steps = [(FLOAT[Op(op)], op in UNARY, a, b) for op, a, b in zip(program.op, program.lhs, program.rhs, strict=True)]

    def one(values: list[float]) -> list[float]:
        values += program.constants
        for function, alone, a, b in steps:
            x = -values[a >> 1] if a & 1 else values[a >> 1]
            try:
                values.append(function(x) if alone else function(x, -values[b >> 1] if b & 1 else values[b >> 1]))
            except (ValueError, ZeroDivisionError, OverflowError):
                values.append(math.nan)
        return [-values[r >> 1] if r & 1 else values[r >> 1] for r in program.results]

    def run(*blocks: Any) -> Any:
        arrays = [plain_arrays.asarray(b) for b in blocks]
        lead = plain_arrays.broadcast_shapes(*(b.shape[:-1] for b in arrays))
        several = math.prod(lead)
        rows = [
            plain_arrays.broadcast_to(b, (*lead, b.shape[-1])).reshape(several, b.shape[-1])[:, : own.size].tolist()
            for b, own in zip(arrays, program.inputs, strict=True)
        ]
        found = [one([x for part in parts for x in part]) for parts in zip(*rows, strict=True)]
        return plain_arrays.array(found, dtype=float).reshape(*lead, program.n_outputs)

    return run
