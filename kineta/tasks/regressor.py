"""The regressor along a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.formalism.regressor import PARAMETERS
from kineta.model.system import System
from kineta.tasks.trajectory import Trajectory, trajectory

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Regressor:
    """What each inertial parameter adds to the forces that a motion needs: Y pi + what elements do.

    Y : (k, nv, n); names : of the n parameters, ten a body: ``A.m A.mx A.my A.mz A.Ixx A.Ixy A.Iyy A.Ixz A.Iyz A.Izz``, mass,
        first moments and inertia tensor about the origin of its frame
    parameters : (n,) those of the model
    trajectory : the motion
    """

    Y: FloatArray
    names: tuple[str, ...]
    parameters: FloatArray
    trajectory: Trajectory

    def __repr__(self) -> str:
        return f"<Regressor of '{self.trajectory.system.name}': {len(self.names)} parameters, {len(self.Y)} times>"


def parameter_names(system: System) -> tuple[str, ...]:
    """Names of the inertial parameters, ten a body."""
    return tuple(f"{body.name}.{c}" for body in system.bodies for c in PARAMETERS)


def regressor(system: System | Equations, motion: Any, *, t: Any = None, p: Any = None) -> Regressor:
    """The regressor of *system* along a *motion*; motion, t, p as for :func:`~kineta.tasks.kinematics.kinematics`."""
    path = trajectory(system, motion, t, p)
    e, state = path.equations, (path.t, path.q, path.v)
    own = e.function("inertial_parameters", "numpy")(path.t[0], path.q[0], path.v[0], p=path.p)
    Y = e.function("regressor")(*state, path.vdot, p=path.p)
    return Regressor(Y, parameter_names(path.system), own.ravel(), path)
