"""Expressions of the text language: from the syntax tree to nodes of the graph, with dimensions checked on the way."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import lru_cache, partial, reduce
from itertools import chain, product, zip_longest
from operator import and_, or_
from pathlib import Path
from typing import Any, NamedTuple

from lark import Token, Tree

from kineta.algebra.expression import Expr, apply, expr, symbol
from kineta.algebra.tables import refuse_many
from kineta.errors import ExpressionError, Location, ModelError
from kineta.expr.op import FUNCTIONS, Op
from kineta.model import units, vectors
from kineta.model.coercion import Vector3
from kineta.model.io import kin_tables, kin_vectors
from kineta.model.io.kin_functions import DefinedFunction, free_argument, identity
from kineta.model.io.kin_operations import (
    COMPOSED,
    IF,
    OF_NUMBERS,
    advice_on_function,
    folded,
    function_of_numbers,
    function_of_vectors,
    one_of_two,
    raised_to,
    refuse_condition,
    truth,
)
from kineta.model.io.kin_quantities import (
    DimensionedExpr,
    Node,
    ReadCondition,
    compared,
    opposite,
    plus,
    times,
)
from kineta.model.io.kin_tables import TABLE, ReadPoints, read_points
from kineta.model.io.kin_vectors import DimensionedVector, Operand
from kineta.model.reserved_symbols import TIME, forced
from kineta.model.units import NUMBER, Dimension

#: Names that stand for numbers.
CONSTANTS = {"pi": math.pi}

#: Calls within calls of functions of the text beyond which it is refused.
DEPTH = 100

_PRIME = "'"

#: A factor of a unit behind a number: its sign, which the first has not, its symbol and its power.
_FACTOR = re.compile(rf"([*/·]|)[ \t]*([{units.LETTERS}%]+)((?:{units.POWER_PATTERN})?)")


class Use(NamedTuple):
    """A use of a symbol: its place, ``at``; that of the outermost call ``within`` whose function it stands, else its own; and the
    calls in words, "" for none.
    """

    at: Location
    read_for: Location
    within: str = ""


class Reader:
    """Translator of syntax trees into expressions with dimensions.

    ``dimensions`` are those of the parameters that were declared with a unit, ``moving`` those of coordinates, speeds and
    components of points, which count only beside what has a unit: numbers without one may stand for anything. ``lets`` are
    the named expressions read so far, ``functions`` those with arguments, ``called`` the names of those that a call has read.
    ``places`` are the uses of symbols, in the order of reading. Errors carry the place in ``file``.
    """

    def __init__(self, file: str, dimensions: Mapping[str, Dimension]) -> None:
        self.file = file
        self.dimensions = dimensions
        self.moving: Mapping[str, Dimension] = {}
        #: Values of constants read so far.
        self.constants: dict[str, float] = {}
        self.lets: dict[str, DimensionedExpr] = {}
        #: Named expressions that are vectors.
        self.vectors: dict[str, DimensionedVector] = {}
        self.functions: dict[str, DefinedFunction] = {}
        #: Arguments of the functions that are read now, innermost last.
        self.arguments: list[Mapping[str, Operand]] = [{}]
        #: Memo of the calls within the outermost call: by function and arguments, the value and the arguments.
        self.calls: dict[tuple[str, tuple[Hashable, ...]], tuple[Operand, list[Any]]] = {}
        self.places: dict[str, list[Use]] = {}
        self.called: set[str] = set()
        #: The calls that are read now, outermost first: their functions and places.
        self.running: list[tuple[DefinedFunction, Location]] = []
        #: Names of units that are read as those of parameters, to find out whether they were meant; None outside errors.
        self.no_units: tuple[str, ...] | None = None

    def location(self, node: Tree[Token] | Token) -> Location:
        """Location of the first token of *node*."""
        line, column = (node.line, node.column) if isinstance(node, Token) else (node.meta.line, node.meta.column)
        return Location(self.file, line or 1, column or 1)

    def expression(self, node: Tree[Token], expected: Dimension | None = None, what: str = "") -> Expr:
        """Expression of *node*, of the dimension *expected*; *what* is its name in errors."""
        quantity = self.quantity(node)
        if quantity.shown:
            self.expect(node, quantity, expected, what)
        return quantity.value

    def coefficient(self, node: Tree[Token], what: str) -> Expr:
        """Expression of *node* without a unit; *what* is its name in errors."""
        quantity = self.quantity(node)
        if quantity.shown:
            self.expect(node, quantity, units.NUMBER, what, "a number without a unit")
        return quantity.value

    def vector(self, node: Node, expected: Dimension | None, what: str) -> Vector3:
        """The three expressions of the vector *node*, each as :meth:`expression` reads it."""
        return self.vector_in_axes(node, expected, what)[0]

    def vector_in_axes(self, node: Node, expected: Dimension | None, what: str) -> tuple[Vector3, str | None]:
        """The three expressions of the vector *node*, and the frame whose axes they have; None for numbers in brackets."""
        if node.data == "vector":
            x, y, z = (self.expression(c, expected, what) for c in node.children)
            return (x, y, z), None
        value = self._value(node)
        if not isinstance(value, DimensionedVector):
            found = f"the number '{self._number(value).value}'"
            text = f"{what} must be a vector, as in (1, 0, 0), found {found}."
            raise ModelError(text, self.location(node))
        for own in value.components:
            if own.shown:
                self.expect(node, own, expected, what)
        x, y, z = (own.value for own in value.components)
        return (x, y, z), value.axes

    def name_value(self, name: str, node: Node) -> None:
        """Let a *name* stand for the number or the vector *node*."""
        value = self._value(node)
        if isinstance(value, DimensionedVector):
            self.vectors[name] = replace(value, of=name)
        else:
            self.lets[name] = self._number(value)

    def place(self, name: str) -> str:
        """The point or body that the argument *name* of a function means in a call; "" for other names."""
        given = self.arguments[-1].get(name)
        own = given.value.name if isinstance(given, DimensionedExpr) else None
        return own if own is not None and self.is_place(own) else ""

    def place_of_vector(self, name: str) -> str:
        """As :meth:`place`, for a *name* in a vector. Raises :class:`ModelError` for an argument that is no place."""
        own, given = self.place(name), self.arguments[-1].get(name)
        if given is not None and not own:
            found = "a vector" if isinstance(given, DimensionedVector) else f"'{given.value}'"
            raise ModelError(
                f"'{name}' stands for a point or body here; expected the name of one in the call, found {found}."
            )
        return own

    def is_place(self, name: str) -> bool:
        """Whether *name* is that of a point or body."""
        return False

    @property
    def some_place(self) -> str:
        """A body that moves, where there is one."""
        return ""

    def is_vector(self, node: Node) -> bool:
        """Whether *node* is a vector and no number."""
        return node.data == "vector" or isinstance(self._value(node), DimensionedVector)

    def expect(
        self, node: Tree[Token], quantity: DimensionedExpr, expected: Dimension | None, what: str, words: str = ""
    ) -> None:
        """Raise where the known dimension of *quantity*, read from *node*, is not *expected*, in *words*; *what* is its name in
        errors.
        """
        found = quantity.dimension
        if expected is not None and found is not None and not quantity.plain and found != expected:
            text = f"{what} must be {words or units.name(expected)}, found {units.name(found)}."
            raise ModelError(text + self._meant(node, expected), self.location(node))

    def quantity(self, node: Tree[Token]) -> DimensionedExpr:
        """The expression *node* with its dimension."""
        return self._number(self._value(node))

    def _value(self, node: Tree[Token]) -> Any:
        """The number or the vector *node*. Parts come before wholes, so that no depth of brackets is too deep."""
        known: dict[int, Any] = {}
        for part in node.iter_subtrees():
            children = [known[id(c)] if isinstance(c, Tree) else c for c in part.children]
            try:
                known[id(part)] = getattr(self, f"_{part.data}")(part, children)
            except (ExpressionError, ModelError) as error:
                if error.location is not None:
                    raise
                sentence = f"{error}{self._meant(part)}"
                raise _placed(sentence, self.location(part), self.within) from None
        return known[id(node)]

    def _meant(self, node: Tree[Token], expected: Dimension | None = None) -> str:
        """Advice on units in *node* that are names of parameters, where *node* can be read, as of the dimension *expected*, if
        these are meant; ``""`` else.
        """
        if self.no_units is not None:
            return ""
        numbers = [str(part.children[0]) for part in node.find_data("quantity")]
        for part in node.find_data(kin_tables.NUMBERS):
            numbers += re.findall(r"[^(),]*[*/·][^(),]*", str(part.children[0]))
        factors = [f for number in numbers for f in _factors(number) if self.is_declared(f[2]) and self._doubtful(f)]
        names = tuple(dict.fromkeys(f[2] for f in factors))
        for chosen in dict.fromkeys([*((name,) for name in names), names]) if names else ():
            self.no_units = chosen
            try:
                value = self._value(node)
                found = None if expected is None else self._number(value)
            except (ExpressionError, ModelError):
                continue
            finally:
                self.no_units = None
            if found is None or found.plain or found.dimension in (None, expected):
                first = next(f for f in factors if f[2] in chosen)
                before = first.string[: first.start()]
                return (
                    f" '{first[2]}' in '{first.string}' is a unit; where the parameter '{first[2]}' is meant, write "
                    f"{before} {first[1]} {first[2]}{first[3]}."
                )
        return ""

    def _doubtful(self, factor: re.Match[str]) -> bool:
        """Whether a *factor* of a unit may be meant as the parameter of its name: it stands behind another one, and the parameter
        has a unit, so that it shows where it fits, or the unit is that of no quantity that has a name.
        """
        if not factor[1]:
            return False
        if factor[2] in self.dimensions:
            return True
        dimension = units.quantity(factor.string)[1]
        return dimension is not None and not units.is_named(dimension)

    def is_declared(self, name: str) -> bool:
        """Whether *name* is that of a parameter or a constant."""
        return False

    @property
    def within(self) -> str:
        """The calls that are read now in words, innermost first, of more than two the first and the last; "" for none."""
        calls = [f"in {function}, called at {place}" for function, place in reversed(self.running)]
        return ", ".join(calls if len(calls) < 3 else [calls[0], "...", calls[-1]])

    def _number(self, value: Any) -> DimensionedExpr:
        """*value*, if it is a number and no vector."""
        try:
            return kin_vectors.number(value)
        except ModelError as error:
            raise _placed(str(error), self.location(value.node), self.within) from None

    def _quantity(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        return self._read(str(children[0]))

    def _read(self, text: str) -> DimensionedExpr:
        """The number *text*, perhaps with a unit."""
        meant = [f for f in _factors(text) if f[1] and f[2] in self.no_units] if self.no_units else []
        for factor in reversed(meant):
            text = text[: factor.start()] + text[factor.end() :]
        own = _number_with_unit(text)
        for sign, name, power in (f.groups() for f in meant):
            known = self.dimensions.get(name)
            raised = None if known is None else units.times(NUMBER, known, float(power[1:] or 1))
            own = times(own, DimensionedExpr(symbol(name), raised), sign)
        return own

    def _name(self, node: Tree[Token], children: list[Any]) -> Operand:
        name = str(children[0])
        given = self.arguments[-1]
        if name in given:
            return given[name]
        vector, _, axis = name.rpartition(".")
        if place := self.place(vector):
            return self._name(node, [children[0].update(value=f"{place}.{axis}")])
        known = given if vector in given else self.vectors
        if vector in known and axis in ("x", "y", "z"):
            return kin_vectors.component(known[vector], axis)
        if vector in self.vectors and axis.rstrip("'") in ("x", "y", "z"):
            raise ModelError(
                f"a prime stands behind names of variables, and components and magnitudes of a vector of a point or body, as in "
                f"r(Tip).x', found it behind '{name.rstrip(_PRIME)}', which is given by let; give that rate as well."
            )
        if name in self.vectors:
            return self.vectors[name]
        if name in CONSTANTS:
            return DimensionedExpr(expr(CONSTANTS[name]), NUMBER)
        if name in self.functions and not self.is_variable(name):
            raise ModelError(f"'{name}' is a function; expected it with its arguments, {self.functions[name]}.")
        value, dimension = self.symbol(children[0]), self.dimensions.get(name)
        if name in self.lets:
            return replace(self.lets[name], value=value)
        moving = self.rate(name) if dimension is None else None
        return DimensionedExpr(value, dimension) if moving is None else DimensionedExpr(value, moving, shown=False)

    def is_variable(self, name: str) -> bool:
        """Whether the name of a function may also be that of a variable."""
        return True

    def rate(self, name: str) -> Dimension | None:
        """The dimension of the time, a coordinate, a speed, a component of a point, a derivative of these, or a force on a speed,
        where known.
        """
        if name == TIME:
            return units.TIME
        if speed := forced(name):
            known = self.rate(speed)
            return None if known is None else units.times(units.POWER, known, -1)
        own = name
        while own not in self.moving and own.endswith("'"):
            own = own[:-1]
        known = self.moving.get(own)
        return None if known is None else units.times(known, units.TIME, len(own) - len(name))

    def _vector_part(self, node: Tree[Token], children: list[Any]) -> Operand:
        name = vectors.read(str(children[0]), self.place_of_vector)
        if isinstance(name, vectors.VectorSymbol):
            return kin_vectors.of_symbol(name, node)
        part = vectors.part(name)
        assert part is not None
        return DimensionedExpr(self.symbol(children[0].update(value=name)), part.dimension, shown=False)

    def _vector(self, node: Tree[Token], children: list[Any]) -> DimensionedVector:
        return kin_vectors.triple([self._number(c) for c in children], node)

    def _component(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        return kin_vectors.component(children[0], str(children[1])[1:])

    def _magnitude(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        (own,) = children
        refuse_condition(own)
        if isinstance(own, DimensionedVector):
            return kin_vectors.magnitude(own)
        quantity: DimensionedExpr = own
        return replace(quantity, value=apply(Op.ABS, quantity.value))

    def symbol(self, token: Token) -> Expr:
        """The symbol that *token* names."""
        return symbol(self.noted(token))

    def noted(self, token: Token) -> str:
        """The name *token*; its place is remembered for errors."""
        place = self.location(token)
        use = Use(place, self.running[0][1], self.within) if self.running else Use(place, place)
        self.places.setdefault(str(token), []).append(use)
        return str(token)

    def _comparison(self, node: Tree[Token], children: list[Any]) -> ReadCondition:
        values, relations = [self._number(c) for c in children[::2]], [str(r) for r in children[1::2]]
        if len({r[0] for r in relations}) > 1:
            raise ModelError(f"comparisons in a row point one way, as in a < x < b, found {' and '.join(relations)}.")
        found = (compared(a, r, b) for a, r, b in zip(values, relations, values[1:], strict=False))
        return ReadCondition(reduce(and_, found), node)

    def _negated(self, node: Tree[Token], children: list[Any]) -> ReadCondition:
        return ReadCondition(~truth(children[0]), node)

    def _conjunction(self, node: Tree[Token], children: list[Any]) -> ReadCondition:
        return ReadCondition(reduce(and_, map(truth, children)), node)

    def _any_of(self, node: Tree[Token], children: list[Any]) -> ReadCondition:
        for part in node.children:
            if isinstance(part, Tree) and part.data == "conjunction" and not _in_brackets(part):
                raise ModelError("'and' beside 'or' stands in brackets, as in (a < b and c < d) or e < f.")
        return ReadCondition(reduce(or_, map(truth, children)), node)

    def _sum(self, node: Tree[Token], children: list[Any]) -> Operand:
        return folded(children, plus)

    def _product(self, node: Tree[Token], children: list[Any]) -> Operand:
        return folded(children, times)

    def _unary(self, node: Tree[Token], children: list[Any]) -> Operand:
        *signs, last = children
        refuse_condition(last)
        operand: Operand = last
        if signs.count("-") % 2 == 0:
            return operand
        return kin_vectors.reversed_vector(operand) if isinstance(operand, DimensionedVector) else opposite(operand)

    _exponent = _unary

    def _power(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        base, *exponents = map(self._number, children)
        return raised_to(base, [self.measured(e) for e in exponents], self.constants)

    def _call(self, node: Tree[Token], children: list[Any]) -> Operand:
        name, arguments = str(children[0]), children[1:]
        if name in vectors.KINDS:
            return self._called_vector(name, node)
        if name in kin_vectors.FUNCTIONS:
            return function_of_vectors(name, arguments)
        if name in self.functions:
            return self._called(self.functions[name], arguments, self.location(node))
        if name == IF:
            return self._chosen(arguments)
        if name.rstrip("'") == TABLE:
            return self._table(name, arguments)
        if name not in FUNCTIONS and name not in COMPOSED:
            raise ModelError(f"unknown function '{name}'.{advice_on_function(name, self.functions)}")
        numbers = [self._number(a) for a in arguments]
        return function_of_numbers(name, [self.measured(a) for a in numbers] if name in OF_NUMBERS else numbers)

    def measured(self, own: DimensionedExpr) -> DimensionedExpr:
        """*own* where a number is expected: what moves has the unit that its motions show, beside parameters with units. The time
        alone passes for its number of seconds.
        """
        return replace(own, shown=True) if self.dimensions and own.dimension != units.TIME else own

    def _words(self, node: Tree[Token], children: list[Any]) -> tuple[str, ...]:
        return tuple(map(str, children))

    def _point_of_table(self, node: Tree[Token], children: list[Any]) -> tuple[DimensionedExpr, ...]:
        return tuple(map(self._number, children))

    def _numbers(self, node: Tree[Token], children: list[Any]) -> list[tuple[DimensionedExpr, ...]]:
        """The rows of points of a table that are numbers."""
        text = str(children[0])
        refuse_many(text.count("("))
        return [tuple(self._entry(node, *own) for own in row) for row in kin_tables.rows_of_numbers(text)]

    def _entry(self, node: Tree[Token], start: int, text: str) -> DimensionedExpr:
        """The number *text*, perhaps with a unit, of points of a table *node*, in which it begins at *start*."""
        try:
            number = float(text)
        except ValueError:  # it has a unit
            number = math.inf
        try:
            return DimensionedExpr(expr(number), NUMBER, plain=True) if math.isfinite(number) else self._read(text)
        except ModelError as error:
            before = str(node.children[0])[:start]
            last = before.rfind("\n")
            begin = self.location(node)
            column = start - last if last >= 0 else begin.column + start
            place = Location(self.file, begin.line + before.count("\n"), column)
            raise _placed(str(error), place, self.within) from None

    def _points(self, node: Tree[Token], children: list[Any]) -> ReadPoints:
        return read_points(node, children)

    def _columns(self, node: Tree[Token], children: list[Any]) -> tuple[str, ...]:
        return tuple(str(c).strip('"') for c in children)

    def _table(self, name: str, arguments: list[Any]) -> DimensionedExpr:
        """The value of ``table(x; (0, 0), (1, 2))`` or ``table(x, y; (0, 1), (0, 5, 6), (1, 7, 9))``, or with primes its
        derivative.
        """
        *quantities, points = kin_tables.arguments_of(name, arguments)
        order = len(name) - len(TABLE)
        return kin_tables.value([self._number(a) for a in quantities], points, order, Path(self.file).parent)

    def _chosen(self, arguments: list[Any]) -> Operand:
        """The number or the vector ``if(a < b, x, y)``."""
        if len(arguments) != 3:
            raise ModelError(
                f"if takes 3 arguments, a condition, the value where it holds, and the value elsewhere, found {len(arguments)}."
            )
        condition = truth(arguments[0])
        if all(isinstance(a, DimensionedVector) for a in arguments[1:]):
            return kin_vectors.by_components(partial(one_of_two, condition), *arguments[1:])
        return one_of_two(condition, *map(self._number, arguments[1:]))

    def _called(self, function: DefinedFunction, arguments: list[Any], place: Location) -> Operand:
        """What a call of *function* at a *place* stands for. Equal calls within a call are read once: a chain of functions of
        which each calls the next one twice is no tree of calls.
        """
        if not self.running:
            self.calls.clear()  # what names mean may have changed
        if len(self.running) == DEPTH:
            raise ModelError(f"functions call each other more than {DEPTH} deep, down to {function}.")
        key = function.name, tuple(identity(a) for a in arguments)
        if key not in self.calls:
            self.called.add(function.name)
            evaluate = partial(self._with_arguments, (function, place))
            self.calls[key] = function.value(arguments, evaluate), arguments
        return self.calls[key][0]

    def _with_arguments(
        self, call: tuple[DefinedFunction, Location], body: Tree[Token], arguments: Mapping[str, Any]
    ) -> Any:
        """What *body* is in a *call*, with *arguments* in place of their names."""
        self.arguments.append(arguments)
        self.running.append(call)
        try:
            return self._value(body)
        finally:
            self.arguments.pop()
            self.running.pop()

    def body_value(self, function: DefinedFunction) -> tuple[Expr, ...]:
        """The expression of a *function* that nothing calls, or the components of its vector, for arguments of any kind.

        Raises :class:`ModelError` for what makes no sense for numbers nor for vectors.
        """
        kinds = [kin_vectors.is_vector(function.body, name) for name in function.formals]
        places = kin_vectors.places(function.body)
        others = (own for own in product((False, True), repeat=min(len(kinds), 4)) if [*own] != kinds)
        fault: ModelError | None = None
        for chosen in chain([kinds], others):
            own = [
                DimensionedExpr(symbol(self.some_place)) if n in places else free_argument(n, as_vector, function.body)
                for n, as_vector in zip_longest(function.formals, chosen)
            ]
            self.arguments.append(dict(zip(function.formals, own, strict=True)))
            try:
                value = self._value(function.body)
            except ModelError as error:
                fault = fault or error
                continue
            finally:
                self.arguments.pop()
            return tuple(x.value for x in value.components) if isinstance(value, DimensionedVector) else (value.value,)
        assert fault is not None
        raise fault

    def _called_vector(self, name: str, node: Tree[Token]) -> DimensionedVector:
        """The vector ``v(P)``, whose argument is a name."""
        own = [c for c in node.children if isinstance(c, Tree)]
        if own and own[0].data == "call":
            other = f"{own[0].children[0]}(...)"
            raise ModelError(
                f"{name} takes the name of a point or body, as in {name}(Tip), found '{other}', which is none."
            )
        place = own[0].children[0] if len(own) == 1 and own[0].data == "name" else None
        text = f"{name}({place if isinstance(place, Token) else ', '.join(map(_text, own))})"
        found = vectors.read(text, self.place_of_vector)
        assert isinstance(found, vectors.VectorSymbol)
        return kin_vectors.of_symbol(found, node)


@lru_cache(maxsize=512)
def _number_with_unit(text: str) -> DimensionedExpr:
    number, dimension = units.quantity(text)
    return DimensionedExpr(expr(number), NUMBER if dimension is None else dimension, plain=dimension is None)


def _factors(number: str) -> list[re.Match[str]]:
    """The factors of the unit of a *number*, each with its sign, its symbol and its power."""
    begun = re.match(r"[\d.]+(?:[eE][+-]?\d+)?", number)
    return list(_FACTOR.finditer(number, begun.end() if begun else 0))


def _placed(sentence: str, place: Location, within: str) -> ModelError:
    """The error at a *place*, in the function of a call *within* which it was found."""
    return ModelError(f"{within}: {sentence}" if within else sentence, place)


def _in_brackets(node: Tree[Token]) -> bool:
    own: Any = node.meta
    return bool(own.container_start_pos < own.start_pos)


def _text(node: Tree[Token]) -> str:
    """The tokens of *node* in a row."""
    return "".join(str(t) for t in node.scan_values(lambda t: isinstance(t, Token)))
