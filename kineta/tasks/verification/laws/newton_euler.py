"""Law of Newton and Euler for every body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kineta.model.elements.coordinate import Length
from kineta.model.elements.damper import Damper
from kineta.tasks.verification.closure_laws import crossed
from kineta.tasks.verification.laws.comparison import Comparison, compare
from kineta.tasks.verification.laws.law import UNKNOWN_KINDS, MechanicalLaw, by_reference, understood
from kineta.tasks.verification.reference_forces import (
    body_forces,
    directional_derivative,
    expression_forces,
    point_displacements,
)
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.tasks.verification.rigid_motion import rate


def body_balance(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Newton-Euler equations of every body: the reaction of its joint balances weight, loads of elements and constraints, and
    the reactions of the joints that it carries.
    """
    m, passed = kin.motion, kin.at("reactions")
    g = m.vector(kin.system.gravity)
    number = {b.name: i for i, b in enumerate(kin.system.bodies)}
    exerted, damped = list(body_forces(kin)), list(_damper_terms(kin))
    for body in kin.system.bodies:
        (mass, c, J), (_, r) = m.mass(body), m.frames[body.name]
        need = (rate(rate(c)) - g) * mass
        f, n = kin.of(need), kin.of(rate(J @ m.turning[body.name])) + kin.of(crossed(c - r, need))
        own, terms = passed[:, number[body.name]], [f, n, *damped]
        for name, place, force, couple in exerted:
            if name == body.name:
                acting = [kin.of(force), kin.of(couple) + kin.of(crossed(place - r, force))]
                f, n, terms = f - acting[0], n - acting[1], terms + acting
        for P, e in expression_forces(kin):
            by = directional_derivative(kin, e, point_displacements(kin, body, e))
            if np.ndim(by) > 1:
                act = by * np.asarray(kin.of(P))[:, None]
                f, n, terms = f - act[:, :3], n - act[:, 3:], [*terms, act]
        for other in kin.system.bodies:
            if other.base == body.name:
                away = passed[:, number[other.name]]
                lever = np.cross(kin.of(m.frames[other.name][1] - r), away[:, :3])
                f, n, terms = f + away[:, :3], n + away[:, 3:] + lever, [*terms, away, lever]
        yield compare(kin, own, np.concatenate([f, n], axis=1), *terms)


def _damper_terms(kin: ReferenceKinematics) -> Iterator[Any]:
    """Yield the terms of dampers between points, one for each end: their difference may be rounding error."""
    for e in kin.system.elements:
        if isinstance(e, Damper) and isinstance(e.coordinate, Length):
            for place in (e.coordinate.start, e.coordinate.end):
                yield kin.of(rate(kin.motion.place(place)) * kin.motion.value(e.damping))


LAWS = (
    MechanicalLaw(
        "every body is in balance",
        "the reaction of every joint with what its body needs by Newton and Euler for its weight, elements, constraints and load",
        by_reference(body_balance),
        understood,
        UNKNOWN_KINDS,
    ),
)
