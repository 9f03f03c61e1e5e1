"""Pictures of the motions of examples, into a folder: ``python examples/gallery.py docs/images/gallery [NAME...]``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

import kineta as kn

mpl.use("agg")

MODELS = Path(__file__).parent


def over_time(*names: str) -> Callable[[kn.Result], None]:
    """Series over time."""

    def draw(run: kn.Result) -> None:
        run.plot(*names, ax=plt.figure(figsize=(6, 3.4), layout="constrained").add_subplot())

    return draw


def path(x: str, y: str, size: tuple[float, float] = (4.2, 4)) -> Callable[[kn.Result], None]:
    """The path of a point in a plane."""

    def draw(run: kn.Result) -> None:
        ax = plt.figure(figsize=size, layout="constrained").add_subplot(aspect="equal")
        ax.plot(run[x], run[y], linewidth=0.9)
        ax.plot(run[x][0], run[y][0], "o", markersize=5)
        ax.set_xlabel(f"{x} [m]")
        ax.set_ylabel(f"{y} [m]")
        ax.locator_params(nbins=5)
        ax.grid(alpha=0.3)

    return draw


def path_in_space(point: str) -> Callable[[kn.Result], None]:
    """The path of a point."""

    def draw(run: kn.Result) -> None:
        ax = plt.figure(figsize=(4.6, 4.2), layout="constrained").add_subplot(projection="3d")
        ax.plot(*(run[f"{point}.{c}"] for c in "xyz"), linewidth=0.9)
        ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
        ax.locator_params(nbins=5)
        ax.zaxis.labelpad = 10
        ax.set_box_aspect(None, zoom=0.85)

    return draw


def above(upper: Callable[[Any, Axes], None], *controls: str) -> Callable[[Any], None]:
    """A motion, and below it the controls that hold its program, or forces of its constraints."""

    def draw(run: Any) -> None:
        figure = plt.figure(figsize=(6, 5.4), layout="constrained")
        one, other = figure.subplots(2, 1, height_ratios=(3, 2))
        upper(run, one)
        run.plot(*controls, ax=other)

    return draw


def series(*names: str) -> Callable[[kn.Result, Axes], None]:
    """Series over time, in a picture with others."""
    return lambda run, ax: run.plot(*names, ax=ax)


def paths(*points: str) -> Callable[[kn.Result, Axes], None]:
    """Paths of points in the plane x, y, in a picture with others."""

    def draw(run: kn.Result, ax: Axes) -> None:
        for point in points:
            x, y = run[f"{point}.x"], run[f"{point}.y"]
            (line,) = ax.plot(x, y, linewidth=0.9, label=point)
            ax.plot(x[0], y[0], "o", markersize=4, color=line.get_color())
        ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        ax.grid(alpha=0.3)
        ax.legend()

    return draw


def crane(run: kn.Servo, ax: Axes) -> None:
    """The load, and at some times trolley and rope, in a picture with others."""
    for k in range(0, len(run.t), 30):
        ax.plot([run["x"][k], run["Load.x"][k]], [0, run["Load.z"][k]], "o-", color="0.7", markersize=3, linewidth=0.7)
    ax.plot(run["Load.x"], run["Load.z"], linewidth=1.4)
    ax.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    ax.grid(alpha=0.3)


def machine(t: float) -> Callable[[kn.Result, Axes], None]:
    """The machine at the time *t*, in a picture with others."""
    return lambda run, ax: run.picture(t, ax=ax)


def on_ropes(run: kn.Result, ax: Axes) -> None:
    """Pulleys and weights at the start, with the rope, in a picture with others."""
    run.picture(0.0, ax=ax)
    places = [(run[f"{body}.x"][0], run[f"{body}.z"][0]) for body in ("Load", "Weight")]
    ax.plot(*zip((-1, 0), places[0], (1, 0), places[1], strict=True), color="brown", linewidth=1.5)


#: What to show of each example, and for how long it moves [s].
PICTURES: dict[str, tuple[float, Callable[[Any], None]]] = {
    "double_pendulum": (20.0, path("second.x", "second.y")),
    "cart_pendulum": (12.0, over_time("q1", "E.x", "E.z")),
    "spinning_top": (4.4, path("Tip.x", "Tip.y")),
    "free_satellite": (150.0, over_time("sat.wx", "sat.wy", "sat.wz")),
    "hopping_robot": (4.0, over_time("q4'", "q5'", "q6'")),
    "hopping_robot_stance": (5.0, over_time("q3'", "q5'", "q6'")),
    "puma_andreev": (6.0, path_in_space("Схват")),
    "puma560": (4.0, path_in_space("link6")),
    "planar_chain": (12.0, path("Hand.x", "Hand.y")),
    "spatial_chain": (6.0, over_time("phi2'", "phi3'", "base.wy")),
    "walking_machine": (6.0, over_time("Hull.x", "Foot1.x", "Foot1.z")),
    "ball_tree": (12.0, path_in_space("Tail")),
    "oscillator_chain": (12.0, over_time("q1", "q2", "q3", "q4")),
    "upright_coin": (14.0, path("y", "x", (6, 1.6))),
    "branched": (8.0, path_in_space("Tip")),
    "fourbar": (2.0, path("mass.x", "mass.y")),
    "governor": (4.0, over_time("alpha1", "s")),
    "bricard": (5.0, path_in_space("P3")),
    "four_bars": (10.0, over_time("a0", "a0'")),
    "car_axis": (3.0, over_time("xl", "yl", "yr")),
    "slider_crank": (0.1, over_time("lambda.drive")),
    "snakeboard": (12.0, path("x", "y")),
    "chaplygin_sleigh": (10.0, path("x", "y")),
    "ball_in_cylinder": (3.0, over_time("z")),
    "appell_hamel": (1.4, over_time("x", "y", "z")),
    "simple_pendulum": (6.0, over_time("x", "y")),
    "flyball_governor": (10.0, over_time("alpha1", "s")),
    "chaplygin_ball": (12.0, over_time("b.wx", "b.wy", "b.wz")),
    "rolling_torus": (6.0, path("x", "y")),
    "skate_incline": (8.0, path("y", "x", (6, 1.8))),
    "turntable_ball": (8.0, path("x", "y")),
    "vertical_disk": (8.0, path("x", "y")),
    "andrews": (0.03, over_time("beta", "gamma'", "delta'")),
    "wheelset": (2.5, above(series("x", "theta"), "lambda.left", "lambda.right")),
    "rolling_coin": (4.0, path("x", "y")),
    "rattleback": (8.0, over_time("s.wz")),
    "bicycle": (6.0, over_time("lean", "steer")),
    "skate": (10.0, path("x", "y", (6, 1.8))),
    "euler_top": (60.0, over_time("p", "q", "r")),
    "bouncing_ball": (3.0, over_time("Ball.z")),
    "yielding_ground": (3.0, over_time("Ball.z", "Ball.x")),
    "rocking_block": (2.5, over_time("q")),
    "sliding_block": (6.0, over_time("lambda.slope.n", "lambda.slope.u")),
    "friction_oscillator": (13.0, over_time("x", "lambda.floor")),
    "thrown_box": (1.2, over_time("Box.z", "Box.x")),
    "hopper": (4.0, over_time("Hull.z", "Foot.z")),
    "charged_craft": (4.0, above(paths("Craft"), "control.x'", "control.y'")),
    "satellite_turn": (20.0, above(series("b.wx", "b.wy", "b.wz"), "control.b.wx", "control.b.wy", "control.b.wz")),
    "soft_landing": (1.2, above(paths("Moon", "Craft"), "control.x'", "control.y'")),
    "circular_orbit": (8000.0, above(paths("Craft"), "weight", "control.x'", "control.y'")),
    "elevator": (20.0, above(series("z", "acceleration", "jerk"), "control.z'")),
    "tracking_arm": (8.4, above(paths("Pen"), "control.q1'", "control.q2'", "control.q3'")),
    "crane_servo": (4.0, above(crane, "control.x'", "control.l'")),
    "car_chain": (6.0, above(series("x1", "x2", "x3", "x4"), "control.x1'")),
    "hoist": (3.0, above(series("Load.z"), "i")),
    "boom": (5.0, above(series("q"), "p")),
    "shimmy": (1.0, above(series("psi"), "u")),
    "wind_turbine": (20.0, above(series("phi'"), "pitch")),
    "cam_follower": (1.0, above(series("lifted"), "pressed")),
    "delta_robot": (3.0, above(machine(1.3), "q[1]", "q[2]", "q[3]")),
    "quarter_car": (1.0, above(machine(0.24), "road", "w", "z")),
    "swing": (24.0, above(series("q"), "up")),
    "single_track": (6.0, above(paths("Car"), "front", "rear")),
    "servo_governor": (6.0, above(series("speed"), "gate")),
    "pulleys": (4.0, above(on_ropes, "tension")),
    "hexapod": (2.0, above(machine(1.9), "Trunk.x", "Trunk.y", "Trunk.z")),
    "brick_wall": (1.2, above(machine(0.4), "Ball.x", "Ball.y", "Ball.z")),
    "ball_pile": (2.0, above(machine(2.0), "Ball[50].x", "Ball[50].y", "Ball[50].z")),
    "stewart_platform": (1.0, above(machine(0.3), "lambda.floor[1].n")),
    "trotting_quadruped": (5.0, above(machine(1.1), "Trunk.x", "Trunk.y", "Trunk.z")),
}


#: Those whose programs actuators hold through the rest of the system.
HELD = ("crane_servo", "car_chain")


def drawn(name: str) -> Any:
    """The motion of an example, in the present figure."""
    seconds, draw = PICTURES[name]
    model = kn.load(MODELS / f"{name}.kin")
    run = kn.servo(model, seconds, samples=601) if name in HELD else kn.simulate(model, seconds, samples=3001)
    draw(run)
    return run


def main(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or PICTURES:
        run = drawn(name)
        plt.savefig(folder / f"{name}.png", dpi=90, pil_kwargs={"optimize": True}, metadata={"Software": None})
        plt.close()
        print(run)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), *sys.argv[2:])
