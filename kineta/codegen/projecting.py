"""The adaptive explicit integrator that keeps to constraints.

After a step, position and then speeds are brought back to the constraints, before the derivative that opens the next step.
Where a constraint comes to say what others say, its pivot in the accelerations vanishes, and off the constraints they
have a pole. Such a position is passed in *guarded* steps, all of whose stages are brought back before they are evaluated,
and which are rather shortened a little than made to end in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta.codegen.emitter import INT, REAL, constant, number
from kineta.codegen.integrator import Loop
from kineta.numerics import layout
from kineta.numerics.tableaux import Tableau

#: Relative size of a pivot, the square of how near the position is, below which steps are guarded.
LOW = 1e-2
#: Rounding that the error of a guarded step is allowed, in units of the unit roundoff over the size of the pivot.
NOISE = 0.1 * 2.0**-52
#: By how much a step past a singular position is shortened, and how often, before the error says by how much.
HOP, HOPS = 0.78, 8
#: Changes by less than this part of the state are rounding.
ROUNDING = 1e-14
#: By how many tolerances a step may be brought back before that counts as its error; a guarded one by any number.
FAR = 10.0


class Projecting(Loop):
    """Writer of the module."""

    def __init__(self, tableau: Tableau) -> None:
        self.late = all(row[-1] == 0.0 for row in tableau.errors if len(row) > tableau.stages)
        super().__init__(tableau)

    def _write(self) -> None:
        b = self.b
        self.guarded, self.low, self.most = b.alloca(INT), b.alloca(REAL), b.alloca(REAL)
        self.noise_of = [b.alloca(REAL) for _ in range(2)]
        self.failing = b.alloca(REAL)
        super()._write()

    # -- a step -----------------------------------------------------------------------------------------------------

    def _attempt(self, t: Any, h: Any, end: Any) -> Any:
        b = self.b
        b.store(b.zext(self._is_low(self._get("reals", layout.LOW)), INT), self.guarded)

        def tried() -> Any:
            b.store(self._get("reals", layout.LOW), self.low)
            self._inner_stages(t, h)
            if not self.late:
                self._derivative(b.fadd(t, h), self.tableau.stages)
            again = self._is_to_guard()
            with b.if_then(again, likely=False):
                b.store(number(1), self.guarded)
            return again

        self._while(tried)
        self._measure_noise()
        b.store(self._error(h), self.failing)
        with b.if_then(b.fcmp_ordered("<", b.load(self.failing, typ=REAL), constant(1.0))):
            moved = b.fdiv(self._land(end), constant(FAR))
            far = b.fcmp_unordered("uge", moved, constant(1.0))
            with b.if_then(b.and_(far, b.not_(self._is_low(self._met()))), likely=False):
                b.store(moved, self.failing)
        return b.load(self.failing, typ=REAL)

    def _met(self) -> Any:
        """The lowest pivot met in the step, relative to the largest that it has been."""
        return self.b.load(self.low, typ=REAL)

    def _is_low(self, size: Any) -> Any:
        return self.b.fcmp_ordered("<", size, constant(LOW))

    def _derivative(self, t: Any, stage: int) -> None:
        """As of any step; in a guarded one at the state that is brought back. Nothing, where the step is to be begun anew."""
        with self.b.if_then(self.b.not_(self._is_to_guard())):
            self._evaluate(t, self._row(self.k, stage))

    def _is_to_guard(self) -> Any:
        """Whether a step that is not guarded has met a low pivot."""
        free = self.b.icmp_signed("==", self.b.load(self.guarded, typ=INT), number(0))
        return self.b.and_(free, self._is_low(self._met()))

    def _evaluate(self, t: Any, out: Any) -> None:
        b = self.b
        with b.if_else(self._nonzero(b.load(self.guarded, typ=INT)), likely=False) as (then, otherwise):
            with then:
                self._call("position", t, self.new, self.nearer[0])
                self._call("velocity", t, self.nearer[0], self.nearer[1])
                self._call("rhs", t, self.nearer[1], out)
            with otherwise:
                self._call("rhs", t, self.new, out)
        self._count(layout.EVALUATIONS)
        low = self._lowest(out)
        b.store(self._intrinsic("minnum", b.load(self.low, typ=REAL), low), self.low)

    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._set("reals", layout.LOW, self._lowest(self._row(self.k, 0)))

    def _pivots(self, rates: Any, body: Callable[[Any, Any], None]) -> None:
        """*body* for the size of every pivot among the *rates*, and for the place of the largest that it has been."""
        first = self._address(rates, self._get("ints", layout.PIVOTS))

        def one(i: Any) -> None:
            size = self._intrinsic("fabs", self.b.load(self._address(first, i), typ=REAL))
            body(size, self._address(self.at["largest"], i))

        self._for(self._get("ints", layout.WATCHED), one)

    def _lowest(self, rates: Any) -> Any:
        """The lowest pivot among *rates*, relative to the largest that it has been."""
        b = self.b
        b.store(constant(1.0), self.most)

        def one(size: Any, largest: Any) -> None:
            part = b.fdiv(size, b.load(largest, typ=REAL))
            b.store(self._intrinsic("minnum", b.load(self.most, typ=REAL), part), self.most)

        self._pivots(rates, one)
        return b.load(self.most, typ=REAL)

    # -- errors -----------------------------------------------------------------------------------------------------

    def _scale(self, i: Any) -> Any:
        b = self.b
        positions, speeds = (self._wide(b.load(place, typ=REAL)) for place in self.noise_of)
        noise = b.fadd(positions, b.fmul(self._load(self.at["speeds"], i), b.fsub(speeds, positions)))
        return b.fadd(super()._scale(i), noise)

    def _measure_noise(self) -> None:
        """What rounding may do to a guarded step, for coordinates and for speeds."""
        b, low = self.b, self._met()

        def every(i: Any) -> Any:
            return self._intrinsic("fabs", self._load(self.y, i))

        def speeds(i: Any) -> Any:
            return b.fmul(self._load(self.at["speeds"], i), every(i))

        def positions(i: Any) -> Any:
            return b.fsub(every(i), speeds(i))

        for place in self.noise_of:
            b.store(constant(0.0), place)
        with b.if_then(self._is_low(low), likely=False):
            part = b.fdiv(constant(NOISE), low)
            for place, sizes in zip(self.noise_of, (positions, speeds), strict=True):
                b.store(b.fmul(part, self._largest(sizes)), place)

    def _largest(self, lanes: Callable[[Any], Any]) -> Any:
        """The largest of what *lanes* gives for the lanes of a state."""
        b = self.b
        b.store(constant(0.0), self.most)

        def one(i: Any) -> None:
            found = self._intrinsic("vector.reduce.fmaximum", lanes(i), result=REAL)
            b.store(self._intrinsic("maximum", b.load(self.most, typ=REAL), found), self.most)

        self._for_lanes(one)
        return b.load(self.most, typ=REAL)

    def _reject(self, t: Any, h: Any, error: Any, finite: Any) -> None:
        b = self.b
        hops = self._get("ints", layout.HOPS)
        few = b.icmp_signed("<", hops, number(HOPS))
        with b.if_else(b.and_(few, self._is_low(self._met())), likely=False) as (then, otherwise):
            with then:
                self._set("reals", layout.H, b.fmul(self._intrinsic("fabs", h), constant(HOP)))
                self._set("ints", layout.JUST_REJECTED, number(1))
                self._count(layout.HOPS)
                self._count(layout.REJECTED)
            with otherwise:
                super()._reject(t, h, error, finite)

    # -- back to the constraints --------------------------------------------------------------------------------------

    def _land(self, end: Any) -> Any:
        """Bring the new state back to the constraints and work out its derivative; how many tolerances it was moved by."""
        b = self.b
        tried, out = self.between, self._row(self.k, self.tableau.stages)
        self._copy(self.new, tried)
        self._bring("position", end)
        with b.if_then(b.fcmp_ordered(">", self._largest(self._change), self._small())):
            self._bring("position", end)
        self._for(self._get("ints", layout.VELOCITY), lambda _: self._bring("velocity", end))
        self._call("rhs", end, self.new, out)
        self._count(layout.EVALUATIONS)

        def moved(i: Any) -> Any:
            change = self._intrinsic("fabs", b.fsub(self._load(self.new, i), self._load(tried, i)))
            return b.fdiv(change, self._scale(i))

        return self._largest(moved)

    def _bring(self, function: str, t: Any) -> None:
        """The new state nearer to the constraints; as it was before, it is kept."""
        before, after = self.nearer
        self._copy(self.new, before)
        self._call(function, t, before, after)
        self._copy(after, self.new)

    def _change(self, i: Any) -> Any:
        """By how much the state was just brought nearer."""
        return self._intrinsic("fabs", self.b.fsub(self._load(self.new, i), self._load(self.nearer[0], i)))

    def _small(self) -> Any:
        """Changes that are rounding."""
        size = self._largest(lambda i: self._intrinsic("fabs", self._load(self.new, i)))
        return self.b.fmul(constant(ROUNDING), size)

    def _accept(self, t: Any, h: Any, end: Any, error: Any, last: Any) -> None:
        b, rates = self.b, self._row(self.k, self.tableau.stages)

        def grown(size: Any, largest: Any) -> None:
            b.store(self._intrinsic("maxnum", b.load(largest, typ=REAL), size), largest)

        self._pivots(rates, grown)
        self._set("reals", layout.LOW, self._lowest(rates))
        self._set("ints", layout.HOPS, number(0))
        super()._accept(t, h, end, error, last)
