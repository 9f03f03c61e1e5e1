"""Backends: from straight-line programs to machine code, C or NumPy.

A backend knows neither mechanics nor the other backends. LLVM compiles machine code for one state or for a vector of states; it
is called from Python without an interpreter in between, and cached on disk by content. Reading order: ``schedule``,
``scalar_ir``, ``simd``, ``sincos``, ``lookup``, ``spilling``, ``loops``, ``lane_steps``, ``target``, ``module``,
``llvm``; ``compiled_functions``, which alone asks for machine code; the call: ``python_abi``, ``python_entry``, ``python_call``,
``scipy_callable``; the others: ``numpy``, ``c``, ``cuda``; ``wasm``, the format of modules; ``builder`` writes functions
instruction by instruction, and ``kernels`` holds the backends of loops.
"""
