"""Kinds of elements, constraints and contacts: their statements in the language, writing and checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from kineta.algebra.expression import Expr, expr, symbol
from kineta.algebra.functions import sign
from kineta.errors import Location
from kineta.model.axis import DIRECTED
from kineta.model.body import Body, Point
from kineta.model.bounds import Bound
from kineta.model.coercion import ModelRecord
from kineta.model.joints.joint import Joint
from kineta.model.parameters import Parameters
from kineta.model.units import Dimension
from kineta.records import dataclass

E = TypeVar("E")


class KindRecord(ModelRecord):
    """Base of the records of elements, constraints, contacts, switches and programs; each has its ``kind``."""

    __slots__ = ()

    kind: ClassVar[Kind[Any]]
    name: str
    location: Location | None

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of its fields but those of directions, in their order."""
        own = (getattr(self, f.name) for f in fields(self) if f.type not in DIRECTED)  # type: ignore[arg-type]  # a dataclass
        return tuple(x for value in own for x in _expressions(value))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies of its places."""
        own = (getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]  # a dataclass
        return tuple(b for value in own for b in getattr(value, "bodies", ()))


def _expressions(value: Any) -> Iterator[Expr]:
    """The expressions in a field: itself, those of its entries, or those of a place."""
    if isinstance(value, Expr):
        yield value
    else:
        for entry in value if isinstance(value, tuple) else getattr(value, "expressions", ()):
            yield from _expressions(entry)


class Element(KindRecord):
    """Base of force elements."""

    __slots__ = ()


class Condition(KindRecord):
    """Base of constraints."""

    __slots__ = ()


class Appearance(KindRecord):
    """Base of what pictures show and equations do not know."""

    __slots__ = ()


class Unilateral(KindRecord):
    """Base of contacts, limits and dry friction.

    plural : their word where a task leaves them out
    always : whether they act in every state, not only where they are reached
    conditions : parameters with the values at which it acts; it acts at all values where there are none
    """

    __slots__ = ()

    plural: ClassVar[str] = "contacts"
    always: ClassVar[bool] = True

    conditions: tuple[tuple[str, Expr], ...] = ()

    @property
    def active(self) -> Expr:
        """1 where all parameters of its conditions have their values, else 0."""
        return math.prod((1 - abs(sign(symbol(name) - value)) for name, value in self.conditions), start=expr(1))

    def rows(self, scope: Scope) -> tuple[str, ...]:
        """Names of its rows, whose forces outputs may show."""
        return (self.name,)

    def impacts(self, scope: Scope) -> tuple[str, ...]:
        """Names of its places or ends that strike."""
        return self.rows(scope)

    @property
    def along(self) -> Expr | None:
        """The coordinate on which its force works; None for a distance [m]."""
        return None

    @property
    def gaps(self) -> tuple[Expr, ...]:
        """The expressions in its gap, which may have kinks."""
        return ()


class Scope(Protocol):
    """The names, bodies and values of a system against which a kind checks its records."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies, in any order."""

    @property
    def points(self) -> tuple[Point, ...]:
        """The named points."""

    @property
    def parameters(self) -> Parameters:
        """The parameters, with their values."""

    @property
    def taken(self) -> Mapping[str, str]:
        """Rule of name inference by which each name is a coordinate or parameter."""

    @property
    def switched(self) -> Mapping[str, Any]:
        """The parameters that switches set."""

    @property
    def impacts(self) -> Mapping[str, tuple[str, ...]]:
        """The places and ends that strike, by the names of contacts and limits, and of each of these; none of dry friction."""

    @property
    def frames(self) -> Mapping[str, None]:
        """Names of the bodies, and of the ground."""

    @property
    def lines(self) -> Mapping[str, Element]:
        """Elements whose force acts along a line, or at a place, by name."""

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Motions with coordinates of their own, by name."""

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates."""

    @property
    def v_names(self) -> tuple[str, ...]:
        """Names of the speeds of the equations."""

    @property
    def base_speeds(self) -> tuple[str, ...]:
        """Names of the speeds of the motions."""

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of all speeds, quasi-velocities included."""

    def expand(self, *expressions: Expr) -> tuple[Expr, ...]:
        """*expressions* with named expressions replaced by their values."""


def one_force(*_: object) -> tuple[str, ...]:
    """The name of the force of an element that has one, along what it acts on."""
    return ("",)


def forces_by_axes(*_: object) -> tuple[str, ...]:
    """The names of the components of a force or couple in ground axes."""
    return ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Production(Generic[E]):
    """Production of the grammar for a record of a kind: ``rule`` is the text between its name and the ``;``.

    ``read`` is its semantic action: the record from the name and the nodes of the rule.
    """

    rule: str
    read: Callable[..., E]


@dataclass(frozen=True, slots=True)
class Kind(Generic[E]):
    """A kind of element or of constraint.

    record : its type
    word : the first word of its statements, and its name in errors
    forms : the statements, by the names that the grammar gives them
    write : the text between the name and the ``;``
    positions : expressions that must not contain speeds; ``constants`` : expressions made of parameters only
    fault : another error of a record in a system, as a sentence and the word at fault; None for a valid record
    bounds : the ranges of its values
    reaction : of a constraint, the dimension of the multiplier of a component; None if only its expression determines it
    place : of a constraint, the field of the place about which its force and couple act; "" for a constraint without a place
    in_joints : whether a constraint acts through the joints on the path between its bodies
    forces : of an element, the names of its forces behind ``lambda.`` and its own name; ``""`` for its only one
    """

    record: type[E]
    word: str
    forms: Mapping[str, Production[E]]
    write: Callable[[E], str]
    positions: Callable[[E], tuple[Expr, ...]] = lambda _: ()
    constants: Callable[[E], tuple[Expr, ...]] = lambda _: ()
    fault: Callable[[Scope, E], tuple[str, str] | None] = lambda *_: None
    bounds: Callable[[E], tuple[Bound, ...]] = lambda _: ()
    reaction: Callable[[E, str], Dimension | None] = lambda *_: None
    place: Callable[[E], str] = lambda _: ""
    in_joints: Callable[[E], bool] = lambda _: False
    forces: Callable[[Scope, E], tuple[str, ...]] = lambda *_: ()
