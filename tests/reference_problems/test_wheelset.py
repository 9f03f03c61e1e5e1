"""The wheelset on rails that sink is that of the reference problem, whose rails are rigid, as the rails become so."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kineta as kn
from tests.mechanics.truth import load
from tests.support import EXAMPLES

PLACES = ("x", "y", "z", "theta", "phi")
NAMES = (*PLACES, *(f"{n}'" for n in PLACES), "beta'", "psi_l", "xi_l", "psi_r", "xi_r", "lambda.right", "lambda.left")
MIRROR = np.array([-1, 1, 1, -1, -1, 1])


@cache
def wheelset() -> kn.System:
    return kn.load(EXAMPLES / "wheelset.kin")


def end(k: float) -> np.ndarray:
    """Where it is after 10 s on rails of the stiffness *k*, with multipliers in the units of the problem, 1e4 N."""
    loads = {"pl": 74.1455 / k, "pr": 83.5918 / k}
    start = kn.assemble(wheelset(), q=loads, p={"k": k}, pinned=("x", "z", "theta", "beta", "pl", "pr"))
    run = kn.simulate(wheelset(), 10.0, q=start.q, v=start.v, p={"k": k}, samples=2, rtol=1e-6, atol=1e-9)
    assert run.success, run.message
    return np.array([run[n][-1] * (-1e-4 if n.startswith("lambda") else 1) for n in NAMES])


@pytest.mark.slow
def test_the_motion_is_that_of_the_problem_the_nearer_the_stiffer_the_rails() -> None:
    """The error goes with 1/k: what two stiffnesses say of rigid rails is nearer by far than either."""
    given = load("ivp_testset/wheelset_published_only_s.json")
    last = given["expected"]["published_t10"]
    expected = np.array([*last["p"], *last["v"], last["beta"], *last["q"], *last["lambda"]])
    soft, stiff = end(1e9), end(1e10)
    np.testing.assert_allclose(stiff, expected, rtol=0, atol=given["tolerance"]["abs"])
    np.testing.assert_allclose((10 * stiff - soft) / 9, expected, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_kink_that_is_passed_twice_within_rounding_is_no_end() -> None:
    """Where creep across a rail saturates, creep along it goes through zero: the bound of friction is touched for 4e-8 s, and
    left so slowly that its place is known to 1e-13 s.
    """
    run = kn.simulate(wheelset(), 1.63, samples=2)
    assert run.success, run.message


def test_its_mirror_image_moves_as_its_image_in_the_mirror() -> None:
    forward = kn.derive(wheelset()).function("forward", "numpy")
    q = kn.assemble(wheelset()).q + np.array([0.002, 0, 0, 0.01, 0.001, 0, 0, 0])
    v = np.array([0.1, 0, 0.02, -0.3, 0.02, -0.2, 0, 0])

    def image(u: np.ndarray) -> np.ndarray:
        return np.append(MIRROR * u[:6], u[:5:-1])

    found, moved = forward(0.0, image(q), image(v)), forward(0.0, q, v)
    np.testing.assert_allclose(found, image(moved), rtol=0, atol=1e-10 * np.abs(moved).max())
