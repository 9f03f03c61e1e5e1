"""The writer of kernels as LLVM IR: operands, functions, and masks of lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from kineta.codegen.kernels.divergence import UNIFORM, VARYING, Divergence, LaneShape, divergence
from kineta.codegen.kernels.tree import KernelTree
from kineta.errors import ArgumentError
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, ArrayType, MemoryType, RecordType, ScalarType
from kineta.records import dataclass

#: Types of numbers; all else are addresses.
TYPES: dict[MemoryType, str] = {REAL: "double", INTEGER: "i64", BOOLEAN: "i1", NOTHING: "void"}


class Value(NamedTuple):
    """An operand of LLVM, its type in memory, and how lanes hold it."""

    text: str
    type: MemoryType
    shape: LaneShape


class LoopLabels(NamedTuple):
    """A loop around a statement: its labels, the number of regions around it, and masks of lanes that left it or its body."""

    end: str
    following: str
    regions: int
    left: dict[str, str]


@dataclass(slots=True)
class Module:
    """The functions of a module for so many lanes, each a kernel for certain shapes of its parameters: their divergences and
    names, how often each name is called, and what they declare. *direct* are the functions in the place of compiled ones, by
    the field that would hold their address; None where addresses are called.
    """

    width: int
    direct: Mapping[str, str] | None = None
    found: dict[tuple[KernelTree, tuple[LaneShape, ...]], Divergence] = field(default_factory=dict)
    names: dict[tuple[KernelTree, tuple[LaneShape, ...]], str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    declared: dict[str, None] = field(default_factory=dict)

    def divergence(self, kernel: KernelTree, given: tuple[LaneShape, ...]) -> Divergence:
        """The divergence of a *kernel* for the shapes of its parameters; of one motion there is none."""
        if (kernel, given) not in self.found:
            self.found[kernel, given] = (
                divergence(kernel, given, self.divergence)
                if self.width > 1
                else Divergence(
                    kernel, given, self.divergence, dict.fromkeys(kernel.parameters | kernel.variables, UNIFORM)
                )
            )
        return self.found[kernel, given]

    def function(self, kernel: KernelTree, given: tuple[LaneShape, ...]) -> str:
        """The name of the function of a *kernel* for the shapes of its parameters, which is called."""
        name = self.names.setdefault((kernel, given), f"{kernel.name}.{len(self.names)}")
        self.calls[name] += 1
        return name


@dataclass(slots=True)
class Writer:
    """A function: its lines, places on the stack, names so far, the loops around, and the ends of the regions around in which
    lanes have parted.
    """

    module: Module
    divergence: Divergence
    lines: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    block: str = ".start"
    names: int = 0
    loops: list[LoopLabels] = field(default_factory=list)
    regions: list[str] = field(default_factory=list)

    def put(self, text: str) -> None:
        """Append an instruction."""
        self.lines.append(f"  {text}\n")

    def new(self, text: str) -> str:
        """The name of a value that is computed."""
        self.names += 1
        self.put(f"%.{self.names} = {text}")
        return f"%.{self.names}"

    def place(self, kind: str) -> str:
        """A place on the stack."""
        self.names += 1
        self.places.append(f"  %.{self.names} = alloca {kind}\n")
        return f"%.{self.names}"

    def labels(self, *words: str) -> list[str]:
        """Labels of these *words*."""
        self.names += 1
        return [f"{word}.{self.names}" for word in words]

    def begin(self, label: str) -> None:
        """Begin the block of a label."""
        self.lines.append(f"{label}:\n")
        self.block = label

    def vector(self, kind: str) -> str:
        """The type of a vector of all lanes."""
        return f"<{self.module.width} x {kind}>"


def type_text(w: Writer, kind: MemoryType, s: LaneShape) -> str:
    """The type of a value in LLVM."""
    one = TYPES.get(kind, "ptr")
    return w.vector(one) if s.varying else one


def lane_error(w: Writer, text: str) -> ArgumentError:
    """The error of the sentence *text*: lanes cannot do what a kernel says."""
    return ArgumentError(f"Kernel '{w.divergence.kernel.name.removeprefix('kernel_')}' in lanes: {text}")


def fit(w: Writer, value: Value, s: LaneShape) -> Value:
    """*value* in every lane, where *s* is varying."""
    if isinstance(value.type, ArrayType | RecordType) and value.shape.own != s.own:
        raise lane_error(w, "an array of each lane stands where one of all lanes may be. Use one of them.")
    if value.shape.varying or not s.varying:
        return value
    if isinstance(value.type, ArrayType):
        return Value(addresses(w, value, Value("0", INTEGER, UNIFORM)), value.type, s)
    if not isinstance(value.type, ScalarType):
        raise lane_error(w, "a record would differ between lanes. Choose its numbers instead.")
    one = TYPES[value.type]
    if not value.text.startswith("%"):
        return Value(f"splat ({one} {value.text})", value.type, s)
    first = w.new(f"insertelement {w.vector(one)} poison, {one} {value.text}, i32 0")
    same = f"{w.vector(one)} {first}, {w.vector(one)} poison, {w.vector('i32')} zeroinitializer"
    return Value(w.new(f"shufflevector {same}"), value.type, s)


def alike(w: Writer, values: Sequence[Value]) -> list[Value]:
    """*values*, all in every lane if one is varying."""
    s = LaneShape(varying=any(v.shape.varying for v in values))
    return [fit(w, v, LaneShape(s.varying, v.shape.own)) for v in values]


def addresses(w: Writer, array: Value, index: Value) -> str:
    """Addresses of an entry in each lane."""
    assert isinstance(array.type, ArrayType)
    item, width, I = TYPES[array.type.item], w.module.width, w.vector("i64")
    place = fit(w, index, VARYING).text
    if array.shape.own and index.text != "0":
        place = w.new(f"mul {I} {place}, splat (i64 {width})")
    if array.shape.varying:
        return w.new(f"getelementptr {item}, {w.vector('ptr')} {array.text}, {I} {place}")
    if array.shape.own:
        lanes = f"<{', '.join(f'i64 {k}' for k in range(width))}>"
        place = w.new(f"add {I} {place}, {lanes}")
    return w.new(f"getelementptr {item}, ptr {array.text}, {I} {place}")


# -- masks ------------------------------------------------------------------------------------------------------------


def mask_of(w: Writer) -> str:
    """The lanes that take part."""
    return w.new(f"load {w.vector('i1')}, ptr %.live")


def set_mask(w: Writer, mask: str) -> None:
    """Set the lanes that take part."""
    w.put(f"store {w.vector('i1')} {mask}, ptr %.live")


def mask_bits(w: Writer, mask: str) -> str:
    """A *mask* as an integer."""
    return w.new(f"bitcast {w.vector('i1')} {mask} to i{w.module.width}")


def is_any(w: Writer, mask: str) -> str:
    """Whether a lane takes part."""
    return w.new(f"icmp ne i{w.module.width} {mask_bits(w, mask)}, 0")


def both(w: Writer, a: str, b: str) -> str:
    """The lanes of two masks."""
    return w.new(f"and {w.vector('i1')} {a}, {b}")


def without(w: Writer, mask: str, *places: str) -> str:
    """A *mask* without the lanes of others on the stack."""
    M = w.vector("i1")
    for place in places:
        gone = w.new(f"load {M}, ptr {place}")
        mask = both(w, mask, w.new(f"xor {M} {gone}, splat (i1 true)"))
    return mask


def under_mask(w: Writer, mask: str, body: Callable[[], bool]) -> None:
    """What *body* writes, under a *mask* unless it is empty; the caller sets the mask behind it."""
    inner, end = w.labels("some", "joined")
    set_mask(w, mask)
    w.put(f"br i1 {is_any(w, mask)}, label %{inner}, label %{end}")
    w.begin(inner)
    w.regions.append(end)
    if not body():
        w.put(f"br label %{end}")
    w.regions.pop()
    w.begin(end)


def leave(w: Writer, place: str) -> None:
    """All lanes that take part leave the region: they are among those of a *place* on the stack."""
    M = w.vector("i1")
    before = w.new(f"load {M}, ptr {place}")
    w.put(f"store {M} {w.new(f'or {M} {before}, {mask_of(w)}')}, ptr {place}")
    set_mask(w, "zeroinitializer")
    w.put(f"br label %{w.regions[-1]}")


def assign(w: Writer, place: str, value: Value, blended: bool) -> None:
    """Store in a *place* on the stack; if *blended*, lanes that take no part keep theirs."""
    kind = type_text(w, value.type, value.shape)
    text = value.text
    if blended:
        before = w.new(f"load {kind}, ptr {place}")
        text = w.new(f"select {w.vector('i1')} {mask_of(w)}, {kind} {text}, {kind} {before}")
    w.put(f"store {kind} {text}, ptr {place}")
