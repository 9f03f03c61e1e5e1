"""Programs on Nvidia's graphics processors, one thread a state.

Reading order: ``expressions``, ``elementary_functions``, ``ptx``, which need no processor; ``driver``, ``device_arrays``,
``device_program``.
"""

from __future__ import annotations

from kineta.codegen.cuda.device_program import DeviceProgram
from kineta.expr.program import StraightLineProgram


def compile(program: StraightLineProgram) -> DeviceProgram:
    """*program* on the first graphics processor, which is looked for at the first call."""
    return DeviceProgram(program)
