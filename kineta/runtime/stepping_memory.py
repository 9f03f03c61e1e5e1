"""Memory of time stepping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen.llvm import NativeFunction
from kineta.integration.contact_records import SteppingData
from kineta.integration.stepping import CHUNK
from kineta.memory import CompiledFunction
from kineta.runtime.contact_problem import CompiledContacts


def stepping_data(
    contacts: CompiledContacts,
    h: FloatArray,
    functions: Mapping[str, NativeFunction],
    quaternions: Sequence[int],
    work: int,
) -> SteppingData:
    """Memory of steps with *contacts* and the block h; *work* is the offset of the work in the state, -1 for none."""
    motion, problem = contacts.motion(h), contacts.problem
    n, m = motion.n_extended, problem.contacts
    return SteppingData(
        motion=motion,
        slopes=CompiledFunction(functions["slopes"].address),
        coordinate_rate=CompiledFunction(functions["coordinate_rate"].address),
        n_quaternions=len(quaternions),
        quaternions=np.array([*quaternions], dtype=np.int64),
        work=work,
        time=np.zeros(1),
        **{name: np.zeros(n) for name in ("y", "middle", "rate")},
        **{name: np.zeros(problem.speeds) for name in ("free", "tried")},
        **{name: np.zeros(m) for name in ("plain", "gaps")},
        **{name: np.zeros(m, dtype=np.int64) for name in ("stuck", "near")},
        slope=np.zeros(2 * len(motion.terms.array("inertia"))),
        times=np.zeros(CHUNK),
        states=np.zeros(CHUNK * n),
        middles=np.zeros(CHUNK * motion.n),
    )
