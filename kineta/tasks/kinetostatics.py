"""Forces that hold a position or produce a motion: statics, kinetostatics and inverse dynamics (Andreev (3.2)-(3.5)).

With U the forces on the speeds that a motion needs where the unknown forces are nothing, the unknown R are those of::

    A R + G^T lambda = U          A = -dU/dR,  1 for a force on a speed

G are the constraints. Forces on speeds that are told apart by nothing are those of least squares over their weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from kineta.codegen import llvm
from kineta.compiler import Equations, equations_of
from kineta.errors import ArgumentError, SimulationError, did_you_mean, shown
from kineta.expr.graph import ONE
from kineta.expr.program import program
from kineta.model.dimensions import multiplier_units, varied_units
from kineta.model.given import records
from kineta.model.infer import MULTIPLIER
from kineta.model.system import System, a_system
from kineta.passes.differentiate import forward, gradient
from kineta.tasks.apart import warn_without
from kineta.tasks.closing import Closing
from kineta.tasks.code import parameters
from kineta.tasks.result import force_name
from kineta.tasks.series import Series
from kineta.tasks.state import initial_state
from kineta.tasks.trajectory import Trajectory, at_rest, trajectory
from kineta.values import finite, number

FloatArray = NDArray[np.float64]

#: Part of the largest singular value that counts as nothing.
RANK = 1e-9
#: Part of the forces at play by which they may be out of balance.
MET = 1e-8
#: States in which ranks are looked at, at most, and what counts as a part in a combination of forces that does nothing.
LOOKS, TOLD = 64, 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Kinetostatics(Series):
    """Forces along a motion.

    ``series`` has the forces that were unknown, ``tau.q1'`` for one on a speed, a parameter by its name, and the multipliers
    ``lambda.E.x`` of the constraints.

    trajectory : the motion, with its speeds and accelerations
    unknown : names of the unknown forces
    tau : (k, nv) forces on the speeds; p : (k, np) parameters, with what was found of them
    needed : names of those of the unknown forces that no others can replace
    determinate : for every series, whether no other values do the same
    redundancy : how many more forces there are than the motion tells apart
    """

    trajectory: Trajectory
    unknown: tuple[str, ...]
    tau: FloatArray
    p: FloatArray
    needed: tuple[str, ...]
    determinate: Mapping[str, bool]
    redundancy: int


def kinetostatics(
    system: System | Equations,
    motion: Any,
    unknown: Iterable[str] | None = None,
    *,
    t: Any = None,
    p: Any = None,
    weights: Mapping[str, float] | None = None,
) -> Kinetostatics:
    """The *unknown* forces under which *system* moves as given, with the multipliers of its constraints.

    motion, t, p : as for :func:`~kineta.tasks.kinematics.kinematics`
    unknown : names of speeds, for forces on them, and of parameters to which forces of the model are proportional; all speeds, if
        not given
    weights : of forces on speeds, one by default: of many that do the same, those of which the sum of (force / weight)^2 is least

    Raises :class:`SimulationError` for a motion that these forces cannot produce: with what is out of balance most, and when.
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
    """The forces of *actuators* on the speeds that make *system* move as given: inverse dynamics.

    actuators : names of the speeds on which they act; all, if not given. Where they are more than a closed system needs, the
        forces are those of least squares over their *weights*

    The rest as for :func:`kinetostatics`; ``needed`` names the actuators that no other can replace.
    """
    path = trajectory(system, motion, t, p)
    speeds = path.system.v_names
    names = speeds if actuators is None else records(actuators, str, "names of speeds", '"q1\'"')
    for name in names:
        if name not in speeds:
            raise ArgumentError(f"Model '{path.system.name}' has no speed '{name}'.{did_you_mean(name, speeds)}")
    return solved(path, names, weights)


def statics(
    system: System | Equations,
    q: Any = None,
    unknown: Iterable[str] | None = None,
    *,
    p: Any = None,
    t: float = 0.0,
    weights: Mapping[str, float] | None = None,
) -> Kinetostatics:
    """The *unknown* forces that hold *system* at rest in the position *q*, with the multipliers of its constraints.

    q : coordinates, as for :func:`~kineta.tasks.simulate.simulate`; the model's ``initial`` ones, if not given. Of a closed
        system those that are given by name stay, and the others follow from ``initial``; else all are moved onto the
        constraints. ``trajectory.q`` of what is found is the position
    t : the time at which forces and drives are taken; prescribed motions, and constraints that depend on the time, go on: all
        else moves as little as these let it

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
    """Parameters *p* in which those that are unknown and have no value are zero."""
    missing = {x.name: 0.0 for x in system.parameters if x.name in names and x.value is None and not x.fixed}
    return missing | dict(p or {}) if missing and (p is None or isinstance(p, Mapping)) else p


@dataclass(frozen=True)
class Unknown:
    """Forces by name: on the speeds number ``speeds``, None for one that is a parameter; ``free`` are the places of these."""

    names: tuple[str, ...]
    speeds: tuple[int | None, ...]
    free: tuple[int, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """What they are called among the series of a motion."""
        return tuple(n if k is None else force_name(n) for n, k in zip(self.names, self.speeds, strict=True))

    @property
    def driven(self) -> list[tuple[int, int]]:
        """Places among the unknown forces and among the speeds of those that act on speeds."""
        return [(i, k) for i, k in enumerate(self.speeds) if k is not None]


def solved(path: Trajectory, names: Sequence[str], weights: Mapping[str, float] | None = None) -> Kinetostatics:
    """The forces *names* under which the motion *path* comes to be."""
    system, e = path.system, path.equations
    if path.tau is None:
        warn_without(system, "the inverse problem")
    unknown = _unknown(system, names)
    W = _weights(system, unknown, weights)
    p = path.p.copy()
    p[..., list(unknown.free)] = 0.0
    U = e.function("inverse")(path.t, path.q, path.v, path.vdot, p=p) - path.touched
    A, G, every = _shares(path, unknown, p), _jacobian(path, e, p), _jacobian(path, e.without(()), p)
    P = np.eye(system.nv) - np.linalg.pinv(G, rcond=RANK) @ G
    R = W * np.einsum("...ij,...j->...i", np.linalg.pinv(P @ (A * W), rcond=RANK) @ P, U)
    left = U - np.einsum("...ij,...j->...i", A, R)
    multipliers = np.einsum("...ij,...j->...i", np.linalg.pinv(np.swapaxes(G, -1, -2), rcond=RANK), left)
    steady = e.function("inverse")(path.t, path.q, path.v, np.zeros_like(path.vdot), p=p)
    at_play = max(np.abs(U).max(initial=0.0), np.abs(steady).max(initial=0.0))
    _produced(path, unknown, at_play, left - np.einsum("...ji,...j->...i", G, multipliers))
    tau, values = np.zeros_like(U), np.array(np.broadcast_to(p, (len(path.t), p.shape[-1])))
    for i, k in unknown.driven:
        tau[:, k] = R[:, i]
    values[:, list(unknown.free)] = R[:, [i for i, k in enumerate(unknown.speeds) if k is None]]
    if unknown.free:
        _proportional(path, unknown, tau, values, multipliers, G, at_play)
    rows = [r.constraint for r in e.derivation.closures]
    kept = [k for k, name in enumerate(rows) if name not in e.derivation.left_out]
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
        needed=tuple(n for n, one in zip(names, told.tolist(), strict=False) if one),
        determinate=determinate,
        redundancy=len(names) - _rank(P @ A),
    )


def _unknown(system: System, names: Sequence[str]) -> Unknown:
    own = [x.name for x in system.parameters if not x.fixed]
    if len(set(names)) < len(names):
        twice = next(n for n in names if list(names).count(n) > 1)
        raise ArgumentError(f"Expected every unknown force once, found '{twice}' twice.")
    for name in names:
        if name not in system.v_names and name not in own:
            near = did_you_mean(name, (*system.v_names, *own))
            raise ArgumentError(f"Model '{system.name}' has no speed or parameter '{name}'.{near}")
    speeds = tuple(system.v_names.index(n) if n in system.v_names else None for n in names)
    return Unknown(tuple(names), speeds, tuple(own.index(n) for n in names if n not in system.v_names))


def _weights(system: System, unknown: Unknown, weights: Mapping[str, float] | None) -> FloatArray:
    if weights is not None and not isinstance(weights, Mapping):
        raise ArgumentError(f'Expected weights by name, as in {{"q1\'": 2.0}}, found {shown(weights)}.')
    given = {n: number(f"the weight of {n}", x) for n, x in (weights or {}).items()}
    for name, weight in given.items():
        if name not in unknown.names:
            raise ArgumentError(f"There is no unknown force '{name}' to weigh.{did_you_mean(name, unknown.names)}")
        if not 0 < weight < np.inf:
            raise ArgumentError(f"Expected a weight above zero for '{name}', found {weight:g}.")
    return np.array([given.get(n, 1.0) for n in unknown.names])


def _jacobian(path: Trajectory, e: Equations, p: FloatArray) -> FloatArray:
    """The constraints that *e* keeps by reactions, as they bind the speeds: (k, rows, nv), or (0, nv)."""
    if not e.derivation.rows:
        return np.zeros((0, path.system.nv))
    return np.asarray(e.function("constraint_jacobian")(path.t, path.q, path.v, p=p))


def _of_motions(path: Trajectory, p: FloatArray) -> FloatArray:
    """The constraints as they bind the speeds of the motions, which quasi-velocities leave out: (k, rows, speeds)."""
    rows = np.atleast_2d(p)
    still, closing = np.zeros(len(path.system.base_speeds)), [Closing(path.equations, own) for own in rows]
    return np.array(
        [
            closing[min(k, len(rows) - 1)].jacobian(t, q, still)
            for k, (t, q) in enumerate(zip(path.t, path.q, strict=True))
        ]
    )


def _shares(path: Trajectory, unknown: Unknown, p: FloatArray) -> FloatArray:
    """What unknown forces of one do on the speeds: (nv, m), or (k, nv, m) where they are parameters."""
    system = path.system
    A = np.zeros((system.nv, len(unknown.names)))
    for i, k in unknown.driven:
        A[k, i] = 1.0
    if not unknown.free:
        return A
    made = path.equations.kept((Unknown, unknown.free), lambda: _by_parameters(path.equations, unknown))
    rows = made.batch(path.t[:, None], path.q, path.v, path.vdot, p).reshape(len(path.t), len(unknown.free), system.nv)
    A = np.tile(A, (len(path.t), 1, 1))
    A[:, :, [i for i, k in enumerate(unknown.speeds) if k is None]] = -np.swapaxes(rows, 1, 2)
    return A


def _by_parameters(e: Equations, unknown: Unknown) -> llvm.NativeFunction:
    """Derivatives of the forces that a motion needs by the parameters that are unknown, (m, nv)."""
    d = e.alone()
    g, s = d.graph, d.symbols
    own = [s.p[k] for k in unknown.free]
    refs = [x for r in own for x in forward(g, d["inverse"].refs, {r: ONE})]
    for ref in refs:
        if found := gradient(g, ref, dict.fromkeys(own)):
            raise _no_force(s.system, g.names[g.lhs[next(iter(found)) >> 1]])
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot, "p": s.p}
    made = program(g, inputs, {"shares": ((len(own), len(s.v)), refs)}, "shares")
    return llvm.compile([made], batch=True).function("shares")


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
    """Raise where what was found of parameters does not produce the motion: forces have a corner between there and zero."""
    needed = path.equations.function("inverse")(path.t, path.q, path.v, path.vdot, p=p) - path.touched
    off = needed - tau - np.einsum("...ji,...j->...i", G, multipliers)
    if not np.abs(off).max(initial=0.0) <= MET * size:
        raise _no_force(path.system, ", ".join(path.system.parameter_names[k] for k in unknown.free))


def _produced(path: Trajectory, unknown: Unknown, size: float, left: FloatArray) -> None:
    """Raise where forces are *left* out of balance, among forces of this *size*."""
    system = path.system
    if not left.size or np.abs(left).max() <= MET * size:
        return
    k, i = np.unravel_index(int(np.abs(left).argmax()), left.shape)
    names = ", ".join(unknown.names) or "no forces"
    raise SimulationError(
        f"Model '{system.name}': {names} cannot produce this motion: at t = {path.t[k]:g} s a force of {left[k, i]:.6g} on "
        f"'{system.v_names[i]}' is left, among forces of up to {size:.6g}. Add a force there, or another motion."
    )


def _told(A: FloatArray, G: FloatArray) -> NDArray[np.bool_]:
    """Which of the unknown forces and multipliers no others can replace, at some of the motion."""
    k = max(len(A) if A.ndim == 3 else 1, len(G) if G.ndim == 3 else 1)
    found = np.ones(A.shape[-1] + G.shape[-2], dtype=bool)
    for i in sorted(set(np.linspace(0, k - 1, min(k, LOOKS)).astype(int).tolist())):
        own, rows = (x if x.ndim == 2 else x[min(i, len(x) - 1)] for x in (A, G))
        whole = np.hstack([own, rows.T])
        lengths = np.linalg.norm(whole, axis=0)
        null = null_space(whole / np.where(lengths > 0, lengths, 1.0), rcond=RANK)
        found &= (np.abs(null).max(axis=1, initial=0.0) < TOLD) & ((lengths > 0) | ~whole.any())
    return found


def _rank(A: FloatArray) -> int:
    if not A.size:
        return 0
    sizes = np.atleast_2d(np.linalg.svd(A, compute_uv=False))
    return int((sizes > RANK * sizes.max(axis=1, keepdims=True)).sum(axis=1).max())
