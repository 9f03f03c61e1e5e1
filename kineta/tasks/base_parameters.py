"""Base parameters: the combinations of inertial parameters that forces depend on, and what recorded motions tell of them.

Forces are linear in the parameters pi of the bodies, tau = Y pi + what elements do. What a link's own motion leaves to its
carrier moves with that, by rules (``forms``, L); what else depends on others in Y L^+, at all motions, takes part in no force
by itself::

    tau = Y_b beta          beta = K pi = (E, B) L pi          Y_b = Y K^+

Forms are taken link by link outwards. In a closed system Y is seen along the motions that constraints allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from kineta.codegen.text import lines
from kineta.compiler import Equations, given_equations
from kineta.errors import ArgumentError, ExpressionError, SimulationError, shown
from kineta.expr.graph import Graph, Ref
from kineta.formalism.regressor import forms
from kineta.model.contacts.limit import Limit
from kineta.model.infer import few
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.tasks.apart import warn_without
from kineta.tasks.closing import Closing
from kineta.tasks.code import parameters
from kineta.tasks.rank import rank
from kineta.tasks.regressor import inertial_parameters, parameter_names
from kineta.tasks.state import initial_state
from kineta.tasks.trajectory import Trajectory, trajectory
from kineta.values import numbers, whole

FloatArray = NDArray[np.float64]

#: Part of a form that must be left beside others for it to be independent, and what a coefficient is that counts as nothing.
RANK, NOTHING = 1e-7, 1e-9
#: Part of a motion that is rounding, and how much of a column it may change by that is told by more than rounding.
EPSILON, NOISE = 4 * 2.0**-52, 1e-3
#: Rows of random motions for every parameter, positions that are tried for each, and by how much they may miss constraints.
ROWS, TRIES, MET = 3, 12, 1e-9


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a model.

    names : of all parameters, ``A.m A.mx A.my A.mz A.Ixx A.Ixy A.Iyy A.Ixz A.Iyz A.Izz`` of every body
    formulas : of the base parameters, in these; numbers in them are for the parameters of the model that it has
    matrix : (b, n) K, base parameters from all; inverse : (n, b) K^+, the regressor of base parameters is Y K^+
    values : (b,) of the model
    none : names of parameters that take part in no force
    gap : least part of an independent form beside the others, and largest part of a dependent one
    """

    model: str
    names: tuple[str, ...]
    formulas: tuple[str, ...]
    matrix: FloatArray
    inverse: FloatArray
    values: FloatArray
    none: tuple[str, ...]
    gap: tuple[float, float]
    equations: Equations = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.formulas)

    def __repr__(self) -> str:
        return f"<BaseParameters of '{self.model}': {len(self)} of {len(self.names)} parameters>"


def base_parameters(system: System | Equations, p: Any = None, *, seed: int = 0) -> BaseParameters:
    """The base parameters of *system* with the parameters *p*, from the rank of its regressor at random motions.

    Raises :class:`SimulationError` where no positions are found that meet its constraints.
    """
    equations = given_equations(system)
    values = _one(equations.system, p)
    model = equations.system
    warn_without(model, "the regressor")
    names = parameter_names(model)
    told = _forms(equations, values, len(names))
    rows = _rows(equations, values, len(names), whole("seed", seed, 0))
    L = np.array([[form.get(k, (0.0, ""))[0] for k in range(len(names))] for form in told]).reshape(
        len(told), len(names)
    )
    kept, B, gap = _independent(rows @ np.linalg.pinv(L))
    K = B @ L
    own = equations.function("inertial_parameters", "numpy")(0.0, *initial_state(model, p=values), p=values).ravel()
    used = np.abs(K).max(axis=0, initial=0.0) > NOTHING
    return BaseParameters(
        model=model.name,
        names=names,
        formulas=tuple(_formula(names, told[k], row) for k, row in zip(kept, K, strict=True)),
        matrix=K,
        inverse=np.linalg.pinv(K),
        values=K @ own,
        none=tuple(n for n, x in zip(names, used.tolist(), strict=True) if not x),
        gap=gap,
        equations=equations,
    )


@dataclass(frozen=True)
class Identification:
    """What a recorded motion tells of the base parameters.

    base : the base parameters; values, deviations : (b,) as they were found, and their standard deviations
    residual : standard deviation of the forces from those of the parameters found
    """

    base: BaseParameters
    values: FloatArray
    deviations: FloatArray
    residual: float

    def __repr__(self) -> str:
        return (
            f"<Identification of '{self.base.model}': {len(self.values)} base parameters, residual {self.residual:.3g}>"
        )


def identify(base: BaseParameters, motion: Any, tau: Any = None, *, t: Any = None, p: Any = None) -> Identification:
    """The base parameters under which the forces *tau* on the speeds produce a recorded *motion*, by least squares.

    motion, t, p : as for :func:`~kineta.tasks.kinematics.kinematics`
    tau : (k, nv) forces on the speeds; those of the run, if the motion is one. Elements of the model act as it says; contacts,
        limits and dry friction as they did in a run

    In a closed system forces count as they work on the motions that constraints allow. Raises :class:`ArgumentError` for forces
    of another shape, for motions that do not tell the parameters apart: with the number of those that they do, and for given
    motions of a model with contacts or dry friction, whose forces are not known.
    """
    if not isinstance(base, BaseParameters):
        raise ArgumentError(f"Expected base parameters, as kineta.base_parameters makes them, found {shown(base)}.")
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
    scaled = np.where(sizes > 0, rows / np.where(sizes > 0, sizes, 1.0), 0.0)
    solved, _, count, _ = np.linalg.lstsq(scaled, y, rcond=RANK)
    if count < len(base) or len(y) <= len(base):
        raise ArgumentError(
            f"Model '{base.model}': this motion tells {min(int(count), len(y))} of {len(base)} base parameters apart from "
            f"{len(y)} forces; record one that moves more, or longer."
        )
    left = y - scaled @ solved
    variance = float(left @ left) / (len(y) - len(base))
    spread = np.sqrt(np.diag(np.linalg.inv(scaled.T @ scaled)) * variance)
    return Identification(base, solved / sizes, spread / sizes, float(np.sqrt(variance)))


def _check_known(path: Trajectory) -> None:
    """Raise where forces act along a given motion that nobody knows."""
    names = few(c.name for c in path.system.contacts if not isinstance(c, Limit))
    if names and path.touching is None:
        raise ArgumentError(
            f"Model '{path.system.name}': along a recorded motion the forces of {names} are not known: only runs know contacts "
            "and dry friction. Write friction as a force of the model, or leave them out: system.replace(contacts=()), --without "
            "on the command line."
        )


def _told(path: Trajectory, base: BaseParameters, free: Sequence[FloatArray] | None, rows: FloatArray) -> FloatArray:
    """Lengths of the columns of *rows*, zero for those that are only what rounding of the motion makes of nothing."""
    span, chance = float(np.diff(path.t).min(initial=np.inf)), np.random.default_rng(0)
    state, size = [], float(np.abs(path.q).max(initial=0.0))
    for order, x in enumerate((path.q, path.v, path.vdot)):
        rounding = EPSILON * max(float(np.abs(x).max(initial=0.0)), size / span**order)
        state.append(x + rounding * chance.choice([-1.0, 1.0], x.shape))
    for offset in path.system.quaternions.values():
        turns = state[0][:, offset : offset + 4]
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    beside = path.equations.function("regressor")(path.t, *state, p=path.p) @ base.inverse
    sizes = np.linalg.norm(rows, axis=0)
    return np.where(np.linalg.norm(_along(free, beside) - rows, axis=0) < NOISE * sizes, sizes, 0.0)


def _one(system: System, p: Any) -> FloatArray:
    values = parameters(system, p)
    if values.ndim > 1:
        raise ArgumentError(f"Expected one set of parameters, found p of shape {values.shape}.")
    return values


#: Coefficients of a form by the place of the parameter: numbers, and as they are written.
Form = dict[int, tuple[float, str]]


def _forms(e: Equations, p: FloatArray, n: int) -> list[Form]:
    """What moves together by rules; every parameter by itself where these have no values, as in motions that the time makes."""
    d = e.alone()
    g, known = d.graph, dict(zip(e.system.parameter_names, p.tolist(), strict=True))
    found = []
    try:
        for form in forms(d):
            values = evaluate(g, list(form.values()), known)
            found.append({k: (x, _written(g, ref, x)) for (k, ref), x in zip(form.items(), values, strict=True)})
    except ExpressionError:
        return [{k: (1.0, "1")} for k in range(n)]
    return found


def _written(g: Graph, ref: Ref, value: float) -> str:
    """A coefficient with the parameters of the model in it, or as a number."""
    if g.value(ref) is not None:
        return f"{value:.6g}"
    (line,) = lines(g, {"x": ref}, parts=False)
    return line.removeprefix("x = ")


def _formula(names: tuple[str, ...], form: Form, row: FloatArray) -> str:
    """A base parameter in words: the *form* that it is, and what else moves with it by the *row* of all coefficients."""
    terms = []
    for k in sorted(np.flatnonzero(np.abs(row) > NOTHING).tolist(), key=lambda k: (k not in form, k)):
        value, text = form.get(k, (0.0, ""))
        text = text if abs(value - row[k]) < NOTHING else f"{row[k]:.6g}"
        minus = text.startswith("-") and " " not in text
        size = text[1:] if minus else text
        size = f"({size})" if " " in size else size
        terms.append((minus, size != "1", names[k] if size == "1" else f"{size} {names[k]}"))
    (minus, _, first), *rest = sorted(terms, key=lambda term: term[:2])
    return ("-" if minus else "") + first + "".join(f" {'-' if m else '+'} {term}" for m, _, term in rest)


# -- motions -----------------------------------------------------------------------------------------------------------


def _rows(e: Equations, p: FloatArray, n: int, seed: int) -> FloatArray:
    """Rows of the regressor at random motions."""
    system, rng = e.system, np.random.default_rng(seed)
    Y, closing = e.function("regressor").bind(p), Closing(e, p)
    q0, v0 = initial_state(system, p=p)
    held = bool(system.constraints) and not system.quasi
    if held:
        q0 = closing.position(0.0, q0)
        e = e.without(rank(closing, 0.0, q0, closing.velocity(0.0, q0, v0)).left_out)
    found, count = [np.zeros((0, n))], 0
    for _ in range(TRIES * n):
        if count >= ROWS * n or not system.nv:
            break
        t = 0.0 if held else float(rng.uniform(0, 1))
        q = closing.moved(t, q0, rng.uniform(-np.pi, np.pi, len(system.base_speeds)) / (1 + held))
        v, vdot = rng.uniform(-2, 2, (2, system.nv))
        Z = np.eye(system.nv)
        if held:
            q = closing.position(t, q)
            if not np.abs(closing.off(t, q, 0 * v)).max() < MET:
                continue
            A, last, _ = closing.linear(t, q, v)
            v, Z = v - np.linalg.lstsq(A, last, rcond=MET)[0], null_space(A, rcond=MET)
            A, _, rest = closing.linear(t, q, v)
            vdot = Z @ (Z.T @ vdot) - np.linalg.lstsq(A, rest, rcond=MET)[0]
        rows = Z.T @ Y(t, q, v, vdot)
        if np.isfinite(rows).all():
            found.append(rows)
            count += len(rows)
    if count < n and system.nv:
        raise SimulationError(
            f"Model '{system.name}': of {TRIES * n} random positions {len(found) - 1} could be moved onto the constraints, too "
            "few for its base parameters. Give a start in the middle of its range."
        )
    return np.concatenate(found)


def _seen(path: Trajectory, base: BaseParameters, forces: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of the base parameters, lengths of their columns, and the forces less those of elements, as motions see them that
    constraints allow.
    """
    e, state = path.equations, (path.t, path.q, path.v)
    Y = e.function("regressor")(*state, path.vdot, p=path.p)
    y = forces + path.touched - e.function("inverse")(*state, path.vdot, p=path.p) + Y @ inertial_parameters(path)
    free = None
    if e.derivation.rows:
        free = [null_space(A, rcond=MET).T for A in e.function("constraint_jacobian")(*state, p=path.p)]
    rows = _along(free, Y @ base.inverse)
    return rows, _told(path, base, free, rows), _along(free, y[:, :, None])[:, 0]


def _along(free: Sequence[FloatArray] | None, values: FloatArray) -> FloatArray:
    """Rows (k, nv, m) of forces as the *free* motions see them, one below the other."""
    if free is None:
        return values.reshape(-1, values.shape[-1])
    return np.concatenate([Z @ x for Z, x in zip(free, values, strict=True)])


def _independent(rows: FloatArray) -> tuple[list[int], FloatArray, tuple[float, float]]:
    """Independent columns of *rows*, the first ones; how all depend on them, (b, n); and the gap in between."""
    sizes = np.linalg.norm(rows, axis=0)
    largest = sizes.max(initial=0.0)
    kept, basis = list[int](), np.empty((len(rows), 0))
    least, most = 1.0, 0.0
    for k in range(rows.shape[1]):
        if sizes[k] <= RANK * largest:
            most = max(most, float(sizes[k] / max(largest, 1e-300)))
            continue
        column = rows[:, k] / sizes[k]
        for _ in range(2):  # twice is enough
            column = column - basis @ (basis.T @ column)
        part = float(np.linalg.norm(column))
        if part > RANK:
            kept.append(k)
            basis = np.hstack([basis, column[:, None] / part])
            least = min(least, part)
        else:
            most = max(most, part)
    B = np.linalg.lstsq(rows[:, kept], rows, rcond=None)[0] if kept else np.zeros((0, rows.shape[1]))
    return kept, np.where(np.abs(B) > NOTHING, B, 0.0), (least, most)
