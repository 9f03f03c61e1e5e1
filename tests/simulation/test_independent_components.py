"""Components integrated apart: each as if it were alone, all as one motion."""

from __future__ import annotations

import re
import signal
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.results.result import Result
from kineta.simulation.independent_components import coupling, split
from kineta.simulation.inputs import run_inputs
from kineta.simulation.progress import Progress

A = "A | Ry(a), Sz(-l) = m; damper g = 0.1 on a'; point Tip on A = (0, 0, -0.3);"
B = "B | Ry(b), Sz(-1) = 2*m; C ~ B | Ry(c), Sz(-1) = 1;"
PARAMETERS = "gravity 9.81; parameters l = 0.7, m = 2;"
START = "initial a = 1, b = 0.5, c' = 0.2;"
OUTPUTS = "output s = a + b, E = energy, far = Tip.x - C.x, aa = a'', k = m;"
TWO = kn.loads(f"{PARAMETERS} {A} {B} coordinates b, a, c; {START} {OUTPUTS}")


def in_one_run(system: kn.System) -> kn.System:
    """*system* with a switch that watches all and never switches."""
    far = sum(map(kn.symbol, system.coordinates)) - 1e6
    return system.replace(switches=[*system.switches, kn.switch("never", far, sets={system.coordinates[0]: 0})])


COMMON = in_one_run(TWO)
BALLS = kn.loads(
    "gravity 9.81; A | Sz(a) = 1; contact floor : point between A and ground axis (0, 0, 1), restitution = 0.6;"
    "B | Sz(b) = 1; contact ground : point between B and ground axis (0, 0, 1), restitution = 0.5;"
    "spring k = 20 on c; C | Sx(c) = 1; initial a = 1, b = 0.8, c = 0.1; output sum = a + b, push = lambda.floor.n;"
)


def assert_same(run: Result, other: Result, **tolerance: float) -> None:
    assert [*run.series] == [*other.series]
    assert run.t.tolist() == other.t.tolist()
    for name, values in run.series.items():
        np.testing.assert_allclose(values, other[name], err_msg=name, **({"rtol": 1e-7, "atol": 1e-7} | tolerance))


def test_a_component_moves_as_it_does_alone_to_the_bit() -> None:
    run = kn.simulate(TWO, 2.0, samples=9)
    a = kn.simulate(kn.loads(f"{PARAMETERS} {A} initial a = 1;"), 2.0, samples=9)
    bc = kn.simulate(kn.loads(f"{PARAMETERS} {B} initial b = 0.5, c' = 0.2;"), 2.0, samples=9)
    for alone, names in ((a, ("a", "a'")), (bc, ("b", "c", "b'", "c'"))):
        assert all((run[name] == alone[name]).all() for name in names)
    assert (run.nfev, run.steps, run.rejected) == tuple(
        getattr(a, n) + getattr(bc, n) for n in ("nfev", "steps", "rejected")
    )
    assert run.energy_balance == max(a.energy_balance, bc.energy_balance)


@pytest.mark.parametrize("given", [{}, {"p": {"l": 1.1}, "q": {"a": 0.3}, "tau": {"b'": 0.4, "a'": kn.symbol("a")}}])
def test_all_series_are_those_of_a_common_run(given: dict[str, Any]) -> None:
    run, other = (kn.simulate(system, 2.0, samples=9, **given) for system in (TWO, COMMON))
    assert run.status == other.status == 0
    assert_same(run, other)
    assert run.parameters == other.parameters
    assert run.units == other.units
    assert run.system is TWO
    assert run.message.split(";")[0] == "reached t = 2 s"
    assert run.energy_balance < 1e-8


def test_backwards_and_by_other_methods() -> None:
    for options in ({"t": (2.0, 0.5)}, {"t": 1.0, "method": "Radau"}, {"t": 1.0, "method": "dopri5", "max_step": 0.1}):
        assert_same(
            *(kn.simulate(system, samples=5, **options) for system in (TWO, TWO.replace(parameters=TWO.parameters)))
        )
    run = kn.simulate(TWO, (2.0, 0.5), samples=5)
    np.testing.assert_allclose(
        kn.simulate(TWO, (0.5, 2.0), q=run.q[-1], v=run.v[-1], samples=2).q[-1], run.q[0], atol=1e-7
    )


def test_every_step_of_the_part_with_most() -> None:
    run = kn.simulate(TWO, 2.0)
    alone = kn.simulate(kn.loads(f"{PARAMETERS} {B} initial b = 0.5, c' = 0.2;"), 2.0)
    assert run.t.tolist() == alone.t.tolist()
    at_times = kn.simulate(COMMON, 2.0, t_eval=run.t)
    assert_same(run, at_times)


def test_both_sides_of_impacts_of_all_parts_are_recorded() -> None:
    run = kn.simulate(BALLS, 1.2)
    assert run.status == 0
    for coordinate, contact in (("a", "floor"), ("b", "ground")):
        times = [i.t for i in run.impacts if i.contact == contact]
        rows = [np.flatnonzero(run.t == t) for t in times]
        assert all(len(own) == 2 for own in rows)
        assert all(run[f"{coordinate}'"][i] < 0 < run[f"{coordinate}'"][k] for i, k in rows)
    assert [t for t, _ in run.changes] == sorted(t for t, _ in run.changes)
    assert {what for _, what in run.changes} == {"floor strikes", "ground strikes"}
    assert [i.t for i in run.impacts] == sorted(i.t for i in run.impacts)
    other = kn.simulate(in_one_run(BALLS), 1.2, samples=9)
    assert_same(kn.simulate(BALLS, 1.2, samples=9), other)


def test_the_solution_is_one_function_of_the_time() -> None:
    run, other = (kn.simulate(system, 2.0, dense_output=True) for system in (TWO, COMMON))
    times = np.linspace(0, 2, 7)
    assert (run.sol.t_min, run.sol.t_max) == (0, 2)
    assert {*run.sol.steps} > {0.0, 2.0}
    np.testing.assert_allclose(run.sol(times), other.sol(times), atol=1e-7)
    np.testing.assert_allclose(run.sol(0.3), run.sol([0.3])[:, 0])
    assert_same(run.at(times), other.at(times))
    assert kn.simulate(TWO, 2.0).sol is None
    with pytest.raises(kn.ArgumentError, match="Expected t between 0 and 2, found 3"):
        run.sol(3.0)


def test_events_of_all_parts_and_the_end_of_all_at_a_terminal_one() -> None:
    a, b = kn.symbol("a"), kn.symbol("b")
    events = [kn.event(b, name="b"), kn.event(a, name="a", terminal=2), kn.event(kn.symbol("t") - 0.3, name="clock")]
    for options in ({}, {"samples": 11}, {"t_eval": [0.0, 1.9]}):
        run, other = (kn.simulate(system, 3.0, events=events, **options) for system in (TWO, COMMON))
        assert run.status == other.status == 1
        assert run.message.split(";")[0] == other.message.split(";")[0]
        assert run.event_names == ("b", "a", "clock")
        for own, theirs in zip((*run.t_events, *run.y_events), (*other.t_events, *other.y_events), strict=True):
            np.testing.assert_allclose(own, theirs, atol=1e-7)
        assert run.t[-1] == run.t_events[1][-1]
        np.testing.assert_allclose(run.y[:, -1], run.y_events[1][-1], atol=1e-8)
        if options:
            np.testing.assert_allclose(run.t, other.t, atol=1e-7)


def test_the_earliest_of_several_terminal_events_ends_all() -> None:
    a, b = kn.symbol("a"), kn.symbol("b")
    for order in (1, -1):
        events = [kn.event(a, name="a", terminal=1), kn.event(b, name="b", terminal=1)][::order]
        run = kn.simulate(TWO, 3.0, events=events)
        assert "by the event 'a'" in run.message
        assert [len(t) for t in run.t_events] == [1, 0][::order]


def test_an_event_over_two_parts_and_one_of_the_energy_are_found_in_a_common_run() -> None:
    event = kn.event(kn.symbol("a") - kn.symbol("b"), terminal=1)
    run, other = (kn.simulate(system, 3.0, events=event) for system in (TWO, COMMON))
    np.testing.assert_allclose(run.t[-1], other.t[-1], atol=1e-8)
    assert len(kn.simulate(TWO, 1.0, events=kn.event(kn.symbol("energy") + 5)).t_events) == 1


def test_a_part_that_fails_ends_all_with_its_sentence() -> None:
    falling = "M | Sx(x) = 1; force f = -1/(x - 1)^2 on x; initial x = 1.5, x' = -3;"
    swinging = "A | Ry(a), Sz(-1) = 1; gravity 9.81;"
    alone = kn.simulate(kn.loads(f"coordinates x; {falling}"), 2.0)
    for options in ({}, {"samples": 11}):
        run = kn.simulate(kn.loads(f"coordinates x, a; {falling} {swinging}"), 2.0, q={"a": 0.5}, **options)
        assert run.status == alone.status == -1
        assert run.message.split(";")[:2] == alone.message.split(";")[:2]
        assert run.t[-1] <= alone.t[-1] < 2
        other = kn.simulate(kn.loads(swinging), float(alone.t[-1]), q={"a": 0.5}, t_eval=np.unique(run.t))
        np.testing.assert_allclose(np.unique(run["a"]), np.unique(other["a"]), atol=1e-9)


def test_a_part_that_cannot_start_says_so() -> None:
    with pytest.raises(kn.ModelError, match="mass matrix is singular"):
        kn.simulate(kn.loads("A | Sx(x) = 1; B | Sx(y) = 0; coordinates x, y;"), 1.0)


def test_parts_that_rest_and_that_have_nothing_to_do() -> None:
    run = kn.simulate(kn.loads("A | Sx(x) = 1; B | Sx(y) = 1; coordinates x, y; spring k = 2 on y;"), 1.0, q={"x": 3})
    assert run.success
    assert (run["x"] == 3).all()
    assert (run["y"] == 0).all()
    assert run.energy_balance < 1e-12


def test_out_of_steps() -> None:
    run = kn.simulate(TWO, 2.0, max_steps=5)
    assert run.status == 4
    assert "out of steps" in run.message
    assert 0 < run.t[-1] < 2


def test_an_interruption_ends_all_and_a_second_one_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, at = iter(range(10**6)), [0]

    def interrupted(self: Progress, *reached: float) -> None:
        if next(calls) in at:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "at", interrupted)
    run = kn.simulate(TWO, 200.0, samples=21, max_step=0.02)
    assert (run.status, run.success) == (2, False)
    assert f"interrupted at t = {run.t[-1]:.6g} s" in run.message
    assert 0 < run.t[-1] < 200
    assert np.isfinite(run.y).all()
    at += range(next(calls) + 1, 10**4)
    with pytest.raises(KeyboardInterrupt):
        kn.simulate(TWO, 200.0, samples=21, max_step=0.02)


def test_a_run_goes_on_from_its_last_state() -> None:
    first = kn.simulate(TWO, 1.0)
    second = kn.simulate(TWO, (1.0, 2.0), q=first.q[-1], v=first.v[-1])
    np.testing.assert_allclose(second.y[:, -1], kn.simulate(TWO, 2.0).y[:, -1], atol=1e-7)


def test_what_acts_on_the_whole_keeps_it_in_one_run() -> None:
    def reason(system: kn.System = TWO, **given: Any) -> str:
        inputs = tuple(given.get(n) for n in ("q", "v", "p", "tau", "levels"))
        return coupling(kn.derive(system), run_inputs(system, inputs, (), "dop853"))  # type: ignore[arg-type]

    assert reason() == ""
    assert "cases" in reason(p={"l": [1.0, 2.0]})
    assert "samples" in reason(tau=kn.sampled(lambda t, q, v: np.zeros(3), 10))
    run = kn.simulate(TWO, 1.0, p={"l": [0.7, 1.0]}, samples=3)
    np.testing.assert_allclose(run["a"][0], kn.simulate(TWO, 1.0, samples=3)["a"], atol=1e-7)


def test_the_model_of_a_common_parameter_is_the_same_with_other_values() -> None:
    lengths = [kn.simulate(TWO, 1.0, p={"m": m}, samples=3) for m in (1.0, 3.0)]
    np.testing.assert_allclose(lengths[0]["b"], lengths[1]["b"], atol=0.2)
    assert [run.parameters["m"] for run in lengths] == [1.0, 3.0]


ALIKE = """gravity 9.81; parameters l_1 = 1, l_2 = 1.4, c = 0.1;
contact floor : point between C and ground axis (0, 0, 1), restitution = 0.5, friction = 0.3;
contact table : point between F and ground axis (0, 0, 1), restitution = 0.5, friction = 0.4;
A | Sx(0.5), Sz(1.3), Ry(a) = 0; C ~ A | Sz(-l_1) = 1.2; D | Sx(1.5), Sz(1.6), Ry(d) = 0; F ~ D | Sz(-l_2) = 1.1;
damper g = c on a'; damper h = c on d'; output of_a = C.x, of_d = F.x; initial a = 1, d = 1.2;
"""


@pytest.mark.parametrize(
    "other", ["", "J | Sz(j) = 1; contact base : point between J and ground axis (0, 0, 1); initial j = 1;"]
)
def test_parts_that_are_alike_have_one_code(other: str) -> None:
    system = kn.loads(ALIKE + other)
    parts = split(equations := kn.derive(system), run_inputs(system, (None,) * 5, (), "dop853"))
    assert [own.like is None for own in parts.equations] == [True, False, *[True] * bool(other)]
    run = kn.simulate(equations, 1.5, samples=7)
    common = kn.simulate(in_one_run(system), 1.5, samples=7)
    assert_same(run, common)
    assert [what for _, what in run.changes] == [what for _, what in common.changes]
    assert [i.contact for i in run.impacts] == [i.contact for i in common.impacts]
    again = kn.simulate(equations, 1.5, p={"l_1": 0.5, "c": 0.3}, samples=7)
    assert_same(again, kn.simulate(in_one_run(system), 1.5, p={"l_1": 0.5, "c": 0.3}, samples=7))


def test_parts_with_events_and_forces_of_their_own_have_their_own_code() -> None:
    system = kn.loads(re.sub("contact.*;", "", ALIKE))
    given: dict[str, Any] = {"tau": {"d'": kn.symbol("d") * 3}, "events": kn.event(kn.symbol("a"))}
    run, common = (kn.simulate(s, 1.5, samples=7, **given) for s in (system, in_one_run(system)))
    assert_same(run, common)
    np.testing.assert_allclose(run.t_events[0], common.t_events[0], atol=1e-8)


@pytest.mark.slow
def test_parts_with_constraints_that_are_alike() -> None:
    text = """gravity 9.81; A | Sx(a), Sz(b) = 1; B | Sx(c), Sz(d) = 2; coordinates a, b, c, d;
constraint rod : a^2 + b^2 = 1; constraint bar : c^2 + d^2 = 4; constraint twice : 2*a^2 + 2*b^2 = 2; initial a = 1, c = 2;
output pull = lambda.bar, push = lambda.rod;"""
    for system in (kn.loads(text), kn.loads(text.replace("constraint twice : 2*a^2 + 2*b^2 = 2;", ""))):
        run, common = (kn.simulate(s, 1.5, samples=7) for s in (system, in_one_run(system)))
        assert run.success
        assert_same(run, common)
    assert len(system.outputs) == 2


def test_a_part_of_many_that_fails_says_its_own_name() -> None:
    text = "coordinates x, y; M | Sx(x) = 1; N | Sx(y) = 1; force f = -1/(x - 2)^2 on x; force g = -1/(y - 3)^2 on y;"
    run = kn.simulate(kn.loads(f"{text} initial x = 2.5, y = 3.5, x' = 1, y' = -3;"), 2.0)
    assert run.status == -1
    assert re.search(r"'1/\((3 - y|y - 3)\)\^2' needs", run.message)


SWITCHED = """gravity 9.81; parameters k = 20, on = 0, c = 0.1, count = 0;
A | Sz(a) = 1; contact floor : point between A and ground axis (0, 0, 1), restitution = 0.6; B | Sx(b) = 1; force pull = on on b;
C | Sx(x) = 1; spring s = k on x; when strike : floor strikes : a' = 1.1*a', count = count + 1;
when swing : x <= 0 : k = 40; when go : t >= 0.2 : on = 1;
coordinates a, b, x; initial a = 1, x = 0.3; output both = count + b, E = energy;
"""


def test_switches_belong_to_what_they_watch_and_set() -> None:
    system = kn.loads(SWITCHED)
    parts = split(kn.derive(system), run_inputs(system, (None,) * 5, (), "dop853"))
    assert [[s.name for s in own.system.switches] for own in parts.equations] == [["strike"], ["go"], ["swing"]]
    run, common = (kn.simulate(s, 1.5, samples=16) for s in (system, in_one_run(system)))
    assert_same(run, common)
    assert [what for _, what in run.changes] == [what for _, what in common.changes]
    assert run["count"][-1] > 1
    every = kn.simulate(system, 1.5)
    assert every["on"][every.t == 0.2].tolist() == [0, 1]


def test_a_switch_that_stops_one_part_stops_all() -> None:
    system = kn.loads(f"{PARAMETERS} {A} {B} coordinates b, a, c; {START} {OUTPUTS} when home : a <= 0 : stop;")
    for options in ({}, {"samples": 11}):
        run, common = (kn.simulate(s, 2.0, **options) for s in (system, in_one_run(system)))
        assert run.status == common.status == 1
        assert run.message.split(";")[0] == common.message.split(";")[0]
        np.testing.assert_allclose(run.t[-1], common.t[-1], atol=1e-9)
        np.testing.assert_allclose(run.y[:, -1], common.y[:, -1], atol=1e-7)


def test_redundant_constraints_of_all_parts_are_told_in_one_sentence() -> None:
    text = "A | Sx(x) = 1; B | Sx(y) = 1; C | Sx(u) = 1; D | Sx(w) = 1; coordinates x, y, u, w;"
    text += "constraint a : x = y; constraint aa : 2*x = 2*y; constraint b : u = w; constraint bb : 3*u = 3*w;"
    (note,) = kn.simulate(kn.loads(text), 1.0).notes
    assert note.startswith("2 of 4 rows of constraints are redundant and left out (aa follows from a; b")
