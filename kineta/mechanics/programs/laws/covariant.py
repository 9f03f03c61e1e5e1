"""The covariant law: the covariant derivative of the control is along the gradients of the programs (Rodionov (21))."""

from __future__ import annotations

from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs.covariant_derivative import Tangents
from kineta.mechanics.programs.laws.law import Law, of_what_moves, total


def _rate(d: Derivation, r: int) -> list[Ref]:
    tangents, u = Tangents(d), total(d)
    for _ in range(r):
        u = tangents.derivative(u)
    return tangents.solved(u)


COVARIANT = Law("covariant", "Rodionov (21)", _rate, applies=of_what_moves)
