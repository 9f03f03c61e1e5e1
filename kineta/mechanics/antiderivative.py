"""Functions of which given expressions are the slopes: sums of powers, sines and cosines, term by term."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb

from kineta import tolerances
from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.passes.differentiate import gradient
from kineta.passes.expand import Monomial, Sum, SumsOfProducts


def potential_of(graph: Graph, forces: Mapping[Ref, Ref]) -> Ref | None:
    """The function V of symbols with the *forces* -dV/dq, zero where all of these are; None where they have none, or none of
    powers, sines and cosines.
    """
    opened = SumsOfProducts(graph, rounding=16 * tolerances.EPS)  # of thirds, that slopes multiply by three
    total = ZERO
    try:
        for q, force in forces.items():
            slope = opened.total(neg(graph.add(force, gradient(graph, total, {q}).get(q, ZERO))))
            terms = [_antiderivative(graph, m, f, q) for m, f in slope.items()]
            if any(term is None for term in terms):
                return None
            total = graph.sum([total, *(opened.write(term) for term in terms if term)])
        slopes = gradient(graph, total, set(forces))
        whole = all(not opened.total(graph.add(f, slopes.get(q, ZERO))) for q, f in forces.items())
    except OverflowError:
        return None
    return total if whole else None


def _antiderivative(graph: Graph, m: Monomial, f: Fraction, q: Ref) -> Sum | None:
    """The antiderivative of a product of powers in the symbol *q*: a power of it, or sin^a cos^b of one
    argument where a or b is odd.
    """
    own = {x: p for x, p in m if q >> 1 in reachable(graph, [x])}
    rest = tuple((x, p) for x, p in m if x not in own)
    if own.keys() <= {q}:
        n = own.get(q, 0) + 1
        return {_product(rest, (q, n)): f / n} if n else None
    arguments = {graph.lhs[x >> 1] for x in own if graph.op[x >> 1] in (Op.SIN, Op.COS)}
    if len(arguments) != 1 or any(graph.op[x >> 1] not in (Op.SIN, Op.COS) or p < 1 for x, p in own.items()):
        return None
    (argument,) = arguments
    rate = gradient(graph, argument, {q}).get(q, ZERO)
    if graph.op[rate >> 1] != Op.CONST:
        return None
    c = Fraction(graph.constants[graph.lhs[rate >> 1]]) * (-1 if rate & 1 else 1)
    sine, cosine = graph.call(Op.SIN, argument), graph.call(Op.COS, argument)
    a, b = own.get(sine, 0), own.get(cosine, 0)
    if len(own) != (a > 0) + (b > 0) or not (a % 2 or b % 2):
        return None
    base, power, half = (
        (sine, a, b // 2) if b % 2 else (cosine, b, a // 2)
    )  # (1 - s^2)^half s^power ds, or with cosines
    signed = f if b % 2 else -f
    powers = ((j, power + 2 * j + 1) for j in range(half + 1))
    return {_product(rest, (base, n)): signed * comb(half, j) * (-1) ** j / (n * c) for j, n in powers}


def _product(m: Monomial, factor: tuple[Ref, int]) -> Monomial:
    """A monomial times a power of another atom, with atoms in order."""
    return tuple(sorted((*m, factor)))
