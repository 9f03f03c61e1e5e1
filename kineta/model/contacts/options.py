"""What stands behind the commas of a contact, a limit or dry friction: ``restitution = 0.5 poisson, friction = 0.3``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kineta.errors import ModelError, did_you_mean, one_of
from kineta.expr.node import Expr, expr
from kineta.model import units

if TYPE_CHECKING:
    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source

#: Options, in the words of the grammar.
OPTIONS = '("," option)*'

#: Laws of restitution.
LAWS = ("newton", "poisson")


def poisson(law: str) -> bool:
    """Whether a *law* of restitution is Poisson's. Raises :class:`ArgumentError` for one that is none."""
    return one_of(law, LAWS, "a law of restitution") == "poisson"


def given(source: Source, nodes: Iterable[Node], known: Sequence[str]) -> dict[str, Node]:
    """The values in a text of those of the options *known* that it gives, and the law under ``law``."""
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
            if name != "restitution":
                raise ModelError(f"'{name}' has no law; leave out '{law}'.", source.location(law))
            found["law"] = law
    return found


def restitution(source: Source, options: dict[str, Node], what: str) -> tuple[Expr, bool]:
    """The restitution that *options* give, zero if they give none, and whether it is Poisson's; *what* has it."""
    value = options.get("restitution")
    if value is None:
        return expr(0), False
    return source.expression(value, units.NUMBER, f"the restitution of {what}"), options.get("law") == "poisson"


def rebound(restitution: Expr, poisson: bool) -> str:
    """A restitution as it is written; nothing where there is no rebound."""
    law = " poisson" * poisson
    return f", restitution = {restitution}{law}" if law or restitution.value != 0 else ""


def written(**options: Expr | None) -> str:
    """Options as they are written, those that are given."""
    return "".join(f", {name} = {value}" for name, value in options.items() if value is not None)
