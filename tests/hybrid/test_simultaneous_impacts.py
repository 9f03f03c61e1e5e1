"""Contacts that strike beside others that are closed do so within the compiled loop: as those do that a run hands back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.hybrid.automaton import HybridRun
from kineta.integration.native import NativeRun
from kineta.integration.segment import Segment
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.runtime import contact_problem
from tests.support import hand_back_transitions

MODELS = {
    "a block rocks": """gravity 9.81; Box | Sx(x), Sz(z), Ry(phi) = m(1), Jy(0.0567); coordinates x, z, phi;
        point A on Box = (-0.1, 0, -0.4); point B on Box = (0.1, 0, -0.4); force s on Box = (2*sin(5*t), 0, 0);
        contact floor : point between A, B and ground axis (0, 0, 1), restitution = 0.3, friction = 0.6;
        initial z = 0.408, phi = 0.1;""",
    "a box that falls on its feet": """gravity 9.81; Box | Sx(x), Sz(z), Ry(phi) = m(2), Jy(0.02); coordinates x, z, phi;
        point A on Box = (-0.06, 0, -0.2); point B on Box = (0.06, 0, -0.2);
        contact floor : point between A, B and ground axis (0, 0, 1), friction = 0.4;
        initial z = 0.25, phi = 0.15, phi' = -1, x' = -0.3;""",
    "a box that leaves the ground": """gravity 9.81; Box | Sx(x), Sz(z), Ry(phi) = m(1), Jy(0.01); coordinates x, z, phi;
        point A on Box = (-0.1, 0, -0.1); point B on Box = (0.1, 0, -0.1);
        contact floor : point between A, B and ground axis (0, 0, 1), restitution = 0.4, friction = 0.4;
        initial z = 0.3, phi = 0.3;""",
    "two that rub": """gravity 9.81; A | Sx(x), Sz(z) = 1; B | Sx(y), Sz(u) = 2; coordinates x, z, y, u;
        contact f : point between A and ground axis (0, 0, 1), restitution = 0.6, friction = 0.3;
        contact g : point between B and ground axis (0, 0, 1), friction = 0.2; spring k = 30, 0.5 between A and B;
        initial z = 0.4, u = 0.2, y = 0.6, x' = 1, y' = -1;""",
    "one that rubs in a joint beside": """gravity 9.81; A | Sz(z) = 1; B | Sz(u) = 2; C | Sx(c) = 1; coordinates z, u, c;
        contact f : point between A and ground axis (0, 0, 1), restitution = 0.6;
        contact g : point between B and ground axis (0, 0, 1); friction j = 0.2 on c; spring k = 4 on c;
        initial z = 0.4, u = 0.01, c = 1;""",
}


@pytest.mark.parametrize("name", MODELS)
def test_what_strikes_within_the_loop_moves_as_what_is_handed_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system, struck, changing = kn.loads(MODELS[name]), list[int](), HybridRun._noted

    def noted(self: HybridRun, segment: Segment, *given: bool) -> Any:
        before = len(self.changes)
        found = changing(self, segment, *given)
        struck.extend("strikes" in what for _, what in self.changes[before:])
        return found

    monkeypatch.setattr(HybridRun, "_noted", noted)
    run, every = (
        kn.simulate(system, 1.5, samples=n, rtol=1e-11, atol=1e-12, dense_output=n is None) for n in (31, None)
    )
    assert any(struck)
    hand_back_transitions(monkeypatch)
    other = kn.simulate(system, 1.5, samples=31, rtol=1e-11, atol=1e-12)
    assert run.success
    assert run.changes == other.changes
    assert np.array_equal(run.y, other.y)
    assert every.sol(run.t) == pytest.approx(run.y, abs=1e-8)
    assert run.energy_balance < 1e-9
    for row in (n for n in run.series if n.startswith(MULTIPLIER)):
        assert np.array_equal(run[row], other[row]), row


@pytest.mark.parametrize("name", MODELS)
def test_where_the_loop_pauses_makes_no_difference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system = kn.loads(MODELS[name])
    whole = kn.simulate(system, 1.5, samples=31)
    for steps in (1, 3):
        monkeypatch.setattr(NativeRun, "_pace", steps)
        pieces = kn.simulate(system, 1.5, samples=31)
        assert pieces.changes == whole.changes
        assert np.array_equal(pieces.y, whole.y)
        for row in (n for n in whole.series if n.startswith(MULTIPLIER)):
            assert pieces[row] == pytest.approx(whole[row], rel=1e-12, abs=1e-12), row


def test_impacts_of_one_transition_are_all_kept_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that falls flat on twenty points, with room for three impacts: alone, and as a case."""
    points = "".join(f"point P{k} on B = ({k}/20 - 0.5, 0, 0);" for k in range(20))
    names = ", ".join(f"P{k}" for k in range(20))
    text = f"""gravity 9.81; B | Sx(x), Sz(z), Ry(q) = 1, 0.1, 0.1, 0.1; coordinates x, z, q; {points} initial z = 1;
    contact f : point between {names} and ground axis (0, 0, 1), restitution = 0.5;"""
    system = kn.loads(text)
    whole = kn.simulate(system, 1.2)
    monkeypatch.setattr(contact_problem, "IMPACTS", 3)
    narrow = kn.simulate(system, 1.2)
    assert len(whole.impacts) >= 40
    assert narrow.impacts == whole.impacts
    assert np.array_equal(narrow.y, whole.y)
    assert kn.simulate(system, 1.2, q=[[0, 1, 0]], samples=3).case(0).impacts == whole.impacts
