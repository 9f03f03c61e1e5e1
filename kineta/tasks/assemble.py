"""A state that meets the constraints, from a guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import equations_of
from kineta.errors import ArgumentError, SimulationError, did_you_mean
from kineta.model.given import records
from kineta.model.motion import coordinate_names, speed_names
from kineta.model.system import System, a_system
from kineta.tasks.closing import MET, Closing
from kineta.tasks.code import parameters
from kineta.tasks.state import initial_state
from kineta.values import number

FloatArray = NDArray[np.float64]

#: By how much a start may miss a constraint, relative to the size of the state, and be brought back without being asked.
MISSED = 1e-6


@dataclass(frozen=True)
class Assembly:
    """A state that meets the constraints.

    q, v : coordinates (nq,) and speeds (nv,); ``initial`` has both by name
    moved : largest change of a coordinate or speed from the guess
    residual : how far the constraints are missed, at most
    """

    q: FloatArray
    v: FloatArray
    initial: dict[str, float]
    moved: float
    residual: float


def assemble(
    system: System, q: Any = None, v: Any = None, p: Any = None, *, t: float = 0.0, pinned: Iterable[str] = ()
) -> Assembly:
    """A state of *system* at the time *t* [s] that meets its constraints, near to the guess *q*, *v*.

    The change is the one of least kinetic energy. Coordinates and speeds that are *pinned*, by name (a ``Ball`` or ``Free``
    motion by its own), stay as they are. *q*, *v*, *p* as for :func:`~kineta.tasks.simulate.simulate`, of one case.

    Raises :class:`SimulationError` where no such state is found: with the constraint that is missed most, and by how much.
    """
    values = parameters(a_system(system), p)
    q0, v0 = initial_state(system, q, v, values)
    if max(q0.ndim, v0.ndim, values.ndim) > 1:
        raise ArgumentError("Expected one state to assemble, found cases; assemble them one by one.")
    return assembled(system, number("t", t), q0, v0, values, _held(system, pinned))


def assembled(
    system: System, t: float, q0: FloatArray, v0: FloatArray, p: FloatArray, held: tuple[list[int], list[int]]
) -> Assembly:
    """:func:`assemble` of checked arguments; *held*: the speeds that must not move coordinates, and those that stay."""
    closing = Closing(equations_of(system), p)
    q = closing.position(t, q0, held[0])
    v = v0 if system.quasi else closing.velocity(t, q, v0, held[1])
    speeds = np.zeros(len(system.base_speeds)) if system.quasi else v
    off = np.abs(closing.off(t, q, speeds))
    if system.quasi:  # whatever the quasi-velocities, the constraints on the velocity are met
        off = off[[k for k, name in enumerate(closing.labels) if f"{name}'" in closing.labels]]
    if not np.isfinite(off).all() or off.max(initial=0.0) > MET * closing.size(q, v):
        raise SimulationError(_unmet(system, closing, t, q0, q, v, held))
    names = (*system.q_names, *system.v_names)
    initial = dict(zip(names, np.concatenate([q, v]).tolist(), strict=True))
    return Assembly(q, v, initial, float(np.abs(q - q0).max(initial=0.0)), float(off.max(initial=0.0)))


def _unmet(
    system: System,
    closing: Closing,
    t: float,
    q0: FloatArray,
    q: FloatArray,
    v: FloatArray,
    held: tuple[list[int], list[int]],
) -> str:
    off = np.abs(closing.off(t, q, v))
    off = np.where(np.isfinite(off), off, np.inf)
    position = np.array([f"{name}'" in closing.labels for name in closing.labels])
    unmet = position & (off > MET * closing.size(q, v))
    k = int(np.where(unmet if unmet.any() else ~position, off, -1.0).argmax())
    name = closing.labels[k]
    what = f"the constraint '{name}'" if not name.endswith("'") else f"the rate of the constraint '{name[:-1]}'"
    advice = "Pin less, or" if any(held) else "Start from another guess, or check lengths and parameters:"
    more = "" if any(held) else " it may be that no position meets them all"
    return (
        f"Model '{system.name}': {what} cannot be met at t = {t:g} s from this guess: the nearest state found misses it by "
        f"{off[k]:.3g}. {advice}{' start from another guess' if any(held) else more}."
    )


def _held(system: System, pinned: Iterable[str]) -> tuple[list[int], list[int]]:
    """The speeds that must not move coordinates, and those that stay, from the names *pinned*."""
    names = records(pinned, str, "names of coordinates and speeds", "'q1'")
    blocks: dict[str, tuple[str, ...]] = {}
    for joint, motion in system.joints.items():
        turns = speed_names(motion)[-3:]
        blocks[joint] = speed_names(motion)
        for k, n in enumerate(coordinate_names(motion)):
            blocks[n] = turns if n.rpartition(".")[2] in ("qw", "qx", "qy", "qz") else (speed_names(motion)[k],)
    places = {n: k for k, n in enumerate(system.base_speeds)}
    coordinates, speeds = [], []
    for name in names:
        if name in blocks:
            coordinates += [places[n] for n in blocks[name]]
        elif name in system.q_names:
            coordinates.append(places[f"{name}'"])
        elif name in system.base_speeds:
            speeds.append(places[name])
        else:
            known = (*system.q_names, *system.base_speeds, *system.joints)
            raise ArgumentError(
                f"Model '{system.name}' has no coordinate or speed '{name}' to pin.{did_you_mean(name, known)}"
            )
    return coordinates, speeds
