"""An added force has one name, ``tau[q1']``, wherever forces are given, asked for or read."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.model.name_inference import forced_speed
from kineta.model.transformations.components import Components
from kineta.model.transformations.isomorphism import isomorphisms

CART = kn.loads("""
    model cart;
    gravity 9.81;
    parameters m = 1 kg, M = 2 kg, l = 0.5 m;
    Cart | Sx(x) = M;
    Bob ~ Cart | Ry(a), Sz(-l) = m;
    coordinates x, a;
    initial a = 0.3;
    output F = tau[x'], power = tau[x']*x' + tau[a']*a';
""")
LEG = kn.loads("""
    parameters a = 0.2 m, m = 0.4 kg;
    Thigh | Ry(hip), Sz(-a) = m;
    coordinates hip;
    output torque = tau[hip'];
""")
t = kn.symbol("t")


@pytest.mark.parametrize(
    "force", [2.0, 5 * t, kn.sampled([1.0, -2.0, 3.0], 4)], ids=["number", "expression", "samples"]
)
def test_a_force_is_given_and_shown_by_its_name(force):
    run = kn.simulate(CART, 0.7, tau={"tau[x']": force}, samples=8)
    again = kn.simulate(CART, 0.7, tau={"x'": force}, samples=8)
    assert np.array_equal(run.y, again.y)
    assert np.array_equal(run["F"], run["tau[x']"])
    assert np.array_equal(run["power"], run["F"] * run["x'"])
    assert run.units["F"] == "N"
    assert run.units["power"] == "W"
    assert not run["tau[a']"].any()


def test_events_and_switches_watch_a_force():
    run = kn.simulate(CART, 1.0, tau={"tau[x']": 5 * t}, events=kn.symbol("tau[x']") - 2)
    assert run.t_events[0] == pytest.approx([0.4], rel=1e-12)
    system = kn.loads(kn.dumps(CART).replace("initial", "when full : tau[x'] >= 3 N : stop; initial", 1))
    assert kn.simulate(system, 1.0, tau={"tau[x']": 5 * t}).t[-1] == pytest.approx(0.6, rel=1e-12)


def test_tasks_take_the_name():
    times, motion = np.linspace(0, 1, 3), {"x": 0.2 * t, "a": 0.1 * t}
    named, plain = (kn.inverse(CART, motion, own, t=times) for own in (["tau[x']", "tau[a']"], ["x'", "a'"]))
    assert np.array_equal(named.tau, plain.tau)
    assert named.unknown == ("tau[x']", "tau[a']")
    assert kn.kinetostatics(CART, motion, ["tau[a']", "x'"], t=times, weights={"tau[x']": 2.0}).unknown == (
        "tau[a']",
        "tau[x']",
    )
    linear = kn.linearize(CART, inputs=["tau[x']"], outputs=["F"])
    assert linear.D.tolist() == [[1.0]]
    assert kn.derive(CART).printed("inverse").text(order=["tau[a']"])
    assert kn.sensitivity(CART, 0.1, ["tau[x']"], samples=2).by == ("tau[x']",)
    control = kn.control(actuators=["tau[x']"])
    assert control.actuators[0][0] == "x'"
    assert [
        name for name, _ in kn.loads(f"{kn.dumps(CART)} program p : x = t; control on tau[x'];").control.actuators
    ] == ["x'"]


def test_names_within_other_names():
    trunk = kn.body("Trunk", [kn.Sz(kn.symbol("z"))], kn.inertia(3))
    legs = [LEG.placed(f"leg[{i}]", on="Trunk") for i in (1, 2)]
    system = kn.System("two", [trunk], coordinates=["z"], parameters={}, use=legs)
    assert system.outputs[1].value == kn.symbol("tau[leg[2].hip']")
    assert kn.loads(kn.dumps(system)) == system
    text = "for i in 1..2 : { A[i] | Rx(q[i]) = Jx(1); output h[i] = tau[q[i]']; } coordinates q[1], q[2];"
    apart = kn.loads(text)
    assert [str(o.value) for o in apart.outputs] == ["tau[q[1]']", "tau[q[2]']"]
    pieces = Components(apart).systems
    assert [p.outputs[0].name for p in pieces] == ["h[1]", "h[2]"]
    assert [one.first for one in isomorphisms(pieces)] == [0, 0]
    assert kn.simulate(apart, 1.0, tau={"tau[q[2]']": 3.0}, samples=2)["h[2]"].tolist() == [3.0, 3.0]
    counted = kn.loads("for i in 1..2 : parameters tau[i] = 0.1*i; A | Rx(q) = Jx(tau[2]);")
    assert counted.parameter_names == ("tau[1]", "tau[2]")


def test_a_quasi_velocity_has_a_force():
    system = kn.loads("A | Rz(a) = Jz(2); quasi w = 3*a'; output h = tau[w];")
    run = kn.simulate(system, 1.0, tau={"tau[w]": 1.0}, samples=2)
    assert run["h"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (
            lambda: kn.simulate(CART, 1.0, tau={"tau[y']": 1}),
            "Model 'cart' has no added force 'tau[y']'. Did you mean 'tau[x']'?",
        ),
        (
            lambda: kn.simulate(CART, 1.0, tau={"tau[x']": 1, "x'": 2}),
            "Model 'cart': expected one force on 'x'', found two.",
        ),
        (lambda: kn.simulate(CART, 1.0, tau={"tau": 1}), "Model 'cart' has no speed 'tau'. There are x', a'."),
        (lambda: kn.linearize(CART, inputs=["tau[m]"]), "has no added force 'tau[m]'."),
        (
            lambda: kn.inverse(CART, {"x": t, "a": t}, ["tau[x]"], t=[0.0]),
            "no added force 'tau[x]'. Did you mean 'tau[x']'?",
        ),
        (
            lambda: kn.simulate(CART, 1.0, events=kn.symbol("tau[y']")),
            "unknown symbol 'tau[y']'. Did you mean 'tau[x']'?",
        ),
        (
            lambda: kn.loads("A | Sx(x) = 1; coordinates x; force f = tau[x'] on x;"),
            "the force 'tau[x']' has no place here;",
        ),
        (
            lambda: kn.loads("A | Sx(x) = 1; coordinates x; output F = tau[x'] + 1 N*m;"),
            "a force [kg*m/s^2] and a couple",
        ),
        (
            lambda: kn.loads("A | Sx(x) = 1; coordinates x; output F = tau[x']';"),
            "unknown symbol 'tau[x']''. Did you mean 'tau[x']'?",
        ),
        (
            lambda: kn.loads("A | Sx(x) = 1; coordinates x; state z : z' = tau[x'];"),
            "has no place in the rate of a state",
        ),
    ],
)
def test_sentences(attempt, sentence):
    with pytest.raises(kn.KinetaError) as found:
        attempt()
    assert sentence in str(found.value)


def test_one_function_resolves_names():
    assert forced_speed(CART, "tau[x']") == forced_speed(CART, "x'") == "x'"
    assert forced_speed(CART, "m", ("m",)) == "m"
