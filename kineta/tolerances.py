"""Tolerances: one number for each quantity.

A tolerance is relative to the size of what is compared, unless it names a unit: a quantity without a scale is scaled before it is
compared. Code reads these numbers as attributes of the module. ``tests/numerics/test_tolerances.py`` has a problem for each
that fails with a tolerance ten times as large, or ten times as small; ``docs/design/0022-tolerances.md`` says what was decided.
"""

from __future__ import annotations

#: Spacing of floats above 1. Rounding errors of a few operations are small multiples of it.
EPS = 2.0**-52
#: Least divisor of a ratio, in place of zero: numbers up to 1e8 remain finite when they are divided by it.
LEAST_DIVISOR = 1e-300

#: Sum, relative to its terms, that is their rounding error: what some dozen operations leave, each of which loses a digit.
ROUNDING_TOLERANCE = 1e-12
#: Residual, relative to the terms of its equation, that no iteration reduces any further.
RESIDUAL_TOLERANCE = 1e-14
#: Change of the variables, relative to their size, at convergence of Newton's method: the next change is beyond all digits.
NEWTON_TOLERANCE = 1e-10
#: Residual of a constraint, relative to the size of the state, in a consistent state: what integration may leave at its
#: finest tolerances, and so little that reactions keep six digits.
CONSTRAINT_TOLERANCE = 1e-10

#: Ratio to the largest singular value, or pivot, of scaled rows that counts as zero: errors of products of matrices are below
#: it, distances of rows that models mean are above it.
RANK_TOLERANCE = 1e-9
#: Distance of a constraint row of unit length from the span of others at which it is redundant: its square is a pivot of
#: elimination, where ROUNDING_TOLERANCE counts as zero.
DEPENDENCE_TOLERANCE = 1e-6
#: Least singular value of rows of unit length in a position that is near a singular one, and length of a row there, relative to
#: its length elsewhere.
SINGULARITY_TOLERANCE = 1e-3
#: Distance of a row of unit length from the span of others above which it is independent of them: solutions lose two digits.
INDEPENDENCE_TOLERANCE = 1e-2
#: Coefficient of a linear combination, or component of a direction, of unit length that is absent from sentences.
PARTICIPATION_TOLERANCE = 1e-6

#: Distance, relative to the size of the state and to 1, of states that count as one: of a start from its constraints, of a state
#: from a limit, a kink or a jump. Half of the digits of a state would be lost to more, solutions keep to less.
STATE_TOLERANCE = 1e-9
#: Distance of the states on both sides of another one that stand for its limits, relative to the size of the state: the root of
#: EPS is 1.5e-8, and differences of nearer states have fewer digits.
SIDE_DISTANCE = 1e-7
#: Distance from a singularity, relative to its size elsewhere, at which the steps of a run stall: they come no closer.
STALL_TOLERANCE = 1e-6

#: Distance, relative to the size of the state and to 1, of solutions that count as one, found from different guesses: Newton's
#: method at double solutions has half of the digits, solutions that differ for a user have less.
SOLUTION_DISTANCE = 1e-5
#: Eigenvalue, relative to the largest, that counts as zero: double eigenvalues, as of a free motion, have half of the digits.
EIGENVALUE_TOLERANCE = 1e-6

#: Force or acceleration, relative to the largest, that counts as zero.
FORCE_TOLERANCE = 1e-9
#: Slip in space [m/s] below which a contact is tested for sticking: its direction is known to no fewer digits than a state has.
SLIP_TOLERANCE = 1e-7
#: Gap of a closed contact, in tolerances of the run: the sum of the errors of a few steps.
CONTACT_TOLERANCE = 10.0
#: Difference of times, relative to their size, of events that are at one time: the rounding error of some dozen steps.
EVENT_TOLERANCE = 64 * EPS

#: Error of numbers that people write with six digits: of the length of a quaternion, of directions normal to each other.
WRITTEN_TOLERANCE = 1e-6
#: Residual of a constraint, relative to the size of the state, in a state that people copy from a print: it is corrected.
PRINTED_TOLERANCE = 1e-4
#: Moment of inertia, relative to the largest, by which a tensor may miss symmetry, zero and the triangle inequality: tensors of
#: plates and rods are at the bounds, and programs write them with as many digits as they like.
INERTIA_TOLERANCE = 1e-9
