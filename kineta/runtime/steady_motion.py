"""Conditions of a steady motion in numbers: balance of forces without accelerations, and constraints::

    bias(t, q, v) - A^T lambda - tau = 0          f(t, q, v) = 0          z' = 0

with v = 0 at rest, and the rates z' of first-order states. Derivatives by motions, speeds, multipliers, states and
parameters are exact, from the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.equations.equations import Equations
from kineta.expr.graph import ZERO, Ref, neg
from kineta.expr.program import program
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.tangent import along, balance, multiplier_symbols
from kineta.numerics.linear_algebra import lstsq, norm, pinv
from kineta.records import dataclass
from kineta.runtime.applied_forces import AppliedForces

#: Runge-Kutta steps over a motion of about one radian, as parts of it: no frequency has a whole number of periods in all of them.
ADVANCE_STEPS = np.sqrt([2, 3, 5, 7, 11, 13, 17, 19, 2, 3, 5, 7, 11, 13, 17, 19])
ADVANCE_STEPS /= ADVANCE_STEPS.sum()


@dataclass(frozen=True)
class SteadyState:
    """Time, coordinates (nq,), speeds (nv,), multipliers (rows,), parameters (np,)."""

    t: float
    q: FloatArray
    v: FloatArray
    multipliers: FloatArray
    p: FloatArray

    @property
    def blocks(self) -> tuple[FloatArray, ...]:
        """Arguments of compiled functions."""
        return np.array([self.t]), self.q, self.v, self.multipliers, self.p


@dataclass(frozen=True)
class CompiledConditions:
    """Functions of a :class:`SteadyState` by name, the names of multipliers and constraint orders, and whether a constraint
    binds speeds without binding the position.
    """

    functions: CompiledFunctions
    multipliers: tuple[str, ...]
    levels: tuple[str, ...]
    on_speeds: bool


class SteadyConditions:
    """Conditions of a steady motion of *equations* under the forces *tau*, and quantities for its stability.

    A change of a state consists of motions along the speeds (nb,), of speeds (nv,), multipliers (rows,), first-order states (nz,)
    and parameters (np,); ``parts`` are their ranges.
    """

    def __init__(self, equations: Equations, tau: AppliedForces) -> None:
        self.equations, self.tau = equations, tau
        self.system = equations.system
        key = CompiledConditions, tuple(tau.expressions.items()), equations.left_out
        made = equations.bounded_memo(key, lambda: _compiled(equations, tau))
        self._functions, self.multipliers, self._on_speeds = made.functions, made.multipliers, made.on_speeds
        self.names = tuple(f"the force on '{n}'" for n in self.system.v_names) + tuple(
            f"the constraint '{n}'" for n in made.levels
        )
        self.names += tuple(f"the rate of '{n}'" for n in self.system.state_names)
        system = self.system
        sizes = (len(system.base_speeds), system.nv, len(made.multipliers), system.nz, len(system.parameter_names))
        ends = np.cumsum(sizes).tolist()
        kinds = ("motion", "speed", "multiplier", "state", "parameter")
        self.parts = dict(zip(kinds, map(range, [0, *ends], ends), strict=False))

    def residuals(self, at: SteadyState) -> FloatArray:
        """Residuals of the conditions: forces (nv,), then constraints, then the negative rates of states."""
        found = self._functions["conditions"](*at.blocks)
        found[: self.system.nv] -= self.tau.constant
        return found

    def jacobian(self, at: SteadyState, function: str = "slope") -> FloatArray:
        """Derivatives of the residuals by all changes of the state, (m, n); or of the ``momentum`` (nv, n)."""
        columns, n = np.cumsum([0, *map(len, at.blocks[1:])]), self.system.nz
        seeds = np.zeros((self.parts["parameter"].stop, columns[-1]))
        seeds[self.parts["motion"], : columns[1]] = self.tangents(at)
        starts = {"speed": columns[1], "multiplier": columns[2], "state": columns[1] - n, "parameter": columns[3]}
        for name, start in starts.items():
            part = self.parts[name]
            seeds[part, range(start, start + len(part))] = 1.0
        return self._functions[function].batch(*at.blocks, seeds).T

    def blocks(self, at: SteadyState, function: str = "slope") -> dict[str, FloatArray]:
        """Derivatives of the forces, or of the ``momentum``, by parts of a change: by the motions the stiffness K, by the speeds
        the damping D, or the mass matrix M, by the multipliers -A^T.
        """
        J = self.jacobian(at, function)[: self.system.nv]
        return {name: J[:, part.start : part.stop] for name, part in self.parts.items()}

    @property
    def on_speeds(self) -> bool:
        """True where constraints bind speeds that no position binds."""
        return bool(self.system.quasi) or self._on_speeds

    def motion_directions(self, at: SteadyState) -> FloatArray:
        """Speeds of the motions for unit values of each speed of the equations, (nb, nv)."""
        n = self.system.nv
        if not self.system.quasi:
            return np.eye(n)
        rows = self._functions["going"].batch(at.blocks[0], at.q, np.vstack([np.zeros(n), np.eye(n)]), at.p)
        return lstsq(self.tangents(at).T, (rows[1:] - rows[0]).T, what="the speeds of the motions")

    def tangents(self, at: SteadyState) -> FloatArray:
        """Changes of the coordinates for unit values of each speed of the motions, (nb, nq)."""
        n = len(self.system.base_speeds)
        rows = self._functions["rates"].batch(at.blocks[0], at.q, np.vstack([np.zeros(n), np.eye(n)]), at.p)
        return np.asarray(rows[1:] - rows[0])

    def inertia(self, at: SteadyState) -> FloatArray:
        """Momenta (nv,) of unit speeds of the motions (nb,), (nv, nb)."""
        M = self.blocks(at, "momentum")["speed"]
        return M if not self.system.quasi else M @ pinv(self.motion_directions(at), what="the momenta of the motions")

    def retract(self, at: SteadyState, change: FloatArray) -> SteadyState:
        """State after a *change*."""
        motion, v, multipliers, z, p = (change[part.start : part.stop] for part in self.parts.values())
        q = self._unit(at.q + motion @ self.tangents(at))
        q[len(q) - len(z) :] += z
        return replace(at, q=q, v=at.v + v, multipliers=at.multipliers + multipliers, p=at.p + p)

    def balanced(self, at: SteadyState) -> SteadyState:
        """State with the multipliers of least residual force; unchanged where the forces are not finite."""
        A, off = self.blocks(at)["multiplier"], self.residuals(at)[: self.system.nv]
        if not (np.isfinite(A).all() and np.isfinite(off).all()):
            return at
        return replace(at, multipliers=at.multipliers - lstsq(A, off, what="the multipliers of the constraints"))

    def advanced(self, at: SteadyState) -> Iterator[SteadyState]:
        """States on a motion of about one radian at constant speeds, at irregular times."""
        duration = 1.0 / max(1.0, float(np.abs(at.v).max(initial=0.0)))

        def rate(q: FloatArray, t: float) -> FloatArray:
            return self._functions["going"](np.array([t]), q, at.v, at.p)

        q, t = at.q, at.t
        ends = at.t + duration * np.append(np.cumsum(ADVANCE_STEPS)[:-1], 1.0)
        for end in ends.tolist():
            h = end - t
            a = rate(q, t)
            b = rate(q + h / 2 * a, t + h / 2)
            c = rate(q + h / 2 * b, t + h / 2)
            d = rate(q + h * c, end)
            q, t = self._unit(q + h / 6 * (a + 2 * b + 2 * c + d)), end
            yield replace(at, q=q, t=end)

    def _unit(self, q: FloatArray) -> FloatArray:
        for offset in self.system.quaternions.values():
            q[offset : offset + 4] /= norm(q[offset : offset + 4])
        return q


def _compiled(equations: Equations, tau: AppliedForces) -> CompiledConditions:
    d = equations.alone()
    g, s = d.graph, d.symbols
    off, levels = _conditions(d, tau)
    varied = {"q": s.q, "v": s.v, "multipliers": multiplier_symbols(d), "p": s.p}
    variables = [x for block in varied.values() for x in block]
    change, slope = along(g, off, variables)
    _, momentum = along(g, d["momentum"].refs, variables)
    base = d.unconstrained.symbols
    state: dict[str, Sequence[Ref]] = {"t": (s.t,), **varied}
    plain: dict[str, Sequence[Ref]] = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
    functions: dict[str, tuple[dict[str, Sequence[Ref]], Sequence[Ref]]] = {
        "conditions": (state, off),
        "slope": (state | {"change": change}, slope),
        "momentum": (state | {"change": change}, momentum),
        "rates": (plain | {"v": base.v}, base.motion_rates),
        "going": (plain, s.motion_rates),
    }
    made = [program(g, inputs, {n: ((len(refs),), refs)}, n) for n, (inputs, refs) in functions.items()]
    names, on_speeds = tuple(r.constraint for r in d.rows), any(r.order for r in d.rows)
    return CompiledConditions(CompiledFunctions(made, batch=True), names, levels, on_speeds)


def _conditions(d: Derivation, tau: AppliedForces) -> tuple[list[Ref], tuple[str, ...]]:
    """Residual forces, constraints and negative rates of states, and the names of the constraints."""
    acting = {n: d.expression(e)[0] for n, e in tau.expressions.items()}
    forces = balance(d, d["bias"].refs)
    forces = [d.graph.sub(f, acting.get(n, ZERO)) for f, n in zip(forces, d.symbols.names, strict=True)]
    rates = [neg(x) for x in d.symbols.state_rates]
    if not d.constraint_rows:
        return [*forces, *rates], ()
    return [*forces, *d["constraints"].refs, *rates], d["constraints"].labels
