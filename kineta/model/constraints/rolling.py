"""Rolling without slip: a body with a round surface, on a plane or on a surface tangent to a plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import ArgumentError, Location, ModelError, did_you_mean, shown
from kineta.model import units
from kineta.model.axis import Axis, direction
from kineta.model.body import Body, Station, station
from kineta.model.bounds import Bound
from kineta.model.coercion import COERCIONS, entries, scalar
from kineta.model.constraints import placement
from kineta.model.elements.coordinate import Place
from kineta.model.kind import Condition, Kind, Production, Scope
from kineta.records import dataclass
from kineta.values import word

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class Shape:
    """Arguments required by a round surface: the names of its ``sizes``, and whether it has an ``axis``."""

    sizes: tuple[str, ...]
    axis: bool


#: The surfaces that may roll.
SHAPES: Mapping[str, Shape] = {
    "wheel": Shape(("radius",), axis=True),
    "disk": Shape(("radius",), axis=True),
    "ball": Shape(("radius",), axis=False),
    "torus": Shape(("radius of the circle of centres", "radius of the tube"), axis=True),
    "ellipsoid": Shape(("half axis along x", "half axis along y", "half axis along z"), axis=False),
}


@dataclass(frozen=True, slots=True)
class Rolling(Condition):
    """A *shape* of ``SHAPES`` that rolls on a plane without slip.

    ``sizes`` are its measures [m], ``start`` is its centre, and ``axis`` its axis, a direction in the axes of its body; None
    for a shape without axis. The plane is fixed in the body of ``end``, goes through ``end``, and has the normal ``normal``,
    on the side of the centre. It is a surface of this body, or the tangent plane of the body ``surface`` at the contact.
    """

    name: str
    shape: str
    sizes: tuple[Expr, ...]
    start: Station
    end: Station
    normal: Axis
    axis: Axis | None = None
    surface: str | None = None
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def material(self) -> str:
        """The body on which it rolls."""
        return self.end.body if self.surface is None else self.surface

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on."""
        return self.start.body, self.end.body, self.material


def _sizes(value: object, *_: object) -> tuple[Expr, ...]:
    found = entries(value)
    if isinstance(value, set | frozenset):
        raise ArgumentError(f"Expected sizes in their order, as in (0.3, 0.1), found {shown(value)}.")
    return (scalar(value),) if found is None else tuple(map(scalar, found))


COERCIONS["tuple[Expr, ...]"] = _sizes
COERCIONS["str | None"] = lambda value, *_: None if value is None else station(value).body


def rolling(
    name: str,
    shape: str,
    sizes: Scalar | Sequence[Scalar],
    start: Place,
    end: Place,
    *,
    normal: Sequence[Scalar],
    axis: Sequence[Scalar] | None = None,
    surface: Body | str | None = None,
) -> Rolling:
    """:class:`Rolling` without slip of a round surface on a plane, or on a surface that a plane touches.

    shape : ``wheel`` or ``disk`` (thin), ``ball``, ``torus``, ``ellipsoid`` (half axes along the axes of its body)
    sizes : its radius [m]; of a torus that of the circle of centres and that of the tube; of an ellipsoid the half axes
    start, end : the centre of the surface, and a place of the plane (points, stations, or bodies: their origins)
    normal : (3,) of the plane, in the axes of the body of *end*, on the side of the centre
    axis : (3,) of the wheel, disk or torus, in the axes of its body
    surface : the body on which it rolls, where the plane only touches that and goes with the contact; else that of *end*
    """
    first, second = station(start), station(end)
    shape = word(shape, "a shape")
    more: Any = (axis, surface)  # which the record coerces
    return Rolling(name, shape, _sizes(sizes), first, second, direction(normal), *more)


def _read(
    source: Source, name: Token, shape: Token, sizes: Node, start: Node, end: Node, surface: Token | None
) -> Rolling:
    (first, axis), (second, normal) = placement.read(source, start), placement.read(source, end)
    source.noted(shape)
    found = [source.expression(size, units.LENGTH, f"a size of the {shape} '{name}'") for size in sizes.children]
    if normal is None:
        text = f"the plane of rolling '{name}' needs its normal, as in {second.body} axis (0, 0, 1)."
        raise ModelError(text, source.location(end))
    body = None if surface is None else source.noted(surface)
    return Rolling(str(name), str(shape), tuple(found), first, second, normal, axis, body, source.location(name))


def _written(rolling: Rolling) -> str:
    sizes = ", ".join(map(str, rolling.sizes))
    between = placement.clause(rolling.start, rolling.axis, rolling.end, rolling.normal)
    surface = "" if rolling.surface is None else f" in {rolling.surface}"
    return f": {rolling.shape} = {sizes} {between}{surface}"


def _fault(system: Scope, rolling: Rolling) -> tuple[str, str] | None:
    shape = SHAPES.get(rolling.shape)
    if shape is None:
        near = did_you_mean(rolling.shape, SHAPES)
        return f"expected a shape ({', '.join(SHAPES)}), found '{rolling.shape}'.{near}", rolling.shape
    text = shape_fault(rolling.shape, shape, rolling.sizes, rolling.axis, rolling.start.body)
    return (text, rolling.shape) if text else placement.fault(system, rolling.start.body, rolling.material)


def positive_sizes(name: str, shape: Shape, sizes: Sequence[Expr]) -> tuple[Bound, ...]:
    """The bounds of the *sizes* of a *shape* of this name: lengths above zero."""
    pairs = zip(sizes, shape.sizes, strict=False)
    return tuple(Bound(size, f"a {what}", positive=True, symbol=name) for size, what in pairs)


def shape_fault(name: str, shape: Shape, sizes: Sequence[Expr], axis: Axis | None, body: str) -> str:
    """Sentence on a missing or superfluous argument of a *shape* of this name."""
    if len(sizes) != len(shape.sizes):
        count = f"{len(shape.sizes) or 'no'} size{'s' * (len(shape.sizes) > 1)}"
        return f"a {name} has {', '.join((count, *shape.sizes))}, found {', '.join(map(str, sizes)) or 'none'}."
    if shape.axis and axis is None:
        return f"a {name} needs its axis, as in '{body} axis (0, 1, 0)'."
    if not shape.axis and axis is not None:
        return f"a {name} has no axis; leave it out."
    return ""


KIND = Rolling.kind = Kind(
    Rolling,
    "rolling",
    {"rolling": Production(f'":" NAME "=" sizes {placement.BETWEEN} ["in" NAME]', _read)},
    _written,
    constants=lambda r: r.expressions,
    fault=_fault,
    bounds=lambda rolling: positive_sizes(rolling.shape, SHAPES[rolling.shape], rolling.sizes),
    reaction=lambda *_: units.FORCE,
    place=lambda _: "start",
)
