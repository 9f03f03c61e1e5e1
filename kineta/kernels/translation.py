"""The translator: from the source of a kernel, with values of its static parameters, to a typed tree.

Errors are sentences with file, line and column.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from threading import RLock
from typing import Any

from kineta.codegen.kernels.tree import (
    AddressCall,
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
    SetEntry,
    SetField,
    SetVariable,
    Statement,
    WhileLoop,
    is_pure,
    statements,
    values,
)
from kineta.errors import Location
from kineta.kernels.expressions import binary, expression, value
from kineta.kernels.language import Kernel, KernelError, static_text
from kineta.kernels.scope import KernelScope, Known, expect, kept, number_of
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, MemoryType, memory_type
from kineta.threads import hold_forks

#: Held while a syntax tree is made: threads that make them at the same time may raise SystemError (CPython issue 106905).
_PARSING = RLock()
hold_forks(_PARSING)

#: What ends a block: nothing, a statement that control does not pass, or one that was chosen in translation.
_OPEN, _LEFT, _CHOSEN = range(3)


def translate(kernel: Callable[..., Any], *static: Hashable) -> KernelTree:
    """The tree of a *kernel* for the values of its *static* parameters. Raises :class:`KernelError`."""
    (tree,) = translate_unit((kernel, *static))
    return tree


def translate_unit(*kernels: tuple[Any, ...]) -> list[KernelTree]:
    """The trees of several *kernels*, each with its static values, that share the kernels that they call."""
    unit = _Unit()
    found = [unit.function(kernel, tuple(static)) for kernel, *static in kernels]
    return [tree for tree in found if tree is not None]


def _definitions(block: ast.AST) -> Iterator[tuple[int, ast.FunctionDef]]:
    """The functions of a *block*, each with the line of its first decorator."""
    for part in (*getattr(block, "body", ()), *getattr(block, "orelse", ())):
        if isinstance(part, ast.FunctionDef):
            yield min([part.lineno, *(x.lineno for x in part.decorator_list)]), part
        yield from _definitions(part)


class _Unit:
    """Kernels that are translated together: each once for equal static values, under names of their own."""

    def __init__(self) -> None:
        self.functions: dict[tuple[Kernel, str], KernelTree | None] = {}
        self.sources: dict[Kernel, tuple[ast.FunctionDef, str, dict[str, MemoryType | None], MemoryType]] = {}
        self.files: dict[str, tuple[list[str], dict[int, ast.FunctionDef]]] = {}
        self.names: set[str] = set()
        self.texts: dict[int, tuple[Any, str]] = {}

    def signature(self, kernel: Kernel) -> tuple[dict[str, MemoryType | None], MemoryType]:
        """Types of the parameters of a *kernel*, None for static ones, and of its result."""
        return self.source(kernel)[2:]

    def source(self, kernel: Kernel) -> tuple[ast.FunctionDef, str, dict[str, MemoryType | None], MemoryType]:
        """The syntax tree of a *kernel*, the name of its file, and its signature."""
        if kernel not in self.sources:
            lines, _ = inspect.findsource(kernel.function)
            file = inspect.getsourcefile(kernel.function) or "?"
            if (known := self.files.get(file)) is None or known[0] is not lines:
                with _PARSING:
                    known = self.files[file] = lines, dict(_definitions(ast.parse("".join(lines))))
            tree = known[1][kernel.function.__code__.co_firstlineno]
            hints = kernel.hints
            for a in tree.args.args:
                if a.arg not in hints:
                    text = (
                        f"Kernel '{kernel.__name__}': expected a type of parameter '{a.arg}', found none. Annotate it."
                    )
                    raise KernelError(text, Location(file, a.lineno, a.col_offset + 1))
            types = {a.arg: memory_type(hints[a.arg]) for a in tree.args.args}
            self.sources[kernel] = tree, file, types, memory_type(hints.get("return")) or NOTHING
        return self.sources[kernel]

    def function(self, kernel: Kernel, static: tuple[Hashable, ...]) -> KernelTree | None:
        """The tree of a *kernel*; None while it is being made."""
        key = kernel, ", ".join(map(self._text, static))
        if key not in self.functions:
            self.functions[key] = None
            numbered = (f"kernel_{kernel.__name__}{f'_{k}' if k else ''}" for k in range(len(self.names) + 1))
            name = next(n for n in numbered if n not in self.names)
            self.names.add(name)
            self.functions[key] = self._translated(kernel, static, name)
        return self.functions[key]

    def _text(self, static: Any) -> str:
        """The text of a *static* value, made once for each object, which is kept: that of a tableau is long."""
        if id(static) not in self.texts:
            self.texts[id(static)] = static, static_text(static)
        return self.texts[id(static)][1]

    def _translated(self, kernel: Kernel, static: tuple[Hashable, ...], name: str) -> KernelTree:
        tree, file, types, result = self.source(kernel)
        known = [n for n, t in types.items() if t is None]
        if len(known) != len(static):
            raise KernelError(
                f"Kernel '{kernel.__name__}' has {len(known)} static parameters, found {len(static)} values. Give a value for"
                f" each of: {', '.join(known)}.",
                Location(file, tree.lineno, tree.col_offset + 1),
            )
        scope = KernelScope(kernel, file, tree, self, {n: Known(v) for n, v in zip(known, static, strict=True)}, result)
        parameters = {n: t for n, t in types.items() if t is not None}
        for n, t in parameters.items():
            scope.declare(n, t, tree)
        body, end = _block(scope, tree.body)
        if end == _OPEN and result is not NOTHING:
            raise scope.error(tree, f"expected {result} as its result, but its end can be reached. Add a 'return'.")
        own = {n: t for n, t in scope.types.items() if n not in parameters}
        title = (kernel.__doc__ or "").strip().partition("\n")[0]
        pure = not any(isinstance(s, SetEntry | SetField) or not all(map(is_pure, values(s))) for s in statements(body))
        return KernelTree(name, title, parameters, result, own, body, pure)


def _block(scope: KernelScope, body: Sequence[ast.stmt]) -> tuple[list[Statement], int]:
    """The statements of a block, and what ends it."""
    before, scope.statements = scope.statements, []
    end = _OPEN
    for s in body:
        if end == _CHOSEN:
            break
        if end == _LEFT:
            raise scope.error(s, "this statement is never reached. Remove it.")
        rule = _RULES.get(type(s))
        if rule is None:
            word = type(s).__name__.lower()
            raise scope.error(
                s, f"'{word}' is no statement of kernels. Use assignments, if, while, for, return and calls."
            )
        end = rule(scope, s)
    found, scope.statements = scope.statements, before
    return found, end


# -- assignments and calls ------------------------------------------------------------------------------------------


def _effect(scope: KernelScope, s: ast.Expr) -> int:
    if isinstance(s.value, ast.Constant):  # a docstring
        return _OPEN
    x = expression(scope, s.value)
    if not isinstance(x, KernelCall | AddressCall):
        raise scope.error(s, "the value of this expression is not used. Assign it, or remove it.")
    scope.put(Evaluate(x), s)
    return _OPEN


def _nothing(scope: KernelScope, s: ast.Pass) -> int:
    return _OPEN


def _assignment(scope: KernelScope, s: ast.Assign) -> int:
    if len(s.targets) != 1:
        raise scope.error(s, "expected one target of an assignment, found several. Write one line for each.")
    target = s.targets[0]
    if not isinstance(target, ast.Tuple):
        _assign(scope, target, value(scope, s.value))
        return _OPEN
    given = s.value.elts if isinstance(s.value, ast.Tuple) else [s.value]
    if len(given) != len(target.elts):
        n = len(target.elts)
        raise scope.error(s, f"expected {n} values for {n} targets, found {len(given)}. Write them side by side.")
    values = [kept(scope, value(scope, v), v) for v in given]
    for t, v in zip(target.elts, values, strict=True):
        _assign(scope, t, v)
    return _OPEN


def _annotated(scope: KernelScope, s: ast.AnnAssign) -> int:
    if s.value is None:
        raise scope.error(s, "expected a value of this variable, found none. Give it one.")
    _assign(scope, s.target, value(scope, s.value))
    return _OPEN


def _augmented(scope: KernelScope, s: ast.AugAssign) -> int:
    before = expression(scope, s.target, changed=True)
    if isinstance(before, Entry):
        before = Entry(before.type, before.array, kept(scope, before.index, s))
    after = number_of(scope, binary(scope, s.op, before, expression(scope, s.value), s), s)
    if isinstance(before, Entry):
        expect(scope, after, before.type, s.value)
        scope.put(SetEntry(before.array, before.index, after), s)
    else:
        _assign(scope, s.target, after)
    return _OPEN


def _assign(scope: KernelScope, target: ast.expr, given: Expression) -> None:
    match target:
        case ast.Name(id=name):
            scope.declare(name, given.type, target)
            scope.put(SetVariable(name, given), target)
        case ast.Subscript():
            place = expression(scope, target, changed=True)
            if not isinstance(place, Entry):
                raise scope.error(
                    target, "expected an entry, found a view, which cannot be replaced. Copy entries in a loop."
                )
            expect(scope, given, place.type, target)
            scope.put(SetEntry(place.array, place.index, _first(scope, given, target)), target)
        case ast.Attribute(attr=name):
            field = expression(scope, target, changed=True)
            if not isinstance(field, FieldValue):
                raise scope.error(target, "a value known in translation cannot be changed. Use a record.")
            if field.type not in (REAL, INTEGER, BOOLEAN):
                text = f"field '{name}' is {field.type} and cannot be replaced. Set its entries or fields instead."
                raise scope.error(target, text)
            expect(scope, given, field.type, target)
            scope.put(SetField(field.record, name, _first(scope, given, target)), target)
        case _:
            raise scope.error(
                target, "expected a variable, an entry or a field, found another target. Write one of these."
            )


def _first(scope: KernelScope, given: Expression, at: ast.AST) -> Expression:
    """*given*, evaluated before the place that it is for is found."""
    return given if is_pure(given) else kept(scope, given, at)


# -- flow of control ------------------------------------------------------------------------------------------------


def _return(scope: KernelScope, s: ast.Return) -> int:
    if s.value is None or (isinstance(s.value, ast.Constant) and s.value.value is None):
        if scope.result is not NOTHING:
            raise scope.error(s, f"expected {scope.result} as its result, found nothing. Give 'return' a value.")
        scope.put(Leave(None), s)
    else:
        scope.put(Leave(expect(scope, value(scope, s.value), scope.result, s)), s)
    return _LEFT


def _if(scope: KernelScope, s: ast.If) -> int:
    test = expression(scope, s.test)
    if isinstance(test, Known):
        chosen, end = _block(scope, s.body if test.value else s.orelse)
        scope.statements += chosen
        return _CHOSEN if end else _OPEN
    expect(scope, test, BOOLEAN, s.test)
    before = set(scope.given)
    yes, yes_end = _block(scope, s.body)
    after_yes, scope.given = scope.given, before
    no, no_end = _block(scope, s.orelse)
    if no_end:
        scope.given = after_yes
    elif not yes_end:
        scope.given &= after_yes
    scope.put(Conditional(test, yes, no), s)
    return _LEFT if yes_end and no_end else _OPEN


def _while(scope: KernelScope, s: ast.While) -> int:
    _no_else(scope, s)
    test = number_of(scope, expression(scope, s.test), s.test)
    expect(scope, test, BOOLEAN, s.test)
    scope.put(WhileLoop(test, _body(scope, s.body, "while")), s)
    endless = isinstance(test, Constant) and test.value
    return _LEFT if endless and not any(isinstance(x, ast.Break) for x in ast.walk(s)) else _OPEN


def _body(scope: KernelScope, body: Sequence[ast.stmt], word: str) -> list[Statement]:
    """The body of a loop; names that it sets have no value behind it."""
    before = set(scope.given)
    scope.loops.append(word)
    found, _ = _block(scope, body)
    scope.loops.pop()
    scope.given = before
    return found


def _no_else(scope: KernelScope, s: ast.While | ast.For) -> None:
    if s.orelse:
        raise scope.error(
            s.orelse[0], "'else' of a loop is no statement of kernels. Set a variable in the loop instead."
        )


def _for(scope: KernelScope, s: ast.For) -> int:
    _no_else(scope, s)
    match s.iter:
        case ast.Call(func=ast.Name(id="range"), args=bounds, keywords=[]):
            if not isinstance(s.target, ast.Name) or len(bounds) > 2:
                raise scope.error(
                    s, "expected 'for name in range(start, stop)', found a step or several names. Use 'while'."
                )
            ends = [kept(scope, expect(scope, value(scope, b), INTEGER, b), b) for b in bounds]
            start = ends[0] if len(ends) == 2 else Constant(INTEGER, 0)
            before, name = set(scope.given), s.target.id
            scope.declare(name, INTEGER, s.target)
            scope.counters.add(name)
            scope.put(CountingLoop(name, start, ends[-1], _body(scope, s.body, "for")), s)
            scope.counters.discard(name)
            scope.given = before
        case _:
            sequence = expression(scope, s.iter)
            if not isinstance(sequence, Known):
                text = f"expected 'range(...)' or a static sequence, found {sequence.type}. Count its entries with 'range'."
                raise scope.error(s.iter, text)
            for element in sequence.value:
                _bind(scope, s.target, element)
                scope.loops.append("unrolled")
                found, end = _block(scope, s.body)
                scope.loops.pop()
                scope.statements += found
                if end:  # what follows is not reached for these static values
                    return _CHOSEN
    return _OPEN


def _bind(scope: KernelScope, target: ast.expr, element: Any) -> None:
    """Name the *element* of a static sequence, or its parts."""
    match target:
        case ast.Tuple(elts=targets):
            for t, part in zip(targets, element, strict=True):
                _bind(scope, t, part)
        case ast.Name(id=name) if name not in scope.types:
            scope.static[name] = Known(element)
        case _:
            raise scope.error(target, "expected a name that is no variable, found another one. Use another name.")


def _jump(scope: KernelScope, s: ast.Break | ast.Continue) -> int:
    word = type(s).__name__.lower()
    if not scope.loops or scope.loops[-1] == "unrolled":
        raise scope.error(
            s, f"'{word}' stands in no loop that runs: a loop over a static sequence is unrolled. Use 'range'."
        )
    scope.put(Jump(word), s)
    return _LEFT


_RULES: dict[type[ast.stmt], Callable[[KernelScope, Any], int]] = {
    ast.Expr: _effect,
    ast.Pass: _nothing,
    ast.Assign: _assignment,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _jump,
    ast.Continue: _jump,
}
