"""Time of one call from Python for one state: forward dynamics, kineta beside Pinocchio.

Arrays are given and a new one is returned, as in a loop of someone's own. What the machine code itself takes is measured in
the same run, so that the rest is what the call costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import kineta as kn
from benchmarks.robots import EXAMPLES, SOURCES, Robot
from benchmarks.timing import interleaved, table
from kineta.codegen import llvm

FloatArray = NDArray[np.float64]

#: Seconds for which one contestant runs before the next: short, so that few are interrupted.
WINDOW = 2e-4
#: States that one call of the machine code runs through, so that the way to it is nothing.
ROWS = 200


def work(function: kn.Function, state: tuple[FloatArray, ...]) -> Callable[[], None]:
    """The machine code for *state*, ROWS times; without the way from Python's objects to addresses."""
    native = llvm.compile([function.main]).function(function.main.name)
    blocks = [np.zeros(1), *state, function.hoisted()]
    out = np.empty((ROWS, native.program.n_outputs))
    loop = native.rows
    rows = [x for b in blocks for x in (b.ctypes.data, 0)]
    arguments = (ROWS, *rows, out.ctypes.data, out.shape[1])
    return lambda kept=(blocks, out): loop(*arguments)


def contestants(
    function: kn.Function, state: tuple[FloatArray, ...], robot: Robot | None
) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    out = np.empty(function.system.nv)
    q, v, tau = state
    found: dict[str, Callable[[], object]] = {
        "call": lambda: function(0.0, q, v, tau),
        "out": lambda: function(0.0, q, v, tau, out=out),
        "work": work(function, state),
        "loop": lambda: None,
    }
    if robot is not None:
        model, data = robot.model, robot.model.createData()
        given = robot.states(1)
        theirs = [given[name][0].copy() for name in ("q", "v", "extra")]
        found["pin.aba"] = lambda: pin.aba(model, data, *theirs)
        if not np.allclose(found["pin.aba"]()[robot.v_order()], function(0.0, q, v, tau), rtol=1e-8):
            raise SystemExit(f"{robot.name}: the results differ.")
    return found


def measure(name: str, system: kn.System, robot: Robot | None, repeats: int) -> tuple[str, ...]:
    """A row of the table."""
    function = kn.derive(system).function("forward")
    if robot is None:
        draw = np.random.default_rng(1).normal
        state = (draw(size=system.nq), draw(size=system.nv), draw(size=system.nv))
    else:
        given, order = robot.states(1), robot.v_order()
        state = (given["q"][0, robot.q_order()], given["v"][0, order], given["extra"][0, order])
    calls = contestants(function, state, robot)
    seconds = interleaved(calls, repeats, at_least=WINDOW, clock=time.thread_time)
    ns = {key: s * 1e9 for key, s in seconds.items()}
    ns["work"] /= ROWS
    own = {key: ns[key] - ns["loop"] for key in ("call", "out")}  # without the lambda around them
    peer = ns["pin.aba"] - ns["loop"] if robot else None
    return (
        name,
        str(len(system.parameter_names)),
        f"{peer:.0f}" if peer else "",
        f"{own['call']:.0f}",
        f"{own['out']:.0f}",
        f"{ns['work']:.0f}",
        f"{own['call'] - ns['work']:.0f}",
        f"{peer / own['call']:.1f}" if peer else "",
    )


def main(quick: bool = False) -> None:
    repeats = 21 if quick else 301
    rows = []
    for source in SOURCES.values():
        robot = source.robot()
        rows.append(measure(robot.name, robot.system, robot, repeats))
    arm = kn.load(EXAMPLES / "puma_andreev.kin")
    rows.append(measure("Andreev's PUMA", arm, None, repeats))
    head = ("ns a call, forward", "parameters", "pin.aba", "kineta", "with out=", "its work", "the call", "ratio")
    print(table(head, rows))
