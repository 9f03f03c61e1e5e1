"""Coordinates that inertia elements alone carry, beside constraints, loops, programs, limits and quasi-velocities."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.formalisms.table import FORMALISMS
from kineta.model.named_expressions import substitute_names
from kineta.model.transformations.mapping import map_expressions
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system

APPLY = [name for name in FORMALISMS if name != "wittenburg"]
COMPARED = ("inverse", "mass_matrix", "forward", "multipliers", "kinetic_energy", "power")

#: A motor, its armature in parallel to another branch, drives a four-bar.
MOTOR = """
model motor_fourbar;
gravity (0, -9.81, 0);
parameters L = 0.02, R = 0.5, k = 0.3, U = 12, Lf = 0.1, C = 0.01;
Crank | Rz(theta) = m(1.1), Jz(0.02), com = (0.15, 0, 0);
Coupler ~ Crank | Sx(0.3), Rz(beta - theta) = m(2.3), Jz(0.21), com = (0.4, 0.15, 0);
Rocker | Sx(0.8), Rz(gamma) = m(1.7), Jz(0.09), com = (0.35, 0, 0);
coordinates theta, beta, gamma, qa, qf;
loop pin : revolute between Rocker at (0.7, 0, 0) axis (0, 0, 1) and Coupler at (0.9, 0, 0);
inertia armature = L on qa';
inertia branch = Lf on qf';
damper winding = R on qa;
force emf = U - k*theta' on qa;
force torque = k*qa' on theta;
spring condenser = 1/C on qa - qf;
constraint node : qa' + qf' = 0.2*theta';
limit full : -0.2 <= qf <= 2, restitution = 0.2;
initial theta = 0.8, beta = 0.5373459551871638, gamma = 1.3075149269961162, qa' = 1, qf' = -1;
"""


def charged(seed: int) -> kn.System:
    """A random tree and two charges, inertia on forms of all speeds, constraints of order 0 and 1 that tie all together."""
    rng = random.Random(seed)
    free = random_system(seed, rheonomic=True, n=2)
    t, u, w = (kn.symbol(n) for n in ("t", "u", "w"))
    speeds, q = [kn.symbol(n) for n in (*free.base_speeds, "u'", "w'")], kn.symbol(rng.choice(free.q_names))
    L = [kn.symbol(f"L{i}") for i in range(4)]

    def form(*wanted: kn.Expr) -> kn.Expr:
        total = 0.3 * kn.sin(t) * L[0]
        for v in (*wanted, *rng.sample(speeds, 2)):
            total = total + L[rng.randrange(4)] * (1 + 0.3 * kn.sin(rng.choice([q, u, w]))) * v
        return total

    rates = [kn.symbol("u'"), 3 * kn.symbol("w'"), form(), form(kn.symbol("w'"))]
    inertia = [kn.inertia_element(f"i{k}", kn.symbol(f"I{k}"), rate) for k, rate in enumerate(rates)]
    acting = [kn.damper("R", L[1], u), kn.spring("C", L[2], u - w), kn.generalized_force("k", L[3] * speeds[0], w)]
    second = kn.constraint("b", form(kn.symbol("w'"))) if seed % 2 else kn.constraint("b", w - L[1] * u - kn.sin(q + t))
    names = [p.name for p in free.parameters]
    more = [kn.Parameter(n, rng.uniform(0.5, 1.5)) for n in ("L0", "L1", "L2", "L3", "I0", "I1", "I2", "I3")]
    return free.replace(
        coordinates=[*free.coordinates, "u", "w"],
        parameters=[*free.parameters, *(p for p in more if p.name not in names)],
        elements=[*free.elements, *inertia, *acting],
        constraints=[kn.constraint("a", form(kn.symbol("u'"))), second],
    )


def twins(seed: int) -> tuple[kn.System, kn.System]:
    """A :func:`charged` system with a damper, an inertia and a constraint on a quasi-velocity: with quasi-velocities that mix its
    speeds, and with multipliers.
    """
    kept = charged(seed)
    names = kn.independent(kept).v_names
    w = [kn.quasi(f"w{i}", kn.symbol(n) + 0.1 * kn.symbol(kept.v_names[i])) for i, n in enumerate(names)]
    own, form = kn.symbol("w0"), kept.constraints[0].expressions[0]
    inertia = kn.inertia_element("inductance", kn.symbol("I0"), 2 * own + kn.symbol("u'"))
    elements = [*kept.elements, kn.damper("resistance", 0.3, own), inertia]
    constraints = [kn.constraint("a", form + 0.2 * own), *kept.constraints[1:]]
    meaning = {"w0": w[0].value}
    rewritten = map_expressions((tuple(elements), tuple(constraints)), lambda x: substitute_names(meaning, x))
    return (
        kept.replace(quasi=w, elements=elements, constraints=constraints),
        kept.replace(elements=rewritten[0], constraints=rewritten[1]),
    )


def at(equations: kn.Equations, quantity: str, state: dict[str, float]) -> Any:
    array = equations.expressions(quantity)
    return np.array(evaluate(equations.graph, array.refs, state)).reshape(array.shape)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_charges_under_constraints_move_alike_by_all_formalisms_and_with_quasi_velocities(seed: int) -> None:
    reduced, kept = twins(seed)
    state = random_state(reduced, seed) | {f"tau[{n}]": 0.0 for n in (*reduced.v_names, *kept.v_names)}
    own = kn.derive(reduced)
    s, g = own.derivation.symbols, own.graph
    state |= dict(zip(s.system.base_speeds, evaluate(g, s.speeds, state), strict=True))
    for system in (reduced, kept):
        there = state | {f"{n}'": 0.3 * i for i, n in enumerate(system.v_names)}
        derived = [kn.derive(system, name) for name in APPLY]
        for quantity in COMPARED:
            first, *others = [at(equations, quantity, there) for equations in derived]
            for name, found in zip(APPLY[1:], others, strict=True):
                assert np.abs(found - first).max() < 1e-10 * max(1.0, np.abs(first).max()), (quantity, name)
    other = kn.derive(kept)
    for quantity in ("multipliers", "kinetic_energy", "power"):
        expected = at(other, quantity, state)
        assert at(own, quantity, state) == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())
    vdot = {f"{n}'": a for n, a in zip(s.names, at(own, "forward", state), strict=True)}
    found, expected = evaluate(g, s.levels.of(s.speeds, 1), state | vdot), at(other, "forward", state)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_charges_under_constraints_and_in_quasi_velocities_are_certified(seed: int) -> None:
    for system in twins(seed):
        certificate = kn.verify(system, states=5)
        assert certificate.holds, str(certificate)


@pytest.mark.slow
def test_a_motor_drives_a_four_bar_in_every_task() -> None:
    system = kn.loads(MOTOR)
    started = kn.assemble(system, pinned=["theta", "beta", "gamma", "qa", "qf"])
    run = kn.simulate(system, 1.0, q=started.q, v=started.v)
    assert run.success
    assert run["qf"].min() > -0.2 - 1e-9
    assert "full" in " ".join(map(str, run.changes))
    assert abs(run["qa'"] + run["qf'"] - 0.2 * run["theta'"]).max() < 1e-9
    balance = abs(run["energy"] - run["energy"][0] - run["work"])
    assert balance[: len(balance) // 20].max() < 1e-9  # later, strokes against the stop take energy
    assert kn.reactions(system, run)["pin.fx"][-1] == pytest.approx(run["lambda.pin.x"][-1], rel=1e-9)
    found = kn.equilibrium(system)
    assert found.q[3] + found.q[4] == pytest.approx(0.0, abs=1e-9)
    assert len(kn.linearize(system, found).A) == 5


@pytest.mark.slow
def test_a_motor_that_drives_a_four_bar_is_certified() -> None:
    certificate = kn.verify(kn.loads(MOTOR).replace(contacts=()), states=5)
    assert certificate.holds, str(certificate)


CARRIED = {
    "alone": (
        "coordinates x, y; inertia a = 1 on x'; inertia b = 2 on y'; constraint c : x + 2*y = t^2;",
        [2 / 3, 2 / 3],
    ),
    "beside a body": (
        "coordinates x, y, s; P | Sx(s) = 1; inertia a = 1 on x'; inertia b = 2 on y'; constraint c : x + 2*y = s;",
        [0.0, 0.0, 0.0],
    ),
    "on a contact": (
        """gravity (0, -9.81, 0); coordinates y, u, w; P | Sy(y) = 1; inertia a = 1 on u'; inertia b = 2 on w';
        constraint c : u + w = 2*y; contact floor : point between P and ground axis (0, 1, 0); initial y = 1, u = 2;""",
        [-9.81 / (1 + 4 / (1 + 1 / 2)), 0.0, 0.0],
    ),
}


@pytest.mark.parametrize("name", CARRIED)
def test_coordinates_of_elements_alone_stand_beside_constraints(name: str) -> None:
    text, expected = CARRIED[name]
    system = kn.loads(text)
    found = kn.derive(system).function("forward")(0.0, *(np.zeros(n) for n in (system.nq, system.nv)))
    assert found[0] == pytest.approx(expected[0], abs=1e-12)
    assert kn.simulate(system, 1.0).success
