"""The back end ``llvm``: kernels as LLVM IR for one motion. Nothing is reordered, and nothing fused but what says ``fma``."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kineta.codegen.kernels.tree import (
    FUNCTIONS,
    LIBRARY,
    AddressCall,
    Choice,
    Conditional,
    Constant,
    CountingLoop,
    Entry,
    Evaluate,
    Expression,
    FieldValue,
    Jump,
    KernelCall,
    KernelTree,
    Leave,
    Operation,
    SetEntry,
    SetField,
    SetVariable,
    Statement,
    Variable,
    View,
    WhileLoop,
    callees_first,
    is_cheap,
)
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, MemoryType, RecordType

_TYPES: dict[MemoryType, str] = {REAL: "double", INTEGER: "i64", BOOLEAN: "i1", NOTHING: "void"}
_ARITHMETIC = {"add", "sub", "mul", "div"}
#: Comparisons of reals and of integers. All but ``!=`` fail for what is not a number.
_COMPARED = {
    "lt": ("olt", "slt"),
    "le": ("ole", "sle"),
    "gt": ("ogt", "sgt"),
    "ge": ("oge", "sge"),
    "eq": ("oeq", "eq"),
    "ne": ("une", "ne"),
}
#: What is loaded and stored, by type: numbers never lie over addresses, and reals never over integers.
_ALIASES: dict[MemoryType, str] = {REAL: "!4", INTEGER: "!5", BOOLEAN: "!5"}
_METADATA = """\
!0 = !{!"kernel"}
!1 = !{!"real", !0, i64 0}
!2 = !{!"integer", !0, i64 0}
!3 = !{!"address", !0, i64 0}
!4 = !{!1, !1, i64 0}
!5 = !{!2, !2, i64 0}
!6 = !{!3, !3, i64 0}
"""


def source(roots: Sequence[KernelTree]) -> str:
    """A module with the *roots* as public functions."""
    declared = [
        f"declare double @{name if name in LIBRARY else f'llvm.{name}.f64'}({', '.join(['double'] * n)})\n"
        for name, n in FUNCTIONS.items()
    ]
    kernels = [_function(kernel, kernel in roots) for kernel in callees_first(roots)]
    return "".join([*declared, *kernels, _METADATA])


@dataclass(slots=True)
class _Writer:
    """Lines of a function, the label of the present block, names given so far, and labels behind and next of the loops."""

    lines: list[str]
    block: str = "entry"
    names: int = 0
    loops: list[tuple[str, str]] = field(default_factory=list)

    def put(self, text: str) -> None:
        self.lines.append(f"  {text}\n")

    def new(self, text: str) -> str:
        """The name of a value that is computed."""
        self.names += 1
        self.put(f"%.{self.names} = {text}")
        return f"%.{self.names}"

    def labels(self, *words: str) -> list[str]:
        self.names += 1
        return [f"{word}.{self.names}" for word in words]

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:\n")
        self.block = label


def _type(kind: MemoryType) -> str:
    return _TYPES.get(kind, "ptr")


def _function(kernel: KernelTree, public: bool) -> str:
    parameters = ", ".join(f"{_type(t)} %{n}.in" for n, t in kernel.parameters.items())
    head = f"define {'' if public else 'internal '}{_type(kernel.result)} @{kernel.name}({parameters}) nounwind {{\n"
    w = _Writer([head, "entry:\n"])
    for n, t in (kernel.parameters | kernel.variables).items():
        w.put(f"%{n} = alloca {_type(t)}")
    for n, t in kernel.parameters.items():
        w.put(f"store {_type(t)} %{n}.in, ptr %{n}")
    if not _statements(w, kernel.body):
        w.put("ret void" if kernel.result is NOTHING else "unreachable")
    return "".join([*w.lines, "}\n"])


# -- statements -----------------------------------------------------------------------------------------------------


def _statements(w: _Writer, body: Sequence[Statement]) -> bool:
    """Whether control never passes the end of *body*."""
    return any(_statement(w, s) for s in body)


def _statement(w: _Writer, s: Statement) -> bool:
    """Whether control never passes the end of *s*."""
    match s:
        case SetVariable(name, value):
            w.put(f"store {_type(value.type)} {_value(w, value)}, ptr %{name}")
        case SetEntry(array, index, value):
            given = _value(w, value)
            _store(w, given, value.type, _entry(w, array, index, value.type))
        case SetField(record, name, value):
            given = _value(w, value)
            given = w.new(f"zext i1 {given} to i64") if value.type is BOOLEAN else given
            _store(w, given, value.type, _field(w, record, name))
        case Evaluate(call):
            _value(w, call)
        case Leave(value):
            w.put("ret void" if value is None else f"ret {_type(value.type)} {_value(w, value)}")
        case Jump(word):
            w.put(f"br label %{w.loops[-1][word == 'continue']}")
        case Conditional(test, yes, no):
            return _branch(w, test, yes, no)
        case WhileLoop(test, inner):
            _loop(w, lambda: _value(w, test), inner, lambda: None)
        case CountingLoop(counter, start, stop, inner):
            w.put(f"store i64 {_value(w, start)}, ptr %{counter}")
            last = _value(w, stop)
            _loop(
                w,
                lambda: w.new(f"icmp slt i64 {_counted(w, counter)}, {last}"),
                inner,
                lambda: w.put(f"store i64 {w.new(f'add nsw i64 {_counted(w, counter)}, 1')}, ptr %{counter}"),
            )
    return isinstance(s, Leave | Jump)


def _counted(w: _Writer, counter: str) -> str:
    return w.new(f"load i64, ptr %{counter}")


def _branch(w: _Writer, test: Expression, yes: Sequence[Statement], no: Sequence[Statement]) -> bool:
    holds, fails, end = w.labels("if", "else", "end")
    w.put(f"br i1 {_value(w, test)}, label %{holds}, label %{fails}")
    left = []
    for label, body in ((holds, yes), (fails, no)):
        w.begin(label)
        left.append(_statements(w, body))
        if not left[-1]:
            w.put(f"br label %{end}")
    if not all(left):
        w.begin(end)
    return all(left)


def _loop(w: _Writer, test: Callable[[], str], body: Sequence[Statement], step: Callable[[], None]) -> None:
    top, inner, following, end = w.labels("top", "body", "next", "done")
    w.put(f"br label %{top}")
    w.begin(top)
    w.put(f"br i1 {test()}, label %{inner}, label %{end}")
    w.begin(inner)
    w.loops.append((end, following))
    left = _statements(w, body)
    w.loops.pop()
    if not left:
        w.put(f"br label %{following}")
    w.begin(following)
    step()
    w.put(f"br label %{top}")
    w.begin(end)


# -- memory ---------------------------------------------------------------------------------------------------------


def _entry(w: _Writer, array: Expression, index: Expression, item: MemoryType) -> str:
    """The address of an entry."""
    base = _value(w, array)
    return w.new(f"getelementptr {_type(item)}, ptr {base}, i64 {_value(w, index)}")


def _field(w: _Writer, record: Expression, name: str) -> str:
    """The address of a field: all have eight bytes."""
    assert isinstance(record.type, RecordType)
    return w.new(f"getelementptr i64, ptr {_value(w, record)}, i64 {record.type.position(name)}")


def _load(w: _Writer, kind: MemoryType, place: str) -> str:
    stored = INTEGER if kind is BOOLEAN else kind
    found = w.new(f"load {_type(stored)}, ptr {place}, align 8, !tbaa {_ALIASES.get(kind, '!6')}")
    return w.new(f"icmp ne i64 {found}, 0") if kind is BOOLEAN else found


def _store(w: _Writer, value: str, kind: MemoryType, place: str) -> None:
    stored = INTEGER if kind is BOOLEAN else kind
    w.put(f"store {_type(stored)} {value}, ptr {place}, align 8, !tbaa {_ALIASES.get(kind, '!6')}")


# -- expressions ----------------------------------------------------------------------------------------------------


def _value(w: _Writer, x: Expression) -> str:
    """The operand of LLVM that holds *x*."""
    match x:
        case Constant(kind, value):
            if kind is REAL:
                return f"0x{struct.pack('>d', value).hex()}"
            return str(int(value)) if kind is INTEGER else str(bool(value)).lower()
        case Variable(kind, name):
            return w.new(f"load {_type(kind)}, ptr %{name}")
        case FieldValue(kind, record, name):
            return _load(w, kind, _field(w, record, name))
        case Entry(kind, array, index):
            return _load(w, kind, _entry(w, array, index, kind))
        case View(kind, array, start):
            return _entry(w, array, start, kind.item)
        case Choice(kind, test, yes, no):
            return _choice(w, kind, test, yes, no)
        case KernelCall(kind, kernel, arguments):
            return _call(w, kind, f"@{kernel.name}", arguments)
        case AddressCall(kind, function, arguments):
            return _call(w, kind, _value(w, function), arguments)
        case Operation(kind, name, arguments):
            return _operation(w, kind, name, arguments)


def _choice(w: _Writer, kind: MemoryType, test: Expression, yes: Expression, no: Expression) -> str:
    """*yes* or *no*; one that costs much or reads memory is evaluated only where it is needed."""
    if is_cheap(yes) and is_cheap(no):
        chosen, values = _value(w, test), [f"{_type(kind)} {_value(w, part)}" for part in (yes, no)]
        return w.new(f"select i1 {chosen}, {', '.join(values)}")
    holds, fails, end = w.labels("yes", "no", "met")
    w.put(f"br i1 {_value(w, test)}, label %{holds}, label %{fails}")
    met = []
    for label, part in ((holds, yes), (fails, no)):
        w.begin(label)
        met.append(f"[ {_value(w, part)}, %{w.block} ]")
        w.put(f"br label %{end}")
    w.begin(end)
    return w.new(f"phi {_type(kind)} {', '.join(met)}")


def _call(w: _Writer, kind: MemoryType, function: str, arguments: Sequence[Expression]) -> str:
    given = ", ".join([f"{_type(a.type)} {_value(w, a)}" for a in arguments])
    call = f"call {_type(kind)} {function}({given})"
    if kind is NOTHING:
        w.put(call)
        return ""
    return w.new(call)


def _operation(w: _Writer, kind: MemoryType, name: str, arguments: Sequence[Expression]) -> str:
    if name in ("and", "or"):
        first, second = arguments
        known = Constant(BOOLEAN, name == "or")
        return _choice(w, kind, first, second, known) if name == "and" else _choice(w, kind, first, known, second)
    given = [_value(w, a) for a in arguments]
    if name in FUNCTIONS:
        function = name if name in LIBRARY else f"llvm.{name}.f64"
        return w.new(f"call double @{function}({', '.join(f'double {g}' for g in given)})")
    of_reals = arguments[0].type is REAL
    if name in _COMPARED:
        comparison = "fcmp" if of_reals else "icmp"
        word = _COMPARED[name][not of_reals]
        return w.new(f"{comparison} {word} {_type(arguments[0].type)} {', '.join(given)}")
    if name in _ARITHMETIC:
        return w.new(f"f{name} double {', '.join(given)}" if of_reals else f"{name} nsw i64 {', '.join(given)}")
    if name in ("min", "max"):
        a, b = given
        beyond = w.new(f"{'fcmp o' if of_reals else 'icmp s'}{'lt' if name == 'min' else 'gt'} {_type(kind)} {b}, {a}")
        return w.new(f"select i1 {beyond}, {_type(kind)} {b}, {_type(kind)} {a}")
    if name in ("floordiv", "mod"):
        return _rounded_down(w, name, *given)
    return w.new(
        {
            "neg": f"fneg double {given[0]}" if of_reals else f"sub nsw i64 0, {given[0]}",
            "not": f"xor i1 {given[0]}, true",
            "real": f"sitofp i64 {given[0]} to double",
        }[name]
    )


def _rounded_down(w: _Writer, name: str, a: str, b: str) -> str:
    """Quotient or remainder of integers as Python has them; the processor rounds to zero."""
    rest = w.new(f"srem i64 {a}, {b}")
    mixed = w.new(f"icmp slt i64 {w.new(f'xor i64 {rest}, {b}')}, 0")
    below = w.new(f"and i1 {w.new(f'icmp ne i64 {rest}, 0')}, {mixed}")
    if name == "mod":
        return w.new(f"add i64 {rest}, {w.new(f'select i1 {below}, i64 {b}, i64 0')}")
    return w.new(f"sub i64 {w.new(f'sdiv i64 {a}, {b}')}, {w.new(f'zext i1 {below} to i64')}")
