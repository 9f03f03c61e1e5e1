"""Modules of WebAssembly in their binary format: functions, one memory, one table, and what they take from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from kineta.records import dataclass

#: Types of values: real numbers, integers of 64 and of 32 bits.
F64, I64, I32 = b"\x7c", b"\x7e", b"\x7f"
#: Bytes of a page of memory.
PAGE = 65536


def unsigned(value: int) -> bytes:
    """A number that is not negative, in LEB128."""
    found = bytearray()
    while value >= 128:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def signed(value: int) -> bytes:
    """A number in LEB128."""
    found = bytearray()
    while not -64 <= value < 64:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value & 127])


@dataclass(frozen=True, slots=True)
class Signature:
    """Types of the arguments and of the results."""

    arguments: bytes
    results: bytes = b""


@dataclass(frozen=True, slots=True)
class WasmFunction:
    """A function: its local variables by type, and its instructions without the last ``end``."""

    signature: Signature
    variables: bytes
    code: bytes

    @property
    def body(self) -> bytes:
        """The function as the code section has it."""
        runs = [(kind, self.variables.count(kind)) for kind in sorted(set(self.variables))]
        declared = _vector(unsigned(n) + bytes([kind]) for kind, n in runs)
        whole = declared + self.code + b"\x0b"
        return unsigned(len(whole)) + whole


@dataclass(slots=True)
class WasmModule:
    """A module: functions ``math.name`` of reals from outside, functions of its own, exported ones by name, those of the table
    from entry 1 on, and data at addresses of a memory of so many bytes. All functions have numbers, imported ones the first.
    """

    imports: dict[str, Signature] = field(default_factory=dict)
    functions: list[WasmFunction] = field(default_factory=list)
    exports: dict[str, int] = field(default_factory=dict)
    table: Sequence[int] = ()
    data: Sequence[tuple[int, bytes]] = ()
    memory: int = PAGE
    signatures: dict[Signature, int] = field(default_factory=dict)

    def signature(self, wanted: Signature) -> bytes:
        """The number of a signature."""
        return unsigned(self.signatures.setdefault(wanted, len(self.signatures)))

    def binary(self) -> bytes:
        """The module."""
        taken = [_name("math") + _name(n) + b"\x00" + self.signature(s) for n, s in self.imports.items()]
        own = [self.signature(f.signature) for f in self.functions]
        types = [b"\x60" + _bytes(s.arguments) + _bytes(s.results) for s in self.signatures]
        exported = [_name("memory") + b"\x02\x00", *(_name(n) + b"\x00" + unsigned(k) for n, k in self.exports.items())]
        entries = _vector(map(unsigned, self.table))
        data = [b"\x00\x41" + signed(at) + b"\x0b" + _bytes(content) for at, content in self.data]
        sections = {
            1: _vector(types),
            2: _vector(taken),
            3: _vector(own),
            4: _vector([b"\x70\x00" + unsigned(1 + len(self.table))]),
            5: _vector([b"\x00" + unsigned(-(-self.memory // PAGE))]),
            7: _vector(exported),
            9: _vector([b"\x00\x41\x01\x0b" + entries]),
            10: _vector(f.body for f in self.functions),
            11: _vector(data),
        }
        return b"\0asm\1\0\0\0" + b"".join(bytes([n]) + _bytes(content) for n, content in sections.items())


def local_order(variables: Sequence[bytes]) -> list[int]:
    """Numbers of local variables of these types among all of a function, which are ordered by type."""
    order = sorted(range(len(variables)), key=lambda k: variables[k])
    found = [0] * len(order)
    for place, k in enumerate(order):
        found[k] = place
    return found


def _bytes(content: bytes) -> bytes:
    return unsigned(len(content)) + content


def _name(text: str) -> bytes:
    return _bytes(text.encode())


def _vector(items: Iterable[bytes]) -> bytes:
    found = list(items)
    return unsigned(len(found)) + b"".join(found)
