"""Loads on what rests: a run sees them although nothing moves."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

#: A body in the ground's hold, one that friction holds, and one whose friction gives way; each let go once in a period.
LIFTED = "A | Sz(z) = 1; coordinates z; limit f : z >= 0; force g = -1 + {} on z;"
PUSHED = "A | Sx(x) = 1; coordinates x; friction f = 1 on x; force g = {} on x;"
EASED = "A | Sx(x) = 1; coordinates x; friction f = max(0, 1 - {}) on x; force g = 0.01 on x;"


@pytest.mark.parametrize("model", [LIFTED, PUSHED, EASED])
@pytest.mark.parametrize("load", ["1.02*sin(15*t)^4", "3*step(sin(30*t) - 0.95)", "1.5*exp(-200*(1 - sin(30*t)))"])
def test_a_load_acts_in_every_period(model: str, load: str) -> None:
    """Twenty-four in five seconds, as short as they may be."""
    run = kn.simulate(kn.loads(model.format(load)), 5.0)
    let_go = [t for t, what in run.changes if what in ("f.lower leaves", "f slips")]
    assert len(let_go) == 24
    assert np.allclose(np.diff(let_go), 2 * np.pi / 30, atol=1e-6)
    assert run.success


def test_a_force_that_is_given_to_the_run_is_seen() -> None:
    push = 1.02 * kn.sin(30 * kn.symbol("t"))
    run = kn.simulate(kn.loads(PUSHED.format("0")), 5.0, tau={"x'": push})
    assert sum(what == "f slips" for _, what in run.changes) == 48


def test_a_sine_that_waits_for_a_long_time_is_seen() -> None:
    """The integral of a load grows, and what it misses by with it; its sine does not."""
    run = kn.simulate(kn.loads(LIFTED.format("1.0002*sin(3*t)").replace("-1", "-1e3 + 999")), 500.0, samples=2)
    assert sum(what == "f.lower leaves" for _, what in run.changes) == 239


def test_forces_shown_of_what_rests_are_within_their_bounds() -> None:
    """Shaken below the bound, three feet that could share the load in other ways stand."""
    system = kn.loads("""
    gravity 9.81;
    B | Free(b) = 1, 0.01, 0.015, 0.02;
    force shake on B = (1.7658*sin(30*t), 0, 0);
    point P on B = (0.1, -0.08, -0.02);
    point Q on B = (0.1, 0.08, -0.02);
    point R on B = (-0.1, 0, -0.02);
    contact c : point between P, Q, R and ground axis (0, 0, 1), friction = 0.2;
    initial b.z = 0.02;
    """)
    run = kn.simulate(system, 1.0, samples=101)
    assert run.changes == ()
    for foot in "PQR":
        n, u, w = (run[f"lambda.c.{foot}.{part}"] for part in "nuw")
        assert (np.hypot(u, w) <= 0.2 * n * (1 + 1e-6)).all()


def test_the_work_of_short_slips_is_as_exact_as_its_tolerance() -> None:
    run = kn.simulate(kn.loads(PUSHED.format("1.02*sin(3*t)")), 5.0, samples=101)
    assert sum(what == "f slips" for _, what in run.changes) == 5
    assert run.status == 0


def test_what_the_time_does_not_load_has_no_more_to_integrate() -> None:
    still, loaded = (kn.simulate(kn.loads(PUSHED.format(load)), 5.0) for load in ("0.5", "0.5*sin(100*t)"))
    assert still.steps < 10 < loaded.steps
