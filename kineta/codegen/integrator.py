"""The adaptive explicit integrator as machine code: no Python runs between two steps.

One module per method, the same for every system: the right-hand side comes as the address of a compiled function. The
loop hands control back when the end is reached, when it has made as many steps as it was allowed (so that a run can be
watched and interrupted), after a step in which an event function changed its sign, or when it cannot go on.
:mod:`kineta.numerics.layout` says what it is given and what it returns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any

from llvmlite import ir

from kineta.cache import stored
from kineta.codegen.emitter import INT, REAL, VECTOR, Emitter, constant, number
from kineta.codegen.llvm import load_object, object_code
from kineta.codegen.target import host
from kineta.numerics import layout
from kineta.numerics.tableaux import Row, Tableau

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0


@cache
def integrator(tableau: Tableau) -> Callable[..., int]:
    """The compiled loop for *tableau*: a function of addresses, as in :mod:`kineta.numerics.layout`."""
    module = str(_Loop(tableau).module)
    key = sha256(f"{host().signature} {module}".encode()).hexdigest()
    code = load_object(stored(key, lambda: object_code(module)), ["integrate"])
    _kept.append(code)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(layout.FUNCTIONS + layout.BLOCKS))(
        code["integrate"]
    )


_kept: list[Any] = []


class _Loop(Emitter):
    """Writer of the module."""

    def __init__(self, tableau: Tableau) -> None:
        super().__init__("integrate", layout.FUNCTIONS, layout.BLOCKS)
        self.tableau = tableau
        self.n = self._get("ints", layout.N)
        self.padded = self._get("ints", layout.N_PADDED)
        self.new = self.at["work"]  # the state tried, then the event values before and after
        self.argument = self.b.alloca(REAL)
        self.rhs, self.events = self.at["rhs"], self.at["events"]
        self.sums = [self.b.alloca(REAL) for _ in tableau.errors]
        self._write()

    def _weighted(self, weights: Row, index: Any) -> Any:
        """Sum of weights times stages, for the lanes from *index* on."""
        total: Any = None
        for stage, weight in enumerate(weights):
            if weight:
                k = self._load(self._row(self.at["k"], stage), index)
                term = self.b.fmul(ir.Constant(VECTOR, [weight] * layout.LANES), k, flags=["contract"])
                total = term if total is None else self.b.fadd(total, term, flags=["contract"])
        return total

    def _derivative(self, t: Any, y: Any, stage: int) -> None:
        """Stage *stage* from the state *y*."""
        self.b.store(t, self.argument)
        out = self._row(self.at["k"], stage)
        self.b.call(self.rhs, [self.argument, y, self.at["h"], out])
        self._count(layout.EVALUATIONS)

    # -- the loop ---------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        b = self.b
        loop = self.function.append_basic_block("step")
        b.branch(loop)
        b.position_at_end(loop)
        paused = b.icmp_signed(">=", self._get("ints", layout.ACCEPTED), self._get("ints", layout.ALLOWED))
        with b.if_then(paused, likely=False):
            b.ret(number(layout.PAUSED))
        t, h, last = self._step_size()
        self._stages(t, h)
        error = self._error(h)
        finite = b.fcmp_ordered("<", error, constant(float("inf")))
        accepted = b.and_(finite, b.fcmp_ordered("<", error, constant(1.0)))
        with b.if_else(accepted) as (then, otherwise):
            with then:
                self._accept(t, h, error, last)
                b.branch(loop)
            with otherwise:
                self._reject(h, error, finite)
                b.branch(loop)
        b.unreachable()

    def _step_size(self) -> tuple[Any, Any, Any]:
        """Time, step, and whether it is the last: not beyond the end, and not too small to be seen in t."""
        b = self.b
        t, end = self._get("reals", layout.T), self._get("reals", layout.T_END)
        size = self._intrinsic("minnum", self._get("reals", layout.H), self._get("reals", layout.MAX_STEP))
        left = b.fsub(end, t)
        span = self._intrinsic("fabs", left)
        last = b.fcmp_ordered(">=", b.fmul(size, constant(1 + 1e-10)), span)
        h = b.select(last, left, self._intrinsic("copysign", size, left))
        tiny = b.fmul(self._intrinsic("fabs", t), constant(10 * 2.0**-52))
        moves = b.fcmp_ordered(">", self._intrinsic("fabs", h), tiny)
        with b.if_then(b.not_(b.or_(moves, last)), likely=False):
            b.ret(number(layout.STEP_TOO_SMALL))
        return t, h, last

    def _stages(self, t: Any, h: Any) -> None:
        tableau = self.tableau
        for stage, (row, c) in enumerate(zip(tableau.A, tableau.C[1:], strict=True), 1):
            self._advance(row, h)
            self._derivative(self.b.fadd(t, self.b.fmul(h, constant(c))), self.new, stage)
        self._advance(tableau.B, h)
        self._derivative(self.b.fadd(t, h), self.new, tableau.stages)

    def _advance(self, weights: Row, h: Any) -> None:
        """The state tried: y + h (weights . stages)."""

        def lanes(i: Any) -> None:
            change = self.b.fmul(self._splat(h), self._weighted(weights, i), flags=["contract"])
            self._store(self.b.fadd(self._load(self.at["y"], i), change, flags=["contract"]), self.new, i)

        self._for_lanes(lanes)

    def _error(self, h: Any) -> Any:
        """Norm of the estimated error in units of the tolerance (Hairer, II.10 for two estimates)."""
        b = self.b
        sums = self.sums
        for s in sums:
            b.store(constant(0.0), s)

        def lanes(i: Any) -> None:
            size = self._intrinsic(
                "maximum",
                self._intrinsic("fabs", self._load(self.at["y"], i)),
                self._intrinsic("fabs", self._load(self.new, i)),
            )
            absolute, relative = (self._load(self._row(self.at["tolerances"], r), i) for r in range(2))
            scale = b.fadd(absolute, b.fmul(relative, size))
            for s, weights in zip(sums, self.tableau.errors, strict=True):
                e = b.fdiv(self._weighted(weights, i), scale)
                total = self._intrinsic("vector.reduce.fadd", b.load(s, typ=REAL), b.fmul(e, e), result=REAL)
                b.store(total, s)

        self._for_lanes(lanes)
        n = b.sitofp(self.n, REAL)
        first = b.load(sums[0], typ=REAL)
        size = self._intrinsic("fabs", h)
        if len(sums) == 1:
            return b.fmul(size, self._intrinsic("sqrt", b.fdiv(first, n)))
        damped = b.fadd(first, b.fmul(constant(0.01), b.load(sums[1], typ=REAL)))
        exact = b.fcmp_ordered("==", damped, constant(0.0))
        divisor = b.select(exact, constant(1.0), self._intrinsic("sqrt", b.fmul(damped, n)))
        return b.fdiv(b.fmul(size, first), divisor)

    def _factor(self, error: Any) -> Any:
        """Safety times error to the power -1/order."""
        power = self.module.globals.get("pow") or ir.Function(self.module, ir.FunctionType(REAL, [REAL] * 2), "pow")
        inverse = self.b.call(power, [error, constant(-1.0 / self.tableau.error_order)])
        return self.b.fmul(constant(_SAFETY), inverse)

    def _reject(self, h: Any, error: Any, finite: Any) -> None:
        b = self.b
        factor = self._intrinsic("maxnum", self._factor(error), constant(_SHRINK))
        shrunk = b.select(finite, factor, constant(0.1))
        size = b.fmul(self._intrinsic("fabs", h), shrunk)
        self._set("reals", layout.H, size)
        self._set("ints", layout.JUST_REJECTED, number(1))
        self._count(layout.REJECTED)
        # Without a finite value however small the step: the state itself has no derivative.
        span = self._intrinsic("fabs", self._get("reals", layout.T))
        floor = b.fadd(b.fmul(span, constant(10 * 2.0**-52)), constant(1e-300))
        with b.if_then(b.and_(b.not_(finite), b.fcmp_ordered("<", size, floor)), likely=False):
            b.ret(number(layout.NOT_FINITE))

    def _accept(self, t: Any, h: Any, error: Any, last: Any) -> None:
        b = self.b
        grown = self._intrinsic("minnum", self._factor(error), constant(_GROW))
        kept = self._intrinsic("minnum", grown, constant(1.0))
        factor = b.select(b.icmp_signed("!=", self._get("ints", layout.JUST_REJECTED), number(0)), kept, grown)
        size = self._intrinsic("fabs", h)
        # A last step cut short by the end says nothing about the step to try next.
        suggested = b.select(
            last, self._intrinsic("maxnum", b.fmul(size, factor), self._get("reals", layout.H)), b.fmul(size, factor)
        )
        self._set("reals", layout.H, suggested)
        self._set("ints", layout.JUST_REJECTED, number(0))
        end = b.select(last, self._get("reals", layout.T_END), b.fadd(t, h))
        self._set("reals", layout.T, end)
        with b.if_then(b.icmp_signed("!=", self._get("ints", layout.DENSE), number(0))):
            self._interpolant(t, h)
        self._for(self._get("ints", layout.N_QUATERNIONS), self._normalise)
        self._record(end)
        first, new = self._row(self.at["k"], 0), self._row(self.at["k"], self.tableau.stages)

        def carry(i: Any) -> None:
            self._store(self._load(self.new, i), self.at["y"], i)
            self._store(self._load(new, i), first, i)

        self._for_lanes(carry)
        self._events(end)
        crossed = b.icmp_signed("!=", self._get("ints", layout.CROSSED), number(0))
        with b.if_then(b.or_(last, crossed)):
            b.ret(b.select(last, number(layout.DONE), number(layout.EVENT)))

    def _record(self, t: Any) -> None:
        """Time and state of the step just accepted."""
        b = self.b
        row = self._get("ints", layout.ACCEPTED)
        b.store(t, self._address(self.at["times"], row))
        start = self._address(self.at["states"], b.mul(row, self.padded))
        self._for_lanes(lambda i: self._store(self._load(self.new, i), start, i))
        self._count(layout.ACCEPTED)

    def _normalise(self, i: Any) -> None:
        """Quaternion number i of the new state made a unit again."""
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

    def _interpolant(self, t: Any, h: Any) -> None:
        """Coefficients of the step's interpolant, behind those of the steps before."""
        b, tableau = self.b, self.tableau
        keep = self._row(self.at["work"], 1)  # the new state, while its place serves the extra stages
        self._for_lanes(lambda i: self._store(self._load(self.new, i), keep, i))
        for stage, (row, c) in enumerate(zip(tableau.extra, tableau.extra_C, strict=True), tableau.stages + 1):
            self._advance(row, h)
            self._derivative(b.fadd(t, b.fmul(h, constant(c))), self.new, stage)
        self._for_lanes(lambda i: self._store(self._load(keep, i), self.new, i))
        size = b.mul(self.padded, number(tableau.coefficients))
        start = self._address(self.at["dense"], b.mul(self._get("ints", layout.ACCEPTED), size))

        def lanes(i: Any) -> None:
            step = self._splat(h)
            change = b.fsub(self._load(self.new, i), self._load(self.at["y"], i))
            f0 = b.fmul(step, self._load(self._row(self.at["k"], 0), i))
            f1 = b.fmul(step, self._load(self._row(self.at["k"], tableau.stages), i))
            rows = [change, b.fsub(f0, change), b.fsub(b.fadd(change, change), b.fadd(f0, f1))]
            rows += [b.fmul(step, self._weighted(weights, i)) for weights in tableau.dense]
            for r, value in enumerate(rows):
                self._store(value, self._row(start, r), i)

        self._for_lanes(lanes)

    def _events(self, t: Any) -> None:
        """Values of the event functions at the new state, and whether one changed its sign."""
        b = self.b
        count = self._get("ints", layout.N_EVENTS)
        with b.if_then(b.icmp_signed(">", count, number(0))):
            before, after = self._row(self.at["work"], 2), self._row(self.at["work"], 3)
            b.store(t, self.argument)
            b.call(self.events, [self.argument, self.at["y"], self.at["h"], after])
            self._set("ints", layout.CROSSED, number(0))

            def compare(i: Any) -> None:
                old = b.load(self._address(before, i), typ=REAL)
                new = b.load(self._address(after, i), typ=REAL)
                zero = constant(0.0)
                rises = b.and_(b.fcmp_ordered("<", old, zero), b.fcmp_ordered(">=", new, zero))
                falls = b.and_(b.fcmp_ordered(">", old, zero), b.fcmp_ordered("<=", new, zero))
                crossed = b.zext(b.or_(rises, falls), INT)
                self._set("ints", layout.CROSSED, b.or_(self._get("ints", layout.CROSSED), crossed))
                b.store(new, self._address(before, i))

            self._for(count, compare)
