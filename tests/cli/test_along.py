"""Verbs along motions and runs: what they say beside numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.support import EXAMPLES

FOURBAR = str(EXAMPLES / "fourbar.kin")


@pytest.mark.slow
def test_reactions_say_which_forces_produce_the_motion(kineta: Command) -> None:
    motion = ("reactions", FOURBAR, "--motion", "theta = 0.8 + 0.1*t", "--samples", "5")
    assert "produced by the forces on all speeds, 2 more than the motion tells apart" in kineta(*motion).out
    driven = kineta(*motion, "--frame", "own", "--actuators", "theta'")
    assert "produced by the forces tau[theta']\n" in driven.out
    found = kineta(*motion, "--frame", "own", "--actuators", "theta'", "--json").json
    assert found["produced_by"] == ["tau[theta']"]
    assert max(map(abs, found["series"]["Rocker.nz"])) < 1e-12
    assert max(map(abs, kineta(*motion, "--frame", "own", "--json").json["series"]["Rocker.nz"])) > 1e-3
    assert kineta("reactions", FOURBAR, "--to", "0.1", "--json").json["produced_by"] == []


@pytest.mark.parametrize(("model", "left_out"), [("bouncing_ball", ["floor"]), ("double_pendulum", [])])
def test_integrals_are_followed_along_what_they_belong_to(kineta: Command, model: str, left_out: list[str]) -> None:
    done = kineta("integrals", EXAMPLES / f"{model}.kin", "--to", "2", "--json")
    assert (done.code, done.json["without"]) == (0, left_out)
    assert ("the run is without floor" in kineta("integrals", EXAMPLES / f"{model}.kin", "--to", "2").out) == bool(
        left_out
    )


@pytest.mark.slow
def test_pictures_along_motions_have_all_that_moves_by_unit(
    kineta: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("kineta.views.series.picture", lambda figure, path: drawn.append(figure))
    motion = ("--motion", "theta = 0.8 + 0.1*t^2", "--samples", "5", "--plot", "a.png")
    assert kineta("reactions", FOURBAR, *motion, "--actuators", "theta'").code == 0
    assert kineta("kinematics", FOURBAR, *motion, "--of", "Rocker", "--json").json["units"]["theta''"] == "rad/s^2"
    forces, places = drawn
    lines = [line.get_label() for ax in forces.axes for line in ax.lines]
    assert {"pin.fx", "Rocker.fy", "Crank.nz"} <= set(lines)
    assert "Crank.fz" not in lines
    assert "that stay zero are left out" in forces.get_suptitle()
    assert [ax.get_ylabel() for ax in places.axes].count("[rad/s^2]") == 1


def test_statics_says_where_a_closed_machine_is_held(kineta: Command) -> None:
    asked = ("statics", FOURBAR, "--q", "theta=1", "--unknown", "theta'")
    assert "\n  at theta = 1, beta = " in kineta(*asked).out
    assert kineta(*asked, "--json").json["q"]["theta"] == 1.0


@pytest.mark.slow
def test_a_family_that_does_not_come_to_its_end_says_so_and_ends_with_2(kineta: Command) -> None:
    short = kineta("equilibrium", FOURBAR, "--along", "mc=5", "--points", "3")
    assert short.code == 2
    assert "after 3 points; ask for more (points), if it goes on" in short.out
    whole = kineta("equilibrium", FOURBAR, "--along", "mc=5", "--json")
    assert (whole.code, whole.json["reached"]) == (0, True)


def test_a_motion_that_ends_early_is_told(kineta: Command, tmp_path: Path) -> None:
    model = tmp_path / "g.kin"
    model.write_text("A | Sx(x) = 2; coordinates x; force f = -1/(x - 1) on x; initial x' = 3;", encoding="utf-8")
    done = kineta("kinematics", str(model), "--to", "5")
    assert done.code == 1
    assert "the motion from the initial state does not come to --to" in done.err


@pytest.mark.slow
def test_series_choose_what_is_written_and_an_unknown_one_is_told_the_others(kineta: Command, here: Path) -> None:
    asked = ("kinematics", FOURBAR, "--motion", "theta = 0.8 + t", "--of", "mass", "--samples", "3", "--series")
    assert kineta(*asked, "mass.x,mass.y", "--save", "way.csv").code == 0
    assert (here / "way.csv").read_text().splitlines()[0] == "t,mass.x,mass.y"
    assert (
        "there is no series 'camber'. There are theta, beta, gamma, "
        in kineta(*asked, "camber", "--save", "way.csv").err
    )
    assert "--series: expected --plot FILE or --save FILE beside it." in kineta(*asked, "mass.x").err


def test_a_motion_comes_from_a_table(kineta: Command, here: Path) -> None:
    rows = "".join(f"{t},{0.8 + 0.1 * t}\n" for t in (0.0, 0.1, 0.2, 0.3))
    (here / "way.csv").write_text(f"time,crank\n{rows}")
    asked = ("kinematics", FOURBAR, "--motion", "@way.csv", "--time", "time", "--column", "theta=crank", "--of", "mass")
    found = kineta(*asked, "--json").json
    assert found["t"] == [0.0, 0.1, 0.2, 0.3]
    assert "extremes" not in found
    assert "Kinematics of 'fourbar': " in kineta(*asked).out
