"""Smooth motions: contacts, limits and switches stay inactive, and do not enter the derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kineta.algebra.expression import Expr
from kineta.equations.equations import Equations, derive
from kineta.errors import ArgumentError, excerpt
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.name_inference import contact_rows
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System
from kineta.model.transformations.subset import without_parts
from kineta.results.outcomes import check_complete
from kineta.results.result import Result
from kineta.simulation.simulate import simulate

#: Symbols that are zero.
Zeros = Mapping[Expr | str, Expr | float | int]


@dataclass(frozen=True)
class Alone:
    """*equations* without contacts, limits and switches; the symbols of their forces, which are zero; and notes."""

    equations: Equations
    forces: Zeros
    notes: tuple[str, ...]

    def plain(self, value: Expr) -> Expr:
        """Return *value* with zero forces."""
        return value.subs(self.forces) if self.forces else value


def alone(equations: Equations, t: Any, **given: Any) -> Alone:
    """Return *equations* without contacts, limits, dry friction and switches, inactive in the run over *t* that is *given* as for
    ``simulate``.

    Raises :class:`ArgumentError` for an active one, with the first and its time, and for a compliant contact whose force jumps.
    """
    system = equations.system
    _check_continuous(system)
    names = [c.name for c in (*system.contacts, *system.switches)]
    if not names:
        return Alone(equations, {}, ())
    forces = [f"{MULTIPLIER}{n}" for n in contact_rows(system)]
    run = simulate(equations, t, **given)
    if met := _met(run, forces):
        raise ArgumentError(
            f"Model '{system.name}': {met}, and a motion has derivatives here only where nothing strikes, rests, sticks or "
            "switches. End before, or leave it out: system.replace(contacts=(), switches=()), --without on the command line."
        )
    check_complete(system.name, run.status, run.message)
    zeros: Zeros = dict.fromkeys(forces, 0.0)
    smooth = equations.memo(
        "without what acts in runs",
        lambda: derive(without_parts(system, names), equations.method, strategy=equations.strategy),
    )
    return Alone(smooth, zeros, (f"{excerpt(names)}: never met in this motion",))


def _check_continuous(system: System) -> None:
    """Raise :class:`ArgumentError` where a force jumps as bodies touch: the variational equations do not hold across a jump."""
    for contact in system.elements:
        if isinstance(contact, CompliantContact) and contact.law == "kelvin_voigt" and contact.damping.value != 0:
            raise ArgumentError(
                f"Model '{system.name}': the force of contact '{contact.name}' (kelvin_voigt with damping) jumps where bodies "
                "touch, and a motion has derivatives here only under forces without jumps. Give the law hunt_crossley, or no "
                "damping."
            )


def _met(run: Result, forces: list[str]) -> str:
    """Return the first discrete event of a *run*, or an active force; ``''`` without any."""
    if run.changes:
        t, what = run.changes[0]
        return f"at t = {t:.6g} s {what}"
    acting = next((n for n in forces if n in run.outputs and run.outputs[n].any()), None)
    return "" if acting is None else f"'{acting.removeprefix(MULTIPLIER)}' acts from the start"
