"""The regressor along a motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError
from kineta.mechanics.regressor import PARAMETERS
from kineta.model.system import System
from kineta.records import dataclass
from kineta.results.series import check_finite
from kineta.tasks.motions.trajectory import Trajectory, trajectory


@dataclass(frozen=True, eq=False)
class Regressor:
    """The regressor of a motion: tau = Y pi + forces of elements.

    Y : (k, nv, n); names : of the n parameters, ten a body: ``A.m A.mx A.my A.mz A.Ixx A.Ixy A.Iyy A.Ixz A.Iyz A.Izz``, mass,
        first moments and inertia tensor about the origin of its frame
    parameters : (n,) values of the model
    trajectory : the motion
    """

    Y: FloatArray
    names: tuple[str, ...]
    parameters: FloatArray
    trajectory: Trajectory

    def __repr__(self) -> str:
        return f"<Regressor of '{self.trajectory.system.name}': {len(self.names)} parameters, {len(self.Y)} times>"


def parameter_names(system: System) -> tuple[str, ...]:
    """Return the names of the inertial parameters, ten a body."""
    return tuple(f"{body.name}.{c}" for body in system.bodies for c in PARAMETERS)


def regressor(system: System | Equations, motion: Any, *, t: Any = None, p: Any = None) -> Regressor:
    """Return the regressor of *system* along a motion.

    motion, t, p : as for :func:`~kineta.tasks.motions.kinematics.kinematics`
    """
    path = trajectory(system, motion, t, p)
    Y = path.equations.function("regressor")(path.t, path.q, path.v, path.vdot, p=path.p)
    check_finite(path.system.name, path.t, {"the regressor": Y})
    return Regressor(Y, parameter_names(path.system), inertial_parameters(path), path)


def inertial_parameters(path: Trajectory) -> FloatArray:
    """Return the inertial parameters (n,) of a motion. Raises :class:`ArgumentError` for parameters that switches change."""
    made = path.equations.function("inertial_parameters", "numpy")
    rows = np.atleast_2d(path.p)
    found = np.array([made(path.t[0], path.q[0], path.v[0], p=p).ravel() for p in np.unique(rows, axis=0)])
    if (found != found[0]).any():
        names, changes = parameter_names(path.system), np.ptp(found, axis=0)
        raise ArgumentError(
            f"Model '{path.system.name}': switches change the inertia of bodies in this run, as {names[int(changes.argmax())]}; "
            "take a run, or a part of one, in which it stays."
        )
    return np.asarray(found[0])
