"""``Formalism``: a formalism of mechanics as a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from kineta.expr.graph import Ref
from kineta.mechanics import regressor, second_derivatives, tangent
from kineta.mechanics.common_rules import COMMON, parametric
from kineta.mechanics.constraints import projection
from kineta.mechanics.derivation import Derivation, Rule, derivation
from kineta.mechanics.formalisms import hamilton, routh
from kineta.mechanics.from_residual import following
from kineta.mechanics.loops_over_links.operands import Loops, Programs
from kineta.mechanics.narration import Step, Steps, told
from kineta.model.checks.scaling_check import scaling_diagnosis
from kineta.model.system import System
from kineta.passes.step_recorder import UnsuitedError
from kineta.records import dataclass

#: Rules on top of those of any formalism.
SHARED: Mapping[str, Rule] = {
    **hamilton.RULES,
    **routh.RULES,
    **projection.RULES,
    **tangent.RULES,
    **second_derivatives.RULES,
    **regressor.RULES,
}


def always(system: System) -> str:
    """Return "", for a formalism that applies to every system."""
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class Formalism:
    """A derivation of the equations of motion ``M vdot + bias = tau``. Two are equal where they are one object.

    source : author and place in the literature
    residual : the forces tau that produce the accelerations ``symbols.vdot``; all other quantities follow from it
    steps : the steps of the derivation report between those that all formalisms share
    applies : "" where the formalism applies to a system, else the sentence of the reason why not
    rules : cheaper rules for single quantities
    loops : programs of quantities of long trees as steps in loops over the links
    columns : for quantities that ``mechanics.columns`` writes their blocks of variables
    """

    name: str
    source: str
    residual: Callable[[Derivation], list[Ref]]
    steps: Steps
    applies: Callable[[System], str] = always
    rules: Mapping[str, Rule] = field(default_factory=dict)
    loops: Mapping[str, Loops] = field(default_factory=dict)
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def derivation(self, system: System, *, exact: bool = False) -> Derivation:
        """Return a derivation of *system* by this formalism, in a graph of its own; an *exact* derivation rounds no constant."""
        rules = {**COMMON, **following(self.residual), **SHARED, **self.rules}
        return derivation(system, rules, parametric, exact=exact)

    def loops_suit(self, system: System, quantity: str) -> bool:
        """Whether loops over the links of *system* are tried for a *quantity*."""
        return quantity in self.loops and len(system.q_names) >= self.loops[quantity].least()

    def looped(self, derivation: Derivation, quantity: str) -> Programs | None:
        """The program of the parameters and that of a *quantity* in loops over the links; None where loops do not suit."""
        try:
            with scaling_diagnosis(derivation.symbols.system):
                return self.loops[quantity].written(derivation)
        except UnsuitedError:
            return None

    def told(self, derivation: Derivation) -> Iterator[Step]:
        """The derivation report of a *derivation* by this formalism."""
        return told(derivation, self.steps)
