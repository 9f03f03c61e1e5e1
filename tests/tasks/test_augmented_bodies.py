"""Augmented bodies and structure matrices as numbers: the worked systems of the sources, and what they mean on random trees."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.mechanics.ball_trees import BallTree
from tests.mechanics.random_systems import random_state, random_system
from tests.mechanics.truth import error, load, vectors
from tests.reference_problems.test_andreev import system_of

TOLERANCE = 1e-12
TREES = ("worked3", "pend1", "double2", "chain3", "branch3", "tree5", "tree7")


@pytest.mark.parametrize("name", TREES)
def test_constants_of_wittenburgs_trees(name: str) -> None:
    case = vectors("wittenburg_trees")[name]
    g, expected = case["input"], case["expected"]
    built = BallTree(g)
    system = kn.System(name, built.bodies(g["r0"]))
    q = {n: x for n, x in built.state().items() if n in system.q_names}
    names = [f"b{a}" for a in built.outer]
    found = kn.augmented_bodies(system, q, order=names, outward=built.outward)
    assert found.constant
    n = g["n"]
    for mine, theirs in (
        (found.mass, "total_mass"),
        (found.d, "d_body"),
        (found.b, "b_body"),
        (found.b0, "b_i0_body"),
        (found.K, "K_i_body"),
        (found.coupling.swapaxes(1, 2).reshape(3 * n, 3 * n), "K_matrix"),
    ):
        assert error(mine, expected[theirs]) < TOLERANCE, theirs


MASS = 1.3


def _turning(seed: int) -> kn.System:
    """A random tree whose joints shift nothing, so that what is fixed in bodies is fixed."""
    bodies = []
    for b in random_system(seed).bodies:
        motions = [m if isinstance(m, kn.Rotation | kn.Ball) else kn.Sx(0.3) for m in b.motions]
        own = kn.inertia(_mass(b), b.inertia.moments, b.inertia.products, com=b.inertia.com)
        bodies.append(kn.body(b.name, motions, own, base=b.base))
    return kn.System(f"turning{seed}", bodies, gravity=(0, 0, 0))


def _mass(body: kn.Body) -> float:
    return MASS if body.inertia.mass.value is None else body.inertia.mass.value


def _tensor(own: kn.Inertia) -> np.ndarray:
    (a, b, c), (ab, ac, bc) = ([x.value for x in three] for three in (own.moments, own.products))
    return np.array([[a, ab, ac], [ab, b, bc], [ac, bc, c]], dtype=float)


@pytest.mark.parametrize("seed", range(6))
def test_sums_over_augmented_bodies(seed: int) -> None:
    """(5.20), (5.21), (5.26), and K_i from what it means: the body and the masses at its hinges, about its own hinge."""
    found = kn.augmented_bodies(_turning(seed))
    assert found.constant
    m, n = found.masses, len(found.masses)
    size = found.mass * max(np.abs(found.d).max(), 1.0) ** 2
    assert found.mass == pytest.approx(m.sum())
    assert np.abs(np.einsum("k,ikc->ic", m, found.b)).max() < TOLERANCE * size
    assert np.abs(found.b0[:, None] - found.b - found.d).max() < TOLERANCE * size
    assert np.abs(np.einsum("k,ikc->ic", m, found.d) - found.p).max() < TOLERANCE * size
    for i in range(n):
        assert np.linalg.eigvalsh(found.K[i]).min() > -TOLERANCE * size
        for j in range(n):
            assert np.abs(found.coupling[i, j] - found.coupling[j, i].T).max() < TOLERANCE * size
            beyond = found.graph.T[i, j] != 0
            assert beyond or not found.d[i, j].any()


@pytest.mark.parametrize("seed", range(6))
def test_mass_matrix_from_both(seed: int) -> None:
    """M = sum of m S_R^T S_R + S_M^T J S_M, and, where no joint shifts, = W^T K W with the K_ij of the augmented bodies."""
    system = _turning(seed)
    state = random_state(system, seed)
    q, still = [state[n] for n in system.q_names], np.zeros(system.nv)
    found, structures = kn.augmented_bodies(system, q), kn.structure_matrices(system, q)
    M, R = (kn.derive(system).function(n)(0.0, q, still) for n in ("mass_matrix", "rotations"))
    reduced = sum(
        _mass(b) * S_R.T @ S_R + S_M.T @ _tensor(b.inertia) @ S_M
        for b, S_R, S_M in zip(system.bodies, structures.S_R, structures.S_M, strict=True)
    )
    assert np.abs(reduced - M).max() < TOLERANCE * np.abs(M).max()
    W = {b.name: R[k] @ structures.S_M[k] for k, b in enumerate(system.bodies)}
    W = np.array([W[name] for name in found.graph.bodies])
    both = np.einsum("iak,ijab,jbl->kl", W, found.coupling, W)
    assert np.abs(both - M).max() < TOLERANCE * np.abs(M).max()


def test_structure_matrices_of_the_puma() -> None:
    case = load("vectors/andreev_puma_rx6.json")
    system = system_of(case)
    for state in case["cases"]:
        found = kn.structure_matrices(system, state["q"])
        for name, S_R, S_M in zip(found.bodies, found.S_R, found.S_M, strict=True):
            assert np.abs(S_R - state["bodies"][name]["S_R"]).max() < TOLERANCE
            assert np.abs(S_M - state["bodies"][name]["S_M"]).max() < TOLERANCE


@pytest.mark.parametrize("seed", range(6))
def test_forces_are_reduced_by_their_structure(seed: int) -> None:
    """S_P^T P + S_R^T m g is what the equations need at rest, with the other sign."""
    system = random_system(seed, elements=True)
    state = random_state(system, seed)
    q, v, p = ([state[n] for n in names] for names in (system.q_names, system.v_names, system.parameter_names))
    found = kn.structure_matrices(system, q, v, p)
    mass = {b.name: _mass(b) for b in system.bodies}
    g = np.array([x.value for x in system.gravity])
    weight = sum((mass[n] * S.T @ g for n, S in zip(found.bodies, found.S_R, strict=True)), np.zeros(system.nv))
    bare = kn.derive(system.replace(elements=(), gravity=(0, 0, 0)))
    of_masses = bare.function("bias")(0.0, q, v, p=[state[n] for n in bare.system.parameter_names])
    needed = kn.derive(system).function("bias")(0.0, q, v, p=p) - of_masses
    assert np.abs(needed + found.forces + weight).max() < TOLERANCE * max(1.0, np.abs(needed).max())


def test_a_force_at_a_place_that_speeds_move_is_one_at_the_origin_with_a_couple() -> None:
    system = kn.loads(
        "gravity 0; coordinates x, a; A | Sx(x), Rz(a) = 1, 1, 1, 1; force F on A at (2*a', 1, 0) = (3, 4, 0);"
    )
    found = kn.structure_matrices(system, v=[0.0, 0.5])
    assert found.elements == ("F.x", "F.y", "F.z", "F.nx", "F.ny", "F.nz")
    np.testing.assert_allclose(found.forces, [3.0, 1.0 * 4.0 - 1.0 * 3.0], atol=1e-14)
    assert found.split(["F"])[0].shape == (2, 0)


def test_known_and_unknown_forces() -> None:
    """(3.2): a beam on two supports. And A, B of (3.4), (3.5) among what kinetostatics finds."""
    x, a = kn.symbols("y phi")
    F, left, right = kn.symbols("F left right")
    beam = kn.body("Beam", [kn.Sy(x), kn.Rz(a)], kn.inertia(0, (0, 0, 1)))
    forces = [
        kn.force("load", kn.station("Beam", (0.5, 0, 0)), (0, -F, 0)),
        kn.force("at_left", kn.station("Beam", (-1, 0, 0)), (0, left, 0)),
        kn.force("at_right", kn.station("Beam", (1, 0, 0)), (0, right, 0)),
    ]
    values = {"F": 8.0, "left": 0.0, "right": 0.0}
    system = kn.System("beam", [beam], elements=forces, gravity=(0, 0, 0), parameters=values, coordinates=["y", "phi"])
    S1, S2 = kn.structure_matrices(system).split(["at_left.y", "at_right.y"])
    known = [n for n in kn.structure_matrices(system).elements if n not in ("at_left.y", "at_right.y")]
    R = -np.linalg.solve(S2, S1[:, known.index("load.y")] * -8.0)
    found = kn.statics(system, unknown=["left", "right"])
    assert list(R) == pytest.approx([2.0, 6.0])
    assert [found["left"][0], found["right"][0]] == pytest.approx(R)
    assert found.shares[0] @ R == pytest.approx(found.asked[0])
    with pytest.raises(kn.ArgumentError, match=r"no element 'at_lefty'. Did you mean 'at_left"):
        kn.structure_matrices(system).split(["at_lefty"])


def test_what_is_printed_has_names_and_units() -> None:
    system = kn.load("examples/double_pendulum.kin")
    text = str(kn.augmented_bodies(system))
    assert "2 second: m = 1 kg" in text
    assert "p[1] = (0, 2, 0) kg*m" in text
    assert "K[1] = ((2, 0, 0), (0, 0, 0), (0, 0, 2)) kg*m^2" in text
    assert "S_M second  q1'  q2'" in str(kn.structure_matrices(system))


def test_axes_that_shift_are_no_constants() -> None:
    q, s, a = kn.symbols("q s a")
    arm = kn.body("Arm", [kn.Rz(q)], kn.inertia(1, (1, 1, 1)))
    sled = kn.body("Sled", [kn.Sx(s), kn.Rz(a)], kn.inertia(2, (1, 1, 1)), base=arm)
    found = kn.augmented_bodies(kn.System("arm", [arm, sled], coordinates=["q", "s", "a"]), {"s": 0.4})
    assert not found.constant
    assert found.d[0, 1] == pytest.approx([-0.4, 0, 0])
    assert "at this state: joints shift" in str(found)


def test_one_state_alone() -> None:
    system = kn.load("examples/double_pendulum.kin")
    with pytest.raises(kn.ArgumentError, match="one state and one set of parameters, found cases"):
        kn.augmented_bodies(system, {"q1": [0.0, 1.0]})
    with pytest.raises(kn.ArgumentError, match="has no body 'secnd'"):
        kn.augmented_bodies(system, order=["first", "secnd"])
