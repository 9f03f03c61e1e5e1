"""The first variation of the equations of a system, as compiled functions of its state::

    M dvdot - A^T dlambda = -dF          A dvdot = -dG

with the residuals F, G of :mod:`kineta.mechanics.tangent`. Constraints and outputs vary as well. The linear systems are
solved numerically, so that constraints cost no more than bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.codegen import numpy as reference
from kineta.equations.argument_layout import flat_rows
from kineta.equations.equations import Equations
from kineta.equations.formulas import simplified
from kineta.errors import ArgumentError
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.expr.program import StraightLineProgram
from kineta.expr.walk import reachable
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.tangent import DIRECTIONS, Direction, multiplier_symbols, residuals, turning
from kineta.model.name_inference import contact_rows, response_symbols
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate
from kineta.passes.hoist import hoist
from kineta.threads import once

Function = Callable[..., FloatArray]
#: Matrices by name, each with leading axes (..., rows, columns).
Blocks = Mapping[str, FloatArray]

#: Interpreted evaluations of a table that cost as much as its compilation; rows that cost twice as much as one.
OFTEN, ROWS_AS_ONE = 30.0, 200

#: Blocks by their letters: rows are residuals, constraints on the position and on the speeds, joint speeds, outputs; columns are
#: the variables.
ROWS, COLUMNS = "FGHfuy", ("q", "v", "w")


@dataclass(frozen=True)
class Input:
    """An input: the force on the speed *name*, or the parameter *name*."""

    name: str
    force: bool

    @property
    def label(self) -> str:
        """The name of the input: ``tau.q1'``, or the name of the parameter."""
        return f"tau.{self.name}" if self.force else self.name


class Variation:
    """The variation of *equations*, with *inputs* and *outputs* by name."""

    def __init__(self, equations: Equations, inputs: Sequence[Input], outputs: Mapping[str, Expr]) -> None:
        self.equations, self.inputs, self.outputs = equations, tuple(inputs), dict(outputs)
        key = (Variation, self.inputs, tuple(self.outputs.items()))
        self._d, self._tables = equations.bounded_memo(key, self._made)

    def _made(self) -> tuple[Derivation, dict[str, _Table]]:
        """The derivation, and the two tables of blocks."""
        d = self.equations.alone(watched=True)
        return d, {
            "state": _Table(d, "state", _state(d)),
            "slopes": _Table(d, "slopes", _slopes(d, self.inputs, self.outputs)),
        }

    @property
    def derivation(self) -> Derivation:
        """The derivation of the tables."""
        return self._d

    def blocks(self, table: str) -> Mapping[str, Block]:
        """Return the blocks of a table, as references into the graph of :attr:`derivation`."""
        return self._tables[table].blocks

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the constraints that reactions maintain."""
        return tuple(row.constraint for row in self._d.rows)

    def state(self, *blocks: FloatArray, p: FloatArray) -> Blocks:
        """Return M, A, and the residuals F, G as columns, at t, q, v, vdot, tau, lambda with leading axes."""
        return self._tables["state"].values((*blocks, p))

    def slopes(self, *blocks: FloatArray, p: FloatArray) -> Blocks:
        """Return the derivatives, as ``Fq``, of rows (``ROWS``) by columns: displacements along the speeds, speeds, inputs ``w``;
        of outputs also by accelerations ``ya`` and multipliers ``yl``; and the value of ``u``.
        """
        return self._tables["slopes"].values((*blocks, p))


#: Rows of references, and their number of columns.
Block = tuple[list[list[Ref]], int]


class _Table:
    """Blocks of expressions in the graph of a derivation, by name, and their values."""

    def __init__(self, d: Derivation, name: str, blocks: Mapping[str, Block]) -> None:
        self.d, self.name, self.blocks = d, name, blocks
        self.refs = [ref for rows, _ in blocks.values() for row in rows for ref in row]
        self.shapes = {block: (len(rows), columns) for block, (rows, columns) in blocks.items()}
        self._read = 0.0

    def values(self, given: Sequence[FloatArray]) -> Blocks:
        """Return the blocks (..., rows, columns) at the values *given* of the variables, with leading axes."""
        lead = np.broadcast_shapes(*(b.shape[:-1] for b in given))
        if self._read > OFTEN:
            rows = [flat_rows(np.broadcast_to(b, (*lead, b.shape[-1]))) for b in given]
            values = self._function(*rows).reshape(*lead, len(self.refs))
        else:
            self._read += 1 + prod(lead) / ROWS_AS_ONE
            values = self._interpreted(lead, given)
        ends = np.cumsum([prod(shape) for shape in self.shapes.values()])[:-1]
        parts = zip(self.shapes.items(), np.split(values, ends, axis=-1), strict=True)
        return {block: part.reshape(*lead, *shape) for (block, shape), part in parts}

    def _interpreted(self, lead: tuple[int, ...], given: Sequence[FloatArray]) -> FloatArray:
        g = self.d.graph
        names = [g.names[g.lhs[x >> 1]] for block in _variables(self.d) for x in block]
        columns = (b[..., k] for b in given for k in range(b.shape[-1]))
        values = np.empty((*lead, len(self.refs)))
        with np.errstate(all="ignore"):
            found = evaluate(g, self.refs, dict(zip(names, columns, strict=True)), reference.FUNCTIONS)
        for k, column in enumerate(found):
            values[..., k] = column
        return values

    @once
    def _function(self) -> Function:
        """The compiled function, for rows of states and of parameters."""
        from kineta.codegen import llvm

        setup, main = _lowered(self.d, self.name, self.refs)
        rows, constants = llvm.compile([main]).function(main.name).batch, reference.compile(setup)
        return lambda *blocks: rows(*blocks[:-1], constants(blocks[-1]))


def _state(d: Derivation) -> dict[str, Block]:
    n = len(d.symbols.v)
    F, G = residuals(d)
    M = [list(d["mass_matrix"].refs[i * n : (i + 1) * n]) for i in range(n)]
    A = [row.dense(n) for row in d.rows]
    return {"M": (M, n), "A": (A, n), "F": ([[x] for x in F], 1), "G": ([[x] for x in G], 1)}


def _slopes(d: Derivation, inputs: Sequence[Input], outputs: Mapping[str, Expr]) -> dict[str, Block]:
    s, multipliers = d.symbols, multiplier_symbols(d)
    moved = {f"{name}'": a for name, a in zip(s.names, s.vdot, strict=True)}
    pushed = {f"{MULTIPLIER}{name}": ZERO for name in contact_rows(s.system)}  # contacts do not act
    pushed |= {f"{MULTIPLIER}{row.constraint}": x for row, x in zip(d.rows, multipliers, strict=True)}
    held = [r for r in d.constraint_rows if r.constraint not in d.left_out]
    _check_results(d, outputs, {*moved, *pushed})
    shown = d.elements.expression(*outputs.values(), more={**_energies(d, outputs), **moved, **pushed})
    F, G = residuals(d)
    roots = {
        "F": F,
        "G": G,
        "H": [r.levels[0] for r in held if r.order == 0],
        "f": [row.levels[-1] for row in d.rows],
        "u": list(s.speeds),
        "y": shown,
    }
    by = {"q": DIRECTIONS["q"](d), "v": DIRECTIONS["v"](d), "w": [{_symbol(d, i): ONE} for i in inputs]}
    blocks = {r + c: block for c in COLUMNS for r, block in _derivatives(d, roots, by[c]).items()}
    rows = zip(blocks["uq"][0], turning(d), strict=True)
    blocks["uq"] = [[d.graph.add(x, y) for x, y in zip(*row, strict=True)] for row in rows], blocks["uq"][1]
    for name, variables in (("ya", s.vdot), ("yl", multipliers)):
        blocks[name] = _derivatives(d, {"y": shown}, [{x: ONE} for x in variables])["y"]
    blocks["u"] = [[x] for x in s.speeds], 1
    return blocks


def _check_results(d: Derivation, outputs: Mapping[str, Expr], known: set[str]) -> None:
    """Raise for a multiplier without a reaction."""
    for name, value in outputs.items():
        for unknown in sorted(response_symbols(d.symbols.system, value.symbols()) - known):
            raise ArgumentError(
                f"Model '{d.symbols.system.name}': the output '{name}' names '{unknown}', which is not determined: no reaction "
                "of its own keeps that constraint. Leave the output out."
            )


def _energies(d: Derivation, outputs: Mapping[str, Expr]) -> dict[str, Ref]:
    """Return the energies in *outputs*."""
    asked = {n for e in outputs.values() for n in e.symbols()}
    return {n: d[n].refs[0] for n in ENERGIES if n in asked}


def _symbol(d: Derivation, given: Input) -> Ref:
    s = d.symbols
    return s.tau[s.names.index(given.name)] if given.force else s.p[s.system.parameter_names.index(given.name)]


def _derivatives(
    d: Derivation, roots: Mapping[str, Sequence[Ref]], directions: Sequence[Direction]
) -> dict[str, Block]:
    """Return the derivatives of all *roots* in each of the *directions*, by one forward sweep each."""
    every = [r for refs in roots.values() for r in refs]
    present = set(reachable(d.graph, every))
    still = [ZERO] * len(every)
    columns = [
        forward(d.graph, every, direction) if any(x >> 1 in present for x in direction) else still
        for direction in directions
    ]
    rows = iter(range(sum(map(len, roots.values()))))
    return {
        name: ([[column[i] for column in columns] for _, i in zip(refs, rows, strict=False)], len(columns))
        for name, refs in roots.items()
    }


def _variables(d: Derivation) -> tuple[Sequence[Ref], ...]:
    """Return the variables of the tables, the parameters last."""
    s = d.symbols
    return (s.t,), s.q, s.v, s.vdot, s.tau, multiplier_symbols(d), s.p


def _lowered(d: Derivation, name: str, refs: Sequence[Ref]) -> tuple[StraightLineProgram, StraightLineProgram]:
    own, functions = simplified(d, {name: refs}, d.symbols.system.parameter_names)
    multipliers = [own.graph.symbol(f"lambda.{row.constraint}") for row in d.rows]
    inputs = {"t": (own.t,), "q": own.q, "v": own.v, "vdot": own.vdot, "tau": own.tau, "lambda": multipliers}
    outputs = {name: {name: ((len(refs),), functions[name])}}
    setup, main = hoist(own.graph, inputs, outputs, own.p, name)
    return setup, main[name]
