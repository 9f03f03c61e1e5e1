"""Distances of positions from the limits of a model."""

from __future__ import annotations

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.consistency.definition_domain import operand_values
from kineta.equations.equations import Equations
from kineta.errors import warn
from kineta.model.contacts.limit import Limit
from kineta.model.parameters import named_values
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass


@dataclass(frozen=True)
class LimitSide:
    """One side of the limit *name*, in *words*, and the *distance* from it."""

    name: str
    words: str
    distance: Expr


class LimitDistances:
    """Distances of positions from the limits of *equations*."""

    def __init__(self, equations: Equations) -> None:
        self.system, self.sides = equations.system, _sides(equations.system)
        distances = tuple(side.distance for side in self.sides)
        if distances:
            self._distances = operand_values(equations, distances)

    def distances(self, t: float | FloatArray, q: FloatArray, p: FloatArray) -> FloatArray:
        """Distances (..., k) of positions *q* from all limits, negative beyond them; the time is a number, or (..., 1)."""
        if not self.sides:
            return np.empty((*q.shape[:-1], 0))
        y = np.concatenate([q, np.zeros((*q.shape[:-1], self.system.nv))], axis=-1)
        rows = (np.broadcast_to(x, (*q.shape[:-1], np.shape(x)[-1])) for x in (np.atleast_1d(t), y, p))
        return np.asarray(self._distances(*rows))

    def coordinates(self, p: FloatArray) -> FloatArray:
        """Lower and upper limits (2, nq) of single coordinates."""
        found = np.array([np.full(self.system.nq, -np.inf), np.full(self.system.nq, np.inf)])
        known = named_values(self.system.parameters, p.tolist())
        for limit in self.system.expanded.contacts:
            acts = (
                known.keys() >= {*limit.active.symbols()} and evaluate(limit.active.graph, [limit.active.ref], known)[0]
            )
            if acts and isinstance(limit, Limit) and limit.value.name in self.system.q_names:
                k = self.system.q_names.index(limit.value.name)
                for row, bound, narrower in ((0, limit.lower, max), (1, limit.upper, min)):
                    if bound is not None and known.keys() >= set(bound.symbols()):
                        (value,) = evaluate(bound.graph, [bound.ref], known)
                        found[row, k] = narrower(found[row, k], value)
        return found

    def violated(self, t: float, q: FloatArray, p: FloatArray) -> str:
        """Limit with the largest violation by the position *q*, in words; ``''`` for none."""
        room = self.distances(t, q, p)
        return self.sides[int(room.argmin())].words if room.min(initial=0.0) < -tolerances.STATE_TOLERANCE else ""

    def warn(self, t: FloatArray, q: FloatArray, p: FloatArray) -> None:
        """Warn where a motion, at the times *t* (k,) in the positions *q* (k, nq), violates a limit: the largest violation and
        its time.
        """
        if not self.sides:
            return
        room = self.distances(t[:, None], q, p)
        k, i = map(int, np.unravel_index(int(room.argmin()), room.shape))
        if room[k, i] < -tolerances.STATE_TOLERANCE:
            warn(
                f"Model '{self.system.name}': the motion goes beyond the limit {self.sides[i].words}, by {-room[k, i]:.3g} at "
                f"t = {t[k]:g} s: limits hold only in runs."
            )

    def reached(self, t: float | FloatArray, q: FloatArray, p: FloatArray) -> set[str]:
        """Names of the limits reached or violated by a position *q*."""
        room = self.distances(t, q, p)
        at = np.any(room <= tolerances.STATE_TOLERANCE, axis=tuple(range(room.ndim - 1)))
        return {self.sides[k].name for k in np.flatnonzero(at).tolist()}


def _sides(system: System) -> tuple[LimitSide, ...]:
    """All sides of limits, in the model's notation."""
    written = {c.name: c for c in system.contacts}
    found = []
    for limit in system.expanded.contacts:
        own = written.get(limit.name, limit)
        if isinstance(limit, Limit) and isinstance(own, Limit):
            if limit.lower is not None:
                found.append(
                    LimitSide(
                        own.name, f"'{own.name}' ({own.value} >= {own.lower})", _room(limit, limit.value - limit.lower)
                    )
                )
            if limit.upper is not None:
                found.append(
                    LimitSide(
                        own.name, f"'{own.name}' ({own.value} <= {own.upper})", _room(limit, limit.upper - limit.value)
                    )
                )
    return tuple(found)


def _room(limit: Limit, distance: Expr) -> Expr:
    """The *distance* from a limit where it acts, else 1."""
    return limit.active * distance + (1 - limit.active) if limit.conditions else distance
