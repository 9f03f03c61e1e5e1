"""One touch that sticks or slips from here on, along a line, while all others go on as they did: tried before all is decided.

What is tried is believed where every event keeps away from its zero, by more than rounding, and soon after too: then forces
keep to their laws. Dry friction in the joints of a robot changes so whenever one of them turns back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.touch import FLAGS
from kineta.numerics.problem import signs
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]

STUCK, SLIPS, ALONG, BEGINS = (FLAGS.index(name) for name in ("stuck", "slips", "along u", "begins"))
#: Rounding of a state, and by how many times what it does to an event this has to be away from its zero.
ROUNDOFF, AWAY = 64 * 2.0**-52, 100.0
#: By how many times a slip speeds may change that bring it to an end, and by which part of a state in any case.
LEVER, ASIDE = 1e4, 1e-9
#: Part of what slip in the wrong direction takes back, up to which that in the right one may begin without any acceleration.
ASTRAY = 1e-3


def returned(t: float, y: FloatArray, made: Bound, slip: float) -> FloatArray | None:
    """The state with the speeds at which what sticks does not slip, from one in which it has this *slip*; None where that would
    change much more, as in a dead point, where slip ends though all goes on.
    """
    _, velocity = made.code.nearer
    found = velocity(t, y, made.h)
    return found if np.abs(found - y).max() <= max(LEVER * slip, ASIDE * max(1.0, np.abs(y).max())) else None


@dataclass(frozen=True)
class Trial:
    """A mode that is tried: its *flags*, the code ``made`` for it, the state ``y`` in it, and the values of events there, (m,),
    ``now`` with what of them may be ``rounding``.
    """

    flags: FloatArray
    made: Bound
    y: FloatArray
    now: FloatArray
    rounding: FloatArray

    def keeps(self, soon: FloatArray, own: int) -> bool:
        """Whether all events but that number *own* keep away from their zeros, now and *soon*."""
        sound = (self.now > AWAY * self.rounding) & (soon > 0)
        sound[own] = True
        return bool(sound.all())


@dataclass(frozen=True)
class Turning:
    """How a mode is tried at the time ``t``: code by its flags, and the values of events at a time, in a state, by that code; how
    much later they are looked at again.
    """

    t: float
    switched: Callable[[FloatArray], Bound]
    told: Callable[[float, FloatArray, Bound], FloatArray]
    later: float

    def turned(self, flags: FloatArray, y: FloatArray, touch: int, own: int) -> Trial | None:
        """What happens to the *touch* whose event number *own* has fired in the state *y* in a mode with these *flags*; None
        where that is not clear.
        """
        if flags[touch, STUCK]:
            return self._slips(flags, y, touch, own)
        slip = abs(float(self.told(self.t, y, self.switched(flags))[own]))
        held = self._tried(self._with(flags, touch, STUCK), y, slip)
        if held is None:
            return None
        clear = AWAY * held.rounding[own]
        if held.now[own] > clear:
            soon = self._soon(held)
            return held if soon[own] > 0 and held.keeps(soon, own) else None
        if not held.now[own] < -clear:
            return None
        back = self._tried(self._with(flags, touch, SLIPS, -flags[touch, ALONG]), held.y, 0.0)
        if back is None:
            return None
        soon = self._soon(back)
        return back if soon[own] > ROUNDOFF * np.abs(back.y).max() and back.keeps(soon, own) else None

    def _slips(self, flags: FloatArray, y: FloatArray, touch: int, own: int) -> Trial | None:
        """The way in which what sticks begins to slip: the other one would bring it back at once."""
        still = returned(self.t, y, self.switched(flags), 0.0)
        if still is None:
            return None
        tried = (self._tried(self._with(flags, touch, SLIPS, way), still, 0.0) for way in (-1.0, 1.0))
        ways = [trial for trial in tried if trial is not None]
        if len(ways) < 2:  # one for each way
            return None
        soon = [self._soon(trial) for trial in ways]
        right = int(soon[1][own] > soon[0][own])
        back = float(soon[1 - right][own])
        clear = -back > ROUNDOFF * np.abs(still).max() and soon[right][own] >= ASTRAY * back
        return ways[right] if clear and ways[right].keeps(soon[right], own) else None

    def _with(self, flags: FloatArray, touch: int, what: int, way: float = 0.0) -> FloatArray:
        """*flags* with those of one touch changed."""
        found = flags.copy()
        found[touch, STUCK:] = 0.0
        found[touch, what], found[touch, ALONG], found[touch, BEGINS] = 1.0, way, abs(way)
        return found

    def _tried(self, flags: FloatArray, y: FloatArray, slip: float) -> Trial | None:
        made = self.switched(flags)
        still = returned(self.t, y, made, slip)
        if still is None:
            return None
        now = self.told(self.t, still, made)
        beside = self.told(self.t, still * (1 + ROUNDOFF * signs(1, len(y))[0]), made)
        return Trial(flags, made, still, now, np.abs(beside - now))

    def _soon(self, trial: Trial) -> FloatArray:
        """The values of events soon after."""
        rate = trial.made.code.going(self.t, trial.y, trial.made.h)
        return self.told(self.t + self.later, trial.y + self.later * rate, trial.made)
