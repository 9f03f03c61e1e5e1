"""The certificate: equations by every formalism, compared with each other and with the laws of mechanics."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations, derive
from kineta.errors import ArgumentError, SimulationError
from kineta.formalism.quantity import COUNTED
from kineta.formalism.rank import dependent, scaled
from kineta.formalism.table import FORMALISMS
from kineta.model.infer import TIME
from kineta.model.motion import quaternion_names
from kineta.model.rewrite import lifted
from kineta.model.system import System, a_system
from kineta.passes.digits import evaluate_digits, library
from kineta.tasks.certificate import Certificate, Finding, Row
from kineta.tasks.laws import LAWS, Case, missed
from kineta.tasks.rank import redundant
from kineta.tasks.sampling import States, chosen, on_constraints, random_states
from kineta.values import whole

#: What formalisms have to agree in.
COMPARED = (
    *("mass_matrix", "bias", "inverse", "forward", "reactions"),
    *("kinetic_energy", "potential_energy", "power"),
)

#: Disagreement that rounding explains, relative to the largest entry; of accelerations, times the condition of M.
ALLOWED = 1e-12
#: Disagreement in double precision beyond which rounding alone is not believed, of formalisms that agree in many digits.
ROUNDED = 1e-4
#: Digits that rounding may take of those asked for.
LOST = 12
#: How far a row of constraints, of unit length, is from those before it at least where errors of rounding do not grow with it.
NEARLY = 1e-2
#: How many times more states are looked at where none of the first is regular.
MORE = 10
#: Part of the longest row below which one shows a position in which it binds nothing.
FOLDED = 1e-3


@dataclass(frozen=True, slots=True)
class Pair:
    """How far two formalisms are apart in a quantity, and how far they may be."""

    names: tuple[str, str]
    quantity: str
    worst: float
    allowed: float

    @property
    def agree(self) -> bool:
        """Whether rounding explains the difference."""
        return self.worst <= self.allowed


def verify(system: System, *, states: int = 40, digits: int = 50, seed: int = 0) -> Certificate:
    """Derive *system* by every formalism that applies, and compare.

    Mass matrices, biases, forces, accelerations, joint reactions, energies and powers of any two are compared at *states*
    random states in double precision, and at one with *digits* digits (0: not; needs mpmath, extra ``sympy``), where the
    numbers of the model are parameters so that none is rounded. The laws of mechanics are checked at the same states.

    Raises :class:`ArgumentError` for arguments that make no sense, :class:`SimulationError` where no random state has
    finite equations, :class:`~kineta.errors.ModelError` for a constraint that follows from others wherever it is looked at. One
    that does so only where all hold is left out, and named.
    """
    system = a_system(system)
    states, digits = whole("states", states, 1, 10**6), whole("digits", digits, 0, 10**4)
    seed = whole("seed", seed, 0)
    if 0 < digits < 20:
        raise ArgumentError(f"Expected 0 or at least 20 digits, found {digits}.")
    if not system.nv:
        raise ArgumentError(f"Model '{system.name}': nothing in it can move, so there are no equations to compare.")
    refused = {name: reason for name, f in FORMALISMS.items() if (reason := f.applies(system))}
    derived = {name: _derived(system, name) for name in FORMALISMS if name not in refused}
    first = next(iter(derived.values()))[0]
    sampled = on_constraints(first.derivation, random_states(system, states, seed))
    left_out = _redundant(first, sampled, states)
    derived = {name: (equations.without(left_out), seconds) for name, (equations, seconds) in derived.items()}
    first = next(iter(derived.values()))[0]
    regular = _regular(Case(first, sampled))
    if system.constraints and not regular.any():  # other positions meet them too, where more depend on each other
        sampled = on_constraints(first.derivation, random_states(system, MORE * states, seed))
        regular = _regular(Case(first, sampled))
    if not regular.any():
        raise SimulationError(
            f"Model '{system.name}': its accelerations are finite at none of {states} random states; "
            "the mass matrix may be singular: kineta check names the speed."
        )
    cases = {name: Case(equations, chosen(sampled, regular)) for name, (equations, _) in derived.items()}
    double = list(_in_double(cases))
    precise = list(_in_digits(derived, digits, chosen(sampled, regular))) if digits else []
    rows = []
    for name, formalism in FORMALISMS.items():
        if name in refused:
            rows.append(Row(name, formalism.source, refused=refused[name]))
            continue
        equations, seconds = derived[name]
        own = [p for p in double if name in p.names]
        apart = max(own, key=lambda p: p.worst / p.allowed)
        rows.append(
            Row(
                name,
                formalism.source,
                operations={q: equations.operations(q) for q in COUNTED},
                seconds=seconds,
                double=max(p.worst for p in own),
                precise=max((p.worst for p in precise if name in p.names), default=None),
                where=f"{apart.quantity}, with {next(n for n in apart.names if n != name)}",
                agrees=_with_most(name, [*_unexplained(double, precise), *precise]),
            )
        )
    case = cases[first.formalism]
    missing = ((law.name, law.check(case)) for law in LAWS if law.holds_for(system))
    laws = tuple(Finding(name, worst, worst <= ALLOWED) for name, worst in missing)
    return Certificate(system.name, int(regular.sum()), digits, tuple(rows), laws, left_out)


def _redundant(equations: Equations, sampled: States, tried: int) -> tuple[str, ...]:
    """Names of the constraints that follow from others around the start, moved onto them. Raises where no state meets them."""
    system = equations.system
    if not len(sampled[TIME]):
        raise SimulationError(
            f"Model '{system.name}': none of {tried} random states could be moved onto its constraints "
            f"({', '.join(c.name for c in system.constraints)}). Give initial values near which they hold."
        )
    return redundant(equations, np.array([sampled[n][0] for n in system.parameter_names]))


def _regular(case: Case) -> NDArray[np.bool_]:
    """At which states of *case* there are accelerations: where they are finite, and, if there are such states, where constraints
    are far from depending on each other.
    """
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(case.at("forward")).all(axis=1))
    if not case.d.rows or not finite.any():
        return finite
    A = case.at("constraint_jacobian")
    sizes = np.linalg.norm(A, axis=2)
    long = sizes.min(axis=1) > FOLDED * sizes[finite].max()
    apart = np.array([np.isfinite(G).all() and not dependent(G, NEARLY) for G in scaled(A)])
    return finite & long & apart if (finite & long & apart).any() else finite


def _derived(system: System, formalism: str) -> tuple[Equations, float]:
    """Equations by one formalism, and the seconds that deriving took."""
    began = time.perf_counter()
    equations = derive(system, formalism)
    for quantity in COMPARED:
        equations.expressions(quantity)
    return equations, time.perf_counter() - began


def _in_double(cases: Mapping[str, Case]) -> Iterator[Pair]:
    """All pairs in double precision, at all states."""
    condition = next(iter(cases.values())).condition
    for quantity in COMPARED:
        found = {name: case.at(quantity) for name, case in cases.items()}
        solved = quantity in ("forward", "power", "reactions")
        for a, b in combinations(found, 2):
            worst = missed(found[a], found[b], condition if solved else 0.0)
            yield Pair((a, b), quantity, worst, ALLOWED)


def _in_digits(derived: Mapping[str, tuple[Equations, float]], digits: int, states: States) -> Iterator[Pair]:
    """All pairs at the first of the *states* in many digits, the numbers of the model being parameters."""
    first = next(iter(derived.values()))[0]
    mpmath, system, left_out = library(), lifted(first.system), first.derivation.left_out
    with mpmath.workdps(digits):
        state = _one_state(system, states, mpmath)
        found: dict[str, dict[str, list[Any]]] = {quantity: {} for quantity in COMPARED}
        for name in derived:
            d = replace(FORMALISMS[name].derivation(system), left_out=left_out)
            for quantity, by_formalism in found.items():
                by_formalism[name] = evaluate_digits(d.graph, d[quantity].refs, state, digits)
        for quantity, by_formalism in found.items():
            for (a, one), (b, other) in combinations(by_formalism.items(), 2):
                size = max([*map(abs, one), *map(abs, other)], default=0) or 1
                off = max((abs(x - y) for x, y in zip(one, other, strict=True)), default=0)
                yield Pair((a, b), quantity, float(off / size), 10.0 ** (LOST - digits))


def _one_state(system: System, states: States, mpmath: Any) -> dict[str, Any]:
    """The first of the *states* in mpmath's numbers, with quaternions of unit length to all their digits."""
    state = {p.name: mpmath.mpf(p.value) for p in system.parameters if p.value is not None}
    state |= {name: mpmath.mpf(float(x[0])) for name, x in states.items()}
    for motion in system.joints.values():
        names = quaternion_names(motion)
        length = mpmath.sqrt(sum(state[n] ** 2 for n in names))
        state |= {n: state[n] / length for n in names}
    return state


def _unexplained(double: list[Pair], precise: list[Pair]) -> list[Pair]:
    """Pairs in double precision, of those that agree in many digits only what no rounding explains."""
    apart = {p.names for p in precise if not p.agree}
    return [replace(p, allowed=ROUNDED) if precise and p.names not in apart else p for p in double]


def _with_most(name: str, pairs: list[Pair]) -> bool:
    """Whether *name* agrees in everything with more than half of the others, or there are no others."""
    others = {n for p in pairs if name in p.names for n in p.names} - {name}
    against = {n for p in pairs if name in p.names and not p.agree for n in p.names} - {name}
    return 2 * len(against) < len(others) or not others
