"""Initial values that follow parameters, as a page has them when a parameter changes."""

from __future__ import annotations

from kineta.equations.equations import Equations
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.derivation import Derivation
from kineta.records import dataclass


@dataclass(frozen=True)
class StartValues:
    """A *program* from the parameters p to the initial values that depend on them, and which these are: ``q`` or ``v``, and the
    place among the coordinates or speeds.
    """

    program: StraightLineProgram
    places: list[tuple[str, int]]


def start_values(equations: Equations) -> StartValues:
    """The initial values of *equations* that depend on parameters."""
    return equations.memo(StartValues, lambda: _start_values(equations.alone()))


def _start_values(d: Derivation) -> StartValues:
    s, system = d.symbols, d.symbols.system
    places = {n: ("q", k) for k, n in enumerate(system.q_names)} | {n: ("v", k) for k, n in enumerate(system.v_names)}
    free = {*system.parameter_names}
    found = [(places[n], e) for n, e in system.expanded.initial if n in places and free & {*e.symbols()}]
    refs = s.expression(*(e for _, e in found))
    made = program(d.graph, {"p": s.p}, {"starts": ((len(refs),), refs)}, "starts")
    return StartValues(made, [place for place, _ in found])
