"""Boltzmann-Hamel terms of speeds that are not rates of coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import Ref
from kineta.mechanics.variables import Symbols


def gyroscopic(s: Symbols, momenta: Sequence[Ref]) -> list[tuple[int, Ref]]:
    """The Boltzmann-Hamel terms gamma of joints, each with the position of its speed in v::

    gamma_u = w x dT/du          gamma_w = w x dT/dw + u x dT/du
    """
    found = []
    for joint in s.system.joints.values():
        (u, w), (p_u, p_w) = (s.twist(joint, row) for row in (s.v, momenta))
        _, places = s.joint(joint)
        for turning, term in ((True, w.cross(p_w)), (False, w.cross(p_u)), (True, u.cross(p_u))):
            own = zip(places, joint.components, strict=True)
            found += [(k, term[axis]) for k, (turns, axis) in own if turns == turning]
    return found
