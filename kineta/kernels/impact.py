"""The adaptive explicit integrator with isolated impacts in closed form between two steps.

At the zero of a gap it evaluates the closed-form impulses, records the states before and after the impact, and continues. An
impact without separation, a simultaneous impact, a separation too slow to be detected, or an impact without closed form ends
the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta import tolerances
from kineta.codegen.builder import INT, REAL, constant, number
from kineta.integration import loop_abi
from kineta.kernels.integrate import ROUNDING
from kineta.kernels.projection import ProjectionLoop

#: Smallest rise of a gap in units of its evaluation error, before it falls again.
SEEN = 30.0
#: Rounding error of times: its effect on the speed must be below the loss of an impact.
LATE = 8 * tolerances.EPS


class ClosedFormImpactLoop(ProjectionLoop):
    """Writer of the LLVM module of the loop with impacts."""

    def _write(self) -> None:
        self.changed, self.before, self.alone, self.row = (self.b.alloca(INT) for _ in range(4))
        super()._write()

    def _accept(self, t: Any, h: Any, end: Any, error: Any, last: Any) -> None:
        self.b.store(self._get("ints", loop_abi.FOUND), self.before)
        super()._accept(t, h, end, error, last)

    def _conclude(self, t: Any, h: Any, end: Any, last: Any) -> None:
        b = self.b
        b.store(number(0), self.changed)
        ends = b.and_(
            self._nonzero(self._get("ints", loop_abi.ENDED)), b.not_(self._nonzero(b.load(self.fell, typ=INT)))
        )
        with b.if_then(ends, likely=False):
            self._decide(h, end)
        with b.if_then(b.not_(self._nonzero(b.load(self.changed, typ=INT)))):
            super()._conclude(t, h, end, last)

    def _decide(self, h: Any, end: Any) -> None:
        """Carry out the discrete transition of the first event zero in a step to *end*, if the loop may."""
        b, event = self.b, self._integer("which", self._earliest())
        flies = b.and_(*(self._nonzero(self._get("ints", what)) for what in (loop_abi.FLYING, loop_abi.BOUNCE)))
        with b.if_then(flies):
            touch = self._integer("touches", event)
            self._first(end, self._is_gap, lambda t, struck: self._bounce(t, h, struck, event, touch))

    def _earliest(self) -> Any:
        """Row of the earliest event zero of the step."""
        b, before = self.b, self.b.load(self.before, typ=INT)
        b.store(before, self.row)

        def one(i: Any) -> None:
            row, first = b.add(before, i), b.load(self.row, typ=INT)
            times = (self._value(self.at["zero_times"], k) for k in (row, first))
            with b.if_then(b.fcmp_ordered("<", *times)):
                b.store(row, self.row)

        self._for(b.sub(self._get("ints", loop_abi.FOUND), before), one)
        return b.load(self.row, typ=INT)

    def _first(self, end: Any, among: Callable[[Any], Any], body: Callable[[Any, Any], None]) -> None:
        """Emit *body* for time and state of the earliest zero in a step to *end*, if all its zeros are *among* the given
        events.
        """
        b = self.b
        before, row = (b.load(place, typ=INT) for place in (self.before, self.row))
        b.store(number(1), self.alone)

        def one(i: Any) -> None:
            with b.if_then(b.not_(among(self._integer("which", b.add(before, i))))):
                b.store(number(0), self.alone)

        self._for(b.sub(self._get("ints", loop_abi.FOUND), before), one)
        t = self._value(self.at["zero_times"], row)
        with b.if_then(b.and_(b.fcmp_ordered("<", t, end), self._nonzero(b.load(self.alone, typ=INT)))):
            body(t, self._address(self.at["zero_states"], b.mul(row, self.padded)))

    def _is_gap(self, event: Any) -> Any:
        return self.b.icmp_signed(">=", self._integer("touches", event), number(0))

    def _integer(self, block: str, i: Any) -> Any:
        return self.b.load(self._address(self.at[block], i, INT), typ=INT)

    def _bounce(self, t: Any, h: Any, struck: Any, event: Any, touch: Any) -> None:
        """Apply the closed-form impact of the contact *touch* of an *event* at the time t in the state *struck*, if it
        exists.
        """
        b, after = self.b, self.between
        self._call("position", t, struck, after)
        law, approach, leaving, _, work = self._numbers(t, after, touch)
        fastest = self._intrinsic("maxnum", self._get("reals", loop_abi.FASTEST), b.fneg(approach))
        rises = b.fcmp_ordered(">", leaving, b.fmul(constant(10 * tolerances.ROUNDING_TOLERANCE), fastest))
        with b.if_then(b.and_(b.fcmp_ordered(">", law, constant(0.0)), rises)):
            self._jump(after, work)
            fall = self._numbers(t, after, touch)[loop_abi.FALL]
            square = b.fmul(leaving, leaving)
            self._call("events", t, after, self.values)
            noise = self._rounding(after, event)
            least = b.fmul(constant(-2 * SEEN), b.fmul(fall, noise))
            told = b.and_(b.fcmp_ordered(">", square, least), self._is_loss(t, approach, leaving, fall))
            with b.if_then(b.and_(told, self._is_alone(event))):
                self._set("reals", loop_abi.FASTEST, fastest)
                self._copy(self.values, self.known[0])
                self._for(self._get("ints", loop_abi.N_EVENTS), lambda i: self._begin_at(i, noise))
                self._restart(t, h, struck, after, event, approach)
                self._shorten(leaving, fall)

    def _numbers(self, t: Any, state: Any, touch: Any) -> list[Any]:
        """Evaluate the closed-form impact of a contact *touch*."""
        b = self.b
        self._work_out(t, state)
        self.own = self._address(self.at["bounces"], b.mul(touch, self._get("ints", loop_abi.BOUNCE)))
        return [self._value(self.own, number(i)) for i in range(loop_abi.BOUNCE_NUMBERS)]

    def _work_out(self, t: Any, state: Any) -> None:
        """Evaluate the closed-form impacts of all contacts at the time t in a *state*."""
        self.b.store(t, self.argument)
        self.b.call(self.at["bounce"], [self.argument, state, self.at["bounce_h"], self.at["bounces"]])

    def _give_speeds(self, state: Any) -> None:
        """Set the speeds of *state* to those after the last evaluated impact."""
        b = self.b
        speeds = self._address(state, self._get("ints", loop_abi.SPEEDS))
        found = self._address(self.own, number(loop_abi.BOUNCE_NUMBERS))

        def one(k: Any) -> None:
            b.store(self._value(found, k), self._address(speeds, k))

        self._for(b.sub(self._get("ints", loop_abi.BOUNCE), number(loop_abi.BOUNCE_NUMBERS)), one)

    def _jump(self, state: Any, work: Any) -> None:
        """Set the speeds of *state* to those after the impact, and add the *work* of its impulses."""
        b = self.b
        self._give_speeds(state)
        place = self._address(state, self._get("ints", loop_abi.WORK_DONE))
        b.store(b.fadd(b.load(place, typ=REAL), work), place)

    def _rounding(self, state: Any, event: Any) -> Any:
        """The gap of an *event* at the impact, including its evaluation error."""
        b, at = self.b, self._value(self.values, event)
        b.store(b.fmul(constant(2.0), self._abs(at)), self.most)

        def one(i: Any) -> None:
            size = b.fmul(constant(ROUNDING), self._abs(self._value(state, i)))
            b.store(self._intrinsic("maxnum", b.load(self.most, typ=REAL), size), self.most)

        self._for(self._get("ints", loop_abi.SPEEDS), one)
        return b.load(self.most, typ=REAL)

    def _is_loss(self, t: Any, approach: Any, leaving: Any, fall: Any) -> Any:
        """Whether an impact is lossless, or loses more energy than the rounding of its time gains."""
        b = self.b
        taken = b.fneg(b.fadd(approach, leaving))
        given = b.fmul(constant(LATE), self._abs(b.fmul(t, fall)))
        elastic = b.fcmp_ordered("<=", taken, b.fmul(constant(ROUNDING), leaving))
        return b.or_(elastic, b.fcmp_ordered(">", taken, given))

    def _is_alone(self, event: Any) -> Any:
        """Whether the gaps of all other contacts are open."""
        b, same = self.b, self._get("reals", loop_abi.SAME)
        b.store(number(1), self.alone)

        def one(i: Any) -> None:
            other = b.and_(self._is_gap(i), b.icmp_signed("!=", i, event))
            closed = b.fcmp_unordered("ule", self._value(self.values, i), same)
            with b.if_then(b.and_(other, closed)):
                b.store(number(0), self.alone)

        self._for(self._get("ints", loop_abi.N_EVENTS), one)
        return self._nonzero(b.load(self.alone, typ=INT))

    def _restart(self, t: Any, h: Any, struck: Any, after: Any, event: Any, approach: Any) -> None:
        """Record both states and continue from the state *after* the transition of an *event*, with the speed *approach* of
        an impact.
        """
        b = self.b
        self._record(t, h, struck)
        count = self._get("ints", loop_abi.MADE)
        b.store(event, self._address(self.at["changing"], count, INT))
        b.store(self._get("ints", loop_abi.ACCEPTED), self._address(self.at["changed_rows"], count, INT))
        b.store(approach, self._address(self.at["approaches"], count))
        flags = self._get("ints", loop_abi.N_FLAGS)
        present = self._address(self.at["given"], self._get("ints", loop_abi.FLAGGED))
        self._move(present, self._address(self.at["flags"], b.mul(count, flags)), b.mul(number(8), flags))
        self._count(loop_abi.MADE)
        self._record(t, constant(0.0), after)
        self._copy(after, self.y)
        self._set("reals", loop_abi.T, t)
        self._call("rhs", t, after, self._row(self.k, 0))
        self._count(loop_abi.EVALUATIONS)
        self._for(self._get("ints", loop_abi.N_EVENTS), self._want)
        with b.if_then(
            b.fcmp_ordered("!=", approach, constant(0.0))
        ):  # an opening gap then rises above its evaluation error
            self._for(self._get("ints", loop_abi.N_EVENTS), self._trust)
        self._set("ints", loop_abi.FOUND, b.load(self.before, typ=INT))
        self._set("ints", loop_abi.ENDED, number(0))
        b.store(number(1), self.changed)

    def _want(self, event: Any) -> None:
        """Increase the number of wanted zeros of an *event* of a contact."""
        with self.b.if_then(self.b.icmp_signed(">=", event, self._get("ints", loop_abi.FIRST))):
            self.b.store(number(1), self._address(self.at["left"], event, INT))

    def _trust(self, event: Any) -> None:
        """Disable the hysteresis of an *event* at its start zero."""
        self.b.store(constant(float("inf")), self._address(self.at["beyond"], event))

    def _shorten(self, leaving: Any, fall: Any) -> None:
        """Bound the next step by half of the time of flight."""
        b, wanted = self.b, self._get("reals", loop_abi.H)
        half = b.fdiv(leaving, b.fneg(fall))
        falls = b.fcmp_ordered("<", fall, constant(0.0))
        self._set("reals", loop_abi.H, b.select(falls, self._intrinsic("minnum", half, wanted), wanted))
