"""A closed loop: two places, or two frames, that a joint holds together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import Location, did_you_mean
from kineta.model import units
from kineta.model.axis import Axis, direction
from kineta.model.body import Station, station
from kineta.model.bounds import Bound
from kineta.model.constraints import placement
from kineta.model.elements.coordinate import Place
from kineta.model.kind import Condition, Kind, Production, Scope
from kineta.model.units import Dimension
from kineta.records import dataclass
from kineta.values import word

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class LoopJoint:
    """Arguments required by a joint: axes, and a number.

    axes : how many of the two places have an axis; ``one`` where the same axis may serve both
    value : what the number behind ``=`` is, ``""`` for none, and its ``dimension``
    """

    axes: int = 0
    one: bool = True
    value: str = ""
    dimension: Dimension | None = None


#: The joints that may close a loop.
JOINTS: Mapping[str, LoopJoint] = {
    "ball": LoopJoint(),
    "revolute": LoopJoint(2),
    "prismatic": LoopJoint(1),
    "universal": LoopJoint(2, one=False),
    "cylindrical": LoopJoint(2),
    "rigid": LoopJoint(),
    "line": LoopJoint(1),
    "plane": LoopJoint(1),
    "distance": LoopJoint(value="a distance", dimension=units.LENGTH),
    "gear": LoopJoint(2, value="a ratio"),
}

#: Names of joints in other programs.
_ALIKE = {
    **dict.fromkeys(("hinge", "pin", "continuous"), "revolute"),
    **dict.fromkeys(("slider", "sliding", "translational"), "prismatic"),
    **dict.fromkeys(("spherical", "socket"), "ball"),
    **dict.fromkeys(("fixed", "weld", "welded"), "rigid"),
    **dict.fromkeys(("cardan", "hooke"), "universal"),
    "planar": "plane",
    "rod": "distance",
}


@dataclass(frozen=True, slots=True)
class Loop(Condition):
    """A *joint* of ``JOINTS`` between two places that motions lead to on different ways.

    ``axis`` and ``end_axis`` are fixed in the bodies of the two places, directions in their axes; None where the joint has
    none. ``value`` is the distance, or the ratio of a gear.
    """

    name: str
    joint: str
    start: Station
    end: Station
    axis: Axis | None = None
    end_axis: Axis | None = None
    value: Expr | None = None
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the loop."""
        value = () if self.value is None else (self.value,)
        return (*value, *self.start.position, *self.end.position)


def loop(
    name: str,
    joint: str,
    start: Place,
    end: Place,
    *,
    axis: Sequence[Scalar] | None = None,
    end_axis: Sequence[Scalar] | None = None,
    value: Scalar | None = None,
) -> Loop:
    """A closed :class:`Loop`: a *joint* between two places (points, stations, or bodies: their origins).

    joint : ``ball``, ``revolute``, ``prismatic``, ``universal``, ``cylindrical``, ``rigid``, ``line``, ``plane``, ``distance``
        or ``gear``
    axis, end_axis : (3,) of the joint in the axes of the first and of the second body; where a joint has one axis in both
        and the second is not given, it has the same components
    value : the distance [m], or the ratio of a gear
    """
    first, second = station(start), station(end)
    own, other = _axes(word(joint, "a joint"), axis, end_axis)
    return Loop(name, joint, first, second, own, other, value)  # type: ignore[arg-type]  # a record takes what it is given


def _axes(
    joint: str, axis: Sequence[Scalar] | None, end_axis: Sequence[Scalar] | None
) -> tuple[Axis | None, Axis | None]:
    """Both axes of a *joint*: the second is the first, where that may stand for both."""
    own, other = (None if a is None else direction(a) for a in (axis, end_axis))
    known = JOINTS.get(joint, LoopJoint())
    return own, own if other is None and known.axes == 2 and known.one else other


def _read(source: Source, name: Token, joint: Token, value: Node | None, start: Node, end: Node) -> Loop:
    (first, axis), (second, end_axis) = placement.read(source, start), placement.read(source, end)
    kind = JOINTS.get(source.noted(joint), LoopJoint())
    found = None if value is None else source.expression(value, kind.dimension, f"{kind.value} of loop '{name}'")
    own, other = _axes(str(joint), axis, end_axis)
    return Loop(str(name), str(joint), first, second, own, other, found, source.location(name))


def _written(loop: Loop) -> str:
    value = "" if loop.value is None else f" = {loop.value}"
    return f": {loop.joint}{value} {placement.clause(loop.start, loop.axis, loop.end, loop.end_axis)}"


def _fault(system: Scope, loop: Loop) -> tuple[str, str] | None:
    if loop.joint not in JOINTS:
        text = f"expected a joint ({', '.join(JOINTS)}), found '{loop.joint}'.{_near(loop.joint)}"
        return text, loop.joint
    text = _incomplete(loop, JOINTS[loop.joint])
    return (text, loop.joint) if text else placement.fault(system, loop.start.body, loop.end.body)


def _bounds(loop: Loop) -> tuple[Bound, ...]:
    if loop.joint != "distance" or loop.value is None:
        return ()
    advice = " A joint 'ball' holds two places together."
    return (Bound(loop.value, "a distance", positive=True, advice=advice, symbol=loop.joint),)


def _near(joint: str) -> str:
    """The sentence that suggests a joint of ``JOINTS``, by the sense of the word or by its letters."""
    return f" Did you mean '{_ALIKE[joint]}'?" if joint in _ALIKE else did_you_mean(joint, JOINTS)


def _incomplete(loop: Loop, joint: LoopJoint) -> str:
    """Sentence on a missing or superfluous argument of a *joint*."""
    given = [a is not None for a in (loop.axis, loop.end_axis)]
    if given != [joint.axes > 0, joint.axes > 1]:
        if not joint.axes:
            return f"a joint '{loop.joint}' has no axis; leave it out."
        behind = f"'{loop.start.body}'" if joint.axes == 1 else f"each place, '{loop.start.body}' and '{loop.end.body}'"
        return f"a joint '{loop.joint}' needs an axis at {behind}, as in axis (0, 0, 1), and no other."
    if joint.value and loop.value is None:
        return f"a joint '{loop.joint}' needs {joint.value}, as in {loop.joint} = 0.5."
    if not joint.value and loop.value is not None:
        return f"a joint '{loop.joint}' takes no number, found '{loop.value}'."
    return ""


def _constants(loop: Loop) -> tuple[Expr, ...]:
    """Places, and the ratio of a gear: a distance may change with the time."""
    ratio = () if loop.value is None or loop.joint == "distance" else (loop.value,)
    return (*ratio, *loop.start.position, *loop.end.position)


KIND = Loop.kind = Kind(
    Loop,
    "loop",
    {"loop": Production(f'":" NAME ["=" sum] {placement.BETWEEN}', _read)},
    _written,
    positions=lambda loop: loop.expressions,
    constants=_constants,
    fault=_fault,
    bounds=_bounds,
    reaction=lambda loop, component: units.COUPLE if component.startswith("r") or loop.joint == "gear" else units.FORCE,
    place=lambda loop: "" if loop.joint == "gear" else "end",
    in_joints=lambda loop: loop.joint == "gear",
)
