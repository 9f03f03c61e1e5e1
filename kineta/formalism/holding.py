"""Forces of contacts and of dry friction in the accelerations.

With the rows W of all touches, the accelerations x0 that there are without their forces, and the answers Y to unit forces along
the rows::

    x = x0 + Y lambda          S = W Y          b = W x0 + rest

A row that holds makes S lambda + b zero; one that is let go has no force; where something slips, the force along the tangents is
the bound, against the slip. The numbers of the block h say which of these: one program serves in every mode.

Rows that say the same share their forces: of all that hold, the least (in squares, weighted with S), or those nearest to
what the block h gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.formalism import inertia
from kineta.formalism.articulated import forward_dynamics
from kineta.formalism.bordered import Bordered, bordered
from kineta.formalism.constraint import Row
from kineta.formalism.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.formalism.locking import free, held, locks, signed
from kineta.formalism.rank import dependent, random_state
from kineta.formalism.rank import matrix as numbers_of
from kineta.formalism.residual import cheapest, named, of_forms, orders, power, recursion
from kineta.formalism.slipping import closed, direction, events, stuck
from kineta.formalism.touch import Touch
from kineta.model.infer import MULTIPLIER
from kineta.passes.substitute import substitute

#: Part of itself by which a diagonal entry of S is larger where rows depend on each other; what it changes is taken back.
SOFT = 1e-7


def others(d: Derivation) -> list[Touch]:
    """The touches that press, but for those that hold single speeds."""
    return [touch for touch in d.pressing if touch.speed is None]


def rows(d: Derivation) -> list[Row]:
    """The rows of the :func:`others`."""
    return [row for touch in others(d) for row in touch.rows]


def holds(d: Derivation) -> list[Ref]:
    """1 for the rows that hold, else 0."""
    g, found = d.graph, []
    for touch in others(d):
        if touch.normal is not None:
            found.append(closed(g, touch))
        found += [stuck(g, touch)] * len(touch.tangents)
    return found


# -- the answers to forces ------------------------------------------------------------------------------------------


def _factors(d: Derivation) -> Bordered:
    return bordered(d, d.rows, orders(d)[0])


def _answers(d: Derivation) -> Array:
    """Y: accelerations, and multipliers of constraints with the opposite sign, by unit forces along the rows."""
    factors, n, m = _factors(d), len(d.symbols.v), len(d.rows)
    found = [factors.solve([r.gradient.get(k, ZERO) for k in range(n)], [ZERO] * m) for r in rows(d)]
    return matrix(found, n + m)


def _free(d: Derivation) -> Array:
    """x0: accelerations, then multipliers of constraints with the opposite sign, without forces of touches."""
    g, rubbed = d.graph, [ZERO] * len(d.symbols.v)
    for touch in locks(d):
        if touch.tangents and touch.speed is not None:
            rubbed[touch.speed] = g.add(rubbed[touch.speed], signed(d, touch, _rubbing(g, touch)))
    forces = [g.add(f, more) for f, more in zip(_unbalanced(d).refs, rubbed, strict=True)]
    ways = [_factors(d).solve(forces, [neg(r.rest) for r in d.rows])]
    if locks(d) and d.mechanism.leading is not None and d.mechanism.one_to_one and not inertia.given(d.symbols):
        forces = [g.sum(parts) for parts in zip(d.symbols.tau, d.elements.forces, rubbed, strict=True)]
        ways.append(forward_dynamics(d.mechanism, d.kinematics.w, forces, d.elements.wrenches, free(d)))
    return vector(cheapest(g, ways))


def _unbalanced(d: Derivation) -> Array:
    """What accelerates, tau - bias, but for constraints and touches."""
    return vector([d.graph.sub(t, b) for t, b in zip(d.symbols.tau, d["bias"].refs, strict=True)])


def _rubbing(g: Graph, touch: Touch) -> Ref:
    """The force along the row of what holds a single speed by friction, where it slips."""
    (toward,) = direction(g, touch)
    return neg(g.mul(g.sub(ONE, stuck(g, touch)), g.mul(touch.bound, toward)))


def along(g: Graph, row: Row, x: Sequence[Ref]) -> Ref:
    """The product gradient . x."""
    return g.sum(g.mul(partial, x[k]) for k, partial in row.gradient.items())


def _delassus(d: Derivation) -> Array:
    """S: accelerations along the rows by unit forces along them."""
    own, width = rows(d), len(d.symbols.v) + len(d.rows)
    Y = d["answers"].refs
    upper = {
        (i, j): along(d.graph, own[i], Y[j * width : (j + 1) * width]) for i in range(len(own)) for j in range(i + 1)
    }
    return matrix([[upper[max(i, j), min(i, j)] for j in range(len(own))] for i in range(len(own))], len(own))


def _drift(d: Derivation) -> Array:
    """b: accelerations along the rows without forces of touches."""
    return vector([d.graph.add(along(d.graph, r, d["free"].refs), r.rest) for r in rows(d)])


def _slip(d: Derivation) -> Array:
    """Velocities along the rows of all that presses."""
    return vector([r.levels[-1] for touch in d.pressing for r in touch.rows])


def _rests(d: Derivation) -> Array:
    """Accelerations along the rows of all that presses where the speeds have none."""
    return vector([r.rest for touch in d.pressing for r in touch.rows])


def _gradients(d: Derivation) -> Array:
    """W: the rows of all that presses."""
    n = len(d.symbols.v)
    return matrix([[r.gradient.get(k, ZERO) for k in range(n)] for touch in d.pressing for r in touch.rows], n)


def _gaps(d: Derivation) -> Array:
    """Gaps of the touches, zero for friction in joints."""
    return vector([ZERO if t.normal is None else t.normal.levels[0] for t in d.touches])


def _laws(d: Derivation) -> Array:
    """Bound, bound of what sticks, restitution of every touch, and the speed over which friction grows, zero for Coulomb's."""
    return matrix([[t.bound, t.static, t.restitution, ZERO if t.smooth is None else t.smooth] for t in d.touches], 4)


# -- forces ---------------------------------------------------------------------------------------------------------


def solved(
    g: Graph, A: Sequence[Sequence[Ref]], b: Sequence[Ref], soft: Sequence[Ref], near: Sequence[Ref] = ()
) -> list[Ref]:
    """The x with A x = b, by elimination row by row; with *soft* additions to the diagonal, whose effect is taken back, the one
    that is *near* to some, or to zero.
    """
    n = len(b)
    U = [list(row) for row in A]
    for i, more in enumerate(soft):
        U[i][i] = g.add(U[i][i], more)
    inverse: list[Ref] = []
    factors: list[list[tuple[int, Ref]]] = []
    for k in range(n):
        inverse.append(g.div(ONE, U[k][k]))
        factors.append([(i, g.mul(U[i][k], inverse[k])) for i in range(k + 1, n) if U[i][k] != ZERO])
        for i, share in factors[k]:
            for j in range(k + 1, n):
                U[i][j] = g.sub(U[i][j], g.mul(share, U[k][j]))

    def found(right: Sequence[Ref]) -> list[Ref]:
        x = list(right)
        for k in range(n):
            for i, share in factors[k]:
                x[i] = g.sub(x[i], g.mul(share, x[k]))
        for k in reversed(range(n)):
            known = g.sum(g.mul(U[k][j], x[j]) for j in range(k + 1, n))
            x[k] = g.mul(g.sub(x[k], known), inverse[k])
        return x

    if all(more == ZERO for more in soft):
        return found(b)
    x = list(near or [ZERO] * n)
    for _ in range(2):
        left = [g.sub(r, g.sum(g.mul(a, v) for a, v in zip(row, x, strict=True))) for row, r in zip(A, b, strict=True)]
        x = [g.add(v, more) for v, more in zip(x, found(left), strict=True)]
    return x


def softness(d: Derivation, S: Sequence[Sequence[Ref]], kept: Sequence[Row], others: Sequence[Row]) -> list[Ref]:
    """What is added to the diagonal of S for the rows *kept*: nothing, where they are independent of each other and of
    *others*.
    """
    single = {touch.speed: touch.rows[0] for touch in locks(d)}
    own = [dict(r.gradient) for r in (*others, *single.values(), *kept)]
    refs = [ref for gradient in own for ref in gradient.values()]
    state = random_state(d.symbols.system, d.graph, refs, 0)
    if not dependent(numbers_of(d.graph, own, len(d.symbols.v), state)):
        return [ZERO] * len(kept)
    return [d.graph.mul(d.graph.const(SOFT), size) for size in _sizes(d, S, kept)]


def _sizes(d: Derivation, S: Sequence[Sequence[Ref]], kept: Sequence[Row]) -> list[Ref]:
    """Sizes of the diagonal of S that no speed that is held takes away."""
    if not locks(d):
        return [S[i][i] for i in range(len(kept))]
    g, n, M = d.graph, len(d.symbols.v), d["mass_matrix"].refs
    squares = ([(k, g.mul(x, x)) for k, x in row.gradient.items()] for row in kept)
    return [g.sum(g.div(square, M[k * n + k]) for k, square in found) for found in squares]


def masked(g: Graph, S: Sequence[Sequence[Ref]], flags: Sequence[Ref]) -> list[list[Ref]]:
    """S where rows hold, the unit matrix where they do not."""
    n = len(flags)
    return [
        [g.add(g.mul(flags[i], S[i][j]), g.sub(ONE, flags[i]) if i == j else ZERO) for j in range(n)] for i in range(n)
    ]


def _given(d: Derivation) -> list[str]:
    """The names of the forces beside the least ones, by row."""
    names: list[str] = []
    for touch in others(d):
        tangents = touch.flags[3 : 3 + len(touch.tangents)]
        names += tangents if touch.normal is None else (touch.flags[5], *tangents)
    return names


def _pushes(d: Derivation) -> Array:
    """lambda: the forces along the rows."""
    g, own, flags = d.graph, rows(d), holds(d)
    n = len(own)
    S = [d["delassus"].refs[i * n : (i + 1) * n] for i in range(n)]
    A = masked(g, S, flags)
    b = [neg(g.mul(flag, x)) for flag, x in zip(flags, d["drift"].refs, strict=True)]
    place = 0
    for touch in others(d):
        first = place + (touch.normal is not None)
        for i, toward in enumerate(direction(g, touch), first):
            share = g.mul(g.sub(ONE, flags[i]), g.mul(touch.bound, toward))
            if touch.normal is None:
                b[i] = g.sub(b[i], share)
            else:
                A[i][place] = g.add(A[i][place], share)
        place += len(touch.rows)
    soft = [g.mul(flag, x) for flag, x in zip(flags, softness(d, S, own, d.rows), strict=True)]
    # What slips first: its rows have no other diagonal than 1.
    order = [i for i, r in enumerate(own) if r.order] + [i for i, r in enumerate(own) if not r.order]
    near = [g.mul(flag, g.symbol(name)) for flag, name in zip(flags, _given(d), strict=True)]
    ordered = ([part[i] for i in order] for part in (b, soft, near))
    x = solved(g, [[A[i][j] for j in order] for i in order], *ordered)
    return vector([x[order.index(i)] for i in range(n)])


def _forces(d: Derivation) -> Array:
    """The forces along the rows of all that presses: where single speeds are held, what is left of those on them."""
    g, pushes, own = d.graph, list(d["pushes"].refs), locks(d)
    left = _left(d, pushes) if own else {}
    limited, found = free(d, limits=True), list[Ref]()
    for touch in d.pressing:
        if touch.speed is None:
            found += pushes[: len(touch.rows)]
            del pushes[: len(touch.rows)]
            continue
        force = g.mul(held(d, touch), signed(d, touch, left[touch.speed]))
        if touch.tangents:  # a limit that holds leaves nothing to friction
            force = g.add(g.mul(limited.get(touch.speed, ONE), force), _rubbing(g, touch))
        found.append(force)
    return vector(found)


def _left(d: Derivation, pushes: Sequence[Ref]) -> dict[int, Ref]:
    """What is left of the forces on speeds that touches hold."""
    g, s = d.graph, d.symbols
    places = sorted(free(d))
    moved = dict(zip((f"{n}'" for n in s.system.v_names), d["forward"].refs, strict=True))
    left = dict(zip(places, substitute(g, [d["inverse"].refs[k] for k in places], moved), strict=True))
    for k in places:
        given = [g.mul(row.gradient[k], x) for row, x in zip(rows(d), pushes, strict=True) if k in row.gradient]
        rubbed = [signed(d, t, _rubbing(g, t)) for t in locks(d) if t.tangents and t.speed == k]
        left[k] = g.sub(left[k], g.sum([s.tau[k], *given, *rubbed]))
    return left


def _moved(d: Derivation) -> list[Ref]:
    """Accelerations, then multipliers of constraints with the opposite sign, under the forces of touches."""
    g, width = d.graph, len(d.symbols.v) + len(d.rows)
    Y, forces = d["answers"].refs, d["pushes"].refs
    return [
        g.add(x, g.sum(g.mul(Y[r * width + k], f) for r, f in enumerate(forces))) for k, x in enumerate(d["free"].refs)
    ]


def _forward(d: Derivation) -> Array:
    return vector(_moved(d)[: len(d.symbols.v)])


def _power(d: Derivation) -> Array:
    """As without touches, and what their forces do on the speeds. Where a row holds that is what moves by itself, with a slip of
    exactly zero.
    """
    g, s, total = d.graph, d.symbols, power(d).refs[0]
    for touch in locks(d):
        if touch.tangents:
            total = g.add(total, g.mul(_rubbing(g, touch), touch.tangents[0].levels[-1]))
    for row, force, flag in zip(rows(d), d["pushes"].refs, holds(d), strict=True):
        slip = row.levels[-1]
        speed = g.sub(g.mul(g.sub(ONE, flag), slip), s.at_rest(slip)) if row.linear(s) else along(g, row, s.v)
        total = g.add(total, g.mul(force, speed))
    return scalar(total)


def _multipliers(d: Derivation) -> Array:
    """Multipliers of constraints, then forces of touches."""
    if d.symbols.system.quasi:
        base = d.released
        left = recursion(base, base.symbols.vdot)
        for row, force in zip(rows(base), d["pushes"].refs, strict=True):
            for k, partial in row.gradient.items():
                left[k] = d.graph.sub(left[k], d.graph.mul(partial, force))
        constrained, found = d.forms.kept, of_forms(d, left)
    else:
        kept = iter(_moved(d)[len(d.symbols.v) :])
        constrained = d.closures
        found = [ZERO if r.constraint in d.left_out else neg(next(kept)) for r in d.closures]
    return _with_touches(d, [f"{MULTIPLIER}{r.constraint}" for r in constrained], found)


def _with_touches(d: Derivation, labels: Sequence[str], refs: Sequence[Ref]) -> Array:
    """Multipliers of constraints, then forces of all touches, which are zero for those that do not press."""
    own = (r.constraint for touch in d.pressing for r in touch.rows)
    forces = dict(zip(own, d["forces"].refs, strict=True))
    names = [r.constraint for t in d.touches for r in t.rows]
    return named([*labels, *(f"{MULTIPLIER}{n}" for n in names)], [*refs, *(forces.get(n, ZERO) for n in names)])


def in_mode(rules: Mapping[str, Rule], *, pressing: bool) -> Mapping[str, Rule]:
    """*rules* for a run with touches; with those of their forces, if some are *pressing*."""
    if pressing:
        return {**rules, **RULES, **FORCES}

    def multipliers(d: Derivation) -> Array:
        found = rules["multipliers"](d) if d.closures else vector([])
        return _with_touches(d, found.labels, found.refs)

    return {**rules, **RULES, "forces": lambda _: vector([]), "multipliers": multipliers}


#: What a run asks of touches.
RULES: Mapping[str, Rule] = {
    "gaps": _gaps,
    "laws": _laws,
    "touch_events": events,
}

#: The forces of those that press, and what they change.
FORCES: Mapping[str, Rule] = {
    "answers": _answers,
    "free": _free,
    "delassus": _delassus,
    "drift": _drift,
    "slip": _slip,
    "rests": _rests,
    "gradients": _gradients,
    "unbalanced": _unbalanced,
    "pushes": _pushes,
    "forces": _forces,
    "forward": _forward,
    "multipliers": _multipliers,
    "power": _power,
}
