"""The adaptive explicit integrator with stick-slip transitions of friction along a line between two steps.

At the zero of a friction event the candidate modes are tried: sticking, or slipping in either direction, with all other
contacts unchanged. An ambiguous outcome ends the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta.codegen.builder import INT, constant, number
from kineta.integration import loop_abi
from kineta.kernels.integrate import ROUNDING
from kineta.kernels.transition import AWAY, SOON, ModeTrialLoop

#: Ratio of accelerations up to which slip in the right direction may start without acceleration, beside slip in the wrong
#: direction.
ASTRAY = 1e-3


class StickSlipLoop(ModeTrialLoop):
    """Writer of the LLVM module of the loop with stick-slip transitions."""

    def _write(self) -> None:
        self.pressed = self.b.alloca(INT)
        super()._write()

    def _decide(self, h: Any, end: Any) -> None:
        b = self.b
        super()._decide(h, end)
        event = self._integer("which", b.load(self.row, typ=INT))
        turns = b.icmp_signed(">=", self._integer("turns", event), number(0))
        with b.if_then(b.and_(turns, self._nonzero(self._get("ints", loop_abi.TURN)))):
            self._if_alone(end, lambda t, state: self._turn(t, h, state, event))

    def _turn(self, t: Any, h: Any, state: Any, event: Any) -> None:
        """Apply the stick-slip transition of an *event* at the time t in a *state*."""
        b, flags = self.b, self._flags(self._integer("turns", event))

        def goes_on(mode: int, what: int, way: Any) -> None:
            self._let(flags, what, way)
            self._go_on(t, h, state, event, mode, constant(0.0))

        sticks = b.fcmp_ordered(">", self._value(flags, number(loop_abi.STUCK)), constant(0.0))
        with b.if_then(self._is_pressed(t, event, flags)), b.if_else(sticks) as (stuck, slips):
            with stuck:
                self._slips(t, event, flags, goes_on)
            with slips:
                self._ends(t, event, flags, goes_on)

    def _is_pressed(self, t: Any, event: Any, flags: Any) -> Any:
        """Whether the contact of an *event* would close again if opened; otherwise separation competes with strong friction.
        True for friction without a normal.
        """
        b, normal = self.b, self._integer("partners", event)
        b.store(number(1), self.pressed)
        with b.if_then(b.icmp_signed(">=", normal, number(0))):
            before = [self._value(flags, number(k)) for k in range(loop_abi.FLAGS)]
            for k in range(loop_abi.FLAGS):
                b.store(constant(0.0), self._address(flags, number(k)))
            self._try(1, t, self.base, constant(0.0))
            for k, value in enumerate(before):
                b.store(value, self._address(flags, number(k)))
            self._look_ahead(t, 1)
            later = b.fmul(constant(SOON), self._get("reals", loop_abi.UNTIL))
            self._call("rhs", b.fadd(t, later), self.beside, self.rate, self._tried_h(1))
            change = self._wide(later)

            def further(i: Any) -> None:
                moved = b.fmul(change, self._load(self.rate, i))
                self._store(b.fadd(self._load(self.beside, i), moved), self.after, i)

            self._for_lanes(further)
            self._call("events", b.fadd(t, b.fadd(later, later)), self.after, self.values, self._tried_h(1))
            falls = b.fsub(self._value(self._of(1, loop_abi.NOW), normal), self._value(self.values, normal))
            clear = b.fcmp_ordered(">", falls, b.fmul(constant(ROUNDING), self._extent(self.base)))
            b.store(b.zext(clear, INT), self.pressed)
        return self._nonzero(b.load(self.pressed, typ=INT))

    def _ends(self, t: Any, event: Any, flags: Any, goes_on: Callable[[int, int, Any], None]) -> None:
        """The transition at the end of slip: to stick, or to slip in the opposite direction."""
        b = self.b
        self._call("events", t, self.base, self.values)
        slip, way = self._abs(self._value(self.values, event)), self._value(flags, number(loop_abi.ALONG))
        with b.if_then(self._tried(0, t, self.base, slip, flags, loop_abi.STUCK, constant(0.0))):
            left = self._value(self._of(0, loop_abi.NOW), event)
            clear = b.fmul(constant(AWAY), self._value(self._of(0, loop_abi.NOISE), event))
            with b.if_then(b.fcmp_ordered(">", left, clear)):
                self._look_ahead(t, 0)
                holds = b.fcmp_ordered(">", self._value(self._of(0, loop_abi.SOON), event), constant(0.0))
                with b.if_then(b.and_(holds, self._keeps(0, event))):
                    goes_on(0, loop_abi.STUCK, constant(0.0))
            with b.if_then(b.fcmp_ordered("<", left, b.fneg(clear))):
                back, still = b.fneg(way), self._of(0, loop_abi.STATE)
                with b.if_then(self._tried(1, t, still, constant(0.0), flags, loop_abi.SLIPS, back)):
                    self._look_ahead(t, 1)
                    least = b.fmul(constant(ROUNDING), self._extent(self._of(1, loop_abi.STATE)))
                    slips = b.fcmp_ordered(">", self._value(self._of(1, loop_abi.SOON), event), least)
                    with b.if_then(b.and_(slips, self._keeps(1, event))):
                        goes_on(1, loop_abi.SLIPS, back)

    def _slips(self, t: Any, event: Any, flags: Any, goes_on: Callable[[int, int, Any], None]) -> None:
        """The transition from stick to slip, in the direction that the acceleration does not reverse at once."""
        b, ways = self.b, (constant(-1.0), constant(1.0))
        self._copy(self.base, self.beside)
        self._call("velocity", t, self.beside, self.base)
        with b.if_then(self._is_beside(self.beside, self.base, constant(0.0))):
            both = [
                self._tried(k, t, self.base, constant(0.0), flags, loop_abi.SLIPS, way) for k, way in enumerate(ways)
            ]
            with b.if_then(b.and_(*both)):
                for k in range(2):
                    self._look_ahead(t, k)
                soon = [self._value(self._of(k, loop_abi.SOON), event) for k in range(2)]
                least = b.fmul(constant(-ROUNDING), self._extent(self.base))
                for k in range(2):
                    ahead, back = soon[k], soon[1 - k]
                    first = b.fcmp_ordered(">" if k else ">=", ahead, back)
                    clear = b.and_(
                        b.fcmp_ordered("<", back, least),
                        b.fcmp_ordered(">=", ahead, b.fmul(constant(ASTRAY), back)),
                    )
                    with b.if_then(b.and_(first, clear)), b.if_then(self._keeps(k, event)):
                        goes_on(k, loop_abi.SLIPS, ways[k])

    def _tried(self, mode: int, t: Any, state: Any, slip: Any, flags: Any, what: int, way: Any) -> Any:
        """:meth:`_try` for a candidate mode in which the contact with these *flags* sticks or slips, as *what* says, in a
        direction *way*.
        """
        before = [self._value(flags, number(k)) for k in range(loop_abi.FLAGS)]
        self._let(flags, what, way)
        found = self._try(mode, t, state, slip)
        for k, value in enumerate(before):
            self.b.store(value, self._address(flags, number(k)))
        return found
