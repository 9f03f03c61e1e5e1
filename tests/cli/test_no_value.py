"""Questions that have no answer at a state: which expression or constraint has no value, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from kineta.tasks.motions import dependent_coordinates
from tests.cli.conftest import Command
from tests.support import EXAMPLES

FOLDED = """model folded;
parameters a = 0.5, b = 1;
Crank | Rz(theta) = m(1), Jz(0.1);
Coupler ~ Crank | Sx(a), Rz(beta - theta) = m(1), Jz(0.1);
Rocker | Sx(b), Rz(gamma) = m(1), Jz(0.1);
coordinates theta, beta, gamma;
loop pin : revolute between Rocker at (a, 0, 0) axis (0, 0, 1) and Coupler at (b, 0, 0);
"""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "statics appell_hamel",
            "the constraint 'cone' has no value, or no slope, at x = 0, y = 0, z = 1, at rest: 'sqrt(x'^2 + y'^2)' needs "
            "x'^2 + y'^2 > 0 for its slope, and x'^2 + y'^2 = 0 at t = 0 s. Give another state, or other values of parameters.",
        ),
        (
            "equilibrium appell_hamel",
            "the state is outside of what the model is defined for: 'sqrt(x'^2 + y'^2)' needs x'^2 + y'^2 > 0 for its slope",
        ),
        ("equilibrium wheelset --set V=0", "the state is outside of what the model is defined for: '"),
        (
            "statics rolling_coin --q theta=0",
            "the constraint 'edge.n' has no value, or no slope, at x = 0, y = 0, z = ",
        ),
        ("modes rolling_coin --q theta=0", "the constraint 'edge.n' has no value, or no slope, at x = 0, y = 0, z = "),
        (
            "kinematics euler_top --motion phi=1,theta=t,psi=0",
            "the speeds p, q, r make no motion at t = 0 s, where psi = 0, theta = 0, phi = 1. Give a motion that does ",
        ),
        (
            "statics car_axis --q xl=1e5",
            "xl is to change by 1e+05 at once, and what follows from it is sure over 250 only.",
        ),
        (
            "statics car_axis --q xl=1e16",
            "xl is to change by 1e+16 at once, and what follows from it is sure over 250 only.",
        ),
        (
            "statics car_axis --q xl=1e300",
            "xl is to change by 1e+300 at once, and what follows from it is sure over 250 only.",
        ),
    ],
)
def test_what_has_no_value_is_said(kineta: Command, words: str, sentence: str) -> None:
    verb, model, *options = words.split()
    got = kineta(verb, EXAMPLES / f"{model}.kin", *options, "--json")
    assert got.code == 1
    assert got.out == ""
    assert got.err.count("\n") == 1
    assert got.err.startswith(f"kineta: Model '{model}': ")
    assert sentence in got.err


def test_a_check_beyond_all_numbers_fails_in_words(kineta: Command) -> None:
    got = kineta("check", EXAMPLES / "fourbar.kin", "--set", "by=1e300", "--json")
    assert got.code == 2
    assert "it is not finite: check the state and the parameters" in str(got.json["checks"])


ROOT = "model root; A | Sx(q1) = 1; force f = sqrt(q1) on q1; spring s = 1 on q1; coordinates q1; initial q1 = -1;"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        *(
            (f"{verb} root.kin", 1)
            for verb in ("verify", "integrals", "eval", "statics", "simulate", "linearize", "modes")
        ),
        ("response root.kin", 1),
        ("equilibrium root.kin", 1),
        ("check root.kin", 2),
    ],
)
def test_a_force_without_value_is_named_everywhere(kineta: Command, here: Path, words: str, code: int) -> None:
    """The operation and what it needs, and not the mass."""
    (here / "root.kin").write_text(ROOT)
    got = kineta(*words.split())
    assert got.code == code
    said = got.out + got.err
    assert ("'sqrt(q1)' of 'f' (root.kin:1:35) needs q1 >= 0, and q1 = -" in said) == bool(code)
    assert "mass matrix may be" not in said
    assert "mass matrix is singular" not in said


@pytest.mark.parametrize("verb", ["linearize", "modes", "response", "equilibrium"])
@pytest.mark.parametrize("place", ["0", "8e-33"])
def test_where_a_force_has_no_slope_there_is_no_stiffness(kineta: Command, here: Path, verb: str, place: str) -> None:
    (here / "root.kin").write_text(ROOT)
    got = kineta(verb, "root.kin", "--q", f"q1={place if verb != 'equilibrium' else 0.1}")
    assert got.code == 1
    assert "'sqrt(q1)' of 'f' (root.kin:1:35) needs q1 > 0 for its slope, and q1 = " in got.err


@pytest.mark.parametrize("verb", ["linearize", "linearize --formulas", "modes"])
def test_a_folded_mechanism_has_no_linearisation(kineta: Command, here: Path, verb: str) -> None:
    (here / "folded.kin").write_text(FOLDED)
    name, *options = verb.split()
    got = kineta(name, "folded.kin", *options)
    assert got.code == 1
    assert "the state at t = 0 s is singular: the constraint pin.x changes with no motion there" in got.err


@pytest.mark.parametrize("text", ["P | = 1;", "P | Sx(0) = 1;", "P | Sx(sin(t)) = 1;"])
@pytest.mark.parametrize("verb", ["derive --matrix", "integrals", "linearize --formulas", "modes", "statics"])
def test_what_cannot_move_has_answers(kineta: Command, here: Path, verb: str, text: str) -> None:
    (here / "still.kin").write_text(text)
    name, *options = verb.split()
    got = kineta(name, "still.kin", *options)
    assert "fault of kineta" not in got.err
    assert got.code in (0, 1)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("division by zero"), FloatingPointError(), RecursionError("deep\nly")]
)
def test_what_nobody_foresaw_is_one_sentence(
    kineta: Command, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("kineta.model.io.loads", broken)
    got = kineta("check", EXAMPLES / "fourbar.kin", "--json")
    assert got.code == 1
    assert got.out == ""
    assert got.err.startswith(f"kineta: A fault of kineta itself, {type(error).__name__} at kineta/cli/values.py:")
    assert got.err.endswith("please report it with the command and the model.\n")
    assert got.err.count("\n") == 1


@pytest.mark.slow
def test_a_motion_without_end_is_given_up(kineta: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dependent_coordinates.MOST <= 3000  # half a minute
    monkeypatch.setattr(dependent_coordinates, "MOST", 60)
    got = kineta("kinematics", EXAMPLES / "skate.kin", "--motion", "phi=t,x=sin(t)", "--to", "1e9")
    assert got.code == 1
    assert "this motion takes more than 60 steps from t = 0 s, and is at t = " in got.err
    assert "end it earlier, or give the motion of more coordinates." in got.err


def test_a_program_without_a_gradient_is_named(kineta: Command) -> None:
    """The size of an angular acceleration that is zero is as steep in all directions."""
    model = str(EXAMPLES / "satellite_turn.kin")
    refused = kineta("eval", model, "--quantity", "highest")
    assert refused.code == 1
    assert (
        "the program 'turn' has no gradient by its highest derivatives there; give others with --vdot." in refused.err
    )
    assert kineta("eval", model, "--quantity", "highest", "--vdot", "b.wx=0.3").code == 0
