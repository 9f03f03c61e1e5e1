"""The direction from which pictures look at a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import Location, ModelError
from kineta.model.axis import Axis, direction
from kineta.model.coercion import vector
from kineta.model.kind import Appearance, Kind, Production, Scope
from kineta.model.phrases import vector as components
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class Viewpoint(Appearance):
    """The direction ``towards`` the eye, in ground axes; *name* is ``from``, its word."""

    name: str
    towards: Axis
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The components that are expressions."""
        return tuple(a for a in self.towards if isinstance(a, Expr))


def view(towards: Sequence[Scalar]) -> Viewpoint:
    """The direction (3,) from which pictures look at a machine, in ground axes."""
    return Viewpoint("from", direction(towards))


def _read(source: Source, name: Token, towards: Node) -> Viewpoint:
    if name != "from":
        raise ModelError(f"expected 'from', as in view from (1, -2, 1), found '{name}'.", source.location(name))
    return Viewpoint("from", source.axis(towards), source.location(name))


def _fault(scope: Scope, own: Viewpoint) -> tuple[str, str] | None:
    return None if own.name == "from" else (f"expected 'from' for its name, found '{own.name}'.", own.name)


KIND = Viewpoint.kind = Kind(
    Viewpoint,
    "view",
    {"view": Production("vector", _read)},
    lambda own: components(vector(own.towards)),
    constants=lambda own: own.expressions,
    fault=_fault,
)
