"""The driver: from a system to equations, from equations to functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.count import Operations
from kineta.expr.graph import Graph, Ref
from kineta.expr.program import Program
from kineta.formalism import recursive
from kineta.formalism.equations import Array, Derivation, Rule, derivation
from kineta.formalism.symbols import Symbols, symbols
from kineta.formulas import Formulas, aligned, formulas
from kineta.model.system import System
from kineta.passes.hoist import hoist
from kineta.passes.simplify import stages

#: The formalisms by name: the rules by which each derives.
FORMALISMS: Mapping[str, Mapping[str, Rule]] = {"newton_euler": recursive.RULES}

#: Input blocks that a quantity takes beside t, q, v.
_EXTRA: Mapping[str, tuple[str, ...]] = {
    "inverse": ("vdot",),
    "forward": ("tau",),
    "state_rate": ("tau",),
    "power": ("tau",),
}

BACKENDS = ("llvm", "numpy")

#: Lines of formulas that a notebook shows by itself.
READABLE = 80

FloatArray = NDArray[np.float64]


def derive(system: System, formalism: str = "newton_euler") -> Equations:
    """The equations of motion of *system* by *formalism*.

    The returned record derives each quantity when it is first asked for. Raises :class:`ArgumentError` for an unknown formalism.
    """
    if formalism not in FORMALISMS:
        known = ", ".join(FORMALISMS)
        raise ArgumentError(
            f"Expected a formalism ({known}), found '{formalism}'.{did_you_mean(formalism, FORMALISMS)}"
        )
    return Equations(system, formalism, derivation(system, FORMALISMS[formalism]))


@dataclass(frozen=True, repr=False)
class Equations:
    """Equations of motion ``M(q) vdot + bias(t, q, v) = tau`` and what belongs to them, as named expressions.

    ``bias`` holds everything that acts in the model: gravity, elements, prescribed motion; ``tau`` comes on top.
    """

    system: System
    formalism: str
    derivation: Derivation

    @property
    def graph(self) -> Graph:
        """The graph of all expressions."""
        return self.derivation.graph

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of what can be asked for."""
        return tuple(self.derivation.rules)

    def expressions(self, quantity: str) -> Array:
        """The expressions of *quantity*: shape and references into :attr:`graph`."""
        return self.derivation[quantity]

    def alone(self) -> Derivation:
        """A derivation of its own graph: what is compiled from it does not depend on what else was asked for."""
        return derivation(self.system, FORMALISMS[self.formalism])

    @cached_property
    def memory(self) -> dict[Hashable, Any]:
        """What tasks have made of these equations and may use again, by keys of their own."""
        return {}

    @cached_property
    def _formulas(self) -> dict[str, Formulas]:
        return {}

    def formulas(self, quantity: str) -> Formulas:
        """*quantity* after the passes that make it cheaper: what is printed, counted and compiled."""
        found = self._formulas.get(quantity)
        if found is None:
            found = self._formulas[quantity] = formulas(self.alone(), quantity)
        return found

    @cached_property
    def _programs(self) -> dict[str, tuple[Program, Program]]:
        return {}

    def programs(self, quantity: str) -> tuple[Program, Program]:
        """Two programs: from parameters ``p`` to ``h``, and from t, q, v (and tau or vdot) and ``h`` to *quantity*."""
        found = self._programs.get(quantity)
        if found is None:
            shown = self.formulas(quantity)
            found = self._programs[quantity] = _lowered(shown.symbols, quantity, shown.array)
        return found

    def operations(self, quantity: str) -> Operations:
        """Operations of one evaluation of *quantity*; what depends on parameters only is counted apart."""
        return _counted(*self.programs(quantity))

    def explain(self, quantity: str) -> dict[str, Operations]:
        """Operations of *quantity* as derived, and after each pass."""
        derived = self.alone()
        array, names = derived[quantity], self.system.parameter_names
        counts = {"derived": _counted(*_lowered(derived.symbols, quantity, array))}
        for name, graph, refs in stages(derived.graph, array.refs, names):
            lowered = _lowered(symbols(self.system, graph), quantity, Array(array.shape, tuple(refs)))
            counts[name] = _counted(*lowered)
        return counts

    def text(self, quantity: str = "inverse") -> str:
        """The formulas of *quantity* as text: a line for every part that is needed twice, then one for every entry."""
        return "\n".join(self.formulas(quantity).text())

    def latex(self, quantity: str = "inverse") -> str:
        """The formulas of *quantity* as LaTeX, in an environment ``aligned`` for use within ``$$``."""
        return aligned(self.formulas(quantity).latex(), "aligned")

    def sympy(self, quantity: str) -> Any:
        """*quantity* in SymPy: an expression, a ``Matrix`` (a column for a vector), or an ``Array`` of more dimensions."""
        return self.formulas(quantity).sympy()

    def __repr__(self) -> str:
        system = self.system
        return f"<Equations of '{system.name}' by {self.formalism}: {system.nq} coordinates, {system.nv} speeds>"

    def _repr_latex_(self) -> str | None:
        """The equations of motion in notebooks, where they are few enough to be read."""
        shown = self.latex()
        return f"$$\n{shown}\n$$" if shown.count("\n") <= READABLE else None

    def function(self, quantity: str, backend: str = "llvm") -> Function:
        """*quantity* as a function of numbers, compiled by *backend* (``llvm`` or ``numpy``)."""
        return Function(self, quantity, backend)


def _lowered(symbols: Symbols, quantity: str, array: Array) -> tuple[Program, Program]:
    """The programs of :meth:`Equations.programs`."""
    extra: dict[str, Sequence[Ref]] = {"tau": symbols.tau, "vdot": symbols.vdot}
    inputs: dict[str, Sequence[Ref]] = {"t": (symbols.t,), "q": symbols.q, "v": symbols.v}
    inputs |= {name: extra[name] for name in _EXTRA.get(quantity, ())}
    outputs = {quantity: {quantity: (array.shape, array.refs)}}
    setup, main = hoist(symbols.graph, inputs, outputs, symbols.p, quantity)
    return setup, main[quantity]


def _counted(setup: Program, main: Program) -> Operations:
    return main.operations(setup.operations().total)


class Function:
    """A quantity as a function of numbers.

    ``f(t, q, v, p=None)``; ``f(t, q, v, tau=0.0, p=None)`` for ``forward``, ``state_rate`` and ``power``;
    ``f(t, q, v, vdot, p=None)`` for ``inverse``. ``t`` [s], ``q`` (nq,), ``v`` (nv,) broadcast over leading axes, and so
    does the result. ``p``: None for the values of the model, a mapping of names to values, or an array (np,).

    Raises :class:`ArgumentError` for a wrong shape, an unknown parameter, or one without a value.
    """

    def __init__(self, equations: Equations, quantity: str, backend: str = "llvm") -> None:
        if backend not in BACKENDS:
            raise ArgumentError(
                f"Expected a backend ({', '.join(BACKENDS)}), found '{backend}'.{did_you_mean(backend, BACKENDS)}"
            )
        self.equations = equations
        self.quantity = quantity
        self.backend = backend
        self.setup, self.main = equations.programs(quantity)
        self.shape = self.main.outputs[0].shape
        self._extra = _EXTRA.get(quantity, ())
        self._hoisted: tuple[tuple[object, ...], FloatArray] | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments, beside the parameters ``p``."""
        return ("t", "q", "v", *self._extra)

    def __repr__(self) -> str:
        return (
            f"<{self.quantity}({', '.join((*self.arguments, 'p'))}) of '{self.equations.system.name}', {self.backend}>"
        )

    @cached_property
    def _scalar(self) -> Callable[..., FloatArray]:
        """One state."""
        if self.backend == "numpy":
            from kineta.codegen import numpy

            return numpy.compile(self.main)
        from kineta.codegen import llvm

        return llvm.compile([self.main]).function(self.main.name)

    @cached_property
    def _batch(self) -> Callable[..., FloatArray]:
        """Rows of states."""
        if self.backend == "numpy":
            return self._scalar
        from kineta.codegen import llvm

        return llvm.compile([self.main], batch=True).function(self.main.name).batch

    def __call__(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, *rest: Any, p: Any = None, **named: Any) -> FloatArray:
        """The quantity for one state or for rows of states; shape (..., *shape)."""
        blocks = [self._block("t", t), self._block("q", q), self._block("v", v)]
        blocks += [self._block(name, value) for name, value in self._arguments(rest, named, p)]
        p = rest[len(self._extra)] if len(rest) > len(self._extra) else p
        blocks.append(self.hoisted(p))
        if all(b.ndim == 1 for b in blocks):
            return self._scalar(*blocks).reshape(self.shape)
        return self._rows(blocks)

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
            system = self.equations.system
            names = ", ".join(system.q_names if name == "q" else system.v_names)
            raise ArgumentError(
                f"Expected {name} of shape ({size},) or (..., {size}) for ({names}), found shape {array.shape}."
            )
        return array

    def _rows(self, blocks: Sequence[FloatArray]) -> FloatArray:
        """The value for blocks with leading axes."""
        try:
            lead = np.broadcast_shapes(*(b.shape[:-1] for b in blocks))
        except ValueError:
            names = ", ".join(f"{b.name} {a.shape[:-1]}" for b, a in zip(self.main.inputs, blocks, strict=True))
            raise ArgumentError(f"Expected leading axes that agree, found {names}.") from None
        rows = [b if b.ndim == 1 else np.broadcast_to(b, (*lead, b.shape[-1])).reshape(-1, b.shape[-1]) for b in blocks]
        return self._batch(*rows).reshape(*lead, *self.shape)

    def hoisted(self, p: Any = None) -> FloatArray:
        """The block ``h`` for the parameters *p*, (nh,) or (..., nh)."""
        if p is None and not self.setup.n_outputs:
            return np.empty(0)
        values = parameter_values(self.equations.system, p)
        if not self.setup.n_outputs:
            return np.empty((*values.shape[:-1], 0))
        key = values.shape, values.tobytes()
        if self._hoisted is None or self._hoisted[0] != key:
            from kineta.codegen import numpy

            self._hoisted = key, numpy.compile(self.setup)(values)
        return self._hoisted[1]


def numbers(name: str, value: Any) -> FloatArray:
    """*value* as an array. Raises :class:`ArgumentError` where it does not consist of numbers."""
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
