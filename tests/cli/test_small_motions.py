"""``kineta linearize``, ``modes``, ``response``, ``sensitivity`` and ``fit``: what they print and write, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from tests.cli.conftest import Command
from tests.support import EXAMPLES

PENDULUM = str(EXAMPLES / "double_pendulum.kin")
REST = ("--q", "q1=0,q2=0")


def test_a_linearisation_is_data(kineta: Command) -> None:
    found = kineta("linearize", PENDULUM, *REST, "--input", "q1'", "--output", "q2", "--json").json
    assert (found["states"], found["inputs"], found["outputs"]) == (["q1", "q2", "q1'", "q2'"], ["tau[q1']"], ["q2"])
    assert np.allclose(found["A"][2:], [[-19.62, 9.81, 0, 0], [19.62, -19.62, 0, 0]])
    assert found["D"] == [[0.0]]
    nearest = kineta("linearize", PENDULUM, "--q", "q1=0.1,q2=0", "--equilibrium", "--json").json
    assert np.allclose(nearest["A"], found["A"])
    written = kineta("linearize", PENDULUM, *REST, "--formulas", "--json").json
    assert "A[q1',q2] = 9.81*m2/(m1*l1)" in written["formulas"]


@pytest.mark.slow
def test_modes_and_responses_are_data_and_pictures(kineta: Command, here: Path) -> None:
    found = kineta("modes", PENDULUM, *REST, "--plot", "modes.png", "--json").json
    assert found["stable"] is True
    assert np.allclose([m["frequency"] for m in found["modes"]], [0.381526, 0.921086], rtol=1e-5)
    assert (here / "modes.png").stat().st_size > 1000
    step = kineta("response", PENDULUM, *REST, "--input", "q1'", "--output", "q1", "--step", "2", "--json").json
    assert np.shape(step["values"]) == (501, 1, 1)
    band = ("--from", "0.1", "--to", "2")
    swept = kineta("response", PENDULUM, *REST, "--output", "q1", *band, "--plot", "bode.svg", "--json").json
    assert np.shape(swept["values"]) == (400, 1, 2, 2)
    assert (here / "bode.svg").exists()


def test_frequencies_may_have_their_unit(kineta: Command) -> None:
    plain, hertz = (("--from", f"0.1{u}", "--to", f"2{u}") for u in ("", " Hz"))
    asked = ("response", PENDULUM, *REST, "--output", "q1", "--json")
    assert kineta(*asked, *plain).out == kineta(*asked, *hertz).out


def test_modes_about_a_steady_motion_are_those_about_what_equilibrium_finds(kineta: Command, here: Path) -> None:
    governor = ("governor.kin", "--steady", "phi'")
    (here / "governor.kin").write_text((EXAMPLES / "governor.kin").read_text())
    (here / "turning.json").write_text(kineta("equilibrium", *governor, "--json").out)
    found = kineta("modes", *governor, "--json").json["modes"]
    same = kineta("modes", "governor.kin", "--q", "@turning.json", "--v", "@turning.json", "--json").json["modes"]
    assert [m["frequency"] for m in found] == pytest.approx([m["frequency"] for m in same], abs=1e-6)
    assert max(m["frequency"] for m in found) > 1


def test_a_fit_says_what_it_fits_and_that_a_wrong_model_leaves_a_pattern(kineta: Command, here: Path) -> None:
    times = np.linspace(0, 1, 30)
    rows = "".join(f"{t},{0.3 * np.cos(9 * t)},{t}\n" for t in times)
    (here / "data.csv").write_text(f"t,q1,load\n{rows}")
    out = kineta("fit", PENDULUM, "data.csv", "--by", "m2").out
    assert "fitted: q1; columns that the model does not have: load\n" in out
    assert "the deviations of q1 follow each other" in out


@pytest.mark.slow
def test_a_fit_finds_what_made_the_table(kineta: Command, here: Path) -> None:
    made = ("--to", "1", "--samples", "40", "--set", "m2=1.4", "--save", "data.csv", "--json")
    assert kineta("simulate", PENDULUM, *made).code == 0
    found = kineta("fit", PENDULUM, "data.csv", "--by", "m2", "--series", "q1,q2", "--plot", "fit.png", "--json").json
    assert found["values"]["m2"] == pytest.approx(1.4, abs=1e-6)
    assert (here / "fit.png").exists()
    slopes = kineta("sensitivity", PENDULUM, "--by", "m2,q1", "--plot", "slopes.png", "--json").json
    assert slopes["series"]["q1"]["by"] == pytest.approx([0.274259, 0.696347], rel=1e-5)


def test_a_fit_takes_the_errors_of_the_data_and_keeps_within_bounds(kineta: Command, here: Path) -> None:
    made = ("--to", "1", "--samples", "40", "--set", "m2=1.4", "--save", "data.csv", "--json")
    assert kineta("simulate", PENDULUM, *made).code == 0
    asked = ("fit", PENDULUM, "data.csv", "--by", "m2", "--series", "q1,second.x", "--json")
    errors = [kineta(*asked, "--sigma", f"q1={s} deg, second.x={s} mm").json["interval"]["m2"] for s in (0.1, 0.2)]
    (a, b), (c, d) = errors
    assert d - c == pytest.approx(2 * (b - a))
    bounded = kineta(*asked, "--bounds", "m2=,1200 g")
    assert bounded.json["values"]["m2"] == pytest.approx(1.2)
    assert "m2 = 1.2 is at its bound" in bounded.json["notes"][0]


WRONG = [
    (
        ("linearize", PENDULUM, "--equilibrium", "--v", "0,0"),
        "--v: at rest there are no speeds; leave out --v or --equilibrium.",
    ),
    (
        ("linearize", PENDULUM, "--formulas", "--state", "q1"),
        "--formulas: expected no --state, --tau or --at beside it.",
    ),
    (("linearize", PENDULUM, "--state", "q7"), "Model 'double_pendulum' has no state 'q7'."),
    (("modes", PENDULUM, "--plot", "modes.xyz", *REST), "found 'modes.xyz'."),
    (("modes", PENDULUM, "--q", "@two.json"), "--q: expected one state, found 2 equilibria in 'two.json'; keep one."),
    (("response", PENDULUM, "--from", "10 rad/s"), "Expected a frequency in Hz, found '10 rad/s'."),
    (("equilibrium", PENDULUM, "--along", "m2=3 m"), "--along m2: Expected a mass [kg], found '3 m'."),
    (("place", PENDULUM, "--put", "second.x=0.5 kg"), "--put second.x: Expected a length [m], found '0.5 kg'."),
    (("place", PENDULUM, "--put", "second.x=1", "--limit", "q1=0 m,3"), "--limit q1: Expected an angle"),
    (
        ("kinematics", PENDULUM, "--motion", "q1 = 10 m, q2 = t"),
        "'q1' must be an angle or a number without dimension, found",
    ),
    (("kinematics", PENDULUM, "--motion", "q1 = t; q2 = 0"), "with commas between, found ';' in 'q1 = t; q2 = 0'."),
    (
        ("kinematics", PENDULUM, "--motion", "q1 = sin("),
        "--motion:1:10: the text ends within the definitions; expected '(', '+' or '-', a name or a number.",
    ),
    (
        ("kinematics", PENDULUM, "--motion", "q1 = sin(t"),
        "--motion:1:11: the text ends within the definitions; expected ')', ',' or an operator: the '(' at 1:9 is not closed",
    ),
    (("kinematics", PENDULUM, "--motion", "q1 = t^²"), "--motion:1:8: found the character '²'"),
    (("kinematics", PENDULUM, "--motion", "q1 = t, q2 = foo(t)"), "--motion:1:14: unknown function 'foo'."),
    (("kinematics", PENDULUM, "--motion", " "), "--motion: expected name = expression, ..., found nothing."),
    (("kinematics", PENDULUM, "--motion", "q1 = t, q1 = 2*t"), "--motion: expected every name once, found 'q1' twice."),
    (("kinematics", PENDULUM, "--motion", "@twice.csv"), "twice.csv: expected every column once, found 'q1' twice."),
    (("kinematics", PENDULUM, "--motion", "@ragged.csv"), "ragged.csv:3: expected 2 numbers, found 1."),
    (("fit", PENDULUM, "still.csv", "--by", "m1"), "still.csv:4: expected times that rise, found 0.1 after 0.1."),
    (("inverse", PENDULUM, "--motion", "@still.csv"), "still.csv:4: expected times that rise, found 0.1 after 0.1."),
    (("kinematics", PENDULUM, "--motion", "@back.csv"), "back.csv:3: expected times that rise, found 0 after 0.1."),
    (("kinematics", PENDULUM, "--motion", "@timeless.csv"), "timeless.csv:3: expected a time, found none."),
    (
        ("kinematics", PENDULUM, "--motion", "@one.csv"),
        "one.csv: expected a line of numbers for every time, two at least, found one",
    ),
    (("identify", PENDULUM, "one.csv"), "one.csv: expected a line of numbers for every time, two at least, found one"),
    (("fit", PENDULUM, "run.nc", "--by", "m1"), "expected a table of text in UTF-8, found other bytes at position 0"),
    (("inverse", PENDULUM, "--motion", "@twice.csv", "--to", "2"), "--to: a run or a table has times of its own"),
    (
        ("place", PENDULUM, "--put", "second.x=1, second.x=2"),
        "--put: expected every name once, found 'second.x' twice.",
    ),
    (
        ("response", PENDULUM, "--from", "2", "--to", "1"),
        "Expected frequencies above 0 that rise, found --from 2 --to 1.",
    ),
    (("response", PENDULUM, "--step", "-1"), "--step: expected a time above 0, found -1."),
    (
        ("sensitivity", PENDULUM),
        "--by: expected names of parameters, coordinates or speeds, as in --by m1,q1, found none.",
    ),
    (("fit", PENDULUM, "none.csv", "--by", "m1"), "none.csv: the file cannot be read (No such file or directory)."),
    (("fit", PENDULUM, "empty.csv", "--by", "m1"), "empty.csv: expected a column 't' with the times, found nothing."),
    (("fit", PENDULUM, "ragged.csv", "--by", "m1"), "ragged.csv:3: expected 2 numbers, found 1."),
    (("fit", PENDULUM, "run.csv", "--by", "m1", "--sigma", "q1=1 mm"), "--sigma q1: Expected an angle"),
    (
        ("fit", PENDULUM, "run.csv", "--by", "m1", "--sigma", "q2=1"),
        "Expected sigma for every series, found none for 'q1'.",
    ),
    (("fit", PENDULUM, "run.csv", "--by", "m1", "--bounds", "m1=1"), "--bounds: expected NAME=LOW,HIGH, found 'm1=1'."),
    (("fit", PENDULUM, "run.csv", "--by", "m1", "--bounds", "m1=5,9"), "(lowest, highest) around m1 ="),
    (("fit", PENDULUM, "words.csv", "--by", "m1"), "words.csv:2: expected a number under 'q1', found 'many'."),
    (
        ("fit", PENDULUM, "other.csv", "--by", "m1"),
        "other.csv: expected series that the model has, as q1, found speed.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_what_makes_no_sense_gets_a_sentence(
    kineta: Command, here: Path, arguments: tuple[str, ...], message: str
) -> None:
    tables = {"empty": "", "ragged": "t,q1\n0,1\n1\n", "words": "t,q1\n0,many\n", "other": "t,speed\n0,1\n1,2\n"}
    tables |= {
        "still": "t,q1\n0,0\n0.1,1\n0.1,2\n",
        "back": "t,q1\n0.1,0\n0,1\n",
        "one": "t,q1\n0,0\n",
        "timeless": "t,q1\n0,0\n,1\n",
    }
    tables |= {"twice": "t,q1,q1\n0,1,1\n", "run": "t,q1\n0,0.1\n0.1,0.2\n0.2,0.1\n"}
    (here / "run.nc").write_bytes(b"\x89HDF")
    (here / "two.json").write_text('{"equilibria": [{"initial": {"q1": 0.0}}, {"initial": {"q1": 3.0}}]}')
    for name, text in tables.items():
        (here / f"{name}.csv").write_text(text)
    done = kineta(*arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("kineta: ")
    assert done.err.count("\n") == 1
    assert message in done.err


def test_identify_finds_the_base_parameters_of_a_recording(kineta: Command, here: Path) -> None:
    text, times = "model arm; gravity 9.81; A | Ry(q), Sx(1) = {};", np.linspace(0, 3, 60)
    (here / "arm.kin").write_text(text.format(1))
    forces = kn.inverse(kn.loads(text.format(2)), {"q": "sin(2*t)"}, t=times)
    rows = np.stack([times, forces.trajectory.q[:, 0], forces.tau[:, 0]], axis=1).tolist()
    (here / "data.csv").write_text("t,q,tau[q']\n" + "".join(f"{t!r},{q!r},{tau!r}\n" for t, q, tau in rows))
    found = kineta("identify", "arm.kin", "data.csv", "--json").json
    assert [b["value"] for b in found["base"]] == pytest.approx([2 * b["of_model"] for b in found["base"]], abs=1e-3)
    assert "3 base parameters" in kineta("identify", "arm.kin", "data.csv").out
    (here / "less.csv").write_text("t,q\n0,0\n1,1\n")
    assert "expected a column 'tau[q']' of the force on every speed" in kineta("identify", "arm.kin", "less.csv").err
