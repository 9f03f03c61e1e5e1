"""The laws of mechanics on random trees with every kind of motion and element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kineta.equations.equations import Equations, derive
from kineta.expr.graph import ONE, ZERO
from kineta.mechanics.algorithms import articulated_bodies
from kineta.mechanics.algorithms.rounding_bounds import speed_bounds
from kineta.mechanics.from_residual import seen_motions
from kineta.mechanics.linear_algebra.ldl import factored, sparse
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system
from tests.support import some

SEEDS = range(24)
TOLERANCE = 1e-12


def values(equations: Equations, refs: Any, state: dict[str, float]) -> Any:
    """Numbers for a quantity by name, or for references."""
    if isinstance(refs, str):
        array = equations.expressions(refs)
        return np.array(evaluate(equations.graph, array.refs, state)).reshape(array.shape)
    return np.array(evaluate(equations.graph, refs, state))


def close(a: Any, b: Any, scale: float | None = None) -> None:
    """Agreement to 1e-12 of the largest entry (or of *scale*, where the entries are differences of larger numbers)."""
    size = max(np.abs(b).max(initial=0.0), 1e-3) if scale is None else scale
    assert np.abs(np.asarray(a) - b).max(initial=0.0) <= TOLERANCE * max(size, 1.0)


def named(system: Any, prefix: str, state: dict[str, float], suffix: str = "") -> Any:
    return np.array([state[f"{prefix}{n}{suffix}"] for n in system.v_names])


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_is_affine_with_the_mass_matrix(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True)
    equations, state = derive(system), random_state(system, seed)
    M, bias = values(equations, "mass_matrix", state), values(equations, "bias", state)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > -1e-12 * np.abs(M).max()
    close(values(equations, "inverse", state), M @ named(system, "", state, "'") + bias)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_undoes_inverse(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True)
    equations, state = derive(system), random_state(system, seed)
    tau = values(equations, "inverse", state)
    state |= {f"tau[{n}]": x for n, x in zip(system.v_names, tau, strict=True)}
    condition = np.linalg.cond(values(equations, "mass_matrix", state))
    vdot = named(system, "", state, "'")
    assert np.abs(values(equations, "forward", state) - vdot).max() < 1e-14 * condition * max(np.abs(tau).max(), 10)


#: Random systems whose bodies, one by one, have speeds of their own.
RELATIVE = [4, 8, 12, 16, 17, 19, 26, 27, 28, 31, 32, 33, 35, 36, 39, 46, 47, 50, 52, 54, 55, 57]


@pytest.mark.parametrize("seed", RELATIVE)
def test_articulated_bodies_agree_with_elimination(seed: int) -> None:
    system = random_system(seed, elements=True)
    equations, state = derive(system), random_state(system, seed)
    d = equations.derivation
    g, nv = equations.graph, system.nv
    forces = [g.add(t, q) for t, q in zip(d.symbols.tau, d.elements.forces, strict=True)]
    ways = [articulated_bodies.forward_dynamics(m, forces, applied) for m, applied in seen_motions(d, [ZERO] * nv)]
    M = sparse(d["mass_matrix"].refs, nv)
    right = [g.sub(t, b) for t, b in zip(d.symbols.tau, d["bias"].refs, strict=True)]
    condition = np.linalg.cond(values(equations, "mass_matrix", state))
    bounds = speed_bounds(d.mechanism)
    for order in (range(nv), range(nv)[::-1]):
        expected = values(equations, factored(g, M, order, bounds, range(nv)).solve(right), state)
        scale = max(np.abs(expected).max(), 1.0) * max(1.0, condition / 100)
        for way in ways:
            close(values(equations, way, state), expected, scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_changes_by_the_power_of_what_is_not_conservative(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True)
    equations, state = derive(system), random_state(system, seed)
    s, g = equations.derivation.symbols, equations.graph
    vdot = equations.expressions("forward").refs
    motion = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + vdot, strict=True))}
    rates = forward(
        g, [r for q in ("kinetic_energy", "potential_energy") for r in equations.expressions(q).refs], motion
    )
    kinetic, potential = values(equations, rates, state)
    scale = max(abs(kinetic), abs(potential), 1.0) * max(1.0, np.abs(values(equations, "forward", state)).max())
    close(kinetic + potential, values(equations, "power", state), scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(seed: int) -> None:
    system = random_system(seed)
    equations, state = derive(system), random_state(system, seed)
    M, v = values(equations, "mass_matrix", state), named(system, "", state)
    close(values(equations, "kinetic_energy", state), 0.5 * v @ M @ v)
    close(values(equations, "momentum", state), M @ v)


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_at_rest_are_the_gradient_of_the_potential(seed: int) -> None:
    system = random_system(seed)
    equations, state = derive(system), random_state(system, seed)
    s, g = equations.derivation.symbols, equations.graph
    (rate,) = forward(g, equations.expressions("potential_energy").refs, dict(zip(s.q, s.qdot, strict=True)))
    slope = [forward(g, [rate], {v: ONE})[0] for v in s.v]
    at_rest = state | dict.fromkeys(system.v_names, 0.0)
    close(values(equations, "bias", at_rest), values(equations, slope, state))


@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_are_rates_of_positions_and_products_of_jacobians(seed: int) -> None:
    system = random_system(seed, rheonomic=True)
    equations, state = derive(system), random_state(system, seed)
    d = equations.derivation
    velocities = values(equations, "velocities", state)
    rates = values(equations, d.symbols.rates(d["positions"].refs), state).reshape(-1, 3)
    close(velocities[:, :3], rates)
    partial = values(equations, "jacobian", state)
    resting = values(equations, "velocities", state | dict.fromkeys(system.v_names, 0.0))
    close(velocities, partial @ named(system, "", state) + resting)


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_of_a_free_system_changes_by_its_weight(seed: int) -> None:
    system = random_system(seed)
    carried = _on_a_free_base(system)
    equations, state = derive(carried), random_state(carried, seed)
    state |= {f"tau[{n}]": 0.0 for n in carried.v_names}
    s, g = equations.derivation.symbols, equations.graph
    motion = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + equations.expressions("forward").refs, strict=True))}
    mass = sum(b.inertia.mass.value or state["m"] for b in carried.bodies)
    weight = mass * np.array([float(x) for x in carried.gravity])
    linear = values(equations, forward(g, equations.expressions("linear_momentum").refs, motion), state)
    angular = values(equations, forward(g, equations.expressions("angular_momentum").refs, motion), state)
    scale = 10 * np.abs(values(equations, "forward", state)).max() * mass
    close(linear, weight, scale)
    close(angular, np.cross(values(equations, "mass_centre", state), weight), scale)


def _on_a_free_base(system: Any) -> Any:
    """*system* without its hold on the ground."""
    from dataclasses import replace

    from kineta.model.body import body, inertia
    from kineta.model.joints.free import Free

    hull = body("hull", [Free("hullmotion")], inertia(2.0, (0.3, 0.4, 0.5)))
    bodies = [hull, *(replace(b, base="hull") if b.base == "ground" else b for b in system.bodies)]
    return system.replace(bodies=bodies, coordinates=["hullmotion", *system.coordinates])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_bodies_does_not_matter(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True)
    turned = system.replace(bodies=system.bodies[::-1])
    state = random_state(system, seed)
    for quantity in ("inverse", "mass_matrix", "kinetic_energy", "potential_energy"):
        close(values(derive(turned), quantity, state), values(derive(system), quantity, state))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_choice_of_the_ground_frame_does_not_matter(seed: int) -> None:
    from dataclasses import replace

    from kineta.model.joints.rotation import Rx, Rz
    from kineta.model.joints.shift import Sx

    system = random_system(seed, rheonomic=True)
    turned = [
        replace(b, motions=(Sx(0.3), Rz(0.7), Rx(-0.4), *b.motions)) if b.base == "ground" else b for b in system.bodies
    ]
    c, s, k, z = np.cos(0.7), np.sin(0.7), np.cos(-0.4), np.sin(-0.4)
    axes = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, k, -z], [0, z, k]])
    gravity = axes @ [float(x) for x in system.gravity]
    other = system.replace(bodies=turned, gravity=gravity)
    state = random_state(system, seed)
    for quantity in ("inverse", "mass_matrix", "kinetic_energy"):
        close(values(derive(other), quantity, state), values(derive(system), quantity, state))


QUANTITIES = ("kinetic_energy", "momentum", "mass_matrix", "bias", "inverse", "forward", "jacobian", "power")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("seed", some(range(8), 4))
def test_what_is_compiled_has_the_values_of_what_is_derived(seed: int, backend: str) -> None:
    system = random_system(seed, rheonomic=True, elements=True)
    equations, state = derive(system), random_state(system, seed)
    q, v = (np.array([state[n] for n in names]) for names in (system.q_names, system.v_names))
    p = {n: state[n] for n in system.parameter_names}
    more = {"inverse": named(system, "", state, "'"), "forward": named(system, "tau[", state, "]")}
    more["power"] = more["forward"]
    for quantity in QUANTITIES:
        function = equations.function(quantity, backend)
        arguments = [more[quantity]] if quantity in more else []
        expected = values(equations, quantity, state)
        close(function(state["t"], q, v, *arguments, p=p), expected)
