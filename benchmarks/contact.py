"""Contact: a ball that bounces until it rests, a block that rocks, and a driven mass with dry friction, each change where it is;
MuJoCo's steps over the ball.

What an impact costs is what a run with it costs more than one that ends before the first; what friction costs where
it turns back, what a run with it costs more than one without. MuJoCo's contacts are soft, without restitution, and are met
at the steps; it makes steps of a millisecond.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

import kineta as kn
from benchmarks.timing import interleaved, table

EXAMPLES = Path(__file__).parents[1] / "examples"

STEP = 1e-3
BALL = f"""
<mujoco><option gravity="0 0 -9.81" timestep="{STEP}"/><worldbody>
<geom type="plane" size="1 1 1"/>
<body pos="0 0 1.05"><freejoint/><geom type="sphere" size="0.05" mass="0.2"/></body>
</worldbody></mujoco>
"""

#: Models with their spans, and spans that end before the first impact [s].
RUNS = {"a ball bounces, e = 0.9": ("bouncing_ball", 20.0, 0.1), "a block rocks": ("rocking_block", 4.0, 0.01)}

DRIVEN = """coordinates x; M | Sx(x) = 1; spring k = 4 on x; damper c = 0.1 on x'; force d = 3*sin(1.3*t) on x; initial x = 0.5;
friction f = {} on x;"""
DRY, DRIVE = "a mass rubs, driven for 2000 s", 2000.0


def rubbing(friction: float) -> Callable[[], kn.Result]:
    """A run of a driven mass with dry *friction*."""
    equations = kn.derive(kn.loads(DRIVEN.format(friction)))
    return lambda: kn.simulate(equations, DRIVE, samples=3)


def turns() -> int:
    """How often it turns back; it is never held."""
    run = kn.simulate(kn.loads(DRIVEN.format(0.2)), DRIVE, events=[kn.event(kn.symbol("x'"), name="turn")])
    return len(run.t_events[0])


def kineta_run(name: str, span: float) -> Callable[[], kn.Result]:
    """A run of an example."""
    system = kn.load(EXAMPLES / f"{name}.kin")
    equations, p = kn.derive(system), {"e": 0.9} if name == "bouncing_ball" else None
    return lambda: kn.simulate(equations, span, p=p, samples=3)


def mujoco_run(span: float) -> Callable[[], float]:
    """The same ball in MuJoCo's steps; the height in the end."""
    model = mujoco.MjModel.from_xml_string(BALL)
    data = mujoco.MjData(model)

    def run() -> float:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, round(span / STEP))
        return float(data.qpos[2])

    return run


def strikes(result: kn.Result) -> np.ndarray:
    """The times of impacts; those at one time are one."""
    return np.unique([t for t, what in result.changes if what.endswith("strikes")])


def main(quick: bool = False) -> None:
    long = {name: kineta_run(model, span) for name, (model, span, _) in RUNS.items()}
    short = {f"{name}, before": kineta_run(model, before) for name, (model, _, before) in RUNS.items()}
    peer = mujoco_run(RUNS["a ball bounces, e = 0.9"][1])
    friction = {DRY: rubbing(0.2), f"{DRY}, before": rubbing(0.0)}
    seconds = interleaved({**long, **short, **friction, "MuJoCo": peer}, 3 if quick else 15)
    rows = []
    for name, run in long.items():
        result = run()
        impacts = len(strikes(result))
        each = (seconds[name] - seconds[f"{name}, before"]) / impacts
        rows.append(
            (f"kineta: {name}", f"{result.steps}", f"{impacts}", f"{1e3 * seconds[name]:.1f}", f"{1e6 * each:.0f}")
        )
    run, count = friction[DRY](), turns()
    each = (seconds[DRY] - seconds[f"{DRY}, before"]) / count
    rows.append((f"kineta: {DRY}", f"{run.steps}", f"{count}", f"{1e3 * seconds[DRY]:.1f}", f"{1e6 * each:.0f}"))
    steps = round(RUNS["a ball bounces, e = 0.9"][1] / STEP)
    each = seconds["MuJoCo"] / steps
    rows.append(
        ("MuJoCo: the ball, at rest soon", f"{steps}", "", f"{1e3 * seconds['MuJoCo']:.1f}", f"{1e6 * each:.1f}")
    )
    print(table(("contact", "steps", "changes", "ms", "us a change, or a step"), rows))
    times = strikes(long["a ball bounces, e = 0.9"]())[:20]
    first = np.sqrt(2 / 9.81)
    exact = first * (1 + 2 * np.cumsum(0.9 ** np.arange(1, len(times))))
    print(f"error of the times of the first {len(times)} impacts: {np.abs(times[1:] - exact).max():.1e} s")
