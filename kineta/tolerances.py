"""Tolerances: one number for each quantity.

A tolerance is relative to the size of what is compared, unless it names a unit: a quantity without a scale is scaled before it is
compared. Code reads these numbers as attributes of the module. ``tests/numerics/test_tolerances.py`` has a problem for each
that fails with a tolerance ten times as large, or ten times as small; ``docs/design/0018-tolerances.md`` says what was decided.
"""

from __future__ import annotations

#: Spacing of floats above 1: the smallest relative error of a number. Errors of a few operations are small multiples of it.
EPS = 2.0**-52
#: Least divisor of a ratio, in place of zero: numbers up to 1e8 remain finite when they are divided by it.
LEAST_DIVISOR = 1e-300
#: Sum relative to its terms that is their rounding error: a few thousand EPS, as after some dozen operations that lose a digit.
ROUNDING_TOLERANCE = 1e-12
#: Residual relative to the terms of an equation that no iteration reduces any further: 45 EPS.
RESIDUAL_TOLERANCE = 1e-14
#: Relative change of the variables at convergence of Newton's method: the square of the last change, 1e-20, is beyond all digits.
NEWTON_TOLERANCE = 1e-10
#: Ratio to the largest singular value, or pivot, of scaled rows that counts as zero: half way, on a scale of digits, between
#: the rounding error of a product of matrices and the least distance of rows that models distinguish, 1e-6.
RANK_TOLERANCE = 1e-9
#: Force or acceleration, relative to the largest, that counts as zero: solutions of equations of motion lose up to seven digits.
FORCE_TOLERANCE = 1e-9
