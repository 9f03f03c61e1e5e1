"""Objective functions of a motion with exact gradients, for optimisers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.calls import public
from kineta.equations.equations import Equations, given_equations
from kineta.errors import ArgumentError, SimulationError, one_of, shown
from kineta.model.system import System
from kineta.numerics.tableaux import TABLEAUX
from kineta.runtime import run_arguments
from kineta.tasks.sensitivity import adjoint
from kineta.tasks.sensitivity.initial_sensitivity import MotionStart, VariedStart, initial_sensitivities, varied_start
from kineta.tasks.sensitivity.linearised_motion import Limits
from kineta.tasks.sensitivity.sensitivity import Sensitivity, carried
from kineta.tasks.sensitivity.smooth_part import may_jump
from kineta.tasks.sensitivity.variational_equations import Varied
from kineta.values import flag, numbers

#: Number of variables from which on adjoint integration is cheaper than forward sensitivities.
MANY = 12
#: Internal names of the integral and of the final value.
_INTEGRAL, _FINAL = "goal", "final goal"


@public
class Objective:
    """J(x) = final(at the end) + the integral over the time, for values x of the names ``by``.

    A call with x (m,) returns J. ``gradient(x)`` is its derivative (m,), exact but for the tolerances of the motion;
    ``value_and_gradient(x)`` gives both, as ``scipy.optimize.minimize(f.value_and_gradient, f.x0, jac=True)`` takes them.
    ``x0`` are the values of the model.
    """

    def __init__(
        self,
        start: VariedStart,
        t: tuple[float, float],
        integral: Expr | None,
        final: Expr | None,
        limits: Limits,
        *,
        back: bool,
    ) -> None:
        self.start, self.t, self.integral, self.final = start, t, integral, final
        self.limits, self.back = limits, back
        self.by, self.x0 = start.by.names, start.x0

    def __call__(self, x: ArrayLike) -> float:
        """Return J at *x*."""
        return self.value_and_gradient(x)[0]

    def gradient(self, x: ArrayLike) -> FloatArray:
        """Return dJ/dx at *x*, (m,)."""
        return self.value_and_gradient(x)[1]

    def value_and_gradient(self, x: ArrayLike) -> tuple[float, FloatArray]:
        """Return J and its gradient at *x*."""
        given = numbers("x", x)
        if given.shape != self.x0.shape or not np.isfinite(given).all():
            raise ArgumentError(
                f"Expected finite x of shape {self.x0.shape} for ({', '.join(self.by)}), found {shown(x)}."
            )
        value, gradient = self._back(given) if self.back else self._along(given)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            at = ", ".join(f"{n} = {x:.6g}" for n, x in zip(self.by, given, strict=True))
            what = "value" if not np.isfinite(value) else "derivative"
            raise SimulationError(
                f"Model '{self.start.equations.system.name}': the goal has no finite {what} at {at}; check where its expressions "
                "are defined."
            )
        return value, gradient

    def _carried(
        self, by: Varied, x: FloatArray, grid: FloatArray | None
    ) -> tuple[Sensitivity, Equations, MotionStart]:
        """Return the motion for *x* with its derivatives by the names *by*."""
        begun = self.start.at(x, self.t[0])
        goals = {_INTEGRAL: self.integral} if self.integral is not None else {}
        shown = {_FINAL: self.final} if self.final is not None else {}
        return *carried(self.start.equations, by, self.t, begun, goals, shown, grid, self.limits), begun

    def _parts(self) -> list[str]:
        """The series whose last values add up to J."""
        return [_INTEGRAL] * (self.integral is not None) + [_FINAL] * (self.final is not None)

    def _along(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return J and its gradient by forward sensitivities."""
        found = self._carried(self.start.by, x, np.array([self.t[1]]))[0]
        parts = self._parts()
        return float(sum(found.value(n)[-1] for n in parts)), np.sum([found[n][-1] for n in parts], axis=0)

    def _back(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return J and its gradient by adjoint integration."""
        by, limits = self.start.by, self.limits
        forth, equations, begun = self._carried(Varied((), frozenset(), frozenset()), x, None)
        value = float(sum(forth.value(n)[-1] for n in self._parts()))
        rows = np.concatenate([forth.q, forth.v], axis=1)
        slopes = adjoint.final_slopes(equations, by, self.final, self.t[1], rows[-1], begun.p, begun.forces.constant)
        made = adjoint.code(equations, by, self.integral)
        h = made.parameter_block(begun.p, begun.forces.constant)
        weights = adjoint.back(made, h, forth.t, rows, slopes, limits.method, limits.rtol, limits.atol)
        S, _ = initial_sensitivities(equations, by, self.t[0], forth.q[0], forth.v[0], begun.p, begun.stated)
        n = rows.shape[1]
        gradient = weights[:n] @ S
        gradient[[k for k, name in enumerate(by.names) if name not in by.states]] += weights[n:]
        return value, gradient

    def __repr__(self) -> str:
        how = "back along" if self.back else "along with"
        return (
            f"<Objective of '{self.start.equations.system.name}' by {', '.join(self.by)}: derivatives {how} the motion>"
        )


def objective(
    system: System | Equations,
    t: float | tuple[float, float],
    by: Iterable[str],
    *,
    integral: Expr | None = None,
    final: Expr | None = None,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    adjoint: bool | None = None,
    method: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> Objective:
    """Return J = *final* at the end of the motion of *system* over the time *t*, plus the *integral* over it, as a function.

    Parameters
    ----------
    by : names of the variables: parameters, coordinates and speeds for their initial values, ``tau[q1']`` for the added force
    integral, final : expressions in symbols of the model; at least one of them
    q, v, p, tau, method, rtol, atol : as for :func:`~kineta.tasks.sensitivity.sensitivity.sensitivity`
    adjoint : True for adjoint integration, whose cost is independent of the number of names, False for forward sensitivities; by
        default the cheaper one. Motions that may jump, at contacts and switches, take forward ones, whose cost depends little on
        the number of names

    Raises :class:`ArgumentError` for unknown names, and without integral and final value.
    """
    equations = given_equations(system)
    if integral is None and final is None:
        raise ArgumentError("Expected a goal: integral=..., final=..., or both, found none.")
    parts = []
    goals: tuple[tuple[str, Any], ...] = ("integral", integral), ("final", final)
    for name, e in goals:
        if e is not None and not isinstance(e, Expr):
            advice = f": write kn.symbol({e!r})" if isinstance(e, str) else ""
            raise ArgumentError(f"Expected an expression for {name}, found {shown(e)}{advice}.")
        parts.append(
            None if e is None else run_arguments.symbols(equations.system, e, f"the goal '{name}'", resulting=True)
        )
    span = run_arguments.span(t)
    rtol, atol, _ = run_arguments.tolerances(rtol, atol, np.inf)
    limits = Limits(one_of(method, TABLEAUX, "a native method"), rtol, atol)
    begun = varied_start(equations, by, span[0], q, v, p, tau, met=True)
    back = len(begun.by.names) >= MANY if adjoint is None else flag("adjoint", adjoint)
    back = back and not may_jump(equations, [e for e in parts[:1] if e is not None])
    return Objective(begun, span, parts[0], parts[1], limits, back=back)
