"""Pinocchio's C++ in loops over states, compiled here against the headers of its wheels; from Python where that fails."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.native import CannotCompileError, library
from benchmarks.robots import PREFIX

FloatArray = NDArray[np.float64]

SOURCE = Path(__file__).with_name("peer.cpp")
#: Without AVX-512, which slows Eigen's small matrices down: some percent faster than plain -march=native here.
FLAGS = ("-std=c++17", "-O3", "-march=native", "-mno-avx512f", "-DNDEBUG", "-w")
#: What Pinocchio's own build defines.
DEFINITIONS = (
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=10",
)
#: The quantity, the function, and whether it has a choice between local and world frames.
FUNCTIONS = {
    "forward": ("robot_aba", True),
    "inverse": ("robot_rnea", False),
    "mass_matrix": ("robot_crba", True),
    "forward_derivatives": ("robot_aba_derivatives", False),
    "inverse_derivatives": ("robot_rnea_derivatives", False),
}


@cache
def loops() -> ctypes.CDLL | None:
    """The compiled loops, or None, with the reason printed, where they do not compile."""
    include = PREFIX / "include"
    flags = [*FLAGS, *DEFINITIONS, f"-I{include}", f"-I{include / 'eigen3'}"]
    try:
        headers = [include / "pinocchio", include / "eigen3", include / "boost"]
        loaded = library(SOURCE, "g++", flags, headers, pin.__version__)
    except CannotCompileError as reason:
        print(f"Pinocchio is called from Python, which slows it down: {reason}.")
        return None
    loaded.robot_new.restype = ctypes.c_void_p
    return loaded


def text(model: pin.Model) -> str:
    """*model* as ``peer.cpp`` reads it: gravity; then for each joint its type, base, axis, placement, and inertia."""
    lines = [_numbers(model.gravity.linear)]
    for i in range(1, model.njoints):
        joint, inertia, placement = model.joints[i], model.inertias[i], model.jointPlacements[i]
        kind, axis = joint.shortname().removeprefix("JointModel"), np.zeros(3)
        if kind.endswith("Unaligned"):
            kind, axis = kind[0], joint.extract().axis
        numbers = (axis, placement.translation, placement.rotation.ravel(), [inertia.mass], inertia.lever)
        lines.append(f"{kind} {model.parents[i]} {_numbers(*numbers, inertia.inertia.ravel())}")
    return "\n".join(lines)


def _numbers(*parts: Sequence[float] | FloatArray) -> str:
    return " ".join(repr(float(x)) for part in parts for x in part)


def shape(quantity: str, nv: int) -> tuple[int, ...]:
    """The shape of a *quantity* of a robot with *nv* speeds."""
    return (3, nv, nv) if quantity.endswith("derivatives") else (nv, nv) if quantity == "mass_matrix" else (nv,)


class Peer:
    """Pinocchio's algorithms on rows of states, in one thread."""

    def __init__(self, model: pin.Model) -> None:
        self.model = model
        self.data = model.createData()
        self.library = loops()
        self.robot = None if self.library is None else ctypes.c_void_p(self.library.robot_new(text(model).encode()))
        self.how = "Python" if self.library is None else "C++"

    def calls(
        self, quantity: str, q: FloatArray, v: FloatArray, extra: FloatArray
    ) -> dict[str, tuple[Any, FloatArray]]:
        """Contestants for *quantity* by name: what to call, and where its results, (n, ...), then are."""
        if self.library is None:
            out = np.empty(self._shape(quantity, len(q)))
            return {"Python": (lambda: self._python(quantity, q, v, extra, out), out)}
        function, frames = FUNCTIONS[quantity]
        native = getattr(self.library, function)
        found: dict[str, tuple[Any, FloatArray]] = {}
        for world, name in enumerate(("local", "world")[: 1 + frames]):
            out = np.empty(self._shape(quantity, len(q)))
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (q, v, extra, out)]
            arguments = (self.robot, ctypes.c_int64(len(q)), *pointers, ctypes.c_int(world))
            found[name] = (lambda call=native, arguments=arguments: call(*arguments), out)
        return found

    def _shape(self, quantity: str, n: int) -> tuple[int, ...]:
        return (n, *shape(quantity, self.model.nv))

    def _python(self, quantity: str, q: FloatArray, v: FloatArray, extra: FloatArray, out: FloatArray) -> None:
        model, data = self.model, self.data
        for i in range(len(q)):
            if quantity == "forward":
                out[i] = pin.aba(model, data, q[i], v[i], extra[i])
            elif quantity == "inverse":
                out[i] = pin.rnea(model, data, q[i], v[i], extra[i])
            elif quantity == "forward_derivatives":
                pin.computeABADerivatives(model, data, q[i], v[i], extra[i])
                out[i] = data.ddq_dq, data.ddq_dv, data.Minv
            elif quantity == "inverse_derivatives":
                pin.computeRNEADerivatives(model, data, q[i], v[i], extra[i])
                out[i] = data.dtau_dq, data.dtau_dv, data.M
            else:
                out[i] = pin.crba(model, data, q[i])
