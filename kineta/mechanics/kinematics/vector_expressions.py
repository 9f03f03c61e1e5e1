"""Components and magnitudes of vectors of bodies and points, ``a(Tip).x`` or ``|w(Hull)|``, from the time derivatives of the
motion of the links.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import Ref
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.model.body import Station
from kineta.model.vectors import KINDS, Part, VectorSymbol
from kineta.spatial.vector import Vector


def of_part(kinematics: TreeKinematics, stations: Mapping[str, Station], part: Part) -> Ref:
    """The component, the magnitude, or a time derivative of either, denoted by *part*."""
    if part.component is None:
        own = _own(kinematics, stations, part.vector)
        value = kinematics.graph.sqrt(own.dot(own))
    else:
        value = _seen(kinematics, stations, part.vector)[part.component]
    return kinematics.mechanism.symbols.levels.of([value], part.rates)[0] if part.rates else value


def _seen(kinematics: TreeKinematics, stations: Mapping[str, Station], vector: VectorSymbol) -> Vector:
    """*vector* in the axes of its frame; a position from the origin of the frame."""
    if vector.kind == "r":
        return kinematics.position(stations[vector.of], vector.frame)
    link = kinematics.mechanism.places[stations[vector.of].body].link
    if link < 0:
        return Vector(kinematics.graph)
    return kinematics.seen(vector.frame)[link][0] @ _own(kinematics, stations, vector)


def _own(kinematics: TreeKinematics, stations: Mapping[str, Station], vector: VectorSymbol) -> Vector:
    """*vector* in the axes with the shortest expression: those of its link, or for a position those of its frame."""
    kind, motion = KINDS[vector.kind], kinematics.leveled
    link, x = kinematics.in_link(stations[vector.of])
    if vector.kind == "r":
        return kinematics.position(stations[vector.of], vector.frame)
    if link < 0:
        return Vector(kinematics.graph)
    if kind.turns:
        return motion.W(kind.order - 1)[link]
    return motion.X(kind.order)[link] + motion.U(kind.order)[link] @ x
