"""What a run gives: SciPy's fields, names and units, files, pictures."""

from __future__ import annotations

import math
import sys
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
import scipy.integrate
import xarray

import kineta as kn
from kineta.errors import MissingPackageError
from kineta.results.series import Series
from kineta.views.series import figure
from tests.models import OSCILLATOR, PENDULUM, block
from tests.support import EXAMPLES

mpl.use("agg")

x = kn.symbol("x")


@cache
def robot() -> kn.Result:
    return kn.simulate(
        kn.load(EXAMPLES / "hopping_robot_stance.kin"),
        0.5,
        samples=21,
        events=[kn.event(kn.symbol("q3'"), name="turns"), kn.symbol("q3") - 5],
        dense_output=True,
    )


def test_fields_and_values_are_those_of_scipy() -> None:
    def crossing(t: float, y: Any) -> float:
        return float(y[0])

    def rate(t: float, y: Any) -> Any:
        return [y[1], -4 * y[0]]

    theirs = scipy.integrate.solve_ivp(
        rate, (0, 5), [1, 0], method="RK45", rtol=1e-6, atol=1e-9, events=crossing, dense_output=True
    )
    ours = kn.simulate(OSCILLATOR, 5.0, method="RK45", rtol=1e-6, atol=1e-9, events=[x], dense_output=True)
    for name in ("t", "y", "sol", "t_events", "y_events", "nfev", "status", "message", "success"):
        assert hasattr(ours, name) and name in theirs, name  # noqa: PT018
    assert ours.t == pytest.approx(theirs.t, abs=1e-12)
    assert ours.y == pytest.approx(theirs.y, abs=1e-12)
    assert ours.nfev == theirs.nfev
    assert ours.t_events[0] == pytest.approx(theirs.t_events[0], abs=1e-12)
    assert ours.y_events[0] == pytest.approx(theirs.y_events[0], abs=1e-12)
    assert ours.sol(np.linspace(0, 5, 9)) == pytest.approx(theirs.sol(np.linspace(0, 5, 9)), abs=1e-12)
    assert (ours.status, ours.success) == (theirs.status, theirs.success)


def test_series_by_name() -> None:
    assert np.array_equal(robot()["q3"], robot().q[:, 2])
    assert np.array_equal(robot()["q3'"], robot().v[:, 2])
    assert np.array_equal(robot()["energy"], robot().kinetic_energy + robot().potential_energy)
    assert np.array_equal(robot()["Корпус.z"], robot().outputs["Корпус.z"])
    assert np.array_equal(robot()["t"], robot().t)
    with pytest.raises(kn.ArgumentError) as caught:
        robot()["Корпус.Z"]
    assert str(caught.value) == (
        "Run of 'hopping_robot_stance': there is no series 'Корпус.Z'. Did you mean 'Корпус.z'?"
    )


@pytest.mark.parametrize("end", [0.5, -0.5])
def test_the_solution_is_known_where_the_run_has_been(end: float) -> None:
    sol = kn.simulate(OSCILLATOR, end, dense_output=True).sol
    assert np.array_equal(sol(sum([end / 3] * 3)), sol(end))  # but for rounding
    for t in (-2 * end, 99, math.nan, [0, end, 2 * end]):
        with pytest.raises(kn.ArgumentError, match=r"^Expected t between .* and .*, found (0\.5|-1|1|99|nan|-0\.5)\.$"):
            sol(t)
    with pytest.raises(kn.ArgumentError, match=r"^Expected a time t or a row of times, found shape \(1, 1\)\.$"):
        sol([[0.1]])


def test_units_follow_the_motions() -> None:
    shown = {n: robot().units[n] for n in ("q1", "q3", "q1'", "q3'", "Корпус.z", "energy", "work")}
    assert shown == {"q1": "rad", "q3": "m", "q1'": "rad/s", "q3'": "m/s", "Корпус.z": "m", "energy": "J", "work": "J"}
    assert robot().to_xarray()["output.Корпус.z"].attrs["units"] == "m"


def test_a_result_shows_itself_in_a_line() -> None:
    assert repr(robot()).startswith("<Result of 'hopping_robot_stance': reached t = 0.5 s; energy balance ")
    assert f"<td>{robot().message}</td>" in robot()._repr_html_()
    assert robot().summary()["t"] == [0.0, 0.5]


def test_a_result_is_equal_to_itself_only_and_can_be_a_key() -> None:
    other = replace(robot())
    assert robot() == robot()
    assert other != robot()
    assert len({robot(), robot(), other}) == 2


# -- xarray, pandas, files ---------------------------------------------------------------------------------------------


def test_data_set() -> None:
    data = robot().to_xarray()
    assert dict(data.sizes) == {
        "time": 21,
        "coordinate": 6,
        "speed": 6,
        "event0": len(robot().t_events[0]),
        "state": 12,
        "event1": 0,
    }
    assert np.array_equal(data["q"].sel(coordinate="q3"), robot()["q3"])
    assert np.array_equal(data["v"].sel(speed="q5'"), robot()["q5'"])
    assert data["time"].attrs["units"] == "s"
    assert data["kinetic_energy"].attrs["units"] == "J"
    assert str(data["unit_of_coordinate"].sel(coordinate="q3").item()) == "m"
    assert data["q"].sel(time=0.2, method="nearest").shape == (6,)
    table = robot().to_pandas()
    assert np.array_equal(table["Корпус.z"].to_numpy(), robot()["Корпус.z"])
    assert table.index.name == "t"


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return bool(a == b)


@pytest.mark.parametrize("result", [robot(), kn.simulate(PENDULUM, 1.0), kn.simulate(OSCILLATOR, 1.0, events=[x])])
def test_a_file_holds_everything_but_the_solution_and_the_model(result: kn.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "run.nc")
    again = kn.load_result(tmp_path / "run.nc")
    for f in fields(kn.Result):
        if f.name not in ("sol", "system"):
            assert same(getattr(result, f.name), getattr(again, f.name)), f.name
    assert again.sol is again.system is None
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        assert data["q"].shape == result.q.shape


def test_a_table_of_numbers(tmp_path: Path) -> None:
    robot().save(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(encoding="utf-8") as file:
        assert file.readline().rstrip("\n").split(",") == ["t", *robot().series]
        rows = [line.rstrip("\n").split(",") for line in file]
    for row, values in zip(rows, np.column_stack([robot().t, *robot().series.values()]).tolist(), strict=True):
        assert [float(cell) for cell in row] == values
        assert row == [repr(x) for x in values]


def test_a_write_that_fails_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "run.nc"
    robot().save(target)
    before = target.read_bytes()

    def fails(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(kn.ArgumentError, match=r"run\.nc: the file cannot be written \(No space left on device\)\."):
        robot().save(target)
    assert target.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_where_a_run_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(kn.ArgumentError, match=r"Expected a file '\.nc' or '\.csv', found 'run\.xls'\."):
        robot().save(tmp_path / "run.xls")
    with pytest.raises(kn.ArgumentError, match=r"run\.nc: there is no folder '.*nowhere'\."):
        robot().save(tmp_path / "nowhere" / "run.nc")


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("xarray", kn.Result.to_xarray),
        ("pandas", kn.Result.to_pandas),
        ("h5netcdf", lambda r: r.save("run.nc")),
        ("matplotlib.pyplot", kn.Result.plot),
    ],
)
def test_a_missing_package_names_the_extra(package: str, use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    extra = "plot" if "matplotlib" in package else "xarray"
    with pytest.raises(MissingPackageError, match=rf"'{package.partition('.')[0]}': pip install 'kineta\[{extra}\]'"):
        use(robot())


# -- pictures ----------------------------------------------------------------------------------------------------------


def test_plot_draws_what_it_is_asked_for() -> None:
    import matplotlib.pyplot as plt

    ax = robot().plot("q1", "q3'")
    assert [line.get_label() for line in ax.lines] == ["q1", "q3'"]
    assert np.array_equal(ax.lines[1].get_ydata(), robot()["q3'"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("t [s]", "[m/s, rad]")
    assert robot().plot("q1", ax=ax) is ax
    assert [line.get_label() for line in robot().plot().lines] == list(robot().q_names)
    with pytest.raises(kn.ArgumentError, match=r"there is no series 'q11'\. Did you mean 'q1'\?"):
        robot().plot("q11")
    plt.close("all")


def test_a_legend_names_what_begins_with_an_underscore() -> None:
    run = kn.simulate(kn.loads("coordinates _x, y; A | Sx(_x), Rz(y) = 1, 1, 1, 1;"), 0.1)
    names = [shown(axes)[2] for axes in drawn(run, "_x", "_x'", "energy", "work")]
    assert names == [[], [], ["energy", "work"]]
    assert shown(drawn(run)[2])[2] == [" _x"]


def test_more_lines_than_can_be_told_apart_are_not_dropped_in_silence() -> None:
    import matplotlib.pyplot as plt

    links = "".join(f"b{i} {f'~ b{i - 1}' if i else ''} | Rz(q{i}), Sx(1) = 1, 1, 1, 1;\n" for i in range(14))
    run = kn.simulate(kn.loads(f"model chain; {links}"), 0.01)
    ax = run.plot()
    assert (len(ax.lines), ax.get_title()) == (12, "coordinates, first 12 of 14")
    panels = drawn(run)
    assert [len(a.lines) for a in panels[:2]] == [12, 12]
    assert [a.get_title() for a in panels[:2]] == ["angles, first 12 of 14", "angular velocities, first 12 of 14"]
    (all_of_them,) = drawn(run, *run.q_names)
    assert len({(line.get_color(), line.get_linestyle()) for line in all_of_them.lines}) == 14
    plt.close("all")


def drawn(result: kn.Result, *names: str) -> list[Any]:
    """The axes of the picture of *result*."""
    import matplotlib.figure

    found: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matplotlib.figure.Figure, "savefig", lambda self, *_, **__: found.extend(self.axes))
        patch.setattr("kineta.views.series.write", lambda _: None)
        figure(result, "run.png", *names)
    return found


def shown(axes: Any) -> tuple[str, str, list[str]]:
    """Title, unit, and the names in the legend."""
    legend = axes.get_legend()
    return axes.get_title(), axes.get_ylabel(), [t.get_text() for t in legend.get_texts()] if legend else []


def test_a_picture_has_one_panel_per_unit() -> None:
    assert [shown(a) for a in drawn(robot())] == [
        ("angles", "[rad]", ["q1", "q2", "q4", "q5", "q6"]),
        ("angular velocities", "[rad/s]", ["q1'", "q2'", "q4'", "q5'", "q6'"]),
        ("positions", "[m]", ["q3"]),
        ("velocities", "[m/s]", ["q3'"]),
        ("outputs [m]", "[m]", ["Корпус.x", "Корпус.y", "Корпус.z"]),
        ("energies, change since the start", "[J]", ["energy", "kinetic", "potential", "work"]),
        ("energy - work, change since the start", "[J]", []),
    ]
    satellite = kn.simulate(kn.load(EXAMPLES / "free_satellite.kin"), 0.1)
    assert ("coordinates", "", ["sat.qw", "sat.qx", "sat.qy", "sat.qz"]) in [shown(a) for a in drawn(satellite)]


@pytest.mark.parametrize("model", ["branched", "cart_pendulum", "free_satellite"])
def test_every_panel_has_a_title_of_its_own(model: str) -> None:
    titles = [a.get_title() for a in drawn(kn.simulate(kn.load(EXAMPLES / f"{model}.kin"), 0.01))]
    assert len(set(titles)) == len(titles)
    assert all(titles)


def test_a_picture_of_chosen_series() -> None:
    panels = drawn(robot(), "Корпус.x", "q1", "energy", "q3", "q2")
    assert [shown(a) for a in panels] == [
        ("q1, q2", "[rad]", ["q1", "q2"]),
        ("Корпус.x, q3", "[m]", ["Корпус.x", "q3"]),
        ("energy", "[J]", []),
    ]
    assert np.array_equal(panels[1].lines[0].get_ydata(), robot()["Корпус.x"])
    with pytest.raises(kn.ArgumentError, match=r"there is no series 'q11'\. Did you mean 'q1'\?"):
        figure(robot(), "run.png", "q11")


def test_rounding_errors_of_a_constant_do_not_fill_its_panel() -> None:
    t = np.linspace(0, 1, 5)
    for size in (0.0, 2e-15):
        (panel,) = drawn(Series("arm", t, {"A.nz": -15 + size * np.sin(9 * t)}, {"A.nz": "N*m"}))
        low, high = panel.get_ylim()
        assert (low < -15.5, high > -14.5) == (True, True)
    (panel,) = drawn(Series("arm", t, {"A.nz": -15 + 1e-9 * np.sin(9 * t)}, {"A.nz": "N*m"}))
    assert np.ptp(panel.get_ylim()) < 3e-9


@pytest.mark.slow
def test_legends_cover_nothing() -> None:
    import matplotlib.pyplot as plt

    for axes in (robot().plot(), *drawn(robot()), *drawn(robot(), *robot().series)):
        if axes.get_legend() is not None:
            axes.figure.draw_without_rendering()
            box = axes.get_legend().get_window_extent()
            assert box.x0 >= axes.get_window_extent().x1
            assert all(
                box.count_overlaps([a.get_tightbbox(for_layout_only=True)]) <= (a is axes) for a in axes.figure.axes
            )
    plt.close("all")


@pytest.mark.slow
def test_a_picture_of_a_run(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    own = plt.figure()
    for kind, head in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        figure(robot(), tmp_path / f"run.{kind}")
        assert (tmp_path / f"run.{kind}").read_bytes().startswith(head)
    with pytest.raises(kn.ArgumentError, match=r"Expected a picture file \(.*png.*\), found 'run\.txt'\."):
        figure(robot(), tmp_path / "run.txt")
    with pytest.raises(kn.ArgumentError, match=r"run\.png: there is no folder '.*nowhere'\."):
        figure(robot(), tmp_path / "nowhere" / "run.png")
    assert plt.get_fignums() == [own.number]
    plt.close(own)


@pytest.mark.slow
def test_a_picture_that_fails_keeps_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "run.png").write_text("old")
    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(kn.ArgumentError, match=r"run\.png: the file cannot be written \(No space left on device\)\."):
        figure(robot(), tmp_path / "run.png")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


@pytest.mark.slow
def test_a_run_that_failed_before_its_first_sample_has_its_end_and_can_be_shown_and_kept(tmp_path: Path) -> None:
    empty = kn.simulate(block("x^3", "x = 1, x' = 1"), 10.0, t_eval=[5.0, 10.0])
    assert (len(empty.t), empty.y.shape, empty.status) == (1, (2, 1), -1)
    assert empty.summary()["t"] == pytest.approx([1.31102878] * 2)
    assert repr(empty).startswith("<Result of 'block': failed at t = 1.31102878 s: ")
    empty.save(tmp_path / "run.nc")
    assert kn.load_result(tmp_path / "run.nc").message == empty.message
    assert len(empty.plot("x").lines) == 1
    figure(empty, tmp_path / "run.png")
    assert (tmp_path / "run.png").exists()
