"""The graph: interned scalar nodes in flat lists.

A node is an integer *id* into three lists (operation, two operands). A *reference* is ``2*id + sign``:
its low bit marks a negative. So a change of sign costs nothing, is its own inverse
(``ref ^ 1``), and ``x - y``, ``-x - y``, ``x*(-y)`` share nodes. Equal expressions are the same integer: equality is identity.

Operands always have a smaller id than the node they belong to, so the order of the lists is a topological order and
no walk over the graph needs recursion.

Constructors make only safe, local simplifications: they fold constants, drop 0 and 1, order the operands of a
commutative operation, and pull signs out. Every simplification with a choice is a pass (:mod:`kineta.passes`).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from fractions import Fraction
from hashlib import sha256

from kineta import tolerances
from kineta.errors import ExpressionError
from kineta.expr.op import COMMUTATIVE, EVEN, FLOAT, ODD, UNARY, Op
from kineta.expr.row import StepRow

#: A reference to a node with a sign in its low bit.
Ref = int
#: The nodes of a graph: operations, operands, numbers, names.
Nodes = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[float, ...], tuple[str, ...]]

ZERO: Ref = 0
ONE: Ref = 2
MINUS_ONE: Ref = 3

_CONST, _SYMBOL, _ADD, _MUL, _DIV = (int(o) for o in (Op.CONST, Op.SYMBOL, Op.ADD, Op.MUL, Op.DIV))
_SQRT, _GUARD, _WHERE, _ABS = int(Op.SQRT), int(Op.GUARD), int(Op.WHERE), int(Op.ABS)
_IF, _PAIR, _TABLE = int(Op.IF), int(Op.PAIR), int(Op.TABLE)
_SHIFT = 34  # room for 2**33 nodes in the second operand of a key
_SNAPS = (0.0, 0.5, 1.0, math.sqrt(0.5), math.sqrt(0.75))


def neg(ref: Ref) -> Ref:
    """-ref; zero has no sign."""
    return ref ^ 1 if ref > 1 else ref


def snap(value: float, error: float = 1.5 * tolerances.EPS) -> float:
    """*value*, or the exact number within the distance *error*: cos(pi/2) is 0, sin(pi/6) is 1/2."""
    for exact in _SNAPS:
        if abs(abs(value) - exact) < error:
            return math.copysign(exact, value) if exact else 0.0
    return value


class Graph:
    """Hash-consed scalar expressions; grows only.

    Attributes
    ----------
    op : operation of each node, an int of :class:`~kineta.expr.op.Op`
    lhs, rhs : operands as references; for a constant ``lhs`` indexes ``constants``, for a symbol ``names``
    exact : whether constants are folded only without rounding: 1/3 stays a quotient, sqrt(2) a root
    """

    __slots__ = ("_constants", "_ids", "_symbols", "constants", "exact", "lhs", "names", "op", "rhs")

    def __init__(self, *, exact: bool = False) -> None:
        self.exact = exact
        self.op: list[int] = []
        self.lhs: list[int] = []
        self.rhs: list[int] = []
        self.constants: list[float] = []
        self.names: list[str] = []
        self._ids: dict[int, Ref] = {}
        self._constants: dict[float, Ref] = {}
        self._symbols: dict[str, Ref] = {}
        for value in (0.0, 1.0):  # ids 0 and 1: ZERO and ONE
            self._constants[value] = self._leaf(_CONST, len(self.constants))
            self.constants.append(value)

    def __len__(self) -> int:
        return len(self.op)

    @property
    def nodes(self) -> Nodes:
        """Operations and operands, numbers and names: what the references of a graph mean."""
        return tuple(self.op), tuple(self.lhs), tuple(self.rhs), tuple(self.constants), tuple(self.names)

    @property
    def digest(self) -> str:
        """SHA-256 of the nodes: references mean the same in graphs with equal ones."""
        rows = [c.hex() for c in self.constants if isinstance(c, StepRow)]
        found = sha256(repr((self.exact, self.names, array("d", self.constants).tobytes(), rows)).encode())
        for part in (self.op, self.lhs, self.rhs):
            found.update(array("q", part).tobytes())
        return found.hexdigest()

    def copy_from(self, other: Graph) -> None:
        """Hold what *other* holds: its references are then references into this graph."""
        for name in self.__slots__:
            value = getattr(other, name)
            setattr(self, name, value if name == "exact" else value.copy())

    def __repr__(self) -> str:
        return f"Graph({len(self)} nodes, {len(self.names)} symbols)"

    # -- leaves -----------------------------------------------------------------------------------------------

    def _leaf(self, op: int, index: int) -> Ref:
        self.op.append(op)
        self.lhs.append(index)
        self.rhs.append(0)
        return 2 * len(self.op) - 2

    def const(self, value: float) -> Ref:
        """Reference to the number *value* (finite; bools are refused: they are a mistake in arithmetic), or to a row."""
        if isinstance(value, bool):
            raise ExpressionError(f"Expected a number, found the truth value {value}.")
        row, value = value, float(value)
        if math.isfinite(value):
            magnitude = abs(value)
        elif isinstance(row, StepRow):
            magnitude = row
        else:
            raise ExpressionError(f"Expected a finite number, found {value}.")
        ref = self._constants.get(magnitude)
        return (self._new(magnitude) if ref is None else ref) ^ (value < 0)

    def _new(self, magnitude: float) -> Ref:
        ref = self._constants[magnitude] = self._leaf(_CONST, len(self.constants))
        self.constants.append(magnitude)
        return ref

    def fraction(self, value: Fraction) -> Ref:
        """Reference to the double nearest to *value*; in an exact graph to a quotient, if *value* is no double. Raises
        :class:`OverflowError` beyond the range of doubles.
        """
        nearest = float(value)
        if not self.exact or nearest == value:
            return self.const(nearest)
        if max(abs(value.numerator), value.denominator) > _WHOLE:
            raise OverflowError
        return self.div(self.const(value.numerator), self.const(value.denominator))

    def symbol(self, name: str) -> Ref:
        """Reference to the symbol *name*; the same name is the same symbol."""
        ref = self._symbols.get(name)
        if ref is None:
            ref = self._leaf(_SYMBOL, len(self.names))
            self.names.append(name)
            self._symbols[name] = ref
        return ref

    def value(self, ref: Ref) -> float | None:
        """The number of a constant *ref*, or None."""
        if self.op[ref >> 1] != _CONST:
            return None
        magnitude = self.constants[self.lhs[ref >> 1]]
        return -magnitude if ref & 1 else magnitude

    def name(self, ref: Ref) -> str | None:
        """The name of an unsigned symbol *ref*, or None."""
        return self.names[self.lhs[ref >> 1]] if self.op[ref >> 1] == _SYMBOL and not ref & 1 else None

    # -- operations -------------------------------------------------------------------------------------------

    def add(self, a: Ref, b: Ref) -> Ref:
        """The sum a + b."""
        if a > b:
            a, b = b, a
        if a < 2:
            return b if b > 1 else ZERO
        if a ^ b == 1:
            return ZERO
        sign = a & 1
        if sign:
            a ^= 1
            b ^= 1
        key = (a << _SHIFT | b) << 5 | _ADD
        ref = self._ids.get(key)
        if ref is None:
            ops = self.op
            if ops[a >> 1] == _ADD or ops[b >> 1] == _ADD:
                ref = self._cancelled(a, b)
            if ref is not None:
                self._ids[key] = ref
            elif ops[a >> 1] or ops[b >> 1]:  # not both constants; written out for speed, as in mul
                ref = self._ids[key] = len(ops) << 1
                ops.append(_ADD)
                self.lhs.append(a)
                self.rhs.append(b)
            else:
                ref = self._ids[key] = self._folded_ring(_ADD, a, b)
        return ref ^ sign if ref > 1 else ZERO

    def _cancelled(self, a: Ref, b: Ref) -> Ref | None:
        """The y for operands x and y - x in either order, else None; *a* has no sign."""
        op, lhs, rhs = self.op, self.lhs, self.rhs
        i, minus = a >> 1, b ^ 1
        if op[i] == _ADD:
            if lhs[i] == minus:
                return rhs[i]
            if rhs[i] == minus:
                return lhs[i]
        i, sign = b >> 1, b & 1
        if op[i] == _ADD:
            minus = a ^ 1 ^ sign
            if lhs[i] == minus:
                return rhs[i] ^ sign
            if rhs[i] == minus:
                return lhs[i] ^ sign
        return None

    def sub(self, a: Ref, b: Ref) -> Ref:
        """The difference a - b."""
        return self.add(a, b ^ 1 if b > 1 else b)

    def mul(self, a: Ref, b: Ref) -> Ref:
        """The product a b."""
        sign = (a ^ b) & 1
        a &= -2
        b &= -2
        if a > b:
            a, b = b, a
        if a <= 2:
            return b ^ sign if a and b else ZERO
        key = (a << _SHIFT | b) << 5 | _MUL
        ref = self._ids.get(key)
        if ref is None:
            ops = self.op
            if a == b and ops[a >> 1] == _SQRT and self._squares(self.lhs[a >> 1]):
                ref = self._ids[key] = self.lhs[a >> 1]
            elif ops[a >> 1] or ops[b >> 1]:
                ref = self._ids[key] = len(ops) << 1
                ops.append(_MUL)
                self.lhs.append(a)
                self.rhs.append(b)
            else:
                ref = self._ids[key] = self._folded_ring(_MUL, a, b)
        return ref ^ sign if ref > 1 else ZERO

    def _squares(self, a: Ref) -> bool:
        """Whether *a* is a sum of squares, whose square root is real."""
        stack = [a]
        while stack:
            x = stack.pop()
            op, lhs, rhs = self.op[x >> 1], self.lhs[x >> 1], self.rhs[x >> 1]
            if x & 1 or not (op == _ADD or (op == _MUL and lhs == rhs)):
                return False
            if op == _ADD:
                stack += [lhs, rhs]
        return True

    def div(self, a: Ref, b: Ref) -> Ref:
        """The quotient a / b; division by a number is multiplication by its reciprocal, if rounding is allowed, and x / |x| is
        the sign of x, which has a value at zero.
        """
        if b < 2:
            raise ExpressionError("Division by zero.")
        if a < 2:
            return ZERO
        if a & -2 == b & -2:
            return ONE ^ ((a ^ b) & 1)
        divisor, dividend = self.value(b), self.value(a)
        if divisor is not None and dividend is not None and not self.exact:
            return self._fold(_DIV, a, b)
        if divisor is not None and dividend is None and self._reciprocal(divisor):
            return self.mul(a, self.const(1 / divisor))
        if self.op[b >> 1] == _ABS and (rest := self._cofactor(a & -2, self.lhs[b >> 1])) is not None:
            return self.mul(rest, self.call(Op.SIGN, self.lhs[b >> 1])) ^ ((a ^ b) & 1)
        sign = (a ^ b) & 1
        a &= -2
        b &= -2
        key = (a << _SHIFT | b) << 5 | _DIV
        ref = self._ids.get(key)
        if ref is None:
            ref = self._intern(_DIV, a, b, key)
        return ref ^ sign

    def _cofactor(self, a: Ref, x: Ref) -> Ref | None:
        """What *x*, a factor of the product *a*, is multiplied with there; None where it is no factor."""
        if a & -2 == x:
            return ONE ^ (a & 1)
        if self.op[a >> 1] != _MUL:
            return None
        left, right = self.lhs[a >> 1], self.rhs[a >> 1]
        if (rest := self._cofactor(left, x)) is not None:
            return self.mul(rest, right) ^ (a & 1)
        if (rest := self._cofactor(right, x)) is not None:
            return self.mul(left, rest) ^ (a & 1)
        return None

    def _reciprocal(self, divisor: float) -> bool:
        """Whether multiplication by 1 / *divisor* may replace a division."""
        return math.isfinite(1 / divisor) and (not self.exact or _unrounded(_DIV, 1.0, divisor, 1 / divisor))

    def call(self, op: int, a: Ref, b: Ref = ZERO) -> Ref:
        """The function *op* of one or two arguments (any operation but a leaf)."""
        op = int(op)
        direct = _DIRECT.get(op)
        if direct is not None:
            return direct(self, a, b)
        if op == Op.POW:
            return self._power(a, b)
        sign = 0
        if op in ODD:
            sign, a = a & 1, a & -2
        elif op in EVEN:
            a &= -2
        elif op in COMMUTATIVE and a > b:
            a, b = b, a
        key = (a << _SHIFT | b) << 5 | op
        ref = self._ids.get(key)
        if ref is None:
            ref = self._intern(op, a, b, key)
        return ref ^ sign if ref > 1 else ZERO

    def guard(self, a: Ref, b: Ref) -> Ref:
        """The value a for positive b, else NaN. A false condition is not folded, since NaN is no constant."""
        value = self.value(b)
        return a if value is not None and value > 0 else self._kept(_GUARD, a & -2, b) ^ a & 1

    def where(self, a: Ref, b: Ref) -> Ref:
        """The value a for positive b, else 0, even where a has no value."""
        value = self.value(b)
        if value is not None:
            return a if value > 0 else ZERO
        return self._kept(_WHERE, a & -2, b) ^ a & 1 if a > 1 else ZERO

    def choice(self, a: Ref, b: Ref) -> Ref:
        """Of the pair b the first value for positive a, else the second."""
        first, second, value = self.lhs[b >> 1], self.rhs[b >> 1], self.value(a)
        if value is not None or first == second:
            return first if value is None or value > 0 else second
        return self._kept(_IF, a, b)

    def pair(self, a: Ref, b: Ref) -> Ref:
        """The values a and b as one operand."""
        return self._kept(_PAIR, a, b)

    def table(self, a: Ref, b: Ref) -> Ref:
        """The value at a of the table with the data b."""
        return self._kept(_TABLE, a, b)

    def _kept(self, op: int, a: Ref, b: Ref) -> Ref:
        """A node that is not folded."""
        key = (a << _SHIFT | b) << 5 | op
        ref = self._ids.get(key)
        if ref is None:
            ref = self._ids[key] = self._append(op, a, b)
        return ref

    def sin(self, a: Ref) -> Ref:
        """The sine of a."""
        return self.call(Op.SIN, a)

    def cos(self, a: Ref) -> Ref:
        """The cosine of a."""
        return self.call(Op.COS, a)

    def sqrt(self, a: Ref) -> Ref:
        """Square root of a."""
        return self.call(Op.SQRT, a)

    def sum(self, terms: Iterable[Ref]) -> Ref:
        """Sum of *terms*, added from left to right."""
        total = ZERO
        for term in terms:
            total = self.add(total, term)
        return total

    def _power(self, a: Ref, b: Ref) -> Ref:
        exponent = self.value(b)
        if exponent is not None and exponent.is_integer() and abs(exponent) <= 64:
            result, square, n = ONE, a, abs(int(exponent))
            while n:
                if n & 1:
                    result = self.mul(result, square)
                n >>= 1
                if n:
                    square = self.mul(square, square)
            return result if exponent >= 0 else self.div(ONE, result)
        if exponent == 0.5:
            return self.call(Op.SQRT, a)
        key = (a << _SHIFT | b) << 5 | Op.POW
        ref = self._ids.get(key)
        return self._intern(Op.POW, a, b, key) if ref is None else ref

    def _intern(self, op: int, a: Ref, b: Ref, key: int) -> Ref:
        """A new node, or the folded constant of constant operands; stored under *key*."""
        numbers = self.op[a >> 1] == _CONST and self.op[b >> 1] == _CONST
        ref = self._ids[key] = self._fold(op, a, b) if numbers else self._append(op, a, b)
        return ref

    def _append(self, op: int, a: Ref, b: Ref) -> Ref:
        self.op.append(op)
        self.lhs.append(a)
        self.rhs.append(b)
        return 2 * len(self.op) - 2

    def _folded_ring(self, op: int, a: Ref, b: Ref) -> Ref:
        """The sum or product of two numbers, *a* without a sign."""
        numbers, at = self.constants, self.lhs
        x, y = numbers[at[a >> 1]], numbers[at[b >> 1]]
        value = x * y if op == _MUL else x - y if b & 1 else x + y
        if self.exact or not math.isfinite(value):
            return self._fold(op, a, b)
        ref = self._constants.get(abs(value))
        return (self._new(abs(value)) if ref is None else ref) ^ (value < 0)

    def _fold(self, op: int, a: Ref, b: Ref) -> Ref:
        x, y = self.value(a) or 0.0, self.value(b) or 0.0
        function = FLOAT[op]
        try:
            value = function(x) if op in UNARY else function(x, y)
            if op in _SNAPPED:  # up to the rounding error of the angle, which grows with the number of turns
                value = snap(value, tolerances.EPS * max(1.5, min(abs(x), 64.0))) if abs(x) > 1e-3 else value
            return self._append(op, a, b) if self.exact and not _unrounded(op, x, y, value) else self.const(value)
        except (ValueError, ZeroDivisionError, OverflowError, ExpressionError):
            raise no_number(op, (x,) if op in UNARY else (x, y)) from None


def _unrounded(op: int, x: float, y: float, value: float) -> bool:
    """Whether *value* is the exact result of the operation *op*."""
    if op in _EXACT:
        return True
    if op in _CHECKED:
        return math.isfinite(value) and _CHECKED[op](Fraction(x), Fraction(y), Fraction(value))
    return value in (-1.0, 0.0, 1.0) and (x == 0.0 or (op in _SNAPPED and abs(x) > 1e-3))


#: Infix forms of operations.
_INFIX = {Op.ADD: "{} + {}", Op.MUL: "{}*{}", Op.DIV: "{}/{}", Op.POW: "{}^{}"}


def no_number(op: int, operands: Iterable[float]) -> ExpressionError:
    """The error for an operation with an undefined result, in infix notation."""
    shown = [f"{x:g}" if x >= 0 or op not in _INFIX else f"({x:g})" for x in operands]
    written = _INFIX[Op(op)].format(*shown) if op in _INFIX else f"{Op(op).name.lower()}({', '.join(shown)})"
    return ExpressionError(f"{written} is not a finite number.")


_SNAPPED = frozenset({Op.SIN, Op.COS, Op.TAN})
#: Operations with exact results; and exactness tests for the results of others.
_EXACT = frozenset({Op.ABS, Op.SIGN, Op.STEP, Op.MIN, Op.MAX, Op.FLOOR, Op.LOOKUP})
_CHECKED: dict[int, Callable[[Fraction, Fraction, Fraction], bool]] = {
    Op.ADD: lambda x, y, value: x + y == value,
    Op.MUL: lambda x, y, value: x * y == value,
    Op.DIV: lambda x, y, value: value * y == x,
    Op.SQRT: lambda x, y, value: value * value == x,
}
#: Integers from here on may not be doubles.
_WHOLE = 1 << 53
_DIRECT: dict[int, Callable[[Graph, Ref, Ref], Ref]] = {
    Op.ADD: Graph.add,
    Op.MUL: Graph.mul,
    Op.DIV: Graph.div,
    Op.GUARD: Graph.guard,
    Op.WHERE: Graph.where,
    Op.IF: Graph.choice,
    Op.PAIR: Graph.pair,
    Op.TABLE: Graph.table,
}
