"""``NonholonomicForm``: a form of the equations in independent speeds, and the expressions that several forms contain.

The speeds of the motions are functions v = h(q, t) w + h_0(q, t) of the independent speeds w, the constraints included. T* is the
kinetic energy with these in it, p_i = dT/dv_i are the momenta of the motions, and d/dpi_s = sum of h_is d/dq_i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kineta.algebra.expression import symbol
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.constraints.quasi_velocities import independent
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.formalisms.lagrange import LAGRANGE, nonconservative_forces, with_slope
from kineta.mechanics.narration import Shown, Step, Steps, applied, each, nonzero, one, slopes
from kineta.mechanics.narration import momenta as named_momenta
from kineta.model.system import System
from kineta.passes.differentiate import gradient
from kineta.passes.expand import SumsOfProducts
from kineta.passes.substitute import substitute
from kineta.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class NonholonomicForm:
    """A form of the equations of motion in independent speeds. Two are equal where they are one object.

    source : author and place in the literature
    residual : the forces tau on the independent speeds that produce the accelerations ``symbols.vdot``
    steps : the steps of its derivation report
    refusal : "" where the form applies to a derivation, else the reason why not
    plain : whether the independent speeds have to be speeds of motions
    """

    name: str
    source: str
    residual: Callable[[Derivation], list[Ref]]
    steps: Steps
    refusal: Callable[[Derivation], str]
    plain: bool = False

    def derivation(self, system: System, *, exact: bool = False) -> Derivation:
        """The derivation of *system* in independent speeds: its own quasi-velocities, completed by speeds of motions."""
        named = all(q.value == symbol(q.name) for q in system.quasi)
        if self.plain and not named:
            places = {n: x for n, x in system.initial if n in system.q_names}
            system = system.replace(quasi=(), initial=places)
        return LAGRANGE.derivation(independent(system), exact=exact)


def only_rates(d: Derivation) -> str:
    """Return "" where all speeds of the motions are rates of coordinates, else a sentence."""
    joints = list(d.symbols.system.joints)
    if not joints:
        return ""
    return f"it is for speeds that are rates of coordinates, and the angular velocity of '{joints[0]}' is none"


def always(d: Derivation) -> str:
    """Return "", for a form of every system."""
    return ""


def momenta(d: Derivation) -> list[Ref]:
    """The momenta p of the motions in the independent speeds."""
    base = d.unconstrained
    moved = dict(zip(base.symbols.names, d.symbols.speeds, strict=True))
    return substitute(d.graph, base["momentum"].refs, moved)


def partials(d: Derivation) -> list[list[Ref]]:
    """h_is = dv_i/dw_s, a row for each speed of the motions."""
    s = d.symbols
    return [[s.by_speed(v).get(k, ZERO) for k in range(len(s.v))] for v in s.speeds]


def lagrangian_part(d: Derivation) -> list[Ref]:
    """d/dt dT*/dw - d(T* - V)/dpi - Q."""
    g, s = d.graph, d.symbols
    T, V = d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]
    by, falls = gradient(g, T, {*s.q, *s.v}), gradient(g, V, set(s.q))
    own = [by.get(w, ZERO) for w in s.v]
    slope = {q: g.sub(falls.get(q, ZERO), by.get(q, ZERO)) for q in s.q}
    left = with_slope(d, slope, s.levels.of(own, 1))
    return [g.sub(x, Q) for x, Q in zip(left, nonconservative_forces(d), strict=True)]


def transposition(d: Derivation, along: Callable[[Ref, int], Ref]) -> list[list[Ref]]:
    """b_is = d(h_is)/dt - *along* (v_i, s), a row for each speed of the motions, in a simplified form.

    With along = d v_i/dpi_s they tell by how much variations of speeds differ from rates of variations.
    """
    g, opened = d.graph, SumsOfProducts(d.graph)
    h = partials(d)
    rates = iter(d.symbols.levels.of([x for row in h for x in row], 1))
    return [
        [opened.shorter(g.sub(next(rates), along(v, k))) for k in range(len(row))]
        for v, row in zip(d.symbols.speeds, h, strict=True)
    ]


def weighted(graph: Graph, p: Sequence[Ref], rows: Sequence[Sequence[Ref]]) -> list[Ref]:
    """The sums of p_i rows_is over i, for each s."""
    return [graph.sum(graph.mul(x, y) for x, y in zip(p, column, strict=True)) for column in zip(*rows, strict=True)]


def dependent_speeds(d: Derivation) -> list[int]:
    """The places of the dependent speeds among the speeds of the motions."""
    return [i for i, v in enumerate(d.symbols.speeds) if v not in d.symbols.v]


def less_transposition(d: Derivation, terms: Sequence[Sequence[Ref]]) -> list[Ref]:
    """Lagrange's part of the equations, less the sums of p_i b_is for the *terms* b_is."""
    lost = weighted(d.graph, momenta(d), terms)
    return [d.graph.sub(x, y) for x, y in zip(lagrangian_part(d), lost, strict=True)]


def transposition_steps(d: Derivation, terms: Sequence[Sequence[Ref]], title: str, law: str) -> Iterator[Step]:
    """The steps up to the *terms* b_is of the dependent speeds, which have this *title* and *law*."""
    places = dependent_speeds(d)
    yield from energy_steps(d)
    yield momentum_step(d, places)
    yield Step(
        "Rates of the dependent coordinates by the independent ones",
        "α_ds = ∂q̇_d/∂w_s",
        shown=entries(d, "alpha", partials(d), places),
    )
    yield Step(
        title,
        law,
        note="They vanish where the constraints can be integrated. Those that are not shown are zero.",
        shown=entries(d, "b", terms, places),
    )


def energy_steps(d: Derivation) -> Iterator[Step]:
    """The steps from the energies in independent speeds to Lagrange's part of the equations."""
    g, s = d.graph, d.symbols
    T, V = d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]
    yield Step(
        "Kinetic energy in the independent speeds",
        note="The constraints are in it. A star marks functions of the independent speeds w.",
        shown=(one("T*", T),),
    )
    yield Step("Potential energy", shown=(one("V", V),))
    by = gradient(g, T, {*s.q, *s.v})
    own = [by.get(w, ZERO) for w in s.v]
    yield Step("Their momenta", "p_s* = ∂T*/∂w_s", shown=each("p*", s.names, own))
    none = [ZERO] * len(s.v)
    pi = [f"pi.{n}" for n in s.names]
    pulls = (("T*", with_slope(d, by, none)), ("V", with_slope(d, gradient(g, V, set(s.q)), none)))
    yield Step(
        "Slopes of both energies",
        "∂T*/∂π_s = ∑ (∂q̇_i/∂w_s) ∂T*/∂q_i",
        note="Those that are not shown are zero.",
        shown=nonzero(tuple(x for letter, row in pulls for x in slopes(letter, pi, row))),
    )
    yield applied(d, "", nonconservative_forces(d), "Generalised forces of what has no potential")


def momentum_step(d: Derivation, places: Sequence[int]) -> Step:
    """The momenta of the motions at *places* among their speeds."""
    names, p = d.unconstrained.symbols.names, momenta(d)
    return Step(
        "Momenta of the motions",
        "p_i = ∂T/∂q̇_i",
        note="Of the kinetic energy without the constraints, which are put in afterwards.",
        shown=named_momenta([names[i] for i in places], [p[i] for i in places]),
    )


def entries(d: Derivation, letter: str, rows: Sequence[Sequence[Ref]], places: Sequence[int]) -> tuple[Shown, ...]:
    """The entries other than zero of *rows* at *places*, ``letter[speed,independent speed]``."""
    s, names = d.symbols, d.unconstrained.symbols.names
    return tuple(
        one(f"{letter}[{names[i]},{w}]", rows[i][k])
        for i in places
        for k, w in enumerate(s.names)
        if rows[i][k] != ZERO
    )
