"""What every verb prints and leaves on disk, with and without ``--json``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.cli.main import app
from tests.cli.conftest import CART, HOPPER, Command
from tests.support import EXAMPLES, slow

DOUBLE = EXAMPLES / "double_pendulum.kin"
MODELS = sorted(EXAMPLES.glob("*.kin"))
COUNTED = ("kinetic_energy", "inverse", "mass_matrix", "mass_and_bias", "forward")


# -- derive ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_unforced_equations_have_zeros_in_the_place_of_added_forces(kineta: Command) -> None:
    assert kineta("derive", DOUBLE, "--unforced").out.splitlines()[-1].startswith("0 = ")
    assert "[ 0 ]" in kineta("derive", DOUBLE, "--unforced", "--matrix").out
    for options in (("--quantity", "inverse"), ("--explain",)):
        found = kineta("derive", DOUBLE, "--unforced", *options)
        assert found.code == 1
        assert "--unforced" in found.err


PENDULA = """model pendula; gravity (0, -g, 0); parameters m1, m2, g, l1, l2; coordinates theta1, theta2;
Upper | Rz(theta1), Sy(-l1) = m1; Lower ~ Upper | Rz(theta2 - theta1), Sy(-l2) = m2;"""


@pytest.mark.parametrize("quantity", ["equations", "mass_matrix", *slow(["canonical"])])
def test_matrices_are_data(kineta: Command, here: Path, quantity: str) -> None:
    (here / "pendula.kin").write_text(PENDULA)
    told = json.loads(kineta("derive", "pendula.kin", "--matrix", "--json", "--quantity", quantity).out)["matrices"]
    assert len(told["M"] if quantity == "equations" else told["rows"]) == (4 if quantity == "canonical" else 2)
    assert kineta("derive", "pendula.kin", "--matrix", "--quantity", quantity).code == 0


@pytest.mark.slow
def test_formulas_need_no_values(kineta: Command, here: Path) -> None:
    (here / "pendula.kin").write_text(PENDULA)
    assert "K[theta2,theta2] = m2*g*l2" in kineta("modes", "pendula.kin", "--formulas").out.splitlines()
    assert kineta("modes", "pendula.kin", "--formulas", "--latex").out.startswith("\\[\n\\begin{aligned}\nM_{")
    assert "m_{1}" in json.loads(kineta("linearize", "pendula.kin", "--formulas", "--latex", "--json").out)["latex"]
    assert "    E = " in kineta("integrals", "pendula.kin").out
    assert "E &= " in kineta("integrals", "pendula.kin", "--latex").out
    assert "need a value" in kineta("integrals", "pendula.kin", "--to", "1").err
    assert "need a value" in kineta("modes", "pendula.kin").err
    assert "--latex: expected --formulas beside it" in kineta("modes", "pendula.kin", "--latex").err
    found = kineta("modes", "pendula.kin", "--formulas", "--q", "theta1=1")
    assert "the state is no equilibrium for all values of the parameters: theta1'' = " in found.err


def test_names_and_terms_stand_in_the_order_asked_for(kineta: Command) -> None:
    assert "l2*l1*m2*cos" in kineta("derive", DOUBLE, "--order", "l2, l1").out
    assert kineta("derive", DOUBLE, "--rising", "--matrix", "--latex").code == 0
    assert kineta("derive", DOUBLE, "--rising").out.splitlines()[0].endswith("*q2''")
    assert "l2^2*m2*q2''" in kineta("derive", DOUBLE, "--explain", "--order", "l2").out
    found = kineta("derive", DOUBLE, "--order", "l2,l7")
    assert (found.code, found.err) == (
        1,
        "kineta: The equations of 'double_pendulum' have no name 'l7' to be put in order.\n",
    )


@pytest.mark.slow
def test_derive_json_has_all_its_keys(kineta: Command) -> None:
    done = kineta("derive", CART, "--json")
    assert (done.code, done.err) == (0, "")
    found, equations = done.json, kn.derive(kn.load(CART))
    assert list(found) == [
        "model", "formalism", "strategy", "coordinates", "states", "speeds", "parameters", "operations", "quantity", "equations",
        "reading_cost", "seconds",
    ]  # fmt: skip
    assert (found["model"], found["formalism"]) == ("cart_pendulum", "newton_euler")
    assert (found["coordinates"], found["speeds"]) == (["q1", "q2"], ["q1'", "q2'"])
    assert found["parameters"] == list(equations.system.parameter_names)
    assert tuple(found["operations"]) == COUNTED
    for quantity, counts in found["operations"].items():
        assert list(counts) == ["add", "mul", "div", "sqrt", "trig", "hoisted"]
        assert counts == equations.operations(quantity).as_dict()
    assert list(found["seconds"]) == ["read", "derive", "compile"]
    assert all(s > 0 for s in found["seconds"].values())


@pytest.mark.slow
def test_derive_prints_equations_on_stdout_and_counts_on_stderr(kineta: Command) -> None:
    done, listed = kineta("derive", CART), kineta("derive", CART, "--json").json
    assert done.out.splitlines() == listed["equations"]
    assert done.out.splitlines()[-1].startswith("tau[q2'] = ")
    assert "Operations of 'cart_pendulum' by newton_euler" in done.err
    assert all(quantity in done.err for quantity in COUNTED)


@pytest.mark.slow
def test_derivations_are_told_in_every_form(kineta: Command, here: Path) -> None:
    account = kn.derive(kn.load(CART), "appell").account()
    command = ("derive", CART, "--formalism", "appell", "--explain")
    assert kineta(*command).out == account.markdown()
    assert kineta(*command, "--latex").out == account.latex()
    assert kineta(*command, "--json").json == account.as_dict()
    for name, form in (("a.md", account.markdown), ("a.tex", account.latex), ("a.HTML", account.html)):
        assert kineta(*command, "--save", name).out == f"{name}: {len(account.steps)} steps\n"
        assert (here / name).read_text(encoding="utf-8") == form()


@pytest.mark.slow
def test_the_equations_of_motion_are_printed_as_matrices(kineta: Command) -> None:
    shown = kn.derive(kn.load(DOUBLE)).matrix_form()
    assert kineta("derive", DOUBLE, "--matrix").out == f"{shown}\n"
    assert kineta("derive", DOUBLE, "--matrix", "--latex").out == f"\\[\n{shown.latex()}\n\\]\n"


@pytest.mark.slow
def test_fixed_parameters_leave_the_equations(kineta: Command) -> None:
    plain, fixed = (kineta("derive", CART, "--json", *more).json for more in ([], ["--fix", "--set", "m1=3"]))
    assert fixed["parameters"] == []
    assert sum(fixed["operations"]["forward"].values()) < sum(plain["operations"]["forward"].values())


# -- eval --------------------------------------------------------------------------------------------------------------


def test_eval_without_values_takes_the_initial_state(kineta: Command) -> None:
    done = kineta("eval", CART, "--json")
    assert (done.code, done.err) == (0, "")
    found = done.json
    assert list(found) == ["model", "quantity", "t", "q", "v", "parameters", "shape", "value"]
    assert (found["quantity"], found["t"], found["q"], found["v"]) == ("forward", 0.0, [0.12, 0.4], [-0.3, 0.9])
    f = kn.derive(kn.load(CART)).function("forward")
    assert found["value"] == f(0.0, [0.12, 0.4], [-0.3, 0.9]).tolist()
    assert kineta("eval", CART).out.startswith("[ -0.8635265032")


@pytest.mark.parametrize(
    "q", ["0.2,-0.5", "[0.2, -0.5]", "@state.json", "@list.json", '{"q1": 0.2, "q2": -0.5}', "q2=-0.5, q1=20 cm"]
)
def test_states_may_be_written_in_several_ways(kineta: Command, here: Path, q: str) -> None:
    (here / "state.json").write_text(json.dumps({"q": [0.2, -0.5], "v": [1, 2], "model": "cart_pendulum"}))
    (here / "list.json").write_text("[0.2, -0.5]")
    options = ("--v", "1,2", "--tau", "q1'=4", "--set", "m1=3 kg", "--set", "l=30 cm", "--t", "500 ms", "--json")
    found = kineta("eval", CART, "--q", q, *options).json
    f = kn.derive(kn.load(CART)).function("forward")
    assert found["value"] == f(0.5, [0.2, -0.5], [1, 2], tau=[4, 0], p={"m1": 3, "l": 0.3}).tolist()
    assert found["tau"] == [4, 0]


@pytest.mark.slow
def test_simulate_says_which_constraints_are_redundant(kineta: Command) -> None:
    done = kineta("simulate", EXAMPLES / "bricard.kin", "--to", "0.1")
    assert done.code == 0
    assert "1 of 5 rows of constraints is redundant and left out" in done.out
    assert "their reactions are indeterminate" in done.out


def test_eval_takes_derivatives_of_accelerations_by_name(kineta: Command) -> None:
    given = {"v": [0.5, -1.0], "vdot": [1.0, 2.0], "vddot": [0.0, 3.0]}
    options = ["--v", "0.5,-1", "--vdot", "1,2", "--levels", "q2'''=3"]
    found = kineta("eval", CART, "--quantity", "inertia_forces(3)", *options, "--json").json
    assert {n: found[n] for n in given} == given
    expected = kn.derive(kn.load(CART)).function("inertia_forces(3)")(0, found["q"], *given.values())
    assert found["value"] == pytest.approx(expected, rel=1e-12)


def test_eval_says_that_no_motion_comes_through_a_state(kineta: Command) -> None:
    done = kineta("eval", EXAMPLES / "fourbar.kin", "--q", "theta=1.0")
    assert done.err.startswith("kineta: warning: Model 'fourbar': the state misses the constraint 'pin.x': it is ")
    assert kineta("eval", EXAMPLES / "fourbar.kin").err == ""


def test_the_output_of_eval_is_an_input(kineta: Command, here: Path) -> None:
    first = kineta("eval", CART, "--q", "0.3,0.1", "--tau", "1,2", "--json")
    (here / "first.json").write_text(first.out)
    again = kineta("eval", CART, "--q", "@first.json", "--v", "@first.json", "--tau", "@first.json", "--json")
    assert again.json == first.json


def test_the_output_of_assemble_is_an_input(kineta: Command, here: Path) -> None:
    (here / "v.kin").write_text("A | Sx(q) = 1; quasi v = q';")
    (here / "state.json").write_text(kineta("assemble", here / "v.kin", "--v", "v=3", "--json").out)
    got = kineta("eval", here / "v.kin", "--q", "@state.json", "--v", "@state.json", "--quantity", "kinetic_energy")
    assert got.out == "4.5\n"


def test_inverse_undoes_forward(kineta: Command) -> None:
    vdot = kineta("eval", HOPPER, "--tau", "1,2,3,4,5,6", "--json").json["value"]
    back = kineta("eval", HOPPER, "--quantity", "inverse", "--vdot", json.dumps(vdot), "--json").json["value"]
    np.testing.assert_allclose(back, [1, 2, 3, 4, 5, 6], rtol=1e-10)


#: A cart with a pendulum, whose equations are short enough to print the second derivatives of its accelerations.
SHORT = """gravity 9.81; parameters m = 2, k = 40, L = 0.6, d = 0.8, A = 3, W = 2.5;
Cart | Sx(q1) = m; Rod ~ Cart | Ry(q2), Sz(-0.5) = 1;
spring wall = k, L on q1; damper slide = d on q1'; force drive = A*sin(W*t) on q1;
initial q1 = 0.12, q2 = 0.4, q1' = -0.3, q2' = 0.9; output Rod.position, energy;"""


@pytest.mark.slow
def test_every_quantity_has_equations_and_numbers(kineta: Command, here: Path) -> None:
    (here / "cart.kin").write_text(SHORT)
    equations = kn.derive(kn.load("cart.kin"))
    without = {"routhian", "effective_potential"}  # no coordinate of a cart on a spring is ignorable
    for quantity in without:
        refused = kineta("derive", "cart.kin", "--quantity", quantity)
        assert refused.code != 0
        assert "no ignorable coordinate" in refused.err
    for quantity in [name for name in equations.quantities if name not in without]:
        size = int(np.prod(equations.expressions(quantity).shape))
        found = kineta("eval", "cart.kin", "--quantity", quantity, "--backend", "numpy", "--json").json
        parts = found["value"] if isinstance(found["value"], dict) else {quantity: found["value"]}
        shapes = found["shape"] if isinstance(found["shape"], dict) else {quantity: found["shape"]}
        # A list without rows does not tell how many columns they would have.
        assert {n: list(np.shape(x)) for n, x in parts.items() if x} == {n: s for n, s in shapes.items() if parts[n]}
        assert sum(np.size(x) for x in parts.values()) == size
        printed = kineta("derive", "cart.kin", "--quantity", quantity, "--json").json["equations"]
        assert len(printed) >= size, quantity  # each entry has a line, after the parts that it names


# -- simulate ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_simulate_writes_what_it_says(kineta: Command, here: Path) -> None:
    done = kineta("simulate", CART, "--to", "0.5", "--set", "m1=2.5", "--plot", "out.png", "--save", "run.nc", "--json")
    assert (done.code, done.err) == (0, "")
    found = done.json
    assert list(found) == [
        "model", "method", "outcome", "success", "t", "steps", "rejected", "evaluations", "energy_balance",
        "residual", "notes", "changes", "seconds", "impacts",
        "parameters", "final", "files",
    ]  # fmt: skip
    assert (found["t"], found["success"], found["parameters"]["m1"]) == ([0.0, 0.5], True, 2.5)
    assert found["outcome"].startswith("reached t = 0.5 s")
    run = kn.load_result("run.nc")
    assert len(run.t) == 1001
    assert found["final"] == {name: values[-1] for name, values in run.series.items()}
    expected = kn.simulate(kn.load(CART), 0.5, p={"m1": 2.5}, samples=1001)
    np.testing.assert_array_equal(run.y, expected.y)
    assert (here / "out.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in here.iterdir()) == ["out.png", "run.nc"]


def test_simulate_prints_a_table(kineta: Command, here: Path) -> None:
    done = kineta("simulate", CART, "--to", "20 ms", "--samples", "3", "--save", "a[red]b.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("cart_pendulum: reached t = 0.02 s; energy balance ")
    assert done.out.endswith("written: a[red]b.csv\n")
    assert all(name in done.out for name in ("q1 [m]", "q2' [rad/s]", "potential_energy [J]", "E.vz"))
    with (here / "a[red]b.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["t"]) for row in rows] == [0.0, 0.01, 0.02]


def test_rounding_errors_of_a_body_at_rest_are_zero_in_the_table(kineta: Command) -> None:
    done = kineta("simulate", EXAMPLES / "rocking_block.kin", "--to", "5")
    cells = {row.split("│")[0].strip(): row.split("│")[-1].strip() for row in done.out.splitlines() if "│" in row}
    assert {cells[name] for name in ("q [rad]", "x' [m/s]", "z' [m/s]", "q' [rad/s]", "lambda.floor.Left.u [N]")} == {
        "0"
    }
    assert "-0 " not in kineta("simulate", EXAMPLES / "sliding_block.kin", "--to", "0.1").out


def test_forces_and_states_reach_the_run(kineta: Command) -> None:
    run = ("simulate", CART, "--to", "-0.1", "--q", "q2=10 deg", "--v", "0,0", "--tau", "q1'=2")
    found = kineta(*run, "--json").json
    expected = kn.simulate(kn.load(CART), -0.1, q={"q2": np.pi / 18}, v=[0, 0], tau={"q1'": 2}, samples=1001)
    assert found["t"] == [0.0, -0.1]
    assert found["final"]["q1"] == expected["q1"][-1]


def test_a_run_that_fails_keeps_its_part_and_ends_with_2(kineta: Command, here: Path) -> None:
    (here / "blow.kin").write_text("coordinates x;\nA | Sx(x) = 1;\nforce s = 2*x'^2 on x;\ninitial x' = 1 m/s;")
    done = kineta("simulate", "blow.kin", "--to", "5", "--save", "blow.csv", "--json")
    assert (done.code, done.json["success"]) == (2, False)
    assert "Model 'blow': failed at t = 0.5" in done.err
    assert len((here / "blow.csv").read_text().splitlines()) > 50


def test_what_a_solver_prints_is_not_printed(kineta: Command, here: Path) -> None:
    (here / "wild.kin").write_text("coordinates x;\nA | Sx(x) = 1;\nforce f = 1e200*x on x;\ninitial x = 1;")
    done = kineta("simulate", "wild.kin", "--method", "CVODE", "--json")
    assert (done.code, done.json["success"]) == (2, False)
    assert done.err == f"kineta: Model 'wild': {done.json['outcome']}.\n"


def test_energy_that_tolerances_do_not_explain_ends_with_2(kineta: Command, here: Path) -> None:
    (here / "circle.kin").write_text("gravity (0, -9.81, 0);\ncoordinates q;\nP | Sx(acos(q)), Sy(q) = 1;")
    done = kineta("simulate", "circle.kin", "--to", "3", "--json")
    assert (done.code, done.json["success"]) == (2, False)
    assert done.json["energy_balance"] > 0.1
    assert done.err == f"kineta: warning: Model 'circle': {done.json['outcome']}.\n"
    assert "'acos(q)' needs -1 <= q <= 1, and q = -1 at t = " in done.err


# -- import, examples --------------------------------------------------------------------------------------------------

ARM = """<robot name="arm"><link name="base"/>
<link name="upper arm"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper arm"/><axis xyz="0 1 0"/></joint></robot>
"""


def test_import_turns_urdf_into_a_model(kineta: Command, here: Path) -> None:
    (here / "arm.urdf").write_text(ARM)
    done = kineta("import", "arm.urdf", "-o", "arm.kin", "--json")
    assert (done.code, list(done.json)) == (0, ["model", "file", "notes", "text"])
    assert "arm.urdf:2:" in done.err
    assert "'upper arm'" in done.err
    assert (here / "arm.kin").read_text() == done.json["text"] == kineta("import", "arm.urdf").out
    same = [kineta("eval", f"arm.{s}", "--quantity", "mass_matrix", "--json").json["value"] for s in ("kin", "urdf")]
    assert same[0] == same[1]
    floating = kineta("import", "arm.urdf", "--floating", "-o", "free.kin")
    assert floating.out == "written: free.kin (2 bodies, 7 degrees of freedom)\n"


def test_examples_are_listed_and_copied(kineta: Command, here: Path) -> None:
    listed = kineta("examples", "list", "--json").json
    assert list(listed) == [p.stem for p in MODELS]
    assert all(text.endswith(".") and text.count(". ") == 0 for text in listed.values())
    assert "Hopping robot" in kineta("examples", "list").out
    assert kineta("examples", "copy", "puma560", "--to", "new/folder", "--json").json == {
        "files": ["new/folder/puma560.kin"]
    }
    assert kineta("examples", "copy").code == 0
    for p in MODELS:
        assert (here / p.name).read_bytes() == p.read_bytes()


def test_limits_that_look_like_degrees_are_noted(kineta: Command, here: Path) -> None:
    text = "Arm | Rz(q) = Jz(1); Cart | Sx(x) = 1; coordinates q, x; limit a : {} <= q <= {}; limit b : x <= 60;"
    for bounds, noted in (
        (("-90", "1"), True),
        (("0", "60"), True),
        (("-90 deg", "4*pi"), False),
        (("-1", "60 rad"), False),
        (("-90", "60 rad"), True),
        (("0", "400"), False),
    ):
        (here / "m.kin").write_text(text.format(*bounds))
        assert ("if degrees are meant, write" in kineta("check", "m.kin").out) is noted
    assert "Limit 'b'" not in kineta("check", "m.kin").out


def test_gravity_upwards_and_turns_that_look_like_degrees_are_noted(kineta: Command, here: Path) -> None:
    text = "gravity {}; Arm | {}, Rz(q) = Jz(1); coordinates q;"
    up, turns = (
        "Gravity points upwards, along z; write gravity 9.81 m/s^2",
        "turns by 90 rad = 5156.6 deg; write 90 deg if",
    )
    for gravity, motion, noted in (
        ("-9.81", "Rx(90)", (True, True)),
        ("9.81", "Rx(90 deg)", (False, False)),
        ("(0, 0, 9.81)", "Rx(pi/2)", (True, False)),
        ("(0, 9.81, 0)", "Sx(90)", (False, False)),
    ):
        (here / "m.kin").write_text(text.format(gravity, motion))
        out = kineta("check", "m.kin").out
        assert (up in out, turns in out) == noted


def test_initial_angles_that_look_like_degrees_are_noted(kineta: Command, here: Path) -> None:
    text = "Arm | Rz(q) = Jz(1); Cart | Sx(x) = 1; coordinates q, x; initial q = {}, x = 30;"
    for value, noted in (
        ("30", True),
        ("30 rad", False),
        ("30 deg", False),
        ("6", False),
        ("720", False),
        ("10*pi", False),
    ):
        (here / "m.kin").write_text(text.format(value))
        out = kineta("check", "m.kin").out
        assert ("Initial 'q': 30 rad = 1718.9 deg; write 30 deg if degrees are meant." in out) is noted
        assert "Initial 'x'" not in out


def test_angles_with_a_unit_in_a_model_that_another_uses_are_not_noted(kineta: Command, here: Path) -> None:
    (here / "arm.kin").write_text(
        "Arm | Rz(q), Sx(1) = 1; coordinates q; initial q = 45 rad; limit a : q <= 60 rad; limit b : q >= -90;"
    )
    (here / "m.kin").write_text('parameters k = 1; use "arm.kin" as one; use "arm.kin" as two; initial two.q = 30;')
    notes = [line for line in kineta("check", "m.kin").out.splitlines() if "degrees are meant" in line]
    assert [note.split()[:2] for note in notes] == [
        ["Limit", "'one.b'"],
        ["Limit", "'two.b'"],
        ["Initial", "'two.q':"],
    ]


def test_every_verb_leaves_out_the_limits_of_a_robot_when_told_so(kineta: Command, here: Path) -> None:
    verbs = [
        v for v in app.commands.values() if any(p.name == "model" for p in v.params) and v.name != "play"
    ]  # a text
    assert [v.name for v in verbs if not any("--no-limits" in p.opts for p in v.params)] == []
    (here / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="a"><inertial><mass value="1"/><origin xyz="0 0 -0.5"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">'
        '<parent link="base"/><child link="a"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
        '<dynamics friction="0.1"/></joint></robot>'
    )
    assert kineta("check", "arm.urdf", "--json").json["contacts"] == {"j_limit": "Limit", "j_friction": "Friction"}
    assert kineta("check", "arm.urdf", "--no-limits", "--json").json["contacts"] == {}
    (here / "m.kin").write_text("A | Rz(q) = Jz(1); limit stop : q <= 1;")
    assert (
        "expected a URDF robot, found 'm.kin'; --without NAME,... leaves out"
        in kineta("check", "m.kin", "--no-limits").err
    )


def test_what_acts_in_runs_alone_is_left_out_by_name(kineta: Command, here: Path) -> None:
    (here / "m.kin").write_text(
        "gravity 9.81; A | Sz(z) = 1 kg; contact floor : point between A and ground axis (0, 0, 1);\n"
        "limit top : z <= 2 m; when high : z >= 1 m : s = 1; parameters s = 0; initial z = 0.5; output lambda.floor.n;"
    )
    met = kineta("sensitivity", "m.kin", "--by", "z")
    assert met.code == 0
    assert "the derivatives hold for these 2 changes in this order: floor strikes at 0.319" in met.out
    falling = kineta("sensitivity", "m.kin", "--by", "z", "--without", "floor,top,high", "--json").json["series"]
    assert falling["z"] == {"value": pytest.approx(0.5 - 9.81 / 2), "by": [pytest.approx(1.0)]}
    assert falling["lambda.floor.n"]["value"] == 0
    assert kineta("check", "m.kin", "--without", "floor", "--json").json["contacts"] == {"top": "Limit"}
    wrong = kineta("check", "m.kin", "--without", "flor").err
    assert "has no contact, limit, friction, switch or program 'flor' to leave out. Did you mean 'floor'?" in wrong


@pytest.mark.parametrize("verb", ["derive", "eval"])
@pytest.mark.parametrize("quantity", ["constraints", "multipliers", "outputs"])
def test_a_quantity_without_entries_is_said_to_be_empty(kineta: Command, here: Path, verb: str, quantity: str) -> None:
    (here / "m.kin").write_text("A | Rz(q) = 1, 1, 1, 1;")
    done = kineta(verb, "m.kin", "--quantity", quantity)
    word = quantity if quantity == "outputs" else "constraints"
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"Model 'm': {quantity} is empty, the model has no {word}.\n")


@pytest.mark.parametrize("quantity", ["forward", "inverse", "mass_matrix"])
def test_without_coordinates_quantities_are_empty_as_nothing_moves(kineta: Command, here: Path, quantity: str) -> None:
    (here / "m.kin").write_text("gravity (0, -9.81, 0); A | Sx(1) = 2;")
    said = f"Model 'm': {quantity} is empty, nothing in the model can move: it has no coordinates.\n"
    assert kineta("eval", "m.kin", "--quantity", quantity).err == said


@pytest.mark.parametrize(
    ("verb", "end"), [("linearize", "has no states"), ("modes", "has no modes"), ("equilibrium", "rests as it is")]
)
def test_without_coordinates_one_sentence_says_that_nothing_moves(
    kineta: Command, here: Path, verb: str, end: str
) -> None:
    (here / "m.kin").write_text("gravity (0, -9.81, 0); A | Sx(1) = 2;")
    done = kineta(verb, "m.kin")
    assert (done.code, done.out) == (0, f"Model 'm': nothing in it can move, so that it {end}.\n")


@pytest.mark.parametrize("arguments", ["check", "derive", "verify --states 1 --digits 0", "simulate --to 0.01"])
def test_long_names_are_cut_in_tables(kineta: Command, here: Path, arguments: str) -> None:
    name = "n" * 20_000
    text = f"model {name}m; A{name} | Rz(q{name}) = {name}, 1, 1, 1; parameters {name} = 1; output o{name} = q{name};"
    (here / "m.kin").write_text(text)
    verb, *options = arguments.split()
    done = kineta(verb, "m.kin", *options)
    assert done.code == 0
    assert len(done.err) + (len(done.out) if verb != "derive" else 0) < 6000


@pytest.mark.slow
def test_of_large_systems_square_quantities_are_counted_if_asked_for(
    kineta: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kineta.cli.derive.LARGE", 1)
    done = kineta("derive", CART)
    assert done.err.endswith(
        "Not counted: mass_matrix, mass_and_bias, with more than 1 speeds only if asked for by --quantity.\n"
    )
    found = kineta("derive", CART, "--quantity", "mass_matrix", "--json").json["operations"]
    assert list(found) == ["kinetic_energy", "inverse", "mass_matrix", "forward"]
