"""Forces that hold a position or produce a motion: statics, kinetostatics and inverse dynamics (Andreev (3.2)-(3.5)).

With U the forces on the speeds of a motion without the unknown forces, the unknown forces R satisfy::

    A R + G^T lambda = U          A = -dU/dR,  1 for a force on a speed; U is B of (3.5)

G is the constraint Jacobian. Indeterminate forces on speeds have the least weighted sum of squares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray, Mask
from kineta.consistency.constraints import NumericConstraints
from kineta.equations.equations import Equations, equations_of
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, did_you_mean, shown
from kineta.expr.graph import ONE
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.derivation import Derivation
from kineta.model.coercion import records
from kineta.model.dimensions import multiplier_units, varied_units
from kineta.model.name_inference import forced_speed
from kineta.model.reserved_symbols import MULTIPLIER, added_force
from kineta.model.system import System, a_system
from kineta.numerics.linear_algebra import norm, null_space, pinv, svdvals
from kineta.passes.differentiate import forwards, gradient
from kineta.records import dataclass
from kineta.results.series import Series
from kineta.runtime.applied_forces import NO_FORCES
from kineta.runtime.domain_watch import check_defined
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.ignored_features import warn_ignored
from kineta.tasks.motions.trajectory import Trajectory, at_rest, trajectory
from kineta.values import finite, number

#: What errors call what is computed here.
CONSTRAINTS = "the forces of the constraints"
#: Most states at which ranks are determined.
LOOKS = 64


@dataclass(frozen=True, eq=False, repr=False)
class Kinetostatics(Series):
    """Forces along a motion.

    ``series`` has the forces that were unknown, ``tau[q1']`` for one on a speed, a parameter by its name, and the multipliers
    ``lambda.E.x`` of the constraints.

    trajectory : the motion, with its speeds and accelerations
    unknown : names of the unknown forces
    tau : (k, nv) forces on the speeds; p : (k, np) parameters, the unknown ones included
    shares : A of (3.4), (k, nv, m): generalised forces of unit unknown forces
    asked : B of (3.5), (k, nv): generalised forces of the motion without the unknown ones; with the constraint Jacobian G,
        A R + G^T lambda = B
    needed : names of the unknown forces that no others can replace
    determinate : for every series, whether its values are unique
    redundancy : degree of indeterminacy: number of forces less the rank
    """

    trajectory: Trajectory
    unknown: tuple[str, ...]
    tau: FloatArray
    p: FloatArray
    shares: FloatArray
    asked: FloatArray
    needed: tuple[str, ...]
    determinate: Mapping[str, bool]
    redundancy: int

    @property
    def position(self) -> dict[str, float]:
        """The coordinates by name, at one time alone."""
        path = self.trajectory
        return dict(zip(path.system.q_names, path.q[0].tolist(), strict=True)) if len(path.t) == 1 else {}

    @property
    def notes(self) -> tuple[str, ...]:
        """The position of a closed system at one time alone, and what is indeterminate, in words."""
        notes = []
        if self.position and self.trajectory.system.constraints:
            notes.append(f"at {', '.join(f'{n} = {round(x, 12) + 0.0:.6g}' for n, x in self.position.items())}")
        if self.redundancy and self.needed:
            notes.append(f"no others can replace {', '.join(self.needed)}")
        if self.redundancy:
            notes.append(f"{self.redundancy} more than the motion tells apart: those of least squares")
        if unsure := [n for n, told in self.determinate.items() if not told]:
            notes.append(f"not determinate: {', '.join(unsure)}")
        return tuple(notes)

    def findings(self) -> dict[str, Any]:
        """Return the unknown forces, the position at one time alone, and what is indeterminate."""
        position = {"q": self.position} if self.position else {}
        names = {"unknown": list(self.unknown), "needed": list(self.needed)}
        return {**names, **position, "redundancy": self.redundancy, "determinate": dict(self.determinate)}


def kinetostatics(
    system: System | Equations,
    motion: Any,
    unknown: Iterable[str] | None = None,
    *,
    t: Any = None,
    p: Any = None,
    weights: Mapping[str, float] | None = None,
) -> Kinetostatics:
    """Return the *unknown* forces under which *system* moves as given, with the multipliers of its constraints.

    motion, t, p : as for :func:`~kineta.tasks.motions.kinematics.kinematics`
    unknown : names of speeds, for forces on them, and of parameters to which forces of the model are proportional; all speeds, if
        not given
    weights : of forces on speeds, one by default: indeterminate forces have the least sum of (force / weight)^2

    Raises :class:`SimulationError` for a motion that these forces cannot produce, with the largest imbalance and its time.
    """
    names = None if unknown is None else records(unknown, str, "names of speeds and parameters", '"q1\'"')
    model = system.system if isinstance(system, Equations) else system
    if isinstance(model, System):
        p = _with_unknown(model, names or (), p)
    path = trajectory(system, motion, t, p)
    names = path.system.v_names if names is None else names
    return solved(path, names, weights)


def inverse(
    system: System | Equations,
    motion: Any,
    actuators: Iterable[str] | None = None,
    *,
    t: Any = None,
    p: Any = None,
    weights: Mapping[str, float] | None = None,
) -> Kinetostatics:
    """Return the forces of *actuators* under which *system* moves as given: inverse dynamics.

    actuators : names of the actuated speeds; all by default. Redundant actuators of a closed system share the forces by least
        squares over their *weights*

    The rest as for :func:`kinetostatics`; ``needed`` names the actuators that no other can replace.
    """
    path = trajectory(system, motion, t, p)
    names = path.system.v_names if actuators is None else records(actuators, str, "names of speeds", '"q1\'"')
    return solved(path, [forced_speed(path.system, name) for name in names], weights)


def statics(
    system: System | Equations,
    q: Any = None,
    unknown: Iterable[str] | None = None,
    *,
    p: Any = None,
    t: float = 0.0,
    weights: Mapping[str, float] | None = None,
) -> Kinetostatics:
    """Return the *unknown* forces that hold *system* at rest in the position *q*, with the multipliers of its constraints.

    q : coordinates, as for :func:`~kineta.simulation.simulate.simulate`; the model's ``initial`` ones by default. In a closed
        system coordinates given by name stay fixed and the others follow from ``initial``; otherwise the whole position is
        projected onto the constraints. The position is ``trajectory.q`` of the result
    t : the time of forces and drives; prescribed motions and rheonomic constraints proceed, with the least motion of all else

    The rest as for :func:`kinetostatics`.
    """
    model = system.system if isinstance(system, Equations) else system
    names = None if unknown is None else records(unknown, str, "names of speeds and parameters", '"q1\'"')
    p = _with_unknown(a_system(model), names or (), p)
    place, _ = initial_state(model, q, None, p)
    values = parameters(model, p)
    if max(place.ndim, values.ndim) > 1:
        raise ArgumentError("Expected one position to hold, found cases; take them one by one.")
    equations = system if isinstance(system, Equations) else equations_of(system)
    named = None
    if isinstance(q, Mapping) and model.constraints:
        named = {n: float(place[model.q_names.index(n)]) for n in q}
        place, _ = initial_state(model, None, None, p)
    held = at_rest(equations, finite("t", t), place, values, named)
    return solved(held, model.v_names if names is None else names, weights)


def _with_unknown(system: System, names: Sequence[str], p: Any) -> Any:
    """Return the parameters *p* with zeros for unknown forces without a value."""
    missing = {x.name: 0.0 for x in system.parameters if x.name in names and x.value is None and not x.fixed}
    return missing | dict(p or {}) if missing and (p is None or isinstance(p, Mapping)) else p


@dataclass(frozen=True)
class Unknown:
    """Unknown forces by name: ``speeds`` are their places among the speeds, None for parameters; ``free`` are the parameters."""

    names: tuple[str, ...]
    speeds: tuple[int | None, ...]
    free: tuple[int, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the forces among the series of a motion."""
        return tuple(n if k is None else added_force(n) for n, k in zip(self.names, self.speeds, strict=True))

    @property
    def driven(self) -> list[tuple[int, int]]:
        """The places of forces on speeds, among the unknown forces and among the speeds."""
        return [(i, k) for i, k in enumerate(self.speeds) if k is not None]


def solved(path: Trajectory, names: Sequence[str], weights: Mapping[str, float] | None = None) -> Kinetostatics:
    """Return the forces *names* that produce the motion *path*."""
    system, e = path.system, path.equations
    if path.tau is None:
        warn_ignored(system, "the inverse problem")
    unknown = _unknown(system, names)
    W = _weights(system, unknown, weights)
    p = path.p.copy()
    p[..., list(unknown.free)] = 0.0
    U = e.function("inverse")(path.t, path.q, path.v, path.vdot, p=p) - path.touched
    if lost := np.flatnonzero(~np.isfinite(U).all(axis=1)).tolist():
        k, values = lost[0], np.atleast_2d(p)
        check_defined(
            e, NO_FORCES, values[min(k, len(values) - 1)], float(path.t[k]), np.concatenate([path.q[k], path.v[k]])
        )
    A, G, every = _shares(path, unknown, p), _jacobian(path, e, p), _jacobian(path, e.without(()), p)
    P = np.eye(system.nv) - pinv(G, what=CONSTRAINTS, rcond=tolerances.RANK_TOLERANCE) @ G
    lengths = _independent_lengths(P @ (A * W), A * W)
    inverse = pinv(P @ (A * W) / lengths, what="the unknown forces", rcond=tolerances.RANK_TOLERANCE)
    R = W / lengths[..., 0, :] * np.einsum("...ij,...j->...i", inverse @ P, U)
    left = U - np.einsum("...ij,...j->...i", A, R)
    multipliers = np.einsum(
        "...ij,...j->...i", pinv(np.swapaxes(G, -1, -2), what=CONSTRAINTS, rcond=tolerances.RANK_TOLERANCE), left
    )
    steady = e.function("inverse")(path.t, path.q, path.v, np.zeros_like(path.vdot), p=p)
    at_play = max(np.abs(U).max(initial=0.0), np.abs(steady).max(initial=0.0))
    _produced(path, unknown, at_play, left - np.einsum("...ji,...j->...i", G, multipliers))
    tau, values = np.zeros_like(U), np.array(np.broadcast_to(p, (len(path.t), p.shape[-1])))
    for i, k in unknown.driven:
        tau[:, k] = R[:, i]
    values[:, list(unknown.free)] = R[:, [i for i, k in enumerate(unknown.speeds) if k is None]]
    if unknown.free:
        _proportional(path, unknown, tau, values, multipliers, G, at_play)
    rows = e.constraint_rows
    kept = [k for k, name in enumerate(rows) if name not in e.left_out]
    found = np.zeros((len(path.t), len(rows)))
    if system.quasi and rows:
        found = e.function("multipliers")(path.t, path.q, path.v, tau + path.touched, p=values)
    else:
        found[:, kept] = multipliers
    all_names = (*unknown.shown, *(f"{MULTIPLIER}{name}" for name in rows))
    told = _told(A, every)
    if system.quasi and rows:
        told = np.concatenate([told, _told(np.zeros((len(system.base_speeds), 0)), _of_motions(path, p))])
    determinate = dict(zip(all_names, told.tolist(), strict=True))
    return Kinetostatics(
        model=system.name,
        t=path.t,
        series=dict(zip(all_names, np.hstack([R, found]).T, strict=True)),
        units={n: x for n, x in varied_units(system).items() if n in unknown.shown}
        | multiplier_units(system, all_names[len(names) :]),
        trajectory=path,
        unknown=unknown.shown,
        tau=tau,
        p=values,
        shares=np.array(np.broadcast_to(A, (len(path.t), *A.shape[-2:]))),
        asked=U,
        needed=tuple(n for n, one in zip(names, told.tolist(), strict=False) if one),
        determinate=determinate,
        redundancy=len(names) - int(_ranks(P @ A / _independent_lengths(P @ A, A)).max(initial=0)),
    )


def _unknown(system: System, names: Sequence[str]) -> Unknown:
    own = [x.name for x in system.parameters if not x.fixed]
    names = [forced_speed(system, n, own, "speed or parameter") for n in names]
    if len(set(names)) < len(names):
        twice = next(n for n in names if list(names).count(n) > 1)
        raise ArgumentError(f"Expected every unknown force once, found '{twice}' twice.")
    speeds = tuple(system.v_names.index(n) if n in system.v_names else None for n in names)
    return Unknown(tuple(names), speeds, tuple(own.index(n) for n in names if n not in system.v_names))


def _weights(system: System, unknown: Unknown, weights: Mapping[str, float] | None) -> FloatArray:
    if weights is not None and not isinstance(weights, Mapping):
        raise ArgumentError(f'Expected weights by name, as in {{"q1\'": 2.0}}, found {shown(weights)}.')
    given = {n: number(f"the weight of {n}", x) for n, x in (weights or {}).items()}
    given = {dict(zip(unknown.shown, unknown.names, strict=True)).get(n, n): x for n, x in given.items()}
    for name, weight in given.items():
        if name not in unknown.names:
            raise ArgumentError(f"There is no unknown force '{name}' to weigh.{did_you_mean(name, unknown.names)}")
        if not 0 < weight < np.inf:
            raise ArgumentError(f"Expected a weight above zero for '{name}', found {weight:g}.")
    return np.array([given.get(n, 1.0) for n in unknown.names])


def _jacobian(path: Trajectory, e: Equations, p: FloatArray) -> FloatArray:
    """Return the Jacobian of the constraints that reactions of *e* maintain, (k, rows, nv), or (0, nv) without any."""
    if not e.rows:
        return np.zeros((0, path.system.nv))
    return np.asarray(e.function("constraint_jacobian")(path.t, path.q, path.v, p=p))


def _of_motions(path: Trajectory, p: FloatArray) -> FloatArray:
    """Return the constraint Jacobian by the speeds of the joints, before quasi-velocities, (k, rows, speeds)."""
    rows = np.atleast_2d(p)
    still, constraints = (
        np.zeros(len(path.system.base_speeds)),
        [NumericConstraints(path.equations, own) for own in rows],
    )
    return np.array(
        [
            constraints[min(k, len(rows) - 1)].jacobian(t, q, still)
            for k, (t, q) in enumerate(zip(path.t, path.q, strict=True))
        ]
    )


def _shares(path: Trajectory, unknown: Unknown, p: FloatArray) -> FloatArray:
    """Return the generalised forces of unit unknown forces, (nv, m), or (k, nv, m) for parameters."""
    system = path.system
    A = np.zeros((system.nv, len(unknown.names)))
    for i, k in unknown.driven:
        A[k, i] = 1.0
    if not unknown.free:
        return A
    made = path.equations.compiled((Unknown, unknown.free), partial(_by_parameters, unknown))
    rows = (
        made["shares"]
        .batch(path.t[:, None], path.q, path.v, path.vdot, p)
        .reshape(len(path.t), len(unknown.free), system.nv)
    )
    A = np.tile(A, (len(path.t), 1, 1))
    A[:, :, [i for i, k in enumerate(unknown.speeds) if k is None]] = -np.swapaxes(rows, 1, 2)
    return A


def _by_parameters(unknown: Unknown, d: Derivation) -> Iterator[StraightLineProgram]:
    """Yield the derivatives of inverse dynamics by the unknown parameters, (m, nv)."""
    g, s = d.graph, d.symbols
    own = [s.p[k] for k in unknown.free]
    refs = [x for column in forwards(g, d["inverse"].refs, [{r: ONE} for r in own]) for x in column]
    for ref in refs:
        if found := gradient(g, ref, dict.fromkeys(own)):
            raise _no_force(s.system, g.names[g.lhs[next(iter(found)) >> 1]])
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot, "p": s.p}
    yield program(g, inputs, {"shares": ((len(own), len(s.v)), refs)}, "shares")


def _no_force(system: System, names: str) -> ArgumentError:
    return ArgumentError(
        f"Model '{system.name}': the forces are not proportional to '{names}'; expected parameters that stand for forces."
    )


def _proportional(
    path: Trajectory,
    unknown: Unknown,
    tau: FloatArray,
    p: FloatArray,
    multipliers: FloatArray,
    G: FloatArray,
    size: float,
) -> None:
    """Raise for parameters that do not produce the motion: forces that are not proportional to them."""
    needed = path.equations.function("inverse")(path.t, path.q, path.v, path.vdot, p=p) - path.touched
    off = needed - tau - np.einsum("...ji,...j->...i", G, multipliers)
    if not np.abs(off).max(initial=0.0) <= tolerances.FORCE_TOLERANCE * size:
        raise _no_force(path.system, ", ".join(path.system.parameter_names[k] for k in unknown.free))


def _produced(path: Trajectory, unknown: Unknown, size: float, left: FloatArray) -> None:
    """Raise for residual forces *left* among forces of this *size*."""
    system = path.system
    if not left.size or np.abs(left).max() <= tolerances.FORCE_TOLERANCE * size:
        return
    k, i = np.unravel_index(int(np.abs(left).argmax()), left.shape)
    names = ", ".join(unknown.names)
    why = f"{names} cannot produce this motion" if names else "this motion needs forces, and none are unknown"
    raise SimulationError(
        f"Model '{system.name}': {why}: at t = {path.t[k]:g} s a force of {left[k, i]:.6g} on "
        f"'{system.v_names[i]}' is left, among forces of up to {size:.6g}. Add a force there, or another motion."
    )


def _told(A: FloatArray, G: FloatArray) -> Mask:
    """Return the unique unknown forces and multipliers, a mask, by the ranks at some states of the motion."""
    k = max(len(A) if A.ndim == 3 else 1, len(G) if G.ndim == 3 else 1)
    found = np.ones(A.shape[-1] + G.shape[-2], dtype=bool)
    for i in sorted(set(np.linspace(0, k - 1, min(k, LOOKS)).astype(int).tolist())):
        own, rows = (x if x.ndim == 2 else x[min(i, len(x) - 1)] for x in (A, G))
        whole = np.hstack([own, rows.T])
        lengths = norm(whole, axis=0)
        null = null_space(
            whole / np.where(lengths > 0, lengths, 1.0), what="the unknown forces", rcond=tolerances.RANK_TOLERANCE
        )
        found &= (np.abs(null).max(axis=1, initial=0.0) < tolerances.PARTICIPATION_TOLERANCE) & (
            (lengths > 0) | ~whole.any()
        )
    return found


def _independent_lengths(own: FloatArray, whole: FloatArray) -> FloatArray:
    """Lengths (..., 1, m) of the columns *own*, what constraints leave of the *whole* ones, where only columns in units of
    their own are independent; else 1, since least forces are those in the units given.
    """
    lengths = norm(own, axis=-2, keepdims=True)
    some = lengths > tolerances.RANK_TOLERANCE * norm(whole, axis=-2, keepdims=True)
    scaled = np.where(some, own / np.where(some, lengths, 1.0), 0.0)
    hidden = (_ranks(own) < own.shape[-1]) & (_ranks(scaled) == own.shape[-1])
    return np.where(hidden.reshape(*own.shape[:-2], 1, 1), lengths, 1.0)


def _ranks(A: FloatArray) -> IntArray:
    if not A.size:
        return np.zeros(max(1, prod(A.shape[:-2])), dtype=int)
    sizes = np.atleast_2d(svdvals(A, what="the unknown forces"))
    return np.asarray((sizes > tolerances.RANK_TOLERANCE * sizes.max(axis=1, keepdims=True)).sum(axis=1))
