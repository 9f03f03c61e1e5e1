"""Linearisation: Whipple's bicycle from its file to matrices at ten speeds, beside SymPy; robots at many states, beside
Pinocchio. And a motion with its derivatives by many parameters, beside the motion alone.
"""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin

import kineta as kn
from benchmarks.robots import EXAMPLES, SOURCES
from benchmarks.timing import interleaved, table

#: States of a row of linearisations.
STATES = 100
#: Calls after which a linearisation is compiled.
CALLS = 32


def bicycle() -> tuple[float, float]:
    """Seconds from the file to the matrices of ten speeds, and the largest difference of B^-1 from the benchmark's M."""
    began = time.perf_counter()
    v = np.linspace(1.0, 10.0, 10)
    about = {"psi'": 0.0, "y'": 0.0, "x'": -v, "betar'": v / 0.3, "betaf'": v / 0.35}
    found = kn.linearize(
        kn.derive(kn.load(EXAMPLES / "bicycle.kin")),
        about,
        inputs=["psi'", "psif'"],
        outputs=[],
        states=["psi", "psif"],
    )
    seconds = time.perf_counter() - began
    M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
    return seconds, float(np.abs(np.linalg.inv(found.B[:, 2:]) - M).max())


def bicycle_of_sympy() -> float:
    """Seconds that SymPy takes for the bicycle that it ships, by Kane's equations: from the bodies, without a file, to the linear
    equations for any speed, whose entries it compares with known ones.
    """
    from sympy.physics.mechanics.tests.test_kane3 import test_bicycle

    began = time.perf_counter()
    test_bicycle()
    return time.perf_counter() - began


def robot(name: str, repeats: int) -> tuple[str, ...]:
    """A row of the table: a linearisation of each of many states, and of one."""
    it = SOURCES[name].robot()
    states = it.states(STATES)
    q, v = states["q"][:, it.q_order()], states["v"][:, it.v_order()]
    equations, data = kn.derive(it.system), it.model.createData()
    began = time.perf_counter()
    kn.linearize(equations, (q, v))
    first = time.perf_counter() - began
    for _ in range(CALLS):  # until they are compiled
        kn.linearize(equations, (q[0], v[0]))
    rest = np.zeros(it.model.nv)

    def theirs() -> None:
        for one, speed in zip(states["q"], states["v"], strict=True):
            pin.computeABADerivatives(it.model, data, one, speed, rest)

    calls = {
        "rows": lambda: kn.linearize(equations, (q, v)),
        "one": lambda: kn.linearize(equations, (q[0], v[0])),
        "pin": theirs,
    }
    ms = {n: s * 1e3 for n, s in interleaved(calls, repeats).items()}
    rows, pinocchio = ms["rows"] / STATES, ms["pin"] / STATES
    return it.name, f"{first:.2f}", f"{rows:.3f}", f"{ms['one']:.2f}", f"{pinocchio:.3f}"


def motion(parameters: int, repeats: int) -> tuple[str, ...]:
    """A row of the table: ten seconds of Andreev's PUMA with derivatives by so many of its parameters; and a gradient back."""
    system = kn.load(EXAMPLES / "puma_andreev.kin")
    names = system.parameter_names[:parameters]
    goal = kn.objective(system, 10.0, names, final=kn.symbol(system.q_names[0]), adjoint=True)
    began = time.perf_counter()
    kn.sensitivity(system, 10.0, names, t_eval=[10.0])
    first = time.perf_counter() - began
    calls = {
        "alone": lambda: kn.simulate(system, 10.0, t_eval=[10.0]),
        "forth": lambda: kn.sensitivity(system, 10.0, names, t_eval=[10.0]),
        "back": lambda: goal.gradient(goal.x0),
    }
    ms = {n: s * 1e3 for n, s in interleaved(calls, repeats).items()}
    return str(parameters), f"{first:.2f}", f"{ms['alone']:.2f}", f"{ms['forth']:.2f}", f"{ms['back']:.1f}"


def main(quick: bool = False) -> None:
    runs = [bicycle() for _ in range(3)]
    seconds = min(s for s, _ in runs)
    print(f"Whipple's bicycle, file to matrices at ten speeds: {seconds:.3f} s, M to {runs[0][1]:.0e}")
    if not quick:  # it takes minutes
        theirs = bicycle_of_sympy()
        print(f"SymPy, from bodies to matrices by Kane's equations: {theirs:.1f} s, ratio {theirs / seconds:.0f}")
    print()
    head = ("A, B, C, D", "first, s", "ms a state, in rows", "ms, one state", "pin derivatives alone, ms")
    print(table(head, [robot(name, 3 if quick else 9) for name in ("puma", "quadruped", "humanoid")]))
    print()
    head = ("parameters", "first, s", "motion, ms", "with derivatives, ms", "gradient back, ms")
    print(table(head, [motion(n, 3 if quick else 9) for n in (1, 10, 30)]))
