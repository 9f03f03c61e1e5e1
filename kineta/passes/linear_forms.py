"""Linear forms of parameters: each parameter with one coefficient. J_x - (J_x + J_y - J_z)/2 - ... is J_z.

Derivations split moments of inertia and recombine them; the linear form restores the parameters of the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from fractions import Fraction

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import reachable, users
from kineta.passes.substitute import signed

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
    """Constant expressions, of numbers and *parameters* alone, in a copy *graph* of the nodes of *source*, built in linear form.

    copy : nodes of the copy by those of the source
    nodes : constant nodes of the source
    """

    def __init__(self, source: Graph, graph: Graph, parameters: Collection[str]) -> None:
        self.source, self.graph, self.parameters = source, graph, parameters
        self.copy: dict[int, Ref] = {}
        self.nodes: set[int] = set()
        self._forms: dict[int, LinearForm] = {}

    def copied(self, i: int) -> bool:
        """Copy node *i*, whose operands are copied, if it is a leaf, a function of one operand, or constant; whether it is."""
        source, copy = self.source, self.copy
        op, a, b = source.op[i], source.lhs[i], source.rhs[i]
        if op == Op.CONST:
            copy[i], constant = self.graph.const(source.constants[a]), True
        elif op == Op.SYMBOL:
            copy[i], constant = self.graph.symbol(source.names[a]), source.names[a] in self.parameters
        elif op in UNARY:
            copy[i], constant = self.graph.call(op, signed(copy[a >> 1], a)), a >> 1 in self.nodes
        elif a >> 1 in self.nodes and b >> 1 in self.nodes:
            copy[i], constant = self.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b)), True
        else:
            return False
        if constant:
            self.nodes.add(i)
        return True

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
        sign = -1 if ref & 1 else 1
        known = self._forms.get(ref >> 1)
        return {ref & -2: sign} if known is None else {n: sign * f for n, f in known.items()}

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
            sizes = {max(f, -f) for f in form.values()}
            common = sizes.pop() if len(sizes) == 1 else 1
            ordered = sorted(form.items(), key=lambda t: t[1] < 0)
            terms = [graph.mul(graph.const(float(f / common)), n) for n, f in ordered]
            ref = graph.mul(graph.const(float(common)), graph.sum(terms))
        if ref != ZERO:
            self._forms[ref >> 1] = {n: -f for n, f in form.items()} if ref & 1 else form
        return ref


class Rebuilding(ABC):
    """A sweep over a graph, operands first, that rebuilds it in a *target*. ``user`` is as of :func:`~kineta.expr.walk.users`."""

    def __init__(self, source: Graph, target: Graph, user: dict[int, int], parameters: Collection[str]) -> None:
        self.source, self.target, self.user = source, target, user
        self.constants = Constants(source, target, parameters)
        self.copy = self.constants.copy

    @classmethod
    def rebuilt(cls, source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
        """The *roots* of *source* in *target*."""
        order = reachable(source, roots)
        sweep = cls(source, target, users(source, order, roots), parameters)
        for i in order:
            if not sweep.constants.copied(i):
                sweep.visit(i)
        return [signed(sweep.copy[r >> 1], r) for r in roots]

    @abstractmethod
    def visit(self, i: int) -> None:
        """Copy node *i*, an operation that is no constant, after its operands; or keep what its user takes over."""

    def copied_call(self, op: int, a: Ref, b: Ref) -> Ref:
        """The operation *op* of copies of operands of the source."""
        return self.target.call(op, signed(self.copy[a >> 1], a), signed(self.copy[b >> 1], b))


def _exact(value: float) -> Exact:
    """*value* as the decimal number of its shortest text."""
    return int(value) if abs(value) < WHOLE and value == int(value) else Fraction(repr(value))
