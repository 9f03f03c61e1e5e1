"""Families of equilibria along a parameter: continuation through folds, and branch switching at bifurcations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.calls import public
from kineta.drawing import draw, notebook
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, ModelError, SimulationError, did_you_mean, shown
from kineta.model.dimensions import varied_units
from kineta.model.system import System
from kineta.numerics.continuation import POINTS, STUCK, Curve, CurvePoint, branch_starts, follow
from kineta.numerics.linear_algebra import norm, pivoted_triangle
from kineta.records import dataclass
from kineta.runtime.parameter_checks import check_parameters
from kineta.runtime.steady_motion import SteadyState
from kineta.tasks.equilibria.equilibrium import Search, found_from, searched
from kineta.tasks.linear.stability import stability
from kineta.values import finite, whole, word

#: Continuation steps from one end of the parameter's interval to the other at a constant position.
STEPS = 60


@dataclass(frozen=True)
class Special:
    """A ``fold``, at which the parameter turns back, or a ``bifurcation``, at which another branch crosses."""

    kind: str
    parameter: float
    q: FloatArray
    v: FloatArray

    def __repr__(self) -> str:
        return f"<{self.kind} at {self.parameter:.9g}>"


@dataclass(frozen=True, eq=False)
class Branch:
    """Equilibria along a continuation branch.

    parameter : (k,) values of the parameter; q, v : (k, nq), (k, nv); stable : (k,) 1, 0, or NaN where it is not decided
    """

    parameter: FloatArray
    q: FloatArray
    v: FloatArray
    stable: FloatArray
    names: tuple[str, ...] = field(repr=False)

    @property
    def verdict(self) -> str:
        """The stabilities along the branch, in words."""
        found = {"undecided" if np.isnan(x) else ("unstable", "stable")[int(x)]: None for x in self.stable}
        return " and ".join(found)

    def __getitem__(self, name: str) -> FloatArray:
        """Return the values (k,) of a coordinate or speed. Raises :class:`ArgumentError` for an unknown name."""
        if not isinstance(name, str) or name not in self.names:
            raise ArgumentError(f"There is no coordinate or speed {shown(name)}.{did_you_mean(name, self.names)}")
        return np.concatenate([self.q, self.v], axis=1)[:, self.names.index(name)]


@public
@dataclass(frozen=True, eq=False)
class Family:
    """The equilibria of a model along a parameter: ``branches`` in the order of discovery, and the ``special`` points on them.

    units : by name, where they are known
    notes : reasons of branches that end within the interval of the parameter
    reached : whether a branch reaches the end of the interval
    """

    model: str
    parameter: str
    branches: tuple[Branch, ...]
    special: tuple[Special, ...]
    units: Mapping[str, str]
    notes: tuple[str, ...] = ()
    reached: bool = True

    _repr_html_ = notebook

    def __repr__(self) -> str:
        found = ", ".join(f"{s.kind} at {s.parameter:.6g}" for s in self.special) or "no folds or bifurcations"
        n = len(self.branches)
        said = "".join(f"; {note}" for note in self.notes)
        return f"<Family of '{self.model}' along {self.parameter}: {n} branch{'es' * (n > 1)}; {found}{said}>"

    def lines(self) -> list[str]:
        """Return the branches, the special points and the notes as text."""
        name, several = self.parameter, len(self.branches) > 1
        lines = [f"{self.model}: {len(self.branches)} branch{'es' * several} along {name}"]
        for branch in self.branches:
            a, b = branch.parameter[[0, -1]]
            span = f"from {name} = {a:.6g} to {b:.6g}, {branch.verdict}"
            lines.append(f"  {len(branch.parameter)} equilibria {span}")
        for point in self.special:
            values = zip(self.branches[0].names, point.q, strict=False)
            place = ", ".join(f"{n} = {round(x, 9) + 0.0:.6g}" for n, x in values)
            lines.append(f"  {point.kind} at {name} = {point.parameter:.9g}: {place}")
        return [*lines, *(f"  {note}" for note in self.notes)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        branches = [
            {"parameter": b.parameter.tolist(), "stable": b.stable.tolist(), **{n: b[n].tolist() for n in b.names}}
            for b in self.branches
        ]
        return {
            "model": self.model,
            "parameter": self.parameter,
            "branches": branches,
            "special": [{"kind": s.kind, "parameter": s.parameter, "q": s.q.tolist()} for s in self.special],
            "notes": list(self.notes),
            "reached": self.reached,
        }

    def plot(self, name: str | None = None, *, ax: Any = None) -> Any:
        """Draw the coordinate or speed *name* (the first coordinate, if none is given) over the parameter, stable parts full,
        others dashed; returns the Matplotlib axes.
        """
        return draw(self, name, ax=ax)


def family(
    system: System | Equations,
    parameter: str,
    to: float,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    *,
    tau: Any = None,
    steady: Iterable[str] = (),
    free: Iterable[str] = (),
    pinned: Iterable[str] = (),
    branches: int = 20,
    points: int = 400,
) -> Family:
    """Return the equilibria of *system* along a *parameter* from its present value *to* another, from the one nearest to *q*.

    parameter : name of a parameter, or of one of the *steady* speeds
    branches : most branches; a branch crossing at a bifurcation counts twice, once for each direction
    points : most points of a branch

    The rest as for :func:`~kineta.tasks.equilibria.equilibrium.equilibrium`. Branches end where the parameter leaves its
    interval; ``notes`` give the reasons of earlier ends. Raises :class:`SimulationError` without an equilibrium to start from,
    or for one that is not isolated at the start.
    """
    search, start = searched(system, q, v, p, tau, 0.0, steady, free, pinned)
    own = _parameter(search, word(parameter, "the name of a parameter"))
    most, count = whole("points", points, 2, 10**6), whole("branches", branches, 1, 10**4)
    first, end = found_from(search, start).state, finite("to", to)
    began = _value(search, first, own)
    if began == end:
        raise ArgumentError(
            f"Expected an end beside {parameter} = {began:g}, where the family begins, found to = {end:g}."
        )
    way, length = _curve(search, first, own, abs(end - began) / 2), 2.0 / STEPS
    curve = way.curve

    def room(point: CurvePoint[SteadyState]) -> float:
        value = way.value(point.state)
        return min(value - min(began, end), max(began, end) - value, way.room(point.state))

    ahead = np.zeros(len(way.scale))
    ahead[-1] = np.sign(end - began)
    waiting, found, special = [curve.at(first, ahead)], list[Branch](), list[CurvePoint[SteadyState]]()
    notes = list[str]()
    while waiting and len(found) < count:
        points_on, why = follow(curve, waiting.pop(0), length, room, most)
        if len(points_on) < 2:
            if not found and (why := _ended(way, parameter, points_on, why)):
                notes.append(f"the first branch {why}")
            continue
        found.append(_branch(search, way, points_on))
        if why := _ended(way, parameter, points_on, why):
            notes.append(f"branch {len(found)} {why}")
        for point in points_on[1:]:
            if point.kind and not any(
                way.apart(point.state, other.state) < tolerances.SOLUTION_DISTANCE for other in special
            ):
                special.append(point)
                waiting += branch_starts(curve, point, length)
    if waiting:
        notes.append(f"{len(waiting)} more branches are not followed; ask for more (branches)")
    reached = any(
        np.isclose(branch.parameter, end, rtol=0.0, atol=tolerances.SOLUTION_DISTANCE * abs(end - began)).any()
        for branch in found
    )
    if not (reached or notes):
        notes.append(f"no branch comes to {parameter} = {end:g}")
    return Family(
        search.conditions.system.name,
        parameter,
        tuple(found),
        tuple(Special(x.kind, way.value(x.state), x.state.q, x.state.v) for x in special),
        varied_units(search.conditions.system),
        tuple(notes),
        reached,
    )


def _parameter(search: Search, name: str) -> int:
    """Return the place of the parameter or steady speed *name* among the variables."""
    system, parts = search.conditions.system, search.conditions.parts
    speeds = {system.v_names[k]: parts["speed"][k] for k in search.steady}
    places = dict(zip(system.parameter_names, parts["parameter"], strict=True)) | speeds
    if name not in places:
        what = "parameter or steady speed" if speeds else "parameter"
        advice = did_you_mean(name, places)
        if name in system.v_names:
            advice = " It is a speed: name it in steady (--steady on the command line), and it goes on."
        raise ArgumentError(f"Model '{system.name}' has no {what} '{name}' to go along.{advice}")
    if places[name] in search.free:
        raise ArgumentError(
            f"Expected '{name}' to go along, found it among what is looked for (free); take it from there."
        )
    return places[name]


def _value(search: Search, at: SteadyState, place: int) -> float:
    """Return the value of the parameter or speed at a *place* among the variables."""
    parts = search.conditions.parts
    block, values = ("parameter", at.p) if place in parts["parameter"] else ("speed", at.v)
    return float(values[place - parts[block].start])


@dataclass(frozen=True)
class EquilibriumCurve:
    """The conditions of a family as an implicit curve: the *rows* independent at the start, in the free variables of a *search*,
    the parameter last, each at its *scale*.
    """

    search: Search
    rows: IntArray
    weight: FloatArray
    scale: FloatArray

    @property
    def curve(self) -> Curve[SteadyState]:
        """The curve for the continuation."""
        return Curve(self.off, self.slope, self.moved)

    def off(self, at: SteadyState) -> FloatArray:
        """Return the residuals; NaN for parameters without a physical inertia."""
        if self.why_not(at):
            return np.full(len(self.rows), np.nan)
        return self.search.conditions.residuals(at)[self.rows] * self.weight

    def why_not(self, at: SteadyState) -> str:
        """Return the reason why parameters give a body no physical inertia; ``''`` otherwise."""
        if self.search.free[-1] in self.search.conditions.parts["parameter"]:
            try:
                check_parameters(self.search.conditions.system, at.p)
            except ModelError as error:
                return str(error)
        return ""

    def room(self, at: SteadyState) -> float:
        """Return the least distance from a limit."""
        return float(self.search.within.distances(at.t, at.q, at.p).min(initial=np.inf))

    def slope(self, at: SteadyState) -> FloatArray:
        """Return the Jacobian of the residuals."""
        return self.search.slope(at)[self.rows] * np.outer(self.weight, self.scale)

    def moved(self, at: SteadyState, change: FloatArray) -> SteadyState:
        """Return the state after a change."""
        return self.search.moved(at, change * self.scale)

    def value(self, at: SteadyState) -> float:
        """Return the value of the parameter."""
        return _value(self.search, at, self.search.free[-1])

    def apart(self, a: SteadyState, b: SteadyState) -> float:
        """Return the scaled distance of two states."""
        parts = (a.q - b.q, a.v - b.v, np.atleast_1d(self.value(a) - self.value(b)) / self.scale[-1])
        return float(np.abs(np.concatenate(parts)).max())


def _curve(search: Search, first: SteadyState, own: int, reach: float) -> EquilibriumCurve:
    """Return the curve from the *first* equilibrium along the variable number *own*, over an interval of length *reach*."""
    conditions = search.conditions
    slope, columns = conditions.jacobian(first), np.array(search.free, dtype=np.int64)
    size = norm(slope[:, columns], axis=0)
    columns = columns[size > tolerances.RANK_TOLERANCE * size.max(initial=0.0)]
    scale = np.ones(len(columns))
    scale[columns >= conditions.parts["multiplier"].start] = max(1.0, np.abs(first.multipliers).max(initial=0.0))
    for part, values in (("speed", first.v), ("state", first.q[len(first.q) - conditions.system.nz :])):
        chosen = np.isin(columns, conditions.parts[part])
        scale[chosen] = np.maximum(1.0, np.abs(values))[columns[chosen] - conditions.parts[part].start]
    lengths = norm(slope[:, columns] * scale, axis=1)
    weight = 1.0 / np.where(lengths > 0, lengths, 1.0)
    R, order = pivoted_triangle((slope[:, columns] * np.outer(weight, scale)).T, what="the family's way")
    count = int((np.abs(np.diag(R)) > tolerances.RANK_TOLERANCE).sum())
    if count < len(columns):
        more = len(columns) - count
        raise SimulationError(
            f"Model '{conditions.system.name}': the family cannot be followed: in {more} direction{'s' * (more > 1)} there are "
            "equilibria beside the first one at the same parameter. Pin coordinates, or begin away from folds and bifurcations."
        )
    rows = np.sort(order[:count]).astype(np.int64)
    along = replace(search, free=[*columns.tolist(), own])
    return EquilibriumCurve(along, rows, weight[rows], np.append(scale, reach))


def _ended(way: EquilibriumCurve, parameter: str, points: Sequence[CurvePoint[SteadyState]], why: str) -> str:
    """Return the reason why a branch of *points* ended within the interval; ``''`` at an end of the interval."""
    last = points[-1]
    where = f"ends at {parameter} = {way.value(last.state):.6g}"
    if why == POINTS:
        return f"{where} after {len(points)} points; ask for more (points), if it goes on"
    if why == STUCK:
        beyond = way.moved(last.state, last.tangent / STEPS)
        return f"{where}; beyond, {way.why_not(beyond) or 'no equilibrium is found'}".rstrip(".")
    at = way.search.within.reached(last.state.t, last.state.q, last.state.p)
    return f"{where}, where it reaches the limit {', '.join(sorted(at))}" if at else ""


def _branch(search: Search, way: EquilibriumCurve, points: Sequence[CurvePoint[SteadyState]]) -> Branch:
    conditions = search.conditions
    states = [point.state for point in points]
    verdicts = [stability(conditions, at, search.steady).stable for at in states]
    return Branch(
        np.array([way.value(at) for at in states]),
        np.array([at.q for at in states]),
        np.array([at.v for at in states]),
        np.array([np.nan if x is None else float(x) for x in verdicts]),
        (*conditions.system.q_names, *conditions.system.v_names),
    )
