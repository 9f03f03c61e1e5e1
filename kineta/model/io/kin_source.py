"""``Source``: a text, as the readers of statements query it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from lark import Token as Token

from kineta.algebra.expression import Expr
from kineta.errors import ExpressionError, ModelError, did_you_mean
from kineta.model import units
from kineta.model.axis import Axis, direction, unit
from kineta.model.body import GROUND, Point, Station
from kineta.model.io.kin_expressions import Reader
from kineta.model.io.kin_quantities import DimensionedExpr
from kineta.model.io.kin_quantities import Node as Node
from kineta.model.reserved_symbols import POINT_COMPONENTS
from kineta.model.units import Dimension
from kineta.model.vectors import part
from kineta.passes.evaluate import evaluate

#: Last parts of names of speeds that contain a dot.
_SPEEDS = {c for c in POINT_COMPONENTS if c[0] == "v"} | {"wx", "wy", "wz"}


class Source(Reader):
    """A reader that knows the ``bodies`` and ``points`` of the text, and the ``values`` of parameters read so far."""

    def __init__(
        self, file: str, dimensions: Mapping[str, Dimension], points: Mapping[str, Point], values: Mapping[str, float]
    ) -> None:
        super().__init__(file, dimensions)
        self.values = values
        self.bodies: Collection[str] = (GROUND,)
        self.points = points
        #: Names of the parameters and constants that the text declares, and of the coordinates that it lists or that move.
        self.declared: Collection[str] = ()
        self.coordinates: Collection[str] = ()

    def station(self, name: Token, position: Node | None = None) -> Station:
        """The place of a point, or of a body with or without a position in its frame."""
        if position is None and str(name) in self.points:
            point = self.points[str(name)]
            return Station(point.body, point.position)
        if str(name) in self.points:
            text = (
                f"'at' stands behind bodies, found it behind the point '{name}', which has its own place; leave it out."
            )
            raise ModelError(text, self.location(name))
        if str(name) not in self.bodies:
            near = (
                f" '{name}' is a coordinate; what acts along it is written as in: force drive = 5 on {name};"
                if name in self.coordinates
                else _each_of(str(name)) or did_you_mean(str(name), [*self.bodies, *self.points])
            )
            raise ModelError(f"expected a point or a body, found '{name}'.{near}", self.location(name))
        if position is None:
            return Station(str(name))
        return Station(str(name), self.vector(position, units.LENGTH, "a position"))

    def station_of_body(self, body: Token, point: Token) -> Station:
        """The place of a *point* that is fixed in a *body*."""
        own, at = self.station(body), self.station(point)
        if str(point) not in self.points or at.body != own.body:
            has = [n for n, p in self.points.items() if p.body == own.body]
            near = f" It has {', '.join(has)}." if has else f" Write: point {point} on {body} = (0, 0, 0);"
            raise ModelError(f"expected a point of '{body}', found '{point}'.{near}", self.location(point))
        return at

    def is_place(self, name: str) -> bool:
        """Whether *name* is that of a point or body."""
        return name in self.points or name in self.bodies

    @property
    def some_place(self) -> str:
        """A body that moves, where there is one."""
        return next((b for b in self.bodies if b != GROUND), GROUND)

    def is_declared(self, name: str) -> bool:
        """Whether *name* is that of a parameter or a constant."""
        return name in self.declared

    def is_variable(self, name: str) -> bool:
        """Whether the name of a function is also that of a variable, as far as these are known."""
        known = (self.lets, self.dimensions, self.values, self.declared, self.coordinates, self.moving)
        return not self.moving or any(name in own for own in known)

    def declaration(self, name: str, node: Node) -> DimensionedExpr:
        """The value of the parameter or constant *name*."""
        return self.quantity(node)

    def number(self, value: Expr, node: Any, what: str) -> float:
        """Value of an expression of numbers and of parameters with a value so far; *what* is the name of *node* in errors."""
        if value.value is not None:
            return value.value
        for name in value.symbols():
            if name not in self.values:
                near = did_you_mean(name, self.values) + units.advice_on_name(name)
                text = f"{what}: expected numbers and parameters with a value given before, found '{name}'.{near}"
                raise ModelError(text, self.places[name][-1].at)
        try:
            number: float = evaluate(value.graph, [value.ref], self.values)[0]
        except ExpressionError as error:
            raise ModelError(f"{what}: {error}", self.location(node)) from None
        if not math.isfinite(number):
            text = f"{what}: expected a finite number, found '{value}', which is none."
            raise ModelError(text, self.location(node))
        return number

    def axis(self, node: Node) -> Axis:
        """The direction of a text."""
        found = [self.expression(c) for c in node.children]
        numbers = [a.value for a in found if a.value is not None]
        try:
            return unit(numbers) if len(numbers) == 3 else direction(found)
        except ModelError as error:
            raise ModelError(str(error), self.location(node)) from None

    def fits(
        self, node: Any, value: DimensionedExpr, what: str, along: DimensionedExpr, work: Dimension, power: int = 1
    ) -> None:
        """Raise where the dimension of *value* times *along* to a *power* is known and not *work*; *what* names *node*."""
        if along.dimension is not None and not along.plain and value.shown:
            expected = units.times(work, along.dimension, -power)
            self.expect(node, value, expected, f"{what} on {units.name(along.dimension)}")

    def dimension(self, name: Token) -> Dimension | None:
        """Dimension of the quantity of this name; None if unknown."""
        return self.dimensions.get(str(name), self.rate(str(name)))

    def resting(self, node: Any) -> bool:
        """Whether *node* is made of numbers and declared parameters only."""
        return all(n in self.declared for n in self.quantity(node).value.symbols())

    def rises(self, relation: Token) -> bool:
        """Whether a comparison, ``<=`` or ``>=``, is ``>=``."""
        if relation not in (">=", "<="):
            near = did_you_mean(str(relation), (">=", "<="))
            raise ModelError(f"expected '>=' or '<=', found '{relation}'.{near}", self.location(relation))
        return str(relation) == ">="

    def rate_dimension(self, given: DimensionedExpr) -> DimensionedExpr:
        """What is *given*, with the dimension of its time derivative unless it is a rate itself."""
        if given.dimension is None or self.is_rate(given.value):
            return given
        return replace(given, dimension=units.times(given.dimension, units.TIME, -1))

    @staticmethod
    def is_rate(value: Expr) -> bool:
        """Whether *value* names a speed, of a coordinate, a point or a body."""
        return any(map(_is_speed, value.symbols()))


def _each_of(name: str) -> str:
    """Advice on a *name* that is a range of bodies; ``""`` for others."""
    if (found := re.search(r"\[([^\[\]]*)\.\.([^\[\]]*)\]", name)) is None:
        return ""
    one = f"{name[: found.start()]}[i]{name[found.end() :]}"
    return (
        f" A range stands behind 'among', as in among {name}, where bodies may touch each other; elsewhere it is a "
        f"repetition, as in for i in {found[1]}..{found[2]} : ... {one} ..."
    )


def _is_speed(name: str) -> bool:
    if (vector := part(name)) is not None:
        return vector.order > 0
    return name.endswith("'") or ("." in name and name.rpartition(".")[2] in _SPEEDS)
