"""Constraints and quasi-velocities in the text language: read, written, refused, and met by runs."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.support import EXAMPLES, slow

WIRE = """
gravity (0, -9.81, 0);
parameters a = 2 m;
Bead | Sx(x), Sy(y) = m(0.1);
coordinates x, y;
constraint wire : x^2 + y^2 = a^2;
initial x = 2, y' = 0.5;
"""
SKATE = (EXAMPLES / "skate.kin").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [WIRE, SKATE, SKATE.replace("w = phi'", "phi'").replace("w = 2", "phi' = 2")])
def test_what_is_written_reads_back(text: str) -> None:
    system = kn.loads(text)
    assert kn.loads(kn.dumps(system)) == system
    assert len(system.constraints) == 1


def test_names_of_lets_stand_in_constraints() -> None:
    named = WIRE.replace("constraint wire : x^2 + y^2", "let r2 = x^2 + y^2; constraint wire : r2")
    state = (0.0, [2.0, 0.0], [0.0, 0.5])
    for quantity in ("forward", "constraints"):
        expected = kn.derive(kn.loads(WIRE)).function(quantity)(*state)
        assert kn.derive(kn.loads(named)).function(quantity)(*state) == pytest.approx(expected)


def test_the_skate_moves_as_gantmacher_says() -> None:
    run = kn.simulate(kn.load(EXAMPLES / "skate.kin"), 5.0)
    g, turning = 9.81, 2.0
    c = 0.5 - g / turning
    phi = turning * run.t
    assert run["u"] == pytest.approx(g / turning * np.cos(phi) + c, abs=1e-7)
    x = g / (2 * turning**2) * phi + (c / turning + g / (2 * turning**2) * np.cos(phi)) * np.sin(phi)
    assert run["x"] == pytest.approx(x, abs=1e-7)


def test_a_bead_stays_on_its_wire() -> None:
    run = kn.simulate(kn.loads(WIRE), 5.0)
    assert np.abs(run["x"] ** 2 + run["y"] ** 2 - 4).max() < 1e-6
    assert run.success


BAD = {
    WIRE.replace("x = 2,", "x = 1,"): r"the start misses the constraint 'wire': it is -3 m\^2 at t = 0 s",
    WIRE.replace(
        "y' = 0.5", "x' = 0.5"
    ): r"the start misses the rate of the constraint 'wire': it is 2 m\^2/s at t = 0 s",
}


@pytest.mark.parametrize("text", BAD)
def test_a_start_that_misses_a_constraint_is_refused(text: str) -> None:
    with pytest.raises(kn.SimulationError, match=BAD[text]):
        kn.simulate(kn.loads(text), 1.0)


WRONG = {
    SKATE.replace(
        "u = 0.5", "x' = 0.5"
    ): r"skate:14:9\): initial 'x'' is neither a coordinate nor a speed\. The speeds of this model are its "
    r"quasi-velocities u, w\.",
    SKATE.replace(
        "y'*cos(phi);\nquasi", "z'*cos(phi);\nquasi"
    ): r"Constraint 'edge' \(skate:11:33\): unknown symbol 'z''",
    SKATE.replace("constraint edge :", "constraint edge ="): r"skate:11:17: ",
    SKATE.replace("quasi u", "quasi x"): r"Quasi 'x' .*the name is taken by a coordinate or parameter",
    WIRE.replace("= a^2;", "= a;"): r"the right side of constraint 'wire'",
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_are_named_with_their_place(text: str) -> None:
    with pytest.raises(kn.ModelError, match=WRONG[text]):
        kn.loads(text, "skate")


@pytest.mark.parametrize("text", [WIRE, *slow([SKATE])])
def test_models_with_constraints_are_certified(text: str) -> None:
    system = kn.loads(text)
    kept = system.replace(
        quasi=(), initial=[(n, x) for n, x in system.initial if n not in system.v_names or not system.quasi]
    )
    for model in (system, kept):
        certificate = kn.verify(model, states=8)
        assert certificate.holds, str(certificate)
        assert "energy" in [i.name for i in kn.first_integrals(model)]
