"""Units in text that is written: expressions of a system know no units, so those of its numbers are found as it is read again.

Where the reader of a text refuses a sum, an argument or a value for its unit, the reader here puts one into the text: behind a
number (``x - 0.3`` becomes ``x - 0.3 m``, and ``10*(x - z)``, where a velocity is expected, ``10 s^-1*(x - z)``), or as a factor
that is one (``exp(-z)`` becomes ``exp(-z/1 m)``). Neither changes a value. A number that is long in SI and short in another unit
is written in that one, ``20 deg`` and ``60 rpm``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, cast

from lark import Token, Tree

from kineta.errors import ModelError
from kineta.model import units
from kineta.model.io import kin_tables
from kineta.model.io.kin_operations import IF, OF_NUMBERS, OF_ONE_DIMENSION
from kineta.model.io.kin_quantities import DimensionedExpr, Node, ReadCondition
from kineta.model.io.kin_reader import parsed
from kineta.model.io.kin_source import Source
from kineta.model.io.kin_tables import NUMBERS, TABLE, ReadPoints
from kineta.model.io.statements.model_text import ModelText
from kineta.model.io.statements.table import read_statements
from kineta.model.units import NUMBER, Dimension
from kineta.records import dataclass
from kineta.threads import collector_paused


class ReadTable(NamedTuple):
    """The points of a table with their nodes: ``places`` of each of its quantities, and *values*."""

    places: Sequence[Sequence[tuple[Node, DimensionedExpr]]]
    values: list[tuple[Node, DimensionedExpr]]


class Scale(NamedTuple):
    """The *factor* of a product, a *node*, that may have a unit, the dimension of the *others*, and whether it ``divides``."""

    node: Node
    factor: DimensionedExpr
    others: Dimension
    divides: bool


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text *before* and *behind* the part from *start* to *end* of a text, or what stands *instead* of it."""

    start: int
    end: int
    before: str
    behind: str
    instead: str = ""


class UnitFinder(Source):
    """A reader that finds where units have to stand, instead of refusing text without them."""

    def __init__(self, *arguments: Any, declared: Mapping[str, Dimension], everywhere: bool) -> None:
        super().__init__(*arguments)
        #: Whether all numbers have units, or only those that are shorter in one that is not of SI.
        self.everywhere = everywhere
        #: Dimensions of the parameters that have one.
        self.of_parameters = declared
        #: What is put into the text, by the part that it belongs to and whether that is a number.
        self.insertions: dict[tuple[int, int, bool], Insertion] = {}
        #: What has a factor that was put into the text, by its part.
        self._products: dict[tuple[int, int], DimensionedExpr] = {}
        self._scales: dict[int, Scale] = {}
        #: Terms of sums and values of choices, with their nodes.
        self._terms: dict[int, list[tuple[Node, DimensionedExpr]]] = {}
        #: Tables by the nodes of their points.
        self._tables: dict[int, ReadTable] = {}

    def inserted(self, text: str) -> str:
        """*text* with its units."""
        # At one place inner parts end before those around them, and the unit of a number stands next to it.
        ends = [(x.end, 0, -x.start, not own, x.behind, x.instead) for (_, _, own), x in self.insertions.items()]
        starts = [(x.start, 1, -x.end, own, x.before, "") for (_, _, own), x in self.insertions.items()]
        pieces, last = list[str](), 0
        for place, *_, own, instead in sorted(ends + starts):
            pieces += [_apart(instead or text[last:place], pieces), own]
            last = place
        return "".join([*pieces, _apart(text[last:], pieces)])

    def expect(
        self, node: Tree[Token], quantity: DimensionedExpr, expected: Dimension | None, what: str, words: str = ""
    ) -> None:
        """Give *quantity* the dimension *expected*."""
        if expected is not None:
            self.fitted(node, quantity, expected)

    def declaration(self, name: str, node: Tree[Token]) -> DimensionedExpr:
        """The value of a parameter, with its unit."""
        quantity, wanted = self.quantity(node), self.of_parameters.get(name)
        literal = _literal(node)
        if wanted is None:
            return quantity
        if quantity.plain and literal is not None:
            own = self._with_unit(literal, quantity, wanted, wanted, turns=False)
            if own.plain and wanted == NUMBER:
                start, end = literal.meta.start_pos, literal.meta.end_pos
                self.insertions[start, end, True] = Insertion(start, end, "", " rad")
            return own
        return self.fitted(node, quantity, wanted)

    def fitted(self, node: Node, quantity: DimensionedExpr, wanted: Dimension) -> DimensionedExpr:
        """The *quantity* of a *node*, of the dimension *wanted* by what is put into the text."""
        found, scale, terms = quantity.dimension, self._scales.get(id(node)), self._terms.get(id(node))
        if (quantity.plain or found is None) and terms is not None:
            whole = [(n, self.fitted(n, x, wanted)) for n, x in terms]
            same = all(x.dimension == wanted and not x.plain for _, x in whole)
            whole = [(n, self._freed(n, x) if x.told not in (None, wanted) else x) for n, x in whole]
            self._terms[id(node)] = whole  # another dimension may be wanted of the whole later
            if same:
                return DimensionedExpr(quantity.value, wanted)
            told = next((x.told for _, x in whole if x.told is not None), None)
            return quantity if quantity.plain else DimensionedExpr(quantity.value, hint=told)
        literal = _literal(node) if quantity.plain else None
        if literal is not None:
            return quantity if quantity.value.value == 0 else self._with_unit(literal, quantity, wanted, wanted)
        if scale is not None and (quantity.plain or found is None):
            missing = units.times(wanted, scale.others, -1)
            if scale.divides:
                missing = units.times(NUMBER, missing, -1)
            if missing == NUMBER:
                return quantity
            number = _literal(scale.node)
            if number is not None:
                return self._with_unit(number, quantity, missing, wanted)
            same = self.fitted(scale.node, scale.factor, missing).dimension == missing
            return DimensionedExpr(quantity.value, wanted) if same else quantity
        if quantity.plain or found is None or found == wanted or not self.everywhere:
            return quantity
        factor = units.times(wanted, found, -1)
        up, down = units.written(factor), units.written(units.times(NUMBER, factor, -1))
        sign, unit = ("*", up) if up is not None and (down is None or len(up) <= len(down)) else ("/", down)
        if unit is None:
            return self._freed(node, quantity)
        return self._scaled(node, quantity, replace(quantity, dimension=wanted), "", f"{sign}1 {unit}")

    def _freed(self, node: Node, quantity: DimensionedExpr) -> DimensionedExpr:
        """The *quantity* of a *node* as a product with a bare number, which goes with everything."""
        return self._scaled(node, quantity, DimensionedExpr(quantity.value), "", "*1")

    def _scaled(
        self, node: Node, quantity: DimensionedExpr, scaled: DimensionedExpr, before: str, behind: str
    ) -> DimensionedExpr:
        """The *quantity* of a *node* as a product, *scaled*, with factors *before* and *behind* it, beside those that it has."""
        start, end, opens, closes = _enclosed(node)
        own = self.insertions.get((start, end, False))
        if own is not None and self._products.get((start, end)) is quantity:
            before, behind = before + own.before, own.behind + behind
        else:
            before, behind = before + opens, closes + behind
        self.insertions[start, end, False] = Insertion(start, end, before, behind)
        self._products[start, end] = scaled
        return scaled

    def _with_unit(
        self, number: Node, quantity: DimensionedExpr, own: Dimension, whole: Dimension, *, turns: bool = True
    ) -> DimensionedExpr:
        """*quantity*, of the dimension *whole*, with a unit of the dimension *own* behind its *number*; *turns* for rates
        that are those of angles.
        """
        start, end = number.meta.start_pos, number.meta.end_pos
        instead = units.shorter(float(number.children[0]), own)
        if instead:
            self.insertions[start, end, True] = Insertion(start, end, "", "", instead)
            return DimensionedExpr(quantity.value, whole)
        unit = "rad/s" if turns and own == units.RATE and whole in (own, NUMBER) else units.written(own)
        if unit and self.everywhere:
            self.insertions[start, end, True] = Insertion(start, end, "", f" {unit}")
        return DimensionedExpr(quantity.value, whole) if unit and self.everywhere else quantity

    def _alike(self, nodes: Sequence[Node], values: Sequence[Any]) -> list[Any]:
        """The *values* of *nodes*, all of one dimension where one is known."""
        known = [x for x in values if x.dimension is not None and not x.plain]
        lead = next((x for x in known if x.shown), known[0] if known else None)
        own, told = list(values), next((x.hint for x in values if x.hint is not None), None)
        if lead is not None:
            told = lead.dimension
            # Two that move and have no unit in the text go with each other, if no other has one.
            free = [not lead.shown and x in known for x in values]
            own = [x if f else self.fitted(n, x, told) for n, x, f in zip(nodes, values, free, strict=True)]
            if any(x.told is not None for x in own):
                own = [self.fitted(n, x, told) if f else x for n, x, f in zip(nodes, own, free, strict=True)]
        measured = any(x.told is not None for x in own)
        return [
            self._freed(n, x) if measured and not x.plain and x.likely not in (None, told) else x
            for n, x in zip(nodes, own, strict=True)
        ]

    def _sum(self, node: Tree[Token], children: list[Any]) -> Any:
        nodes, own = node.children[::2], list(children)
        own[::2] = self._alike(nodes, children[::2])
        self._terms[id(node)] = list(zip(nodes, own[::2], strict=True))
        return super()._sum(node, own)

    def _comparison(self, node: Tree[Token], children: list[Any]) -> ReadCondition:
        own = list(children)
        own[::2] = self._alike(node.children[::2], children[::2])
        return super()._comparison(node, own)

    def _product(self, node: Tree[Token], children: list[Any]) -> Any:
        factors = children[::2]
        numbers = [k for k, x in enumerate(factors) if _literal(node.children[2 * k]) is not None and x.plain]
        # A half, as of an energy, has no unit; else a sum or a choice may have one.
        free = [k for k in numbers if abs(factors[k].value.value) != 0.5] or numbers
        free = free or [k for k, x in enumerate(factors) if x.plain and id(node.children[2 * k]) in self._terms]
        if free:
            chosen = free[0]
            others: Dimension | None = NUMBER
            for k, x in enumerate(factors):
                if k != chosen and others is not None and not x.plain:
                    power = -1 if k and children[2 * k - 1] == "/" else 1
                    others = None if x.dimension is None else units.times(others, x.dimension, power)
            if others is not None and len(factors) > 1:
                divides = bool(chosen) and children[2 * chosen - 1] == "/"
                self._scales[id(node)] = Scale(node.children[2 * chosen], factors[chosen], others, divides)
        return super()._product(node, children)

    def _unary(self, node: Tree[Token], children: list[Any]) -> Any:
        last = id(node.children[-1])
        if last in self._scales:
            self._scales[id(node)] = self._scales[last]
        if last in self._terms:
            self._terms[id(node)] = self._terms[last]
        return super()._unary(node, children)

    def _call(self, node: Tree[Token], children: list[Any]) -> Any:
        name, nodes, own = str(children[0]), node.children[1:], list(children[1:])
        if name in OF_ONE_DIMENSION:
            first = int(name == IF)
            own[first:] = self._alike(nodes[first:], own[first:])
            if name in (IF, "min", "max"):
                self._terms[id(node)] = list(zip(nodes[first:], own[first:], strict=True))
        elif name in OF_NUMBERS:
            own = [self._bare(n, x) for n, x in zip(nodes, own, strict=True)]
        elif (read := self._tables.get(id(nodes[-1]))) is not None:
            for x, places in zip(own[:-1], read.places, strict=False):
                if x.dimension is not None and not x.plain:
                    for n, place in places:
                        self.fitted(n, place, x.dimension)
            if name == TABLE:
                self._terms[id(node)] = read.values
        return super()._call(node, [children[0], *own])

    def _power(self, node: Tree[Token], children: list[Any]) -> DimensionedExpr:
        nodes, (base, *exponents) = node.children, children
        own = [self._operand(n, x) for n, x in zip(nodes[1:], exponents, strict=True)]
        if base.told is not None and any(n not in self.constants for x in exponents for n in x.value.symbols()):
            base = self._operand(nodes[0], base)
        return super()._power(node, [base, *own])

    def _operand(self, node: Node, quantity: DimensionedExpr) -> DimensionedExpr:
        """The *quantity* of a *node*, an operand of a power, where a number is expected."""
        found, place = self._bare(node, quantity), (*_span(node), False)
        if found is not quantity and (own := self.insertions.get(place)) is not None:
            self.insertions[place] = replace(own, before=f"({own.before}", behind=f"{own.behind})")
        return found

    def _bare(self, node: Node, quantity: DimensionedExpr) -> DimensionedExpr:
        """The *quantity* of a *node* where a number is expected."""
        own = self.measured(quantity)
        found = self.fitted(node, quantity, NUMBER) if own.shown and not own.plain else quantity
        return self._freed(node, found) if self.measured(found).told not in (None, NUMBER) else found

    def _points(self, node: Tree[Token], children: list[Any]) -> ReadPoints:
        read = super()._points(node, children)
        lines: list[Sequence[Node]] = [line for own in node.children if isinstance(own, Tree) for line in _lines(own)]
        rows = [list(row) for row in read.rows]
        grid = len(rows) > 1 and len(rows[0]) + 1 == len(rows[1])
        places = [(k, i) for k in range(grid, len(rows)) for i in range(1, len(rows[k]) if grid else 2)]
        values = self._alike([lines[k][i] for k, i in places], [rows[k][i] for k, i in places])
        for (k, i), value in zip(places, values, strict=True):
            rows[k][i] = value
        first = [(line[0], row[0]) for line, row in zip(lines[grid:], read.rows[grid:], strict=True)]
        second = [*zip(lines[0], read.rows[0], strict=True)] if grid else []
        self._tables[id(node)] = ReadTable((first, second), [(lines[k][i], rows[k][i]) for k, i in places])
        return replace(read, rows=tuple(map(tuple, rows)))


def _lines(node: Tree[Token]) -> Iterator[Sequence[Node]]:
    """The numbers or expressions of each point of a table in a part of its points, each as a node."""
    if node.data == "point_of_table":
        yield node.children
    if node.data == NUMBERS:
        token: Any = node.children[0]
        for row in kin_tables.rows_of_numbers(str(token)):
            yield [_number_node(token.start_pos + start, text) for start, text in row]


def _number_node(start: int, text: str) -> Node:
    """The node of a number *text*, perhaps behind a sign, that begins at *start*."""
    bare, end = text.lstrip("+-"), start + len(text)
    node: Node = Tree("quantity", [Token("QUANTITY", bare)])
    node.meta.start_pos, node.meta.end_pos = end - len(bare), end
    node.meta.container_start_pos, node.meta.container_end_pos = start, end
    return node


def _apart(text: str, before: Sequence[str]) -> str:
    """*text* with spaces around an operator at its start, which would belong to a unit *before*."""
    apart = text[:1] in ("*", "/") and before and before[-1][-1:] not in ("", ")")
    return f" {text[0]} {text[1:]}" if apart else text


def _literal(node: Node) -> Node | None:
    """The number without a unit that *node* is, perhaps behind a sign."""
    while isinstance(node, Tree) and node.data == "unary":
        node = node.children[-1]
    return node if isinstance(node, Tree) and node.data == "quantity" else None


def _enclosed(node: Node) -> tuple[int, int, str, str]:
    """The part of the text that *node* is, and the brackets that it needs as a factor."""
    start, end = _span(node)
    closed = node.data in (
        "name",
        "call",
        "product",
        "unary",
        "power",
        "quantity",
        "vector_part",
        "component",
        "magnitude",
    )
    bare = (start, end) == (node.meta.start_pos, node.meta.end_pos) and not closed
    return (start, end, "(", ")") if bare else (start, end, "", "")


def _span(node: Node) -> tuple[int, int]:
    """The part of the text that *node* is, with brackets around it."""
    return node.meta.container_start_pos, node.meta.container_end_pos


def with_units(text: str, parameters: Mapping[str, Dimension], *, everywhere: bool) -> str:
    """*text*, of a whole system, with the units of its *parameters* and those that its numbers need beside these and states; if
    not *everywhere*, only those that make numbers short.

    A text that cannot be read, since Python gave the system a name that is none in the language, is returned as it is.
    """
    with collector_paused():
        try:
            grammar, tree = parsed(text, "<text>")
        except ModelError:
            return text
        own = ModelText(
            "<text>", grammar, {}, (), _none, partial(UnitFinder, declared=parameters, everywhere=everywhere)
        )
        read_statements(own, _none, tree, indexed=False)
        return cast(UnitFinder, own.source).inserted(text)


def _none(*_: object) -> NoReturn:
    """What reads files and indices: a system that is written has none."""
    raise AssertionError
