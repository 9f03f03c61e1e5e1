"""Golubev's bodies and chains as systems, built from his vectors, and their states in his speeds."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

import kineta as kn
from kineta.passes.evaluate import evaluate

#: The base: the position of its point A in ground axes, and a ball joint there.
BASE = (kn.Sx(kn.symbol("x")), kn.Sy(kn.symbol("y")), kn.Sz(kn.symbol("z")), kn.Ball("base"))
#: The base of a chain that stays in a plane.
PLANE = (kn.Sx(kn.symbol("x")), kn.Sy(kn.symbol("y")), kn.Rz(kn.symbol("phi1")))


def matrix(q: Any) -> np.ndarray:
    """Rotation matrix from body axes to ground axes."""
    w, x, y, z = q
    tilde = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * tilde + 2 * tilde @ tilde


def tensor(J: Any) -> tuple[Any, Any]:
    """Moments and products of inertia of a tensor."""
    J = np.array(J)
    return J.diagonal(), (J[0, 1], J[0, 2], J[1, 2])


def place(r: Any) -> list[kn.Motion]:
    """Translations by a constant vector."""
    return [make(x) for make, x in zip((kn.Sx, kn.Sy, kn.Sz), r, strict=True)]


def chain(given: dict[str, Any], base: Any = BASE, *, absolute: bool = False, weight: bool = True) -> kn.System:
    """The chain of a case: frames at the joints, in the angles phi_nu of its joints, and with their drives.

    *absolute*: in the angles of the bodies from the axes of the first one, as the difference of (4.3) for two joints has them.
    """
    K = given["K"]
    phi = [kn.symbol(f"phi{nu}") for nu in range(2, K + 1)]
    inner = [0, *phi] if not absolute else [0, 0, *phi]
    if absolute and base is PLANE:
        inner = [0, kn.symbol("phi1"), *phi]
    turns = [a - b for a, b in zip(phi, inner[1:], strict=False)] if absolute else phi
    bodies, elements = [], []
    for nu in range(1, K + 1):
        own = kn.inertia(
            given["mass"][nu - 1],
            *tensor(given["J_central_body"][nu - 1]),
            com=given["zeta0_body"][nu - 1],
        )
        motions = list(base)
        if nu > 1:
            motions = [*place(given["rho0_body"][nu - 2]), kn.R(given["axis_in_previous_body"][nu - 2], turns[nu - 2])]
            elements.append(kn.generalized_force(f"M{nu}", given["joint_torque"][nu - 2], turns[nu - 2]))
        bodies.append(kn.body(f"b{nu}", motions, own, base=f"b{nu - 1}" if nu > 1 else "ground"))
    return kn.System(
        "chain",
        bodies,
        gravity=given["gravity"] if weight else (0, 0, 0),
        coordinates=[
            *("xyz" if base is BASE else "xy"),
            "base" if base is BASE else "phi1",
            *(f"phi{nu}" for nu in range(2, K + 1)),
        ],
        elements=elements if weight else [],
        points=[kn.point(f"C{nu}", f"b{nu}", given["zeta0_body"][nu - 1]) for nu in range(1, K + 1)],
    )


class State:
    """A chain on a free base at the state of a case; accelerations and forces in Golubev's order [w_A, wdot, wdot_nu]."""

    def __init__(self, given: dict[str, Any], formalism: str = "appell", *, weight: bool = True) -> None:
        self.equations = kn.derive(chain(given, weight=weight), formalism)
        self.R = matrix(given["q"])
        self.q = [0.0, 0.0, 0.0, *given["q"], *given["phi"]]
        self.v = [0.0, 0.0, 0.0, *(self.R.T @ given["omega"]), *given["omega_rel"]]
        self.turn = np.eye(
            len(self.v)
        )  # Golubev's speeds to the speeds of the model, with the angular velocity in body axes
        self.turn[3:6, 3:6] = self.R.T

    def __call__(self, quantity: str, *accelerations: Any) -> np.ndarray:
        """The value of a quantity, for accelerations in his order."""
        f = self.equations.function(quantity, "numpy")
        return np.asarray(f(0.0, self.q, self.v, *(self.turn @ u for u in accelerations)))

    def rates(self, quantity: str, u: Any) -> np.ndarray:
        """The time derivative of a quantity where the accelerations are *u*, in his order."""
        d, system = self.equations.derivation, self.equations.derivation.symbols.system
        names = (*system.q_names, *system.v_names, *(f"{n}'" for n in system.v_names))
        state = dict(zip(names, map(float, [*self.q, *self.v, *(self.turn @ u)]), strict=True))
        array = d[quantity]
        found = evaluate(d.graph, d.symbols.levels.of(array.refs, 1), state)
        return np.array(found).reshape(array.shape)


def sums(values: Any) -> list[float]:
    """Partial sums."""
    return list(accumulate(values))
