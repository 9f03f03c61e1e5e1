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

from kineta.cache import stored
from kineta.codegen.emitter import INT, REAL, constant, number
from kineta.codegen.llvm import load_object, object_code
from kineta.codegen.step import Step
from kineta.codegen.target import host
from kineta.numerics import layout
from kineta.numerics.tableaux import Tableau


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


class _Loop(Step):
    """Writer of the module."""

    def __init__(self, tableau: Tableau) -> None:
        super().__init__(tableau, layout.FUNCTIONS, layout.BLOCKS, layout.LANES, several=False)
        self.steering = self._get("ints", layout.N)
        self.padded = self._get("ints", layout.N_PADDED)
        self.y, self.k, self.tolerances = self.at["y"], self.at["k"], self.at["tolerances"]
        self.new = self.at["work"]  # the state tried, then the event values before and after
        self.argument = self.b.alloca(REAL)
        self._write()

    def _derivative(self, t: Any, stage: int) -> None:
        self.b.store(t, self.argument)
        self.b.call(self.at["rhs"], [self.argument, self.new, self.at["h"], self._row(self.k, stage)])
        self._count(layout.EVALUATIONS)

    def _write(self) -> None:
        b = self.b
        loop = self.function.append_basic_block("step")
        b.branch(loop)
        b.position_at_end(loop)
        paused = b.icmp_signed(">=", self._get("ints", layout.ACCEPTED), self._get("ints", layout.ALLOWED))
        with b.if_then(paused, likely=False):
            b.ret(number(layout.PAUSED))
        t = self._get("reals", layout.T)
        wanted, most = self._get("reals", layout.H), self._get("reals", layout.MAX_STEP)
        h, last, moves = self._size(t, self._get("reals", layout.T_END), wanted, most)
        with b.if_then(b.not_(moves), likely=False):
            b.ret(number(layout.STEP_TOO_SMALL))
        self._stages(t, h)
        error = self._error(h)
        finite, accepted = self._verdict(error)
        with b.if_else(accepted) as (then, otherwise):
            with then:
                self._accept(t, h, error, last)
                b.branch(loop)
            with otherwise:
                self._reject(t, h, error, finite)
                b.branch(loop)
        b.unreachable()

    def _reject(self, t: Any, h: Any, error: Any, finite: Any) -> None:
        size = self._shrunk(h, error, finite)
        self._set("reals", layout.H, size)
        self._set("ints", layout.JUST_REJECTED, number(1))
        self._count(layout.REJECTED)
        with self.b.if_then(self._hopeless(t, size, finite), likely=False):
            self.b.ret(number(layout.NOT_FINITE))

    def _accept(self, t: Any, h: Any, error: Any, last: Any) -> None:
        b = self.b
        rejected = self._nonzero(self._get("ints", layout.JUST_REJECTED))
        self._set("reals", layout.H, self._grown(h, error, last, rejected, self._get("reals", layout.H)))
        self._set("ints", layout.JUST_REJECTED, number(0))
        end = b.select(last, self._get("reals", layout.T_END), b.fadd(t, h))
        self._set("reals", layout.T, end)
        with b.if_then(self._nonzero(self._get("ints", layout.DENSE))):
            size = b.mul(self.padded, number(self.tableau.coefficients))
            place = self._address(self.at["dense"], b.mul(self._get("ints", layout.ACCEPTED), size))
            self._interpolant(t, h, self._row(self.at["work"], 1), place)
        self._for(self._get("ints", layout.N_QUATERNIONS), self._normalise)
        self._record(end)
        self._copy(self.new, self.y)
        self._copy(self._row(self.k, self.tableau.stages), self._row(self.k, 0))
        self._events(end)
        crossed = self._nonzero(self._get("ints", layout.CROSSED))
        with b.if_then(b.or_(last, crossed)):
            b.ret(b.select(last, number(layout.DONE), number(layout.EVENT)))

    def _record(self, t: Any) -> None:
        """Time and state of the step just accepted."""
        b = self.b
        row = self._get("ints", layout.ACCEPTED)
        b.store(t, self._address(self.at["times"], row))
        self._copy(self.new, self._address(self.at["states"], b.mul(row, self.padded)))
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

    def _events(self, t: Any) -> None:
        """Values of the event functions at the new state, and whether one changed its sign."""
        b = self.b
        count = self._get("ints", layout.N_EVENTS)
        with b.if_then(b.icmp_signed(">", count, number(0))):
            before, after = self._row(self.at["work"], 2), self._row(self.at["work"], 3)
            b.store(t, self.argument)
            b.call(self.at["events"], [self.argument, self.y, self.at["h"], after])
            self._set("ints", layout.CROSSED, number(0))

            def compare(i: Any) -> None:
                old = b.load(self._address(before, i), typ=REAL)
                new = b.load(self._address(after, i), typ=REAL)
                crossed = b.zext(self._sign_changes(old, new), INT)
                self._set("ints", layout.CROSSED, b.or_(self._get("ints", layout.CROSSED), crossed))
                b.store(new, self._address(before, i))

            self._for(count, compare)
