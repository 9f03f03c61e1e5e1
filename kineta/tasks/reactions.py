"""Joint reactions along a motion: what every joint passes on, welds included, from the mechanism as it is described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from kineta.codegen import llvm
from kineta.compiler import Equations
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.expr.graph import Ref
from kineta.expr.program import program
from kineta.formalism import reactions as joints
from kineta.formalism.quantity import WRENCH
from kineta.formalism.residual import moving, transmitted
from kineta.formulas import simplified
from kineta.model.body import GROUND
from kineta.model.constraints import holding
from kineta.model.constraints.loop import Loop
from kineta.model.given import records
from kineta.model.infer import MULTIPLIER
from kineta.model.system import System
from kineta.tasks.kinetostatics import Kinetostatics, solved
from kineta.tasks.series import Series, check_finite
from kineta.tasks.trajectory import Trajectory, trajectory
from kineta.values import word

FloatArray = NDArray[np.float64]

#: The frame of every body for the reaction of its own joint.
OWN = "own"
#: Part of the largest singular value that counts as nothing.
RANK = 1e-9
#: States in which it is looked whether reactions are determinate, at most, and what counts as nothing.
LOOKS, NOTHING = 16, 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Reactions(Series):
    """What joints pass on along a motion.

    ``series`` has the components of force and couple, ``A.fx A.fy A.fz A.nx A.ny A.nz``, of every joint: that of a body by its
    name, with which its base acts on it, about the origin of its frame; that of a loop, on its second body and about the second
    place, and of a rolling, on the body that rolls and about its centre.

    trajectory : the motion
    names : of the joints; frame : in whose axes their components are
    wrenches : (k, names, 6) forces [N], then couples [N m]
    indeterminate : names of those joints of which constraints that say what others say leave part open; theirs are reactions with
        these constraints left out
    """

    trajectory: Trajectory
    names: tuple[str, ...]
    frame: str
    wrenches: FloatArray
    indeterminate: tuple[str, ...]


def reactions(
    system: System | Equations,
    motion: Any,
    of: Iterable[str] | None = None,
    *,
    t: Any = None,
    p: Any = None,
    frame: str = GROUND,
) -> Reactions:
    """What the joints of *system* pass on along a *motion*.

    motion, t, p : a run, with the forces that were given to it, and those of what touched in it; forces found by
        :func:`~kineta.tasks.kinetostatics.kinetostatics`, ``inverse`` or ``statics``, with their motion; or a motion as for
        :func:`~kineta.tasks.kinematics.kinematics`, which forces on all speeds produce
    of : names of bodies and loops; all, if not given
    frame : the body in whose axes the components are; ``own`` for that of every joint itself

    Raises :class:`ArgumentError` for unknown names.
    """
    forces: Kinetostatics | None
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
    found = _passed(path, _multipliers(path, forces), values)
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
    open_ones = _open(path, values)
    return Reactions(
        model.name,
        path.t,
        columns,
        units,
        path,
        tuple(names),
        frame,
        wrenches,
        tuple(n for n in names if n in open_ones),
    )


def _multipliers(path: Trajectory, forces: Kinetostatics | None) -> FloatArray:
    """The multipliers of the constraints along a motion, and the forces of what touches, (k, rows)."""
    e, k = path.equations, len(path.t)
    names = [f"{MULTIPLIER}{row.constraint}" for row in e.derivation.closures]
    if forces is not None:
        found = np.array([forces[n] for n in names]).reshape(len(names), k).T
    elif names:
        found = e.function("multipliers")(path.t, path.q, path.v, path.forces, p=path.p)
    else:
        found = np.zeros((k, 0))
    return found if path.touching is None else np.hstack([found, path.touching])


def _passed(path: Trajectory, multipliers: FloatArray, p: FloatArray) -> FloatArray:
    """Force and couple of every body's joint, then of every loop, in ground axes, (k, joints, 6)."""
    e, touching = path.equations, path.touching is not None
    made = e.kept(("what joints pass on", touching), lambda: _compiled(e, touching=touching))
    return np.asarray(
        made.batch(path.t[:, None], path.q, path.v, path.vdot, multipliers, p).reshape(len(path.t), -1, 6)
    )


def _compiled(e: Equations, *, touching: bool) -> llvm.NativeFunction:
    """What joints pass on, of t, q, v, vdot, multipliers and p."""
    d = e.alone()
    rows = [row.constraint for row in d.closures]
    rows += [row.constraint for touch in d.touches for row in touch.rows] if touching else []
    given = [f"{MULTIPLIER}{row}" for row in rows]
    multipliers = dict(zip(rows, map(d.graph.symbol, given), strict=True))
    needed = joints.swept(d, moving(d, d.symbols.vdot))
    refs = [*transmitted(d, joints.less(d, needed, multipliers)).refs, *joints.of_loops(d, multipliers)]
    own, functions = simplified(d, {"passed": refs}, ())
    inputs: dict[str, Sequence[Ref]] = {"t": (own.t,), "q": own.q, "v": own.v, "vdot": own.vdot}
    inputs |= {"multipliers": [own.graph.symbol(n) for n in given], "p": own.p}
    outputs = {"passed": ((len(refs),), functions["passed"])}
    return llvm.compile([program(own.graph, inputs, outputs, "passed")], batch=True).function("passed")


def _carrier(system: System, name: str) -> str:
    """The body on which the joint *name* acts."""
    for condition in holding(system.constraints):
        if condition.name == name:
            return (condition.end if isinstance(condition, Loop) else condition.start).body
    return name


def _open(path: Trajectory, p: FloatArray) -> set[str]:
    """Names of the joints of which redundant constraints leave part open."""
    e, system = path.equations.without(()), path.system
    if not path.equations.derivation.left_out:
        return set()
    some = np.unique(np.linspace(0, len(path.t) - 1, min(len(path.t), LOOKS)).astype(int))
    state, values = (path.t[some], path.q[some], path.v[some]), p if p.ndim == 1 else p[some]
    found: set[str] = set()
    rows = [r.constraint for r in e.derivation.closures]
    shares = e.function("constraint_reactions")(*state, p=values)
    for A, share in zip(e.function("constraint_jacobian")(*state, p=values), shares, strict=True):
        lengths = np.linalg.norm(A, axis=1)
        size = np.where(lengths > 0, lengths, 1.0)[:, None]
        null = null_space((A / size).T, rcond=RANK) / size
        at_joints = np.abs(np.einsum("rn,rbc->nbc", null, share)).max(axis=(0, 2), initial=0.0)
        found |= {b.name for b, x in zip(system.bodies, at_joints.tolist(), strict=True) if x > NOTHING}
        at_rows = np.abs(null).max(axis=1, initial=0.0)
        found |= {
            name.rpartition(".")[0] or name for name, x in zip(rows, at_rows.tolist(), strict=True) if x > NOTHING
        }
    return found
