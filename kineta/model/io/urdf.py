"""Reading URDF, the robot description of ROS.

Every element of a file is used, approximated or left out with a note that names its line, or refused.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kineta.errors import KinetaWarning, Location, ModelError, did_you_mean
from kineta.expr.node import Expr, expr, symbol
from kineta.model.body import GROUND, Body, Inertia, vector
from kineta.model.check import ENERGIES, principal_moments
from kineta.model.element import Damper
from kineta.model.infer import TIME
from kineta.model.io.kin import KEYWORDS
from kineta.model.io.xml import Element, parse
from kineta.model.motion import Axis, Free, Motion, Rotation, Rx, Ry, Rz, Shift, Sx, Sy, Sz, unit
from kineta.model.system import System

_GRAVITY = (0.0, 0.0, -9.81)

#: Elements that are read, by the element that holds them.
_READ = {
    "robot": {"link", "joint"},
    "link": {"inertial"},
    "joint": {"origin", "parent", "child", "axis", "dynamics", "mimic"},
    "inertial": {"origin", "mass", "inertia"},
}
#: Elements that are left out, with the reason.
_LEFT_OUT = {
    "robot": dict.fromkeys(("material", "transmission", "gazebo", "sensor"), "has no part in the motion"),
    "link": dict.fromkeys(("visual", "collision", "contact", "self_collision_checking"), "has no part in the motion"),
    "joint": {
        "limit": "limits do not act; watch them with events",
        "safety_controller": "is a matter of control",
        "calibration": "is a matter of measurement",
        "property": "has no part in the motion",
    },
    "inertial": {},
}


@dataclass(frozen=True, slots=True)
class Note:
    """Something in the file that is not used as it stands: how often, where first, and why."""

    location: Location
    element: str
    treatment: str
    reason: str
    count: int = 1

    def __str__(self) -> str:
        times = f" ({self.count} times, first here)" if self.count > 1 else ""
        return f"{self.location}: {self.element} {self.treatment}: {self.reason}{times}"


def read(path: str | Path, *, floating: bool = False, gravity: Sequence[float] = _GRAVITY) -> System:
    """The system in a URDF file.

    floating : let the root link float freely (motion ``root``: position, quaternion; velocities in its own axes) instead
        of fixing it to the ground. gravity : in ground axes [m/s^2]; URDF has none of its own

    Links become bodies, joints coordinates of the same names (characters that are no letters, digits or _ become _).
    Raises :class:`ModelError` with the line for what cannot be read; emits :class:`KinetaWarning` for what would affect the
    motion and is approximated or left out.
    """
    system, notes = read_with_report(path, floating=floating, gravity=gravity)
    for note in notes:
        if note.treatment != "left out":
            warnings.warn(str(note), KinetaWarning, stacklevel=2)
    return system


def read_with_report(
    path: str | Path, *, floating: bool = False, gravity: Sequence[float] = _GRAVITY
) -> tuple[System, tuple[Note, ...]]:
    """:func:`read`, with the notes instead of warnings."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise ModelError(f"{path}: the file cannot be read ({error.strerror}).") from None
    robot = _Robot(parse(content, str(path)), floating=floating)
    return robot.system(gravity), robot.grouped_notes()


def reads(text: str, *, file: str = "<urdf>", floating: bool = False, gravity: Sequence[float] = _GRAVITY) -> System:
    """The system in a URDF text; *file* is the name shown in errors."""
    return _Robot(parse(text.encode(), file), floating=floating).system(gravity)


@dataclass(slots=True)
class _Joint:
    element: Element
    name: str
    kind: str
    parent: str
    child: str


@dataclass(slots=True)
class _Names:
    """Identifiers for the names of the file: legal and distinct."""

    taken: set[str]
    given: dict[str, str] = field(default_factory=dict)

    def add(self, name: str) -> str:
        clean = re.sub(r"\W", "_", name)
        clean = clean if clean[:1].isalpha() or clean[:1] == "_" else f"_{clean}"
        while clean in self.taken:
            clean += "_"
        self.taken.add(clean)
        self.given[name] = clean
        return clean


class _Robot:
    def __init__(self, root: Element, *, floating: bool) -> None:
        if root.tag != "robot":
            raise ModelError(f"expected <robot>, found <{root.tag}>.{did_you_mean(root.tag, ['robot'])}", root.location)
        self.root = root
        self.floating = floating
        self.notes: list[Note] = []
        self._survey(root)
        self.links = self._named(root.all("link"), "link")
        self.joints = {n: self._joint(e) for n, e in self._named(root.all("joint"), "joint").items()}
        self.by_child = self._tree()
        reserved = {TIME, "pi", GROUND, *ENERGIES, *KEYWORDS}
        self.bodies = _Names(set(reserved))
        self.coordinates = _Names(set(reserved))
        for name in self.links:
            self.bodies.add(name)
        self._rename()

    # -- what is there ----------------------------------------------------------------------------------------------

    def _survey(self, element: Element) -> None:
        """Note what is left out below *element*, refuse what looks like a slip of the pen."""
        read, left_out = _READ[element.tag], _LEFT_OUT[element.tag]
        for child in element.children:
            if child.tag in read:
                if child.tag in _READ:
                    self._survey(child)
            elif child.tag in left_out:
                self._note(child, "left out", left_out[child.tag])
            else:
                near = did_you_mean(child.tag, read)
                if near:
                    raise ModelError(f"unknown element <{child.tag}> in <{element.tag}>.{near}", child.location)
                self._note(child, "left out", "is not part of URDF")

    def _note(self, element: Element, treatment: str, reason: str) -> None:
        self.notes.append(Note(element.location, f"<{element.tag}>", treatment, reason))

    def grouped_notes(self) -> tuple[Note, ...]:
        """One note for all that have the same element, treatment and reason."""
        groups: dict[tuple[str, str, str], list[Note]] = {}
        for note in self.notes:
            groups.setdefault((note.element, note.treatment, note.reason), []).append(note)
        return tuple(Note(g[0].location, *key, count=len(g)) for key, g in groups.items())

    def _named(self, elements: Iterable[Element], what: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in elements:
            name = element.get("name")
            if name in found:
                raise ModelError(
                    f"{what} '{name}' is described twice (first at {found[name].location}).", element.location
                )
            found[name] = element
        return found

    def _joint(self, element: Element) -> _Joint:
        kind = element.get("type")
        if kind not in _JOINTS:
            known = ", ".join(_JOINTS)
            raise ModelError(
                f"joint type '{kind}' is unknown; expected {known}.{did_you_mean(kind, _JOINTS)}", element.location
            )
        ends = []
        for tag in ("parent", "child"):
            end = element.one(tag)
            if end is None:
                raise ModelError(f"joint '{element.get('name')}': <{tag}> is missing.", element.location)
            link = end.get("link")
            if link not in self.links:
                near = did_you_mean(link, self.links)
                raise ModelError(f"joint '{element.get('name')}': link '{link}' does not exist.{near}", end.location)
            ends.append(link)
        return _Joint(element, element.get("name"), kind, *ends)

    def _tree(self) -> dict[str, _Joint]:
        """The joint that leads to each link; exactly one link has none."""
        by_child: dict[str, _Joint] = {}
        for joint in self.joints.values():
            other = by_child.setdefault(joint.child, joint)
            if other is not joint:
                raise ModelError(
                    f"link '{joint.child}' hangs on two joints, '{other.name}' and '{joint.name}'; URDF allows trees only.",
                    joint.element.location,
                )
        roots = [n for n in self.links if n not in by_child]
        if len(roots) != 1:
            none = "none: the joints form a loop" if self.links else "no links at all"
            found = f"{len(roots)} ({', '.join(roots[:5])})" if roots else none
            raise ModelError(f"expected one root link, found {found}.", self.root.location)
        self.root_link = roots[0]
        return by_child

    def _rename(self) -> None:
        """Names of coordinates, in the order of the joints; of a joint with several, the joint's name is the stem."""
        for joint in self.joints.values():
            if joint.kind == "floating":
                self.coordinates.given[joint.name] = self.bodies.add(f"{joint.name}_motion")
            elif joint.kind != "fixed":
                self.coordinates.add(joint.name)
        for names in (self.bodies, self.coordinates):
            for old, new in names.given.items():
                if old != new and not new.endswith("_motion"):
                    element = self.links.get(old) or self.joints[old].element
                    self._note(element, "renamed", f"'{old}' is called '{new}'")

    # -- the system -------------------------------------------------------------------------------------------------

    def system(self, gravity: Sequence[float]) -> System:
        """All links as bodies, carriers first."""
        children: dict[str, list[str]] = {}
        for link, joint in self.by_child.items():
            children.setdefault(joint.parent, []).append(link)
        order, stack = [], [self.root_link]
        while stack:
            link = stack.pop()
            order.append(link)
            stack.extend(reversed(children.get(link, [])))
        if len(order) < len(self.links):
            lost = next(n for n in self.links if n not in order)
            raise ModelError(
                f"link '{lost}' is not connected to the root link '{self.root_link}'.", self.links[lost].location
            )
        bodies = [self._body(link) for link in order]
        coordinates = [self._root_motion()] if self.floating else []
        coordinates += [c for link in order[1:] for c in self._own_coordinates(self.by_child[link])]
        return System(
            _Names(set()).add(self.root.attributes.get("name") or Path(self.root.location.file).stem),
            bodies,
            gravity=gravity,
            coordinates=coordinates,
            parameters=(),
            elements=[d for link in order[1:] for d in self._dampers(self.by_child[link])],
        )

    def _body(self, link: str) -> Body:
        element = self.links[link]
        name = self.bodies.given[link]
        inertia = self._inertia(element, link)
        joint = self.by_child.get(link)
        if joint is None:
            motions: tuple[Motion, ...] = ()
            if self.floating:
                motions = (Free(self._root_motion()),)
            return Body(name, GROUND, motions, inertia, element.location)
        motions = (*self._origin(joint.element.one("origin")), *_JOINTS[joint.kind](self, joint))
        return Body(name, self.bodies.given[joint.parent], motions, inertia, element.location)

    def _root_motion(self) -> str:
        """Name of the motion of a floating root link."""
        return next(n for n in ("root", "root_", "root_motion", "root_motion_") if n not in self.bodies.taken)

    def _numbers(
        self, element: Element, attribute: str, count: int, default: Sequence[float] | None = None
    ) -> list[float]:
        """The *count* numbers of an attribute."""
        text = element.attributes.get(attribute)
        if text is None and default is not None:
            return list(default)
        text = element.get(attribute) if text is None else text
        try:
            values = [float(part) for part in text.split()]
        except ValueError:
            values = []
        if len(values) != count or not all(map(math.isfinite, values)):
            plural = "numbers" if count > 1 else "number"
            raise ModelError(
                f"<{element.tag}> {attribute}: expected {count} {plural}, found '{text}'.", element.location
            )
        return values

    def _origin(self, element: Element | None) -> list[Motion]:
        """Constant motions to a frame: shifts, then turns about fixed axes x, y, z, that is about own axes z, y, x."""
        if element is None:
            return []
        xyz = self._numbers(element, "xyz", 3, (0, 0, 0))
        roll, pitch, yaw = self._numbers(element, "rpy", 3, (0, 0, 0))
        shifts: list[Motion] = [make(x) for make, x in zip((Sx, Sy, Sz), xyz, strict=True) if x]
        return shifts + [make(a) for make, a in ((Rz, yaw), (Ry, pitch), (Rx, roll)) if a]

    def _inertia(self, link: Element, name: str) -> Inertia:
        element = link.one("inertial")
        if element is None:
            return Inertia()
        mass_element, inertia_element = element.one("mass"), element.one("inertia")
        for tag, child in (("mass", mass_element), ("inertia", inertia_element)):
            if child is None:
                raise ModelError(f"link '{name}': <inertial> has no <{tag}>.", element.location)
        assert mass_element is not None
        assert inertia_element is not None
        (mass,) = self._numbers(mass_element, "value", 1)
        if mass < 0:
            raise ModelError(f"link '{name}': mass is {mass:g} kg; expected zero or more.", mass_element.location)
        entries = {k: self._numbers(inertia_element, k, 1, (0,))[0] for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
        origin = element.one("origin")
        com = self._numbers(origin, "xyz", 3, (0, 0, 0)) if origin is not None else [0.0, 0.0, 0.0]
        rpy = self._numbers(origin, "rpy", 3, (0, 0, 0)) if origin is not None else [0.0, 0.0, 0.0]
        moments, products = _rotated(entries, rpy)
        unchecked = self._impossible(inertia_element, moments, products)
        return Inertia(
            mass=expr(mass), com=vector(com), moments=vector(moments), products=vector(products), unchecked=unchecked
        )

    def _impossible(self, element: Element, moments: Sequence[float], products: Sequence[float]) -> bool:
        """Note an inertia tensor that no body can have; it is used as it stands, as other programs do."""
        a, b, c = sorted(principal_moments(moments, products))
        if a >= -1e-9 * abs(c) and a + b >= c * (1 - 1e-9):
            return False
        self._note(element, "used as it stands", "no body has these moments of inertia; correct them")
        return True

    # -- joints -------------------------------------------------------------------------------------------------------

    def _axis(self, joint: _Joint) -> Axis:
        element = joint.element.one("axis")
        values = [1.0, 0.0, 0.0] if element is None else self._numbers(element, "xyz", 3)
        try:
            return unit(values)
        except ModelError as error:
            raise ModelError(f"joint '{joint.name}': {error}", (element or joint.element).location) from None

    def _argument(self, joint: _Joint, seen: tuple[str, ...] = ()) -> Expr:
        """The coordinate of a joint, or what it mimics."""
        mimic = joint.element.one("mimic")
        if mimic is None:
            return symbol(self.coordinates.given[joint.name])
        other = mimic.get("joint")
        if other not in self.joints:
            raise ModelError(
                f"joint '{joint.name}' mimics '{other}', which does not exist.{did_you_mean(other, self.joints)}",
                mimic.location,
            )
        if other == joint.name or other in seen:
            raise ModelError(
                f"joint '{joint.name}' mimics itself, by way of {', '.join((*seen, other))}.", mimic.location
            )
        if self.joints[other].kind not in ("revolute", "continuous", "prismatic"):
            raise ModelError(
                f"joint '{joint.name}' mimics '{other}', a {self.joints[other].kind} joint.", mimic.location
            )
        (multiplier,) = self._numbers(mimic, "multiplier", 1, (1,))
        (offset,) = self._numbers(mimic, "offset", 1, (0,))
        return multiplier * self._argument(self.joints[other], (*seen, joint.name)) + offset

    def _fixed(self, joint: _Joint) -> list[Motion]:
        return []

    def _turning(self, joint: _Joint) -> list[Motion]:
        return [_along(Rotation, self._axis(joint), self._argument(joint))]

    def _sliding(self, joint: _Joint) -> list[Motion]:
        return [_along(Shift, self._axis(joint), self._argument(joint))]

    def _free(self, joint: _Joint) -> list[Motion]:
        return [Free(self.coordinates.given[joint.name])]

    def _planar(self, joint: _Joint) -> list[Motion]:
        """Two shifts in the plane normal to the axis, and a turn about it."""
        n = self._axis(joint)
        least = min(range(3), key=lambda i: abs(n[i]))
        helper = [float(i == least) for i in range(3)]
        first = unit(_cross(helper, n))
        second = unit(_cross(n, first))
        x, y, angle = (symbol(c) for c in self._own_coordinates(joint))
        return [_along(Shift, first, x), _along(Shift, second, y), _along(Rotation, n, angle)]

    def _own_coordinates(self, joint: _Joint) -> list[str]:
        """Names that a joint adds to the list of coordinates."""
        if joint.kind == "fixed" or joint.element.one("mimic") is not None:
            return []
        name = self.coordinates.given[joint.name]
        return [f"{name}_x", f"{name}_y", f"{name}_a"] if joint.kind == "planar" else [name]

    def _dampers(self, joint: _Joint) -> list[Damper]:
        element = joint.element.one("dynamics")
        if element is None:
            return []
        (damping,) = self._numbers(element, "damping", 1, (0,))
        (friction,) = self._numbers(element, "friction", 1, (0,))
        if friction:
            self._note(element, "approximated", "dry friction does not act; add a force of your own if it matters")
        if not damping:
            return []
        if joint.kind in ("fixed", "floating", "planar"):
            self._note(element, "approximated", f"damping of a {joint.kind} joint does not act")
            return []
        name = re.sub(r"\W", "_", joint.name) + "_damping"
        return [Damper(name, expr(damping), _rate(self._argument(joint)), element.location)]


def _rate(argument: Expr) -> Expr:
    """The rate of an argument k q + c: k q'."""
    from kineta.expr.graph import ONE
    from kineta.passes.differentiate import forward

    graph = argument.graph
    (name,) = argument.symbols()
    (slope,) = forward(graph, [argument.ref], {graph.symbol(name): ONE})
    return Expr(graph, slope) * symbol(f"{name}'")


_JOINTS: dict[str, Callable[[_Robot, _Joint], list[Motion]]] = {
    "fixed": _Robot._fixed,
    "revolute": _Robot._turning,
    "continuous": _Robot._turning,
    "prismatic": _Robot._sliding,
    "floating": _Robot._free,
    "planar": _Robot._planar,
}


def _along(kind: type[Rotation] | type[Shift], axis: Axis, argument: Expr) -> Motion:
    """A motion about or along *axis*; a negative coordinate axis becomes the positive one with the opposite sign."""
    if sorted(axis)[1:] == [0.0, 0.0]:
        return kind((-axis[0] + 0.0, -axis[1] + 0.0, -axis[2] + 0.0), -argument)
    return kind(axis, argument)


def _cross(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _rotated(entries: dict[str, float], rpy: Sequence[float]) -> tuple[list[float], list[float]]:
    """Moments and products of an inertia tensor given in axes turned by *rpy*."""
    I = [
        [entries["ixx"], entries["ixy"], entries["ixz"]],
        [entries["ixy"], entries["iyy"], entries["iyz"]],
        [entries["ixz"], entries["iyz"], entries["izz"]],
    ]
    if any(rpy):
        (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in rpy)
        R = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
        half = [[sum(R[i][k] * I[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        I = [[sum(half[i][k] * R[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    return [I[0][0], I[1][1], I[2][2]], [I[0][1], I[0][2], I[1][2]]
