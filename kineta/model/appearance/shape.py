"""The shape of a body, as pictures show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import Location, ModelError, did_you_mean
from kineta.model import units
from kineta.model.appearance import colours
from kineta.model.appearance.solids import SOLIDS
from kineta.model.axis import LETTERS, Axis, direction
from kineta.model.body import Body, Point
from kineta.model.bounds import Bound
from kineta.model.coercion import COERCIONS, Vector3, records, vector
from kineta.model.joints.rotation import Rotation
from kineta.model.kind import Appearance, Kind, Production, Scope
from kineta.model.phrases import vector as components
from kineta.records import dataclass
from kineta.values import word

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token

_HERE, _ONE = vector((0, 0, 0)), vector((1, 1, 1))

COERCIONS["Vector3 | None"] = lambda value, *_: None if value is None else vector(value)


@dataclass(frozen=True, slots=True)
class BodyShape(Appearance):
    """A *solid* of ``SOLIDS`` fixed in the body *name*, or in the ground.

    sizes : its measures [m]; file, scale : of a mesh
    at : its centre in the frame of the body [m]; start, end : in place of it and of the length, the ends of its axis
    axis : of a round solid, in the axes of the body, z unless given; turns : from the axes of the body to its own
    colour : a name of ``COLOURS``, or ``#rrggbb``; "" for that of the body
    """

    name: str
    solid: str
    sizes: tuple[Expr, ...] = ()
    file: str = ""
    scale: Vector3 = _ONE
    start: Vector3 | None = None
    end: Vector3 | None = None
    at: Vector3 = _HERE
    axis: Axis | None = None
    turns: tuple[Rotation, ...] = ()
    colour: str = ""
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def bodies(self) -> tuple[str, ...]:
        """The name of its body."""
        return (self.name,)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the shape."""
        places = (*(self.start or ()), *(self.end or ()), *self.at, *self.scale)
        axis = tuple(a for a in self.axis or () if isinstance(a, Expr))
        return (*self.sizes, *places, *axis, *(x for turn in self.turns for x in turn.arguments))


def _turns(value: object, *_: object) -> tuple[Rotation, ...]:
    found: tuple[Rotation, ...] = records(value, Rotation, "turns", "kn.Rz(0.5)")
    return found


COERCIONS["tuple[Rotation, ...]"] = _turns


def shape(
    body: str | Body,
    solid: str,
    sizes: Scalar | Sequence[Scalar] = (),
    *,
    file: str = "",
    scale: Scalar | Sequence[Scalar] = 1.0,
    start: Sequence[Scalar] | Point | None = None,
    end: Sequence[Scalar] | Point | None = None,
    at: Sequence[Scalar] = (0, 0, 0),
    axis: Sequence[Scalar] | None = None,
    turns: Sequence[Rotation] = (),
    colour: str = "",
) -> BodyShape:
    """The shape of a body in pictures; equations and results do not know it.

    solid : ``box`` (its sides), ``sphere`` (radius), ``capsule`` and ``cylinder`` (radius, length), ``ellipsoid`` (half axes),
        ``disk`` (radius, thickness), ``mesh`` (of a *file*, STL, OBJ or DAE, times *scale*), or ``none``: nothing is drawn
    sizes : its measures [m], numbers or expressions of parameters
    at : its centre in the frame of the body [m], by default the origin
    start, end : in place of length and centre, the ends of the axis: positions in the body, or its points
    axis : (3,) of a capsule, cylinder or disk, in the axes of the body; by default z
    turns : of its axes, one after another, as in ``[kn.Rx(0.5)]``
    colour : a name such as ``orange``, or ``#rrggbb``; by default that of the body
    """
    name = body.name if isinstance(body, Body) else word(body, "a body or its name")
    first, last = (x.position if isinstance(x, Point) else x for x in (start, end))
    factors = scale if isinstance(scale, Sequence) else (scale,) * 3
    along = None if axis is None else direction(axis)
    return BodyShape(name, solid, sizes, file, factors, first, last, at, along, turns, colour)  # type: ignore[arg-type]  # a record takes what it is given


def _read(
    source: Source,
    name: Token,
    solid: Token,
    sizes: Node | None,
    file: Token | None,
    scale: Node | None,
    start: Node | None,
    end: Node | None,
    at: Node | None,
    axis: Node | None,
    turned: Node | None,
    colour: Node | None,
) -> BodyShape:
    what = f"of the {solid} of '{name}'"
    measures = () if sizes is None else sizes.children
    found = tuple(source.expression(size, units.LENGTH, f"a size {what}") for size in measures)
    first, last = (None if x is None else _end(source, name, x, what) for x in (start, end))
    factors = _ONE
    for given in () if scale is None else scale.children:
        if given.data == "vector":
            factors = source.vector(given, units.NUMBER, f"the scale {what}")
        else:
            factors = (source.expression(given, units.NUMBER, f"the scale {what}"),) * 3
    return BodyShape(
        source.noted(name),
        source.noted(solid),
        found,
        "" if file is None else str(file)[1:-1],
        factors,
        first,
        last,
        _HERE if at is None else source.vector(at, units.LENGTH, f"the place {what}"),
        None if axis is None else source.axis(axis),
        () if turned is None else tuple(_turn(source, motion, what) for motion in turned.children),
        "" if colour is None else source.noted(colour.children[0]).strip('"'),
        source.location(name),
    )


def _end(source: Source, body: Token, node: Node, what: str) -> Vector3:
    """An end of the axis: a position in the body, or a point of it."""
    (given,) = node.children
    if not hasattr(given, "data"):
        place = source.station(given)
        if place.body != str(body):
            text = f"expected a point of '{body}' for an end {what}, found '{given}' of '{place.body}'."
            raise ModelError(text, source.location(given))
        return place.position
    return source.vector(given, units.LENGTH, f"an end {what}")


def _turn(source: Source, node: Node, what: str) -> Rotation:
    name, axis, argument = node.children
    letter = str(name).replace("_", "")[1:]
    if str(name)[0] != "R" or letter not in (LETTERS if axis is None else ("",)):
        text = f"expected turns {what}, as in Rx(30 deg) or R[0, 1, 1](30 deg), found '{name}'."
        raise ModelError(text, source.location(node))
    along = LETTERS[letter] if axis is None else source.axis(axis)
    return Rotation(along, source.expression(argument, units.ANGLE, f"an angle {what}"))


def _written(own: BodyShape) -> str:
    text = f"= {own.solid}"
    text += f"({', '.join(map(str, own.sizes))})" if own.sizes else ""
    text += f' "{own.file}"' if own.file else ""
    if any(x.value != 1 for x in own.scale):
        x, y, z = own.scale
        even = x == y == z and x.value is not None and x.value > 0  # else it is no single factor
        text += f" scale {x if even else components(own.scale)}"
    if own.start is not None and own.end is not None:
        text += f" from {components(own.start)} to {components(own.end)}"
    text += f" at {components(own.at)}" if any(x.value != 0 for x in own.at) else ""
    text += f" axis {components(vector(own.axis))}" if own.axis is not None else ""
    text += f" turned {', '.join(m.text for m in own.turns)}" if own.turns else ""
    colour = f'"{own.colour}"' if own.colour.startswith("#") else own.colour
    return text + (f" colour {colour}" if own.colour else "")


def _fault(scope: Scope, own: BodyShape) -> tuple[str, str] | None:
    solid = SOLIDS.get(own.solid)
    if solid is None:
        near = did_you_mean(own.solid, SOLIDS)
        return f"expected a solid ({', '.join(SOLIDS)}), found '{own.solid}'.{near}", own.solid
    text = _arguments(own)
    if not text and own.colour and not colours.known(own.colour):
        near = did_you_mean(own.colour, colours.COLOURS) or f" There are {', '.join(colours.COLOURS)}."
        return f"expected a colour by its name, or as \"#e08a3c\", found '{own.colour}'.{near}", own.colour
    return (text, own.solid) if text else None


def _arguments(own: BodyShape) -> str:
    """Sentence on missing or superfluous arguments of a shape."""
    solid, name = SOLIDS[own.solid], own.solid
    ends = [x is not None for x in (own.start, own.end)]
    names = solid.sizes[: 1 if any(ends) else None]
    least = min(len(names), len(solid.sizes) - solid.optional)
    if not least <= len(own.sizes) <= len(names):
        ask = f"({', '.join(names)})" if names else "no sizes"
        more = " between its ends" if any(ends) else ""
        return (
            f"expected {name}{' ' if not names else ''}{ask}{more}, found {', '.join(map(str, own.sizes)) or 'none'}."
        )
    if (name == "mesh") != bool(own.file):
        return (
            'a mesh needs its file, as in mesh "tool.stl".'
            if name == "mesh"
            else f"a {name} has no file; leave it out."
        )
    if '"' in own.file or "\n" in own.file:
        return f"expected the name of a file without quotes and line breaks, found {own.file!r}."
    if name != "mesh" and any(x.value != 1 for x in own.scale):
        return f"a {name} has no scale; its sizes are lengths."
    if not solid.axis and (any(ends) or own.axis is not None):
        return f"a {name} has no axis; {'leave it out' if own.axis is not None else 'give its place by at'}."
    if any(ends) and (not all(ends) or own.axis is not None or own.turns or any(x.value != 0 for x in own.at)):
        return f"expected both ends of a {name}, which give its place and direction, without at, axis and turned."
    if name == "none" and (own.turns or own.colour or any(x.value != 0 for x in own.at)):
        return "none is nothing to be placed, turned or coloured."
    return ""


def _bounds(own: BodyShape) -> tuple[Bound, ...]:
    pairs = zip(own.sizes, SOLIDS[own.solid].sizes, strict=False)
    sizes = tuple(Bound(size, f"a {what}", positive=True, symbol=own.solid) for size, what in pairs)
    return sizes if all(math.isfinite(x.value or 0.0) for x in own.sizes) else ()


KIND = BodyShape.kind = Kind(
    BodyShape,
    "shape",
    {
        "shape": Production(
            '"=" NAME ["(" sizes ")"] [TEXT] ["scale" scale] ["from" spot "to" spot] ["at" vector] ["axis" vector] '
            '["turned" motions] ["colour" colour]',
            _read,
        )
    },
    _written,
    constants=lambda own: own.expressions,
    fault=_fault,
    bounds=_bounds,
)
