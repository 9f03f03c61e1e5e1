"""Many motions with contacts and switches in compiled code: each is the motion of its own run, to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.hybrid import chattering
from kineta.integration import native_ensemble
from kineta.simulation import ensemble, hybrid_ensemble
from tests.models import COMPASS
from tests.support import EXAMPLES, some

BALL = kn.load(EXAMPLES / "bouncing_ball.kin")
#: A slider between stops, held by dry friction.
SLIDER = kn.loads("""
model slider;
parameters m = 2, k = 50, c = 0.3, e = 0.6;
A | Sx(x) = m;
coordinates x;
spring s = k on x;
friction brake = 4*c on x;
limit stops : -0.3 <= x <= 0.4, restitution = e;
initial x = 0.35, x' = 2;
""")
BALL_AND_SWITCHES = """
gravity 9.81; parameters e = 0.8, n = 0, last = 0; B | Sx(x), Sz(z) = 2; coordinates x, z;
output n, last; initial z = 1, x' = 0.3;
contact floor : point between B and ground axis (0, 0, 1), restitution = e, friction = 0.1;
"""
HEARD = kn.loads(
    BALL_AND_SWITCHES
    + "when soft : floor strikes : e = 0.9*e, n = n + 1, last = z'; when third : floor strikes and n == 3 : stop;"
)
#: Conditions that jump with a force and a speed at impacts, and one that follows from them.
JUMPS = kn.loads(
    BALL_AND_SWITCHES + "when lies : lambda.floor.n >= 5 : last = z, x' = 1; when up : z' >= 0 : n = n + 1; "
    "when slow : x' <= 0.5 : x' = 2*x';"
)
ARMED = kn.loads("""
gravity 9.81; parameters armed = 1; B | Sx(x), Sz(z) = 1; coordinates x, z; initial x' = 3; output armed;
contact floor : point between B and ground axis (0, 0, 1), friction = 0.5 while armed == 1;
when off : t >= 0.2 : armed = 0; when on : t >= 0.6 and armed == 0 : armed = 1, z = 0.1;
""")
RELAY = kn.loads("""
parameters u = -1, n = 0; M | Sx(x) = 1; coordinates x; force f = u on x; initial x = 1; output n;
when a : x >= 0.1 : u = -1, n = n + 1; when b : x <= -0.1 : u = 1; when c : x' >= 0.3 and u == 1 : x' = x'/2;
""")
#: Friction whose limit comes to zero and back.
VARYING = kn.loads("""
gravity 9.81; parameters c = 2; B | Sx(x), Sz(z) = 1; coordinates x, z; spring k = 4 on x; force f = 3*cos(5*t) on x;
friction rub = max(c*sin(3*t), 0) on x;
contact floor : point between B and ground axis (0, 0, 1), friction = max(0.2 - x, 0);
initial x = 0.5, x' = 1;
""")
#: A bead on a wire, with and without a stop, whose switches set parameters, coordinates and speeds.
BEAD = """parameters k = 1, n = 0; B | Sx(x), Sy(y) = 1; coordinates x, y; constraint c : x^2 + y^2 = 1; output n;
force g = -9.81*k on y; initial x = 1; when a : y <= -0.5 : k = 0.9*k, n = n + 1; when b : x <= 0 : x' = 1.1*x', y = y + 1e-7;"""
STOPPED_BEAD = kn.loads(BEAD + "limit l : y >= -0.9, restitution = 0.5; when s : l strikes : n = n + 10;")
#: The model, its time, and what differs between the cases.
MODELS: dict[str, tuple[kn.System, float, dict[str, Any]]] = {
    "ball": (BALL, 3.0, {"e": [0.0, 0.3, 0.62, 0.8, 1.0]}),
    "rocking block": (kn.load(EXAMPLES / "rocking_block.kin"), 1.0, {}),
    "sliding block": (kn.load(EXAMPLES / "sliding_block.kin"), 1.0, {}),
    "dry friction": (kn.load(EXAMPLES / "friction_oscillator.kin"), 2.0, {}),
    "compass": (COMPASS, 3.0, {"m": [4.9, 5.0, 5.1, 5.2, 5.3]}),
    "limits": (SLIDER, 2.0, {"e": [0.2, 0.5, 0.6, 0.9, 1.0]}),
    "hopper": (kn.load(EXAMPLES / "hopper.kin"), 1.0, {"m": [7.0, 7.2, 7.5, 7.6, 8.0]}),
    "heard impacts": (HEARD, 2.0, {"e": [0.1, 0.5, 0.6, 0.8, 1.0]}),
    "jumps": (JUMPS, 2.0, {"e": [0.1, 0.5, 0.6, 0.8, 1.0]}),
    "armed floor": (ARMED, 1.0, {}),
    "relay": (RELAY, 10.0, {}),
    "bead": (kn.loads(BEAD), 3.0, {"k": [0.8, 0.9, 1.0, 1.1, 1.2]}),
    "stopped bead": (STOPPED_BEAD, 2.0, {}),
    "varying friction": (VARYING, 3.0, {"c": [1.0, 1.5, 2.0, 2.5, 3.0]}),
}
CASES = 5


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Cases that compiled code has left to Python, filled by runs; no others are run there."""
    found: list[int] = []
    alone: list[Any] = []
    integrate = ensemble.integrate
    run: Callable[..., list[int]] = hybrid_ensemble.run_natively

    def noted(*given: Any) -> list[int]:
        some = run(*given)
        found.extend(some)
        return some

    monkeypatch.setattr(ensemble, "run_natively", noted)
    monkeypatch.setattr(ensemble, "integrate", lambda *given: alone.append(given) or integrate(*given))
    yield found
    assert len(alone) == len(found)


def started(system: kn.System, seed: int) -> np.ndarray:
    """Speeds near the initial ones, (CASES, nv)."""
    still = kn.simulate(system, 1e-6).v[0]
    changed = np.random.default_rng(seed).uniform(-0.1, 0.1, (CASES, len(still)))
    if system.constraints:
        changed[:, 0] = 0  # along the wire
    return np.asarray(still + changed)


def check_same(one: kn.Result, other: kn.Result) -> None:
    """Two results of one motion, equal in every bit."""
    for name in ("status", "steps", "rejected", "nfev", "changes", "impacts", "notes"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.message.partition(" balance")[0] == other.message.partition(" balance")[0]
    assert np.array_equal(one.t, other.t)
    assert one.series.keys() == other.series.keys()
    for name, values in one.series.items():
        assert np.array_equal(values, other[name], equal_nan=True), name
    for a, b in zip((*one.t_events, *one.y_events), (*other.t_events, *other.y_events), strict=True):
        assert np.array_equal(a, b)


#: Each model without events and, one of two, with events.
WATCHED = some([*((name, False) for name in MODELS), *((name, True) for name in list(MODELS)[::2])], 3)


@pytest.mark.parametrize(("name", "watched"), WATCHED)
def test_every_case_has_the_bits_of_its_own_run(name: str, left: list[int], *, watched: bool) -> None:
    system, t, more = MODELS[name]
    v = started(system, seed=len(name))
    x = kn.symbol(system.q_names[0])
    events = [kn.event(x - 0.1, name="passes"), kn.event(x - 0.3, terminal=2, name="ends")] if watched else []
    run = kn.simulate(system, t, v=v, p=more, events=events, samples=7)
    assert left == []
    for i in range(CASES):
        p = {n: values[i] for n, values in more.items()}
        check_same(run.case(i), kn.simulate(system, t, v=v[i], p=p, events=events, samples=7))


@pytest.mark.parametrize("name", some(["ball", "limits", "jumps", "relay", "varying friction"], 3))
def test_tables_of_samples_are_held_in_every_case(name: str, left: list[int]) -> None:
    system, t, more = MODELS[name]
    rows = np.random.default_rng(4).uniform(-2, 2, 9)
    tau = {system.v_names[0]: kn.sampled(rows, 6 / t)}
    tau |= {n: kn.sampled([0.0, 0.7 * t], [[1.0], [-1.0]]) for n in system.v_names[1:2]}
    v = started(system, seed=len(name))
    run = kn.simulate(system, t, v=v, p=more, tau=tau, samples=7)
    assert left == []
    for i in range(CASES):
        p = {n: values[i] for n, values in more.items()}
        check_same(run.case(i), kn.simulate(system, t, v=v[i], p=p, tau=tau, samples=7))


def test_switches_that_compiled_code_cannot_tell_are_left_to_python(left: list[int]) -> None:
    """A value that is none, a restitution beyond one, impacts that are heard at the start, and endless switching."""
    lost = kn.loads(BALL_AND_SWITCHES + "when a : floor strikes : n = sqrt(x - 0.2);")
    run = kn.simulate(lost, 1.0, v=[[0.3, 0.0], [1.0, 0.0]], samples=3)
    assert left == [0]
    assert "when 'a' switches: n = sqrt(x - 0.2) is nan; expected a finite number" in run.case(0).message
    grown = kn.loads(BALL_AND_SWITCHES + "when a : floor strikes : e = 1.5*e;")
    assert "from 0 to 1, found 1.2" in kn.simulate(grown, 1.0, q=[[0.0, 1.0]], samples=3).case(0).message
    begun = kn.loads(BALL_AND_SWITCHES + "when a : floor strikes : n = n + 1;")
    run = kn.simulate(begun, 0.1, q=[[0.0, 0.0]], v=[[0.0, -2.0]], samples=3)
    assert (run.case(0)["n"][-1], run.case(0).changes[1]) == (1, (0.0, "a switches"))
    slides = kn.loads("""parameters u = -1; M | Sx(x) = 1; coordinates x; force f = u on x; initial x = 1;
        when a : x + x'*1 s >= 0 : u = -1; when b : x + x'*1 s <= 0 : u = 1;""")
    run = kn.simulate(slides, 9.0, q=[[1.0], [2.0]], samples=3)
    assert all("one change follows another without end" in run.case(i).message for i in range(2))
    assert left == [0, 0, 0, 0, 1]
    pulled = kn.loads("B | Sx(x) = 1; coordinates x; friction rub = 1 - x on x; initial x' = 2;")
    run = kn.simulate(pulled, 1.0, v=[[2.0], [0.5]], samples=3)
    assert "'rub' has friction that falls below zero; expected zero or more" in run.case(0).message
    assert left[5:] == [0]


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    e = np.random.default_rng(3).uniform(0.1, 0.9, 40)
    runs = []
    for threads in (1, 3):
        monkeypatch.setattr(hybrid_ensemble, "cores", lambda threads=threads: threads)
        runs.append(kn.simulate(BALL, 2.0, p={"e": e}, samples=3))
    one, other = runs
    assert np.array_equal(one.y, other.y)
    for i in range(len(e)):
        check_same(one.case(i), other.case(i))


def test_cases_with_many_transitions_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    from kineta.integration import native_ensemble

    monkeypatch.setattr(native_ensemble, "CHANGES", 3)
    monkeypatch.setattr(native_ensemble, "STEPS", 5)
    monkeypatch.setattr(native_ensemble, "PAUSE", 0.0)
    run = kn.simulate(BALL, 3.0, p={"e": [0.3, 0.7]}, samples=3)
    for i, e in enumerate((0.3, 0.7)):
        check_same(run.case(i), kn.simulate(BALL, 3.0, p={"e": e}, samples=3))


def test_what_compiled_code_cannot_finish_is_run_as_a_single_motion(left: list[int]) -> None:
    """A start below the floor is refused with its sentence, one just below it is brought back, and said."""
    run = kn.simulate(BALL, 1.0, q=[[0, 1.0], [0, 0.01]], samples=3)
    assert left == [1]
    assert run.cases is not None
    assert run.cases.status.tolist() == [0, -1]
    with pytest.raises(kn.SimulationError) as refused:
        kn.simulate(BALL, 1.0, q=[0, 0.01], samples=3)
    assert run.cases.messages[1] == str(refused.value)
    below = np.array([0, 0.05 - 1e-10])
    check_same(kn.simulate(BALL, 1.0, q=[below], samples=3).case(0), kn.simulate(BALL, 1.0, q=below, samples=3))


@pytest.mark.parametrize("watch", ["steps", "changes"])
def test_what_goes_on_by_time_stepping_is_run_as_a_single_motion(
    watch: str, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten steps with friction are too many, or one change without an impact."""
    if watch == "steps":
        monkeypatch.setattr(chattering, "CROWD", 10)
        monkeypatch.setattr(chattering, "CROWDED", 1e9)
    else:
        monkeypatch.setattr(chattering, "PILE", 1)
    run = kn.simulate(SLIDER, 1.0, v=[[0.0], [1.0]], samples=7)
    assert left == [0, 1]
    for i in range(2):
        assert run.case(i).notes
        check_same(run.case(i), kn.simulate(SLIDER, 1.0, v=[float(i)], samples=7))


@pytest.mark.parametrize("most", ["CROWD", "PILE"])
def test_too_many_steps_and_changes_end_cases_by_events_as_they_end_single_motions(
    most: str, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {most: 10 if most == "CROWD" else 1, "CROWDED": 1e9, "MOST_STEPS": 1, "MOST_CHANGES": 0}.items():
        monkeypatch.setattr(chattering, name, value)
    run = kn.simulate(SLIDER, 1.0, v=[[0.0], [1.0]], samples=7, method="dop853")
    assert left == [0, 1]
    for i in range(2):
        assert run.case(i).status == -1
        check_same(run.case(i), kn.simulate(SLIDER, 1.0, v=[float(i)], samples=7, method="dop853"))


def test_what_happened_to_a_case_is_told_as_of_a_list() -> None:
    cases = kn.simulate(BALL, 2.0, p={"e": [0.2, 0.7, 0.9]}, samples=3).cases
    assert cases is not None
    assert len(cases.impacts) == 3
    assert cases.impacts[-1] == cases.impacts[2] == list(cases.impacts)[2]
    assert cases.changes[1:] == (cases.changes[1], cases.changes[2])
    with pytest.raises(IndexError):
        cases.notes[3]


def test_runs_may_pause_for_want_of_room_any_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_ensemble, "CHANGES", 16)
    e = np.linspace(0.3, 0.8, 40)
    run = kn.simulate(BALL, 4.0, p={"e": e}, samples=3)
    assert run.case(17).changes == kn.simulate(BALL, 4.0, p={"e": e[17]}, samples=3).changes
