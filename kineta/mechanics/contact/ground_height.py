"""Round shapes on ground of a given height: the place of the ground that a shape touches, by Newton's method in symbols.

The ground is phi = n0 . (P - E) - f(P) = 0, over the plane through E with the normal n0; its normal is N = n0 - grad f. A shape
with the centre C touches with its lowest place for that normal, P = C + arm(N), which makes P a function of the pose: the root of
F(P) = P - C - arm(N(P)), from P = C + arm(n0) on. The gap is phi/|N| there. What changes P along the ground changes it in second
order only, so that its rate is the velocity along N of the body at P, where both touch.
"""

from __future__ import annotations

from collections.abc import Callable

from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr, expr
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.constraints.rolling_residuals import ShapeContact
from kineta.mechanics.elements.applied_forces import Elements
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute
from kineta.spatial.vector import Vector

#: Steps of Newton's method: a wheel of 0.3 m on waves 5 cm high and 1 m long is found to 1e-13.
STEPS = 6
#: Names of the components of P, unlike any name of a model.
PLACE = tuple(f"ground under a shape {c}" for c in "xyz")


def touched(
    centre: Vector,
    up: Vector,
    slope: Callable[[Vector], Vector],
    geometry: Callable[[Vector], ShapeContact],
) -> Vector:
    """The way from the *centre* of a shape to the place P that touches, or comes next to, ground of the *slope* grad f(P) over a
    plane with the normal *up*, all in ground axes; *geometry* is that of the shape on a plane of a given normal.
    """
    g = centre.graph
    place = Vector(g, *map(g.symbol, PLACE))
    off = place - centre - geometry(unit(up - slope(place))).arm
    rows = [
        [partials.get(x, ZERO) for x in place.refs] for partials in (gradient(g, f, set(place.refs)) for f in off.refs)
    ]
    J = [Vector(g, *row) for row in rows]
    a, b, c = (Vector(g, *(row[k] for row in J)) for k in range(3))  # columns
    size = g.div(ONE, a.dot(b.cross(c)))
    step = Vector(g, off.dot(b.cross(c)), a.dot(off.cross(c)), a.dot(b.cross(off))) * size
    ahead = (place - step).refs
    found = centre + geometry(up).arm
    for _ in range(STEPS):
        found = Vector(g, *substitute(g, ahead, dict(zip(PLACE, found.refs, strict=True))))
    return found - centre


def unit(N: Vector) -> Vector:
    """A vector of length one."""
    g = N.graph
    return N * g.div(ONE, g.sqrt(N.dot(N)))


def height_and_slope(on: Elements, height: Expr, at: Vector) -> list[Ref]:
    """A *height* over a place of the ground, and its derivatives by the components of the place, in ground axes."""
    names = {place for n in height.symbols() if (place := n.rpartition(".")[0]) in on.stations}
    with LOCK:
        components = [[DESCRIPTIONS.symbol(f"{name}.{c}") for c in "xyz"] for name in names]
        partials = gradient(DESCRIPTIONS, height.ref, {x for three in components for x in three}) if components else {}
        slopes = [
            sum((Expr(DESCRIPTIONS, partials.get(x, ZERO)) for x in row), expr(0))
            for row in zip(*components, strict=True)
        ]
    more = {f"{name}.{c}": x for name in names for c, x in zip("xyz", at.refs, strict=True)}
    return on.expression(height, *(slopes or [expr(0)] * 3), more=more)
