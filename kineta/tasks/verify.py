"""The certificate: equations by every formalism, compared with each other and with the laws of mechanics."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from kineta.compiler import Equations, derive
from kineta.errors import ArgumentError
from kineta.formalism.quantity import COUNTED
from kineta.formalism.table import FORMALISMS
from kineta.model.infer import TIME
from kineta.model.motion import quaternion_names
from kineta.model.rewrite import lifted
from kineta.model.system import System, a_system
from kineta.passes.digits import library
from kineta.tasks.apart import warn_without
from kineta.tasks.certificate import Certificate, Finding, Row
from kineta.tasks.forms import compared, laws_apart
from kineta.tasks.laws import LAWS, Case, missed
from kineta.tasks.regular import regular_states
from kineta.tasks.sampling import chosen
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
#: States at most at which a law that is missed in double precision is looked at in many digits.
LOOKED_AT = 8


@dataclass(frozen=True, slots=True)
class Pair:
    """How far two formalisms are apart in a quantity, how far they may be, and at which state."""

    names: tuple[str, str]
    quantity: str
    worst: float
    allowed: float
    state: int

    @property
    def agree(self) -> bool:
        """Whether rounding explains the difference."""
        return self.worst <= self.allowed


def verify(system: System, *, states: int = 40, digits: int = 50, seed: int = 0) -> Certificate:
    """Derive *system* by every formalism that applies, and compare.

    Mass matrices, biases, forces, accelerations, joint reactions, energies and powers of any two are compared at *states*
    random states in double precision, and at one with *digits* digits (0: not; needs mpmath, extra ``sympy``), where the
    numbers of the model are parameters so that none is rounded. The laws of mechanics are checked at the same states. What is
    missed in double precision is looked at with as many digits where it is missed most: there rounding is told from errors.

    Raises :class:`ArgumentError` for arguments that make no sense, :class:`SimulationError` where no random state has
    finite equations, :class:`~kineta.errors.ModelError` for a constraint that follows from others wherever it is looked at. One
    that does so only where all hold is left out, and named.

    Under programs of motion Rodionov's forms of the equations are compared with the laws of control that runs follow.
    """
    system = a_system(system)
    states, digits = whole("states", states, 1, 10**6), whole("digits", digits, 0, 10**4)
    seed = whole("seed", seed, 0)
    if 0 < digits < 20:
        raise ArgumentError(f"Expected 0 or at least 20 digits, found {digits}.")
    if not system.nv:
        raise ArgumentError(f"Model '{system.name}': nothing in it can move, so there are no equations to compare.")
    warn_without(system, "the certificate", whole=True, known=("programs",))
    refused = {name: reason for name, f in FORMALISMS.items() if (reason := f.applies(system))}
    applied = [name for name in FORMALISMS if name not in refused]
    first, sampled = regular_states(derive(system, applied[0]), states, seed=seed)
    left_out = tuple(r.constraint for r in first.derivation.closures if r.constraint in first.derivation.left_out)
    derived = {name: _derived(system, name, left_out) for name in applied}
    cases = {name: Case(equations, sampled) for name, (equations, _) in derived.items()}
    double = list(_in_double(cases))
    precise = list(_in_digits(cases, digits, _doubtful(double))) if digits else []
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
    laws = tuple(_findings(cases[first.formalism], digits))
    aside = tuple((law.name, law.else_said) for law in LAWS if law.else_said and not law.holds_for(system))
    forms = tuple(compared(system, sampled, digits, seed)) if system.programs else ()
    off = laws_apart(system, sampled, seed) if system.programs else 0.0
    return Certificate(system.name, len(sampled[TIME]), digits, tuple(rows), laws, left_out, aside, forms, off)


def _derived(system: System, formalism: str, left_out: Sequence[str]) -> tuple[Equations, float]:
    """Equations by one formalism without the constraints *left_out*, and the seconds that deriving took."""
    began = time.perf_counter()
    equations = derive(system, formalism).without(left_out)
    for quantity in COMPARED:
        equations.expressions(quantity)
    return equations, time.perf_counter() - began


def _in_double(cases: Mapping[str, Case]) -> Iterator[Pair]:
    """All pairs in double precision, at all states."""
    first = next(iter(cases.values()))
    scales = dict.fromkeys(("forward", "power", "reactions"), first.condition) | {"bias": first.inertia}
    for quantity in COMPARED:
        found = {name: case.at(quantity) for name, case in cases.items()}
        for a, b in combinations(found, 2):
            off = missed(found[a], found[b], scales.get(quantity, 0.0))
            yield Pair((a, b), quantity, float(off.max()), ALLOWED, int(off.argmax()))


def _doubtful(double: Sequence[Pair]) -> list[int]:
    """The first state, and those at which formalisms differ most in a quantity in which rounding has to be told from errors."""
    worst = (max((p for p in double if p.quantity == q), key=lambda p: p.worst, default=None) for q in COMPARED)
    return sorted({0, *(p.state for p in worst if p is not None and not p.agree)})


def _in_digits(cases: Mapping[str, Case], digits: int, which: Sequence[int]) -> Iterator[Pair]:
    """All pairs at some of the states in many digits."""
    with library().workdps(digits):
        precise = {name: _precise(case, which) for name, case in cases.items()}
        for quantity in COMPARED:
            found = {name: case.at(quantity) for name, case in precise.items()}
            for a, b in combinations(found, 2):
                off = missed(found[a], found[b])
                yield Pair((a, b), quantity, float(off.max()), 10.0 ** (LOST - digits), which[int(off.argmax())])


def _precise(case: Case, which: Sequence[int]) -> Case:
    """*case* at some of its states in mpmath's numbers, those of the model being parameters, with quaternions of unit length to
    all their digits.
    """
    mpmath, left_out = library(), case.d.left_out
    equations = derive(lifted(case.system), case.equations.formalism).without(left_out)
    number = np.frompyfunc(lambda x: mpmath.mpf(float(x)), 1, 1)
    states = {p.name: np.full(len(which), p.value) for p in equations.system.parameters if p.value is not None}
    states |= chosen(case.states, list(which))
    states = {name: number(column) for name, column in states.items()}
    for motion in case.system.joints.values():
        names = quaternion_names(motion)
        length = np.frompyfunc(mpmath.sqrt, 1, 1)(sum(states[n] ** 2 for n in names))
        states |= {n: states[n] / length for n in names}
    return Case(equations, states)


def _findings(case: Case, digits: int) -> Iterator[Finding]:
    """What is found of every law that speaks of the system; in many digits where double precision misses it."""
    for law in LAWS:
        if not law.holds_for(case.system):
            continue
        off = law.check(case)
        worst, precise = float(off.max()), None
        if digits and ALLOWED < worst <= ROUNDED:
            with library().workdps(digits):
                precise = float(law.check(_precise(case, off.argsort()[-LOOKED_AT:].tolist())).max())
        yield Finding(law.name, worst, (worst if precise is None else precise) <= ALLOWED, precise)


def _unexplained(double: list[Pair], precise: list[Pair]) -> list[Pair]:
    """Pairs in double precision, of those that agree in many digits only what no rounding explains."""
    apart = {p.names for p in precise if not p.agree}
    return [replace(p, allowed=ROUNDED) if precise and p.names not in apart else p for p in double]


def _with_most(name: str, pairs: list[Pair]) -> bool:
    """Whether *name* agrees in everything with more than half of the others, or there are no others."""
    others = {n for p in pairs if name in p.names for n in p.names} - {name}
    against = {n for p in pairs if name in p.names and not p.agree for n in p.names} - {name}
    return 2 * len(against) < len(others) or not others
