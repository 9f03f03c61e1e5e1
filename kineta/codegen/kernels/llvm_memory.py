"""Numbers in memory as LLVM IR: fields of records, entries of arrays, of one motion or of each lane."""

from __future__ import annotations

from kineta.codegen.kernels.divergence import VARYING, LaneShape, field_shape
from kineta.codegen.kernels.llvm_writer import TYPES, Value, Writer, addresses, fit, lane_error, mask_of, type_text
from kineta.memory import BOOLEAN, INTEGER, REAL, ArrayType, MemoryType, RecordType, ScalarType

#: What is loaded and stored, by type: numbers never lie over addresses, and reals never over integers.
ALIASES: dict[MemoryType, str] = {REAL: "!4", INTEGER: "!5", BOOLEAN: "!5"}
METADATA = """\
!0 = !{!"kernel"}
!1 = !{!"real", !0, i64 0}
!2 = !{!"integer", !0, i64 0}
!3 = !{!"address", !0, i64 0}
!4 = !{!1, !1, i64 0}
!5 = !{!2, !2, i64 0}
!6 = !{!3, !3, i64 0}
"""


def field_place(w: Writer, record: Value, kind: MemoryType, name: str) -> tuple[str, LaneShape]:
    """The address of a field, and the shape of its value: all fields have eight bytes in each lane."""
    assert isinstance(record.type, RecordType)
    place = record.type.position(name) * (w.module.width if record.shape.own else 1)
    found = field_shape(record.shape, record.type, kind, name)
    return w.new(f"getelementptr i64, ptr {record.text}, i64 {place}"), found


def one_address(w: Writer, array: Value, index: Value) -> str:
    """The address of an entry: of the only one, or of that of the first lane."""
    assert isinstance(array.type, ArrayType)
    place = w.new(f"mul i64 {index.text}, {w.module.width}") if array.shape.own else index.text
    return w.new(f"getelementptr {TYPES[array.type.item]}, ptr {array.text}, i64 {place}")


def load(w: Writer, kind: MemoryType, place: str, s: LaneShape) -> Value:
    """The value at an address."""
    stored = INTEGER if kind is BOOLEAN else kind
    found = w.new(f"load {type_text(w, stored, s)}, ptr {place}, align 8, !tbaa {ALIASES.get(kind, '!6')}")
    if kind is BOOLEAN:
        found = w.new(f"icmp ne {type_text(w, stored, s)} {found}, {'zeroinitializer' if s.varying else 0}")
    return Value(found, kind, s)


def keep(w: Writer, value: Value, place: str) -> None:
    """Store at an address, a truth value as an integer."""
    kind, text = type_text(w, value.type, value.shape), value.text
    if value.type is BOOLEAN:
        stored = type_text(w, INTEGER, value.shape)
        kind, text = stored, w.new(f"zext {kind} {text} to {stored}")
    w.put(f"store {kind} {text}, ptr {place}, align 8, !tbaa {ALIASES[value.type]}")


def put(w: Writer, place: str, own: bool, value: Value, name: str) -> None:
    """Store at an address: the numbers of the lanes that take part, or the only one."""
    if not own:
        if value.shape.varying:
            raise lane_error(w, f"'{name}' is shared, and every lane has another number for it. Give it a uniform one.")
        keep(w, value, place)
        return
    given = fit(w, value, VARYING)
    kind = type_text(w, value.type, VARYING)
    before = load(w, value.type, place, VARYING)
    text = w.new(f"select {w.vector('i1')} {mask_of(w)}, {kind} {given.text}, {kind} {before.text}")
    keep(w, Value(text, value.type, VARYING), place)


def put_entry(w: Writer, array: Value, index: Value, value: Value) -> None:
    """Store in an entry of an array, or of each lane in one of its own."""
    if not (array.shape.varying or index.shape.varying):
        put(w, one_address(w, array, index), array.shape.own, value, "an array")
        return
    given, places = fit(w, value, VARYING), addresses(w, array, index)
    kind, M = type_text(w, value.type, VARYING), w.vector("i1")
    name = f"@llvm.masked.scatter.v{w.module.width}{'f64' if value.type is REAL else 'i64'}.v{w.module.width}p0"
    w.module.declared[f"declare void {name}({kind}, {w.vector('ptr')}, i32, {M})\n"] = None
    w.put(f"call void {name}({kind} {given.text}, {w.vector('ptr')} {places}, i32 8, {M} {mask_of(w)})")


def entry(w: Writer, kind: ScalarType, array: Value, index: Value) -> Value:
    """The value of an entry of an array, or in each lane of one of its own."""
    if not (array.shape.varying or index.shape.varying):
        return load(w, kind, one_address(w, array, index), LaneShape(varying=array.shape.own))
    places, found, M = addresses(w, array, index), type_text(w, kind, VARYING), w.vector("i1")
    name = f"@llvm.masked.gather.v{w.module.width}{'f64' if kind is REAL else 'i64'}.v{w.module.width}p0"
    w.module.declared[f"declare {found} {name}({w.vector('ptr')}, i32, {M}, {found})\n"] = None
    given = f"{w.vector('ptr')} {places}, i32 8, {M} {mask_of(w)}, {found} zeroinitializer"
    return Value(w.new(f"call {found} {name}({given})"), kind, VARYING)
