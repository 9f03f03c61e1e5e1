"""The nonholonomic forms by name, and their derivation reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kineta.errors import ArgumentError
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.narration import Step, each, speed_steps
from kineta.mechanics.nonholonomic.boltzmann_hamel import BOLTZMANN_HAMEL
from kineta.mechanics.nonholonomic.chaplygin import CHAPLYGIN
from kineta.mechanics.nonholonomic.form import NonholonomicForm
from kineta.mechanics.nonholonomic.maggi import MAGGI
from kineta.mechanics.nonholonomic.voronets import VORONETS
from kineta.model.system import System

NONHOLONOMIC: Mapping[str, NonholonomicForm] = {f.name: f for f in (MAGGI, VORONETS, CHAPLYGIN, BOLTZMANN_HAMEL)}


def nonholonomic_derivation(name: str, system: System) -> Derivation:
    """The derivation of *system* by the form *name*. Raise :class:`ArgumentError` where the form does not apply."""
    if not system.constraints and not system.quasi:
        raise ArgumentError(
            f"Model '{system.name}': the form {name} is for systems with constraints or quasi-velocities, and it has none."
        )
    d = NONHOLONOMIC[name].derivation(system)
    if why := NONHOLONOMIC[name].refusal(d):
        raise ArgumentError(f"Model '{system.name}': the form {name} does not apply: {why}.")
    return d


def nonholonomic_steps(name: str, d: Derivation) -> Iterator[Step]:
    """The steps of the form *name*, from the independent speeds to the equations of motion."""
    form = NONHOLONOMIC[name]
    yield from speed_steps(d)
    yield from form.steps(d)
    yield Step(
        "Equations of motion",
        note="The generalised forces tau on the independent speeds, beside those of the model; without any they are zero.",
        shown=each("tau", d.symbols.names, form.residual(d)),
        whole=True,
    )
