"""Every example on the command line: it is sound, its equations are told, it moves, and all formalisms agree about it."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command
from tests.support import EXAMPLES, PILES, examples
from tests.tasks.verification.test_verify import CERTIFIED

#: Those whose programs actuators hold through the rest of the system.
HELD = ("crane_servo", "car_chain")
#: One with so many bodies in loops that it is certified once, with the defaults.
LARGE = "stewart_platform"


@pytest.mark.parametrize("name", examples(of=5))
def test_an_example_is_sound_and_moves(kineta: Command, name: str) -> None:
    model = EXAMPLES / f"{name}.kin"
    checked = kineta("check", model, "--json")
    assert (checked.code, checked.err) == (0, "")
    derived = kineta("derive", model, "--json")
    assert derived.code == 0
    assert derived.json["operations"]
    verb = "servo" if name in HELD else "simulate"
    moved = kineta(verb, model, "--to", "0.2", "--json")
    assert (moved.code, moved.err) == (0, "")


@pytest.mark.parametrize(
    "name", examples(without={*CERTIFIED, *PILES, LARGE}, long=("euler_top", "governor", "thrown_box"), of=6)
)
def test_all_formalisms_agree_about_an_example(kineta: Command, name: str) -> None:
    certified = kineta("verify", EXAMPLES / f"{name}.kin", "--states", 4, "--digits", 0, "--json")
    assert certified.code == 0, certified.out
    assert certified.json["holds"]
