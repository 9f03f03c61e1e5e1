"""Isomorphic systems, which differ in names and numbers alone, as ten boxes on the ground: one derivation and one code serve
them all.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr, expr, symbol
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import COMMUTATIVE, EVEN, LEAVES, ODD, Op
from kineta.expr.walk import operands, reachable
from kineta.model.body import GROUND
from kineta.model.named_expressions import Outputs
from kineta.model.parameters import Parameter, Parameters
from kineta.model.reserved_symbols import MULTIPLIER, forced, owner
from kineta.model.system import System
from kineta.model.transformations.mapping import map_expressions
from kineta.model.vectors import part
from kineta.passes.substitute import substitute
from kineta.records import dataclass, field_names, is_record

#: Fields of a system from which its equations follow.
_DESCRIBED = (
    "coordinates",
    "gravity",
    "bodies",
    "points",
    "elements",
    "constraints",
    "quasi",
    "states",
    "contacts",
    "switches",
    "outputs",
)
#: Fields of records that hold names of the model; other texts are words of the language.
_NAMED = ("name", "base", "body", "axes")
#: Numbers by which expressions are simplified.
_PLAIN = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Isomorphism:
    """A *system*, in which numbers that are not the same in all that are alike have become parameters; the number of the first
    of them, ``first``; and the ``names`` of that with those that they have here, of records and of their rows.
    """

    system: System
    first: int
    names: Mapping[str, str]


def isomorphisms(systems: Sequence[System]) -> list[Isomorphism]:
    """Which of *systems*, without named expressions, are alike."""
    shared: dict[int, tuple[Hashable, list[list[float]]]] = {}
    shapes = [_Shape(system, shared) for system in systems]
    groups: dict[Hashable, list[int]] = {}
    for k, shape in enumerate(shapes):
        groups.setdefault(shape.key, []).append(k)
    found: list[Isomorphism | None] = [None] * len(systems)
    for group in groups.values():
        rows = [[x for numbers in shapes[k].expressions for x in numbers] for k in group]
        varies = [len({*column}) > 1 for column in zip(*rows, strict=True)]
        own = [_with_parameters(systems[k], shapes[k], varies) for k in group]
        for k, system in zip(group, own, strict=True):
            found[k] = Isomorphism(system, group[0], _renamed(own[0], system, shapes[group[0]], shapes[k]))
    return [one for one in found if one is not None]


def named_as(names: Mapping[str, str], label: str) -> str:
    """The *label* of a row, ``foot.n``, or of its multiplier, of a system in which records have other *names*."""
    lead = MULTIPLIER if label.startswith(MULTIPLIER) else ""
    bare = label.removeprefix(lead)
    head = owner(bare, names)[0]
    return lead + (names[bare] if bare in names else f"{names.get(head, head)}{bare[len(head) :]}")


def _renamed(first: System, own: System, before: _Shape, after: _Shape) -> dict[str, str]:
    """The names of *first*, and of its rows, with those of *own*."""
    found = dict(zip(before.names, after.names, strict=True))
    for one, other in zip(first.contacts, own.contacts, strict=True):
        found |= zip(one.rows(first), other.rows(own), strict=True)
        found |= zip(one.impacts(first), other.impacts(own), strict=True)
    return found


def _with_parameters(system: System, shape: _Shape, varies: Sequence[bool]) -> System:
    """*system* with parameters for those of its numbers that *varies* tells."""
    if not any(varies):
        return system
    more, flags, taken = list[Parameter](), iter(varies), {*shape.names}
    chosen = iter([[x for x in numbers if next(flags)] for numbers in shape.expressions])

    def named(value: float) -> str:
        name = str(expr(value))
        while name in taken:
            name += "_"
        taken.add(name)
        more.append(Parameter(name, value))
        return name

    def lifted(expression: Expr) -> Expr:
        own = {value: named(value) for value in next(chosen)}
        if not own:
            return expression

        def number(value: float) -> Ref:
            return symbol(own[value]).ref if value in own else DESCRIPTIONS.const(value)

        with LOCK:
            (ref,) = substitute(DESCRIPTIONS, [expression.ref], {}, number=number)
        return Expr(DESCRIPTIONS, ref)

    described = {name: map_expressions(getattr(system, name), lifted) for name in _DESCRIBED}
    described["outputs"] = Outputs(described["outputs"])
    return system.unchecked(**described, parameters=Parameters((*system.parameters, *more)))


class _Shape:
    """What is left of *system* without its names and numbers, the ``key``; both in the order in which they stand there: the
    ``names``, each once, and the numbers of each of the ``expressions``, each once in it. Records without names, which systems
    may have in common, are *shared*, by their ids.
    """

    def __init__(self, system: System, shared: dict[int, tuple[Hashable, list[list[float]]]]) -> None:
        self._shared, self._asked = shared, 0
        self.names: dict[str, int] = {}
        self.expressions: list[list[float]] = []
        records = (*system.bodies, *system.points, *system.elements, *system.constraints, *system.contacts)
        named = (*records, *system.quasi, *system.states, *system.switches, *system.outputs)
        self._known = {*system.coordinates, *system.parameters.keys(), *(r.name for r in named)} - {GROUND}
        fixed = tuple((self._name(p.name), p.fixed and p.value) for p in system.parameters)
        self.key = fixed, tuple(self._of(getattr(system, name)) for name in _DESCRIBED)

    def _name(self, name: str) -> Hashable:
        self._asked += 1
        return self.names.setdefault(name, len(self.names)) if name in self._known else name

    def _of(self, value: Any, field: str = "name") -> Hashable:
        """The shape of a *value* in a *field*: a record, a tuple, an expression, or a plain value."""
        kind = type(value)
        if kind is Expr:
            return self._expression(value)
        if kind is tuple:
            return tuple([self._of(entry, field) for entry in value])
        if isinstance(value, str):
            return self._name(value) if field in _NAMED else (value,)
        if isinstance(value, tuple):
            return tuple(self._of(entry, field) for entry in value)
        if is_record(value):
            return self._record(value)
        return value if isinstance(value, Hashable) else id(value)  # a number, or what is like nothing else

    def _record(self, record: Any) -> Hashable:
        """The shape of a *record*."""
        if id(record) in self._shared:
            known, numbers = self._shared[id(record)]
            self.expressions += numbers
            return known
        asked, first, kind = self._asked, len(self.expressions), type(record)
        shape = kind, tuple([self._of(getattr(record, name), name) for name in field_names(kind, "compare")])
        if self._asked == asked:
            self._shared[id(record)] = shape, self.expressions[first:]
        return shape

    def _symbol(self, name: str) -> Hashable:
        """The shape of a symbol: ``A.x``, ``q1'``, ``lambda.foot.n``, ``a(Tip in Hand).x``."""
        if (vector := part(name)) is not None:
            own, rest = vector.vector, name.partition(")")[2]
            return own.kind, self._name(own.of), self._name(own.frame), name[0] == "|", rest
        if name.startswith(MULTIPLIER):  # of a record, a place, and a row
            record, rest = owner(name.removeprefix(MULTIPLIER), self._known)
            place, row = owner(rest, self._known)
            named = (record, place) if row else (record,)
            return MULTIPLIER, tuple(map(self._name, named)), row or rest
        if speed := forced(name):
            return "tau", self._symbol(speed)
        head = self._head(name)
        return self._name(head), name.removeprefix(head)

    def _head(self, name: str) -> str:
        """The part of the *name* of a symbol that names a record, a joint, a coordinate or a parameter."""
        return owner((forced(name) or name).rstrip("'"), self._known)[0].rstrip("'")

    def _rank(self, name: str) -> Hashable:
        """By what the symbol *name* is ordered: numbers of names that stand before, and the part of a vector."""
        if (vector := part(name)) is not None:
            own = vector.vector
            rest = own.kind + name.partition(")")[2]
            return self.names.get(own.of), self.names.get(own.frame), tuple(rest.encode())
        return self.names.get(self._head(name))

    def _expression(self, value: Expr) -> Hashable:
        """The shape of an expression: its nodes in an order, and with signs, that do not depend on which symbol is older."""
        graph, own, places = value.graph, list[float](), dict[int, int]()
        if graph.op[value.ref >> 1] == Op.CONST:
            number = graph.constants[graph.lhs[value.ref >> 1]]
            self.expressions.append([] if number in _PLAIN else [number])
            return value.ref & 1, ((Op.CONST, number if number in _PLAIN else None),)
        order = reachable(graph, [value.ref])
        known = {i: self._rank(graph.names[graph.lhs[i]]) for i in order if graph.op[i] == Op.SYMBOL}
        below = _operands(graph, order, known)
        nodes: list[tuple[int, Any]] = []  # an operation, and a number, a symbol, or nodes with their signs
        stack = [value.ref >> 1]
        while stack:
            i = stack.pop()
            if i in places:
                continue
            places[i] = len(nodes)
            leaf: Any = below[i].operands
            stack += [k for k, _ in reversed(leaf)]
            if graph.op[i] == Op.SYMBOL:
                leaf = self._symbol(graph.names[graph.lhs[i]])
            elif graph.op[i] == Op.CONST:
                leaf = graph.constants[graph.lhs[i]]
                if leaf not in _PLAIN:
                    own.append(leaf)
                    leaf = None
            nodes.append((graph.op[i], leaf))
        self.expressions.append(own)
        linked = (
            (op, tuple((places[k], sign) for k, sign in leaf) if type(leaf) is list else leaf) for op, leaf in nodes
        )
        return value.ref & 1 ^ below[value.ref >> 1].turned, tuple(linked)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node as it is compared: its ``form`` without names and numbers, its ``operands`` with their signs, and 1 where the node
    of the graph is its negative, ``turned``.
    """

    form: int
    operands: list[tuple[int, int]]
    turned: int = 0


def _operands(graph: Graph, order: Sequence[int], known: Mapping[int, Hashable]) -> dict[int, _Node]:
    """The nodes in the *order* of a *graph*, by what is *known* of its symbols without their names. Operands that may change
    places stand in the order of their forms; the first of a sum has a plus, those of products, of odd and of even functions no
    sign.
    """
    found: dict[int, _Node] = {}
    for i in order:
        op = graph.op[i]
        if op in LEAVES:
            number = graph.constants[graph.lhs[i]] if op == Op.CONST else None
            name = graph.names[graph.lhs[i]] if op == Op.SYMBOL else ""
            form = hash((op, number if number in _PLAIN else -1, known.get(i, -1), name.count("."), name.count("'")))
            found[i] = _Node(form, [])
            continue
        below = [(r >> 1, r & 1 ^ found[r >> 1].turned) for r in operands(graph, i)]
        if op in COMMUTATIVE:
            below.sort(key=lambda node: found[node[0]].form)
        turned = 0
        if op == Op.ADD:
            turned = below[0][1]
            below = [(k, sign ^ turned) for k, sign in below]
        elif op in (Op.MUL, Op.DIV):
            turned = below[0][1] ^ below[1][1]
            below = [(k, 0) for k, _ in below]
        elif op in ODD | EVEN:
            turned = below[0][1] * (op in ODD)
            below = [(below[0][0], 0)]
        found[i] = _Node(hash((op, *((found[k].form, sign) for k, sign in below))), below, turned)
    return found
