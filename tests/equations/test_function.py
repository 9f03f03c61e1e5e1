"""Calls of compiled functions: whichever way they take, they mean the same."""

from __future__ import annotations

import ctypes
import gc
import inspect
import pickle
import re
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import nquad, quad, solve_ivp

import kineta as kn
from kineta.codegen import python_abi
from kineta.codegen.compiled_functions import CALLS
from kineta.equations import argument_layout
from kineta.equations.function import BACKENDS, parameter_values
from kineta.errors import ArgumentError
from tests.support import EXAMPLES

RNG = np.random.default_rng(2)
TOP = kn.derive(kn.load(EXAMPLES / "spinning_top.kin"))
ARM = kn.derive(kn.load(EXAMPLES / "puma_andreev.kin"))


def state(system: kn.System, *lead: int) -> tuple[np.ndarray, np.ndarray]:
    """Random coordinates, their quaternions of any length, and speeds."""
    return RNG.uniform(-1, 1, (*lead, system.nq)), RNG.uniform(-1, 1, (*lead, system.nv))


def rest(f: kn.Function, *lead: int) -> list[np.ndarray]:
    return [RNG.uniform(-1, 1, (*lead, f.system.nv)) for _ in f.arguments[3:]]


def arrays(result: Any) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


def same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    for x, y in zip(arrays(a), arrays(b), strict=True):
        assert (type(x), x.shape, x.dtype) == (type(y), y.shape, y.dtype)
        np.testing.assert_array_equal(x, y)


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A call that must not go by way of Python."""
    if not python_abi.available():
        pytest.skip("another ABI than CPython's on 64 bits")

    def refused(*_: Any) -> None:
        raise AssertionError("by way of Python")

    def call(f: kn.Function, *given: Any, **named: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(argument_layout, "bound_arguments", refused)
            return f(*given, **named)

    return call


@pytest.mark.parametrize("model", ["spinning_top", "free_satellite", "hopping_robot_stance"])
def test_both_ways_agree_to_the_bit_with_each_other_and_with_rows(model: str, direct: Callable[..., Any]) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{model}.kin"))
    for quantity in ("forward", "inverse", "mass_and_bias", "energy", "positions", "outputs"):
        f = equations.function(quantity)
        q, v = state(f.system)
        more = rest(f)
        checked = f(0.3, q, v, *more)
        same(direct(f, 0.3, q, v, *more), checked)
        same(f(0.3, q.tolist(), v, *more), checked)
        rows = f(0.3, np.tile(q, (9, 1)), v, *more)
        for one, row in zip(arrays(checked), arrays(rows), strict=True):
            np.testing.assert_array_equal(row, np.broadcast_to(one, row.shape))


def test_what_people_write_takes_the_short_way(direct: Callable[..., Any]) -> None:
    forward, inverse = ARM.function("forward"), ARM.function("inverse")
    q, v = state(ARM.system)
    tau = RNG.uniform(-1, 1, ARM.system.nv)
    expected, free = forward(0.0, q, v, tau), forward(0.0, q, v)
    inverse(0.0, q, v, tau)
    for t in (0.0, 0, np.float64(0)):
        same(direct(forward, t, q, v, tau), expected)
        same(direct(forward, t, q, v, tau=tau), expected)
        same(direct(forward, t, v=v, q=q, tau=tau, p=None), expected)
        same(direct(forward, t, q, v), free)
        same(direct(forward, t, q, v, 0.0), free)
        same(direct(forward, t, q, v, tau=0), free)
    same(direct(inverse, 0.0, q, v, vdot=expected), inverse(0.0, q, v, expected.tolist()))
    y = np.concatenate([q, v])
    same(direct(forward, 0.0, y[: ARM.system.nq], y[ARM.system.nq :]), free)


@pytest.mark.parametrize("model", ["puma_andreev", "spinning_top", "hopping_robot_stance"])
@pytest.mark.parametrize("quantity", ["forward", "energy", "mass_and_bias"])
def test_lists_other_parameters_and_few_rows_are_not_checked_anew(
    model: str, quantity: str, direct: Callable[..., Any]
) -> None:
    f = kn.derive(kn.load(EXAMPLES / f"{model}.kin")).function(quantity)
    q, v = state(f.system)
    more = rest(f)
    f(0.3, q, v, *more)
    same(direct(f, 0.3, q.tolist(), tuple(v), *(x.tolist() for x in more)), f(0.3, q, v, *more))
    if names := f.system.parameter_names:
        values = parameter_values(f.system)
        for k in range(2 * CALLS):  # interpreted at first, then in machine code
            values[0] = 1.0 + 0.1 * k
            found, checked = (
                direct(f, 0.3, q, v, *more, p={names[0]: values[0]}),
                f._checked(0.3, q, v, *more, p=values),
            )
            for one, other in zip(arrays(found), arrays(checked), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)
        same(direct(f, 0.3, q.tolist(), v, *more, values), direct(f, 0.3, q, v, *more, values.copy()))
    if quantity == "forward":
        rows = np.stack([q, -q])
        same(direct(f, 0.3, rows, v, *more), f._checked(0.3, rows, v, *more))


def test_what_is_no_plain_number_is_checked_after_all() -> None:
    f = kn.derive(kn.load(EXAMPLES / "puma_andreev.kin")).function("forward")
    q, v = state(f.system)
    name = f.system.parameter_names[0]
    f(0.0, q, v)
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: f(0.0, [True, *q[1:]], v), "Expected numbers for q"),
        (lambda: f(0.0, ["1"] * 6, v), "Expected numbers for q"),
        (lambda: f(0.0, q.tolist()[:5], v), "Expected q of shape"),
        (lambda: f(0.0, [10**400, *q[1:]], v), "Expected numbers that a float can hold for q"),
        (lambda: f(0.0, q, v, p={"no": 1.0}), "'no' is not a parameter"),
        (lambda: f(0.0, q, v, p={name: True}), f"the parameter {name}"),
        (lambda: f(0.0, q, v, 0.0, None, p={}), "Expected arguments as in"),
        (lambda: f(0.0, np.ones((2, 6)), np.ones((3, 6))), "Expected leading axes that agree"),
    ]
    for call, said in wrong:
        with pytest.raises(ArgumentError, match=re.escape(said)):
            call()
    np.testing.assert_array_equal(f(0.0, np.ones((9, 6)), v), f(0.0, np.ones((8, 6)), v)[[0] * 9])
    assert f(0.0, np.ones((0, 6)), v).shape == (0, 6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_go_into_given_arrays(backend: str) -> None:
    f, both = ARM.function("bias", backend), ARM.function("mass_and_bias", backend)
    n = ARM.system.nv
    for lead in ((), (), (3,)):
        q, v = state(ARM.system, *lead)
        out, M, bias = np.empty((*lead, n)), np.empty((*lead, n, n)), np.empty((*lead, n))
        assert f(0.0, q, v, out=out) is out
        np.testing.assert_array_equal(out, f(0.0, q, v))
        found = both(0.0, q, v, out=(M, bias))
        assert found.mass_matrix is M
        assert found.bias is bias
        same(found, both(0.0, q, v))


def test_a_result_may_go_where_an_argument_is() -> None:
    f = ARM.function("bias")
    for _ in range(2):
        q, v = state(ARM.system)
        expected = f(0.0, q, v)
        assert f(0.0, q, v, out=v) is v
        np.testing.assert_array_equal(v, expected)


READ_ONLY = np.broadcast_to(0.0, ARM.system.nv)
N = ARM.system.nv
WRONG: dict[str, tuple[str, Any, str]] = {
    "no array": ("bias", [0.0] * N, f"Expected out as an array of shape ({N},), found [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]."),
    "shape": (
        "bias",
        np.empty((1, N)),
        f"Expected out as an array of float64 of shape ({N},), found float64 of shape (1, {N}).",
    ),
    "numbers": (
        "bias",
        np.empty(N, np.float32),
        f"Expected out as an array of float64 of shape ({N},), found float32 of shape ({N},).",
    ),
    "read-only": ("bias", READ_ONLY, "Expected out as an array that may be written to, found one that is read-only."),
    "one for two": (
        "mass_and_bias",
        READ_ONLY,
        "Expected out as a tuple of 2 arrays, found array([0., 0., 0., 0., 0., 0.]).",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_out_is_named(what: str) -> None:
    quantity, out, message = WRONG[what]
    f = ARM.function(quantity)
    for _ in range(2):
        with pytest.raises(ArgumentError, match=f"^{re.escape(message)}$"):
            f(0.0, *state(ARM.system), out=out)
        f(0.0, *state(ARM.system))


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_argument_is_named(missing: int) -> None:
    f = ARM.function("bias")
    with pytest.raises(ArgumentError, match=rf"^Expected arguments as in <bias\(.*>, found no {'tqv'[missing]}\.$"):
        f(*(0.0, *state(ARM.system))[:missing])


# -- parameters -----------------------------------------------------------------------------------------------------


def test_bound_parameters_are_those_of_every_call(direct: Callable[..., Any]) -> None:
    f = ARM.function("forward")
    q, v = state(ARM.system)
    names = ARM.system.parameter_names
    values = {n: 1.1 * p.value for n, p in zip(names, ARM.system.parameters, strict=True) if p.value is not None}
    expected = f(0.0, q, v, p=values)
    row = np.array([values[n] for n in names])
    for g in (f.bind(values), f.bind(row), pickle.loads(pickle.dumps(f.bind(values)))):
        same(g(0.0, q, v), expected)
        same(direct(g, 0.0, q, v), expected)
        same(g(0.0, np.stack([q, q]), v)[1], g(0.0, np.stack([q, q]), v)[0])
        assert repr(g).endswith("of 'puma_andreev', llvm, parameters bound>")
    one = {names[0]: 2.0}
    same(f.bind(values).bind(one)(0.0, q, v), f(0.0, q, v, p=values | one))
    same(f.bind(values)(0.0, q, v, p=one), f(0.0, q, v, p=values | one))
    bound = f.bind(row)
    row[:] = np.nan
    same(bound(0.0, q, v), expected)
    same(f(0.0, q, v), f(0.0, q.tolist(), v))


def test_a_model_without_values_is_called_with_bound_ones(direct: Callable[..., Any]) -> None:
    q, m = kn.symbols("q m")
    f = kn.derive(kn.System("s", [kn.body("A", [kn.Sx(q)], kn.inertia(m))])).function("forward")
    g = f.bind({"m": 2.0})
    state = (0.0, np.zeros(1), np.zeros(1), np.ones(1))
    for call in (g, lambda *given: direct(g, *given)):
        np.testing.assert_array_equal(call(*state), [0.5])
    with pytest.raises(ArgumentError, match="the parameter m needs a value"):
        f(*state)
    with pytest.raises(ArgumentError, match=r"^Expected one set of parameters to bind, found p of shape \(2, 1\)\.$"):
        f.bind({"m": [1.0, 2.0]})


# -- quaternions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_quaternion_of_any_length_is_the_turn_of_its_unit(backend: str) -> None:
    system = TOP.system
    offset = next(iter(system.quaternions.values()))
    for quantity in ("rotations", "forward", "qdot", "mass_and_bias"):
        f = TOP.function(quantity, backend)
        q, v = state(system)
        unit = q.copy()
        unit[offset : offset + 4] /= np.linalg.norm(unit[offset : offset + 4])
        expected = f(0.0, unit, v)
        for factor in (1.0, -2.0, 1e-3, 1 + 1e-9):
            other = q.copy()
            other[offset : offset + 4] *= factor
            signed = arrays(expected) if quantity != "qdot" else (np.sign(factor) * np.asarray(expected),)
            for rows in (other, other[np.newaxis]):
                for a, b in zip(arrays(f(0.0, rows, v)), signed, strict=True):
                    np.testing.assert_allclose(a.reshape(b.shape), b, rtol=1e-12, atol=1e-12)
            assert (other[offset : offset + 4] != unit[offset : offset + 4]).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_quaternion_without_a_length_is_named(backend: str) -> None:
    f = TOP.function("forward", backend)
    system = TOP.system
    v = np.zeros(system.nv)
    f(0.0, *state(system))
    for q in (np.zeros(system.nq), np.zeros((2, system.nq))):
        with pytest.raises(
            ArgumentError, match=r"the quaternion of '\w+' has the length 0; expected 1 \(qw, qx, qy, qz"
        ):
            f(0.0, q, v)
    nan = np.full(system.nq, np.nan)
    assert np.isnan(f(0.0, nan, v)).any()


# -- ways in --------------------------------------------------------------------------------------------------------


def test_solve_ivp_takes_the_rate_of_the_state() -> None:
    rate, n = TOP.function("state_rate"), TOP.system.nq
    start = kn.simulate(TOP, 1e-9)
    found = solve_ivp(
        lambda t, y: rate(t, y[:n], y[n:]),
        (0.0, 0.3),
        np.concatenate([start.q[0], start.v[0]]),
        rtol=1e-9,
        atol=1e-9,
    )
    run = kn.simulate(TOP, 0.3)
    assert found.success
    np.testing.assert_allclose(found.y[:, -1], np.concatenate([run.q[-1], run.v[-1]]), atol=1e-5)


def test_scipy_integrates_machine_code() -> None:
    energy = TOP.function("kinetic_energy")
    q, v = state(TOP.system)
    first, second = TOP.system.v_names[:2]

    def value(x: float, y: float) -> float:
        return float(energy(0.0, q, [x, y, *v[2:]]))

    code = energy.integrand([first, second], 0.0, q, v)
    found, _ = nquad(code, [(0, 1), (-1, 2)])
    expected, _ = nquad(value, [(0, 1), (-1, 2)])
    assert found == pytest.approx(expected, rel=1e-12)
    assert quad(energy.integrand("t", 0.0, q, v), 0, 2)[0] == pytest.approx(2 * energy(0.0, q, v), rel=1e-12)
    for wrong, message in {
        "top.w": "Model 'spinning_top' has no variable 'top.w' to integrate over. Did you mean 'top.wz'?",
        "top.qw": "Model 'spinning_top' has no variable 'top.qw' to integrate over.",
    }.items():
        with pytest.raises(ArgumentError, match=f"^{re.escape(message)}"):
            energy.integrand([wrong], 0.0, q, v)
    with pytest.raises(ArgumentError, match=r"^Expected a quantity that is one number, found <forward\(.*> of 3\.$"):
        TOP.function("forward").integrand(["t"], 0.0, q, v)
    with pytest.raises(ArgumentError, match=r"^Expected one state to integrate from, found rows\.$"):
        energy.integrand(["t"], 0.0, q, np.stack([v, v]))


def test_machine_code_is_called_by_its_address() -> None:
    f = ARM.function("forward")
    q, v = state(ARM.system)
    blocks = [np.array([0.3]), q, v, RNG.uniform(-1, 1, N), f.hoisted(), np.empty(N)]
    native, address = f.ctypes, f.address
    expected = f(0.3, *blocks[1:4])
    double = ctypes.POINTER(ctypes.c_double)
    pointers = [b.ctypes.data_as(double) for b in blocks]
    assert ctypes.cast(native, ctypes.c_void_p).value == address
    assert list(native.argtypes) == [double] * len(blocks)
    native(*pointers)
    np.testing.assert_array_equal(blocks[-1], expected)
    with pytest.raises(
        ArgumentError, match=r"^Expected a function compiled by llvm, found <forward.*numpy>: it has no"
    ):
        _ = ARM.function("forward", "numpy").address


def test_signatures_are_those_of_the_quantities() -> None:
    assert str(inspect.signature(ARM.function("bias"))) == "(t, q, v, p=None, *, out=None)"
    assert str(inspect.signature(ARM.function("forward"))) == "(t, q, v, tau=0.0, p=None, *, out=None)"
    assert str(inspect.signature(ARM.function("inverse"))) == "(t, q, v, vdot, p=None, *, out=None)"


def test_functions_that_have_been_called_are_forgotten() -> None:
    f = kn.derive(TOP.system).function("qdot")
    f(0.0, *state(TOP.system))
    gone, code = weakref.ref(f), f.ctypes
    del f
    gc.collect()
    assert gone() is None
    assert code.library is not None


def test_functions_that_have_been_called_are_sent_between_processes() -> None:
    f = TOP.function("mass_and_bias")
    q, v = state(TOP.system)
    expected = f(0.0, q, v)
    same(pickle.loads(pickle.dumps(f))(0.0, q, v), expected)


def test_out_has_a_place_for_every_entry() -> None:
    f = kn.derive(kn.load(EXAMPLES / "puma560.kin")).function("forward")
    shared = np.lib.stride_tricks.as_strided(np.zeros(6), (7, 6), (0, 8))
    with pytest.raises(kn.ArgumentError, match="entries share places"):
        f(0.0, np.zeros((7, 6)), np.zeros((7, 6)), out=shared)
    backwards = np.zeros((7, 6))[::-1]
    assert f(0.0, np.zeros((7, 6)), np.zeros((7, 6)), out=backwards) is backwards
