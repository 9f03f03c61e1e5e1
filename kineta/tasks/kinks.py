"""Kinks and steps of expressions: what touches at one has no way on, and equations may have no derivative."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import numpy as reference
from kineta.compiler import Equations
from kineta.expr.node import DESCRIPTIONS, Expr
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.friction import Friction
from kineta.model.infer import derivatives, described, results
from kineta.model.system import System
from kineta.passes.kinks import kinks
from kineta.tasks.domain import EDGE, operands_of

FloatArray = NDArray[np.float64]

#: How near to a kink, relative to the state and 1, a state is at it.
THERE = 1e-9


def kink(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> str:
    """The sentence on the kink or step of a contact or limit at which the state *y* is at *t*; ``''`` where it is at none."""
    found = list(_kinks(equations.system.expanded))
    if not found:
        return ""
    zeros = tuple(zero for _, _, zero in found)
    values = equations.kept(("kinks", zeros), lambda: reference.compile(operands_of(equations.alone(), zeros)))
    n = equations.system.nq + equations.system.nv
    off = np.abs(values(np.array([t]), y[:n], p))
    if not off.min() <= EDGE * max(1.0, float(np.abs(y[:n]).max())):
        return ""
    name, operation, _ = found[int(off.argmin())]
    return (
        f"'{name}' has a kink or a step there, '{operation!r}', at which what touches it can neither go on nor strike; "
        "make it smooth over a short length"
    )


def at_kink(
    equations: Equations, more: Iterable[Expr], t: FloatArray, q: FloatArray, v: FloatArray, p: FloatArray
) -> bool:
    """Whether the equations without contacts and switches, or *more* expressions, are at a kink or step at one of the states."""
    system = equations.system
    bare = system.replace(contacts=(), switches=(), programs=(), control=None, outputs=())
    zeros = tuple(zero for e in (*described(bare.expanded), *more) for _, zero in _of((e,), system))
    if not zeros:
        return False
    values = equations.kept(("kinks", zeros), lambda: reference.compile(operands_of(equations.alone(), zeros)))
    y = np.concatenate([q, v], axis=-1)
    off = np.abs(values(*(np.broadcast_to(x, (*y.shape[:-1], x.shape[-1])) for x in (t, y, p))))
    return bool((off <= THERE * np.maximum(1.0, np.abs(y).max(axis=-1, initial=0.0, keepdims=True))).any())


def _of(expressions: Iterable[Expr], system: System) -> Iterator[tuple[Expr, Expr]]:
    """The operations with kinks in *expressions* of what a state has, and what is zero there."""
    g, fixed = DESCRIPTIONS, {p.name for p in system.parameters}
    for operation, ref in kinks(g, [e.ref for e in expressions]):
        zero = Expr(g, ref)
        names = zero.symbols()
        if not (fixed.issuperset(names) or results(system, names) or derivatives(system, names) or _vectors(names)):
            yield Expr(g, operation), zero


def _vectors(names: Iterable[str]) -> bool:
    """Whether parts of vectors are among *names*."""
    return any("(" in name for name in names)


def _kinks(system: System) -> Iterator[tuple[str, Expr, Expr]]:
    """What has kinks: the name of its contact or limit, the operation, and what is zero at the kink."""
    for record in system.contacts:
        if isinstance(record, Friction):
            continue
        given = (record.height,) if isinstance(record, Contact) else (record.value, record.lower, record.upper)
        yield from ((record.name, *found) for found in _of((e for e in given if e is not None), system))
