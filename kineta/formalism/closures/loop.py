"""What the joints of closed loops make zero: offsets of the second place from the first, and turns of the second body.

The multiplier of an offset is the force on the second body, that of a turn the couple on it; the first has the opposite one.
``x y z`` are directions of the nearest body that carries both, or of the first body; ``u w`` are normal to the first axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from kineta.errors import ModelError
from kineta.expr.graph import ZERO, Ref, neg
from kineta.formalism.closures.sight import Sight, across, between, carrier, constant
from kineta.formalism.elements import Elements
from kineta.model.constraints.loop import Loop
from kineta.model.motion import Axis, Ball, Free, Motion, Rotation, X, Y, Z
from kineta.spatial.rotation import rodrigues
from kineta.spatial.vector import Vector


def loop(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The components of a loop."""
    return JOINTS[loop.joint](on, loop)


def _together(on: Elements, loop: Loop) -> dict[str, Ref]:
    """Both places are one."""
    return dict(zip("xyz", between(on.kinematics, loop.start, loop.end).refs, strict=True))


def _offset(on: Elements, loop: Loop) -> Vector:
    """From the first place to the second, in the axes of the first body."""
    sight = Sight(on.kinematics, loop.start.body)
    return sight.position(loop.end).less(sight.position(loop.start))


def _beside(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The second place stays on the axis of the first."""
    offset = _offset(on, loop)
    u, w = across(on.graph, given(loop.axis))
    return {"u": u.dot(offset), "w": w.dot(offset)}


def _plane(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The second place stays in the plane through the first that is normal to the axis."""
    return {"": constant(on.graph, given(loop.axis)).dot(_offset(on, loop))}


def _distance(on: Elements, loop: Loop) -> dict[str, Ref]:
    """(d^2 - L^2) / 2L = 0: no root, in metres, and its multiplier is the force along the line."""
    g, line = on.graph, between(on.kinematics, loop.start, loop.end)
    (L,) = on.expression(*(() if loop.value is None else (loop.value,)))
    double = g.mul(g.const(2.0), L)
    return {"": g.div(g.sub(line.dot(line), g.mul(L, L)), double)}


def _parallel(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The second axis is the first: a small turn t about u moves it by -t w, one about w by t u."""
    second = Sight(on.kinematics, loop.start.body).direction(loop.end.body, given(loop.end_axis))
    u, w = across(on.graph, given(loop.axis))
    return {"ru": neg(w.dot(second)), "rw": u.dot(second)}


def _square(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The axes are normal to each other."""
    second = Sight(on.kinematics, loop.start.body).direction(loop.end.body, given(loop.end_axis))
    return {"r": constant(on.graph, given(loop.axis)).dot(second)}


def _aligned(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The axes of both bodies are parallel, one by one: small turns about x, y, z move y to z, z to x, x to y."""
    sight = Sight(on.kinematics, loop.start.body)
    x, y, z = (sight.direction(loop.end.body, e) for e in (X, Y, Z))
    return {"rx": y.z, "ry": z.x, "rz": x.y}


def _gear(on: Elements, loop: Loop) -> dict[str, Ref]:
    """The angle of the second body is the ratio times that of the first, each about its own axis."""
    g, start, end = on.graph, loop.start.body, loop.end.body
    base = carrier(on.mechanism.symbols.system, start, end)
    (ratio,) = on.expression(*(() if loop.value is None else (loop.value,)))
    first, second = (_angle(on, loop, n, base, given(e)) for n, e in ((start, loop.axis), (end, loop.end_axis)))
    return {"": g.sub(second, g.mul(ratio, first))}


def _angle(on: Elements, loop: Loop, body: str, base: str, axis: Axis) -> Ref:
    """The angle by which *body* turns about *axis* against *base*. Raises :class:`ModelError` where it turns otherwise."""
    g, system = on.graph, on.mechanism.symbols.system
    bodies = {b.name: b for b in system.bodies}
    e, angle = constant(g, axis), ZERO
    while body != base:
        for motion in reversed(bodies[body].motions):
            e, angle = _before(on, motion, e, angle, loop, (body, base))
        body = bodies[body].base
    return angle


def _before(
    on: Elements, motion: Motion, e: Vector, angle: Ref, loop: Loop, ends: tuple[str, str]
) -> tuple[Vector, Ref]:
    """The direction *e* and the *angle* about it, before *motion*."""
    if isinstance(motion, Rotation):
        (turn,) = on.expression(motion.angle)
        if not on.is_parameter(turn):
            along = on.graph.value(e.dot(constant(on.graph, motion.axis)))
            if along is not None and abs(abs(along) - 1) < 1e-12:
                return e, on.graph.add(angle, turn if along > 0 else neg(turn))
        else:
            return rodrigues(on.graph, motion.axis, turn) @ e, angle
    elif not isinstance(motion, Ball | Free):
        return e, angle
    body, base = ends
    raise ModelError(
        f"Loop '{loop.name}': expected '{body}' to turn against '{base}' about the axis of its gear only; "
        "write a constraint on the speeds for other motions.",
        loop.location,
    )


def given(axis: Axis | None) -> Axis:
    """An axis that the check of the system has seen."""
    assert axis is not None
    return axis


Part = Callable[[Elements, Loop], dict[str, Ref]]


def _all(*parts: Part) -> Part:
    """What several joints make zero together."""
    return lambda on, loop: reduce(lambda found, part: found | part(on, loop), parts, {})


#: What each joint makes zero.
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
