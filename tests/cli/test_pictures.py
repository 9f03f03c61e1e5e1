"""``kineta simulate --plot``: the picture, and the series that are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import CART, Command
from tests.support import quick_but


def test_the_series_asked_for_are_drawn(kineta: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("kineta.views.series.figure", lambda result, path, *names: asked.extend(names))
    done = kineta("simulate", CART, "--to", "0.1", "--plot", "out.svg", "--series", "q2', E.x,energy,,E.x")
    assert (done.code, done.err) == (0, "")
    assert asked == ["q2'", "E.x", "energy"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--series", "q1"], "--series: expected --plot FILE beside it, the picture to draw into."),
        (["--series", ",", "--plot", "a.png"], "--series: expected names separated by commas, found ','."),
        (
            ["--to", "1e9", "--series", "q1,E.vxx", "--plot", "a.png"],
            "--series: model 'cart_pendulum' has no coordinate, speed, energy, output or multiplier 'E.vxx'. "
            "Did you mean 'E.vx'?",
        ),
        (
            ["--to", "1e9", "--series", "Rod.x", "--plot", "a.png"],
            "--series: model 'cart_pendulum' has no coordinate, speed, energy, output or multiplier 'Rod.x'. "
            "Add 'output Rod.x;' to the model.",
        ),
    ],
)
def test_series_that_make_no_sense(kineta: Command, here: Path, options: list[str], message: str) -> None:
    done = kineta("simulate", CART, *options)
    assert (done.code, done.out, done.err) == (1, "", f"kineta: {message}\n")
    assert list(here.iterdir()) == []


@pytest.mark.slow
def test_a_run_that_fails_in_its_first_step_is_said_and_drawn(kineta: Command, here: Path) -> None:
    (here / "steep.kin").write_text("coordinates x;\nA | Sx(x) = 1;\nforce s = 1e300*exp(x) on x;\ninitial x = 1;")
    done = kineta("simulate", "steep.kin", "--plot", "a.png")
    assert done.code == 2
    assert done.out.startswith("steep: failed at t = 0 s: ")
    assert done.out.endswith("written: a.png\n")
    found = kineta("simulate", "steep.kin", "--json").json
    assert (found["t"], found["final"]["x"]) == ([0.0, 0.0], 1.0)


FOURBAR = CART.with_name("fourbar.kin")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    quick_but(
        DRAWN := [
            ["show", FOURBAR, "-o", "a.png"],
            ["show", FOURBAR, "--to", "1", "-o", "a.html"],
            ["report", CART, "--to", "0.1", "-o", "r.html"],
            ["check", FOURBAR, "--plot", "c.png"],
            ["show", FOURBAR, "--from", "1,-2,1", "--output", "b.svg"],
            ["assemble", FOURBAR, "--plot", "d.pdf"],
            ["equilibrium", FOURBAR, "--plot", "e.png"],
            ["place", FOURBAR, "--put", "mass.y=0.5", "--starts", "2", "--plot", "f.png"],
        ],
        DRAWN[4:],
    ),
    ids=lambda options: " ".join(map(str, options[:1])),
)
def test_the_machine_is_drawn(kineta: Command, here: Path, options: list[str]) -> None:
    done = kineta(*options)
    assert done.code == 0, done.err
    assert f"written: {options[-1]}" in done.out
    assert (here / options[-1]).stat().st_size > 5000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["show", CART, "-o", "a.jpg"], "--output: expected a file .html, .glb, .png, .svg or .pdf, found 'a.jpg'."),
        (["show", CART, "-o", "a.html", "--to", "0"], "Expected a time above zero for to, found 0 s."),
        (["show", CART, "-o", "a.png", "--from", "1,2"], "--from: expected three numbers, as in 1,-2,1, found '1,2'."),
        (["check", CART, "--plot", "a.txt"], "--plot: expected a file .png, .svg or .pdf, found 'a.txt'."),
    ],
)
def test_pictures_that_cannot_be_drawn(kineta: Command, here: Path, options: list[str], message: str) -> None:
    done = kineta(*options)
    assert (done.code, done.out, done.err) == (1, "", f"kineta: {message}\n")
    assert list(here.iterdir()) == []
