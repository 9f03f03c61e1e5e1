"""Boltzmann-Hamel terms of speeds that are not rates of coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import Ref
from kineta.mechanics.variables import Symbols
from kineta.model.motion import Free
from kineta.spatial.vector import Vector


def gyroscopic(s: Symbols, momenta: Sequence[Ref]) -> list[tuple[list[int], Vector]]:
    """The Boltzmann-Hamel terms gamma of ball and free motions, with the positions of their speeds in v::

    gamma_u = w x dT/du          gamma_w = w x dT/dw + u x dT/du
    """
    found = []
    for motion in s.system.joints.values():
        _, k = s.joint(motion)
        w, p_w = (Vector(s.graph, *(row[i] for i in k[-3:])) for row in (s.v, momenta))
        found.append((k[-3:], w.cross(p_w)))
        if isinstance(motion, Free):
            u, p_u = (Vector(s.graph, *(row[i] for i in k[:3])) for row in (s.v, momenta))
            found += [(k[:3], w.cross(p_u)), (k[-3:], u.cross(p_u))]
    return found
