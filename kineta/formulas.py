"""The formulas of a quantity for people: its entries by name, as text, LaTeX or SymPy expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kineta.formalism.equations import Derivation

_LETTERS = {
    "kinetic_energy": "T",
    "potential_energy": "V",
    "energy": "E",
    "power": "P",
    "mass_matrix": "M",
    "bias": "h",
    "momentum": "p",
    "positions": "r",
    "rotations": "R",
    "jacobian": "J",
}


def text_lines(d: Derivation, quantity: str) -> Iterator[str]:
    """``z1 = ...`` for every part that is needed twice, then ``name = ...`` for every entry of *quantity*."""
    from kineta.codegen import text

    array = d[quantity]
    return text.lines(d.graph, dict(zip(_names(d, quantity, array.shape), array.refs, strict=True)))


def latex_lines(d: Derivation, quantity: str) -> Iterator[str]:
    """:func:`text_lines` in LaTeX."""
    from kineta.codegen import latex

    array = d[quantity]
    names = _latex_names(d, quantity, array.shape)
    return latex.lines(d.graph, dict(zip(names, array.refs, strict=True)))


def aligned(lines: Iterable[str], environment: str) -> str:
    """LaTeX *lines* with their signs of equality below each other, in ``align*`` or ``aligned``."""
    body = " \\\\\n".join(line.replace(" = ", " &= ", 1) for line in lines)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def as_sympy(d: Derivation, quantity: str) -> Any:
    """*quantity* in SymPy: an expression, a ``Matrix`` (a column for a vector), or an ``Array`` of more dimensions."""
    from kineta.codegen.sympy import to_sympy

    array = d[quantity]
    entries = to_sympy(d.graph, array.refs)
    import sympy

    if not array.shape:
        return entries[0]
    rows, columns = (*array.shape, 1)[:2]
    return sympy.Matrix(rows, columns, entries) if len(array.shape) < 3 else sympy.Array(entries, array.shape)


def _names(d: Derivation, quantity: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the entries: ``tau[q1]``, ``q1''``, ``M[1,2]``, ``T``."""
    system = d.symbols.system
    match quantity:
        case "outputs":
            return [o.name for o in system.outputs]
        case "inverse":
            return [f"tau[{n}]" for n in system.v_names]
        case "forward":
            return [f"{n}'" for n in system.v_names]
        case "state_rate":
            return [f"{n}'" for n in (*system.q_names, *system.v_names)]
        case "mass_and_bias":
            n = system.nv
            return [*_indexed("M", (n, n)), *_indexed("h", (n,))]
    return _indexed(_LETTERS.get(quantity, quantity), shape)


def _indexed(letter: str, shape: tuple[int, ...]) -> list[str]:
    """``letter[i,j]`` row by row, counted from 1; the letter alone for a scalar."""
    if not shape:
        return [letter]
    return [f"{letter}[{','.join(str(i + 1) for i in index)}]" for index in np.ndindex(*shape)]


def _latex_names(d: Derivation, quantity: str, shape: tuple[int, ...]) -> list[str]:
    from kineta.codegen.latex import name

    system = d.symbols.system
    match quantity:
        case "inverse":
            return [name(f"tau.{n}") for n in system.v_names]
        case "outputs" | "forward" | "state_rate":
            return [name(n) for n in _names(d, quantity, shape)]
    return [_latex_indexed(n) for n in _names(d, quantity, shape)]


def _latex_indexed(label: str) -> str:
    letter, bracket, index = label.partition("[")
    base = letter if len(letter) == 1 else rf"\mathrm{{{letter.replace('_', chr(92) + '_')}}}"
    return f"{base}_{{{index[:-1]}}}" if bracket else base
