"""The adaptive explicit integrator for an ensemble: one case in every SIMD lane, with its own time, step and error. A lane
whose case has ended takes the next case from a queue shared by the threads.

Steps are made for all lanes together. Recording, event location and termination between two steps are written for one lane.
Arguments and results: :mod:`kineta.integration.ensemble_abi`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from llvmlite import ir

from kineta.codegen.builder import FUNCTION, INT, LANES_FUNCTION, REAL, constant, number
from kineta.integration import ensemble_abi as layout
from kineta.kernels.ensemble_events import EventLocation
from kineta.kernels.ensemble_step import compiled
from kineta.numerics.roots import MOST, PARTS
from kineta.numerics.tableaux import Tableau

#: A fraction beyond any step.
_NEVER = 2.0


@cache
def ensemble_loop(tableau: Tableau, lanes: int) -> Callable[..., int]:
    """The compiled loop for *tableau* with this number of *lanes*: a function of addresses, as in
    :mod:`kineta.integration.ensemble_abi`.
    """
    write = partial(EnsembleLoop, tableau, lanes)
    return compiled(write, len(layout.FUNCTIONS + layout.BLOCKS), "lanes", tableau, lanes)


class EnsembleLoop(EventLocation):
    """Writer of the LLVM module of the loop."""

    def __init__(self, tableau: Tableau, lanes: int) -> None:
        functions = dict(zip(layout.FUNCTIONS, (LANES_FUNCTION, FUNCTION), strict=True))
        super().__init__(tableau, functions, layout.BLOCKS, lanes)
        self.n, self.steering = self._size_of(layout.N), self._size_of(layout.STEERING)
        self.n_events = self._size_of(layout.N_EVENTS)
        self.padded = self.b.mul(self.n, number(lanes))
        self.y, self.k, self.tolerances = self.at["lane_y"], self.at["k"], self.at["tolerances"]
        self.new = self._address(self.at["x"], number(lanes))  # after t, before h
        self.keep, self.unit = (self._row(self.at["work"], r) for r in (layout.KEEP, layout.UNIT))
        self.within = [self._row(self.at["within"], k) for k in range(len(PARTS) - 2)]
        self.interpolant = self.at["dense"]
        self.ints = ir.VectorType(INT, lanes)
        self.until, self.cut = (self.b.alloca(REAL) for _ in range(2))
        self.ended, self.wanted, self.zeros = (self.b.alloca(INT) for _ in range(3))
        self.directions, self.between, self.values = (self.at[n] for n in ("directions", "between", "tried"))
        self._write()

    def _derivative(self, t: Any, stage: int) -> None:
        self._store(t, self.at["x"], number(0))
        self.b.call(self.at["rhs"], [self.at["x"], self._row(self.k, stage)])

    # -- places -----------------------------------------------------------------------------------------------------------

    def _size_of(self, index: int) -> Any:
        return self._int_at("sizes", index)

    def _int_at(self, block: str, index: int) -> Any:
        return self.b.load(self._address(self.at[block], number(index), INT), typ=INT)

    def _shared(self, index: int) -> Any:
        return self.b.load(self._address(self.at["reals"], number(index)), typ=REAL)

    def _lane(self, row: int, lane: Any) -> Any:
        """Address of an integer of one lane."""
        return self._address(self.at["lane"], self.b.add(number(row * self.lanes), lane), INT)

    def _lane_real(self, row: int, lane: Any) -> Any:
        """Address of a real number of one lane."""
        return self._address(self.at["lane_reals"], self.b.add(number(row * self.lanes), lane))

    def _in(self, state: Any, i: Any, lane: Any) -> Any:
        """Address of component i of the state of one lane."""
        return self._address(state, self.b.add(self.b.mul(i, number(self.lanes)), lane))

    def _count_of(self, case: Any, column: int) -> Any:
        """Address of a counter of a case."""
        return self._address(self.at["counts"], self._place(case, number(layout.COUNTS), number(column)), INT)

    def _place(self, row: Any, columns: Any, column: Any) -> Any:
        return self.b.add(self.b.mul(row, columns), column)

    def _row_of(self, block: str, case: Any, columns: Any) -> Any:
        """Address of the row of a case."""
        return self._address(self.at[block], self.b.mul(case, columns))

    def _reals(self, row: int) -> Any:
        return self._load(self.at["lane_reals"], number(row * self.lanes))

    def _set_reals(self, row: int, value: Any) -> None:
        self._store(value, self.at["lane_reals"], number(row * self.lanes))

    def _flags(self, row: int) -> Any:
        place = self._address(self.at["lane"], number(row * self.lanes), INT)
        return self.b.load(place, typ=self.ints, align=8)

    def _set_flags(self, row: int, value: Any) -> None:
        value = value if value.type == self.ints else self.b.zext(value, self.ints)
        self.b.store(value, self._address(self.at["lane"], number(row * self.lanes), INT), align=8)

    def _whole(self, value: int) -> ir.Constant:
        return ir.Constant(self.ints, [value] * self.lanes)

    def _some(self, mask: Any) -> Any:
        """Whether the *mask* is set in any lane."""
        bits = ir.IntType(self.lanes)
        return self.b.icmp_unsigned("!=", self.b.bitcast(mask, bits), ir.Constant(bits, 0))

    def _for_each_lane(self, row: int, body: Callable[[Any, Any], None]) -> None:
        """Emit *body* (lane, case) for every occupied lane with a nonzero integer in *row*."""

        def one(lane: Any) -> None:
            case = self.b.load(self._lane(layout.CASE, lane), typ=INT)
            flag = self._nonzero(self.b.load(self._lane(row, lane), typ=INT))
            with self.b.if_then(self.b.and_(flag, self.b.icmp_signed(">=", case, number(0)))):
                body(lane, case)

        self._for(number(self.lanes), one)

    # -- the loop -----------------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        b = self.b
        loop = self.function.append_basic_block("step")
        b.branch(loop)
        b.position_at_end(loop)
        self._pause()
        self._refill()
        active = b.icmp_signed(">=", self._flags(layout.CASE), self._whole(0))
        with b.if_then(b.not_(self._some(active)), likely=False):
            b.ret(number(layout.ALL_DONE))
        t, h = self._try(active)
        watched = b.icmp_signed(">", self.n_events, number(0))
        due = b.select(watched, self._flags(layout.GOOD), self._flags(layout.DUE))
        self._set_flags(layout.DUE, due)
        with b.if_then(self._some(b.icmp_signed("!=", due, self._whole(0)))):
            self._interpolant(t, h, self.keep, self.interpolant)
            with b.if_then(watched):
                self._states_within()
                self._for_each_lane(layout.GOOD, self._look)
            self._for_each_lane(layout.DUE, self._record)
            with b.if_then(watched):
                self._for_each_lane(layout.GOOD, self._carry)
        self._commit()
        self._tally()
        b.branch(loop)

    def _pause(self) -> None:
        """Return if no step is left, or no room for the event zeros of another step."""
        b = self.b
        steps = self._int_at("allowed", layout.STEPS)
        room = b.sub(self._int_at("allowed", layout.ROOM), self._int_at("allowed", layout.LOGGED))
        full = b.icmp_signed("<", room, b.mul(self.n_events, number(MOST * self.lanes)))
        with b.if_then(b.or_(b.icmp_signed("<=", steps, number(0)), full), likely=False):

            def keep(lane: Any) -> None:
                case = b.load(self._lane(layout.CASE, lane), typ=INT)
                with b.if_then(b.icmp_signed(">=", case, number(0))):
                    self._put_back(lane, case)

            self._for(number(self.lanes), keep)
            b.ret(number(layout.PAUSED))
        b.store(b.sub(steps, number(1)), self._address(self.at["allowed"], number(layout.STEPS), INT))

    def _refill(self) -> None:
        """Assign cases from the queue to free lanes."""
        b = self.b
        idle = self._some(b.icmp_signed("<", self._flags(layout.CASE), self._whole(0)))
        queued = self._size_of(layout.N_QUEUE)
        waiting = b.icmp_signed("<", b.load(self.at["next"], typ=INT), queued)

        def fill(lane: Any) -> None:
            case = b.load(self._lane(layout.CASE, lane), typ=INT)
            with b.if_then(b.icmp_signed("<", case, number(0))):
                taken = b.atomic_rmw("add", self.at["next"], number(1), "monotonic")
                with b.if_then(b.icmp_signed("<", taken, queued)):
                    self._take(lane, b.load(self._address(self.at["queue"], taken, INT), typ=INT))

        with b.if_then(b.and_(idle, waiting), likely=False):
            self._for(number(self.lanes), fill)

    def _take(self, lane: Any, case: Any) -> None:
        b = self.b
        b.store(case, self._lane(layout.CASE, lane))
        b.store(number(0), self._lane(layout.JUST_REJECTED, lane))
        b.store(number(layout.RUNNING), self._count_of(case, layout.STATUS))
        for column, row in layout.COUNTED.items():
            b.store(b.load(self._count_of(case, column), typ=INT), self._lane(row, lane))
        self._in_lane(lane, case)
        for block, own in (("values", self.known[0]), ("noise", self.noise)):
            self._copy_row(self._row_of(block, case, self.n_events), own)
        for row, block in ((layout.T, "t"), (layout.H, "size")):
            b.store(b.load(self._address(self.at[block], case), typ=REAL), self._lane_real(row, lane))
        h = self._address(self.new, self.padded)
        stride = self._size_of(layout.H_STRIDE)
        for source, target, size in (
            (self._row_of("y", case, self.n), self.y, self.n),
            (self._row_of("rate", case, self.n), self.k, self.n),
            (self._row_of("h", case, stride), h, self._size_of(layout.N_H)),
        ):
            self._spread(source, target, lane, size)
        self._next_time(lane)

    def _copy_row(self, source: Any, target: Any) -> None:
        """Copy the values of all events from *source* to *target*."""
        self._for(
            self.n_events,
            lambda i: self.b.store(self.b.load(self._address(source, i), typ=REAL), self._address(target, i)),
        )

    def _spread(self, row: Any, state: Any, lane: Any, size: Any) -> None:
        """Scatter a row of *size* numbers to one lane."""
        self._for(size, lambda i: self.b.store(self.b.load(self._address(row, i), typ=REAL), self._in(state, i, lane)))

    def _gather(self, state: Any, lane: Any, row: Any) -> None:
        """Gather the state of one lane into a row."""
        self._for(
            self.n, lambda i: self.b.store(self.b.load(self._in(state, i, lane), typ=REAL), self._address(row, i))
        )

    def _put_back(self, lane: Any, case: Any) -> None:
        """Store the progress of the case of a lane."""
        b = self.b
        b.store(b.load(self._lane_real(layout.T, lane), typ=REAL), self._address(self.at["t"], case))
        size = self._intrinsic("fabs", b.load(self._lane_real(layout.SIZE, lane), typ=REAL))
        b.store(size, self._address(self.at["size"], case))
        self._gather(self.y, lane, self._row_of("y", case, self.n))
        for column, row in layout.COUNTED.items():
            b.store(b.load(self._lane(row, lane), typ=INT), self._count_of(case, column))

    def _next_time(self, lane: Any) -> None:
        """The next time to record, or infinity."""
        b = self.b
        recorded = b.load(self._lane(layout.COUNTED[layout.RECORDED], lane), typ=INT)
        some = b.icmp_signed("<", recorded, self._size_of(layout.N_GRID))
        place = self._address(self.at["grid"], b.select(some, recorded, number(0)))
        never = self._intrinsic("copysign", constant(float("inf")), self._shared(layout.DIRECTION))
        b.store(b.select(some, b.load(place, typ=REAL), never), self._lane_real(layout.NEXT, lane))

    def _try(self, active: Any) -> tuple[Any, Any]:
        """A step of all lanes: its time and size; the flags of the lanes hold its outcome."""
        b = self.b
        t, wanted = self._reals(layout.T), self._reals(layout.H)
        end, most = self._wide(self._shared(layout.T_END)), self._wide(self._shared(layout.MAX_STEP))
        h, last, moves = self._size(t, end, wanted, most)
        h = b.select(active, h, self._real(0.0))
        self._stages(t, h)
        error = self._error(h)
        finite, small = self._verdict(error)
        tried = b.and_(active, moves)
        good, bad = b.and_(tried, small), b.and_(tried, b.not_(small))
        rejected = b.icmp_signed("!=", self._flags(layout.JUST_REJECTED), self._whole(0))
        factor = self._factor(error)
        shrunk, grown = self._shrunk(h, factor, finite), self._grown(h, factor, last, rejected, wanted)
        self._set_reals(layout.H, b.select(good, grown, b.select(bad, shrunk, wanted)))
        reached = b.select(last, end, b.fadd(t, h))
        self._set_reals(layout.REACHED, reached)
        self._set_reals(layout.SIZE, h)
        beyond = b.fmul(b.fsub(reached, self._reals(layout.NEXT)), self._wide(self._shared(layout.DIRECTION)))
        due = b.and_(good, b.fcmp_ordered(">=", beyond, self._real(0.0)))
        for row, flag in ((layout.JUST_REJECTED, bad), (layout.GOOD, good), (layout.DUE, due)):
            self._set_flags(row, flag)
        self._set_flags(layout.CROSSED, self._whole(0))
        ends = b.select(b.and_(good, last), self._whole(layout.DONE), self._whole(0))
        lost = b.and_(bad, self._hopeless(t, shrunk, finite))
        ends = b.select(lost, self._whole(layout.NOT_FINITE), ends)
        stuck = b.and_(active, b.not_(moves))
        self._set_flags(layout.ENDS, b.select(stuck, self._whole(layout.STEP_TOO_SMALL), ends))
        self._copy(self.new, self.unit)
        self._for(self._size_of(layout.N_QUATERNIONS), self._normalise)
        return t, h

    def _normalise(self, i: Any) -> None:
        """Normalise quaternion i of the new states."""
        b = self.b
        offset = b.load(self._address(self.at["quaternions"], i, INT), typ=INT)
        start = self._address(self.unit, b.mul(offset, number(self.lanes)))
        places = [number(j * self.lanes) for j in range(4)]
        values = [self._load(start, place) for place in places]
        square: Any = self._real(0.0)
        for value in values:
            square = b.fadd(square, b.fmul(value, value))
        length = self._intrinsic("sqrt", square)
        for place, value in zip(places, values, strict=True):
            self._store(b.fdiv(value, length), start, place)

    def _commit(self) -> None:
        """Store the new states of the lanes with an accepted step."""
        b = self.b
        good = b.icmp_signed("!=", self._flags(layout.GOOD), self._whole(0))
        self._set_reals(layout.T, b.select(good, self._reals(layout.REACHED), self._reals(layout.T)))
        rate = self._row(self.k, self.tableau.stages)

        def lanes(i: Any) -> None:
            for new, old in ((self.unit, self.y), (rate, self.k)):
                self._store(b.select(good, self._load(new, i), self._load(old, i)), old, i)

        self._for_lanes(lanes)

    def _tally(self) -> None:
        """Count the steps, and release the lanes of cases that end."""
        b = self.b
        for column, flag in (
            (layout.ACCEPTED, layout.GOOD),
            (layout.REJECTED, layout.JUST_REJECTED),
            (layout.DENSE, layout.DUE),
        ):
            row = layout.COUNTED[column]
            self._set_flags(row, b.add(self._flags(row), self._flags(flag)))
        most = self._wide(self._size_of(layout.MAX_STEPS))
        spent = b.icmp_signed(">=", self._flags(layout.COUNTED[layout.ACCEPTED]), most)
        ends = self._flags(layout.ENDS)
        out = b.and_(spent, b.icmp_signed("==", ends, self._whole(0)))
        ends = b.select(out, self._whole(layout.OUT_OF_STEPS), ends)
        self._set_flags(layout.ENDS, ends)
        with b.if_then(self._some(b.icmp_signed("!=", ends, self._whole(0))), likely=False):
            self._for_each_lane(layout.ENDS, self._let_go)

    def _let_go(self, lane: Any, case: Any) -> None:
        self._put_back(lane, case)
        self.b.store(self.b.load(self._lane(layout.ENDS, lane), typ=INT), self._count_of(case, layout.STATUS))
        self.b.store(number(-1), self._lane(layout.CASE, lane))

    # -- between two steps of a case ----------------------------------------------------------------------------------------

    def _in_lane(self, lane: Any, case: Any) -> None:
        """Select the case for dense output and event functions."""
        b = self.b
        self.lane = lane
        self.h = self._row_of("h", case, self._size_of(layout.H_STRIDE))
        first = self._row_of("known", lane, b.mul(self.n_events, number(len(PARTS))))
        self.known = [self._address(first, b.mul(self.n_events, number(k))) for k in range(len(PARTS))]
        self.noise = self._row_of("lane_noise", lane, self.n_events)

    def _state(self, x: Any) -> None:
        self._state_at(x, self.between)

    def _state_within(self, place: Any) -> Any:
        self._gather(place, self.lane, self.between)
        return self.between

    def _state_at(self, x: Any, out: Any) -> None:
        b = self.b
        rest = b.fsub(constant(1.0), x)

        def component(i: Any) -> None:
            change: Any = None
            for r in reversed(range(self.tableau.coefficients)):
                F = b.load(self._in(self._row(self.interpolant, r), i, self.lane), typ=REAL)
                change = F if change is None else b.fadd(change, F)
                change = b.fmul(change, rest if r % 2 else x)
            b.store(b.fadd(b.load(self._in(self.y, i, self.lane), typ=REAL), change), self._address(out, i))

        self._for(self.n, component)

    def _event_values(self, t: Any, y: Any, out: Any) -> None:
        self.b.store(t, self.argument)
        self.b.call(self.at["events"], [self.argument, y, self.h, out])

    def _look(self, lane: Any, case: Any) -> None:
        """Whether the step of the case may contain event zeros; gives up a case with undefined event values."""
        b = self.b
        self._in_lane(lane, case)
        self._gather(self.unit, lane, self.between)
        start, end, h = (b.load(self._lane_real(r, lane), typ=REAL) for r in (layout.T, layout.REACHED, layout.SIZE))
        self._event_values(end, self.between, self.known[-1])
        self._sample(start, h)

        def look(i: Any) -> None:
            place = self._lane(layout.CROSSED, lane)
            b.store(b.or_(b.load(place, typ=INT), b.zext(self._likely(i), INT)), place)
            with b.if_then(self._missing(i), likely=False):
                b.store(number(layout.GIVEN_UP), self._lane(layout.ENDS, lane))

        self._for(self.n_events, look)

    def _carry(self, lane: Any, case: Any) -> None:
        """Carry the event values at the end of the step over to the next step."""
        self._in_lane(lane, case)

        def carry(i: Any) -> None:
            self._settle(i)
            self.b.store(self._value(self.known[-1], i), self._address(self.known[0], i))

        self._for(self.n_events, carry)

    def _record(self, lane: Any, case: Any) -> None:
        """Record the samples of one lane within its step."""
        b = self.b
        self._in_lane(lane, case)
        start, end, h = (b.load(self._lane_real(r, lane), typ=REAL) for r in (layout.T, layout.REACHED, layout.SIZE))
        b.store(end, self.until)
        crossed = b.load(self._lane(layout.CROSSED, lane), typ=INT)
        with b.if_then(self._nonzero(crossed), likely=False):
            self._zeros(case, start, end)
        samples = self._row_of("samples", b.mul(case, self._size_of(layout.N_GRID)), self.n)
        place = self._lane(layout.COUNTED[layout.RECORDED], lane)

        def due() -> Any:
            beyond = b.fsub(b.load(self.until, typ=REAL), b.load(self._lane_real(layout.NEXT, lane), typ=REAL))
            return b.fcmp_ordered(">=", b.fmul(beyond, self._shared(layout.DIRECTION)), constant(0.0))

        def sample() -> Any:
            recorded = b.load(place, typ=INT)
            time = b.load(self._lane_real(layout.NEXT, lane), typ=REAL)
            row = self._address(samples, b.mul(recorded, self.n))
            with b.if_else(b.fcmp_ordered("==", time, b.load(self.until, typ=REAL))) as (ends, within):
                with ends:  # the state itself: the interpolant has rounding errors
                    self._gather(self.unit, lane, row)
                with within:
                    self._state_at(b.fdiv(b.fsub(time, start), h), row)
            b.store(b.add(recorded, number(1)), place)
            self._next_time(lane)
            return due()

        with b.if_then(due()):
            self._while(sample)

    def _zeros(self, case: Any, start: Any, end: Any) -> None:
        """Locate the event zeros of the step of a case, up to the first terminal zero."""
        b, lane = self.b, self.lane
        h = b.load(self._lane_real(layout.SIZE, lane), typ=REAL)
        left = self._address(self.at["left"], b.mul(case, self.n_events), INT)
        b.store(constant(_NEVER), self.cut)
        b.store(self.n_events, self.ended)
        b.store(number(0), self.zeros)

        def find(i: Any) -> None:
            b.store(b.load(self._address(left, i, INT), typ=INT), self.wanted)

            def note(x: Any) -> None:
                place, wanted = b.load(self.zeros, typ=INT), b.load(self.wanted, typ=INT)
                b.store(x, self._address(self.at["zeros"], place))
                b.store(i, self._address(self.at["zeros_of"], place, INT))
                b.store(b.add(place, number(1)), self.zeros)
                b.store(b.sub(wanted, number(1)), self.wanted)
                last = b.icmp_signed("==", wanted, number(1))
                with b.if_then(b.and_(last, b.fcmp_ordered("<", x, b.load(self.cut, typ=REAL)))):
                    b.store(x, self.cut)
                    b.store(i, self.ended)

            with b.if_then(self._likely(i)):
                self._zeros_of(i, start, h, note)

        self._for(self.n_events, find)
        cut, ended = b.load(self.cut, typ=REAL), b.load(self.ended, typ=INT)

        def log(k: Any) -> None:
            x, i = self._value(self.at["zeros"], k), b.load(self._address(self.at["zeros_of"], k, INT), typ=INT)
            with_it = b.and_(b.fcmp_ordered("==", x, cut), b.icmp_signed("<=", i, ended))
            with b.if_then(b.or_(b.fcmp_ordered("<", x, cut), with_it)):
                place = self._address(left, i, INT)
                b.store(b.sub(b.load(place, typ=INT), number(1)), place)
                self._log(case, i, x, self._time(x, start, h, end))

        self._for(b.load(self.zeros, typ=INT), log)
        with b.if_then(b.fcmp_ordered("<=", cut, constant(1.0))):
            time = self._time(cut, start, h, end)
            b.store(time, self.until)
            b.store(time, self._lane_real(layout.REACHED, lane))
            b.store(number(layout.EVENT), self._lane(layout.ENDS, lane))
            b.store(ended, self._count_of(case, layout.ENDED))
            self._state(cut)
            self._spread(self.between, self.unit, lane, self.n)

    def _log(self, case: Any, i: Any, x: Any, t: Any) -> None:
        """Log an event zero: case and event, time and state."""
        b = self.b
        logged = self._int_at("allowed", layout.LOGGED)
        row = self._address(self.at["log"], b.mul(logged, number(2)), INT)
        b.store(case, row)
        b.store(i, self._address(row, number(1), INT))
        reals = self._row_of("log_reals", logged, b.add(self.n, number(1)))
        b.store(t, reals)
        self._state_at(x, self._address(reals, number(1)))
        b.store(b.add(logged, number(1)), self._address(self.at["allowed"], number(layout.LOGGED), INT))
