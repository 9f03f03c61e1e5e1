"""The adaptive explicit integrator as machine code, without Python between two steps.

One module per method, the same for every system: the right-hand side is the address of a compiled function. The loop returns
at the end of the run, after the allowed number of steps (so that a run can be watched and interrupted), after the last
wanted zero of an event, after a step with ambiguous events, and at a failure. Arguments and results:
:mod:`kineta.integration.loop_abi`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from typing import Any

from kineta import tolerances
from kineta.codegen.builder import FUNCTION, INT, LANES_FUNCTION, REAL, constant, number
from kineta.integration import loop_abi
from kineta.kernels.event_location import EventLocation
from kineta.kernels.runge_kutta import compiled
from kineta.numerics.tableaux import Tableau

#: Relative rounding error of times and states.
ROUNDING = 64 * tolerances.EPS


@cache
def integration_loop(tableau: Tableau, *, projecting: bool = False, touching: bool = False) -> Callable[..., int]:
    """The compiled loop for *tableau*: a function of addresses, as in :mod:`kineta.integration.loop_abi`.

    With *projecting* it projects onto the constraints of the problem; with *touching* it carries out impacts and stick-slip
    transitions.
    """
    from kineta.kernels.projection import ProjectionLoop
    from kineta.kernels.simultaneous_impact import SimultaneousImpactLoop

    writer = SimultaneousImpactLoop if touching else ProjectionLoop if projecting else IntegrationLoop
    arguments = len((*loop_abi.FUNCTIONS, loop_abi.SETUP, *loop_abi.BLOCKS))
    return compiled(partial(writer, tableau), arguments, writer.__name__, tableau)


class IntegrationLoop(EventLocation):
    """Writer of the LLVM module of the loop."""

    def __init__(self, tableau: Tableau) -> None:
        functions = {**dict.fromkeys(loop_abi.FUNCTIONS, FUNCTION), loop_abi.SETUP: LANES_FUNCTION}
        super().__init__(tableau, functions, loop_abi.BLOCKS, loop_abi.LANES, several=False)
        self.steering = self._get("ints", loop_abi.N)
        self.padded = self._get("ints", loop_abi.N_PADDED)
        self.y, self.k, self.tolerances = self.at["y"], self.at["k"], self.at["tolerances"]
        work = (self._row(self.at["work"], r) for r in range(loop_abi.WORK))
        self.new, self.between, self.values = islice(work, 3)
        self.known, self.within, self.nearer = (tuple(islice(work, n)) for n in loop_abi.SEVERAL)
        self.directions, self.noise = self.at["directions"], self.at["noise"]
        self.fell = self.b.alloca(INT)  # whether hysteresis has located a zero of the step
        self._write()

    def _derivative(self, t: Any, stage: int) -> None:
        self._call("rhs", t, self.new, self._row(self.k, stage))
        self._count(loop_abi.EVALUATIONS)

    def _call(self, function: str, t: Any, y: Any, out: Any, h: Any = None) -> None:
        """Call a *function* of the problem at the time t in the state y, optionally with another block *h*."""
        self.b.store(t, self.argument)
        self.b.call(self.at[function], [self.argument, y, self.at["h"] if h is None else h, out])

    def _write(self) -> None:
        b = self.b
        with b.if_then(self._nonzero(self._get("ints", loop_abi.ANEW)), likely=False):
            self._begin_anew()
        loop = self.function.append_basic_block("step")
        b.branch(loop)
        b.position_at_end(loop)
        full = b.icmp_signed(">", self._get("ints", loop_abi.FOUND), self._get("ints", loop_abi.ROOM))
        done = b.icmp_signed(">=", self._get("ints", loop_abi.ACCEPTED), self._get("ints", loop_abi.ALLOWED))
        paused = b.or_(done, full)
        with b.if_then(paused, likely=False):
            b.ret(number(loop_abi.PAUSED))
        t = self._get("reals", loop_abi.T)
        wanted, most = self._get("reals", loop_abi.H), self._get("reals", loop_abi.MAX_STEP)
        h, last, moves = self._size(t, self._get("reals", loop_abi.T_END), wanted, most)
        with b.if_then(b.not_(moves), likely=False):
            b.ret(number(loop_abi.STEP_TOO_SMALL))
        end = b.select(last, self._get("reals", loop_abi.T_END), b.fadd(t, h))
        error = self._attempt(t, h, end)
        finite, accepted = self._verdict(error)
        with b.if_else(accepted) as (then, otherwise):
            with then:
                self._accept(t, h, end, error, last)
                b.branch(loop)
            with otherwise:
                self._reject(t, h, error, finite)
                b.branch(loop)
        b.unreachable()

    def _begin_anew(self) -> None:
        """Restart: evaluate the rate and the events at the start."""
        t = self._get("reals", loop_abi.T)
        self._call("rhs", t, self.y, self._row(self.k, 0))
        self._count(loop_abi.EVALUATIONS)
        with self.b.if_then(self._nonzero(self._get("ints", loop_abi.N_EVENTS))):
            self._look_at_start(t)
        self._set("ints", loop_abi.ANEW, number(0))

    def _look_at_start(self, t: Any) -> None:
        """Evaluate all events at the start of a run, at the time t, and find those at zero within their evaluation error."""
        b, noise = self.b, self.within[0]
        self._call("events", t, self.y, self.known[0])
        self._for_lanes(lambda i: self._store(self._wide(constant(0.0)), noise, i))
        end = self._intrinsic("maxnum", self._abs(t), self._abs(self._get("reals", loop_abi.T_END)))
        moment = b.fmul(constant(tolerances.EVENT_TOLERANCE), end)

        def later(i: Any) -> Any:
            return b.fadd(self._load(self.y, i), b.fmul(self._wide(moment), self._load(self._row(self.k, 0), i)))

        def nearly(direction: int) -> Callable[[Any], Any]:
            signs, one = self._row(self.at["signs"], direction), self._wide(constant(1.0))
            part = self._wide(constant(ROUNDING))
            return lambda i: b.fmul(b.fadd(one, b.fmul(part, self._load(signs, i))), self._load(self.y, i))

        for time, state in [(b.fadd(t, moment), later), *((t, nearly(d)) for d in range(loop_abi.DIRECTIONS))]:
            self._look_beside(time, state, noise)
        self._for(self._get("ints", loop_abi.N_EVENTS), lambda i: self._begin_at(i, self._value(noise, i)))

    def _look_beside(self, t: Any, state: Callable[[Any], Any], noise: Any) -> None:
        """Enlarge the evaluation errors *noise* by the event values in a perturbed *state* at the time t."""
        self._for_lanes(lambda i: self._store(state(i), self.between, i))
        self._call("events", t, self.between, self.values)

        def more(i: Any) -> None:
            differs = self._intrinsic("fabs", self.b.fsub(self._load(self.values, i), self._load(self.known[0], i)))
            self._store(self._intrinsic("maximum", self._load(noise, i), differs), noise, i)

        self._for_lanes(more)

    def _begin_at(self, event: Any, noise: Any) -> None:
        """Mark an *event* as starting at a zero, if its value is within the evaluation error *noise*."""
        b = self.b
        zero = b.fcmp_ordered("<=", self._abs(self._value(self.known[0], event)), noise)
        b.store(b.select(zero, noise, constant(-1.0)), self._address(self.noise, event))

    def _reject(self, t: Any, h: Any, error: Any, finite: Any) -> None:
        size = self._shrunk(h, self._factor(error), finite)
        self._set("reals", loop_abi.H, size)
        self._set("ints", loop_abi.JUST_REJECTED, number(1))
        self._count(loop_abi.REJECTED)
        with self.b.if_then(self._hopeless(t, size, finite), likely=False):
            self.b.ret(number(loop_abi.NOT_FINITE))

    def _attempt(self, t: Any, h: Any, end: Any) -> Any:
        """Try a step from t to *end*; its error."""
        self._stages(t, h)
        return self._error(h)

    def _accept(self, t: Any, h: Any, end: Any, error: Any, last: Any) -> None:
        b = self.b
        rejected = self._nonzero(self._get("ints", loop_abi.JUST_REJECTED))
        wanted, factor = self._get("reals", loop_abi.H), self._factor(error)
        self._set("reals", loop_abi.H, self._grown(h, factor, last, rejected, wanted))
        self._set("ints", loop_abi.JUST_REJECTED, number(0))
        self._set("reals", loop_abi.T, end)
        size = b.mul(self.padded, number(self.tableau.coefficients))
        self.interpolant = self._address(self.at["dense"], b.mul(self._get("ints", loop_abi.ACCEPTED), size))
        with b.if_then(self._nonzero(self._get("ints", loop_abi.DENSE))):
            self._interpolant(t, h, self.between, self.interpolant)
        self._for(self._get("ints", loop_abi.N_QUATERNIONS), self._normalise)
        with b.if_then(self._nonzero(self._get("ints", loop_abi.N_EVENTS))):
            self._events(t, h, end)
        self._conclude(t, h, end, last)

    def _conclude(self, t: Any, h: Any, end: Any, last: Any) -> None:
        """Continue after the step from t to *end*, or return."""
        b = self.b
        self._record(end, h, self.new)
        self._copy(self.new, self.y)
        self._copy(self._row(self.k, self.tableau.stages), self._row(self.k, 0))
        stops = b.or_(self._get("ints", loop_abi.LOOK), self._get("ints", loop_abi.ENDED))
        with b.if_then(b.or_(last, self._nonzero(stops))):
            b.ret(b.select(last, number(loop_abi.DONE), number(loop_abi.EVENT)))

    def _record(self, t: Any, h: Any, state: Any) -> None:
        """Record the time and the *state* after a step of the size h."""
        b = self.b
        row = self._get("ints", loop_abi.ACCEPTED)
        b.store(t, self._address(self.at["times"], row))
        b.store(h, self._address(self.at["sizes"], row))
        self._copy(state, self._address(self.at["states"], b.mul(row, self.padded)))
        self._count(loop_abi.ACCEPTED)

    def _normalise(self, i: Any) -> None:
        """Normalise quaternion i of the new state."""
        b = self.b
        offset = b.load(self._address(self.at["quaternions"], i, INT), typ=INT)
        start = self._address(self.new, offset)
        parts = [self._address(start, number(j)) for j in range(4)]
        values = [b.load(p, typ=REAL) for p in parts]
        square: Any = constant(0.0)
        for value in values:
            square = b.fadd(square, b.fmul(value, value))
        length = self._intrinsic("sqrt", square)
        for p, value in zip(parts, values, strict=True):
            b.store(b.fdiv(value, length), p)

    def _events(self, t: Any, h: Any, end: Any) -> None:
        """Locate the event zeros of the step from t to *end*, or report that they are ambiguous."""
        b, count = self.b, self._get("ints", loop_abi.N_EVENTS)
        b.store(number(0), self.fell)
        self._event_values(end, self.new, self.known[-1])
        self._states_within()
        self._sample(t, h)

        def look(i: Any) -> None:
            missing = b.zext(self._missing(i), INT)
            self._set("ints", loop_abi.LOOK, b.or_(self._get("ints", loop_abi.LOOK), missing))

        self._for(count, look)
        with b.if_then(b.not_(self._nonzero(self._get("ints", loop_abi.LOOK)))):

            def find(i: Any) -> None:
                def found(x: Any) -> None:
                    self._found(i, self._time(x, t, h, end))

                def found_beyond(x: Any) -> None:
                    b.store(number(1), self.fell)
                    found(x)

                with b.if_then(self._likely(i), likely=False):
                    self._zeros_of(i, t, h, found)
                self._passed(i, t, h, self._value(self.at["beyond"], i), found_beyond)
                self._settle(i)

            self._for(count, find)
        self._copy(self.known[-1], self.known[0])

    def _event_values(self, t: Any, y: Any, out: Any) -> None:
        self._call("events", t, y, out)

    def _state(self, x: Any) -> None:
        self._for_lanes(lambda k: self._store(self._interpolated(k, x), self.between, k))

    def _state_within(self, place: Any) -> Any:
        return place

    def _found(self, i: Any, t: Any) -> None:
        """Record and count a zero of event i at the time t in the state ``between``."""
        b, row = self.b, self._get("ints", loop_abi.FOUND)
        b.store(i, self._address(self.at["which"], row, INT))
        b.store(t, self._address(self.at["zero_times"], row))
        self._copy(self.between, self._address(self.at["zero_states"], b.mul(row, self.padded)))
        self._count(loop_abi.FOUND)
        place = self._address(self.at["left"], i, INT)
        left = b.sub(b.load(place, typ=INT), number(1))
        b.store(left, place)
        with b.if_then(b.icmp_signed("==", left, number(0))):
            self._set("ints", loop_abi.ENDED, number(1))
