"""Motions on which contacts, limits and switches never act: their derivatives are those without these."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kineta.compiler import Equations, derive
from kineta.errors import ArgumentError, SimulationError
from kineta.expr.node import Expr
from kineta.model.infer import MULTIPLIER, few, touches
from kineta.model.without import without
from kineta.tasks.result import Result
from kineta.tasks.simulate import simulate
from kineta.tasks.status import DONE

#: Symbols that are zero.
Zeros = Mapping[Expr | str, Expr | float | int]


@dataclass(frozen=True)
class Alone:
    """*equations* without contacts, limits and switches; their forces, which are zero; and what is to be said of them."""

    equations: Equations
    forces: Zeros
    notes: tuple[str, ...]

    def plain(self, value: Expr) -> Expr:
        """*value* without the forces."""
        return value.subs(self.forces) if self.forces else value


def alone(equations: Equations, t: Any, **given: Any) -> Alone:
    """*equations* without contacts, limits, dry friction and switches, where none of them acts in the run over *t* that is
    *given* as for ``simulate``.

    Raises :class:`ArgumentError` where one does: with the first, and its time.
    """
    system = equations.system
    names = [c.name for c in (*system.contacts, *system.switches)]
    if not names:
        return Alone(equations, {}, ())
    forces = [f"{MULTIPLIER}{n}" for n in touches(system)]
    run = simulate(equations, t, **given)
    if met := _met(run, forces):
        raise ArgumentError(
            f"Model '{system.name}': {met}, and a motion has derivatives here only where nothing strikes, rests, sticks or "
            "switches. End before, or leave it out: system.replace(contacts=(), switches=()), --without on the command line."
        )
    if run.status != DONE:
        raise SimulationError(f"Model '{system.name}': {run.message}.")
    zeros: Zeros = dict.fromkeys(forces, 0.0)
    return Alone(
        equations.kept("without what acts in runs", lambda: _without(equations, names)),
        zeros,
        (f"{few(names)}: never met in this motion",),
    )


def _met(run: Result, forces: list[str]) -> str:
    """What happens first in a *run*, or acts in it all along; ``''`` for nothing."""
    if run.changes:
        t, what = run.changes[0]
        return f"at t = {t:.6g} s {what}"
    acting = next((n for n in forces if n in run.outputs and run.outputs[n].any()), None)
    return "" if acting is None else f"'{acting.removeprefix(MULTIPLIER)}' acts from the start"


def _without(equations: Equations, names: Collection[str]) -> Equations:
    return derive(without(equations.system, names), equations.formalism, strategy=equations.strategy)
