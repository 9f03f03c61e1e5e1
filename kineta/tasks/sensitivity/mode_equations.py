"""Equations of a motion in a fixed contact mode, and of an impact with fixed laws, with their first derivatives, compiled.

Accelerations, multipliers and contact forces x = (vdot, lambda, f) are the zeros of residuals R(t, q, v, p; x) that are linear in
x. Rows of what is closed or sticks are accelerations along them, rows of what is open or slips are laws of its force::

    R_F = inverse(vdot) - tau - A^T lambda - W^T f          R_G = A vdot + rest
    R_C = W vdot + rest       closed, sticks                R_C = f,  f + mu f_n d     open, slips

An impact has residuals of the same form in the speeds u after it and the impulses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from kineta.algebra.expression import Expr
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.equations.equations import Equations
from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.mechanics.contact import mode_dynamics
from kineta.mechanics.contact.guards import closed, direction, size_of, stuck
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.tangent import Direction, derivatives, multiplier_symbols, residuals
from kineta.model.reserved_symbols import added_force
from kineta.passes.nonsmooth_operations import jumps, kinks, leaps
from kineta.passes.substitute import substitute
from kineta.records import dataclass
from kineta.runtime.functions import state_programs

#: Numbers of the fixed laws of a contact in an impact: it is hit or pushed; its restitution counts; it sticks, slips; the
#: direction of slip in a plane.
HIT, BOUNCES, STICKS, SLIDES, ALONG, LAWS = range(6)
#: Quantities of a contact that are watched: gap, its rate, slip along both tangents, kinetic and static bound.
GAP, RATE, SLIP, BOUND, STATIC, WATCHED = 0, 1, 2, 4, 5, 6


@dataclass(frozen=True)
class ModeFunctions:
    """The functions of all modes of a system, of t, a state with x and flags behind it, and a block of parameters.

    motion : R, then its derivatives by x, (n_x, n_x)
    slopes : derivatives of R by z, (n_x, n_z); rates of the coordinates and their derivatives by z; integrands, with theirs by z
        and by x
    watched, shown : values, derivatives by z and by x: of contacts (:data:`WATCHED` each), switches, what switches set, and
        kinks; of series
    steps : whether an operation jumps; leaping : (kinks,) whether the value of one does at each kink
    calls : numbers of calls so far, by function
    impact : residuals of an impact, their derivatives by (u, impulses), and by z

    z are coordinates, speeds, the time, and the symbols that vary.
    """

    functions: CompiledFunctions
    contacts: tuple[UnilateralConstraint, ...]
    multipliers: int
    nq: int
    nv: int
    symbols: int
    goals: int
    shown: int
    sets: tuple[tuple[str, ...], ...]
    kinks: int
    steps: bool
    leaping: tuple[bool, ...]
    calls: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def n_x(self) -> int:
        """Number of accelerations, multipliers and contact forces."""
        return self.nv + self.multipliers + self.forces

    @property
    def forces(self) -> int:
        """Number of contact forces."""
        return sum(len(c.rows) for c in self.contacts)

    @property
    def n_z(self) -> int:
        """Number of coordinates, speeds, the time and the symbols that vary."""
        return self.nq + self.nv + 1 + self.symbols

    @property
    def n_watched(self) -> int:
        """Number of watched values."""
        return self.first_kink + self.kinks

    @property
    def first_switch(self) -> int:
        """Place of the first switch among the watched values; what switches set follows all of them."""
        return WATCHED * len(self.contacts)

    @property
    def first_kink(self) -> int:
        """Place of the first kink among the watched values."""
        return self.first_switch + len(self.sets) + sum(map(len, self.sets))

    def first_set(self, k: int) -> int:
        """Place of the first value that the switch number *k* sets."""
        return self.first_switch + len(self.sets) + sum(map(len, self.sets[:k]))

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Contact, row (0 the normal) and place in x of every contact force."""
        place = self.nv + self.multipliers
        for c, contact in enumerate(self.contacts):
            for i in range(len(contact.rows)):
                yield c, i + (contact.normal is None), place
                place += 1


def mode_functions(
    equations: Equations, varied: Sequence[str], goals: Sequence[Expr], shown: Sequence[Expr]
) -> ModeFunctions:
    """Return the functions of *equations*, whose symbols *varied* vary, with integrands *goals* and series *shown*."""
    key = (ModeFunctions, tuple(varied), tuple(goals), tuple(shown))
    return equations.bounded_memo(key, lambda: _mode_functions(equations, varied, goals, shown))


def _mode_functions(
    equations: Equations, varied: Sequence[str], goals: Sequence[Expr], shown: Sequence[Expr]
) -> ModeFunctions:
    free = equations.alone()
    d = free.with_rules(mode_dynamics.RULES)
    g, s = d.graph, d.symbols
    forces, multipliers = mode_dynamics.contact_forces(d), multiplier_symbols(free)
    x = [*s.vdot, *multipliers, *forces]
    given = dict(
        zip(
            map(str, map(g.name, (*mode_dynamics.accelerations(d), *mode_dynamics.row_multipliers(d)))), x, strict=False
        )
    )
    unknown: list[Direction] = [{ref: ONE} for ref in x]
    z: list[Direction] = [{ref: ONE} for ref in (*s.q, *s.v, s.t, *(g.symbol(n) for n in varied))]

    def with_slopes(refs: Sequence[Ref]) -> list[Ref]:
        return [*refs, *_slopes(g, refs, z), *_slopes(g, refs, unknown)]

    R = _residuals(free, forces)
    switches = s.system.switches
    found = d.expression(
        *goals,
        *shown,
        *(w.watched for w in switches),
        *(value for w in switches for _, value in w.sets),
    )
    found = substitute(g, found, given)
    integrands, series, switching = (
        found[: len(goals)],
        found[len(goals) : len(goals) + len(shown)],
        found[len(goals) + len(shown) :],
    )
    bends = list(kinks(g, [*R, *s.qdot, *integrands]))
    bent = list(dict.fromkeys(zero for _, zero in bends))
    watched = [*(ref for c in d.contacts for ref in _watched(c)), *switching, *bent]
    functions = {
        "motion": [*R, *_slopes(g, R, unknown)],
        "slopes": [*_slopes(g, R, z), *s.qdot, *_slopes(g, s.qdot, z), *with_slopes(integrands)],
        "watched": with_slopes(watched),
        "shown": with_slopes(series),
    }
    flags = [g.symbol(name) for contact in d.contacts for name in contact.flags]
    inputs = {"y": [*s.q, *s.v, *x, *flags]}
    constant = (*s.system.parameter_names, *(added_force(n) for n in s.names))
    setup, programs = state_programs(free, functions, inputs, constant, "mode")
    own = [setup, *programs.values()]
    if d.contacts:
        found_setup, found_programs = state_programs(free, *_impact(free, z), constant, "impact")
        own += [found_setup, *found_programs.values()]
    return ModeFunctions(
        CompiledFunctions(own, batch=True, group=lambda name: name),
        d.contacts,
        len(multipliers),
        len(s.q),
        len(s.v),
        len(varied),
        len(goals),
        len(shown),
        tuple(tuple(n for n, _ in w.sets) for w in switches),
        len(bent),
        any(jumps(g, ref >> 1) for ref, _ in bends),
        tuple(any(leaps(g, ref >> 1) for ref, zero in bends if zero == own) for own in bent),
    )


def _slopes(g: Graph, refs: Sequence[Ref], directions: Sequence[Direction]) -> list[Ref]:
    """The derivatives of *refs* in each of the *directions*, those of the first one first."""
    return [slope for row in derivatives(g, refs, directions, at_rest=True) for slope in row]


def _residuals(d: Derivation, forces: Sequence[Ref]) -> list[Ref]:
    """R of the module docstring, in vdot, the multipliers and the contact *forces*."""
    g, s = d.graph, d.symbols
    F, G = residuals(d)
    C, place = list[Ref](), 0
    for contact in d.contacts:
        own = forces[place : place + len(contact.rows)]
        place += len(own)
        F = _less(d, F, contact, own)
        shut, held = closed(g, contact), stuck(g, contact)
        pushed = ONE if contact.normal is None else own[0]
        ways = direction(g, contact)
        slides = g.symbol(contact.flags[2]) if contact.smooth is None else shut
        laws = [] if contact.normal is None else [(shut, own[0])]
        for force, way in zip(own[len(laws) :], ways, strict=True):
            rubs = g.mul(slides, g.mul(g.mul(contact.active, contact.bound), g.mul(pushed, way)))
            laws.append((held, g.add(force, rubs)))
        for row, (holds, law) in zip(contact.rows, laws, strict=True):
            along = g.add(row.along(g, s.vdot), row.rest)
            C.append(g.add(g.mul(holds, along), g.mul(g.sub(ONE, holds), law)))
    return [*F, *G, *C]


def _less(d: Derivation, left: Sequence[Ref], contact: UnilateralConstraint, forces: Sequence[Ref]) -> list[Ref]:
    """*left* less the *forces* of a *contact* on the speeds."""
    g, left = d.graph, list(left)
    for row, force in zip(contact.rows, forces, strict=True):
        for k, partial in row.gradient.items():
            left[k] = g.sub(left[k], g.mul(partial, force))
    return left


def _watched(contact: UnilateralConstraint) -> list[Ref]:
    """The :data:`WATCHED` values of a *contact*."""
    gap = [ZERO, ZERO] if contact.normal is None else [contact.normal.levels[0], contact.normal.levels[-1]]
    slip = [row.levels[0] for row in contact.tangents]
    return [*gap, *slip, *[ZERO] * (2 - len(slip)), contact.bound, contact.static]


def _impact(d: Derivation, z: Sequence[Direction]) -> tuple[dict[str, Sequence[Ref]], dict[str, Sequence[Ref]]]:
    """The function of an impact, and its inputs."""
    g, s = d.graph, d.symbols
    u = [g.symbol(f"{n} after") for n in s.names]
    after = {str(g.name(v)): ref for v, ref in zip(s.v, u, strict=True)}
    jumps = [g.sub(b, a) for b, a in zip(u, s.v, strict=True)]
    M, n = d["mass_matrix"].refs, len(u)
    F = [g.sum(g.mul(M[i * n + k], jumps[k]) for k in range(n)) for i in range(n)]
    multipliers, impulses = [g.symbol(f"impulse of {r.constraint}") for r in d.rows], list[Ref]()
    for row, impulse in zip(d.rows, multipliers, strict=True):
        for k, partial in row.gradient.items():
            F[k] = g.sub(F[k], g.mul(partial, impulse))
    G = substitute(g, [row.levels[-1] for row in d.rows], after)
    C, laws = list[Ref](), list[Ref]()
    for contact in d.contacts:
        own = [g.symbol(f"impulse along {row.constraint}") for row in contact.rows]
        fixed = [g.symbol(f"{contact.name}: impact {k}") for k in range(LAWS)]
        impulses, laws = [*impulses, *own], [*laws, *fixed]
        if contact.normal is None:  # the friction of a joint is a finite force
            C += own
            continue
        F = _less(d, F, contact, own)
        before = contact.normal.levels[-1]
        later = substitute(g, [row.levels[-1] for row in contact.rows], after)
        e = g.mul(fixed[BOUNCES], contact.restitution)
        C.append(g.add(g.mul(fixed[HIT], g.add(later[0], g.mul(e, before))), g.mul(g.sub(ONE, fixed[HIT]), own[0])))
        size = size_of(g, later[1:]) if len(own) > 2 else ONE
        for velocity, impulse in zip(later[1:], own[1:], strict=True):
            way = g.div(velocity, size) if len(own) > 2 else fixed[ALONG]
            rubs = g.add(impulse, g.mul(g.mul(fixed[SLIDES], contact.bound), g.mul(own[0], way)))
            C.append(g.add(g.mul(fixed[STICKS], velocity), g.mul(g.sub(ONE, fixed[STICKS]), rubs)))
    left, x = [*F, *G, *C], [*u, *multipliers, *impulses]
    found = [*left, *_slopes(g, left, [{ref: ONE} for ref in x]), *_slopes(g, left, z)]
    return {"impact": found}, {"y": [*s.q, *s.v, *x, *laws]}
