"""Programs of motion as rows: gradient . v^(s-1) + rest = 0, with the orders that the equations need (Rodionov; theory R.1).

For a program f of order k >= 2 the equations of motion are differentiated r times: r = k - 1, or k - 2 where f is linear in its
highest derivatives; for k <= 1 they stay as they are. They then have the order s = r + 2, the largest of all programs, and every
program, every constraint too, is differentiated until v^(s-1) appears in it. Its gradient is that of f itself::

    df/dv^(k-1) = df'/dv^(k) = ...          k = 0: df'/dv
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kineta.errors import ModelError
from kineta.expr.graph import ZERO, Ref
from kineta.formalism.constraint import Row
from kineta.formalism.symbols import Symbols
from kineta.model.infer import derivatives
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute

if TYPE_CHECKING:
    from kineta.formalism.derivation import Derivation
    from kineta.model.program import Program


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a system as ``rows``, and its constraints as rows of the same order, ``ideal``; how often the equations are
    differentiated, ``r``; and whether each program is linear in its highest derivatives.
    """

    rows: tuple[Row, ...]
    ideal: tuple[Row, ...]
    r: int
    linear: tuple[bool, ...]

    @property
    def s(self) -> int:
        """The order of the equations; v^(s-1) is what they are solved for."""
        return self.r + 2


def programs(d: Derivation) -> Programs:
    """The programs of the system of *d*. Raises :class:`ModelError` for one that no motion changes."""
    found = [_read(d, program) for program in d.symbols.system.programs]
    r = max((_differentiations(k, linear) for _, k, linear in found), default=0)
    named = zip(d.symbols.system.programs, found, strict=True)
    rows = tuple(replace(_row(d.symbols, p.name, f, k, r + 2), location=p.location) for p, (f, k, _) in named)
    ideal = (raised(d.symbols, row, r + 2) for row in d.rows)
    pulled, held = (tuple(row.pulled(d.graph, d.pull) for row in own) for own in (rows, ideal))
    return Programs(pulled, held, r, tuple(x for *_, x in found))


def _read(d: Derivation, program: Program) -> tuple[Ref, int, bool]:
    """What has to vanish, its order, and whether it is linear in the derivatives of that order."""
    s, (f,) = d.symbols, d.expression_of_levels(program.value)
    k = s.order([f])
    if not _by_level(s, f, k):
        raise ModelError(
            f"Program '{program.name}': expected an expression of coordinates, speeds, accelerations or their derivatives, found "
            f"'{program.value}', which no motion changes.",
            program.location,
        )
    return f, k, s.order(_by_level(s, f, k).values()) < k


def _differentiations(k: int, linear: bool) -> int:
    """How often the equations of motion are differentiated for a program of order *k*."""
    return 0 if k <= 1 else k - 2 if linear else k - 1


def _row(symbols: Symbols, name: str, f: Ref, k: int, s: int) -> Row:
    """The row of *f*, of order *k*, in equations of order *s*."""
    lead = f if k else symbols.levels.of([f], 1)[0]
    return raised(symbols, Row(name, k, (f,), _by_level(symbols, lead, max(k, 1)), ZERO), s)


def raised(symbols: Symbols, row: Row, s: int) -> Row:
    """*row* in equations of order *s*."""
    levels = [symbols.levels.of([row.levels[0]], i)[0] for i in range(s - row.order + 1)]
    return replace(row, levels=tuple(levels[:-1]), rest=without(symbols, levels[-1:], s)[0])


def without(symbols: Symbols, refs: list[Ref], s: int) -> list[Ref]:
    """*refs* where the derivatives v^(s-1) are zero."""
    names = (symbols.graph.name(x) for x in symbols.level(s))
    return substitute(symbols.graph, refs, {n: ZERO for n in names if n is not None})


def _by_level(symbols: Symbols, f: Ref, k: int) -> dict[int, Ref]:
    """Derivatives of *f* by the variables of order *k*, by their places."""
    places = {x: i for i, x in enumerate(symbols.level(k))}
    return {places[x]: partial for x, partial in gradient(symbols.graph, f, places).items()}


def named_levels(symbols: Symbols, names: Mapping[str, object] | set[str]) -> dict[str, Ref]:
    """The derivatives of speeds among *names*, ``q1'''``, as variables."""
    found = derivatives(symbols.system, names)
    return {n: symbols.level(k)[_place(symbols, n, k)] for n, k in found.items()}


def _place(symbols: Symbols, name: str, k: int) -> int:
    """The place in v of the speed of which *name* is the derivative that makes it of order *k*."""
    return symbols.names.index(name[: len(name) - (k - 1)])
