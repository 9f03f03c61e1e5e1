"""Identification of base parameters from recorded motions and forces, and the excitation of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, excerpt, shown
from kineta.model.system import System
from kineta.numerics.linear_algebra import inv, lstsq, norm, null_space, svd
from kineta.records import dataclass
from kineta.tasks.identification.base_parameters import ALLOWED, BASE, BaseParameters, base_parameters, independent
from kineta.tasks.identification.regressor import inertial_parameters
from kineta.tasks.motions.trajectory import Trajectory, trajectory
from kineta.values import numbers

#: Relative rounding error of a motion, and the largest change of an identifiable column by it.
EPSILON, NOISE = 4 * tolerances.EPS, 1e-3
#: Most formulas in an error.
NAMED = 2


@dataclass(frozen=True, eq=False)
class Excitation:
    """The identifiability of base parameters from a motion, for any forces.

    base : the base parameters
    combinations : (m, b) identifiable combinations of base parameters, one a row: a base parameter, with others that are
        identifiable only together with it
    condition : of the regressor in these, with columns scaled by the forces of each base parameter: the ratio of the largest to
        the least amplification of force errors
    """

    base: BaseParameters
    combinations: FloatArray
    condition: float

    @property
    def told(self) -> tuple[bool, ...]:
        """Whether each base parameter is identifiable by itself, (b,)."""
        alone = self.combinations[(self.combinations != 0).sum(axis=1) == 1]
        return tuple(bool(x) for x in alone.any(axis=0))

    @property
    def untold(self) -> tuple[str, ...]:
        """The formulas of the base parameters without influence on the forces of the motion."""
        return tuple(f for f, column in zip(self.base.formulas, self.combinations.T, strict=True) if not column.any())

    @property
    def together(self) -> tuple[str, ...]:
        """The combinations of base parameters that are identifiable as sums alone."""
        return tuple(self._words(row) for row in self.combinations if np.count_nonzero(row) > 1)

    def _words(self, row: FloatArray) -> str:
        terms = []
        for x, name in zip(row.tolist(), self.base.formulas, strict=True):
            if x:
                size = f"{abs(x):.6g} ".removeprefix("1 ")
                terms += ["-" if x < 0 else "+", f"{size}({name})" if " " in name else f"{size}{name}"]
        return " ".join(terms[1:] if terms[0] == "+" else terms)

    def lines(self) -> list[str]:
        """Return the findings as text."""
        return f"{self.base.model}: this motion {self}".splitlines()

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        rows = zip(self.base.formulas, self.told, strict=True)
        return {
            "model": self.base.model,
            "base": [{"formula": f, "told": x} for f, x in rows],
            "known": list(self.base.known),
            "untold": list(self.untold),
            "together": list(self.together),
            "combinations": self.combinations.tolist(),
            "condition": self.condition,
        }

    def __str__(self) -> str:
        return (
            f"tells {sum(self.told)} of {len(self.base)} base parameters by themselves, condition {self.condition:.3g}"
            + "".join(f"\nnot at all: {name}" for name in self.untold)
            + "".join(f"\nonly together: {name}" for name in self.together)
        )

    def __repr__(self) -> str:
        return f"<Excitation of '{self.base.model}': {str(self).partition(chr(10))[0]}>"


def excitation(
    base: BaseParameters | System | Equations, motion: Any, *, t: Any = None, p: Any = None, known: Iterable[str] = ()
) -> Excitation:
    """Return the identifiability of the base parameters from a *motion*, before any force is measured.

    base, known : the base parameters; or a system, with the bodies and parameters that are *known*
    motion, t, p : as for :func:`~kineta.tasks.motions.kinematics.kinematics`
    """
    base = _base(base, p, known)
    path = trajectory(base.equations, motion, t, p)
    rows, sizes, _ = _seen(path, base, np.zeros_like(path.v))
    return _excitation(base, rows, sizes)


def _excitation(base: BaseParameters, rows: FloatArray, sizes: FloatArray) -> Excitation:
    _, values, right = svd(_scaled(rows, sizes), what=BASE, full_matrices=False)
    count = int((values > tolerances.RANK_TOLERANCE * values.max(initial=0.0)).sum())
    kept, B, _ = independent(right[:count])
    found = np.where(np.abs(B) > tolerances.PARTICIPATION_TOLERANCE, B * sizes, 0.0)
    found = found / np.where(sizes[kept] > 0, sizes[kept], 1.0)[:, None]
    condition = float(values[0] / values[count - 1]) if count else np.inf
    return Excitation(base, found, condition)


def _scaled(rows: FloatArray, sizes: FloatArray) -> FloatArray:
    return np.where(sizes > 0, rows / np.where(sizes > 0, sizes, 1.0), 0.0)


def _base(base: BaseParameters | System | Equations, p: Any, known: Iterable[str]) -> BaseParameters:
    """Return base parameters, or those of a system."""
    if isinstance(base, System | Equations):
        return base_parameters(base, p, known=known)
    if not isinstance(base, BaseParameters):
        raise ArgumentError(f"Expected base parameters, as kineta.base_parameters makes them, found {shown(base)}.")
    return base


@dataclass(frozen=True)
class Identification:
    """The base parameters identified from a recorded motion.

    base : the base parameters; values, deviations : (b,) estimates, and their standard deviations
    residual : standard deviation of the measured forces from the computed ones
    excitation : their identifiability from the motion
    """

    base: BaseParameters
    values: FloatArray
    deviations: FloatArray
    residual: float
    excitation: Excitation

    @property
    def rows(self) -> Iterator[tuple[str, float, float, float]]:
        """Formula, estimate, standard deviation and value of the model for each base parameter."""
        values = (self.values.tolist(), self.deviations.tolist(), self.base.values.tolist())
        return zip(self.base.formulas, *values, strict=True)

    def lines(self) -> list[str]:
        """Return estimates, standard deviations and values of the model as text."""
        head = f"{self.base.model}: {len(self.base)} base parameters, value +- deviation, that of the model"
        lines = [f"{head}; residual {self.residual:.3g}"]
        for k, (formula, value, deviation, own) in enumerate(self.rows, 1):
            shown = f"{round(value, 12) + 0.0:.6g} +- {deviation:.2g}"
            lines.append(f"{k:4}  {shown:<24}  {round(own, 12) + 0.0:<12.6g}  {formula}")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return estimates, standard deviations and values of the model as plain data."""
        keys = ("formula", "value", "deviation", "of_model")
        base = [dict(zip(keys, row, strict=True)) for row in self.rows]
        measures = {"residual": self.residual, "condition": self.excitation.condition}
        return {"model": self.base.model, "base": base, "known": list(self.base.known), **measures}

    def __repr__(self) -> str:
        return (
            f"<Identification of '{self.base.model}': {len(self.values)} base parameters, residual {self.residual:.3g}>"
        )


def identify(
    base: BaseParameters | System | Equations,
    motion: Any,
    tau: Any = None,
    *,
    t: Any = None,
    p: Any = None,
    known: Iterable[str] = (),
) -> Identification:
    """Return the base parameters for which the forces *tau* produce a recorded *motion*, by least squares.

    base, known : the base parameters; or a system, with the bodies and parameters that are *known*
    motion, t, p : as for :func:`~kineta.tasks.motions.kinematics.kinematics`
    tau : (k, nv) forces on the speeds; by default the forces of a run. Forces of elements are computed from the model; forces of
        contacts, limits and dry friction are taken from a run

    In a closed system forces are projected onto the motions that constraints allow. Raises :class:`ArgumentError` for forces of
    another shape, for motions of insufficient excitation, with the unidentifiable parameters (:func:`excitation` has all), and
    for prescribed motions of a model with contacts or dry friction, whose forces are unknown.
    """
    base = _base(base, p, known)
    path = trajectory(base.equations, motion, t, p)
    forces = path.tau if tau is None else numbers("tau", tau)
    if forces is None or forces.shape != path.v.shape:
        given = "none" if forces is None else f"shape {forces.shape}"
        raise ArgumentError(
            f"Expected the forces tau of shape {path.v.shape}, one row for every time, for "
            f"({', '.join(path.system.v_names)}), found {given}."
        )
    if not np.isfinite(forces).all():
        k = int(np.flatnonzero(~np.isfinite(forces).all(axis=1))[0])
        raise ArgumentError(f"Expected finite forces tau, found {forces[k].tolist()} at t = {path.t[k]:g} s.")
    _check_known(path)
    rows, sizes, y = _seen(path, base, forces)
    scaled, found = _scaled(rows, sizes), _excitation(base, rows, sizes)
    if not all(found.told) or len(y) <= len(base):
        raise ArgumentError(
            f"Model '{base.model}': this motion tells {min(len(found.combinations), len(y))} of {len(base)} base parameters "
            f"apart from {len(y)} forces{_missing(found)}; record one that moves more, or longer. "
            "What motions tell says kineta.excitation, --excitation on the command line."
        )
    solved = lstsq(scaled, y, what=BASE, rcond=tolerances.RANK_TOLERANCE)
    left = y - scaled @ solved
    variance = float(left @ left) / (len(y) - len(base))
    spread = np.sqrt(np.diag(inv(scaled.T @ scaled, what="the errors of the base parameters")) * variance)
    return Identification(base, solved / sizes, spread / sizes, float(np.sqrt(variance)), found)


def _missing(found: Excitation) -> str:
    """Return the unidentifiable parameters in words."""
    parts = [f", not {excerpt(found.untold, NAMED)}"] if found.untold else []
    parts += [f", and only together {excerpt(found.together, NAMED)}"] if found.together else []
    return "".join(parts)


def _check_known(path: Trajectory) -> None:
    """Raise for unknown contact forces along a prescribed motion."""
    names = excerpt(c.name for c in path.system.contacts if c.always)
    if names and path.touching is None:
        raise ArgumentError(
            f"Model '{path.system.name}': along a recorded motion the forces of {names} are not known: only runs know contacts "
            "and dry friction. Write friction as a force of the model, or leave them out: system.replace(contacts=()), --without "
            "on the command line."
        )


def _told(path: Trajectory, base: BaseParameters, free: Sequence[FloatArray] | None, Y: FloatArray) -> FloatArray:
    """Return the lengths of the columns of Y K^+, zero for rounding errors of the motion or of sums."""
    rows, terms = _along(free, Y @ base.inverse), _along(free and [np.abs(Z) for Z in free], np.abs(Y))
    span, chance = float(np.diff(path.t).min(initial=np.inf)), np.random.default_rng(0)
    state, size = [], float(np.abs(path.q).max(initial=0.0))
    for order, x in enumerate((path.q, path.v, path.vdot)):
        rounding = EPSILON * max(float(np.abs(x).max(initial=0.0)), size / span**order)
        state.append(x + rounding * chance.choice([-1.0, 1.0], x.shape))
    for offset in path.system.quaternions.values():
        turns = state[0][:, offset : offset + 4]
        turns /= norm(turns, axis=1, keepdims=True)
    beside = path.equations.function("regressor")(path.t, *state, p=path.p) @ base.inverse
    sizes, summed = norm(rows, axis=0), norm(terms.sum(axis=1)) * np.abs(base.inverse).max(axis=0, initial=0.0)
    sure = (norm(_along(free, beside) - rows, axis=0) < NOISE * sizes) & (
        sizes > tolerances.ROUNDING_TOLERANCE * summed
    )
    return np.where(sure, sizes, 0.0)


def _seen(path: Trajectory, base: BaseParameters, forces: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the regressor of base parameters, the lengths of its columns, and the forces less the forces of elements, projected
    onto the motions that constraints allow.
    """
    e, state = path.equations, (path.t, path.q, path.v)
    Y = e.function("regressor")(*state, path.vdot, p=path.p)
    unknown = np.where([n in base.known for n in base.names], 0.0, inertial_parameters(path))
    y = forces + path.touched - e.function("inverse")(*state, path.vdot, p=path.p) + Y @ unknown
    free = None
    if e.rows:
        free = [
            null_space(A, what=ALLOWED, rcond=tolerances.RANK_TOLERANCE).T
            for A in e.function("constraint_jacobian")(*state, p=path.p)
        ]
    rows = _along(free, Y @ base.inverse)
    return rows, _told(path, base, free, Y), _along(free, y[:, :, None])[:, 0]


def _along(free: Sequence[FloatArray] | None, values: FloatArray) -> FloatArray:
    """Return rows (k, nv, m) of forces projected onto the *free* motions, stacked."""
    if free is None:
        return values.reshape(-1, values.shape[-1])
    return np.concatenate([Z @ x for Z, x in zip(free, values, strict=True)])
