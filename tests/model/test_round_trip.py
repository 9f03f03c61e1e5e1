"""Text and systems say the same: what is built, read and written agrees."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

import kineta as kn
from kineta.algebra.expression import apply
from kineta.errors import ExpressionError
from kineta.expr.op import BINARY, FUNCTIONS
from kineta.model.dimensions import output_units
from kineta.model.elements.spring import Spring
from tests.mechanics.random_systems import random_system
from tests.support import EXAMPLES, examples

#: A model with every construct of the language.
RICH = """
model rich;
gravity (0, g_y, -9.81 m/s^2);
parameters
    m1 = 2 kg, J = 0.5 kg*m^2, l = 30 cm, k = 12 N/m, c = 0.4 N*s/m,
    F = 3 kN, W = 60 rpm, free, twice = 2*l;
constants g_y = 0.1 m/s^2, a = 90 deg;
let far = near + 2*l, near = Tip.x - l;
coordinates s, q1, q2, ball, sat;

Hand ~ Arm | R[3, 0, 4](q2), S[0, 0, 2](0.1*q2), Ball(ball) = Jxy(0.01), Jx(1), Jy(1.1), Jz(1.2), m(3);
Cart | Sx(s), Rx(a) = m1;                      # before the frame it stands on, and after the body it carries
frame Mount ~ Cart | Sz(l/2), Ry(-30 deg);
Arm ~ Mount | Rz(q1), Sx(l), Rz(W*t), Ry(q1/3 - s) = m1, J, 1.2*J, 1.5*J, com = (0, 0, l/2);
Column ~ Mount | Rz(2*q1) = Jz(J);
Rotor ~ Mount | = 1, 0.1, 0.2, 5, unchecked;
Probe | Free(sat) = 4;
point Tip on Hand = (l, 0, -5 mm);
point Hook on ground = (0, 0, 2);

force push at Tip = (F, 0, F*sin(W*t));
force pull on Hand = (0, 1 N, 0) in body;
force lift on Hand at (0, 0, l) = (0, 0, 9) in ground;
force motor = F*l - 2*q1' on q1;
couple twist on Arm = (0, 0, 5 N*m) in body;
couple bend on Arm = (0, 0, 5 N*m) in Mount;
spring line = k, 2*l between Tip and Hook;
spring cord = k between Cart at (0, l, 0) and ground at (1, 2, 3);
spring knee = 7 N*m on (q1 - q2)^2;
spring wire = k, 2*l on Tip.z;
potential well = k*far^2*cos(W*t);
force ram = F*sin(W*t) between Tip and Hook;
damper strut = c between Tip and Probe;
damper hinge = c on q1' - Tip.vx;

initial q1 = 10 deg, s' = -twice, ball.qw = cos(0.1), ball.qy = sin(0.1), sat.vx = 3;
output Tip.position, Hand.velocity, energy, reach = sqrt(Tip.x^2 + Tip.y^2), q1';
"""


def rich() -> kn.System:
    """The model above, built in Python."""
    s, q1, q2, t, g_y, m1, J, l, k, c, F, W, a, twice = (
        kn.symbol(n) for n in "s q1 q2 t g_y m1 J l k c F W a twice".split()
    )
    rate, far, near = kn.symbol("q1'"), kn.symbol("far"), kn.symbol("near")
    degrees = math.pi / 180
    cart = kn.body("Cart", [kn.Sx(s), kn.Rx(a)], kn.inertia(m1))
    mount = kn.body("Mount", [kn.Sz(l / 2), kn.Ry(-30 * degrees)], base=cart)
    arm = kn.body(
        "Arm",
        [kn.Rz(q1), kn.Sx(l), kn.Rz(W * t), kn.Ry(q1 / 3 - s)],
        kn.inertia(m1, (J, 1.2 * J, 1.5 * J), com=(0, 0, l / 2)),
        base=mount,
    )
    hand = kn.body(
        "Hand",
        [kn.R((3, 0, 4), q2), kn.S((0, 0, 2), 0.1 * q2), kn.Ball("ball")],
        kn.inertia(3, (1, 1.1, 1.2), (0.01, 0, 0)),
        base=arm,
    )
    column = kn.body("Column", [kn.Rz(2 * q1)], kn.inertia(moments=(0, 0, J), lumped=True), base=mount)
    rotor = kn.body("Rotor", [], kn.inertia(1, (0.1, 0.2, 5), unchecked=True), base=mount)
    probe = kn.body("Probe", [kn.Free("sat")], kn.inertia(4))
    tip, hook = kn.point("Tip", hand, (l, 0, -0.005)), kn.point("Hook", "ground", (0, 0, 2))
    return kn.System(
        "rich",
        [hand, cart, mount, arm, column, rotor, probe],
        gravity=(0, g_y, -9.81),
        coordinates=["s", "q1", "q2", "ball", "sat"],
        parameters=[
            *(kn.Parameter(n, v) for n, v in {"m1": 2, "J": 0.5, "l": 0.3, "k": 12, "c": 0.4, "F": 3000}.items()),
            kn.Parameter("W", 2 * math.pi),
            kn.Parameter("free"),
            kn.Parameter("twice", 0.6),
            kn.Parameter("g_y", 0.1, fixed=True),
            kn.Parameter("a", math.pi / 2, fixed=True),
        ],
        points=[tip, hook],
        elements=[
            kn.force("push", tip, (F, 0, F * kn.sin(W * t))),
            kn.force("pull", hand, (0, 1, 0), "body"),
            kn.force("lift", kn.station(hand, (0, 0, l)), (0, 0, 9)),
            kn.generalized_force("motor", F * l - 2 * rate, q1),
            kn.couple("twist", arm, (0, 0, 5), "body"),
            kn.couple("bend", arm, (0, 0, 5), mount),
            kn.line_spring("line", k, tip, hook, length=2 * l),
            kn.line_spring("cord", k, kn.station(cart, (0, l, 0)), kn.station("ground", (1, 2, 3))),
            kn.spring("knee", 7, (q1 - q2) ** 2),
            Spring("wire", k, kn.symbol("Tip.z"), 2 * l),
            kn.potential("well", k * far**2 * kn.cos(W * t)),
            kn.line_force("ram", F * kn.sin(W * t), tip, hook),
            kn.line_damper("strut", c, tip, probe),
            kn.damper("hinge", c, rate - kn.symbol("Tip.vx")),
        ],
        initial={
            "q1": 10 * degrees,
            "s'": -twice,
            "ball.qw": kn.cos(0.1),
            "ball.qy": kn.sin(0.1),
            "sat.vx": 3,
        },
        outputs={
            **{f"Tip.{x}": kn.symbol(f"Tip.{x}") for x in "xyz"},
            **{f"Hand.v{x}": kn.symbol(f"Hand.v{x}") for x in "xyz"},
            "energy": kn.symbol("energy"),
            "reach": kn.sqrt(kn.symbol("Tip.x") ** 2 + kn.symbol("Tip.y") ** 2),
            "q1'": rate,
        },
        lets={"far": near + 2 * l, "near": kn.symbol("Tip.x") - l},
    )


def assert_same(a: kn.System, b: kn.System) -> None:
    for field in a.__dataclass_fields__:
        assert getattr(a, field) == getattr(b, field), field
    assert a == b


def assert_round_trip(system: kn.System) -> None:
    text = kn.dumps(system)
    again = kn.loads(text)
    assert_same(again, system)
    assert kn.dumps(again) == text
    assert [p.dimension for p in again.parameters] == [p.dimension for p in system.parameters]
    assert output_units(again) == output_units(system)


def test_a_system_of_text_equals_the_one_built_in_python() -> None:
    assert_same(kn.loads(RICH), rich())


def test_a_rich_system_writes_itself_back() -> None:
    assert_round_trip(rich())


@pytest.mark.parametrize("name", examples(of=2))
def test_examples_write_themselves_back(name: str) -> None:
    assert_round_trip(kn.load(EXAMPLES / f"{name}.kin"))


MEASURED = kn.loads("""
parameters a = 2 kN, b = 3 s, m = 1 kg; coordinates q1;
Cart | Sx(q1) = m;
state z in V : z' = -z/b;
""")


@pytest.mark.parametrize("seed", [*range(10), 78])
def test_random_expressions_of_names_with_units_write_themselves_back(seed: int) -> None:
    """Also where no units could stand behind their numbers."""
    rng = random.Random(seed)
    shown = {f"y{k}": random_expression(rng, 4, ("a", "b", "q1", "z", "t")) for k in range(12)}
    force = kn.generalized_force("f", random_expression(rng, 3, ("a", "b", "q1", "z")), kn.symbol("q1"))
    assert_round_trip(MEASURED.replace(outputs=shown, elements=[force]))


def test_units_are_written_back() -> None:
    system = kn.loads("""
        constants tilt = 1 rad;
        parameters m = 2 kg, l = 30 cm, k = 4 N/m, T = 0.1 s, n = 3, v = l/2 s, rest = 0 m;
        coordinates x;
        Cart | Sx(x), Sz(-5 cm) = m;
        state z in m : z' = (x - z)/T;
        state slow in m : slow' = (x - slow)/0.1 s;
        spring s = k, 2*l on x;
        force f = if(z > 1 cm, -2 N, k*z^2/1 m) on x;
        initial slow = 3 mm;
        output y = exp(-z/1 m), far = x + 1 km;
    """)
    text = kn.dumps(system)
    for line in (
        "constants tilt = 1 rad;",
        "parameters m = 2 kg, l = 0.3 m, k = 4 N/m, T = 0.1 s, n = 3, v = 0.5 s^-1 * l, rest = 0 m;",
        "Cart | Sx(x), Sz(-0.05 m) = m;",
        "force f = if(z > 0.01 m, -2 N*m, k*z^2)/1 m on x;",
        "state slow in m : slow' = 10 s^-1 * (x - slow);",
        "initial slow = 0.003 m;",
        "output y = exp(-z/1 m);",
        "output far = x + 1000 m;",
    ):
        assert line in text
    assert_round_trip(system)


def test_statements_are_written_with_the_units_of_people() -> None:
    """Degrees, revolutions, points by their names, tables, potentials, and both sides of a switch."""
    lines = """
        parameters m = 2 kg, tilt = 30 deg, W = 60 rpm, f = 2 s^-1, T = 3 s;
        Rod ~ Front | Ry(q), Rz(20 deg), Sz(-0.3 m) = m, 0.1 kg*m^2, 0.1 kg*m^2, 0.02 kg*m^2, com = (0, 0, 0.02 m);
        force drag on Tip = (-3 N*s/m * Tip.vx, 0, 2 N);
        force push on Front = (2 N, 0, 0) in body;
        couple twist on Rod = (0, -0.2 N*m*s * q', 0);
        potential p = 3 N*m * (1 - cos(q));
        potential p2 = 1.5 N/m * x^2;
        spring s1 = 2 N*m/deg, 10 deg on q;
        spring s2 = 30 N/m, 0.02 m between Tip and ground at (0, 0, 1 m);
        damper d2 = 3 N*s/m between Front and Tip;
        force motor = table(q'; (0, 12 N*m), (100 rad/s, 11 N*m)) on q;
        force pull = table(x; cubic; (0, 0), (1 m, 3 N), (2 m, 5 N)) on x;
        force cam = table(q; (0, 0), (20 deg, 3 N*m)) on q;
        force map = table(x, q; (0, 30 deg), (0, 1 N, 2 N), (1 m, 3 N, 4 N)) on x;
        force shake = 3 N * sin(2 rad/s * t) on x;
        friction rub = 0.3 N*m, smooth = 31 deg/s on q;
        contact soft : point between Tip and ground axis (0, 0, 1), stiffness = 1000000 N/m^1.5 hunt_crossley, damping = 0.2 s/m;
        limit stops : -60 deg <= q <= 60 deg;
        contact foot : point between Tip, Front and ground at (0, 0, -1 m) axis (0, 0, 1);
        when late : t >= 5 s : stop;
        when back : x <= -1 m : x' = 2 m/s;
        when fast : q' - W >= 0 : stop;
        initial q = 30 deg, q' = 300 rpm, x' = 50 km/h;
        output w = q + 10.37 deg;
    """.strip().split("\n")
    own = [line.strip() for line in lines]
    own[own.index("when fast : q' - W >= 0 : stop;")] = "when fast : W <= q' : stop;"
    rest = ["Front | Sx(x), Ry(tilt) = m;", "point Tip on Rod = (0, 0, -0.3 m);", "coordinates x, q;"]
    system = kn.loads("\n".join([*own, *rest]))
    text = kn.dumps(system)
    for line in (*own, *rest):
        assert line in text
    assert_round_trip(system)


def test_initial_angles_that_have_a_unit_keep_it() -> None:
    system = kn.loads("A | Rz(q) = 1; B | Rz(p) = 1; C | Sx(x) = 1; initial q = 45 rad, p = 45, x = 45 m;")
    assert "initial q = 45 rad, p = 45, x = 45;" in kn.dumps(system)
    assert set(kn.loads(kn.dumps(system)).initial.measured) == {"q"}
    assert_round_trip(system)


@pytest.mark.parametrize("unit", ["deg", "rpm", "km/h"])
def test_numbers_in_units_of_people_are_the_same_to_the_bit(unit: str) -> None:
    for value in (1, 7, 20, 33.3, 299.5, 1234.567):
        system = kn.loads(f"parameters a = {value} {unit}; A | Rz(q) = 1;")
        assert unit == "km/h" or f"{value} {unit}" in kn.dumps(system)
        assert_round_trip(system)


def test_inverses_of_whole_numbers_are_written_as_such() -> None:
    system = kn.loads("parameters m = 1 kg, l = 2 m; A | Rz(q) = m, m*l^2/12, m*l^2/3, m*l^2/7, unchecked;")
    assert "m*l^2/12, m*l^2/3, m*l^2/7" in kn.dumps(system)
    assert_round_trip(system)


@pytest.mark.parametrize("seed", range(40))
def test_random_systems_write_themselves_back(seed: int) -> None:
    assert_round_trip(random_system(seed, rheonomic=True, elements=True))


def random_expression(rng: random.Random, depth: int, names: Sequence[str] = ("a", "b", "q1", "t")) -> kn.Expr:
    if depth == 0 or rng.random() < 0.15:
        leaf = rng.choice([rng.uniform(-3, 3), 10.0 ** rng.randint(-30, 30), 2, -1, 0.5])
        return kn.symbol(rng.choice(names)) if rng.random() < 0.6 else kn.symbol("a") * 0 + leaf
    first, second = (random_expression(rng, depth - 1, names) for _ in "ab")
    kind = rng.choice(["+", "-", "*", "/", "neg", "power", "function"])
    try:
        match kind:
            case "+":
                return first + second
            case "-":
                return first - second
            case "*":
                return first * second
            case "/":
                return first / second
            case "neg":
                return -first
            case "power":
                return first ** rng.choice([2, -3, 0.5, 1.5, second])
        op = FUNCTIONS[rng.choice(sorted(FUNCTIONS))]
        return apply(op, first, second) if op in BINARY else apply(op, first)
    except ExpressionError:  # such as 1/0
        return first


@pytest.mark.parametrize("seed", range(20))
def test_random_expressions_read_back_as_the_same_node(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        value = random_expression(rng, 5)
        read = kn.loads(f"parameters a, b; coordinates q1; A | Rz(q1), Rx({value}) = 1;")
        assert read.bodies[0].motions[1].angle == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2^3^2", 512),
        ("2^-1*4", 2),
        ("-2^2", -4),
        ("2 - 3 - 4", -5),
        ("2 - (3 - 4)", 3),
        ("12/2/3", 2),
        ("12/2*3", 18),
        ("2·3", 6),
        ("--1", 1),
        ("cos(pi/2)", 0),
        ("max(1, 2) + min(1, 2)", 3),
        ("atan2(1, -1)/pi", 0.75),
        ("step(-1) + sign(-2)*abs(-3)", -3),
    ],
)
def test_expressions_mean_what_mathematics_means(text: str, value: float) -> None:
    (parameter,) = kn.loads(f"parameters a = {text}; A | Rz(q1) = 1;").parameters
    assert parameter.value == value


@pytest.mark.parametrize(
    ("inertia", "same"),
    [
        (kn.inertia(moments=(0, 0, 0), lumped=True), "Jz(0)"),
        (kn.inertia(2, lumped=True), "m(2), Jz(0)"),
        (kn.inertia(2, (1, 2, 3), lumped=True), "2, 1, 2, 3"),
        (kn.inertia(2, (1, 0, 3), lumped=True), "m(2), Jx(1), Jz(3)"),
        (kn.inertia(2, (1, 0, 3), (0, 0, 1), lumped=True), "m(2), Jx(1), Jz(3), Jyz(1)"),
        (kn.inertia(2, (1, 1, 1), (0, 0, 0.1)), "m(2), J_x(1), J_y(1), J_z(1), J_yz(0.1)"),
        (kn.inertia(0, com=(0, 1, 0)), "0, com = (0, 1, 0)"),
    ],
    ids=str,
)
def test_every_kind_of_inertia_can_be_written(inertia: kn.Inertia, same: str) -> None:
    system = kn.System("A", [kn.body("A", [kn.Rz(kn.symbol("q"))], inertia)])
    assert_round_trip(system)
    assert kn.loads(f"A | Rz(q) = {same};").bodies == system.bodies


@pytest.mark.parametrize("word", "on in at between and body com sin m Rx Ball Jz".split())
def test_words_inside_statements_are_free_names(word: str) -> None:
    text = """
        parameters W = 2;
        W | Rz(q1), Sx(W) = W, 1, 1, 1;
        point P on W = (W, 0, 0);
        force f on W at (W, 0, 0) = (W, 0, 0) in body;
        spring coil = W on W*q1;
        spring line = W between W and P;
        damper oil = W between W at (W, 0, W) and W;
        output W = W;
    """
    named = kn.loads(text.replace("W", word))
    assert named.bodies[0].name == word
    assert_round_trip(named)
    assert kn.loads(kn.dumps(kn.loads(text)).replace("W", word)) == named


def test_the_order_of_statements_is_free() -> None:
    statements = [s.strip() for s in RICH.split(";") if s.strip()]
    head = [s for s in statements if s.startswith(("parameters", "constants"))]
    rest = [s for s in statements if s not in head]
    points = [s for s in rest if s.startswith("point")]
    moved = [*head, *points, *(s for s in reversed(rest) if s not in points)]
    system = kn.loads("\n;".join(moved) + "\n;")
    expected = kn.loads(RICH)
    assert set(system.elements) == set(expected.elements)
    assert set(system.bodies) == set(expected.bodies)
    assert dict(system.initial) == dict(expected.initial)
    assert (system.gravity, system.parameters) == (expected.gravity, expected.parameters)


@pytest.mark.slow
def test_deep_brackets_and_long_sums_are_read() -> None:
    nested = "q1"
    for _ in range(900):
        nested = f"1 + 2*-3^-sin({nested})"
    assert_round_trip(kn.loads(f"model deep; A | Rz({nested}) = 1;"))
    assert_round_trip(kn.loads(f"model long; A | Rz({' + '.join(f'sin({i}*q1)' for i in range(3000))}) = 1;"))
