"""The certificate: equations by every formalism, compared with each other and with the laws of mechanics."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from kineta.compiler import Equations, derive
from kineta.errors import ArgumentError, SimulationError
from kineta.expr.graph import ZERO
from kineta.formalism.constraint import repeated
from kineta.formalism.derivation import Derivation
from kineta.formalism.quantity import COUNTED
from kineta.formalism.rank import dependent, scaled
from kineta.formalism.table import FORMALISMS
from kineta.model.infer import TIME
from kineta.model.rewrite import lifted
from kineta.model.system import System, a_system
from kineta.passes.digits import evaluate_digits, library
from kineta.tasks.certificate import Certificate, Finding, Row
from kineta.tasks.laws import LAWS, Case, missed
from kineta.tasks.sampling import States, chosen, on_constraints, random_states, values
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
#: Part of the largest singular value below which constraints depend on each other at a state that is on them but for rounding.
NEARLY = 1e-6


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
    finite equations, :class:`~kineta.errors.ModelError` for a constraint that follows from others.
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
    _check_constraints(first.derivation, sampled, states)
    regular = np.isfinite(Case(first, sampled).at("forward")).all(axis=1)
    if not regular.any():
        raise SimulationError(
            f"Model '{system.name}': its accelerations are finite at none of {states} random states; "
            "the mass matrix may be singular: kineta check names the speed."
        )
    cases = {name: Case(equations, chosen(sampled, regular)) for name, (equations, _) in derived.items()}
    double = list(_in_double(cases))
    precise = list(_in_digits(system, list(derived), digits, chosen(sampled, regular))) if digits else []
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
    return Certificate(system.name, int(regular.sum()), digits, tuple(rows), laws)


def _check_constraints(d: Derivation, sampled: States, tried: int) -> None:
    """Raise where no state is on the constraints, and where on them one follows from the others."""
    n, system = len(sampled[TIME]), d.symbols.system
    if not n:
        raise SimulationError(
            f"Model '{system.name}': none of {tried} random states could be moved onto its constraints "
            f"({', '.join(c.name for c in system.constraints)}). Give initial values near which they hold."
        )
    nv = len(d.symbols.v)
    gradients = [r.gradient.get(k, ZERO) for r in d.rows for k in range(nv)]
    for A in scaled(values(d.graph, gradients, sampled).reshape(n, len(d.rows), nv)):
        found = dependent(A, NEARLY) if np.isfinite(A).all() else []
        if found:  # at random states no chance
            raise repeated(system, [d.rows[k] for k in found])


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


def _in_digits(system: System, names: list[str], digits: int, states: States) -> Iterator[Pair]:
    """All pairs at the first of the *states* in many digits, the numbers of the model being parameters."""
    mpmath, system = library(), lifted(system)
    with mpmath.workdps(digits):
        state = _one_state(system, states, mpmath)
        found: dict[str, dict[str, list[Any]]] = {quantity: {} for quantity in COMPARED}
        for name in names:
            d = FORMALISMS[name].derivation(system)
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
    for joint in system.joints:
        names = [f"{joint}.{c}" for c in ("qw", "qx", "qy", "qz")]
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
