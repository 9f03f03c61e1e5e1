"""Joints: motions with coordinates and speeds of their own, named together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.model.axis import LETTERS, Axis
from kineta.model.joints.motion import Motion
from kineta.spatial.vector import Matrix, Vector

#: Units of a quaternion (scalar first, Hamilton) that maps components in the frame after a joint to components before.
QUATERNION: Mapping[str, str] = dict.fromkeys(("qw", "qx", "qy", "qz"), "")


class Joint(Motion):
    """A motion in some directions, which form a group: what two such motions do one after another is such a motion.

    A subclass is a frozen dataclass with the field ``name``; its own name is its word in the language, ``Ball(b)``.

    coordinate_units : the coordinates with their units, in order; ``"x": "m"`` is ``b.x`` of the joint ``b``, those of
        :data:`QUATERNION` are a unit quaternion
    twist : the speeds, in order: ``vx``, a component of the velocity of the origin relative to the frame before [m/s], and
        ``wx``, one of the relative angular velocity [rad/s], all in the axes of the frame *after* the joint
    """

    __slots__ = ()

    coordinate_units: ClassVar[Mapping[str, str]]
    twist: ClassVar[tuple[str, ...]]
    name: str

    def __init__(self, name: str) -> None:
        raise NotImplementedError

    def frame(self, graph: Graph, q: Sequence[Ref]) -> tuple[Matrix, Vector]:
        """The frame after the joint at the coordinates *q*: its axes (components after to components before), and its origin,
        in the axes before.
        """
        raise NotImplementedError

    def rates(self, graph: Graph, q: Sequence[Ref], u: Vector, w: Vector) -> Sequence[Ref]:
        """The rates of the coordinates *q* for the velocity *u* of the origin and the angular velocity *w*, in the axes after."""
        raise NotImplementedError

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its coordinates."""
        return tuple(f"{self.name}.{part}" for part in self.coordinate_units)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of its speeds."""
        return tuple(f"{self.name}.{part}" for part in self.twist)

    @property
    def quaternion(self) -> tuple[str, ...]:
        """Names of the parts of its quaternion; none for a joint without one."""
        return tuple(f"{self.name}.{part}" for part in self.coordinate_units if part in QUATERNION)

    @property
    def changes(self) -> tuple[str, ...]:
        """Names of small shifts ``b.Sx`` and turns ``b.Rx`` along and about the axes after, in the order of the speeds."""
        return tuple(f"{self.name}.{'R' if turns else 'S'}{'xyz'[axis]}" for turns, axis in self.components)

    @property
    def components(self) -> tuple[tuple[bool, int], ...]:
        """For each speed, whether it is of the angular velocity, and its axis."""
        return tuple((part[0] == "w", "xyz".index(part[1])) for part in self.twist)

    @property
    def units(self) -> dict[str, str]:
        """Units of its coordinates and speeds, by name."""
        found = dict(zip(self.coordinates, self.coordinate_units.values(), strict=True))
        return found | {
            n: "rad/s" if turns else "m/s" for n, (turns, _) in zip(self.speeds, self.components, strict=True)
        }

    def vectors(self, graph: Graph, speeds: Sequence[Ref]) -> tuple[Vector, Vector]:
        """The velocity and the angular velocity of which *speeds* are the components, in the axes after."""
        found = ([ZERO] * 3, [ZERO] * 3)
        for (turns, axis), ref in zip(self.components, speeds, strict=True):
            found[turns][axis] = ref
        return Vector(graph, *found[0]), Vector(graph, *found[1])

    @property
    def turn_axes(self) -> tuple[Axis, ...]:
        """The axes about which it turns."""
        return tuple(tuple(LETTERS.values())[axis] for turns, axis in self.components if turns)

    @property
    def text(self) -> str:
        """The joint in the language: ``Ball(b)``."""
        return f"{type(self).__name__}({self.name})"

    def moved_by(self, variables: Collection[str]) -> bool:
        """True: its coordinates are its own."""
        return True
