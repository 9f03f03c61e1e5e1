"""The loop over many cases: every case moves as it would alone, whatever lies in the lanes beside it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kineta.integration import loop_abi, native_ensemble
from kineta.integration.native import DenseOutput, NativeRun
from kineta.integration.native_ensemble import Ensemble, EnsembleRun
from kineta.integration.problem import Events, Problem
from kineta.kernels.ensemble import ensemble_loop
from kineta.kernels.integrate import integration_loop
from kineta.numerics.tableaux import DOP853, DOPRI5, Tableau
from tests.integration.problems import FloatArray, address, random_rate

#: Rows of times, states and blocks h to rows of rates.
Rates = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

_pointer = ctypes.POINTER(ctypes.c_double)
_kept: list[Any] = []


def in_lanes(f: Rates, n: int, nh: int, lanes: int, results: int) -> int:
    """Address of *f*, with so many results, for one state per lane."""

    def call(t: Any, y: Any, block: Any, out: Any, mask: int) -> None:
        rows = [np.ctypeslib.as_array(x, (k, lanes)).T for x, k in ((t, 1), (y, n), (block, nh), (out, results)) if k]
        asked = [lane for lane in range(lanes) if mask >> lane & 1]
        with np.errstate(all="ignore"):
            rows[-1][asked] = f(rows[0][:, 0], rows[1], rows[2] if nh else np.empty((lanes, 0)))[asked]

    function = ctypes.CFUNCTYPE(None, *[_pointer] * 4, ctypes.c_uint8)(call)
    _kept.append(function)
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def runs(f: Rates, t0: float, t1: float, y0: Any, h: Any = ((),), *, threads: int = 1, **more: Any) -> EnsembleRun:
    """The cases y' = f(t, y, h), y(t0) = a row of *y0*, carried to their ends."""
    found = begun(f, t0, t1, y0, h, **more)
    found.run(threads, lambda _: None)
    return found


def begun(f: Rates, t0: float, t1: float, y0: Any, h: Any = ((),), **more: Any) -> EnsembleRun:
    y0, h = np.array(y0, dtype=float), np.array(h, dtype=float)
    lanes, tableau = more.pop("lanes", 4), more.pop("tableau", DOP853)
    grid = np.array(more.pop("grid", []), dtype=float)
    events = len(more.get("directions", ()))
    value = more.pop("events", None)
    found = {"values0": np.zeros((len(y0), events)), "noise": np.full((len(y0), events), -1.0)}
    found |= {name: more.pop(name) for name in found if name in more}

    def rates(t: Any, y: FloatArray) -> FloatArray:
        return f(np.broadcast_to(t, len(y)), y, h)

    def values(t: FloatArray, y: FloatArray, h: FloatArray) -> FloatArray:
        return np.array([value(t[i], y[i]) for i in range(len(t))])

    size = y0.shape[1], h.shape[1], lanes
    given = [np.array(more.pop(name, ()), dtype=np.int64) for name in ("directions", "left")]
    watched = Events(in_lanes(values, *size, events), *given, *(np.full(events, x) for x in (-1.0, np.inf)))
    first = Problem(
        in_lanes(f, *size, y0.shape[1]), h[0], t0, t1, y0[0], more.pop("quaternions", ()), more.pop("integrals", 0),
        watched if events else None,
    )  # fmt: skip
    cases = Ensemble(first, lanes, h, y0, rates(t0, y0), **found, largest=np.empty((len(y0), 0)))
    options = {"rtol": 1e-8, "atol": 1e-8, "max_step": np.inf, "max_steps": 10**9, **more}
    return EnsembleRun(tableau, ensemble_loop(tableau, lanes), cases, grid, **options)


def alone(f: Rates, t0: float, t1: float, y0: FloatArray, h: FloatArray, tableau: Tableau, **options: Any) -> NativeRun:
    def rate(t: float, y: FloatArray) -> FloatArray:
        return f(np.array([t]), y[None], h[None])[0]

    problem = Problem(address(rate, len(y0)), np.zeros(1), t0, t1, y0)
    return NativeRun(tableau, integration_loop(tableau), problem, dense=True, **options)


def shaken(seed: int) -> tuple[Rates, int]:
    """A random rate with two parameters, and the number of its states."""
    rate, y0 = random_rate(seed)

    def rates(t: FloatArray, y: FloatArray, h: FloatArray) -> FloatArray:
        return np.array([rate(t[i], y[i]) * h[i % len(h), 0] + h[i % len(h), 1] for i in range(len(y))])

    return rates, len(y0)


def turning(t: FloatArray, y: FloatArray, h: FloatArray) -> FloatArray:
    """Rotation with the speeds h, all at one for none."""
    w = h if h.shape[1] else 1.0
    return np.column_stack([w * y[:, 1:], -w * y[:, :1]])


def status(found: EnsembleRun) -> list[int]:
    return found.status.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "lanes", "tableau", "span"),
    [(1, 4, DOPRI5, (3, 1)), (0, 2, DOP853, (0, 2)), (2, 8, DOP853, (2, -1)), (3, 8, DOPRI5, (0, 2))],
)
def test_every_case_moves_as_it_would_alone(seed: int, lanes: int, tableau: Tableau, span: tuple[float, float]) -> None:
    rates, n = shaken(seed)
    rng = np.random.default_rng(seed)
    y0, h = rng.normal(size=(11, n)), rng.uniform(0.5, 2, size=(11, 2))
    options = {"rtol": 1e-6, "atol": 1e-8, "max_step": 0.3}
    grid = np.linspace(*span, 7)
    found = runs(rates, *span, y0, h, lanes=lanes, tableau=tableau, grid=grid, **options)
    assert status(found) == [loop_abi.DONE] * 11
    for i in range(11):
        one = alone(rates, *span, y0[i], h[i], tableau, **options)
        pieces = list(one)
        t, y = np.concatenate([p.t for p in pieces]), np.vstack([p.y for p in pieces])
        assert (found.accepted[i], found.rejected[i]) == (len(t), one.rejected)
        assert found.t[i] == span[1]
        assert np.array_equal(found.y[i], y[-1])
        sizes, interpolants = (
            np.concatenate([getattr(p.solution, n) for p in pieces]) for n in ("sizes", "coefficients")
        )
        dense = DenseOutput(np.r_[span[0], t], np.vstack([y0[i], y]), sizes, interpolants)
        assert np.array_equal(found.samples[i], dense(grid).T)
        spared, further = divmod(one.evaluations - found.evaluations[i], len(tableau.extra) or 1)
        assert 0 <= spared <= found.accepted[i]
        assert further == 0


@pytest.mark.slow
def test_neighbours_threads_and_pauses_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rates, n = shaken(4)
    y0 = np.random.default_rng(4).normal(size=(19, n))
    h = np.array([[1.0, 0.0]])
    grid = np.linspace(0, 3, 5)
    plain = runs(rates, 0, 3, y0, h, grid=grid)
    turned = runs(rates, 0, 3, y0[::-1], h, grid=grid, threads=3)
    monkeypatch.setattr(native_ensemble, "STEPS", 3)
    monkeypatch.setattr(native_ensemble, "PAUSE", 0.0)
    paused = runs(rates, 0, 3, y0, h, grid=grid)
    for other, order in ((turned, slice(None, None, -1)), (paused, slice(None))):
        assert np.array_equal(plain.y, other.y[order])
        assert np.array_equal(plain.samples, other.samples[order])
        for name in ("accepted", "rejected", "evaluations", "recorded", "status"):
            assert np.array_equal(getattr(plain, name), getattr(other, name)[order])


def test_a_case_that_fails_leaves_the_others_alone() -> None:
    def rates(t: FloatArray, y: FloatArray, h: FloatArray) -> FloatArray:
        """A pole, the end of a root, nothing at all, or a slow turn."""
        kind = np.broadcast_to(h, (len(y), 1))
        return np.select([kind == 0, kind == 1, kind == 2], [y * y, -1 - 1e-9 * np.sqrt(y), y * np.nan], np.cos(y))

    kinds = np.array([0.0, 3, 1, 3, 2, 3, 0, 1, 3])
    found = runs(lambda t, y, h: rates(t, y, h), 0, 5, np.ones((9, 1)), kinds[:, None], lanes=8, grid=[0, 0.5, 5])
    expected = {
        0: loop_abi.STEP_TOO_SMALL,
        1: loop_abi.NOT_FINITE,
        2: loop_abi.NOT_FINITE,
        3: loop_abi.DONE,
    }
    assert status(found) == [expected[int(k)] for k in kinds]
    assert found.t == pytest.approx([{0: 1, 1: 1, 2: 0, 3: 5}[int(k)] for k in kinds], abs=1e-6)
    assert found.recorded.tolist() == [{0: 2, 1: 2, 2: 1, 3: 3}[int(k)] for k in kinds]
    assert np.isnan(found.samples[kinds < 3, 2]).all()
    assert np.isfinite(found.samples[kinds == 3]).all()


@pytest.mark.slow
def test_steps_of_a_case_are_limited() -> None:
    found = runs(turning, 0, 100, [[1, 0], [2, 0], [0, 0]], [[10.0], [1], [0]], max_steps=50)
    assert status(found) == [loop_abi.OUT_OF_STEPS, loop_abi.OUT_OF_STEPS, loop_abi.DONE]
    assert found.accepted[:2].tolist() == [50, 50]
    assert 0 < found.t[0] < found.t[1] < 100


def test_zeros_are_found_in_every_case() -> None:
    """cos(w t + a) = 0 rising, and the second zero of sin(w t + a) as the end."""
    rng = np.random.default_rng(6)
    w, a = rng.uniform(0.5, 2, 13), rng.uniform(0.1, 3, 13)
    y0 = np.column_stack([np.cos(a), -np.sin(a)])
    found = runs(
        turning, 0, 30, y0, w[:, None], lanes=8, rtol=1e-10, atol=1e-10, grid=np.linspace(0, 30, 400),
        events=lambda t, y: y, values0=y0, directions=(1, 0), left=(0, 2),
    )  # fmt: skip
    assert status(found) == [loop_abi.EVENT] * 13
    ends = (2 * np.pi - a) / w
    assert found.t == pytest.approx(ends, abs=1e-8)
    assert found.y[:, 0] == pytest.approx(1, abs=1e-8)
    assert found.ended.tolist() == [1] * 13
    rising = found.zeros.t[found.zeros.event == 0]
    assert rising == pytest.approx((1.5 * np.pi - a) / w, abs=1e-8)
    assert found.zeros.case[found.zeros.event == 1].tolist() == np.repeat(np.arange(13), 2).tolist()
    assert found.zeros.y[found.zeros.event == 0][:, 0] == pytest.approx(0, abs=1e-9)
    recorded = np.linspace(0, 30, 400) <= found.t[:, None]
    assert np.array_equal(np.isfinite(found.samples[:, :, 0]), recorded)


def test_more_zeros_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_ensemble, "ROOM", 1)
    found = runs(
        turning, 0, 40, np.eye(2)[[0] * 9], events=lambda t, y: y,
        values0=np.eye(2)[[0] * 9], directions=(0, 0), left=(0, 0),
    )  # fmt: skip
    assert len(found.zeros.t) == 9 * (13 + 12)


def test_an_interruption_leaves_cases_where_they_are() -> None:
    def enough(ended: int) -> None:
        raise KeyboardInterrupt

    found = begun(turning, 0, 1e4, np.ones((9, 2)), max_step=1e-4)
    with pytest.raises(KeyboardInterrupt):
        found.run(1, enough)
    assert set(status(found)) == {loop_abi.PAUSED}
    assert np.array_equal(found.t > 0, found.accepted > 0)
    assert {0, 1} == {*(found.t > 0).astype(int)}
    turned = np.column_stack([np.cos(found.t) + np.sin(found.t), np.cos(found.t) - np.sin(found.t)])
    assert found.y == pytest.approx(turned, abs=1e-12)
