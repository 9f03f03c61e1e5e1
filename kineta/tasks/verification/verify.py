"""The certificate: equations by every formalism, compared with each other and with the laws of mechanics."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations, derive, derive_exactly
from kineta.errors import ArgumentError, warn
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.formalisms.table import formalisms
from kineta.mechanics.kinematics.tree import rates_below
from kineta.mechanics.quantities import COUNTED
from kineta.model.contacts.mutual_contact import MOST_PLACES, mutual_contacts
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System, a_system
from kineta.passes.multiprecision import require_mpmath
from kineta.records import dataclass
from kineta.tasks.ignored_features import warn_ignored
from kineta.tasks.verification.certificate import Certificate, Finding, FormalismRow, OperationCounts
from kineta.tasks.verification.laws import LAWS
from kineta.tasks.verification.program_forms import compared, laws_apart
from kineta.tasks.verification.random_states import RememberingStates, chosen
from kineta.tasks.verification.regular_states import regular_states
from kineta.tasks.verification.sampled_equations import SampledEquations, relative_error
from kineta.values import whole

#: The quantities in which formalisms are compared.
COMPARED = (
    *("mass_matrix", "bias", "inverse", "forward", "reactions"),
    *("kinetic_energy", "potential_energy", "power"),
)

#: Disagreement in double precision that rounding cannot explain, whatever the agreement in many digits.
ROUNDED = 1e-4
#: Most digits lost to rounding in multiprecision.
LOST = 12
#: Most states at which a law is checked again in many digits.
LOOKED_AT = 8
#: Sum over the links of the squared numbers of rates on the way to them, from which a certificate takes minutes: a chain of
#: thirty links has 9455, one of sixteen 1496 and takes 24 s of processor time.
LARGE = 9000


@dataclass(frozen=True, slots=True)
class FormalismPair:
    """The largest difference of two formalisms in a quantity, its tolerance, and its state."""

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
    random states in double precision, and at one with *digits* digits (0: never; needs mpmath, extra ``sympy``), with the
    numbers of the model as parameters, free of rounding. The laws of mechanics are checked at the same states. Differences in
    double precision are examined in as many digits at the worst states, where rounding is told from errors.

    Raises :class:`ArgumentError` for invalid arguments, :class:`SimulationError` where no random state has finite equations,
    :class:`~kineta.errors.ModelError` for a constraint that depends on others at all states. A constraint redundant on the
    constraint manifold alone is left out, and named.

    Contacts of many bodies that touch at too many places to have rows of their own are left out; the warning names them.

    Under programs of motion Rodionov's forms of the equations are compared with the laws of control that runs follow.
    """
    system = a_system(system)
    states, digits = whole("states", states, 1, 10**6), whole("digits", digits, 0, 10**4)
    seed = whole("seed", seed, 0)
    if 0 < digits < 20:
        raise ArgumentError(f"Expected 0 or at least 20 digits, found {digits}.")
    if not system.nv:
        raise ArgumentError(f"Model '{system.name}': nothing in it can move, so there are no equations to compare.")
    warn_ignored(system, "the certificate", whole=True, known=("programs",))
    crowds = [c for c in mutual_contacts(system) if c.places > MOST_PLACES]
    if crowds:
        system = system.unchecked(contacts=tuple(c for c in system.contacts if c not in crowds))
    known = formalisms()
    refused = {name: reason for name, f in known.items() if (reason := f.applies(system))}
    applied = [name for name in known if name not in refused]
    first, sampled = regular_states(derive(system, known[applied[0]]), states, seed=seed)
    _warn_of_size(first)
    left_out = tuple(name for name in first.constraint_rows if name in first.left_out)
    derived = {name: _derived(system, known[name], left_out) for name in applied}
    cases = {name: SampledEquations(equations, sampled) for name, (equations, _) in derived.items()}
    cases[first.formalism] = judged = _remembering(cases[first.formalism])
    double = list(_in_double(cases))
    precise = list(_in_digits(cases, digits, _doubtful(double))) if digits else []
    rows = []
    for name, formalism in known.items():
        if name in refused:
            rows.append(FormalismRow(name, formalism.source, refused=refused[name]))
            continue
        equations, seconds = derived[name]
        own = [p for p in double if name in p.names]
        apart = max(own, key=lambda p: p.worst / p.allowed)
        rows.append(
            FormalismRow(
                name,
                formalism.source,
                operations=OperationCounts(equations, COUNTED),
                seconds=seconds,
                double=max(p.worst for p in own),
                precise=max((p.worst for p in precise if name in p.names), default=None),
                where=f"{apart.quantity}, with {next(n for n in apart.names if n != name)}",
                agrees=_with_most(name, [*_unexplained(double, precise), *precise]),
            )
        )
    laws = tuple(_findings(judged, digits))
    aside = tuple((law.name, law.otherwise) for law in LAWS if law.otherwise and not law.applies(system))
    forms = tuple(compared(system, sampled, digits, seed)) if system.programs else ()
    off = laws_apart(system, sampled, seed) if system.programs else 0.0
    return Certificate(system.name, len(sampled[TIME]), digits, tuple(rows), laws, left_out, aside, forms, off)


def _warn_of_size(equations: Equations) -> None:
    """Warn where expressions of all links are so large that a certificate takes minutes and more."""
    with equations.shared() as d:
        below = rates_below(d.mechanism.links)
    if sum(k * k for k in below) >= LARGE:
        warn(
            f"Model '{equations.system.name}': a link moves at up to {max(below)} rates, and a certificate derives formalisms "
            "that write one expression of all of them: it takes minutes, and time grows with their number squared and faster. "
            "Verify the model with fewer links."
        )


def _derived(system: System, formalism: Formalism, left_out: Sequence[str]) -> tuple[Equations, float]:
    """Return equations by one formalism without the constraints *left_out*, and the duration of the derivation [s]."""
    began = time.perf_counter()
    equations = derive(system, formalism).without(left_out)
    for quantity in COMPARED:
        equations.expressions(quantity)
    return equations, time.perf_counter() - began


def _in_double(cases: Mapping[str, SampledEquations]) -> Iterator[FormalismPair]:
    """Yield all pairs in double precision, at all states."""
    every = range(len(next(iter(cases.values())).condition))
    yield from _compared(cases, tolerances.ROUNDING_TOLERANCE, every)


def _compared(
    cases: Mapping[str, SampledEquations], tolerance: float, states: Sequence[int]
) -> Iterator[FormalismPair]:
    """Yield all pairs of *cases* at *states*, which have these numbers."""
    scales = _scales(next(iter(cases.values())))
    found = {name: _quantities(case) for name, case in cases.items()}
    for quantity in COMPARED:
        for a, b in combinations(found, 2):
            off = relative_error(found[a][quantity], found[b][quantity], scales.get(quantity, 0.0))
            yield FormalismPair((a, b), quantity, float(off.max()), tolerance, states[int(off.argmax())])


def _remembering(case: SampledEquations) -> SampledEquations:
    """Return *case* with states that keep the values of all nodes."""
    return replace(case, states=RememberingStates(case.d.graph, case.states))


def _quantities(case: SampledEquations) -> dict[str, FloatArray]:
    """Return the quantities in which formalisms are compared."""
    remembering = case if isinstance(case.states, RememberingStates) else _remembering(case)
    return {quantity: remembering.at(quantity) for quantity in COMPARED}


def _scales(case: SampledEquations) -> dict[str, FloatArray]:
    """Return the scale of rounding errors at every state, for quantities that may be differences of larger ones."""
    return dict.fromkeys(("forward", "power", "reactions"), case.condition) | {"bias": case.inertia_scale}


def _doubtful(double: Sequence[FormalismPair]) -> list[int]:
    """Return the first state, and the states of the largest difference in every quantity beyond rounding."""
    worst = (max((p for p in double if p.quantity == q), key=lambda p: p.worst, default=None) for q in COMPARED)
    return sorted({0, *(p.state for p in worst if p is not None and not p.agree)})


def _in_digits(cases: Mapping[str, SampledEquations], digits: int, which: Sequence[int]) -> Iterator[FormalismPair]:
    """Yield all pairs at some states in many digits."""
    with require_mpmath().workdps(digits):
        precise = {name: _precise(case, which) for name, case in cases.items()}
        yield from _compared(precise, 10.0 ** (LOST - digits), which)


def _precise(case: SampledEquations, which: Sequence[int]) -> SampledEquations:
    """Return *case* at some states in multiprecision, with the numbers of the model as parameters and quaternions normalised to
    all digits.
    """
    mpmath, left_out = require_mpmath(), case.d.left_out
    equations = derive_exactly(case.system, case.equations.method).without(left_out)
    number = np.frompyfunc(lambda x: mpmath.mpf(float(x)), 1, 1)
    states = {p.name: np.full(len(which), p.value) for p in equations.system.parameters if p.value is not None}
    states |= chosen(case.states, list(which))
    states = {name: number(column) for name, column in states.items()}
    for names in (joint.quaternion for joint in case.system.joints.values()):
        length = np.frompyfunc(mpmath.sqrt, 1, 1)(sum(states[n] ** 2 for n in names))
        states |= {n: states[n] / length for n in names}
    return SampledEquations(equations, states)


def _findings(case: SampledEquations, digits: int) -> Iterator[Finding]:
    """Yield the findings on all laws that apply to the system; in many digits where double precision is in doubt."""
    for law in LAWS:
        if not law.applies(case.system):
            continue
        off = law.check(case)
        worst, precise = float(off.max()), None
        if digits and tolerances.ROUNDING_TOLERANCE < worst <= ROUNDED:
            with require_mpmath().workdps(digits):
                precise = float(law.check(_precise(case, off.argsort()[-LOOKED_AT:].tolist())).max())
        yield Finding(
            law.name,
            worst,
            (worst if precise is None else precise) <= tolerances.ROUNDING_TOLERANCE,
            precise,
            law.compares,
        )


def _unexplained(double: list[FormalismPair], precise: list[FormalismPair]) -> list[FormalismPair]:
    """Return pairs in double precision, with the tolerance ``ROUNDED`` for formalisms that agree in many digits."""
    apart = {p.names for p in precise if not p.agree}
    return [replace(p, allowed=ROUNDED) if precise and p.names not in apart else p for p in double]


def _with_most(name: str, pairs: list[FormalismPair]) -> bool:
    """Return whether *name* agrees in all quantities with more than half of the other formalisms, or is alone."""
    others = {n for p in pairs if name in p.names for n in p.names} - {name}
    against = {n for p in pairs if name in p.names and not p.agree for n in p.names} - {name}
    return 2 * len(against) < len(others) or not others
