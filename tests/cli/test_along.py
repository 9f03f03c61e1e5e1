"""Verbs along motions and runs: what they say beside numbers."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command
from tests.support import EXAMPLES

FOURBAR = str(EXAMPLES / "fourbar.kin")


def test_reactions_say_which_forces_produce_the_motion(kineta: Command) -> None:
    motion = ("reactions", FOURBAR, "--motion", "theta = 0.8 + 0.1*t", "--samples", "5")
    assert "produced by the forces on all speeds, 2 more than the motion tells apart" in kineta(*motion).out
    driven = kineta(*motion, "--frame", "own", "--actuators", "theta'")
    assert "produced by the forces tau.theta'\n" in driven.out
    found = kineta(*motion, "--frame", "own", "--actuators", "theta'", "--json").json
    assert found["produced_by"] == ["tau.theta'"]
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
