"""Back ends of kernels: from typed trees to the source text of a compiler, or to a module of WebAssembly.

``tree`` is what the translator of :mod:`kineta.kernels` makes of a kernel; each back end is a function from kernels to text, and
they do not know each other. ``llvm_ir`` writes LLVM IR, for one motion or for one in each lane of a vector, with ``llvm_writer``,
``llvm_memory``, ``llvm_expressions``, ``llvm_vectors`` (a loop with several entries at once), and ``divergence``, which tells
what differs between lanes; ``c99`` writes a unit of C, ``web_assembly`` a module. ``straight_line`` makes trees of programs.
"""
