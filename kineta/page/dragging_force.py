"""The hand that takes hold of a body: a spring and a damper from a place of the body to where the hand is."""

from __future__ import annotations

from kineta.equations.equations import Equations
from kineta.expr.graph import ZERO
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.derivation import Derivation
from kineta.model.body import Station
from kineta.passes.substitute import substitute
from kineta.spatial.vector import Vector

#: What the hand is told behind a weight for each body, 1 for the one that is held: the place in the axes of that body, where the
#: hand is [m], stiffness [N/m], damping [N s/m].
GRIP = ("x", "y", "z", "X", "Y", "Z", "stiffness", "damping")


def hand(equations: Equations) -> StraightLineProgram:
    """The program from t, q, v, the parameters p and the ``grip`` to the ``forces`` on the speeds (nv,), the ``place`` of the
    body that is held [m], and the ``pull`` there [N], in ground axes (3,).
    """
    return equations.memo((hand, GRIP), lambda: _hand(equations.alone()))


def _hand(d: Derivation) -> StraightLineProgram:
    s, g, kinematics = d.symbols, d.graph, d.kinematics
    bodies = [b.name for b in s.system.tree]
    weights = [g.symbol(f"hand on {name}") for name in bodies]
    told = [g.symbol(f"hand {name}") for name in GRIP]
    x, target, (stiffness, damping) = Vector(g, *told[:3]), Vector(g, *told[3:6]), told[6:]
    place, velocity = Vector(g), Vector(g)
    for name, weight in zip(bodies, weights, strict=True):
        arm = kinematics.axes(name) @ x
        turning = kinematics.angular_velocity(d.mechanism.places[name]).cross(arm)
        place = place + (kinematics.position(Station(name)) + arm) * weight
        velocity = velocity + (kinematics.velocity(Station(name)) + turning) * weight
    force = (target - place) * stiffness - velocity * damping
    held = [g.symbol(f"hand force {axis}") for axis in "xyz"]
    along = s.by_speed(Vector(g, *held).dot(velocity))
    values = {f"hand force {axis}": f for axis, f in zip("xyz", force.refs, strict=True)}
    forces = substitute(g, [along.get(k, ZERO) for k in range(len(s.v))], values)
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p, "grip": (*weights, *told)}
    outputs = {"forces": ((len(s.v),), forces), "place": ((3,), place.refs), "pull": ((3,), force.refs)}
    return program(g, inputs, outputs, "hand")
