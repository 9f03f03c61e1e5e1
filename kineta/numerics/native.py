"""The adaptive explicit integrator as machine code: no Python runs between two steps.

One module per method, the same for every system: the right-hand side comes as the address of a compiled function. The
loop hands control back when the end is reached, when it has made as many steps as it was allowed (so that a run can be
watched and interrupted), after a step in which an event function changed its sign, or when it cannot go on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any

from llvmlite import ir

from kineta.cache import stored
from kineta.codegen.llvm import load_object, object_code
from kineta.codegen.target import host
from kineta.numerics.tableaux import Row, Tableau

#: State vectors are padded to a multiple of this many doubles, so that they can be worked on vector by vector.
LANES = 8

#: Positions in the array of real numbers that a run is made of.
T, H, T_END, MAX_STEP, T_OLD = range(5)
#: Positions in the array of integers.
N, N_PADDED, N_QUATERNIONS, N_EVENTS, ALLOWED, DENSE, EVALUATIONS, ACCEPTED, REJECTED, JUST_REJECTED = range(10)

#: What the loop returns.
DONE, PAUSED, EVENT, STEP_TOO_SMALL, NOT_FINITE = range(5)

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0

_real = ir.DoubleType()
_int = ir.IntType(64)
_flag = ir.IntType(1)
_pointer = ir.PointerType()
_lanes = ir.VectorType(_real, LANES)
_void = ir.VoidType()
_function = ir.FunctionType(_void, [_pointer] * 4)

#: Arguments of the loop, all pointers: right-hand side, event functions, their block h, reals, integers, state y, stages,
#: work, tolerances (absolute, then relative), offsets of quaternions, recorded times, states and interpolants.
ARGUMENTS = [
    "rhs",
    "events",
    "h",
    "reals",
    "ints",
    "y",
    "k",
    "work",
    "tolerances",
    "quaternions",
    "times",
    "states",
    "dense",
]


@cache
def integrator(tableau: Tableau) -> Callable[..., int]:
    """The compiled loop for *tableau*: a function of the addresses :data:`ARGUMENTS`."""
    module = str(_Loop(tableau).module)
    key = sha256(f"{host().signature} {module}".encode()).hexdigest()
    code = load_object(stored(key, lambda: object_code(module)), ["integrate"])
    _kept.append(code)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(ARGUMENTS))(code["integrate"])


_kept: list[Any] = []


def call(address: int, *pointers: int) -> None:
    """Call the compiled function at *address* with four pointers."""
    _FUNCTION(address)(*pointers)


_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def _constant(value: float) -> ir.Constant:
    return ir.Constant(_real, value)


def _number(value: int) -> ir.Constant:
    return ir.Constant(_int, value)


class _Loop:
    """Writer of the module."""

    def __init__(self, tableau: Tableau) -> None:
        self.tableau = tableau
        self.module = ir.Module("integrator")
        self.module.triple = host().triple
        kinds = [_function.as_pointer()] * 2 + [_pointer] * (len(ARGUMENTS) - 2)
        self.function = ir.Function(self.module, ir.FunctionType(_int, kinds), "integrate")
        self.at = dict(zip(ARGUMENTS, self.function.args, strict=True))
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.n = self._get("ints", N)
        self.padded = self._get("ints", N_PADDED)
        self.new = self.at["work"]  # the state tried, then the event values before and after
        self.argument = self.b.alloca(_real)
        self.rhs, self.events = self.at["rhs"], self.at["events"]
        self.changed = self.b.alloca(_flag)
        self.sums = [self.b.alloca(_real) for _ in tableau.errors]
        self._write()

    # -- small things -----------------------------------------------------------------------------------------------

    def _intrinsic(self, name: str, *arguments: Any, result: ir.Type | None = None) -> Any:
        """LLVM's function *name* for the kind of the last argument."""
        kind = arguments[-1].type
        full = f"llvm.{name}.{'f64' if kind == _real else f'v{LANES}f64'}"
        signature = ir.FunctionType(result or kind, [a.type for a in arguments])
        function = self.module.globals.get(full) or ir.Function(self.module, signature, full)
        return self.b.call(function, arguments)

    def _get(self, block: str, index: int) -> Any:
        kind = _int if block == "ints" else _real
        return self.b.load(self._address(self.at[block], _number(index), kind), typ=kind)

    def _set(self, block: str, index: int, value: Any) -> None:
        kind = _int if block == "ints" else _real
        self.b.store(value, self._address(self.at[block], _number(index), kind))

    def _count(self, index: int, by: int = 1) -> None:
        self._set("ints", index, self.b.add(self._get("ints", index), _number(by)))

    def _address(self, base: Any, index: Any, kind: ir.Type = _real) -> Any:
        return self.b.gep(base, [index], source_etype=kind)

    def _row(self, base: Any, row: int) -> Any:
        """Start of the padded vector number *row* of an array of them."""
        return self._address(base, self.b.mul(self.padded, _number(row)))

    def _for(self, count: Any, body: Callable[[Any], None]) -> None:
        """A loop with i from 0 to count - 1."""
        b = self.b
        before = b.block
        head, inner, after = (self.function.append_basic_block(n) for n in ("head", "body", "after"))
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(_int)
        i.add_incoming(_number(0), before)
        b.cbranch(b.icmp_signed("<", i, count), inner, after)
        b.position_at_end(inner)
        body(i)
        i.add_incoming(b.add(i, _number(1)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def _for_lanes(self, body: Callable[[Any], None]) -> None:
        """A loop over the vectors of a padded state; *body* gets the index of the first lane."""
        self._for(self.b.udiv(self.padded, _number(LANES)), lambda i: body(self.b.mul(i, _number(LANES))))

    def _load(self, base: Any, index: Any) -> Any:
        return self.b.load(self._address(base, index), typ=_lanes, align=8)

    def _store(self, value: Any, base: Any, index: Any) -> None:
        self.b.store(value, self._address(base, index), align=8)

    def _splat(self, value: Any) -> Any:
        first = self.b.insert_element(ir.Constant(_lanes, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.b.shuffle_vector(first, ir.Constant(_lanes, ir.Undefined), mask)

    def _weighted(self, weights: Row, index: Any) -> Any:
        """Sum of weights times stages, for the lanes from *index* on."""
        total: Any = None
        for stage, weight in enumerate(weights):
            if weight:
                k = self._load(self._row(self.at["k"], stage), index)
                term = self.b.fmul(ir.Constant(_lanes, [weight] * LANES), k, flags=["contract"])
                total = term if total is None else self.b.fadd(total, term, flags=["contract"])
        return total

    def _derivative(self, t: Any, y: Any, stage: int) -> None:
        """Stage *stage* from the state *y*."""
        self.b.store(t, self.argument)
        out = self._row(self.at["k"], stage)
        self.b.call(self.rhs, [self.argument, y, self.at["h"], out])
        self._count(EVALUATIONS)

    # -- the loop ---------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        b = self.b
        loop = self.function.append_basic_block("step")
        b.branch(loop)
        b.position_at_end(loop)
        paused = b.icmp_signed(">=", self._get("ints", ACCEPTED), self._get("ints", ALLOWED))
        with b.if_then(paused, likely=False):
            b.ret(_number(PAUSED))
        t, h, last = self._step_size()
        self._stages(t, h)
        error = self._error(h)
        finite = b.fcmp_ordered("<", error, _constant(float("inf")))
        accepted = b.and_(finite, b.fcmp_ordered("<", error, _constant(1.0)))
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
        t, end = self._get("reals", T), self._get("reals", T_END)
        size = self._intrinsic("minnum", self._get("reals", H), self._get("reals", MAX_STEP))
        left = b.fsub(end, t)
        span = self._intrinsic("fabs", left)
        last = b.fcmp_ordered(">=", b.fmul(size, _constant(1 + 1e-10)), span)
        h = b.select(last, left, self._intrinsic("copysign", size, left))
        tiny = b.fmul(self._intrinsic("fabs", t), _constant(10 * 2.0**-52))
        moves = b.fcmp_ordered(">", self._intrinsic("fabs", h), tiny)
        with b.if_then(b.not_(b.or_(moves, last)), likely=False):
            b.ret(_number(STEP_TOO_SMALL))
        return t, h, last

    def _stages(self, t: Any, h: Any) -> None:
        tableau = self.tableau
        for stage, (row, c) in enumerate(zip(tableau.A, tableau.C[1:], strict=True), 1):
            self._advance(row, h)
            self._derivative(self.b.fadd(t, self.b.fmul(h, _constant(c))), self.new, stage)
        self._advance(tableau.B, h)
        self._derivative(self.b.fadd(t, h), self.new, tableau.stages)

    def _advance(self, weights: Row, h: Any) -> None:
        """New = y + h (weights . stages)."""

        def lanes(i: Any) -> None:
            change = self.b.fmul(self._splat(h), self._weighted(weights, i), flags=["contract"])
            self._store(self.b.fadd(self._load(self.at["y"], i), change, flags=["contract"]), self.new, i)

        self._for_lanes(lanes)

    def _error(self, h: Any) -> Any:
        """Norm of the estimated error in units of the tolerance (Hairer, II.10 for two estimates)."""
        b = self.b
        sums = self.sums
        for s in sums:
            b.store(_constant(0.0), s)

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
                total = self._intrinsic("vector.reduce.fadd", b.load(s, typ=_real), b.fmul(e, e), result=_real)
                b.store(total, s)

        self._for_lanes(lanes)
        n = b.sitofp(self.n, _real)
        first = b.load(sums[0], typ=_real)
        size = self._intrinsic("fabs", h)
        if len(sums) == 1:
            return b.fmul(size, self._intrinsic("sqrt", b.fdiv(first, n)))
        damped = b.fadd(first, b.fmul(_constant(0.01), b.load(sums[1], typ=_real)))
        exact = b.fcmp_ordered("==", damped, _constant(0.0))
        divisor = b.select(exact, _constant(1.0), self._intrinsic("sqrt", b.fmul(damped, n)))
        return b.fdiv(b.fmul(size, first), divisor)

    def _factor(self, error: Any) -> Any:
        """Safety times error to the power -1/order."""
        power = self.module.globals.get("pow") or ir.Function(self.module, ir.FunctionType(_real, [_real] * 2), "pow")
        inverse = self.b.call(power, [error, _constant(-1.0 / self.tableau.error_order)])
        return self.b.fmul(_constant(_SAFETY), inverse)

    def _reject(self, h: Any, error: Any, finite: Any) -> None:
        b = self.b
        factor = self._intrinsic("maxnum", self._factor(error), _constant(_SHRINK))
        shrunk = b.select(finite, factor, _constant(0.1))
        size = b.fmul(self._intrinsic("fabs", h), shrunk)
        self._set("reals", H, size)
        self._set("ints", JUST_REJECTED, _number(1))
        self._count(REJECTED)
        # Without a finite value however small the step: the state itself has no derivative.
        span = self._intrinsic("fabs", self._get("reals", T))
        floor = b.fadd(b.fmul(span, _constant(10 * 2.0**-52)), _constant(1e-300))
        with b.if_then(b.and_(b.not_(finite), b.fcmp_ordered("<", size, floor)), likely=False):
            b.ret(_number(NOT_FINITE))

    def _accept(self, t: Any, h: Any, error: Any, last: Any) -> None:
        b = self.b
        grown = self._intrinsic("minnum", self._factor(error), _constant(_GROW))
        kept = self._intrinsic("minnum", grown, _constant(1.0))
        factor = b.select(b.icmp_signed("!=", self._get("ints", JUST_REJECTED), _number(0)), kept, grown)
        size = self._intrinsic("fabs", h)
        # A last step cut short by the end says nothing about the step to try next.
        suggested = b.select(
            last, self._intrinsic("maxnum", b.fmul(size, factor), self._get("reals", H)), b.fmul(size, factor)
        )
        self._set("reals", H, suggested)
        self._set("ints", JUST_REJECTED, _number(0))
        end = b.select(last, self._get("reals", T_END), b.fadd(t, h))
        self._set("reals", T_OLD, t)
        self._set("reals", T, end)
        with b.if_then(b.icmp_signed("!=", self._get("ints", DENSE), _number(0))):
            self._interpolant(t, h)
        self._for(self._get("ints", N_QUATERNIONS), self._normalise)
        self._record(end)
        first, new = self._row(self.at["k"], 0), self._row(self.at["k"], self.tableau.stages)

        def carry(i: Any) -> None:
            self._store(self._load(self.new, i), self.at["y"], i)
            self._store(self._load(new, i), first, i)

        self._for_lanes(carry)
        self._events(end)
        with b.if_then(last):
            b.ret(_number(DONE))

    def _record(self, t: Any) -> None:
        """Time and state of the step just accepted."""
        b = self.b
        row = self._get("ints", ACCEPTED)
        b.store(t, self._address(self.at["times"], row))
        start = self._address(self.at["states"], b.mul(row, self.padded))
        self._for_lanes(lambda i: self._store(self._load(self.new, i), start, i))
        self._count(ACCEPTED)

    def _normalise(self, i: Any) -> None:
        """Quaternion number i of the new state made a unit again."""
        b = self.b
        offset = b.load(self._address(self.at["quaternions"], i, _int), typ=_int)
        start = self._address(self.new, offset)
        parts = [self._address(start, _number(j)) for j in range(4)]
        values = [b.load(p, typ=_real) for p in parts]
        square: Any = _constant(0.0)
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
            self._derivative(b.fadd(t, b.fmul(h, _constant(c))), self.new, stage)
        self._for_lanes(lambda i: self._store(self._load(keep, i), self.new, i))
        size = b.mul(self.padded, _number(tableau.coefficients))
        start = self._address(self.at["dense"], b.mul(self._get("ints", ACCEPTED), size))

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
        """Values of the event functions at the new state; back to the caller where one changed its sign."""
        b = self.b
        count = self._get("ints", N_EVENTS)
        with b.if_then(b.icmp_signed(">", count, _number(0))):
            before, after = self._row(self.at["work"], 2), self._row(self.at["work"], 3)
            b.store(t, self.argument)
            b.call(self.events, [self.argument, self.at["y"], self.at["h"], after])
            changed = self.changed
            b.store(ir.Constant(_flag, 0), changed)

            def compare(i: Any) -> None:
                old = b.load(self._address(before, i), typ=_real)
                new = b.load(self._address(after, i), typ=_real)
                rises = b.and_(b.fcmp_ordered("<=", old, _constant(0.0)), b.fcmp_ordered(">=", new, _constant(0.0)))
                falls = b.and_(b.fcmp_ordered(">=", old, _constant(0.0)), b.fcmp_ordered("<=", new, _constant(0.0)))
                crossed = b.and_(b.or_(rises, falls), b.fcmp_unordered("!=", old, _constant(0.0)))
                b.store(b.or_(b.load(changed, typ=_flag), crossed), changed)
                b.store(new, self._address(before, i))

            self._for(count, compare)
            with b.if_then(b.load(changed, typ=_flag)):
                b.ret(_number(EVENT))
