"""Euler's disk: a coin that rolls on its edge ever faster and lies down after a finite time."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

G, R, M, C = 9.81, 0.1, 1.0, 5e-6
#: A loss c phi'^2 by the rate of the place of contact along the edge, beside the spin of the disk about its own axis.
DISK = kn.loads(f"""
gravity {G};
Disk | Sx(x), Sy(y), Sz(z), Rz(psi), Rx(tilt), Rz(phi) = {M}, {M * R**2 / 4}, {M * R**2 / 4}, {M * R**2 / 2};
coordinates x, y, z, psi, tilt, phi;
damper loss = {C} on phi';
contact edge : disk = {R} between Disk axis (0, 0, 1) and ground axis (0, 0, 1), friction = 0.5;
output lambda.edge.n, lambda.edge.u, lambda.edge.w;
""")


# The loss turns the disk by a fiftieth of what its weight does, in the end.
def test_the_tilt_of_the_disk_falls_as_the_root_of_the_time_that_is_left() -> None:
    """In steady motion psi'^2 sin a = 4 g / r and E = 3/2 m g r sin a, so that d(ln cos a)/dt = 8 c / (3 m r^2)."""
    tilt = 0.1
    rate = np.sqrt(4 * G / (R * np.sin(tilt)))
    low = kn.event(kn.symbol("tilt") - 0.04, terminal=True, name="low")
    run = kn.simulate(
        DISK,
        5.0,
        q={"tilt": tilt, "z": R * np.sin(tilt)},
        v={"psi'": rate, "phi'": -rate * np.cos(tilt)},
        events=low,
        dense_output=True,
        rtol=1e-9,
    )
    assert run.status == 1, run.message
    assert run.energy_balance < 1e-8
    n, u, w = (run[f"lambda.edge.{c}"] for c in "nuw")
    assert (np.hypot(u, w) <= 0.5 * n * (1 + 1e-9)).all()
    assert (np.diff(run.energy) < 1e-9).all()
    t = np.linspace(0.1 * run.t[-1], run.t[-1], 400)
    a = run.sol(t)[run.q_names.index("tilt")]
    slope, start = np.polyfit(t, np.log(np.cos(a)), 1)
    assert slope == pytest.approx(8 * C / (3 * M * R**2), rel=5e-3)
    exponent = np.polyfit(np.log(-start / slope - t), np.log(a), 1)[0]
    assert exponent == pytest.approx(0.5, abs=5e-3)
