"""Where everything is and how it moves: velocities of the links in link axes, of bodies and points in ground axes."""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.mechanism import Mechanism, Place
from kineta.formalism.sweeps import Motion, leveled, velocity_level
from kineta.model.body import GROUND, Station
from kineta.spatial.vector import Matrix, Vector, along
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

    @once
    def leveled(self) -> Motion:
        """The motion of the links with derivatives of any order."""
        return Motion(self.mechanism, leveled(self.mechanism.symbols), lower=self.motion)

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
        """Inwards from the link that holds the frame, then outwards: what is near is found without a way over the ground."""
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
        """Axes of a body: body to ground components, or to those of another *frame*."""
        place = self.mechanism.places[body]
        return self.seen(frame)[place.link][0].times(place.R)

    def in_link(self, station: Station) -> tuple[int, Vector]:
        """The link that holds *station*, and its position in that link's frame."""
        place = self.mechanism.places[station.body]
        offset = Vector(self.graph, *self.mechanism.symbols.expression(*station.position))
        return place.link, place.r + place.R @ offset

    def position(self, station: Station, frame: str = GROUND) -> Vector:
        """Position of *station*, in ground axes, or seen in another *frame*."""
        link, x = self.in_link(station)
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
        """d(velocity of the station, angular velocity)/dv in ground axes, or in those of another *frame*, (6, nv)."""
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
