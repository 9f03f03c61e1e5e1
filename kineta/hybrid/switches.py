"""Switches: discrete transitions of parameters and states, and their guard cascades."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration.problem import Switching, evaluation_errors, perturbed_starts
from kineta.kernels.switching import AHEAD
from kineta.model.system import System
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.functions import SWITCHES, margins
from kineta.runtime.problem import SimulationProblem


@dataclass(frozen=True, slots=True)
class SwitchGuards:
    """Guards of the switches at one instant of a mode.

    values : (n,) guards, zero or more where the condition is true
    noise : (n,) evaluation errors of vanishing guards, -1 for all others
    rises : (n,) increase over the time ``ahead`` [s]
    """

    values: FloatArray
    noise: FloatArray
    rises: FloatArray
    ahead: float


def switch_guards(t: float, y: FloatArray, made: BoundSystem, until: float, which: slice) -> SwitchGuards:
    """Guards of the switches, *which* of all events, in the state *y* at *t* of the system *made*, whose largest time is
    *until*.
    """
    ahead, rate = AHEAD * until, made.code.rate_call(t, y, made.h)
    times, states = perturbed_starts(t, t + until, y, rate)
    times, states = np.append(times, t + ahead), np.vstack([states, y + ahead * rate])
    found = np.array([made.code.event_call(at, state, made.h)[which] for at, state in zip(times, states, strict=True)])
    return SwitchGuards(found[0], evaluation_errors(found[:-1]), found[-1] - found[0], ahead)


def guard_cascade(before: SwitchGuards, after: SwitchGuards, fired: Collection[int], since: FloatArray) -> list[int]:
    """Conditions that become true by the transition of the switches *fired*: negative guards that are no longer negative, and
    vanishing guards that rise, unless that rise has fired already. *since* (n,) is the time since each has fired [s].

    A guard that vanished and rose before has fired if it vanished then, too; one that fell has not, if another switch turned
    it.
    """
    n = len(after.values)
    others = np.array([k not in fired for k in range(n)])
    fresh = before.values - before.rises / before.ahead * since < -before.noise
    rose, fell = before.rises > before.noise, before.rises < -before.noise
    below = np.where(before.noise < 0, before.values < 0, (rose & fresh) | (fell & bool(fired)))
    turned = others & below & (after.noise >= 0) & (after.rises > after.noise)
    return np.flatnonzero(turned | ((before.values < 0) & (after.values >= 0))).tolist()


def is_settable(system: System) -> bool:
    """Whether the parameters that switches set are no part of inertia and directions, which only Python checks."""
    directed = {n for _, axis in system.directions for a in axis for n in a.symbols()}
    return system.switched.keys().isdisjoint(directed | system.weighed.keys())


def loop_switches(task: SimulationProblem, values: int, setup: int, observed: int) -> Switching:
    """The switches of *task* for the loop, with the addresses, or numbers, of its functions."""
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
        observed=observed,
        size=code.observed_size,
        watched=len(task.watched),
        work=task.states,
    )


def _integers(values: Iterable[int]) -> IntArray:
    return np.array([*values], dtype=np.int64)
