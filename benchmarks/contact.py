"""Contact: what impacts, stick and slip cost and how well runs keep to the laws, by events and by time stepping, beside MuJoCo's
steps of 2 ms and 0.2 ms.

Each row runs in a process of its own that ends after a time, so that one that hangs says so. A first run goes from the text
to the end of the span, with nothing cached. Times are of the processor, but for ensembles, which have all cores. The energy
error of kineta is its balance, in which the work of contacts is counted; that of MuJoCo is the most its energy grows, in parts
of its range, where nothing drives the motion. Its contacts are soft and without restitution. Ensembles are compared with
``mujoco.rollout``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contact_changes import print_changes
from benchmarks.contact_scenes import SCENES, Scene, ball
from benchmarks.timing import table

ROOT = Path(__file__).parents[1]
LIMIT, QUICK_LIMIT = 120.0, 20.0
STEPS = (2e-3, 2e-4)
#: Rows of the growth with the number of bodies.
GROWING = ("1 boxes", "3 boxes", "10 boxes", "30 boxes")
Row = dict[str, Any]


def best(call: Callable[[], object], seconds: float = 1.0) -> float:
    """Least seconds of the processor for a call, of three at least that take a second together."""
    found: list[float] = []
    while len(found) < 3 or (sum(found) < seconds and len(found) < 50):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return min(found)


def kineta_row(scene: Scene, **given: Any) -> Row:
    """What a run of kineta takes, with the method and step *given*, or else by default."""
    import kineta as kn

    text, span = scene.text(), scene.span
    began = time.process_time()
    system = kn.loads(text)
    run = kn.simulate(system, span, samples=3, **given)
    first = time.process_time() - began
    if run.status not in (0, 3):
        return {"first": first, "said": run.message}
    seconds = best(lambda: kn.simulate(system, span, samples=3, **given))
    depths = [0.0]
    if scene.gaps:
        shown = ", ".join(f"gap{k} = {gap}" for k, gap in enumerate(scene.gaps))
        watched = kn.simulate(kn.loads(f"{text}\noutput {shown};"), span, **given)
        depths += [float(-watched[f"gap{k}"].min()) for k in range(len(scene.gaps))]
    return {
        "first": first,
        "seconds": seconds / span,
        "steps": run.steps,
        "changes": len({t for t, _ in run.changes}),
        "us": 1e6 * seconds / max(1, len({t for t, _ in run.changes})),
        "energy": run.energy_balance,
        "depth": max(depths) if scene.gaps else told_depth(run.notes),
    }


def told_depth(notes: Sequence[str]) -> float | None:
    """The largest penetration that the notes of a run by time stepping tell [m]; None without any."""
    found = [re.search(r"largest penetration is (\S+) m", note) for note in notes]
    return max((float(f[1]) for f in found if f), default=None)


def mujoco_row(scene: Scene, step: float) -> Row:
    import mujoco

    assert scene.peer is not None
    began = time.process_time()
    model = mujoco.MjModel.from_xml_string(scene.peer(step))
    data = mujoco.MjData(model)
    count = round(scene.span / step)

    def reset() -> None:
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        else:
            mujoco.mj_resetData(model, data)

    def run() -> None:
        reset()
        mujoco.mj_step(model, data, count)

    run()
    first = time.process_time() - began
    seconds = best(run)
    reset()
    energies, depth = [], 0.0
    for _ in range(count):
        mujoco.mj_step(model, data)
        energies.append(float(data.energy.sum()))
        depth = max([depth, *(-data.contact.dist).tolist()])
    E = np.array(energies)
    grown = float((E - np.minimum.accumulate(E)).max() / max(1e-300, np.ptp(E)))
    return {
        "first": first,
        "seconds": seconds / scene.span,
        "steps": count,
        "energy": None if scene.driven else grown,
        "depth": depth,
    }


def exudyn_row(scene: Scene, step: float) -> Row:
    from benchmarks.peer_exudyn import bounce

    return bounce(scene.span, step)


BALLS, WALKERS = 10_000, 10_000


def kineta_balls(quick: bool) -> Row:
    import kineta as kn

    count = BALLS // 10 if quick else BALLS
    system = kn.load(ROOT / "examples" / "bouncing_ball.kin")
    e = np.linspace(0.3, 0.8, count)
    began = time.perf_counter()
    kn.simulate(system, 4.0, p={"e": e[:8]}, samples=3)
    first = time.perf_counter() - began
    began = time.perf_counter()
    run = kn.simulate(system, 4.0, p={"e": e}, samples=3)
    assert run.cases is not None
    return {"first": first, "ensemble": time.perf_counter() - began, "count": count}


def mujoco_balls(quick: bool, step: float = 2e-3) -> Row:
    import mujoco
    from mujoco import rollout

    count, cores = BALLS // 10 if quick else BALLS, os.cpu_count() or 1
    began = time.perf_counter()
    model = mujoco.MjModel.from_xml_string(ball(step))
    data = [mujoco.MjData(model) for _ in range(cores)]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros((count, size))
    mujoco.mj_getState(model, data[0], state[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state[:] = state[0]
    state[:, 3] = np.linspace(0.5, 1.05, count)
    first = time.perf_counter() - began
    began = time.perf_counter()
    part = 500  # all states of all steps are kept
    for k in range(0, count, part):
        rollout.rollout(model, data, state[k : k + part], nstep=round(4.0 / step), persistent_pool=True)
    return {"first": first, "ensemble": time.perf_counter() - began, "count": count}


#: The compass gait of Goswami, Thuilot and Espiau, with its impact as a switch.
COMPASS = """
gravity 9.81;
parameters a = 0.5, b = 0.5, l = 1, m = 5, h = 10, slope = 0.0523598775598;
Stance | Ry(s), Sz(a) = m(m); Hip | Ry(s), Sz(l) = m(h); Swing ~ Hip | Ry(n - s), Sz(-b) = m(m);
coordinates s, n;
let c = cos(s - n);
let before_1 = -m*a*b*n' + (-m*a*b + (h*l^2 + 2*m*a*l)*c)*s';
let before_2 = -m*a*b*s';
let n_1 = m*b^2 - m*b*l*c; let s_1 = m*l^2 - m*b*l*c + m*a^2 + h*l^2;
let n_2 = m*b^2; let s_2 = -m*b*l*c;
let det = n_1*s_2 - s_1*n_2;
when strike : min(s + n - 2*slope, s - n - 0.2) >= 0 :
    s = n, n = s, s' = (n_1*before_2 - n_2*before_1)/det, n' = (s_2*before_1 - s_1*before_2)/det;
initial s = -0.2187, n = 0.3234, s' = 1.0918, n' = 0.3772;
"""


def kineta_walkers(quick: bool) -> Row:
    import kineta as kn

    count = WALKERS // 100 if quick else WALKERS
    system = kn.loads(COMPASS)
    speeds = 1.0918 + 0.02 * np.random.default_rng(0).uniform(-1, 1, count)
    began = time.perf_counter()
    kn.simulate(system, 10.0, v={"s'": speeds[:8]}, samples=3)
    first = time.perf_counter() - began
    began = time.perf_counter()
    kn.simulate(system, 10.0, v={"s'": speeds}, samples=3)
    return {"first": first, "ensemble": time.perf_counter() - began, "count": count}


ENSEMBLES: dict[str, dict[str, Callable[[bool], Row]]] = {
    "balls of 4 s": {"kineta": kineta_balls, "MuJoCo, 2 ms": mujoco_balls},
    "compass gaits of 10 s": {"kineta": kineta_walkers},
}


def contestants(name: str) -> dict[str, Callable[[], Row]]:
    """Who runs a scene, by name."""
    scene = SCENES[name]
    found: dict[str, Callable[[], Row]] = {"kineta": lambda: kineta_row(scene)}
    found |= {"kineta, moreau, 2 ms": lambda: kineta_row(scene, method="moreau", max_step=STEPS[0])}
    if scene.peer is not None:
        found |= {f"MuJoCo, {1e3 * s:g} ms": partial(mujoco_row, scene, s) for s in STEPS}
    if name.startswith("ball"):
        found["Exudyn, 0.2 ms"] = lambda: exudyn_row(scene, 2e-4)
    return found


def row(name: str, who: str, limit: float, quick: bool) -> Row:
    """What the process of a row found, or what it said."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "benchmarks.contact", name, who, "quick" if quick else "whole"]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=limit,
                cwd=ROOT,
                env={**os.environ, "KINETA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"},
            )
        except subprocess.TimeoutExpired:
            return {"said": f"no end in {limit:g} s"}
    if done.returncode:
        return {"said": (done.stderr.strip().splitlines() or ["fails"])[-1][:90]}
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found


def shown(found: Row, key: str, form: str) -> str:
    value = found.get(key)
    return "" if value is None else format(value, form)


HEAD = ("contact", "first run, s", "ms a second", "steps", "changes", "us a change", "energy error", "penetration, m")


def main(quick: bool = False) -> None:
    limit = QUICK_LIMIT if quick else LIMIT
    rows, growth, unsaid = [], dict[str, float](), []
    for name in SCENES:
        for who in contestants(name):
            found = row(name, who, limit, quick)
            if "said" in found:
                unsaid.append(f"{name}, {who}: {found['said']}")
            if name in GROWING and who == "kineta" and "seconds" in found:
                growth[name] = found["seconds"]
            rows.append(
                (
                    f"{name}, {who}",
                    shown(found, "first", ".2f"),
                    f"{1e3 * found['seconds']:.2f}" if "seconds" in found else "-",
                    shown(found, "steps", "d"),
                    shown(found, "changes", "d"),
                    shown(found, "us", ".0f"),
                    shown(found, "energy", ".0e"),
                    shown(found, "depth", ".0e"),
                )
            )
    print(table(HEAD, rows))
    if len(growth) > 1:
        counts = [int(name.split()[0]) for name in growth]
        slope = np.polyfit(np.log(counts), np.log(list(growth.values())), 1)[0]
        print(f"time of {', '.join(map(str, counts))} boxes grows with their number to the power {slope:.2f}")
    rows = []
    for name, runners in ENSEMBLES.items():
        for who in runners:
            found = row(name, who, limit, quick)
            if "said" in found:
                unsaid.append(f"{name}, {who}: {found['said']}")
            each = f"{1e6 * found['ensemble'] / found['count']:.1f}" if "ensemble" in found else "-"
            columns = (shown(found, "count", "d"), shown(found, "first", ".2f"), shown(found, "ensemble", ".2f"), each)
            rows.append((f"{name}, {who}", *columns))
    print()
    print(table(("ensemble", "cases", "first run, s", "all, s", "us a case"), rows))
    for what, limits in (("without limits", False), ("beside far limits", True)):
        print(f"a sample of sampled control {what}: {sample(limits, 400 if quick else 4000):.1f} us of processor time")
    print_changes()
    print(*unsaid, sep="\n")
    print(f"error of the times of the first 20 impacts of the ball: {error_of_times():.1e} s")


def sample(limits: bool, count: int) -> float:
    """Processor time [us] of a sample of a double pendulum under control, with *limits* that are not near or without; the median
    of seven runs of *count* samples.
    """
    import kineta as kn

    said = "gravity 9.81;\nA | Ry(a), Sz(-1) = 1;\nB ~ A | Ry(b), Sz(-1) = 1;\ncoordinates a, b;\ninitial a = 0.3, b = 0.2;\n"
    system = kn.loads(said + "limit la : -50 <= a <= 50;\nlimit lb : -50 <= b <= 50;\n" * limits)
    control = kn.sampled(lambda t, q, v: [-v[0] - 5 * q[0], -0.5 * v[1]], 1000.0)
    found = []
    for _ in range(8):
        began = time.process_time()
        kn.simulate(system, count / 1000.0, tau=control, samples=3)
        found.append(time.process_time() - began)
    return float(1e6 * np.median(found[1:]) / count)


def error_of_times() -> float:
    """Of a ball that leaves with 0.9 of its speed, beside their closed form [s]."""
    import kineta as kn

    run = kn.simulate(kn.loads(SCENES["ball, e = 0.9"].text()), 20.0, samples=3)
    times = np.unique([i.t for i in run.impacts])[:20]
    exact = np.sqrt(2 / 9.81) * (1 + 2 * np.cumsum(0.9 ** np.arange(1, len(times))))
    return float(np.abs(times[1:] - exact).max())


if __name__ == "__main__":
    name, who, extent = sys.argv[1:]
    runs = ENSEMBLES[name][who](extent == "quick") if name in ENSEMBLES else contestants(name)[who]()
    print(json.dumps(runs))
