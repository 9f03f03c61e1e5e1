"""MuJoCo's C core in loops over states, compiled here against the headers of its wheel; from Python where that fails."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.native import CannotCompileError, library

FloatArray = NDArray[np.float64]

SOURCE = Path(__file__).with_name("peer_mujoco.c")
#: The wheel: headers in ``include``, and beside it the library that the Python package itself loads.
WHEEL = Path(mujoco.__file__).parent

_AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}


@cache
def loops() -> ctypes.CDLL | None:
    """The compiled loops, or None, with the reason printed, where they do not compile."""
    (core,) = WHEEL.glob("libmujoco.so.*")
    flags = ["-O3", "-march=native", f"-I{WHEEL / 'include'}", f"-L{WHEEL}", f"-l:{core.name}", f"-Wl,-rpath,{WHEEL}"]
    try:
        loaded = library(SOURCE, "gcc", flags, [WHEEL / "include"], mujoco.__version__)
    except CannotCompileError as reason:
        print(f"MuJoCo is called from Python, which slows it down: {reason}.")
        return None
    return loaded


class Peer:
    """MuJoCo's forward dynamics on rows of Pinocchio's states, in one thread.

    ``core``: the functions that a system of bodies alone needs; ``mj_forward``: the one that calls them all, with contacts
    and constraints switched off.
    """

    def __init__(self, model: pin.Model) -> None:
        self.free = model.joints[1].shortname() == "JointModelFreeFlyer"
        self.nv = model.nv
        self.model = _model(model)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        self.library = loops()
        self.how = "Python" if self.library is None else "C"

    def calls(self, q: FloatArray, v: FloatArray, tau: FloatArray) -> dict[str, tuple[Any, FloatArray]]:
        """Contestants by name: what to call, and where its results (n, nv) then are, in MuJoCo's frames."""
        given = [np.ascontiguousarray(x) for x in self._frames(q, v, tau)]
        if self.library is None:
            out = np.empty((len(q), self.nv))
            return {"mj_forward": (lambda: self._python(*given, out), out)}
        native, found = self.library.mujoco_forward, dict[str, tuple[Any, FloatArray]]()
        for whole, name in enumerate(("core", "mj_forward")):
            out = np.empty((len(q), self.nv))
            handles = [ctypes.c_void_p(x._address) for x in (self.model, self.data)]
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*given, out)]
            arguments = (*handles, ctypes.c_int64(len(q)), *pointers, ctypes.c_int(whole))
            found[name] = (lambda arguments=arguments, kept=given: native(*arguments), out)
        return found

    def _python(self, q: FloatArray, v: FloatArray, tau: FloatArray, out: FloatArray) -> None:
        model, data = self.model, self.data
        for i in range(len(q)):
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[i], v[i], tau[i]
            mujoco.mj_forward(model, data)
            out[i] = data.qacc

    def _frames(self, q: FloatArray, v: FloatArray, tau: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pinocchio's states as MuJoCo takes them: of a free base, the linear components lie along the axes of the world."""
        if not self.free:
            return q, v, tau
        R = _rotations(q)
        v, tau = ((np.hstack([np.einsum("nij,nj->ni", R, x[:, :3]), x[:, 3:]])) for x in (v, tau))
        return np.hstack([q[:, :3], q[:, [6, 3, 4, 5]], q[:, 7:]]), v, tau

    def accelerations(self, found: FloatArray, q: FloatArray, v: FloatArray) -> FloatArray:
        """MuJoCo's accelerations *found* as Pinocchio gives them."""
        if not self.free:
            return found
        linear = np.einsum("nji,nj->ni", _rotations(q), found[:, :3]) - np.cross(v[:, 3:6], v[:, :3])
        return np.hstack([linear, found[:, 3:]])


def _rotations(q: FloatArray) -> FloatArray:
    return np.array([pin.Quaternion(*row[[6, 3, 4, 5]]).matrix() for row in q])


def _model(model: pin.Model) -> mujoco.MjModel:
    """*model* in MuJoCo. Masses and moments are put in afterwards: its compiler refuses those that no body has."""
    children: dict[int, list[int]] = {}
    for i in range(1, model.njoints):
        children.setdefault(model.parents[i], []).append(i)
    switches = "contact constraint equality frictionloss limit actuation sensor warmstart".split()
    flags = " ".join(f'{s}="disable"' for s in switches)
    bodies = "".join(_body(model, i, children) for i in children[0])
    gravity = _numbers(model.gravity.linear)
    made = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}"><flag {flags}/></option>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )
    for i in range(1, model.njoints):
        body = made.body(f"body{i}").id
        made.body_mass[body] = model.inertias[i].mass
        made.body_inertia[body] = _principal(model.inertias[i])[0]
    return made


def _body(model: pin.Model, i: int, children: dict[int, list[int]]) -> str:
    placement, inertia = model.jointPlacements[i], model.inertias[i]
    inside = "".join(_body(model, k, children) for k in children.get(i, ()))
    axes = _numbers(_quaternion(_principal(inertia)[1]))
    return (
        f'<body name="body{i}" pos="{_numbers(placement.translation)}" quat="{_numbers(_quaternion(placement.rotation))}">'
        f'{_joint(model.joints[i])}<inertial pos="{_numbers(inertia.lever)}" quat="{axes}" mass="1" diaginertia="1 1 1"/>'
        f"{inside}</body>"
    )


def _joint(joint: Any) -> str:
    kind = joint.shortname().removeprefix("JointModel")
    if kind == "FreeFlyer":
        return "<freejoint/>"
    shape = {"R": "hinge", "P": "slide"}[kind[0]]
    axis = _AXES[kind[1]] if kind[1:] in _AXES else _numbers(joint.extract().axis)
    return f'<joint type="{shape}" axis="{axis}"/>'


def _principal(inertia: pin.Inertia) -> tuple[FloatArray, FloatArray]:
    """Principal moments, and their axes as a rotation."""
    moments, axes = np.linalg.eigh(inertia.inertia)
    return moments, axes * np.sign(np.linalg.det(axes))


def _quaternion(R: FloatArray) -> FloatArray:
    x = pin.Quaternion(R)
    return np.array([x.w, x.x, x.y, x.z])


def _numbers(values: FloatArray) -> str:
    return " ".join(repr(float(x)) for x in values)
