"""The answers that the examples state: what their motions keep, and where they lead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.reference_problems.tables import TIGHT
from tests.support import EXAMPLES


def moved(name: str, seconds: float, **given: Any) -> tuple[kn.System, kn.Result]:
    """An example and its motion."""
    system = kn.load(EXAMPLES / f"{name}.kin")
    run = kn.simulate(system, seconds, **TIGHT, **given)
    assert run.success, run.message
    return system, run


def along(system: kn.System, run: kn.Result, quantity: str) -> Any:
    """A quantity at the recorded states."""
    return kn.derive(system).function(quantity)(run.t, run.q, run.v)


def test_a_falling_chain_keeps_energy_less_the_work_of_its_drives() -> None:
    system, run = moved("spatial_chain", 2.0)
    assert run["kept"] == pytest.approx(np.full(len(run.t), run["kept"][0]), abs=1e-9)
    centre, momentum, t = along(system, run, "mass_centre"), along(system, run, "linear_momentum"), run.t[:, None]
    mass = sum(body.inertia.mass.value for body in system.bodies)
    fallen = centre[0] + momentum[0] / mass * t - [0, 0, 9.81 / 2] * t**2
    assert centre == pytest.approx(fallen, abs=1e-9)


def test_a_satellite_turns_back_against_its_arm() -> None:
    system, run = moved("planar_chain", 5.0)
    for quantity in ("linear_momentum", "angular_momentum"):
        assert np.abs(along(system, run, quantity)).max() < 1e-11, quantity
    centre = along(system, run, "mass_centre")
    assert centre == pytest.approx(np.tile(centre[0], (len(centre), 1)), abs=1e-11)
    assert run["phi1"][-1] < -0.4


@pytest.mark.slow
def test_the_ground_carries_a_walking_machine() -> None:
    system = kn.load(EXAMPLES / "walking_machine.kin")
    run = kn.simulate(system, 4.0, samples=8001)
    assert run.success, run.message
    up = along(system, run, "linear_momentum")[:, 2]
    assert np.trapezoid(run["load"], run.t) == pytest.approx(12.4 * 9.81 * 4.0 + up[-1] - up[0], rel=1e-5)
    assert run["Hull.x"][-1] > 0.4
    assert run["Hull.z"].min() > 0.37


@pytest.mark.slow
def test_the_hook_and_the_friction_change_the_energy_of_a_ball_jointed_tree() -> None:
    _, run = moved("ball_tree", 2.0)
    assert run.energy - run.work == pytest.approx(np.full(len(run.t), run.energy[0]), abs=1e-9)
    assert np.ptp(run.work) > 1.0


def test_the_skate_drifts_across_the_slope() -> None:
    """Over a turn by pi g / w^2 across, and by nothing down (Gantmacher, example 1, corrected)."""
    g, w = 9.81, 2.0
    _, run = moved("skate", 2 * np.pi / w)
    assert run["x"][-1] - run["x"][0] == pytest.approx(np.pi * g / w**2, rel=1e-10)
    assert run["y"][-1] == pytest.approx(run["y"][0], abs=1e-10)


def test_a_torque_free_body_keeps_its_energy_and_its_angular_momentum() -> None:
    system, run = moved("euler_top", 20.0)
    assert run.kinetic_energy == pytest.approx(np.full(len(run.t), run.kinetic_energy[0]), rel=1e-11)
    momentum = along(system, run, "angular_momentum")
    assert momentum == pytest.approx(np.tile(momentum[0], (len(momentum), 1)), abs=1e-9)
