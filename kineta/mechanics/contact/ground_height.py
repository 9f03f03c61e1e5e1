"""Round shapes on ground of a given height: the place of the ground that a shape touches, by Newton's method in symbols.

The ground is phi = n0 . (P - E) - f(P) = 0, over the plane through E with the normal n0; its normal is N = n0 - grad f. A shape
with the centre C touches with its lowest place for that normal, P = C + arm(N), which makes P a function of the pose: the root of
F(P) = P - C - arm(N(P)), from P = C + arm(n0) on. The gap is phi/|N| there. What changes P along the ground changes it in second
order only, so that its rate is the velocity along N of the body at P, where both touch. Where Newton's method finds no root, in
which hollows are narrower than the shape, the last step and its rates tell nothing: in place of it stands the lowest place over
the plane, on whose gap depends alone whether the shape is far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr, expr
from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.expr.op import Op
from kineta.mechanics.constraints.rolling_residuals import ShapeContact
from kineta.mechanics.elements.applied_forces import Elements
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute
from kineta.spatial.vector import Vector

#: Steps of Newton's method: a wheel of 0.3 m on waves 5 cm high and 1 m long is found to 1e-13.
STEPS = 6
#: Least determinant in a step, which keeps it finite, and part of the size of a shape up to which a place is found.
LEAST, FOUND = 1e-3, 1e-4
#: Sine of the lean below which a rim over a plane has a dome, how much faster than over the ground its normal turns on it, and a
#: sine that none exceeds on what stands upright.
SHALLOW, CURVED, STEEP = 0.02, 2.0, 0.6
#: Names of the components of P, unlike any name of a model.
PLACE = tuple(f"ground under a shape {c}" for c in "xyz")


def touched(
    centre: Vector,
    up: Vector,
    slope: Callable[[Vector], Vector],
    geometry: Callable[[Vector], ShapeContact],
) -> tuple[Vector, Ref]:
    """The way from the *centre* of a shape to its place P that touches, or comes next to, ground of the *slope* grad f(P) over a
    plane with the normal *up*, all in ground axes, and a number that is positive where P is found; elsewhere to its lowest place
    over the plane. *geometry* is that of the shape on a plane of a given normal.
    """
    g = centre.graph
    place = Vector(g, *map(g.symbol, PLACE))
    arm = geometry(unit(up - slope(place))).arm
    off = place - centre - arm
    rows = [
        [partials.get(x, ZERO) for x in place.refs] for partials in (gradient(g, f, set(place.refs)) for f in off.refs)
    ]
    J = [Vector(g, *row) for row in rows]
    a, b, c = (Vector(g, *(row[k] for row in J)) for k in range(3))  # columns
    det = a.dot(b.cross(c))
    size = g.div(ONE, g.call(Op.MAX, det, g.const(LEAST)))
    step = Vector(g, off.dot(b.cross(c)), a.dot(off.cross(c)), a.dot(b.cross(off))) * size
    ahead = (place - step).refs
    lowest = geometry(up).arm
    found = centre + lowest
    for _ in range(STEPS):
        found = Vector(g, *substitute(g, ahead, dict(zip(PLACE, found.refs, strict=True))))
    near = g.sub(g.mul(g.const(FOUND**2), arm.dot(arm)), off.dot(off))
    known = g.call(Op.MIN, near, g.sub(det, g.const(LEAST)))
    *there, known = substitute(g, [*arm.refs, known], dict(zip(PLACE, found.refs, strict=True)))
    either = [g.add(g.where(x, known), g.where(y, neg(known))) for x, y in zip(there, lowest.refs, strict=True)]
    return Vector(g, *either), known


def dome(centre: Vector, axes: Sequence[Vector], radius: Ref, slope: Callable[[Vector], Vector], upright: Ref) -> Ref:
    """The sine of the lean below which a rim of this *radius* over ground of the *slope* grad f(P) has a dome, on whose way its
    normal turns CURVED times as fast as that of the ground. How fast that turns is the eighth root of the sum of eighth powers
    at the *centre* and at four places round it along two *axes* of the plane: smooth, and hardly more than the largest. So is the
    bound of the sine, STEEP over the square *upright* of the sine of the lean against the plane: what stands has its own rim, and
    what lies in hollows that are narrower than itself is found to.
    """
    g, place = centre.graph, Vector(centre.graph, *map(centre.graph.symbol, PLACE))
    bends = [x for f in slope(place).refs for x in gradient(g, f, set(place.refs)).values()]
    square, scale = g.sum(g.mul(x, x) for x in bends), g.mul(g.const(CURVED), radius)
    places = [centre, *(centre + e * x for e in axes for x in (radius, neg(radius)))]
    squares = [substitute(g, [square], dict(zip(PLACE, at.refs, strict=True)))[0] for at in places]
    scaled = [g.const(SHALLOW**2), *(g.mul(g.mul(scale, scale), x) for x in squares)]
    eighth = g.sum(g.mul(g.mul(x, x), g.mul(x, x)) for x in scaled)
    fourth = g.mul(g.mul(upright, upright), g.mul(upright, upright))
    bound = g.mul(g.mul(fourth, fourth), g.const(STEEP**-8))
    return g.sqrt(g.sqrt(g.sqrt(g.div(eighth, g.add(ONE, g.mul(eighth, bound))))))


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
