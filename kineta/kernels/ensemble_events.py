"""Event location in an ensemble: zeros of event functions over the accepted step of a case, on its interpolant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

from llvmlite import ir

from kineta import tolerances
from kineta.codegen.builder import INT, REAL, constant, number
from kineta.kernels.ensemble_step import RungeKuttaStep
from kineta.numerics.roots import ACCURACY, AWAY, DIP, MOST, PARTS, POLE, SPAN
from kineta.numerics.tableaux import Tableau


class EventLocation(RungeKuttaStep, ABC):
    """Writer of the event location for one event of one case; :mod:`kineta.kernels.event_location` is the same for one motion.

    Subclasses set the addresses of event data, ``directions`` and ``noise`` as in
    :class:`~kineta.integration.problem.Events`; of the event values ``known`` at the :data:`PARTS` of the step; and of an
    interpolated state with its event values, ``between`` and ``values``. Interpolated states at the inner parts are computed
    from the ``interpolant`` vector by vector, to ``within``.
    """

    directions: Any
    noise: Any
    known: Sequence[Any]
    between: Any
    values: Any
    within: Sequence[Any]
    interpolant: Any

    def __init__(self, tableau: Tableau, functions: Mapping[str, ir.Type], blocks: Sequence[str], lanes: int) -> None:
        super().__init__(tableau, functions, blocks, lanes)
        self.argument, self.first, self.points = self.b.alloca(REAL), self.b.alloca(INT), self.b.alloca(INT)
        self.bracket = {name: self.b.alloca(REAL) for name in ("a", "fa", "b", "fb", "c", "fc", "share")}
        self.sampled, self.x, self.f = (self._room(number(8 * (MOST + 1))) for _ in range(3))

    @abstractmethod
    def _state(self, x: Any) -> None:
        """Interpolate the state at the fraction x of the step, to ``between``."""

    @abstractmethod
    def _event_values(self, t: Any, y: Any, out: Any) -> None:
        """Evaluate the event functions."""

    @abstractmethod
    def _state_within(self, place: Any) -> Any:
        """Address of the interpolated state at a *place* among all states."""

    def _sample(self, t: Any, h: Any) -> None:
        """Evaluate all events at the inner parts of the step."""
        for part, place, out in zip(PARTS[1:-1], self.within, self.known[1:-1], strict=True):
            self._event_values(self.b.fadd(t, self.b.fmul(constant(part), h)), self._state_within(place), out)

    def _states_within(self) -> None:
        """Interpolate the states at the inner parts of the step."""

        def lanes(k: Any) -> None:
            found = [self._interpolated(k, constant(part)) for part in PARTS[1:-1]]
            for value, place in zip(found, self.within, strict=True):
                self._store(value, place, k)

        self._for_lanes(lanes)

    def _interpolated(self, k: Any, x: Any) -> Any:
        """Components from k on of the interpolated state at the fraction x of the step."""
        b, change = self.b, None
        wide, rest = self._wide(x), self._wide(b.fsub(constant(1.0), x))
        for r in reversed(range(self.tableau.coefficients)):
            row = self._load(self._row(self.interpolant, r), k)
            change = row if change is None else b.fadd(change, row)
            change = b.fmul(change, rest if r % 2 else wide)
        return b.fadd(self._load(self.y, k), change)

    def _event_value(self, i: Any, t: Any, h: Any, x: Any) -> Any:
        """The value of event i at the fraction x of the step; leaves the state in ``between``."""
        self._state(x)
        self._event_values(self.b.fadd(t, self.b.fmul(x, h)), self.between, self.values)
        return self._value(self.values, i)

    def _time(self, x: Any, t: Any, h: Any, end: Any) -> Any:
        """The time at the fraction x of the step from t to *end*."""
        return self.b.select(self.b.fcmp_ordered("==", x, constant(1.0)), end, self.b.fadd(t, self.b.fmul(x, h)))

    def _value(self, values: Any, i: Any) -> Any:
        return self.b.load(self._address(values, i), typ=REAL)

    def _abs(self, value: Any) -> Any:
        return self._intrinsic("fabs", value)

    def _least(self, values: Sequence[Any]) -> Any:
        """The smallest absolute value of *values*."""
        return reduce(self._lesser, map(self._abs, values))

    def _lesser(self, a: Any, b: Any) -> Any:
        return self.b.select(self.b.fcmp_ordered("<", a, b), a, b)

    def _values_of(self, i: Any) -> list[Any]:
        """The values of event i at the :data:`PARTS` of the step."""
        return [self._value(values, i) for values in self.known]

    # -- whether to look --------------------------------------------------------------------------------------------------

    def _missing(self, i: Any) -> Any:
        """Whether event i is undefined at some of the :data:`PARTS`."""
        missing = [self.b.fcmp_unordered("uno", v, v) for v in self._values_of(i)]
        return self.b.xor(reduce(self.b.or_, missing), reduce(self.b.and_, missing))

    def _starting(self, i: Any) -> Any:
        """Whether event i has stayed at its zero since the start of the run."""
        return self.b.fcmp_ordered(">=", self._value(self.noise, i), constant(0.0))

    def _away(self, i: Any, value: Any) -> Any:
        """Whether a *value* of event i is outside the evaluation error of its start zero."""
        return self.b.fcmp_ordered(">", self._abs(value), self._value(self.noise, i))

    def _leaves(self, i: Any) -> Any:
        """Whether event i leaves its start zero within the step."""
        return reduce(self.b.or_, (self._away(i, value) for value in self._values_of(i)[1:]))

    def _settle(self, i: Any) -> None:
        """After the step, clear the start zero of event i if the event has left it."""
        noise = self.b.select(self._leaves(i), constant(-1.0), self._value(self.noise, i))
        self.b.store(noise, self._address(self.noise, i))

    def _likely(self, i: Any) -> Any:
        """Whether event i may have a zero within the step."""
        b, values = self.b, self._values_of(i)
        passes = reduce(b.or_, (b.or_(*self._passes(*ends)) for ends in pairwise(values)))
        comes_near = b.fcmp_ordered("<", self._least(values), self._bend(values))
        return b.select(self._starting(i), self._leaves(i), b.or_(passes, comes_near))

    def _passes(self, old: Any, new: Any) -> tuple[Any, Any]:
        """Whether two successive values reach or pass zero upwards, and downwards."""
        b, zero = self.b, constant(0.0)
        rises = b.and_(b.fcmp_ordered("<", old, zero), b.fcmp_ordered(">=", new, zero))
        falls = b.and_(b.fcmp_ordered(">", old, zero), b.fcmp_ordered("<=", new, zero))
        return rises, falls

    def _counts(self, i: Any, old: Any, new: Any) -> Any:
        """Whether successive values of event i reach or pass zero in an enabled direction."""
        b, (rises, falls) = self.b, self._passes(old, new)
        direction = b.load(self._address(self.directions, i, INT), typ=INT)
        up, down = b.icmp_signed(">=", direction, number(0)), b.icmp_signed("<=", direction, number(0))
        return b.or_(b.and_(rises, up), b.and_(falls, down))

    def _bend(self, values: Sequence[Any]) -> Any:
        """A bound for the excursion of *values* between two of the :data:`PARTS`."""
        differences = [values]
        for _ in range(4):
            differences.append([self.b.fsub(b, a) for a, b in pairwise(differences[-1])])
        most = [reduce(lambda a, b: self._intrinsic("maxnum", a, b), map(self._abs, some)) for some in differences[2:]]
        return self.b.fmul(constant(DIP), self.b.fadd(self.b.fadd(most[0], most[1]), most[2]))

    # -- the points between which there is a zero at most --------------------------------------------------------------

    def _zeros_of(self, i: Any, t: Any, h: Any, found: Callable[[Any], None]) -> None:
        """Emit *found* with the fraction of the step at every zero of event i, in order; its state is in ``between``."""
        b = self.b
        self._set_points(i, t, h)

        def pair(j: Any) -> None:
            ends = [(self._value(self.x, k), self._value(self.f, k)) for k in (j, b.add(j, number(1)))]
            with b.if_then(self._counts(i, ends[0][1], ends[1][1])):
                x, proper = self._zero(lambda x: self._event_value(i, t, h, x), t, h, *ends)
                with b.if_then(proper):
                    found(x)

        self._for(b.sub(b.load(self.points, typ=INT), number(1)), pair)

    def _put(self, x: Any, f: Any) -> None:
        """Append a sampling point: the fraction x of the step with the value f."""
        b, count = self.b, self.b.load(self.points, typ=INT)
        b.store(x, self._address(self.x, count))
        b.store(f, self._address(self.f, count))
        b.store(b.add(count, number(1)), self.points)

    def _set_points(self, i: Any, t: Any, h: Any) -> None:
        """The sampling points of event i: the parts of the step, and extrema between them that reach zero."""
        b, values = self.b, self._values_of(i)
        near = self._bend(values)
        for k, value in enumerate(values):
            b.store(value, self._address(self.sampled, number(k)))
        self._begin(i, t, h, values)

        def one(k: Any) -> None:
            last = b.sub(b.load(self.points, typ=INT), number(1))
            a, fa = self._value(self.x, last), self._value(self.f, last)
            x, f = b.fmul(b.sitofp(k, REAL), constant(PARTS[1])), self._value(self.sampled, k)
            with b.if_then(b.icmp_signed(">", k, b.load(self.first, typ=INT))):
                same = b.fcmp_ordered(">", b.fmul(fa, f), constant(0.0))
                with b.if_then(b.and_(same, b.fcmp_ordered("<", self._least([fa, f]), near)), likely=False):
                    self._dip(i, t, h, a, fa, x, f)
                self._put(x, f)

        self._for(number(len(PARTS)), one)

    def _begin(self, i: Any, t: Any, h: Any, values: Sequence[Any]) -> None:
        """The first sampling point: the start of the step, or the point where the event has left its start zero."""
        b = self.b

        def begin(part: float, value: Any, behind: int) -> None:
            b.store(number(0), self.points)
            b.store(number(behind), self.first)
            self._put(constant(part), value)

        begin(0.0, values[0], 0)
        with b.if_then(self._starting(i), likely=False):
            for k in reversed(range(1, len(PARTS))):
                with b.if_then(self._away(i, values[k])):
                    begin(PARTS[k], values[k], k)
            for part in reversed(AWAY):
                value = self._event_value(i, t, h, constant(part))
                with b.if_then(self._away(i, value)):
                    begin(part, value, 0)

    def _dip(self, i: Any, t: Any, h: Any, a: Any, fa: Any, end: Any, fb: Any) -> None:
        """Append the extremum of event i, of one sign at the fractions a and *end*, if it reaches zero."""
        b, zero, span = self.b, constant(0.0), constant(SPAN)

        def value(x: Any) -> Any:
            return self._event_value(i, t, h, x)

        def slope(x: Any) -> Any:
            return b.fsub(value(b.fadd(x, span)), value(x))

        low = b.fsub(end, span)
        left, right = b.fsub(value(b.fadd(a, span)), fa), b.fsub(fb, value(low))
        nearer, farther = b.fcmp_ordered("<", b.fmul(fa, left), zero), b.fcmp_ordered(">", b.fmul(fb, right), zero)
        with b.if_then(b.and_(nearer, farther)):
            self._open(a, left, low, right)
            self._while(lambda: self._narrowed(slope, constant(ACCURACY)))
            x = b.fadd(b.load(self.bracket["a"], typ=REAL), b.fmul(constant(0.5), span))
            least = value(x)
            with b.if_then(b.not_(b.fcmp_ordered(">", b.fmul(fa, least), zero))):
                self._put(x, least)

    # -- one zero -----------------------------------------------------------------------------------------------------

    def _open(self, a: Any, fa: Any, end: Any, fb: Any) -> None:
        """The initial bracket of a search."""
        half = constant(0.5)
        for name, value in {"a": a, "fa": fa, "b": end, "fb": fb, "c": end, "fc": fb, "share": half}.items():
            self.b.store(value, self.bracket[name])

    def _zero(
        self, value: Callable[[Any], Any], t: Any, h: Any, start: tuple[Any, Any], end: tuple[Any, Any]
    ) -> tuple[Any, Any]:
        """The fraction of the step just behind a zero of *value* between two points, and whether it is a zero and no pole.

        Chandrupatla's method. The state there is left in ``between``.
        """
        b, at, old, new = self.b, self.bracket, start[1], end[1]
        self._open(*start, *end)
        ends = self._intrinsic("maxnum", self._abs(t), self._abs(b.fadd(t, h)))
        tolerance = b.fdiv(b.fmul(ends, constant(4 * tolerances.EPS)), self._abs(h))
        tolerance = self._intrinsic("maxnum", tolerance, constant(tolerances.EPS))
        ends_at_zero = b.fcmp_ordered("==", new, constant(0.0))
        with b.if_else(ends_at_zero, likely=False) as (then, otherwise):
            with then:
                self._while(lambda: self._halved(value, tolerance))
            with otherwise:
                self._while(lambda: self._narrowed(value, tolerance))
        passed = b.and_(b.not_(ends_at_zero), self._same_side(b.load(at["fa"], typ=REAL), new))
        x = b.select(passed, b.load(at["a"], typ=REAL), b.load(at["b"], typ=REAL))
        there = self._abs(value(x))
        most = self._intrinsic("maxnum", self._abs(old), self._abs(new))
        return x, b.fcmp_ordered("<=", there, b.fmul(most, constant(POLE)))

    def _same_side(self, a: Any, b: Any) -> Any:
        """Whether *a* is zero or has the sign of *b*."""
        zero = constant(0.0)
        above = [self.b.fcmp_ordered(">", value, zero) for value in (a, b)]
        return self.b.or_(self.b.fcmp_ordered("==", a, zero), self.b.icmp_unsigned("==", *above))

    def _halved(self, value: Callable[[Any], Any], tolerance: Any) -> Any:
        """One bisection for the start of an interval of zeros, as in :func:`~kineta.numerics.roots.sign_change`."""
        b, at = self.b, self.bracket
        left, right = (b.load(at[name], typ=REAL) for name in ("a", "b"))
        x = b.fmul(constant(0.5), b.fadd(left, right))
        f = value(x)
        ahead = b.fcmp_ordered(">", b.fmul(f, b.load(at["fa"], typ=REAL)), constant(0.0))
        b.store(b.select(ahead, x, left), at["a"])
        b.store(b.select(ahead, right, x), at["b"])
        wide = b.fcmp_ordered(">", b.fsub(right, left), tolerance)
        met = b.or_(b.fcmp_ordered("==", x, left), b.fcmp_ordered("==", x, right))
        return b.and_(wide, b.not_(met))

    def _narrowed(self, value: Callable[[Any], Any], tolerance: Any) -> Any:
        """One iteration of the search for a zero of *value*; returns whether to continue."""
        b, at, half = self.b, self.bracket, constant(0.5)
        old = {name: b.load(at[name], typ=REAL) for name in at}
        x = b.fadd(old["a"], b.fmul(old["share"], b.fsub(old["b"], old["a"])))
        f, zero = value(x), constant(0.0)
        same = b.icmp_unsigned("==", b.fcmp_ordered(">", f, zero), b.fcmp_ordered(">", old["fa"], zero))
        c, fc = (b.select(same, old[name], old[other]) for name, other in (("a", "b"), ("fa", "fb")))
        e, fe = (b.select(same, old[name], old[other]) for name, other in (("b", "a"), ("fb", "fa")))
        width = b.fsub(e, x)
        margin = b.fdiv(tolerance, self._intrinsic("fabs", width))
        place = b.fdiv(b.fsub(x, e), b.fsub(c, e))
        height = b.fdiv(b.fsub(f, fe), b.fsub(fc, fe))
        one = constant(1.0)
        rest, low = b.fsub(one, place), b.fsub(one, height)
        monotone = b.and_(
            b.fcmp_ordered("<", b.fmul(height, height), place), b.fcmp_ordered("<", b.fmul(low, low), rest)
        )
        first = b.fmul(b.fdiv(f, b.fsub(fe, f)), b.fdiv(fc, b.fsub(fe, fc)))
        second = b.fmul(b.fdiv(b.fsub(c, x), width), b.fdiv(f, b.fsub(fc, f)))
        share = b.select(monotone, b.fadd(first, b.fmul(second, b.fdiv(fe, b.fsub(fc, fe)))), half)
        least = b.fmul(margin, half)
        share = self._intrinsic("minnum", self._intrinsic("maxnum", share, least), b.fsub(one, least))
        for name, value in {"a": x, "fa": f, "b": e, "fb": fe, "c": c, "fc": fc, "share": share}.items():
            b.store(value, at[name])
        found = b.or_(b.fcmp_ordered("==", f, zero), b.fcmp_unordered(">=", margin, one))
        return b.not_(b.or_(found, b.or_(b.fcmp_ordered("==", x, e), b.fcmp_ordered("==", x, old["a"]))))
