"""The reference trees: up to 40 bodies, evaluated by four independent programs."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.equations.equations import derive
from tests.mechanics.test_laws import values
from tests.mechanics.truth import load, tree_files, tree_system
from tests.support import quick_but

TOLERANCE = 1e-12
#: Trees whose tests take a second and more.
LARGE = [
    f"trees/tree_{name}.json"
    for name in "ball08_s08 free18_s18 mix10_s10 mix20_s20 quat_free15_s15 rev25_s25 rev40_s40".split()
]


@pytest.mark.parametrize("path", quick_but(tree_files(), [*LARGE, *tree_files()[1::2]]))
def test_reference_tree(path: str) -> None:
    data = load(path)
    system, start, expected = tree_system(data["parameters"]["model"]), data["initial_state"], data["expected"]
    vdot = expected.get("qdd", expected.get("vdot"))
    state = {"t": 0.0, **dict(zip(system.q_names, start["q"], strict=True))}
    for names, numbers in (
        (system.v_names, start.get("qd", start.get("v"))),
        ([f"tau[{n}]" for n in system.v_names], start["tau"]),
        ([f"{n}'" for n in system.v_names], vdot),
    ):
        state |= dict(zip(names, numbers, strict=True))
    equations = derive(system)
    truth = {"mass_matrix": expected["M"], "bias": expected["bias"], "forward": vdot, "inverse": start["tau"]}
    for quantity, numbers in truth.items():
        extra = {"forward": [start["tau"]], "inverse": [vdot]}.get(quantity, [])
        compiled = equations.function(quantity)(0.0, start["q"], start.get("qd", start.get("v")), *extra)
        for found in (values(equations, quantity, state), compiled):
            assert np.abs(found - numbers).max() / np.abs(numbers).max() < TOLERANCE, quantity
