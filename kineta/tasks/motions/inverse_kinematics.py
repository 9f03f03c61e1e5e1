"""Inverse kinematics: coordinates for prescribed poses of bodies and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.constraints import NumericConstraints
from kineta.drawing import notebook
from kineta.equations.equations import Equations, equations_of
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, did_you_mean, shown
from kineta.model.body import GROUND
from kineta.model.dimensions import variable_units
from kineta.model.system import System, a_system
from kineta.numerics.linear_algebra import det, norm, null_space, svd, svdvals
from kineta.numerics.newton import NewtonResult, NonlinearSystem, nearest_zero
from kineta.records import dataclass
from kineta.runtime.joint_limits import LimitDistances
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.motions.conditioning import Conditioning, conditioning, motions
from kineta.values import finite, number, numbers, whole, word

#: Changes of the speeds' directions to positions around a solution, which show whether it is singular, and their number.
BESIDE, NEIGHBOURS = 1e-2, 3
SELF_MOTIONS = "the motions that move nothing of the target"


@dataclass(frozen=True)
class Placement:
    """A solution of inverse kinematics.

    q : (nq,) coordinates; ``initial`` has them by name
    distance, turn : largest errors of positions [m] and orientations [rad]
    free : dimension of the self-motions, which leave all targets unchanged
    conditioning : distance from a position in which motions lose a direction of the targets; None without motions
    """

    q: FloatArray
    initial: dict[str, float]
    distance: float
    turn: float
    free: int
    conditioning: Conditioning | None


@dataclass(frozen=True)
class Placements:
    """The solutions of inverse kinematics of *system*, the nearest first."""

    system: System
    found: tuple[Placement, ...]

    _repr_html_ = notebook

    def lines(self) -> list[str]:
        """Return the coordinates of each with its conditioning, and the number of self-motions, as text."""
        lines = []
        for k, one in enumerate(self.found, 1):
            lines.append(f"{k}: " + ", ".join(f"{n} = {round(x, 12) + 0.0:.9g}" for n, x in one.initial.items()))
            lines += [f"   {one.conditioning}"] * (one.conditioning is not None)
        free = self.found[0].free
        said = "1 motion is left that moves" if free == 1 else f"{free} motions are left that move"
        return [*lines, f"{said} none of it"] if free else lines

    def as_dict(self) -> dict[str, Any]:
        """Return all of them as plain data."""
        rows = [
            {"initial": x.initial, "distance": x.distance, "turn": x.turn, "free": x.free}
            | {"conditioning": None if x.conditioning is None else x.conditioning.as_dict()}
            for x in self.found
        ]
        return {"model": self.system.name, "placements": rows}


@dataclass(frozen=True)
class PoseTarget:
    """The target of a body or point: components of its position, by number, and its axes, if prescribed."""

    name: str
    components: tuple[int, ...]
    position: FloatArray
    axes: FloatArray | None


class Reaching:
    """Residuals of *targets*, in the axes of *frame*, and of constraints, with their Jacobian by the speeds of the joints."""

    def __init__(
        self, system: System, p: FloatArray, t: float, targets: Sequence[PoseTarget], frame: str, limits: FloatArray
    ) -> None:
        self.system, self.t, self.targets = system, t, targets
        self.constraints, self.within = (
            NumericConstraints(equations_of(system), p),
            LimitDistances(equations_of(system)),
        )
        own = self.within.coordinates(p)
        self.limits = np.array([np.maximum(limits[0], own[0]), np.minimum(limits[1], own[1])])
        for name, (low, high) in zip(system.q_names, self.limits.T, strict=True):
            if low > high:
                raise ArgumentError(
                    f"Model '{system.name}': its own limits of '{name}' leave nothing between {low:g} and {high:g}; give others."
                )
        seen = "" if frame == GROUND else f" in {frame}"
        e = equations_of(system.unconstrained)
        self.poses = [e.function(f"pose({x.name}{seen})").bind(p) for x in targets]
        self.jacobians = [e.function(f"jacobian({x.name}{seen})").bind(p) for x in targets]
        self.carried = None if frame == GROUND else e.function(f"jacobian({frame}{seen})").bind(p)
        self.still = np.zeros(len(system.base_speeds))
        self.levels = [k for k, n in enumerate(self.constraints.labels) if f"{n}'" in self.constraints.labels]
        self.rows = [k for k, (_, order) in enumerate(self.constraints.rows) if order == 0]

    def off(self, q: FloatArray) -> FloatArray:
        """Return errors of position components, rotation vectors in the axes of the frame, and constraint residuals."""
        parts = []
        for target, pose in zip(self.targets, self.poses, strict=True):
            X = pose(self.t, q, self.still)
            parts.append(X[list(target.components), 3] - target.position)
            if target.axes is not None:
                parts.append(Rotation.from_matrix(X[:3, :3] @ target.axes.T).as_rotvec())
        if self.levels:
            parts.append(self.constraints.residuals(self.t, q, self.still)[self.levels])
        return np.concatenate(parts)

    def slope(self, q: FloatArray) -> FloatArray:
        """Return the Jacobian of the residuals, of rotations to first order."""
        parts = []
        frame = None if self.carried is None else self.carried(self.t, q, self.still)
        for target, pose, jacobian in zip(self.targets, self.poses, self.jacobians, strict=True):
            J = jacobian(self.t, q, self.still)
            if frame is not None:  # relative to the motion of the frame
                r = pose(self.t, q, self.still)[:3, 3]
                J = J - frame
                J[:3] -= np.cross(frame[3:].T, r).T
            parts.append(J[list(target.components)])
            if target.axes is not None:
                parts.append(J[3:])
        if self.rows:
            parts.append(self.constraints.jacobian(self.t, q, self.still)[self.rows])
        return np.concatenate(parts)

    def moved(self, q: FloatArray, change: FloatArray) -> FloatArray:
        """Return the coordinates after a change, clipped to their limits."""
        return np.asarray(np.clip(self.constraints.retract(self.t, q, change), *self.limits))

    def nearest(self, q: FloatArray) -> NewtonResult[FloatArray]:
        """Return the coordinates nearest to *q* that reach the targets, or those at which Newton's method stalls."""
        return nearest_zero(np.clip(q, *self.limits), NonlinearSystem(self.off, self.slope, self.moved))

    def missed(self, off: FloatArray) -> tuple[float, float, float]:
        """Return the largest position error, rotation error and constraint residual."""
        distance, turn, k = 0.0, 0.0, 0
        for target in self.targets:
            distance = max(distance, float(norm(off[k : k + len(target.components)])))
            k += len(target.components)
            if target.axes is not None:
                turn = max(turn, float(norm(off[k : k + 3])))
                k += 3
        return distance, turn, float(np.abs(off[k:]).max(initial=0.0))

    def reached(self, found: NewtonResult[FloatArray]) -> bool:
        """Return whether all targets and constraints are met within the limits."""
        if not np.isfinite(found.residual).all() or max(self.missed(found.residual)) > tolerances.STATE_TOLERANCE:
            return False
        return not self.within.violated(self.t, found.state, self.constraints.p)


def inverse_kinematics(
    system: System | Equations,
    wanted: Mapping[str, Any],
    q: Any = None,
    p: Any = None,
    *,
    t: float = 0.0,
    frame: str = GROUND,
    limits: Mapping[str, Any] | None = None,
    starts: int = 100,
    seed: int = 0,
) -> tuple[Placement, ...]:
    """Return the coordinates of *system* for the *wanted* poses of bodies and points, the nearest to the guess *q* first.

    wanted : by name of a body or point a position (3,), axes (3, 3) or a pose (4, 4); ``"A.x"`` for one component alone
    q, p : the guess and parameters, as for :func:`~kineta.simulation.simulate.simulate`, of one case
    t : the time, for drives [s]
    frame : the body in whose frame the poses are given
    limits : least and largest value by coordinate, beside the limits of the model
    starts : random initial positions for further solutions; with self-motions there are infinitely many, and only the solution
        from the guess is returned

    Raises :class:`SimulationError` for targets out of reach, with the remaining distance.
    """
    system = a_system(system.system if isinstance(system, Equations) else system)
    values = parameters(system, p)
    q0, _ = initial_state(system, q, None, values)
    if q0.ndim > 1 or values.ndim > 1:
        raise ArgumentError("Expected one guess, found cases; take them one by one.")
    if word(frame, "the name of a body") not in system.frames:
        raise ArgumentError(f"Model '{system.name}' has no body '{frame}'.{did_you_mean(frame, system.frames)}")
    reaching = Reaching(system, values, finite("t", t), _targets(system, wanted), frame, _limits(system, limits))
    count, chance = whole("starts", starts, 0, 10**6), np.random.default_rng(whole("seed", seed, 0))
    best = reaching.nearest(q0)
    found: list[FloatArray] = []
    if reaching.reached(best):
        found.append(_wrapped(reaching, best.state, q0))
    if not found or not _free(reaching, best.state):
        for guess in _random(system, q0, reaching.limits, count, chance):
            tried = reaching.nearest(guess)
            if sum(reaching.missed(tried.residual)) < sum(reaching.missed(best.residual)):
                best = tried
            if reaching.reached(tried):
                place = _wrapped(reaching, tried.state, q0)
                if not any(np.abs(place - other).max(initial=0.0) < tolerances.SOLUTION_DISTANCE for other in found):
                    found.append(place)
                if _free(reaching, place):
                    break
    if not found:
        raise SimulationError(_out_of_reach(reaching, best, count))
    found.sort(key=lambda x: float(norm(x - q0)))
    return tuple(_placement(reaching, x) for x in found)


def _targets(system: System, wanted: Mapping[str, Any]) -> list[PoseTarget]:
    if not isinstance(wanted, Mapping) or not wanted:
        raise ArgumentError(
            f"Expected what is wanted by name, as in {{'Hand': (0.3, 0.2, 0.5)}}, found {shown(wanted)}."
        )
    places = (*(b.name for b in system.bodies), *(x.name for x in system.points))
    found, single = list[PoseTarget](), dict[str, dict[int, float]]()
    for name, value in wanted.items():
        own, _, component = word(name, "the name of a body or point").rpartition(".")
        if name not in places and own in places and component in ("x", "y", "z"):
            single.setdefault(own, {})["xyz".index(component)] = number(name, value)
            continue
        if name not in places:
            raise ArgumentError(f"Model '{system.name}' has no body or point '{name}'.{did_you_mean(name, places)}")
        found.append(_target(name, numbers(f"where '{name}' is wanted", value)))
    for name, components in single.items():
        found.append(PoseTarget(name, tuple(components), np.array(list(components.values())), None))
    for target in found:
        if not np.isfinite(target.position).all():
            raise ArgumentError(f"Expected a finite place for '{target.name}', found {target.position.tolist()}.")
    return found


def _target(name: str, value: FloatArray) -> PoseTarget:
    everything = (0, 1, 2)
    if value.shape == (3,):
        return PoseTarget(name, everything, value, None)
    if value.shape not in ((3, 3), (4, 4)):
        raise ArgumentError(
            f"Expected a position (3,), axes (3, 3) or a pose (4, 4) for '{name}', found shape {value.shape}."
        )
    R = value[:3, :3]
    if not (np.isfinite(R).all() and np.abs(R @ R.T - np.eye(3)).max() < tolerances.WRITTEN_TOLERANCE and det(R) > 0):
        raise ArgumentError(f"Expected orthogonal, right-handed axes for '{name}', found {R.tolist()}.")
    left, _, right = svd(R, what=f"the axes of '{name}'")
    if value.shape == (3, 3):
        return PoseTarget(name, (), np.zeros(0), left @ right)
    if not np.array_equal(value[3], [0, 0, 0, 1]):
        raise ArgumentError(
            f"Expected (0, 0, 0, 1) in the last row of the pose of '{name}', found {value[3].tolist()}."
        )
    return PoseTarget(name, everything, value[:3, 3], left @ right)


def _limits(system: System, limits: Mapping[str, Any] | None) -> FloatArray:
    """Return the least and the largest coordinates, (2, nq)."""
    found = np.array([np.full(system.nq, -np.inf), np.full(system.nq, np.inf)])
    if limits is not None and not isinstance(limits, Mapping):
        raise ArgumentError(f"Expected limits by coordinate, as in {{'q1': (-2, 2)}}, found {shown(limits)}.")
    turns = {n for o in system.quaternions.values() for n in system.q_names[o : o + 4]}
    for name, value in (limits or {}).items():
        known = [n for n in system.q_names if n not in turns and n not in system.state_names]
        if name not in known:
            raise ArgumentError(
                f"Model '{system.name}' has no coordinate {shown(name)} to limit.{did_you_mean(name, known)}"
            )
        ends = numbers(f"the limits of {name}", value)
        if ends.shape != (2,) or not ends[0] <= ends[1]:
            raise ArgumentError(
                f"Expected the least and the largest value of '{name}', as in (-2, 2), found {shown(value)}."
            )
        found[:, system.q_names.index(name)] = ends
    return found


def _random(
    system: System, q0: FloatArray, limits: FloatArray, count: int, chance: np.random.Generator
) -> list[FloatArray]:
    """Return random positions within the limits: angles anywhere, lengths within their own size, or a metre, of the guess."""
    units = variable_units(system)
    angles = np.array([units.get(n) == "rad" for n in system.q_names])
    reach = np.where(angles, np.pi, np.maximum(1.0, np.abs(q0)))
    about = np.where(angles, 0.0, q0)
    low, high = np.maximum(limits[0], about - reach), np.minimum(limits[1], about + reach)
    found = low + np.maximum(high - low, 0.0) * chance.uniform(0, 1, (count, system.nq))
    found[:, system.nq - system.nz :] = q0[system.nq - system.nz :]
    for offset in system.quaternions.values():
        turns = chance.standard_normal((count, 4))
        found[:, offset : offset + 4] = turns / norm(turns, axis=1, keepdims=True)
    return list(found)


def _wrapped(reaching: Reaching, q: FloatArray, about: FloatArray) -> FloatArray:
    """Return the same position with angles within half a turn of *about*, where they are periodic and limits allow it, and with
    quaternions in its hemisphere.
    """
    units, q = variable_units(reaching.system), q.copy()
    for offset in reaching.system.quaternions.values():
        turn = slice(offset, offset + 4)
        side = [float(q[turn] @ about[turn]), *q[turn].tolist()]
        q[turn] *= np.sign(next(x for x in side if abs(x) > tolerances.SOLUTION_DISTANCE))
    for k, name in enumerate(reaching.system.q_names):
        if units.get(name) == "rad":
            tried = q.copy()
            tried[k] -= (
                2 * np.pi * np.ceil((q[k] - about[k]) / (2 * np.pi) - 0.5 - tolerances.SOLUTION_DISTANCE / (2 * np.pi))
            )
            within = reaching.limits[0, k] <= tried[k] <= reaching.limits[1, k]
            within = within and not reaching.within.violated(reaching.t, tried, reaching.constraints.p)
            if within and max(reaching.missed(reaching.off(tried))) <= 10 * tolerances.STATE_TOLERANCE:
                q = tried
    return q


def _free(reaching: Reaching, q: FloatArray) -> int:
    """Return the dimension of the self-motions through *q*, a solution: that of the null space of the Jacobian, where its rank is
    that of positions around, and in a singular position, as of a stretched arm, that of the solutions found a little beside.
    """
    n, rank, chance = len(reaching.still), _rank(reaching.slope(q)), np.random.default_rng(0)
    beside = BESIDE * chance.standard_normal((NEIGHBOURS, n))
    if rank == n or all(_rank(reaching.slope(reaching.moved(q, x))) <= rank for x in beside):
        return n - rank
    still = null_space(reaching.slope(q), what=SELF_MOTIONS, rcond=tolerances.RANK_TOLERANCE)
    ways = chance.standard_normal((2 * n, n - rank))
    tried = [reaching.nearest(reaching.moved(q, BESIDE * still @ x / norm(x))) for x in ways]
    found = np.array([x.state - q for x in tried if reaching.reached(x)]).reshape(-1, len(q))
    near = found[norm(found, axis=1) < 2 * BESIDE]
    return int((svdvals(near, what=SELF_MOTIONS) > 0.1 * BESIDE).sum()) if len(near) else 0


def _rank(A: FloatArray) -> int:
    sizes = svdvals(A, what=SELF_MOTIONS)
    return int((sizes > tolerances.RANK_TOLERANCE * sizes.max(initial=0.0)).sum())


def _placement(reaching: Reaching, q: FloatArray) -> Placement:
    distance, turn, _ = reaching.missed(reaching.off(q))
    named = dict(zip(reaching.system.q_names, q.tolist(), strict=True))
    return Placement(q, named, distance, turn, _free(reaching, q), _conditioning(reaching, q))


def _conditioning(reaching: Reaching, q: FloatArray) -> Conditioning | None:
    rows: list[tuple[str, bool]] = []
    for target in reaching.targets:
        rows += [(f"{target.name}.{'xyz'[k]}", False) for k in target.components]
        rows += [(f"{target.name}.R{c}", True) for c in "xyz" if target.axes is not None]
    A, n = reaching.slope(q), len(rows)
    return conditioning(rows, motions(reaching.system), A[:n], A[n:], what="how near the position is to a singular one")


def _out_of_reach(reaching: Reaching, best: NewtonResult[FloatArray], starts: int) -> str:
    distance, turn, level = reaching.missed(best.residual)
    names = ", ".join(dict.fromkeys(target.name for target in reaching.targets))
    parts = [f"{distance:.3g} m"] * (distance > tolerances.STATE_TOLERANCE) + [f"{np.degrees(turn):.3g} degrees"] * (
        turn > tolerances.STATE_TOLERANCE
    )
    parts += [f"{level:.3g} beside the constraints"] * (level > tolerances.STATE_TOLERANCE)
    limited = " within the limits" if np.isfinite(reaching.limits).any() or reaching.within.sides else ""
    at = ", ".join(f"{n} = {x:.4g}" for n, x in zip(reaching.system.q_names, best.state, strict=True))
    if not parts and (limit := reaching.within.violated(reaching.t, best.state, reaching.constraints.p)):
        return (
            f"Model '{reaching.system.name}': nothing found puts {names} where wanted within the limits: {at} lies beyond "
            f"{limit}. Ask for another place, or leave out the limit."
        )
    return (
        f"Model '{reaching.system.name}': nothing found{limited} puts {names} where wanted: from the guess and {starts} random "
        f"starts the nearest position{at and f', {at},'} is {' and '.join(parts) or 'not defined'} away. Ask for a place within "
        "reach, or for fewer components."
    )
