"""Sine and cosine together, operation by operation as :mod:`kineta.codegen.sincos` without fused ones."""

from __future__ import annotations

from kineta.codegen.sincos import COS, LARGE, PI_2, ROUND, SIN, TWO_PI_INVERSE
from kineta.kernels.language import cos, fabs, kernel, sin
from kineta.memory import Reals


@kernel
def sine_and_cosine(a: float, out: Reals) -> None:
    """Set *out* (2,) to the sine and the cosine of an angle; those of angles beyond a million are the C library's."""
    if not fabs(a) <= LARGE:
        out[0] = sin(a)
        out[1] = cos(a)
        return
    n = (a * TWO_PI_INVERSE + ROUND) - ROUND
    high = a - n * PI_2[0]
    middle = n * PI_2[1]
    rest = high - middle
    low = ((high - rest) - middle) - n * PI_2[2]
    y = rest + low
    tail = (rest - y) + low
    z = y * y
    v = z * y
    r = SIN[-1]
    for coefficient in reversed(SIN[1:-1]):
        r = r * z + coefficient
    sine = y - ((z * (tail * 0.5 - v * r) - tail) - v * SIN[0])
    r = COS[-1]
    for coefficient in reversed(COS[:-1]):
        r = r * z + coefficient
    half = z * 0.5
    w = 1.0 - half
    cosine = w + (((1.0 - w) - half) + ((z * z) * r - y * tail))
    quadrant = n - 4.0 * ((n * 0.25 + ROUND) - ROUND)
    odd = fabs(quadrant) == 1.0
    turned = cosine if odd else sine
    out[0] = -turned if fabs(quadrant) == 2.0 or quadrant == -1.0 else turned
    turned = sine if odd else cosine
    out[1] = -turned if fabs(quadrant) == 2.0 or quadrant == 1.0 else turned
