"""Multipliers have one name and a unit, wherever they are shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.equations.equations import derive
from kineta.errors import ArgumentError, KinetaError
from kineta.results.result import series_names
from kineta.tasks.mobility import freedom

EXAMPLES = Path(__file__).parents[2] / "examples"
BEAD = """
model bead; parameters a = 2 m; gravity (0, -9.81, 0);
Bead | Sx(x), Sy(y) = 1 kg; coordinates x, y;
constraint wire : x^2 + y^2 = a^2; initial x = 2;
"""
PAIR = """
model pair; coordinates q1, q2; parameters a = 1; gravity (0, -9.81, 0);
A | Rz(q1), Sx(a) = 1; B ~ A | Rz(q2), Sx(a) = 1;
"""


def test_a_multiplier_has_the_same_name_in_outputs_results_and_equations() -> None:
    system = kn.loads(BEAD + "output lambda.wire;")
    run = kn.simulate(system, 0.1, samples=3)
    assert list(run.outputs) == ["lambda.wire"]  # shown once
    assert kn.derive(system).expressions("multipliers").labels == ("lambda.wire",)
    assert "lambda.wire" in series_names(kn.derive(system))
    assert r"\lambda_{\mathrm{wire}}" in kn.derive(system).latex("multipliers")


@pytest.mark.parametrize("model", ["fourbar", "rolling_coin", "bricard", "skate"])
def test_multipliers_of_turns_are_couples_and_others_forces(model: str) -> None:
    run = kn.simulate(kn.load(EXAMPLES / f"{model}.kin"), 0.01, samples=2)
    units = {n: u for n, u in run.units.items() if n.startswith("lambda.")}
    assert units == {n: "N*m" if n.rpartition(".")[2] in ("ru", "rw") else "N" for n in units}
    assert units


def test_units_follow_through_accelerations_and_multipliers_in_outputs() -> None:
    run = kn.simulate(kn.loads(BEAD + "output x'', tension = lambda.wire*a;"), 0.1, samples=3)
    assert (run.units["x''"], run.units["tension"], run.units["lambda.wire"]) == ("m/s^2", "N", "N/m")


@pytest.mark.parametrize(
    ("output", "near"),
    [("lambda.pn.x", "'lambda.pin.x'"), ("lambda.pni", "'lambda.pin'"), ("q3''", "q2''")],
)
def test_outputs_of_a_motion_have_near_names(output: str, near: str) -> None:
    with pytest.raises(KinetaError, match=rf"Did you mean {near}\?"):
        kn.loads(PAIR + f"loop pin : ball between B and ground at (1, 0, 0); output {output};")


def test_a_comparison_is_no_constraint() -> None:
    with pytest.raises(ArgumentError, match=r"found the truth value False.*write the difference, q - 3 and not q == 3"):
        kn.constraint("c", kn.symbol("q") == 3)


def test_freedom_is_never_less_than_none() -> None:
    """A loop that holds a pendulum twice over, and one that cannot be met."""
    for end, point in (("a", "(1, 0, 0)"), ("a", "(3, 0, 0)")):
        system = kn.loads(
            f"model m; coordinates q; parameters a = 1; A | Rz(q), Sx({end}) = 1; "
            f"loop pin : ball between A and ground at {point};"
        )
        assert freedom(derive(system)) == 0
    unknown = "model m; coordinates q; parameters L; A | Rz(q), Sx(L) = 1; loop pin : ball between A and ground;"
    assert freedom(derive(kn.loads(unknown))) == 0


@pytest.mark.slow
def test_a_case_that_cannot_start_says_nothing_of_its_energy() -> None:
    run = kn.simulate(kn.load(EXAMPLES / "fourbar.kin"), 0.01, q={"theta": [0.8, 2.0]})
    good, bad = run.cases.messages
    assert "energy balance" in good
    assert bad.startswith("Model 'fourbar': ")
    assert "energy balance" not in bad
    assert np.isfinite(run.energy_balance)
