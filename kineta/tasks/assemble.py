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
from kineta.tasks import arguments
from kineta.tasks.closing import MET, Closing
from kineta.tasks.code import parameters
from kineta.tasks.rank import folded
from kineta.tasks.reduction import state_names
from kineta.tasks.state import initial_state
from kineta.values import finite

FloatArray = NDArray[np.float64]


#: Starts beside a guess that are tried where none is found from it, and how far from it the first and the last are.
BESIDE, NEAREST, FARTHEST = 8, 1e-2, 1.0
#: Singular values of scaled constraints below which these are said to depend on each other there.
NEARLY = 1e-3
#: How many times larger than all that is given speeds are that meet constraints only because these just touch.
TOUCHING = 1e5


@dataclass(frozen=True)
class Assembly:
    """A state that meets the constraints, or one for each of several cases.

    q, v : coordinates (nq,) and speeds (nv,), or (cases, nq) and (cases, nv); ``initial`` has both by name
    moved : largest change of a coordinate from the guess
    residual : how far the constraints are missed, at most
    notes : what else is to be known: whether the guess itself led nowhere
    """

    q: FloatArray
    v: FloatArray
    initial: dict[str, Any]
    moved: float
    residual: float
    notes: tuple[str, ...] = ()


def assemble(
    system: System, q: Any = None, v: Any = None, p: Any = None, *, t: float = 0.0, pinned: Iterable[str] = ()
) -> Assembly:
    """A state of *system* at the time *t* [s] that meets its constraints, near to the guess *q*, *v*.

    The change is the one of least kinetic energy. Coordinates and speeds that are *pinned*, by name (a ``Ball`` or ``Free``
    motion by its own, one of its turns or shifts as ``b.Rx``, ``b.Sx``), stay as they are. *q*, *v*, *p* as for
    :func:`~kineta.tasks.simulate.simulate`, of one case or of many.
    Where a guess leads nowhere, as one does at which the constraints have no slope, some beside it are tried.

    Raises :class:`SimulationError` where no such state is found: with the constraint that is missed most, and by how much.
    """
    values = parameters(a_system(system), p)
    q0, v0 = initial_state(system, q, v, values)
    t, held = finite("t", t), _held(system, pinned)
    equations = equations_of(system)
    cases = arguments.cases({"q": q0, "v": v0, "p": values})
    if cases is None:
        return _assembled(Closing(equations, values), t, q0, v0, held)
    rows = zip(*(np.broadcast_to(x, (cases, x.shape[-1])) for x in (q0, v0, values)), strict=True)
    found = []
    for i, (one, speeds, own) in enumerate(rows):
        try:
            found.append(_assembled(Closing(equations, own), t, one, speeds, held))
        except SimulationError as error:
            raise SimulationError(f"Case {i}: {error}") from None
    q, v = (np.array([getattr(x, n) for x in found]) for n in ("q", "v"))
    names = (*system.q_names, *system.v_names)
    return Assembly(
        q,
        v,
        dict(zip(names, np.concatenate([q, v], axis=1).T, strict=True)),
        max(x.moved for x in found),
        max(x.residual for x in found),
        tuple(f"case {i}: {note}" for i, x in enumerate(found) for note in x.notes),
    )


def _assembled(
    closing: Closing, t: float, q0: FloatArray, v0: FloatArray, held: tuple[list[int], list[int]]
) -> Assembly:
    """One case of :func:`assemble`; *held*: the speeds that must not move coordinates, and those that stay."""
    system = closing.system
    q, beside = _position(closing, t, q0, held[0])
    v = v0 if system.quasi else closing.velocity(t, q, v0, held[1])
    off = np.abs(closing.off(t, q, np.zeros(len(system.base_speeds)) if system.quasi else v))
    # Whatever the quasi-velocities, the constraints on the velocity are met.
    residual = float(off[closing.on_position if system.quasi else ...].max(initial=0.0))
    allowed = MET * closing.size(q, v)
    if not residual <= allowed:
        still = len(set(held[0])) == len(closing.system.base_speeds)
        raise SimulationError(_unmet(closing, t, off, allowed, pinned=any(held), still=still))
    if np.abs(v).max(initial=0.0) > TOUCHING * closing.size(q, v0):
        depend = folded(closing.equations, closing.p, t, (q, np.zeros_like(v)), (), NEARLY).removesuffix(" there")
        raise SimulationError(
            f"Model '{system.name}': in the position found {depend or 'constraints nearly depend on each other'}, so that "
            f"speeds of {np.abs(v).max():.1g} would be needed. It may be the only one: check lengths and parameters."
        )
    names = (*system.q_names, *system.v_names)
    initial = dict(zip(names, np.concatenate([q, v]).tolist(), strict=True))
    notes = (f"the guess led to no position; one {beside} beside it did",) * bool(beside)
    return Assembly(q, v, initial, float(np.abs(q - q0).max(initial=0.0)), residual, notes)


def _position(closing: Closing, t: float, q0: FloatArray, held: list[int]) -> tuple[FloatArray, str]:
    """Coordinates that meet the constraints on the position, or those found that miss them least; and how far from the guess they
    were found, in words, ``''`` for from itself.
    """
    rest, rng = np.zeros(len(closing.system.base_speeds)), np.random.default_rng(0)
    best, least, said = q0, np.inf, ""
    for i in range(1 + BESIDE * bool(closing.on_position)):
        far = NEAREST * (FARTHEST / NEAREST) ** ((i - 1) / (BESIDE - 1)) if i else 0.0
        change = far * rng.standard_normal(len(rest))
        change[held] = 0.0
        q = closing.position(t, closing.moved(t, q0, change) if i else q0, held)
        off = float(np.abs(closing.off(t, q, rest)[closing.on_position]).max(initial=0.0))
        if off < least:
            best, least, said = q, off, f"about {far:.1g}" if i else ""
        if least <= MET * closing.size(best, rest):
            break
    return best, said


def _unmet(closing: Closing, t: float, off: FloatArray, allowed: float, *, pinned: bool, still: bool) -> str:
    """Which constraint is missed most, by how much, and what to do; on the position first, where one is missed there."""
    off = np.where(np.isfinite(off), off, np.inf)
    where = [k for k in closing.on_position if off[k] > allowed]
    k = max(where or sorted({*range(len(off))} - {*closing.on_position}), key=lambda k: float(off[k]))
    advice = (
        "Pin less: nothing is left to move."
        if still
        else "Pin less, or start from another guess."
        if pinned
        else "Start from another guess, or check lengths and parameters: it may be that no position meets them all."
    )
    tried = f"this guess, nor from {BESIDE} beside it" if where else "this guess"
    return (
        f"Model '{closing.system.name}': {closing.named(k)} cannot be met at t = {t:g} s from {tried}: the nearest state "
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
    changes = state_names(system)[: len(places)]
    coordinates, speeds = [], []
    for name in names:
        if name in blocks:
            coordinates += [places[n] for n in blocks[name]]
        elif name in changes:
            coordinates.append(changes.index(name))
        elif name in system.base_speeds:
            speeds.append(places[name])
        else:
            known = (*system.q_names, *system.base_speeds, *system.joints)
            raise ArgumentError(
                f"Model '{system.name}' has no coordinate or speed '{name}' to pin.{did_you_mean(name, known)}"
            )
    return coordinates, speeds
