"""Contacts as data: in any mode, accelerations of the kernels are those of the equations with these contacts closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import kineta as kn
from kineta.equations.initial_values import initial_state
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING, mode_accelerations
from kineta.kernels.machine_code import machine_code
from kineta.mechanics.contact.unilateral_rows import FLAGS, UnilateralConstraint
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.compiled import compile_system
from kineta.runtime.constraint_treatment import FREE, PROJECTED, run_derivation
from kineta.runtime.contact_problem import CompiledContacts
from tests.kernels.contact.problems import mode_memory
from tests.support import EXAMPLES

#: Models by text: what is free, on legs, closed with a foot and a stop, rubs in its joints, and rolls.
MODELS = {
    **{
        name: (EXAMPLES / f"{name}.kin").read_text(encoding="utf-8")
        for name in ("thrown_box", "hopper", "rocking_block")
    },
    "footed four-bar": (EXAMPLES / "fourbar.kin").read_text(encoding="utf-8")
    + "contact foot : point between Coupler and ground axis (0, 1, 0), friction = 0.4; limit stop : theta <= 3;",
    "rubbing": (EXAMPLES / "friction_oscillator.kin").read_text(encoding="utf-8"),
    "two on one another": "gravity 9.81; A | Sx(x), Sz(z), Ry(q) = 2, 1, 1, 1; B | Sx(u), Sz(w), Ry(r) = 1, 1, 1, 1;"
    "coordinates x, z, q, u, w, r; friction hinge = 0.3 on r;"
    "contact floor : point between A at (1, 0, 0), A at (-1, 0, 0) and ground axis (0, 0, 1), friction = 0.5;"
    "contact top : point between B at (0.3, 0, 0) and A at (0, 0, 0.2) axis (0, 0, 1), friction = 0.2, static = 0.3;",
    "smooth": "gravity 9.81; B | Sx(x), Sz(z), Ry(q) = 2, 1, 1, 1; coordinates x, z, q;"
    "contact floor : point between B at (1, 0, 0), B at (-1, 0, 0) and ground axis (0, 0, 1), friction = 0.5, smooth = 0.3;",
}


def modes_of(rng: np.random.Generator, contacts: Sequence[UnilateralConstraint], free: int) -> np.ndarray:
    """A random mode with fewer rows than freedom, in which one contact sticks at most: two corners of one body that do have
    dependent rows, which a motion with spin contradicts. Smooth friction never sticks.
    """
    m = len(contacts)
    modes, left = np.zeros(m, dtype=np.int64), max(1, free - 2)
    for c in rng.permutation(m):
        mode = int(rng.integers(0, 3 if contacts[c].smooth is None else 2)) * (
            1 if contacts[c].smooth is None else SLIPPING
        )
        rows = {OPEN: 0, STICKING: len(contacts[c].rows), SLIPPING: int(contacts[c].normal is not None)}[mode]
        if rows <= left and not (mode == STICKING and (modes == STICKING).any()):
            modes[c], left = mode, left - rows
    return modes


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(6))
def test_accelerations_are_those_of_the_equations_of_the_mode(name: str, seed: int) -> None:
    system = kn.loads(MODELS[name])
    equations, rng = kn.derive(system), np.random.default_rng(seed)
    kept = PROJECTED if system.constraints else FREE
    d = run_derivation(equations, kept)
    contacts = CompiledContacts(d)
    m, n = len(contacts.names), contacts.problem.speeds
    q, v = initial_state(system)
    q, v = q + 0.1 * rng.normal(size=len(q)), rng.normal(size=len(v))
    for k in system.quaternions.values():
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    p = np.array([float(x.value) for x in system.parameters if not x.fixed])
    memory, terms = contacts.terms()
    acting = applied_forces(system, None)
    h = contacts.parameter_block(p, acting.constant)
    memory[:] = contacts.functions["terms"](np.array([0.3]), np.concatenate([q, v]), h)
    modes = modes_of(rng, d.contacts, n - 2 * contacts.problem.multipliers)
    toward = np.stack([terms.velocity[1::3], terms.velocity[2::3]], axis=1)
    toward /= np.linalg.norm(toward, axis=1, keepdims=True) + 1e-300
    state, work = mode_memory(m, n, modes, toward)
    solution, a = contacts.solution(), np.zeros(n)
    machine_code(mode_accelerations)(contacts.problem, terms, solution, state, work, a)
    closed = frozenset(n for n, mode in zip(contacts.names, modes, strict=True) if mode != OPEN)
    made = compile_system(equations, acting, (), kept, closed)
    flags = np.zeros((m, len(FLAGS)))
    for c, mode in enumerate(modes):
        flags[c, 0], flags[c, 1], flags[c, 2] = mode != OPEN, mode == STICKING, mode == SLIPPING
        flags[c, 3 : 3 + len(d.contacts[c].tangents)] = toward[c, : len(d.contacts[c].tangents)]
    h = made.parameter_block(p, acting.constant, flags[made.closed].ravel())
    y = np.concatenate([q, v, np.zeros(made.layout.integrals)])
    expected = made.rate(np.array([0.3]), y, h)[len(q) : len(q) + len(v)]
    assert a[: len(v)] == pytest.approx(expected, rel=1e-8, abs=1e-8 * max(1.0, np.abs(expected).max()))
