"""Rodionov's forms of the equations under programs of motion, against the laws of control that runs follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kineta.compiler import derive
from kineta.expr.graph import Ref
from kineta.formalism.derivation import Derivation
from kineta.formalism.forms import FORMS
from kineta.formalism.laws import LAWS
from kineta.model.infer import TIME
from kineta.model.program import Control
from kineta.model.rewrite import lifted
from kineta.model.system import System
from kineta.passes.digits import library
from kineta.tasks.certificate import FormRow
from kineta.tasks.keeping import PROJECTED, derivation
from kineta.tasks.laws import FloatArray, missed
from kineta.tasks.sampling import States, chosen, values

#: Disagreement that rounding explains, in double precision; digits that it may take of those asked for.
ALLOWED, LOST = 1e-11, 14
#: Laws that are farther apart are two, not one.
APART = 1e-8


@dataclass(frozen=True)
class _Sides:
    """The left sides of a form and of its law, which are to be the same at any highest derivatives, in one graph."""

    d: Derivation
    form: list[Ref]
    law: list[Ref]

    def off(self, states: States) -> FloatArray:
        """How far the sides are apart at *states*, (n,)."""
        return missed(values(self.d.graph, self.form, states), values(self.d.graph, self.law, states))


def compared(system: System, states: States, digits: int, seed: int) -> Iterator[FormRow]:
    """A row for each of Rodionov's forms: why it does not apply to *system*, or how far it is from its law at *states*, with
    random derivatives of the accelerations; in *digits* digits (0: not) where rounding has to be told from errors.
    """
    laws = {form.law: _controlled(system, form.law) for form in FORMS.values()}
    r = next(iter(laws.values())).programs.r
    states = with_levels(system, states, r, seed)
    for form in FORMS.values():
        if why := form.applies(system, r):
            yield FormRow(form.name, form.equation, form.law, refused=why)
            continue
        off = _sides(laws[form.law], form.name).off(states)
        worst, precise = float(off.max()), None
        if digits and worst > ALLOWED:
            own = _controlled(lifted(system), form.law)
            with library().workdps(digits):
                precise = float(_sides(own, form.name).off(_precise(own.symbols.system, states, off)).max())
        agrees = worst <= ALLOWED if precise is None else precise <= 10.0 ** (LOST - digits)
        yield FormRow(form.name, form.equation, form.law, worst=worst, precise=precise, agrees=agrees)


def laws_apart(system: System, states: States, seed: int) -> float:
    """How far the covariant law and the kineta law are apart at *states*, relative to what they say; 0 for one law, where one of
    them does not apply, and where programs leave nothing of the motion to a law.
    """
    d = _controlled(system, "covariant")
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
    return float(found) if found > APART else 0.0


def with_levels(system: System, states: States, r: int, seed: int) -> dict[str, FloatArray]:
    """*states* with random derivatives of the accelerations up to the order *r*, and without forces tau."""
    rng, n = np.random.default_rng(seed), len(states[TIME])
    names = [name + "'" * k for k in range(2, r + 2) for name in system.v_names]
    more = {name: rng.uniform(-3, 3, n) for name in names} | {f"tau.{n_}": np.zeros(n) for n_ in system.v_names}
    return {**states, **more}


def _controlled(system: System, law: str) -> Derivation:
    return derivation(derive(system.replace(control=Control(law))), PROJECTED)


def _sides(d: Derivation, form: str) -> _Sides:
    own = FORMS[form]
    return _Sides(d, own.left(d, d.programs.r), LAWS[own.law].rate(d, d.programs.r))


def _precise(system: System, states: States, off: FloatArray) -> States:
    """The one of *states* that is farthest *off*, and the numbers of *system* as parameters, as numbers of mpmath."""
    number = np.frompyfunc(lambda x: library().mpf(float(x)), 1, 1)
    known = {p.name: np.full(1, p.value) for p in system.parameters if p.value is not None}
    return {name: number(column) for name, column in {**known, **chosen(states, [int(off.argmax())])}.items()}
