"""Displacements of coordinates in time stepping: along their rates, by given changes, and onto constraints."""

from __future__ import annotations

from kineta.integration.contact_records import ContactMotion
from kineta.integration.stepping_records import SteppingData
from kineta.kernels.contact.block_inertia import accelerations
from kineta.kernels.language import kernel
from kineta.kernels.vectors import copy, normalise
from kineta.memory import Reals


@kernel
def normalise_all(run: SteppingData, y: Reals) -> None:
    """Make the quaternions of a state those of unit length."""
    for k in range(run.n_quaternions):
        normalise(y[run.quaternions[k] :])


@kernel
def advance(run: SteppingData, at: Reals, start: Reals, size: float, y: Reals) -> None:
    """The coordinates of y from those of *start* on by *size* times their rates in the state *at*."""
    run.coordinate_rate(run.time, at, run.motion.block, run.rate)
    for k in range(run.motion.coordinates):
        y[k] = start[k] + size * run.rate[k]
    normalise_all(run, y)


@kernel
def least_change(motion: ContactMotion, residual: Reals) -> None:
    """The change ``found`` of least kinetic energy, by the factors of the inertia, that removes the *residual* of constraints."""
    force = motion.solution.before
    for k in range(motion.problem.speeds):
        force[k] = 0.0 if k < motion.speeds else residual[k - motion.speeds]
    accelerations(motion.problem, motion.terms.inertia, force, motion.work.speeds, motion.found)


@kernel
def retract(run: SteppingData) -> None:
    """Change the coordinates by the displacements ``found``."""
    motion = run.motion
    motion.moved = False
    copy(run.y, motion.extended, motion.n)
    copy(motion.found, motion.extended[motion.n :], motion.speeds)
    motion.retraction(run.time, motion.extended, motion.block, run.rate)
    copy(run.rate, run.y, motion.coordinates)
    normalise_all(run, run.y)


@kernel
def close_loops(run: SteppingData) -> None:
    """The coordinates at the end of a step, by the least change of them onto the constraints."""
    motion = run.motion
    motion.residuals(run.time, run.y, motion.block, motion.residual)
    least_change(motion, motion.residual)
    retract(run)
