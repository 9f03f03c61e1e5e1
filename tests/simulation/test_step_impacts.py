"""Impacts in steps of time stepping: which are listed, with what impulses."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.simulation.test_stepping import BALL


def test_impacts_are_listed_at_the_ends_of_their_steps() -> None:
    model = kn.loads(BALL)
    run = kn.simulate(model, 2.0, method="moreau", max_step=1e-4, samples=3)
    exact = kn.simulate(model, 2.0, samples=3)
    for found, one in zip(run.impacts[:4], exact.impacts[:4], strict=True):
        assert found.t == pytest.approx(one.t, abs=1e-3)
        assert found.contact == "floor"
        assert found.impulse_n == pytest.approx(one.impulse_n, rel=1e-3)
        assert found.after == pytest.approx(-0.8 * found.before, rel=1e-3)
        assert found.energy_lost == pytest.approx(one.energy_lost, rel=2e-3)
    assert run.changes[0] == (run.impacts[0].t, "floor strikes")


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize(
    ("shape", "height"),
    [
        ("point between B and ground axis (0, 0, 1)", 0.0),
        ("box = 0.2, 0.3, 0.4 between B and ground axis (0, 0, 1)", 0.2),
        ("box = 0.2, 0.3, 0.4 among B and plane among ground axis (0, 0, 1)", 0.2),
        ("ball = 0.1 among B and plane among ground axis (0, 0, 1)", 0.1),
    ],
)
def test_impulses_of_impacts_are_jumps_of_momentum(shape: str, height: float, restitution: float) -> None:
    model = kn.loads(
        f"gravity 9.81; B | Free(b) = 1.5, 0.01, 0.02, 0.03; initial b.z = {height + 0.5}, b.vx = 0.3;"
        f"contact c : {shape}, friction = 0.3, restitution = {restitution};"
    )
    pressed = 2e-3
    end = (2 * 0.5 / 9.81) ** 0.5 + pressed
    run = kn.simulate(model, end, method="moreau", max_step=2.5e-4, samples=2)
    jump = 1.5 * (run["b.vz"][-1] + 9.81 * end)
    assert sum(i.impulse_n for i in run.impacts) == pytest.approx(jump, abs=1.5 * 9.81 * pressed)
    assert len(run.impacts) == (4 if height == 0.2 else 1)
    assert all(i.before == pytest.approx(-((9.81 * 2 * 0.5) ** 0.5), abs=5e-3) for i in run.impacts)
    assert all(i.after == pytest.approx(-restitution * i.before, abs=1e-3) for i in run.impacts)


def test_every_impulse_that_a_blow_passes_on_is_listed() -> None:
    """Of bodies that nothing had moved towards each other at the beginning of the step in which they strike."""
    row = kn.loads("""for i in 1..5 : P[i] | Sx(x[i]) = i; coordinates x[1], x[2], x[3], x[4], x[5];
    for i in 1..4 : limit l[i] : x[i + 1] - x[i] >= 0.2, restitution = 0.5;
    for i in 1..5 : initial x[i] = 0.20005*i; initial x[5]' = -2;""")
    run = kn.simulate(row, 0.05, method="moreau", samples=2)
    assert {i.contact for i in run.impacts} == {f"l[{k}].lower" for k in range(1, 5)}
    given = [0.0, *(sum(i.impulse_n for i in run.impacts if i.contact == f"l[{k}].lower") for k in range(1, 5)), 0.0]
    change = run.v[-1] - [0, 0, 0, 0, -2.0]
    np.testing.assert_allclose([given[k] - given[k + 1] for k in range(5)], np.arange(1, 6) * change, atol=1e-12)


@pytest.mark.parametrize("method", ["moreau", "events"])
def test_a_blow_is_listed_where_it_presses_what_rests(method: str) -> None:
    stack = kn.loads("""gravity 9.81; Box | Sz(b) = 2; Ball | Sz(z) = 1; coordinates b, z; initial z = 1;
    limit ground : b >= 0, restitution = 0.3; limit on : z - b >= 0.1, restitution = 0.5;""")
    run = kn.simulate(stack, 0.5, method=method, samples=2)
    assert [i.contact for i in run.impacts] == ["ground.lower", "on.lower"]
    assert [what for _, what in run.changes] == ["on.lower strikes"]
    assert run.impacts[0].impulse_n == pytest.approx(run.impacts[1].impulse_n, abs=2.1 * 9.81 * 1e-3)


def test_impacts_of_what_is_thrown_sum_to_the_change_of_momentum() -> None:
    """Of two boxes on each other that a third strikes, but for what forces and gravity do in the steps of impacts."""
    boxes = kn.loads("""gravity 9.81; for i in 1..3 : B[i] | Free(b[i]) = 1, 0.01, 0.01, 0.01;
    contact c : box = 0.2, 0.2, 0.2 among B[1..3] and plane among ground axis (0, 0, 1), friction = 0.4, restitution = 0.2;
    initial b[1].z = 0.1, b[2].z = 0.3, b[3].z = 0.6, b[3].vz = -3, b[3].vx = 0.2;""")
    run = kn.simulate(boxes, 0.09, method="moreau", samples=91)
    k = round(run.impacts[0].t / 1e-3)
    t = {i.t for i in run.impacts}
    own = {
        name: sum(i.impulse_n for i in run.impacts if i.contact == name) for name in {i.contact for i in run.impacts}
    }
    assert own.keys() == {"c.B[1].ground", "c.B[1].B[2]", "c.B[2].B[3]"}
    after = round(max(t) / 1e-3)
    gained = sum(run[f"b[{i}].vz"][after] - run[f"b[{i}].vz"][k - 1] for i in (1, 2, 3))
    assert own["c.B[1].ground"] == pytest.approx(gained, abs=3 * 9.81 * (after - k + 2) * 1e-3)
