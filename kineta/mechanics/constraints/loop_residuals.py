"""Residuals of the joints of closed loops: offsets of the second place from the first, and rotations of the second body.

The multiplier of an offset is the force on the second body, the multiplier of a rotation the couple on it, with opposite signs
on the first body. ``x y z`` are axes of the nearest common carrier of both bodies, or of the first body; ``u w`` are normal to
the first axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from random import Random

from kineta import tolerances
from kineta.errors import ExpressionError, ModelError
from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics.constraints.relative_kinematics import RelativeKinematics, between, carrier
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.axis import Axis
from kineta.model.constraints.loop import Loop
from kineta.model.joints.motion import ElementaryMotion, Motion
from kineta.passes.evaluate import evaluate
from kineta.spatial.rotation import normals, rodrigues
from kineta.spatial.vector import Vector, along


def loop(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The residuals of a loop."""
    return JOINTS[loop.joint](on, loop)


def _together(on: Elements, loop: Loop) -> dict[str, Ref]:
    """Coincidence of both places."""
    return dict(zip("xyz", between(on.kinematics, loop.start, loop.end).refs, strict=True))


def _offset(on: Elements, loop: Loop) -> Vector:
    """Vector from the first place to the second, in the axes of the first body."""
    sight = RelativeKinematics(on.kinematics, loop.start.body)
    return sight.position(loop.end).less(sight.position(loop.start))


def _beside(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The second place on the axis through the first."""
    offset = _offset(on, loop)
    u, w = normals(given(on, loop.axis))
    return {"u": u.dot(offset), "w": w.dot(offset)}


def _plane(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The second place in the plane through the first that is normal to the axis."""
    return {"": given(on, loop.axis).dot(_offset(on, loop))}


def _distance(on: Elements, loop: Loop) -> dict[str, Ref]:
    """(d^2 - L^2) / 2L = 0, without a square root, in metres; its multiplier is the force along the line."""
    g, line = on.graph, between(on.kinematics, loop.start, loop.end)
    (L,) = on.expression(*(() if loop.value is None else (loop.value,)))
    double = g.mul(g.const(2.0), L)
    return {"": g.div(g.sub(line.dot(line), g.mul(L, L)), double)}


def _parallel(on: Elements, loop: Loop) -> dict[str, Ref]:
    """Parallel axes: a small rotation t about u moves the second axis by -t w, about w by t u."""
    second = RelativeKinematics(on.kinematics, loop.start.body).direction(loop.end.body, given(on, loop.end_axis))
    u, w = normals(given(on, loop.axis))
    return {"ru": neg(w.dot(second)), "rw": u.dot(second)}


def _square(on: Elements, loop: Loop) -> dict[str, Ref]:
    """Perpendicular axes."""
    second = RelativeKinematics(on.kinematics, loop.start.body).direction(loop.end.body, given(on, loop.end_axis))
    return {"r": given(on, loop.axis).dot(second)}


def _aligned(on: Elements, loop: Loop) -> dict[str, Ref]:
    """Parallel axes of both bodies: small rotations about x, y, z move y to z, z to x, x to y."""
    sight = RelativeKinematics(on.kinematics, loop.start.body)
    x, y, z = (sight.direction(loop.end.body, e) for e in map(partial(along, on.graph), range(3)))
    return {"rx": y.z, "ry": z.x, "rz": x.y}


def _gear(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The angle of the second body equal to the ratio times the angle of the first, each about its own axis."""
    g, start, end = on.graph, loop.start.body, loop.end.body
    base = carrier(on.mechanism.symbols.system, start, end)
    (ratio,) = on.expression(*(() if loop.value is None else (loop.value,)))
    first, second = (_angle(on, loop, n, base, given(on, e)) for n, e in ((start, loop.axis), (end, loop.end_axis)))
    return {"": g.sub(second, g.mul(ratio, first))}


def _angle(on: Elements, loop: Loop, body: str, base: str, e: Vector) -> Ref:
    """The angle of *body* about *e* relative to *base*. Raise :class:`ModelError` for other rotations."""
    bodies = {b.name: b for b in on.mechanism.symbols.system.bodies}
    angle = ZERO
    while body != base:
        for motion in reversed(bodies[body].motions):
            e, angle = _before(on, motion, e, angle, loop, (body, base))
        body = bodies[body].base
    return angle


def _before(
    on: Elements, motion: Motion, e: Vector, angle: Ref, loop: Loop, ends: tuple[str, str]
) -> tuple[Vector, Ref]:
    """The direction *e* and the *angle* about it, before *motion*."""
    if not motion.turn_axes:
        return e, angle
    if isinstance(motion, ElementaryMotion):
        (turn,) = on.expression(motion.argument)
        if not on.is_parameter(turn):
            sense = _sense(on, e.dot(on.direction(motion.axis)))
            if sense:
                return e, on.graph.add(angle, turn if sense > 0 else neg(turn))
        else:
            return rodrigues(on.direction(motion.axis), turn) @ e, angle
    body, base = ends
    raise ModelError(
        f"Loop '{loop.name}': expected '{body}' to turn against '{base}' about the axis of its gear only; "
        "write a constraint on the speeds for other motions.",
        loop.location,
    )


def _sense(on: Elements, cosine: Ref) -> int:
    """1 or -1 where the *cosine* of the angle between two directions has this value for all values of the parameters, else 0."""
    parameters, chance = on.mechanism.symbols.system.parameters, Random(0)
    found = set()
    for _ in range(2):
        near = {p.name: (p.value or 1.0) * chance.uniform(0.9, 1.1) for p in parameters}
        try:
            (value,) = evaluate(on.graph, [cosine], near)
        except ExpressionError:
            return 0
        found.add(round(value) if abs(abs(value) - 1) < tolerances.ROUNDING_TOLERANCE else 0)
    return found.pop() if len(found) == 1 else 0


def given(on: Elements, axis: Axis | None) -> Vector:
    """The unit vector along an axis that the check of the system guarantees."""
    assert axis is not None
    return on.direction(axis)


Part = Callable[[Elements, Loop], dict[str, Ref]]


def _all(*parts: Part) -> Part:
    """The residuals of several *parts* together."""
    return lambda on, loop: reduce(lambda found, part: found | part(on, loop), parts, {})


#: Residuals of each joint.
JOINTS: Mapping[str, Part] = {
    "ball": _together,
    "revolute": _all(_together, _parallel),
    "prismatic": _all(_beside, _aligned),
    "universal": _all(_together, _square),
    "cylindrical": _all(_beside, _parallel),
    "rigid": _all(_together, _aligned),
    "line": _beside,
    "plane": _plane,
    "distance": _distance,
    "gear": _gear,
}
