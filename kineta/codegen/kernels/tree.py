"""The typed tree of a kernel: what the translator makes of its source, and what back ends walk.

Operations of numbers have one meaning in all back ends: reals are IEEE double, rounded after every operation and never
reordered; integers have 64 bits; ``floordiv`` and ``mod`` round down; ``min`` and ``max`` are the first operand unless the second
is beyond it. ``and``, ``or`` and choices evaluate only what they need. A call that changes memory stands alone in its statement,
so that back ends may evaluate operands in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kineta.expr.op import BINARY as BINARY_OPS
from kineta.expr.op import LIBM, Op
from kineta.memory import ArrayType, MemoryType, RecordType, ScalarType
from kineta.records import dataclass
from kineta.threads import once

#: Operations by name, and the C operator of those that have one. ``real`` converts an integer.
BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floordiv": "",
    "mod": "",
    "min": "",
    "max": "",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "&&",
    "or": "||",
}
UNARY = {"neg": "-", "not": "!", "real": "(double)"}
#: Functions of the C library, and their number of arguments.
LIBRARY = {name: 2 if op in BINARY_OPS else 1 for op, name in LIBM.items() if op is not Op.SQRT}
#: Functions of real numbers, likewise: square root, absolute value, whole part, sign, a b + c rounded once, and
#: those of the library.
FUNCTIONS = {"sqrt": 1, "fabs": 1, "floor": 1, "copysign": 2, "fma": 3, **LIBRARY}


# -- expressions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """A number known in translation."""

    type: ScalarType
    value: float | int | bool


@dataclass(frozen=True, slots=True)
class ConstantArray:
    """A constant array of reals."""

    type: ArrayType
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter or a local variable."""

    type: MemoryType
    name: str


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field of a record."""

    type: MemoryType
    record: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an array."""

    type: ScalarType
    array: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class View:
    """An array from one of its entries on."""

    type: ArrayType
    array: Expression
    start: Expression


@dataclass(frozen=True, slots=True)
class Operation:
    """One of :data:`BINARY`, :data:`UNARY` or :data:`FUNCTIONS`; or ``take``, which counts up an entry and has its value."""

    type: ScalarType
    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """*yes* if the *test* holds, else *no*."""

    type: MemoryType
    test: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of another kernel."""

    type: MemoryType
    kernel: KernelTree
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AddressCall:
    """A call of a compiled function by its address."""

    type: MemoryType
    function: Expression
    arguments: tuple[Expression, ...]


Expression = (
    Constant | ConstantArray | Variable | FieldValue | Entry | View | Operation | Choice | KernelCall | AddressCall
)


def is_cheap(x: Expression) -> bool:
    """Whether *x* may be evaluated where its value is not needed: it costs little, and touches only what is surely there."""

    def is_sure(part: Expression) -> bool:
        match part:
            case Entry() | KernelCall() | AddressCall() | Operation(_, "floordiv" | "mod", _):
                return False
            case Operation(_, name, _):
                return name not in LIBRARY
            case FieldValue(_, record, _):
                return isinstance(record, Variable)
            case _:
                return True

    return all(map(is_sure, parts(x)))


def operands(x: Expression) -> tuple[Expression, ...]:
    """The expressions of which *x* is made."""
    match x:
        case Constant() | ConstantArray() | Variable():
            return ()
        case FieldValue(_, record, _):
            return (record,)
        case Entry(_, array, index) | View(_, array, index):
            return (array, index)
        case Operation(_, _, arguments) | KernelCall(_, _, arguments):
            return arguments
        case Choice(_, test, yes, no):
            return (test, yes, no)
        case AddressCall(_, function, arguments):
            return (function, *arguments)


def parts(x: Expression) -> Iterator[Expression]:
    """*x* and all expressions in it, each before its operands."""
    waiting = [x]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(operands(part))


def is_pure(x: Expression) -> bool:
    """Whether the evaluation of *x* changes no memory."""

    def changes(part: Expression) -> bool:
        match part:
            case AddressCall() | Operation(_, "take", _):
                return True
            case KernelCall(_, kernel, _):
                return not kernel.pure
            case _:
                return False

    return not any(map(changes, parts(x)))


# -- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetVariable:
    """A local variable gets a value."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class SetEntry:
    """An entry of an array gets a value."""

    array: Expression
    index: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class SetField:
    """A number in a record gets a value."""

    record: Expression
    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A call for its effect."""

    call: Expression


@dataclass(frozen=True, slots=True)
class Conditional:
    """``if``: *yes* where the *test* holds, else *no*."""

    test: Expression
    yes: Sequence[Statement]
    no: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class WhileLoop:
    """``while``: the *body* as long as the *test* holds."""

    test: Expression
    body: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class CountingLoop:
    """``for``: the *body* with an integer from *start* to *stop* - 1, which are evaluated once."""

    counter: str
    start: Expression
    stop: Expression
    body: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class Jump:
    """``break`` or ``continue``."""

    word: str


@dataclass(frozen=True, slots=True)
class Leave:
    """``return``."""

    value: Expression | None


Statement = SetVariable | SetEntry | SetField | Evaluate | Conditional | WhileLoop | CountingLoop | Jump | Leave


@dataclass(frozen=True, eq=False)
class KernelTree:
    """A kernel for certain values of its static parameters; a *pure* one changes no memory."""

    name: str
    title: str
    parameters: dict[str, MemoryType]
    result: MemoryType
    variables: dict[str, MemoryType]
    body: Sequence[Statement]
    pure: bool

    @once
    def callees(self) -> list[KernelTree]:
        """The kernels that it calls."""
        return self._contents[0]

    @once
    def operations(self) -> set[str]:
        """The names of its operations."""
        return self._contents[1]

    @once
    def records(self) -> dict[str, RecordType]:
        """The types of records whose fields it reads or sets, by name."""
        return self._contents[2]

    @once
    def _contents(self) -> tuple[list[KernelTree], set[str], dict[str, RecordType]]:
        callees, operations, fields = dict[KernelTree, None](), set[str](), list[Expression]()
        for s in statements(self.body):
            for x in (part for value in values(s) for part in parts(value)):
                match x:
                    case KernelCall(_, kernel, _):
                        callees[kernel] = None
                    case Operation(_, name, _):
                        operations.add(name)
                    case FieldValue(_, record, _):
                        fields.append(record)
            if isinstance(s, SetField):
                fields.append(s.record)
        return [*callees], operations, {x.type.name: x.type for x in fields if isinstance(x.type, RecordType)}


def statements(body: Sequence[Statement]) -> Iterator[Statement]:
    """All statements of a *body*, inner ones included."""
    for s in body:
        yield s
        match s:
            case Conditional(_, yes, no):
                yield from statements([*yes, *no])
            case WhileLoop(_, inner) | CountingLoop(_, _, _, inner):
                yield from statements(inner)
            case _:
                pass


def values(s: Statement) -> tuple[Expression, ...]:
    """The expressions of a statement, without those of inner statements."""
    match s:
        case SetVariable(_, value) | Evaluate(value):
            return (value,)
        case SetEntry(array, index, value):
            return (array, index, value)
        case SetField(record, _, value):
            return (record, value)
        case Conditional(test, _, _) | WhileLoop(test, _):
            return (test,)
        case CountingLoop(_, start, stop, _):
            return (start, stop)
        case Leave(value):
            return () if value is None else (value,)
        case Jump():
            return ()


def rows(kernels: Sequence[KernelTree]) -> list[tuple[float, ...]]:
    """The constant arrays that *kernels* read, each once."""
    found: dict[tuple[float, ...], None] = {}
    for kernel in kernels:
        for s in statements(kernel.body):
            for x in (part for value in values(s) for part in parts(value)):
                if isinstance(x, ConstantArray):
                    found[x.values] = None
    return list(found)


def callees_first(roots: Sequence[KernelTree]) -> list[KernelTree]:
    """*roots* and all kernels that they call, each after those that it calls."""
    found: dict[KernelTree, None] = {}

    def visit(kernel: KernelTree) -> None:
        if kernel not in found:
            for callee in kernel.callees:
                visit(callee)
            found[kernel] = None

    for kernel in roots:
        visit(kernel)
    return list(found)


def records(kernels: Sequence[KernelTree]) -> list[RecordType]:
    """The types of records whose fields *kernels* read or set, in alphabetical order."""
    found = {name: kind for kernel in kernels for name, kind in kernel.records.items()}
    return [found[name] for name in sorted(found)]
