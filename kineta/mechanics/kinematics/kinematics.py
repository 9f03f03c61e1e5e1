"""Positions and velocities: of links in link axes, of bodies and points in ground axes or in the frame of a body."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.kinematics.sweeps import LinkMotion, leveled, velocity_level
from kineta.mechanics.kinematics.tree import Mechanism, Place
from kineta.model.body import GROUND, Station
from kineta.spatial.vector import Matrix, Vector, along
from kineta.threads import once


class TreeKinematics:
    """Frames and velocities of a mechanism, computed when first used and memoised."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.graph = mechanism.graph

    @once
    def motion(self) -> LinkMotion:
        """The velocities of the links."""
        return LinkMotion(self.mechanism, velocity_level)

    @once
    def leveled(self) -> LinkMotion:
        """The motion of the links with derivatives of any order."""
        return LinkMotion(self.mechanism, leveled(self.mechanism.symbols), lower=self.motion)

    @property
    def w(self) -> list[Vector]:
        """Angular velocities of the links, in link axes."""
        return self.motion.W(0)

    @property
    def v(self) -> list[Vector]:
        """Velocities of the origins of the links, in link axes."""
        return self.motion.X(1)

    @once
    def frames(self) -> list[tuple[Matrix, Vector]]:
        """Axes (link to ground) and origin (in ground axes) of every link."""
        seen = self.seen(GROUND)
        return [seen[i] for i in range(len(self.mechanism.links))]

    def seen(self, body: str) -> dict[int, tuple[Matrix, Vector]]:
        """Axes (link to *body*) and origin of every link, and of the ground (-1), in the frame of *body*."""
        if body not in self._seen:
            self._seen[body] = self._seen_from(self.mechanism.places[body])
        return self._seen[body]

    @once
    def _seen(self) -> dict[str, dict[int, tuple[Matrix, Vector]]]:
        return {}

    def _seen_from(self, place: Place) -> dict[int, tuple[Matrix, Vector]]:
        """Return the frames of the links relative to a body, by one sweep inwards from its link and then outwards, so that
        neighbours are reached without a detour over the ground.
        """
        links, i, R = self.mechanism.links, place.link, place.R.T
        found = {i: (R, -(R @ place.r))}
        while i >= 0:
            link = links[i]
            R, r = found[i]
            R = R.times(link.R.times(link.Q).T)
            i = link.parent
            found[i] = R, r - R @ link.offset
        for i, link in enumerate(links):
            if i not in found:
                R, r = found[link.parent]
                found[i] = R.times(link.R).times(link.Q), r + R @ link.offset
        return found

    def axes(self, body: str, frame: str = GROUND) -> Matrix:
        """Rotation matrix from body components to those of *frame*, by default of the ground."""
        place = self.mechanism.places[body]
        return self.seen(frame)[place.link][0].times(place.R)

    def in_link(self, station: Station) -> tuple[int, Vector]:
        """The link to which *station* is fixed, and its position in the frame of the link."""
        return self.offset_in_link(station.body, self.mechanism.symbols.expression(*station.position))

    def offset_in_link(self, body: str, position: Sequence[Ref]) -> tuple[int, Vector]:
        """The link of *body*, and a *position* in the frame of the body in that of the link."""
        place = self.mechanism.places[body]
        return place.link, place.r + place.R @ Vector(self.graph, *position)

    def position(self, station: Station, frame: str = GROUND) -> Vector:
        """Position of *station*, in ground axes, or relative to another *frame*."""
        return self.in_frame(frame, *self.in_link(station))

    def in_frame(self, frame: str, link: int, x: Vector) -> Vector:
        """Position of a place x of a *link*, or of the ground, relative to a *frame*."""
        R, r = self.seen(frame)[link]
        return r + R @ x

    def velocity(self, station: Station, frame: str = GROUND) -> Vector:
        """Velocity of *station*, in ground axes, or in those of another *frame*."""
        link, x = self.in_link(station)
        if link < 0:
            return Vector(self.graph)
        return self.seen(frame)[link][0] @ (self.v[link] + self.w[link].cross(x))

    def angular_velocity(self, place: Place, frame: str = GROUND) -> Vector:
        """Angular velocity of a frame, in ground axes, or in those of another *frame*."""
        return self.seen(frame)[place.link][0] @ self.w[place.link] if place.link >= 0 else Vector(self.graph)

    def jacobian(self, station: Station, frame: str = GROUND) -> list[list[Ref]]:
        """Jacobian of the velocity of *station* and of the angular velocity by v, (6, nv), in ground axes or those of *frame*."""
        add, mul, seen = self.graph.add, self.graph.mul, self.seen(frame)
        rows = [[ZERO] * len(self.mechanism.symbols.v) for _ in range(6)]
        end = self.position(station, frame)
        i = self.mechanism.places[station.body].link
        while i >= 0:
            link = self.mechanism.links[i]
            R, r = seen[i]
            for rate in link.rates:
                e = R @ along(self.graph, rate.axis)
                column = (e.cross(end - r).refs + e.refs) if rate.turns else (e.refs + (ZERO,) * 3)
                for k, partial in rate.by_speed.items():
                    for row, entry in zip(rows, column, strict=True):
                        row[k] = add(row[k], mul(partial, entry))
            i = link.parent
        return rows
