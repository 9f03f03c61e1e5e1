"""Motion and control under programs (theory R.5): the highest derivatives z = v^(s-1) and the multipliers of each instant.

By a law of control, and with constraints A of the same order beside the programs::

    rate(z) = sum of lambda_a D_a + T + A^T nu          B z = -rest          A z = -rest

``rate`` is linear in z with the mass matrix M as its coefficient, so that the system is bordered by B and A, if the directions D
are the gradients B. In general the answers to the programs decide::

    K (z0, .) = (c, -rest_A)        K (Z_a, .) = (D_a, 0)        sum over b of B_a . Z_b lambda_b = -rest_a - B_a . z0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.formalism import manifold
from kineta.formalism.bordered import bordered
from kineta.formalism.constraint import Row
from kineta.formalism.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.formalism.laws import LAWS
from kineta.formalism.laws.law import Law, gradients, total
from kineta.formalism.program import raised, without
from kineta.formalism.residual import named, orders, power
from kineta.formalism.solve import Factors, SingularError, factored
from kineta.model.infer import MULTIPLIER
from kineta.model.system import System
from kineta.passes.kinks import kinks as kinks_of

#: Operations that have a value but no derivative where something of their operand is zero.
EDGES: Mapping[int, Callable[[Graph, Ref], Ref]] = {
    **dict.fromkeys((Op.SQRT, Op.POW), lambda g, x: x),
    Op.ABS: lambda g, x: g.mul(x, x),
    **dict.fromkeys((Op.ASIN, Op.ACOS), lambda g, x: g.sub(ONE, g.mul(x, x))),
}
#: How the names of controls begin, as series of a run.
CONTROL = "control."


def law(d: Derivation) -> Law:
    """The law of control of a system. Raises :class:`ModelError` where it does not apply."""
    system = d.symbols.system
    found = LAWS[system.control.law]
    if why := found.applies(system, d.programs.r):
        raise ModelError(f"Model '{system.name}': the law {found.name} does not apply: {why}", system.control.location)
    return found


def _transversal(d: Derivation) -> list[Ref]:
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
    """z, the multipliers of the programs, and those of the constraints."""
    g, own, n = d.graph, d.programs, len(d.symbols.v)
    rate = without(d.symbols, law(d).rate(d, own.r), own.s)
    c = [g.sub(T, x) for T, x in zip(d["transversal"].refs, rate, strict=True)]
    if own.r == 0:
        c = [g.add(x, tau) for x, tau in zip(c, d.symbols.tau, strict=True)]
    if law(d).directions is gradients:
        rests = [neg(row.rest) for row in (*own.ideal, *own.rows)]
        x = bordered(d, (*own.ideal, *own.rows), orders(d)[0]).solve(c, rests)
        border = [neg(y) for y in x[n:]]
        return vector([*x[:n], *border[len(own.ideal) :], *border[: len(own.ideal)]])
    x = bordered(d, own.ideal, orders(d)[0]).solve(c, [neg(row.rest) for row in own.ideal])
    answers = _rows(d["program_answers"])
    short = [neg(g.add(row.rest, _along(d, row, x))) for row in own.rows]
    found = _influence(d).solve(short)
    for multiplier, answer in zip(found, answers, strict=True):
        x = [g.add(a, g.mul(multiplier, b)) for a, b in zip(x, answer, strict=True)]
    return vector([*x[:n], *found, *(neg(y) for y in x[n:])])


def _influence(d: Derivation) -> Factors:
    """The matrix B_a . Z_b, factored. Raises :class:`ModelError` where no actuator can influence a program."""
    g, own = d.graph, d.programs
    answers = _rows(d["program_answers"])
    entries = [[_along(d, row, answer) for answer in answers] for row in own.rows]
    rows = [{j: x for j, x in enumerate(row) if x != ZERO} for row in entries]
    try:
        return factored(g, rows, range(len(rows)), [ZERO] * len(rows), range(len(rows)), watched=d.watched)
    except SingularError as error:
        row = own.rows[error.row]
        raise ModelError(beyond_reach(d.symbols.system, row.constraint), row.location) from None


def beyond_reach(system: System, name: str) -> str:
    """What to say of the program called *name* that no actuator of *system* can influence."""
    names = ", ".join(n for n, _ in system.control.actuators) or "the speeds"
    return (
        f"Program '{name}': no control on {names} changes it at its order, beside what other programs ask for. "
        "Name other actuators; forces that act on it through the rest of the system are found by kineta servo."
    )


def _answers(d: Derivation) -> Array:
    """The accelerations, and multipliers of constraints with the opposite sign, that answer the directions of the law."""
    own, width = d.programs, len(d.symbols.v) + len(d.programs.ideal)
    return matrix([_answer(d, D) for D in _rows(d["program_directions"])], width) if own.rows else vector([])


def _directions(d: Derivation) -> Array:
    return matrix(law(d).directions(d, _rows(d["gradient_answers"])), len(d.symbols.v))


def _gradient_answers(d: Derivation) -> Array:
    """The accelerations that answer the gradients of the programs, were these forces: how far each speed reaches a program."""
    n = len(d.symbols.v)
    return matrix([_answer(d, B)[:n] for B in gradients(d, ())], n)


def _answer(d: Derivation, forces: Sequence[Ref]) -> list[Ref]:
    own = d.programs.ideal
    return bordered(d, own, orders(d)[0]).solve(forces, [ZERO] * len(own))


def filled(row: Row, n: int) -> list[Ref]:
    """The gradient of *row* by all of *n* speeds."""
    return [row.gradient.get(k, ZERO) for k in range(n)]


def _along(d: Derivation, row: Row, x: Sequence[Ref]) -> Ref:
    return d.graph.sum(d.graph.mul(partial, x[k]) for k, partial in row.gradient.items())


def _rows(array: Array) -> list[Sequence[Ref]]:
    """The rows of a matrix."""
    count, width = array.shape
    return [array.refs[i * width : (i + 1) * width] for i in range(count)]


def _regularity(d: Derivation) -> Array:
    """The gradients of the programs, then what answers the directions of the law: (2, programs, nv)."""
    n = len(d.symbols.v)
    answers = [x for answer in _rows(d["program_answers"]) for x in answer[:n]]
    return Array((2, len(d.programs.rows), n), (*(x for B in gradients(d, ()) for x in B), *answers))


def edges(d: Derivation) -> list[tuple[int, Ref]]:
    """What is positive where programs have gradients, and zero where one has a value but no gradient by its highest derivatives:
    the squares of lengths, as of |a|, which is at rest as steep in all directions. Each with the number of its program.
    """
    g, found = d.graph, dict[tuple[int, Ref], None]()
    for k, row in enumerate(d.programs.rows):
        highest = set(d.symbols.level(row.order))
        for i in reachable(g, row.levels[:1], guarding=False):
            if g.op[i] in EDGES and highest.intersection(2 * j for j in reachable(g, [g.lhs[i]], guarding=False)):
                found[k, EDGES[g.op[i]](g, g.lhs[i])] = None
    return list(found)


def kinks(d: Derivation) -> list[Ref]:
    """What changes its sign where a program, as it is written, has a kink or a step."""
    levels = [row.levels[0] for row in d.programs.rows if row.levels]
    return list(dict.fromkeys(zero for _, zero in kinks_of(d.graph, levels, guarding=False)))


# -- what follows -----------------------------------------------------------------------------------------------------


def _highest(d: Derivation) -> Array:
    return vector(d["program_solution"].refs[: len(d.symbols.v)])


def _multipliers(d: Derivation) -> Array:
    n, rows = len(d.symbols.v), d.programs.rows
    return named([f"{MULTIPLIER}{r.constraint}" for r in rows], d["program_solution"].refs[n : n + len(rows)])


def _reactions(d: Derivation) -> list[Ref]:
    """The multipliers of the constraints kept: of all forces that the motion asks for those that its constraints give."""
    n, own = len(d.symbols.v), d.programs
    if own.r == 0:
        return list(d["program_solution"].refs[n + len(own.rows) :])
    return law(d).reactions(d)


def _ideal(d: Derivation) -> Array:
    """The multipliers of all constraints; none of those that are left out."""
    if d.symbols.system.quasi:
        return d.rules["free_multipliers"](d)
    kept = iter(_reactions(d))
    found = [ZERO if row.constraint in d.left_out else next(kept) for row in d.closures]
    return named([f"{MULTIPLIER}{row.constraint}" for row in d.closures], found)


def _control(d: Derivation) -> Array:
    """The forces of control on the speeds (theory R.5)."""
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
    """What has to vanish: every program, and its derivatives below the order of the equations."""
    rows = d.programs.rows
    return named([n for row in rows for n in row.labels], [x for row in rows for x in row.levels])


def _tops(d: Derivation) -> Array:
    """What has to vanish of the programs that are of the order of the equations, at the derivatives that these are solved for."""
    highest = d["highest"].refs
    return vector([d.graph.add(_along(d, row, highest), row.rest) for row in d.programs.rows if not row.levels])


def _forward(d: Derivation) -> Array:
    """The accelerations, which are variables beyond the second order."""
    return vector(d.symbols.vdot if d.programs.r else d["highest"].refs)


def _state_rate(d: Derivation) -> Array:
    levels = (x for k in range(2, d.programs.s) for x in d.symbols.level(k))
    return vector((*d.symbols.qdot, *levels, *d["highest"].refs))


def _power(d: Derivation) -> Array:
    return scalar(d.graph.add(power(d).refs[0], d["control_power"].refs[0]))


def in_run(rules: Mapping[str, Rule]) -> Mapping[str, Rule]:
    """The *rules* of a derivation in which controls hold the programs."""
    own: Mapping[str, Rule] = {
        "transversal": lambda d: vector(_transversal(d)),
        "program_solution": _solution,
        "program_answers": _answers,
        "program_directions": _directions,
        "gradient_answers": _gradient_answers,
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
        "power": _power,
    }
    return {**rules, **own}


# -- the start --------------------------------------------------------------------------------------------------------


def natural(d: Derivation, k: int) -> list[Ref]:
    """The derivatives of order *k* > 1 of the coordinates in a motion on which no control acts from there on, and whose lower
    ones are given.
    """
    ideal = [raised(d.symbols, row, k) for row in d.rows]
    rate = without(d.symbols, law(d).rate(d, k - 2), k)
    found = bordered(d, ideal, orders(d)[0]).solve([neg(x) for x in rate], [neg(row.rest) for row in ideal])
    return found[: len(rate)]


# -- the way back -----------------------------------------------------------------------------------------------------


def position(d: Derivation) -> list[Ref]:
    """The coordinates nearer to what constraints and programs say of the position, (nq,)."""
    g, kept = d.graph, [row for row in d.programs.rows if row.order == 0]
    if not kept:
        return manifold.position(d)
    if d.symbols.system.quasi:  # which meet constraints by themselves but for those on the position
        both = zip(d.symbols.q, manifold.position(d), manifold.retracted(d, change(d, kept, 0)), strict=True)
        return [g.add(one, g.sub(other, q)) for q, one, other in both]
    kept = [*(row for row in d.programs.ideal if row.order == 0), *kept]
    return manifold.retracted(d, change(d, kept, 0))


def velocity(d: Derivation) -> list[Ref]:
    """The speeds and their derivatives below the highest, each nearer to what is said of it."""
    found = []
    for m in range(1, d.programs.s):
        kept = [row for row in (*d.programs.ideal, *d.programs.rows) if row.order <= m]
        found += [d.graph.add(x, y) for x, y in zip(d.symbols.level(m), change(d, kept, m), strict=True)]
    return found


def change(d: Derivation, kept: Sequence[Row], m: int) -> list[Ref]:
    """The least change of the variables of order *m*, in the metric of M, that meets the rows *kept* to the first order."""
    n = len(d.symbols.v)
    if not kept:
        return [ZERO] * n
    off = [neg(row.levels[m - row.order]) for row in kept]
    return bordered(d, kept, orders(d)[0]).solve([ZERO] * n, off)[:n]
