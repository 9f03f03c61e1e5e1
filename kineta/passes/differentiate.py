"""Differentiation on the graph in forward and reverse mode: a table of partial derivatives and one sweep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from kineta.expr.graph import MINUS_ONE, ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import BINARY, LEAVES, Op
from kineta.expr.tables import along, derivative, shares
from kineta.expr.walk import reachable
from kineta.passes.substitute import signed

_LEAF = [op in LEAVES for op in Op]
_BINARY = [op in BINARY for op in Op]
_CONST, _SYMBOL, _ADD, _MUL = int(Op.CONST), int(Op.SYMBOL), int(Op.ADD), int(Op.MUL)

#: Directions that are followed together.
GROUP = 64


def _pow(g: Graph, y: Ref, a: Ref, b: Ref) -> tuple[Ref, Ref]:
    """Partial derivatives b a^(b-1) and a^b log a of a^b; the second is zero for a constant b, and where a is zero."""
    by_a = g.mul(b, g.call(Op.POW, a, g.sub(b, ONE)))
    return by_a, ZERO if g.value(b) is not None else g.where(g.mul(y, g.call(Op.LOG, a)), g.call(Op.ABS, a))


def _square_root(g: Graph, a: Ref) -> Ref:
    return g.sqrt(g.sub(ONE, g.mul(a, a)))


def _choice(g: Graph, a: Ref, b: Ref) -> tuple[Ref, Ref]:
    """Partial derivatives of max(a, b): 1 for the larger operand, 0 for the smaller."""
    first = g.call(Op.STEP, g.sub(a, b))
    return first, g.sub(ONE, first)


#: Partial derivatives of y = op(a, b) with respect to its operands.
PARTIALS: dict[int, Callable[[Graph, Ref, Ref, Ref], tuple[Ref, Ref]]] = {
    Op.ADD: lambda g, y, a, b: (ONE, ONE),
    Op.MUL: lambda g, y, a, b: (b, a),
    Op.DIV: lambda g, y, a, b: (g.div(ONE, b), neg(g.div(y, b))),
    Op.SQRT: lambda g, y, a, b: (g.div(g.const(0.5), y), ZERO),
    Op.SIN: lambda g, y, a, b: (g.cos(a), ZERO),
    Op.COS: lambda g, y, a, b: (neg(g.sin(a)), ZERO),
    Op.TAN: lambda g, y, a, b: (g.add(ONE, g.mul(y, y)), ZERO),
    Op.ASIN: lambda g, y, a, b: (g.div(ONE, _square_root(g, a)), ZERO),
    Op.ACOS: lambda g, y, a, b: (g.div(MINUS_ONE, _square_root(g, a)), ZERO),
    Op.ATAN: lambda g, y, a, b: (g.div(ONE, g.add(ONE, g.mul(a, a))), ZERO),
    Op.ATAN2: lambda g, y, a, b: _atan2(g, a, b),
    Op.SINH: lambda g, y, a, b: (g.call(Op.COSH, a), ZERO),
    Op.COSH: lambda g, y, a, b: (g.call(Op.SINH, a), ZERO),
    Op.TANH: lambda g, y, a, b: (g.sub(ONE, g.mul(y, y)), ZERO),
    Op.EXP: lambda g, y, a, b: (y, ZERO),
    Op.LOG: lambda g, y, a, b: (g.div(ONE, a), ZERO),
    Op.POW: _pow,
    Op.ABS: lambda g, y, a, b: (g.call(Op.SIGN, a), ZERO),
    Op.SIGN: lambda g, y, a, b: (ZERO, ZERO),
    Op.STEP: lambda g, y, a, b: (ZERO, ZERO),
    Op.MAX: lambda g, y, a, b: _choice(g, a, b),
    Op.MIN: lambda g, y, a, b: _choice(g, b, a),
    Op.GUARD: lambda g, y, a, b: (ONE, ZERO),
    Op.FLOOR: lambda g, y, a, b: (ZERO, ZERO),
    Op.WHERE: lambda g, y, a, b: (g.where(ONE, b), ZERO),
    Op.TABLE: lambda g, y, a, b: (derivative(g, a, b), ZERO),
    Op.LOOKUP: lambda g, y, a, b: (ZERO, ZERO),
}


def _atan2(g: Graph, a: Ref, b: Ref) -> tuple[Ref, Ref]:
    square = g.add(g.mul(a, a), g.mul(b, b))
    return g.div(b, square), neg(g.div(a, square))


def _pair(g: Graph, a: Ref, b: Ref, da: Ref, db: Ref) -> Ref:
    return ZERO if da == ZERO and db == ZERO else g.pair(da, db)


def _table(g: Graph, a: Ref, b: Ref, da: Ref, db: Ref) -> Ref:
    """The derivative of a table, by its quantity and by its columns."""
    by_quantity = ZERO if da == ZERO else g.mul(derivative(g, a, b), da)
    return by_quantity if db == ZERO else g.add(by_quantity, along(g, a, b, db))


#: Derivatives of choices and tables in the direction (da, db): those of what is chosen. A product of a partial derivative
#: that is 0 and a derivative that has no value has none either.
BRANCHWISE: dict[int, Callable[[Graph, Ref, Ref, Ref, Ref], Ref]] = {
    Op.WHERE: lambda g, a, b, da, db: g.where(da, b),
    Op.PAIR: _pair,
    Op.TABLE: _table,
    Op.IF: lambda g, a, b, da, db: ZERO if db == ZERO else g.choice(a, db),
}


def forward(graph: Graph, roots: Sequence[Ref], seeds: Mapping[Ref, Ref]) -> list[Ref]:
    """Derivatives of *roots* in the direction *seeds* (symbol to its rate), in one sweep.

    With seeds q -> qdot, v -> vdot, t -> 1 this is the time derivative; with one seed of 1, a partial derivative.
    """
    (found,) = forwards(graph, roots, [seeds])
    return found


def forwards(
    graph: Graph, roots: Sequence[Ref], directions: Sequence[Mapping[Ref, Ref]], *, at_rest: bool = False
) -> Iterator[list[Ref]]:
    """Derivatives of *roots* in each of the *directions*, by one sweep each over the nodes that it changes; with *at_rest*, those
    of roots of sums of squares vanish where these do not change, even where they are zero, and so do v times those of roots of
    abs(v) at v = 0, and derivatives of powers by their exponents.
    """
    order = reachable(graph, roots)
    tame, (braked, _) = (_tame(graph, order), _braked(graph, order)) if at_rest else (frozenset[int](), ({}, set()))
    for first in range(0, len(directions), GROUP):
        group = directions[first : first + GROUP]
        changing = _changing(graph, order, group)
        for k, seeds in enumerate(group):
            d = _derivatives(graph, [i for i, bits in changing.items() if bits >> k & 1], seeds, tame, braked)
            yield [signed(d.get(r >> 1, ZERO), r) for r in roots]


def _changing(graph: Graph, order: Sequence[int], directions: Sequence[Mapping[Ref, Ref]]) -> dict[int, int]:
    """The nodes of *order* that change in some of the *directions*, whose numbers are bits."""
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    found: dict[int, int] = {}
    bits_of = found.get
    for i in order:
        kind = op[i]
        if kind == _SYMBOL:  # directions may have many seeds, of which few are below
            bits = sum(1 << k for k, seeds in enumerate(directions) if seeds.get(2 * i, ZERO) != ZERO)
        elif kind == _CONST:
            continue
        elif _BINARY[kind]:
            bits = bits_of(lhs[i] >> 1, 0) | bits_of(rhs[i] >> 1, 0)
        else:
            bits = bits_of(lhs[i] >> 1, 0)
        if bits:
            found[i] = bits
    return found


def _chained(graph: Graph, partial: Ref, change: Ref, tame: bool) -> Ref:
    """The product of a *partial* derivative and a *change*; of *tame* roots 0 without a change, however steep they are there."""
    found = graph.mul(partial, change)
    return graph.where(found, graph.call(Op.ABS, change)) if tame else found


def _tame(graph: Graph, order: Sequence[int]) -> frozenset[int]:
    """The square roots and powers below 1 in *order* of what vanishes together with its derivatives: sums of squares, as those of
    speeds are. They are steep nowhere: at their zeros they have corners at most, and |v| v has a derivative there.
    """
    flat = _flat(graph, order)
    return frozenset(i for i in order if graph.lhs[i] >> 1 in flat and _rooted(graph, i))


def _rooted(graph: Graph, i: int) -> bool:
    """Whether node *i* is a root, or a power below 1 or of an exponent that is no number."""
    exponent = graph.value(graph.rhs[i]) if graph.op[i] == Op.POW else 0.5 if graph.op[i] == Op.SQRT else 1.0
    return exponent is None or 0 < exponent < 1


def _flat(graph: Graph, order: Sequence[int]) -> set[int]:
    """The sums of squares in *order*, and products with them."""
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    flat = set[int]()
    for i in order:
        kind, a, b = op[i], lhs[i], rhs[i]
        if kind == _ADD:
            level = not a & 1 and not b & 1 and a >> 1 in flat and b >> 1 in flat
        elif kind == _MUL:
            level = a == b or a >> 1 in flat or b >> 1 in flat
        elif kind == Op.DIV:
            level = a >> 1 in flat
        elif kind == Op.POW:
            level = (graph.value(b) or 0.0) > 1 and (graph.value(b) or 0.0) % 2 == 0
        else:
            level = False
        if level:
            flat.add(i)
    return flat


#: The order in a size of its power with an exponent that is no number: positive, where the power has a value at zero.
_LEAST_ORDER = 1e-9


def _braked(graph: Graph, order: Sequence[int]) -> tuple[dict[int, tuple[Ref, Ref]], set[int]]:
    """The products in *order* of a steep root and what vanishes with it: v and a root of abs(v), or a component of a velocity and
    one of its magnitude. For both operands what is positive where the root in the other one is not steep. Then the roots.

    Known of each node are the orders at which it vanishes with sizes: abs(v), and roots of sums of squares. A product of the
    orders e and f has a derivative at zero, 0, where e + f > 1.
    """
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    roots = [i for i in order if _rooted(graph, i)]
    if not roots:
        return {}, set()
    flat = _flat(graph, order)
    sizes: dict[int, dict[int, float]] = {
        x: {x: 1.0} for i in order if op[i] == Op.ABS for x in _factors(graph, lhs[i] >> 1)
    }
    for square in {lhs[i] >> 1 for i in roots} & flat:
        for x, size in _squared(graph, square):
            sizes.setdefault(x, {})[square] = size
    orders: dict[int, dict[int, float]] = {}
    steep: dict[int, set[int]] = {}  # of each node the sizes of which it has a steep root as a factor
    found: dict[int, tuple[Ref, Ref]] = {}
    below: set[int] = set()
    none: dict[int, float] = {}
    for i in order if sizes else ():
        kind, a, b = op[i], lhs[i] >> 1, rhs[i] >> 1
        of_a, of_b = orders.get(a, none), orders.get(b, none) if kind in (_MUL, Op.DIV) else none
        if kind in (Op.ABS, Op.GUARD, Op.WHERE):
            own = of_a
        elif kind in (_MUL, Op.DIV):
            sign = 1 if kind == _MUL else -1
            own = {n: of_a.get(n, 0.0) + sign * of_b.get(n, 0.0) for n in (*of_a, *of_b)}
            steep[i] = {*steep.get(a, ()), *(steep.get(b, ()) if kind == _MUL else ())}
        elif kind in (Op.SQRT, Op.POW):
            exponent = 0.5 if kind == Op.SQRT else graph.value(rhs[i])
            own = {n: _LEAST_ORDER if exponent is None else exponent * e for n, e in of_a.items()}
            steep[i] = {n for n, e in own.items() if 0 < e < 1}
            below |= {i} if steep[i] else set()
        else:
            own = none
        if i in sizes:
            own = {**own, **sizes[i]}
        if own:
            orders[i] = own
        if kind == _MUL:
            sides = [
                next((n for n in sorted(steep.get(k, ())) if of_k[n] + of_j.get(n, 0.0) > 1), -1)
                for k, of_k, of_j in ((a, of_a, of_b), (b, of_b, of_a))
            ]
            if sides != [-1, -1]:
                found[i] = _positive(graph, sides[0], flat), _positive(graph, sides[1], flat)
    return found, below


def _factors(graph: Graph, product: int) -> Iterator[int]:
    """The node *product* and the factors of it, without divisors."""
    stack = [product]
    while stack:
        yield (i := stack.pop())
        if graph.op[i] in (_MUL, Op.DIV):
            stack += [graph.lhs[i] >> 1, *([graph.rhs[i] >> 1] if graph.op[i] == _MUL else [])]


def _squared(graph: Graph, square: int) -> Iterator[tuple[int, float]]:
    """The terms x of the sum of squares x^2 + ... that the node *square* is, with their orders in its root: 1, and its own: 2."""
    yield square, 2.0
    stack = [square]
    while stack:
        i = stack.pop()
        a, b = graph.lhs[i], graph.rhs[i]
        if graph.op[i] == _ADD:
            stack += [a >> 1, b >> 1]
        elif graph.op[i] == _MUL and a == b:
            yield a >> 1, 1.0


def _positive(graph: Graph, size: int, flat: Collection[int]) -> Ref:
    """What is positive where *size* is not zero: itself, if it is a sum of squares; 0 for -1, no size."""
    return ZERO if size < 0 else 2 * size if size in flat else graph.call(Op.ABS, 2 * size)


def _derivatives(
    graph: Graph,
    nodes: Sequence[int],
    seeds: Mapping[Ref, Ref],
    tame: Collection[int] = (),
    braked: Mapping[int, tuple[Ref, Ref]] = MappingProxyType({}),
) -> dict[int, Ref]:
    """The derivatives of *nodes* in the direction *seeds*, in which no others below them change; those of *tame*
    ones vanish with the changes of their operands, and terms of *braked* products where v is zero.
    """
    op, lhs, rhs, add, mul = graph.op, graph.lhs, graph.rhs, graph.add, graph.mul
    d: dict[int, Ref] = {}
    known = d.get
    for i in nodes:
        kind, a, b = op[i], lhs[i], rhs[i]
        if _LEAF[kind]:
            d[i] = seeds[2 * i]
            continue
        da = known(a >> 1, ZERO)
        db = known(b >> 1, ZERO) if _BINARY[kind] else ZERO
        da = da ^ (a & 1) if da else ZERO
        db = db ^ (b & 1) if db else ZERO
        if kind == _ADD:
            d[i] = add(da, db)
        elif i in braked:
            terms = zip((mul(b, da), mul(a, db)), braked[i], strict=True)
            d[i] = add(*(graph.where(x, size) if size else x for x, size in terms))
        elif kind == _MUL:
            d[i] = mul(a, db) if da == ZERO else mul(b, da) if db == ZERO else add(mul(b, da), mul(a, db))
        elif kind in BRANCHWISE:
            d[i] = BRANCHWISE[kind](graph, a, b, da, db)
        elif da != ZERO or db != ZERO:
            by_a, by_b = PARTIALS[kind](graph, 2 * i, a, b)
            d[i] = add(_chained(graph, by_a, da, i in tame), mul(by_b, db))
    return d


def gradient(
    graph: Graph, root: Ref, symbols: Collection[Ref], weight: Ref = ONE, *, at_rest: bool = False
) -> dict[Ref, Ref]:
    """Derivatives of *root*, times *weight*, with respect to the *symbols* in it, in one reverse sweep; *at_rest* as in
    :func:`forwards`, where the derivative by a root vanishes.

    Structural zeros are left out. The work does not grow with the number of *symbols*, if these are a set or a dict.
    """
    add = graph.add
    order = reachable(graph, [root])
    tame = _tame(graph, order) | _braked(graph, order)[1] if at_rest else frozenset[int]()
    active = _active(graph, order, symbols)
    bar: dict[int, Ref] = {root >> 1: signed(weight, root)}
    for i in reversed(order):
        op = graph.op[i]
        if i not in active or _LEAF[op]:
            continue
        for operand, share in _shares(graph, i, bar.get(i, ZERO), active, i in tame):
            if operand >> 1 in active:
                bar[operand >> 1] = add(bar.get(operand >> 1, ZERO), signed(share, operand))
    return {2 * i: bar[i] for i in order if 2 * i in symbols and bar.get(i, ZERO) != ZERO}


def _shares(graph: Graph, i: int, bar: Ref, active: Collection[int], tame: bool) -> Iterator[tuple[Ref, Ref]]:
    """The operands of node *i*, a *tame* root or another, and what the derivative *bar* by the node adds to those by them.
    Choices pass it on to the operands of their pairs.
    """
    op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
    if op == Op.WHERE:
        yield a, graph.where(bar, b)
    elif op == Op.IF:
        pair = b >> 1
        yield graph.lhs[pair], graph.choice(a, graph.pair(bar, ZERO))
        yield graph.rhs[pair], graph.choice(a, graph.pair(ZERO, bar))
    elif op == Op.TABLE:
        if a >> 1 in active:
            yield a, _weighted(graph, bar, derivative(graph, a, b))
        for entry, partial in shares(graph, a, b):
            if entry >> 1 in active:
                yield entry, _weighted(graph, bar, partial)
    elif op != Op.PAIR:
        operands = (a, b) if _BINARY[op] else (a,)
        for operand, partial in zip(operands, PARTIALS[op](graph, 2 * i, a, b), strict=False):
            if operand >> 1 in active:
                yield operand, _chained(graph, partial, bar, True) if tame else _weighted(graph, bar, partial)


def _weighted(graph: Graph, bar: Ref, partial: Ref) -> Ref:
    """The product of *bar* and *partial*; inside of choices, since *partial* may have no value where nothing is chosen."""
    i = bar >> 1
    op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
    if op == Op.WHERE:
        return signed(graph.where(graph.mul(a, partial), b), bar)
    if op == Op.IF:
        pair = b >> 1
        first, second = (
            ZERO if x == ZERO else _weighted(graph, x, partial) for x in (graph.lhs[pair], graph.rhs[pair])
        )
        return signed(graph.choice(a, graph.pair(first, second)), bar)
    if op == Op.ADD and graph.op[a >> 1] in _CHOICES and graph.op[b >> 1] in _CHOICES:
        return signed(graph.add(_weighted(graph, a, partial), _weighted(graph, b, partial)), bar)
    return graph.mul(bar, partial)


_CHOICES = frozenset({Op.WHERE, Op.IF})


def _active(graph: Graph, order: Sequence[int], symbols: Collection[Ref]) -> set[int]:
    """Ids of the nodes of *order* that depend on one of *symbols*."""
    active: set[int] = set()
    for i in order:
        op = graph.op[i]
        if _LEAF[op]:
            if 2 * i in symbols:
                active.add(i)
        elif graph.lhs[i] >> 1 in active or (_BINARY[op] and graph.rhs[i] >> 1 in active):
            active.add(i)
    return active
