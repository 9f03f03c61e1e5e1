"""Families of periodic motions along a parameter: continuation through folds, with period doubling and tori."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import ComplexArray, FloatArray
from kineta.calls import public
from kineta.drawing import draw, notebook
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, ModelError, SimulationError, did_you_mean, shown
from kineta.model.dimensions import varied_units
from kineta.model.system import System
from kineta.numerics.continuation import POINTS, STUCK, Curve, CurvePoint, follow
from kineta.numerics.linear_algebra import lstsq, svd
from kineta.records import dataclass
from kineta.runtime.parameter_checks import check_parameters
from kineta.tasks.periodic_motions import floquet
from kineta.tasks.periodic_motions.periodic_motion import check_repeated, found_orbit, shooting_of
from kineta.tasks.periodic_motions.shooting import CUTS, WAY, Orbit, Shooting
from kineta.values import finite, whole, word

#: Continuation steps from one end of the parameter's interval to the other at a constant motion.
STEPS = 12
#: Evaluations of the place of a bifurcation.
TRIES = 12


@dataclass(frozen=True)
class BifurcationPoint:
    """A ``period doubling`` (a multiplier -1), a ``torus`` (a complex pair on the unit circle), a ``fold`` or a ``bifurcation``
    (a multiplier 1), with the ``parameter`` and the ``period`` there.
    """

    kind: str
    parameter: float
    period: float
    initial: Mapping[str, float]

    def __repr__(self) -> str:
        return f"<{self.kind} at {self.parameter:.9g}>"


@public
@dataclass(frozen=True, eq=False)
class PeriodicFamily:
    """Periodic motions along a parameter.

    values : (k,) of the parameter; period : (k,) [s]; states : (k, nq + nv) at the start, of the ``names``
    multipliers : (k, m) by falling size; stable : (k,) 1, 0, or NaN where it is not decided
    special : bifurcations on the way, in order; notes : why the family ends early
    """

    model: str
    parameter: str
    values: FloatArray
    period: FloatArray
    states: FloatArray
    multipliers: ComplexArray
    stable: FloatArray
    names: tuple[str, ...]
    special: tuple[BifurcationPoint, ...]
    units: Mapping[str, str]
    notes: tuple[str, ...] = ()
    reached: bool = True

    _repr_html_ = notebook

    def __getitem__(self, name: str) -> FloatArray:
        """Return the values (k,) of a coordinate or speed at the start, of the parameter, or of the ``period``. Raises
        :class:`ArgumentError` for other names.
        """
        series = dict(zip(self.names, self.states.T, strict=True)) | {
            self.parameter: self.values,
            "period": self.period,
        }
        if not isinstance(name, str) or name not in series:
            raise ArgumentError(f"There is no coordinate or speed {shown(name)}.{did_you_mean(name, series)}")
        return np.asarray(series[name])

    def __repr__(self) -> str:
        found = ", ".join(f"{s.kind} at {s.parameter:.6g}" for s in self.special) or "no bifurcations"
        return f"<PeriodicFamily of '{self.model}' along {self.parameter}: {len(self.values)} motions; {found}>"

    def lines(self) -> list[str]:
        """Return the interval, the bifurcations and the notes as text."""
        name, (a, b) = self.parameter, self.values[[0, -1]]
        words = {1.0: "stable", 0.0: "unstable"}
        verdict = " and ".join(dict.fromkeys(words.get(float(x), "undecided") for x in self.stable))
        (first, last) = self.period[[0, -1]]
        return [
            f"{self.model}: {len(self.values)} periodic motions from {name} = {a:.6g} to {b:.6g}, {verdict}",
            f"  periods from {first:.6g} s to {last:.6g} s",
            *(f"  {x.kind} at {name} = {x.parameter:.6g}, period {x.period:.6g} s" for x in self.special),
            *(f"  {note}" for note in self.notes),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "model": self.model,
            "parameter": self.parameter,
            "values": self.values.tolist(),
            "period": self.period.tolist(),
            "states": {n: self[n].tolist() for n in self.names},
            "multipliers": [[[float(x.real), float(x.imag)] for x in row] for row in self.multipliers],
            "stable": self.stable.tolist(),
            "special": [
                {"kind": s.kind, "parameter": s.parameter, "period": s.period, "initial": dict(s.initial)}
                for s in self.special
            ],
            "notes": list(self.notes),
            "reached": self.reached,
        }

    def plot(self, name: str = "period", *, ax: Any = None) -> Any:
        """Draw the period, or a coordinate or speed at the start, over the parameter, stable parts full, others dashed; returns
        the Matplotlib axes.
        """
        return draw(self, name, ax=ax)


def periodic_family(
    system: System | Equations,
    parameter: str,
    to: float,
    guess: float | None = None,
    *,
    section: Expr | str | None = None,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    drifts: Iterable[str] = (),
    keep: Iterable[str] = (),
    t0: float = 0.0,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    points: int = 200,
) -> PeriodicFamily:
    """Return the periodic motions of *system* along a *parameter* from its present value *to* another, from the one nearest to
    the guess.

    points : most points

    The rest as for :func:`~kineta.tasks.periodic_motions.periodic_motion.periodic`. Bifurcations are found where multipliers
    leave the unit circle; branches that begin there are not followed. Raises :class:`SimulationError` without a motion to start
    from.
    """
    name, count = word(parameter, "the name of a parameter"), whole("points", points, 2, 10**6)
    shooting, start = shooting_of(system, guess, section, q, v, p, tau, drifts, keep, t0, rtol, atol, (name,))
    model, end = shooting.equations.system, finite("to", to)
    if name not in model.parameter_names:
        raise ArgumentError(
            f"Model '{model.name}' has no parameter '{name}' to go along.{did_you_mean(name, model.parameter_names)}"
        )
    if model.constraints:
        raise ArgumentError(
            f"Model '{model.name}': families of periodic motions are followed without constraints; describe it in independent "
            "coordinates, or look for single ones."
        )
    if name in model.switched:
        raise ArgumentError(
            f"Model '{model.name}': '{name}' is set by a switch, and cannot be the parameter of a family."
        )
    place = model.parameter_names.index(name)
    first = found_orbit(shooting, start)
    began = float(first.p[place])
    if began == end:
        raise ArgumentError(f"Expected an end beside {name} = {began:g}, where the family begins, found to = {end:g}.")
    if shooting.forced and section is None:
        shooting.follow_forces(first, end)
    way = _Way(shooting, place, abs(end - began) / 2)
    way.determine(first)

    def room(point: CurvePoint[Orbit]) -> float:
        value = float(point.state.p[place])
        return min(value - min(began, end), max(began, end) - value)

    ahead = np.zeros(way.unknowns)
    ahead[-1] = np.sign(end - began)
    on, why = follow(way.curve, way.curve.at(first, ahead), 2.0 / STEPS, room, count)
    for point in on:
        check_repeated(shooting, point.state)
    special = way.special(on)
    notes = []
    last = float(on[-1].state.p[place])
    if why == POINTS:
        notes.append(f"ends at {name} = {last:.6g} after {len(on)} points; ask for more (points), if it goes on")
    elif why == STUCK:
        notes.append(f"ends at {name} = {last:.6g}; beyond, no periodic motion is found")
    reached = bool(np.isclose(last, end, rtol=0.0, atol=tolerances.SOLUTION_DISTANCE * abs(end - began)))
    if not (reached or notes):
        notes.append(f"turns back, and does not come to {name} = {end:g}")
    states = [x.state for x in on]
    rows = [way.multipliers(x) for x in states]
    width = max(map(len, rows))
    verdicts = [floquet.is_stable(row) for row in rows]
    return PeriodicFamily(
        model.name,
        name,
        np.array([x.p[place] for x in states]),
        np.array([way.period(x) for x in states]),
        np.array([x.z for x in states]),
        np.array([np.append(row, np.zeros(width - len(row))) for row in rows]),
        np.array([np.nan if x is None else float(x) for x in verdicts]),
        (*model.q_names, *model.v_names),
        tuple(special),
        varied_units(model),
        tuple(notes),
        reached,
    )


@dataclass
class _Way:
    """The curve of periodic motions along the parameter at a *place*, which changes by *reach* in a unit of length."""

    shooting: Shooting
    place: int
    reach: float

    def __post_init__(self) -> None:
        self.curve = Curve(self.off, self.slope, self.moved)
        self.unknowns, self._rows = 0, np.zeros((0, 0))
        self._multipliers: dict[int, tuple[Orbit, ComplexArray, float]] = {}

    def determine(self, first: Orbit) -> None:
        """Choose as many combinations of the residuals as there are unknowns but one, those that tell most at the *first* orbit.

        A constant energy makes one residual depend on the others, and where the values that stay are at rest, they do not fix the
        phase. Raises :class:`ArgumentError` where more than one curve goes through the orbit, or none.
        """
        shooting, model, more = self.shooting, f"Model '{self.shooting.equations.system.name}'", 0
        name = f"'{shooting.varied[0]}'"
        for phased in (False, *((True,) if shooting.timed and shooting.kept else ())):
            shooting.phased = phased
            _, J = self._system(first)
            U, sizes, _ = svd(J, what=WAY)
            rank, self.unknowns = int((sizes > CUTS[0] * sizes[0]).sum()), J.shape[1]
            more = self.unknowns - rank - 1
            if not more:
                self._rows = U[:, :rank].T if rank < len(U) else self._rows
                return
        if more < 0:
            raise ArgumentError(
                f"{model}: no other motion along {name} has the initial values that are kept; keep fewer."
            )
        raise ArgumentError(
            f"{model}: at every value of {name} there is a family of periodic motions, as where the energy is constant; keep "
            f"{more} more initial value{'s' * (more > 1)} (keep), to choose one of them."
        )

    def _system(self, at: Orbit) -> tuple[FloatArray, FloatArray]:
        try:
            check_parameters(self.shooting.equations.system, at.p)
            r, J = self.shooting.system_of(at)
        except (SimulationError, ModelError):
            return np.full(self.unknowns - 1, np.nan), np.full((self.unknowns - 1, self.unknowns), np.nan)
        J = J.copy()
        J[:, -1] *= self.reach
        return (self._rows @ r, self._rows @ J) if self._rows.size else (r, J)

    def off(self, at: Orbit) -> FloatArray:
        """Return the residuals; NaN where there is no motion."""
        return self._system(at)[0]

    def slope(self, at: Orbit) -> FloatArray:
        """Return the Jacobian of the residuals."""
        return self._system(at)[1]

    def moved(self, at: Orbit, change: FloatArray) -> Orbit:
        """Return the orbit after a change."""
        scaled = change.copy()
        scaled[-1] *= self.reach
        return self.shooting.moved(at, scaled)

    def _known(self, at: Orbit) -> tuple[Orbit, ComplexArray, float]:
        if id(at) not in self._multipliers:
            shooting = self.shooting
            found, _ = floquet.multipliers(shooting.monodromy(at), shooting.own_multiplier(at))
            self._multipliers[id(at)] = at, found, shooting.passage(at).T
        return self._multipliers[id(at)]

    def multipliers(self, at: Orbit) -> ComplexArray:
        """Return the multipliers of an orbit."""
        return self._known(at)[1]

    def period(self, at: Orbit) -> float:
        """Return the period of an orbit."""
        return self._known(at)[2]

    def special(self, on: list[CurvePoint[Orbit]]) -> list[BifurcationPoint]:
        """Return the bifurcations between the points of a curve, in order."""
        found = list[BifurcationPoint]()
        for a, b in pairwise(on):
            if b.kind:
                found.append(self._point(b.kind, b.state))
            numbers: dict[str, Callable[[ComplexArray], float]] = {floquet.DOUBLING: floquet.doubling_number}
            if not self._rows.size:  # and no pair stays on the circle, as pairs of conservative motions do
                numbers[floquet.TORUS] = floquet.torus_number
            for kind, number in numbers.items():
                fa, fb = (number(self.multipliers(x.state)) for x in (a, b))
                if fa * fb < 0:
                    at = self._located(a, b, number)
                    if kind == floquet.DOUBLING or floquet.has_pair_on_circle(self.multipliers(at)):
                        found.append(self._point(kind, at))
        return found

    def _point(self, kind: str, at: Orbit) -> BifurcationPoint:
        system = self.shooting.equations.system
        names = (*system.q_names, *system.v_names)
        return BifurcationPoint(
            kind, float(at.p[self.place]), self.period(at), dict(zip(names, at.z.tolist(), strict=True))
        )

    def _located(self, a: CurvePoint[Orbit], b: CurvePoint[Orbit], number: Callable[[ComplexArray], float]) -> Orbit:
        """The orbit between two points of the curve where a *number* of its multipliers is zero, by regula falsi (Illinois)."""
        fa, fb = number(self.multipliers(a.state)), number(self.multipliers(b.state))
        n = len(a.tangent)
        way = np.zeros(n)
        S = self.shooting.variations(a.state)
        way[: S.shape[1]] = lstsq(S, b.state.z - a.state.z, what="the way between two orbits")
        if self.shooting.timed:
            way[S.shape[1]] = b.state.T - a.state.T
        way[-1] = (b.state.p[self.place] - a.state.p[self.place]) / self.reach
        low, high, best = 0.0, float(a.tangent @ way), b.state
        for _ in range(TRIES):
            s = (low * fb - high * fa) / (fb - fa)
            found = self.curve.step(a, s)
            if found is None:
                break
            best = found.state
            f = number(self.multipliers(best))
            if f * fb < 0:
                low, fa, high, fb = high, fb, s, f
            else:
                fa, high, fb = fa / 2, s, f
            if abs(high - low) < tolerances.STATE_TOLERANCE or f == 0:
                break
        return best
