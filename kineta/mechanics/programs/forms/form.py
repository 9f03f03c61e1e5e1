"""``Form``: one of Rodionov's covariant forms of the equations under programs, as a record."""

from __future__ import annotations

from collections.abc import Callable

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Array, Derivation, matrix, vector
from kineta.mechanics.programs.laws.law import of_what_moves
from kineta.mechanics.programs.rows import without
from kineta.model.system import System
from kineta.passes.differentiate import gradient
from kineta.records import dataclass


def in_coordinates(system: System, r: int) -> str:
    """Return "" for a system in independent coordinates with speeds that are their rates, else the sentence of the reason why
    not.
    """
    if system.joints:
        return f"it speaks of rates of coordinates, and those of '{next(iter(system.joints))}' are none."
    if system.quasi:
        return "it speaks of rates of coordinates, and the speeds are quasi-velocities."
    if system.constraints:
        return f"it speaks of coordinates that are free, and '{system.constraints[0].name}' ties them."
    return of_what_moves(system, r)


@dataclass(frozen=True, slots=True)
class Form:
    """A form of the equations that are differentiated r times, ``left`` = sum of lambda_a df_a/dq^(k) + T.

    equation : its number in Rodionov's paper
    law : the equivalent law of control
    left : a covector on the coordinates, linear in their highest derivatives
    applies : "" where the form applies to a system with equations differentiated r times, else the sentence of the reason why not
    """

    name: str
    equation: str
    law: str
    left: Callable[[Derivation, int], list[Ref]]
    applies: Callable[[System, int], str] = in_coordinates

    def equations(self, d: Derivation) -> tuple[Array, Array]:
        """The matrix of the highest derivatives z in ``left``, and ``left`` for z = 0."""
        own, z = d.programs, d.symbols.level(d.programs.s)
        left = self.left(d, own.r)
        rows = [gradient(d.graph, x, set(z)) for x in left]
        return matrix([[row.get(x, ZERO) for x in z] for row in rows], len(z)), vector(without(d.symbols, left, own.s))
