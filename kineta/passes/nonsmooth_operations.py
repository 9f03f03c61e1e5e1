"""Kinks and steps: nonsmooth operations and their switching functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from kineta.expr import tables
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable
from kineta.passes.bounds import UNBOUNDED, bounds, largest
from kineta.passes.differentiate import forward
from kineta.passes.substitute import substitute
from kineta.records import dataclass

#: Slope of the line, in the half plane where no cut is, along which the switching function of a branch cut vanishes, too.
_STEEP = 4.0


def _cut(g: Graph, y: Ref, x: Ref) -> Ref | None:
    """What changes its sign where atan2(y, x) jumps, at y = 0 with x < 0; None where it never does.

    No function that is continuous changes its sign there alone, as a way round the origin shows: this one does at y = -4 x with
    x > 0, too, where nothing happens. With y = 0 for all x the angle jumps with the sign of x.
    """
    if _is_never_negative(g, x) or g.value(y) not in (None, 0.0):
        return None
    if y & -2 == ZERO:
        return x
    if _is_never_negative(g, neg(x)):
        return y
    return g.add(y, g.mul(g.const(_STEEP), g.call(Op.MAX, x, ZERO)))


def _is_never_negative(g: Graph, r: Ref) -> bool:
    """Whether the form of the expression *r* shows that it is never negative."""
    op, a, b, value = g.op[r >> 1], g.lhs[r >> 1], g.rhs[r >> 1], g.value(r)
    if value is not None or r & 1:
        return value is not None and value >= 0
    if op in (Op.ADD, Op.MUL):
        return (op == Op.MUL and a == b) or (_is_never_negative(g, a) and _is_never_negative(g, b))
    if op == Op.POW:
        exponent = g.value(b)
        return exponent is not None and exponent % 2 != 1
    return op in (Op.ABS, Op.SQRT, Op.EXP, Op.COSH, Op.STEP) or (
        op == Op.MAX and (_is_never_negative(g, a) or _is_never_negative(g, b))
    )


_ZEROS: Mapping[int, Callable[[Graph, Ref, Ref], Ref | None]] = {
    **dict.fromkeys((Op.ABS, Op.SIGN, Op.STEP), lambda g, a, b: a),
    **dict.fromkeys((Op.MIN, Op.MAX), lambda g, a, b: g.sub(a, b)),
    Op.TABLE: tables.bend,
    Op.FLOOR: lambda g, a, b: g.sin(g.mul(g.const(math.pi), a)),
    Op.ATAN2: _cut,
}
#: Operations whose switching function depends on both operands.
_OF_BOTH = frozenset({Op.MIN, Op.MAX, Op.ATAN2})


def kinks(g: Graph, refs: Iterable[Ref], *, guarding: bool = True, cuts: bool = True) -> Iterator[tuple[Ref, Ref]]:
    """The nonsmooth operations of *refs*, each with its switching function; with *guarding*, those inside conditions of
    guards, too; without *cuts* those alone whose functions change their sign nowhere else.
    """
    for i in reachable(g, refs, guarding=guarding):
        if (
            g.op[i] in _ZEROS
            and (cuts or g.op[i] != Op.ATAN2)
            and (zero := _ZEROS[g.op[i]](g, g.lhs[i], g.rhs[i])) is not None
        ):
            yield 2 * i, zero


def jumps(g: Graph, i: int) -> bool:
    """Whether the operation *i* jumps where its switching function vanishes, or is a table that bends there."""
    return leaps(g, i) or (g.op[i] == Op.TABLE and tables.bends(g, g.rhs[i]))


def leaps(g: Graph, i: int) -> bool:
    """Whether the value of the operation *i* jumps where its switching function vanishes."""
    op, a, b = g.op[i], g.lhs[i], g.rhs[i]
    if op == Op.TABLE:
        return tables.table_of(g, b).continuity < 0
    return op in _STEPS or (op == Op.ATAN2 and _cut(g, a, b) is not None)


_STEPS = frozenset({Op.SIGN, Op.STEP, Op.FLOOR})


def leaps_in_time(g: Graph, refs: Iterable[Ref], time: Ref, constant: Collection[Ref], *, cuts: bool = False) -> bool:
    """Whether *refs* have operations that jump at times which depend on *constant* symbols alone; with *cuts*, those of angles,
    too, which turn nothing as they jump by a whole turn.
    """
    return any(cuts or g.op[r >> 1] != Op.ATAN2 for r in _leaping(g, refs, (time,), constant))


def leaps_with_state(
    g: Graph, refs: Iterable[Ref], time: Ref, states: Collection[Ref], constant: Collection[Ref]
) -> list[Ref]:
    """The operations of *refs* but angles that jump with what depends on *states*, and otherwise on the *time* and *constant*
    symbols.
    """
    return [r for r in _leaping(g, refs, states, (time, *constant)) if g.op[r >> 1] != Op.ATAN2]


def _leaping(g: Graph, refs: Iterable[Ref], moving: Iterable[Ref], known: Iterable[Ref]) -> Iterator[Ref]:
    """The operations of *refs* that jump with what depends on *moving* symbols, and otherwise on *known* ones alone."""
    depends: dict[int, bool | None] = {**{x >> 1: False for x in known}, **{x >> 1: True for x in moving}}
    for i in reachable(g, refs, guarding=False):
        op, a, b = g.op[i], g.lhs[i] >> 1, g.rhs[i] >> 1
        if op in LEAVES:  # None for what is not known before the motion, or in it
            depends[i] = depends.get(i, False if op == Op.CONST else None)
            continue
        parts = (depends[a],) if op in UNARY or op == Op.GUARD else (depends[a], depends[b])
        depends[i] = None if None in parts else any(parts)
        if (any(parts) if op in _OF_BOTH else parts[0]) and leaps(g, i):
            yield 2 * i


# -- switching functions of a motion ------------------------------------------------------------------------------------

#: What an expression depends on.
_TIME, _STATE, _OTHER = 1, 2, 4
#: Smooth tables of the time: so many pieces lie within a step, times those over which they are nearly cubics.
KNOTS_IN_STEP = 3


@dataclass(frozen=True, slots=True)
class SwitchingFunctions:
    """Where expressions of the time and of a state have kinks and steps.

    guards : functions that change their sign at kinks
    clocks : of kinks that depend on the time alone, five numbers each, as in :class:`~kineta.integration.loop_abi.KinkData`
    paces : of smooth tables of the time, in the same way, some knots ahead
    knots : of smooth tables, the roughest first, three numbers each: their quantity, and the knots below and above it
        at which a derivative jumps; ``roughness`` : of each, a part of its largest value, as of :func:`tables.soft_knots`
    """

    guards: tuple[Ref, ...]
    clocks: tuple[Ref, ...]
    paces: tuple[Ref, ...]
    knots: tuple[Ref, ...]
    roughness: tuple[float, ...]


def switching_functions(
    g: Graph,
    refs: Sequence[Ref],
    timed: Sequence[Ref],
    time: Ref,
    width: Ref,
    states: Collection[Ref],
    constant: Collection[Ref],
) -> SwitchingFunctions:
    """The switching functions of *refs*, expressions of the *time*, of the symbols of *states*, and of *constant* ones, and those
    of *timed* that depend on the time alone. Those of other symbols are left out. Clocks hold from the time to *width* later.
    """
    order = reachable(g, [*refs, *timed], guarding=False)
    followed = set(reachable(g, refs, guarding=False))
    depends, guards, clocks, paces = dict[int, int](), dict[Ref, None](), list[Ref](), list[Ref]()
    known = dict.fromkeys((r >> 1 for r in states), _STATE) | dict.fromkeys((r >> 1 for r in constant), 0)
    known[time >> 1] = _TIME
    later = g.add(time, width)
    span = {time: (g.call(Op.MIN, time, later), g.call(Op.MAX, time, later))}
    told = set[tuple[Ref, ...]]()
    soft = dict[tuple[Ref, Ref, Ref], float]()

    def tell(to: list[Ref], quantity: Ref, label: Ref, up: Ref, down: Ref) -> None:
        if (label, up, down) not in told:
            told.add((label, up, down))
            to += _clock(g, quantity, label, up, down, time, span)

    for i in order:
        op, a, b = g.op[i], g.lhs[i], g.rhs[i]
        if op in LEAVES:
            depends[i] = 0 if op == Op.CONST else known.get(i, _OTHER)
            continue
        own = depends.get(a >> 1, _OTHER)
        depends[i] = own if op in UNARY else own | depends.get(b >> 1, 0)
        if op not in _ZEROS:
            continue
        on = depends[i] if op in _OF_BOTH else own
        if on == 0 or on & _OTHER:
            continue
        if op == Op.TABLE and i in followed:
            period, stops = tables.table_of(g, b).period, tables.stops(g, b) if on == _TIME else ()
            for rough, knots in tables.soft_knots(g, b):
                if not {*knots} <= {*stops}:
                    between = tables.neighbours(g, a, period, knots, 1, UNBOUNDED)
                    soft[a, *between] = max(rough, soft.get((a, *between), 0.0))
        if on != _TIME:
            zero = _ZEROS[op](g, a, b)
            if zero is not None and i in followed:
                guards[zero & -2] = None
        elif op == Op.TABLE:
            table, knots = tables.table_of(g, b), tables.stops(g, b)
            if knots:
                low, high = tables.neighbours(g, a, table.period, knots, 1, UNBOUNDED)
                tell(clocks, a, low, g.sub(high, a), g.sub(a, low))
            ahead = KNOTS_IN_STEP * tables.resolution(g, b) if len(knots) < len(table.knots) else len(table.knots)
            if ahead + 1 < len(table.knots):
                low, high = tables.neighbours(g, a, table.period, table.knots, ahead, UNBOUNDED)
                tell(paces, a, ZERO, g.sub(high, a), g.sub(a, low))
        elif op == Op.FLOOR:
            tell(clocks, a, 2 * i, g.sub(g.add(2 * i, ONE), a), g.sub(a, 2 * i))
        elif (z := _ZEROS[op](g, a, b)) is not None:
            far = g.const(UNBOUNDED)
            up, down = (g.choice(g.call(Op.STEP, x), g.pair(x, far)) for x in (neg(z), z))
            tell(clocks, z, g.call(Op.SIGN, z), up, down)
    told_apart = sorted(soft, key=lambda three: -soft[three])
    return SwitchingFunctions(
        tuple(guards),
        tuple(clocks),
        tuple(paces),
        tuple(r for three in told_apart for r in three),
        tuple(soft[three] for three in told_apart),
    )


def _clock(
    g: Graph, quantity: Ref, label: Ref, up: Ref, down: Ref, time: Ref, span: Mapping[Ref, tuple[Ref, Ref]]
) -> list[Ref]:
    """The numbers of a clock."""
    (slope,) = forward(g, [quantity], {time: ONE})
    (bend,) = forward(g, [slope], {time: ONE})
    return [label, up, down, slope, largest(g, bounds(g, [bend], span)[0])]


# -- operations that are held on a side ------------------------------------------------------------------------------------

#: Operations that can be held.
_HELD = frozenset({Op.SIGN, Op.STEP, Op.FLOOR, Op.ATAN2})


def sides_of(g: Graph, refs: Sequence[Ref]) -> set[Ref]:
    """The switching functions, without their signs, of operations in *refs* that can be held."""
    found = (_ZEROS[g.op[i]](g, g.lhs[i], g.rhs[i]) for i in reachable(g, refs, guarding=False) if g.op[i] in _HELD)
    return {zero & -2 for zero in found if zero is not None}


def hold_sides(g: Graph, refs: Sequence[Ref], sides: Mapping[Ref, Ref]) -> list[Ref]:
    """The expressions *refs* with the operations of the switching functions of *sides* replaced: there is 0 where the function is
    held below zero, and 1 where it is held above.
    """
    held = dict[int, Ref]()
    for i in reachable(g, refs):
        op, a, b = g.op[i], g.lhs[i], g.rhs[i]
        function = _ZEROS[op](g, a, b) if op in _HELD else None
        if function is None or function & -2 not in sides:
            continue
        above = sides[function & -2]
        above = above if not function & 1 else g.sub(ONE, above)
        if op in (Op.FLOOR, Op.ATAN2):
            a, b = substitute(g, [a, b], {}, nodes=held)
            held[i] = _ON_SIDE[op](g, a, b, above)
        else:
            held[i] = g.sub(g.add(above, above), ONE) if op == Op.SIGN else above
    return substitute(g, refs, {}, nodes=held)


def _whole(g: Graph, a: Ref, b: Ref, above: Ref) -> Ref:
    """The even number below *a*, or half above it, for 1 in *above*, and the odd one for 0, as sin(pi a) has its sign."""
    half = g.const(0.5)
    even = g.mul(g.const(2.0), g.call(Op.FLOOR, g.mul(half, g.add(a, half))))
    odd = g.sub(g.mul(g.const(2.0), g.call(Op.FLOOR, g.mul(half, g.add(a, g.const(1.5))))), ONE)
    return g.choice(above, g.pair(even, odd))


def _angle(g: Graph, y: Ref, x: Ref, above: Ref) -> Ref:
    """The angle atan2(y, x), held across its cut as for y > 0 for 1 in *above*, for y < 0 for 0; as for x, if y is zero."""
    if y == ZERO:
        return g.mul(g.const(math.pi), g.sub(ONE, above))
    own, opposite = g.call(Op.ATAN2, y, x), g.call(Op.ATAN2, neg(y), neg(x))
    half = g.const(math.pi)
    left = g.choice(above, g.pair(g.add(opposite, half), g.sub(opposite, half)))
    return g.choice(g.call(Op.STEP, neg(x)), g.pair(left, own))


_ON_SIDE: Mapping[int, Callable[[Graph, Ref, Ref, Ref], Ref]] = {Op.FLOOR: _whole, Op.ATAN2: _angle}
