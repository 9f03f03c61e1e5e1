"""Where bodies that may touch each other press in a run that was computed before, as the page draws it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.equations.equations import equations_of
from kineta.equations.function import parameter_values
from kineta.integration.time_stepping import MOREAU, STEP
from kineta.kernels.time_stepping.pair_features import FEATURE_NUMBERS, GAP, NORMAL, PLACE, PLANE, ROUND
from kineta.model.contacts.mutual_contact import mutual_contacts
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.numerics.linear_algebra import norm
from kineta.page.compression import compressed, planes
from kineta.page.kept_pages import ATOL, RTOL
from kineta.results.result import Result
from kineta.runtime.contact_problem import contact_kernel
from kineta.simulation.inputs import run_inputs
from kineta.simulation.piles.pile import PairNames, pile_memory
from kineta.simulation.piles.pile_memory import PileMemory
from kineta.simulation.simulate import RunSettings, pile_tasks, piles

#: Largest gap of a place that presses beyond the least of its pair, in the smallest half size of both shapes.
BESIDE = 2e-3
#: Steps of a place and of a normal from the least to the largest of their numbers.
STEPS = 0xFFFF


def recorded_pressing(run: Result, kept: IntArray) -> dict[str, Any] | None:
    """For each pair of shapes that presses in one of the *kept* samples of a *run*, the middle of the places at which it does,
    and its normal there; None without any. The forces are series of the run.

    ``pairs`` has the name of each, how many of the ``codes`` it has, the coefficient of friction, 1 where the second is no plane,
    and 1 or -1 where the force of the series acts on what the normal shows to, or against it; codes are differences from one to
    the next of the number of the sample, the place from ``low`` on in parts of ``size`` [m], and the normal.
    """
    memory = _memory(run)
    if memory is None or run.system is None:
        return None
    names = PairNames(run.system, memory[0]).pairs
    shown = [k for k in range(len(names)) if f"{MULTIPLIER}{names[k]}.n" in run.outputs]
    seen = _places(*memory, run, kept, np.array(shown, dtype=np.int64))
    pressed = np.array([run.outputs[f"{MULTIPLIER}{names[key]}.n"][kept] for key in shown]).reshape(len(shown), -1) > 0
    sample, key = seen[:, 0].astype(np.int64), seen[:, 1].astype(np.int64)
    seen = seen[pressed[np.searchsorted(shown, key), sample]]
    if not len(seen):
        return None
    low, size = seen[:, 2:5].min(axis=0), float(np.ptp(seen[:, 2:5], axis=0).max()) or 1.0
    place, normal = np.rint((seen[:, 2:5] - low) / size * STEPS), np.rint((seen[:, 5:8] + 1) / 2 * STEPS)
    rows = np.column_stack([seen[:, 0], place, normal]).astype(np.int64)
    keys, first, counts = np.unique(seen[:, 1].astype(np.int64), return_index=True, return_counts=True)
    law = seen[first, 8:].tolist()
    return {
        "pairs": [[names[k], n, *own] for k, n, own in zip(keys.tolist(), counts.tolist(), law, strict=True)],
        "low": low.tolist(),
        "size": size,
        "codes": compressed(planes(np.diff(rows, axis=0, prepend=0).T & STEPS, 2)),
    }


def _memory(run: Result) -> tuple[PileMemory, IntArray] | None:
    """The shapes of a *run* by time stepping, and where its states stand among theirs; None where pairs are no table."""
    system = run.system
    if system is None or run.method != MOREAU or not mutual_contacts(system):
        return None
    n, nq, p = system.nq + system.nv, system.nq, parameter_values(system, dict(run.parameters))
    equations, y = equations_of(system), run.y[:n, 0]
    given = run_inputs(system, (y[:nq], y[nq:], p, None, None), (), MOREAU)
    if not piles(equations, given, MOREAU):
        return None
    settings = RunSettings((float(run.t[0]), float(run.t[-1])), (RTOL, ATOL, np.inf), None, None)
    parts, tasks = pile_tasks(equations, given, settings, dense_output=False)
    memory, order = pile_memory(system, given, parts, tasks), np.arange(n)
    for own, place in zip(parts.states or [order], memory.places, strict=True):
        order[own] = place.state[: len(own)]
    return memory, order


def _places(memory: PileMemory, order: IntArray, run: Result, kept: IntArray, shown: IntArray) -> FloatArray:
    """Rows of a sample, the key of a pair that is *shown*, the middle of the places at which it touches, its normal, friction,
    whether the second is a body, and the sign of its force; by pairs, then by samples.
    """
    data, pairs = memory.data, memory.data.pairs
    time, y, block, places = data.array("time"), data.array("y"), data.motion.array("block"), pairs.array("places")
    found = list[FloatArray]()
    for sample, k in enumerate(kept.tolist()):
        time[0], y[order] = run.t[k], run.y[: len(order), k]
        pairs.array("places_of")(time, y, block, places)
        contact_kernel("list_features")(pairs, STEP)
        count, pairs.count = pairs.count, 0
        keys, one, other = (pairs.array(name)[:count] for name in ("pair", "one", "other"))
        own = pairs.array("features")[: FEATURE_NUMBERS * count].reshape(-1, FEATURE_NUMBERS)
        gap, n, body = own[:, GAP], own[:, NORMAL : NORMAL + 3], pairs.array("kind")[other] != PLANE
        at = own[:, PLACE : PLACE + 3] - (own[:, ROUND] + 0.5 * body * gap)[:, None] * n
        friction = pairs.array("group_law")[4 * pairs.array("group")[one]]
        sign = np.where(one == keys // pairs.shapes, 1, -1)
        small = np.minimum(pairs.array("bulk")[one], pairs.array("bulk")[other])
        row = np.column_stack([np.full(count, sample), keys, at, n, friction, body, sign, gap, small])
        found.append(row[np.isin(keys, shown)])
    return _middles(np.concatenate(found) if found else np.zeros((0, 13)))


def _middles(rows: FloatArray) -> FloatArray:
    """The middle of the places of each pair in each sample, of *rows* with the gap and a small size at their ends."""
    rows = rows[np.lexsort((rows[:, 0], rows[:, 1]))]
    if not len(rows):
        return rows[:, :-2]
    first = np.flatnonzero(np.append(True, (np.diff(rows[:, :2], axis=0) != 0).any(axis=1)))
    counts = np.diff(np.append(first, len(rows)))
    least = np.repeat(np.minimum.reduceat(rows[:, -2], first), counts)
    touching = rows[:, -2] <= least + BESIDE * rows[:, -1]
    found, number = rows[first, :-2], np.add.reduceat(touching.astype(float), first)
    found[:, 2:8] = np.add.reduceat(np.where(touching[:, None], rows[:, 2:8], 0.0), first) / number[:, None]
    found[:, 5:8] /= np.maximum(norm(found[:, 5:8], axis=1), 1e-12)[:, None]
    return found
