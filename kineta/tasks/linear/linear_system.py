"""``Linear``: the state-space matrices of a linearisation, with names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray
from kineta.calls import public
from kineta.drawing import draw, notebook
from kineta.errors import ArgumentError, MissingPackageError, did_you_mean, warn
from kineta.model.coercion import records
from kineta.model.system import System
from kineta.numerics.linear_algebra import eigvals
from kineta.records import dataclass
from kineta.results.labelled_matrix import labelled
from kineta.values import numbers, whole, word


@public
@dataclass(frozen=True, eq=False, repr=False)
class Linear:
    """Small changes x of the states, under small changes u of the inputs: x' = A x + B u, y = C x + D u.

    Attributes
    ----------
    A, B, C, D : (n, n), (n, m), (k, n), (k, m); along a motion, or at several states, with a leading axis
    states, inputs, outputs : their names
    t, q, v : the operating point
    rate : (n,) rates of the states at the operating point: zero in an equilibrium
    all_states, Z : names of all states, dependent ones included, and their matrix: x_all = Z x
    units : of states, inputs and outputs by name, where known
    system : the model, for pictures of it
    """

    model: str
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    t: FloatArray
    q: FloatArray
    v: FloatArray
    rate: FloatArray
    all_states: tuple[str, ...]
    Z: FloatArray
    parameters: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    system: System | None = field(default=None, repr=False)

    _repr_html_ = notebook

    @property
    def speeds(self) -> tuple[str, ...]:
        """The names of the speeds in ``all_states``."""
        return self.all_states[len(self.all_states) - self.v.shape[-1] :]

    @property
    def several(self) -> bool:
        """Whether there is a leading axis."""
        return self.A.ndim > 2

    def __len__(self) -> int:
        if not self.several:
            raise TypeError("one state has no length")
        return len(self.A)

    def __getitem__(self, i: int) -> Linear:
        """Return linearisation number *i* of several."""
        if not self.several:
            raise ArgumentError(f"Expected several states to choose one from, found {self!r}.")
        i = whole("the number of a state", i, -len(self.A), len(self.A) - 1)
        own = {n: getattr(self, n)[i] for n in ("A", "B", "C", "D", "t", "q", "v", "rate", "Z")}
        return replace(self, **own)

    def __iter__(self) -> Iterator[Linear]:
        return (self[i] for i in range(len(self)))

    @property
    def eigenvalues(self) -> ComplexArray:
        """The eigenvalues of A (n,), sorted by their real parts."""
        found = eigvals(self.A, what="the eigenvalues")
        order = np.lexsort((found.imag, np.round(found.real, 12)), axis=-1)
        return np.take_along_axis(found, order, axis=-1)

    def part(self, states: Iterable[str]) -> Linear:
        """Return the linearisation in *states* alone, on which the others must not act. A coordinate brings its speed along.

        Raises :class:`ArgumentError` for unknown states, and where one of the others acts on them.
        """
        kept = self._kept(records(states, str, "names of states", "'q1'"))
        rest = [k for k in range(len(self.states)) if k not in kept]
        acting = np.abs(self.A[..., kept, :][..., rest]).max(axis=tuple(range(self.A.ndim - 2)), initial=0.0)
        size = np.abs(self.A).max(initial=0.0)
        if acting.max(initial=0.0) > tolerances.FORCE_TOLERANCE * size:
            i, k = np.unravel_index(int(acting.argmax()), acting.shape)
            raise ArgumentError(
                f"Model '{self.model}': the state '{self.states[rest[k]]}' acts on '{self.states[kept[i]]}': "
                f"keep it as well, found only {', '.join(self.states[n] for n in kept)}."
            )
        return replace(
            self,
            A=self.A[..., kept, :][..., kept],
            B=self.B[..., kept, :],
            C=self.C[..., kept],
            states=tuple(self.states[k] for k in kept),
            rate=self.rate[..., kept],
            Z=self.Z[..., kept],
        )

    def _kept(self, names: Sequence[str]) -> list[int]:
        for name in names:
            if name not in self.states:
                near = did_you_mean(name, self.states)
                why = " It follows from the others." if name in self.all_states else near
                raise ArgumentError(f"Model '{self.model}' has no independent state '{name}' here.{why}")
        wanted = {*names, *(f"{n}'" for n in names)}
        return [k for k, name in enumerate(self.states) if name in wanted]

    def __repr__(self) -> str:
        several = f"{len(self.A)} times " if self.several else ""
        n, m, k = len(self.states), len(self.inputs), len(self.outputs)
        return f"<Linear of '{self.model}': {several}{_many(n, 'state')}, {_many(m, 'input')}, {_many(k, 'output')}>"

    def lines(self) -> list[str]:
        """Return the matrices of one state with the names, 0 for rounding errors, and the eigenvalues, as text."""
        if not self.states:
            return [f"Model '{self.model}': nothing in it can move, so that it has no states."]
        one_state(self, "its lines")
        sides = {"A": (self.states, self.states), "B": (self.states, self.inputs)}
        sides |= {"C": (self.outputs, self.states), "D": (self.outputs, self.inputs)}
        lines = []
        for letter, (rows, columns) in sides.items():
            if rows and columns:
                lines += labelled(letter, rows, columns, getattr(self, letter), mixed=True)
        return [*lines, "eigenvalues: " + ", ".join(map(_complex, self.eigenvalues.tolist()))]

    def as_dict(self) -> dict[str, Any]:
        """Return names, matrices, rates and eigenvalues as plain data."""
        names = {n: list(getattr(self, n)) for n in ("states", "inputs", "outputs")}
        matrices = {letter: getattr(self, letter).tolist() for letter in "ABCD"}
        poles = np.stack([self.eigenvalues.real, self.eigenvalues.imag], axis=-1).tolist()
        return {"model": self.model, **names, **matrices, "rate": self.rate.tolist(), "eigenvalues": poles}

    def plot(self, over: ArrayLike | None = None, name: str = "") -> Any:
        """Draw the eigenvalues of several, real parts and imaginary ones, over the numbers *over* (their order, if not given) of
        this *name*; returns the Matplotlib figure. Raises :class:`ArgumentError` for one alone, and for other numbers.
        """
        if not self.several:
            raise ArgumentError(f"Expected several states, to draw eigenvalues over something, found {self!r}.")
        at = np.arange(float(len(self.A))) if over is None else numbers("over", over)
        if at.shape != (len(self.A),):
            raise ArgumentError(f"Expected {len(self.A)} numbers to draw over, found shape {at.shape}.")
        return draw(self, at, word(name, "a name as text"))

    def control(self) -> Any:
        """Return the same as a ``StateSpace`` of python-control, names included."""
        one_state(self, "a StateSpace")
        try:
            import control
        except ImportError:
            raise MissingPackageError("control", "control") from None
        matrices = (self.A, self.B, self.C, self.D)
        named = {n: [plain(x) for x in getattr(self, n)] for n in ("states", "inputs", "outputs")}
        return control.ss(*matrices, **named, name=self.model)


def _complex(x: complex) -> str:
    """Return a complex number without a part that is but the rounding of the other."""
    real, imag = (0.0 if abs(part) < tolerances.ROUNDING_TOLERANCE * abs(x) else part for part in (x.real, x.imag))
    return f"{real:.6g}{imag:+.6g}j" if real and imag else f"{imag:.6g}j" if imag else f"{real:.6g}"


def _many(n: int, noun: str) -> str:
    return f"1 {noun}" if n == 1 else f"{n} {noun}s"


def plain(name: str) -> str:
    """Return a name without dots, which python-control reserves."""
    return name.replace(".", "_")


def one_state(linear: Linear, what: str) -> Linear:
    """Return the linearisation of one state. Raises :class:`ArgumentError` for several, with *what* one is needed for."""
    if linear.several:
        raise ArgumentError(f"Expected one state for {what}, found {len(linear.A)} of them: choose one, linear[0].")
    return linear


def warn_unsteady(linear: Linear, what: str) -> None:
    """Warn for an unsteady operating point, where *what* is found holds at one moment alone."""
    speeds = [k for k, name in enumerate(linear.states) if name in linear.speeds]
    change = np.abs(linear.rate[speeds])
    if change.max(initial=0.0) > tolerances.WRITTEN_TOLERANCE * max(1.0, np.abs(linear.v).max(initial=0.0)):
        k = speeds[int(change.argmax())]
        warn(
            f"Model '{linear.model}': the state is neither an equilibrium nor a steady motion: {linear.states[k]} changes by "
            f"{linear.rate[k]:.3g} a second. {what} of this moment."
        )
