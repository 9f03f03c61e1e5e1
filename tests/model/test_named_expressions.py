"""Named expressions: where they are used they mean what they stand for, and they are written as they are."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.model import name_inference
from kineta.model.checks.unused_names import unused_declarations

NAMED = """
model swing;
output pull, twice = 2*pull + share;
let pull = k*stretch, share = energy/2;
Bob | Sx(x), Ry(angle), Sz(-length) = mass, J, J, J/2, com = (0, 0, offset);
point Tip on Bob = (offset, 0, 0);
let stretch = Tip.x - length/3;
let angle = q1 - tilt*t, length = 2*l, offset = length/4, mass = J/length^2, J = 2*m*l^2, start = tilt/2;
parameters k = 3, l = 0.5, m = 2, tilt = 0.1;
coordinates x, q1;
gravity (0, 0, -9.81*mass/m);
force back = -pull on Tip.x;
spring coil = k, offset between Bob and ground at (0, 0, length);
potential well = pull^2/2;
initial q1 = start, x' = offset;
"""

PLAIN = """
model swing;
parameters k = 3, l = 0.5, m = 2, tilt = 0.1;
coordinates x, q1;
gravity (0, 0, -9.81*(2*m*l^2/(2*l)^2)/m);
Bob | Sx(x), Ry(q1 - tilt*t), Sz(-2*l) = 2*m*l^2/(2*l)^2, 2*m*l^2, 2*m*l^2, 2*m*l^2/2, com = (0, 0, 2*l/4);
point Tip on Bob = (2*l/4, 0, 0);
force back = -(k*(Tip.x - 2*l/3)) on Tip.x;
spring coil = k, 2*l/4 between Bob and ground at (0, 0, 2*l);
potential well = (k*(Tip.x - 2*l/3))^2/2;
initial q1 = tilt/2, x' = 2*l/4;
output pull = k*(Tip.x - 2*l/3), twice = 2*(k*(Tip.x - 2*l/3)) + energy/2;
"""


@pytest.mark.parametrize("quantity", ["forward", "inverse", "power", "potential_energy", "outputs"])
def test_a_name_means_its_expression_wherever_it_stands(quantity: str) -> None:
    state: list[Any] = [0.3, [0.2, 0.7], [1.0, -0.4]]
    if quantity == "inverse":
        state.append([0.5, 0.6])
    found, expected = (kn.derive(kn.loads(t)).function(quantity, "numpy")(*state) for t in (NAMED, PLAIN))
    assert found == pytest.approx(expected, rel=1e-13)
    assert kn.derive(kn.loads(NAMED)).operations(quantity) == kn.derive(kn.loads(PLAIN)).operations(quantity)


def test_names_are_written_as_they_are() -> None:
    system = kn.loads(NAMED)
    assert "let pull = k*stretch;\nlet share = 0.5*energy;\n" in kn.dumps(system)
    for same in (kn.loads(kn.dumps(system)), copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert same == system
        assert same.expanded == kn.loads(PLAIN)


def test_a_system_takes_names_from_python() -> None:
    q, l, h = kn.symbol("q"), kn.symbol("l"), kn.symbol("h")
    bodies = [kn.body("A", [kn.Rz(q), kn.Sx(h)], kn.inertia(1))]
    system = kn.System("S", bodies, parameters={"l": 2}, lets={"h": l / 2}, outputs={"reach": 3 * h})
    assert system.lets == (kn.Let("h", l / 2),)
    assert system == kn.loads("model S; parameters l = 2; let h = l/2; A | Rz(q), Sx(h) = 1; output reach = 3*h;")
    assert system.replace(lets={"h": l}).expanded.bodies[0].motions[1] == kn.Sx(l)
    with pytest.raises(
        kn.ArgumentError, match=r"^Expected a list of named expressions, as in \[kn\.Let\(name, value\)\]"
    ):
        kn.System("S", bodies, lets=[("h", l)])


def test_names_may_be_used_by_runs() -> None:
    text = "model m; parameters k = 4; let pull = -k*x, above = x - 0.5, both = kinetic_energy + above; A | Sx(x) = 1;"
    system = kn.loads(f"{text} initial x = 1; output pull;")
    above, both, pull = map(kn.symbol, ("above", "both", "pull"))
    run = kn.simulate(system, 2.0, tau={"x'": pull}, events=[above, both - 1], rtol=1e-11)
    assert run.t_events[0][0] == pytest.approx(np.arccos(0.5) / 2, rel=1e-9)
    assert run["pull"][0] == -4.0
    assert kn.simulate(system, 0.1, tau={"x'": -both}).status == 0
    with pytest.raises(kn.ArgumentError, match=r"unknown symbol 'abov'\. Did you mean 'above'\?"):
        kn.simulate(system, 2.0, events=kn.symbol("abov"))


def test_what_leaves_its_domain_in_a_name_is_said() -> None:
    system = kn.loads("let root = sqrt(x); A | Sx(x) = 1; spring s = 3 on x; force f = root on x; initial x = 1;")
    assert "'sqrt(x)' needs x >= 0" in kn.simulate(system, 5.0).message


def test_coordinates_parameters_and_units_are_found_through_names() -> None:
    system = kn.loads("let a = phi, s = x - l; A | Sx(s), Rz(a) = m, J, J, l^2; initial x = 1; let unused = b*m;")
    assert system.coordinates == ("x", "phi")
    assert system.parameter_names == ("l", "m", "J", "b")
    assert name_inference.units(system)["phi"] == "rad"
    with pytest.raises(kn.ModelError, match=r"^Body 'A' .* mass is -2 kg"):
        kn.loads("let m = -2; A | Rz(q1) = m;")


def test_what_only_unused_names_use_is_named() -> None:
    system = kn.loads(
        "parameters p = 1, spare = 1, other = 2*spare; let a = 2*spare, b = spare; A | Sx(q) = p;", "m.kin"
    )
    sentences = [s for s in unused_declarations(system) if s.startswith("Parameter 'spare'")]
    assert sentences == ["Parameter 'spare' (m.kin:1:19): only the value of 'other', let 'a', let 'b' use it."]


def test_names_may_be_made_of_names_to_any_depth() -> None:
    n, q1, k = 2000, kn.symbol("q1"), kn.symbol("k")
    lets = {f"a{i}": kn.symbol(f"a{i - 1}") + i * k for i in range(n, 0, -1)} | {"a0": q1}
    force = kn.generalized_force("f", kn.symbol(f"a{n}"), q1)
    system = kn.System("S", [kn.body("A", [kn.Rz(q1)], kn.inertia(1))], elements=[force], lets=lets)
    assert system.parameter_names == ("k",)
    assert set(system.expanded.elements[0].expressions[0].symbols()) == {"q1", "k"}


def test_semicolons_may_stand_alone() -> None:
    assert kn.loads("model m;; ; A | Rz(q1) = 1;;;") == kn.loads("model m; A | Rz(q1) = 1;")


@pytest.mark.parametrize("declared", ["", "coordinates x, y;"])
def test_named_expressions_stand_beside_quasi_velocities_and_constraints(declared: str) -> None:
    text = (
        "parameters p = 1;"
        + declared
        + "A | Sx(x), Sy(y) = 1; constraint n : x' = {k}*y'; quasi u = y'; initial u = 0.3;"
    )
    system = kn.loads("let k = 2*p;" + text.format(k="k"))
    assert (system.expanded.inferred, system.expanded.taken) == (system.inferred, system.taken)
    ends = [kn.simulate(x, 0.1).q[-1] for x in (system, kn.loads(text.format(k="(2*p)")))]
    assert ends[0] == pytest.approx(ends[1], abs=1e-14)


def test_outputs_of_a_vector_are_its_components() -> None:
    system = kn.loads("A | Ry(q), Sz(1) = 1; let tip = 2*r(A), wind = v(A); output tip, wind.x;")
    assert [o.name for o in system.outputs] == ["tip.x", "tip.y", "tip.z", "wind.x"]
    assert kn.loads(kn.dumps(system)) == system
    for wrong in ("tip.x'", "tip.position"):
        with pytest.raises(kn.ModelError, match=r"^<text>:2:8: expected tip.x, tip.y, tip.z or all three, tip"):
            kn.loads(f"A | Ry(q), Sz(1) = 1; let tip = r(A);\noutput {wrong};")
    with pytest.raises(kn.ModelError, match=r"^<text>:2:12: a prime stands behind names of variables"):
        kn.loads("A | Ry(q), Sz(1) = 1; let tip = r(A);\noutput o = tip.x';")
