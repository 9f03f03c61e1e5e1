"""Impulses of an impact from Newton's or Poisson's law of restitution and Coulomb's, with dense matrices and Newton's method.

The laws of a contact with the impulse (n, t) and the velocity (u_n, u_t) after it are the zeros of

    n - max(least, n - r u_n),   t - P(t - r u_t),   P the projection onto the disc of radius mu n,

for any r > 0 (Alart and Curnier 1991).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def law_impulses(S: FloatArray, b: FloatArray, mu: FloatArray, least: FloatArray) -> FloatArray:
    """Impulses x (3 m,) with normal ones of *least* (m,) at least, and velocities S x + b (3 m,) that satisfy the laws."""
    r, m = 1.0 / np.linalg.norm(S, 2), len(mu)

    def misfit(x: FloatArray) -> FloatArray:
        y = (x - r * (S @ x + b)).reshape(m, 3)
        n = np.maximum(least, y[:, 0])
        size = np.linalg.norm(y[:, 1:], axis=1) + 1e-300
        t = y[:, 1:] * np.minimum(1.0, mu * n / size)[:, None]
        return x - np.column_stack([n, t]).ravel()

    x = np.zeros(3 * m)
    for _ in range(10_000):
        for _ in range(100):
            x = x - misfit(x)
        y = newton(misfit, x)
        if np.abs(misfit(y)).max() < 1e-13 * max(1.0, np.abs(y).max()):
            return y
    raise AssertionError("no impulses found")


def newton(misfit: Callable[[FloatArray], FloatArray], x: FloatArray, steps: int = 8) -> FloatArray:
    """A zero of *misfit* near x."""
    for _ in range(steps):
        off, d = misfit(x), 1e-7 * max(1.0, float(np.abs(x).max()))
        J = np.array([(misfit(x + d * e) - misfit(x - d * e)) / (2 * d) for e in np.eye(len(x))]).T
        x = x - np.linalg.lstsq(J, off, rcond=None)[0]
    return x


def newton_impulses(S: FloatArray, v: FloatArray, mu: FloatArray, e: FloatArray) -> FloatArray:
    """Impulses at velocities v (3 m,) along the rows, after which contacts open with e (m,) times their approach at least."""
    b = v.copy()
    b[::3] += e * v[::3]
    return law_impulses(S, b, mu, np.zeros(len(mu)))


def poisson_impulses(S: FloatArray, v: FloatArray, mu: FloatArray, e: FloatArray, closing: FloatArray) -> FloatArray:
    """Impulses at velocities v (3 m,) along the rows: those while contacts open are e (m,) times those while they closed at
    least, *closing*.
    """
    return closing + law_impulses(S, v + S @ closing, mu, e * closing[::3])


def without_gain(
    S: FloatArray, v: FloatArray, e: FloatArray, impulses: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """The *impulses* with a restitution e (m,), or with the largest part of it that gains no energy."""

    def gains(x: FloatArray) -> bool:
        return bool(x @ (v + S @ x / 2) > 1e-13 * np.abs(x * v).sum())

    x = impulses(e)
    low, high = (0.0, 1.0) if gains(x) else (1.0, 1.0)
    while high - low > 1e-13:
        share = (low + high) / 2
        x = impulses(share * e)
        low, high = (low, share) if gains(x) else (share, high)
    return x
