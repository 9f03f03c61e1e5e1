"""Augmented bodies: the constants of Wittenburg's trees as numbers (5.15), (5.20)-(5.26), (5.30)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.drawing import listed
from kineta.equations.equations import Equations, given_equations
from kineta.expr.graph import Ref
from kineta.mechanics.formalisms.wittenburg import Tree
from kineta.model.body import GROUND
from kineta.model.graph import SystemGraph, system_graph
from kineta.model.system import System
from kineta.records import dataclass
from kineta.tasks.verification.random_states import at_state
from kineta.values import finite


@dataclass(frozen=True, eq=False, repr=False)
class AugmentedBodies:
    """The constants of a tree of bodies: each with the masses beyond its hinges at these hinges.

    Bodies are numbered as in ``graph``; of arrays over bodies the first entry belongs to body 1. Vectors and tensors are in the
    axes of their bodies, i.

    Attributes
    ----------
    graph : bodies and joints, with S0, S and T
    mass : M of the whole tree, body 0 left out [kg]; masses : (n,) of the bodies [kg]
    d : (n, n, 3) d_ij, from the hinge of body j on body i, or from the mass centre of i for j = i, to the hinge of i (5.15) [m]
    b : (n, n, 3) b_ij, from the barycentre of augmented body i to there, to its mass centre for j = i (5.20), (5.21) [m]
    b0 : (n, 3) b_i0, from the barycentre to the hinge of i [m]
    p : (n, 3) M b_i0, the sum of m_k d_ik (5.26) [kg m]
    K : (n, 3, 3) tensors of the augmented bodies about their hinges (5.24) [kg m^2]
    coupling : (n, n, 3, 3) K_ij (5.30) in ground axes at the given state [kg m^2]
    constant : whether d, b, p and K are the same at all states: no prismatic joints, but on body 0
    """

    model: str
    graph: SystemGraph
    mass: float
    masses: FloatArray
    d: FloatArray
    b: FloatArray
    b0: FloatArray
    p: FloatArray
    K: FloatArray
    coupling: FloatArray
    constant: bool

    @property
    def units(self) -> Mapping[str, str]:
        """Units by the names of the arrays."""
        lengths = dict.fromkeys(("d", "b", "b0"), "m")
        return lengths | {"mass": "kg", "masses": "kg", "p": "kg*m"} | dict.fromkeys(("K", "coupling"), "kg*m^2")

    def __repr__(self) -> str:
        return f"<AugmentedBodies of '{self.model}': {', '.join(self.graph.bodies)}; M = {self.mass:g} kg>"

    def __str__(self) -> str:
        lines = [f"M = {self.mass:.6g} kg" + ("" if self.constant else ", at this state: joints shift")]
        for i, name in enumerate(self.graph.bodies):
            lines.append(f"{i + 1} {name}: m = {self.masses[i]:.6g} kg")
            beyond = np.flatnonzero(self.graph.T[i])
            lines += [f"  d[{i + 1},{j + 1}] = {_row(self.d[i, j])} m" for j in beyond]
            lines += [f"  b[{i + 1},{j + 1}] = {_row(self.b[i, j])} m" for j in beyond]
            lines += [f"  b[{i + 1},0] = {_row(self.b0[i])} m", f"  p[{i + 1}] = {_row(self.p[i])} kg*m"]
            rows = ", ".join(_row(row) for row in self.K[i])
            lines.append(f"  K[{i + 1}] = ({rows}) kg*m^2")
        return "\n".join(lines)

    _repr_html_ = listed


def augmented_bodies(
    system: System | Equations,
    q: Any = None,
    p: Any = None,
    *,
    t: float = 0.0,
    order: Sequence[str] | None = None,
    outward: Collection[str] = (),
    root: str = GROUND,
) -> AugmentedBodies:
    """Return the augmented bodies of *system* as numbers, for the parameters *p*.

    q, t : the state for ``coupling``, and for all arrays of prismatic joints; by default ``initial`` and 0 s
    order, outward, root : as for :func:`~kineta.model.graph.system_graph`

    The hinge of a body is the place where the motions of its joint end: what shifts behind the last that moves belongs to the
    body. Raises :class:`ArgumentError` as these do, for parameters without values and for cases.
    """
    d = given_equations(system).alone()
    model = d.symbols.system
    tree = Tree(d, system_graph(model, order, outward, root=root))
    number = at_state(d, finite("t", t), q, None, p)
    n = tree.n

    def array(refs: Sequence[Ref], *shape: int) -> FloatArray:
        return number(refs).reshape(shape)

    masses = array([m for m, _, _ in tree.masses], n)
    ways = np.zeros((n, n, 3))
    for i, row in enumerate(tree.d[1:]):
        for j, v in row.items():
            ways[i, j - 1] = array(v.refs, 3)
    moments = array([x for v in tree.p[1:] for x in v.refs], n, 3)
    mass = float(masses.sum())
    b0 = moments / mass if mass else np.full((n, 3), np.nan)
    pairs = [tree.coupling(i, j) for i in range(1, n + 1) for j in range(1, n + 1)]
    return AugmentedBodies(
        model=model.name,
        graph=tree.graph,
        mass=mass,
        masses=masses,
        d=ways,
        b=b0[:, None] - ways,
        b0=b0,
        p=moments,
        K=array([x for K in tree.K for x in K.refs], n, 3, 3),
        coupling=array([x for K in pairs for x in K.refs], n, n, 3, 3),
        constant=tree.constant,
    )


def _row(values: FloatArray) -> str:
    return f"({', '.join(f'{x + 0.0:.6g}' for x in values.tolist())})"
