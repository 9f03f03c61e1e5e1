"""Motions that time stepping takes over where events cannot go on: the record over the seams, and what insists on events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import SimulationError
from kineta.hybrid import chattering
from kineta.integration import native
from kineta.simulation import simulate
from tests.hybrid.test_classics import painleve
from tests.hybrid.test_contact_faults import (
    BAR,
    TABLE,
    UPRIGHT,
    Model,
    body_and_springs,
    rounded,
    talos,
    within,
)
from tests.support import EXAMPLES

#: A bar that falls on two sprung legs and slides.
START: dict[str, Any] = {"q": {"z": 0.55, "th": 0.02}, "v": {"x'": 0.3}}
#: Depths [m], forces and powers in parts of the largest, and growth of energy in parts of its range, that steps of 1 ms leave.
DEPTH, CONE, POWER, GROWTH = 1e-6, 1e-7, 1e-4, 1e-5


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten steps by events with something closed are too many."""
    monkeypatch.setattr(chattering, "CROWD", 10)
    monkeypatch.setattr(chattering, "CROWDED", 1e9)


def bar(end: float = 0.4, more: str = "", **given: Any) -> kn.Result:
    return kn.simulate(kn.loads(BAR.text + more), end, **(START | given))


def spells(run: kn.Result) -> list[tuple[float, float]]:
    """The first spells of time stepping, from their notes."""
    said = [note.split() for note in run.notes if "was found by time stepping" in note]
    return [(float(words[3]), float(words[5])) for words in said]


def judge(model: Model, run: kn.Result) -> None:
    """Assert what holds of runs that time stepping has taken over."""
    assert run.status == 0, run.message
    assert (np.diff(run.t) >= 0).all()
    largest = max(1.0, *(np.abs(run[f"{prefix}.n"]).max() for _, prefix, _ in model.names()))
    for place, prefix, named in model.names():
        mu = float(run.parameters[named]) if isinstance(named, str) else named
        n, u, w = (run[f"{prefix}.{c}"] for c in "nuw")
        assert run[f"{place}.z"].min() > -DEPTH
        assert n.min() > -CONE * largest
        assert (np.hypot(u, w) - mu * n).max() <= CONE * largest
        power = n * run[f"{place}.vz"] + u * run[f"{place}.vx"] + w * run[f"{place}.vy"]
        fast = 1 + max(np.abs(run[f"{place}.v{c}"]).max() for c in "xyz")
        assert power.max() < POWER * largest * fast
    if not model.driven:
        reach = max(1e-3, float(np.ptp(run.energy)))
        assert (run.energy - np.minimum.accumulate(run.energy)).max() < GROWTH * reach


def rod(**given: Any) -> kn.Result:
    """A rod with too much friction, of which no forces at the start obey the laws."""
    c, s = math.cos(1.0), math.sin(1.0)
    return kn.simulate(painleve(1.1 * (1 + 3 * c * c) / (3 * s * c)), 0.1, **given)


@pytest.mark.slow
def test_a_rod_with_too_much_friction_jumps_and_goes_on() -> None:
    run = rod()
    assert run.status == 0
    assert run.method == "dop853"
    said = run.notes[0]
    assert said.startswith("From t = 0 to 0.005")
    assert "no forces of 'floor'" in said
    assert "Painleve" in said
    assert any("averages over steps" in note for note in run.notes)
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 1e-6
    for method in ("events", "dop853"):
        with pytest.raises(SimulationError, match="no forces of 'floor'"):
            rod(method=method)


@pytest.mark.slow
def test_a_foot_that_jams_as_it_slides_is_named() -> None:
    """The force of a foot grows without bound as its leg comes to where friction jams: no tolerance is at fault."""
    text = (EXAMPLES / "hexapod.kin").read_text()
    rubber = text.index("ground axis (0, 0, 1),") + len("ground axis (0, 0, 1),")
    rigid = kn.derive(kn.loads(text[:rubber] + " friction = mu" + text[text.index(";", rubber) :]))
    by_events = kn.simulate(rigid, 0.05, method="events")
    assert "'foot[3]' presses without bound" in by_events.message
    assert "(Painleve)" in by_events.message
    balances = []
    for step in (2e-4, 5e-5):
        run = kn.simulate(rigid, 0.2, max_step=step, samples=11)
        assert run.success
        assert "'foot[3]' presses without bound" in run.notes[0]
        balances.append(run.energy_balance)
    assert balances[1] < 0.7 * balances[0] < 1e-5  # that of time stepping, which falls with its steps


@pytest.mark.usefixtures("hurried")
def test_switches_keep_to_events() -> None:
    run = bar(more="\nparameters off = 0;\nwhen late : t >= 1 : off = 1;")
    assert run.status == 0
    assert not spells(run)


def test_motions_of_events_alone_are_those_of_events() -> None:
    runs = [bar(method=method) for method in ("auto", "events", "dop853")]
    assert len({run.y.tobytes() for run in runs}) == 1
    assert not runs[0].notes


@pytest.mark.usefixtures("hurried")
def test_seams_cost_little() -> None:
    events = kn.simulate(BAR.equations(), 1.0, method="events", samples=101, **START)
    run = kn.simulate(BAR.equations(), 1.0, samples=101, **START)
    judge(BAR, run)
    assert len(spells(run)) == 3
    assert all(0.04 < end - begin < 0.06 for begin, end in spells(run))
    assert any(note.startswith("So it was ") for note in run.notes)
    assert np.abs(run.q - events.q).max() < 1e-4
    (cost,) = (float(note.split(" by ")[1].split()[0]) for note in run.notes if note.startswith("Going back"))
    assert cost < 1e-4
    assert run.energy_balance < 1e-4


@pytest.mark.usefixtures("hurried")
def test_the_record_is_continuous_over_the_seams() -> None:
    every, run = bar(), bar(samples=401, dense_output=True)
    assert np.abs(run.sol(run.t) - run.y).max() < 1e-15
    once = np.append(np.diff(every.t) > 0, True) & np.append(True, np.diff(every.t) > 0)
    assert np.abs(run.at(every.t[once]).y - every.y[:, once]).max() < 1e-5
    assert np.abs(np.diff(run["x"])).max() < 1e-3
    assert np.abs(np.diff(run.energy - run.work)).max() < 1e-4
    (begin, end), *_ = spells(run)
    amidst = (run.t > begin + 1e-3) & (run.t < end)
    fine = bar(samples=401, method="moreau", max_step=1e-4)
    for name in ("lambda.g.F1.n", "lambda.g.F2.n"):
        assert np.abs(run[name] - fine[name])[amidst].max() < 0.05 * fine[name].max()


@pytest.mark.usefixtures("hurried")
def test_events_of_the_caller_are_found_in_steps_and_after() -> None:
    plain = bar()
    (begin, end), (again, _), *_ = spells(plain)
    x, times = kn.symbol("z"), (0.05, (begin + end) / 2, (end + again) / 2)
    heights = bar(dense_output=True).sol(np.array(times))[1]
    run = bar(events=[kn.event(x - float(h)) for h in heights])
    for found, states, t, h in zip(run.t_events, run.y_events, times, heights, strict=True):
        k = int(np.abs(found - t).argmin())
        assert found[k] == pytest.approx(t, abs=1e-5)
        assert states[k, 1] == pytest.approx(h, abs=1e-9)
    assert len(run.t) == len(plain.t)
    ended = bar(events=kn.event(kn.symbol("t") - times[1], terminal=True), samples=41)
    assert ended.status == 1
    assert ended.t[-1] == pytest.approx(times[1], abs=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_sampled_control_and_sensors_go_on_over_the_seams() -> None:
    read: list[tuple[float, float]] = []

    def control(t: float, q: Sequence[float], v: Sequence[float], y: Sequence[float]) -> Mapping[str, float]:
        read.append((t, float(np.sum(y))))
        return {"x'": 0.1 * math.sin(20 * t)}

    given = {"tau": kn.sampled(control, 200, reads=("lambda.g.F1.n", "lambda.g.F2.n")), "samples": 81}
    run, known = bar(**given), list(read)
    read.clear()
    events = bar(method="events", **given)
    assert spells(run)
    assert [t for t, _ in known] == [t for t, _ in read]
    assert np.abs(np.array(known) - np.array(read))[:, 1].max() < 5.0
    assert (run["tau[x']"] == events["tau[x']"]).all()
    assert np.abs(run.q - events.q).max() < 1e-4


@pytest.mark.usefixtures("hurried")
def test_bodies_apart_are_taken_over_each_by_itself() -> None:
    alone = bar(samples=11)
    other = "\nBall | Sx(bx), Sz(bz) = 1; contact k : point between Ball and ground axis (0, 0, 1), restitution = 0.5;"
    text = BAR.text.replace("u1, u2;", "u1, u2, bx, bz;", 1)
    both = kn.simulate(kn.loads(text + other + "initial bz = 0.05;"), 0.4, samples=11, **START)
    assert both.success
    assert spells(both)
    assert (both["x"] == alone["x"]).all()


def test_a_case_that_needs_it_is_taken_over() -> None:
    c, s = math.cos(1.0), math.sin(1.0)
    critical = (1 + 3 * c * c) / (3 * s * c)
    system = painleve(1.1 * critical)
    run = kn.simulate(system, 0.1, v=np.stack([np.array(kn.simulate(system, 0.01).v[0])] * 2), samples=11)
    assert run.success
    assert run.cases is not None
    assert all("time stepping" in " ".join(notes) for notes in run.cases.notes)
    assert (run.y[0] == rod(samples=11).y).all()


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_steps_are_those_of_the_caller_and_count() -> None:
    run = bar(max_step=1e-3)
    assert any("0.0004 s is the largest step" in note for note in run.notes)
    assert any("0.0001 s is the largest step" in note for note in bar(max_step=1e-4).notes)
    few = bar(max_steps=60)
    assert few.status == 4
    assert 0 < few.steps <= 60
    assert few.t[-1] > spells(few)[0][0]


def test_what_touches_in_very_many_places_is_stepped_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "MOST_PLACES", 1)
    run = bar()
    assert run.method == "moreau"
    assert run.notes[0] == "2 places may touch, more than 1, whose changes in turn take long. The method is 'moreau'."


#: A plate on feet that springs and dampers hold.
FEET = """gravity 9.81; coordinates x, y, z, psi, pitch, roll, {coordinates};
Plate | Sx(x), Sy(y), Sz(z), Rz(psi), Ry(pitch), Rx(roll) = 200, 30, 60, 60, com = (0.05, 0, 0.3);
{feet}
contact legs : point between {names} and ground axis (0, 0, 1), friction = 0.8; initial z = 0.1, pitch = 0.05;
"""


@pytest.mark.slow
def test_two_dozen_sprung_feet_come_to_rest_without_thousands_of_steps_by_events() -> None:
    rng = np.random.default_rng(3)
    feet = "".join(
        f"F{k} ~ Plate | Sx({x}), Sy({y}), Sz(u{k}) = 1; spring c{k} = 2e3, -0.03 on u{k}; damper d{k} = 150 on u{k}';"
        for k, (x, y) in enumerate(rng.uniform(-1, 1, (24, 2)))
    )
    listed = [", ".join(f"{letter}{k}" for k in range(24)) for letter in "uF"]
    system = kn.loads(FEET.format(coordinates=listed[0], feet=feet, names=listed[1]))
    run, again = (kn.simulate(system, 1.0, samples=11) for _ in range(2))
    assert run.success
    np.testing.assert_allclose(run.y, again.y, atol=1e-9)
    assert run.steps < 6000
    assert np.abs(run.v[-1]).max() < 1e-3
    (said,) = [note for note in run.notes if "largest penetration" in note]
    assert float(said.split()[-2]) < 1e-6


def test_fewer_steps_are_too_many_where_more_contacts_are_closed() -> None:
    assert [*map(chattering.most_steps, (0, 1, 8, 16, 40, 60))] == [500, 500, 500, 62, 10, 10]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4, 6, 9, 12, 18])
def test_tables_that_events_do_not_end_are_ended(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "f": rounded(rng, -600, 600)}
    v = {"x'": float(rng.choice([0.0, rounded(rng, -1, 1)]))}
    with within(10):
        run = kn.simulate(TABLE.equations(), 2.0, p=p, v=v, samples=201)
    judge(TABLE, run)
    assert spells(run)


@pytest.mark.slow
def test_talos_goes_on_where_his_joints_stop_at_their_limits() -> None:
    rng = np.random.default_rng(12)
    joints = [n for n in talos().equations().system.q_names if not n.startswith("root.")]
    bent = dict(zip(joints, np.zeros(len(joints)), strict=True))
    for side in ("left", "right"):
        knee = rounded(rng, 0, 0.6)
        bent |= {f"leg_{side}_3_joint": -knee / 2, f"leg_{side}_4_joint": knee, f"leg_{side}_5_joint": -knee / 2}
    start = {"root.z": UPRIGHT + rounded(rng, 0, 0.02)}
    names = ("root.vx", "root.vy", "root.wz")
    speeds = dict(zip(names, (rounded(rng, -0.3, 0.3), rounded(rng, -0.3, 0.3), rounded(rng, -0.5, 0.5)), strict=True))
    with within(20):
        run = kn.simulate(talos().equations(), 0.3, samples=61, q=bent | start, v=speeds)
    judge(talos(), run)
    assert len(run.changes) > 500


@pytest.mark.usefixtures("hurried")
def test_no_clock_decides_how_far_events_go_beyond_the_place_where_they_hand_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = set()
    for pause in (0.0, 1e9):
        monkeypatch.setattr(native, "PAUSE", pause)
        run = bar()
        counts.add((run.nfev, run.rejected, run.steps))
    assert spells(run)
    assert len(counts) == 1


@pytest.mark.slow
def test_a_motion_that_is_taken_over_does_not_depend_on_the_steps_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, ends = np.random.default_rng(4), set[bytes]()
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "f": rounded(rng, -600, 600)}
    v = {"x'": float(rng.choice([0.0, rounded(rng, -1, 1)]))}
    for steady in (2**12, 2**20):
        monkeypatch.setattr(native, "STEADY", steady)
        run = kn.simulate(TABLE.equations(), 1.0, p=p, v=v, samples=3)
        ends.add(run.y.tobytes())
    assert spells(run)
    assert len(ends) == 1
