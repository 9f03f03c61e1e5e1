"""Expressions of kernels as LLVM IR, of one motion or of each lane."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import sha256

from kineta.codegen.kernels import tree
from kineta.codegen.kernels.divergence import OWN, UNIFORM, VARYING, LaneShape
from kineta.codegen.kernels.llvm_memory import entry, field_place, load, one_address
from kineta.codegen.kernels.llvm_writer import (
    Value,
    Writer,
    addresses,
    alike,
    assign,
    both,
    fit,
    lane_error,
    mask_bits,
    mask_of,
    set_mask,
    type_text,
    under_mask,
)
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, MemoryType, ScalarType

#: Comparisons of reals and of integers. All but ``!=`` fail for what is not a number.
COMPARED = {
    "lt": ("olt", "slt"),
    "le": ("ole", "sle"),
    "gt": ("ogt", "sgt"),
    "ge": ("oge", "sge"),
    "eq": ("oeq", "eq"),
    "ne": ("une", "ne"),
}


def operand(w: Writer, x: tree.Expression) -> Value:
    """The operand of LLVM that holds *x*."""
    match x:
        case tree.Constant(kind, value):
            text = f"0x{struct.pack('>d', value).hex()}" if kind is REAL else str(value).lower()
            return Value(text, kind, UNIFORM)
        case tree.ConstantArray(kind, values):
            return Value(_array(w, values), kind, UNIFORM)
        case tree.Variable(kind, name):
            s = w.divergence.shapes[name]
            return Value(w.new(f"load {type_text(w, kind, s)}, ptr %{name}"), kind, s)
        case tree.FieldValue(kind, record, name):
            return load(w, kind, *field_place(w, operand(w, record), kind, name))
        case tree.Entry(kind, array, index):
            return entry(w, kind, operand(w, array), operand(w, index))
        case tree.View(kind, array, start):
            base, first = operand(w, array), operand(w, start)
            if base.shape.varying or first.shape.varying:
                return Value(addresses(w, base, first), kind, LaneShape(True, base.shape.own))
            return Value(one_address(w, base, first), kind, base.shape)
        case tree.Choice(kind, test, yes, no):
            return _choice(w, kind, test, yes, no)
        case tree.KernelCall(kind, kernel, arguments):
            return _kernel_call(w, kind, kernel, [operand(w, a) for a in arguments])
        case tree.AddressCall(kind, function, arguments) if w.module.direct is not None:
            name = function.name if isinstance(function, tree.FieldValue) else ""
            return _direct_call(w, kind, w.module.direct.get(name), [operand(w, a) for a in arguments])
        case tree.AddressCall(kind, function, arguments):
            return _address_call(w, kind, operand(w, function), [operand(w, a) for a in arguments])
        case tree.Operation(kind, "and" | "or" as name, (first, second)):
            known = tree.Constant(BOOLEAN, name == "or")
            return _choice(w, kind, first, *((second, known) if name == "and" else (known, second)))
        case tree.Operation(_, "take", (array,)):
            return _take(w, operand(w, array))
        case tree.Operation(kind, name, arguments):
            return _operation(w, kind, name, alike(w, [operand(w, a) for a in arguments]))


def _array(w: Writer, values: Sequence[float]) -> str:
    """The global constant that holds *values*."""
    content = struct.pack(f"<{len(values)}d", *values)
    name = f"@row.{sha256(content).hexdigest()[:24]}"
    entries = ", ".join(f"double 0x{struct.pack('>d', x).hex()}" for x in values)
    w.module.declared[f"{name} = internal constant [{len(values)} x double] [{entries}], align 8\n"] = None
    return name


def _kernel_call(w: Writer, kind: MemoryType, kernel: tree.KernelTree, given: Sequence[Value]) -> Value:
    shapes = tuple(v.shape for v in given)
    result = w.module.divergence(kernel, shapes).result
    arguments = [f"{type_text(w, v.type, v.shape)} {v.text}" for v in given]
    if w.module.width > 1:
        arguments.append(f"{w.vector('i1')} {mask_of(w)}")
    call = f"call {type_text(w, kind, result)} @{w.module.function(kernel, shapes)}({', '.join(arguments)})"
    return _called(w, kind, result, call)


def _address_call(w: Writer, kind: MemoryType, function: Value, given: Sequence[Value]) -> Value:
    arguments = [f"{type_text(w, v.type, v.shape)} {v.text}" for v in given]
    if w.module.width > 1:
        if kind is not NOTHING or any(v.shape != OWN for v in given):
            raise lane_error(
                w, "a compiled function takes arrays of each lane, which begin at one entry. Copy to such arrays."
            )
        arguments.append(f"i{w.module.width} {mask_bits(w, mask_of(w))}")
    return _called(w, kind, UNIFORM, f"call {type_text(w, kind, UNIFORM)} {function.text}({', '.join(arguments)})")


def _direct_call(w: Writer, kind: MemoryType, function: str | None, given: Sequence[Value]) -> Value:
    """A call of a *function* of the module; one that is not there is never called."""
    if function is None:
        w.module.declared["declare void @llvm.trap()\n"] = None
        function, given = "llvm.trap", ()
    return _called(w, kind, UNIFORM, f"call void @{function}({', '.join(f'ptr {v.text}' for v in given)})")


def _called(w: Writer, kind: MemoryType, s: LaneShape, call: str) -> Value:
    if kind is NOTHING:
        w.put(call)
        return Value("", kind, UNIFORM)
    return Value(w.new(call), kind, s)


def _choice(w: Writer, kind: MemoryType, test: tree.Expression, yes: tree.Expression, no: tree.Expression) -> Value:
    """*yes* or *no*; one that costs much or reads memory is evaluated by the lanes that need it."""
    chosen = operand(w, test)
    if tree.is_cheap(yes) and tree.is_cheap(no):
        values = alike(
            w, [operand(w, yes), operand(w, no), chosen] if chosen.shape.varying else [operand(w, yes), operand(w, no)]
        )
        return _selected(w, chosen, *values[:2])
    if chosen.shape.varying:
        return _choice_of_lanes(w, kind, chosen, yes, no)
    holds, fails, end = w.labels("yes", "no", "met")
    w.put(f"br i1 {chosen.text}, label %{holds}, label %{fails}")
    found: list[tuple[Value, str, list[str]]] = []
    for label, part in ((holds, yes), (fails, no)):
        before, w.lines = w.lines, []
        w.begin(label)
        value = operand(w, part)
        found.append((value, w.block, w.lines))
        w.lines = before
    s = found[0][0].shape.join(found[1][0].shape)
    met = []
    for value, block, lines in found:
        w.lines, w.block = [*w.lines, *lines], block
        met.append(f"[ {fit(w, value, s).text}, %{block} ]")
        w.put(f"br label %{end}")
    w.begin(end)
    return Value(w.new(f"phi {type_text(w, kind, s)} {', '.join(met)}"), kind, s)


def _selected(w: Writer, chosen: Value, yes: Value, no: Value) -> Value:
    no = fit(w, no, yes.shape)
    kind = type_text(w, yes.type, yes.shape)
    test = f"{type_text(w, BOOLEAN, chosen.shape)} {chosen.text}"
    return Value(w.new(f"select {test}, {kind} {yes.text}, {kind} {no.text}"), yes.type, yes.shape)


def _choice_of_lanes(w: Writer, kind: MemoryType, chosen: Value, yes: tree.Expression, no: tree.Expression) -> Value:
    old, M = mask_of(w), w.vector("i1")
    other = w.new(f"xor {M} {chosen.text}, splat (i1 true)")
    vector = type_text(w, kind, VARYING)
    place, own = w.place(vector), False
    for mask, part in ((chosen.text, yes), (other, no)):

        def put(part: tree.Expression = part) -> bool:
            nonlocal own
            value = operand(w, part)
            own = value.shape.own
            assign(w, place, fit(w, value, LaneShape(True, own)), True)
            return False

        under_mask(w, both(w, old, mask), put)
    set_mask(w, old)
    return Value(w.new(f"load {vector}, ptr {place}"), kind, LaneShape(True, own))


def _take(w: Writer, counter: Value) -> Value:
    """The next numbers, for the lanes that take part one after the other."""
    if counter.shape != UNIFORM:
        raise lane_error(w, "'take' counts for all lanes. Give it an array that lanes share.")
    width, I = w.module.width, w.vector("i64")
    if width == 1:
        return Value(w.new(f"atomicrmw add ptr {counter.text}, i64 1 monotonic"), INTEGER, UNIFORM)
    w.module.declared[f"declare {I} @llvm.ctpop.v{width}i64({I})\n"] = None
    asked = Value(w.new(f"zext i{width} {mask_bits(w, mask_of(w))} to i64"), INTEGER, UNIFORM)
    masks = [f"<{', '.join(f'i64 {m}' for m in row)}>" for row in ([(1 << k) - 1 for k in range(width)], [-1] * width)]
    before, all_of_them = (
        w.new(f"call {I} @llvm.ctpop.v{width}i64({I} {w.new(f'and {I} {fit(w, asked, VARYING).text}, {m}')})")
        for m in masks
    )
    count = w.new(f"extractelement {I} {all_of_them}, i32 0")
    first = Value(w.new(f"atomicrmw add ptr {counter.text}, i64 {count} monotonic"), INTEGER, UNIFORM)
    return Value(w.new(f"add {I} {fit(w, first, VARYING).text}, {before}"), INTEGER, VARYING)


def _operation(w: Writer, kind: ScalarType, name: str, given: Sequence[Value]) -> Value:
    s, of_reals, texts = given[0].shape, given[0].type is REAL, [v.text for v in given]
    T, R = type_text(w, given[0].type, s), type_text(w, kind, s)
    if name in tree.LIBRARY:
        return Value(_of_library(w, name, texts, s), kind, s)
    if name in tree.FUNCTIONS:
        function = f"@llvm.{name}.{f'v{w.module.width}f64' if s.varying else 'f64'}"
        w.module.declared[f"declare {T} {function}({', '.join([T] * len(given))})\n"] = None
        return Value(w.new(f"call {T} {function}({', '.join(f'{T} {t}' for t in texts)})"), kind, s)
    if name in COMPARED:
        word = f"{'f' if of_reals else 'i'}cmp {COMPARED[name][not of_reals]}"
        return Value(w.new(f"{word} {T} {', '.join(texts)}"), kind, s)
    if name in ("add", "sub", "mul", "div"):
        word = f"f{name}" if of_reals else name if s.varying else f"{name} nsw"  # of other lanes it may overflow
        return Value(w.new(f"{word} {T} {', '.join(texts)}"), kind, s)
    if name in ("min", "max"):
        a, b = texts
        beyond = w.new(f"{'fcmp o' if of_reals else 'icmp s'}{'lt' if name == 'min' else 'gt'} {T} {b}, {a}")
        return Value(w.new(f"select {type_text(w, BOOLEAN, s)} {beyond}, {T} {b}, {T} {a}"), kind, s)
    if name in ("floordiv", "mod"):
        return Value(_rounded_down(w, name, texts[0], texts[1], s), kind, s)
    zero, true = ("zeroinitializer", "splat (i1 true)") if s.varying else ("0", "true")
    return Value(
        w.new(
            {
                "neg": f"fneg {T} {texts[0]}" if of_reals else f"sub {T} {zero}, {texts[0]}",
                "not": f"xor {T} {texts[0]}, {true}",
                "real": f"sitofp {T} {texts[0]} to {R}",
            }[name]
        ),
        kind,
        s,
    )


def _of_library(w: Writer, name: str, texts: Sequence[str], s: LaneShape) -> str:
    """A function of the C library, lane by lane."""
    w.module.declared[f"declare double @{name}({', '.join(['double'] * len(texts))})\n"] = None
    if not s.varying:
        return w.new(f"call double @{name}({', '.join(f'double {t}' for t in texts)})")
    found, T = "zeroinitializer", w.vector("double")
    for lane in range(w.module.width):
        one = [w.new(f"extractelement {T} {t}, i32 {lane}") for t in texts]
        value = w.new(f"call double @{name}({', '.join(f'double {x}' for x in one)})")
        found = w.new(f"insertelement {T} {found}, double {value}, i32 {lane}")
    return found


def _rounded_down(w: Writer, name: str, a: str, b: str, s: LaneShape) -> str:
    """Quotient or remainder of integers as Python has them; the processor rounds to zero."""
    T, B, zero = type_text(w, INTEGER, s), type_text(w, BOOLEAN, s), "zeroinitializer" if s.varying else "0"
    if s.varying:  # what lanes hold that take no part may have no quotient
        mask = mask_of(w)
        a, b = (w.new(f"select {B} {mask}, {T} {x}, {T} splat (i64 1)") for x in (a, b))
    rest = w.new(f"srem {T} {a}, {b}")
    mixed = w.new(f"icmp slt {T} {w.new(f'xor {T} {rest}, {b}')}, {zero}")
    below = w.new(f"and {B} {w.new(f'icmp ne {T} {rest}, {zero}')}, {mixed}")
    if name == "mod":
        return w.new(f"add {T} {rest}, {w.new(f'select {B} {below}, {T} {b}, {T} {zero}')}")
    return w.new(f"sub {T} {w.new(f'sdiv {T} {a}, {b}')}, {w.new(f'zext {B} {below} to {T}')}")
