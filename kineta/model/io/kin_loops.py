"""Repetition in the text language: ``for i in 1..6 : Link[i] ~ Link[i - 1] | Ry(q[i]) = m;``, and indices of names.

A repetition is written out in the syntax tree: its statements once for each index, with whole numbers in place of the index. All
tokens keep their places in the text, so that errors speak of what was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import is_not
from typing import Any

from lark import Token, Tree

from kineta.errors import Location, ModelError, did_you_mean
from kineta.model import units
from kineta.model.io.kin_expressions import Reader
from kineta.model.reserved_symbols import added_force, forced
from kineta.model.units import NUMBER, Dimension
from kineta.passes.evaluate import evaluate

#: The most statements that repetitions may stand for, and the most bodies of a model that uses others.
MOST = 20_000
#: The smallest and the largest index.
LARGEST = 10**6
#: Repetitions within repetitions beyond which a text is refused.
DEPTH = 20
#: Statements that a model has once.
_SINGLE = ("model", "include", "gravity", "control")
_INDEX = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"\[([^\[\]]*?)\.\.([^\[\]]*)\]")
_SPEED = re.compile(r"[^\W\d]\w*(\[[^\[\]]*\])*(\.[^\W\d]\w*(\[[^\[\]]*\])*)*'*")
_PLAIN = re.compile(r"\s*(?:(\d+)|([^\W\d]\w*)\s*(?:([+-])\s*(\d+))?)\s*")


class Repetitions:
    """Writes out the repetitions of a text: *parse* gives the syntax tree of an expression, *file* is the name in errors, and
    *constants* are the values that indices and bounds may name, with their *dimensions*.
    """

    def __init__(
        self,
        file: str,
        constants: Mapping[str, float],
        dimensions: Mapping[str, Dimension],
        parse: Callable[[str], Tree[Token]],
    ) -> None:
        self.file = file
        self.parse = parse
        self.constants = constants
        self.reader = Reader(file, dimensions)
        self.count = 0
        #: Names of the constants that were asked for.
        self.named: set[str] = set()
        self._open: dict[int, list[Tree[Token]]] = {}  # parts of statements, which the text keeps, by their ids

    def written_out(
        self, statements: Iterable[Tree[Token]], indices: Mapping[str, int] | None = None
    ) -> Iterator[Tree[Token]]:
        """The *statements* without repetitions, for these values of *indices*."""
        own = indices or {}
        for statement in statements:
            if statement.data == "for":
                yield from self._repeated(statement, own)
            else:
                if own:
                    self._counted(1, statement)
                    if statement.data in _SINGLE:
                        text = f"'{statement.data}' stands once in a model, found it in a repetition."
                        raise ModelError(text, self.reader.location(statement))
                if id(statement) not in self._open:
                    self._open[id(statement)] = _open_parts(statement, own)
                yield self._with_indices(statement, self._open[id(statement)], own)

    def _counted(self, more: int, node: Tree[Token]) -> None:
        self.count += more
        if self.count > MOST:
            text = f"the repetitions stand for more than {MOST} statements ({self.count} up to here); expected fewer."
            raise ModelError(text, self.reader.location(node))

    def _repeated(self, node: Tree[Token], indices: Mapping[str, int]) -> Iterator[Tree[Token]]:
        name, first, _, last, *body = node.children
        if not indices and _depth(node) > DEPTH:
            raise ModelError(f"repetitions stand more than {DEPTH} deep within each other.", self.reader.location(node))
        if name in indices or name in self.constants:
            what = "a constant" if name in self.constants else "the index of another repetition around it"
            raise ModelError(f"'{name}' is {what}; choose another name.", self.reader.location(name))
        if not re.fullmatch(r"\w+", str(name)):
            raise ModelError(f"expected a name for the index, found '{name}'.", self.reader.location(name))
        low, high = (self._whole(bound, indices, "a bound") for bound in (first, last))
        statements = [c for c in body if isinstance(c, Tree)]
        if high < low and all(isinstance(b, Tree) and b.data == "quantity" for b in (first, last)):
            text = f"expected bounds of a repetition that rise, as in 1..6, found {low}..{high}."
            raise ModelError(text, self.reader.location(first))
        if (count := max(0, high - low + 1) * self._size(statements, indices)) > MOST:
            raise ModelError(
                f"the repetition stands for {count} statements; expected {MOST} at most.", self.reader.location(node)
            )
        for i in range(low, high + 1):
            yield from self.written_out(statements, {**indices, str(name): i})

    def _size(self, statements: Sequence[Tree[Token]], indices: Mapping[str, int]) -> int:
        """How many statements *statements* stand for; a repetition within whose bounds are not known yet counts as one."""
        count = 0
        for own in statements:
            count += 1
            if own.data == "for":
                _, first, _, last, *body = own.children
                try:
                    low, high = (self._whole(bound, indices, "a bound") for bound in (first, last))
                except ModelError:  # of an index around, or said when it is written out
                    continue
                count += max(0, high - low + 1) * self._size([c for c in body if isinstance(c, Tree)], indices) - 1
        return count

    def _filled(self, tree: Tree[Token], indices: Mapping[str, int]) -> Tree[Token]:
        """*tree* with numbers for *indices*; what holds none is shared."""
        return self._with_indices(tree, _open_parts(tree, indices), indices)

    def _with_indices(self, tree: Tree[Token], parts: Sequence[Tree[Token]], indices: Mapping[str, int]) -> Tree[Token]:
        """*tree* with numbers for *indices* in its open *parts*."""
        known: dict[int, Any] = {}
        for part in parts:
            children = [known.get(id(c), c) if isinstance(c, Tree) else self._token(c, indices) for c in part.children]
            if part.data == "alike":
                children = [own for child in children for own in self._each(child, indices)]
            made = part
            if part.data == "name" and children[0] in indices:
                number = children[0].update("QUANTITY", str(indices[children[0]]))
                made = Tree("quantity", [number], part.meta)
            elif len(children) != len(part.children) or any(map(is_not, children, part.children)):
                made = Tree(part.data, children, part.meta)
            known[id(part)] = made
        found: Tree[Token] = known.get(id(tree), tree)
        return found

    def _each(self, node: Any, indices: Mapping[str, int]) -> Iterator[Any]:
        """*node*, or one for each index of a range in the name of a place, as of ``Ball[1..50]``."""
        token: Any = node.children[0] if isinstance(node, Tree) and node.data == "hold" else None
        found = None if token is None else _RANGE.search(token)
        if found is None:
            yield node
            return
        place = Location(self.file, token.line or 1, (token.column or 1) + found.start(1))
        ends = []
        for text in found.groups():
            if not text.strip():
                raise ModelError(f"expected a range with both ends, as in [1..50], found '{found[0]}'.", place)
            ends.append(self._evaluated(self.parse(text), indices, f"an end of the range in '{token}'", place))
        low, high = ends
        if not 0 <= low <= high <= LARGEST:
            raise ModelError(f"expected a range that rises, as in [1..50], found '{found[0]}'.", place)
        self._counted(high - low + 1, node)
        for i in range(low, high + 1):
            own = token.update(value=f"{token[: found.start()]}[{i}]{token[found.end() :]}")
            yield from self._each(Tree("hold", [self._token(own, indices), *node.children[1:]], node.meta), indices)

    def _token(self, token: Any, indices: Mapping[str, int]) -> Any:
        """*token* with whole numbers for its indices, but for a range."""
        if not _has_brackets(token) or _RANGE.search(token):
            return token
        speed, primes = forced(token.rstrip("'")), len(token) - len(token.rstrip("'"))
        if speed and speed not in indices and speed not in self.constants and _SPEED.fullmatch(speed):
            filled = self._token(token.update(value=speed), indices)
            return token.update(value=added_force(filled) + "'" * primes)
        return token.update(value=_INDEX.sub(lambda found: f"[{self._index(found, token, indices)}]", token))

    def _index(self, found: re.Match[str], token: Token, indices: Mapping[str, int]) -> int:
        content, column = found[1], (token.column or 1) + found.start(1)
        place = Location(self.file, token.line or 1, column)
        plain = _PLAIN.fullmatch(content)
        if plain is not None and (plain[1] or plain[2] in indices):
            value = int(plain[1]) if plain[1] else indices[plain[2]] + int(f"{plain[3] or '+'}{plain[4] or 0}")
        elif not content.strip():
            raise ModelError(f"expected an index in the brackets of '{token}', found nothing.", place)
        else:
            try:
                tree = self.parse(content)
            except ModelError as error:
                raise ModelError(str(error).partition(": ")[2], place) from None
            value = self._evaluated(tree, indices, f"an index of '{token}'", place)
        if not 0 <= value <= LARGEST:
            raise ModelError(f"expected an index from 0 to {LARGEST} in '{token}', found {value}.", place)
        return value

    def _whole(self, node: Any, indices: Mapping[str, int], what: str) -> int:
        return self._evaluated(node, indices, f"{what} of a repetition", self.reader.location(node))

    def _evaluated(self, tree: Tree[Token], indices: Mapping[str, int], what: str, place: Location) -> int:
        """The whole number of an expression of numbers, indices and constants."""
        known = {**self.constants, **indices}
        try:
            quantity = self.reader.quantity(self._filled(tree, indices))
        except ModelError as error:
            raise ModelError(str(error).partition(": ")[2], place) from None
        value = quantity.value
        if quantity.dimension is not None and quantity.dimension != NUMBER and not quantity.plain:
            raise ModelError(f"expected a whole number for {what}, found {units.name(quantity.dimension)}.", place)
        for name in value.symbols():
            if name not in known:
                near = did_you_mean(name, known)
                text = f"expected {what} of whole numbers, indices and constants with a number, found '{name}'.{near}"
                raise ModelError(text, place)
        self.named |= {*value.symbols()} & self.constants.keys()
        number = float(evaluate(value.graph, [value.ref], known)[0])
        if not number.is_integer():
            raise ModelError(f"expected a whole number for {what}, found {number:g}.", place)
        return int(number)


def _depth(node: Tree[Token]) -> int:
    """How many repetitions stand within each other in the repetition *node*, itself included, or more than too many."""
    inner = [own for own in node.children if isinstance(own, Tree) and own.data == "for"]
    depth = 1
    while inner and depth <= DEPTH:
        depth += 1
        inner = [own for node in inner for own in node.children if isinstance(own, Tree) and own.data == "for"]
    return depth


def _open_parts(tree: Tree[Token], indices: Container[str]) -> list[Tree[Token]]:
    """The parts of *tree* that *indices* may fill, parts before wholes: names with brackets, indices, lists of places."""
    found: list[Tree[Token]] = []
    open_ids: set[int] = set()
    for part in tree.iter_subtrees():
        own = part.data == "alike" or (part.data == "name" and part.children[0] in indices)
        if own or any(id(c) in open_ids if isinstance(c, Tree) else _has_brackets(c) for c in part.children):
            found.append(part)
            open_ids.add(id(part))
    return found


def _has_brackets(token: Any) -> bool:
    return isinstance(token, Token) and token.type in ("NAME", "VECTOR") and "[" in token
