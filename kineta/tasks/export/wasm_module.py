"""A run as WebAssembly: a module, and a loader in JavaScript."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from kineta.codegen.kernels import web_assembly
from kineta.codegen.kernels.tree import KernelTree
from kineta.memory import BOOLEAN, INTEGER, REAL, FunctionType, Record
from kineta.records import dataclass
from kineta.tasks.export.memory_image import Piece, Place
from kineta.tasks.export.memory_image import places as places_in
from kineta.tasks.export.run_names import CHANGES, RunNames
from kineta.tasks.export.run_record import RunCode
from kineta.tasks.export.templates import filled

#: The first address of a run.
_START = 1024


@dataclass(frozen=True)
class WasmRun:
    """A run as the bytes of a *module*, with what its loader knows of it: texts by their words in capitals; the memory from the
    address *free* on is not used.
    """

    module: bytes
    known: Mapping[str, Any]
    free: int


def wasm_run(
    code: RunCode, told: RunNames, more: Mapping[KernelTree, str] = MappingProxyType({}), room: int = 0
) -> WasmRun:
    """The module of a run, with *more* kernels by the names under which it exports them, and so many more bytes of memory."""
    memory = code.memory
    places = _places(memory)
    data = [(places[name], _bytes(piece, memory, places)) for name, piece in memory.items()]
    roots = {tree: name.removeprefix("run_") for name, tree in code.functions.items()}
    roots |= {code.begin: "begin", code.advance: "advance", code.change: "change", code.observe: "observe"}
    free = data[-1][0] + len(data[-1][1])
    module = web_assembly.source(
        roots | dict(more),
        table=[*code.functions.values()],
        data=[(at, content.rstrip(b"\0")) for at, content in data if any(content)],
        memory=free + room,
    )
    known = {
        "OUTCOMES": {name: k for name, (k, _) in told.outcomes.items()},
        "SENTENCES": dict(told.outcomes.values()),
        "VERBS": [*CHANGES.values()],
        "INFORMATION": _information(code, told, places),
    }
    return WasmRun(module, known, free)


def wasm_module(code: RunCode, told: RunNames, prefix: str) -> dict[str, bytes]:
    """Contents by the names of files, which begin with *prefix*."""
    made = wasm_run(code, told)
    words = {name: json.dumps(x, indent=2 * (name[0] in "IS") or None) for name, x in made.known.items()}
    words |= {
        "TITLE": " ".join(told.model.split()),
        "PARAMETER": f"{json.dumps(told.p[0])}: {told.p_values[0]!r}" if told.p else "",
        "NAME": prefix,
    }
    return {f"{prefix}_run.wasm": made.module, f"{prefix}_run.mjs": filled("run.mjs", words).encode()}


def _information(code: RunCode, told: RunNames, places: Mapping[str, int]) -> dict[str, Any]:
    """Names, units, values, and the addresses of what a loader reads and writes."""
    start = dict(zip(told.states, told.start.tolist(), strict=True))
    present = {n: at.partition(".") for n, at in code.fields.items()}
    known = {
        n: _field(places[piece], *code.field(n)) if own else places[piece]
        for n, (piece, _, own) in present.items()
        if piece in places
    }
    # Arrays without entries have no place, and are not read.
    known |= {name: places.get(f"root_{name}", 0) for name in ("given", "start", "state", "values")}
    known |= {"root": places["root"], "tau": places.get("root_given", 0) + 8 * len(told.p)}
    return {
        "name": told.model,
        "q": [*told.q],
        "v": [*told.v],
        "levels": [*told.levels],
        "states": told.states,
        "observed": [*told.observed],
        "events": [*told.events],
        "contacts": [*told.contacts],
        "switches": [*told.switches],
        "units": told.units,
        "parameters": {n: {"value": x, "unit": u} for n, x, u in zip(told.p, told.p_values, told.p_units, strict=True)},
        "defaults": start,
        "t0": getattr(*code.field("t0")),
        "t1": getattr(*code.field("t_end")),
        "places": known,
    }


def _field(place: int, record: Record, name: str) -> int:
    return place + 8 * record.layout.position(name)


def _places(memory: Mapping[str, Piece]) -> dict[str, int]:
    """Addresses of pieces."""
    found, at = dict[str, int](), _START
    for name, piece in memory.items():
        found[name] = at
        at += 8 * (len(piece.layout.fields) if isinstance(piece, Record) else len(piece))
    return found


def _bytes(piece: Piece, memory: dict[str, Piece], places: Mapping[str, int]) -> bytes:
    """A piece as it lies in memory before the start."""
    if not isinstance(piece, Record):
        return piece.astype(np.dtype(piece.dtype).newbyteorder("<")).tobytes()
    known = places_in(memory)
    return b"".join(_entry(piece, field, known, places) for field in piece.layout.fields)


def _entry(record: Record, name: str, known: Place, places: Mapping[str, int]) -> bytes:
    kind = record.layout.fields[name]
    if kind is REAL:
        return struct.pack("<d", getattr(record, name))
    if kind in (INTEGER, BOOLEAN):
        return struct.pack("<q", getattr(record, name))
    held: Any = record.array(name)
    if isinstance(kind, FunctionType):
        return struct.pack("<q", getattr(held, "address", 0))
    place = known(held)
    return struct.pack("<q", 0 if place is None else places[place[0]] + 8 * place[1])
