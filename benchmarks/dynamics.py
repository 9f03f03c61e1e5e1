"""Time of one evaluation: forward and inverse dynamics and their derivatives, mass matrix; beside peers, in one thread, in time
of the processor.

All loop over the same states in native code: one call from Python for all of them. Their results are compared first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping

import numpy as np
from numpy.typing import NDArray

import kineta as kn
from benchmarks import peer, peer_mujoco
from benchmarks.robots import SOURCES, Robot
from benchmarks.timing import interleaved, table
from kineta.codegen import llvm

FloatArray = NDArray[np.float64]

QUANTITIES = ("forward", "inverse", "mass_matrix", "forward_derivatives", "inverse_derivatives")
#: Bytes of states and results: enough rows that the one call from Python is nothing, few enough to stay in the cache.
BYTES = 512 * 1024


def kineta_calls(
    robot: Robot, quantity: str, states: dict[str, FloatArray]
) -> dict[str, tuple[Callable[[], None], FloatArray]]:
    """kineta's scalar and batch loops: what to call, and where the results then are."""
    function = kn.derive(robot.system).function(quantity)
    program = function.main
    order = robot.v_order()
    blocks = {
        "t": np.zeros((len(states["q"]), 1)),
        "q": states["q"][:, robot.q_order()],
        "v": states["v"][:, order],
        "tau": states["extra"][:, order],
        "vdot": states["extra"][:, order],
        "h": function.hoisted()[np.newaxis],
    }
    given = [np.ascontiguousarray(blocks[b.name]) for b in program.inputs]
    found = {}
    for name, batch in (("scalar", False), ("batch", True)):
        code = llvm.compile([program], batch=batch).function(program.name)
        out = np.empty((len(states["q"]), program.n_outputs))
        rows = [x for b in given for x in (b.ctypes.data, b.shape[1] if len(b) > 1 else 0)]
        arguments = (len(out), *rows, out.ctypes.data, out.shape[1])
        found[name] = (lambda code=code, arguments=arguments, kept=given: code.rows(*arguments), out)
    return found


def difference(robot: Robot, quantity: str, ours: FloatArray, theirs: FloatArray) -> float:
    """Largest difference of the results, relative to the largest value."""
    order = robot.v_order()
    if quantity == "mass_matrix":  # Pinocchio fills one triangle, column-major
        filled = theirs.transpose(0, 2, 1)
        full = np.triu(filled) + np.triu(filled, 1).transpose(0, 2, 1)
        theirs = full[:, order][:, :, order].reshape(ours.shape)
    elif quantity.endswith("derivatives"):
        theirs[:, 2] = np.triu(theirs[:, 2]) + np.triu(theirs[:, 2], 1).transpose(0, 2, 1)
        theirs = theirs[:, :, order][:, :, :, order].reshape(ours.shape)
    else:
        theirs = theirs[:, order]
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def measure(robot: Robot, quantity: str, repeats: int) -> tuple[str, ...]:
    """A row of the table."""
    nq, nv = robot.model.nq, robot.model.nv
    n = max(64, BYTES // (8 * (nq + 2 * nv + math.prod(peer.shape(quantity, nv)))))
    states = robot.states(n)
    given = states["q"], states["v"], states["extra"]
    ours = kineta_calls(robot, quantity, states)
    pinocchio, mujoco = peer.Peer(robot.model), peer_mujoco.Peer(robot.model)
    theirs = pinocchio.calls(quantity, *given)
    others = mujoco.calls(*given) if quantity == "forward" else {}
    for call, _ in (*ours.values(), *theirs.values(), *others.values()):
        call()
    results = [out for _, out in theirs.values()]
    results += [mujoco.accelerations(out, *given[:2]) for _, out in others.values()]
    worst = max(difference(robot, quantity, a, b) for _, a in ours.values() for b in results)
    calls = {name: call for name, (call, _) in (ours | theirs | others).items()}
    seconds = interleaved(calls, repeats, clock=time.thread_time)
    ns = {name: s / n * 1e9 for name, s in seconds.items()}
    best = min((theirs | others), key=lambda name: ns[name])
    return (
        f"{robot.name}, {quantity}",
        _fastest(ns, theirs, pinocchio.how),
        _fastest(ns, others, mujoco.how),
        f"{ns['scalar']:.1f}",
        f"{ns['batch']:.1f}",
        f"{ns[best] / ns['scalar']:.1f}",
        f"{ns[best] / ns['batch']:.1f}",
        f"{worst:.0e}",
    )


def _fastest(ns: Mapping[str, float], contestants: Collection[str], how: str) -> str:
    """The time of the fastest of a peer's *contestants*, and which it is; nothing where there are none."""
    best = min(contestants, key=lambda name: ns[name], default=None)
    return f"{ns[best]:.0f} ({how}, {best})" if best else ""


def main(quick: bool = False) -> None:
    head = ("ns a call", "Pinocchio", "MuJoCo", "kineta", "batch", "ratio", "ratio, batch", "difference")
    rows = []
    for source in SOURCES.values():
        robot = source.robot()
        rows += [measure(robot, quantity, 3 if quick else 15) for quantity in QUANTITIES]
    print(table(head, rows))
    print("ratio: the faster peer to kineta")
