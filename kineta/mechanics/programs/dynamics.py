"""Motion and control under programs (theory R.5): the highest derivatives z = v^(s-1) and the multipliers of each instant.

By a law of control, and with constraints A of the same order beside the programs::

    rate(z) = sum of lambda_a D_a + T + A^T nu          B z = -rest          A z = -rest

``rate`` is linear in z with the mass matrix M as its coefficient, so that the system is a KKT system with the border B and A, if
the directions D are the gradients B. In general the decoupling matrix of the programs is solved::

    K (z0, .) = (c, -rest_A)        K (Z_a, .) = (D_a, 0)        sum over b of B_a . Z_b lambda_b = -rest_a - B_a . z0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.mechanics.constraints import projection
from kineta.mechanics.constraints.kkt import kkt_factors
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.mechanics.from_residual import named, orders, power
from kineta.mechanics.linear_algebra.ldl import Factors, SingularError, factored
from kineta.mechanics.programs.laws import LAWS
from kineta.mechanics.programs.laws.law import Law, gradients, total
from kineta.mechanics.programs.rows import raised, without
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System
from kineta.passes.nonsmooth_operations import kinks as kinks_of

#: Operations with a value but no derivative where the given function of their operand is zero.
EDGES: Mapping[int, Callable[[Graph, Ref], Ref]] = {
    **dict.fromkeys((Op.SQRT, Op.POW), lambda g, x: x),
    Op.ABS: lambda g, x: g.mul(x, x),
    **dict.fromkeys((Op.ASIN, Op.ACOS), lambda g, x: g.sub(ONE, g.mul(x, x))),
}
#: Prefix of the names of control forces in the series of a run.
CONTROL = "control."


def law(d: Derivation) -> Law:
    """The law of control of a system. Raise :class:`ModelError` where it does not apply."""
    system = d.symbols.system
    found = LAWS[system.control.law]
    if why := found.applies(system, d.programs.r):
        raise ModelError(f"Model '{system.name}': the law {found.name} does not apply: {why}", system.control.location)
    return found


def transversal(d: Derivation) -> list[Ref]:
    """The part of the control, or of its derivative, that no program asks for, (nv,)."""
    given = dict(d.symbols.system.control.transversal)
    values = dict(zip(given, d.expression_of_levels(*given.values()), strict=True))
    for name, value in values.items():
        if d.symbols.order([value]) >= d.programs.s:
            system = d.symbols.system
            raise ModelError(
                f"Model '{system.name}': control: the transversal part of {name} has derivatives of the order "
                f"{d.symbols.order([value])}; expected ones below {d.programs.s}, that of the equations.",
                system.control.location,
            )
    return [values.get(name, ZERO) for name in d.symbols.names]


def _solution(d: Derivation) -> Array:
    """The highest derivatives z, the multipliers of the programs, and those of the constraints."""
    g, own, n = d.graph, d.programs, len(d.symbols.v)
    rate = without(d.symbols, law(d).rate(d, own.r), own.s)
    c = [g.sub(T, x) for T, x in zip(d["transversal"].refs, rate, strict=True)]
    if own.r == 0:
        c = [g.add(x, tau) for x, tau in zip(c, d.symbols.tau, strict=True)]
    if law(d).directions is gradients:
        rests = [neg(row.rest) for row in (*own.ideal, *own.rows)]
        x = kkt_factors(d, (*own.ideal, *own.rows), orders(d)[0]).solve(c, rests)
        border = [neg(y) for y in x[n:]]
        return vector([*x[:n], *border[len(own.ideal) :], *border[: len(own.ideal)]])
    x = kkt_factors(d, own.ideal, orders(d)[0]).solve(c, [neg(row.rest) for row in own.ideal])
    answers = _rows(d["program_response"])
    short = [neg(g.add(row.rest, row.along(g, x))) for row in own.rows]
    found = _decoupling_matrix(d).solve(short)
    for multiplier, answer in zip(found, answers, strict=True):
        x = [g.add(a, g.mul(multiplier, b)) for a, b in zip(x, answer, strict=True)]
    return vector([*x[:n], *found, *(neg(y) for y in x[n:])])


def _decoupling_matrix(d: Derivation) -> Factors:
    """The decoupling matrix B_a . Z_b, factored. Raise :class:`ModelError` for a program that no actuator can influence."""
    g, own = d.graph, d.programs
    answers = _rows(d["program_response"])
    entries = [[row.along(g, answer) for answer in answers] for row in own.rows]
    rows = [{j: x for j, x in enumerate(row) if x != ZERO} for row in entries]
    try:
        return factored(g, rows, range(len(rows)), [ZERO] * len(rows), range(len(rows)), watched=d.watched)
    except SingularError as error:
        row = own.rows[error.row]
        raise ModelError(beyond_reach(d.symbols.system, row.constraint), row.location) from None


def beyond_reach(system: System, name: str) -> str:
    """The sentence on the program *name*, which no actuator of *system* can influence."""
    names = ", ".join(n for n, _ in system.control.actuators) or "the speeds"
    return (
        f"Program '{name}': no control on {names} changes it at its order, beside what other programs ask for. "
        "Name other actuators; forces that act on it through the rest of the system are found by kineta servo."
    )


def _response(d: Derivation) -> Array:
    """The response to the directions of the law: accelerations, and multipliers of constraints with the opposite sign."""
    own, width = d.programs, len(d.symbols.v) + len(d.programs.ideal)
    return matrix([_response_to(d, D) for D in _rows(d["program_directions"])], width) if own.rows else vector([])


def _gradient_response(d: Derivation) -> Array:
    """The response of the accelerations to forces along the gradients of the programs: the influence of each speed on a
    program.
    """
    n = len(d.symbols.v)
    return matrix([_response_to(d, B)[:n] for B in gradients(d, ())], n)


def _response_to(d: Derivation, forces: Sequence[Ref]) -> list[Ref]:
    own = d.programs.ideal
    return kkt_factors(d, own, orders(d)[0]).solve(forces, [ZERO] * len(own))


def _rows(array: Array) -> list[Sequence[Ref]]:
    """The rows of a matrix."""
    count, width = array.shape
    return [array.refs[i * width : (i + 1) * width] for i in range(count)]


def _regularity(d: Derivation) -> Array:
    """The gradients of the programs, then the response to the directions of the law: (2, programs, nv)."""
    n = len(d.symbols.v)
    answers = [x for answer in _rows(d["program_response"]) for x in answer[:n]]
    return Array((2, len(d.programs.rows), n), (*(x for B in gradients(d, ()) for x in B), *answers))


def edges(d: Derivation) -> list[tuple[int, Ref]]:
    """Quantities that are positive where programs have gradients, and zero where a program has a value but no gradient by its
    highest derivatives: the squares of lengths, as of |a|, which has no direction of steepest ascent at zero. Each with the
    index of its program.
    """
    g, found = d.graph, dict[tuple[int, Ref], None]()
    for k, row in enumerate(d.programs.rows):
        highest = set(d.symbols.level(row.order))
        for i in reachable(g, row.levels[:1], guarding=False):
            if g.op[i] in EDGES and highest.intersection(2 * j for j in reachable(g, [g.lhs[i]], guarding=False)):
                found[k, EDGES[g.op[i]](g, g.lhs[i])] = None
    return list(found)


def kinks(d: Derivation) -> list[Ref]:
    """Arguments that change sign where a program, as written, has a kink or a jump."""
    levels = [row.levels[0] for row in d.programs.rows if row.levels]
    return list(dict.fromkeys(zero for _, zero in kinks_of(d.graph, levels, guarding=False, cuts=False)))


# -- derived quantities -----------------------------------------------------------------------------------------------


def _highest(d: Derivation) -> Array:
    primes = "'" * (d.programs.s - 1)
    return named([f"{n}{primes}" for n in d.symbols.names], d["program_solution"].refs[: len(d.symbols.v)])


def _multipliers(d: Derivation) -> Array:
    n, rows = len(d.symbols.v), d.programs.rows
    return named([f"{MULTIPLIER}{r.constraint}" for r in rows], d["program_solution"].refs[n : n + len(rows)])


def _reactions(d: Derivation) -> list[Ref]:
    """The multipliers of the constraints: the part of the required forces that constraints supply."""
    n, own = len(d.symbols.v), d.programs
    if own.r == 0:
        return list(d["program_solution"].refs[n + len(own.rows) :])
    return law(d).reactions(d)


def _ideal(d: Derivation) -> Array:
    """The multipliers of all constraints, zero for dropped rows."""
    if d.symbols.system.quasi:
        return d.rules["free_multipliers"](d)
    kept = iter(_reactions(d))
    found = [ZERO if row.constraint in d.dropped else next(kept) for row in d.constraint_rows]
    return named([f"{MULTIPLIER}{row.constraint}" for row in d.constraint_rows], found)


def _control(d: Derivation) -> Array:
    """The control forces on the speeds (theory R.5)."""
    g, own = d.graph, d.programs
    if own.r:
        found = total(d)
        for row, reaction in zip(d.rows, _reactions(d), strict=True):
            for k, partial in row.gradient.items():
                found[k] = g.sub(found[k], g.mul(partial, reaction))
        return named([f"{CONTROL}{n}" for n in d.symbols.names], found)
    found = list(d["transversal"].refs)
    for D, multiplier in zip(_rows(d["program_directions"]), d["program_multipliers"].refs, strict=True):
        found = [g.add(u, g.mul(multiplier, x)) for u, x in zip(found, D, strict=True)]
    return named([f"{CONTROL}{n}" for n in d.symbols.names], found)


def _control_power(d: Derivation) -> Array:
    g = d.graph
    return named([f"{CONTROL}power"], [g.sum(g.mul(u, v) for u, v in zip(d["control"].refs, d.symbols.v, strict=True))])


def _programs(d: Derivation) -> Array:
    """Residuals of every program and its derivatives below the order of the equations."""
    rows = d.programs.rows
    return named([n for row in rows for n in row.labels], [x for row in rows for x in row.levels])


def _tops(d: Derivation) -> Array:
    """Residuals of the programs of the order of the equations, at the solution for the highest derivatives."""
    highest = d["highest"].refs
    return vector([d.graph.add(row.along(d.graph, highest), row.rest) for row in d.programs.rows if not row.levels])


def _forward(d: Derivation) -> Array:
    """The accelerations, which are variables beyond the second order."""
    return vector(d.symbols.vdot if d.programs.r else d["highest"].refs)


def _state_rate(d: Derivation) -> Array:
    levels = (x for k in range(2, d.programs.s) for x in d.symbols.level(k))
    return vector((*d.symbols.qdot, *levels, *d["highest"].refs))


def in_run(rules: Mapping[str, Rule]) -> Mapping[str, Rule]:
    """The *rules* of a derivation under control by the programs."""
    own: Mapping[str, Rule] = {
        "transversal": lambda d: vector(transversal(d)),
        "program_solution": _solution,
        "program_response": _response,
        "program_directions": lambda d: matrix(law(d).directions(d, _rows(d["gradient_response"])), len(d.symbols.v)),
        "gradient_response": _gradient_response,
        "program_multipliers": _multipliers,
        "regularity": _regularity,
        "highest": _highest,
        "control": _control,
        "control_power": _control_power,
        "programs": _programs,
        "program_tops": _tops,
        "forward": _forward,
        "free_multipliers": rules["multipliers"],
        "multipliers": _ideal,
        "state_rate": _state_rate,
        "power": lambda d: scalar(d.graph.add(power(d).refs[0], d["control_power"].refs[0])),
    }
    return {**rules, **own}


def controlled(d: Derivation) -> Derivation:
    """The derivation of *d* under control by its programs."""
    return replace(d, rules=in_run(d.rules))


# -- uncontrolled motion ----------------------------------------------------------------------------------------------


def uncontrolled(d: Derivation, k: int) -> list[Ref]:
    """The derivatives of order *k* > 1 of the coordinates in the uncontrolled motion with given lower derivatives."""
    ideal = [raised(d.symbols, row, k) for row in d.rows]
    rate = without(d.symbols, law(d).rate(d, k - 2), k)
    found = kkt_factors(d, ideal, orders(d)[0]).solve([neg(x) for x in rate], [neg(row.rest) for row in ideal])
    return found[: len(rate)]


# -- projection -------------------------------------------------------------------------------------------------------


def position(d: Derivation) -> list[Ref]:
    """The coordinates after projection onto position constraints and programs, (nq,)."""
    g, kept = d.graph, [row for row in d.programs.rows if row.order == 0]
    if not kept:
        return projection.position(d)
    if d.symbols.system.quasi:  # which satisfy velocity constraints identically
        both = zip(d.symbols.q, projection.position(d), projection.retraction(d, change(d, kept, 0)), strict=True)
        return [g.add(one, g.sub(other, q)) for q, one, other in both]
    kept = [*(row for row in d.programs.ideal if row.order == 0), *kept]
    return projection.retraction(d, change(d, kept, 0))


def velocity(d: Derivation) -> list[Ref]:
    """The speeds and their derivatives below the highest, each after projection onto constraints and programs."""
    found = []
    for m in range(1, d.programs.s):
        kept = [row for row in (*d.programs.ideal, *d.programs.rows) if row.order <= m]
        found += [d.graph.add(x, y) for x, y in zip(d.symbols.level(m), change(d, kept, m), strict=True)]
    return found


def change(d: Derivation, kept: Sequence[Row], m: int) -> list[Ref]:
    """The least change of the variables of order *m*, in the metric of M, that satisfies the rows *kept* to first order."""
    n = len(d.symbols.v)
    if not kept:
        return [ZERO] * n
    off = [neg(row.levels[m - row.order]) for row in kept]
    return kkt_factors(d, kept, orders(d)[0]).solve([ZERO] * n, off)[:n]
