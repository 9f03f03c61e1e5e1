"""Rolling without slip on a plane: the contact, and the velocity of the body there.

With the normal n the point of contact lies from the centre at rho, and the centre above the plane at h::

    ball            rho = - r n                                h = r
    wheel           rho = - r (n - (n e) e) / s                h = r s         s = sqrt(1 - (n e)^2), e the axis
    torus           rho = - r (n - (n e) e) / s - a n          h = r s + a
    ellipsoid       rho = - A n / s                            h = s           s = sqrt(n A n), A the squares of half axes

All is seen from the body on which it rolls, and the height from that of the plane. The multiplier of ``n`` is the normal
force, those of ``u`` and ``w`` are the forces along two directions of the plane, on the rolling body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.formalism.closures.sight import Sight, constant
from kineta.formalism.elements import Elements
from kineta.model.constraints.rolling import Rolling
from kineta.model.motion import X, Y, Z
from kineta.spatial.rotation import normals
from kineta.spatial.vector import Vector


@dataclass(frozen=True, slots=True)
class Contact:
    """Where a surface touches: from its centre to the point of contact, and the height of the centre above it."""

    arm: Vector
    height: Ref


def rolling(on: Elements, rolling: Rolling) -> dict[str, Ref]:
    """The contact, and two components of the velocity of the point that touches."""
    plane, sight = Sight(on.kinematics, rolling.end.body), Sight(on.kinematics, rolling.material)
    n, u, w = (sight.direction(rolling.end.body, e) for e in (rolling.normal, *normals(rolling.normal)))
    contact = SHAPES[rolling.shape](on, rolling, sight, n, on.expression(*rolling.sizes))
    drift = Vector(on.graph, *on.mechanism.symbols.rates(sight.position(rolling.start).sum.refs))
    velocity = drift + sight.turning(rolling.start.body).cross(contact.arm)
    above = plane.position(rolling.start).less(plane.position(rolling.end))
    gap = on.graph.sub(constant(on.graph, rolling.normal).dot(above), contact.height)
    return {"n": gap, "u": u.dot(velocity), "w": w.dot(velocity)}


def _point(on: Elements, rolling: Rolling, sight: Sight, n: Vector, sizes: Sequence[Ref]) -> Contact:
    return Contact(Vector(on.graph), ZERO)


def _ball(on: Elements, rolling: Rolling, sight: Sight, n: Vector, sizes: Sequence[Ref]) -> Contact:
    (r,) = sizes
    return Contact(n * neg(r), r)


def _torus(on: Elements, rolling: Rolling, sight: Sight, n: Vector, sizes: Sequence[Ref]) -> Contact:
    g, (r, a) = on.graph, sizes
    assert rolling.axis is not None
    e = sight.direction(rolling.start.body, rolling.axis)
    inclination = n.dot(e)
    s = g.sqrt(g.sub(ONE, g.mul(inclination, inclination)))
    if s == ZERO:
        text = f"the {rolling.shape} of '{rolling.name}' lies flat on its plane, its axis along the normal in every motion, and "
        text += "touches at no one point; expected an axis that leans, or points of its rim that touch."
        raise ModelError(f"Model '{on.mechanism.symbols.system.name}': {text}", rolling.location)
    outwards = (n - e * inclination) * g.div(r, s)
    return Contact(-(outwards + n * a), g.add(g.mul(r, s), a))


def _wheel(on: Elements, rolling: Rolling, sight: Sight, n: Vector, sizes: Sequence[Ref]) -> Contact:
    return _torus(on, rolling, sight, n, (*sizes, ZERO))


def _ellipsoid(on: Elements, rolling: Rolling, sight: Sight, n: Vector, sizes: Sequence[Ref]) -> Contact:
    g = on.graph
    axes = [sight.direction(rolling.start.body, e) for e in (X, Y, Z)]
    parts = [g.mul(g.mul(a, a), n.dot(e)) for a, e in zip(sizes, axes, strict=True)]
    s = g.sqrt(g.sum(g.mul(part, n.dot(e)) for part, e in zip(parts, axes, strict=True)))
    x, y, z = (e * g.div(part, s) for part, e in zip(parts, axes, strict=True))
    return Contact(-(x + y + z), s)


Touch = Callable[[Elements, Rolling, Sight, Vector, Sequence[Ref]], Contact]

#: Where each shape touches a plane; a point does not roll, but slides.
SHAPES: Mapping[str, Touch] = {
    "point": _point,
    "wheel": _wheel,
    "disk": _wheel,
    "ball": _ball,
    "torus": _torus,
    "ellipsoid": _ellipsoid,
}
