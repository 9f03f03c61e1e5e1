"""Calls with arrays in the memory of a graphics processor, here a simulated one that runs the PTX."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.codegen.cuda import device_arrays
from kineta.codegen.cuda.device_arrays import DeviceArray
from kineta.errors import DeviceError, MissingPackageError
from tests.codegen.simulated_driver import CUresult, SimulatedDriver, installed
from tests.support import EXAMPLES, PILES, ROOT, examples

ARM = kn.derive(kn.load(EXAMPLES / "puma560.kin"))
TOP = kn.derive(kn.load(EXAMPLES / "spinning_top.kin"))
MASSES = kn.derive(kn.load(EXAMPLES / "oscillator_chain.kin"))
RNG = np.random.default_rng(5)


@pytest.fixture
def driver() -> Iterator[SimulatedDriver]:
    with installed(SimulatedDriver()) as made:
        yield made


class OfAnotherLibrary:
    """An array of another library, that knows DLPack or the CUDA array interface alone."""

    def __init__(self, array: DeviceArray, **interface: Any) -> None:
        self.array = array
        if interface:
            self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **interface}

    def __getattr__(self, name: str) -> Any:
        if name in ("__dlpack_device__", "__dlpack__") and "__cuda_array_interface__" not in self.__dict__:
            return getattr(self.array, name)
        raise AttributeError(name)


def rows(equations: kn.Equations, n: int) -> list[np.ndarray]:
    return [RNG.uniform(-1, 1, (n, size)) for size in (equations.system.nq, equations.system.nv)]


def close(found: DeviceArray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.slow
def test_arrays_stay_on_the_device(driver: SimulatedDriver) -> None:
    q, v = rows(ARM, 150)
    on_device = [DeviceArray.of(x) for x in (q, v)]
    before = driver.copies
    f = ARM.function("mass_and_bias", "cuda")
    found = f(0.0, *on_device)
    assert driver.copies - before == 1  # the time
    f(0.0, *on_device)
    assert driver.copies - before == 2
    assert driver.launches[-1][1:] == (2, 128)
    expected = ARM.function("mass_and_bias")(0.0, q, v)
    assert found._fields == expected._fields
    for one, other in zip(found, expected, strict=True):
        close(one, other)


@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_any_leading_axes(driver: SimulatedDriver, lead: tuple[int, ...]) -> None:
    q, v, tau = RNG.uniform(-1, 1, (3, *lead, 6))
    f, g = ARM.function("forward", "cuda"), ARM.function("forward")
    given = [DeviceArray.of(x) for x in (q, v, tau)]
    expected = g(0.0, q, v, tau)
    close(f(0.0, *given), expected)
    close(f(DeviceArray.of(np.zeros(lead)), *given), expected)
    close(f(0.0, given[0], v, tau), expected)  # those of the host are copied
    close(f(0.0, *given[:2]), g(0.0, q, v))
    close(f(0.0, *given[:2], DeviceArray.of(np.array(0.5))), g(0.0, q, v, 0.5))
    close(f(np.zeros(lead[-1:]), *given), expected)


def test_parameters_on_the_device(driver: SimulatedDriver) -> None:
    q, v = rows(MASSES, 7)
    p = RNG.uniform(1, 2, (7, len(MASSES.system.parameter_names)))
    f, g = MASSES.function("forward", "cuda"), MASSES.function("forward")
    given = [DeviceArray.of(x) for x in (q, v)]
    close(f(0.0, *given, p=DeviceArray.of(p)), g(0.0, q, v, p=p))
    close(f(0.0, *given, p=DeviceArray.of(p[0])), g(0.0, q, v, p=p[0]))
    close(f(0.0, *given, p=p), g(0.0, q, v, p=p))
    close(f(0.0, *given, p={"m1": 3.0}), g(0.0, q, v, p={"m1": 3.0}))
    np.testing.assert_allclose(f(0.0, q, v, p=p), g(0.0, q, v, p=p), rtol=1e-12)


def test_quaternions_are_normalised_on_the_device(driver: SimulatedDriver) -> None:
    q, v = rows(TOP, 6)
    for quantity in ("forward", "rotations"):
        close(
            TOP.function(quantity, "cuda")(0.0, DeviceArray.of(3 * q), DeviceArray.of(v)),
            TOP.function(quantity)(0.0, 3 * q, v),
        )


def test_results_go_into_given_arrays(driver: SimulatedDriver) -> None:
    q, v = rows(ARM, 5)
    given = [DeviceArray.of(x) for x in (q, v)]
    M, bias = DeviceArray((5, 6, 6)), DeviceArray((5, 6))
    found = ARM.function("mass_and_bias", "cuda")(0.0, *given, out=(M, bias))
    assert found.mass_matrix is M
    close(M, ARM.function("mass_matrix")(0.0, q, v))
    assert driver.streams[-1] == 1  # waited for


def test_other_libraries_give_arrays(driver: SimulatedDriver) -> None:
    q, v = rows(ARM, 5)
    expected = ARM.function("forward")(0.0, q, v)
    f = ARM.function("forward", "cuda")
    turned = DeviceArray.of(np.ascontiguousarray(q.T))
    strides = {"shape": (5, 6), "strides": (8, 40), "stream": 7}
    for one in (OfAnotherLibrary(DeviceArray.of(q)), OfAnotherLibrary(turned, **strides)):
        close(f(0.0, one, DeviceArray.of(v)), expected)
    assert 7 in driver.streams  # its own work was waited for


@pytest.mark.slow
def test_numpy_takes_an_array_as_another_library_would(
    driver: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simulated memory is that of the host."""
    monkeypatch.setattr(device_arrays, "_CUDA", 1)
    x = RNG.uniform(-1, 1, (3, 4, 2))
    own = DeviceArray.of(x)
    shared = np.from_dlpack(own)
    np.testing.assert_array_equal(shared, x)
    del own
    gc.collect()
    np.testing.assert_array_equal(shared, x)
    assert len(driver.live) == 1
    del shared
    gc.collect()
    assert not driver.live
    DeviceArray((2,)).__dlpack__(stream=9)  # a capsule that nobody takes over
    assert driver.streams == [9]
    gc.collect()
    assert not driver.live
    assert not device_arrays._held


AT_THE_END = """
import atexit
import numpy as np

@atexit.register
def last():
    del held["array"]
    print(len(device_arrays._held))

from kineta.codegen.cuda import device_arrays
from tests.codegen.simulated_driver import SimulatedDriver, installed
device_arrays._CUDA = 1
with installed(SimulatedDriver()):
    held = {"array": np.from_dlpack(device_arrays.DeviceArray.of(np.ones(3)))}
"""


def test_who_holds_an_array_longer_than_python_calls_nothing_of_it() -> None:
    """What is registered first runs last, as the ends of other libraries do."""
    done = subprocess.run([sys.executable, "-c", AT_THE_END], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@pytest.mark.slow
def test_memory_is_given_back(driver: SimulatedDriver) -> None:
    f = ARM.function("forward", "cuda")
    q, v = rows(ARM, 5)
    for _ in range(3):
        f(0.0, q, v)
        f(0.0, DeviceArray.of(q), v)
    gc.collect()
    assert len(driver.live) == 1  # the parameters
    assert not driver.contexts


WRONG: dict[str, tuple[Callable[[kn.Function, DeviceArray, DeviceArray], Any], str]] = {
    "columns": (
        lambda f, q, v: f(0.0, DeviceArray((5, 4)), v),
        "Expected q of shape (6,) or (..., 6) for (q1, q2, q3, q4, q5, q6), found shape (5, 4).",
    ),
    "rows": (
        lambda f, q, v: f(0.0, q, DeviceArray((4, 6))),
        "Expected leading axes that agree, found t (), q (5,), v (4,), tau (), h ().",
    ),
    "parameters": (
        lambda f, q, v: f(0.0, q, v, p=DeviceArray((5, 9))),
        "Expected p of shape (0,) or (..., 0) for (), found shape (5, 9).",
    ),
    "processors": (
        lambda f, q, v: f(0.0, q, DeviceArray((5, 6), 1)),
        "Expected arrays on one graphics processor, found those of the processors 0, 1.",
    ),
    "no such processor": (
        lambda f, q, v: DeviceArray((5, 6), 2),
        "Expected a graphics processor below 2, found number 2.",
    ),
    "out, shape": (
        lambda f, q, v: f(0.0, q, v, out=DeviceArray((5, 5))),
        "Expected out as an array of shape (5, 6) on the graphics processor, found shape (5, 5).",
    ),
    "out, elsewhere": (
        lambda f, q, v: f(0.0, q, v, out=np.zeros((5, 6))),
        "Expected out as an array of shape (5, 6) on the graphics processor, found an array.",
    ),
    "out, an argument": (
        lambda f, q, v: f(0.0, q, v, out=v),
        "Expected out as memory of its own, found memory of an argument or another result.",
    ),
    "out, read-only": (
        lambda f, q, v: f(0.0, q, v, out=OfAnotherLibrary(DeviceArray((5, 6)), data=(v.view.address, True))),
        "Expected out as an array that may be written to, found one that is read-only.",
    ),
    "out, number": (
        lambda f, q, v: f(0.0, q, v, out=(v, v)),
        "Expected out as an array of shape (5, 6) on the graphics processor, found a tuple.",
    ),
    "type": (
        lambda f, q, v: f(0.0, OfAnotherLibrary(q, typestr="<f4"), v),
        "Expected q of numbers of 64 bits (float64), found <f4.",
    ),
    "strides": (
        lambda f, q, v: f(0.0, OfAnotherLibrary(q, shape=(2, 2, 6), strides=(200, 48, 8)), DeviceArray((2, 2, 6))),
        "Expected q with axes at equal distances, found strides (25, 6, 1) of the shape (2, 2, 6). "
        "Give a contiguous array with all leading axes.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_a_sentence(driver: SimulatedDriver, case: str) -> None:
    call, sentence = WRONG[case]
    q, v = (DeviceArray.of(x) for x in rows(ARM, 5))
    with pytest.raises(kn.KinetaError) as raised:
        call(ARM.function("forward", "cuda"), q, v)
    assert str(raised.value) == sentence


def test_a_machine_without_a_graphics_processor() -> None:
    f = kn.derive(kn.loads("A | Rz(q) = 1, 1, 1, 2;")).function("forward", "cuda")
    sentence = "Expected a graphics processor of Nvidia, found none (CUDA_ERROR_NO_DEVICE). "
    with installed(SimulatedDriver(CUresult.CUDA_ERROR_NO_DEVICE)), pytest.raises(DeviceError) as raised:
        f(0.0, [1.0], [2.0])
    assert str(raised.value) == sentence + "The backends 'llvm' and 'numpy' need none."
    with installed(None), pytest.raises(MissingPackageError, match=r"'cuda-bindings': pip install 'kineta\[gpu\]'"):
        f(0.0, [1.0], [2.0])
    with installed(SimulatedDriver(room=1000)), pytest.raises(DeviceError) as raised:
        f(0.0, np.ones((500, 1)), [2.0])
    expected = "The graphics processor failed in cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY)."
    assert str(raised.value) == expected
    assert "fma" in f.ptx() or ".entry forward" in f.ptx()


@pytest.mark.slow
@pytest.mark.parametrize("model", examples(without=PILES))
@pytest.mark.filterwarnings("ignore:.* redundant and left out")
def test_every_example_on_the_device(driver: SimulatedDriver, model: str) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{model}.kin"))
    q, v = rows(equations, 2)
    for quantity in ("energy", "forward", "outputs"):  # accelerations have mass matrix and bias in them
        expected = equations.function(quantity)(0.2, q, v)
        found = equations.function(quantity, "cuda")(0.2, DeviceArray.of(q), DeviceArray.of(v))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-11)
