"""Design numbers are those of the run: extremes between samples, at jumps, and couples at hinge points."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.support import EXAMPLES

PENDULUM = "gravity (0, -9.81, 0); parameters l = 0.7; A | Rz(q), Sy(-l) = 2 kg; coordinates q; initial q = 2.5;"


def test_a_pendulum_pulls_most_at_its_lowest_point() -> None:
    system = kn.loads(PENDULUM)
    run = kn.simulate(system, 3.0, samples=7, dense_output=True, rtol=1e-11)
    found = kn.extremes(lambda t: kn.reactions(system, run.at(t)), run.sol.steps)
    most = 2 * 9.81 * (1 + 2 * (1 - np.cos(2.5)))
    assert found["A.fy"].largest == pytest.approx(most, rel=1e-9)
    assert run.sol(found["A.fy"].t_largest)[0] == pytest.approx(0, abs=1e-4)
    assert kn.reactions(system, run)["A.fy"].max() < 0.99 * most
    assert found["A.nz"] == (0, found["A.nz"].t_least, 0, found["A.nz"].t_largest)  # a hinge that nothing drives


def test_an_unbalanced_rotor_pulls_with_the_closed_form() -> None:
    system = kn.loads("R | Rz(a) = m(3), Jz(0.2), com = (0.05, 0, 0); coordinates a; initial a' = 40;")
    run = kn.simulate(system, 1.0, samples=5, dense_output=True)
    found = kn.extremes(lambda t: kn.reactions(system, run.at(t)), run.sol.steps)
    for name in ("R.fx", "R.fy"):
        assert (found[name].least, found[name].largest) == pytest.approx((-240, 240), rel=1e-7)


def test_jumps_and_contacts_count() -> None:
    """The force of a stop is largest just after it has closed."""
    system = kn.loads("""
        gravity 9.81; B | Sz(z) = 2; coordinates z; force push = 30*exp(-0.2*t) on z; limit top : z <= 0.5;
        output f = lambda.top.upper;
    """)
    run = kn.simulate(system, 1.5, samples=4, dense_output=True)
    (strike,) = [t for t, what in run.changes if what == "top.upper strikes"]
    found = kn.extremes(lambda t: {"f": run.at(t)["f"]}, run.sol.steps)["f"]
    assert found.largest == pytest.approx(30 * np.exp(-0.2 * strike) - 2 * 9.81, rel=1e-6)
    assert found.t_largest == pytest.approx(strike, abs=1e-6)


def test_a_run_at_other_times_is_the_run() -> None:
    for name in ("hopper", "double_pendulum", "sliding_block"):
        system = kn.load(EXAMPLES / f"{name}.kin")
        t = np.linspace(0, 1, 24)
        run, other = (kn.simulate(system, 1.0, t_eval=grid, dense_output=True) for grid in (t, [0.0, 1.0]))
        again = other.at(t)
        for series, values in run.series.items():
            assert again[series] == pytest.approx(values, abs=1e-12), series
    with pytest.raises(kn.ArgumentError, match="Expected t between 0 and 1, found 2"):
        other.at([0.5, 2.0])
    with pytest.raises(kn.ArgumentError, match=r"its solution was not kept; simulate with dense_output=True\."):
        kn.simulate(system, 1.0).at([0.5])
    with pytest.raises(kn.ArgumentError, match="Expected times at which extremes are sought, found none"):
        kn.extremes(lambda t: {}, [])
