"""Zeros of event functions over an accepted step, found on its interpolant."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

from kineta.codegen.emitter import INT, REAL, constant, number
from kineta.codegen.step import Step
from kineta.numerics import layout
from kineta.numerics.roots import POLE
from kineta.numerics.tableaux import Tableau


class Zeros(Step, ABC):
    """Writer of the search, for one state.

    What writes the rest of the loop sets the places ``interpolant`` of the step's coefficients, ``before`` and ``after`` of
    the values of the event functions at its ends, and ``between`` and ``values`` of a state and the values there.
    """

    interpolant: Any
    before: Any
    after: Any
    between: Any
    values: Any

    def __init__(self, tableau: Tableau, functions: Sequence[str], blocks: Sequence[str]) -> None:
        super().__init__(tableau, functions, blocks, layout.LANES, several=False)
        self.argument = self.b.alloca(REAL)
        self.bracket = {name: self.b.alloca(REAL) for name in ("a", "fa", "b", "fb", "c", "fc", "share")}

    def _event_values(self, t: Any, y: Any, out: Any) -> None:
        self.b.store(t, self.argument)
        self.b.call(self.at["events"], [self.argument, y, self.at["h"], out])

    def _event_value(self, i: Any, t: Any, h: Any, x: Any) -> Any:
        """The value of event i at the part x of the step; the state there is left in ``between``."""
        b = self.b
        wide, rest = self._wide(x), self._wide(b.fsub(constant(1.0), x))

        def lanes(k: Any) -> None:
            change: Any = None
            for r in reversed(range(self.tableau.coefficients)):
                row = self._load(self._row(self.interpolant, r), k)
                change = row if change is None else b.fadd(change, row)
                change = b.fmul(change, rest if r % 2 else wide)
            self._store(b.fadd(self._load(self.y, k), change), self.between, k)

        self._for_lanes(lanes)
        self._event_values(b.fadd(t, b.fmul(x, h)), self.between, self.values)
        return self._value(self.values, i)

    def _value(self, values: Any, i: Any) -> Any:
        return self.b.load(self._address(values, i), typ=REAL)

    def _odd(self, i: Any) -> Any:
        """Whether event i has a value at one end of the step only, or has just left a zero at the start of the run."""
        b = self.b
        old, new, noise = (self._value(v, i) for v in (self.before, self.after, self.at["noise"]))
        missing = b.xor(*(b.fcmp_unordered("uno", v, v) for v in (old, new)))
        has_left = b.fcmp_ordered(">", self._intrinsic("fabs", new), noise)
        return b.or_(missing, b.and_(self._starting(noise), has_left))

    def _starting(self, noise: Any) -> Any:
        """Whether an event of that noise has not been seen to leave a zero at the start of the run."""
        return self.b.fcmp_ordered(">=", noise, constant(0.0))

    def _wanted(self, i: Any) -> Any:
        """Whether event i has reached or passed zero, in a direction that counts."""
        b, zero = self.b, constant(0.0)
        old, new = self._value(self.before, i), self._value(self.after, i)
        rises = b.and_(b.fcmp_ordered("<", old, zero), b.fcmp_ordered(">=", new, zero))
        falls = b.and_(b.fcmp_ordered(">", old, zero), b.fcmp_ordered("<=", new, zero))
        direction = b.load(self._address(self.at["directions"], i, INT), typ=INT)
        up, down = b.icmp_signed(">=", direction, number(0)), b.icmp_signed("<=", direction, number(0))
        wanted = b.or_(b.and_(rises, up), b.and_(falls, down))
        return b.and_(wanted, b.not_(self._starting(self._value(self.at["noise"], i))))

    def _zero(self, i: Any, t: Any, h: Any) -> tuple[Any, Any]:
        """The part of the step at which event i has reached zero or just passed it, and whether that is a zero and no pole.

        Chandrupatla's method, as in :mod:`kineta.numerics.roots`. The state there is left in ``between``.
        """
        b, at = self.b, self.bracket
        old, new = self._value(self.before, i), self._value(self.after, i)
        start = {"a": constant(0.0), "fa": old, "b": constant(1.0), "fb": new, "c": constant(1.0), "fc": new}
        for name, value in (start | {"share": constant(0.5)}).items():
            b.store(value, at[name])
        ends = self._intrinsic("maxnum", self._intrinsic("fabs", t), self._intrinsic("fabs", b.fadd(t, h)))
        tolerance = b.fdiv(b.fmul(ends, constant(4 * 2.0**-52)), self._intrinsic("fabs", h))
        tolerance = self._intrinsic("maxnum", tolerance, constant(2.0**-52))
        with b.if_then(b.fcmp_ordered("!=", new, constant(0.0))):
            self._while(lambda: self._narrowed(i, t, h, tolerance))
        passed = self._same_side(b.load(at["fa"], typ=REAL), new)
        x = b.select(passed, b.load(at["a"], typ=REAL), b.load(at["b"], typ=REAL))
        there = self._intrinsic("fabs", self._event_value(i, t, h, x))
        most = self._intrinsic("maxnum", self._intrinsic("fabs", old), self._intrinsic("fabs", new))
        return x, b.fcmp_ordered("<=", there, b.fmul(most, constant(POLE)))

    def _same_side(self, a: Any, b: Any) -> Any:
        """Whether *a* is zero, or has the sign of *b*."""
        zero = constant(0.0)
        above = [self.b.fcmp_ordered(">", value, zero) for value in (a, b)]
        return self.b.or_(self.b.fcmp_ordered("==", a, zero), self.b.icmp_unsigned("==", *above))

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
