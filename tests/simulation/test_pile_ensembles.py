"""Ensembles of bodies that may touch each other: each case has the bits of its own run, and says why it cannot start."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.errors import KinetaWarning
from tests.simulation.test_piles import pile, stacked
from tests.simulation.test_stepping_switches import same_as_alone

#: Shapes of all kinds whose sizes, laws and masses are parameters, with outputs of one body and of several.
MIXED = """
parameters m = 1, r = 0.1, a = 0.2, mu = 0.4, e = 0.3; gravity 9.81;
A | Sx(xa), Sz(za), Ry(pa) = m, 0.004, 0.004, 0.004;
B | Sx(xb), Sz(zb), Ry(pb) = 2, 0.004, 0.004, 0.004;
C | Sx(xc), Sz(zc), Ry(pc) = 1, 0.004, 0.004, 0.004;
coordinates xa, za, pa, xb, zb, pb, xc, zc, pc;
initial za = 0.12, zb = 0.45, zc = 0.8, xb = 0.03, xc = -0.02, pb = 0.3;
contact heap : ball = r among A and box = a, a, a among B and capsule = r, a among C axis (1, 0, 0)
  and plane among ground axis (0, 0, 1), friction = mu, restitution = e;
output high = zb; output spread = xc - xa; output lifted = energy + m;
"""


@pytest.mark.slow
def test_cases_are_those_alone() -> None:
    q = {name: np.full(3, value) for name, value in stacked(3).items()}
    q["x[2]"] = np.array([0.0, 0.01, 0.05])
    same_as_alone(pile(3), 0.3, 3, q=q, t_eval=np.linspace(0.01, 0.3, 7))


@pytest.mark.slow
def test_sizes_laws_and_masses_differ_between_cases() -> None:
    p = {"m": [1, 2, 0.5], "r": [0.1, 0.08, 0.1], "mu": [0.4, 0, 0.9], "e": [0.3, 0.8, 0], "a": [0.2, 0.25, 0.2]}
    run = same_as_alone(kn.loads(MIXED), 0.6, 3, p={n: np.array(x, dtype=float) for n, x in p.items()}, samples=5)
    assert run.parameters["m"].shape == (3, 1)
    assert {"high", "spread", "lifted"} <= run.outputs.keys()
    assert all(run.case(i).impacts for i in range(3))
    np.testing.assert_allclose(run["spread"], run["xc"] - run["xa"])


@pytest.mark.slow
def test_forces_differ_between_cases() -> None:
    model = kn.loads(MIXED)
    tau = {"xa'": np.array([0.0, 3.0]), "zb'": np.array([0.0, -5.0])}
    both = kn.simulate(model, 0.3, tau=tau, method="moreau", samples=4)
    for i in range(2):
        alone = kn.simulate(model, 0.3, tau={n: x[i] for n, x in tau.items()}, method="moreau", samples=4)
        assert (both.y[i] == alone.y).all()
        assert both.case(i).work == pytest.approx(alone.work, abs=0)


@pytest.mark.slow
def test_bodies_of_one_component_have_cases() -> None:
    text = MIXED.replace(
        "output high", "spring s = 40, 0.4 between A and B; spring w = 30, 0.4 between B and C; output high"
    )
    same_as_alone(kn.loads(text), 0.3, 2, q={"za": np.array([0.12, 0.2])}, samples=4)


def test_cases_that_cannot_start_say_why() -> None:
    model = kn.loads(MIXED)
    run = kn.simulate(model, 0.2, method="moreau", q={"zb": np.array([0.45, 0.2, 0.45])})
    assert run.cases is not None
    assert run.cases.status.tolist() == [0, -1, 0]
    assert "heap.A.B overlap by" in run.case(1).message
    with pytest.raises(kn.ModelError, match="expected a coefficient of friction of zero or more, found -1"):
        kn.simulate(model, 0.2, method="moreau", p={"mu": np.array([0.4, -1])})
    with pytest.raises(kn.SimulationError, match="overlap by"):
        kn.simulate(model, 0.2, method="moreau", q={"zb": np.array([0.2, 0.21])})


def test_overlaps_are_pushed_apart_in_each_case() -> None:
    model = kn.loads(MIXED.replace("friction = mu", "overlap = 0.01, friction = mu"))
    with pytest.warns(KinetaWarning, match="are pushed apart"):
        run = kn.simulate(model, 0.1, method="moreau", q={"za": np.array([0.12, 0.095])}, samples=3)
    assert "pushed apart" not in run.case(0).notes[0]
    assert "heap.A.ground overlap by 0.005 m" in run.case(1).notes[0]


def test_steps_that_run_out_keep_what_they_have() -> None:
    run = kn.simulate(kn.loads(MIXED), 0.2, method="moreau", q={"za": np.array([0.12, 0.2])}, max_steps=50, samples=5)
    assert run.cases is not None
    assert run.cases.status.tolist() == [4, 4]
    assert run.case(0).t[-1] == pytest.approx(0.05)


def test_a_run_without_a_method_takes_the_table() -> None:
    run = kn.simulate(kn.loads(MIXED), 0.1, q={"za": np.array([0.12, 0.2])}, samples=3)
    assert run.method == "moreau"
    assert "'heap' is of 6 pairs" in run.notes[0]
