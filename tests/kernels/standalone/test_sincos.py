"""Sine and cosine of exported code: within rounding of the C library's, and the same bits by Python."""

from __future__ import annotations

import math

import numpy as np

from kineta.kernels.machine_code import machine_code
from kineta.kernels.standalone.sincos import sine_and_cosine


def test_sine_and_cosine_are_exact_to_rounding() -> None:
    compiled = machine_code(sine_and_cosine)
    rng = np.random.default_rng(0)
    near = [k * math.pi / 4 + d for k in range(-9, 10) for d in (-1e-9, 0.0, 1e-9)]
    for a in [*near, *rng.normal(size=200), *(1e5 * rng.normal(size=100)), 0.0, 3e6, math.inf, math.nan]:
        out, by_python = np.zeros(2), np.zeros(2)
        compiled(float(a), out)
        sine_and_cosine(float(a), by_python)
        np.testing.assert_array_equal(out, by_python)
        if math.isfinite(a):
            np.testing.assert_allclose(out, [math.sin(a), math.cos(a)], rtol=3e-16, atol=1e-22)
        else:
            assert np.isnan(out).all()
