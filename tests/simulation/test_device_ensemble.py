"""Cases on a graphics processor, here a simulated one that runs the PTX of the loop: the steps and the states of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import DeviceError
from kineta.kernels import device_ensemble
from kineta.numerics.tableaux import TABLEAUX
from tests.codegen.ptx_interpreter import parsed
from tests.codegen.simulated_driver import CUresult, SimulatedDriver, installed
from tests.support import EXAMPLES

PENDULUM = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
RNG = np.random.default_rng(4)


@pytest.fixture
def driver() -> Iterator[SimulatedDriver]:
    with installed(SimulatedDriver()) as made:
        yield made


def same(equations: kn.Equations, t: float, **given: Any) -> kn.Result:
    """The run on the device, compared with that of this machine."""
    options = {"samples": 3, "rtol": 1e-6, "atol": 1e-6, "method": "dopri5", **given}
    found, expected = (kn.simulate(equations, t, **options, backend=backend) for backend in ("cuda", "llvm"))
    assert (found.steps, found.nfev) == (expected.steps, expected.nfev)
    for name in ("t", "q", "v"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-12)
    assert found.message == expected.message
    return found


@pytest.mark.slow
def test_the_loop_is_translated_whole() -> None:
    """It calls nothing by an address, and keeps nothing on a stack."""
    _, rate = PENDULUM.programs("state_rate")
    text = device_ensemble.loop_ptx(TABLEAUX["dopri5"], rate)
    assert parsed(text).entries == ["carry_cases"]
    assert ".callprototype" not in text
    assert ".local" not in text


@pytest.mark.slow
def test_cases_have_the_steps_of_this_machine(driver: SimulatedDriver) -> None:
    same(PENDULUM, 0.1, q=RNG.uniform(-1, 1, (3, 2)))
    assert driver.launches == [("carry_cases", 1, 128)]
    same(PENDULUM, 0.1, q=RNG.uniform(-1, 1, (3, 2)), method="auto", samples=7)


@pytest.mark.slow
def test_forces_and_parameters_of_cases(driver: SimulatedDriver) -> None:
    same(
        kn.derive(kn.load(EXAMPLES / "puma560.kin")), 0.02, q=RNG.uniform(-1, 1, (2, 6)), tau=RNG.uniform(-1, 1, (2, 6))
    )
    same(kn.derive(kn.load(EXAMPLES / "oscillator_chain.kin")), 0.02, p={"m1": np.array([1.0, 1.1])})


@pytest.mark.slow
def test_motions_that_turn(driver: SimulatedDriver) -> None:
    top = kn.derive(kn.load(EXAMPLES / "spinning_top.kin"))
    same(top, 0.02, v=RNG.uniform(-1, 1, (2, top.system.nv)))


@pytest.mark.slow
def test_threads_take_cases_from_one_queue_and_pause(driver: SimulatedDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_ensemble, "THREADS", 2)
    monkeypatch.setattr(device_ensemble, "STEPS", 2)
    monkeypatch.setattr(device_ensemble, "PAUSE", 0.0)
    same(PENDULUM, 0.1, q=RNG.uniform(-1, 1, (3, 2)))
    assert len(driver.launches) > 2


@pytest.mark.slow
def test_a_case_that_is_out_of_steps_says_so(driver: SimulatedDriver) -> None:
    same(PENDULUM, 0.3, q=RNG.uniform(-1, 1, (2, 2)), max_steps=4)


BALL = "coordinates x, y; Ball | Sx(x), Sy(y) = 1; gravity (0, -9.8, 0); constraint rod : x^2 + y^2 - 1 = 0; initial y = -1;"
WRONG: dict[str, tuple[Any, str]] = {
    "one": (
        lambda: kn.simulate(PENDULUM, 1.0, backend="cuda"),
        "Model 'double_pendulum': expected cases for backend='cuda', found one motion. Give rows of q, v, p or tau.",
    ),
    "name": (
        lambda: kn.simulate(PENDULUM, 1.0, q=np.zeros((2, 2)), backend="gpu"),
        "Expected what carries cases (llvm, cuda), found 'gpu'.",
    ),
    "events": (
        lambda: kn.simulate(PENDULUM, 1.0, q=np.zeros((2, 2)), samples=3, backend="cuda", events=kn.symbol("t") - 0.5),
        "Model 'double_pendulum': a graphics processor carries free motions by dop853 or dopri5, found events. "
        "Leave out backend='cuda'.",
    ),
    "method": (
        lambda: kn.simulate(PENDULUM, 1.0, q=np.zeros((2, 2)), samples=3, backend="cuda", method="Radau"),
        "Model 'double_pendulum': a graphics processor carries free motions by dop853 or dopri5, found the method Radau. "
        "Leave out backend='cuda'.",
    ),
    "constraints": (
        lambda: kn.simulate(kn.loads(BALL), 1.0, v=np.zeros((2, 2)), samples=3, backend="cuda"),
        "Model 'text': a graphics processor carries free motions by dop853 or dopri5, found constraints. "
        "Leave out backend='cuda'.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_graphics_processor_does_not_carry(driver: SimulatedDriver, case: str) -> None:
    call, sentence = WRONG[case]
    with pytest.raises(kn.ArgumentError) as raised:
        call()
    assert str(raised.value) == sentence


def test_a_machine_without_a_graphics_processor() -> None:
    with installed(SimulatedDriver(CUresult.CUDA_ERROR_NO_DEVICE)), pytest.raises(DeviceError, match="found none"):
        kn.simulate(PENDULUM, 0.1, q=np.zeros((2, 2)), samples=3, backend="cuda")
