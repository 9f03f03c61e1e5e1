"""``Law``: a law of control, which selects one of the controls that realise the programs, as a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.constraints.kkt import kkt_factors
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.from_residual import orders
from kineta.model.system import System
from kineta.records import dataclass


def anywhere(system: System, r: int) -> str:
    """Return "", for a law that applies to every system."""
    return ""


def of_what_moves(system: System, r: int) -> str:
    """Return "" where the motion of all inertia is known to any order, else the sentence of the reason why not."""
    names = inertia_elements.nonholonomic(system) if r else []
    return inertia_elements.without_kineta(names) if names else ""


def gradients(d: Derivation, answers: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """The directions along the gradients of the programs, as covectors."""
    n = len(d.symbols.v)
    return [row.dense(n) for row in d.programs.rows]


def reactions(d: Derivation) -> list[Ref]:
    """The multipliers of constraints: the normal part of the required forces."""
    return kkt_factors(d, d.rows, orders(d)[0]).solve(total(d), [ZERO] * len(d.rows))[len(d.symbols.v) :]


@dataclass(frozen=True, slots=True)
class Law:
    """A law of control, ``rate`` = sum of lambda_a ``directions``_a for equations that are differentiated r times.

    source : author of the law
    rate : a covector on the speeds, linear in the highest derivatives with the mass matrix as its coefficient, up to constraint
        reactions
    reactions : the multipliers of constraints, where equations are differentiated
    directions : one for every program, from the response to their gradients
    applies : "" where the law applies to a system with equations differentiated r times, else the sentence of the reason why not
    """

    name: str
    source: str
    rate: Callable[[Derivation, int], list[Ref]]
    directions: Callable[[Derivation, Sequence[Sequence[Ref]]], list[list[Ref]]] = gradients
    reactions: Callable[[Derivation], list[Ref]] = reactions
    applies: Callable[[System, int], str] = anywhere


def total(d: Derivation) -> list[Ref]:
    """The forces on the speeds required by the motion beside those of the model: control and constraint reactions."""
    return list(d["inverse"].refs)
