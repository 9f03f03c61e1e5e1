"""Equilibria: positions of rest, and steady motions along which only ignorable coordinates change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations, given_equations
from kineta.errors import ArgumentError, SimulationError, did_you_mean
from kineta.model.dimensions import variable_units, varied_units
from kineta.model.given import records
from kineta.model.infer import few
from kineta.model.system import System
from kineta.numerics.newton import Found, Functions, misses, nearest_zero
from kineta.tasks.apart import warn_without
from kineta.tasks.closing import Closing
from kineta.tasks.code import parameters
from kineta.tasks.forces import Forces, forces
from kineta.tasks.limits import Within
from kineta.tasks.rank import rank
from kineta.tasks.stability import Stability, stability
from kineta.tasks.state import initial_state
from kineta.tasks.steady import Conditions, State
from kineta.values import finite, whole

FloatArray = NDArray[np.float64]

#: By how much the conditions may be missed after a turn of one radian of what goes on.
LATER = 1e-4
#: Part of their size by which two equilibria may differ and be one.
SAME = 1e-6


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest, or a steady motion.

    q, v : coordinates (nq,) and speeds (nv,); ``initial`` has both by name
    multipliers : of the constraints, by name
    potential_energy : [J]
    stability : what potential and small motions say of it
    residual : by how much forces and constraints are off, as a change of the state that would make up for it
    steady : names of the speeds that go on
    state, acting : what was found, and the forces beside those of the model, as other tasks take them
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
    state: State = field(repr=False, compare=False)
    acting: Forces = field(repr=False, compare=False)

    @property
    def stable(self) -> bool | None:
        """Whether it is stable; None where that is not decided."""
        return self.stability.stable

    def __repr__(self) -> str:
        values = ", ".join(f"{n} = {x:.6g}" for n, x in self.initial.items() if x or not n.endswith("'"))
        return f"<Equilibrium of '{self.model}': {values}; {self.stability}>"


@dataclass(frozen=True)
class Search:
    """What is looked for: the conditions, the changes that are *free*, the speeds that go on, and the limits within which."""

    conditions: Conditions
    free: list[int]
    steady: tuple[int, ...]
    within: Within

    def slope(self, at: State) -> FloatArray:
        """Derivatives of the conditions by the free changes."""
        return self.conditions.slope(at)[:, self.free]

    def moved(self, at: State, change: FloatArray) -> State:
        """The state after a free *change*."""
        whole_change = np.zeros(self.conditions.parts["parameter"].stop)
        whole_change[self.free] = change
        return self.conditions.moved(at, whole_change)

    def nearest(self, start: State) -> Found[State]:
        """The nearest equilibrium to *start*, or where no step comes nearer to one."""
        turning = np.array(self.free) < self.conditions.parts["multiplier"].start
        longest = np.where(turning, 1.0, np.inf)
        functions = Functions(self.conditions.off, self.slope, self.moved, longest, self.drag)
        return nearest_zero(self.conditions.balanced(start), functions)

    def drag(self, at: State) -> FloatArray:
        """What the conditions would be changed by if motions met their inertia as a resistance."""
        found = np.zeros((len(self.conditions.names), self.conditions.parts["parameter"].stop))
        inertia = self.conditions.inertia(at)
        found[: len(inertia), : inertia.shape[1]] = inertia
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
    """The equilibrium of *system* that is nearest to the guess *q*: of rest, or with speeds that stay what they are.

    q, p, tau : as for :func:`~kineta.tasks.simulate.simulate`, of one case
    v : the speeds that go on, those of the model's ``initial`` where not given
    t : the time at which the forces and drives are taken [s]
    steady : names of the speeds that go on; all others are zero
    free : those of them that are looked for as well, from the guess *v*
    pinned : coordinates that stay as they are

    Raises :class:`SimulationError` where none is found: with what is off most, and by how much; for one beyond a limit; and for
    one that does not stay one as its coordinates, or the time, go on.
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
    """The equilibria that are found from the guess and from as many random *starts*, by rising potential energy.

    Angles start anywhere, lengths around the guess by as much as it is large, or by one metre. Positions that differ by whole
    turns are one; what lies beyond a limit is none. Arguments and errors as for :func:`equilibrium`.
    """
    search, start = searched(system, q, v, p, tau, t, steady, free, pinned)
    found: list[tuple[Equilibrium, FloatArray]] = []
    last, beyond = search.nearest(start), ""
    for guess in (None, *_random(search, start, whole("starts", starts, 0, 10**6), whole("seed", seed, 0))):
        tried = last if guess is None else search.nearest(guess)
        if not tried.met:
            last = min(last, tried, key=lambda x: x.missed)
            continue
        if why := _beyond(search, tried.state):
            beyond = beyond or why
            continue
        place = _place(search, tried.state)
        if any(np.abs(place - other).max() <= SAME * max(1.0, np.abs(place).max()) for _, other in found):
            continue
        _stays(search, tried.state)
        found.append((_equilibrium(search, tried), place))
    if not found:
        raise SimulationError(beyond or _not_found(search, last, starts))
    return tuple(sorted((e for e, _ in found), key=lambda e: e.potential_energy))


def found_from(search: Search, start: State) -> Found[State]:
    """The equilibrium nearest to *start*. Raises :class:`SimulationError` where there is none that stays one."""
    found = search.nearest(start)
    if not found.met:
        raise SimulationError(_not_found(search, found))
    if why := _beyond(search, found.state):
        raise SimulationError(why)
    _stays(search, found.state)
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
) -> tuple[Search, State]:
    """What is looked for, and the state from which."""
    equations = given_equations(system)
    model, t = equations.system, finite("t", t)
    warn_without(model, "an equilibrium")
    values = parameters(model, p)
    q0, v0 = initial_state(model, q, v, values)
    acting = forces(model, tau)
    if acting.sampled or max(q0.ndim, v0.ndim, values.ndim, acting.constant.ndim) > 1:
        raise ArgumentError("Expected one state and forces of it to find an equilibrium from, found cases or samples.")
    going = _places(model, steady, model.v_names, "speed", "to go on")
    found = _places(model, free, [model.v_names[k] for k in going], "steady speed", "to be found")
    held = _places(model, pinned, model.q_names, "coordinate", "to pin")
    v0 = np.where(np.isin(np.arange(model.nv), going), v0, 0.0)
    if model.constraints and not model.quasi:
        closing = Closing(equations, values)
        q0 = closing.position(t, q0)
        equations = equations.without(rank(closing, t, q0, closing.velocity(t, q0, v0)).left_out)
    conditions = Conditions(equations, acting)
    start = State(t, q0, v0, np.zeros(len(conditions.multipliers)), values)
    parts = conditions.parts
    tangents = np.abs(conditions.tangents(start))
    motion = [k for k in parts["motion"] if not tangents[k, held].any()]
    speeds = [parts["speed"][going[k]] for k in found]
    within = Within(conditions.equations)
    return Search(conditions, [*motion, *speeds, *parts["multiplier"]], tuple(going), within), start


def _places(system: System, names: Iterable[str], known: Any, what: str, purpose: str) -> list[int]:
    """The places of *names* among the *known* ones."""
    found = []
    for name in records(names, str, f"names of {what}s", f"'{known[0]}'" if len(known) else "'q1'"):
        if name not in known:
            near = did_you_mean(name, known)
            raise ArgumentError(f"Model '{system.name}' has no {what} '{name}' {purpose}.{near}")
        found.append(list(known).index(name))
    return found


def _equilibrium(search: Search, found: Found[State]) -> Equilibrium:
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
        residual=found.missed,
        steady=tuple(system.v_names[k] for k in search.steady),
        state=at,
        acting=conditions.tau,
    )


def _beyond(search: Search, at: State) -> str:
    """That the equilibrium *at* lies beyond a limit; ``''`` where it does not."""
    limit = search.within.beyond(at.t, at.q, at.p)
    if not limit:
        return ""
    place = ", ".join(f"{n} = {x:.4g}" for n, x in zip(search.conditions.system.q_names, at.q, strict=True))
    return (
        f"Model '{search.conditions.system.name}': the equilibrium at {place} lies beyond the limit {limit}. Start from another "
        "guess, or from many (equilibria); a run with damping finds a rest on the limit."
    )


def _stays(search: Search, at: State) -> None:
    """Raise where the conditions are not met any more as coordinates and time go on."""
    conditions = search.conditions
    later = conditions.later(at)
    if later.t == at.t:
        return
    off = conditions.off(later)
    parts = misses(off, search.slope(later))
    if parts.max(initial=0.0) <= LATER:
        return
    k = int(parts.argmax())
    moving = [conditions.system.v_names[i] for i in search.steady if at.v[i]]
    why = f"the coordinates that {', '.join(moving)} move are not ignorable" if moving else "the time changes it"
    raise SimulationError(
        f"Model '{conditions.system.name}': no equilibrium lasts: {conditions.names[k]} is met at t = {at.t:g} s, and off by "
        f"{_size(conditions, k, off[k])} at t = {later.t:g} s; {why}. Take other speeds for steady ones, or forces that stay."
    )


def _not_found(search: Search, found: Found[State], starts: int = 0) -> str:
    conditions, at = search.conditions, found.state
    k = int(found.parts.argmax())
    tried = f"from the guess and {starts} random starts" if starts else "from this guess"
    names = (*conditions.system.q_names, *(conditions.system.v_names[i] for i in search.steady))
    values = (*at.q.tolist(), *(at.v[i] for i in search.steady))
    place = ", ".join(f"{n} = {x:.4g}" for n, x in zip(names, values, strict=True))
    advice = "Start from another guess, or from many (equilibria); it may be that there is none."
    of_constraint = k >= conditions.system.nv and conditions.names[k].endswith("''")
    if of_constraint and not search.steady:
        advice = "The time moves it: name the speeds that go on with it as steady, and give their values."
    elif len(search.free) < len(conditions.parts["motion"]):
        advice = "No force holds a pinned coordinate: pin one that nothing pushes, or ask statics for the forces that hold it."
    contacts = few(c.name for c in conditions.system.contacts)
    alone = (
        f" Contacts and limits ({contacts}) hold nothing here; a run with damping finds a rest on them."
        if contacts
        else ""
    )
    return (
        f"Model '{conditions.system.name}': no equilibrium was found {tried}: at {place} {conditions.names[k]} is still off by "
        f"{_size(conditions, k, found.off[k])}, and no step makes less of it. {advice}{alone}"
    )


def _size(conditions: Conditions, k: int, off: float) -> str:
    """By how much the condition number *k* is *off*; a force with its unit."""
    forces = [f"tau.{n}" for n in conditions.system.v_names]
    unit = varied_units(conditions.system).get(forces[k], "") if k < len(forces) else ""
    return f"{abs(off):.3g} {unit}".rstrip()


def _random(search: Search, start: State, count: int, seed: int) -> Iterable[State]:
    """Random states around *start*."""
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
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = about + reach * rng.uniform(-1, 1, system.nq)
        q[turned] = rng.standard_normal(len(turned))
        q = np.where(fixed, start.q, q)
        yield search.conditions.moved(replace(start, q=q), np.zeros(search.conditions.parts["parameter"].stop))


def _place(search: Search, at: State) -> FloatArray:
    """Where all bodies are, how they are turned, and the energy that is stored: equal for positions that are one."""
    e = search.conditions.equations
    found = [e.function(n, "numpy")(at.t, at.q, at.v, p=at.p) for n in ("positions", "rotations", "potential_energy")]
    return np.concatenate([*(np.ravel(x) for x in found), at.v])
