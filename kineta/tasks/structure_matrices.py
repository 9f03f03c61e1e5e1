"""Structure matrices: the action of forces and masses of a model on its speeds, as numbers (Andreev (2.1), (2.2), (3.2))."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.drawing import listed
from kineta.equations.equations import Equations, given_equations
from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.kinematics.description_route import PAIRS, DirectRoute
from kineta.model.body import Inertia
from kineta.model.coercion import records
from kineta.model.elements.inertia import InertiaElement
from kineta.model.system import System
from kineta.records import dataclass
from kineta.results.labelled_matrix import labelled
from kineta.tasks.verification.random_states import at_state
from kineta.values import finite

#: Names of the components of elements.
COMPONENTS = ("x", "y", "z", "nx", "ny", "nz")


@dataclass(frozen=True, eq=False, repr=False)
class StructureMatrices:
    """The action of masses and of force, elastic and dissipative elements on the speeds of a model, at one state.

    A mass resists with the generalised forces S_R^T m a_C + S_M^T (J eps + w x J w), elements act with Q = S_P^T P. The weight
    is no element: it is S_R^T m g.

    Attributes
    ----------
    bodies : names of the bodies with inertia; speeds : names of the speeds
    S_R : (bodies, 3, nv) dv_C/dv, of the mass centres, in ground axes
    S_M : (bodies, 3, nv) dw/dv, of the angular velocities, in the axes of the bodies
    elements : names of the elements, with the component for elements of three components, in the axes of the body; a force
        at a place that speeds move acts as one at the origin of the body with a couple, ``nx``, ``ny``, ``nz``
    S_P : (elements, nv) drho'/dv, of the rates on which the elements work
    P : (elements,) their characteristics [N or N m, where these rates are m/s or rad/s]
    """

    model: str
    bodies: tuple[str, ...]
    speeds: tuple[str, ...]
    S_R: FloatArray
    S_M: FloatArray
    elements: tuple[str, ...]
    S_P: FloatArray
    P: FloatArray
    owners: tuple[str, ...] = field(repr=False)

    @property
    def forces(self) -> FloatArray:
        """Q = S_P^T P (2.1), the generalised forces of the elements, (nv,)."""
        return np.asarray(self.S_P.T @ self.P)

    def split(self, unknown: Collection[str]) -> tuple[FloatArray, FloatArray]:
        """Return S_1 and S_2 of (3.2): the columns of S_P^T of the known and of the *unknown* elements, S_P^T P = S_1 F + S_2 R.

        Names are those of elements, or of their components. Raises :class:`ArgumentError` for others.
        """
        wanted = records(unknown, str, "names of elements", "'F'")
        known = dict.fromkeys((*self.owners, *self.elements))
        for name in wanted:
            if name not in known:
                raise ArgumentError(f"Model '{self.model}' has no element '{name}'.{did_you_mean(name, known)}")
        chosen = np.array([{own, name}.intersection(wanted) != set() for own, name in self._named], dtype=bool)
        return self.S_P[~chosen].T, self.S_P[chosen].T

    @property
    def _named(self) -> list[tuple[str, str]]:
        return list(zip(self.owners, self.elements, strict=True))

    def __repr__(self) -> str:
        return f"<StructureMatrices of '{self.model}': {len(self.bodies)} bodies, {len(self.elements)} force elements>"

    def __str__(self) -> str:
        lines = []
        for k, name in enumerate(self.bodies):
            lines += labelled(f"S_R {name}", ("v_C.x", "v_C.y", "v_C.z"), self.speeds, self.S_R[k])
            lines += labelled(f"S_M {name}", ("w.x", "w.y", "w.z"), self.speeds, self.S_M[k])
        if self.elements:
            lines += labelled("S_P", self.elements, self.speeds, self.S_P)
            lines += labelled("P", self.elements, ("",), self.P[:, None])
        return "\n".join(lines)

    _repr_html_ = listed


def structure_matrices(
    system: System | Equations, q: Any = None, v: Any = None, p: Any = None, *, t: float = 0.0
) -> StructureMatrices:
    """Return the structure matrices of *system* at a state, as numbers.

    q, v, p : as for :func:`~kineta.simulation.simulate.simulate`, of one case; speeds matter to characteristics, and to rates
        of elements, that depend on them
    t : the time [s]
    """
    d = given_equations(system).alone()
    described, model, number = DirectRoute(d.symbols), d.symbols.system, at_state(d, finite("t", t), q, v, p)
    heavy = [b for b in model.bodies if b.inertia != Inertia()]
    S_R, S_M = [], []
    for body in heavy:
        frame = described.frames[body.name].at(described.mass(body)[1])
        S_R.append(number(_slopes(d, (frame.S @ frame.v).refs)).reshape(3, model.nv))
        S_M.append(number(_slopes(d, frame.w.refs)).reshape(3, model.nv))
    acting = [e for e in model.elements if not isinstance(e, InertiaElement)]
    found = [(e.name, list(PAIRS[type(e)](described, e))) for e in acting]
    pairs = [pair for _, own in found for pair in own]
    return StructureMatrices(
        model=model.name,
        bodies=tuple(b.name for b in heavy),
        speeds=model.v_names,
        S_R=np.array(S_R).reshape(-1, 3, model.nv),
        S_M=np.array(S_M).reshape(-1, 3, model.nv),
        elements=tuple(f"{n}.{c}" if len(own) > 1 else n for n, own in found for c in COMPONENTS[: len(own)]),
        S_P=number(_slopes(d, [rate for _, rate in pairs])).reshape(len(pairs), model.nv),
        P=number([P for P, _ in pairs]),
        owners=tuple(name for name, own in found for _ in own),
    )


def _slopes(d: Derivation, rates: Sequence[Ref]) -> list[Ref]:
    """Return the derivatives of *rates* by the speeds, row by row."""
    rows = [d.symbols.by_speed(rate) for rate in rates]
    return [row.get(k, ZERO) for row in rows for k in range(len(d.symbols.v))]
