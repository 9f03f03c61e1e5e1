"""Impacts as data: impulses and the energy they take, by closed forms, in the loop and beside it, in files and in cases."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

import kineta as kn
from kineta.results.impacts import Impact
from tests.support import EXAMPLES, hand_back_transitions, slow

BALL = """
gravity 9.81; parameters m = 2, e = 0.7; B | Sz(z) = m; coordinates z;
contact floor : point between B and ground axis (0, 0, 1), restitution = e{};
initial z = 1;
"""


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("law", ["", " poisson"])
def test_a_ball_loses_what_the_closed_form_says(law: str, native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not native:
        hand_back_transitions(monkeypatch)
    run = kn.simulate(kn.loads(BALL.format(law)), 4.0)
    strikes = [t for t, what in run.changes if what == "floor strikes"]
    assert [x.t for x in run.impacts] == strikes
    assert len(strikes) > 20
    speed, m, e = math.sqrt(2 * 9.81), 2.0, 0.7
    for k, x in enumerate(run.impacts[:12]):
        v = speed * e**k
        assert (x.before, x.after) == pytest.approx((-v, e * v), rel=1e-9)
        assert x.impulse_n == pytest.approx(m * (1 + e) * v, rel=1e-9)
        assert (x.impulse_u, x.impulse_w) == (0, 0)
        assert x.energy_lost == pytest.approx(m * (1 - e * e) * v * v / 2, rel=1e-9)
    assert sum(x.energy_lost for x in run.impacts) == pytest.approx(-run.work[-1], rel=1e-9)


def test_friction_turns_a_disk_by_its_impulse() -> None:
    """What does not slip any more has the tangential impulse m v/3 of a disk; what slips on, mu times the normal one."""
    text = """gravity 9.81; D | Sx(x), Sz(z), Ry(a) = m(2), Jy(0.01); coordinates x, z, a;
        contact floor : ball = 0.1 between D and ground axis (0, 0, 1), friction = {};
        initial z = 0.1, x' = 0.3, z' = -1;"""
    for mu, expected in ((0.8, 2 * 0.3 / 3), (0.05, 0.05 * 2)):
        impact = kn.simulate(kn.loads(text.format(mu)), 0.01).impacts[0]
        assert impact.impulse_n == pytest.approx(2.0, rel=1e-9)
        assert math.hypot(impact.impulse_u, impact.impulse_w) == pytest.approx(expected, rel=1e-9)


def test_stops_and_those_that_push_along_have_theirs() -> None:
    """A pendulum against a stop: J w (1 + e); a row of blocks, of which the last one is struck: all have the impulse."""
    text = "A | Rz(q) = Jz(0.5); coordinates q; limit stop : q <= 1, restitution = 0.4; initial q' = 2;"
    (impact,) = kn.simulate(kn.loads(text), 1.0).impacts
    assert impact == (
        pytest.approx(0.5),
        "stop.upper",
        pytest.approx(1.4),
        0,
        0,
        -2,
        pytest.approx(0.8),
        pytest.approx(0.84),
    )
    row = """gravity 9.81; A | Sz(0.1), Sz(a) = 1; B ~ A | Sz(b) = 2; coordinates a, b;
        contact one : point between A at (0, 0, -0.1) and ground axis (0, 0, 1);
        contact two : point between B and A axis (0, 0, 1); initial b = 0.5;"""
    run = kn.simulate(kn.loads(row), 1.0)
    v = math.sqrt(2 * 9.81 * 0.5)
    assert {x.contact: x.impulse_n for x in run.impacts} == pytest.approx({"one": 2 * v, "two": 2 * v}, rel=1e-9)
    assert sum(x.energy_lost for x in run.impacts) == pytest.approx(v * v, rel=1e-9)


@pytest.mark.parametrize("name", ["rocking_block", *slow(["thrown_box"])])
def test_the_momentum_is_that_of_the_impulses(name: str) -> None:
    """Over an impact the momentum of all bodies changes by the impulses, and every strike has one."""
    system = kn.load(EXAMPLES / f"{name}.kin")
    run = kn.simulate(system, 3.0)
    strikes = {(t, what.rpartition(" ")[0]) for t, what in run.changes if what.endswith("strikes")}
    assert strikes <= {(x.t, x.contact) for x in run.impacts}
    momentum = kn.derive(system).function("linear_momentum")
    for t in sorted({x.t for x in run.impacts})[:20]:
        (k,) = np.flatnonzero(run.t == t)[:1]
        before, after = (momentum(t, run.q[i], run.v[i]) for i in (k, k + 1))
        impulse = sum(x.impulse_n for x in run.impacts if x.t == t)
        assert (after - before)[2] == pytest.approx(impulse, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("heights", [0.5, np.array([0.5, 1.0])])
def test_files_of_runs_that_had_none_are_read(heights: object, tmp_path: Path) -> None:
    """Files of earlier versions have no table of impacts, and their digests are of runs without."""
    run = kn.simulate(kn.loads(BALL.format("")), 2.0, q={"z": heights}, samples=21)
    cases = run.cases and replace(run.cases, impacts=((),) * len(run.cases))
    replace(run, impacts=(), cases=cases).save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        told = json.loads(file.attrs["kineta"])
        del told["impacts"]
        file.attrs["kineta"] = json.dumps(told)
        if "case.impacts" in file:
            del file["case.impacts"]
    old = kn.load_result(tmp_path / "run.nc")
    assert old.impacts == ()
    assert old.changes == run.changes
    assert old.notes[-1] == "the file was saved before impulses of impacts were data of a run: it holds none"


@pytest.mark.slow
def test_files_and_cases_keep_them(tmp_path: Path) -> None:
    system = kn.loads(BALL.format(""))
    run = kn.simulate(system, 2.0, samples=21)
    run.save(tmp_path / "run.nc")
    again = kn.load_result(tmp_path / "run.nc")
    assert again.impacts == run.impacts
    assert all(isinstance(x, Impact) for x in again.impacts)
    pandas = pytest.importorskip("pandas")
    assert list(pandas.DataFrame(again.impacts).columns)[:3] == ["t", "contact", "impulse_n"]
    many = kn.simulate(system, 2.0, q={"z": np.array([0.5, 1.0])}, samples=21)
    assert many.cases is not None
    assert many.case(1).impacts == run.impacts
    many.save(tmp_path / "many.nc")
    loaded = kn.load_result(tmp_path / "many.nc")
    assert loaded.cases is not None
    assert loaded.cases.impacts == many.cases.impacts
