"""The tangent of a system: its equations of motion to first order about a state, in numbers or in symbols.

With the residuals F, G of :mod:`kineta.mechanics.tangent`, displacements and first-order states q, speeds v and inputs w::

    M dvdot - A^T dlambda = -(Fq dq + Fv dv + Fw dw)          A dvdot = -(Gq dq + Gv dv + Gw dw)

Fq is the stiffness matrix, Fv the damping matrix. The linear systems are solved at the state, so that constraints cost no more
than bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.codegen import numpy as reference
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.equations.argument_layout import flat_rows
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, SingularMatrixError
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.element_forces import named_forces
from kineta.mechanics.tangent import DIRECTIONS, changes_at_rest, derivatives, multiplier_symbols, residuals, turning
from kineta.model.name_inference import contact_rows, response_symbols
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, added_force
from kineta.numerics.linear_algebra import solve
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass
from kineta.runtime.functions import state_programs
from kineta.threads import once

#: A matrix of numbers (..., rows, columns), or of references into a graph (rows, columns).
Matrix = np.ndarray[Any, Any]
Blocks = Mapping[str, Matrix]

#: Interpreted evaluations of a table that cost as much as its compilation; rows that cost twice as much as one.
OFTEN, ROWS_AS_ONE = 30.0, 200


@dataclass(frozen=True)
class Input:
    """An input: the force on the speed *name*, or the parameter *name*."""

    name: str
    force: bool

    @property
    def label(self) -> str:
        """The name of the input: ``tau[q1']``, or the name of the parameter."""
        return added_force(self.name) if self.force else self.name


@dataclass(frozen=True)
class MatrixAlgebra:
    """Operations on matrices of numbers or of references: zero and one, the solution X of A X = B, products, sums, negatives."""

    zero: Any
    one: Any
    solve: Callable[[Matrix, Matrix], Matrix]
    product: Callable[[Matrix, Matrix], Matrix]
    add: Callable[[Matrix, Matrix], Matrix]
    negate: Callable[[Matrix], Matrix]


@dataclass(frozen=True)
class Linearisation:
    """x' = rate + X (x, w), y = Y (x, w) for changes x of all states, displacements, first-order states, then speeds, and of
    inputs w; with Jacobians of constraints, H on the position by displacements, f on the speeds by displacements and speeds,
    both also by inputs.
    """

    X: Matrix
    Y: Matrix
    rate: Matrix
    H: Matrix
    f_q: Matrix
    f_v: Matrix
    H_w: Matrix
    f_w: Matrix


class Tangent:
    """The tangent of *equations* with *inputs*, and *outputs* by name.

    Blocks at rest and without multipliers: M, A and the residuals F, G. Blocks of slopes, as ``Fq``, have rows F, G, H
    constraints on the position, f on the speeds, u speeds of the motions and rates of states, y outputs, and columns q, v, w; of
    outputs also accelerations ``ya`` and multipliers ``yl``; ``u`` are values.
    """

    def __init__(
        self, equations: Equations, inputs: Sequence[Input] = (), outputs: Mapping[str, Expr] | None = None
    ) -> None:
        self.equations, self.inputs, self.outputs = equations, tuple(inputs), dict(outputs or {})
        key = (Tangent, self.inputs, tuple(self.outputs.items()))
        self.derivation, self._tables = equations.bounded_memo(key, self._made)

    def _made(self) -> tuple[Derivation, dict[str, _Table]]:
        """The derivation, and the two tables of blocks."""
        d = self.equations.alone(watched=True)
        return d, {
            "rest": _Table(d, "rest", _rest(d)),
            "slopes": _Table(d, "slopes", _slopes(d, self.inputs, self.outputs)),
        }

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the constraints that reactions maintain."""
        return tuple(row.constraint for row in self.derivation.rows)

    @property
    def constraints(self) -> tuple[str, ...]:
        """The names of the constraints, for messages."""
        return self.rows or tuple(c.name for c in self.equations.system.constraints)

    def blocks(self, table: str) -> Blocks:
        """The blocks at ``rest``, or of ``slopes``, as references into the graph of :attr:`derivation`."""
        return self._tables[table].blocks

    def at(self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray, p: FloatArray) -> Linearisation:
        """The linearisation at states with leading axes; NaN where it does not exist."""
        return self.solved(
            NUMBERS, lambda table, vdot, multipliers: self._tables[table].values((t, q, v, vdot, tau, multipliers, p))
        )

    def solved(self, algebra: MatrixAlgebra, blocks: Callable[[str, Matrix, Matrix], Blocks]) -> Linearisation:
        """The linearisation from *blocks* of a table at given accelerations and multipliers, solved in an *algebra*."""
        n, m = len(self.derivation.symbols.v), len(self.rows)
        at = blocks("rest", np.full(n, algebra.zero), np.full(m, algebra.zero))
        M, A = at["M"], at["A"]
        corner = np.full((*A.shape[:-1], m), algebra.zero)
        border = np.concatenate([np.swapaxes(A, -1, -2), corner], axis=-2)
        K = np.concatenate([np.concatenate([M, A], axis=-2), border], axis=-1)

        def changes(right: Matrix) -> tuple[Matrix, Matrix]:
            x = algebra.solve(K, algebra.negate(right))
            return x[..., :n, :], algebra.negate(x[..., n:, :])

        vdot, multipliers = (x[..., 0] for x in changes(np.concatenate([at["F"], at["G"]], axis=-2)))
        s = blocks("slopes", vdot, multipliers)
        F, G, U, Y = (np.concatenate([s[row + column] for column in "qvw"], axis=-1) for row in "FGuy")
        V, L = changes(np.concatenate([F, G], axis=-2))
        through = algebra.add(algebra.product(s["ya"], V), algebra.product(s["yl"], L))
        return Linearisation(
            np.concatenate([U, V], axis=-2),
            algebra.add(Y, through),
            np.concatenate([s["u"][..., 0], vdot], axis=-1),
            *(s[name] for name in ("Hq", "fq", "fv", "Hw", "fw")),
        )


def _solution(K: FloatArray, right: FloatArray) -> FloatArray:
    """The solution x of K x = right; NaN where K is singular."""
    finite = np.isfinite(K).all(axis=(-2, -1), keepdims=True) & np.isfinite(right).all(axis=(-2, -1), keepdims=True)
    unit = np.broadcast_to(np.eye(K.shape[-1]), K.shape)
    K, right = np.where(finite, K, unit), np.where(finite, right, 0.0)
    try:
        found = solve(K, np.concatenate([right, unit], axis=-1), what="the changes of the accelerations")
    except SingularMatrixError:
        return np.full(right.shape, np.nan)
    x, inverse = np.split(found, [right.shape[-1]], axis=-1)
    terms = np.abs(inverse) @ (np.abs(K) @ np.abs(x) + np.abs(right))
    return np.asarray(np.where(finite, _without_rounding(x, terms), np.nan))


def _without_rounding(x: FloatArray, terms: FloatArray) -> FloatArray:
    """*x* with zero for what is the rounding error of its *terms*."""
    return np.where(np.abs(x) <= tolerances.ROUNDING_TOLERANCE * terms, 0.0, x)


#: Matrices of numbers.
NUMBERS = MatrixAlgebra(
    0.0,
    1.0,
    _solution,
    lambda A, B: _without_rounding(A @ B, np.abs(A) @ np.abs(B)),
    lambda A, B: _without_rounding(A + B, np.abs(A) + np.abs(B)),
    np.negative,
)


class _Table:
    """Blocks of expressions in the graph of a derivation, by name, and their values."""

    def __init__(self, d: Derivation, name: str, blocks: Blocks) -> None:
        self.d, self.name, self.blocks = d, name, blocks
        self.refs = [ref for block in blocks.values() for ref in block.flat]
        s = d.symbols
        self._inputs = {"q": s.q, "v": s.v, "vdot": s.vdot, "tau": s.tau, "lambda": multiplier_symbols(d)}
        self._read = 0.0

    def values(self, given: Sequence[FloatArray]) -> Blocks:
        """The blocks (..., rows, columns) at the values *given* of t, q, v, vdot, tau, lambda, p, with leading axes."""
        lead = np.broadcast_shapes(*(b.shape[:-1] for b in given))
        if self._read > OFTEN:
            rows = [flat_rows(np.broadcast_to(b, (*lead, b.shape[-1]))) for b in given]
            values = self._function(*rows).reshape(*lead, len(self.refs))
        else:
            self._read += 1 + prod(lead) / ROWS_AS_ONE
            values = self._interpreted(lead, given)
        ends = np.cumsum([block.size for block in self.blocks.values()])[:-1]
        parts = zip(self.blocks.items(), np.split(values, ends, axis=-1), strict=True)
        return {name: part.reshape(*lead, *block.shape) for (name, block), part in parts}

    def _interpreted(self, lead: tuple[int, ...], given: Sequence[FloatArray]) -> FloatArray:
        g, s = self.d.graph, self.d.symbols
        names = [str(g.name(x)) for block in ((s.t,), *self._inputs.values(), s.p) for x in block]
        columns = (b[..., k] for b in given for k in range(b.shape[-1]))
        values = np.empty((*lead, len(self.refs)))
        with np.errstate(all="ignore"):
            found = evaluate(g, self.refs, dict(zip(names, columns, strict=True)), reference.FUNCTIONS)
        for k, column in enumerate(found):
            values[..., k] = column
        return values

    @once
    def _function(self) -> Callable[..., FloatArray]:
        """The compiled function, for rows of states and of parameters."""
        parameters = self.d.symbols.system.parameter_names
        setup, programs = state_programs(self.d, {self.name: self.refs}, self._inputs, parameters, self.name)
        made = CompiledFunctions([setup, programs[self.name]], group=str)
        rows, constants = made[self.name].batch, made.interpreted(setup.name)
        return lambda *blocks: rows(*blocks[:-1], constants(blocks[-1]))


def matrix(entries: Sequence[object], shape: tuple[int, ...]) -> Matrix:
    """The matrix (rows, columns) of references, or of rows of them."""
    return np.array(entries, dtype=object).reshape(shape)


def _rest(d: Derivation) -> Blocks:
    n = len(d.symbols.v)
    F, G = residuals(d)
    A = matrix([row.dense(n) for row in d.rows], (len(G), n))
    return {"M": matrix(d["mass_matrix"].refs, (n, n)), "A": A, "F": matrix(F, (n, 1)), "G": matrix(G, (len(G), 1))}


def _slopes(d: Derivation, inputs: Sequence[Input], outputs: Mapping[str, Expr]) -> Blocks:
    s, multipliers = d.symbols, multiplier_symbols(d)
    moved = {f"{name}'": a for name, a in zip(s.names, s.vdot, strict=True)}
    moved |= {added_force(name): x for name, x in zip(s.names, s.tau, strict=True)}
    pushed = {f"{MULTIPLIER}{name}": ZERO for name in contact_rows(s.system)}  # contacts do not act
    pushed |= {f"{MULTIPLIER}{row.constraint}": x for row, x in zip(d.rows, multipliers, strict=True)}
    held = [r for r in d.constraint_rows if r.constraint not in d.dropped]
    _check_results(d, outputs, {*moved, *pushed})
    asked = {n for e in outputs.values() for n in e.symbols()}
    energies = {n: d[n].refs[0] for n in ENERGIES if n in asked}
    shown = d.elements.expression(
        *outputs.values(), more={**energies, **moved, **pushed, **named_forces(d.elements, asked)}
    )
    F, G = residuals(d)
    roots: dict[str, Sequence[Ref]] = {
        "F": F,
        "G": G,
        "H": [r.levels[0] for r in held if r.order == 0],
        "f": [row.levels[-1] for row in d.rows],
        "u": [*s.speeds, *s.state_rates],
        "y": shown,
    }
    every = [ref for refs in roots.values() for ref in refs]
    inputs_by = [{d.graph.symbol(i.label): ONE} for i in inputs]
    blocks: dict[str, Matrix] = {}
    for column, directions in (("q", changes_at_rest(d)), ("v", DIRECTIONS["v"](d)), ("w", inputs_by)):
        rows = iter(derivatives(d.graph, every, directions, at_rest=True))
        for name, refs in roots.items():
            blocks[name + column] = matrix([next(rows) for _ in refs], (len(refs), len(directions)))
    for i, row in enumerate(turning(d)):
        for k, x in enumerate(row):
            blocks["uq"][i, k] = d.graph.add(blocks["uq"][i, k], x)
    for name, variables in (("ya", s.vdot), ("yl", multipliers)):
        columns = [{x: ONE} for x in variables]
        blocks[name] = matrix(derivatives(d.graph, shown, columns), (len(shown), len(columns)))
    return blocks | {"u": matrix(roots["u"], (len(roots["u"]), 1))}


def _check_results(d: Derivation, outputs: Mapping[str, Expr], known: set[str]) -> None:
    """Raise for a multiplier without a reaction."""
    for name, value in outputs.items():
        for unknown in sorted(response_symbols(d.symbols.system, value.symbols()) - known):
            raise ArgumentError(
                f"Model '{d.symbols.system.name}': the output '{name}' names '{unknown}', which is not determined: no reaction "
                "of its own keeps that constraint. Leave the output out."
            )
