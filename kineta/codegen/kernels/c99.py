"""The back end ``c``: kernels as a unit of C99. With ``-ffp-contract=off`` it gives the bits of the others."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from hashlib import sha256

from kineta.codegen.kernels import tree
from kineta.memory import BOOLEAN, INTEGER, INTEGERS, NOTHING, REAL, REALS, FunctionType, MemoryType, RecordType

_NAMES = {
    REAL: "double",
    INTEGER: "int64_t",
    BOOLEAN: "bool",
    NOTHING: "void",
    REALS: "double *",
    INTEGERS: "int64_t *",
}
_INCLUDED = """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
"""
_HELPERS = """\
static inline int64_t floordiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && ((a % b) ^ b) < 0); }
static inline int64_t mod(int64_t a, int64_t b) { return a - b * floordiv(a, b); }
static inline int64_t min_integer(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t max_integer(int64_t a, int64_t b) { return b > a ? b : a; }
static inline double min_real(double a, double b) { return b < a ? b : a; }
static inline double max_real(double a, double b) { return b > a ? b : a; }
"""


def source(roots: Sequence[tree.KernelTree], *, public: bool = True) -> str:
    """A unit of C with the *roots* as functions that are *public*, or those of a unit in which it is included."""
    kernels = tree.callees_first(roots)
    text = [f"struct {name};\n" for name in _records_in_signatures(kernels)]
    for kind in tree.records(kernels):
        # Every field takes eight bytes: a truth value is stored as an integer.
        fields = "".join(f"    {_declared(INTEGER if f is BOOLEAN else f, n)};\n" for n, f in kind.fields.items())
        text.append(f"typedef struct {kind.name} {{\n{fields}}} {kind.name};\n")
    for row in tree.rows(kernels):
        entries = ",\n    ".join(map(number, row))
        text.append(f"static const double {_name(row)}[] = {{\n    {entries}}};\n")
    for kernel in kernels:
        arguments = ", ".join(_declared(t, n) for n, t in kernel.parameters.items()) or "void"
        head = f"{'' if public and kernel in roots else 'static '}{_declared(kernel.result, f'{kernel.name}({arguments})')}"
        # Initialised, since compilers do not see that every variable has a value where it is read.
        variables = [f"    {_declared(t, n)} = 0;\n" for n, t in kernel.variables.items()]
        read = {
            x.name
            for s in tree.statements(kernel.body)
            for v in tree.values(s)
            for x in tree.parts(v)
            if isinstance(x, tree.Variable)
        }
        unused = [f"    (void){n};\n" for n in (*kernel.parameters, *kernel.variables) if n not in read]
        title = f"/* {kernel.title.replace('*/', '* /')} */\n" if kernel.title else ""
        body = "".join(_lines(kernel.body, 1))
        text.append(f"{title}{head} {{\n{''.join([*variables, *unused])}{body}}}\n")
    unit = "\n".join(text)
    return "\n".join([_INCLUDED, *_helpers(unit), unit])


def _name(row: Sequence[float]) -> str:
    """The name of a constant array."""
    return f"row_{sha256(struct.pack(f'<{len(row)}d', *row)).hexdigest()[:16]}"


def _helpers(unit: str) -> list[str]:
    """The functions beside those of C that a *unit* calls, in their order."""
    found: list[str] = []
    for line in reversed(_HELPERS.splitlines()):
        name = line.partition("(")[0].rpartition(" ")[2]
        if any(f"{name}(" in text for text in (unit, *found)):
            found.insert(0, line)
    return found


def _records_in_signatures(kernels: Sequence[tree.KernelTree]) -> list[str]:
    """The names of records in the parameters of *kernels*, and of functions in records: a parameter does not declare them."""
    used = tree.records(kernels)
    given = [t for k in kernels for t in (*k.parameters.values(), *k.variables.values())]
    functions = [
        t for t in (*given, *(f for kind in used for f in kind.fields.values())) if isinstance(t, FunctionType)
    ]
    named = (*(t for t in given if t not in used), *(t for f in functions for t in f.parameters))
    return sorted({t.name for t in named if isinstance(t, RecordType)})


def _declared(kind: MemoryType, name: str) -> str:
    """The declaration of a *name*."""
    if isinstance(kind, FunctionType):
        parameters = ", ".join(_declared(p, "") for p in kind.parameters)
        return f"{_declared(kind.result, '')} (*{name})({parameters})"
    if isinstance(kind, RecordType):
        return f"struct {kind.name} *{name}"
    return f"{_NAMES[kind]} {name}".replace("* ", "*").strip()


def _lines(body: Sequence[tree.Statement], depth: int) -> list[str]:
    return [line for s in body for line in _statement(s, depth)]


def _statement(s: tree.Statement, depth: int) -> list[str]:
    """The lines of a statement."""
    pad = "    " * depth
    match s:
        case tree.SetVariable(name, value):
            return [f"{pad}{name} = {_value(value)};\n"]
        case tree.SetEntry(array, index, value):
            return [f"{pad}{_value(array)}[{_index(index)}] = {_value(value)};\n"]
        case tree.SetField(record, name, value):
            return [f"{pad}{_value(record)}->{name} = {_value(value)};\n"]
        case tree.Evaluate(call):
            return [f"{pad}{_value(call)};\n"]
        case tree.Jump(word):
            return [f"{pad}{word};\n"]
        case tree.Leave(value):
            return [f"{pad}return{'' if value is None else ' ' + _value(value)};\n"]
        case tree.Conditional(test, yes, no):
            other = [f"{pad}}} else {{\n", *_lines(no, depth + 1)] if no else []
            return [f"{pad}if ({_value(test)}) {{\n", *_lines(yes, depth + 1), *other, f"{pad}}}\n"]
        case tree.WhileLoop(test, inner):
            return [f"{pad}while ({_value(test)}) {{\n", *_lines(inner, depth + 1), f"{pad}}}\n"]
        case tree.CountingLoop(n, start, stop, inner):
            head = f"for ({n} = {_value(start)}; {n} < {_value(stop)}; {n}++)"
            return [f"{pad}{head} {{\n", *_lines(inner, depth + 1), f"{pad}}}\n"]


def _value(x: tree.Expression) -> str:
    """An expression in parentheses where it needs them."""
    match x:
        case tree.Constant(_, value):
            return number(value)
        case tree.ConstantArray(_, entries):
            return f"((double *){_name(entries)})"
        case tree.Variable(_, name):
            return name
        case tree.FieldValue(kind, record, name):
            return f"({_value(record)}->{name} != 0)" if kind is BOOLEAN else f"{_value(record)}->{name}"
        case tree.Entry(_, array, index):
            return f"{_value(array)}[{_index(index)}]"
        case tree.View(_, array, start):
            return f"({_value(array)} + {_index(start)})"
        case tree.Choice(_, test, yes, no):
            return f"({_value(test)} ? {_value(yes)} : {_value(no)})"
        case tree.KernelCall(_, kernel, arguments):
            return f"{kernel.name}({', '.join(map(_value, arguments))})"
        case tree.AddressCall(_, function, arguments):
            return f"{_value(function)}({', '.join(map(_value, arguments))})"
        case tree.Operation(kind, name, arguments):
            given = [_value(a) for a in arguments]
            if name == "take":
                return f"(*{given[0]})++"
            if tree.BINARY.get(name):
                return f"({given[0]} {tree.BINARY[name]} {given[1]})"
            if name in tree.UNARY:
                return f"({tree.UNARY[name]}{given[0]})"
            ending = "" if name not in ("min", "max") else "_real" if kind is REAL else "_integer"
            return f"{name}{ending}({', '.join(given)})"


def _index(x: tree.Expression) -> str:
    return str(x.value) if isinstance(x, tree.Constant) else _value(x)


def number(value: float | int | bool) -> str:
    """A number of C."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"INT64_C({value})"
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else f"({'-' if value < 0 else ''}INFINITY)"
    return repr(value) if value >= 0 and math.copysign(1.0, value) > 0 else f"({value!r})"
