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


class Register:
    """A value of a function in the making: a real number, a word of 64 bits, or a truth value.

    Arithmetic is that of its type, without fused operations. Words are compared as signed numbers, and shifted as unsigned
    ones.
    """

    def __init__(self, body: Instructions, text: str, kind: str) -> None:
        self.body, self.text, self.kind = body, text, kind

    def _with(self, sign: str, left: Operand, right: Operand) -> Register:
        a, b = (self.body.value(x, self.kind) for x in (left, right))
        return self.body.new(f"{_ARITHMETIC[self.kind][sign]} {self.kind} {a.text}, {b.text}", self.kind)

    def _compared(self, sign: str, other: Operand) -> Register:
        b = self.body.value(other, self.kind)
        return self.body.new(f"{_COMPARISON[self.kind][sign]} {self.kind} {self.text}, {b.text}", TRUTH)

    def __add__(self, other: Operand) -> Register:
        return self._with("+", self, other)

    def __radd__(self, other: Operand) -> Register:
        return self._with("+", other, self)

    def __sub__(self, other: Operand) -> Register:
        return self._with("-", self, other)

    def __rsub__(self, other: Operand) -> Register:
        return self._with("-", other, self)

    def __mul__(self, other: Operand) -> Register:
        return self._with("*", self, other)

    def __rmul__(self, other: Operand) -> Register:
        return self._with("*", other, self)

    def __truediv__(self, other: Operand) -> Register:
        return self._with("/", self, other)

    def __rtruediv__(self, other: Operand) -> Register:
        return self._with("/", other, self)

    def __and__(self, other: Operand) -> Register:
        return self._with("&", self, other)

    def __or__(self, other: Operand) -> Register:
        return self._with("|", self, other)

    def __xor__(self, other: Operand) -> Register:
        return self._with("^", self, other)

    def __lshift__(self, other: Operand) -> Register:
        return self._with("<<", self, other)

    def __rshift__(self, other: Operand) -> Register:
        return self._with(">>", self, other)

    def __neg__(self) -> Register:
        return self.body.new(f"fneg {self.kind} {self.text}", self.kind)

    def __invert__(self) -> Register:
        return self._with("^", self, -1 if self.kind == WORD else 1)

    def __lt__(self, other: Operand) -> Register:
        return self._compared("<", other)

    def __le__(self, other: Operand) -> Register:
        return self._compared("<=", other)

    def __gt__(self, other: Operand) -> Register:
        return self._compared(">", other)

    def __ge__(self, other: Operand) -> Register:
        return self._compared(">=", other)

    def equals(self, other: Operand) -> Register:
        """Whether both are the same number."""
        return self._compared("is", other)

    @property
    def undefined(self) -> Register:
        """Whether it is NaN."""
        return self.body.new(f"fcmp uno {REAL} {self.text}, {self.text}", TRUTH)

    @property
    def bits(self) -> Register:
        """The word of a real number."""
        return self.body.new(f"bitcast {REAL} {self.text} to {WORD}", WORD)

    @property
    def as_real(self) -> Register:
        """The real number that has these bits."""
        return self.body.new(f"bitcast {WORD} {self.text} to {REAL}", REAL)

    @property
    def unsigned(self) -> Register:
        """The real number nearest to an unsigned word."""
        return self.body.new(f"uitofp {WORD} {self.text} to {REAL}", REAL)

    @property
    def signed(self) -> Register:
        """The real number nearest to a signed word."""
        return self.body.new(f"sitofp {WORD} {self.text} to {REAL}", REAL)


Operand = Register | float | int


class Instructions:
    """The instructions of a function."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def put(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}\n")

    def new(self, text: str, kind: str) -> Register:
        """Append an instruction, and return its result."""
        name = f"%x{len(self.lines)}"
        self.put(f"{name} = {text}")
        return Register(self, name, kind)

    def value(self, given: Operand, kind: str) -> Register:
        """A value, or a number as a constant of the type *kind*."""
        if isinstance(given, Register):
            return given
        if kind == REAL:
            return Register(self, literal(float(given)), REAL)
        return Register(self, str(int(given)), kind)

    def call(self, function: str, *arguments: Register, kind: str = REAL) -> Register:
        """A call of *function*, without its ``@``."""
        given = ", ".join(f"{a.kind} {a.text}" for a in arguments)
        return self.new(f"call {kind} @{function}({given})", kind)

    def part(self, several: Register, k: int, kind: str = REAL) -> Register:
        """Number *k* of several results."""
        return self.new(f"extractvalue {several.kind} {several.text}, {k}", kind)

    def give(self, *results: Register) -> str:
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


def select(test: Register, yes: Operand, no: Operand) -> Register:
    """*yes* where *test* holds, else *no*; of numbers without a type real ones."""
    kind = next((x.kind for x in (yes, no) if isinstance(x, Register)), REAL)
    a, b = (test.body.value(x, kind) for x in (yes, no))
    return test.body.new(f"select i1 {test.text}, {kind} {a.text}, {kind} {b.text}", kind)


def fma(a: Register, b: Operand, c: Operand) -> Register:
    """A b + c, rounded once."""
    return a.body.call("llvm.fma.f64", a, a.body.value(b, REAL), a.body.value(c, REAL))


def polynomial(x: Register, coefficients: tuple[float, ...]) -> Register:
    """The polynomial with these *coefficients*, that of the power zero first."""
    total = fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        total = fma(total, x, coefficient)
    return total


def magnitude(x: Register) -> Register:
    """The absolute value."""
    return x.body.call("llvm.fabs.f64", x)


def with_sign(x: Register, sign: Register) -> Register:
    """*x* with the sign of *sign*."""
    return x.body.call("llvm.copysign.f64", x, sign)


def root(x: Register) -> Register:
    """The square root."""
    return x.body.call("llvm.sqrt.f64", x)


def definition(name: str, arguments: int, write: Callable[..., tuple[Register, ...]], attributes: str = "") -> str:
    """The definition of the function *name* of real numbers, whose results *write* gives."""
    body = Instructions()
    given = [Register(body, f"%a{k}", REAL) for k in range(arguments)]
    kind = body.give(*write(*given))
    parameters = ", ".join(f"{REAL} {x.text}" for x in given)
    return f"define internal {kind} @{name}({parameters}) nounwind {attributes} {{\n{''.join(body.lines)}}}\n"
