"""Hamilton's form against the equations in speeds."""

from __future__ import annotations

import random

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ONE
from kineta.mechanics.formalisms.hamilton import in_speeds
from kineta.model.reserved_symbols import momentum
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system
from tests.notation.text_reader import computed
from tests.support import EXAMPLES


@pytest.mark.parametrize("seed", range(8))
def test_canonical_equations_give_the_motion(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True, n=3)
    d, state = kn.derive(system).derivation, random_state(system, seed)
    s, g = d.symbols, d.graph
    momenta = evaluate(g, d["momentum"].refs, state)
    state |= {momentum(n): x for n, x in zip(system.v_names, momenta, strict=True)}
    motion = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + d["forward"].refs, strict=True))}
    expected = np.array([*evaluate(g, s.qdot, state), *evaluate(g, forward(g, d["momentum"].refs, motion), state)])
    found = np.array(evaluate(g, d["canonical"].refs, state))
    assert np.abs(found - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())
    speeds = state | dict(zip(system.v_names, evaluate(g, s.speeds, state), strict=True))
    assert np.abs(np.array(evaluate(g, in_speeds(d), speeds)) - found).max() < 1e-9 * max(1.0, np.abs(expected).max())
    assert evaluate(g, d["hamiltonian"].refs, state) == pytest.approx(
        evaluate(g, d["generalized_energy"].refs, state), rel=1e-9
    )


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_the_lagrangian_gives_the_forces(seed: int) -> None:
    system = random_system(seed, rheonomic=True, n=3)
    d, state = kn.derive(system).derivation, random_state(system, seed)
    s, g = d.symbols, d.graph
    assert s.qdot == s.v
    (L,) = d["lagrangian"].refs
    momenta, slopes = ([forward(g, [L], {x: ONE})[0] for x in names] for names in (s.v, s.q))
    rates = forward(g, momenta, {s.t: ONE, **dict(zip(s.q + s.v, s.v + s.vdot, strict=True))})
    found = np.subtract(evaluate(g, rates, state), evaluate(g, slopes, state))
    assert found == pytest.approx(np.array(evaluate(g, d["inverse"].refs, state)), rel=1e-10, abs=1e-10)


def test_the_hamiltonian_of_a_pendulum_is_as_in_the_book() -> None:
    m, l, g, q = kn.symbols("m l g q")
    pendulum = kn.System(
        "pendulum", [kn.body("Bob", [kn.Ry(q), kn.Sz(-l)], kn.inertia(m))], gravity=(0, 0, -g), coordinates=["q"]
    )
    equations = kn.derive(pendulum)
    assert equations.text("hamiltonian", parts=False) == "H = p[q]^2/(2*l^2*m) - l*m*g*cos(q)"
    f = equations.function("canonical")
    assert f.arguments == ("t", "q", "momentum", "tau")
    assert f(0, [0.3], [2.0], p={"m": 2, "l": 0.5, "g": 10}) == pytest.approx([2 / 0.5, -2 * 10 * 0.5 * np.sin(0.3)])


def test_long_canonical_equations_have_rates_of_momenta_by_the_speeds_that_come_first() -> None:
    shown = kn.derive(kn.load(EXAMPLES / "cart_pendulum.kin"))
    rng = random.Random(3)
    printed, plain = shown.printed("canonical"), shown.formulas("canonical")
    known = {n: rng.uniform(0.3, 0.9) for n in plain.graph.names}
    scope = known.copy()
    lines = list(printed.text())
    found = {line.split(" = ")[0]: computed(line, scope) for line in lines}
    wanted = evaluate(plain.graph, plain.array.refs, known)
    names = [*shown.system.v_names, *(f"{momentum(n)}'" for n in shown.system.v_names)]
    assert [found[n] for n in names] == pytest.approx(wanted, rel=1e-12)
    assert any("q1'" in line.split(" = ")[1] for line in lines if line.startswith("p["))


def test_constraints_have_no_canonical_form_here() -> None:
    with pytest.raises(kn.ModelError, match="Hamilton's form is for the speeds of the motions"):
        kn.derive(kn.load(EXAMPLES / "skate.kin")).text("hamiltonian")


def test_a_singular_mass_matrix_is_named() -> None:
    system = kn.loads("Bead | Sx(a), Sx(b) = 1; coordinates a, b;")
    with pytest.raises(kn.ModelError, match="mass matrix is singular: all inertia that the speed 'a'' moves"):
        kn.derive(system).function("canonical")
