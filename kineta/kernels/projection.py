"""The adaptive explicit integrator with projection onto the constraint manifold.

After a step, positions and then speeds are projected before the derivative that opens the next step. Near a singular
configuration, where a constraint becomes redundant, its pivot in the accelerations vanishes and the accelerations have a
pole off the manifold. Such a configuration is passed in *guarded* steps: all stages are projected before evaluation, and no
step ends in the singular configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kineta import tolerances
from kineta.codegen.builder import INT, REAL, constant, number
from kineta.integration import loop_abi
from kineta.kernels.integrate import IntegrationLoop
from kineta.numerics.tableaux import Tableau

#: Relative pivot, the square of the distance from the singular configuration, below which steps are guarded.
LOW = 1e-2
#: Rounding error in the error estimate of a guarded step, in units of roundoff over the pivot.
NOISE = 0.1 * tolerances.EPS
#: Reduction of a step past a singular configuration, and the number of reductions before the error estimate is used.
HOP, HOPS = 0.78, 8
#: Largest projection, in units of tolerance, that does not count as an error; guarded steps have no limit.
FAR = 10.0


class ProjectionLoop(IntegrationLoop):
    """Writer of the LLVM module of the loop with projection."""

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
        b.store(b.zext(self._is_low(self._get("reals", loop_abi.LOW)), INT), self.guarded)

        def tried() -> Any:
            b.store(self._get("reals", loop_abi.LOW), self.low)
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
        """The smallest pivot of the step, relative to its largest value so far."""
        return self.b.load(self.low, typ=REAL)

    def _is_low(self, size: Any) -> Any:
        return self.b.fcmp_ordered("<", size, constant(LOW))

    def _derivative(self, t: Any, stage: int) -> None:
        """Evaluate a stage; in a guarded step at the projected state. Does nothing for a step to be restarted."""
        with self.b.if_then(self.b.not_(self._is_to_guard())):
            self._evaluate(t, self._row(self.k, stage))

    def _is_to_guard(self) -> Any:
        """Whether an unguarded step has met a small pivot."""
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
        self._count(loop_abi.EVALUATIONS)
        low = self._lowest(out)
        b.store(self._intrinsic("minnum", b.load(self.low, typ=REAL), low), self.low)

    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._set("reals", loop_abi.LOW, self._lowest(self._row(self.k, 0)))

    def _pivots(self, rates: Any, body: Callable[[Any, Any], None]) -> None:
        """Emit *body* for the size of every pivot among the *rates*, and the address of its largest value so far."""
        first = self._address(rates, self._get("ints", loop_abi.PIVOTS))

        def one(i: Any) -> None:
            size = self._intrinsic("fabs", self.b.load(self._address(first, i), typ=REAL))
            body(size, self._address(self.at["largest"], i))

        self._for(self._get("ints", loop_abi.WATCHED), one)

    def _lowest(self, rates: Any) -> Any:
        """The smallest pivot among *rates*, relative to its largest value so far."""
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
        """Estimate the rounding error of a guarded step, for coordinates and for speeds."""
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
        """The largest value of *lanes* over the components of a state."""
        b = self.b
        b.store(constant(0.0), self.most)

        def one(i: Any) -> None:
            found = self._intrinsic("vector.reduce.fmaximum", lanes(i), result=REAL)
            b.store(self._intrinsic("maximum", b.load(self.most, typ=REAL), found), self.most)

        self._for_lanes(one)
        return b.load(self.most, typ=REAL)

    def _reject(self, t: Any, h: Any, error: Any, finite: Any) -> None:
        b = self.b
        hops = self._get("ints", loop_abi.HOPS)
        few = b.icmp_signed("<", hops, number(HOPS))
        with b.if_else(b.and_(few, self._is_low(self._met())), likely=False) as (then, otherwise):
            with then:
                self._set("reals", loop_abi.H, b.fmul(self._intrinsic("fabs", h), constant(HOP)))
                self._set("ints", loop_abi.JUST_REJECTED, number(1))
                self._count(loop_abi.HOPS)
                self._count(loop_abi.REJECTED)
            with otherwise:
                super()._reject(t, h, error, finite)

    # -- back to the constraints --------------------------------------------------------------------------------------

    def _land(self, end: Any) -> Any:
        """Project the new state and evaluate its derivative; the size of the projection in units of tolerance."""
        b = self.b
        tried, out = self.between, self._row(self.k, self.tableau.stages)
        self._copy(self.new, tried)
        self._bring("position", end)
        with b.if_then(b.fcmp_ordered(">", self._largest(self._change), self._small())):
            self._bring("position", end)
        self._for(self._get("ints", loop_abi.VELOCITY), lambda _: self._bring("velocity", end))
        self._call("rhs", end, self.new, out)
        self._count(loop_abi.EVALUATIONS)

        def moved(i: Any) -> Any:
            change = self._intrinsic("fabs", b.fsub(self._load(self.new, i), self._load(tried, i)))
            return b.fdiv(change, self._scale(i))

        return self._largest(moved)

    def _bring(self, function: str, t: Any) -> None:
        """Apply one projection step to the new state; its previous value is kept."""
        before, after = self.nearer
        self._copy(self.new, before)
        self._call(function, t, before, after)
        self._copy(after, self.new)

    def _change(self, i: Any) -> Any:
        """The size of the last projection step."""
        return self._intrinsic("fabs", self.b.fsub(self._load(self.new, i), self._load(self.nearer[0], i)))

    def _small(self) -> Any:
        """The size of changes that are rounding errors."""
        size = self._largest(lambda i: self._intrinsic("fabs", self._load(self.new, i)))
        return self.b.fmul(constant(tolerances.RESIDUAL_TOLERANCE), size)

    def _accept(self, t: Any, h: Any, end: Any, error: Any, last: Any) -> None:
        b, rates = self.b, self._row(self.k, self.tableau.stages)

        def grown(size: Any, largest: Any) -> None:
            b.store(self._intrinsic("maxnum", b.load(largest, typ=REAL), size), largest)

        self._pivots(rates, grown)
        self._set("reals", loop_abi.LOW, self._lowest(rates))
        self._set("ints", loop_abi.HOPS, number(0))
        super()._accept(t, h, end, error, last)
