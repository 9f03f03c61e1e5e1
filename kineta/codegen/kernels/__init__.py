"""Back ends of kernels: from typed trees to the source text of a compiler.

``tree`` is what the translator of :mod:`kineta.kernels` makes of a kernel; each back end is a function from kernels to text, and
they do not know each other. ``llvm_ir`` writes LLVM IR, for one motion or for one in each lane of a vector, with ``llvm_writer``,
``llvm_memory``, ``llvm_expressions``, and ``divergence``, which tells what differs between lanes; ``c99`` writes a unit of C.
``straight_line`` makes trees of programs.
"""

from collections.abc import Callable, Sequence

from kineta.codegen.kernels import c99, llvm_ir
from kineta.codegen.kernels.tree import KernelTree

#: Text for kernels and all that they call, by back end. WebAssembly becomes a row of it.
BACKENDS: dict[str, Callable[[Sequence[KernelTree]], str]] = {"llvm": llvm_ir.source, "c": c99.source}
