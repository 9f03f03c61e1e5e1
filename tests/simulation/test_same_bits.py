"""A case in an ensemble, in whatever lane and on whatever core, is the same to the bit as the case alone."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.equations.initial_values import initial_state
from tests.simulation.switching_systems import switching_system
from tests.support import EXAMPLES, slow, some

#: Models and their spans: an arm, pendulums, a top, a free body in quaternions, closed and rolling ones, one that bounces.
MODELS = {
    "puma560": 1.0,
    "simple_pendulum": 3.0,
    "cart_pendulum": 1.0,
    "spinning_top": 0.3,
    "free": 1.0,
    "fourbar": 0.3,
    "rolling_coin": 0.3,
    "bouncing_ball": 0.5,
}
FREE = (
    "B | Sx(x), Sy(y), Sz(z), Ball(a) = m(2), Jx(1), Jy(2), Jz(3); coordinates x, y, z, a; initial a.wx = 1, a.wy = 2;"
)
CASES = 19
#: The methods, each with code of its own.
BOTH = pytest.mark.parametrize("method", ["dop853", *slow(["dopri5"])])
OPTIONS: dict[str, dict[str, Any]] = {
    "ends": {},
    "times": {"t_eval": True},
    "loose": {"rtol": 1e-5, "atol": 1e-7, "samples": 30},
}


def model(name: str) -> kn.System:
    return kn.loads(FREE) if name == "free" else kn.load(EXAMPLES / f"{name}.kin")


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("name", some(MODELS, 2))
def test_a_case_is_the_same_to_the_bit_alone_and_among_others(name: str, method: str) -> None:
    system, span = model(name), MODELS[name]
    equations, (_, v) = kn.derive(system), initial_state(system)
    rng = np.random.default_rng(7)
    starts = v * (1 + 0.1 * rng.standard_normal((CASES, 1)))
    if not system.constraints:
        starts = starts + 0.3 * rng.standard_normal((CASES, len(v)))
    for options in OPTIONS.values():
        given = {**options, "t_eval": np.linspace(0, span, 8)} if "t_eval" in options else options
        many = kn.simulate(equations, span, v=starts, method=method, **given)
        assert many.cases is not None
        for i in (0, 8, CASES - 1):
            alone = kn.simulate(equations, span, v=starts[i], method=method, **given)
            among = many.case(i)
            assert [alone[n][-1] for n in alone.q_names] == [many.cases.end[n][i] for n in alone.q_names]
            assert alone.steps == many.cases.steps[i]
            if options:
                assert (alone.y == among.y).all()
                for energy in ("kinetic_energy", "potential_energy", "work"):
                    assert (getattr(alone, energy) == getattr(among, energy)).all()


@pytest.mark.parametrize("name", ["puma560", "simple_pendulum", "spinning_top", "free", "rolling_coin", "fourbar"])
def test_zeros_of_events_are_the_same_to_the_bit(name: str) -> None:
    system, span = model(name), MODELS[name]
    equations, (q, v) = kn.derive(system), initial_state(system)
    starts = v * (1 + 0.1 * np.random.default_rng(7).standard_normal((CASES, 1)))
    event = kn.symbol(system.q_names[0]) - float(q[0]) - 0.01
    many = kn.simulate(equations, span, v=starts, events=event)
    assert many.cases is not None
    for i in (0, CASES - 1):
        alone = kn.simulate(equations, span, v=starts[i], events=event)
        assert (alone.t_events[0] == many.t_events[0][many.cases.events[0] == i]).all()
        assert (alone.y_events[0] == many.y_events[0][many.cases.events[0] == i]).all()


@BOTH
def test_closed_mechanisms_are_the_same_to_the_bit_where_they_fold(method: str) -> None:
    """Parallelograms with couplers of their own, through positions in which constraints depend, to an event that ends them."""
    equations = kn.derive(model("fourbar"))
    speeds, masses = np.linspace(5, 9, 10), np.linspace(1, 3, 10)
    sides = {"a": 0.3, "b": 0.8, "c": 0.3, "d": 0.8}
    events = [kn.symbol("theta") - 2, kn.event(kn.symbol("gamma") - 4, terminal=True)]
    given = {"q": [0.8, 0.0, 0.8], "events": events, "samples": 21, "method": method}
    v = np.column_stack([speeds, 0 * speeds, speeds])
    many = kn.simulate(equations, 1.0, v=v, p=sides | {"mb": masses}, **given)
    for i in (0, 8, 9):
        alone, among = kn.simulate(equations, 1.0, v=v[i], p=sides | {"mb": masses[i]}, **given), many.case(i)
        assert (alone.steps, alone.rejected, alone.message) == (among.steps, among.rejected, among.message)
        assert (alone.y[:, : len(among.t)] == among.y).all()
        for a, b in zip((*alone.t_events, *alone.y_events), (*among.t_events, *among.y_events), strict=True):
            assert len(a) == 1
            assert (a == b).all()


#: Seeds of random systems and methods in turn. In the first ones vectors had rounded products from which choices are subtracted,
#: and numbers not.
FIRST = (8, 26, 33, 55, 59)
SEEDS = [
    *product(FIRST, ["dop853"]),
    *slow(product(FIRST, ["dopri5"])),
    *slow((seed, "dopri5" if seed % 2 else "dop853") for seed in range(60, 80)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "method"), SEEDS)
def test_cases_of_systems_that_switch_are_the_same_to_the_bit(seed: int, method: str) -> None:
    """Choices, steps, tables, states, limits, dry friction and switches: ends, times and samples."""
    system, rng, cases = switching_system(seed), np.random.default_rng(seed), 7
    q = rng.uniform(-0.15, 0.15, (cases, system.nq))
    v = rng.uniform(-1, 1, (cases, system.nv))
    p = {"m": rng.uniform(1, 2, cases), "a": rng.uniform(1, 4, cases)}
    for options in OPTIONS.values():
        given = {**options, "method": method} | ({"t_eval": np.linspace(0, 1, 8)} if "t_eval" in options else {})
        many = kn.simulate(system, 1.0, q=q, v=v, p=p, **given)
        assert many.cases is not None
        for i in range(cases):
            own = {name: values[i] for name, values in p.items()}
            alone, among = kn.simulate(system, 1.0, q=q[i], v=v[i], p=own, **given), many.case(i)
            assert [alone[n][-1] for n in alone.q_names] == [many.cases.end[n][i] for n in alone.q_names]
            told = ((r.status, r.steps, r.rejected, r.changes, r.impacts, r.notes) for r in (alone, among))
            assert next(told) == next(told)
            if options:
                for name, values in alone.series.items():
                    assert np.array_equal(values, among[name], equal_nan=True), name
