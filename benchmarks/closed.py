"""A row of four-bars (IFToMM A02) that folds flat again and again, over ten seconds: kineta beside Exudyn in one run.

The error is the largest change of the energy relative to that at the start.
"""

from __future__ import annotations

import time
from functools import partial
from importlib.util import find_spec

import numpy as np

import kineta as kn
from benchmarks.derivation import fresh
from benchmarks.timing import interleaved, table

SPAN = 10.0


def row(windows: int) -> kn.System:
    """Rods that stand side by side, joined at their tops by level ones."""
    z = "axis (0, 0, 1)"
    text = f"model row_of_{windows}; gravity (0, -9.81, 0);"
    for k in range(windows + 1):
        text += f"A{k} | Sx({k}), Rz(a{k}) = m(1), Jz(1/12), com = (0, 0.5, 0);"
    for k in range(windows):
        text += f"C{k} ~ A{k} | Sy(1), Rz(c{k}) = m(1), Jz(1/12), com = (0.5, 0, 0);"
        text += f"loop P{k} : revolute between C{k} at (1, 0, 0) {z} and A{k + 1} at (0, 1, 0) {z};"
    text += f"coordinates {', '.join(f'a{k}, c{k}' for k in range(windows))}, a{windows};"
    return kn.loads(text)


def start(system: kn.System, v0: float = 1.0) -> dict[str, float]:
    """All rods upright, their tops moving to the right."""
    return {name: -v0 if name.startswith("a") else v0 for name in system.v_names}


def energy_error(result: kn.Result) -> float:
    return float(np.abs(result.energy - result.energy[0]).max() / abs(result.energy[0]))


def main(quick: bool = False) -> None:
    rows = []
    for windows in (2, 40):
        system = row(windows)
        began = time.perf_counter()
        equations = kn.derive(system)
        operations = equations.operations("forward").total
        v = start(system)
        kn.simulate(equations, 1e-3, v=v)
        made = time.perf_counter() - began
        for rtol in (1e-6, 4e-9, 1e-10):
            run = partial(kn.simulate, equations, SPAN, v=v, rtol=rtol, atol=rtol / 100)
            every = run()
            seconds = interleaved({"": run}, 3 if quick else 9)[""]
            name = f"{windows} windows, kineta, rtol {rtol:.0e}"
            rows.append((name, f"{every.nfev}", f"{1e3 * seconds:.1f}", f"{energy_error(every):.0e}"))
        rows.append(
            (f"  {operations / windows:.0f} operations a window, derived and compiled", "", f"{1e3 * made:.0f}", "")
        )
        for step in ((4e-3,) if quick else (4e-3, 1e-3, 5e-4)) if find_spec("exudyn") else ():
            from benchmarks import peer_exudyn

            seconds, error = peer_exudyn.run(windows, step)
            name = f"{windows} windows, Exudyn, step {step:.0e}"
            rows.append((name, f"{SPAN / step:.0f}", f"{1e3 * seconds:.0f}", f"{error:.0e}"))
    print(table((f"{SPAN:g} s", "evaluations or steps", "ms", "energy error"), rows))
    seconds = min(fresh("function('bicycle')")["seconds"] for _ in range(1 if quick else 5))
    print(f"\nWhipple's bicycle, file to compiled accelerations: {seconds:.3f} s of the processor")
    if not quick:
        print(f"\n{_growth()}")


def _growth() -> str:
    """What deriving, compiling and a step cost with the number of windows."""
    rows = []
    for windows in (10, 40, 100, 300, 1000):
        system = row(windows)
        began = time.perf_counter()
        equations = kn.derive(system)
        operations = equations.operations("forward").total
        derived = time.perf_counter() - began
        v = start(system)
        began = time.perf_counter()
        kn.simulate(equations, 1e-6, v=v)
        compiled = time.perf_counter() - began
        kn.simulate(equations, SPAN, v=v, samples=2)
        again = kn.simulate(equations, SPAN, v=v, samples=2)
        step = 1e3 * again.seconds / again.steps
        rows.append((f"{windows}", f"{operations / windows:.0f}", f"{derived:.2f}", f"{compiled:.2f}", f"{step:.3f}"))
    return table(("windows", "operations a window", "derived, s", "first run, s", "a step, ms"), rows)
