"""``kineta servo``: what it says of programs held by a few actuators."""

from __future__ import annotations

from tests.cli.conftest import Command
from tests.support import EXAMPLES


def test_the_command_says_what_it_found(kineta: Command) -> None:
    said = kineta("servo", EXAMPLES / "car_chain.kin", "--to", 0.2, "--set", "c=5", "--json").json
    assert (said["index"], said["flat"], said["internal"], said["actuators"]) == (6, False, 3, ["x1'"])
    assert said["stability"].startswith("minimum phase")
    wrong = kineta("servo", EXAMPLES / "double_pendulum.kin")
    assert (wrong.code, wrong.err.count("\n")) == (1, 1)
