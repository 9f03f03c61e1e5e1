"""The equations of motion with their reactions: those of constraints, and of control under programs of motion.

Of the order s = 2, with added forces tau, and of the higher orders of programs (theory R.5)::

    tau = M v' + h - sum of x_a D_a          M z + kappa = sum of x_a D_a,  z = v^(s-1)

The unknowns x are multipliers, D their directions. With them stand the conditions: constraints and programs, as they are
written.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import ONE, Ref
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs.dynamics import CONTROL, law, transversal
from kineta.mechanics.programs.laws.law import gradients
from kineta.mechanics.programs.rows import without
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.records import dataclass

#: Prefix of the names of the multipliers of constraints in equations of a higher order than the second, which are rates.
RATE_MULTIPLIER = "nu."


@dataclass(frozen=True, slots=True)
class EquationsOfMotion:
    """Equations of motion of the *order* s: references into the graph of a derivation.

    highest : names of the highest derivatives z
    inertia : the mass matrix M, row by row
    rest : what the motion asks for beside M z: the bias h, or kappa
    balance : M z + rest, in the fewest operations
    reactions : for each unknown its direction, (nv,)
    conditions : what vanishes
    """

    order: int
    highest: tuple[str, ...]
    inertia: tuple[Ref, ...]
    rest: tuple[Ref, ...]
    balance: tuple[Ref, ...]
    reactions: Mapping[str, list[Ref]]
    conditions: tuple[Ref, ...]


def equations_of_motion(d: Derivation) -> EquationsOfMotion:
    """The equations of motion of a derivation. Raises :class:`ModelError` for programs to which their law does not apply."""
    n, order = len(d.symbols.v), d.programs.s if d.symbols.system.programs else 2
    highest = tuple(f"{name}{chr(39) * (order - 1)}" for name in d.symbols.names)
    reactions = {f"{MULTIPLIER}{row.constraint}": row.dense(n) for row in d.rows}
    conditions = tuple(_condition(d, row, 2) for row in d.rows)
    if order == 2:
        found = d["mass_and_bias"].refs
        inertia, rest, balance = found[: n * n], found[n * n :], d["inverse"].refs
    else:
        inertia, balance = d["mass_matrix"].refs, tuple(law(d).rate(d, order - 2))
        rest = tuple(without(d.symbols, list(balance), order))
        reactions = {f"{RATE_MULTIPLIER}{row.constraint}": row.dense(n) for row in d.programs.ideal}
    if d.symbols.system.programs:
        rest, balance = (_without_transversal(d, refs) for refs in (rest, balance))
        reactions = _control(d) | reactions
        conditions = (*(_condition(d, row, order) for row in d.programs.rows), *conditions)
    return EquationsOfMotion(order, highest, tuple(inertia), tuple(rest), tuple(balance), reactions, conditions)


def _without_transversal(d: Derivation, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """*refs* without the part of the control that no program asks for."""
    return tuple(d.graph.sub(x, T) for x, T in zip(refs, transversal(d), strict=True))


def _control(d: Derivation) -> dict[str, list[Ref]]:
    """The multipliers of programs along their directions; of a law whose directions are no gradients the forces of actuators."""
    n, own = len(d.symbols.v), d.programs
    if law(d).directions is gradients:
        return {f"{MULTIPLIER}{row.constraint}": row.dense(n) for row in own.rows}
    driven = dict(d.symbols.system.control.actuators)
    unit = {k: name for k, name in enumerate(d.symbols.names) if not driven or name in driven}
    zero = d.graph.const(0.0)
    return {actuator_force(name, own.r): [ONE if j == k else zero for j in range(n)] for k, name in unit.items()}


def actuator_force(speed: str, differentiated: int) -> str:
    """The name of the control force on a *speed*, or of its derivative: ``control.x'``, ``rate.control.x'``, ``rate2...``."""
    return f"{('', 'rate.')[differentiated] if differentiated < 2 else f'rate{differentiated}.'}{CONTROL}{speed}"


def _condition(d: Derivation, row: Row, order: int) -> Ref:
    """What vanishes by *row*, one of equations of this *order*: of coordinates, of speeds, or of the highest derivatives."""
    if row.levels:
        return row.levels[0]
    return d.graph.add(row.along(d.graph, d.symbols.level(order)), row.rest)
