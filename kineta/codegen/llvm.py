"""The backend ``llvm``: programs as machine code, for one state or one state per SIMD lane."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from kineta.arrays import FloatArray, address
from kineta.cache import stored
from kineta.codegen import loops as loop_code
from kineta.codegen.module import module, rows_module, sines_module
from kineta.codegen.sincos import SINES, WIDTHS
from kineta.codegen.target import Target, host, llvm, machine
from kineta.errors import ArgumentError
from kineta.expr.loop_program import LoopProgram
from kineta.expr.program import StraightLineProgram
from kineta.threads import computed_once, once


def compile(programs: Sequence[StraightLineProgram], *, batch: bool = False) -> Library:
    """Machine code of *programs* with distinct names; with the entry for rows of states if *batch* is set.

    Equal programs share their code while one of them is alive.
    """
    names = [s for p in programs for s in _symbols(p, batch)]
    parts = [generator(), host().signature, str(batch), *(p.name + p.digest for p in programs)]
    key = sha256(" ".join(parts).encode()).hexdigest()
    found = _LOADED.get(key)
    if found is None:
        contents = [p.name + (p.code_digest if isinstance(p, LoopProgram) else p.digest) for p in programs]
        sizes = [str((p.inputs, p.n_outputs)) for p in programs if batch and isinstance(p, LoopProgram)]
        own = sha256(" ".join([*parts[:3], *contents, *sizes]).encode()).hexdigest()
        code = stored(own, lambda: object_code(module(programs, host(), batch=batch)))
        found = _LOADED[key] = Library(programs, load_object(code, names), batch)
    return found


_LOADED: WeakValueDictionary[str, Library] = WeakValueDictionary()


@cache
def generator(*more: str) -> str:
    """SHA-256 of the sources that decide the machine code of a program: the code generator, its operations, tables of methods,
    and *more* packages. Code of another version is another entry of the cache.
    """
    package = Path(__file__).parents[1]
    folders = ("codegen", "expr", "numerics", *more)
    sources = (path for folder in folders for path in sorted((package / folder).glob("*.py")))
    return sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def _symbols(program: StraightLineProgram, batch: bool) -> list[str]:
    loops = loop_code.POINTERS if isinstance(program, LoopProgram) else ()
    entries = (*(("batch", "lanes") if batch else ()), *loops)
    return [program.name, *(f"{program.name}.{entry}" for entry in entries)]


def object_code(ir: str) -> bytes:
    """Machine code of a module given as text, as a relocatable object."""
    parsed = llvm().parse_assembly(ir)
    return bytes(machine().emit_object(parsed))


def optimised_object_code(ir: str) -> bytes:
    """Machine code of a module with loops: functions marked so inlined, variables in registers, what does not change moved out
    of loops.

    The passes of level 1 for functions run once over each: its passes for modules run them again and again, for code that is
    no faster. Loops are neither unrolled nor vectorised: states are short, and compiling would take twice as long.
    """
    binding, target = llvm(), machine()
    parsed = binding.parse_assembly(ir)
    parsed.triple, parsed.data_layout = host().triple, str(target.target_data)
    options = binding.create_pipeline_tuning_options(1)
    options.loop_vectorization, options.slp_vectorization, options.loop_unrolling = False, False, False
    builder = binding.create_pass_builder(target, options)
    whole = binding.create_new_module_pass_manager()
    whole.add_always_inliner_pass()
    whole.add_post_order_function_attributes_pass()
    whole.run(parsed, builder)
    passes = builder.getFunctionPassManager()
    for function in parsed.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return bytes(target.emit_object(parsed))


def load_object(code: bytes, names: Sequence[str]) -> Any:
    """A loaded object file: maps *names* to addresses and keeps the code alive.

    Each object has a linker of its own, freed with it: a common linker would keep every library it ever loaded. Sines and
    cosines are compiled once for all objects, whose tables of symbols name them, and stay loaded.
    """
    if SINES.encode() not in code:
        return _linked(code, names, {})
    shared = computed_once(_LOADED_SINES, host(), sines)
    return _linked(code, names, {name: shared[name] for name in _SINES})


def _linked(code: bytes, names: Sequence[str], known: Mapping[str, int]) -> Any:
    machine()
    binding = llvm()
    builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, place in known.items():
        builder.import_symbol(name, place)
    for name in names:
        builder.export_symbol(name)
    return builder.link(binding.create_lljit_compiler(), "kineta")


_SINES = [f"{SINES}{width}" for width in WIDTHS]
_LOADED_SINES: dict[Target, Any] = {}


def sines() -> Any:
    """The sines and cosines that all modules call."""
    key = sha256(" ".join([SINES, generator(), host().signature]).encode()).hexdigest()
    return _linked(stored(key, lambda: object_code(sines_module(host()))), _SINES, {})


_LOADED_LOOPS: dict[int, Any] = {}


def loop_over_rows(inputs: int) -> Any:
    """The loop over rows of states for so many *inputs*."""
    key = sha256(" ".join(["rows", str(inputs), generator(), host().signature]).encode()).hexdigest()
    return load_object(stored(key, lambda: object_code(rows_module(inputs))), ["rows"])


class Library:
    """Loaded machine code of some programs."""

    def __init__(self, programs: Sequence[StraightLineProgram], code: Any, batch: bool) -> None:
        self._programs = {p.name: p for p in programs}
        self._code, self._batch = code, batch
        self._tables: list[Any] = []
        for program in programs:
            if isinstance(program, LoopProgram):
                read = np.array(loop_code.table(program), dtype=np.int32), np.array([*program.numbers, 0.0])
                self._tables += read
                for pointer, values in zip(loop_code.POINTERS, read, strict=True):
                    ctypes.c_void_p.from_address(code[f"{program.name}.{pointer}"]).value = values.ctypes.data

    def function(self, name: str) -> NativeFunction:
        """The function compiled from the program *name*, which keeps the library alive."""
        return NativeFunction(self, self._programs[name], self._code, self._batch)


class NativeFunction:
    """A compiled program.

    Attributes
    ----------
    address : of ``void f(const double *in_0, ..., double *out)``
    batch_address : of ``void f_batch(int64 n, const double *in_0, int64 stride_0, ..., double *out, int64 stride)``, a loop over
        n rows with one row per SIMD lane; strides in doubles, 0 for a row shared by all; 0 if it was not compiled
    lanes_address : of ``void f_lanes(const double *in_0, ..., double *out, int mask)`` for ``lanes`` states with interleaved
        components, which stores the results of the lanes whose bits are set; 0 if it was not compiled
    """

    def __init__(self, library: Library, program: StraightLineProgram, code: Any, batch: bool) -> None:
        self._library = library  # keeps the code alive
        self.program = program
        self.address: int = code[program.name]
        self.batch_address: int = code[f"{program.name}.batch"] if batch else 0
        self.lanes_address: int = code[f"{program.name}.lanes"] if batch else 0
        self.lanes = host().width
        self._sizes, self._n_outputs = tuple(b.size for b in program.inputs), program.n_outputs
        self._offsets = tuple(8 * sum(self._sizes[:i]) for i in range(len(self._sizes)))
        n = len(self._sizes)
        self._scalar = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (n + 1))(self.address)

    @once
    def rows(self) -> Callable[..., None]:
        """The loop over rows, in vectors or one by one."""
        kinds = [ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * (len(self._sizes) + 1)]
        if self.batch_address:
            return ctypes.CFUNCTYPE(None, *kinds)(self.batch_address)
        loop = computed_once(_LOADED_LOOPS, len(self._sizes), lambda: loop_over_rows(len(self._sizes)))
        return partial(ctypes.CFUNCTYPE(None, ctypes.c_void_p, *kinds)(loop["rows"]), self.address)

    @property
    def ctypes(self) -> Any:
        """The code at ``address`` as a ctypes function, which keeps it alive."""
        function: Any = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * (len(self._sizes) + 1))(
            self.address
        )
        function.library = self._library
        return function

    def __call__(self, *blocks: FloatArray) -> FloatArray:
        """The results for one state, (n_outputs,), from one array (size,) per input block."""
        if tuple(map(len, blocks)) != self._sizes:
            raise ArgumentError(f"Expected blocks of sizes {self._sizes}, found {tuple(map(len, blocks))}.")
        # One buffer and one address lookup: lookups would dominate the cost of a call.
        given = np.concatenate(blocks, dtype=np.float64)
        out = np.empty(self._n_outputs)
        start = address(given)
        self._scalar(*[start + o for o in self._offsets], address(out))
        return out

    def batch(self, *blocks: FloatArray) -> FloatArray:
        """The results for n states, (n, n_outputs), from arrays (n, size), or (size,) for a row shared by all."""
        kept, rows, n = [np.ascontiguousarray(block, dtype=np.float64) for block in blocks], list[int](), -1
        for array, size in zip(kept, self._sizes, strict=True):
            shape = array.shape
            if shape == (size,):
                rows += address(array), 0
            elif len(shape) == 2 and shape[1] == size and n in (-1, shape[0]):
                n = shape[0]
                rows += address(array), size
            else:
                raise self._misfit(len(rows) // 2, shape, n)
        n = 1 if n == -1 else n
        out = np.empty((n, self._n_outputs))
        self.rows(n, *rows, address(out), self._n_outputs)
        return out

    def _misfit(self, i: int, shape: tuple[int, ...], n: int) -> ArgumentError:
        """The error for block i of the wrong *shape*, behind blocks of n rows, -1 for none."""
        size, name = self._sizes[i], self.program.inputs[i].name
        if len(shape) == 2 and shape[1] == size:
            return ArgumentError(f"Expected blocks of the same number of rows, found {n} and {shape[0]} for '{name}'.")
        return ArgumentError(f"Expected block '{name}' of size {size}, found shape {shape}.")
