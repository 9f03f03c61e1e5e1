"""Closed and rolling systems, each written from the statement of a reference problem, move as it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.equations.initial_values import initial_state
from kineta.tasks.mobility import freedom
from tests.mechanics.test_loop_residuals import windows
from tests.mechanics.truth import load
from tests.support import EXAMPLES, quick_but

Row = Mapping[str, Any]
Named = Mapping[str, Any]


def model(name: str) -> kn.System:
    """The model of a reference problem: an example, or a row of four-bars."""
    if name.isdecimal():
        return four_bars(int(name))
    return kn.load(EXAMPLES / f"{name}.kin")


def four_bars(n: int) -> kn.System:
    """A row of *n* four-bars, upright at the start and moving to the right."""
    free = windows(n)
    return free.replace(initial=dict.fromkeys(free.v_names, 1.0))


def entries(names: str, key: str) -> Callable[[Row], Named]:
    """The entries of a list in a row of a table, by name."""
    return lambda row: dict(zip(names.split(), row[key], strict=False))


def merged(*parts: Callable[[Row], Named]) -> Callable[[Row], Named]:
    return lambda row: {name: value for part in parts for name, value in part(row).items()}


def speeds(names: str, key: str) -> Callable[[Row], Named]:
    return entries(" ".join(f"{n}'" for n in names.split()), key)


def turned(names: str) -> Callable[[Row], Named]:
    """The place and, but for its sign, the quaternion of a body that turns freely."""
    motion, *centre = names.split()

    def found(row: Row) -> Named:
        w, *v = quaternion(np.array(row["R"]))
        return {**dict(zip(centre, row["centre"], strict=False)), f"{motion}.q": (w, *v)}

    return found


def quaternion(R: np.ndarray) -> list[float]:
    """The unit quaternion of a matrix, its largest part first found."""
    parts = np.array([1 + np.trace(R), *(1 + 2 * R[k, k] - np.trace(R) for k in range(3))])
    k = int(parts.argmax())
    q = np.zeros(4)
    q[k] = np.sqrt(parts[k]) / 2
    pairs = {(0, 1): R[2, 1] - R[1, 2], (0, 2): R[0, 2] - R[2, 0], (0, 3): R[1, 0] - R[0, 1]}
    pairs |= {(1, 2): R[1, 0] + R[0, 1], (1, 3): R[0, 2] + R[2, 0], (2, 3): R[2, 1] + R[1, 2]}
    for (i, j), value in pairs.items():
        if k in (i, j):
            q[i + j - k] = value / (4 * q[k])
    return list(q)


@dataclass(frozen=True)
class Case:
    """A reference problem.

    freedom : its degrees of freedom
    expected : what the motion shows at the time of a row of the table, by name
    start : initial values from the problem, where the model does not state them
    rates : accelerations in the first row, or in the answers, where the problem has them
    reactions : multipliers, where it has them
    model : the name of the file, where it is not that of the problem
    closing : speeds that follow from the constraints at the start
    """

    freedom: int
    expected: Callable[[Row], Named]
    start: Callable[[Row], Named] = lambda _: {}
    rates: Callable[[Row], Named] = lambda _: {}
    reactions: Callable[[Row], Named] = lambda _: {}
    parameters: Mapping[str, float] = field(default_factory=dict)
    model: str = ""
    closing: str = ""


ANDREWS = "beta theta gamma phi delta omega epsilon"
BRICARD = "q1 q2 q3 q4 q5"
TURNTABLE = merged(entries("x y", "xy"), speeds("x y", "v"))


def leaning(row: Row) -> Named:
    """The angles of a row of four-bars."""
    return {"a0": row["theta"], "a1": row["theta"], "a0'": row["theta_dot"], "b0": row["theta"]}


def rolling(motion: str, *, fixed: bool = False) -> dict[str, Any]:
    """What bodies on a table have in common: a place, a free turn; *fixed* where the height of the centre is no coordinate."""

    def start(problem: Row) -> Named:
        first = problem["initial_state"]
        R = np.array(first["R"])
        named = dict(zip([f"{motion}.{k}" for k in ("qw", "qx", "qy", "qz")], quaternion(R), strict=True))
        named |= dict(zip([f"{motion}.{k}" for k in ("wx", "wy", "wz")], R.T @ first["omega_world"], strict=True))
        return named if fixed else {**named, "z": first["centre"][2]}

    closing = "x' y'" if fixed else "x' y' z'"
    return {"freedom": 3, "start": start, "expected": turned(f"{motion} x y"), "closing": closing}


CASES: dict[str, Case] = {
    "loops/fourbar": Case(
        1,
        merged(entries("theta beta gamma", "angles"), speeds("theta beta gamma", "rates")),
        rates=speeds("theta' beta' gamma'", "accelerations"),
        reactions=entries("pin.x pin.y", "lambda"),
    ),
    "ivp_testset/andrews": Case(
        1,
        merged(entries(ANDREWS, "angles"), speeds(ANDREWS, "rates")),
        rates=speeds(" ".join(f"{n}'" for n in ANDREWS.split()), "accelerations"),
    ),
    "ivp_testset/car_axis": Case(
        2, merged(entries("xl yl xr yr", "q"), speeds("xl yl xr yr", "qd")), reactions=entries("across rod", "lambda")
    ),
    "ivp_testset/slider_crank_rigid": Case(
        0,
        lambda r: {
            "phi1": r["phi1"],
            "phi2": r["phi2"],
            "phi2'": r["phi2_dot"],
            "Block.x": r["x3"],
            "Block.vx": r["x3_dot"],
        },
        rates=lambda r: {"phi2''": r["phi2_ddot"]},
        reactions=lambda r: {"drive": r["drive_torque"]},
        model="slider_crank",
    ),
    "iftomm/A01_simple_pendulum": Case(1, lambda r: {"x": r["x"], "y": r["y"]}, model="simple_pendulum"),
    "iftomm/A02_n_fourbar_2": Case(1, leaning, model="four_bars"),
    "iftomm/A02_n_fourbar_40": Case(1, leaning, model="40"),
    "iftomm/A04_bricard": Case(
        1,
        merged(entries(BRICARD, "joint_angles"), speeds(BRICARD, "joint_rates"), entries("P3.x P3.y P3.z", "P3")),
        model="bricard",
    ),
    "iftomm/A05_flyball_governor": Case(
        4,
        merged(entries("phi s alpha1", "phi_s_alpha"), entries("phi' s' alpha2'", "rates")),
        rates=entries("phi'' s'' alpha1''", "accelerations_t0"),
        model="flyball_governor",
    ),
    "nonholonomic/appell_hamel": Case(
        2, merged(entries("x y z", "q"), speeds("x y z", "qd")), reactions=lambda _: {"cone": 1.4 * 9.81 / 1.25}
    ),
    "nonholonomic/ball_in_cylinder": Case(3, lambda r: {"theta": r["theta"], "z": r["z"]}),
    "nonholonomic/chaplygin_ball": Case(**rolling("b", fixed=True)),
    "nonholonomic/chaplygin_sleigh": Case(2, entries("x y phi", "blade_x_y_phi")),
    "nonholonomic/rattleback": Case(**rolling("s")),
    "nonholonomic/rattleback_other_sense": Case(**rolling("s"), model="rattleback"),
    "nonholonomic/rolling_coin": Case(
        3, merged(entries("x y phi theta psi", "q_x_y_phi_theta_psi"), speeds("x y phi theta psi", "qd"))
    ),
    "nonholonomic/rolling_torus": Case(**rolling("b")),
    "nonholonomic/skate_incline": Case(
        2, merged(entries("x y phi", "q"), speeds("x y phi", "qd")), reactions=lambda r: {"blade": r["lambda"]}
    ),
    "nonholonomic/snakeboard": Case(1, entries("x y theta", "x_y_theta")),
    "nonholonomic/turntable_ball": Case(3, TURNTABLE),
    "nonholonomic/turntable_ball_tilted": Case(3, TURNTABLE, parameters={"tilt": 0.05}, model="turntable_ball"),
    "nonholonomic/vertical_disk": Case(
        2, lambda r: {n: r[n] for n in ("x", "y", "phi", "theta")}, reactions=entries("edge.u edge.w", "force")
    ),
}


@dataclass(frozen=True)
class Problem:
    """A reference problem with its model: the start, a table of what follows, and how near one has to come."""

    case: Case
    system: kn.System
    equations: kn.Equations
    q: np.ndarray
    v: np.ndarray
    table: list[Row]
    answers: Row
    tolerance: float


@cache
def problem(name: str) -> Problem:
    case, given = CASES[name], load(f"{name}_s.json")
    system = model(case.model or name.partition("/")[2])
    known = [kn.Parameter(p.name, case.parameters.get(p.name, p.value)) for p in system.parameters]
    system = system.replace(parameters=known, initial={**dict(system.initial), **case.start(given)})
    equations, table = kn.derive(system), given["expected"]["table"]
    q, v = initial_state(system)
    if case.closing:
        v = closed(equations, q, v, [system.v_names.index(n) for n in case.closing.split()])
    tolerance = min(x for kind, x in given["tolerance"].items() if kind[:3] in ("abs", "rel"))
    return Problem(case, system, equations, q, v, table, {**given["expected"], **table[0]}, tolerance)


def closed(equations: kn.Equations, q: np.ndarray, v: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The speeds with those *chosen* that the constraints, linear in them, ask for."""
    f = equations.function("constraints", "numpy")
    slopes = np.array([f(0.0, q, v + e) - f(0.0, q, v) for e in np.eye(len(v))[chosen]]).T
    v = v.copy()
    v[chosen] -= np.linalg.lstsq(slopes, f(0.0, q, v))[0]
    return v


def reactions(given: Problem, *state: Any) -> dict[str, float]:
    labels = given.equations.expressions("multipliers").labels
    found = given.equations.function("multipliers", "numpy")(*state)
    return {label.removeprefix("lambda."): x for label, x in zip(labels, found, strict=True)}


def off(found: float, expected: float) -> float:
    return abs(found - expected) / max(1.0, abs(expected))


@pytest.mark.filterwarnings("ignore:.*redundant and left out:kineta.errors.KinetaWarning")
@pytest.mark.parametrize("name", CASES)
def test_the_start_meets_the_constraints_and_moves_on_as_the_problem_says(name: str) -> None:
    given = problem(name)
    assert freedom(given.equations) == given.case.freedom
    state = (0.0, given.q, given.v)
    if given.system.constraints:
        assert np.abs(given.equations.function("constraints", "numpy")(*state)).max() < 1e-14
    vdot = given.equations.function("forward", "numpy")(*state)
    found = dict(zip((f"{n}'" for n in given.system.v_names), vdot, strict=True))
    for what, expected in given.case.rates(given.answers).items():
        assert found[what] == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(vdot).max()), what


@pytest.mark.filterwarnings("ignore:.*redundant and left out:kineta.errors.KinetaWarning")
@pytest.mark.parametrize("name", quick_but(CASES, ["iftomm/A02_n_fourbar_40"]))
def test_the_motion_is_that_of_the_problem(name: str) -> None:
    given = problem(name)
    times = np.array([row["t"] for row in given.table])
    run = kn.simulate(given.system, times[-1], q=given.q, v=given.v, t_eval=times, rtol=1e-13, atol=1e-14)
    assert run.success, run.message
    assert not given.system.constraints or run.residual < 1e-12
    for k, row in enumerate(given.table):
        for what, expected in given.case.expected(row).items():
            if what.endswith(".q"):
                found = np.array([run[f"{what}{c}"][k] for c in "wxyz"])
                assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < given.tolerance, (
                    what,
                    row["t"],
                )
            else:
                assert off(run[what][k], expected) < given.tolerance, (what, row["t"])
        if given.case.reactions(row):
            found = reactions(given, row["t"], run.q[k], run.v[k])
            for what, expected in given.case.reactions(row).items():
                assert off(found[what], expected) < given.tolerance, (what, row["t"])


@pytest.mark.parametrize("n", [1, pytest.param(40, marks=pytest.mark.slow)])
def test_rows_of_four_bars_keep_their_energy_past_all_folds_wherever_steps_fall(n: int) -> None:
    """All rods come in one line twice a turn. Starts that differ by 1e-9 have stages elsewhere about it."""
    system = four_bars(n)
    for k in range(12):
        speeds = np.full(len(system.v_names), 1 + 1e-9 * k)
        run = kn.simulate(system, 10.0, v=speeds, rtol=1e-13, atol=1e-14)
        assert run.success, run.message
        assert np.ptp(run.energy) < 1e-11 * 9.81 * (3 * n + 1), k
        assert np.ptp(run.q[:, [system.q_names.index(f"a{i}") for i in range(n + 1)]], axis=1).max() < 1e-9


@pytest.mark.slow
def test_a_four_bar_keeps_as_much_energy_past_its_folds_as_the_pendulum_that_it_is() -> None:
    """At a loose tolerance steps are so long that distances from a fold are no straight lines in the time."""
    bar = kn.derive(four_bars(1))
    rod = kn.derive(
        kn.loads(
            "gravity (0, -9.81, 0); A | Rz(a) = m(2), Jz(1/6), com = (0, 0.5, 0); C ~ A | Sy(1) = m(1); coordinates a;"
        )
    )

    def lost(system: kn.Equations, sign: float) -> float:
        """What nine of ten starts lose less than."""
        runs = [
            kn.simulate(
                system, 10.0, v=np.full(len(system.system.v_names), sign * (1 + 1e-3 * k)), rtol=1e-7, atol=1e-8
            )
            for k in range(0, 200, 2)
        ]
        return float(np.quantile([np.ptp(run.energy) for run in runs], 0.9))

    assert lost(bar, 1) < 3 * lost(rod, -1)
