"""One step of an adaptive explicit method for several states, one in each SIMD lane, each with its own time and step.

:mod:`kineta.kernels.runge_kutta` is the same for one state.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from llvmlite import ir

from kineta import tolerances
from kineta.cache import stored
from kineta.codegen.builder import REAL, Emitter, constant, number
from kineta.codegen.llvm import generator, load_object, object_code
from kineta.codegen.target import host
from kineta.numerics.tableaux import Row, Tableau

#: Safety factor of step sizes.
_SAFETY = 0.9
#: Least and largest ratio of a step to the last.
_SHRINK, _GROW = 0.2, 10.0
#: Symbol of the written function.
_NAME = "integrate"


class RungeKuttaStep(Emitter, ABC):
    """Writer of a step of *tableau*.

    Subclasses set ``padded``, the number ``steering`` of error-controlled states, and the addresses ``y`` of the state,
    ``new`` of the trial state, ``k`` of the stages, ``tolerances`` (absolute, then relative).
    """

    steering: Any
    y: Any
    new: Any
    k: Any
    tolerances: Any

    def __init__(self, tableau: Tableau, functions: Mapping[str, ir.Type], blocks: Sequence[str], lanes: int) -> None:
        super().__init__(_NAME, functions, blocks, lanes)
        self.tableau = tableau
        self.sums = [self.b.alloca(self.vector) for _ in tableau.errors]

    @abstractmethod
    def _derivative(self, t: Any, stage: int) -> None:
        """Evaluate stage *stage* at the trial state."""

    def _real(self, value: float) -> ir.Constant:
        """The constant *value* as a time, step or error."""
        return ir.Constant(self.vector, [value] * self.lanes)

    def _each(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Apply a scalar *function* to a time, step or error."""
        for lane in range(self.lanes):
            place = ir.Constant(ir.IntType(32), lane)
            value = self.b.insert_element(value, function(self.b.extract_element(value, place)), place)
        return value

    # -- stages, error, interpolant -----------------------------------------------------------------------------------

    def _weighted(self, weights: Row, index: Any) -> Any:
        """The weighted sum of stages, for the components from *index* on."""
        total: Any = None
        for stage, weight in enumerate(weights):
            if weight:
                k = self._load(self._row(self.k, stage), index)
                term = self.b.fmul(ir.Constant(self.vector, [weight] * self.lanes), k, flags=["contract"])
                total = term if total is None else self.b.fadd(total, term, flags=["contract"])
        return total

    def _stages(self, t: Any, h: Any) -> None:
        self._inner_stages(t, h)
        self._derivative(self.b.fadd(t, h), self.tableau.stages)

    def _inner_stages(self, t: Any, h: Any) -> None:
        """Evaluate all stages but the derivative at the new point, and the new point."""
        tableau = self.tableau
        for stage, (row, c) in enumerate(zip(tableau.A, tableau.C[1:], strict=True), 1):
            self._advance(row, h)
            self._derivative(self.b.fadd(t, self.b.fmul(h, self._real(c))), stage)
        self._advance(tableau.B, h)

    def _advance(self, weights: Row, h: Any) -> None:
        """Set the trial state y + h (weights . stages)."""

        def lanes(i: Any) -> None:
            change = self.b.fmul(self._wide(h), self._weighted(weights, i), flags=["contract"])
            self._store(self.b.fadd(self._load(self.y, i), change, flags=["contract"]), self.new, i)

        self._for_lanes(lanes)

    def _error(self, h: Any) -> Any:
        """Norm of the error estimate in units of the tolerance (Hairer, II.10 for two estimates)."""
        b, sums = self.b, self.sums
        for s in sums:
            b.store(self._real(0.0), s)

        def lanes(i: Any) -> None:
            scale = self._scale(i)
            for s, weights in zip(sums, self.tableau.errors, strict=True):
                e = b.fdiv(self._weighted(weights, i), scale)
                b.store(b.fadd(b.load(s, typ=self.vector), b.fmul(e, e)), s)

        self._for_lanes(lanes)
        n = self._wide(b.sitofp(self.steering, REAL))
        first = b.load(sums[0], typ=self.vector)
        size = self._intrinsic("fabs", h)
        if len(sums) == 1:
            return b.fmul(size, self._intrinsic("sqrt", b.fdiv(first, n)))
        damped = b.fadd(first, b.fmul(self._real(0.01), b.load(sums[1], typ=self.vector)))
        exact = b.fcmp_ordered("==", damped, self._real(0.0))
        divisor = b.select(exact, self._real(1.0), self._intrinsic("sqrt", b.fmul(damped, n)))
        return b.fdiv(b.fmul(size, first), divisor)

    def _scale(self, i: Any) -> Any:
        """The tolerances of the components from *i* on."""
        size = self._intrinsic(
            "maximum",
            self._intrinsic("fabs", self._load(self.y, i)),
            self._intrinsic("fabs", self._load(self.new, i)),
        )
        absolute, relative = (self._load(self._row(self.tolerances, r), i) for r in range(2))
        return self.b.fadd(absolute, self.b.fmul(relative, size))

    def _interpolant(self, t: Any, h: Any, keep: Any, dense: Any) -> None:
        """Store the interpolant of the step in *dense*; *keep* holds the new state meanwhile."""
        b, tableau = self.b, self.tableau
        self._copy(self.new, keep)
        for stage, (row, c) in enumerate(zip(tableau.extra, tableau.extra_C, strict=True), tableau.stages + 1):
            self._advance(row, h)
            self._derivative(b.fadd(t, b.fmul(h, self._real(c))), stage)
        self._copy(keep, self.new)

        def lanes(i: Any) -> None:
            step = self._wide(h)
            change = b.fsub(self._load(self.new, i), self._load(self.y, i))
            f0 = b.fmul(step, self._load(self._row(self.k, 0), i))
            f1 = b.fmul(step, self._load(self._row(self.k, tableau.stages), i))
            rows = [change, b.fsub(f0, change), b.fsub(b.fadd(change, change), b.fadd(f0, f1))]
            rows += [b.fmul(step, self._weighted(weights, i)) for weights in tableau.dense]
            for r, value in enumerate(rows):
                self._store(value, self._row(dense, r), i)

        self._for_lanes(lanes)

    def _copy(self, source: Any, target: Any) -> None:
        """Copy a state."""
        self._for_lanes(lambda i: self._store(self._load(source, i), target, i))

    # -- the size of a step ---------------------------------------------------------------------------------------------

    def _size(self, t: Any, end: Any, wanted: Any, most: Any) -> tuple[Any, Any, Any]:
        """The size of the step, bounded by *end* and *most*; whether it is the last, and whether it exceeds the resolution
        of t.
        """
        b = self.b
        size = self._intrinsic("minnum", wanted, most)
        left = b.fsub(end, t)
        last = b.fcmp_ordered(">=", b.fmul(size, self._real(1 + 1e-10)), self._intrinsic("fabs", left))
        h = b.select(last, left, self._intrinsic("copysign", size, left))
        seen = b.fcmp_ordered(">", self._intrinsic("fabs", h), self._seen(t))
        return h, last, b.or_(seen, last)

    def _seen(self, t: Any) -> Any:
        """The resolution of times near t; the smallest positive number for t = 0."""
        return self.b.fadd(
            self.b.fmul(self._intrinsic("fabs", t), self._real(10 * tolerances.EPS)),
            self._real(tolerances.LEAST_DIVISOR),
        )

    def _factor(self, error: Any) -> Any:
        """The step size factor: safety times error to the power -1/order."""
        power = self.module.globals.get("pow") or ir.Function(self.module, ir.FunctionType(REAL, [REAL] * 2), "pow")
        exponent = constant(-1.0 / self.tableau.error_order)
        return self.b.fmul(self._real(_SAFETY), self._each(lambda e: self.b.call(power, [e, exponent]), error))

    def _verdict(self, error: Any) -> tuple[Any, Any]:
        """Whether the error is finite, and whether it is within tolerance."""
        finite = self.b.fcmp_ordered("<", error, self._real(float("inf")))
        return finite, self.b.and_(finite, self.b.fcmp_ordered("<", error, self._real(1.0)))

    def _shrunk(self, h: Any, factor: Any, finite: Any) -> Any:
        """The step size after a rejected step."""
        factor = self._intrinsic("maxnum", factor, self._real(_SHRINK))
        return self.b.fmul(self._intrinsic("fabs", h), self.b.select(finite, factor, self._real(0.1)))

    def _hopeless(self, t: Any, size: Any, finite: Any) -> Any:
        """Whether the derivative is undefined for steps of any size."""
        return self.b.and_(self.b.not_(finite), self.b.fcmp_ordered("<", size, self._seen(t)))

    def _grown(self, h: Any, factor: Any, last: Any, rejected: Any, wanted: Any) -> Any:
        """The step size after an accepted step; it does not grow directly after a *rejected* step."""
        b = self.b
        grown = self._intrinsic("minnum", factor, self._real(_GROW))
        factor = b.select(rejected, self._intrinsic("minnum", grown, self._real(1.0)), grown)
        size = b.fmul(self._intrinsic("fabs", h), factor)
        # A step truncated by the end of the run says nothing about the next step size.
        return b.select(last, self._intrinsic("maxnum", size, wanted), size)

    def _nonzero(self, value: Any) -> Any:
        return self.b.icmp_signed("!=", value, number(0))


def compiled(write: Callable[[], RungeKuttaStep], arguments: int, *choice: object) -> Callable[..., int]:
    """The function of *arguments* addresses written by *write*, for a *choice* of method that identifies it in the cache."""
    key = sha256(f"{generator('kernels', 'integration')} {host().signature} {choice!r}".encode()).hexdigest()
    code = load_object(stored(key, lambda: object_code(str(write().module))), [_NAME])
    _kept.append(code)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * arguments)(code[_NAME])


_kept: list[Any] = []
