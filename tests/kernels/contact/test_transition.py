"""Transitions between modes: the laws of impacts and of the mode found, the bits of Python, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration.contact_records import (
    CLOSED,
    FLAGS,
    IMPACT_NUMBERS,
    SLIPS,
    STUCK,
    ContactMotion,
    TransitionWork,
)
from kineta.kernels.contact import motion as motions
from kineta.kernels.contact import state_terms as kernels
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.contact.transition import transit
from kineta.kernels.machine_code import machine_code
from kineta.runtime.compiled import bind_system
from kineta.runtime.constraint_treatment import FREE
from kineta.runtime.parameter_checks import parameters
from tests.kernels.contact.motions import MODELS, FloatArray, bound, dense, motion_of, state_of
from tests.support import quick_but

WAYS: dict[str, Callable[[Any], Any]] = {"python": lambda f: f, "machine code": machine_code}
T = np.array([0.3])
SAME = 1e-8


def touching_state(name: str, seed: int) -> tuple[FloatArray, list[int]]:
    """A state in which one contact or more just touch and none penetrates; and the modes of a motion before."""
    model, m = dense(name), len(dense(name).model.touches)
    has_normal = np.array([t.has_normal for t in model.model.touches])
    for attempt in range(200):
        rng = np.random.default_rng(1000 * seed + attempt)
        q, v = model.random_state(1000 * seed + attempt)
        y = state_of(name, q, v)
        joints = [OPEN if n else SLIPPING for n in has_normal]
        gaps = np.where(has_normal, model.rows(q, v).gap, np.inf)
        touching = {int(gaps.argmin())} if has_normal.any() else set[int]()
        for _ in range(30):
            modes = [SLIPPING if c in touching else joints[c] for c in range(m)]
            motion, out = motion_of(name, modes), np.zeros(len(y))
            machine_code(motions.contact_position)(T, y, motion, out)
            y = out
            for k in model.system.quaternions.values():
                y[k : k + 4] /= np.linalg.norm(y[k : k + 4])
            gaps = np.where(has_normal, model.rows(y[: len(q)], v).gap, np.inf)
            touching |= {c for c in range(m) if gaps[c] < -SAME / 2}
        if gaps.min() > -SAME / 2 and np.abs(model.rows(y[: len(q)], v).r).max(initial=0.0) < 1e-12:
            break
    else:
        raise AssertionError("no state that touches")
    y[len(q) : len(q) + len(v)] = rng.normal(size=len(v))
    before = joints.copy()
    for c, touch in enumerate(model.model.touches):
        if seed % 2 and (c in touching or not touch.has_normal):
            before[c] = int(rng.choice([joints[c], SLIPPING, *[STICKING] * (touch.mu > 0 and not touch.smooth)]))
    motion, out = motion_of(name, before), np.zeros(len(y))
    machine_code(motions.contact_velocity)(T, y, motion, out)
    return out, before


def moved(
    way: Callable[[Any], Any], name: str, y: FloatArray, before: list[int], loose: tuple[int, ...] = ()
) -> tuple[ContactMotion, TransitionWork, FloatArray]:
    """The motion, the memory of the transition, and the state after it."""
    contacts = bound(name).code.contacts
    assert contacts is not None
    toward = np.tile([1.0, 0.0], (len(before), 1))
    motion, work, after = motion_of(name, before, toward), contacts.transitions(SAME, 1.0), y.copy()
    work.array("loose")[list(loose)] = 1
    way(transit)(motion, work, T, after)
    return motion, work, after


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_python_and_machine_code_have_the_same_bits(name: str, seed: int) -> None:
    y, before = touching_state(name, seed)
    loose = tuple(c for c, mode in enumerate(before) if mode != OPEN and dense(name).model.touches[c].has_normal)[:1]
    ends = []
    for way in WAYS.values():
        motion, work, after = moved(way, name, y, before, loose)
        numbers = (work.status, work.made, work.flight, work.fastest)
        arrays = [work.array(k) for k in ("near", "hit", "tired", "leaving", "impulse", "impacts", "a")]
        ends.append((numbers, after.tobytes(), motion.array("flags").tobytes(), [x.tobytes() for x in arrays]))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(12))
def test_impacts_and_modes_obey_their_laws(name: str, seed: int) -> None:
    model, (y, before) = dense(name), touching_state(name, seed)
    nq, nv = len(model.system.q_names), len(model.system.v_names)
    motion, work, after = moved(machine_code, name, y, before)
    assert work.status == kernels.CHANGED
    assert after[:nq] == pytest.approx(y[:nq], abs=10 * SAME)
    q, v, w = after[:nq], y[nq : nq + nv], after[nq : nq + nv]
    rows, M, touches = model.rows(q, w), model.mass(q, w), model.model.touches
    near = [c for c, t in enumerate(touches) if t.has_normal and rows.gap[c] <= SAME]
    assert [c for c in np.flatnonzero(work.array("near")) if touches[c].has_normal] == near
    # Impacts: momentum, energy, cones, and no approach afterwards.
    impacts = work.array("impacts")[: IMPACT_NUMBERS * work.made].reshape(-1, IMPACT_NUMBERS)
    impulse = np.zeros((len(touches), 3))
    assert impacts[:, 6].sum() >= -1e-9
    for c, *x, approach, leaving, _, _, _, _ in impacts.tolist():
        impulse[int(c)] += x
        assert x[0] >= 0.0
        assert np.hypot(*x[1:]) <= touches[int(c)].mu * x[0] + 1e-9
        assert leaving >= -1e-9
        assert leaving <= max(0.0, -approach) + 1e-9 or len(near) > 1
    balance = M @ (w - v) - np.einsum("ci,cik->k", impulse, rows.W)
    if len(rows.G):
        balance = balance - rows.G.T @ np.linalg.lstsq(rows.G.T, balance, rcond=None)[0]
    assert balance == pytest.approx(0.0, abs=1e-7)
    drift = rows.u - rows.W @ w
    assert (w @ M @ w - v @ M @ v) / 2 == pytest.approx(-impacts[:, 6].sum() - (impulse * drift).sum(), abs=1e-7)
    assert (rows.u[near, 0] >= -1e-8).all()
    assert rows.s == pytest.approx(0.0, abs=1e-9)
    check_mode(name, motion, after, near)


def check_mode(name: str, motion: ContactMotion, y: FloatArray, near: list[int]) -> None:
    """Signorini's and Coulomb's laws for the forces and accelerations of the mode in a state."""
    model = dense(name)
    nq, nv, touches = len(model.system.q_names), len(model.system.v_names), model.model.touches
    given = np.zeros(motion.n_extended)
    machine_code(motions.contact_given)(T, y, motion, given)
    a, rows = given[len(y) : len(y) + nv], model.rows(y[:nq], y[nq : nq + nv])
    force, rate = np.zeros((len(touches), 3)), rows.W @ a + rows.b
    first = len(y) + motion.speeds + 2 * motion.problem.multipliers
    force.reshape(-1)[motion.array("force_rows")] = given[first : first + motion.n_forces]
    size = max(1.0, np.abs(force).max(), np.abs(rate[near]).max(initial=0.0))
    flags = motion.array("flags").reshape(len(touches), -1)
    for c, touch in enumerate(touches):
        closed = flags[c, CLOSED] > 0 or not touch.has_normal
        bound_of = touch.mu * (force[c, 0] if touch.has_normal else 1.0)
        slip = rows.u[c, 1:]
        if not closed:
            assert not force[c].any()
            assert c not in near or rows.u[c, 0] > 0 or rate[c, 0] >= -1e-8 * size
            continue
        if touch.has_normal:
            assert c in near
            assert force[c, 0] >= -1e-7 * size
            assert abs(rows.u[c, 0]) < 1e-8
            assert abs(rate[c, 0]) < 1e-7 * size
        static = 1.5 * touch.mu if touch.point == "T" else touch.mu
        assert np.hypot(*force[c, 1:]) <= static / (touch.mu or 1.0) * bound_of + 1e-6 * size
        if flags[c, STUCK]:
            assert slip == pytest.approx(0.0, abs=1e-9)
            assert rate[c, 1:] == pytest.approx(0.0, abs=1e-6 * size)
        elif flags[c, SLIPS] and not touch.smooth and np.hypot(*slip) > 1e-6:
            assert force[c, 1:] == pytest.approx(-bound_of * slip / np.hypot(*slip), abs=1e-6 * size)


# -- refusals ---------------------------------------------------------------------------------------------------------

FALLING = "gravity 9.81; parameters mu = 0.3, s = 0.4, e = 0.5; B | Sx(x), Sz(z) = 1; coordinates x, z;"
FLOOR = "contact floor : point between B and ground axis (0, 0, 1), friction = mu, static = s, restitution = e;"
#: Texts, coordinates, speeds and parameters with the status of their transition.
REFUSED: dict[str, tuple[str, list[float], list[float], dict[str, float], int]] = {
    "far below": (FALLING + FLOOR, [0, -1e-3], [0, 0], {}, kernels.PENETRATES),
    "friction below zero": (FALLING + FLOOR, [0, 0], [0, -1], {"mu": -0.1}, kernels.INADMISSIBLE),
    "static below kinetic": (FALLING + FLOOR, [0, 0], [0, -1], {"s": 0.2}, kernels.INADMISSIBLE),
    "restitution above one": (FALLING + FLOOR, [0, 0], [0, -1], {"e": 1.1}, kernels.INADMISSIBLE),
    "restitution below zero": (FALLING + FLOOR, [0, 0], [0, -1], {"e": -0.1}, kernels.INADMISSIBLE),
    "not a number": (FALLING + "limit l : sqrt(x) >= 0;", [-1, 0], [0, 0], {}, kernels.INADMISSIBLE),
    "without a slope": (FALLING + "limit l : x^2 >= 0;", [0, 0], [0, 0], {}, kernels.NO_SLOPE),
    "squeezed": (
        FALLING + "limit l : z >= 0; limit r : z <= 2*sin(t) - 2*sin(0.3);",
        [0, 0],
        [0, 0],
        {},
        kernels.CHANGED,
    ),
    "crushed": (FALLING + "limit l : z >= 0; limit r : z <= 0.3 - t;", [0, 0], [0, 0], {}, kernels.NO_IMPULSES),
    "pressed": (FALLING + "limit l : z >= 0; limit r : z <= -(t - 0.3)^2;", [0, 0], [0, 0], {}, kernels.NO_FORCES),
    "as it should be": (FALLING + FLOOR, [0, 0], [0, -1], {}, kernels.CHANGED),
}
#: Those that Python sweeps for seconds.
SWEPT = ("crushed", "pressed")


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, machine_code) for name in REFUSED),
        *quick_but(((name, WAYS["python"]) for name in REFUSED), [(name, WAYS["python"]) for name in SWEPT]),
    ],
)
def test_a_transition_without_a_mode_says_why_and_changes_nothing(name: str, way: Callable[[Any], Any]) -> None:
    text, q, v, p, status = REFUSED[name]
    system = kn.loads(text)
    values = parameters(system, None)
    for k, x in p.items():
        values[system.parameter_names.index(k)] = x
    made = bind_system(kn.derive(system), values, None, (), FREE)
    contacts = made.code.contacts
    assert contacts is not None
    flags = np.zeros((len(contacts.touches), FLAGS))
    flags[:, STUCK] = 1.0
    motion, work = contacts.motion(made.with_flags(flags).h), contacts.transitions(SAME, 1.0)
    y = np.array([*q, *v, *[0.0] * (contacts.n - len(q) - len(v))])
    after = y.copy()
    with np.errstate(all="ignore"):
        way(transit)(motion, work, T, after)
    assert work.status == status
    if status != kernels.CHANGED:
        assert np.array_equal(after, y)
        assert np.array_equal(motion.array("flags"), flags.ravel())
        assert work.made == 0
