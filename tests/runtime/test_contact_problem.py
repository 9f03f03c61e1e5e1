"""Contacts as data: in any mode, accelerations and forces of the kernels are those of dense equations of this mode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.runtime.contact_problem import ContactFunction
from tests.kernels.contact.motions import MODELS, FloatArray, Rows, Touch, bound, dense, motion_of, state_of


def modes_of(rng: np.random.Generator, contacts: Sequence[UnilateralConstraint], free: int) -> np.ndarray:
    """A random mode with fewer rows than freedom, in which one contact sticks at most: two corners of one body that do have
    dependent rows, which a motion with spin contradicts. Smooth friction never sticks; joints with friction are never open.
    """
    m = len(contacts)
    modes = np.array([OPEN if c.normal is not None else SLIPPING for c in contacts])
    left = max(1, free - 2)
    for c in rng.permutation(m):
        kinds = [OPEN, SLIPPING] if contacts[c].smooth is not None else [OPEN, STICKING, SLIPPING]
        mode = int(rng.choice(kinds if contacts[c].normal is not None else kinds[1:]))
        mode = SLIPPING if mode == STICKING and not contacts[c].tangents else mode
        rows = {OPEN: 0, STICKING: len(contacts[c].rows), SLIPPING: int(contacts[c].normal is not None)}[mode]
        if rows <= left and not (mode == STICKING and (modes == STICKING).any()):
            modes[c], left = mode, left - rows
    return modes


def accelerations(
    M: FloatArray, bias: FloatArray, rows: Rows, touches: Sequence[Touch], modes: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Accelerations (nv,) and forces (m, 3) of a mode: M a + bias is the sum of G' l, of W' x of the rows held, and of friction
    against the slip; held rows have no acceleration.
    """
    nv, m = len(M), len(modes)
    bodies, held, rates = [*rows.G], [*rows.G], [*rows.g]
    forces: list[FloatArray] = [np.zeros((m, 3)) for _ in rows.G]
    given, known = np.zeros((m, 3)), np.zeros(nv)
    for c, (touch, mode) in enumerate(zip(touches, modes, strict=True)):
        if mode == OPEN:
            continue
        slip = rows.u[c, 1:]
        size = np.hypot(*slip) if not touch.smooth else np.hypot(np.hypot(*slip), touch.smooth)
        friction = -touch.mu * slip / (size or 1.0)
        if touch.has_normal:
            force = np.zeros((m, 3))
            force[c] = [1.0, *(friction if mode == SLIPPING else (0.0, 0.0))]
            forces.append(force)
            bodies.append(np.einsum("ci,cik->k", force, rows.W))
            held.append(rows.W[c, 0])
            rates.append(rows.b[c, 0])
        elif mode == SLIPPING:
            given[c, 1:] = friction
            known = known + friction @ rows.W[c, 1:]
        for i in (1, 2) if mode == STICKING else ():
            force = np.zeros((m, 3))
            force[c, i] = 1.0
            forces.append(force)
            bodies.append(rows.W[c, i])
            held.append(rows.W[c, i])
            rates.append(rows.b[c, i])
    k = len(held)
    F, H = np.reshape(bodies, (k, nv)), np.reshape(held, (k, nv))
    matrix = np.block([[M, -F.T], [H, np.zeros((k, k))]])
    found = np.linalg.lstsq(matrix, np.concatenate([known - bias, -np.array(rates)]), rcond=1e-12)[0]
    return found[:nv], given + sum((x * f for x, f in zip(found[nv:], forces, strict=True)), np.zeros((m, 3)))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(6))
def test_accelerations_and_forces_are_those_of_the_equations_of_the_mode(name: str, seed: int) -> None:
    model, made, rng = dense(name), bound(name), np.random.default_rng(seed)
    contacts = made.code.contacts
    assert contacts is not None
    q, v = model.random_state(seed)
    rows = model.rows(q, v)
    modes = modes_of(rng, contacts.touches, len(v) - len(rows.G))
    slip = rows.u[:, 1:]
    toward = slip / (np.linalg.norm(slip, axis=1, keepdims=True) + 1e-300)
    motion, y = motion_of(name, modes, toward), state_of(name, q, v)
    h, n = motion.array("block"), len(y)
    given = ContactFunction(contacts, "given", motion.n_extended)(0.3, y, h)
    assert np.array_equal(given[:n], y)
    a, x = accelerations(model.mass(q, v), model.quantity("bias", q, v), rows, model.model.touches, modes.tolist())
    scale = max(1.0, np.abs(a).max())
    assert given[n : n + len(v)] == pytest.approx(a, rel=1e-9, abs=1e-9 * scale)
    rate = made.code.rate(np.array([0.3]), y, h)
    assert rate[len(q) : len(q) + len(v)] == pytest.approx(a, rel=1e-9, abs=1e-9 * scale)
    own = np.zeros((len(modes), 3))
    first = n + motion.speeds + 2 * contacts.problem.multipliers
    own.reshape(-1)[motion.array("force_rows")] = given[first : first + motion.n_forces]
    assert own == pytest.approx(x, rel=1e-8, abs=1e-8 * scale)
