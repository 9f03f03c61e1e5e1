"""The adaptive explicit integrator with mode trials: contact modes are numbers of the block h.

A candidate mode is accepted if every guard exceeds its evaluation error, at once and shortly afterwards: then the forces
satisfy the contact laws. States, guards and rates come from the compiled functions of the system with other blocks h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta import tolerances
from kineta.codegen.builder import INT, constant, number
from kineta.integration import loop_abi
from kineta.kernels.impact import ClosedFormImpactLoop
from kineta.kernels.integrate import ROUNDING

#: Smallest guard value in units of its evaluation error.
AWAY = 100.0
#: Delay of the second evaluation of the guards, relative to the largest time.
SOON = 1e-6
#: Largest change of the speeds by the end of slip, in units of the slip: at a dead centre slip ends
#: while the mechanism moves on.
LEVER = 1e4


class ModeTrialLoop(ClosedFormImpactLoop):
    """Writer of the LLVM module of the loop with mode trials. Two candidate modes, 0 and 1, can be tried at a time."""

    def _write(self) -> None:
        self.base = self._trial(loop_abi.BASE)
        self.rate, self.beside, self.after = (self._trial(loop_abi.ASIDE + i) for i in range(3))
        super()._write()

    def _trial(self, row: int) -> Any:
        return self._row(self.at["trials"], row)

    def _of(self, mode: int, what: int) -> Any:
        """Address of a quantity of a candidate mode: its state, guards or evaluation errors."""
        return self._trial(loop_abi.TRIED + loop_abi.TRIAL * mode + what)

    def _is_touch(self, event: Any) -> Any:
        return self.b.icmp_signed(">=", event, self._get("ints", loop_abi.FIRST))

    def _is_one(self, t: Any, moment: Any) -> Any:
        """Whether no other event zero of the step is as early as the zero at the time t, up to *moment*."""
        b, before, own = self.b, self.b.load(self.before, typ=INT), self.b.load(self.row, typ=INT)
        until = b.fadd(t, moment)

        def one(i: Any) -> Any:
            row = b.add(before, i)
            other = b.icmp_signed("!=", row, own)
            return b.and_(other, b.fcmp_ordered("<=", self._value(self.at["zero_times"], row), until))

        return b.not_(self._any(b.sub(self._get("ints", loop_abi.FOUND), before), one))

    def _any(self, count: Any, is_so: Callable[[Any], Any]) -> Any:
        """Whether *is_so* holds for some i below *count*."""
        b = self.b
        b.store(number(0), self.alone)

        def one(i: Any) -> None:
            with b.if_then(is_so(i)):
                b.store(number(1), self.alone)

        self._for(count, one)
        return self._nonzero(b.load(self.alone, typ=INT))

    def _if_alone(self, end: Any, body: Callable[[Any, Any], None]) -> None:
        """Emit *body* for time and state of the earliest event zero in a step to *end*, if all zeros belong to contacts, the
        earliest is isolated, and it is later than the last transition. The projected state is in ``base``.
        """
        b = self.b

        def one(t: Any, state: Any) -> None:
            moment = b.fmul(
                constant(ROUNDING), self._intrinsic("maxnum", self._abs(t), self._get("reals", loop_abi.UNTIL))
            )
            new = b.fcmp_ordered(">", b.fsub(t, self._get("reals", loop_abi.CHANGED)), moment)
            with b.if_then(b.and_(new, self._is_one(t, moment))):
                self._call("position", t, state, self.beside)
                self._call("velocity", t, self.beside, self.base)
                body(t, state)

        self._first(end, self._is_touch, one)

    # -- a mode -------------------------------------------------------------------------------------------------------

    def _flags(self, place: Any) -> Any:
        """Address of the mode numbers of a contact among the arguments of setup."""
        return self._address(self.at["given"], place)

    def _let(self, flags: Any, what: int, way: Any) -> None:
        """Set the contact with these *flags* to the contact mode *what*, with a direction *way*."""
        for k in range(loop_abi.STUCK, loop_abi.FLAGS):
            self.b.store(constant(0.0), self._address(flags, number(k)))
        for k, value in ((what, constant(1.0)), (loop_abi.ALONG, way), (loop_abi.BEGINS, self._abs(way))):
            self.b.store(value, self._address(flags, number(k)))

    def _try(self, mode: int, t: Any, state: Any, slip: Any) -> Any:
        """Whether the mode of the present flags is consistent from a *state* on, in which sticking contacts have the *slip*.
        Computes its state, its guards, and their evaluation errors.
        """
        b, still, h = self.b, self._of(mode, loop_abi.STATE), self._tried_h(mode)
        b.call(self.at[loop_abi.SETUP], [self.at["given"], h])
        self._call("velocity", t, state, still, h)
        self._call("events", t, still, self._of(mode, loop_abi.NOW), h)

        def nearly(i: Any) -> None:
            sign = b.fmul(self._wide(constant(ROUNDING)), self._load(self.at["signs"], i))
            value = self._load(still, i)
            self._store(b.fadd(value, b.fmul(value, sign)), self.beside, i)

        self._for_lanes(nearly)
        self._call("events", t, self.beside, self._of(mode, loop_abi.NOISE), h)

        def differs(i: Any) -> None:
            now, noise = self._of(mode, loop_abi.NOW), self._of(mode, loop_abi.NOISE)
            change = b.fsub(self._load(noise, i), self._load(now, i))
            self._store(self._intrinsic("fabs", change), noise, i)

        self._for_lanes(differs)
        return self._is_beside(state, still, slip)

    def _tried_h(self, mode: int) -> Any:
        return self._address(self.at["tried_h"], self.b.mul(number(mode), self._get("ints", loop_abi.SIZE)))

    def _is_beside(self, state: Any, still: Any, slip: Any) -> Any:
        """Whether the state *still* without slip is as near to *state* as its *slip* explains."""
        b = self.b
        moved = self._largest(lambda i: self._intrinsic("fabs", b.fsub(self._load(still, i), self._load(state, i))))
        part = b.fmul(
            constant(tolerances.STATE_TOLERANCE), self._intrinsic("maxnum", self._extent(state), constant(1.0))
        )
        return b.fcmp_ordered("<=", moved, self._intrinsic("maxnum", b.fmul(constant(LEVER), slip), part))

    def _extent(self, state: Any) -> Any:
        return self._largest(lambda i: self._intrinsic("fabs", self._load(state, i)))

    def _look_ahead(self, t: Any, mode: int) -> None:
        """Evaluate the guards of a candidate mode after a short time."""
        b, h = self.b, self._tried_h(mode)
        later = b.fmul(constant(SOON), self._get("reals", loop_abi.UNTIL))
        self._call("rhs", t, self._of(mode, loop_abi.STATE), self.rate, h)
        self._count(loop_abi.EVALUATIONS)

        def ahead(i: Any) -> None:
            change = b.fmul(self._wide(later), self._load(self.rate, i))
            self._store(b.fadd(self._load(self._of(mode, loop_abi.STATE), i), change), self.beside, i)

        self._for_lanes(ahead)
        self._call("events", b.fadd(t, later), self.beside, self._of(mode, loop_abi.SOON), h)

    def _keeps(self, mode: int, event: Any) -> Any:
        """Whether all guards of contacts but one are satisfied in a candidate mode, at once and shortly afterwards."""
        b, first = self.b, self._get("ints", loop_abi.FIRST)

        def fails(k: Any) -> Any:
            i = b.add(first, k)
            now, noise, soon = (
                self._value(self._of(mode, w), i) for w in (loop_abi.NOW, loop_abi.NOISE, loop_abi.SOON)
            )
            least = self._intrinsic("maxnum", self._bar(i), b.fmul(constant(AWAY), noise))
            sound = b.and_(b.fcmp_ordered(">", now, least), b.fcmp_ordered(">", soon, constant(0.0)))
            return b.and_(b.icmp_signed("!=", i, event), b.not_(sound))

        return b.not_(self._any(b.sub(self._get("ints", loop_abi.N_EVENTS), first), fails))

    def _bar(self, event: Any) -> Any:
        """The threshold of an *event* during transitions of other contacts: the contact tolerance for a gap."""
        b, same = self.b, self._get("reals", loop_abi.SAME)
        place = self._integer("normals", event)
        flags = self._flags(b.select(self._is_normal(event), place, number(0)))
        is_gap = b.and_(self._is_normal(event), b.not_(self._is_closed(flags)))
        return b.select(is_gap, same, self._value(self.at["least"], event))

    def _is_normal(self, event: Any) -> Any:
        return self.b.icmp_signed(">=", self._integer("normals", event), number(0))

    def _is_closed(self, flags: Any) -> Any:
        return self.b.fcmp_ordered(">", self._value(flags, number(loop_abi.CLOSED)), constant(0.0))

    # -- what follows -------------------------------------------------------------------------------------------------

    def _go_on(self, t: Any, h: Any, state: Any, event: Any, mode: int, approach: Any) -> None:
        """Continue in a candidate mode with the present flags, after a *state* at a zero of *event*, with the speed
        *approach* of an impact.
        """
        b, after = self.b, self._of(mode, loop_abi.STATE)
        self._keep_balance(t, state, after)
        self._move(self._tried_h(mode), self.at["h"], b.mul(number(8), self._get("ints", loop_abi.SIZE)))
        self._set("reals", loop_abi.CHANGED, t)
        self._restart(t, h, state, after, event, approach)
        self._set("reals", loop_abi.LOW, self._lowest(self._row(self.k, 0)))
        self._set("ints", loop_abi.HOPS, number(0))
        self._look_at_start(t)

    def _keep_balance(self, t: Any, state: Any, after: Any) -> None:
        """Add the energy loss of a transition to the work done."""
        b, energies = self.b, []
        for one in (state, after):
            self._call("observed", t, one, self.at["energies"])
            energies.append(b.fadd(*(self._value(self.at["energies"], number(k)) for k in range(2))))
        place = self._address(after, self._get("ints", loop_abi.WORK_DONE))
        b.store(b.fadd(self._value(place, number(0)), b.fsub(energies[1], energies[0])), place)
