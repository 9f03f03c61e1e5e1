"""Conditioning of positions: singular values of a Jacobian, made homogeneous by a characteristic length.

Rotations count as the arc of a point at this *length* from the axis: rows of rotations are multiplied by it, columns of
rotations divided (Yoshikawa, 1985; Angeles, 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.consistent_state import consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import find_redundancy
from kineta.model.dimensions import variable_units
from kineta.model.system import System
from kineta.numerics.linear_algebra import null_space, svd, svdvals
from kineta.records import dataclass

#: Displacement at which redundant constraints are told from constraints dependent at one position [rad or m].
BESIDE = 1e-2


@dataclass(frozen=True)
class Conditioning:
    """The distance of a position from a singular one.

    values : singular values of the Jacobian, from the largest
    direction : left singular vector of the least value, by name: the combination of targets, or of constraints, that motions
        change least
    motion : right singular vector of the least value, by name: the speeds, or the forces, with the least effect
    length : characteristic length of rotations [m]; None where each side has rotations alone, or translations alone
    t : the time of the smallest least value along a motion [s]; None for one position
    """

    values: tuple[float, ...]
    direction: dict[str, float]
    motion: dict[str, float]
    length: float | None
    t: float | None = None

    @property
    def least(self) -> float:
        """The smallest singular value: zero in a singular position."""
        return self.values[-1]

    @property
    def condition(self) -> float:
        """The largest singular value by the smallest; infinite in a singular position."""
        return self.values[0] / self.least if self.least > tolerances.ROUNDING_TOLERANCE * self.values[0] else np.inf

    @property
    def manipulability(self) -> float:
        """The product of the singular values (Yoshikawa): zero in a singular position."""
        return prod(self.values)

    def as_dict(self) -> dict[str, object]:
        """Return all measures by name."""
        names = ["condition", "manipulability", "least", "values", "direction", "motion", "length"]
        names += [] if self.t is None else ["t"]
        return {n: list(x) if isinstance(x := getattr(self, n), tuple) else x for n in names}

    def __str__(self) -> str:
        scale = "" if self.length is None else f", turns at {self.length:.3g} m"
        least = f"least singular value {self.least:.3g}{scale}, along {_words(self.direction)}"
        when = "" if self.t is None else f"at t = {self.t:.6g} s: "
        return f"{when}condition {self.condition:.4g}, manipulability {self.manipulability:.4g}; {least}"


def conditioning(
    rows: Sequence[tuple[str, bool]],
    columns: Sequence[tuple[str, bool]],
    slope: FloatArray,
    held: FloatArray,
    *,
    what: str,
    length: float | None = None,
) -> Conditioning | None:
    """Return the conditioning of a Jacobian *slope* (rows, columns) in the null space of the rows *held*; None for an empty one.

    rows, columns : names, and whether they are rotations
    length : characteristic length [m]; where rotations meet translations, by default the mean arm in *slope*
    """
    turns = [np.array([turn for _, turn in side], dtype=bool) for side in (rows, columns)]
    if any(side.any() and not side.all() for side in turns):
        length = mean_arm(slope[~turns[0]][:, turns[1]]) if length is None else length
    else:
        length = None
    across, along = (np.where(side, 1.0 if length is None else length, 1.0) for side in turns)
    Z = null_space(held / along, what=what, rcond=tolerances.RANK_TOLERANCE) if len(held) else np.eye(slope.shape[1])
    A = (across[:, None] * slope / along) @ Z
    if not A.size:
        return None
    left, values, right = svd(A, what=what, full_matrices=False)
    return Conditioning(tuple(values.tolist()), _named(rows, left[:, -1]), _named(columns, Z @ right[-1]), length)


def of_constraints(
    constraints: NumericConstraints,
    t: float,
    q: FloatArray,
    v: FloatArray,
    pinned: Sequence[int] = (),
    fixed: Sequence[int] = (),
) -> Conditioning | None:
    """Return the conditioning of the constraints of a consistent state by the speeds of the joints but for those *pinned*, which
    leave the coordinates *fixed*: at a singular position the mobility rises. None without constraints, motions or derivatives.

    Redundant constraints, dependent at all positions, are left out.
    """
    n, slope = len(v), constraints.jacobian(t, q, v)
    chance = BESIDE * np.random.default_rng(0).standard_normal(n) / np.sqrt(max(n, 1))
    beside = consistent_state(constraints, t, constraints.retract(t, q, chance), v)
    if (
        not constraints.rows
        or not np.isfinite(slope).all()
        or not np.isfinite(constraints.jacobian(t, beside.q, v)).all()
    ):
        return None
    left_out = find_redundancy(constraints, t, (beside.q, beside.v)).left_out
    kept = [k for k, (name, _) in enumerate(constraints.rows) if name not in left_out]
    levels = {label: k for k, label in enumerate(constraints.labels)}
    # A dimensionless constraint is a rotation, or its cosine.
    rows = [
        (constraints.rows[k][0], not constraints.unit(levels[constraints.rows[k][0]]).startswith("m")) for k in kept
    ]
    free = [k for k in range(n) if k not in set(pinned)]
    own = motions(constraints.system)
    A = slope[np.ix_(kept, free)]
    stay = constraints.coordinate_slopes(t, q, fixed)[:, free]
    return conditioning(rows, [own[k] for k in free], A, stay, what="how near the position is to a singular one")


def of_responses(
    times: FloatArray,
    rows: Sequence[tuple[str, bool]],
    columns: Sequence[tuple[str, bool]],
    responses: FloatArray,
    balanced: FloatArray,
    arm: float,
) -> Conditioning:
    """Return the conditioning of the map from forces to their effects, at the time of its smallest least singular value, from the
    inverse map, the *responses* (k, forces, effects).

    rows, columns : names of effects and of forces, and whether they are rotations and moments
    balanced : the responses weighted to the order of one, by which forces without response are told
    arm : characteristic length of rotations and moments, where translations and forces occur too [m]
    """
    turns = [np.array([turn for _, turn in side], dtype=bool) for side in (rows, columns)]
    length = arm if any(side.any() and not side.all() for side in turns) else None
    across, along = (np.where(side, arm if length else 1.0, 1.0) for side in turns)
    what = "how near the motion comes to a singular position"
    sizes = svdvals(balanced, what=what)
    answered = int((sizes > tolerances.RANK_TOLERANCE * sizes.max(axis=1, keepdims=True)).sum(axis=1).max())
    left, values, right = svd(responses / along[:, None] / across, what=what)
    worst = int(values[:, 0].argmax())
    return Conditioning(
        tuple((1 / values[worst, :answered][::-1]).tolist()),
        _named(rows, right[worst, 0]),
        _named(columns, left[worst, :, 0]),
        length,
        float(times[worst]),
    )


def motions(system: System) -> list[tuple[str, bool]]:
    """Return the speeds of the joints of *system*, and whether they are rotations."""
    units = variable_units(system)
    return [(n, units.get(n) == "rad/s") for n in system.base_speeds]


def mean_arm(slope: FloatArray) -> float:
    """Return the mean displacement by unit rotations, one metre without any."""
    arms = np.sqrt((slope**2).sum(axis=0))
    arms = arms[arms > 0]
    return float(np.sqrt((arms**2).mean())) if len(arms) else 1.0


def _named(side: Sequence[tuple[str, bool]], values: FloatArray) -> dict[str, float]:
    """Return a direction by name, the largest component first."""
    sign = np.sign(values[np.abs(values).argmax()]) or 1.0
    found = {
        n: float(sign * x)
        for (n, _), x in zip(side, values, strict=True)
        if abs(x) > tolerances.PARTICIPATION_TOLERANCE
    }
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def _words(direction: dict[str, float]) -> str:
    terms = [f"{x:.3g} {name}".removeprefix("1 ") for name, x in list(direction.items())[:4]]
    return ", ".join([*terms, "..."] if len(direction) > 4 else terms)
