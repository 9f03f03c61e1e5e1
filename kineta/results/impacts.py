"""The record of an impact: its impulse, the velocities before and after it, the energy that it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Impact(NamedTuple):
    """The impulse on one contact, or one end of a limit, in an impact.

    t : the time [s]; contact : its name
    impulse_n, impulse_u, impulse_w : along the normal and the axes u, w of the plane, on the body that touches, as the forces
        ``lambda.foot.n`` are [N s]; of a limit ``impulse_n`` alone, along what is limited [N s or N m s]
    before, after : the velocity along the normal, negative for approach [m/s or rad/s]
    energy_lost : energy lost by the impulse, in the frame of the body or plane that is struck [J]
    """

    t: float
    contact: str
    impulse_n: float
    impulse_u: float
    impulse_w: float
    before: float
    after: float
    energy_lost: float

    @property
    def size(self) -> float:
        """The magnitude of the impulse."""
        return math.hypot(self.impulse_n, self.impulse_u, self.impulse_w)


def whole_impact(first: Impact, numbers: Sequence[float]) -> Impact:
    """The impact *first* of a step of time stepping with the *numbers* behind its contact that it has after a later one."""
    return Impact(first.t, first.contact, *numbers)
