"""Units, dimensions and values of the expressions of a text: which errors there are, what they say, and where they point."""

from __future__ import annotations

import pytest

import kineta as kn

QUANTITIES = [
    (
        "A | Rz(q1) = 1; initial q1' = 1 m/s;",
        "m.kin:1:31: initial 'q1'' must be a rate or an angular velocity [1/s], found a velocity [m/s].",
    ),
    (
        "A | Ry(1 m) = 1;",
        "m.kin:1:8: the angle of Ry must be an angle or a number without dimension, found a length [m].",
    ),
    (
        "A | Sx(30 deg) = 1;",
        "m.kin:1:8: the shift of Sx must be a length [m], found an angle or a number without dimension.",
    ),
    (
        "A | Sx(q1) = 1; state z in V : z' = (q1 - z)/0.1;",
        "m.kin:1:38: a length [m] and a voltage [kg*m^2/s^3/A] cannot be added or compared.",
    ),
    (
        "A | Sx(q1) = 1; state z in V : z' = 1 V/s; output y = q1' + z';",
        "m.kin:1:55: a velocity [m/s] and a quantity [kg*m^2/s^4/A] cannot be added or compared.",
    ),
    (
        "parameters A = 3, m = 1 kg; B | Sx(x) = m; coordinates x; force f = 9.81 m/s^2/A*m on x;",
        "m.kin:1:69: the value of force 'f' on a length [m] must be a force [kg*m/s^2], found a quantity [m^2/s^2/A]. 'A' in "
        "'9.81 m/s^2/A*m' is a unit; where the parameter 'A' is meant, write 9.81 m/s^2 / A.",
    ),
    (
        "parameters A = 3; B | Sx(x) = 1; coordinates x; force f = 9.81 N/A + x*1 N/m on x;",
        "m.kin:1:59: a quantity [kg*m/s^2/A] and a force [kg*m/s^2] cannot be added or compared. 'A' in '9.81 N/A' is a unit; "
        "where the parameter 'A' is meant, write 9.81 N / A.",
    ),
    (
        "parameters m = 2 kg; B | Sx(x) = m; gravity 10 N/m;",
        "m.kin:1:45: gravity must be an acceleration [m/s^2], found a stiffness [kg/s^2]. 'm' in '10 N/m' is a unit; where the "
        "parameter 'm' is meant, write 10 N / m.",
    ),
    (
        "parameters m = 2 kg; B | Sx(x) = m; coordinates x; force f = 3 N*m on x;",  # a mass would not make it a force
        "m.kin:1:62: the value of force 'f' on a length [m] must be a force [kg*m/s^2], found a couple or an energy "
        "[kg*m^2/s^2].",
    ),
    ("A | Rz(q1) = 1 cm;", "m.kin:1:14: the mass of body 'A' must be a mass [kg], found a length [m]."),
    (
        "A | Rz(q1) = 1, 1, 1, 1 kg;",
        "m.kin:1:23: Jz of body 'A' must be a moment of inertia [kg*m^2], found a mass [kg].",
    ),
    ("A | Rz(q1) = 1, com = (0, 1 kg, 0);", "m.kin:1:27: the centre of mass must be a length [m], found a mass [kg]."),
    ("A | Rz(q1) = 1; gravity 9.81 m;", "m.kin:1:25: gravity must be an acceleration [m/s^2], found a length [m]."),
    (
        "A | Rz(q1) = 1; point P on A = (0, 0, 1 s);",
        "m.kin:1:39: the position of a point must be a length [m], found a time [s].",
    ),
    (
        "A | Rz(q1) = 1; force f on A = (0, 1 N*m, 0);",
        "m.kin:1:36: force 'f' must be a force [kg*m/s^2], found a couple or an energy [kg*m^2/s^2].",
    ),
    (
        "A | Rz(q1) = 1; couple c on A = (0, 1 N, 0);",
        "m.kin:1:37: couple 'c' must be a couple or an energy [kg*m^2/s^2], found a force [kg*m/s^2].",
    ),
    (
        "A | Rz(q1) = 1; spring s = 5 N between A and ground;",
        "m.kin:1:28: the stiffness of spring 's' must be a stiffness [kg/s^2], found a force [kg*m/s^2].",
    ),
    (
        "A | Sx(q1) = 1; spring s = 4 N*s/m on q1 - 5 cm;",
        "m.kin:1:28: the stiffness of spring 's' on a length [m] must be a stiffness [kg/s^2], found a damping [kg/s].",
    ),
    (
        "A | Rz(q1) = 1; spring s = 4 N/m on q1 - 5 cm;",
        "m.kin:1:37: an angle or a number without dimension and a length [m] cannot be added or compared.",
    ),
    (
        "A | Rz(q1) = 1; spring s = 4 N/m on q1;",
        "m.kin:1:28: the stiffness of spring 's' on an angle or a number without dimension must be a couple "
        "or an energy [kg*m^2/s^2], found a stiffness [kg/s^2].",
    ),
    (
        "A | Sx(q1) = 1; damper s = 4 N/m on q1;",
        "m.kin:1:28: the damping of damper 's' on a velocity [m/s] must be a damping [kg/s], found a stiffness [kg/s^2].",
    ),
    (
        "A | Ball(b) = 1; damper s = 4 N*s/m on b.wx;",
        "m.kin:1:29: the damping of damper 's' on a rate or an angular velocity [1/s] must be a torsional damping "
        "[kg*m^2/s], found a damping [kg/s].",
    ),
    (
        "A | Rz(q1) = 1; force f = 3 N on q1;",
        "m.kin:1:27: the value of force 'f' on an angle or a number without dimension must be a couple "
        "or an energy [kg*m^2/s^2], found a force [kg*m/s^2].",
    ),
    (
        "A | Sx(x) = 1; coordinates x; force f = -3 N/m*x' on x;",
        "m.kin:1:41: the value of force 'f' on a length [m] must be a force [kg*m/s^2], found a quantity [kg*m/s^3].",
    ),
    (
        "A | Free(f) = 1; force p = 3 N*m on f.vx;",
        "m.kin:1:28: the value of force 'p' on a velocity [m/s] must be a force [kg*m/s^2], found a couple or "
        "an energy [kg*m^2/s^2].",
    ),
    (
        "A | Free(f) = 1; point P on A = (0, 0, 0); force p = 3 N*m on P.z;",
        "m.kin:1:54: the value of force 'p' on a length [m] must be a force [kg*m/s^2], found a couple or "
        "an energy [kg*m^2/s^2].",
    ),
    (
        "A | Sx(q1) = 1; force f on A = (3 N*q1, 0, 0);",
        "m.kin:1:33: force 'f' must be a force [kg*m/s^2], found a couple or an energy [kg*m^2/s^2].",
    ),
    ("A | Sx(q1) = Nm; parameters Nm = 3 Nm;", "m.kin:1:34: Expected a unit, found 'Nm'. Did you mean 'N*m'?"),
    ("A | Sx(q1) = 1; force f = 2 kNmm on q1;", "m.kin:1:27: Expected a unit, found 'kNmm'. Did you mean 'kN*mm'?"),
    ("A | Sx(90 kmh*t) = 1;", "m.kin:1:8: Expected a unit, found 'kmh'. Did you mean 'km/h'?"),
    (
        "A | Sx(3 t) = 1;",
        "m.kin:1:8: Expected a unit, found 't'. The name t stands for the time; a tonne is written Mg.",
    ),
    (
        "parameters n = 120/min; A | Rz(q1) = n;",
        "m.kin:1:20: parameter 'n': expected numbers and parameters with a value given before, found 'min'. "
        "A unit stands behind its number, as in 5 min and 5 1/min.",
    ),
    (
        "parameters m = 1; coordinates x; A | Sx(x) = m; force f = 3 N*metre on x;",
        "Force 'f' (m.kin:1:63): unknown symbol 'metre'. The unit is written m, behind a number.",
    ),
    (
        "A | Rz(q1) = 1; spring s = 5, 1 N between A and ground;",
        "m.kin:1:31: the length of spring 's' must be a length [m], found a force [kg*m/s^2].",
    ),
    (
        "A | Rz(q1) = 1; damper s = 5 N between A and ground;",
        "m.kin:1:28: the damping of damper 's' must be a damping [kg/s], found a force [kg*m/s^2].",
    ),
    (
        "parameters a = 2 kg;\nA | Rz(q1), Sx(3 m + a) = 1;",
        "m.kin:2:16: a length [m] and a mass [kg] cannot be added or compared.",
    ),
    (
        "parameters a = 2 kg, b = 1 m;\nA | Rz(q1), Sx(a + b) = 1;",
        "m.kin:2:16: a mass [kg] and a length [m] cannot be added or compared.",
    ),
    (
        "parameters a = 2 kg, b = 1 m;\nA | Rz(q1), Sx(max(a, b)) = 1;",
        "m.kin:2:16: a mass [kg] and a length [m] cannot be added or compared.",
    ),
    (
        "A | Rz(sin(3 kg)) = 1;",
        "m.kin:1:8: sin takes an angle or a number, found a mass [kg]; divide by a unit, as in sin(x/1 kg).",
    ),
    ("A | Rz(q1), Sx(3 metre) = 1;", "m.kin:1:16: Expected a unit, found 'metre'. Did you mean 'm'?"),
    ("A | Rz(q1) = 1; force f = 2 newtn on q1;", "m.kin:1:27: Expected a unit, found 'newtn'. Did you mean 'N'?"),
    (
        "parameters f = 2 newton; A | Rz(q1) = 1;",
        "m.kin:1:18: expected ',' or ';', found 'newton': the unit is written N.",
    ),
    ("parameters x = 1; A | Rz(q1), Sx(2x) = 1;", "m.kin:1:34: Expected a unit, found 'x'. A product is written 2*x."),
    (
        "parameters k = 1; A | Rz(q1), Sx(1.5k*q1) = 1;",
        "m.kin:1:34: Expected a unit, found 'k'. Did you mean 'K'? A product is written 1.5*k.",
    ),
    ("A | Rz(q1), Sx(3 kgm) = 1;", "m.kin:1:16: Expected a unit, found 'kgm'. Did you mean 'kg*m'?"),
    (
        "A | Rz(q1), Sx(3 1/l) = 1;",
        "m.kin:1:16: Expected a unit, found 'l'. Put spaces around the operator where a product is meant.",
    ),
    ("A | Rz(q1), Sx(3 m^22) = 1;", "m.kin:1:16: Expected a unit, found 'm' with an exponent of more than one digit."),
    (
        "A | Rz(q1), Sx(3 Gm^9*Gm^9*Gm^9*Gm^9) = 1;",
        "m.kin:1:16: Expected a unit, found 'Gm^9*Gm^9*Gm^9*Gm^9', which is out of the range of numbers.",
    ),
    ("A | Rz(q1), Sx(1e400) = 1;", "m.kin:1:16: Expected a finite number, found '1e400'."),
    (
        "A | Rz(q1), Sx(1e-400) = 1;",
        "m.kin:1:16: Expected zero or a number that is not smaller than 5e-324, found '1e-400'.",
    ),
    (
        "A | Rz(q1), Sx(1e-320 nm) = 1;",
        "m.kin:1:16: Expected zero or a number that is not smaller than 5e-324, found '1e-320 nm'.",
    ),
    ("A | Rz(q1), Sx(1e305 km*Mm) = 1;", "m.kin:1:16: Expected a finite number, found '1e305 km*Mm'."),
    ("A | Rz(log(0)*q1) = 1;", "m.kin:1:8: log(0) is not a finite number."),
    ("A | Rz(q1/0) = 1;", "m.kin:1:8: Division by zero."),
    (
        "A | Rz(q1) = 1; parameters a = 1e200, b = a*a;",
        "m.kin:1:43: parameter 'b': expected a finite number, found 'a^2', which is none.",
    ),
    ("A | Rz(q1) = 1; parameters a = 0, b = 1/a;", "m.kin:1:39: parameter 'b': 1/0 is not a finite number."),
]


@pytest.mark.parametrize(("text", "message"), QUANTITIES, ids=lambda x: x[-40:])
def test_a_wrong_quantity_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(text, "m.kin")
    assert str(raised.value) == message
    assert raised.value.location is not None


#: Terms whose kind is told by the unit of another one in their sum, and that do not fit what they are compared with.
TOLD = [
    ("limit stop : 2*x + 3 m <= 9 s;", "a bound of limit 'stop' must be a length [m], found a time [s]."),
    ("limit stop : 1 kg <= 3 m - k*x <= 2 m;", "a bound of limit 'stop' must be a length [m], found a mass [kg]."),
    ("constraint c : 2*x + 3 m = 9 s;", "the right side of constraint 'c' must be a length [m], found a time [s]."),
    ("force f = if(2*x + 3 m > 9 s, 1 N, 2 N) on x;", "a length [m] and a time [s] cannot be added or compared."),
    ("output h = 2*x + 3 m + 9 s;", "a length [m] and a time [s] cannot be added or compared."),
    ("output h = 2*(4 kg) + sin(t)*(3 m);", "a mass [kg] and a length [m] cannot be added or compared."),
    (
        "output h = sin(2*(4 kg));",
        "sin takes an angle or a number, found a mass [kg]; divide by a unit, as in sin(x/1 kg).",
    ),
    ("output h = min(3 m + k*x, 9 s - 3*t);", "a length [m] and a time [s] cannot be added or compared."),
]


@pytest.mark.parametrize(("statement", "message"), TOLD)
def test_the_unit_of_a_term_is_that_of_its_sum(statement: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(f"parameters k = 2; A | Sx(x) = 1; coordinates x; {statement}")
    assert str(raised.value).partition(" A factor without a unit is a number there;")[0].endswith(message)


#: What is without a unit, of one kind as well as of another, or is not known, goes with everything.
ANYTHING = [
    "spring s = 4 on q1 - 1; damper d = 3 on q1; force f = q1 on q1;",
    "parameters k, d = 2; spring s = k on q1 - 5 deg; damper e = d on q1'; force f = k*q1' on q1;",
    "spring s = 4 N*m on q1 - 30 deg; spring r = 4 N/m on x - 5 cm; damper d = 2 N*s/m on x; damper e = 2 N*m*s on q1';",
    "force f = 3 N*sin(t) on q1; force g = 3 N on x; force h = 3 N*m on q1'; force i = 3 N on A.x; force j = 4 N on A.vz;",
    "spring s = 3 N*m on x - q1; force f on A = (x, q1', exp(x)); output a = x + q1, b = sin(x), c = x + x^3;",
    "spring s = 3 N*m on both - 1 m; spring r = 3 N/m on both;",
]


@pytest.mark.parametrize("statements", ANYTHING)
def test_dimensions_that_are_not_known_go_with_everything(statements: str) -> None:
    system = kn.loads(f"A | Sx(x), Rz(q1), Sx(both), Rx(both) = 1; coordinates x, q1, both; {statements}")
    assert kn.loads(kn.dumps(system)) == system


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("3 m*l", "3 m * l"),
        ("3 N/m*x^2/1 N", "3 * x^2"),
        ("3 N/m*l[1]/1 N", "3 * l[1]"),
        ("3 m*sin(2 rad/s*t)", "3 m * sin(2 rad/s * t)"),
        ("3 m*s*P.vx/1 m", "3 s * P.vx"),
        ("2 m/s*min(1 s, t)", "2 m/s * min(1 s, t)"),
        ("120 1/min*t", "2*t"),
        ("5 1/s^2*t^2", "5*t^2"),
        ("5 %*t", "0.05*t"),
        ("12.5%", "0.125"),
        ("max(l, t, x)", "max(max(l, t), x)"),
        ("min(t, l, x)", "min(min(t, l), x)"),
    ],
)
def test_units_end_before_names_that_are_none(text: str, same: str) -> None:
    model = "parameters l, l[1], s; coordinates x; A | Sx(x) = 1; point P on A = (0, 0, 1); output y = {};"
    assert kn.loads(model.format(text)).outputs[0].value == kn.loads(model.format(same)).outputs[0].value


def test_a_percentage_is_a_number_without_a_unit() -> None:
    (p,) = kn.loads("parameters p = 30 %; A | Rz(q) = 1;").parameters
    assert (p.value, p.dimension) == (0.3, None)


UNITED = "parameters k = 1 m, F = 2 N, n = 2; constants N = 2; A | Sx(x), Ry(q) = 1 kg, 1, 1, 1; coordinates x, q; "


@pytest.mark.parametrize(
    ("force", "said"),
    [
        ("F*(3 m)^q", "a length [m] has a power of numbers and constants only, found the exponent 'q'"),
        ("k^n", "divide by a unit, as in (x/1 m)^n."),
        ("k^N", "must be a force [kg*m/s^2], found a quantity [m^2]."),
        ("F*2^k", "an exponent is a number, found a length [m]; divide by a unit, as in x/1 m."),
        ("F*2^x", "an exponent is a number, found a length [m]"),
        ("F*sin(x)", "sin takes an angle or a number, found a length [m]; divide by a unit, as in sin(x/1 m)."),
        ("F*exp(2*x + 3 m)", "exp takes an angle or a number, found a length [m]"),
        ("F*tanh(x')", "tanh takes an angle or a number, found a velocity [m/s]"),
    ],
)
def test_functions_and_exponents_take_no_units(force: str, said: str) -> None:
    with pytest.raises(kn.ModelError, match=r"^<text>:1:1\d\d: ") as raised:
        kn.loads(f"{UNITED}force f = {force} on x;")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "force", ["F*(k/1 m)^n", "F*(x/k)^q", "F/k^N*x^2", "F*sin(q)", "F*sin(t)", "n^q", "F*tanh(2*x)"]
)
def test_what_has_no_unit_is_raised_and_put_into_functions(force: str) -> None:
    system = kn.loads(f"{UNITED}force f = {force} on x;")
    assert kn.loads(kn.dumps(system)) == system


def test_without_units_anything_goes() -> None:
    kn.loads("A | Sx(x) = 1; coordinates x; force f = sin(x) + 2^x + x^x on x;")


def test_python_writes_units_away_from_exponents_and_functions() -> None:
    x, k, n = kn.symbols("x k n")
    text = "parameters k = 1 m, n = 2; A | Sx(x) = 1 kg; coordinates x; force f = 1 on x;"
    force = kn.generalized_force("f", k**n * kn.sin(x) * 2**x, x)
    written = kn.dumps(kn.loads(text).replace(elements=[force]))
    assert "(k/1 m)^n" in written
    assert "2^(x/1 m)" in written
    assert "sin(x/1 m)" in written
    kn.loads(written)


@pytest.mark.parametrize("condition", ["x < 1 and q < 1 or t < 1", "x < 1 or q < 1 and t < 1"])
def test_and_beside_or_stands_in_brackets(condition: str) -> None:
    with pytest.raises(kn.ModelError, match=r"^<text>:1:\d+: 'and' beside 'or' stands in brackets, as in"):
        kn.loads(f"{UNITED}force f = if({condition}, F, 0 N) on x;")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("force f = 1/a on q;", "Force 'f' (<text>:2:7): Division by zero."),
        ("let b = log(a); force f = b on q;", "Let 'b' (<text>:2:5): log(0) is not a finite number."),
        ("B | Sx(1/a) = 1;", "Body 'B' (<text>:2:1): Division by zero."),
        ("initial q = 1/a;", "Model 'text' (<text>:2:9): initial q: Division by zero."),
        ("gravity 1/a;", "Model 'text' (<text>:2:9): gravity: Division by zero."),
        ("output o = q/a;", "Output 'o' (<text>:2:8): Division by zero."),
        ("control transversal q' = 1/a; program p : q' = t;", "control: Division by zero."),
    ],
)
def test_what_has_no_value_is_told_with_its_statement(statement: str, said: str) -> None:
    model = "A | Ry(q) = Jy(1); "
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(f"{model}let a = 0;\n{statement}")
    assert str(raised.value).endswith(said)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("force f = 1/a on q;", "Force 'f' (<text>:2:7): Division by zero."),
        ("quasi u = q'/a;", "Quasi 'u' (<text>:2:7): Division by zero."),
        ("gravity 1/a;", "Model 'text': gravity: Division by zero."),
        ("initial q = 1/a;", "Model 'text': initial 'q': 1/0 is not a finite number."),
    ],
)
def test_constants_without_a_value_are_told_with_their_statement(statement: str, said: str) -> None:
    system = kn.loads(f"A | Ry(q) = Jy(1); constants a = 0;\n{statement}")
    with pytest.raises(kn.ModelError) as raised:
        kn.simulate(system, 0.1)
    assert str(raised.value) == said
