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
from kineta.threads import once

#: Prefix of the names of the multipliers of constraints in equations of a higher order than the second, which are rates.
RATE_MULTIPLIER = "nu."


@dataclass(frozen=True, eq=False)
class EquationsOfMotion:
    """Equations of motion of the *order* s: references into the graph of the derivation *derived*.

    highest : names of the highest derivatives z
    reactions : for each unknown its direction, (nv,)
    conditions : what vanishes
    """

    derived: Derivation
    order: int
    highest: tuple[str, ...]
    reactions: Mapping[str, list[Ref]]
    conditions: tuple[Ref, ...]

    @property
    def controlled(self) -> bool:
        """Whether they are those under programs of motion."""
        return bool(self.derived.symbols.system.programs)

    @once
    def inertia(self) -> tuple[Ref, ...]:
        """The mass matrix M, row by row."""
        n = len(self.derived.symbols.v)
        return self.derived["mass_and_bias" if self.order == 2 else "mass_matrix"].refs[: n * n]

    @once
    def rest(self) -> tuple[Ref, ...]:
        """What the motion asks for beside M z: the bias h, or kappa, (nv,)."""
        d, n = self.derived, len(self.derived.symbols.v)
        if self.order > 2:
            return self._caused(tuple(without(d.symbols, self._law, self.order)))
        return self._caused(d["mass_and_bias"].refs[n * n :])

    @once
    def balance(self) -> tuple[Ref, ...]:
        """M z + rest, in the fewest operations, (nv,)."""
        return self._caused(self.derived["inverse"].refs if self.order == 2 else tuple(self._law))

    @once
    def _law(self) -> list[Ref]:
        d = self.derived
        return list(law(d).rate(d, self.order - 2))

    def _caused(self, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
        """*refs* without the part of the control that no program asks for."""
        d = self.derived
        if not self.controlled:
            return refs
        return tuple(d.graph.sub(x, T) for x, T in zip(refs, transversal(d), strict=True))


def equations_of_motion(d: Derivation) -> EquationsOfMotion:
    """The equations of motion of a derivation. Raises :class:`ModelError` for programs to which their law does not apply."""
    n, order = len(d.symbols.v), d.programs.s if d.symbols.system.programs else 2
    highest = tuple(f"{name}{chr(39) * (order - 1)}" for name in d.symbols.names)
    if order == 2:
        reactions = {f"{MULTIPLIER}{row.constraint}": row.dense(n) for row in d.rows}
    else:
        reactions = {f"{RATE_MULTIPLIER}{row.constraint}": row.dense(n) for row in d.programs.ideal}
    conditions = tuple(_condition(d, row, 2) for row in d.rows)
    if d.symbols.system.programs:
        reactions = _control(d) | reactions
        conditions = (*(_condition(d, row, order) for row in d.programs.rows), *conditions)
    return EquationsOfMotion(d, order, highest, reactions, conditions)


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
