"""Functions of numbers: the compiled side of a quantity."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kineta.errors import ArgumentError, did_you_mean, one_of
from kineta.expr.program import Program
from kineta.formalism.quantity import QUANTITIES
from kineta.model.system import System
from kineta.threads import once

BACKENDS = ("llvm", "numpy")

FloatArray = NDArray[np.float64]


@cache
def _tuple(quantity: str, names: tuple[str, ...]) -> Any:
    """The named tuple of a quantity of several parts; it is sent between processes by its names."""

    def reduce(self: tuple[FloatArray, ...]) -> tuple[Any, ...]:
        return _parts, (quantity, names, *self)

    return type(quantity, (namedtuple(quantity, names),), {"__slots__": (), "__reduce__": reduce})


def _parts(quantity: str, names: tuple[str, ...], *arrays: FloatArray) -> Any:
    """The *arrays* of a quantity as a tuple with *names*."""
    return _tuple(quantity, names)(*arrays)


class Function:
    """A quantity as a function of numbers.

    ``f(t, q, v, p=None)``; ``f(t, q, v, tau=0.0, p=None)`` for ``forward``, ``state_rate`` and ``power``;
    ``f(t, q, v, vdot, p=None)`` for ``inverse``. ``t`` [s], ``q`` (nq,), ``v`` (nv,) broadcast over leading axes, and so
    does the result. ``p``: None for the values of the model, a mapping of names to values, or an array (np,).

    A quantity of several parts gives a named tuple of arrays, as ``mass_and_bias`` gives ``(mass_matrix, bias)``.

    Raises :class:`ArgumentError` for a wrong shape, an unknown parameter, or one without a value.
    """

    def __init__(self, system: System, quantity: str, setup: Program, main: Program, backend: str = "llvm") -> None:
        self.system = system
        self.quantity = quantity
        self.backend = one_of(backend, BACKENDS, "a backend")
        self.setup = setup
        self.main = main
        self._parts = self.main.outputs
        self._extra = QUANTITIES[quantity].inputs
        self._hoisted: tuple[tuple[object, ...], FloatArray] | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments, beside the parameters ``p``."""
        return ("t", "q", "v", *self._extra)

    def __repr__(self) -> str:
        return f"<{self.quantity}({', '.join((*self.arguments, 'p'))}) of '{self.system.name}', {self.backend}>"

    @once
    def _scalar(self) -> Callable[..., FloatArray]:
        """One state."""
        if self.backend == "numpy":
            from kineta.codegen import numpy

            return numpy.compile(self.main)
        from kineta.codegen import llvm

        return llvm.compile([self.main]).function(self.main.name)

    @once
    def _batch(self) -> Callable[..., FloatArray]:
        """Rows of states."""
        if self.backend == "numpy":
            return self._scalar
        from kineta.codegen import llvm

        return llvm.compile([self.main], batch=True).function(self.main.name).batch

    def __call__(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, *rest: Any, p: Any = None, **named: Any) -> Any:
        """The quantity for one state or for rows of states: an array (..., *shape), or a named tuple of arrays."""
        blocks = [self._block("t", t), self._block("q", q), self._block("v", v)]
        blocks += [self._block(name, value) for name, value in self._arguments(rest, named, p)]
        p = rest[len(self._extra)] if len(rest) > len(self._extra) else p
        blocks.append(self.hoisted(p))
        if all(b.ndim == 1 for b in blocks):
            return self._shaped(self._scalar(*blocks))
        return self._shaped(self._rows(blocks))

    def _shaped(self, flat: FloatArray) -> Any:
        """The results (..., n) as arrays of the shapes that they have."""
        lead, start, arrays = flat.shape[:-1], 0, []
        for part in self._parts:
            arrays.append(flat[..., start : start + part.size].reshape((*lead, *part.shape)))
            start += part.size
        return arrays[0] if len(arrays) == 1 else _parts(self.quantity, tuple(p.name for p in self._parts), *arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        return Function, (self.system, self.quantity, self.setup, self.main, self.backend)

    def _arguments(self, rest: Sequence[Any], named: dict[str, Any], p: Any) -> list[tuple[str, Any]]:
        """The arguments beside t, q, v and p, by name."""
        most = len(self._extra) + (p is None)
        wrong = next((n for n in named if n not in self._extra[len(rest) :]), None)
        if len(rest) > most or wrong is not None:
            twice = " twice" if wrong in self._extra else ""
            found = f"'{wrong}'{twice}" if wrong is not None else f"{len(rest) + 3} arguments"
            raise ArgumentError(f"Expected arguments as in {self!r}, found {found}.")
        given = dict(zip(self._extra, rest, strict=False)) | named
        if "vdot" in self._extra and "vdot" not in given:
            raise ArgumentError(f"Expected the accelerations vdot as fourth argument of {self!r}, found none.")
        return [(name, given.get(name, 0.0)) for name in self._extra]

    def _block(self, name: str, value: ArrayLike) -> FloatArray:
        """*value* as rows of the input block *name*."""
        size = next(b.size for b in self.main.inputs if b.name == name)
        array = numbers(name, value)
        if name == "t":
            return array[..., np.newaxis]
        if array.ndim == 0 and name == "tau":
            return np.full(size, float(array))
        if array.ndim == 0 or array.shape[-1] != size:
            names = ", ".join(self.system.q_names if name == "q" else self.system.v_names)
            raise ArgumentError(
                f"Expected {name} of shape ({size},) or (..., {size}) for ({names}), found shape {array.shape}."
            )
        return array

    def _rows(self, blocks: Sequence[FloatArray]) -> FloatArray:
        """The results (..., n) for blocks with leading axes."""
        try:
            lead = np.broadcast_shapes(*(b.shape[:-1] for b in blocks))
        except ValueError:
            names = ", ".join(f"{b.name} {a.shape[:-1]}" for b, a in zip(self.main.inputs, blocks, strict=True))
            raise ArgumentError(f"Expected leading axes that agree, found {names}.") from None
        rows = [b if b.ndim == 1 else _flat(np.broadcast_to(b, (*lead, b.shape[-1]))) for b in blocks]
        return self._batch(*rows).reshape(*lead, self.main.n_outputs)

    def hoisted(self, p: Any = None) -> FloatArray:
        """The block ``h`` for the parameters *p*, (nh,) or (..., nh)."""
        if p is None and not self.setup.n_outputs:
            return np.empty(0)
        values = parameter_values(self.system, p)
        if not self.setup.n_outputs:
            return np.empty((*values.shape[:-1], 0))
        key = values.shape, values.tobytes()
        if self._hoisted is None or self._hoisted[0] != key:
            h = self._setup(values)
            h.flags.writeable = False  # it is kept, and given out
            self._hoisted = key, h
        return self._hoisted[1]

    def _setup(self, values: FloatArray) -> FloatArray:
        """The block ``h``: interpreted for one set of parameters, compiled where there are rows of them."""
        if values.ndim > 1 and self.backend == "llvm":
            rows = self._compiled_setup(_flat(values))
            return rows.reshape(*values.shape[:-1], self.setup.n_outputs)
        from kineta.codegen import numpy

        return numpy.compile(self.setup)(values)

    @once
    def _compiled_setup(self) -> Callable[..., FloatArray]:
        from kineta.codegen import llvm

        return llvm.compile([self.setup], batch=True).function(self.setup.name).batch


def _flat(array: FloatArray) -> FloatArray:
    """The rows of *array*, (..., size), one after the other, (n, size)."""
    return array.reshape(prod(array.shape[:-1]), array.shape[-1])  # -1 for n says nothing where there are no columns


def numbers(name: str, value: Any) -> FloatArray:
    """*value* as an array. Raises :class:`ArgumentError` where it does not consist of real numbers."""
    if np.iscomplexobj(value):
        raise ArgumentError(f"Expected real numbers for {name}, found complex ones.")
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"Expected numbers for {name}, found {value!r}.") from None


def parameter_values(system: System, p: Any = None) -> FloatArray:
    """The array p, (np,) or (..., np), from None, a mapping of names to values, or an array.

    Raises :class:`ArgumentError` for an unknown name, a wrong shape, and a parameter without a value.
    """
    names = system.parameter_names
    if p is not None and not isinstance(p, Mapping):
        array = numbers("p", p)
        if array.ndim == 0 or array.shape[-1] != len(names):
            raise ArgumentError(
                f"Expected p of shape ({len(names)},) for ({', '.join(names)}), found shape {array.shape}."
            )
        return array
    values = {q.name: q.value for q in system.parameters if not q.fixed}
    for name, value in (p or {}).items():
        if name not in values:
            fixed = name in {q.name for q in system.parameters}
            why = "is fixed: a number of the equations." if fixed else f"is not a parameter.{did_you_mean(name, names)}"
            raise ArgumentError(f"Model '{system.name}': '{name}' {why}")
        values[name] = value
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise ArgumentError(
            f"Model '{system.name}': the parameter{'s' * (len(missing) > 1)} {', '.join(missing)} "
            f"need{'s' * (len(missing) == 1)} a value: give p={{'{missing[0]}': ...}} or a value in the model."
        )
    columns = {name: numbers(f"the parameter {name}", value) for name, value in values.items()}
    try:
        return np.stack(np.broadcast_arrays(*columns.values()), axis=-1) if columns else np.empty(0)
    except ValueError:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items() if column.ndim)
        raise ArgumentError(f"Expected values of parameters whose shapes agree, found {shapes}.") from None
