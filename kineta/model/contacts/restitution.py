"""Options of a contact, a limit or dry friction: ``restitution = 0.5 poisson, friction = 0.3``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, expr
from kineta.errors import ModelError, did_you_mean, one_of
from kineta.model.elements import compliant_contact

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source

#: Options, in the words of the grammar.
OPTIONS = '("," option)*'

#: Laws of restitution.
LAWS = ("newton", "poisson")

#: Laws of an option, behind its value.
_LAWS = {"restitution": LAWS, "stiffness": tuple(compliant_contact.LAWS)}


def poisson(law: str) -> bool:
    """Whether a *law* of restitution is Poisson's. Raises :class:`ArgumentError` for an unknown law."""
    return one_of(law, LAWS, "a law of restitution") == "poisson"


def option_nodes(source: Source, nodes: Iterable[Node], known: Sequence[str]) -> dict[str, Node]:
    """Syntax trees of the options in a text, of the names *known*, and the law of restitution under ``law``."""
    found: dict[str, Node] = {}
    for node in nodes:
        name, value, law = node.children
        if name not in known:
            text = f"expected an option ({', '.join(known)}), found '{name}'.{did_you_mean(name, known)}"
            raise ModelError(text, source.location(name))
        if name in found:
            raise ModelError(f"'{name}' is given twice.", source.location(name))
        found[str(name)] = value
        if law is not None:
            if (laws := _LAWS.get(name)) is None:
                raise ModelError(f"'{name}' has no law; leave out '{law}'.", source.location(law))
            if law not in laws:
                raise ModelError(f"expected a law of {name} ({', '.join(laws)}), found '{law}'.", source.location(law))
            found["law"] = law
    return found


def restitution(source: Source, options: dict[str, Node], what: str) -> tuple[Expr, bool]:
    """Restitution of *what* from its *options*, zero by default, and whether it is Poisson's."""
    value = options.get("restitution")
    if value is None:
        return expr(0), False
    return source.coefficient(value, f"the restitution of {what}"), options.get("law") == "poisson"


def restitution_clause(restitution: Expr, poisson: bool) -> str:
    """Text of a restitution; ``''`` without rebound."""
    law = " poisson" * poisson
    return f", restitution = {restitution}{law}" if law or restitution.value != 0 else ""


def option_clause(**options: Expr | None) -> str:
    """Text of the options that are not None."""
    return "".join(f", {name} = {value}" for name, value in options.items() if value is not None)
