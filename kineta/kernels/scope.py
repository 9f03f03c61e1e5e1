"""The state of the translation of one kernel: names with their types, static values, statements so far."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any, Protocol

from kineta.codegen.kernels.tree import (
    Constant,
    Expression,
    KernelTree,
    SetVariable,
    Statement,
    Variable,
    is_pure,
    operands,
    values,
)
from kineta.errors import Location
from kineta.kernels.language import Kernel, KernelError
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, MemoryType
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A value known in translation."""

    value: Any


class Callees(Protocol):
    """The kernels that are translated together."""

    def signature(self, kernel: Kernel) -> tuple[dict[str, MemoryType | None], MemoryType]:
        """Types of the parameters, None for static ones, and of the result."""

    def function(self, kernel: Kernel, static: tuple[Hashable, ...]) -> KernelTree | None:
        """The tree for static values; None while it is being made."""


@dataclass(slots=True)
class KernelScope:
    """The state of the translation of one kernel.

    static : values by name; types, lines : of parameters and variables; given : those that have a value on every way to here
    statements : of the present block; loops : words of the loops around it, "unrolled" for those over static sequences
    counters : of the loops around it; written : all names in its source
    """

    kernel: Kernel
    file: str
    tree: ast.FunctionDef
    callees: Callees
    static: dict[str, Known]
    result: MemoryType
    types: dict[str, MemoryType] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    statements: list[Statement] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    counters: set[str] = field(default_factory=set)
    written: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        code = self.kernel.function.__code__
        self.written = frozenset([*code.co_varnames, *code.co_names, *code.co_cellvars, *code.co_freevars])

    def error(self, at: ast.AST, text: str) -> KernelError:
        """The error of the sentence *text* at a place."""
        line, column = getattr(at, "lineno", 0), getattr(at, "col_offset", 0)
        return KernelError(f"Kernel '{self.kernel.__name__}': {text}", Location(self.file, line, column + 1))

    def declare(self, name: str, kind: MemoryType, at: ast.AST) -> None:
        """Give the variable *name* a value of a type, its only one."""
        if name in self.counters:
            raise self.error(at, f"'{name}' counts a loop and cannot be set in it. Use another name, or 'while'.")
        if name in self.static:
            raise self.error(at, f"'{name}' is a static value and cannot be set. Use another name.")
        before = self.types.setdefault(name, kind)
        if before != kind:
            advice = "Begin with a real number as 0.0" if (before, kind) == (INTEGER, REAL) else "Use another name"
            if (before, kind) == (REAL, INTEGER):
                advice = "Write 'float(...)', or a number with a point"
            raise self.error(
                at, f"'{name}' is {before} since line {self.lines[name]} and cannot become {kind}. {advice}."
            )
        self.lines.setdefault(name, getattr(at, "lineno", 0))
        self.given.add(name)

    def put(self, statement: Statement, at: ast.AST) -> None:
        """Append a statement. A call in it that changes memory has to be the whole of a value."""
        if not all(is_pure(part) for whole in values(statement) for part in operands(whole)):
            raise self.error(
                at, "a call that changes memory stands within an expression. Give its result a name before."
            )
        self.statements.append(statement)

    def outer(self) -> tuple[Mapping[str, Any], ...]:
        """The names of functions around the kernel, those of the module, and Python's own; the first has precedence."""
        function = self.kernel.function
        around = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
        return around, function.__globals__, vars(builtins)


Found = Known | Expression


def number_of(scope: KernelScope, found: Found, at: ast.AST) -> Expression:
    """The tree of what was *found*, a static number included."""
    if isinstance(found, Known):
        for python, kind in ((bool, BOOLEAN), (int, INTEGER), (float, REAL)):
            if isinstance(found.value, python):
                return Constant(kind, python(found.value))
        word = type(found.value).__name__
        raise scope.error(at, f"expected a number, found a static value of type '{word}', which is in no memory.")
    if found.type is NOTHING:
        raise scope.error(at, "expected a value, found a call that returns nothing. Write it in a line of its own.")
    return found


def expect(scope: KernelScope, found: Expression, kind: MemoryType, at: ast.AST) -> Expression:
    """*found*, checked to have a type."""
    if found.type != kind:
        advice = " Write 'float(...)'." if (kind, found.type) == (REAL, INTEGER) else ""
        raise scope.error(at, f"expected {kind}, found {found.type}.{advice}")
    return found


def kept(scope: KernelScope, found: Expression, at: ast.AST) -> Expression:
    """*found* as an expression that may stand twice: evaluated once, before this statement."""
    if isinstance(found, Constant):
        return found
    names = (f"kept_{k}" for k in range(len(scope.types) + 1))
    name = next(n for n in names if n not in scope.types and n not in scope.written)
    scope.types[name] = found.type
    scope.put(SetVariable(name, found), at)
    return Variable(found.type, name)
