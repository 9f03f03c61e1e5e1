"""Vectors of bodies and points in expressions: ``a(Tip).x``, ``w(Hull in Hull).z'``, ``|jerk(Tip)|``.

They are symbols named by their text. A prime behind a component or a magnitude is its rate.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from kineta.algebra.expression import Expr, Scalar, symbol
from kineta.algebra.functions import sqrt
from kineta.errors import ArgumentError, ModelError, did_you_mean, one_of
from kineta.expr.op import FUNCTIONS
from kineta.model import units
from kineta.model.body import GROUND
from kineta.model.coercion import Vector3
from kineta.model.coercion import vector as components
from kineta.model.reserved_symbols import NAME
from kineta.model.units import Dimension
from kineta.records import dataclass
from kineta.values import word


@dataclass(frozen=True, slots=True)
class VectorKind:
    """Kind of a vector, ``words`` its name: ``turns`` for vectors of rotation, ``order`` its derivative of the coordinates."""

    words: str
    turns: bool
    order: int


#: Vectors: position, velocity, acceleration and jerk of a place, angular velocity and acceleration of a body.
KINDS: Mapping[str, VectorKind] = {
    "r": VectorKind("the position", False, 0),
    "v": VectorKind("the velocity", False, 1),
    "a": VectorKind("the acceleration", False, 2),
    "jerk": VectorKind("the jerk", False, 3),
    "w": VectorKind("the angular velocity", True, 1),
    "eps": VectorKind("the angular acceleration", True, 2),
}

_VECTOR = rf"(?P<kind>{'|'.join(KINDS)})\((?P<of>{NAME.pattern})(?: in (?P<frame>{NAME.pattern}))?\)"
_COMPONENT = re.compile(rf"{_VECTOR}\.(?P<part>[xyz])(?P<rates>'*)")
_MAGNITUDE = re.compile(rf"\|{_VECTOR}\|(?P<rates>'*)")
_WRITTEN = re.compile(
    r"(?P<bar>\|?)\s*(?P<kind>\w+)\s*\(\s*(?P<inside>[^()]*?)\s*\)\s*(\||\.(?P<part>\w+))?(?P<rates>'*)"
)
_PLACE = re.compile(rf"(?P<of>{NAME.pattern})(\s+in\s+(?P<frame>{NAME.pattern}))?")


class VectorArithmetic(ABC):
    """Sums, differences and multiples of vectors, which are :class:`VectorExpression`."""

    __slots__ = ()

    #: Numbers of NumPy leave products to vectors.
    __array_ufunc__: ClassVar[None] = None

    @property
    @abstractmethod
    def x(self) -> Expr:
        """The first component."""

    @property
    @abstractmethod
    def y(self) -> Expr:
        """The second component."""

    @property
    @abstractmethod
    def z(self) -> Expr:
        """The third component."""

    def __iter__(self) -> Iterator[Expr]:
        return iter((self.x, self.y, self.z))

    def __neg__(self) -> VectorExpression:
        return VectorExpression((-self.x, -self.y, -self.z), axes_of(self))

    def __add__(self, other: Components) -> VectorExpression:
        a, b = _alike(self, other)
        return VectorExpression(tuple(p + q for p, q in zip(a, b, strict=True)), _common(self, other))  # type: ignore[arg-type]  # three

    __radd__ = __add__

    def __sub__(self, other: Components) -> VectorExpression:
        a, b = _alike(self, other)
        return VectorExpression(tuple(p - q for p, q in zip(a, b, strict=True)), _common(self, other))  # type: ignore[arg-type]  # three

    def __rsub__(self, other: Components) -> VectorExpression:
        return -self + other

    def __mul__(self, factor: Scalar | VectorArithmetic) -> VectorExpression:
        if isinstance(factor, VectorArithmetic):
            raise ArgumentError(
                "Expected a number or an expression beside a vector, found two vectors; write kn.dot or kn.cross."
            )
        return VectorExpression((self.x * factor, self.y * factor, self.z * factor), axes_of(self))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Scalar) -> VectorExpression:
        return VectorExpression((self.x / divisor, self.y / divisor, self.z / divisor), axes_of(self))

    def dot(self, other: Components) -> Expr:
        """The scalar product with another vector in the same axes: :func:`dot`."""
        return dot(self, other)


@dataclass(frozen=True, slots=True)
class VectorExpression(VectorArithmetic):
    """Three expressions, the *components* in the axes of a *frame*; None for those that go with any."""

    components: Vector3
    frame: str | None = None

    @property
    def x(self) -> Expr:
        """The first component."""
        return self.components[0]

    @property
    def y(self) -> Expr:
        """The second component."""
        return self.components[1]

    @property
    def z(self) -> Expr:
        """The third component."""
        return self.components[2]

    def __abs__(self) -> Expr:
        return norm(self)


@dataclass(frozen=True, slots=True)
class VectorSymbol(VectorArithmetic):
    """A vector of a body or point, with components in the axes of a *frame*: ``.x``, ``.y``, ``.z``, ``abs()``. Vectors in the
    same axes are added, subtracted and multiplied with numbers: ``-c*kn.vector("v", "Tip")``.
    """

    kind: str
    of: str
    frame: str = GROUND

    def __str__(self) -> str:
        return f"{self.kind}({self.of})" if self.frame == GROUND else f"{self.kind}({self.of} in {self.frame})"

    @property
    def x(self) -> Expr:
        """The first component."""
        return symbol(f"{self}.x")

    @property
    def y(self) -> Expr:
        """The second component."""
        return symbol(f"{self}.y")

    @property
    def z(self) -> Expr:
        """The third component."""
        return symbol(f"{self}.z")

    def __abs__(self) -> Expr:
        return symbol(f"|{self}|")


@dataclass(frozen=True, slots=True)
class Part:
    """A component (0, 1, 2) or the magnitude (None) of a *vector*, or its derivative of order *rates*."""

    vector: VectorSymbol
    component: int | None
    rates: int

    @property
    def name(self) -> str:
        """Its symbol."""
        own = f"|{self.vector}|" if self.component is None else f"{self.vector}.{'xyz'[self.component]}"
        return own + "'" * self.rates

    @property
    def order(self) -> int:
        """The highest derivative of the coordinates in it."""
        return KINDS[self.vector.kind].order + self.rates

    @property
    def dimension(self) -> Dimension:
        """Its dimension."""
        of_rest = units.ANGLE if KINDS[self.vector.kind].turns else units.LENGTH
        return units.times(of_rest, units.TIME, -self.order)


def part(name: str) -> Part | None:
    """Part of a vector that *name* denotes; None for other names."""
    found = _COMPONENT.fullmatch(name) or _MAGNITUDE.fullmatch(name)
    if found is None:
        return None
    parts = found.groupdict()
    component = "xyz".index(parts["part"]) if "part" in parts else None
    return Part(VectorSymbol(parts["kind"], parts["of"], parts["frame"] or GROUND), component, len(parts["rates"]))


def read_places(text: str) -> tuple[str, ...]:
    """Names of the places in a vector, or a part of one, written as *text*."""
    found = _WRITTEN.fullmatch(text)
    place = None if found is None else _PLACE.fullmatch(found["inside"])
    return () if place is None else tuple(n for n in (place["of"], place["frame"]) if n is not None)


def read(text: str, meant: Callable[[str], str] = lambda name: "") -> str | VectorSymbol:
    """Name of the part of a vector written as *text*, or the vector itself. Raises :class:`ModelError` for an invalid part.

    meant : what stands for the name of a place or frame, "" for the name itself
    """
    found = _WRITTEN.fullmatch(text)
    assert found is not None  # the language has no other words of this form
    kind, inside, component = found["kind"], found["inside"], found["part"]
    if kind not in KINDS:
        raise ModelError(_unknown(kind, inside, in_bars=bool(found["bar"])))
    place = _PLACE.fullmatch(inside)
    if place is None:
        example = f"{kind}(Tip).x, or {kind}(Tip in Hand).x in the axes of Hand"
        raise ModelError(f"expected the name of a point or body, as in {example}, found '{inside}'.")
    of, frame = place["of"], place["frame"] or GROUND
    own = VectorSymbol(kind, meant(of) or of, meant(frame) or frame)
    if found["bar"]:
        return f"|{own}|{found['rates']}"
    if component is None and not found["rates"]:
        return own
    if component is None:
        raise ModelError(component_advice(str(own)))
    if component not in ("x", "y", "z"):
        raise ModelError(f"expected a component x, y or z of {own}, found '{component}'.")
    return f"{own}.{component}{found['rates']}"


def component_advice(vector: str) -> str:
    """The sentence on a *vector* that stands where a number has to."""
    return f"{vector} is a vector; expected a component of it, as in {vector}.x, or its magnitude, |{vector}|."


def _unknown(kind: str, inside: str, *, in_bars: bool) -> str:
    """Sentence on an unknown vector."""
    if kind in FUNCTIONS:
        what = f"abs({kind}({inside}))" if in_bars else f"{kind}({inside})"
        return f"{kind}(...) is a number and has neither components nor bars nor primes; expected {what}, or a vector."
    return f"unknown vector '{kind}'; expected one of {', '.join(KINDS)}.{did_you_mean(kind, KINDS)}"


#: A vector of a point or body, what is made of such, or three scalars.
Components = VectorSymbol | VectorExpression | VectorArithmetic | Sequence[Scalar]


def dot(a: Components, b: Components) -> Expr:
    """The scalar product of two vectors in the same axes: of :func:`vector`, or of three scalars each."""
    (a1, a2, a3), (b1, b2, b3) = _alike(a, b)
    return a1 * b1 + a2 * b2 + a3 * b3


def cross(a: Components, b: Components) -> VectorExpression:
    """The vector product of two vectors in the same axes: of :func:`vector`, or of three scalars each."""
    (a1, a2, a3), (b1, b2, b3) = _alike(a, b)
    return VectorExpression((a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1), _common(a, b))


def axes_of(a: object) -> str | None:
    """The frame whose axes a vector has; None for three scalars, which go with any."""
    return a.frame if isinstance(a, VectorSymbol | VectorExpression) else None


def _common(a: Components, b: Components) -> str | None:
    return axes_of(b) if axes_of(a) is None else axes_of(a)


def norm(a: Components) -> Expr:
    """The length of a vector: of :func:`vector`, or of three scalars."""
    return abs(a) if isinstance(a, VectorSymbol) else sqrt(dot(a, a))


def _alike(a: Components, b: Components) -> tuple[Vector3, Vector3]:
    """The components of two vectors. Raises :class:`ArgumentError` for axes of different frames."""
    own, others = axes_of(a), axes_of(b)
    if own is not None and others is not None and own != others:
        raise ArgumentError(different_axes(_shown(a), own, _shown(b), others))
    return components(a), components(b)


def _shown(a: Components) -> str:
    return str(a) if isinstance(a, VectorSymbol) else f"({', '.join(map(str, components(a)))})"


def different_axes(a: str, frame: str, b: str, other: str) -> str:
    """The sentence on vectors *a* and *b* with the axes of different frames."""
    return f"{a} has the axes of '{frame}' and {b} those of '{other}'; expected both in the axes of one body."


def vector(kind: str, of: str, frame: str = GROUND) -> VectorSymbol:
    """A :class:`VectorSymbol` for use in expressions: ``abs(kn.vector("a", "Tip"))`` is ``|a(Tip)|``.

    kind : ``r``, ``v``, ``a``, ``jerk`` (position, velocity, acceleration, jerk of a point or body), ``w``, ``eps`` (angular
        velocity and acceleration of a body)
    of : the name of the point or body
    frame : the body in whose axes components are taken; the ground, if not given
    """
    return VectorSymbol(one_of(kind, KINDS, "a vector"), word(of, "a point or body"), word(frame, "a body"))
