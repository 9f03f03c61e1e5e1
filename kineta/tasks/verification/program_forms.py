"""Rodionov's forms of the equations under programs of motion, compared with the laws of control of simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations, derive, derive_exactly
from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs.forms import FORMS
from kineta.mechanics.programs.laws import LAWS
from kineta.model.motion_program import Control
from kineta.model.reserved_symbols import TIME, added_force
from kineta.model.system import System
from kineta.passes.multiprecision import require_mpmath
from kineta.records import dataclass
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from kineta.tasks.verification.certificate import FormRow
from kineta.tasks.verification.random_states import States, chosen, values
from kineta.tasks.verification.sampled_equations import relative_error

#: Most digits lost to rounding in multiprecision.
LOST = 14


@dataclass(frozen=True)
class _Sides:
    """The left sides of a form and of its law, equal at any highest derivatives, in one graph."""

    d: Derivation
    form: list[Ref]
    law: list[Ref]

    def off(self, states: States) -> FloatArray:
        """Return the relative difference of the sides at *states*, (n,)."""
        return relative_error(values(self.d.graph, self.form, states), values(self.d.graph, self.law, states))


def compared(system: System, states: States, digits: int, seed: int) -> Iterator[FormRow]:
    """Yield a row for each of Rodionov's forms: the reason why it does not apply to *system*, or its difference from its law at
    *states* with random derivatives of the accelerations; in *digits* digits (0: never) where rounding is in doubt.
    """
    laws = {form.law: _controlled(system, form.law, derive) for form in FORMS.values()}
    r = next(iter(laws.values())).programs.r
    states = with_levels(system, states, r, seed)
    for form in FORMS.values():
        if why := form.applies(system, r):
            yield FormRow(form.name, form.equation, form.law, refused=why)
            continue
        off = _sides(laws[form.law], form.name).off(states)
        worst, precise = float(off.max()), None
        if digits and worst > 10 * tolerances.ROUNDING_TOLERANCE:
            own = _controlled(system, form.law, derive_exactly)
            with require_mpmath().workdps(digits):
                precise = float(_sides(own, form.name).off(_precise(own.symbols.system, states, off)).max())
        agrees = worst <= 10 * tolerances.ROUNDING_TOLERANCE if precise is None else precise <= 10.0 ** (LOST - digits)
        yield FormRow(form.name, form.equation, form.law, worst=worst, precise=precise, agrees=agrees)


def laws_apart(system: System, states: States, seed: int) -> float:
    """Return the relative difference of the covariant law from the kineta law at *states*; 0 for equal laws, where one does not
    apply, and where programs determine the whole motion.
    """
    d = _controlled(system, "covariant", derive)
    r = d.programs.r
    if len(d.programs.rows) + len(d.programs.ideal) == system.nv or any(
        LAWS[name].applies(system, r) for name in ("covariant", "kineta")
    ):
        return 0.0
    found = (
        _Sides(d, LAWS["covariant"].rate(d, r), LAWS["kineta"].rate(d, r))
        .off(with_levels(system, states, r, seed))
        .max()
    )
    return float(found) if found > tolerances.FORCE_TOLERANCE else 0.0


def with_levels(system: System, states: States, r: int, seed: int) -> dict[str, FloatArray]:
    """Return *states* with random derivatives of the accelerations up to the order *r*, and zero forces tau."""
    rng, n = np.random.default_rng(seed), len(states[TIME])
    names = [name + "'" * k for k in range(2, r + 2) for name in system.v_names]
    more = {name: rng.uniform(-3, 3, n) for name in names} | {added_force(n_): np.zeros(n) for n_ in system.v_names}
    return {**states, **more}


def _controlled(system: System, law: str, derived: Callable[[System, str], Equations]) -> Derivation:
    return run_derivation(derived(system.replace(control=Control(law)), "newton_euler"), PROJECTED)


def _sides(d: Derivation, form: str) -> _Sides:
    own = FORMS[form]
    return _Sides(d, own.left(d, d.programs.r), LAWS[own.law].rate(d, d.programs.r))


def _precise(system: System, states: States, off: FloatArray) -> States:
    """Return the state of the largest difference *off*, and the numbers of *system* as parameters, in multiprecision."""
    number = np.frompyfunc(lambda x: require_mpmath().mpf(float(x)), 1, 1)
    known = {p.name: np.full(1, p.value) for p in system.parameters if p.value is not None}
    return {name: number(column) for name, column in {**known, **chosen(states, [int(off.argmax())])}.items()}
