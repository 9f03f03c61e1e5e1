"""Contacts, limits and dry friction that switches turn on and off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.runtime import compiled
from kineta.tasks.export.run_names import CONTACT_OUTCOMES

G = 9.81
SLED = """
gravity 9.81; parameters armed = 1; B | Sx(x), Sz(z) = 1; coordinates x, z; initial z = 0, x' = 3; output armed;
contact floor : point between B and ground axis (0, 0, 1), friction = 0.5 while armed == 1;
when off : t >= 0.2 : armed = 0;
"""


def test_a_floor_that_is_switched_off_lets_fall_and_strikes_when_it_is_there_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    programs = compiled._run_programs
    monkeypatch.setattr(compiled, "_run_programs", lambda *given: made.append(given) or programs(*given))
    run = kn.simulate(kn.loads(SLED + "when on : t >= 0.6 and armed == 0 : armed = 1, z = 0.1;"), 0.7)
    fall = (-G * 0.4 + np.sqrt((G * 0.4) ** 2 + 2 * G * 0.1)) / G
    words = ["off switches", "floor leaves", "on switches", "floor strikes", "floor rests", "floor sticks"]
    assert [what for _, what in run.changes] == words
    assert run.changes[3] == (pytest.approx(0.6 + fall, abs=1e-10), "floor strikes")
    slid = 3 - 0.5 * G * 0.2
    x = 3 * 0.2 - 0.25 * G * 0.2**2 + slid * (0.4 + fall)
    assert run["x"][np.searchsorted(run.t, 0.6 + fall - 1e-9)] == pytest.approx(x, abs=1e-9)
    assert np.all(run["lambda.floor.n"][(run.t > 0.201) & (run.t < 0.599)] == 0)
    assert run.energy_balance < 1e-12
    assert len(made) == 1


def test_a_floor_that_is_switched_on_beneath_its_load_is_refused_by_how_much() -> None:
    run = kn.simulate(kn.loads(SLED + "when on : t >= 0.6 : armed = 1;"), 1.0)
    assert run.message.startswith(
        "failed at t = 0.6 s: at t = 0.6 s 'floor' is 0.785 m beyond its contact; expected a gap of zero or more while its "
        "conditions hold"
    )
    assert run["z"][-1] == pytest.approx(-G * 0.4**2 / 2, abs=1e-12)


def test_exported_runs_say_so_in_the_same_words() -> None:
    _, said = CONTACT_OUTCOMES["PENETRATES"]
    run = kn.simulate(kn.loads(SLED + "when on : t >= 0.6 : armed = 1;"), 1.0)
    words = run.message.partition(" m beyond its ")[2].partition(" while")[0]
    assert words == "contact; expected a gap of zero or more"
    assert words in said
    assert said.endswith("beyond its limit; expected a value within it while its conditions hold.")


def test_a_start_below_a_floor_that_is_off_is_none_below_it() -> None:
    system = kn.loads(SLED)
    run = kn.simulate(system, 0.1, q=[0, -1], p={"armed": 0})
    assert run["z"][-1] == pytest.approx(-1 - G * 0.1**2 / 2, abs=1e-12)
    with pytest.raises(kn.SimulationError, match="'floor' is 1 m beyond its contact"):
        kn.simulate(system, 0.1, q=[0, -1])


@pytest.mark.slow
def test_a_brake_lets_go_and_holds_again() -> None:
    text = "parameters lock = 1; B | Sx(x) = 1; coordinates x; friction dry = 2, static = 3 on x while lock == 1; "
    text += (
        "force g = 2.5 on x; when free : t >= 1 : lock = 0; when hold : t >= 2 and lock == 0 : lock = 1; output lock;"
    )
    run = kn.simulate(kn.loads(text), 4.0, samples=5)
    assert run["x"] == pytest.approx([0, 0, 1.25, 1.25 + 2.5 + 0.25, 7.25], abs=1e-9)
    assert run["lambda.dry"][[0, 4]] == pytest.approx([-2.5, -2])
    assert run.changes == ((1.0, "free switches"), (2.0, "hold switches"), (2.0, "dry slips"))
    runs = kn.simulate(kn.loads(text).replace(switches=()), 2.0, p={"lock": [0, 1]})
    assert runs["x"][:, -1] == pytest.approx([5, 0], abs=1e-9)


def test_a_friction_without_limit_is_not_watched_where_it_is_off() -> None:
    text = "parameters on = 0; B | Sx(x) = 1; coordinates x; friction dry = 1 - t on x while on == 1; initial x' = 1;"
    assert kn.simulate(kn.loads(text), 3.0)["x"][-1] == pytest.approx(3)
    assert "friction" in kn.simulate(kn.loads(text), 3.0, p={"on": 1}).message


def test_a_limit_that_is_off_limits_no_task() -> None:
    text = "gravity 9.81; parameters on = 0; B | Sz(z) = 1; coordinates z; spring s = 9.81 on z; "
    text += "limit stop : z >= -0.5 while on == 1;"
    system = kn.loads(text)
    assert kn.equilibrium(system).q == pytest.approx([-1])
    with pytest.raises(kn.SimulationError, match="stop"):
        kn.equilibrium(system, p={"on": 1})


def test_an_impact_switches_a_contact_off() -> None:
    """A bomb that breaks through a thin floor, and comes to rest on the one below."""
    text = """gravity 9.81; parameters whole = 1; B | Sz(z) = 1; coordinates z; initial z = 1; output whole;
    limit thin : z >= 0 while whole == 1; limit thick : z >= -1; when breaks : thin strikes : whole = 0;"""
    run = kn.simulate(kn.loads(text), 1.2)
    words = ["thin.lower strikes", "thin.lower rests", "breaks switches", "thin.lower leaves"]
    assert [what for _, what in run.changes] == [*words, "thick.lower strikes", "thick.lower rests"]
    assert run.impacts[1].t == pytest.approx(2 * np.sqrt(2 / G), abs=1e-10)
    assert run["z"][-1] == pytest.approx(-1, abs=1e-12)


def test_python_gives_the_conditions_of_the_text() -> None:
    s, q = kn.symbol("s"), kn.symbol("x")
    text = "parameters s = 1; B | Sx(x) = 1; coordinates x; limit l : x <= 1 while s == 1; friction f = 2 on x while s == 0;"
    text += "contact c : point between B and ground axis (1, 0, 0) while s == 2;"
    found = [
        kn.limit("l", q, upper=1, conditions={"s": 1}),
        kn.friction("f", 2, q, conditions={"s": 0}),
        kn.contact("c", "point", "B", "ground", normal=(1, 0, 0), conditions={"s": 2}),
    ]
    assert kn.loads(text).contacts == tuple(found)
    with pytest.raises(kn.ArgumentError, match="smooth friction is a force and always there"):
        kn.friction("f", 2, q, smooth=0.1, conditions={"s": s.value or 0})
