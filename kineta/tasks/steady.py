"""The conditions of a steady motion in numbers: forces in balance without accelerations, constraints met::

    bias(t, q, v) - A^T lambda - tau = 0          f(t, q, v) = 0

with v = 0 at rest. Their derivatives by motions, speeds, multipliers and parameters are exact, from the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.compiler import Equations
from kineta.expr.graph import ZERO, Ref
from kineta.expr.program import program
from kineta.formalism.derivation import Derivation
from kineta.passes.differentiate import forward
from kineta.tasks.forces import Forces

FloatArray = NDArray[np.float64]

#: Steps of the way on from a steady motion, which turns by about one radian.
STEPS = 16


@dataclass(frozen=True)
class State:
    """Time, coordinates (nq,), speeds (nv,), multipliers (rows,), parameters (np,)."""

    t: float
    q: FloatArray
    v: FloatArray
    multipliers: FloatArray
    p: FloatArray

    @property
    def blocks(self) -> tuple[FloatArray, ...]:
        """As inputs of compiled functions."""
        return np.array([self.t]), self.q, self.v, self.multipliers, self.p


@dataclass(frozen=True)
class Compiled:
    """Functions of a :class:`State` by name, the names of multipliers and levels of constraints, and whether some of these bind
    speeds that no position binds.
    """

    functions: Mapping[str, llvm.NativeFunction]
    multipliers: tuple[str, ...]
    levels: tuple[str, ...]
    on_speeds: bool


class Conditions:
    """The conditions of *equations* under the forces *tau*, and what stability asks of them.

    A change of a state is one of its position, along the speeds of the motions (nb,), of its speeds (nv,), of its multipliers
    (rows,) and of its parameters (np,), one after the other; ``parts`` are their places.
    """

    def __init__(self, equations: Equations, tau: Forces) -> None:
        self.equations, self.tau = equations, tau
        self.system = equations.system
        key = Compiled, tuple(tau.expressions.items()), equations.derivation.left_out
        made = equations.kept(key, lambda: _compiled(equations, tau))
        self._functions, self.multipliers, self._on_speeds = made.functions, made.multipliers, made.on_speeds
        self.names = tuple(f"the force on '{n}'" for n in self.system.v_names) + tuple(
            f"the constraint '{n}'" for n in made.levels
        )
        sizes = (len(self.system.base_speeds), self.system.nv, len(made.multipliers), len(self.system.parameter_names))
        ends = np.cumsum(sizes).tolist()
        self.parts = dict(
            zip(("motion", "speed", "multiplier", "parameter"), map(range, [0, *ends], ends), strict=False)
        )

    def off(self, at: State) -> FloatArray:
        """What has to vanish: forces (nv,), then levels of constraints."""
        found = self._functions["conditions"](*at.blocks)
        found[: self.system.nv] -= self.tau.constant
        return found

    def slope(self, at: State, function: str = "slope") -> FloatArray:
        """Derivatives of the conditions by all changes of the state, (m, n); or of the ``momentum`` (nv, n)."""
        nq, nv, rows, parameters = map(len, at.blocks[1:])
        seeds = np.zeros((len(self.system.base_speeds) + nv + rows + parameters, nq + nv + rows + parameters))
        tangents = self.tangents(at)
        seeds[: len(tangents), :nq] = tangents
        seeds[len(tangents) :, nq:] = np.eye(nv + rows + parameters)
        blocks = np.split(seeds, np.cumsum([nq, nv, rows]), axis=1)
        return self._functions[function].batch(*at.blocks, *blocks).T

    @property
    def on_speeds(self) -> bool:
        """Whether constraints bind speeds that no position binds."""
        return bool(self.system.quasi) or self._on_speeds

    def ways(self, at: State) -> FloatArray:
        """Speeds of the motions where one speed of the equations after the other is one, (nb, nv)."""
        n = self.system.nv
        if not self.system.quasi:
            return np.eye(n)
        rows = self._functions["going"].batch(at.blocks[0], at.q, np.vstack([np.zeros(n), np.eye(n)]), at.p)
        return np.asarray(np.linalg.lstsq(self.tangents(at).T, (rows[1:] - rows[0]).T, rcond=None)[0])

    def tangents(self, at: State) -> FloatArray:
        """Changes of the coordinates where one speed of the motions after the other is one, (nb, nq)."""
        n = len(self.system.base_speeds)
        rows = self._functions["rates"].batch(at.blocks[0], at.q, np.vstack([np.zeros(n), np.eye(n)]), at.p)
        return np.asarray(rows[1:] - rows[0])

    def inertia(self, at: State) -> FloatArray:
        """Momenta (nv,) of the speeds of the motions (nb,), (nv, nb)."""
        part = self.parts["speed"]
        M = self.slope(at, "momentum")[:, part.start : part.stop]
        return M if not self.system.quasi else M @ np.linalg.pinv(self.ways(at))

    def moved(self, at: State, change: FloatArray) -> State:
        """The state after a *change*."""
        motion, v, multipliers, p = (change[part.start : part.stop] for part in self.parts.values())
        q = self._unit(at.q + motion @ self.tangents(at))
        return replace(at, q=q, v=at.v + v, multipliers=at.multipliers + multipliers, p=at.p + p)

    def balanced(self, at: State) -> State:
        """The state with the multipliers that leave least of the forces."""
        n = self.system.nv
        A = self.slope(at)[:n, self.parts["multiplier"].start : self.parts["multiplier"].stop]
        return replace(at, multipliers=at.multipliers - np.linalg.lstsq(A, self.off(at)[:n], rcond=None)[0])

    def later(self, at: State) -> State:
        """The state after the turn of about one radian, as its speeds go on."""
        h = 1.0 / (STEPS * max(1.0, float(np.abs(at.v).max(initial=0.0))))

        def rate(q: FloatArray, t: float) -> FloatArray:
            return self._functions["going"](np.array([t]), q, at.v, at.p)

        q, t = at.q, at.t
        for _ in range(STEPS):
            a = rate(q, t)
            b = rate(q + h / 2 * a, t + h / 2)
            c = rate(q + h / 2 * b, t + h / 2)
            d = rate(q + h * c, t + h)
            q, t = self._unit(q + h / 6 * (a + 2 * b + 2 * c + d)), t + h
        return replace(at, q=q, t=t)

    def _unit(self, q: FloatArray) -> FloatArray:
        for offset in self.system.quaternions.values():
            q[offset : offset + 4] /= np.linalg.norm(q[offset : offset + 4])
        return q


def _compiled(equations: Equations, tau: Forces) -> Compiled:
    d = equations.alone()
    g, s = d.graph, d.symbols
    multipliers = tuple(g.symbol(f"multiplier {k}") for k in range(len(d.rows)))
    off, levels = _conditions(d, multipliers, tau)
    varied = {"q": s.q, "v": s.v, "multipliers": multipliers, "p": s.p}
    seeds = {f"d{n}": [g.symbol(f"change of {n} {k}") for k in range(len(x))] for n, x in varied.items()}
    direction = {x: dx for xs, dxs in zip(varied.values(), seeds.values(), strict=True) for x, dx in zip(xs, dxs)}
    base = d.released.symbols if s.system.quasi else s
    state: dict[str, Sequence[Ref]] = {"t": (s.t,), **varied}
    plain: dict[str, Sequence[Ref]] = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
    functions: dict[str, tuple[dict[str, Sequence[Ref]], Sequence[Ref]]] = {
        "conditions": (state, off),
        "slope": (state | seeds, forward(g, off, direction)),
        "momentum": (state | seeds, forward(g, d["momentum"].refs, direction)),
        "rates": (plain | {"v": base.v}, base.qdot),
        "going": (plain, s.qdot),
    }
    made = [program(g, inputs, {n: ((len(refs),), refs)}, n) for n, (inputs, refs) in functions.items()]
    library = llvm.compile(made, batch=True)
    names, on_speeds = tuple(r.constraint for r in d.rows), any(r.order for r in d.rows)
    return Compiled({n: library.function(n) for n in functions}, names, levels, on_speeds)


def _conditions(d: Derivation, multipliers: Sequence[Ref], tau: Forces) -> tuple[list[Ref], tuple[str, ...]]:
    """The forces out of balance and the levels of constraints, and the names of these."""
    g = d.graph
    forces = list(d["bias"].refs)
    for row, multiplier in zip(d.rows, multipliers, strict=True):
        for k, partial in row.gradient.items():
            forces[k] = g.sub(forces[k], g.mul(partial, multiplier))
    acting = {n: d.expression(e)[0] for n, e in tau.expressions.items()}
    forces = [g.sub(f, acting.get(n, ZERO)) for f, n in zip(forces, d.symbols.names, strict=True)]
    if not d.closures:
        return forces, ()
    return [*forces, *d["constraints"].refs], d["constraints"].labels
