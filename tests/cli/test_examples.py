"""Every example on the command line: its equations are told, it moves, and all formalisms agree about it."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command
from tests.support import EXAMPLES, PILES, examples
from tests.tasks.verification.test_verify import CLOSELY

#: Those whose programs actuators hold through the rest of the system.
HELD = ("crane_servo", "car_chain")
#: One with so many bodies in loops that it is certified once, with the defaults.
LARGE = "stewart_platform"
#: Those that are certified in more than a second or two.
LONG = ("euler_top", "governor", "planar_chain", "snakeboard", "thrown_box", "tracking_arm")


@pytest.mark.slow
@pytest.mark.parametrize("name", examples(of=8))
def test_an_example_has_equations_and_moves(kineta: Command, name: str) -> None:
    model = EXAMPLES / f"{name}.kin"
    derived = kineta("derive", model)
    assert derived.code == 0
    assert derived.out
    verb = "servo" if name in HELD else "simulate"
    moved = kineta(verb, model, "--to", "0.2", "--json")
    assert (moved.code, moved.err) == (0, "")


#: One in six, for the command is the same for all: each example is certified by the tests of ``verify``.
BY_COMMAND = [name for name in examples(without={*CLOSELY, *PILES, LARGE}, long=LONG, of=6) if isinstance(name, str)]


@pytest.mark.parametrize("name", BY_COMMAND)
def test_all_formalisms_agree_about_an_example(kineta: Command, name: str) -> None:
    certified = kineta("verify", EXAMPLES / f"{name}.kin", "--states", 4, "--digits", 0, "--json")
    assert certified.code == 0, certified.out
    assert certified.json["holds"]
