"""Named parts: sums and products that occur more than once, where names shorten what is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.notation.readable.factoring import Factoring
from kineta.notation.readable.polynomials import ONE
from kineta.notation.readable.reading_cost import BRACKET, EXPONENT, LOOKUP, NAME, PART, POWER, TABLE
from kineta.notation.readable.ring import PI
from kineta.notation.readable.trees import (
    Tree,
    brackets,
    letters,
    negative,
    oriented,
    relettered,
    replaced,
    single,
    turned,
)


class NamedParts:
    """Parts and the trees that use them.

    named : for every name its tree
    trees : the given trees, with names
    shown : names that are printed, by those that were given first
    turned : how sums in brackets are written, once they are built
    signs : atoms of which the trees hold for one sign, with whether this is positive
    """

    def __init__(
        self,
        factoring: Factoring,
        trees: Sequence[Tree],
        named: dict[str, Tree],
        taken: Collection[str],
        signs: Mapping[int, bool],
        *,
        parts: bool,
        given: Collection[int] = (),
    ) -> None:
        """*trees*, of which those with the numbers *given* define names of the model, and what has a name already; with *parts*
        more is named, by none of the names *taken*.
        """
        self.factoring = factoring
        self.signs = signs
        self._given = given
        self.named = dict(named)
        self.trees = list(trees)
        self.shown: dict[str, str] = {}
        self._cost = factoring.reading.cost
        self.turned: dict[int, bool | None] = {}
        self._below: dict[int, Counter[int]] = {}
        self._built: dict[tuple[Graph, int], Ref] = {}
        names = (n for k in count(1) if (n := f"z{k}") not in taken)
        refused: set[Tree] = set()
        while parts and (part := self._most_useful(refused)) is not None:
            part = self._turned(part)
            refused |= {part, negative(part)}
            self._name(part, next(names))
        while sum(map(self._turn, self.named)):
            pass

    def cost(self) -> float:
        """The reading cost of all lines."""
        atoms = {self.factoring.ring.symbol(n) for n in self.named}
        uses = sum(n for t in (*self.named.values(), *self.trees) for x, n in self._deep(t).items() if x in atoms)
        within = sum(self._cost(t, 1) + PART for t in self.named.values())
        return sum(map(self._cost, self.trees)) + within + LOOKUP * uses

    def size(self) -> int:
        """The number of names in all lines."""
        return sum(self._deep(t).total() for t in self._every())

    def ordered(self) -> Iterator[str]:
        """The names in the order in which the parts need each other."""
        atoms = {n: self.factoring.ring.symbol(n) for n in self.named}
        left = list(self.named)
        while left:
            later = {atoms[n] for n in left}
            free = next(n for n in left if later.isdisjoint(self._deep(self.named[n]).keys() - {atoms[n]}))
            left.remove(free)
            yield free

    def built(self, graph: Graph, t: Tree) -> Ref:
        """A tree in a graph. What is subtracted is made after what it is subtracted from, so that no sign is taken back."""
        total = 0
        circle = frozenset({(self.factoring.ring.symbol(PI), 1)})
        for f, x in sorted(t, key=lambda row: (row[0] < 0, repr(row))):
            if x == circle:
                total = graph.add(total, graph.const(float(f) * math.pi))
                continue
            above, below = 2, 2
            for y, p in sorted(x, key=repr):
                power = self._power(graph, y, p)
                above, below = (graph.mul(above, power), below) if p > 0 else (above, graph.mul(below, power))
            total = graph.add(total, graph.div(graph.mul(graph.const(float(f)), above), below))
        return total

    def _power(self, graph: Graph, y: Any, p: int) -> Ref:
        """A factor to a power; a root to the third is its sum to the power 3/2."""
        if isinstance(y, int) and abs(p) > 1 and self.factoring.ring.keys[y][0] == "root":
            return graph.call(Op.POW, self.built(graph, self.factoring.opened(y)), graph.const(abs(p) / 2))
        base = self._atom(graph, y) if isinstance(y, int) else self._bracket(graph, y, p)
        return graph.call(Op.POW, base, graph.const(float(abs(p))))

    def _bracket(self, graph: Graph, t: Tree, power: int) -> Ref:
        """A sum in brackets; a difference that is squared somewhere begins with its first name wherever it stands."""
        ref = self.built(graph, t)
        if power % 2 == 0:
            self.turned[ref >> 1] = None
        else:
            self.turned.setdefault(ref >> 1, bool(ref & 1))
        return ref

    def _atom(self, graph: Graph, x: int) -> Ref:
        """An atom in a graph, made once: those within each other would take twice the time for each more."""
        key = graph, x
        if key not in self._built:
            self._built[key] = self._atom_anew(graph, x)
        return self._built[key]

    def _atom_anew(self, graph: Graph, x: int) -> Ref:
        key = self.factoring.ring.keys[x]
        if key[0] == "symbol":
            return graph.symbol(self.shown.get(str(key[1]), str(key[1])))
        if key[0] == "number":
            return graph.const(key[1])
        if key[0] == "root":
            return graph.sqrt(self.built(graph, self.factoring.opened(x)))
        if key[0] == "opposite":
            return graph.sub(graph.const(1.0), *(self.built(graph, t) for t in self.factoring.arguments(x)))
        op = Op.SIGN if key[0] == "sign" else key[1] if key[0] == "call" else key[0]
        return graph.call(op, *(self.built(graph, t) for t in self.factoring.arguments(x)))

    # -- choice ---------------------------------------------------------------------------------------------------------

    def _every(self) -> Iterable[Tree]:
        return (*self.trees, *self.named.values())

    def _most_useful(self, refused: Collection[Tree]) -> Tree | None:
        """The part whose name saves most."""
        uses: dict[Tree, int] = {}
        for t in self._every():
            for s in self._shared(t):
                uses[s] = uses.get(s, 0) + 1
        roots = [(s, x) for s in uses if (x := self._alone(s, "root")) is not None]
        squares = {s: _unsigned(self.factoring.opened(x)) for s, x in roots}
        even = {s: uses.get(square, 0) for s, square in squares.items()}
        for s, square in squares.items():
            uses[square] = uses.get(square, 0) + uses[s]
        formulas = (t for k, t in enumerate(self.trees) if k not in self._given)
        tables = {s for t in formulas for s in self._shared(t) if self._is_table(s)}
        gain = {
            s: self._gain(s, n) + TABLE * (s in tables)
            for s, n in uses.items()
            if s not in refused and (n + even.get(s, 0) > 1 or s in tables)
        }
        for s, n in even.items():
            if s in gain:
                gain[s] += n * (self._cost(squares[s]) + BRACKET - NAME - LOOKUP - POWER - EXPONENT)
        best = max(gain, key=lambda s: (gain[s], len(s), repr(sorted(s, key=repr))), default=None)
        return best if best is not None and gain[best] > 0 else None

    def _gain(self, part: Tree, uses: int) -> float:
        """What a name for a part saves."""
        within = BRACKET * (len(part) > 1)
        return uses * (self._cost(part) + within - NAME - LOOKUP) - self._cost(part, 1) - PART

    def _turned(self, part: Tree) -> Tree:
        """A part or its negative: as it stands below a root, or else most often."""
        keys, opened = self.factoring.ring.keys, self.factoring.opened
        if any(keys[x][0] == "root" and opened(x) == negative(part) for t in self._every() for x in letters(t)):
            return negative(part)
        used = [y for t in self._every() for y in brackets(t) if y in (part, negative(part))]
        return negative(part) if used and used.count(part) < used.count(negative(part)) else part

    def _name(self, part: Tree, name: str) -> None:
        ring, opened = self.factoring.ring, self.factoring.opened
        x = ring.symbol(name, ring.fastest([tuple((y, 1) for y in letters(part))]))
        root, roots = self._alone(part, "root"), {y for y in self._used() if ring.keys[y][0] == "root"}
        alone = root if root is not None else self._alone(part, "call")
        names = (
            {alone: x} if alone is not None else {y: ring.root({((x, 1),): ONE}) for y in roots if opened(y) == part}
        )
        square, times = (opened(root), 2) if root is not None else (part, 1)

        def with_name(t: Tree) -> Tree:
            return relettered(replaced(t, square, x, times) if times == 1 or len(square) > 1 else t, names)

        self.trees = list(map(with_name, self.trees))
        self.named = {n: with_name(t) for n, t in self.named.items()} | {name: part}

    def _turn(self, name: str) -> bool:
        """Whether a name now stands for the negative of what it stood for, since that leaves fewer minuses."""
        x = self.factoring.ring.symbol(name)
        trees = [oriented(turned(t, x)) for t in self.trees]
        named = {n: oriented(turned(t, x)) for n, t in self.named.items()} | {name: negative(self.named[name])}
        within = any(y != x and x in self._deep_of(y) for y in self._used())  # a root, or what a function is of
        if within or sum(map(self._cost, (*trees, *named.values()))) >= sum(map(self._cost, self._every())):
            return False
        self.trees, self.named = trees, named
        return True

    def _used(self) -> set[int]:
        return {y for t in self._every() for y in letters(t)}

    def _alone(self, part: Tree, kind: str) -> int | None:
        """The atom of a part that is a root, or a call of a function."""
        ((f, factors), *more) = part or ((0, ()),)
        ((x, p), *others) = factors or ((0, 0),)
        alone = f == p == 1 and not more and not others and isinstance(x, int)
        return x if alone and self.factoring.ring.keys[x][0] == kind else None

    def _is_table(self, part: Tree) -> bool:
        """Whether a part is a table of points, which has a name wherever it stands in a formula."""
        x = self._alone(part, "call")
        return x is not None and self.factoring.ring.keys[x][1] == Op.TABLE

    def _shared(self, t: Tree) -> Iterator[Tree]:
        """What within a tree may have a name, up to its sign: sums in brackets, roots, functions, and terms."""
        for f, x in t if self._alone(t, "call") is None else ():
            if len(x) > 1:
                yield frozenset({(abs(f), x)})
            for y, _ in x:
                if not isinstance(y, int):
                    yield _unsigned(y)
                    yield from self._shared(y)
                elif self.factoring.ring.keys[y][0] in ("root", "call"):
                    yield single(ONE, (y, 1))

    def _deep(self, t: Tree) -> Counter[int]:
        """How often atoms stand in a tree, in what stands under its roots, and in the arguments of its functions."""
        found = Counter[int]()
        for x in letters(t):
            found.update(self._deep_of(x))
        return found

    def _deep_of(self, x: int) -> Counter[int]:
        """As :meth:`_deep`, of an atom."""
        if x not in self._below:
            kind = self.factoring.ring.keys[x][0]
            within: list[Tree] = [self.factoring.opened(x)] if kind == "root" else []
            if kind not in ("root", "symbol", "number"):
                within = self.factoring.arguments(x)
            self._below[x] = sum(map(self._deep, within), Counter({x: 1}))
        return self._below[x]


def _unsigned(t: Tree) -> Tree:
    """A tree or its negative, whichever has fewer minuses."""
    return min(t, negative(t), key=lambda s: (sum(f < 0 for f, _ in s), repr(sorted(s, key=repr))))
