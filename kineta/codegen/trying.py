"""The adaptive explicit integrator that tries modes: what touches do from an instant on, in numbers of the block h.

A mode is believed where every event keeps away from its zero in it, by more than rounding, and soon after too: then forces keep
to their laws. The states, the values of events, and the rates that this takes are those of the compiled functions of the
system, called with other blocks h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta.codegen.bouncing import Bouncing
from kineta.codegen.emitter import INT, constant, number
from kineta.codegen.integrator import ROUNDING
from kineta.numerics import layout

#: By how many times what rounding of a state does to an event this has to be away from its zero.
AWAY = 100.0
#: Part of the largest time after which events are looked at again.
SOON = 1e-6
#: By how many times a slip speeds may change that bring it to an end, and by which part of a state in any case: in a dead point
#: slip ends though all goes on.
LEVER, ASIDE = 1e4, 1e-9


class Trying(Bouncing):
    """Writer of the module. Of the two modes that are tried one has the number 0, the other 1."""

    def _write(self) -> None:
        self.base = self._trial(layout.BASE)
        self.rate, self.beside, self.after = (self._trial(layout.ASIDE + i) for i in range(3))
        super()._write()

    def _trial(self, row: int) -> Any:
        return self._row(self.at["trials"], row)

    def _of(self, mode: int, what: int) -> Any:
        """What is known of a mode that is tried."""
        return self._trial(layout.TRIED + layout.TRIAL * mode + what)

    def _is_touch(self, event: Any) -> Any:
        return self.b.icmp_signed(">=", event, self._get("ints", layout.FIRST))

    def _is_one(self, t: Any, moment: Any) -> Any:
        """Whether no other zero in the step is as early as that at the time t, up to a *moment*."""
        b, before, own = self.b, self.b.load(self.before, typ=INT), self.b.load(self.row, typ=INT)
        until = b.fadd(t, moment)

        def one(i: Any) -> Any:
            row = b.add(before, i)
            other = b.icmp_signed("!=", row, own)
            return b.and_(other, b.fcmp_ordered("<=", self._value(self.at["zero_times"], row), until))

        return b.not_(self._any(b.sub(self._get("ints", layout.FOUND), before), one))

    def _any(self, count: Any, is_so: Callable[[Any], Any]) -> Any:
        """Whether something is so for some i below *count*."""
        b = self.b
        b.store(number(0), self.alone)

        def one(i: Any) -> None:
            with b.if_then(is_so(i)):
                b.store(number(1), self.alone)

        self._for(count, one)
        return self._nonzero(b.load(self.alone, typ=INT))

    def _if_alone(self, end: Any, body: Callable[[Any, Any], None]) -> None:
        """*body* for time and state of the earliest zero in a step that was to lead to *end*, if only touches come to zero in
        it, it is alone at that time, and the last change is past. The state is brought back to what holds, to ``base``.
        """
        b = self.b

        def one(t: Any, state: Any) -> None:
            moment = b.fmul(
                constant(ROUNDING), self._intrinsic("maxnum", self._abs(t), self._get("reals", layout.UNTIL))
            )
            new = b.fcmp_ordered(">", b.fsub(t, self._get("reals", layout.CHANGED)), moment)
            with b.if_then(b.and_(new, self._is_one(t, moment))):
                self._call("position", t, state, self.beside)
                self._call("velocity", t, self.beside, self.base)
                body(t, state)

        self._first(end, self._is_touch, one)

    # -- a mode -------------------------------------------------------------------------------------------------------

    def _flags(self, place: Any) -> Any:
        """The numbers of a touch among what setup is given."""
        return self._address(self.at["given"], place)

    def _let(self, flags: Any, what: int, way: Any) -> None:
        """Let the touch with these *flags* do *what*, in a *way*."""
        for k in range(layout.STUCK, layout.FLAGS):
            self.b.store(constant(0.0), self._address(flags, number(k)))
        for k, value in ((what, constant(1.0)), (layout.ALONG, way), (layout.BEGINS, self._abs(way))):
            self.b.store(value, self._address(flags, number(k)))

    def _try(self, mode: int, t: Any, state: Any, slip: Any) -> Any:
        """Whether there is a mode with the present flags from a *state* on, in which what is to stick has this *slip*. Its state,
        the values of events there, and what of these may be rounding, are worked out.
        """
        b, still, h = self.b, self._of(mode, layout.STATE), self._tried_h(mode)
        b.call(self.at[layout.SETUP], [self.at["given"], h])
        self._call("velocity", t, state, still, h)
        self._call("events", t, still, self._of(mode, layout.NOW), h)

        def nearly(i: Any) -> None:
            sign = b.fmul(self._wide(constant(ROUNDING)), self._load(self.at["signs"], i))
            value = self._load(still, i)
            self._store(b.fadd(value, b.fmul(value, sign)), self.beside, i)

        self._for_lanes(nearly)
        self._call("events", t, self.beside, self._of(mode, layout.NOISE), h)

        def differs(i: Any) -> None:
            now, noise = self._of(mode, layout.NOW), self._of(mode, layout.NOISE)
            change = b.fsub(self._load(noise, i), self._load(now, i))
            self._store(self._intrinsic("fabs", change), noise, i)

        self._for_lanes(differs)
        return self._is_beside(state, still, slip)

    def _tried_h(self, mode: int) -> Any:
        return self._address(self.at["tried_h"], self.b.mul(number(mode), self._get("ints", layout.SIZE)))

    def _is_beside(self, state: Any, still: Any, slip: Any) -> Any:
        """Whether a *state* without slip is as near to one with this *slip* as that explains."""
        b = self.b
        moved = self._largest(lambda i: self._intrinsic("fabs", b.fsub(self._load(still, i), self._load(state, i))))
        part = b.fmul(constant(ASIDE), self._intrinsic("maxnum", self._extent(state), constant(1.0)))
        return b.fcmp_ordered("<=", moved, self._intrinsic("maxnum", b.fmul(constant(LEVER), slip), part))

    def _extent(self, state: Any) -> Any:
        return self._largest(lambda i: self._intrinsic("fabs", self._load(state, i)))

    def _look_ahead(self, t: Any, mode: int) -> None:
        """The values of events soon after, in a mode."""
        b, h = self.b, self._tried_h(mode)
        later = b.fmul(constant(SOON), self._get("reals", layout.UNTIL))
        self._call("rhs", t, self._of(mode, layout.STATE), self.rate, h)
        self._count(layout.EVALUATIONS)

        def ahead(i: Any) -> None:
            change = b.fmul(self._wide(later), self._load(self.rate, i))
            self._store(b.fadd(self._load(self._of(mode, layout.STATE), i), change), self.beside, i)

        self._for_lanes(ahead)
        self._call("events", b.fadd(t, later), self.beside, self._of(mode, layout.SOON), h)

    def _keeps(self, mode: int, event: Any) -> Any:
        """Whether all events of touches but one keep away from their zeros in a mode, now and soon."""
        b, first = self.b, self._get("ints", layout.FIRST)

        def fails(k: Any) -> Any:
            i = b.add(first, k)
            now, noise, soon = (self._value(self._of(mode, w), i) for w in (layout.NOW, layout.NOISE, layout.SOON))
            least = self._intrinsic("maxnum", self._bar(i), b.fmul(constant(AWAY), noise))
            sound = b.and_(b.fcmp_ordered(">", now, least), b.fcmp_ordered(">", soon, constant(0.0)))
            return b.and_(b.icmp_signed("!=", i, event), b.not_(sound))

        return b.not_(self._any(b.sub(self._get("ints", layout.N_EVENTS), first), fails))

    def _bar(self, event: Any) -> Any:
        """What the value of an *event* must exceed while others change: for a gap what counts as closed."""
        b, same = self.b, self._get("reals", layout.SAME)
        place = self._integer("normals", event)
        flags = self._flags(b.select(self._is_normal(event), place, number(0)))
        is_gap = b.and_(self._is_normal(event), b.not_(self._is_closed(flags)))
        return b.select(is_gap, same, self._value(self.at["least"], event))

    def _is_normal(self, event: Any) -> Any:
        return self.b.icmp_signed(">=", self._integer("normals", event), number(0))

    def _is_closed(self, flags: Any) -> Any:
        return self.b.fcmp_ordered(">", self._value(flags, number(layout.CLOSED)), constant(0.0))

    # -- what follows -------------------------------------------------------------------------------------------------

    def _go_on(self, t: Any, h: Any, state: Any, event: Any, mode: int, approach: Any) -> None:
        """Go on in a mode, whose flags are the present ones, after a *state* in which an *event* came to zero, perhaps with an
        *approach*.
        """
        b, after = self.b, self._of(mode, layout.STATE)
        self._keep_balance(t, state, after)
        self._move(self._tried_h(mode), self.at["h"], b.mul(number(8), self._get("ints", layout.SIZE)))
        self._set("reals", layout.CHANGED, t)
        self._restart(t, h, state, after, event, approach)
        self._set("reals", layout.LOW, self._lowest(self._row(self.k, 0)))
        self._set("ints", layout.HOPS, number(0))
        self._look_at_start(t)

    def _keep_balance(self, t: Any, state: Any, after: Any) -> None:
        """Count what a change takes of the energy as work done."""
        b, energies = self.b, []
        for one in (state, after):
            self._call("observed", t, one, self.at["energies"])
            energies.append(b.fadd(*(self._value(self.at["energies"], number(k)) for k in range(2))))
        place = self._address(after, self._get("ints", layout.WORK_DONE))
        b.store(b.fadd(self._value(place, number(0)), b.fsub(energies[1], energies[0])), place)
