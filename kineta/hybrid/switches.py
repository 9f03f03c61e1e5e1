"""Switches: discrete transitions of parameters and states, for compiled code; and why one cannot act."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.consistency.consistent_start import largest_violation
from kineta.consistency.constraints import NumericConstraints
from kineta.errors import ModelError, SimulationError
from kineta.integration.problem import Switching
from kineta.runtime.compiled import CompiledSystem
from kineta.runtime.functions import SWITCHES, margins
from kineta.runtime.parameter_checks import check_parameters
from kineta.runtime.problem import SimulationProblem


def check_settings(task: SimulationProblem, k: int, t: float, y: FloatArray, p: FloatArray) -> None:
    """Raise :class:`SimulationError` where the switch number *k* of *task* has set at *t* what is no number, or out of bounds,
    in the state y or the parameters p after it.
    """
    system, switch = task.system, task.system.switches[k]
    names, parameters = (*system.q_names, *system.v_names), system.parameter_names
    begins = f"at t = {t:g} s, when '{switch.name}' switches"
    for name, expression in switch.sets:
        value = p[parameters.index(name)] if name in parameters else y[names.index(name)]
        if not np.isfinite(value):
            raise SimulationError(f"{begins}: {name} = {expression!r} is {value}; expected a finite number")
    try:
        check_parameters(system, p)
    except ModelError as error:
        told = SimulationError(f"{begins}: {str(error).rstrip('.')}")
        raise told.with_traceback(error.__traceback__) from None


def thrown_off(task: SimulationProblem, k: int, t: float, y: FloatArray, p: FloatArray) -> SimulationError:
    """The error of a switch number *k* of *task* after which the state y with the parameters p is far from the constraints."""
    q, v = np.split(y[: task.states], [task.system.nq])
    closing = NumericConstraints(task.equations, p)
    what = closing.described(largest_violation(closing, t, q, v)[0])
    return SimulationError(
        f"at t = {t:g} s, when '{task.system.switches[k].name}' switches, the motion is thrown off {what}; expected values that "
        "meet it"
    )


def loop_switches(task: SimulationProblem, numbers: tuple[int, int, int] | None = None) -> Switching:
    """The switches of *task* for compiled code, with the addresses, or else the *numbers*, of what they set, of the block h, and
    of what is observed.
    """
    values, setup, observed = numbers or _addresses(task.made.code, bool(task.system.switches))
    system, code, made = task.system, task.made.code, task.made
    states, parameters = (*system.q_names, *system.v_names), list(system.parameter_names)
    names = [[name for name, _ in switch.sets] for switch in system.switches]
    conditions = [len(switch.guards) for switch in system.switches]
    touches = code.layout.touches
    heard = [system.impacts.get(switch.strikes, ()) for switch in system.switches]
    return Switching(
        values=values,
        setup=setup,
        given=made.p.shape[-1] + made.forces.constant.shape[-1],
        found=code.programs[SWITCHES].n_outputs if names else 0,
        first=np.cumsum([0, *map(len, names)]),
        held=sum(map(len, names)) + np.cumsum([0, *conditions]),
        targets=_integers(states.index(n) if n in states else -1 - parameters.index(n) for own in names for n in own),
        positive=_integers(positive for _, positive in margins(system)),
        hears=_integers(touch.name in own for own in heard for touch in touches).reshape(len(names), len(touches)),
        stops=_integers(switch.stop for switch in system.switches),
        residuals=code.observed_size - code.layout.levels,
        misses=code.layout.misses,
        observed=observed,
        size=code.observed_size,
        watched=len(task.watched),
        work=task.states,
    )


def _addresses(code: CompiledSystem, switching: bool) -> tuple[int, int, int]:
    return code.switch_address if switching else 0, code.setup_function.address, code.observed.address


def _integers(values: Iterable[int]) -> IntArray:
    return np.array([*values], dtype=np.int64)
