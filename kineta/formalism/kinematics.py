"""Where everything is and how it moves: velocities of the links in link axes, of bodies and points in ground axes."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.mechanism import Mechanism, Place
from kineta.formalism.sweeps import Motion, velocity_level
from kineta.model.body import Station
from kineta.spatial.vector import Matrix, Vector, along, identity
from kineta.threads import once


class Kinematics:
    """Frames and velocities of a mechanism, each worked out when first asked for."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.graph = mechanism.graph

    @once
    def motion(self) -> Motion:
        """The velocities of the links."""
        return Motion(self.mechanism, velocity_level)

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
        frames: list[tuple[Matrix, Vector]] = []
        for link in self.mechanism.links:
            R, r = self._frame(frames, link.parent)
            origin = r + R @ link.offset
            frames.append((R.times(link.R).times(link.Q), origin))
        return frames

    def _frame(self, frames: Sequence[tuple[Matrix, Vector]], link: int) -> tuple[Matrix, Vector]:
        return frames[link] if link >= 0 else (identity(self.graph), Vector(self.graph))

    def axes(self, body: str) -> Matrix:
        """Axes of a body: body to ground components."""
        place = self.mechanism.places[body]
        return self._frame(self.frames, place.link)[0].times(place.R)

    def in_link(self, station: Station) -> tuple[int, Vector]:
        """The link that holds *station*, and its position in that link's frame."""
        place = self.mechanism.places[station.body]
        offset = Vector(self.graph, *self.mechanism.symbols.expression(*station.position))
        return place.link, place.r + place.R @ offset

    def position(self, station: Station) -> Vector:
        """Position of *station*, in ground axes."""
        link, x = self.in_link(station)
        R, r = self._frame(self.frames, link)
        return r + R @ x

    def velocity(self, station: Station) -> Vector:
        """Velocity of *station*, in ground axes."""
        link, x = self.in_link(station)
        if link < 0:
            return Vector(self.graph)
        return self.frames[link][0] @ (self.v[link] + self.w[link].cross(x))

    def angular_velocity(self, place: Place) -> Vector:
        """Angular velocity of a frame, in ground axes."""
        return self.frames[place.link][0] @ self.w[place.link] if place.link >= 0 else Vector(self.graph)

    def jacobian(self, station: Station) -> list[list[Ref]]:
        """d(velocity of the station, angular velocity)/dv in ground axes, (6, nv)."""
        add, mul = self.graph.add, self.graph.mul
        rows = [[ZERO] * len(self.mechanism.symbols.v) for _ in range(6)]
        end = self.position(station)
        i = self.mechanism.places[station.body].link
        while i >= 0:
            link = self.mechanism.links[i]
            R, r = self.frames[i]
            for rate in link.rates:
                e = R @ along(self.graph, rate.axis)
                column = (e.cross(end - r).refs + e.refs) if rate.turns else (e.refs + (ZERO,) * 3)
                for k, partial in rate.by_speed.items():
                    for row, entry in zip(rows, column, strict=True):
                        row[k] = add(row[k], mul(partial, entry))
            i = link.parent
        return rows
