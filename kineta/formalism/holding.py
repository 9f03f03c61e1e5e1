"""Forces of contacts and of dry friction in the accelerations, and the way back to what is closed.

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
from kineta.formalism import inertia, manifold
from kineta.formalism.articulated import forward_dynamics
from kineta.formalism.bordered import Bordered, bordered
from kineta.formalism.constraint import Row
from kineta.formalism.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.formalism.locking import free, held, locks, signed
from kineta.formalism.rank import dependent, random_state
from kineta.formalism.rank import matrix as numbers_of
from kineta.formalism.residual import cheapest, named, of_forms, orders, power, recursion
from kineta.formalism.touch import Touch
from kineta.model.infer import MULTIPLIER
from kineta.passes.substitute import substitute

#: Part of itself by which a diagonal entry of S is larger where rows depend on each other; what it changes is taken back.
SOFT = 1e-7
#: What is added to the slip in space in the direction that it had when it was looked at last, so that it has one always; more,
#: where it begins from rest, since friction turns with a slip the faster the smaller that is [m/s].
FIRST, BEGINS = 1e-9, 1e-5
#: The slip in space at which it no longer begins, and one that is nearly none: below it a contact is looked at, whether it
#: sticks [m/s].
BEGUN, NEARLY = 1e-3, 1e-7
#: Square of a speed that is none.
NOTHING = 1e-60


def closed(g: Graph, touch: Touch) -> Ref:
    """1 where the normal row of *touch* holds, else 0."""
    return g.symbol(touch.flags[0])


def stuck(g: Graph, touch: Touch) -> Ref:
    """1 where the tangents of *touch* hold, else 0."""
    return g.symbol(touch.flags[1])


def direction(g: Graph, touch: Touch) -> list[Ref]:
    """The unit vector against which friction acts: that of the slip, or in a plane its sign, which a run knows. Where slip is
    smooth it has no size until there is some.
    """
    first = [g.symbol(name) for name in touch.flags[3 : 3 + len(touch.tangents)]]
    slip = [row.levels[0] for row in touch.tangents]
    if touch.smooth is not None:
        size = _size(g, slip, g.mul(touch.smooth, touch.smooth))
        return [g.div(x, size) for x in slip]
    if len(slip) == 1:
        return first
    trace = g.add(g.const(FIRST), g.mul(g.const(BEGINS), g.symbol(touch.flags[6])))
    traced = [g.add(x, g.mul(trace, d)) for x, d in zip(slip, first, strict=True)]
    size = _size(g, traced)
    return [g.div(x, size) for x in traced]


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


def _events(d: Derivation) -> Array:
    """What changes its sign, from above, where a touch changes what it does: the gap of one that is open and the normal force of
    one that is closed; for tangents how much more force they can bear, or the slip along its direction. And a bound that varies.
    """
    g, found, place = d.graph, [], 0
    for touch in d.touches:
        presses = touch in d.pressing
        own = d["forces"].refs[place : place + len(touch.rows)] if presses else ()
        place += len(own)
        if touch.normal is not None:
            found.append(touch.normal.levels[0])
            if presses:
                shut = closed(g, touch)
                found[-1] = g.add(g.mul(shut, own[0]), g.mul(g.sub(ONE, shut), found[-1]))
        if touch.tangents and touch.smooth is None:
            found.append(_holds_on(g, touch, own) if presses else ONE)
        if touch.varies:
            found.append(touch.bound)
    return vector(found)


def _holds_on(g: Graph, touch: Touch, forces: Sequence[Ref]) -> Ref:
    """The event of the tangents of *touch* under the *forces* along its rows."""
    pushed = ONE if touch.normal is None else forces[0]
    tangential, slip = forces[-len(touch.tangents) :], [row.levels[0] for row in touch.tangents]
    held = stuck(g, touch)
    margin = g.sub(g.mul(touch.static, pushed), _size(g, tangential))
    slips = g.symbol(touch.flags[2])
    forwards = g.sum(g.mul(g.symbol(name), x) for name, x in zip(touch.flags[3:], slip, strict=False))
    moving = forwards if len(slip) == 1 else _moves(g, touch, forwards, _size(g, slip))
    # Where it neither sticks nor slips nothing is looked for.
    other = g.add(g.mul(slips, moving), g.sub(ONE, slips))
    return g.add(g.mul(held, margin), g.mul(g.sub(ONE, held), other))


def _moves(g: Graph, touch: Touch, forwards: Ref, size: Ref) -> Ref:
    """The event of a slip of this *size* in space: where it nearly ends; of one that begins, where it has turned back, by more
    than errors of steps, or has begun.
    """
    begins = g.symbol(touch.flags[6])
    ahead = g.mul(g.add(forwards, g.const(NEARLY)), g.sub(g.const(BEGUN), size))
    return g.add(g.mul(begins, ahead), g.mul(g.sub(ONE, begins), g.sub(size, g.const(NEARLY))))


def _size(g: Graph, x: Sequence[Ref], more: Ref | None = None) -> Ref:
    """The length of a vector, never zero; with *more* in its square."""
    return g.sqrt(g.sum([*(g.mul(c, c) for c in x), g.const(NOTHING) if more is None else more]))


# -- the way back ---------------------------------------------------------------------------------------------------


def position(d: Derivation) -> list[Ref]:
    """The coordinates nearer to the constraints on the position and to what is closed, (nq,)."""
    base = d.released if d.symbols.system.quasi else d
    g = base.graph
    kept = [r for r in d.closures if r.order == 0 and r.constraint not in d.left_out]
    normals = [(t, t.normal) for t in others(base) if t.normal is not None]
    own, flags = [row for _, row in normals], [closed(g, t) for t, _ in normals]
    change = _change(base, kept, own, flags, [r.levels[0] for r in kept])
    for touch in locks(base):
        if touch.normal is not None and touch.speed is not None:
            back = g.mul(closed(g, touch), signed(base, touch, touch.normal.levels[0]))
            change[touch.speed] = g.sub(change[touch.speed], back)
    moved = manifold.retracted(base, change)
    if base is d:
        return moved
    return substitute(d.graph, moved, dict(zip(base.symbols.names, d.symbols.speeds, strict=True)))


def velocity(d: Derivation) -> list[Ref]:
    """The speeds nearer to the constraints on the velocity, and to what is closed or sticks, (nv,)."""
    g, change = d.graph, _change(d, d.rows, rows(d), holds(d), [r.levels[-1] for r in d.rows], last=True)
    loose = free(d)
    return [g.add(g.mul(loose.get(k, ONE), v), x) for k, (v, x) in enumerate(zip(d.symbols.v, change, strict=True))]


def _change(
    d: Derivation,
    kept: Sequence[Row],
    own: Sequence[Row],
    flags: Sequence[Ref],
    off: Sequence[Ref],
    *,
    last: bool = False,
) -> list[Ref]:
    """The change of least kinetic energy that meets the rows *kept*, which are *off* by so much, and those of its *own* whose
    *flags* are set: on the velocity, if *last*, else on the position.
    """
    g, n, m = d.graph, len(d.symbols.v), len(kept)
    factors = bordered(d, kept, orders(d)[0])
    x = factors.solve([ZERO] * n, [neg(f) for f in off])[:n] if kept else [ZERO] * n
    Y = [factors.solve([r.gradient.get(k, ZERO) for k in range(n)], [ZERO] * m) for r in own]
    S = [[along(g, r, y) for y in Y] for r in own]
    missed = [g.add(r.levels[-1 if last else 0], along(g, r, x)) for r in own]
    soft = [g.mul(flag, s) for flag, s in zip(flags, softness(d, S, own, kept), strict=True)]
    pushes = solved(g, masked(g, S, flags), [neg(g.mul(f, e)) for f, e in zip(flags, missed, strict=True)], soft)
    return [g.add(x[k], g.sum(g.mul(y[k], p) for y, p in zip(Y, pushes, strict=True))) for k in range(n)]


def levels(d: Derivation) -> list[Ref]:
    """What has to vanish of touches: gaps and their rates where they are closed, slips where they stick."""
    g, found = d.graph, []
    for touch in d.touches:
        shut, held = (closed(g, touch), stuck(g, touch)) if touch in d.pressing else (ZERO, ZERO)
        if touch.normal is not None:
            found += [g.mul(shut, x) for x in touch.normal.levels]
        found += [g.mul(held, row.levels[0]) for row in touch.tangents]
    return found


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
    "touch_events": _events,
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
