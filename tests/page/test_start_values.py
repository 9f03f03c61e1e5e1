"""Initial values that follow parameters."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.codegen import numpy as interpreter
from kineta.equations.equations import equations_of
from kineta.equations.initial_values import initial_state
from kineta.page.start_values import start_values
from tests.support import EXAMPLES


@pytest.mark.parametrize("name", ["rocking_block", "quarter_car", "double_pendulum"])
def test_initial_values_of_a_page_are_those_of_the_library(name: str) -> None:
    system, rng = kn.load(EXAMPLES / f"{name}.kin"), np.random.default_rng(7)
    found = start_values(equations_of(system))
    p = np.array([x.value for x in system.parameters if not x.fixed]) * rng.uniform(
        0.7, 1.3, len(system.parameter_names)
    )
    values = dict(zip("qv", initial_state(system, p=p), strict=True))
    moved = {
        (word, k)
        for word in "qv"
        for k in np.flatnonzero(values[word] != dict(zip("qv", initial_state(system), strict=True))[word])
    }
    assert moved == {*found.places}
    if found.places:
        told = interpreter.compile(found.program)(p)
        assert told == pytest.approx([values[word][k] for word, k in found.places], rel=1e-14)
