"""Zeros of event functions over an accepted step, found on its interpolant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from llvmlite import ir

from kineta.codegen.emitter import INT, REAL, constant, number
from kineta.codegen.step import Step
from kineta.numerics.roots import AWAY, POLE
from kineta.numerics.tableaux import Tableau


class Zeros(Step, ABC):
    """Writer of the search, for one event of one state.

    What writes the rest of the loop sets the places of what is known of the events, ``directions`` and ``noise`` as in
    :class:`~kineta.numerics.problem.Events`; of their values at the ends of the step, ``before`` and ``after``; and of a state
    within it and the values there, ``between`` and ``values``.
    """

    directions: Any
    noise: Any
    before: Any
    after: Any
    between: Any
    values: Any

    def __init__(
        self, tableau: Tableau, functions: Mapping[str, ir.Type], blocks: Sequence[str], lanes: int, *, several: bool
    ) -> None:
        super().__init__(tableau, functions, blocks, lanes, several=several)
        self.argument = self.b.alloca(REAL)
        self.bracket = {name: self.b.alloca(REAL) for name in ("a", "fa", "b", "fb", "c", "fc", "share")}

    @abstractmethod
    def _state(self, x: Any) -> None:
        """The state at the part x of the step, by its interpolant, to ``between``."""

    @abstractmethod
    def _event_values(self, t: Any, y: Any, out: Any) -> None:
        """The values of the event functions."""

    def _event_value(self, i: Any, t: Any, h: Any, x: Any) -> Any:
        """The value of event i at the part x of the step; the state there is left in ``between``."""
        self._state(x)
        self._event_values(self.b.fadd(t, self.b.fmul(x, h)), self.between, self.values)
        return self._value(self.values, i)

    def _value(self, values: Any, i: Any) -> Any:
        return self.b.load(self._address(values, i), typ=REAL)

    def _missing(self, i: Any) -> Any:
        """Whether event i has a value at one end of the step only."""
        return self.b.xor(*(self.b.fcmp_unordered("uno", v, v) for v in self._ends(i)))

    def _ends(self, i: Any) -> tuple[Any, Any]:
        """The values of event i at the ends of the step."""
        return self._value(self.before, i), self._value(self.after, i)

    def _starting(self, i: Any) -> Any:
        """Whether event i has been zero since the start of the run."""
        return self.b.fcmp_ordered(">=", self._value(self.noise, i), constant(0.0))

    def _away(self, i: Any, value: Any) -> Any:
        """Whether a *value* is no zero of event i."""
        return self.b.fcmp_ordered(">", self._intrinsic("fabs", value), self._value(self.noise, i))

    def _settle(self, i: Any) -> None:
        """After the step: event i is no longer at the zero at which it started, if it is away from it."""
        place = self._address(self.noise, i)
        noise = self.b.select(self._away(i, self._value(self.after, i)), constant(-1.0), self._value(self.noise, i))
        self.b.store(noise, place)

    def _likely(self, i: Any) -> Any:
        """Whether event i may have reached or passed zero within the step, in a direction that counts."""
        old, new = self._ends(i)
        leaves = self.b.and_(self._starting(i), self._away(i, new))
        return self.b.or_(leaves, self.b.and_(self.b.not_(self._starting(i)), self._passes(i, old, new)))

    def _passes(self, i: Any, old: Any, new: Any) -> Any:
        """Whether values of event i reach or pass zero in a direction that counts."""
        b, zero = self.b, constant(0.0)
        rises = b.and_(b.fcmp_ordered("<", old, zero), b.fcmp_ordered(">=", new, zero))
        falls = b.and_(b.fcmp_ordered(">", old, zero), b.fcmp_ordered("<=", new, zero))
        direction = b.load(self._address(self.directions, i, INT), typ=INT)
        up, down = b.icmp_signed(">=", direction, number(0)), b.icmp_signed("<=", direction, number(0))
        return b.or_(b.and_(rises, up), b.and_(falls, down))

    def _begin(self, i: Any, t: Any, h: Any) -> None:
        """Where the search begins: at the start of the step, or where the event has left the zero at which the run started."""
        b, (old, new) = self.b, self._ends(i)
        b.store(constant(0.0), self.bracket["a"])
        b.store(old, self.bracket["fa"])
        with b.if_then(self._starting(i), likely=False):
            b.store(constant(1.0), self.bracket["a"])
            b.store(new, self.bracket["fa"])
            for part in reversed(AWAY):
                value = self._event_value(i, t, h, constant(part))
                with b.if_then(self._away(i, value)):
                    b.store(constant(part), self.bracket["a"])
                    b.store(value, self.bracket["fa"])

    def _zero(self, i: Any, t: Any, h: Any) -> tuple[Any, Any]:
        """The part of the step at which event i has reached zero or just passed it, and whether that is a zero and no pole.

        Chandrupatla's method, as in :mod:`kineta.numerics.roots`. The state there is left in ``between``.
        """
        b, at, new = self.b, self.bracket, self._value(self.after, i)
        self._begin(i, t, h)
        start = b.load(at["fa"], typ=REAL)
        for name, value in {"b": 1.0, "c": 1.0, "share": 0.5}.items():
            b.store(constant(value), at[name])
        b.store(new, at["fb"])
        b.store(new, at["fc"])
        ends = self._intrinsic("maxnum", self._intrinsic("fabs", t), self._intrinsic("fabs", b.fadd(t, h)))
        tolerance = b.fdiv(b.fmul(ends, constant(4 * 2.0**-52)), self._intrinsic("fabs", h))
        tolerance = self._intrinsic("maxnum", tolerance, constant(2.0**-52))
        passes = self._passes(i, start, new)
        ends_at_zero = b.fcmp_ordered("==", new, constant(0.0))
        with b.if_then(b.and_(passes, b.not_(ends_at_zero))):
            self._while(lambda: self._narrowed(i, t, h, tolerance))
        with b.if_then(b.and_(passes, ends_at_zero), likely=False):
            self._while(lambda: self._halved(i, t, h, tolerance))
        passed = b.and_(b.not_(ends_at_zero), self._same_side(b.load(at["fa"], typ=REAL), new))
        x = b.select(passed, b.load(at["a"], typ=REAL), b.load(at["b"], typ=REAL))
        there = self._intrinsic("fabs", self._event_value(i, t, h, x))
        most = self._intrinsic("maxnum", self._intrinsic("fabs", start), self._intrinsic("fabs", new))
        return x, b.and_(passes, b.fcmp_ordered("<=", there, b.fmul(most, constant(POLE))))

    def _same_side(self, a: Any, b: Any) -> Any:
        """Whether *a* is zero, or has the sign of *b*."""
        zero = constant(0.0)
        above = [self.b.fcmp_ordered(">", value, zero) for value in (a, b)]
        return self.b.or_(self.b.fcmp_ordered("==", a, zero), self.b.icmp_unsigned("==", *above))

    def _halved(self, i: Any, t: Any, h: Any, tolerance: Any) -> Any:
        """One turn of the search for where a value that ends at zero reaches it, which may be long before; as above."""
        b, at = self.b, self.bracket
        left, right = (b.load(at[name], typ=REAL) for name in ("a", "b"))
        x = b.fmul(constant(0.5), b.fadd(left, right))
        f = self._event_value(i, t, h, x)
        ahead = b.fcmp_ordered(">", b.fmul(f, b.load(at["fa"], typ=REAL)), constant(0.0))
        b.store(b.select(ahead, x, left), at["a"])
        b.store(b.select(ahead, right, x), at["b"])
        wide = b.fcmp_ordered(">", b.fsub(right, left), tolerance)
        met = b.or_(b.fcmp_ordered("==", x, left), b.fcmp_ordered("==", x, right))
        return b.and_(wide, b.not_(met))

    def _narrowed(self, i: Any, t: Any, h: Any, tolerance: Any) -> Any:
        """One turn of the search; whether there is to be another."""
        b, at, half = self.b, self.bracket, constant(0.5)
        old = {name: b.load(at[name], typ=REAL) for name in at}
        x = b.fadd(old["a"], b.fmul(old["share"], b.fsub(old["b"], old["a"])))
        f = self._event_value(i, t, h, x)
        zero = constant(0.0)
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
