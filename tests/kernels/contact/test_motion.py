"""Motion in a mode: projections against dense algebra, what is given and observed, and the bits of Python."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration.contact_records import ALONG, ALONG_N, CLOSED, FLAGS, STUCK, ContactMotion
from kineta.kernels.contact import motion as kernels
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.machine_code import machine_code
from kineta.runtime.compiled import bind_system
from kineta.runtime.constraint_treatment import FREE
from tests.kernels.contact.motions import MODELS, FloatArray, bound, dense, motion_of, state_of

WAYS: dict[str, Callable[[Any], Any]] = {"python": lambda f: f, "machine code": machine_code}
T = np.array([0.3])


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return WAYS[request.param]


def some_modes(name: str, seed: int) -> list[int]:
    """Random modes of a model: joints are never open, smooth friction and none never stick."""
    rng = np.random.default_rng(seed)
    found = []
    for t in dense(name).model.touches:
        kinds = [SLIPPING, *[OPEN] * t.has_normal, *[STICKING] * (t.mu > 0 and not t.smooth)]
        found.append(int(rng.choice(kinds)))
    return found


def least_change(M: FloatArray, A: FloatArray, residual: FloatArray) -> FloatArray:
    """The change x of least x' M x with A x + residual = 0, by least squares where rows depend on each other."""
    L = np.linalg.cholesky(M)
    y = np.linalg.lstsq(A @ np.linalg.inv(L).T, -residual, rcond=1e-10)[0]
    return np.asarray(np.linalg.solve(L.T, y))


def called(way: Callable[[Any], Any], function: Any, motion: ContactMotion, y: FloatArray, size: int = 0) -> FloatArray:
    out = np.zeros(size or len(y))
    way(function)(T, y, motion, out)
    return out


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_positions_are_projected_with_the_least_kinetic_energy(name: str, seed: int, way: Callable[[Any], Any]) -> None:
    """Gaps of closed contacts and residuals of loops vanish but for terms of second order."""
    model, modes = dense(name), some_modes(name, seed)
    q, v = model.random_state(seed)
    rows = model.rows(q, v)
    closed = [c for c, t in enumerate(model.model.touches) if t.has_normal and modes[c] != OPEN]
    while np.linalg.matrix_rank(np.vstack([rows.G, rows.W[closed, 0]]), 1e-2) < len(rows.G) + len(closed):
        modes[closed.pop()] = OPEN
    motion, y = motion_of(name, modes), state_of(name, q, v)
    off = []
    for _ in range(8):
        rows = model.rows(y[: len(q)], v)
        residual = np.concatenate([rows.r, rows.gap[closed]])
        off.append(np.abs(residual).max(initial=0.0))
        after = called(way, kernels.contact_position, motion, y)
        A = np.vstack([rows.G, rows.W[closed, 0]])
        expected = least_change(model.mass(y[: len(q)], v), A, residual)
        assert motion.array("found")[: len(v)] == pytest.approx(expected, abs=1e-9 * max(1.0, np.abs(expected).max()))
        assert np.array_equal(after[len(q) :], y[len(q) :])
        for k in model.system.quaternions.values():
            after[k : k + 4] /= np.linalg.norm(after[k : k + 4])
        y = after
        if off[-1] < 1e-13:
            break
    assert off[-1] < 1e-12
    # Newton's method: each residual is of the order of the square of the last.
    assert all(then < 1e-12 + 50.0 * now**2 for now, then in pairwise(off) if now < 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(6))
def test_speeds_are_projected_with_the_least_kinetic_energy(name: str, seed: int, way: Callable[[Any], Any]) -> None:
    """Closed contacts do not approach, what sticks does not slip, loops keep together; what slips has no friction for it."""
    model, modes, rng = dense(name), some_modes(name, seed), np.random.default_rng(seed)
    q, _ = model.random_state(seed)
    v = rng.normal(size=len(model.system.v_names))
    rows = model.rows(q, v)
    held = [(c, 0) for c, t in enumerate(model.model.touches) if t.has_normal and modes[c] != OPEN]
    held += [(c, i) for c, mode in enumerate(modes) if mode == STICKING for i in (1, 2)]
    A = np.vstack([rows.G, *(rows.W[c, i] for c, i in held)])
    off = np.array([*rows.s, *(rows.u[c, i] for c, i in held)])
    motion, y = motion_of(name, modes), state_of(name, q, v)
    after = called(way, kernels.contact_velocity, motion, y)
    expected = v + least_change(model.mass(q, v), A, off)
    assert after[len(q) : len(q) + len(v)] == pytest.approx(expected, abs=1e-9)
    assert off + A @ (after[len(q) : len(q) + len(v)] - v) == pytest.approx(0.0, abs=1e-9)
    assert np.array_equal(after[: len(q)], q)


@pytest.mark.parametrize("depth", [1e-4, -1e-4])
def test_more_contacts_than_freedom_are_projected_together(depth: float, way: Callable[[Any], Any]) -> None:
    """A box flat on four corners, whose gaps are three quantities."""
    q = np.array([0.1, -0.2, 0.1 - depth, 1.0, 0.0, 0.0, 0.0])
    modes = [OPEN, STICKING] * 4
    motion, y = motion_of("thrown_box", modes), state_of("thrown_box", q, np.ones(6))
    after = called(way, kernels.contact_position, motion, y)
    assert after[:7] == pytest.approx([0.1, -0.2, 0.1, 1.0, 0.0, 0.0, 0.0], abs=1e-12)
    assert called(way, kernels.contact_velocity, motion, y)[7:13] == pytest.approx(0.0, abs=1e-9)


def test_rows_that_nearly_depend_on_others_move_nothing_far(way: Callable[[Any], Any]) -> None:
    """Both corners of a block stick: what turns it by a little lies nearly along the line of its corners."""
    model = dense("rocking_block")
    q, v = np.array([0.0, 0.3, 1e-7]), np.array([0.0, 0.0, 1e-3])
    motion, y = motion_of("rocking_block", [STICKING, STICKING]), state_of("rocking_block", q, v)
    after = called(way, kernels.contact_velocity, motion, y)
    assert np.abs(after[3:6]).max() < 1e-8
    rows = model.rows(q, after[3:6])
    assert np.abs(rows.u).max() < 1e-8


@pytest.mark.parametrize(("fold", "kept"), [(1e-4, False), (0.02, True), (0.3, True)])
def test_rows_are_left_out_where_they_nearly_depend_on_others(
    fold: float, kept: bool, way: Callable[[Any], Any]
) -> None:
    """Two bars in a line stand on both ends, which stick: as they fold, the ends come nearer by terms of second order."""
    text = """A | Sx(x), Sz(z), Ry(q) = m(1), Jy(1); B ~ A | Sx(1), Ry(p) = m(1), Jy(1); coordinates x, z, q, p;
        point P on A = (0, 0, 0); point Q on B = (1, 0, 0); contact c : point between P, Q and ground axis (0, 0, 1),
        friction = 1;"""
    made = bind_system(kn.derive(kn.loads(text)), np.zeros(0), None, (), FREE)
    contacts, flags = made.code.contacts, np.zeros((2, FLAGS))
    assert contacts is not None
    flags[:, [CLOSED, STUCK]] = 1.0
    motion = contacts.motion(made.with_flags(flags).h)
    v = np.array([0.0, 0.0, -0.5, 1.0])
    y = np.concatenate([[0.0, 0.0, fold, -2 * fold], v, np.zeros(contacts.n - 8)])
    after = called(way, kernels.contact_velocity, motion, y)[4:8]
    assert after == pytest.approx(np.zeros(4) if kept else v, abs=1e-9 if kept else 2 * fold)
    assert after[1] == pytest.approx(0.0, abs=1e-12)  # neither end leaves the ground
    assert 2 * after[2] + after[3] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_modes_are_read_as_they_are_written(name: str, way: Callable[[Any], Any]) -> None:
    for seed in range(6):
        modes, rng = some_modes(name, seed), np.random.default_rng(seed)
        toward = rng.normal(size=(len(modes), 2))
        motion = motion_of(name, modes, toward)
        flags = motion.array("flags").reshape(len(modes), -1)
        problem = motion.problem
        rubs = (problem.array("tangents") > 0) & (np.array(modes) == STICKING)
        flags[rubs, ALONG : ALONG + 2] = rng.normal(size=(rubs.sum(), 2))
        closed = np.array([m != OPEN for m in modes])
        flags[closed, ALONG_N] = rng.normal(size=closed.sum())
        before = flags.copy()
        q, v = dense(name).random_state(seed)
        way(kernels.evaluate_terms)(motion, T, state_of(name, q, v))
        assert way(kernels.read_mode)(motion) == closed.sum()
        assert motion.contacts.array("mode").tolist() == modes
        flags[:] = np.nan
        way(kernels.write_mode)(motion, 1.0)
        assert np.array_equal(flags, before)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_python_and_machine_code_have_the_same_bits(name: str, seed: int) -> None:
    made, modes = bound(name), some_modes(name, seed)
    q, v = dense(name).random_state(seed)
    y, rng = state_of(name, q, v), np.random.default_rng(seed)
    toward = rng.normal(size=(len(modes), 2))
    toward /= np.linalg.norm(toward, axis=1, keepdims=True)
    n, guards = len(y), made.code.programs["events"].n_outputs
    sizes = {"rate": n, "events": guards, "observed": made.code.observed_size, "position": n, "velocity": n}
    sizes["given"] = motion_of(name, modes).n_extended
    for what, size in sizes.items():
        function = getattr(kernels, f"contact_{what}")
        ends = []
        for run in WAYS.values():
            motion = motion_of(name, modes, toward)
            ends.append((called(run, function, motion, y, size).tobytes(), motion.array("extended").tobytes()))
        assert ends[0] == ends[1], what


@pytest.mark.parametrize("name", MODELS)
def test_energies_are_observed_whatever_touches(name: str, way: Callable[[Any], Any]) -> None:
    model, made = dense(name), bound(name)
    q, v = model.random_state(0)
    for seed in range(3):
        motion = motion_of(name, some_modes(name, seed))
        found = called(way, kernels.contact_observed, motion, state_of(name, q, v), made.code.observed_size)
        energies = [model.quantity(f"{kind}_energy", q, v) for kind in ("kinetic", "potential")]
        assert found[:2] == pytest.approx(np.ravel(energies), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["thrown_box", "footed four-bar", "two on one another"])
def test_what_is_found_of_a_state_stays_that_of_the_state(name: str) -> None:
    """A motion that is asked again has the bits of one that is asked for the first time, whatever changes between."""
    rng, model = np.random.default_rng(0), dense(name)
    made, states = bound(name), [state_of(name, *model.random_state(k)) for k in range(2)]
    observed = made.code.observed_size
    functions = [
        (kernels.contact_rate, len(states[0])),
        (kernels.contact_observed, observed),
        (kernels.contact_given, 0),
        (kernels.contact_position, len(states[0])),
        (kernels.contact_velocity, len(states[0])),
    ]
    modes = [some_modes(name, k) for k in range(2)]
    motion, blocks = motion_of(name, modes[0]), [motion_of(name, own).array("block") for own in modes]
    for _ in range(60):
        block = blocks[rng.integers(2)].copy()
        block[0] *= rng.choice([1.0, 1.0, 1.5])
        y, t = states[rng.integers(2)], np.array([rng.choice([0.3, 0.4])])
        function, size = functions[rng.integers(len(functions))]
        found = []
        for own in (motion, motion_of(name, modes[0])):
            own.array("block")[:] = block
            found.append(np.zeros(size or own.n_extended))
            machine_code(function)(t, y, own, found[-1])
        assert found[0].tobytes() == found[1].tobytes()
