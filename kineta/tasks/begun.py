"""The start of a motion under programs: order by order what they ask of it, and what is wrong with one at which none holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kineta.errors import SimulationError
from kineta.formalism.programmed import beyond_reach
from kineta.model.system import System
from kineta.tasks.beginning import FLAT, Beginning, Start
from kineta.tasks.met import MISSED

FloatArray = NDArray[np.float64]

#: Part of the largest influence on programs below which the least, on a combination of them, is none.
VANISHED = 1e-10


def begun(
    system: System, start: Start, t: float, q: FloatArray, v: FloatArray, p: FloatArray, given: Mapping[str, float]
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """The coordinates, speeds and derivatives of these at the start of *system*, order by order, and what is to be said of them.
    Raises :class:`SimulationError` for a start that misses its programs, or in which nothing holds one.
    """
    found = Beginning(start, t, q.copy(), np.zeros((start.order - 1, len(v))), p)
    found.levels[0] = v
    notes, natural_ones, moved = list(start.said), list[str](), list[str]()
    for k, names in enumerate(start.names):
        own = [i for i, name in enumerate(names) if name not in given] if k > 1 else list(range(len(v)))
        if k > 1:
            natural = found.value(start.natural[k - 2])
            found.levels[k - 1] = [given.get(name, x) for name, x in zip(names, natural, strict=True)]
        found.completed(k, own)
        before = found.levels[k - 1].copy() if k else found.q
        found.meet(k, own)
        change = float(np.abs((found.levels[k - 1] if k else found.q) - before).max(initial=0.0))
        if own and k > 1:
            natural_ones += [names[i] for i in own]
            moved += [f"{', '.join(names[i] for i in own)} by up to {change:.3g}"] * bool(change)
        elif change:
            notes.append(f"the start missed programs, and {', '.join(names)} were moved by up to {change:.1e}")
        if found.missed(k).max(initial=0.0) > MISSED * found.size:
            raise SimulationError(_missed(system, found, k, [names[i] for i in own]))
    _influenced(system, found)
    _acted(system, found)
    if natural_ones:
        by = f", moved to meet programs: {', '.join(moved)}" if moved else ""
        notes.append(f"start: {', '.join(natural_ones)} as in a motion without control{by}")
    return found.q, found.levels[0], found.levels[1:].ravel(), tuple(notes)


def _influenced(system: System, found: Beginning) -> None:
    """Raise where the gradient of a program vanishes at the start, is out of the actuators' reach, or depends on others."""
    names = [program.name for program in system.programs]
    _sloped(system, found, Beginning.gradients, "vanishes at the start, where nothing holds it")
    if own := list(found.start.driven):
        reach = np.abs(found.value(found.start.gradient_answers).reshape(len(names), -1))
        for name, row in zip(names, reach, strict=True):
            if not row[own].max() > FLAT * row.max():
                raise SimulationError(f"Model '{system.name}': {beyond_reach(system, name)}")
    _sloped(system, found, Beginning.answered, "is at the start one of what constraints hold")
    B, Z = found.regularity()
    S = B @ Z.T
    sizes = np.sqrt(np.abs(np.diagonal(S)))
    if not np.linalg.svd(S / np.outer(sizes, sizes), compute_uv=False)[-1] > VANISHED:
        raise SimulationError(
            f"Model '{system.name}': the programs {', '.join(names)} ask for the same at the start, or the actuators cannot hold "
            "all of them there; leave one out, name other actuators, or start beside it."
        )


def _acted(system: System, found: Beginning) -> None:
    """Raise where the accelerations of the start ask for forces where no actuator acts."""
    names, driven = found.start.names, found.start.driven
    if len(names) < 3 or not driven:
        return
    n, ways = found.levels.shape[1], found.pushes()
    force = found.value(found.start.mass_matrix).reshape(n, n) @ (found.levels[1] - found.value(found.start.natural[0]))
    left = force - ways @ np.linalg.lstsq(ways, force, rcond=None)[0]
    worst = int(np.abs(left).argmax())
    if abs(left[worst]) > MISSED * max(1.0, float(np.abs(force).max())):
        raise SimulationError(
            f"Model '{system.name}': the start asks for a force of {left[worst]:.3g} on {names[1][worst]}, and no actuator acts "
            f"there; give values of {', '.join(names[2])} that forces on {', '.join(names[1][k] for k in driven)} bring about."
        )


def _sloped(system: System, found: Beginning, gradients: Callable[[Beginning], FloatArray], why: str) -> None:
    """Raise where one of the *gradients* of programs vanishes at the start, with the words *why* for it."""
    for i in np.flatnonzero(found.flat(gradients)).tolist():
        name = system.programs[i].name
        what = f"Model '{system.name}': the gradient of the program '{name}' {why}"
        raise SimulationError(f"{what}; {_waking(found, gradients, i, name)}.")


def _missed(system: System, found: Beginning, k: int, own: Sequence[str]) -> str:
    """What to say of a start that misses rows of its variables of order *k*, of which those called *own* were free."""
    (off, A), names, labels = found.rows(k), found.start.names[k], found.start.labels[k]
    i = int(found.missed(k).argmax())
    name = labels[i].rstrip("'")
    kind = "program" if name in {own.name for own in system.programs} else "constraint"
    what = named(kind, name, len(labels[i]) - len(name))
    where = f"Model '{system.name}': the start misses {what}: it is {off[i]:.3g} at t = {found.t:g} s, and has to be 0."
    if not np.abs(A[i]).max() > FLAT * found.scales(k)[i]:
        return (
            f"{where} Nothing changes it there, its gradient vanishes; "
            f"start with {_others(found, k, lambda state: state.rows(k)[1][i])}."
        )
    if k < 2:
        return f"{where} Give initial values that meet it."
    if own and not np.abs(A[i][[names.index(one) for one in own]]).max() > FLAT * found.scales(k)[i]:
        return f"{where} Nothing that is left to be found changes it there, {', '.join(own)}; give other values."
    if len(own) < len(names):
        return f"{where} Leave some of {', '.join(names)} to be found, or give others."
    return f"{where} No {', '.join(own)} near those of a motion without control meet it; give some that do, or another state."


def _waking(found: Beginning, gradients: Callable[[Beginning], FloatArray], i: int, name: str) -> str:
    """What gives a gradient that vanishes, that number *i* of a program with a *name*, some size, in words."""
    k = len(found.start.names) - 1
    if name in found.start.labels[k] and found.touches(k, found.start.labels[k].index(name)):
        return "it is zero only where nothing changes it; ask for components, as in a(B).x = 0 and a(B).y = 0"
    return f"start with {_others(found, k, lambda state: gradients(state)[i])}"


def _others(found: Beginning, k: int, gradient: Callable[[Beginning], FloatArray]) -> str:
    """Which variables need other values for a *gradient* that vanishes, in words."""
    names = found.wakes(k, gradient)
    return f"another value of {' or '.join(names)}" if names else "other values of several variables"


def named(kind: str, name: str, times: int) -> str:
    """A program or constraint, or the derivative of it that is taken so many *times*, in words."""
    ordinal = dict(enumerate(("", "first ", "second ", "third "))).get(times, f"{times}th ")
    return f"the {f'{ordinal}derivative of the ' if times else ''}{kind} '{name}'"
