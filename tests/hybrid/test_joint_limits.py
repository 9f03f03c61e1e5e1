"""Limits and dry friction on single speeds: one program serves whatever of them holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.hybrid.automaton import HybridRun
from kineta.runtime import compiled


def chain(name: str, links: int, more: str = "") -> kn.System:
    """Links that turn in a plane, the first of which slides too, with limits on all turns but the first."""
    bodies = "".join(f"L{i} ~ L{i - 1} | Sz(0.3), Ry(q{i}) = m(1), Jy(0.02); " for i in range(1, links))
    limits = "".join(f"limit l{i} : -0.5 <= q{i} <= 0.5, restitution = 0.1; " for i in range(1, links))
    speeds = ", ".join(f"q{i}' = {(-1) ** i * i}" for i in range(1, links))
    names = ", ".join(f"q{i}" for i in range(links))
    return kn.loads(
        f"model {name}; gravity 9.81; L0 | Sx(x), Sz(z), Ry(q0) = m(1), Jy(0.02); {bodies} {limits} {more} "
        f"coordinates x, z, {names}; initial z = 0.2, q0 = 0.3, x' = 1, {speeds};"
    )


@pytest.mark.slow
def test_a_robot_meets_all_its_limits_with_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    programs = compiled._run_programs
    monkeypatch.setattr(compiled, "_run_programs", lambda *given: made.append(given) or programs(*given))
    run = kn.simulate(chain("robot", 8), 1.0, samples=5)
    assert len({what for _, what in run.changes if what.endswith("strikes")}) > 4
    assert len(made) == 1
    assert run.energy_balance < 1e-8


def test_an_event_of_an_acceleration_is_found_beside_a_limit_that_is_open() -> None:
    """Guards of what is open ask for no accelerations, so that the dynamics are left out unless an event does."""
    block = kn.loads("B | Sx(x) = 1; coordinates x; limit stop : x <= 50; force F = 2 - t on x; output a = x'';")
    run = kn.simulate(block, 3.0, events=kn.Event(block.outputs["a"], terminal=True))
    assert run.t[-1] == pytest.approx(2.0, abs=1e-9)


def test_friction_holds_what_a_stop_no_longer_presses() -> None:
    block = kn.loads(
        "B | Sx(x) = 1; coordinates x; limit stop : x <= 0; friction dry = 0.3 on x; force F = 2 - t on x;"
    )
    run = kn.simulate(block, 4.0)
    assert run["x"][-1] == pytest.approx(-((4 - 2.3) ** 3) / 6, abs=1e-8)
    assert run.changes[-1] == (pytest.approx(2.3, abs=1e-9), "dry slips")


PUSHED = """
model pushed; A | Sx(x) = 2; coordinates x; parameters F = 4;
friction f = 1 on x; limit stop : x >= 0; force d = 5*sin(t) - F on x;
"""


@pytest.mark.parametrize("F", [4.0, 4.2, 5.5])
def test_what_is_pushed_back_as_soon_as_it_is_free_stays_at_its_stop(F: float) -> None:
    """With F = 4 the push just reaches the friction, and turns back."""
    run = kn.simulate(kn.loads(PUSHED), 4.0, p={"F": F}, samples=50)
    assert run.status == 0
    assert np.abs(run["x"]).max() < 1e-7
    assert run["lambda.stop.lower"][-1] >= F - 1 - 5 * np.sin(4.0) - 1e-9


def test_a_limit_that_a_slip_presses_is_not_left_where_it_would_pull_without_that_slip() -> None:
    """Where the slip of b ends all would hold if the limit pulled; as b slips back at once it is pressed on, and a rests."""
    held = kn.loads(
        "A | Sx(a) = 1; B~A | Sx(-b) = 1; C | Sx(c) = 1; coordinates a, b, c; limit la : 0 <= a <= 9; limit lb : -9 <= b <= 9;"
        "friction fa = 1 on a; friction fb = 1 on b; friction fc = 1 on c; force pa = 2 on a; force pb = -5 on b;"
        "initial b' = 3;"
    )
    run = kn.simulate(held, 1.0)
    assert run.changes == ((pytest.approx(0.5, abs=1e-9), "fb reverses"),)
    assert np.abs(run["a"]).max() == 0
    assert run["b"][-1] == pytest.approx(3 * 0.5 - 6 * 0.5**2 / 2 - 4 * 0.5**2 / 2, abs=1e-9)


A = "A | Sx(x) = 1; coordinates x; "
RESTS = {
    "beside friction": "friction f = 1 on x; limit l : x >= 0;",
    "at two stops": "limit l : x >= 0; limit m : 2*x >= 0;",
    "between two stops": "limit l : x >= 0; limit m : x <= 0; friction f = 1 on x;",
    "pressed ever more": "friction f = 1 on x; limit l : x >= 0; force g = -1e-3*t on x;",
    "as its slip ends": "friction f = 1 on x; limit l : 0 <= x <= 1; initial x = 0.5, x' = -1;",
    "as it strikes": "friction f = 1 on x; limit l : 0 <= x <= 1; initial x = 0.5, x' = -1.1;",
}


@pytest.mark.parametrize("text", RESTS.values(), ids=RESTS.keys())
def test_what_nothing_presses_against_its_stop_rests_there(text: str) -> None:
    run = kn.simulate(kn.loads(A + text), 3.0)
    assert run.status == 0
    assert abs(run["x"][-1]) < 1e-12
    assert run.energy_balance < 1e-9


def test_joints_that_reach_their_bounds_at_one_time_beside_a_stop_find_who_slips() -> None:
    """Under torques alike the last of three links slips and relieves the others, one of which is at its stop."""
    links = "".join(
        f"B{i}{f' ~ B{i - 1}' if i else ''} | {'Sx(1),' if i else ''} Rz(q{i}) = m(1), Jz(0.1), com = (0.5, 0, 0);"
        f"force m{i} = 3*sin(t) on q{i}; friction f{i} = 0.5 on q{i}; limit l{i} : -1 <= q{i} <= 1;"
        for i in range(3)
    )
    begun, end = np.arcsin(0.5 / 3), 0.3
    run = kn.simulate(kn.loads(links + "coordinates q0, q1, q2; initial q1 = -1;"), end)
    assert run.status == 0
    assert [what for _, what in run.changes] == ["f2 slips"]
    assert run["q2'"][-1] == pytest.approx((3 * (np.cos(begun) - np.cos(end)) - 0.5 * (end - begun)) / 0.35, abs=1e-6)
    assert np.abs(run.q[:, :2] - [0, -1]).max() < 1e-9


@pytest.mark.slow
def test_samples_of_control_change_forces_alone_while_limits_are_far(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "gravity 9.81; A | Ry(a), Sz(-1) = m(1); coordinates a; initial a = 0.1; {}"
    held = kn.sampled(lambda t, q, v: [-0.1 * v[0] + (20.0 if t > 0.5 else 0.0)], 100)
    calls, change = list[float](), HybridRun._changed

    def counted(self: HybridRun, t: float, *given: Any) -> Any:
        calls.append(t)
        return change(self, t, *given)

    monkeypatch.setattr(HybridRun, "_changed", counted)
    far = kn.simulate(kn.loads(text.format("limit stop : a <= 0.6;")), 0.5, tau=held, samples=5)
    assert not calls
    assert far.q == pytest.approx(kn.simulate(kn.loads(text.format("")), 0.5, tau=held, samples=5).q, abs=1e-9)
    near = kn.simulate(kn.loads(text.format("limit stop : a <= 0.6;")), 2.0, tau=held, samples=5)
    assert near.q[-1, 0] == pytest.approx(0.6, abs=1e-9)
    assert len(calls) > 100  # where the limit holds, forces may end at a sample
