"""What a kind of element or of constraint brings: its words in the language, and how it is read, written and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from kineta.expr.node import Expr
from kineta.model.units import Dimension

if TYPE_CHECKING:
    from kineta.model.system import System

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Form(Generic[E]):
    """One way to write a record of a kind: ``rule`` is what stands between its name and the ``;``, in the words of the grammar.

    ``read`` makes the record of what the rule has found, the name first.
    """

    rule: str
    read: Callable[..., E]


@dataclass(frozen=True, slots=True)
class Kind(Generic[E]):
    """A kind of element or of constraint.

    record : its type
    word : the first word of its statements, and what errors call it
    forms : the statements, by the names that the grammar gives them
    write : what stands between the name and the ``;``
    positions : expressions that must not contain speeds; ``constants`` : those made of parameters only
    fault : what else is wrong with a record of a system, as a sentence and the word at fault; None for a sound one
    reaction : of a constraint, the dimension of the multiplier of a component; None where only its expression tells
    """

    record: type[E]
    word: str
    forms: Mapping[str, Form[E]]
    write: Callable[[E], str]
    positions: Callable[[E], tuple[Expr, ...]] = lambda _: ()
    constants: Callable[[E], tuple[Expr, ...]] = lambda _: ()
    fault: Callable[[System, E], tuple[str, str] | None] = lambda *_: None
    reaction: Callable[[E, str], Dimension | None] = lambda *_: None
