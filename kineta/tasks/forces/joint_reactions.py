"""Joint reactions along a motion, welds included, by the direct route through the description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.drawing import show
from kineta.equations.equations import Equations
from kineta.equations.formulas import simplified
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.expr.graph import Ref
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.constraints import joint_reactions as joints
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.from_residual import moving, transmitted
from kineta.mechanics.kinematics.description_route import DirectRoute
from kineta.mechanics.quantities import WRENCH
from kineta.model.body import GROUND
from kineta.model.coercion import records
from kineta.model.constraints import holding, place
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm, null_space
from kineta.records import dataclass
from kineta.results.series import Series, check_finite
from kineta.spatial.vector import Matrix, Vector
from kineta.tasks.forces.inverse_dynamics import Kinetostatics, inverse, solved
from kineta.tasks.motions import forces_of_run
from kineta.tasks.motions.trajectory import Trajectory, trajectory
from kineta.values import word

#: The frame of every body for the reaction of its own joint.
OWN = "own"
#: Most states at which determinacy is examined.
LOOKS = 16


@dataclass(frozen=True, eq=False, repr=False)
class Reactions(Series):
    """Joint reactions along a motion.

    ``series`` has the components of force and couple, ``A.fx A.fy A.fz A.nx A.ny A.nz``, of every joint. The joint of a body
    bears its name; its reaction acts from the base on the body, about the hinge point, where the last variable motion ends (for
    a weld the origin of the frame). The reaction of a loop acts on its second body about the second place, of a rolling on the
    rolling body about its centre.

    trajectory : the motion
    names : of the joints; frame : the body in whose axes the components are
    wrenches : (k, names, 6) forces [N], then couples [N m]
    shared : names of the indeterminate forces: ``tau[q1']`` of actuators and ``Foot.n`` of contacts and friction, with values by
        least squares; and redundant rows of constraints (``pin.z``), of which the dependent ones were dropped
    forces : those that produce the motion; None for a run
    indeterminate : names of the joints whose reactions depend on the distribution of these forces
    """

    trajectory: Trajectory
    names: tuple[str, ...]
    frame: str
    wrenches: FloatArray
    shared: tuple[str, ...]
    indeterminate: tuple[str, ...]
    forces: Kinetostatics | None

    @property
    def notes(self) -> tuple[str, ...]:
        """The forces that produce the motion, and what is indeterminate, in words."""
        notes = []
        if self.forces is not None:
            every = len(self.forces.unknown) == len(self.trajectory.system.v_names)
            names = "on all speeds" if every else ", ".join(self.forces.unknown)
            degree = self.forces.redundancy
            more = f", {degree} more than the motion tells apart: those of least squares" if degree else ""
            notes.append(f"produced by the forces {names}{more}" + "; actuators names others" * (every and degree > 0))
        if self.indeterminate:
            names = ", ".join(self.indeterminate)
            notes.append(f"in part indeterminate: {names}; others do the same as {', '.join(self.shared)}")
        return tuple(notes)

    def picture(self, t: float | None = None, *, towards: Any = None, ax: Any = None) -> Any:
        """Draw the machine at the recorded time nearest to *t* [s], by default the last, with the forces in its joints as arrows
        on the bodies that they act on; returns the Matplotlib axes.
        """
        return show(self, t, towards=towards, ax=ax)

    def findings(self) -> dict[str, Any]:
        """Return names, frame, what is indeterminate, and the forces that produce the motion."""
        named = {n: list(getattr(self, n)) for n in ("shared", "indeterminate")}
        produced = [] if self.forces is None else list(self.forces.unknown)
        return {"names": list(self.names), "frame": self.frame, **named, "produced_by": produced}


def reactions(
    system: System | Equations,
    motion: Any,
    of: Iterable[str] | None = None,
    *,
    t: Any = None,
    p: Any = None,
    frame: str = GROUND,
    actuators: Iterable[str] | None = None,
) -> Reactions:
    """Return the joint reactions of *system* along a *motion*.

    motion, t, p : a run, with its added forces and contact forces; the result of
        :func:`~kineta.tasks.forces.inverse_dynamics.kinetostatics`, ``inverse`` or ``statics``; or a motion as for
        :func:`~kineta.tasks.motions.kinematics.kinematics`, produced by forces on all speeds
    of : names of bodies and loops; all by default
    frame : the body in whose axes the components are; ``own`` for the body of each joint
    actuators : names of the speeds on which the forces act that produce the motion, as for
        :func:`~kineta.tasks.forces.inverse_dynamics.inverse`

    Raises :class:`ArgumentError` for unknown names.
    """
    forces: Kinetostatics | None
    if actuators is not None:
        motion, t, p = inverse(system, motion, actuators, t=t, p=p), None, None
    if isinstance(motion, Kinetostatics):
        if t is not None or p is not None:
            raise ArgumentError("Forces along a motion have times and parameters of their own; leave out t and p.")
        forces, path, values = motion, motion.trajectory, motion.p
    else:
        path = trajectory(system, motion, t, p)
        forces = solved(path, path.system.v_names) if path.tau is None else None
        values = path.p
    model, e = path.system, path.equations
    bodies, loops = [b.name for b in model.bodies], [c.name for c in holding(model.constraints)]
    known = (*bodies, *loops)
    names = known if of is None else records(of, str, "names of bodies and loops", "'A'")
    for name in names:
        if name not in known:
            raise ArgumentError(f"Model '{model.name}' has no joint {shown(name)}.{did_you_mean(name, known)}")
    if word(frame, "the name of a body") not in (*model.frames, OWN):
        raise ArgumentError(f"Model '{model.name}' has no body '{frame}'.{did_you_mean(frame, (*model.frames, OWN))}")
    state = path.t, path.q, path.v
    found = _rounded(*_at(path, (*state, path.vdot), _multipliers(path, forces), values))
    chosen = [known.index(n) for n in names]
    wrenches: FloatArray = found[:, chosen].reshape(len(path.t), len(names), 2, 3)
    if frame != GROUND:
        R = e.function("rotations")(*state, p=values)
        places = [bodies.index(_carrier(model, n) if frame == OWN else frame) for n in names]
        wrenches = np.einsum("knji,kncj->knci", R[:, places], wrenches)
    wrenches = wrenches.reshape(len(path.t), len(names), 6)
    columns = {f"{n}.{c}": wrenches[:, i, j] for i, n in enumerate(names) for j, c in enumerate(WRENCH)}
    check_finite(path.system.name, path.t, columns)
    units = {f"{n}.{c}": "N" if c[0] == "f" else "N*m" for n in names for c in WRENCH}
    shared, open_ones = _open(path, forces, values)
    return Reactions(
        model.name,
        path.t,
        columns,
        units,
        path,
        tuple(names),
        frame,
        wrenches,
        shared,
        tuple(n for k, n in enumerate(known) if n in names and k in open_ones),
        forces,
    )


def _multipliers(path: Trajectory, forces: Kinetostatics | None) -> FloatArray:
    """Return the multipliers of the constraints along a motion, and the contact forces, (k, rows)."""
    e, k = path.equations, len(path.t)
    names = e.multipliers
    if forces is not None:
        found = np.array([forces[n] for n in names]).reshape(len(names), k).T
    elif names:
        found = e.function("multipliers")(path.t, path.q, path.v, path.forces, p=path.p)
    else:
        found = np.zeros((k, 0))
    return found if path.touching is None else np.hstack([found, path.touching])


def _rounded(passed: FloatArray, arms: FloatArray) -> FloatArray:
    """Return the reactions (k, joints, 6) with zeros for rounding errors, relative to the largest force and to the largest
    couple, moments of forces about the hinge points included.
    """
    forces, couples = (np.abs(passed[..., part]) for part in (slice(0, 3), slice(3, 6)))
    bent = forces[:, : arms.shape[1]].max(axis=2) * np.abs(arms).max(axis=2)
    sizes = [forces.max(initial=0.0), max(couples.max(initial=0.0), bent.max(initial=0.0))]
    return np.where(np.abs(passed) <= tolerances.ROUNDING_TOLERANCE * np.repeat(sizes, 3), 0.0, passed)


def _passed(path: Trajectory, motion: Sequence[FloatArray], multipliers: FloatArray, p: FloatArray) -> FloatArray:
    """Return force and couple of the joints of bodies, then of loops, in ground axes, (k, joints, 6)."""
    return _at(path, motion, multipliers, p)[0]


def _at(
    path: Trajectory, motion: Sequence[FloatArray], multipliers: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the same, and the arms from the origins of the bodies to the hinge points, (k, bodies, 3)."""
    e, touching = path.equations, path.touching is not None
    made = e.compiled(("what joints pass on", touching), partial(_programs, touching=touching))
    t, *rest = motion
    found = made["passed"].batch(t[:, None], *rest, multipliers, p).reshape(len(t), -1)
    joints = found.shape[1] - 3 * len(path.system.bodies)
    return found[:, :joints].reshape(len(t), -1, 6), found[:, joints:].reshape(len(t), -1, 3)


def _programs(d: Derivation, *, touching: bool) -> Iterator[StraightLineProgram]:
    """Yield the reactions as a function of t, q, v, vdot, multipliers and p."""
    rows = [row.constraint for row in d.constraint_rows]
    rows += [row.constraint for touch in d.contacts for row in touch.rows] if touching else []
    given = [f"{MULTIPLIER}{row}" for row in rows]
    multipliers = dict(zip(rows, map(d.graph.symbol, given), strict=True))
    needed = joints.inertial_reactions(d, moving(d, d.symbols.vdot))
    passed, arms = _at_hinges(d, transmitted(d, joints.without_loads_of(d, needed, multipliers)).refs)
    refs = [*passed, *joints.of_loops(d, multipliers), *arms]
    own, functions = simplified(d, {"passed": refs}, ())
    inputs: dict[str, Sequence[Ref]] = {"t": (own.t,), "q": own.q, "v": own.v, "vdot": own.vdot}
    inputs |= {"multipliers": [own.graph.symbol(n) for n in given], "p": own.p}
    yield program(own.graph, inputs, {"passed": ((len(refs),), functions["passed"])}, "passed")


def _at_hinges(d: Derivation, passed: Sequence[Ref]) -> tuple[list[Ref], list[Ref]]:
    """Return the reactions, six numbers a body, transferred from the origins of the bodies to the hinge points; and the arms in
    ground axes.
    """
    described, own = DirectRoute(d.symbols), d["rotations"].refs
    found, arms = list[Ref](), list[Ref]()
    for i, body in enumerate(d.symbols.system.bodies):
        f, n = (Vector(d.graph, *passed[6 * i + k : 6 * i + k + 3]) for k in (0, 3))
        R = Matrix(d.graph, tuple(tuple(own[9 * i + 3 * j : 9 * i + 3 * j + 3]) for j in range(3)))
        hinge = R @ described.joint((body,))[1]
        found += [*f.refs, *(n - hinge.cross(f)).refs]
        arms += hinge.refs
    return found, arms


def _carrier(system: System, name: str) -> str:
    """Return the body on which the joint *name* acts."""
    for condition in holding(system.constraints):
        if condition.name == name:
            return place(condition).body
    return name


def _open(path: Trajectory, forces: Kinetostatics | None, p: FloatArray) -> tuple[tuple[str, ...], set[int]]:
    """Return the names of the indeterminate forces at some states, and the places of the joints whose reactions they change.

    The left null space of the generalised forces of all acting forces holds their redistributions.
    """
    some = np.unique(np.linspace(0, len(path.t) - 1, min(len(path.t), LOOKS)).astype(int))
    rows = _at_work(path, forces, p, some)
    shared, open_ones = dict[str, None](), set[int]()
    effects: FloatArray | None = None
    for i, at in enumerate(rows.on_speeds):
        lengths = norm(at, axis=1)
        size = np.where(lengths > 0, lengths, 1.0)[:, None]
        null = (
            null_space((at / size).T, what="the reactions that the motion leaves open", rcond=tolerances.RANK_TOLERANCE)
            / size
        )
        null[lengths == 0] = 0.0
        at_rows = np.abs(null * size).max(axis=1, initial=0.0)
        shared |= dict.fromkeys(
            n for n, x in zip(rows.names, at_rows.tolist(), strict=True) if x > tolerances.PARTICIPATION_TOLERANCE
        )
        if at_rows.any():
            effects = _effects(path, rows, p, some) if effects is None else effects
            at_joints = np.abs(np.einsum("rn,rjc->njc", null, effects[i])).max(axis=(0, 2), initial=0.0)
            open_ones |= {int(j) for j in np.flatnonzero(at_joints > tolerances.PARTICIPATION_TOLERANCE)}
    return tuple(shared), open_ones


@dataclass(frozen=True)
class _Rows:
    """Acting forces: names and generalised forces (k, rows, nv); first *multipliers* rows of constraints, then unknown forces,
    of which ``free`` are the places of parameters, among these and among the parameters.
    """

    names: list[str]
    on_speeds: FloatArray
    multipliers: int
    free: list[tuple[int, int]]


def _at_work(path: Trajectory, forces: Kinetostatics | None, p: FloatArray, some: NDArray[np.intp]) -> _Rows:
    e, system = path.equations, path.system
    t, q, v = path.t[some], path.q[some], path.v[some]
    values = p if p.ndim == 1 else p[some]
    names = list(e.constraint_rows)
    parts = [np.zeros((len(some), len(names), system.nv))]
    if e.rows:
        parts = [e.without(()).function("constraint_jacobian")(t, q, v, p=values)]
    if path.touching is not None:
        names += forces_of_run.rows(e)
        parts.append(_holding(path, t, q, v, values, some))
    multipliers, free = len(names), []
    if forces is not None:
        names += forces.unknown
        parts.append(np.swapaxes(forces.shares[some], 1, 2))
        own = system.parameter_names
        free = [(multipliers + i, own.index(n)) for i, n in enumerate(forces.unknown) if n in own]
    return _Rows(names, np.concatenate(parts, axis=1), multipliers, free)


def _holding(
    path: Trajectory, t: FloatArray, q: FloatArray, v: FloatArray, p: FloatArray, some: NDArray[np.intp]
) -> Any:
    """Return the generalised forces of closed and sticking contacts; zero for open contacts and for slip friction."""
    assert path.touching is not None
    shares = forces_of_run.on_speeds(path.equations, t, q, v, p)
    still = np.abs(np.einsum("krn,kn->kr", shares, v)) <= tolerances.RANK_TOLERANCE * max(
        1.0, float(np.abs(v).max(initial=0.0))
    )
    # Undetermined friction may be zero where its contact bears a load.
    contacts = [re.sub(r"\.[nuw]$", "", row) for row in forces_of_run.rows(path.equations)]
    together = np.array([[a == b for b in contacts] for a in contacts])
    acting = (path.touching[some] != 0) @ together
    return np.where((acting & still)[:, :, None], shares, 0.0)


def _effects(path: Trajectory, rows: _Rows, p: FloatArray, some: NDArray[np.intp]) -> FloatArray:
    """Return the derivatives of the reactions of joints and loops by each force, (k, rows, joints, 6)."""
    motion = [x[some] for x in (path.t, path.q, path.v, path.vdot)]
    none = np.zeros((len(some), rows.multipliers))
    values = np.array(np.broadcast_to(p if p.ndim == 1 else p[some], (len(some), p.shape[-1])))
    values[:, [k for _, k in rows.free]] = 0.0
    still = _passed(path, motion, none, values)
    found = np.zeros((len(some), len(rows.names), *still.shape[1:]))
    for r in range(rows.multipliers):
        found[:, r] = _passed(path, motion, none + np.eye(rows.multipliers)[r], values) - still
    for r, k in rows.free:
        found[:, r] = _passed(path, motion, none, values + np.eye(values.shape[1])[k]) - still
    return found
