"""Numeric functions: the compiled side of a quantity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta import entry_points
from kineta.arrays import FloatArray
from kineta.calls import public
from kineta.codegen.compiled_functions import CALLS, CompiledFunctions
from kineta.equations import argument_layout
from kineta.equations.converted_calls import PLAIN, ConvertedCall, declined
from kineta.equations.result_arrays import filled, shaped, tuple_of
from kineta.errors import ArgumentError, did_you_mean, nearest_or_listed, one_of, shown
from kineta.expr.program import StraightLineProgram
from kineta.mechanics.quantities import DERIVATIVES
from kineta.mechanics.quantities import quantity as row_of
from kineta.model.checks.check import check_directions
from kineta.model.coercion import records
from kineta.model.named_expressions import let_advice
from kineta.model.parameters import constants
from kineta.model.system import System
from kineta.threads import once
from kineta.values import numbers

if TYPE_CHECKING:
    from scipy import LowLevelCallable

    from kineta.codegen.llvm import NativeFunction
    from kineta.equations.device_calls import DeviceCalls

#: The modules of the backends, each with a function ``compile``. Of all but ``llvm`` it takes a program and returns a function
#: of one array (..., size) per input block with the results, (..., n).
BACKENDS: Mapping[str, str] = {
    "llvm": "kineta.codegen.llvm",
    "numpy": "kineta.codegen.numpy",
    "cuda": "kineta.codegen.cuda",
}
#: The group of entry points that add such functions.
GROUP = "kineta.backends"


@public
class Function:
    """A quantity as a numeric function.

    ``f(t, q, v, p=None)``; ``f(t, q, v, tau=0.0, p=None)`` for ``forward``, ``state_rate`` and ``power``;
    ``f(t, q, v, vdot, p=None)`` for ``inverse``. ``t`` [s], ``q`` (nq,), ``v`` (nv,) broadcast over leading axes, and so
    does the result. ``p``: None for the values of the model, a mapping of names to values, or an array (np,). Quaternions
    in ``q`` are normalised.

    A quantity of several parts gives a named tuple of arrays, as ``mass_and_bias`` gives ``(mass_matrix, bias)``. ``out``:
    a float64 array of the shape of the result, or a tuple of arrays, filled with the result and returned.

    A call for one state in float64 arrays, without ``p``, runs in machine code from call to result; :meth:`bind` gives such a
    function for other parameters. All other calls check and convert their arguments first.

    Raises :class:`ArgumentError` for a wrong shape, an unknown parameter, or a parameter without a value.

    Attributes
    ----------
    p : the parameters of a call without ``p``, (np,); None for the values of the model
    """

    #: The called code, an attribute of every function, so that no Python code runs between a caller and machine code.
    __call__: Callable[..., Any]
    __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(
        self,
        system: System,
        quantity: str,
        setup: StraightLineProgram,
        main: StraightLineProgram,
        backend: str = "llvm",
        p: FloatArray | None = None,
    ) -> None:
        self.system = system
        self.quantity = quantity
        self.backend = known_backend(backend)
        self.setup = setup
        self.main = main
        self.p = p
        self._own: FloatArray | None = None
        self._setups = 0
        self._last: tuple[tuple[object, ...], FloatArray] | None = None
        self.__call__ = self._checked
        self.__signature__ = argument_layout.signature(self.arguments)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments, without the parameters ``p``."""
        return row_of(self.quantity).arguments

    def __repr__(self) -> str:
        bound = "" if self.p is None else ", parameters bound"
        return f"<{self.quantity}({', '.join((*self.arguments, 'p'))}) of '{self.system.name}', {self.backend}{bound}>"

    @once
    def _scalar(self) -> Callable[..., FloatArray]:
        """The compiled program for one state."""
        return self._native if self.backend == "llvm" else _compiler(self.backend)(self.main)

    @once
    def _native(self) -> NativeFunction:
        """The machine code. Raises :class:`ArgumentError` for other backends."""
        if self.backend != "llvm":
            raise ArgumentError(f"Expected a function compiled by llvm, found {self!r}: it has no machine code.")
        return CompiledFunctions([self.main])[self.main.name]

    @property
    def address(self) -> int:
        """Address of the machine code for one state, valid while the function is alive: ``void f(const double *t, const double
        *q, const double *v, const double *h, double *out)``, with ``tau`` or ``vdot`` before ``h`` if the function has it.

        ``h`` is the array :meth:`hoisted`. Quaternions must be normalised. Arguments are not checked.
        """
        return self._native.address

    @property
    def ctypes(self) -> Any:
        """The code at :attr:`address` as a ctypes function of pointers to doubles, which keeps it alive."""
        return self._native.ctypes

    def ptx(self, target: str = "sm_70") -> str:
        """The function as PTX for Nvidia's graphics processors, made on any machine: text that a CUDA driver compiles.

        target : the oldest processor that is to run it, ``sm_70`` (Volta, 2017) or later; all later ones do

        Its entry takes ``n`` and, for each block of arguments (t, q, v, ..., h) and then of results, three numbers of 64 bits:
        address, row, column. Number k of a block of thread i, below n, stands at address + 8 (i row + k column). Quaternions
        must be normalised; ``h`` is :meth:`hoisted`. Raises :class:`ArgumentError` for an unknown target.
        """
        from kineta.codegen.cuda.ptx import ptx

        return ptx(self.main, target)

    @once
    def _on_devices(self) -> DeviceCalls:
        """Calls with arrays in the memory of graphics processors."""
        from kineta.equations.device_calls import DeviceCalls

        return DeviceCalls(self.system, self.arguments, self.setup, self.main, self.hoisted)

    @once
    def _batch(self) -> Callable[..., FloatArray]:
        """The compiled program for rows of states."""
        if self.backend != "llvm":
            return self._scalar
        return CompiledFunctions([self.main], batch=True)[self.main.name].batch

    def _checked(self, *given: Any, **named: Any) -> Any:
        """The quantity for one state or for rows of states, with conversion and checks of all arguments."""
        values = argument_layout.bound_arguments(self, self.arguments, given, named)
        if self.backend == "cuda":
            found = self._on_devices(values)
            if found is not None:
                return found[0] if len(found) == 1 else self._tuple(*found)
        blocks, out = self._blocks(values), values["out"]
        one = all(b.ndim == 1 for b in blocks)
        flat = self._scalar(*blocks) if one else self._rows(blocks)
        if one and self.backend == "llvm" and (values["p"] is None or self._valued):
            self.__call__ = self._compiled_call  # for the following states
        arrays = shaped(flat, self.main.outputs)
        if out is not None:
            arrays = filled(out, arrays)
        return arrays[0] if len(arrays) == 1 else self._tuple(*arrays)

    @once
    def _valued(self) -> bool:
        """Whether every parameter has a value where a call gives none."""
        return self.p is not None or all(q.value is not None for q in self.system.parameters)

    @property
    def _tuple(self) -> Any:
        """The named tuple of a quantity of several parts."""
        return tuple_of(self.main.name, tuple(part.name for part in self.main.outputs))

    @once
    def _compiled_call(self) -> Callable[..., Any]:
        """The call for one state in machine code, which passes on arguments that need a conversion."""
        from kineta.codegen.python_abi import available
        from kineta.codegen.python_call import call_wrapper
        from kineta.codegen.python_entry import ArgumentKind

        if not available():
            return self._checked
        kinds = {
            "t": ArgumentKind.NUMBER,
            "q": ArgumentKind.UNITS if self.system.quaternions else ArgumentKind.ARRAY,
            "v": ArgumentKind.ARRAY,
            "momentum": ArgumentKind.ARRAY,
            "tau": ArgumentKind.EITHER,
            **dict.fromkeys(DERIVATIVES, ArgumentKind.ARRAY),
        }

        def builtin(fallback: Callable[..., Any], h: ArgumentKind) -> Callable[..., Any]:
            return call_wrapper(
                fallback,
                self._native,
                [{**kinds, "h": h}[block.name] for block in self.main.inputs],
                self.hoisted(),
                units=tuple(self.system.quaternions.values()),
                rounding=argument_layout.UNIT_ROUNDING,
                wrap=self._tuple,
            )

        converted = ConvertedCall(
            self._checked,
            builtin(declined, ArgumentKind.BOUND),
            builtin(declined, ArgumentKind.ARRAY),
            self._plain_block,
            [argument_layout.DEFAULTS.get(name) for name in self.arguments],
            self.main.outputs[0].shape if len(self.main.outputs) == 1 else (),
        )
        return builtin(converted, ArgumentKind.BOUND)

    @once
    def _plain_parameters(self) -> tuple[dict[str, int], FloatArray] | None:
        """Indices and values of the parameters; None where those of a call need more than a check of their types."""
        names = self.system.parameter_names
        if any(n in names for _, axis in self.system.directions for a in axis for n in a.symbols()):
            return None
        return {name: k for k, name in enumerate(names)}, self._parameters(None)

    def _plain_block(self, p: Any) -> FloatArray | None:
        """The block ``h`` for an array of parameters or a dict of names and numbers; None for others."""
        if (known := self._plain_parameters) is None:
            return None
        places, own = known
        if type(p) is dict:
            values = own.copy()
            for name, value in p.items():
                if type(value) not in PLAIN or type(name) is not str or name not in places:
                    return None
                values[places[name]] = value
        elif type(p) is np.ndarray and p.dtype == np.float64 and p.shape == own.shape:
            values = p
        else:
            return None
        if not self.setup.n_outputs:
            return np.empty(0)
        self._setups += 1
        return (self._setup if self._setups <= CALLS else self._native_setup)(values)

    @once
    def _native_setup(self) -> Callable[..., FloatArray]:
        """The block ``h`` from one set of parameters in machine code."""
        from kineta.codegen.python_call import state_wrapper

        return state_wrapper(CompiledFunctions([self.setup])[self.setup.name])

    def bind(self, p: Any) -> Function:
        """This function with the default parameters *p* in place of the values of the model.

        p : (np,), or a mapping of some names to values. Raises :class:`ArgumentError` as a call does, and for rows of
            parameters.
        """
        values = self._parameters(p).copy()
        if values.ndim != 1:
            raise ArgumentError(f"Expected one set of parameters to bind, found p of shape {values.shape}.")
        return Function(self.system, self.quantity, self.setup, self.main, self.backend, values)

    def integrand(self, variables: str | Sequence[str], *given: Any, **named: Any) -> LowLevelCallable:
        """The machine code as a function of some *variables*, by name: the time ``t``, coordinates, speeds.

        It is a ``double f(int n, double *x, void *data)`` for SciPy's ``quad`` and ``nquad``, which call it without Python.
        The other arguments are those of a call for one state, with the remaining variables fixed. Raises
        :class:`ArgumentError` for a quantity that is not one number, and for unknown variables.
        """
        from scipy import LowLevelCallable

        from kineta.codegen.scipy_callable import integrand

        if self.main.n_outputs != 1:
            raise ArgumentError(f"Expected a quantity that is one number, found {self!r} of {self.main.n_outputs}.")
        names = ("t", *self.system.q_names, *self.system.v_names)
        turns = {1 + offset + k for offset in self.system.quaternions.values() for k in range(4)}
        places = {name: i for i, name in enumerate(names) if i not in turns}
        variables = [variables] if isinstance(variables, str) else records(variables, str, "names of variables", "'q1'")
        for name in variables:
            if name not in places:
                raise ArgumentError(
                    f"Model '{self.system.name}' has no variable '{name}' to integrate over.{did_you_mean(name, places)}"
                )
        blocks = self._blocks(argument_layout.bound_arguments(self, self.arguments, given, named))
        if any(b.ndim > 1 for b in blocks):
            raise ArgumentError("Expected one state to integrate from, found rows.")
        return LowLevelCallable(*integrand(self._native, blocks, [places[n] for n in variables]))

    def __reduce__(self) -> tuple[Any, ...]:
        return Function, (self.system, self.quantity, self.setup, self.main, self.backend, self.p)

    def _blocks(self, values: Mapping[str, Any]) -> list[FloatArray]:
        """The input blocks of the program, with their leading axes."""
        given = [argument_layout.block(self.system, n, numbers(n, values[n])) for n in self.arguments]
        return [*given, self.hoisted(values["p"])]

    def _rows(self, blocks: Sequence[FloatArray]) -> FloatArray:
        """The results (..., n) for blocks with leading axes."""
        lead, rows = argument_layout.rows(blocks, [b.name for b in self.main.inputs])
        return self._batch(*rows).reshape(*lead, self.main.n_outputs)

    def hoisted(self, p: Any = None) -> FloatArray:
        """The block ``h`` for the parameters *p*, (nh,) or (..., nh)."""
        if p is None:
            if self._own is None:
                self._own = self._setup(self._parameters(None)) if self.setup.n_outputs else np.empty(0)
                self._own.flags.writeable = False  # it is stored and returned
            return self._own
        values = self._parameters(p)
        if not self.setup.n_outputs:
            return np.empty((*values.shape[:-1], 0))
        key, last = (values.shape, values.tobytes()), self._last
        if last is None or last[0] != key:
            h = self._setup(values)
            h.flags.writeable = False
            last = self._last = key, h
        return last[1]

    def _parameters(self, p: Any) -> FloatArray:
        """The array p, (np,) or (..., np)."""
        if self.p is not None and (p is None or isinstance(p, Mapping)):
            p = dict(zip(self.system.parameter_names, self.p, strict=True)) | dict(p or {})
        return parameter_values(self.system, p)

    def _setup(self, values: FloatArray) -> FloatArray:
        """The block ``h``: interpreted for one set of parameters, compiled for rows of parameters."""
        if values.ndim > 1 and self.backend in ("llvm", "cuda"):
            rows = self._compiled_setup(argument_layout.flat_rows(values))
            return rows.reshape(*values.shape[:-1], self.setup.n_outputs)
        from kineta.codegen import numpy

        return numpy.compile(self.setup)(values)

    @once
    def _compiled_setup(self) -> Callable[..., FloatArray]:
        if self.backend == "cuda":
            return _compiler(self.backend)(self.setup)
        return CompiledFunctions([self.setup], batch=True)[self.setup.name].batch


def known_backend(name: str) -> str:
    """*name*, checked to be a backend of the library or of an entry point. Raises :class:`ArgumentError`."""
    if not isinstance(name, str) or (name not in BACKENDS and entry_points.load(GROUP, name, _no_compiler) is None):
        one_of(name, (*BACKENDS, *entry_points.installed(GROUP)), "a backend")
    return name


def _compiler(backend: str) -> Callable[[StraightLineProgram], Callable[..., FloatArray]]:
    """The compiler of a *backend* other than ``llvm``: from a program to a function of arrays."""
    if backend in BACKENDS:
        return import_module(BACKENDS[backend]).compile  # type: ignore[no-any-return]  # of a module of the table
    return entry_points.load(GROUP, backend, _no_compiler)  # type: ignore[no-any-return]  # callable, as was checked


def _no_compiler(found: Any) -> str:
    return (
        "" if callable(found) else f"expected a function from a program to a function of arrays, found {shown(found)}."
    )


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
        return checked_directions(system, array)
    own = {q.name: q.value for q in system.parameters if not q.fixed}
    given = {}
    for name, value in (p or {}).items():
        if name not in own:
            fixed = name in {q.name for q in system.parameters}
            why = (
                "is a constant, a number in the equations; one that is to vary is a parameter."
                if fixed
                else f"is not a parameter.{let_advice(system.lets, name) or nearest_or_listed(name, names)}"
            )
            raise ArgumentError(f"Model '{system.name}': '{name}' {why}")
        given[name] = numbers(f"the parameter {name}", value)
    missing = [name for name, value in own.items() if value is None and name not in given]
    if missing:
        raise ArgumentError(
            f"Model '{system.name}': the parameter{'s' * (len(missing) > 1)} {', '.join(missing)} "
            f"need{'s' * (len(missing) == 1)} a value: give p={{'{missing[0]}': ...}} or a value in the model."
        )
    try:
        lead = np.broadcast_shapes(*(value.shape for value in given.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in given.items() if value.ndim)
        raise ArgumentError(f"Expected values of parameters whose shapes agree, found {shapes}.") from None
    values = np.empty((*lead, len(names)))
    for i, (name, value) in enumerate(own.items()):
        values[..., i] = given.get(name, value)
    return checked_directions(system, values) if given else values


def checked_directions(system: System, values: FloatArray) -> FloatArray:
    """The *values* of the parameters, (np,) or (..., np), checked for directions of length zero. Raises :class:`CheckError`."""
    used = {n for _, axis in system.directions for a in axis for n in a.symbols()}
    columns = {n: k for k, n in enumerate(system.parameter_names) if n in used}
    if columns:  # constant directions were checked with the model
        rows = values[..., list(columns.values())].reshape(-1, len(columns))
        for row in np.unique(rows, axis=0).tolist():
            check_directions(system, constants(system.parameters) | dict(zip(columns, row, strict=True)))
    return values
