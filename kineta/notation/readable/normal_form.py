"""Expressions of a graph as fractions of sums of products over a ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kineta.algebra.infix import comparison, disjunction
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import BINARY, Op
from kineta.expr.walk import operands, reachable
from kineta.notation.rationals import Fraction
from kineta.notation.readable.angles import exact_sum, sine_cosine
from kineta.notation.readable.divisors import cancelled, over, root
from kineta.notation.readable.polynomials import Monomial, Sum, added, content, inverse, join, power, scaled
from kineta.notation.readable.ring import Ring
from kineta.notation.readable.symbolic_powers import Powers, joined_powers, symbolic_power
from kineta.notation.typesetting import FactorKind, Kinds, composed_kind, kind_of


def normal_form(
    ring: Ring, graph: Graph, refs: Sequence[Ref], distances: Mapping[int, str] = MappingProxyType({})
) -> tuple[dict[str, Sum], list[Sum]]:
    """What *distances*, nodes with names, stand for, and *refs* in terms of them. Raises :class:`LongFormError`."""
    value: dict[int, Sum] = {}
    named: dict[str, Sum] = {}
    letters: dict[frozenset[tuple[Monomial, Fraction]], tuple[str, Fraction, Monomial]] = {}
    powers: Powers = {}

    def at(r: Ref) -> Sum:
        return scaled(value[r >> 1], (), Fraction(-1)) if r & 1 else value[r >> 1]

    def datum(r: Ref) -> Sum:
        """A part of the data of a table, whose numbers stay as they are."""
        number = graph.value(r)
        return at(r) if number is None else {((ring.number(number), 1),): Fraction(1)} if number else {}

    opposites = _opposites(graph, refs)

    def condition(i: int) -> Sum:
        """What holds unless a condition does, 1 - b, or where one of two holds."""
        both = disjunction(graph, 2 * i)
        if both is None:
            return ring.opposite(at(graph.rhs[i] ^ 1))
        return ring.opposite(ring.product(*(ring.opposite(at(r)) for r in both)))

    for i in reachable(graph, refs):
        op, a, b = Op(graph.op[i]), graph.lhs[i], graph.rhs[i]
        if i in opposites:
            value[i] = condition(i)
        elif op == Op.CONST:
            value[i] = exact_sum(ring, graph.constants[a]) if graph.constants[a] else {}
        elif op == Op.SYMBOL:
            value[i] = {((ring.symbol(graph.names[a]), 1),): Fraction(1)}
        elif op == Op.ADD:
            value[i] = added(at(a), at(b))
            if any(p < 0 and x in ring.sums for m in value[i] for x, p in m):
                value[i] = cancelled(ring, value[i])
        elif op == Op.MUL:
            value[i] = cancelled(ring, ring.product(at(a), at(b)))
        elif op == Op.DIV:
            value[i] = cancelled(ring, ring.product(at(a), over(ring, at(b))))
        elif op == Op.SQRT:
            value[i] = root(ring, at(a)) if at(a) else {}
        elif op in (Op.SIN, Op.COS, Op.TAN):
            s, c = sine_cosine(ring, at(a))
            value[i] = s if op == Op.SIN else c if op == Op.COS else ring.product(s, over(ring, c))
        else:
            rows = [datum(a), datum(b)] if op == Op.PAIR else [at(a), at(b)] if op in BINARY else [at(a)]
            if op == Op.POW and any(rows[1].keys() - {()}) and graph.value(b) is None:
                x = symbolic_power(ring, *rows)
                powers[x] = rows[0], rows[1]
                value[i] = joined_powers(ring, {((x, 1),): Fraction(1)}, powers)
                continue
            kind = composed_kind(op, ring.fastest(m for row in rows for m in row))
            x = ring.atom(("call", op, tuple(frozenset(row.items()) for row in rows)), kind)
            value[i] = {((x, 1),): Fraction(1)}
        if powers and op in (Op.MUL, Op.DIV):
            value[i] = joined_powers(ring, value[i], powers)
        if i in distances and op != Op.ADD and value[i]:
            named[distances[i]] = value[i]
            value[i] = {((ring.symbol(distances[i], ring.fastest(value[i])), 1),): Fraction(1)}
        elif i in distances and value[i] and _core(value[i]) not in letters:
            name, whole = distances[i], cancelled(ring, value[i])
            named[name] = whole
            letters[_core(whole)] = name, *content(whole)
        if op == Op.ADD and value[i] and letters and (letter := letters.get(_core(value[i]))) is not None:
            name, f, m = letter
            g, n = content(value[i])
            value[i] = {join(((ring.symbol(name, ring.fastest(named[name])), 1),), join(n, inverse(m))): g / f}
    return named, [at(r) for r in refs]


def _core(a: Sum) -> frozenset[tuple[Monomial, Fraction]]:
    """A sum without the number and the factors that all of its terms share."""
    f, m = content(a) if a else (Fraction(1), ())
    return frozenset(scaled(a, inverse(m), 1 / f).items())


def _opposites(graph: Graph, refs: Sequence[Ref]) -> set[int]:
    """The nodes of conditions that hold where others do not: these stay as they are, ``1 - (1 - a)*(1 - b)`` for a or b."""
    choices = (i for i in reachable(graph, refs) if graph.op[i] in (Op.IF, Op.WHERE))
    ahead = [graph.lhs[i] if graph.op[i] == Op.IF else graph.rhs[i] for i in choices]
    seen, found = set[Ref](), set[int]()
    while ahead:
        if (r := ahead.pop()) not in seen:
            seen.add(r)
            word, parts = comparison(graph, r)
            ahead += parts if word not in (">", "<=") else ()
            found |= {r >> 1} if word in ("<=", "or", "not") and not r & 1 else set()
    return found


def distance_components(graph: Graph, refs: Sequence[Ref]) -> list[int]:
    """The sums whose squares stand under roots: the components of distances."""
    found = set()
    for i in reachable(graph, refs):
        stack = [graph.lhs[i] >> 1] if graph.op[i] == Op.SQRT else []
        while stack:
            k = stack.pop()
            if graph.op[k] == Op.ADD:
                stack += [graph.lhs[k] >> 1, graph.rhs[k] >> 1]
            elif graph.op[k] == Op.MUL and graph.lhs[k] == graph.rhs[k] and graph.op[graph.lhs[k] >> 1] == Op.ADD:
                found.add(graph.lhs[k] >> 1)
    return sorted(found)


def squared_differences(graph: Graph, refs: Sequence[Ref], kinds: Kinds) -> list[int]:
    """The sums of three terms and more that are squared: of places, and of speeds against something, as of the wind."""
    order = reachable(graph, refs)
    squared = {graph.lhs[i] >> 1 for i in order if graph.op[i] == Op.MUL and graph.lhs[i] == graph.rhs[i]}
    fastest: dict[int, int] = {}
    for i in order:
        own = kind_of(graph.names[graph.lhs[i]], kinds)[0] if graph.op[i] == Op.SYMBOL else FactorKind.NUMBER
        fastest[i] = max([own, *(fastest[r >> 1] for r in operands(graph, i))])
    found = []
    for i in sorted(k for k in squared if graph.op[k] == Op.ADD):
        terms = [fastest[k] for k in _terms(graph, i)]
        if len(terms) > 2 and max(terms) < (
            FactorKind.ACCELERATION if min(terms) < FactorKind.SPEED else FactorKind.SPEED
        ):
            found.append(i)
    return found


def shared_momenta(graph: Graph, refs: Sequence[Ref]) -> list[int]:
    """The sums of three terms and more, linear in momenta, that are factors in several places: those of the squares of an
    energy.
    """
    order = reachable(graph, refs)
    momenta: dict[int, frozenset[int]] = {}
    linear: dict[int, bool] = {}
    users: dict[int, set[int]] = {}
    for i in order:
        below = [r >> 1 for r in operands(graph, i)]
        for k in below:
            users.setdefault(k, set()).add(i)
        own = graph.op[i] == Op.SYMBOL and graph.names[graph.lhs[i]].startswith("p[")
        momenta[i] = frozenset([i]) if own else frozenset().union(*(momenta[k] for k in below))
        fast = [k for k in below if momenta[k]]
        times = graph.op[i] in (Op.MUL, Op.DIV) and len(fast) == 1 and (graph.op[i] == Op.MUL or fast == below[:1])
        linear[i] = own or (all(linear[k] for k in fast) and (graph.op[i] == Op.ADD or times))
    return [
        i
        for i in order
        if graph.op[i] == Op.ADD and linear[i] and len(momenta[i]) > 1 and len(_terms(graph, i)) > 2
        if _is_shared_factor(graph, i, users)
    ]


def shared_sums_of_roots(graph: Graph, refs: Sequence[Ref], kinds: Kinds) -> list[int]:
    """The sums of coordinates with roots in them, no part of others, that are factors in several places: ratios of speeds."""
    order = reachable(graph, refs)
    users: dict[int, set[int]] = {}
    roots: dict[int, bool] = {}
    slow: dict[int, bool] = {}
    above: set[int] = set()
    found = []
    for i in order:
        below = [r >> 1 for r in operands(graph, i)]
        for k in below:
            users.setdefault(k, set()).add(i)
        own = graph.op[i] == Op.SYMBOL and kind_of(graph.names[graph.lhs[i]], kinds)[0] >= FactorKind.SPEED
        slow[i] = not own and all(slow[k] for k in below)
        roots[i] = graph.op[i] == Op.SQRT or any(roots[k] for k in below)
    for i in order:
        if above.intersection(r >> 1 for r in operands(graph, i)):
            above.add(i)
        elif graph.op[i] == Op.ADD and roots[i] and slow[i] and _is_shared_factor(graph, i, users):
            above.add(i)
            found.append(i)
    return found


def shared_quotients(graph: Graph, refs: Sequence[Ref], kinds: Kinds) -> list[int]:
    """The largest quotients of two functions of coordinates that are factors in several places: ratios of speeds."""
    order = reachable(graph, refs)
    users: dict[int, set[int]] = {}
    kind: dict[int, FactorKind] = {}
    bars: dict[int, bool] = {}
    ratios: dict[int, bool] = {}
    for i in order:
        below = [r >> 1 for r in operands(graph, i)]
        for k in below:
            users.setdefault(k, set()).add(i)
        own = kind_of(graph.names[graph.lhs[i]], kinds)[0] if graph.op[i] == Op.SYMBOL else FactorKind.NUMBER
        kind[i] = composed_kind(Op(graph.op[i]), max([own, *(kind[k] for k in below)]))
        functions = [kind[k] == FactorKind.FUNCTION for k in below]
        is_product = graph.op[i] in (Op.MUL, Op.DIV)
        bars[i] = is_product and ((graph.op[i] == Op.DIV and functions[1]) or any(bars[k] for k in below))
        ratios[i] = bars[i] and (
            functions[0] if graph.op[i] == Op.DIV else all(functions) or any(ratios[k] for k in below)
        )
    found = [i for i in order if ratios[i] and kind[i] == FactorKind.FUNCTION and _is_shared_factor(graph, i, users)]
    within = set(reachable(graph, [r for i in found for r in operands(graph, i)]))
    return [i for i in found if i not in within]


def _is_shared_factor(graph: Graph, i: int, users: Mapping[int, set[int]]) -> bool:
    """Whether a node, or the one product that it is a factor of, is a factor in several places."""
    above = users.get(i, set())
    if len(above) == 1:
        ((one),) = above
        above = users.get(one, set()) if graph.op[one] in (Op.MUL, Op.DIV) else above
    return sum(1 + (graph.lhs[k] == graph.rhs[k]) for k in above if graph.op[k] != Op.ADD) > 1


def with_squares_of_momenta(ring: Ring, a: Sum, named: Mapping[str, Sum]) -> Sum:
    """The sum *a* with the squares of names in place of their products with multiples of what they stand for: sums linear in
    momenta, as those of an energy are.
    """
    full: dict[int, Sum] = {}
    for name, value in named.items():
        full[ring.symbol(name)] = _written_out(ring, value, full)
        if any(sum(p for _, p in ring.fast_factors(m)) != 1 for m in full[ring.symbol(name)]):
            return a
    for letter, value in full.items():
        beside = {join(m, ((letter, -1),)): f for m, f in a.items() if power(m, letter) == 1}
        if not beside or any(sum(p for _, p in ring.fast_factors(m)) != 1 for m in beside):
            continue
        other = _written_out(ring, beside, full)
        fast = min(x for m in value for x, _ in ring.fast_factors(m))
        one, two = ({join(m, ((fast, -1),)): f for m, f in b.items() if power(m, fast)} for b in (other, value))
        ratio = cancelled(ring, ring.product(one, over(ring, two))) if one else {}
        if ratio and not cancelled(ring, added(other, ring.product(ratio, value), Fraction(-1))):
            left = {m: f for m, f in a.items() if power(m, letter) != 1}
            a = added(left, scaled(ratio, ((letter, 2),)))
    return a


def _written_out(ring: Ring, a: Sum, values: Mapping[int, Sum]) -> Sum:
    """The sum *a* with *values* in place of letters, each once in a term."""
    for letter, value in values.items():
        of = {join(m, ((letter, -1),)): f for m, f in a.items() if power(m, letter) == 1}
        if of:
            a = added({m: f for m, f in a.items() if power(m, letter) != 1}, ring.product(of, value))
    return cancelled(ring, a)


def _terms(graph: Graph, i: int) -> list[int]:
    """The nodes that the sum *i* adds."""
    terms, stack = list[int](), [i]
    while stack:
        k = stack.pop()
        if graph.op[k] == Op.ADD:
            stack += [graph.lhs[k] >> 1, graph.rhs[k] >> 1]
        else:
            terms.append(k)
    return terms
