"""``Formalism``: a way to the equations of motion, as a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from kineta.expr.graph import Ref
from kineta.formalism import derivatives, hamilton, manifold, regressor
from kineta.formalism.derivation import Derivation, Rule, derivation
from kineta.formalism.residual import following
from kineta.formalism.step import Step, Steps, told
from kineta.model.system import System

#: Rules that follow from those of any formalism.
SHARED: Mapping[str, Rule] = {**hamilton.RULES, **manifold.RULES, **derivatives.RULES, **regressor.RULES}


def always(system: System) -> str:
    """For a formalism that applies to every system."""
    return ""


@dataclass(frozen=True, slots=True)
class Formalism:
    """A way to the equations of motion ``M vdot + bias = tau``.

    source : who teaches it, and where
    residual : the forces tau that produce the accelerations ``symbols.vdot``; all other quantities follow from it
    steps : the derivation told step by step, between what all formalisms share
    applies : "" where it applies to a system, else the sentence that says why not
    rules : cheaper ways to single quantities
    """

    name: str
    source: str
    residual: Callable[[Derivation], list[Ref]]
    steps: Steps
    applies: Callable[[System], str] = always
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def derivation(self, system: System) -> Derivation:
        """A derivation of *system* by this formalism, in a graph of its own."""
        return derivation(system, {**following(self.residual), **SHARED, **self.rules})

    def told(self, derivation: Derivation) -> Iterator[Step]:
        """A *derivation* by this formalism, step by step."""
        return told(derivation, self.steps)
