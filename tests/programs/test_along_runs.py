"""Laws of control along runs, from what the masses of the bodies do there: without sweeps and symbols, by differences in time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kineta as kn
from kineta.model.elements.force import Force
from tests.mechanics.random_systems import random_system
from tests.support import EXAMPLES

Floats = NDArray[np.float64]
Of = Callable[[float], Any]

#: Weights of a derivative by values around it, so far apart; and how near to the exact one it comes here, relative to its terms.
WEIGHTS, APART, CLOSE = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}, 5e-4, 1e-5


def rate(f: Of, t: float) -> Any:
    return sum(weight * f(t + k * APART) for k, weight in WEIGHTS.items()) / APART


class Along:
    """A run of *system* under one program, seen from without: the fields of its masses (bodies, 3, 4), of which a column gives
    the velocity at the origin of a body, and the others how it changes along the axes of the body.
    """

    def __init__(self, system: kn.System, t: float, **start: Any) -> None:
        self.run = kn.simulate(system, t, rtol=1e-11, atol=1e-12, dense_output=True, **start)
        assert self.run.success, self.run.message
        self.system, self.bare = system, system.replace(programs=(), control=None)
        self.e = kn.derive(self.bare)
        i = len(self.run.t) // 2
        self.t, self.multiplier = float(self.run.t[i]), self.run["lambda.p"][i]
        pi = self.e.function("inertial_parameters")(*self.at(self.t)[:3])
        J = pi[:, [4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(-1, 3, 3)
        self.masses = np.zeros((len(pi), 4, 4))  # of r r^T, r and 1
        self.masses[:, :3, :3] = 0.5 * np.trace(J, axis1=1, axis2=2)[:, None, None] * np.eye(3) - J
        self.masses[:, :3, 3] = self.masses[:, 3, :3] = pi[:, 1:4]
        self.masses[:, 3, 3] = pi[:, 0]

    def at(self, t: float) -> tuple[float, Floats, Floats, Floats]:
        """Time, coordinates, speeds and accelerations."""
        nq, nv = self.system.nq, self.system.nv
        y = self.run.sol(t)
        return t, y[:nq], y[nq : nq + nv], y[nq + nv : nq + 2 * nv]

    def fields(self, t: float) -> Floats:
        """The fields of unit speeds, (nv, bodies, 3, 4)."""
        state = self.at(t)[:3]
        E, R = (self.e.function(name)(*state) for name in ("jacobian", "rotations"))
        turned = np.cross(np.moveaxis(E[:, 3:], 2, 0)[:, :, None], np.swapaxes(R, 1, 2)[None])
        return np.concatenate([np.swapaxes(turned, 2, 3), np.moveaxis(E[:, :3], 2, 0)[..., None]], axis=3)

    def on_speeds(self, field: Floats, t: float) -> Floats:
        """What a field of forces on the masses does on the speeds."""
        return np.einsum("bij,bjk,nbik->n", field, self.masses, self.fields(t))

    def constraints(self, t: float) -> Floats:
        """The gradients of the constraints."""
        return (
            self.e.function("constraint_jacobian")(*self.at(t)[:3])
            if self.system.constraints
            else np.zeros((0, self.system.nv))
        )

    def tangent(self, u: Of, t: float) -> Floats:
        """The field of the motions that are allowed and have the momenta *u*, but for what constraints carry."""
        E, A = self.fields(t), self.constraints(t)
        M = np.einsum("mbij,bjk,nbik->mn", E, self.masses, E)
        K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
        w = np.linalg.lstsq(K, np.concatenate([u(t), np.zeros(len(A))]), rcond=1e-10)[0][: len(M)]
        return np.tensordot(w, E, 1)

    def covariant(self, u: Of, t: float) -> Floats:
        """The covariant derivative of *u*."""
        return self.on_speeds(rate(partial(self.tangent, u), t), t)

    def asked(self, t: float) -> Floats:
        """The forces that the motion asks for beside those of the model."""
        return self.e.function("inverse")(*self.at(t))

    def jerks(self, t: float) -> Floats:
        """What the jerks of the masses do on the speeds: the gradient of their kineta."""

        def moving(t: float) -> Floats:
            state = self.at(t)
            v, R = (
                self.e.function("velocities")(*state[:3]),
                np.swapaxes(self.e.function("rotations")(*state[:3]), 1, 2),
            )
            a, w = self.e.function("accelerations")(*state), v[:, None, 3:]
            turned = np.cross(a[:, None, 3:], R) + np.cross(w, np.cross(w, R))
            return np.concatenate([np.swapaxes(turned, 1, 2), a[:, :3, None]], axis=2)

        return self.on_speeds(rate(moving, t), t)

    def gradient(self, order: int) -> Floats:
        """That of |x^(order)|^2 of the origin of the last body."""
        acceleration = self.e.function(f"acceleration({self.system.bodies[-1].name})")

        def a(t: float) -> Floats:
            return acceleration(*self.at(t))[:3]

        x = a(self.t) if order == 2 else rate(a, self.t)
        return 2 * np.einsum("ni,i->n", self.fields(self.t)[:, -1, :, 3], x)

    def held(self, left: Floats, order: int) -> None:
        """That *left* is the multiplier times the gradient, but for what constraints carry."""
        right, A = self.multiplier * self.gradient(order), self.constraints(self.t)
        off = left - right
        off = off - A.T @ np.linalg.lstsq(A.T, off, rcond=1e-10)[0] if len(A) else off
        assert np.abs(off).max() < CLOSE * max(np.abs(left).max(), np.abs(right).max())


def under(system: kn.System, kind: str, value: Any, law: str) -> kn.System:
    held = kn.program("p", abs(kn.vector(kind, system.bodies[-1].name)) ** 2 - value)
    return system.replace(programs=[held], control=kn.control(law), outputs=())


CLOSED = {"upright_coin": 0.4, "bricard": 4.0, "bicycle": 0.8}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("upright_coin", "covariant"),
        ("bricard", "kineta"),
        *(pytest.param("bicycle", law, marks=pytest.mark.slow) for law in ("covariant", "kineta")),
    ],
)
def test_laws_hold_beside_loops_and_rolling(name: str, law: str) -> None:
    system = kn.load(EXAMPLES / f"{name}.kin")
    found = Along(under(system, "a", CLOSED[name] + kn.symbol("t"), law), 0.05)
    found.held(found.covariant(found.asked, found.t) if law == "covariant" else found.jerks(found.t), 2)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "r"), [(1, 1), (3, 2)])
def test_the_covariant_law_holds_in_trees_with_all_elements(seed: int, r: int) -> None:
    system = random_system(seed, rheonomic=True, elements=r == 1, n=8 if r == 1 else 4)
    v = 0.3 * np.random.default_rng(seed).normal(size=system.nv)
    found = Along(under(system, "a" if r == 1 else "jerk", 3 + kn.symbol("t"), "covariant"), 0.2, v=v)
    u = found.asked if r == 1 else partial(found.covariant, found.asked)
    found.held(found.covariant(u, found.t), r + 1)


@pytest.mark.slow
def test_the_kineta_law_takes_forces_at_points_as_vectors_and_all_others_as_fields() -> None:
    """Couples, potentials, springs and dampers on coordinates, generalised forces; and a force at a point."""
    system = random_system(4, rheonomic=True, elements=True, n=5)
    at_points = {"f2", "s1", "d1", "g3", "s4", "s5"}
    system = system.replace(elements=[e for e in system.elements if e.name not in at_points])
    v = 0.3 * np.random.default_rng(4).normal(size=system.nv)
    found = Along(under(system, "a", 3 + kn.symbol("t"), "kineta"), 0.25, v=v)
    (push,) = (e for e in system.elements if isinstance(e, Force))
    others = found.bare.replace(elements=[e for e in system.elements if e is not push])
    ways = [kn.derive(own).function("inverse") for own in (found.bare.replace(elements=()), others)]

    def acting(t: float) -> Floats:
        free, loaded = (way(*found.at(t)) for way in ways)
        return np.asarray(free - loaded)

    body = next(i for i, b in enumerate(system.bodies) if b.name == push.at.body)
    place = np.array([*(x.value for x in push.at.position), 1.0])
    change = np.array([0.0, np.cos(found.t), 0.0])  # of a force with the second component sin(t)
    of_push = np.einsum("nij,j,i->n", found.fields(found.t)[:, body], place, change)
    found.held(found.jerks(found.t) - of_push - found.covariant(acting, found.t), 2)


@pytest.mark.parametrize("law", ["covariant", "kineta", "inertial", "least"])
def test_a_body_is_turned_by_three_programs_of_three_orders(law: str) -> None:
    text = f"""B | Ball(b) = 1.3, 2, 3.1, 4.2; couple c on B = (t, 0.3, 0.1) in body; control {law};
        program one : w(B in B).x = 0.5 + 0.2*t^2; program two : |eps(B)|^2 = 1 + t; program three : eps(B in B).y' = 0.4*cos(t);
        initial b.wx = 0.5, b.wy = 0.3, b.wz = -0.2, b.wy' = 0.3;"""
    run = kn.simulate(kn.loads(text), 1.0, rtol=1e-11, atol=1e-12, samples=11)
    t, w = run.t, np.array([run[f"b.w{c}"] for c in "xyz"])
    x, y = 0.4 * t, 0.3 + 0.4 * np.sin(t)
    eps = np.array([x, y, -np.sqrt(1 + t - x**2 - y**2)])
    J = np.array([[2.0], [3.1], [4.2]])
    torque = J * eps + np.cross(w, J * w, axis=0) - np.array([t, 0.3 + 0 * t, 0.1 + 0 * t])
    np.testing.assert_allclose([run[f"b.w{c}'"] for c in "xyz"], eps, atol=1e-10)
    np.testing.assert_allclose([run[f"control.b.w{c}"] for c in "xyz"], torque, atol=1e-10)
