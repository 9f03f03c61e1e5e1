"""Direct kinematics: positions, velocities and accelerations of bodies and points along a motion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.model.body import GROUND
from kineta.model.coercion import records
from kineta.model.dimensions import acceleration_units, output_units, variable_units
from kineta.model.system import System
from kineta.records import dataclass
from kineta.results.series import Series, check_finite
from kineta.tasks.motions.outputs import outputs
from kineta.tasks.motions.trajectory import trajectory
from kineta.values import word

#: Components of position, velocity, angular velocity, acceleration and angular acceleration.
COMPONENTS = {
    "position": ("x", "y", "z"),
    "velocity": ("vx", "vy", "vz", "wx", "wy", "wz"),
    "acceleration": ("ax", "ay", "az", "ex", "ey", "ez"),
}
UNITS = {"position": ("m",) * 3, "velocity": ("m/s",) * 3 + ("rad/s",) * 3}
UNITS["acceleration"] = ("m/s^2",) * 3 + ("rad/s^2",) * 3


@dataclass(frozen=True, eq=False, repr=False)
class Kinematics(Series):
    """Bodies and points along a motion.

    t : (k,) times; q, v, vdot : (k, nq), (k, nv), (k, nv), the motion itself
    names : of the bodies and points; frame : the body of reference
    rotation : (k, names, 3, 3), axes of the bodies

    ``series`` has coordinates, speeds and accelerations by name, and ``A.x A.y A.z``, ``A.vx`` ... ``A.wz``, ``A.ax`` ...
    ``A.ez`` of every body and point: position, velocity and angular velocity, acceleration and angular acceleration; and the
    outputs of the model but for those made of forces of constraints.
    """

    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    names: tuple[str, ...]
    frame: str
    rotation: FloatArray

    def findings(self) -> dict[str, Any]:
        """Return names and frame."""
        return {"names": list(self.names), "frame": self.frame}


def kinematics(
    system: System | Equations,
    motion: Any,
    of: Iterable[str] | None = None,
    *,
    t: Any = None,
    p: Any = None,
    frame: str = GROUND,
) -> Kinematics:
    """Return positions, velocities and accelerations of bodies and points along a *motion*.

    motion, t, p : as for :func:`~kineta.tasks.motions.trajectory.trajectory`: a run, expressions of the time or arrays by
        coordinate, or a file
    of : names of bodies and points; all by default
    frame : the body in whose frame positions, and in whose axes all vectors are expressed; velocities and accelerations are
        relative to the ground, whatever the frame

    Raises :class:`ArgumentError` for unknown names and an invalid motion, :class:`SimulationError` for a motion that violates
    constraints.
    """
    path = trajectory(system, motion, t, p)
    model, e = path.system, path.equations
    known = (*model.frames, *(x.name for x in model.points))
    names = (
        tuple(n for n in known if n != GROUND) if of is None else records(of, str, "names of bodies and points", "'A'")
    )
    for name in names:
        if name not in known:
            raise ArgumentError(f"Model '{model.name}' has no body or point {shown(name)}.{did_you_mean(name, known)}")
    if word(frame, "the name of a body") not in model.frames:
        raise ArgumentError(f"Model '{model.name}' has no body '{frame}'.{did_you_mean(frame, model.frames)}")
    seen = "" if frame == GROUND else f" in {frame}"
    series = dict(zip((*model.q_names, *model.v_names), np.hstack([path.q, path.v]).T, strict=True))
    series |= dict(zip((f"{n}'" for n in model.v_names), path.vdot.T, strict=True))
    units: dict[str, str] = {}
    rotation = np.empty((len(path.t), len(names), 3, 3))
    for i, name in enumerate(names):
        rotation[:, i] = e.function(f"rotation({name}{seen})")(path.t, path.q, path.v, p=path.p)
        for what, components in COMPONENTS.items():
            more = (path.vdot,) if what == "acceleration" else ()
            values = e.function(f"{what}({name}{seen})")(path.t, path.q, path.v, *more, p=path.p)
            series |= {f"{name}.{c}": x for c, x in zip(components, values.T, strict=True)}
            units |= {f"{name}.{c}": u for c, u in zip(components, UNITS[what], strict=True)}
    series |= {n: x for n, x in outputs(path).items() if n not in series}
    check_finite(model.name, path.t, series)
    units |= (
        variable_units(model)
        | acceleration_units(model)
        | {n: u for n, u in output_units(model).items() if n in series}
    )
    return Kinematics(model.name, path.t, series, units, path.q, path.v, path.vdot, names, frame, rotation)
