"""Equilibria: positions of rest, and steady motions (relative equilibria) along which only ignorable coordinates change; the
rates of first-order states are zero in both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import consistent
from kineta.consistency.definition_domain import domain_violation
from kineta.drawing import notebook, show
from kineta.equations.equations import Equations, given_equations
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, did_you_mean, excerpt
from kineta.model.coercion import records
from kineta.model.dimensions import variable_units, varied_units
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.numerics.newton import NewtonResult, NonlinearSystem, nearest_zero, newton_distances
from kineta.records import dataclass
from kineta.runtime.applied_forces import AppliedForces, applied_forces
from kineta.runtime.domain_watch import check_defined
from kineta.runtime.joint_limits import LimitDistances
from kineta.runtime.parameter_checks import parameters
from kineta.runtime.steady_motion import SteadyConditions, SteadyState
from kineta.tasks.equilibria.stiffness import Stiffness, named
from kineta.tasks.ignored_features import warn_ignored
from kineta.tasks.linear.stability import Stability, stability
from kineta.values import finite, whole

#: Tolerance of the conditions after a change of one radian of the ignorable coordinates.
LATER = 1e-4


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest, or a steady motion.

    q, v : coordinates (nq,) and speeds (nv,); ``initial`` has both by name
    multipliers : of the constraints, by name
    potential_energy : [J]
    stability : by the potential and by small motions
    residual : of forces and constraints, as the change of the state that would cancel it
    steady : names of the speeds that persist
    state, acting, system : the state, the added forces and the model, as other tasks take them
    """

    model: str
    q: FloatArray
    v: FloatArray
    initial: dict[str, float]
    multipliers: dict[str, float]
    potential_energy: float
    stability: Stability
    residual: float
    steady: tuple[str, ...]
    state: SteadyState = field(repr=False, compare=False)
    acting: AppliedForces = field(repr=False, compare=False)
    system: System = field(repr=False, compare=False)

    _repr_html_ = notebook

    @property
    def stiffness(self) -> Stiffness:
        """The stiffness matrix by the names of independent coordinates."""
        system = self.system
        return named(self.stability, system.v_names, variable_units(system), varied_units(system))

    @property
    def stable(self) -> bool | None:
        """Whether the equilibrium is stable; None where that is undecided."""
        return self.stability.stable

    def picture(self, *, towards: Any = None, ax: Any = None) -> Any:
        """Draw the machine at rest, or in its steady motion; returns the Matplotlib axes."""
        return show(self, towards=towards, ax=ax)

    def __repr__(self) -> str:
        values = ", ".join(f"{n} = {x:.6g}" for n, x in self.initial.items() if x or not n.endswith("'"))
        return f"<Equilibrium of '{self.model}': {values}; {self.stability}>"


@dataclass(frozen=True)
class Search:
    """The search for an equilibrium: conditions, *free* variables, persistent speeds and limits."""

    conditions: SteadyConditions
    free: list[int]
    steady: tuple[int, ...]
    within: LimitDistances

    def slope(self, at: SteadyState) -> FloatArray:
        """Return the Jacobian of the conditions by the free variables."""
        return self.conditions.jacobian(at)[:, self.free]

    def moved(self, at: SteadyState, change: FloatArray) -> SteadyState:
        """Return the state after a *change* of the free variables."""
        whole_change = np.zeros(self.conditions.parts["parameter"].stop)
        whole_change[self.free] = change
        return self.conditions.retract(at, whole_change)

    def nearest(self, start: SteadyState) -> NewtonResult[SteadyState]:
        """Return the equilibrium nearest to *start*, or the state at which Newton's method stalls."""
        turning = np.array(self.free) < self.conditions.parts["multiplier"].start
        longest = np.where(turning, 1.0, np.inf)
        functions = NonlinearSystem(self.conditions.residuals, self.slope, self.moved, longest, self.drag)
        return nearest_zero(self.conditions.balanced(start), functions)

    def drag(self, at: SteadyState) -> FloatArray:
        """Return the mass matrix as the damping matrix of pseudo-transient continuation."""
        found = np.zeros((len(self.conditions.names), self.conditions.parts["parameter"].stop))
        inertia = self.conditions.inertia(at)
        found[: len(inertia), : inertia.shape[1]] = inertia
        states = self.conditions.parts["state"]
        found[range(len(found) - len(states), len(found)), states] = 1.0
        return found[:, self.free]


def equilibrium(
    system: System | Equations,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    *,
    tau: Any = None,
    t: float = 0.0,
    steady: Iterable[str] = (),
    free: Iterable[str] = (),
    pinned: Iterable[str] = (),
) -> Equilibrium:
    """Return the equilibrium of *system* nearest to the guess *q*: a position of rest, or a steady motion of constant speeds.

    q, p, tau : as for :func:`~kineta.simulation.simulate.simulate`, of one case
    v : the steady speeds, by default from the model's ``initial``
    t : the time of forces and drives [s]
    steady : names of the speeds that persist; all others are zero
    free : names of the steady speeds that are unknown, with the guess *v*
    pinned : coordinates that stay fixed

    Raises :class:`SimulationError` where none is found, with the largest residual; for one beyond a limit; and for one that
    does not persist as its ignorable coordinates, or the time, advance.
    """
    search, start = searched(system, q, v, p, tau, t, steady, free, pinned)
    return _equilibrium(search, found_from(search, start))


def equilibria(
    system: System | Equations,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    *,
    starts: int = 50,
    seed: int = 0,
    tau: Any = None,
    t: float = 0.0,
    steady: Iterable[str] = (),
    free: Iterable[str] = (),
    pinned: Iterable[str] = (),
) -> tuple[Equilibrium, ...]:
    """Return the equilibria found from the guess and from random *starts*, by rising potential energy.

    Angles start anywhere, lengths within their own size, or one metre, of the guess. Positions that differ by whole turns are
    the same; positions beyond a limit, and those that do not last, are excluded. Arguments and errors as for :func:`equilibrium`.
    """
    search, start = searched(system, q, v, p, tau, t, steady, free, pinned)
    found: list[tuple[Equilibrium, tuple[FloatArray, ...]]] = []
    last, excluded = search.nearest(start), ""
    for guess in (None, *_random(search, start, whole("starts", starts, 0, 10**6), whole("seed", seed, 0))):
        tried = last if guess is None else search.nearest(guess)
        if not tried.converged:
            last = min(last, tried, key=lambda x: x.violation)
            continue
        if why := _beyond(search, tried.state) or _passing(search, tried.state):
            excluded = excluded or why
            continue
        place = _place(search, tried.state)
        if not any(_same(place, other) for _, other in found):
            found.append((_equilibrium(search, tried), place))
    if not found:
        raise SimulationError(excluded or _not_found(search, last, starts))
    return tuple(sorted((e for e, _ in found), key=lambda e: e.potential_energy))


def found_from(search: Search, start: SteadyState) -> NewtonResult[SteadyState]:
    """Return the equilibrium nearest to *start*. Raises :class:`SimulationError` where none persists."""
    found = search.nearest(start)
    if not found.converged:
        raise SimulationError(_not_found(search, found))
    if why := _beyond(search, found.state) or _passing(search, found.state):
        raise SimulationError(why)
    return found


def searched(
    system: System | Equations,
    q: Any,
    v: Any,
    p: Any,
    tau: Any,
    t: Any,
    steady: Iterable[str],
    free: Iterable[str],
    pinned: Iterable[str],
) -> tuple[Search, SteadyState]:
    """Return the search, and its initial state."""
    equations = given_equations(system)
    model, t = equations.system, finite("t", t)
    warn_ignored(model, "an equilibrium")
    values = parameters(model, p)
    q0, v0 = initial_state(model, q, v, values)
    acting = applied_forces(model, tau)
    if acting.sampled or max(q0.ndim, v0.ndim, values.ndim, acting.constant.ndim) > 1:
        raise ArgumentError("Expected one state and forces of it to find an equilibrium from, found cases or samples.")
    going = _places(model, steady, model.v_names, "speed", "to go on")
    found = _places(model, free, [model.v_names[k] for k in going], "steady speed", "to be found")
    held = _places(model, pinned, model.q_names, "coordinate", "to pin")
    v0 = np.where(np.isin(np.arange(model.nv), going), v0, 0.0)
    begin = consistent(equations, t, q0, v0, values, reach=np.inf)
    equations = begin.equations
    conditions = SteadyConditions(equations, acting)
    start = SteadyState(t, begin.q, v0, np.zeros(len(conditions.multipliers)), values)
    parts = conditions.parts
    if not np.isfinite(conditions.residuals(start)).all():
        check_defined(equations, acting, values, t, np.concatenate([begin.q, v0]))
    tangents = np.abs(conditions.tangents(start))
    motion = [k for k in parts["motion"] if not tangents[k, held].any()]
    speeds = [parts["speed"][going[k]] for k in found]
    first = model.nq - model.nz
    states = [k for i, k in enumerate(parts["state"]) if first + i not in held]
    within = LimitDistances(conditions.equations)
    return Search(conditions, [*motion, *speeds, *parts["multiplier"], *states], tuple(going), within), start


def _places(system: System, names: Iterable[str], known: Any, what: str, purpose: str) -> list[int]:
    """Return the places of *names* among the *known* ones."""
    found = []
    for name in records(names, str, f"names of {what}s", f"'{known[0]}'" if len(known) else "'q1'"):
        if name not in known:
            near = did_you_mean(name, known)
            raise ArgumentError(f"Model '{system.name}' has no {what} '{name}' {purpose}.{near}")
        found.append(list(known).index(name))
    return found


def _equilibrium(search: Search, found: NewtonResult[SteadyState]) -> Equilibrium:
    conditions, at = search.conditions, found.state
    system = conditions.system
    names, values = (*system.q_names, *system.v_names), np.concatenate([at.q, at.v]).tolist()
    potential = float(conditions.equations.function("potential_energy", "numpy")(at.t, at.q, at.v, p=at.p))
    return Equilibrium(
        model=system.name,
        q=at.q,
        v=at.v,
        initial=dict(zip(names, values, strict=True)),
        multipliers=dict(zip(conditions.multipliers, at.multipliers.tolist(), strict=True)),
        potential_energy=potential,
        stability=stability(conditions, at, search.steady),
        residual=found.violation,
        steady=tuple(system.v_names[k] for k in search.steady),
        state=at,
        acting=conditions.tau,
        system=system,
    )


def _beyond(search: Search, at: SteadyState) -> str:
    """Return the sentence on an equilibrium *at* beyond a limit; ``''`` within the limits."""
    limit = search.within.violated(at.t, at.q, at.p)
    if not limit:
        return ""
    place = ", ".join(f"{n} = {x:.4g}" for n, x in zip(search.conditions.system.q_names, at.q, strict=True))
    return (
        f"Model '{search.conditions.system.name}': the equilibrium at {place} lies beyond the limit {limit}. Start from another "
        "guess, or from many (equilibria); a run with damping finds a rest on the limit."
    )


def _passing(search: Search, at: SteadyState) -> str:
    """Return the sentence on conditions that fail as ignorable coordinates and time advance; ``''`` where they hold."""
    conditions = search.conditions
    now = conditions.residuals(at)
    worst, later, off, k = LATER, at, now, 0
    for there in conditions.advanced(at):
        found = conditions.residuals(there)
        if np.array_equal(found, now):
            continue
        parts = newton_distances(found, search.slope(there))
        if not parts.max(initial=0.0) <= worst:
            worst, later, off, k = float(parts.max()), there, found, int(parts.argmax())
    if later is at:
        return ""
    moving = [conditions.system.v_names[i] for i in search.steady if at.v[i]]
    why = f"the coordinates that {', '.join(moving)} move are not ignorable" if moving else "the time changes it"
    return (
        f"Model '{conditions.system.name}': no equilibrium lasts: {conditions.names[k]} is met at t = {at.t:g} s, and off by "
        f"{_size(conditions, k, off[k])} at t = {later.t:g} s; {why}. Take other speeds for steady ones, or forces that stay."
    )


def _not_found(search: Search, found: NewtonResult[SteadyState], starts: int = 0) -> str:
    conditions, at = search.conditions, found.state
    k = int(found.parts.argmax())
    tried = f"from the guess and {starts} random starts" if starts else "from this guess"
    names = (*conditions.system.q_names, *(conditions.system.v_names[i] for i in search.steady))
    values = (*at.q.tolist(), *(at.v[i] for i in search.steady))
    place = ", ".join(f"{n} = {x:.4g}" for n, x in zip(names, values, strict=True))
    if not (np.isfinite(found.residual).all() and np.isfinite(search.slope(at)).all()):
        acting = tuple(conditions.tau.expressions.values())
        why = domain_violation(conditions.equations, at.p, at.t, np.concatenate([at.q, at.v]), acting)
        return (
            f"Model '{conditions.system.name}': no equilibrium was found {tried}: at {place} {conditions.names[k]} has no value, "
            f"or no slope{f': {why}' if why else ''}. Start from another guess, or give other values of parameters."
        )
    advice = "Start from another guess, or from many (equilibria); it may be that there is none."
    speeds, of_state = _ignorable(search, at), k >= len(conditions.names) - conditions.system.nz
    pushed = of_state or any(conditions.system.v_names.index(speed) == k for speed in speeds)
    if speeds and pushed and not search.steady:
        advice = (
            f"No place of the machine depends on what {excerpt(speeds)} moves: where it goes on, name it as steady, and as free "
            "with a guess of its value."
        )
    elif of_state:
        advice = "A rest needs a state of its own rate zero: start from another guess, or leave out a state that only counts up."
    of_constraint = k >= conditions.system.nv and conditions.names[k].endswith("''")
    if of_constraint and not search.steady:
        advice = "The time moves it: name the speeds that go on with it as steady, and give their values."
    elif len(search.free) < len(conditions.parts["motion"]):
        advice = "No force holds a pinned coordinate: pin one that nothing pushes, or ask statics for the forces that hold it."
    contacts = excerpt(c.name for c in conditions.system.contacts)
    alone = (
        f" Contacts and limits ({contacts}) hold nothing here; a run with damping finds a rest on them."
        if contacts
        else ""
    )
    return (
        f"Model '{conditions.system.name}': no equilibrium was found {tried}: at {place} {conditions.names[k]} is still off by "
        f"{_size(conditions, k, found.residual[k])}, and no step makes less of it. {advice}{alone}"
    )


def _ignorable(search: Search, at: SteadyState) -> list[str]:
    """Speeds whose coordinates change no condition."""
    motion, slope = search.conditions.parts["motion"], search.slope(at)
    moves = [k for k, i in enumerate(search.free) if i in motion and not slope[:, k].any()]
    return [search.conditions.system.v_names[search.free[k] - motion.start] for k in moves]


def _size(conditions: SteadyConditions, k: int, off: float) -> str:
    """Return the residual *off* of the condition number *k* in words; a force with its unit."""
    forces = [added_force(n) for n in conditions.system.v_names]
    unit = varied_units(conditions.system).get(forces[k], "") if k < len(forces) else ""
    return f"{abs(off):.3g} {unit}".rstrip()


def _random(search: Search, start: SteadyState, count: int, seed: int) -> Iterable[SteadyState]:
    """Yield random states around *start*."""
    system = search.conditions.system
    units = variable_units(system)
    reach = np.array([np.pi if units.get(n) == "rad" else 1.0 for n in system.q_names])
    about = np.array([0.0 if units.get(n) == "rad" else x for n, x in zip(system.q_names, start.q, strict=True)])
    reach = np.maximum(reach, np.abs(about))
    turned = [k + offset for offset in system.quaternions.values() for k in range(4)]
    fixed = np.ones(system.nq, dtype=bool)
    for k in search.free:
        if k in search.conditions.parts["motion"]:
            fixed &= search.conditions.tangents(start)[k] == 0
        if k in search.conditions.parts["state"]:
            fixed[system.nq - system.nz + search.conditions.parts["state"].index(k)] = False
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = about + reach * rng.uniform(-1, 1, system.nq)
        q[turned] = rng.standard_normal(len(turned))
        q = np.where(fixed, start.q, q)
        yield search.conditions.retract(replace(start, q=q), np.zeros(search.conditions.parts["parameter"].stop))


def _place(search: Search, at: SteadyState) -> tuple[FloatArray, ...]:
    """Return positions and rotations of all bodies, the potential energy, the speeds and the coordinates that move no body: by
    these equal positions are told.
    """
    e, system = search.conditions.equations, search.conditions.system
    turned = {k + offset for offset in system.quaternions.values() for k in range(4)}
    moving = variable_units(system)
    own = system.state_names
    alone = [k for k, n in enumerate(system.q_names) if n in own or (n not in moving and k not in turned)]
    found = [e.function(n, "numpy")(at.t, at.q, at.v, p=at.p) for n in ("positions", "rotations", "potential_energy")]
    return (*(np.ravel(x) for x in found), at.v, at.q[alone])


def _same(place: tuple[FloatArray, ...], other: tuple[FloatArray, ...]) -> bool:
    """Return whether two places are equal, each quantity within its own size."""
    return all(
        np.abs(a - b).max(initial=0.0) <= tolerances.SOLUTION_DISTANCE * max(1.0, np.abs(a).max(initial=0.0))
        for a, b in zip(place, other, strict=True)
    )
