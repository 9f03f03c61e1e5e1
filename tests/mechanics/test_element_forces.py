"""Forces of elements by name: ``lambda.rope``, ``lambda.push.x``, ``lambda.tyre.n``."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

SYSTEM = kn.loads("""
    model machine;
    gravity 9.81;
    parameters k = 100 N/m, d = 3 N*s/m, r = 0.1 m;
    A | Sx(x), Sz(z) = 1 kg;
    B ~ A | Ry(q), Sx(0.3) = 0.5, 0.01, 0.02, 0.01;
    coordinates x, z, q;
    point P on B = (0, 0, -0.1);
    point Q on B = (0.1, 0, -0.1);
    spring rope = k, 0.2 m between B and ground at (1, 0, 0);
    spring band = k between A and ground at (0, 0, 2);
    spring twist = 3 N*m, 10 deg on q;
    damper oil = d between B and ground at (1, 0, 0);
    damper slide = d on x;
    damper joint = 0.2 N*m*s on q';
    force push on B = (1 N, 2 N, 3*sin(t)) in body;
    couple turn on A = (0.1 N*m, 0, 0.2 N*m) in B;
    force motor = 2 N*m on q;
    force apart = 5*x between A and B;
    friction rub = 3 N, smooth = 1 m/s on x;
    contact sole : point between P, Q and ground axis (0.1, 0, 1), stiffness = 1e4, damping = 10, friction = 0.5,
        smooth = 0.1 m/s;
    contact ball : ball = r on ball = 2*r between A and ground at (0.4, 0, 0.2), stiffness = 1e4 hunt_crossley;
    initial z = 0.05, x = 0.3, q = 0.1, x' = 0.3, q' = -0.4;
    output rope = lambda.rope, band = lambda.band, twist = lambda.twist, oil = lambda.oil, slide = lambda.slide;
    output push_x = lambda.push.x, push_z = lambda.push.z, turn = lambda.turn.x, motor = lambda.motor, apart = lambda.apart;
    output rub = lambda.rub, n = lambda.sole.P.n, u = lambda.sole.Q.u, w = lambda.sole.Q.w, ball = lambda.ball.n;
    output joint = lambda.joint, power = lambda.motor*q', lambda.rope;
""")


def _reach(run, start: tuple[float, float, float]):
    """The way from B to a place, and its rate."""
    x, z, q = (run[n] for n in ("x", "z", "q"))
    way = np.array([start[0] - x - 0.3 * np.cos(q), start[2] - z + 0.3 * np.sin(q)])
    rate = np.array([-run["x'"] + 0.3 * np.sin(q) * run["q'"], -run["z'"] + 0.3 * np.cos(q) * run["q'"]])
    return way, rate


def test_forces_are_those_of_the_laws():
    run = kn.simulate(SYSTEM, 0.05, samples=6)
    way, rate = _reach(run, (1.0, 0.0, 0.0))
    length = np.hypot(*way)
    expected = {
        "rope": -100 * (length - 0.2),
        "lambda.rope": -100 * (length - 0.2),
        "band": -100 * np.hypot(run["x"], run["z"] - 2),
        "twist": -3 * (run["q"] - np.radians(10)),
        "oil": -3 * (way * rate).sum(axis=0) / length,
        "slide": -3 * run["x'"],
        "joint": -0.2 * run["q'"],
        "push_x": np.cos(run["q"]) + 3 * np.sin(run.t) * np.sin(run["q"]),
        "push_z": -np.sin(run["q"]) + 3 * np.sin(run.t) * np.cos(run["q"]),
        "turn": 0.1 * np.cos(run["q"]) + 0.2 * np.sin(run["q"]),
        "motor": np.full(6, 2.0),
        "apart": 5 * run["x"],
        "rub": -3 * run["x'"] / np.sqrt(run["x'"] ** 2 + 1),
        "power": 2 * run["q'"],
    }
    for name, values in expected.items():
        assert run[name] == pytest.approx(values, rel=1e-12, abs=1e-12), name
    units = {
        "rope": "N",
        "twist": "N*m",
        "joint": "N*m",
        "turn": "N*m",
        "slide": "N",
        "n": "N",
        "power": "W",
        "motor": "N*m",
    }
    assert {n: run.units[n] for n in units} == units


@pytest.mark.slow
def test_plain_kinematics_say_the_same():
    laws = {law.law: law for law in kn.verify(SYSTEM).laws}
    assert laws["outputs and conditions are what they say"].holds


def test_a_compliant_contact_bears_the_weight():
    system = kn.loads("""
        gravity 9.81;
        Box | Sx(x), Sz(z) = 2 kg;
        coordinates x, z;
        force wind on Box = (3 N, 0, 0);
        contact foot : point between Box and ground axis (0, 0, 1), stiffness = 1e4, damping = 400, friction = 0.5,
            smooth = 0.1 m/s;
        output lambda.foot.n, lambda.foot.u, lambda.foot.w, limit = lambda.wind.x;
        when light : lambda.foot.n <= 1 N : stop;
    """)
    run = kn.simulate(system, 2.0, samples=3)
    assert run["lambda.foot.n"][-1] == pytest.approx(2 * 9.81, rel=1e-6)
    assert np.hypot(run["lambda.foot.u"], run["lambda.foot.w"])[-1] == pytest.approx(3.0, rel=1e-6)
    assert kn.linearize(system, ([0.0, -0.00196], [0.1, 0.0]), outputs=["lambda.foot.n"]).C[0, 1] == pytest.approx(-1e4)
    off = kn.loads(kn.dumps(system)).replace(switches=())
    assert off.replace(contacts=()) == off
    assert kn.loads(kn.dumps(system)) == system


def test_names_stand_where_forces_of_contacts_do():
    leg = kn.loads("A | Ry(q) = Jy(1); spring coil = 3 on q; output pull = lambda.coil; initial q = 0.2;")
    system = kn.System("two", [], coordinates=[], parameters={}, use=[leg.placed("l"), leg.placed("r")])
    run = kn.simulate(system, 1.0, samples=2, events=kn.event(kn.symbol("lambda.l.coil"), name="slack"))
    assert run["l.pull"][0] == pytest.approx(-0.6)
    assert run.t_events[0][0] == pytest.approx(np.pi / 2 / np.sqrt(3))
    both = kn.loads(
        "A | Sx(x) = 1; coordinates x; spring wall = 3 on x; limit wall : x >= 0; initial x = 1; output F = lambda.wall.lower;"
    )
    assert kn.simulate(both, 0.1, samples=2)["F"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "output F = lambda.ropes;",
            "unknown symbol 'lambda.ropes'. Did you mean 'lambda.rope'? Forces with names: lambda.rope,",
        ),
        ("output F = lambda.rope.n;", "unknown symbol 'lambda.rope.n'. Did you mean 'lambda.rope'?"),
        ("output F = lambda.push;", "unknown symbol 'lambda.push'."),
        ("force f = lambda.rope on q;", "the force 'lambda.rope' has no place here; expected coordinates, speeds,"),
        ("state s : s' = lambda.rope;", "the force 'lambda.rope' has no place here; expected coordinates, speeds,"),
    ],
)
def test_sentences(text, sentence):
    model = "A | Ry(q), Sz(1) = 1; spring rope = 3, 1 m between A and ground at (1, 0, 0); force push on A = (1, 0, 0);"
    with pytest.raises(kn.ModelError) as found:
        kn.loads(f"{model} {text}")
    assert sentence in str(found.value)
