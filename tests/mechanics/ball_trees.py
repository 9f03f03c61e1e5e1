"""Wittenburg's trees of ball joints as systems, built from his vectors, with arcs both ways."""

from __future__ import annotations

from typing import Any

import numpy as np

import kineta as kn
from tests.mechanics.golubev import matrix, place, tensor


class BallTree:
    """The bodies of a case, joint a on body a; ``outward`` are the arcs that point away from the base."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.outer = range(1, given["n"] + 1)
        ends = zip(self.outer, given["i_plus"], given["i_minus"], strict=True)
        self.inner = [minus if plus == a else plus for a, plus, minus in ends]
        self.outward = [f"b{a}" for a in self.outer if given["i_plus"][a - 1] != a]
        sides = [("minus", "plus") if f"b{a}" in self.outward else ("plus", "minus") for a in self.outer]
        self.on_outer, self.on_inner = (
            [np.array(given[f"hinge_from_com_on_i_{side[k]}_body"][a]) for a, side in enumerate(sides)] for k in (0, 1)
        )

    def bodies(self, base: Any) -> list[kn.Body]:
        """The bodies, their frames at the inner hinges; the first hinge is at *base* in ground axes."""
        found = []
        for a, inner in zip(self.outer, self.inner, strict=True):
            at = self.on_inner[a - 1] - self.on_outer[inner - 1] if inner else base
            own = kn.inertia(
                self.given["mass"][a - 1], *tensor(self.given["J_central_body"][a - 1]), com=-self.on_outer[a - 1]
            )
            motions = [*place(at), kn.Ball(f"j{a}")]
            found.append(kn.body(f"b{a}", motions, own, base=f"b{inner}" if inner else "ground"))
        return found

    def state(self) -> dict[str, float]:
        """Joint attitudes and angular velocities from absolute ones."""
        q = [np.array([1.0, 0, 0, 0]), *map(np.array, self.given["q"])]
        w = [np.zeros(3), *map(np.array, self.given["omega"])]
        found: dict[str, float] = {}
        for a, inner in zip(self.outer, self.inner, strict=True):
            turn = product(q[inner] * [1, -1, -1, -1], q[a])
            speed = matrix(q[a]).T @ (w[a] - w[inner])
            found |= dict(zip((f"j{a}.{c}" for c in ("qw", "qx", "qy", "qz")), turn, strict=True))
            found |= dict(zip((f"j{a}.{c}" for c in ("wx", "wy", "wz")), speed, strict=True))
        return {n: float(x) for n, x in found.items()}


def product(a: Any, b: Any) -> np.ndarray:
    """Product of two quaternions."""
    (w, *u), (x, *v) = a, b
    return np.array([w * x - np.dot(u, v), *(w * np.array(v) + x * np.array(u) + np.cross(u, v))])
