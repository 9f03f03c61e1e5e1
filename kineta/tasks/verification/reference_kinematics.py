"""Reference kinematics: motions of the description in numbers, independent of every formalism.

Accelerations are those of the equations under test; balances of force and moment on every body then judge the formalisms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.codegen.numpy import FUNCTIONS
from kineta.mechanics.derivation import Derivation
from kineta.model.reserved_symbols import MULTIPLIER, TIME
from kineta.numerics.linear_algebra import det
from kineta.passes import multiprecision
from kineta.records import dataclass
from kineta.spatial.rotation import normals
from kineta.tasks.verification.random_states import RememberingStates, States, quantity, values
from kineta.tasks.verification.rigid_motion import RigidMotion, numbers_of, of_derivatives
from kineta.tasks.verification.taylor_series import TaylorSeries
from kineta.threads import once


@dataclass(frozen=True)
class ReferenceKinematics:
    """The kinematics of a derivation at states with the accelerations of its forward dynamics; where *given*, with the
    accelerations in the states and their derivatives below the *order* of the equations.
    """

    d: Derivation
    states: States
    order: int = 2
    given: bool = False

    @property
    def n(self) -> int:
        """The number of states."""
        return len(self.states[TIME])

    @property
    def known(self) -> int:
        """The number of known derivatives of the speeds, the speeds included."""
        return self.order if self.given else 3

    @property
    def system(self) -> Any:
        """The system without named expressions."""
        return self.d.symbols.system

    @once
    def accelerated(self) -> States:
        """The states completed with accelerations and arbitrary jerks."""
        names = self.system.v_names
        if self.given:
            return RememberingStates(self.d.graph, self.states)
        vdot = quantity(self.d, "forward", self.states)
        more = {f"{n}''": self.states[f"{n}'"] for n in names}
        found = {**self.states, **dict(zip((f"{n}'" for n in names), vdot.T, strict=True)), **more}
        return RememberingStates(self.d.graph, found)

    @once
    def motion(self) -> RigidMotion:
        """The motion, a Taylor series in time up to the third derivatives of positions."""
        s = self.d.symbols
        rows = [values(s.graph, s.levels.of(list(s.speeds), k), self.accelerated).T for k in range(self.known)]
        speeds = dict(zip(self.system.base_speeds, zip(*rows, strict=True), strict=True))
        found = self._moved({n: self.states[n] for n in self.system.q_names}, speeds, 1, lambda x: x)
        if self.system.quasi:
            w = {n: [self.accelerated[n + "'" * k] for k in range(self.known)] for n in self.system.v_names}
            found.named |= {n: of_derivatives(own) for n, own in w.items()}
        found.carry()
        return found

    @once
    def virtual(self) -> RigidMotion:
        """The virtual motions of unit speeds at frozen time, with coefficients (n, nv)."""
        s, nv = self.d.symbols, len(self.d.symbols.v)
        zero = np.zeros(self.n) + 0 * self.states[TIME]
        still = {**self.states, **dict.fromkeys(s.names, zero)}
        base = values(s.graph, s.speeds, still)
        own = [values(s.graph, s.speeds, {**still, n: zero + 1}) - base for n in s.names]
        rates = np.stack(own, axis=-1) if own else np.zeros((self.n, 0, 0))
        speeds = {n: [rates[:, k, :]] for k, n in enumerate(self.system.base_speeds)}
        assert nv == rates.shape[-1]
        return self._moved({n: self.states[n][:, None] for n in self.system.q_names}, speeds, 0, lambda x: x[:, None])

    def _moved(self, q: Mapping[str, Any], speeds: Any, pace: float, shaped: Callable[[Any], Any]) -> RigidMotion:
        numbers = multiprecision.multiprecision_operations() if self.states[TIME].dtype == object else FUNCTIONS
        parameters = {n: shaped(self.states[n]) for n in self.system.parameter_names}
        parameters |= {p.name: p.value for p in self.system.parameters if p.fixed}
        found = RigidMotion(self.system, q, speeds, parameters, (shaped(self.states[TIME]), pace), numbers)
        found.across = self.across
        return found

    def across(self, axis: Any) -> tuple[Any, Any]:
        """Return the two directions of rows normal to *axis*, in its frame; NaN where the triad is not right-handed."""
        both = normals(self.d.symbols.direction(axis))
        u, w = (values(self.d.graph, x.refs, self.states) for x in both)
        e = self.of(self.motion.direction(axis))
        square = np.stack([u, w, e], axis=1).astype(float)
        right = (
            np.abs(square @ square.swapaxes(1, 2) - np.eye(3)).max() < tolerances.ROUNDING_TOLERANCE
            and (det(square) > 0).all()
        )
        rest = [0] * (self.motion.orders - 1)
        first, second = ([TaylorSeries([c if right else c * np.nan, *rest]) for c in x.T] for x in (u, w))
        return np.array(first, dtype=object), np.array(second, dtype=object)

    def of(self, x: Any, k: int = 0) -> Any:
        """Return the k-th derivatives of a series or of an array of series, (n, ...)."""
        return numbers_of(x, k, (self.n,))

    def unit(self, x: Any, k: int = 1) -> Any:
        """Return the k-th derivatives of series of the virtual motions, (n, nv, ...)."""
        return numbers_of(x, k, (self.n, len(self.d.symbols.v)))

    def at(self, name: str) -> FloatArray:
        """Return a quantity of the equations at the accelerated states."""
        return quantity(self.d, name, self.accelerated)

    @once
    def multipliers(self) -> dict[str, FloatArray]:
        """The multipliers of the rows of constraints, (n,) by name."""
        if not self.system.constraints:
            return {}
        array = self.d["multipliers"]
        found = values(self.d.graph, array.refs, self.accelerated).T
        return {n.removeprefix(MULTIPLIER): x for n, x in zip(array.labels, found, strict=True)}

    def component_multipliers(self, name: str) -> dict[str, Any]:
        """Return the multipliers of a constraint by the names of its components."""
        own = {n: x for n, x in self.multipliers.items() if n == name or n.rpartition(".")[0] == name}
        return {n[len(name) + 1 :]: TaylorSeries([x]) for n, x in own.items()}
