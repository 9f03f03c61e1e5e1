"""The record of an impact: its impulse, the velocities before and after it, the energy that it takes."""

from __future__ import annotations

import math
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


def add_impact(impacts: list[Impact], more: Impact, *, goes_on: bool) -> None:
    """Add *more* to the *impacts*. What *goes_on* in a step of time stepping becomes a part of the one before at its contact: of
    the last, the one that left the contact closing most nearly as *more* found it.
    """
    if not goes_on:
        impacts.append(more)
        return
    same = [k for k, one in enumerate(impacts) if one.contact == more.contact and one.after < 0]
    if same:
        last = max(impacts[k].t for k in same)
        k = min((k for k in same if impacts[k].t == last), key=lambda k: abs(impacts[k].after - more.before))
        one = impacts[k]
        impacts[k] = one._replace(
            impulse_n=one.impulse_n + more.impulse_n,
            impulse_u=one.impulse_u + more.impulse_u,
            impulse_w=one.impulse_w + more.impulse_w,
            after=more.after,
            energy_lost=one.energy_lost + more.energy_lost,
        )
