"""Programs as trees of kernels: the numbers of NumPy's, in one part and in many."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from kineta.codegen import numpy as reference
from kineta.codegen.kernels import llvm_ir, web_assembly
from kineta.codegen.kernels.straight_line import room, straight_line
from kineta.codegen.kernels.tree import callees_first
from kineta.codegen.llvm import load_object, object_code
from kineta.kernels.standalone.sincos import sine_and_cosine
from kineta.kernels.translation import translate
from tests.codegen.random_programs import random_program
from tests.kernels.wasm_machine import START, Instance
from tests.support import slow


@pytest.mark.parametrize(("seed", "operations"), [(0, 200), (1, 40), *slow([(2, 4000)])])
def test_a_tree_has_the_numbers_of_its_program(seed: int, operations: int) -> None:
    p = random_program(seed, operations, blocks=(1, 5, 3))
    tree = straight_line(p, "f", translate(sine_and_cosine))
    assert (len(callees_first([tree])) > 3) == (operations > 2500)
    code = load_object(object_code(llvm_ir.source([tree])), ["f"])
    function: Any = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(code["f"])
    rng = np.random.default_rng(seed)
    blocks = [rng.uniform(-2, 2, b.size) for b in p.inputs]
    out = np.zeros(p.n_outputs + room(p))
    function(*(b.ctypes.data for b in blocks), out.ctypes.data)
    np.testing.assert_allclose(out[: p.n_outputs], reference.compile(p)(*blocks), rtol=1e-12, atol=1e-12)
    instance = Instance(web_assembly.source([tree]))
    places = [START + 8 * sum(map(len, blocks[:i])) for i in range(4)]
    for at, block in zip(places, blocks, strict=False):
        instance.put(at, block.tobytes())
    instance.call("f", *places)
    assert instance.get(places[-1], 8 * p.n_outputs) == out[: p.n_outputs].tobytes()
