"""The samples of a run that was computed before, as the page plays them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from kineta.errors import ArgumentError
from kineta.model.reserved_symbols import added_force
from kineta.page.recorded_pressing import recorded_pressing
from kineta.page.sample_encoding import encoded_series, one_sample
from kineta.results.result import Result
from kineta.results.series import Series
from kineta.scene.machine import Machine
from kineta.tasks.posture import Posture

#: Samples of a run as plain data.
Recorded = dict[str, Any]
#: Samples that stand in a page at most.
SAMPLES = 3000
#: The times among series.
TIME = "t"


def recorded_run(run: Result) -> Recorded:
    """Times and series of a run of one motion, thinned to :data:`SAMPLES` samples; where bodies that may touch each other press,
    what happened, and how the run ended.
    """
    if not len(run.t):
        raise ArgumentError(f"Run of '{run.model}': expected a run with samples to show, found none.")
    kept = np.unique(np.linspace(0, len(run.t) - 1, min(len(run.t), SAMPLES)).round().astype(int))
    kept = kept[np.argsort(run.t[kept], kind="stable")]
    series = {n: x for n, x in run.series.items() if np.ndim(x) == 1}
    thinned = f"{len(run.t)} samples, of which one in {len(run.t) / len(kept):.3g} is shown" * (len(kept) < len(run.t))
    return {
        "samples": encoded_series({TIME: run.t[kept]} | {n: np.asarray(x, float)[kept] for n, x in series.items()}),
        "pressing": recorded_pressing(run, kept),
        "changes": [[float(t), what] for t, what in told(run)],
        "message": run.message,
        "failed": not run.success,
        "thinned": thinned,
        "steps": run.steps,
        "balance": run.energy_balance,
        "units": dict(run.units),
    }


def recorded_series(motion: Series) -> Recorded:
    """Times and series of a *motion* that a task has found."""
    return _told(encoded_series({TIME: motion.t} | dict(motion.series)), "") | {"units": dict(motion.units)}


def still(at: Posture, why: str) -> Recorded:
    """The one sample of a machine whose run cannot be computed, and *why*."""
    states = zip((*at.system.q_names, *at.system.v_names), [*at.q, *at.v], strict=True)
    return _told(one_sample({TIME: at.t} | {n: float(x) for n, x in states}), why)


def clockwork(at: Posture, seconds: float, samples: int) -> Recorded:
    """The times of a machine without coordinates, that moves with the time alone.

    Raises :class:`ArgumentError` for one at rest.
    """
    times = at.t + np.linspace(0.0, seconds, samples)
    empty = np.zeros((samples, 0))
    first, *others = Machine(at.scene, at.p, at.t, at.q, at.v).poses(times, empty, empty)
    if all(np.array_equal(x.frames, first.frames) for x in others):
        raise ArgumentError(
            f"Model '{at.system.name}': nothing in it moves that a page could play; a picture (.png, .svg) shows it."
        )
    return _told(encoded_series({TIME: times}), "")


def _told(samples: Mapping[str, Any], message: str) -> Recorded:
    return {
        "samples": samples,
        "pressing": None,
        "changes": [],
        "message": message,
        "failed": bool(message),
        "thinned": "",
        "steps": 0,
        "balance": 0.0,
        "units": {},
    }


def told(run: Result) -> Iterable[tuple[float, str]]:
    """What happens in a run, changes of modes and events, in the order of time, and at one time in that of happening."""
    events = ((float(t), n) for n, times in zip(run.event_names, run.t_events, strict=False) for t in times)
    return sorted([*run.changes, *events], key=itemgetter(0))


def is_pushed(run: Result) -> bool:
    """Whether forces were given to a run beside those of its model."""
    return any(added_force(n) in run.outputs for n in run.v_names)
