"""Functions of numbers as LLVM IR, written as Python's arithmetic on values that stand for registers."""

from __future__ import annotations

from collections.abc import Callable

from kineta.codegen.sincos import literal

REAL, WORD, TRUTH = "double", "i64", "i1"

#: Instructions of arithmetic by type.
_ARITHMETIC = {
    REAL: {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"},
    WORD: {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "lshr"},
    TRUTH: {"&": "and", "|": "or", "^": "xor"},
}
#: Comparisons by type; those of NaN are false.
_COMPARISON = {
    REAL: {"<": "fcmp olt", "<=": "fcmp ole", ">": "fcmp ogt", ">=": "fcmp oge", "is": "fcmp oeq"},
    WORD: {"<": "icmp slt", "<=": "icmp sle", ">": "icmp sgt", ">=": "icmp sge", "is": "icmp eq"},
}


class Value:
    """A value of a function in the making: a real number, a word of 64 bits, or a truth value.

    Arithmetic is that of its type, without fused operations. Words are compared as signed numbers, and shifted as unsigned
    ones.
    """

    def __init__(self, body: Body, text: str, kind: str) -> None:
        self.body, self.text, self.kind = body, text, kind

    def _with(self, sign: str, left: Operand, right: Operand) -> Value:
        a, b = (self.body.value(x, self.kind) for x in (left, right))
        return self.body.new(f"{_ARITHMETIC[self.kind][sign]} {self.kind} {a.text}, {b.text}", self.kind)

    def _compared(self, sign: str, other: Operand) -> Value:
        b = self.body.value(other, self.kind)
        return self.body.new(f"{_COMPARISON[self.kind][sign]} {self.kind} {self.text}, {b.text}", TRUTH)

    def __add__(self, other: Operand) -> Value:
        return self._with("+", self, other)

    def __radd__(self, other: Operand) -> Value:
        return self._with("+", other, self)

    def __sub__(self, other: Operand) -> Value:
        return self._with("-", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return self._with("-", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self._with("*", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return self._with("*", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return self._with("/", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._with("/", other, self)

    def __and__(self, other: Operand) -> Value:
        return self._with("&", self, other)

    def __or__(self, other: Operand) -> Value:
        return self._with("|", self, other)

    def __xor__(self, other: Operand) -> Value:
        return self._with("^", self, other)

    def __lshift__(self, other: Operand) -> Value:
        return self._with("<<", self, other)

    def __rshift__(self, other: Operand) -> Value:
        return self._with(">>", self, other)

    def __neg__(self) -> Value:
        return self.body.new(f"fneg {self.kind} {self.text}", self.kind)

    def __invert__(self) -> Value:
        return self._with("^", self, -1 if self.kind == WORD else 1)

    def __lt__(self, other: Operand) -> Value:
        return self._compared("<", other)

    def __le__(self, other: Operand) -> Value:
        return self._compared("<=", other)

    def __gt__(self, other: Operand) -> Value:
        return self._compared(">", other)

    def __ge__(self, other: Operand) -> Value:
        return self._compared(">=", other)

    def equals(self, other: Operand) -> Value:
        """Whether both are the same number."""
        return self._compared("is", other)

    @property
    def undefined(self) -> Value:
        """Whether it is NaN."""
        return self.body.new(f"fcmp uno {REAL} {self.text}, {self.text}", TRUTH)

    @property
    def bits(self) -> Value:
        """The word of a real number."""
        return self.body.new(f"bitcast {REAL} {self.text} to {WORD}", WORD)

    @property
    def as_real(self) -> Value:
        """The real number that has these bits."""
        return self.body.new(f"bitcast {WORD} {self.text} to {REAL}", REAL)

    @property
    def unsigned(self) -> Value:
        """The real number nearest to an unsigned word."""
        return self.body.new(f"uitofp {WORD} {self.text} to {REAL}", REAL)

    @property
    def signed(self) -> Value:
        """The real number nearest to a signed word."""
        return self.body.new(f"sitofp {WORD} {self.text} to {REAL}", REAL)


Operand = Value | float | int


class Body:
    """The instructions of a function."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def put(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}\n")

    def new(self, text: str, kind: str) -> Value:
        """Append an instruction, and return its result."""
        name = f"%x{len(self.lines)}"
        self.put(f"{name} = {text}")
        return Value(self, name, kind)

    def value(self, given: Operand, kind: str) -> Value:
        """A value, or a number as a constant of the type *kind*."""
        if isinstance(given, Value):
            return given
        if kind == REAL:
            return Value(self, literal(float(given)), REAL)
        return Value(self, str(int(given)), kind)

    def call(self, function: str, *arguments: Value, kind: str = REAL) -> Value:
        """A call of *function*, without its ``@``."""
        given = ", ".join(f"{a.kind} {a.text}" for a in arguments)
        return self.new(f"call {kind} @{function}({given})", kind)

    def part(self, several: Value, k: int, kind: str = REAL) -> Value:
        """Number *k* of several results."""
        return self.new(f"extractvalue {several.kind} {several.text}, {k}", kind)

    def give(self, *results: Value) -> str:
        """Return the *results*; the type of the function."""
        if len(results) == 1:
            self.put(f"ret {results[0].kind} {results[0].text}")
            return results[0].kind
        kind = f"{{{', '.join(r.kind for r in results)}}}"
        given = "poison"
        for k, r in enumerate(results):
            given = self.new(f"insertvalue {kind} {given}, {r.kind} {r.text}, {k}", kind).text
        self.put(f"ret {kind} {given}")
        return kind


def select(test: Value, yes: Operand, no: Operand) -> Value:
    """*yes* where *test* holds, else *no*; of numbers without a type real ones."""
    kind = next((x.kind for x in (yes, no) if isinstance(x, Value)), REAL)
    a, b = (test.body.value(x, kind) for x in (yes, no))
    return test.body.new(f"select i1 {test.text}, {kind} {a.text}, {kind} {b.text}", kind)


def fma(a: Value, b: Operand, c: Operand) -> Value:
    """A b + c, rounded once."""
    return a.body.call("llvm.fma.f64", a, a.body.value(b, REAL), a.body.value(c, REAL))


def polynomial(x: Value, coefficients: tuple[float, ...]) -> Value:
    """The polynomial with these *coefficients*, that of the power zero first."""
    total = fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        total = fma(total, x, coefficient)
    return total


def magnitude(x: Value) -> Value:
    """The absolute value."""
    return x.body.call("llvm.fabs.f64", x)


def with_sign(x: Value, sign: Value) -> Value:
    """*x* with the sign of *sign*."""
    return x.body.call("llvm.copysign.f64", x, sign)


def root(x: Value) -> Value:
    """The square root."""
    return x.body.call("llvm.sqrt.f64", x)


def definition(name: str, arguments: int, write: Callable[..., tuple[Value, ...]], attributes: str = "") -> str:
    """The definition of the function *name* of real numbers, whose results *write* gives."""
    body = Body()
    given = [Value(body, f"%a{k}", REAL) for k in range(arguments)]
    kind = body.give(*write(*given))
    parameters = ", ".join(f"{REAL} {x.text}" for x in given)
    return f"define internal {kind} @{name}({parameters}) nounwind {attributes} {{\n{''.join(body.lines)}}}\n"
