"""``kineta servo``: what it says of programs held by a few actuators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.support import EXAMPLES


@pytest.mark.slow
def test_the_command_says_what_it_found(kineta: Command) -> None:
    said = kineta("servo", EXAMPLES / "car_chain.kin", "--to", 0.2, "--set", "c=5", "--json").json
    assert (said["index"], said["flat"], said["internal"], said["actuators"]) == (6, False, 3, ["x1'"])
    assert said["stability"].startswith("minimum phase")
    near = said["conditioning"]
    assert (near["condition"], near["motion"]) == (1, {"control.x1'": 1})
    assert list(near["direction"]) == ["path" + 5 * "'"]
    assert 0 <= near["t"] <= 0.2
    assert "nearest to a singular position at t = " in kineta("servo", EXAMPLES / "car_chain.kin", "--to", 0.2).out
    wrong = kineta("servo", EXAMPLES / "double_pendulum.kin")
    assert (wrong.code, wrong.err.count("\n")) == (1, 1)


@pytest.mark.slow
def test_actuators_are_named_by_coordinates_as_in_control(kineta: Command) -> None:
    said = kineta("servo", EXAMPLES / "car_chain.kin", "--to", 0.2, "--actuators", "x1", "--json").json
    assert said["actuators"] == ["x1'"]


def test_assemble_prints_derivatives_of_the_start_and_simulate_takes_them(kineta: Command, tmp_path: Path) -> None:
    craft = tmp_path / "craft.kin"
    craft.write_text("P | Sx(x) = 1; coordinates x; program a : x'''' = 0; initial x' = 3, x'' = 2;")
    assert "initial x' = 3, x'' = 2;" in kineta("assemble", craft).out
    assert kineta("simulate", craft, "--to", 1, "--levels", "x''=1").code == 0
