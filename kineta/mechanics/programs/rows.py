"""Programs of motion as rows gradient . v^(s-1) + rest = 0, with the orders that the equations need (Rodionov; theory R.1).

For a program f of order k >= 2 the equations of motion are differentiated r times: r = k - 1, or k - 2 where f is linear in its
highest derivatives; for k <= 1 they are not differentiated. Their order is s = r + 2 with the largest r of all programs, and
every program and constraint is differentiated until v^(s-1) appears in it. Its gradient is that of f itself::

    df/dv^(k-1) = df'/dv^(k) = ...          k = 0: df'/dv
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from kineta.algebra.expression import Expr
from kineta.errors import ModelError
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.variables import Symbols
from kineta.model.motion_program import Program
from kineta.model.name_inference import speed_derivatives
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a system as ``rows``, its constraints as rows of the same order, ``ideal``; the number ``r`` of
    differentiations of the equations; and whether each program is linear in its highest derivatives.
    """

    rows: tuple[Row, ...]
    ideal: tuple[Row, ...]
    r: int
    linear: tuple[bool, ...]

    @property
    def s(self) -> int:
        """The order of the equations, whose unknowns are v^(s-1)."""
        return self.r + 2


@dataclass(frozen=True, slots=True)
class Residual:
    """The residual ``f`` of a *program*, the order of its highest derivatives, and whether it is linear in them."""

    program: Program
    f: Ref
    order: int
    linear: bool

    @property
    def differentiations(self) -> int:
        """The number of differentiations of the equations of motion for the program."""
        return 0 if self.order <= 1 else self.order - 2 if self.linear else self.order - 1


def residuals(symbols: Symbols, expression: Callable[[Expr], Sequence[Ref]]) -> list[Residual]:
    """The residuals of all programs of a system. Raise :class:`ModelError` for a program that no motion changes."""
    return [_residual(symbols, program, *expression(program.value)) for program in symbols.system.programs]


def _residual(s: Symbols, program: Program, f: Ref) -> Residual:
    k = s.order([f])
    if not _by_level(s, f, k):
        raise ModelError(
            f"Program '{program.name}': expected an expression of coordinates, speeds, accelerations or their derivatives, found "
            f"'{program.value}', which no motion changes.",
            program.location,
        )
    return Residual(program, f, k, s.order(_by_level(s, f, k).values()) < k)


def programs(symbols: Symbols, found: Sequence[Residual], constraints: Iterable[Row], baumgarte: float) -> Programs:
    """The programs with the residuals *found* and the rows of *constraints*, in equations of one order; *baumgarte* is the
    Baumgarte parameter [1/s].
    """
    g, r = symbols.graph, max((x.differentiations for x in found), default=0)
    rows = tuple(
        replace(_row(symbols, x.program.name, x.f, x.order, r + 2), location=x.program.location) for x in found
    )
    ideal = (raised(symbols, row, r + 2) for row in constraints)
    stabilised, held = (tuple(row.stabilised(g, baumgarte) for row in own) for own in (rows, ideal))
    return Programs(stabilised, held, r, tuple(x.linear for x in found))


def _row(symbols: Symbols, name: str, f: Ref, k: int, s: int) -> Row:
    """The row of *f*, of order *k*, in equations of order *s*."""
    lead = f if k else symbols.levels.of([f], 1)[0]
    return raised(symbols, Row(name, k, (f,), _by_level(symbols, lead, max(k, 1)), ZERO), s)


def raised(symbols: Symbols, row: Row, s: int) -> Row:
    """*row* in equations of order *s*."""
    levels = [symbols.levels.of([row.levels[0]], i)[0] for i in range(s - row.order + 1)]
    return replace(row, levels=tuple(levels[:-1]), rest=without(symbols, levels[-1:], s)[0])


def without(symbols: Symbols, refs: list[Ref], s: int) -> list[Ref]:
    """*refs* for zero derivatives v^(s-1)."""
    names = (symbols.graph.name(x) for x in symbols.level(s))
    return substitute(symbols.graph, refs, {n: ZERO for n in names if n is not None})


def _by_level(symbols: Symbols, f: Ref, k: int) -> dict[int, Ref]:
    """Derivatives of *f* by the variables of order *k*, by their indices."""
    places = {x: i for i, x in enumerate(symbols.level(k))}
    return {places[x]: partial for x, partial in gradient(symbols.graph, f, places).items()}


def named_levels(symbols: Symbols, names: Mapping[str, object] | set[str]) -> dict[str, Ref]:
    """The derivatives of speeds among *names*, ``q1'''``, as variables."""
    found = speed_derivatives(symbols.system, names)
    return {n: symbols.level(k)[_place(symbols, n, k)] for n, k in found.items()}


def _place(symbols: Symbols, name: str, k: int) -> int:
    """The index in v of the speed with the derivative *name* of order *k*."""
    return symbols.names.index(name[: len(name) - (k - 1)])
