"""Residuals of rolling without slip on a plane: the gap, and the velocity of the body at the point of contact.

With the normal n, rho leads from the centre to the point of contact, and h is the height of the centre above the plane::

    ball            rho = - r n                                h = r
    wheel           rho = - r (n - (n e) e) / s                h = r s         s = sqrt(1 - (n e)^2), e the axis
    torus           rho = - r (n - (n e) e) / s - a n          h = r s + a
    ellipsoid       rho = - A n / s                            h = s           s = sqrt(n A n), A the squares of half axes

Velocities are relative to the body of the surface, heights to the body of the plane. The multiplier of ``n`` is the normal
force, those of ``u`` and ``w`` are forces along two directions of the plane, on the rolling body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.mechanics.constraints.relative_kinematics import RelativeKinematics
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.constraints.rolling import Rolling
from kineta.records import dataclass
from kineta.spatial.rotation import normals
from kineta.spatial.vector import Vector, along


@dataclass(frozen=True, slots=True)
class ShapeContact:
    """Contact geometry of a shape: vector from its centre to the point of contact, and height of the centre above the point."""

    arm: Vector
    height: Ref


def rolling(on: Elements, rolling: Rolling) -> dict[str, Ref]:
    """The gap, and two components of the velocity at the point of contact."""
    up = on.direction(rolling.normal)
    plane, sight = (
        RelativeKinematics(on.kinematics, rolling.end.body),
        RelativeKinematics(on.kinematics, rolling.material),
    )
    n, u, w = (sight.direction(rolling.end.body, e) for e in (up, *normals(up)))
    contact = SHAPES[rolling.shape](on, rolling, sight, n, on.expression(*rolling.sizes))
    drift = Vector(on.graph, *on.mechanism.symbols.rates(sight.position(rolling.start).sum.refs))
    velocity = drift + sight.turning(rolling.start.body).cross(contact.arm)
    above = plane.position(rolling.start).less(plane.position(rolling.end))
    gap = on.graph.sub(up.dot(above), contact.height)
    return {"n": gap, "u": u.dot(velocity), "w": w.dot(velocity)}


def _ball(on: Elements, rolling: Rolling, sight: RelativeKinematics, n: Vector, sizes: Sequence[Ref]) -> ShapeContact:
    (r,) = sizes
    return ShapeContact(n * neg(r), r)


def _torus(on: Elements, rolling: Rolling, sight: RelativeKinematics, n: Vector, sizes: Sequence[Ref]) -> ShapeContact:
    g, (r, a) = on.graph, sizes
    assert rolling.axis is not None
    e = sight.direction(rolling.start.body, on.direction(rolling.axis))
    inclination = n.dot(e)
    s = g.sqrt(g.sub(ONE, g.mul(inclination, inclination)))
    if s == ZERO:
        text = f"the {rolling.shape} of '{rolling.name}' lies flat on its plane, its axis along the normal in every motion, and "
        text += "touches at no one point; expected an axis that leans, or points of its rim that touch."
        raise ModelError(f"Model '{on.mechanism.symbols.system.name}': {text}", rolling.location)
    outwards = (n - e * inclination) * g.div(r, s)
    return ShapeContact(-(outwards + n * a), g.add(g.mul(r, s), a))


def _wheel(on: Elements, rolling: Rolling, sight: RelativeKinematics, n: Vector, sizes: Sequence[Ref]) -> ShapeContact:
    return _torus(on, rolling, sight, n, (*sizes, ZERO))


def _ellipsoid(
    on: Elements, rolling: Rolling, sight: RelativeKinematics, n: Vector, sizes: Sequence[Ref]
) -> ShapeContact:
    g = on.graph
    axes = [sight.direction(rolling.start.body, along(g, i)) for i in range(3)]
    parts = [g.mul(g.mul(a, a), n.dot(e)) for a, e in zip(sizes, axes, strict=True)]
    s = g.sqrt(g.sum(g.mul(part, n.dot(e)) for part, e in zip(parts, axes, strict=True)))
    x, y, z = (e * g.div(part, s) for part, e in zip(parts, axes, strict=True))
    return ShapeContact(-(x + y + z), s)


ContactGeometry = Callable[[Elements, Rolling, RelativeKinematics, Vector, Sequence[Ref]], ShapeContact]

#: Contact geometry of each shape on a plane; a point does not roll, but slides.
SHAPES: Mapping[str, ContactGeometry] = {
    "point": lambda on, rolling, sight, n, sizes: ShapeContact(Vector(on.graph), ZERO),
    "wheel": _wheel,
    "disk": _wheel,
    "ball": _ball,
    "torus": _torus,
    "ellipsoid": _ellipsoid,
}
