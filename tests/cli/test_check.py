"""What ``kineta check`` understands of a model, and says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kineta as kn
from tests.cli.conftest import HOPPER, Command
from tests.support import EXAMPLES, examples


@pytest.mark.parametrize("name", examples(of=2))
def test_every_example_passes_its_check(kineta: Command, name: str) -> None:
    model = EXAMPLES / f"{name}.kin"
    done = kineta("check", model, "--json")
    assert (done.code, done.err) == (0, "")
    system, found = kn.load(model), done.json
    assert list(found) == [
        "model",
        "bodies",
        "coordinates",
        "inferred",
        "speeds",
        "states",
        "freedom",
        "constraints",
        "contacts",
        "places",
        "contact_laws",
        "switches",
        "programs",
        "law",
        "parameters",
        "taken",
        "lets",
        "elements",
        "outputs",
        "notes",
        "checks",
        "seconds",
    ]
    assert found["bodies"] == [b.name for b in system.bodies]
    assert [*found["coordinates"], *found["states"]] == list(system.q_names)
    assert found["speeds"] == list(system.v_names)
    assert found["parameters"] == {p.name: p.value for p in system.parameters}
    assert [set(c) for c in found["checks"]] == [{"name", "measure", "value", "passed", "fault"}] * (
        3 if system.constraints else 2
    )
    assert all(c["passed"] for c in found["checks"])


def test_check_says_what_was_understood(kineta: Command) -> None:
    done = kineta("check", HOPPER)
    assert done.code == 0
    assert done.out.startswith("hopping_robot: 2 bodies, 6 degrees of freedom\n  bodies: Нога, Корпус\n")
    assert "b3 = 0.35" in done.out
    assert "ok: mass matrix is positive definite" in done.out


def test_a_failed_check_names_the_speed_and_ends_with_2(kineta: Command, here: Path) -> None:
    (here / "idle.kin").write_text("Cart | Sx(q1) = 2; Wheel ~ Cart | Rz(q2) = 1;")
    done = kineta("check", "idle.kin")
    assert done.code == 2
    assert done.out.endswith(
        "  FAILED: mass matrix is positive definite (smallest scaled eigenvalue 0): the speed 'q2'' moves no inertia. "
        "Give a body that it moves a mass or a moment of inertia, or start elsewhere.\n"
    )
    done = kineta("check", "idle.kin", "--json")
    assert (done.code, done.json["checks"][0]["passed"]) == (2, False)
    (here / "twice.kin").write_text("A | Rz(q1), Rz(q2) = 1, 1, 1, 1;")
    assert kineta("check", "twice.kin").code == 2


@pytest.mark.slow
def test_large_models_are_checked_part_by_part(kineta: Command, here: Path) -> None:
    text = "for i in 1..120 : B[i] | Free(b[i]) = 1, 1, 2, 2; A | Sx(q1) = 1; initial b[3].wx = 1;"
    (here / "many.kin").write_text(text)
    done = kineta("check", "many.kin", "--json")
    assert [(c["passed"], c["value"]) for c in done.json["checks"]] == [
        (True, pytest.approx(1)),
        (True, pytest.approx(0)),
    ]
    (here / "idle.kin").write_text(f"{text} Wheel ~ A | Rz(q2) = 1;")
    done = kineta("check", "idle.kin")
    assert done.code == 2
    assert "FAILED: mass matrix is positive definite (smallest scaled eigenvalue 0): the speed 'q2'' moves" in done.out


def test_parameters_given_by_with_say_what_to_set(kineta: Command, here: Path) -> None:
    (here / "part.kin").write_text("parameters m = 1; A | Sx(x) = m; coordinates x;")
    (here / "whole.kin").write_text('parameters M = 1; use "part.kin" as a with m = 2*M;')
    done = kineta("check", "whole.kin", "--set", "a.m=3")
    assert done.code == 1
    assert "has no parameter 'a.m'. 'a.m' stands for 2*M by 'let' or 'with'; change 'M' instead." in done.err


def test_units_do_not_decide_whether_a_mass_matrix_is_singular(kineta: Command, here: Path) -> None:
    (here / "ship.kin").write_text("Ship | Sx(q1) = 200000; Gyro ~ Ship | Rz(q2) = Jz(1e-8);")
    done = kineta("check", "ship.kin", "--json")
    assert (done.code, done.json["checks"][0]["value"]) == (0, 1.0)


def test_a_mass_matrix_that_is_not_finite_is_no_number(kineta: Command, here: Path) -> None:
    (here / "pole.kin").write_text("parameters k = 0;\nA | Sx(q + 1/k) = 1, 1, 1, 1;\nB ~ A | Rz(q2/k) = 1, 1, 1, 1;")
    done = kineta("check", "pole.kin")
    assert done.code == 2
    assert "(smallest scaled eigenvalue nan): it is not finite: '1/k' needs k != 0, and k = 0" in done.out
    (here / "pole.kin").write_text("parameters k = 0;\nA | Sx(q) = 1;\nforce f = 1/k on q;")
    done = kineta("check", "pole.kin")
    assert done.code == 2
    assert (
        "(relative error over condition number nan): a force is not finite: '1/k' of 'f' (pole.kin:3:7) needs k != 0, "
        "and k = 0"
    ) in done.out


def test_check_says_where_the_coordinates_come_from(kineta: Command, here: Path) -> None:
    (here / "found.kin").write_text("A | Rz(phi), Sx(q1) = 1, 1, 1, 1; parameters a = 1;")
    (here / "listed.kin").write_text("A | Rz(phi), Sx(q1) = 1, 1, 1, 1; coordinates q1, phi;")
    for options in ([], ["--set", "a=2"]):
        assert "  coordinates: phi (in an angle); q1 (by name)\n" in kineta("check", "found.kin", *options).out
        assert kineta("check", "found.kin", "--json", *options).json["inferred"] is True
    assert "  coordinates: q1, phi (listed)\n" in kineta("check", "listed.kin").out
    assert kineta("check", "listed.kin", "--json").json["inferred"] is False


def test_check_says_how_every_name_was_taken(kineta: Command, here: Path) -> None:
    (here / "bare.kin").write_text(
        "A | Sx(x), Ry(phi), Sz(l) = m; let tilt = phi - k; spring s = c on tilt; initial x = l;"
    )
    done = kineta("check", "bare.kin")
    assert "  coordinates: x (a speed or an initial value is named); phi (in an angle)\n" in done.out
    assert "  parameters: l, m (where only parameters may stand); c, k (in no motion)\n" in done.out
    assert "  named expressions: tilt\n" in done.out
    found = kineta("check", "bare.kin", "--json").json
    assert found["taken"]["phi"] == "in an angle"
    assert found["lets"] == {"tilt": "phi - k"}


def test_check_warns_of_names_that_nothing_tells_apart(kineta: Command, here: Path) -> None:
    (here / "planar.kin").write_text("A | Sx(x), Rz(phi) = m, 0, 0, J;")
    done = kineta("check", "planar.kin", "--set", "m=2")
    assert done.code == 0
    assert done.err == (
        "kineta: warning: Model 'planar': 'x' stands in shifts only and is taken for a parameter. List the coordinates to say "
        "what is meant: coordinates phi; or coordinates phi, x;\n"
    )
    assert "  parameters: x (in shifts only); m = 2, J (where only parameters may stand)\n" in done.out


def test_check_says_that_nothing_moves(kineta: Command, here: Path) -> None:
    (here / "still.kin").write_text("A | Sz(h) = 1; parameters h = 1;")
    done = kineta("check", "still.kin")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "still: 1 body, 0 degrees of freedom\n"
        "  nothing moves: no motion names a coordinate. Name one q1, or list it: coordinates ...\n"
    )
    assert kineta("check", "still.kin", "--json").json["checks"] == []


def test_check_names_parameters_without_values(kineta: Command, here: Path) -> None:
    (here / "open.kin").write_text("parameters m, J, k = 2 N/m;\nA | Sx(q) = m, J, J, J;")
    done = kineta("check", "open.kin")
    assert done.code == 0
    assert "not checked against the laws: without values for m, J" in done.out
    assert kineta("check", "open.kin", "--json").json["checks"] == []


def test_constraints_are_checked_and_said(kineta: Command, tmp_path: Path) -> None:
    text = "Bead | Sx(x), Sy(y) = m(1);\ncoordinates x, y;\nconstraint wire : x^2 + y^2 = 4;\ninitial x = 2, y' = 1;\n"
    model = tmp_path / "wire.kin"
    model.write_text(text)
    done = kineta("check", str(model))
    assert done.code == 0
    assert "wire: 1 body, 1 degree of freedom" in done.out
    assert "constraints: wire" in done.out
    assert "ok: the start meets the constraints" in done.out
    assert "--quantity multipliers, reaction_forces" in kineta("derive", str(model)).err
    model.write_text(text.replace("x = 2", "x = 1"))
    done = kineta("check", str(model))
    assert done.code == 2
    assert (
        "FAILED: the start meets the constraints (largest residual 3): the start misses the constraint 'wire'"
        in done.out
    )


def test_programs_are_listed_with_their_orders_and_the_law(kineta: Command, tmp_path: Path) -> None:
    model = tmp_path / "held.kin"
    model.write_text("""
        A | Sx(x), Sy(y) = 1; coordinates x, y;
        program hold : |a(A)| = 2; program swing : y''' = t; control kineta;
    """)
    done = kineta("check", str(model))
    assert "  programs: hold (order 2), swing (order 3)\n  law of control: kineta\n" in done.out
    found = kineta("check", str(model), "--json").json
    assert (found["programs"], found["law"]) == ({"hold": 2, "swing": 3}, "kineta")


@pytest.mark.slow
def test_what_acts_in_runs_is_listed_and_said_to_be_no_part_of_equations(kineta: Command, tmp_path: Path) -> None:
    model = tmp_path / "box.kin"
    model.write_text("""
        Box | Sx(x), Sz(z), Ry(q1) = 1, 1, 1, 1; coordinates x, z, q1; parameters s = 0; point A on Box = (1, 0, 0);
        contact foot : point between Box, A and ground axis (0, 0, 1); contact tip : ball = 1 between A and ground axis (1, 0, 0);
        limit stop : q1 <= 1; friction dry = 1 on x; when up : q1 >= 1 : s = 1;
    """)
    done = kineta("check", str(model))
    said = ("contacts: foot (2 places), tip", "limits: stop", "dry friction: dry", "switches: up")
    assert [line for line in said if f"  {line}\n" not in done.out] == []
    found = kineta("check", str(model), "--json").json
    assert found["contacts"] == {"foot": "Contact", "tip": "Contact", "stop": "Limit", "dry": "Friction"}
    assert found["contact_laws"] == {"foot": "newton", "tip": "newton"}
    assert (found["places"], found["switches"]) == ({"foot": ["Box", "A"], "tip": ["A"]}, ["up"])
    words = "only runs know contacts, dry friction, limits and switches.\n"
    for verb, what in (
        ("derive", "what is derived"),
        ("eval", "the quantity forward"),
        ("export", "the code"),
        ("verify", "the certificate"),
    ):
        options = ("--to", str(tmp_path)) if verb == "export" else ("--states", "1") if verb == "verify" else ()
        said_by = kineta(verb, str(model), *options).err
        assert f"{what} is of its equations without foot, tip, dry, stop, up: {words}" in said_by


def test_a_singular_start_is_named_by_its_constraint(kineta: Command, here: Path) -> None:
    (here / "stretched.kin").write_text(
        "gravity 9.81; A | Rz(a), Sx(1) = 1; B ~ A | Rz(b), Sx(1) = 1; constraint c : B.x^2 + B.y^2 = 4;"
    )
    for command in (("check", "stretched.kin"), ("eval", "stretched.kin", "--quantity", "forward")):
        done = kineta(*command)
        said = done.out + done.err
        assert "the state is singular: the constraint c changes with no motion there; start a little beside it" in said
        assert "a force is not finite" not in said


def test_a_multiplier_that_a_constraint_lacks_is_named(kineta: Command, here: Path) -> None:
    text = "model held; coordinates x, y, z; B | Sx(x), Sy(y), Sz(z) = 1; loop c : ball between B and ground; "
    (here / "held.kin").write_text(f"{text} output N = 2*lambda.c.z;")
    assert kineta("check", "held.kin").code == 0
    (here / "held.kin").write_text(f"{text} output N = 2*lambda.c.n;")
    said = (
        "there is no 'lambda.c.n'; its multipliers are lambda.c.x, lambda.c.y, lambda.c.z. Did you mean 'lambda.c.z'?"
    )
    for verb in ("check", "simulate"):
        done = kineta(verb, "held.kin")
        assert (done.code, done.err) == (1, f"kineta: Model 'held': {said}\n")
