"""Three expressions as the components of a vector."""

from __future__ import annotations

from kineta.algebra.expression import Expr

Three = tuple[Expr, Expr, Expr]


def dot(a: Three, b: Three) -> Expr:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Three, b: Three) -> Three:
    """The vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def scaled(a: Three, factor: Expr) -> Three:
    """The vector *a* times a *factor*."""
    return a[0] * factor, a[1] * factor, a[2] * factor


def moved(a: Three, b: Three) -> Three:
    """The sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
