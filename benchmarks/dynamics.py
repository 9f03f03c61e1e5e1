"""Time of one evaluation: forward dynamics, inverse dynamics, mass matrix; kineta beside Pinocchio, in one thread.

Both loop over the same states in native code: one call from Python for all of them. Their results are compared first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import kineta as kn
from benchmarks.peer import Peer
from benchmarks.robots import SOURCES, Robot
from benchmarks.timing import interleaved, table
from kineta.codegen import llvm

FloatArray = NDArray[np.float64]

QUANTITIES = ("forward", "inverse", "mass_matrix")
#: Bytes of states and results: enough rows that the one call from Python is nothing, few enough to stay in the cache.
BYTES = 512 * 1024


def kineta_calls(
    robot: Robot, quantity: str, states: dict[str, FloatArray]
) -> dict[str, tuple[Callable[[], None], FloatArray]]:
    """kineta's scalar and batch loops: what to call, and where the results then are."""
    function = kn.derive(robot.system).function(quantity)
    code = llvm.compile([function.main], batch=True).function(function.main.name)
    order = robot.v_order()
    blocks = {
        "t": np.zeros((len(states["q"]), 1)),
        "q": states["q"][:, robot.q_order()],
        "v": states["v"][:, order],
        "tau": states["extra"][:, order],
        "vdot": states["extra"][:, order],
        "h": function.hoisted()[np.newaxis],
    }
    given = [np.ascontiguousarray(blocks[b.name]) for b in code.program.inputs]
    found = {}
    for name, address in (("scalar", code.each_address), ("batch", code.batch_address)):
        out = np.empty((len(states["q"]), code.program.n_outputs))
        rows = [x for b in given for x in (b.ctypes.data, b.shape[1] if len(b) > 1 else 0)]
        native = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * (len(given) + 1))(address)
        arguments = (len(out), *rows, out.ctypes.data, out.shape[1])
        found[name] = (lambda native=native, arguments=arguments, kept=(given, code): native(*arguments), out)
    return found


def difference(robot: Robot, quantity: str, ours: FloatArray, theirs: FloatArray) -> float:
    """Largest difference of the results, relative to the largest value."""
    order = robot.v_order()
    if quantity == "mass_matrix":  # Pinocchio fills one triangle, column-major
        filled = theirs.transpose(0, 2, 1)
        full = np.triu(filled) + np.triu(filled, 1).transpose(0, 2, 1)
        theirs = full[:, order][:, :, order].reshape(ours.shape)
    else:
        theirs = theirs[:, order]
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def measure(robot: Robot, quantity: str, repeats: int) -> tuple[str, ...]:
    """A row of the table."""
    nq, nv = robot.model.nq, robot.model.nv
    n = max(64, BYTES // (8 * (nq + 2 * nv + (nv * nv if quantity == "mass_matrix" else nv))))
    states = robot.states(n)
    ours = kineta_calls(robot, quantity, states)
    peer = Peer(robot.model)
    theirs = peer.calls(quantity, states["q"], states["v"], states["extra"])
    for call, _ in (*ours.values(), *theirs.values()):
        call()
    worst = max(difference(robot, quantity, a, b) for _, a in ours.values() for _, b in theirs.values())
    seconds = interleaved({name: call for name, (call, _) in (ours | theirs).items()}, repeats)
    ns = {name: s / n * 1e9 for name, s in seconds.items()}
    best = min(theirs, key=lambda name: ns[name])
    return (
        f"{robot.name}, {quantity}",
        f"{ns[best]:.0f} ({peer.how}, {best})",
        f"{ns['scalar']:.1f}",
        f"{ns['batch']:.1f}",
        f"{ns[best] / ns['scalar']:.1f}",
        f"{ns[best] / ns['batch']:.1f}",
        f"{worst:.0e}",
    )


def main(quick: bool = False) -> None:
    head = ("ns a call", "Pinocchio", "kineta", "batch", "ratio", "ratio, batch", "difference")
    rows = []
    for source in SOURCES.values():
        robot = source.robot()
        rows += [measure(robot, quantity, 3 if quick else 15) for quantity in QUANTITIES]
    print(table(head, rows))
