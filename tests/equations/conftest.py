"""Functions of the backend ``cuda`` run on a graphics processor where there is one, else on a simulated one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kineta.codegen.cuda.driver import device
from kineta.errors import KinetaError
from tests.codegen.simulated_driver import SimulatedDriver, installed


@pytest.fixture(scope="session", autouse=True)
def graphics_processor() -> Iterator[None]:
    try:
        device()
    except KinetaError:
        with installed(SimulatedDriver()):
            yield
    else:
        yield
