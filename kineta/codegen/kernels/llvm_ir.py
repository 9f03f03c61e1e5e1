"""The back end ``llvm``: kernels as LLVM IR, for one motion or for one in each lane of a vector.

Nothing is reordered, and nothing fused but what says ``fma``: every lane has the bits of one motion.

In lanes a number is varying, a vector, or uniform, as :mod:`~kineta.codegen.kernels.divergence` finds; for one motion all are
uniform. Statements behind a varying test are executed under a mask, and not at all if it is empty. Memory of lanes is
interleaved: number i of all side by side. A compiled function gets addresses of the memory of lanes, and their mask as bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from kineta.codegen.kernels import tree
from kineta.codegen.kernels.divergence import OWN, UNIFORM, VARYING, Divergence, LaneShape
from kineta.codegen.kernels.llvm_expressions import operand
from kineta.codegen.kernels.llvm_memory import METADATA, field_place, keep, load, put, put_entry
from kineta.codegen.kernels.llvm_vectors import vector_function
from kineta.codegen.kernels.llvm_writer import (
    LoopLabels,
    Module,
    Value,
    Writer,
    assign,
    both,
    fit,
    is_any,
    leave,
    mask_of,
    set_mask,
    type_text,
    under_mask,
    without,
)
from kineta.memory import BOOLEAN, INTEGER, NOTHING, MemoryType, RecordType, ScalarType

#: Lines of a function, as it is written, up to which it is inlined: wherever it is called, and where it is called once.
SHORT, ONCE = 40, 300


def source(roots: Sequence[tree.KernelTree], width: int = 1, direct: Mapping[str, str] | None = None) -> str:
    """A module with the *roots* as public functions; for more lanes than one they take addresses of numbers and arrays of all
    lanes, of records, and of the results of all lanes. *direct* as in :class:`~kineta.codegen.kernels.llvm_writer.Module`.
    """
    module = Module(width, direct)
    entries = [_entry_point(module, kernel) for kernel in roots] if width > 1 else []
    for kernel in roots if width == 1 else ():
        module.names[kernel, (UNIFORM,) * len(kernel.parameters)] = kernel.name
    functions: dict[str, str] = {}
    while len(functions) < len(module.names):  # those that they call are named as they are written
        (kernel, given), name = [*module.names.items()][len(functions)]
        whole = vector_function(kernel, name) if width == 1 and name != kernel.name else None
        functions[name] = whole or _function(module, module.divergence(kernel, given), name)
    inlined = [_inlined(text, module.calls[name]) for name, text in functions.items()]
    return "".join([*module.declared, *inlined, *entries, METADATA])


def _inlined(function: str, calls: int) -> str:
    """A *function* that is called so often, marked to be inlined if it is short enough."""
    if not function.startswith("define internal") or function.count("\n") > (ONCE if calls == 1 else SHORT):
        return function
    return function.replace(") nounwind {", ") nounwind alwaysinline {", 1)


def _entry_point(module: Module, kernel: tree.KernelTree) -> str:
    """The function for the host."""
    given = tuple(_root_shape(t) for t in kernel.parameters.values())
    d = module.divergence(kernel, given)
    w = Writer(module, d)
    arguments = []
    for k, (kind, s) in enumerate(zip(kernel.parameters.values(), given, strict=True)):
        value = load(w, kind, f"%in.{k}", s) if isinstance(kind, ScalarType) else Value(f"%in.{k}", kind, s)
        arguments.append(f"{type_text(w, kind, s)} {value.text}")
    arguments.append(f"{w.vector('i1')} splat (i1 true)")
    call = f"call {type_text(w, kernel.result, d.result)} @{module.function(kernel, given)}({', '.join(arguments)})"
    if kernel.result is NOTHING:
        w.put(call)
    else:
        keep(w, fit(w, Value(w.new(call), kernel.result, d.result), VARYING), "%out")
    parameters = ", ".join([*(f"ptr %in.{k}" for k in range(len(given))), "ptr %out"])
    return f"define void @{kernel.name}({parameters}) nounwind {{\nstart:\n{''.join(w.lines)}  ret void\n}}\n"


def _root_shape(kind: MemoryType) -> LaneShape:
    if isinstance(kind, RecordType):
        return LaneShape(own=not kind.common)
    return VARYING if isinstance(kind, ScalarType) else OWN


def _function(module: Module, d: Divergence, name: str) -> str:
    w, kernel = Writer(module, d), d.kernel
    M, lanes, linkage = w.vector("i1"), module.width > 1, "" if name == kernel.name else "internal "
    for n, t in (kernel.parameters | kernel.variables).items():
        w.places.append(f"  %{n} = alloca {type_text(w, t, d.shapes[n])}\n")
    w.places += [f"  %{n} = alloca {M}\n" for n in (".live", ".returned") if lanes]
    result = type_text(w, kernel.result, d.result)
    if kernel.result is not NOTHING:
        w.places.append(f"  %.result = alloca {result}\n")
    for (n, t), s in zip(kernel.parameters.items(), d.given, strict=True):
        given = fit(w, Value(f"%{n}.in", t, s), d.shapes[n])
        w.put(f"store {type_text(w, t, d.shapes[n])} {given.text}, ptr %{n}")
    if lanes:
        w.put(f"store {M} %.mask, ptr %.live")
        w.put(f"store {M} zeroinitializer, ptr %.returned")
    if not _block(w, kernel.body):
        w.put("br label %.exit")
    w.begin(".exit")
    w.put("ret void" if kernel.result is NOTHING else f"ret {result} {w.new(f'load {result}, ptr %.result')}")
    parameters = [f"{type_text(w, t, s)} %{n}.in" for (n, t), s in zip(kernel.parameters.items(), d.given, strict=True)]
    parameters += [f"{M} %.mask"] * lanes
    head = f"define {linkage}{result} @{name}({', '.join(parameters)}) nounwind {{\n.entry:\n"
    return "".join([head, *w.places, "  br label %.start\n.start:\n", *w.lines, "}\n"])


# -- statements -----------------------------------------------------------------------------------------------------


def _block(w: Writer, body: Sequence[tree.Statement]) -> bool:
    """Whether control never passes the end of *body*."""
    for k, s in enumerate(body, 1):
        if _statement(w, s):
            return True
        if id(s) in w.divergence.partial and k < len(body):
            under_mask(w, mask_of(w), partial(_block, w, body[k:]))
            return False
    return False


def _statement(w: Writer, s: tree.Statement) -> bool:
    """Whether control never passes the end of *s*."""
    match s:
        case tree.SetVariable(name, value):
            assign(w, f"%{name}", fit(w, operand(w, value), w.divergence.shapes[name]), name in w.divergence.blended)
        case tree.SetEntry(array, index, value):
            given = operand(w, value)
            put_entry(w, operand(w, array), operand(w, index), given)
        case tree.SetField(record, name, value):
            given, base = operand(w, value), operand(w, record)
            place, found = field_place(w, base, value.type, name)
            put(w, place, found.varying, given, name)
        case tree.Evaluate(call):
            operand(w, call)
        case tree.Leave(value):
            if value is not None:
                given = fit(w, operand(w, value), w.divergence.result)
                assign(w, "%.result", given, bool(w.regions) and w.divergence.result.varying)
            if not w.regions:
                w.put("br label %.exit")
            else:
                leave(w, "%.returned")
        case tree.Jump(word):
            loop = w.loops[-1]
            if len(w.regions) == loop.regions:
                w.put(f"br label %{loop.end if word == 'break' else loop.following}")
            else:
                leave(w, loop.left[word])
        case tree.Conditional():
            return _conditional(w, s)
        case tree.WhileLoop(test, inner):
            _loop(w, s, lambda: operand(w, test), inner, lambda: None)
        case tree.CountingLoop():
            _counting_loop(w, s)
    return isinstance(s, tree.Leave | tree.Jump)


def _conditional(w: Writer, s: tree.Conditional) -> bool:
    test = operand(w, s.test)
    if test.shape.varying:
        old, M = mask_of(w), w.vector("i1")
        under_mask(w, both(w, old, test.text), lambda: _block(w, s.yes))
        if s.no:
            other = w.new(f"xor {M} {test.text}, splat (i1 true)")
            under_mask(w, both(w, old, other), lambda: _block(w, s.no))
        gone = [*(w.loops[-1].left.values() if w.loops else ()), "%.returned"] if id(s) in w.divergence.partial else []
        set_mask(w, without(w, old, *gone))
        return False
    holds, fails, end = w.labels("if", "else", "end")
    w.put(f"br i1 {test.text}, label %{holds}, label %{fails}")
    left = []
    for label, body in ((holds, s.yes), (fails, s.no)):
        w.begin(label)
        left.append(_block(w, body))
        if not left[-1]:
            w.put(f"br label %{end}")
    if not all(left):
        w.begin(end)
    return all(left)


def _counting_loop(w: Writer, s: tree.CountingLoop) -> None:
    found = w.divergence.shapes[s.counter]
    kind = type_text(w, INTEGER, found)
    start, stop = (fit(w, operand(w, x), found) for x in (s.start, s.stop))
    one = fit(w, Value("1", INTEGER, UNIFORM), found)
    w.put(f"store {kind} {start.text}, ptr %{s.counter}")

    def counted() -> str:
        return w.new(f"load {kind}, ptr %{s.counter}")

    def goes_on() -> Value:
        return Value(w.new(f"icmp slt {kind} {counted()}, {stop.text}"), BOOLEAN, found)

    def count() -> None:
        w.put(f"store {kind} {w.new(f'add nsw {kind} {counted()}, {one.text}')}, ptr %{s.counter}")

    _loop(w, s, goes_on, s.body, count)


def _loop(
    w: Writer, s: tree.Statement, test: Callable[[], Value], body: Sequence[tree.Statement], step: Callable[[], None]
) -> None:
    top, check, inner, following, end = w.labels("top", "check", "body", "next", "done")
    parted, M, old = id(s) in w.divergence.parting, w.vector("i1"), ""
    left: dict[str, str] = {}
    if parted:
        left = {word: w.place(M) for word in ("break", "continue")}
        for place in left.values():
            w.put(f"store {M} zeroinitializer, ptr {place}")
        old = mask_of(w)
        w.regions.append(end)
    w.put(f"br label %{top}")
    w.begin(top)
    if parted:
        w.put(f"br i1 {is_any(w, mask_of(w))}, label %{check}, label %{end}")
        w.begin(check)
    goes_on = test()
    chosen = goes_on.text
    if goes_on.shape.varying:
        mask = both(w, mask_of(w), goes_on.text)
        set_mask(w, mask)
        chosen = is_any(w, mask)
    w.put(f"br i1 {chosen}, label %{inner}, label %{end}")
    w.begin(inner)
    w.loops.append(LoopLabels(end, following, len(w.regions), left))
    ended = _block(w, body)
    w.loops.pop()
    if not ended:
        w.put(f"br label %{following}")
    w.begin(following)
    if parted:
        waiting = w.new(f"load {M}, ptr {left['continue']}")
        set_mask(w, w.new(f"or {M} {mask_of(w)}, {waiting}"))
        w.put(f"store {M} zeroinitializer, ptr {left['continue']}")
    step()
    w.put(f"br label %{top}")
    w.begin(end)
    if parted:
        w.regions.pop()
        set_mask(w, without(w, old, "%.returned"))
