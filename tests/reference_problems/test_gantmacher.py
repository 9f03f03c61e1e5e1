"""Motions of Gantmacher's systems: his closed forms, corrected, and those of the torque-free body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.mechanics.test_quasi_velocities import skate, top
from tests.mechanics.truth import error, vectors
from tests.reference_problems.tables import TIGHT
from tests.support import EXAMPLES


def moved(system: kn.System, given: dict[str, Any], **start: Any) -> kn.Result:
    """The motion of *system* at the times of a case, with the parameters of the case."""
    values = {n: given[n] for n in system.parameter_names}
    result = kn.simulate(system, given["times"][-1], t_eval=given["times"], p=values, **start, **TIGHT)
    assert result.success, result.message
    return result


def column(samples: list[dict[str, float]], name: str) -> np.ndarray:
    return np.array([row[name] for row in samples])


@pytest.mark.parametrize("name", ["ex1_generic", "ex1_negative_alpha", "ex1_alpha_zero"])
def test_the_skate_runs_along_its_closed_form(name: str) -> None:
    given = vectors("gantmacher_example1")[name]
    samples, given = given["expected"]["samples"], given["input"] | {"l": 0.4}
    system = skate()
    run = moved(system, given, q=given["q0"], v=given["pi_dot0"])
    for series, expected in (("x", "x"), ("y", "y"), ("phi", "phi"), ("u", "pi_dot")):
        assert error(run[series], column(samples, expected)) < 1e-12, series
    equations, state = kn.derive(system, "appell"), [(r["x"], r["y"], r["phi"]) for r in samples]
    speeds, p = [(r["pi_dot"], given["pi_dot0"][1]) for r in samples], {n: given[n] for n in system.parameter_names}
    rates = equations.function("forward")(given["times"], state, speeds, p=p)
    assert error(rates[:, 0], column(samples, "pi_ddot")) < 1e-12
    assert np.abs(rates[:, 1]).max() < 1e-14
    reaction = equations.function("multipliers")(given["times"], state, speeds, p=p)[:, 0]
    assert error(reaction, column(samples, "N_over_m")) < 1e-12


@pytest.mark.parametrize("name", ["torque_free_symmetric", "torque_free_jacobi"])
def test_the_torque_free_body_runs_along_its_closed_form(name: str) -> None:
    case = vectors("gantmacher_example2")[name]
    given, expected = case["input"], case["expected"]
    run = moved(top(), given, q=[0.3, 1.2, 0.4], v=given["pqr0"])
    assert error(run.v, expected["samples"]) < 1e-12
    if "twoT" in expected:
        assert error(2 * run.kinetic_energy, np.full(len(run.t), expected["twoT"])) < 1e-12
        momentum = kn.derive(top()).function("angular_momentum")
        G = momentum(run.t, run.q, run.v, p={n: given[n] for n in "ABC"})
        assert error(np.sum(G**2, axis=1), np.full(len(run.t), expected["G_squared"])) < 1e-12


def test_the_coin_runs_along_its_closed_form() -> None:
    case = vectors("gantmacher_quasi_velocities")["upright_coin_closed_form"]
    samples, times = case["expected"]["samples"], case["input"]["times"]
    run = kn.simulate(kn.load(EXAMPLES / "upright_coin.kin"), times[-1], t_eval=times, **TIGHT)
    for series in ("x", "y", "theta", "psi"):
        assert error(run[series], column(samples, series)) < 1e-12, series
    assert error(run["rolling"], column(samples, "psi_dot")) < 1e-12
