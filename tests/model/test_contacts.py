"""Contacts, limits, dry friction and switches in the text language and from Python: read and written."""

from __future__ import annotations

import pytest

import kineta as kn
from kineta.model.name_inference import contact_rows
from kineta.model.transformations.equivalents import parametrised, reframed, renumbered, respelled
from tests.support import reads_back

MODEL = """
parameters a = 0.3 m, L = 0.6, s = 0, e = 0.5, m = 1 kg;
constants g = 9.81;
gravity g;
Foot | Sx(x), Sz(z), Ry(q1) = m, 0.1, 0.1, 0.1;
Leg ~ Foot | Sz(0.2), Ry(q2) = 1, 0.1, 0.1, 0.1;
Ball | Free(b) = 1, 0.1, 0.1, 0.1;
frame Wedge | Ry(0.2);
frame Toe ~ Foot | Sx(0.1);
coordinates x, z, q1, q2, b;
point Heel on Foot = (-0.1, 0, 0);
point Hook on ground = (0, 0, 1);
let reach = Heel.x^2;
"""
STATEMENTS = [
    "contact foot : point between Foot and ground axis (0, 0, 1), restitution = 0.5, friction = 0.6;",
    "contact box : point between Foot, Heel, Toe, Foot at (0, 0, a) and Wedge axis (0, 0, 2), friction = 0.3, static = e;",
    "contact ball : ball = 10 cm between Ball and ground at (0, 0, a) axis (0, 0, 1), restitution = 0.8 poisson;",
    "contact wheel : wheel = a between Foot axis (0, 1, 0), Heel and Wedge axis (0, 0, 1), restitution = e poisson;",
    "contact tyre : torus = a, 1 cm between Toe axis (0, 1, 0) and ground axis (0, 0, 1), restitution = 0.5 newton;",
    "contact heel : point between Heel and ground axis (0, 0, 1) height a*sin(3*Heel.x + t), friction = L, smooth = 1 mm/s;",
    "limit stop : -1 <= q1 <= 2, restitution = 0.3;",
    "limit floor : z >= 0;",
    "limit rope : Heel.x^2 + Toe.z^2 <= L^2;",
    "limit wall : L <= reach, restitution = 0.5 poisson;",
    "limit door : 2 + t >= q1 + q2 >= -2, restitution = e;",
    "friction dry = 2.5, static = 3 on q1;",
    "friction slide = 4 N, smooth = 1 mm/s on x;",
    "friction twist = 2*abs(Heel.vx) on q1 - q2;",
    "when up : q1 >= 1 and s == 0 : s = 1, q1' = -e*q1';",
    "when down : q1' <= 1 rad/s and s == 1 : s = 0, stop;",
    "contact foot : point between Heel and ground axis (0, 0, 1) while s == 1 and m == 2*e; when on : t >= 1 s : s = 1;",
    "limit stop : q1 <= 2 rad, restitution = 0.5 while s == 1; when on : t >= 1 s : s = 1;",
    "friction dry = 2, static = 3 on q1 while s == 0; when on : t >= 1 s : s = 1;",
    "limit stop : q1 <= 2; when hit : stop.upper strikes and s == 0 : s = 1, q1' = 0;",
    "when turned : t >= 3 s : b.qw = 0, b.qx = 1, b.qy = 0, b.qz = 0, b.wx = 2*reach;",
    "contact hit : ball = a on ball = 2*a between Foot, Heel and Ball, restitution = 0.5, friction = 0.6;",
    "contact log : capsule = a, 1 on box = 1, a, L between Foot axis (0, 1, 0) and Ball, friction = e, smooth = 0.01;",
    "contact nut : point on capsule = a, 1 between Heel and Ball axis (0, 1, 1), stiffness = 2000, damping = 3;",
    "contact can : capsule = a, 1 between Foot axis (0, 1, 0) and Wedge axis (0, 0, 1);",
    "contact crate : box = 1, a, L on box = 1, 1, 1 between Foot and Ball;",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_written_reads_back(statement: str) -> None:
    system = kn.loads(MODEL + statement)
    assert len(system.contacts) + len(system.elements) + len(system.switches) == statement.count(";")
    reads_back(system)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_same_in_other_words_is_sound(statement: str) -> None:
    system = kn.loads(MODEL + statement)
    for other in (parametrised, reframed, renumbered, respelled):
        assert other(system).q_names == system.q_names
    assert system.fixed().expanded.lets == ()
    assert kn.loads(kn.dumps(parametrised(system))) == parametrised(system)


def test_records_from_python_are_those_of_the_language() -> None:
    read = kn.loads(MODEL + "".join(STATEMENTS[i] for i in (1, 2, 3, 5, 6, 9, 11, 12, 14, 15)))
    x, q1, a, e, L = (kn.symbol(n) for n in ("x", "q1", "a", "e", "L"))
    heel = next(p for p in read.points if p.name == "Heel")
    four = ("Foot", heel, "Toe", kn.station("Foot", (0, 0, a)))
    wavy = a * kn.sin(3 * kn.symbol("Heel.x") + kn.symbol("t"))
    up, bounce = (0, 0, 1), {"restitution": e, "law": "poisson"}
    built = [
        kn.contact("box", "point", four, "Wedge", normal=(0, 0, 5), friction=0.3, static=e),
        kn.contact(
            "ball",
            "ball",
            "Ball",
            kn.station("ground", (0, 0, a)),
            normal=up,
            sizes=0.1,
            **bounce | {"restitution": 0.8},
        ),
        kn.contact("wheel", "wheel", ["Foot", heel], "Wedge", normal=up, sizes=[a], axis=(0, 2, 0), **bounce),
        kn.contact("heel", "point", heel, "ground", normal=up, height=wavy, friction=L, smooth=1e-3),
        kn.limit("stop", q1, -1, 2, restitution=0.3),
        kn.limit("wall", kn.symbol("reach"), L, restitution=0.5, law="poisson"),
        kn.friction("dry", 2.5, q1, static=3),
        kn.friction("slide", 4, x, smooth=1e-3),
    ]
    rate = kn.symbol("q1'")
    switches = [
        kn.switch("up", q1 - 1, {"s": 1, "q1'": -e * rate}, guards={"s": 0}),
        kn.switch("down", 1 - rate, {"s": 0}, guards={"s": 1}, stop=True),
    ]
    assert kn.loads(MODEL).replace(name=read.name, contacts=built, switches=switches) == read


def test_rows_have_the_names_of_their_contacts_and_places() -> None:
    system = kn.loads(MODEL + "".join(STATEMENTS[i] for i in (0, 1, 6, 7, 11)))
    assert list(contact_rows(system)) == [
        *("foot.n", "foot.u", "foot.w"),
        *(f"box.{place}.{c}" for place in ("Foot", "Heel", "Toe", "4") for c in "nuw"),
        *("stop.lower", "stop.upper", "floor.lower", "dry"),
    ]
    assert kn.loads(kn.dumps(system) + "output force = lambda.box.Heel.n + lambda.stop.upper - lambda.dry;").outputs
    with pytest.raises(kn.ModelError, match=r"unknown symbol 'lambda\.floor\.upper'"):
        kn.loads(kn.dumps(system) + "output force = lambda.floor.upper;")


def test_a_wedge_that_is_fixed_to_what_the_contact_stands_on_counts_as_that() -> None:
    with pytest.raises(kn.ModelError, match=r"'Toe' and 'Foot' are fixed to each other"):
        kn.loads(MODEL + "contact c : point between Toe and Foot axis (0, 0, 1);")


def test_what_only_switches_name_is_found_to_be_a_parameter() -> None:
    system = kn.loads("A | Rz(phi), Sx(x) = 1; when up : phi >= 1 and mode == 0 : mode = k, x' = 0;")
    assert system.coordinates == ("phi", "x")
    assert system.parameter_names == ("k", "mode")


def test_parameters_that_switches_set_are_not_folded_into_the_equations() -> None:
    system = kn.loads(MODEL + STATEMENTS[14])
    assert system.fixed().parameter_names == ("s",)
    with pytest.raises(kn.ModelError, match=r"'s' is a constant, folded into the equations; a parameter may be set\."):
        system.fixed(["s"])
