"""First integrals: conserved quantities of motions without added forces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.calls import public
from kineta.equations.equations import Equations, given_equations
from kineta.equations.formulas import Formulas, aligned, simplified
from kineta.errors import ArgumentError, excerpt, shown
from kineta.expr.graph import ONE, ZERO
from kineta.expr.walk import reachable
from kineta.mechanics.derivation import Array
from kineta.mechanics.quantities import heading
from kineta.model.reserved_symbols import TIME, added_force, momentum
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm, svd
from kineta.passes.differentiate import forward, gradient
from kineta.passes.magnitude import magnitude, running_errors
from kineta.passes.substitute import substitute
from kineta.records import dataclass
from kineta.results.outcomes import check_complete
from kineta.results.result import Result
from kineta.simulation.simulate import simulate
from kineta.tasks.ignored_features import warn_ignored
from kineta.tasks.verification.random_states import States, quantity, values
from kineta.tasks.verification.regular_states import regular_states

#: Random states at which first integrals are sought, and states of a run at which their terms are measured.
STATES = 16
#: Least number of admissible states among them.
ENOUGH = 8
#: Change along a run, relative to the terms of an integral, that the tolerances of the run explain.
DRIFT = 1e-6
#: Nodes of an integral, and characters of its formula, at most for which the formula is listed.
LONG, READ = 120, 240


@public
@dataclass(frozen=True)
class FirstIntegral:
    """A quantity that stays constant while no added forces act: *weights* times the entries of the quantity *source*."""

    name: str
    source: str
    weights: tuple[float, ...]
    equations: Equations

    def __repr__(self) -> str:
        return f"<FirstIntegral: {self.name}>"

    def entries(self, run: Result) -> FloatArray:
        """Return the entries of the source along a run, (len(run.t), m). Raises :class:`ArgumentError` for any other object."""
        if not isinstance(run, Result):
            raise ArgumentError(f"Expected a run, as kineta.simulate makes one, found {shown(run)}.")
        p = [run.parameters[n] for n in self.equations.system.parameter_names]
        found = [self.equations.function(part)(run.t, run.q, run.v, p=p) for part in self.source.split()]
        return np.concatenate([x.reshape(len(run.t), -1) for x in found], axis=1)

    def along(self, run: Result) -> FloatArray:
        """Return the values along a run, (len(run.t),)."""
        return np.asarray(self.entries(run) @ np.array(self.weights))

    def formula(self) -> Formulas:
        """Return the integral as an expression of coordinates, speeds and parameters: ``text()``, ``latex()``."""

        def made() -> Formulas:
            own = self.equations.alone()
            refs = [r for part in self.source.split() for r in own[part].refs]
            g = own.graph
            total = g.sum(g.mul(g.const(w), r) for w, r in zip(self.weights, refs, strict=True) if w)
            system = own.symbols.system
            variables, found = simplified(own, {"integral": [total]}, system.parameter_names)
            return Formulas(variables, self.source, Array((), tuple(found["integral"]), labels=(self._label(),)))

        return self.equations.memo((FirstIntegral, self.source, self.weights), made)

    def _label(self) -> str:
        """The symbol of the integral: a momentum ``p[q1]``, ``P.x``, ``H.z``, or an energy."""
        if self.source == "generalized_energy":
            return heading("E" if self.name == "energy" else "h", self.equations.system)
        names = [momentum(n) for n in self.equations.system.v_names]
        if self.source != "momentum":
            names = [f"{letter}.{axis}" for letter in "PH" for axis in "xyz"]
        own = [n for n, w in zip(names, self.weights, strict=True) if w]
        return own[0] if len(own) == 1 else "H" if any(n.startswith("H") for n in own) else "P"

    def short_formula(self) -> list[str]:
        """Return the lines of the formula, none where it is too long to be read."""
        with self.equations.shared() as d:
            if len(reachable(d.graph, [r for part in self.source.split() for r in d[part].refs])) > LONG:
                return []
        lines = list(self.formula().text())
        return lines if sum(map(len, lines)) <= READ else []

    def drift(self, run: Result) -> float:
        """Return the largest change along a run, relative to the largest term, or to the energies for an energy.

        Terms are those of the sums over bodies, at some states of the run: they stay where an angular momentum is zero.
        """
        entries, weights = self.entries(run), np.array(self.weights)
        size = max(np.abs(entries).max(), self._terms(run).max()) * np.abs(weights).max()
        if self.source == "generalized_energy":
            size = max(size, np.abs(run.kinetic_energy).max(), np.abs(run.potential_energy).max())
        series = entries @ weights
        return float(np.abs(series - series[0]).max() / max(size, tolerances.LEAST_DIVISOR))

    def _terms(self, run: Result) -> FloatArray:
        """Return the sizes (k, m) of the terms of the entries at k states of a run, at most :data:`STATES`."""
        system = self.equations.system
        rows = np.unique(np.linspace(0, len(run.t) - 1, STATES).round().astype(int))
        sampled = {name: np.full(len(rows), run.parameters[name]) for name in system.parameter_names}
        sampled |= {TIME: run.t[rows], **dict(zip(system.q_names, run.q[rows].T, strict=True))}
        sampled |= dict(zip(system.v_names, run.v[rows].T, strict=True))
        with self.equations.shared() as d:
            refs = [r for part in self.source.split() for r in d[part].refs]
            return np.nan_to_num(values(d.graph, running_errors(d.graph, refs), sampled))


def first_integrals(system: System | Equations) -> tuple[FirstIntegral, ...]:
    """Return the conserved quantities without added forces: momenta of cyclic coordinates, momenta and angular momenta about axes
    of the ground, and the generalised energy (Jacobi's integral); each found by its rate at random states.

    Parameters have the values of the model, or random ones where it gives none. Raises :class:`ArgumentError` for anything
    but a system or equations, :class:`SimulationError` where too few random states meet the constraints and have accelerations.
    """
    equations = given_equations(system)
    warn_ignored(equations.system, "what is kept")
    equations, sampled = regular_states(equations, STATES, enough=ENOUGH)
    found: list[FirstIntegral] = []
    seen: list[FloatArray] = []
    for integral in _candidates(equations, sampled):
        with equations.shared() as d:
            refs = [r for part in integral.source.split() for r in d[part].refs]
            sizes = values(d.graph, magnitude(d.graph, refs), sampled)
        entries = values(d.graph, refs, sampled) @ np.array(integral.weights)
        size = sizes @ np.abs(integral.weights)
        if (np.abs(entries) <= 10 * tolerances.ROUNDING_TOLERANCE * size).all() or any(
            _proportional(entries, other) for other in seen
        ):
            continue  # zero by the constraints
        found.append(integral)
        seen.append(entries)
    return tuple(found)


@dataclass(frozen=True)
class Conservation:
    """First integrals of a model, with their drifts along a run to the time *t* [s].

    left_out : names of contacts and switches, without which the run is
    """

    model: str
    integrals: tuple[FirstIntegral, ...]
    t: float | None
    drifts: tuple[float, ...]
    left_out: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether the tolerances of the run explain all drifts."""
        return all(drift <= DRIFT for drift in self.drifts)

    def lines(self) -> list[str]:
        """Return the names of the integrals with their drifts and, where they are short, their formulas."""
        if not self.integrals:
            return [f"Model '{self.model}': no momentum, angular momentum or energy stays constant."]
        lines = []
        for x, drift in zip_longest(self.integrals, self.drifts):
            lines.append(x.name if drift is None else f"{x.name}: changes by {drift:.0e} to t = {self.t:g} s")
            lines += [f"    {line}" for line in x.short_formula()]
        if self.left_out and self.drifts:
            lines.append(f"the run is without {excerpt(self.left_out)}, as the integrals are")
        return lines

    def latex(self) -> str:
        """Return the formulas in LaTeX, in ``aligned`` for use within ``$$``, a name for those that are too long to be read."""
        lines = list[str]()
        for x in self.integrals:
            lines += x.formula().latex() if x.short_formula() else [rf"\text{{{x.name}}} = \text{{const.}}"]
        return aligned(lines, "aligned")

    def as_dict(self) -> dict[str, Any]:
        """Return integrals and drifts as plain data."""
        rows = [
            {
                "name": x.name,
                "source": x.source,
                "weights": list(x.weights),
                "formula": x.short_formula(),
                "drift": drift,
            }
            for x, drift in zip_longest(self.integrals, self.drifts)
        ]
        return {"model": self.model, "integrals": rows, "without": list(self.left_out)}


def conservation(system: System, t: float | None = None) -> Conservation:
    """Return the first integrals of *system*, followed along a run to the time *t* where it is given."""
    equations = given_equations(system)
    found = first_integrals(equations)
    left_out = tuple(c.name for c in (*system.contacts, *system.switches))
    drifts: list[float] = []
    if t is not None:
        run = simulate(system.replace(contacts=(), switches=(), outputs=()) if left_out else equations, t)
        check_complete(system.name, run.status, run.message)
        drifts = [integral.drift(run) for integral in found]
    return Conservation(system.name, found, t, tuple(drifts), left_out)


def _candidates(equations: Equations, sampled: States) -> Iterator[FirstIntegral]:
    system = equations.system
    rates = _rates(equations, ["momentum"], sampled)
    cyclic = _cyclic(equations, sampled)
    for k, name in enumerate(system.v_names):
        if rates.constant[k]:
            coordinate = name.removesuffix("'")
            what = f"momentum of the cyclic coordinate {coordinate}" if coordinate in cyclic else f"momentum of {name}"
            yield FirstIntegral(what, "momentum", tuple(float(j == k) for j in range(system.nv)), equations)
    spatial = _rates(equations, ["linear_momentum", "angular_momentum"], sampled)
    for weights in _null_space(spatial.values, spatial.scale):
        yield FirstIntegral(_spatial_name(weights), "linear_momentum angular_momentum", tuple(weights), equations)
    if _rates(equations, ["generalized_energy"], sampled).constant[0]:
        with equations.shared() as d:
            jacobi, whole = (quantity(d, name, sampled) for name in ("generalized_energy", "energy"))
        near = tolerances.ROUNDING_TOLERANCE
        scleronomic = np.allclose(jacobi, whole, rtol=near, atol=near)
        name = "energy" if scleronomic else "generalised energy (Jacobi's integral)"
        yield FirstIntegral(name, "generalized_energy", (1.0,), equations)


def _cyclic(equations: Equations, sampled: States) -> set[str]:
    """The coordinates that the kinetic energy is free of; none where speeds are quasi-velocities, which are no rates."""
    system = equations.system
    if system.quasi:
        return set()
    with equations.shared() as d:
        slopes = gradient(d.graph, d["kinetic_energy"].refs[0], set(d.symbols.q))
        found = values(d.graph, [slopes.get(q, ZERO) for q in d.symbols.q], sampled)
    free = np.abs(found).max(axis=0, initial=0) <= tolerances.ROUNDING_TOLERANCE
    return {n for n, alone in zip(system.q_names, free, strict=True) if alone}


@dataclass(frozen=True)
class _Rates:
    """Rates of entries at all states, (n, m), and the sizes of their terms, (m,)."""

    values: FloatArray
    scale: FloatArray

    @property
    def constant(self) -> Mask:
        """The mask of constant entries, (m,)."""
        return np.asarray(np.abs(self.values).max(axis=0, initial=0) <= 10 * tolerances.ROUNDING_TOLERANCE * self.scale)


def _rates(equations: Equations, names: Sequence[str], sampled: States) -> _Rates:
    with equations.shared() as d:
        g, s = d.graph, d.symbols
        free = substitute(g, d["forward"].refs, dict.fromkeys((added_force(n) for n in s.names), ZERO))
        refs = [r for name in names for r in d[name].refs]
        motion = {s.t: ONE, **dict(zip(s.q + s.v, (*s.qdot, *free), strict=True))}
        rates = forward(g, refs, motion)
    changes = values(g, rates, sampled)
    size = np.abs(values(g, refs, sampled)).max(initial=0) + np.abs(values(g, free, sampled)).max(initial=0)
    return _Rates(changes, np.full(len(refs), max(size, tolerances.LEAST_DIVISOR)))


def _null_space(rates: FloatArray, scale: FloatArray) -> Iterator[FloatArray]:
    """Yield a basis of the null space of the columns of *rates* in reduced echelon form."""
    _, sizes, right = svd(rates / scale, what="the first integrals")
    basis = right[np.concatenate([sizes, np.zeros(len(right) - len(sizes))]) <= 100 * tolerances.ROUNDING_TOLERANCE]
    basis = basis[:, ::-1].copy()  # angular momenta are reduced to their axes first
    row = 0
    for column in range(basis.shape[1]):
        if row == len(basis):
            break
        pivot = row + int(np.abs(basis[row:, column]).argmax())
        if abs(basis[pivot, column]) < tolerances.RANK_TOLERANCE:
            continue
        basis[[row, pivot]] = basis[[pivot, row]]
        basis[row] /= basis[row, column]
        others = [i for i in range(len(basis)) if i != row]
        basis[others] -= np.outer(basis[others, column], basis[row])
        row += 1
    for vector in reversed(basis[:, ::-1]):
        yield np.where(np.abs(vector) < tolerances.RANK_TOLERANCE, 0.0, vector)


def _spatial_name(weights: FloatArray) -> str:
    """Return the name of a combination of momentum and angular momentum about the origin of the ground."""
    a, b = weights[:3], weights[3:]
    if not b.any():
        return f"linear momentum along {_direction(a)}"
    if not a.any():
        return f"angular momentum about the axis {_direction(b)}"
    if abs(a @ b) < tolerances.RANK_TOLERANCE:
        x, y, z = np.cross(b, a) / (b @ b)
        return f"angular momentum about the axis {_direction(b)} through ({x:.6g}, {y:.6g}, {z:.6g})"
    return f"angular momentum about {_direction(b)} with {(a @ b) / (b @ b):.6g} m of the momentum along it"


def _direction(e: FloatArray) -> str:
    along = [c for c, x in zip("xyz", e, strict=True) if x]
    return along[0] if len(along) == 1 else f"({e[0]:.6g}, {e[1]:.6g}, {e[2]:.6g})"


def _proportional(a: FloatArray, b: FloatArray) -> bool:
    return bool(norm(a) * norm(b) - abs(a @ b) <= tolerances.RANK_TOLERANCE * norm(a) * norm(b))
