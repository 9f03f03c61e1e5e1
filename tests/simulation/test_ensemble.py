"""Many cases in one run: each is a run of its own, whatever the method, and one result holds them all."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import matplotlib as mpl
import numpy as np
import pytest

import kineta as kn
from kineta.simulation.progress import Progress
from tests.mechanics.random_systems import random_state, random_system
from tests.models import OSCILLATOR, PENDULUM, block
from tests.results.test_result import same
from tests.support import EXAMPLES

mpl.use("agg")

SATELLITE = kn.load(EXAMPLES / "free_satellite.kin")
CIRCLE = kn.loads("""
model circle;
gravity (0, -g, 0);
parameters g = 9.81;
coordinates q;
P | Sx(acos(q)), Sy(q) = 1;
""")
x, q = kn.symbols("x q")

#: Oscillators that reach the end, or x = -0.99 on their way down, or cannot start: one has no mass.
MASSES = [8.0, 1.0, 0.0, 9.0, 2.0]
LEFT = kn.event(x + 0.99, direction=-1, terminal=True, name="left")


@cache
def mixed() -> kn.Result:
    return kn.simulate(OSCILLATOR, 2.0, p={"m": MASSES}, events=[LEFT, x], samples=9)


def agree(one: kn.Result, other: kn.Result, tolerance: float = 1e-12) -> None:
    """The same motion, found by the same steps."""
    assert (one.status, one.steps, one.rejected) == (other.status, other.steps, other.rejected)
    assert one.parameters == other.parameters
    assert one.series.keys() == other.series.keys()
    assert one.t == pytest.approx(other.t, abs=tolerance)
    for name, values in one.series.items():
        assert values == pytest.approx(other[name], rel=tolerance, abs=tolerance), name
    for a, b in zip((*one.t_events, *one.y_events), (*other.t_events, *other.y_events), strict=True):
        assert a == pytest.approx(b, abs=1e3 * tolerance)
    assert one.message.partition(" balance")[0] == other.message.partition(" balance")[0]


# -- each case by itself -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4, 7])
def test_every_case_is_a_run_of_its_own(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True, n=3)
    states = [random_state(system, 100 * seed + i) for i in range(10)]
    q0, v0 = ([[s[n] for n in names] for s in states] for names in (system.q_names, system.v_names))
    m, k = np.linspace(1, 2, 10), np.linspace(0.3, 3, 10)
    speed = system.v_names[-1]
    event = kn.symbol(system.v_names[0])
    run = kn.simulate(
        system, 0.7, q=q0, v=v0, p={"m": m, "k": k}, tau={speed: 0.1 * m}, events=event, t_eval=[0.1, 0.5, 0.7]
    )
    assert run.y.shape == (10, system.nq + system.nv, 3)
    for i in range(10):
        given = {"q": q0[i], "v": v0[i], "p": {"m": m[i], "k": k[i]}, "tau": {speed: 0.1 * m[i]}}
        agree(run.case(i), kn.simulate(system, 0.7, **given, events=event, t_eval=[0.1, 0.5, 0.7]))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dopri5", "RK45", "BDF", "CVODE"])
def test_every_method_runs_cases(method: str) -> None:
    given = {"method": method, "rtol": 1e-6, "samples": 5}
    run = kn.simulate(OSCILLATOR, 3.0, p={"m": MASSES}, events=[LEFT, x], **given)
    assert (run.method, len(run.cases or ())) == (method, 5)
    assert run.cases is not None
    assert "mass matrix is singular" in run.cases.messages[2]
    for i in (0, 1, 3, 4):
        agree(run.case(i), kn.simulate(OSCILLATOR, 3.0, p={"m": MASSES[i]}, events=[LEFT, x], **given), 1e-9)


@pytest.mark.parametrize("method", ["dop853", "BDF"])
def test_quaternions_of_all_cases_are_units(method: str) -> None:
    turns = np.random.default_rng(0).normal(size=(9, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    q0 = np.concatenate([np.zeros((9, 3)), turns, np.zeros((9, 1))], axis=1)
    run = kn.simulate(SATELLITE, 10.0, q=q0, method=method, rtol=1e-3, atol=1e-5, events=kn.symbol("sat.qw"))
    assert len(run.y_events[0])
    for rows in (run.q[..., 3:7], run.y_events[0][:, 3:7]):
        assert np.linalg.norm(rows, axis=-1) == pytest.approx(1, abs=1e-15)


# -- what is given --------------------------------------------------------------------------------------------------------


def test_what_differs_has_an_axis_of_cases() -> None:
    run = kn.simulate(OSCILLATOR, 1.0, q={"x": [1.0, 2.0]}, v=[[3.0], [4.0]], tau=[[0.0], [0.5]])
    assert run["x"].shape == (2, 101)
    assert run["x"][:, 0].tolist() == [1, 2]
    assert run["x'"][:, 0].tolist() == [3, 4]
    assert run.parameters == {"m": 1.0, "k": 4.0}
    assert np.array_equal(run.tau[:, 7], [[0.0], [0.5]])
    swept = kn.simulate(OSCILLATOR, 1.0, p=[[1, 4], [2, 4]])
    assert swept.parameters["k"] == 4.0
    assert swept.parameters["m"].tolist() == [[1], [2]]
    assert np.array_equal(swept["potential_energy"], 0.5 * swept.parameters["k"] * swept["x"] ** 2)
    assert kn.simulate(PENDULUM, 1.0, q=[[1.0]])["q"].shape == (1, 101)


def test_each_case_has_its_own_residual() -> None:
    """Radau leaves what tolerances leave: with speed more than at rest."""
    ring = kn.loads("A | Sx(x), Sy(y) = 1; coordinates x, y; constraint rod : x^2 + y^2 = 1; initial x = 1;")
    run = kn.simulate(ring, 1.0, v=np.array([[0.0, 0.0], [0.0, 2.0]]), method="Radau", rtol=1e-6, samples=11)
    still, moved = (run.case(i).residual for i in (0, 1))
    assert still < 1e-12 < moved == run.residual
    assert moved == pytest.approx(
        kn.simulate(ring, 1.0, v=[0.0, 2.0], method="Radau", rtol=1e-6, samples=11).residual, rel=1e-6
    )


def test_the_initial_state_follows_the_parameters_of_each_case() -> None:
    system = kn.loads("model s; coordinates x; parameters a = 1; it | Sx(x) = 1; initial x = 2*a;")
    assert kn.simulate(system, 1.0, p={"a": [1, 3]}, v={"x'": 1})["x"][:, 0].tolist() == [2, 6]


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"q": [[1], [2]], "v": [[1]]}, "Expected the same number of cases, found 2 for q, 1 for v."),
    ({"q": {"x": [1, 2]}, "p": {"m": [1, 2, 3]}}, "Expected the same number of cases, found 2 for q, 3 for p."),
    ({"v": np.zeros((0, 1))}, "Expected at least one case, found none for v."),
    ({"q": [[[1]]]}, "Expected q of shape (1,) or (cases, 1) for (x), found shape (1, 1, 1)."),
    ({"p": np.ones((1, 1, 2))}, "Expected p of shape (np,) or (cases, np), found shape (1, 1, 2)."),
    ({"q": {"x": [[1]]}}, "Expected a number for 'x', or one for every case, found shape (1, 1)."),
    ({"q": [[1], [np.nan]]}, "Model 'oscillator': the value of 'x' is nan in case 1; expected a finite number."),
    ({"p": {"m": [1, np.inf]}}, "Model 'oscillator': the parameter 'm' is inf in case 1; expected a finite number."),
    ({"q": [[1]], "dense_output": True}, "Expected dense_output with one motion, found 1 cases; ask for times with t_eval."),
    (
        {"q": np.ones((10**6, 1)), "samples": 1001},
        "The states of 1000000 cases at 1001 times take 15 GiB, more than 4; record fewer times, or run fewer cases at once.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "sentence"), MISTAKES)
def test_a_wrong_axis_is_named(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kn.ArgumentError) as caught:
        kn.simulate(OSCILLATOR, 1.0, **wrong)
    assert str(caught.value) == sentence


# -- how they end ---------------------------------------------------------------------------------------------------------


def test_every_case_says_how_it_ended() -> None:
    cases = mixed().cases
    assert cases is not None
    assert cases.status.tolist() == [0, 1, -1, 0, 0]
    assert cases.success.tolist() == [True, True, False, True, True]
    assert cases.messages[1].startswith("stopped at t = 1.5")
    assert cases.messages[2].startswith("Model 'oscillator': the mass matrix is singular at t = 0 s: the speed 'x''")
    assert (mixed().status, mixed().success) == (-1, False)
    assert mixed().message.startswith("5 cases: 3 reached t = 2 s, 1 stopped by an event, 1 failed; energy balance ")
    assert repr(mixed()) == f"<Result of 'oscillator': {mixed().message}>"
    assert mixed().summary()["outcome"] == mixed().message
    assert np.isfinite(mixed()["x"][1, :7]).all()
    assert np.isnan(mixed()["x"][[1, 2], 7:]).all()
    assert cases.recorded.tolist() == [9, 7, 1, 9, 9]
    assert cases.t[[0, 2]].tolist() == [2, 0]
    assert cases.end["x"][1] == pytest.approx(-0.99, abs=1e-12)
    assert (len(mixed().case(2).t), mixed().case(2).status) == (1, -1)


def test_zeros_belong_to_cases() -> None:
    assert mixed().cases is not None
    w = np.sqrt(4 / np.array(MASSES)[[0, 1, 3, 4]])
    of_left, of_zero = mixed().cases.events
    assert of_left.tolist() == [1]
    assert of_zero.tolist() == [1, 4]
    assert mixed().t_events[1] == pytest.approx(np.pi / 2 / w[[1, 3]], abs=1e-8)
    assert mixed().t_events[0] == pytest.approx(np.arccos(-0.99) / 2, abs=1e-8)
    assert mixed().case(1).t[-1] == mixed().t_events[0][0]
    assert mixed().case(1)["x"][-1] == pytest.approx(-0.99, abs=1e-12)
    assert [len(t) for t in mixed().case(3).t_events] == [0, 0]


def test_events_at_the_start_and_at_the_edge_of_their_domain() -> None:
    """Half of the cases start at the zero of an event; another event has no value before x = 0.5."""
    events = [kn.event(x, direction=-1, name="back"), kn.event(kn.sqrt(x - 0.5) - 0.2, terminal=2, name="edge")]
    starts = [0.0, 0.2, 0.0, 0.7, 0.0, 0.4]
    run = kn.simulate(OSCILLATOR, 4.0, q={"x": starts}, v=[1.5], events=events, samples=9)
    assert run.cases is not None
    assert run.cases.events[0].tolist() != []
    for i, start in enumerate(starts):
        agree(run.case(i), kn.simulate(OSCILLATOR, 4.0, q={"x": start}, v=[1.5], events=events, samples=9), 1e-11)


def test_where_no_case_can_start_the_first_says_why() -> None:
    for method in ("dop853", "RK45"):
        with pytest.raises(kn.SimulationError, match="Model 'oscillator': the mass matrix is singular at t = 0 s: "):
            kn.simulate(OSCILLATOR, 1.0, p={"m": [0, 0]}, method=method)


@pytest.mark.parametrize("method", ["dop853", "RK45"])
def test_cases_fail_and_run_out_of_steps_by_themselves(method: str) -> None:
    system = block("x^3", "x' = 1")
    run = kn.simulate(system, 1.5, q=[[0.1], [1.0]], v=[[0.0], [1.0]], method=method)
    assert run.cases is not None
    assert run.cases.status.tolist() == [0, -1]
    assert run.cases.t[1] == pytest.approx(1.3110287, abs=1e-5)
    agree(run.case(1), kn.simulate(system, 1.5, q=[1.0], v=[1.0], method=method, samples=101), 1e-9)
    short = kn.simulate(OSCILLATOR, 50.0, p={"m": [1, 1e6]}, method=method, max_steps=20)
    assert short.cases is not None
    assert short.cases.status.tolist() == [4, 0]
    assert short.cases.messages[0].startswith(
        f"out of steps at t = {short.cases.t[0]:.9g} s: 20 were made, the last of "
    )
    assert short.message.startswith("2 cases: 1 reached t = 50 s, 1 out of steps; ")


@pytest.mark.parametrize("method", ["dop853", "RK45"])
def test_cases_out_of_balance_are_named(method: str) -> None:
    end = kn.event(kn.symbol("t") - 3, terminal=True)
    given = {"v": [[0.0], [0.5]], "events": end, "method": method}
    with pytest.warns(
        kn.KinetaWarning, match=r"'circle': 1 of 2 cases do not keep .* Case 1 stopped at t = 3 s"
    ) as said:
        run = kn.simulate(CIRCLE, 5.0, q={"q": [-0.5, 0.5]}, p={"g": [0, 9.81]}, **given)
    assert said[0].filename == __file__
    assert run.cases is not None
    assert run.cases.status.tolist() == [1, 3]
    assert run.message.startswith("2 cases: 1 stopped by an event, 1 out of balance; ")
    assert "tolerances do not explain the balance of energy: 'acos(q)' needs -1 <= q <= 1" in run.cases.messages[1]
    assert run.case(1).t[-1] == 3


@pytest.mark.parametrize("method", ["dop853", "RK45"])
def test_an_interruption_keeps_the_cases(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Progress, cases: int, of: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "ended", interrupted)
    end = 1e6 if method == "dop853" else 1.0
    run = kn.simulate(OSCILLATOR, end, q=[[0.5], [1.0], [2.0]], method=method)
    assert run.cases is not None
    assert run.status == 2
    assert run.cases.status[-1] == 2
    assert run.cases.messages[-1].startswith(
        f"interrupted at t = {run.cases.t[-1]:.6g} s; what was computed before is kept"
    )
    assert np.isfinite(run["x"][:, 0]).all()


def test_a_case_is_one_of_several() -> None:
    assert mixed().case(-1).parameters == {"m": 2.0, "k": 4.0}
    for wrong in (5, -6, 1.0, True):
        with pytest.raises(kn.ArgumentError, match="Run of 'oscillator': expected a case from 0 to 4, found"):
            mixed().case(wrong)  # type: ignore[arg-type]
    with pytest.raises(kn.ArgumentError, match="Expected a run of several cases, found <Result of 'oscillator'"):
        mixed().case(0).case(0)


# -- elsewhere ------------------------------------------------------------------------------------------------------------


def test_a_file_holds_all_cases(tmp_path: Path) -> None:
    mixed().save(tmp_path / "run.nc")
    again = kn.load_result(tmp_path / "run.nc")
    assert again.cases is not None
    for one, other, skip in ((mixed(), again, ("sol", "cases", "system")), (mixed().cases, again.cases, ())):
        for f in fields(other):
            a, b = getattr(one, f.name), getattr(other, f.name)
            assert f.name in skip or same_or_missing(a, b), f.name
    agree(again.case(1), mixed().case(1))


def same_or_missing(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype == np.float64)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_or_missing(a[k], b[k]) for k in a)
    return same(a, b)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("case.recorded", np.array([9, 7, 1, 9, 10]), "'case.recorded' holds more times than there are"),
        ("case.recorded", np.array([9, 8, 1, 9, 9]), "'q' is not finite"),
        ("case.steps", np.zeros(4, np.int64), r"'case.steps' has the shape \(4,\), expected \(5,\)"),
        ("event0.case", np.array([5]), "'event0.case' holds cases that there are not"),
        ("case.status", np.zeros((5, 1), np.int64), "'case.status' is no row"),
        ("parameter.m", np.zeros(6), r"'parameter.m' has the shape \(6,\), expected \(5,\)"),
        ("case.notes", ["[]"] * 3, r"'case.notes' has the shape \(3,\), expected \(5,\)"),
        ("case.changes", ["[[1]]"] * 5, "'case.changes' is of another kind than a run has"),
        ("case.changes", ["["] * 5, "Expecting value: line 1 column 2 .*"),
        ("case.message", np.zeros(5), "'case.message' holds float64, expected a row of names"),
    ],
)
def test_cases_of_a_damaged_file_get_a_sentence(name: str, values: Any, why: str, tmp_path: Path) -> None:
    mixed().save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "r+") as data:
        del data[name]
        data[name] = values
    with pytest.raises(kn.ModelError, match=rf"expected a run saved by kineta as NetCDF \({why}\)\.$"):
        kn.load_result(tmp_path / "run.nc")


def test_a_case_tells_what_changed_on_its_way(tmp_path: Path) -> None:
    ball = kn.load(EXAMPLES / "bouncing_ball.kin")
    swept = kn.simulate(ball, 8.0, p={"e": [0.5, 0.8]}, samples=5)
    swept.save(tmp_path / "run.nc")
    loaded = kn.load_result(tmp_path / "run.nc")
    for i, e in enumerate((0.5, 0.8)):
        own = kn.simulate(ball, 8.0, p={"e": e}, samples=5)
        assert own.changes
        assert "came to rest" in own.notes[-1]
        for case in (swept.case(i), loaded.case(i)):
            assert (case.changes, case.notes) == (own.changes, own.notes)


@pytest.mark.slow
def test_a_switch_may_stop_cases() -> None:
    car = kn.loads("B | Sx(x) = 1; coordinates x; when far : x >= 0.5 : stop;")
    swept = kn.simulate(car, 1.0, v={"x'": [0.25, 0.9, 1.9]}, samples=11)
    assert swept.cases is not None
    assert swept.cases.recorded.tolist() == [11, 6, 3]
    assert swept.cases.t == pytest.approx([1.0, 0.5 / 0.9, 0.5 / 1.9])
    assert [what for _, what in swept.case(2).changes] == ["far switches"]


def test_data_sets_and_tables_name_the_cases(tmp_path: Path) -> None:
    data = mixed().to_xarray()
    assert data["q"].dims == ("case", "time", "coordinate")
    assert np.array_equal(data["q"].sel(case=3, coordinate="x"), mixed()["x"][3])
    assert data["parameter.m"].values.tolist() == MASSES
    assert float(data["case.end"].sel(case=1, series="x")) == pytest.approx(-0.99, abs=1e-12)
    table = mixed().to_pandas()
    assert table.index.names == ["case", "t"]
    assert table.loc[1, "x"].tolist() == mixed()["x"][1, :7].tolist()
    mixed().save(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert lines[0].split(",") == ["case", "t", *mixed().series]
    assert len(lines) == 1 + 9 + 7 + 1 + 9 + 9


def test_pictures_draw_all_cases() -> None:
    import matplotlib.pyplot as plt

    ax = mixed().plot("x", "x'")
    drawn = ax.lines[0].get_ydata()
    assert [line.get_label() for line in ax.lines] == ["x", "x'"]
    assert np.array_equal(drawn[np.isfinite(drawn)], mixed()["x"][np.isfinite(mixed()["x"])])
    plt.close("all")
