"""Changes of contact by themselves: each is replayed from the state before it, without the steps between."""

from __future__ import annotations

import ctypes
import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.contact_scenes import SCENES

#: Replays of a change, of which the least time counts.
REPLAYS = 5
#: Scenes whose changes are replayed, and the number of their contacts that touch.
REPLAYED = {"rocking block": 1, "pushed table": 4, "sprung table": 4, "thrown box": 4, "ten pushed tables": 40}


def change_times(name: str) -> list[float]:
    """Least time [us] of each change of contact in the scene *name*, of some replays."""
    import kineta as kn
    from kineta.hybrid import contact_modes

    found: list[float] = []
    kept: list[Any] = []
    plain = contact_modes.loop_contacts
    address = ctypes.c_void_p

    def replayed(made: Any, motion: Any, work: Any, *rest: int) -> Any:
        contacts = plain(made, motion, work, *rest)
        change = ctypes.CFUNCTYPE(None, *[address] * 4)(contacts.transit)
        marks = [work.array(mark) for mark in ("loose", "exhausted", "fallen")]

        def call(*given: int) -> None:
            t, y = (
                np.ctypeslib.as_array((ctypes.c_double * n).from_address(x)) for n, x in zip((1, motion.n), given[2:])
            )
            memory = [t, y, motion.array("flags"), *marks]
            before, made, fastest = [x.copy() for x in memory], work.made, work.fastest
            seconds = []
            for _ in range(REPLAYS):
                for x, value in zip(memory, before, strict=True):
                    x[:] = value
                work.update(made=made, fastest=fastest)
                began = time.perf_counter()
                change(*given)
                seconds.append(time.perf_counter() - began)
            found.append(1e6 * min(seconds))

        kept.append((change, ctypes.CFUNCTYPE(None, *[address] * 4)(call)))
        return replace(contacts, transit=ctypes.cast(kept[-1][1], address).value)

    contact_modes.loop_contacts = replayed
    try:
        kn.simulate(kn.loads(SCENES[name].text()), SCENES[name].span, samples=3)
    finally:
        contact_modes.loop_contacts = plain
    return found


def print_changes() -> None:
    """Print times of changes by scene."""
    for name, touching in REPLAYED.items():
        times = change_times(name)
        said = f"mean {np.mean(times):.0f} us, median {np.median(times):.0f}, most {np.max(times):.0f}"
        print(f"a change by itself, {name}, {touching} touching: {said}, of {len(times)}")
