"""Limits and dry friction of robots: what acts, between which bounds, and where the robot starts."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

import kineta as kn
from kineta.cli.main import app
from kineta.model.io import urdf
from tests.model.urdf.texts import HEAVY_B, INERTIAL, between, joint, quietly, robot

KNEE = robot(
    HEAVY_B, joint("revolute", '<limit lower="-2" upper="-0.5" effort="9"/><dynamics friction="1.5"/>', "knee")
)


def gripper(first: str, second: str) -> str:
    """A finger, and another that mimics it with the ratio -2 and the offset 1."""
    mimic = '<mimic joint="left" multiplier="-2" offset="1"/>'
    links = (HEAVY_B, f'<link name="c">{INERTIAL}</link>')
    return robot(
        *links, joint("prismatic", first, "left"), joint("prismatic", mimic + second, "right", between("b", "c"))
    )


def contacts(system: kn.System) -> list[str]:
    return [line for line in kn.dumps(system).splitlines() if line.startswith(("limit", "friction"))]


def test_limits_and_friction_of_a_joint_act_and_it_starts_within() -> None:
    system = quietly(KNEE)
    assert contacts(system) == ["limit knee_limit : -2 <= knee <= -0.5;", "friction knee_friction = 1.5 on knee;"]
    assert [(name, value.value) for name, value in system.initial] == [("knee", -0.5)]
    assert kn.loads(kn.dumps(system)) == system


def test_what_mimics_shares_the_bounds_and_adds_its_friction() -> None:
    first, second = (
        '<limit lower="-1" upper="3"/><dynamics friction="1"/>',
        '<limit lower="-1" upper="2"/><dynamics friction="2"/>',
    )
    assert contacts(quietly(gripper(first, second))) == [
        "limit left_limit : -0.5 <= left <= 1;",
        "friction left_friction = 5 on left;",
    ]
    with pytest.warns(kn.KinetaWarning, match=r"<limit> ignored: what it mimics never comes between the bounds"):
        system = urdf.reads(gripper(first, '<limit lower="9" upper="10"/>'))
    assert contacts(system)[0] == "limit left_limit : -1 <= left <= 3;"


def test_a_robot_may_be_taken_without_limits(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text(KNEE, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = kn.load(file, limits=False)
    assert (system.contacts, system.initial) == ((), ())
    run = CliRunner().invoke(app, ["import", str(file), "--no-limits"])
    assert kn.loads(run.stdout) == system
    with pytest.raises(kn.ArgumentError, match=r"limits=False is for URDF robots; in \.kin leave out the statements"):
        kn.load(tmp_path / "r.kin", limits=False)


def test_a_model_file_takes_limits_and_start_of_a_robot_and_may_start_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r.urdf").write_text(KNEE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    include, plain = 'model r; include "r.urdf";', quietly(KNEE)
    with pytest.warns(kn.KinetaWarning, match="moves the start"):
        taken = [kn.loads(text) for text in (include, include + "initial knee = -1;")]
    assert taken == [plain, plain.replace(initial={"knee": -1})]
