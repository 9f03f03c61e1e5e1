"""The adaptive explicit integrator that lets dry friction turn: along a line what slips comes to stick, or slips back, and what
sticks begins to slip, between two steps, while all others go on as they did.

Where the event of such a touch comes to zero, the mode that follows is tried: the touch stuck, or slipping one way or the
other. Whatever is not clear ends the call, as all other changes do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta.codegen.emitter import INT, constant, number
from kineta.codegen.integrator import ROUNDING
from kineta.codegen.trying import AWAY, SOON, Trying
from kineta.numerics import layout

#: Part of what slip in the wrong direction takes back, up to which that in the right one may begin without any acceleration.
ASTRAY = 1e-3


class Turning(Trying):
    """Writer of the module."""

    def _write(self) -> None:
        self.pressed = self.b.alloca(INT)
        super()._write()

    def _decide(self, h: Any, end: Any) -> None:
        b = self.b
        super()._decide(h, end)
        event = self._integer("which", b.load(self.row, typ=INT))
        turns = b.icmp_signed(">=", self._integer("turns", event), number(0))
        with b.if_then(b.and_(turns, self._nonzero(self._get("ints", layout.TURN)))):
            self._if_alone(end, lambda t, state: self._turn(t, h, state, event))

    def _turn(self, t: Any, h: Any, state: Any, event: Any) -> None:
        """Let the touch of an *event* that comes to zero at the time t in a *state* do what it does from there on."""
        b, flags = self.b, self._flags(self._integer("turns", event))

        def goes_on(mode: int, what: int, way: Any) -> None:
            self._let(flags, what, way)
            self._go_on(t, h, state, event, mode, constant(0.0))

        sticks = b.fcmp_ordered(">", self._value(flags, number(layout.STUCK)), constant(0.0))
        with b.if_then(self._is_pressed(t, event, flags)), b.if_else(sticks) as (stuck, slips):
            with stuck:
                self._slips(t, event, flags, goes_on)
            with slips:
                self._ends(t, event, flags, goes_on)

    def _is_pressed(self, t: Any, event: Any, flags: Any) -> Any:
        """Whether the contact of an *event* would close again if it were open: else it might leave as well as rub, with so much
        friction; what has no normal is.
        """
        b, normal = self.b, self._integer("partners", event)
        b.store(number(1), self.pressed)
        with b.if_then(b.icmp_signed(">=", normal, number(0))):
            before = [self._value(flags, number(k)) for k in range(layout.FLAGS)]
            for k in range(layout.FLAGS):
                b.store(constant(0.0), self._address(flags, number(k)))
            self._try(1, t, self.base, constant(0.0))
            for k, value in enumerate(before):
                b.store(value, self._address(flags, number(k)))
            self._look_ahead(t, 1)
            later = b.fmul(constant(SOON), self._get("reals", layout.UNTIL))
            self._call("rhs", b.fadd(t, later), self.beside, self.rate, self._tried_h(1))
            change = self._wide(later)

            def further(i: Any) -> None:
                moved = b.fmul(change, self._load(self.rate, i))
                self._store(b.fadd(self._load(self.beside, i), moved), self.after, i)

            self._for_lanes(further)
            self._call("events", b.fadd(t, b.fadd(later, later)), self.after, self.values, self._tried_h(1))
            falls = b.fsub(self._value(self._of(1, layout.NOW), normal), self._value(self.values, normal))
            clear = b.fcmp_ordered(">", falls, b.fmul(constant(ROUNDING), self._extent(self.base)))
            b.store(b.zext(clear, INT), self.pressed)
        return self._nonzero(b.load(self.pressed, typ=INT))

    def _ends(self, t: Any, event: Any, flags: Any, goes_on: Callable[[int, int, Any], None]) -> None:
        """What slips no longer does: it sticks, or slips back."""
        b = self.b
        self._call("events", t, self.base, self.values)
        slip, way = self._abs(self._value(self.values, event)), self._value(flags, number(layout.ALONG))
        with b.if_then(self._tried(0, t, self.base, slip, flags, layout.STUCK, constant(0.0))):
            left = self._value(self._of(0, layout.NOW), event)
            clear = b.fmul(constant(AWAY), self._value(self._of(0, layout.NOISE), event))
            with b.if_then(b.fcmp_ordered(">", left, clear)):
                self._look_ahead(t, 0)
                holds = b.fcmp_ordered(">", self._value(self._of(0, layout.SOON), event), constant(0.0))
                with b.if_then(b.and_(holds, self._keeps(0, event))):
                    goes_on(0, layout.STUCK, constant(0.0))
            with b.if_then(b.fcmp_ordered("<", left, b.fneg(clear))):
                back, still = b.fneg(way), self._of(0, layout.STATE)
                with b.if_then(self._tried(1, t, still, constant(0.0), flags, layout.SLIPS, back)):
                    self._look_ahead(t, 1)
                    least = b.fmul(constant(ROUNDING), self._extent(self._of(1, layout.STATE)))
                    slips = b.fcmp_ordered(">", self._value(self._of(1, layout.SOON), event), least)
                    with b.if_then(b.and_(slips, self._keeps(1, event))):
                        goes_on(1, layout.SLIPS, back)

    def _slips(self, t: Any, event: Any, flags: Any, goes_on: Callable[[int, int, Any], None]) -> None:
        """What sticks begins to slip: one way, since the other one would bring it back at once."""
        b, ways = self.b, (constant(-1.0), constant(1.0))
        self._copy(self.base, self.beside)
        self._call("velocity", t, self.beside, self.base)
        with b.if_then(self._is_beside(self.beside, self.base, constant(0.0))):
            both = [self._tried(k, t, self.base, constant(0.0), flags, layout.SLIPS, way) for k, way in enumerate(ways)]
            with b.if_then(b.and_(*both)):
                for k in range(2):
                    self._look_ahead(t, k)
                soon = [self._value(self._of(k, layout.SOON), event) for k in range(2)]
                least = b.fmul(constant(-ROUNDING), self._extent(self.base))
                for k in range(2):
                    ahead, back = soon[k], soon[1 - k]
                    first = b.fcmp_ordered(">" if k else ">=", ahead, back)
                    clear = b.and_(
                        b.fcmp_ordered("<", back, least),
                        b.fcmp_ordered(">=", ahead, b.fmul(constant(ASTRAY), back)),
                    )
                    with b.if_then(b.and_(first, clear)), b.if_then(self._keeps(k, event)):
                        goes_on(k, layout.SLIPS, ways[k])

    def _tried(self, mode: int, t: Any, state: Any, slip: Any, flags: Any, what: int, way: Any) -> Any:
        """As :meth:`_try`, of a mode in which the touch with these *flags* does *what*, in a *way*."""
        before = [self._value(flags, number(k)) for k in range(layout.FLAGS)]
        self._let(flags, what, way)
        found = self._try(mode, t, state, slip)
        for k, value in enumerate(before):
            self.b.store(value, self._address(flags, number(k)))
        return found
