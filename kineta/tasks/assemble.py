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
from kineta.model.motion import coordinate_names, quaternion_names, speed_names
from kineta.model.system import System, a_system
from kineta.tasks.closing import MET, Closing
from kineta.tasks.code import parameters
from kineta.tasks.state import initial_state
from kineta.values import number

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Assembly:
    """A state that meets the constraints.

    q, v : coordinates (nq,) and speeds (nv,); ``initial`` has both by name
    moved : largest change of a coordinate from the guess
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
    t, held = number("t", t), _held(system, pinned)
    closing = Closing(equations_of(system), values)
    q = closing.position(t, q0, held[0])
    v = v0 if system.quasi else closing.velocity(t, q, v0, held[1])
    off = np.abs(closing.off(t, q, np.zeros(len(system.base_speeds)) if system.quasi else v))
    # Whatever the quasi-velocities, the constraints on the velocity are met.
    residual = float(off[closing.on_position if system.quasi else ...].max(initial=0.0))
    allowed = MET * closing.size(q, v)
    if not residual <= allowed:
        raise SimulationError(_unmet(closing, t, off, allowed, pinned=any(held)))
    names = (*system.q_names, *system.v_names)
    initial = dict(zip(names, np.concatenate([q, v]).tolist(), strict=True))
    return Assembly(q, v, initial, float(np.abs(q - q0).max(initial=0.0)), residual)


def _unmet(closing: Closing, t: float, off: FloatArray, allowed: float, *, pinned: bool) -> str:
    """Which constraint is missed most, by how much, and what to do; on the position first, where one is missed there."""
    off = np.where(np.isfinite(off), off, np.inf)
    missed = [k for k in closing.on_position if off[k] > allowed] or sorted({*range(len(off))} - {*closing.on_position})
    k = max(missed, key=lambda k: float(off[k]))
    advice = (
        "Pin less, or start from another guess."
        if pinned
        else "Start from another guess, or check lengths and parameters: it may be that no position meets them all."
    )
    return (
        f"Model '{closing.system.name}': {closing.named(k)} cannot be met at t = {t:g} s from this guess: the nearest state "
        f"found misses it by {off[k]:.3g}. {advice}"
    )


def _held(system: System, pinned: Iterable[str]) -> tuple[list[int], list[int]]:
    """The speeds that must not move coordinates, and those that stay, from the names *pinned*."""
    names = records(pinned, str, "names of coordinates and speeds", "'q1'")
    blocks: dict[str, tuple[str, ...]] = {}
    for joint, motion in system.joints.items():
        turns = speed_names(motion)[-3:]
        blocks[joint] = speed_names(motion)
        for k, n in enumerate(coordinate_names(motion)):
            blocks[n] = turns if n in quaternion_names(motion) else (speed_names(motion)[k],)
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
