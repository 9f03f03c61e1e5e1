"""The adaptive explicit integrator with an impact beside closed contacts between two steps.

The impulse is that of an isolated impact: it is exact if no other contact approaches afterwards, for then no other contact
has an impulse. Closed contacts without normal velocity stay closed; opening contacts must separate fast enough to be
detected. The candidate mode after the impact is tried; an ambiguous outcome ends the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta import tolerances
from kineta.codegen.builder import INT, REAL, constant, number
from kineta.integration import loop_abi
from kineta.kernels.impact import SEEN
from kineta.kernels.stick_slip import StickSlipLoop
from kineta.kernels.transition import AWAY, SOON


class SimultaneousImpactLoop(StickSlipLoop):
    """Writer of the LLVM module of the loop with impacts beside closed contacts."""

    def _write(self) -> None:
        self.fails, self.flight = self.b.alloca(INT), self.b.alloca(REAL)
        super()._write()

    def _decide(self, h: Any, end: Any) -> None:
        b = self.b
        super()._decide(h, end)
        event = self._integer("which", b.load(self.row, typ=INT))
        with b.if_then(self._nonzero(self._integer("strikes", event))):
            flags = self._flags(self._integer("normals", event))
            with b.if_then(b.not_(self._is_closed(flags))):
                self._if_alone(end, lambda t, state: self._strike(t, h, state, event, flags))

    def _strike(self, t: Any, h: Any, state: Any, event: Any, flags: Any) -> None:
        """Apply the impact of an *event* at the time t in a *state*, if the mode after it is unambiguous."""
        b = self.b
        law, approach, leaving, _, _ = self._numbers(t, self.base, self._integer("touches", event))
        self._copy(self.base, self.after)
        self._give_speeds(self.after)
        size = self._extent(self.after)
        none, some = (
            b.fmul(constant(part), size) for part in (tolerances.ROUNDING_TOLERANCE, tolerances.STATE_TOLERANCE)
        )
        rises, rests = b.fcmp_ordered(">", leaving, some), b.fcmp_ordered("<=", self._abs(leaving), none)
        sound = b.and_(b.fcmp_ordered(">", law, constant(0.0)), b.fcmp_ordered("<", approach, b.fneg(some)))
        with b.if_then(b.and_(sound, b.or_(rises, rests))):
            self._move(self.at["given"], self.at["kept"], self._bytes())
            self._let_go(t, none, some)
            b.store(b.select(rises, leaving, constant(0.0)), self._address(self.at["leaving"], event))
            b.store(b.uitofp(rests, REAL), self._address(flags, number(loop_abi.CLOSED)))
            with b.if_then(self._is_sound()):
                self._come_to(t, event, flags, rests, some)
                self._look_on(t)
                lost = b.or_(rests, self._is_loss(t, approach, leaving, self._value(self.at["falls"], event)))
                with b.if_then(b.and_(self._is_sound(), lost)):
                    fastest = self._intrinsic("maxnum", self._get("reals", loop_abi.FASTEST), b.fneg(approach))
                    self._set("reals", loop_abi.FASTEST, fastest)
                    self._go_on(t, h, state, event, 1, approach)
                    most = self._intrinsic("minnum", b.load(self.flight, typ=REAL), self._get("reals", loop_abi.H))
                    self._set("reals", loop_abi.H, most)
            with b.if_then(b.not_(self._nonzero(b.load(self.changed, typ=INT)))):
                self._move(self.at["kept"], self.at["given"], self._bytes())

    def _bytes(self) -> Any:
        return self.b.mul(number(8), self._get("ints", loop_abi.GIVEN))

    def _is_sound(self) -> Any:
        return self.b.not_(self._nonzero(self.b.load(self.fails, typ=INT)))

    def _fail_if(self, what: Any) -> None:
        with self.b.if_then(what):
            self.b.store(number(1), self.fails)

    def _for_normals(self, body: Callable[[Any], None]) -> None:
        """Emit *body* for every event of a normal."""
        b, first = self.b, self._get("ints", loop_abi.FIRST)

        def one(k: Any) -> None:
            event = b.add(first, k)
            with b.if_then(b.icmp_signed(">=", self._integer("normals", event), number(0))):
                body(event)

        self._for(b.sub(self._get("ints", loop_abi.N_EVENTS), first), one)

    def _along(self, event: Any) -> Any:
        """The normal velocity of the contact of an *event*, in the state of the last evaluated impact."""
        width = self._get("ints", loop_abi.BOUNCE)
        own = self._address(self.at["bounces"], self.b.mul(self._integer("touches", event), width))
        return self._value(own, number(loop_abi.APPROACH))

    def _let_go(self, t: Any, none: Any, some: Any) -> None:
        """Open closed contacts that separate after the impact; fail for closed contacts that approach or hardly separate."""
        b = self.b
        b.store(number(0), self.fails)
        self._work_out(t, self.after)

        def one(event: Any) -> None:
            flags, speed = self._flags(self._integer("normals", event)), self._along(event)
            closed = self._is_closed(flags)
            leaves = b.and_(closed, b.fcmp_ordered(">", speed, some))
            stays = b.fcmp_ordered("<=", self._abs(speed), none)
            self._fail_if(b.and_(closed, b.not_(b.or_(leaves, stays))))
            b.store(b.select(leaves, speed, constant(0.0)), self._address(self.at["leaving"], event))
            with b.if_then(leaves):
                for k in range(loop_abi.FLAGS):
                    b.store(constant(0.0), self._address(flags, number(k)))

        self._for_normals(one)

    def _come_to(self, t: Any, event: Any, flags: Any, rests: Any, some: Any) -> None:
        """Try as the second mode: the struck contact is closed, and sticks without slip, else slips in its direction of
        slip.
        """
        b, still, partners = self.b, constant(0.0), self._integer("partners", event)
        with b.if_then(b.and_(rests, b.icmp_signed(">=", partners, number(0)))):
            self._let(flags, loop_abi.SLIPS, constant(1.0))
            self._try(0, t, self.after, still)
            slip = self._value(self._of(0, loop_abi.NOW), partners)
            with b.if_else(b.fcmp_ordered(">", self._abs(slip), some)) as (slips, sticks):
                with slips:
                    self._let(flags, loop_abi.SLIPS, self._intrinsic("copysign", constant(1.0), slip))
                with sticks:
                    self._let(flags, loop_abi.STUCK, still)
        self._fail_if(b.not_(self._try(1, t, self.after, still)))

    def _look_on(self, t: Any) -> None:
        """Fail if a guard of the second mode is violated, or a separation is too slow to be detected."""
        b, first = self.b, self._get("ints", loop_abi.FIRST)
        later = b.fmul(constant(SOON), self._get("reals", loop_abi.UNTIL))
        self._look_ahead(t, 1)
        self._work_out(b.fadd(t, later), self.beside)
        b.store(constant(float("inf")), self.flight)
        self._copy(self._of(1, loop_abi.NOW), self.values)

        def one(event: Any) -> None:
            speed = self._value(self.at["leaving"], event)
            fall = b.fdiv(b.fsub(self._along(event), speed), later)
            b.store(fall, self._address(self.at["falls"], event))
            with b.if_then(b.fcmp_ordered(">", speed, constant(0.0))):
                low = b.fmul(b.fmul(constant(-2 * SEEN), fall), self._rounding(self.after, event))
                self._fail_if(b.fcmp_unordered("ule", b.fmul(speed, speed), low))
                turns = b.fdiv(speed, b.fneg(fall))
                falls = b.fcmp_ordered("<", fall, constant(0.0))
                until = b.load(self.flight, typ=REAL)
                b.store(b.select(falls, self._intrinsic("minnum", until, turns), until), self.flight)

        self._for_normals(one)

        def unclear(k: Any) -> Any:
            i = b.add(first, k)
            now, noise, soon = (self._value(self._of(1, w), i) for w in (loop_abi.NOW, loop_abi.NOISE, loop_abi.SOON))
            away, same = b.fmul(constant(AWAY), noise), self._get("reals", loop_abi.SAME)
            leaves = b.and_(self._is_normal(i), b.fcmp_ordered(">", self._value(self.at["leaving"], i), constant(0.0)))
            least = self._intrinsic("maxnum", self._bar(i), away)
            near = b.fcmp_unordered("ule", now, b.select(leaves, b.fneg(same), least))
            return b.or_(near, b.fcmp_unordered("ule", soon, b.select(leaves, away, constant(0.0))))

        self._fail_if(self._any(b.sub(self._get("ints", loop_abi.N_EVENTS), first), unclear))
