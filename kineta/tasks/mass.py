"""Whether a mass matrix can be solved with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Smallest eigenvalue of a scaled mass matrix at which it counts as singular.
SINGULAR = 1e-12


def idle(speed: str) -> str:
    """What to say of a mass matrix in which *speed* has no part of its own."""
    return f"the speed '{speed}' moves no inertia. Give a body that it moves a mass or a moment of inertia, or start elsewhere"


def least_inertia(M: FloatArray) -> tuple[float, int]:
    """Smallest eigenvalue of the mass matrix *M* (nv, nv) with its diagonal scaled to one, and the index of the speed that
    has the largest part in it. Masses and moments of inertia, of any size, are then compared without units.
    """
    diagonal = M.diagonal()
    scale = np.sqrt(np.maximum(diagonal, 0.0))
    # What is left of a zero by rounding is of the size of the unit roundoff squared.
    idle = scale <= 1e-14 * scale.max()
    if idle.any():
        worst = int(diagonal.argmin())
        return min(float(diagonal[worst]), 0.0) / max(float(diagonal.max()), 1e-300), worst
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    return float(values[0]), int(np.abs(vectors[:, 0]).argmax())
