"""Linear forms of parameters: each parameter with one coefficient. J_x - (J_x + J_y - J_z)/2 - ... is J_z.

Derivations split moments of inertia and recombine them; the linear form restores the parameters of the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import uses
from kineta.passes.substitute import signed

_CONST, _SYMBOL = int(Op.CONST), int(Op.SYMBOL)
_UNARY = [op in UNARY for op in Op]

#: Neutral elements.
_NEUTRAL = {int(Op.ADD): ZERO, int(Op.MUL): ONE}

#: Terms of a linear form at most; longer sums are unchanged.
TERMS = 12

#: Bits of a coefficient at most; longer sums are unchanged.
BITS = 800

#: An exact number; integers are faster than fractions.
Exact = Fraction | int
#: Largest integer that counts as an exact decimal.
WHOLE = 2.0**53

#: A constant expression as coefficients by node (without its sign); ``ONE`` for the absolute term.
LinearForm = dict[Ref, Exact]


class Constants:
    """Constant expressions of a *graph*, of numbers and parameters alone, built in linear form."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._forms: dict[int, LinearForm] = {}

    def call(self, op: int, a: Ref, b: Ref) -> Ref:
        """The operation *op* of two constant expressions."""
        neutral = _NEUTRAL.get(op)
        if neutral in (a, b):
            return b if a == neutral else a
        if op == Op.ADD:
            total = dict(self._form(a))
            for node, factor in self._form(b).items():
                total[node] = total.get(node, 0) + factor
            return self._made(total, self.graph.add(a, b))
        value, other = self.graph.value(a), b
        if value is None:
            value, other = self.graph.value(b), a
        if op == Op.MUL and value is not None and self.graph.value(other) is None:
            factor = _exact(value)
            return self._made({n: f * factor for n, f in self._form(other).items()}, self.graph.mul(a, b))
        return self.graph.call(op, a, b)

    def _form(self, ref: Ref) -> LinearForm:
        """The linear form of *ref*."""
        value = self.graph.value(ref)
        if value is not None:
            return {ONE: _exact(value)} if value else {}
        known = self._forms.get(ref >> 1)
        if known is None:
            return {ref & -2: -1 if ref & 1 else 1}
        return {n: -f for n, f in known.items()} if ref & 1 else known

    def _made(self, form: LinearForm, plain: Ref) -> Ref:
        """The expression of *form* without vanishing terms; *plain* for a form beyond the limits."""
        form = {n: f for n, f in form.items() if f}
        if any(max(f.numerator.bit_length(), f.denominator.bit_length()) > BITS for f in form.values()):
            return plain
        if len(form) > TERMS or form.keys() <= {ONE}:
            return self.graph.const(float(form.get(ONE, 0))) if form.keys() <= {ONE} else plain
        graph = self.graph
        if len(form) == 1:
            ((node, factor),) = form.items()
            ref = graph.mul(graph.const(float(factor)), node)
        else:
            sizes = (max(f, -f) for f in form.values())
            first = next(sizes)
            common = first if all(size == first for size in sizes) else 1
            ordered = sorted(form.items(), key=lambda t: t[1] < 0)
            terms = [graph.mul(graph.const(float(f if common == 1 else f / common)), n) for n, f in ordered]
            ref = graph.mul(graph.const(float(common)), graph.sum(terms))
        if ref != ZERO:
            self._forms[ref >> 1] = {n: -f for n, f in form.items()} if ref & 1 else form
        return ref


class Rebuilding:
    """A sweep over the nodes of *source* below *roots*, operands first, that rebuilds these in *target*.

    user : by node, the operation of its only user, as of :func:`~kineta.expr.walk.uses`
    copy : by node, its copy
    constant : by node, whether it depends on numbers and *parameters* alone
    constants : of the copy
    """

    def __init__(self, source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> None:
        self.source, self.roots, self.parameters, self.target = source, roots, parameters, target
        self._order, self.user = uses(source, roots)
        self.copy: list[Ref] = [ZERO] * max(len(self.user), 2)
        self.copy[ONE >> 1] = ONE
        self.constant = bytearray(len(self.copy))
        self.constants = Constants(target)

    def operations(self) -> Iterator[tuple[int, int, Ref, Ref]]:
        """Operations of two operands that are not constant, for whose copies the caller sees: node, operation, operands. Leaves,
        functions of one operand and constants are copied on the way.
        """
        source, target, copy, constant, parameters = self.source, self.target, self.copy, self.constant, self.parameters
        kinds, lhs, rhs = source.op, source.lhs, source.rhs
        for i in self._order:
            op, a = kinds[i], lhs[i]
            if op == _CONST:
                copy[i] = target.const(source.constants[a])
                constant[i] = True
            elif op == _SYMBOL:
                copy[i] = target.symbol(source.names[a])
                constant[i] = source.names[a] in parameters
            elif _UNARY[op]:
                copy[i] = target.call(op, signed(copy[a >> 1], a))
                constant[i] = constant[a >> 1]
            else:
                b = rhs[i]
                if constant[a >> 1] and constant[b >> 1]:
                    copy[i] = self.constants.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b))
                    constant[i] = True
                else:
                    yield i, op, a, b

    def call(self, op: int, a: Ref, b: Ref) -> Ref:
        """The operation *op* of copies of operands of the source."""
        return self.target.call(op, signed(self.copy[a >> 1], a), signed(self.copy[b >> 1], b))

    def rebuilt(self) -> list[Ref]:
        """The copies of the roots."""
        return [signed(self.copy[r >> 1], r) for r in self.roots]


@lru_cache(maxsize=4096)
def _exact(value: float) -> Exact:
    """*value* as the decimal number of its shortest text."""
    return int(value) if abs(value) < WHOLE and value == int(value) else Fraction(repr(value))
