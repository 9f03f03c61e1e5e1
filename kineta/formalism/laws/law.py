"""``Law``: which of the controls that hold the programs of a system is taken, as a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kineta.expr.graph import ZERO, Ref
from kineta.formalism import inertia
from kineta.formalism.bordered import bordered
from kineta.formalism.derivation import Derivation
from kineta.formalism.residual import orders
from kineta.model.system import System


def anywhere(system: System, r: int) -> str:
    """For a law that holds for every system."""
    return ""


def of_what_moves(system: System, r: int) -> str:
    """For a law that has to know how all that resists moves, where equations are differentiated."""
    names = inertia.forms(system) if r else []
    return inertia.without_kineta(names) if names else ""


def gradients(d: Derivation, answers: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """The directions along the gradients of the programs, as covectors."""
    n = len(d.symbols.v)
    return [[row.gradient.get(k, ZERO) for k in range(n)] for row in d.programs.rows]


def reactions(d: Derivation) -> list[Ref]:
    """The multipliers of constraints, of the forces a motion asks for those that do nothing to what is free."""
    return bordered(d, d.rows, orders(d)[0]).solve(total(d), [ZERO] * len(d.rows))[len(d.symbols.v) :]


@dataclass(frozen=True, slots=True)
class Law:
    """A law of control, ``rate`` = sum of lambda_a ``directions``_a for equations that are differentiated r times.

    source : who teaches it
    rate : a covector on the speeds, linear in the highest derivatives with the mass matrix as its coefficient; but for reactions
        of constraints
    reactions : the multipliers of constraints, where equations are differentiated
    directions : one for every program, from the motions that answer their gradients
    applies : "" where it applies to a system whose equations are differentiated r times, else the sentence that says why not
    """

    name: str
    source: str
    rate: Callable[[Derivation, int], list[Ref]]
    directions: Callable[[Derivation, Sequence[Sequence[Ref]]], list[list[Ref]]] = gradients
    reactions: Callable[[Derivation], list[Ref]] = reactions
    applies: Callable[[System, int], str] = anywhere


def total(d: Derivation) -> list[Ref]:
    """The forces on the speeds that the motion asks for beside those of the model: control, and reactions of constraints."""
    return list(d["inverse"].refs)
