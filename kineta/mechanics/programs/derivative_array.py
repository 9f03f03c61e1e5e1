"""The derivative array of servo-constraints: programs of motions whose control forces act on some speeds only.

On the other speeds no control acts, so that with the required forces U::

    U_i(t, q, v, v', nu) = 0  for i not driven          f(t, q, v) = 0          A(q) v = a

and all their derivatives are equations for the motion alone, with the multipliers nu of its constraints. The number of
differentiations needed to determine the motion is the differentiation index. The control forces follow from the motion: tau_i =
U_i for i driven.

Variables of order k are q, v, (v', nu), (v'', nu'), ...; equations of order k are those, differentiated, whose highest order is
k. Time passes in them at a *pace*, which is 1; at a smaller pace the programs are traversed more slowly.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.constraints import projection
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.tangent import Direction, balance, derivatives, displacements, multiplier_symbols
from kineta.passes.nonsmooth_operations import kinks
from kineta.passes.time_derivatives import TimeDerivatives
from kineta.records import dataclass
from kineta.threads import once

#: The symbol for the pace of time, unlike any name of a model.
PACE = "pace of the time"


@dataclass(frozen=True, eq=False)
class ServoEquations:
    """The equations of a system with control forces on the speeds with the indices ``driven``."""

    d: Derivation
    driven: tuple[int, ...]

    @once
    def equations(self) -> tuple[tuple[str, int, Ref], ...]:
        """Names, orders and residuals: programs, constraints, and required forces on the speeds that are not driven."""
        s = self.d.symbols
        named = [(p.name, self.d.expression_of_levels(p.value)[0], p.location) for p in s.system.programs]
        found = [(name, s.order([f]), f) for name, f, _ in named]
        for (name, k, _), (*_, location) in zip(found, named, strict=True):
            if k > 1:
                raise ModelError(
                    f"Program '{name}': expected an expression of the time, coordinates and speeds for actuators to hold, found "
                    f"one of order {k}; kineta simulate holds such by a law of control.",
                    location,
                )
        found += [(row.constraint, row.order, row.levels[0]) for row in self.d.rows]
        return (*found, *((s.names[i], 2, self._asked[i]) for i in range(len(s.v)) if i not in self.driven))

    @once
    def _asked(self) -> list[Ref]:
        """The forces on the speeds required by a motion, less those of its constraints."""
        return balance(self.d, self.d["inverse"].refs)

    @once
    def _levels(self) -> TimeDerivatives:
        return TimeDerivatives(self.d.graph, self._rate)

    @once
    def _multipliers(self) -> list[list[Ref]]:
        return [multiplier_symbols(self.d)]

    def _reactions(self, k: int) -> list[Ref]:
        """The derivatives of order *k* of the multipliers."""
        g = self.d.graph
        while len(self._multipliers) <= k:
            self._multipliers.append([g.symbol(f"{g.name(x)}'") for x in self._multipliers[-1]])
        return self._multipliers[k]

    def _rate(self, symbol: Ref) -> Ref:
        pace = self.d.graph.symbol(PACE)
        if symbol in (self.d.symbols.t, pace):
            return ZERO if symbol == pace else pace
        for k, row in enumerate(self._multipliers):
            if symbol in row:
                return self._reactions(k + 1)[row.index(symbol)]
        return self.d.symbols.rate(symbol)

    def variables(self, k: int) -> tuple[Ref, ...]:
        """The variables of order *k*; for 0 the coordinates q, which vary in the directions of the speeds."""
        return (*self.d.symbols.level(k), *(self._reactions(k - 2) if k > 1 else ()))

    def labels(self, k: int) -> list[tuple[str, int]]:
        """Names of the equations of order *k*, and how often they are differentiated."""
        return [(name, k - order) for name, order, _ in self.equations if order <= k]

    def _inputs(self, k: int) -> dict[str, Sequence[Ref]]:
        s = self.d.symbols
        levels = [x for i in range(1, k + 1) for x in self.variables(i)]
        return {"t": (s.t, self.d.graph.symbol(PACE)), "q": s.q, "levels": levels, "p": s.p}

    def level(self, k: int) -> StraightLineProgram:
        """The equations of order *k* and their derivatives by all variables of order up to *k*, one order after the other."""
        refs = [self._levels.of([f], k - order)[0] for _, order, f in self.equations if order <= k]
        return self._with_slopes(refs, k, f"level_{k}")

    def _with_slopes(self, refs: list[Ref], k: int, name: str) -> StraightLineProgram:
        directions = [*displacements(self.d), *({x: ONE} for i in range(1, k + 1) for x in self.variables(i))]
        slopes = [x for row in derivatives(self.d.graph, refs, directions) for x in row]
        outputs = {"value": ((len(refs),), refs), "slope": ((len(refs), len(directions)), slopes)}
        return program(self.d.graph, self._inputs(k), outputs, name)

    def forces(self) -> StraightLineProgram:
        """The control forces on the driven speeds, and their derivatives by all variables of order up to 2."""
        return self._with_slopes([self._asked[i] for i in self.driven], 2, "forces")

    def branches(self) -> StraightLineProgram:
        """Arguments of nonsmooth operations, which change sign between branches, of variables of order up to 2."""
        g = self.d.graph
        refs = [zero for _, zero in kinks(g, [f for _, _, f in self.equations], cuts=False)]
        return program(g, self._inputs(2), {"branches": ((len(refs),), refs)}, "branches")

    def moved(self) -> StraightLineProgram:
        """The coordinates after a change in the directions of the speeds."""
        g, s = self.d.graph, self.d.symbols
        change = [g.symbol(f"change of {name}") for name in s.names]
        refs = projection.retraction(self.d, change)
        return program(g, {"q": s.q, "change": change, "p": s.p}, {"q": ((len(refs),), refs)}, "moved")

    def qdot(self) -> StraightLineProgram:
        """The rates of the coordinates and of the first-order states."""
        s = self.d.symbols
        inputs: dict[str, Sequence[Ref]] = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
        return program(s.graph, inputs, {"qdot": ((len(s.qdot),), s.qdot)}, "qdot")

    def states(self) -> StraightLineProgram:
        """The derivatives of the undifferentiated equations by the first-order states, and those of the rates of the states
        by displacements, speeds and states.
        """
        g, s = self.d.graph, self.d.symbols
        states: list[Direction] = [{z: ONE} for z in s.states]
        own = [f for _, _, f in sorted(self.equations, key=lambda found: found[1])]
        by_states = [x for row in derivatives(g, own, states) for x in row]
        directions = [*displacements(self.d), *({v: ONE} for v in s.v), *states]
        rates = [x for row in derivatives(g, s.state_rates, directions) for x in row]
        outputs = {
            "slope": ((len(own), len(states)), by_states),
            "rates": ((len(states), len(directions)), rates),
        }
        return program(g, self._inputs(2), outputs, "states")
