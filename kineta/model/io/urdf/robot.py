"""Reader of robots in URDF: links become bodies, joints coordinates.

Every element of a file is used, approximated or left out with a note that names its line, or refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kineta.algebra.expression import Expr, expr, symbol
from kineta.errors import ModelError, did_you_mean, warn
from kineta.model.axis import Numbers, X, unit
from kineta.model.body import GROUND, Body
from kineta.model.checks.check import STATEMENTS
from kineta.model.elements.damper import Damper
from kineta.model.io.foreign_formats import root_element_advice
from kineta.model.io.text_file import read_bytes
from kineta.model.io.urdf.coverage import Note, grouped, note, survey
from kineta.model.io.urdf.frames_and_inertia import link_inertia, numbers, placement
from kineta.model.io.urdf.joint_limits import JointRestriction, frictions, limits, start
from kineta.model.io.urdf.visuals import visuals
from kineta.model.io.urdf.xml import XMLElement, parse
from kineta.model.joints.free import Free
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import Rotation
from kineta.model.joints.shift import Shift
from kineta.model.reserved_symbols import ENERGIES, TIME
from kineta.model.system import System
from kineta.records import dataclass

_GRAVITY = (0.0, 0.0, -9.81)
#: Most notes of a file that are warned of singly; one warning tells how many are left.
WARNINGS = 20

#: Deviation of the length of an axis from 1 that is told: axes are written with four digits as often as with six, so that
#: WRITTEN_TOLERANCE would tell of most files.
AXIS_LENGTH = 1e-3
#: Words of the language, avoided as names.
KEYWORDS = (*STATEMENTS, "on", "in", "at", "between", "and", "axis", "body")
#: Elements unused in joints without a coordinate of their own.
_UNUSED = {
    "fixed": ("axis", "dynamics", "limit", "mimic"),
    "floating": ("axis", "limit"),
    "planar": ("limit",),
    "continuous": ("limit",),
}


def read(
    path: str | Path, *, floating: bool = False, limits: bool = True, gravity: Sequence[float] = _GRAVITY
) -> System:
    """The system in a URDF file.

    floating : let the root link float freely (motion ``root``: position, quaternion; velocities in its own axes) instead
        of fixing it to the ground. limits : False leaves out the limits of joints, and their dry friction. gravity : in
        ground axes [m/s^2]; URDF has none of its own

    Links become bodies, joints coordinates of the same names (characters that are no letters, digits or _ become _).
    Raises :class:`ModelError` with the line for what cannot be read; emits :class:`KinetaWarning` for what is ignored,
    approximated or renamed (:class:`Note`).
    """
    return _warned(*read_with_report(path, floating=floating, limits=limits, gravity=gravity))


def read_with_report(
    path: str | Path, *, floating: bool = False, limits: bool = True, gravity: Sequence[float] = _GRAVITY
) -> tuple[System, tuple[Note, ...]]:
    """:func:`read`, with the notes instead of warnings."""
    path = Path(path)
    robot = _Robot(parse(read_bytes(path), str(path)), floating=floating, limits=limits)
    return robot.system(gravity), grouped(robot.notes)


def reads(
    text: str, *, file: str = "<urdf>", floating: bool = False, limits: bool = True, gravity: Sequence[float] = _GRAVITY
) -> System:
    """The system in a URDF text, as :func:`read`; *file* is the name shown in errors."""
    robot = _Robot(parse(text, file), floating=floating, limits=limits)
    return _warned(robot.system(gravity), grouped(robot.notes))


def _warned(system: System, notes: Iterable[Note]) -> System:
    """*system*, after warnings of the notes that matter, the first of many."""
    said = [n for n in notes if n.matters]
    for n in said[:WARNINGS]:
        warn(str(n))
    if rest := said[WARNINGS:]:
        warn(f"{rest[0].location}: {len(rest)} more such notes from here on; the report of kineta import has them all.")
    return system


@dataclass(slots=True)
class _Joint:
    element: XMLElement
    name: str
    kind: str
    parent: str
    child: str


def _distinct(name: str, *taken: set[str]) -> str:
    """A legal identifier near *name* that is in none of the sets *taken*; it is added to all."""
    clean = re.sub(r"\W", "_", name)
    clean = clean if clean[:1].isalpha() or clean[:1] == "_" else f"_{clean}"
    while any(clean in names for names in taken):
        clean += "_"
    for names in taken:
        names.add(clean)
    return clean


class _Robot:
    """The parts of a file by name, and the system made of them."""

    def __init__(self, root: XMLElement, *, floating: bool, limits: bool) -> None:
        if root.tag != "robot":
            near = did_you_mean(root.tag, ["robot"])
            raise ModelError(
                f"expected <robot>, found <{root.tag}>{root_element_advice(root.tag)}.{near}", root.location
            )
        self.root, self.limits = root, limits
        self.notes: list[Note] = list(survey(root))
        self.links = self._named(root.all("link"), "link")
        self.joints = {n: self._joint(e) for n, e in self._named(root.all("joint"), "joint").items()}
        self.by_child = self._tree()
        self._name_all(floating=floating)

    # -- what is there ----------------------------------------------------------------------------------------------

    def _named(self, elements: Iterable[XMLElement], what: str) -> dict[str, XMLElement]:
        found: dict[str, XMLElement] = {}
        for element in elements:
            name = element.get("name")
            if not name.strip():
                raise ModelError(f'the {what} has no name; expected name="...".', element.location)
            if name in found:
                raise ModelError(
                    f"{what} '{name}' is described twice (first at {found[name].location}).", element.location
                )
            found[name] = element
        return found

    def _joint(self, element: XMLElement) -> _Joint:
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
        for tag in _UNUSED.get(kind, ()):
            self.notes += (note(e, "left out", f"a {kind} joint has no use for it") for e in element.all(tag))
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
            where = self.links[roots[1]] if roots else self.root
            raise ModelError(f"expected one root link, found {found}.", where.location)
        self.root_link = roots[0]
        return by_child

    def _name_all(self, *, floating: bool) -> None:
        """Names of bodies and coordinates; of a joint with several coordinates, the joint's name is the stem.

        Plain joints come first: what they are called is for the author of the file to say.
        """
        reserved = {TIME, "pi", GROUND, *ENERGIES, *KEYWORDS}
        bodies, coordinates = set(reserved), set(reserved)
        root = self.root
        self.name = self._called(root.attributes.get("name") or Path(root.location.file).stem, root, set(KEYWORDS))
        self.bodies = {name: self._called(name, link, bodies) for name, link in self.links.items()}
        self.coordinates: dict[str, list[str]] = {name: [] for name in self.joints}
        for joint in self.joints.values():
            if joint.kind in _ONE_COORDINATE and joint.element.one("mimic") is None:
                self.coordinates[joint.name] = [self._called(joint.name, joint.element, coordinates)]
        for joint in self.joints.values():
            if joint.kind == "planar":
                self.coordinates[joint.name] = [_distinct(f"{joint.name}_{c}", coordinates) for c in "xya"]
            elif joint.kind == "floating":
                self.coordinates[joint.name] = [_distinct(f"{joint.name}_motion", bodies, coordinates)]
        self.root_motion = _distinct("root", bodies, coordinates) if floating else None

    def _called(self, name: str, element: XMLElement, taken: set[str]) -> str:
        new = _distinct(name, taken)
        if new != name:
            self.notes.append(note(element, "renamed", f"'{name}' is called '{new}'"))
        return new

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
                f"link '{lost}' is not connected to the root link '{self.root_link}'; its joints form a loop.",
                self.links[lost].location,
            )
        joints = [self.by_child[link] for link in order[1:]]
        own = [c for joint in joints for c in self.coordinates[joint.name]]
        bodies = [self._body(link) for link in order]
        bounded, rubbed = self._held(joints)
        found = limits(bounded, self.notes)
        return System(
            self.name,
            bodies,
            gravity=gravity,
            coordinates=[self.root_motion, *own] if self.root_motion else own,
            parameters=(),
            elements=self._dampers(joints),
            initial=start(found, self.notes),
            contacts=(*found, *frictions(rubbed)),
            appearance=[
                own for link in order for own in visuals(self.links[link], self.bodies[link], self.root, self.notes)
            ],
        )

    def _body(self, link: str) -> Body:
        element = self.links[link]
        inertia = link_inertia(element, link, self.notes)
        joint = self.by_child.get(link)
        if joint is None:
            motions: tuple[Motion, ...] = (Free(self.root_motion),) if self.root_motion else ()
            return Body(self.bodies[link], GROUND, motions, inertia, element.location)
        motions = (*placement(joint.element.one("origin")), *_JOINTS[joint.kind](self, joint))
        return Body(self.bodies[link], self.bodies[joint.parent], motions, inertia, element.location)

    # -- joints -------------------------------------------------------------------------------------------------------

    def _axis(self, joint: _Joint) -> Numbers:
        element = joint.element.one("axis")
        if element is None:
            return X
        values = numbers(element, "xyz", 3)
        try:
            axis = unit(values)
        except ModelError as error:
            raise ModelError(f"joint '{joint.name}': {error}", element.location) from None
        if abs(math.hypot(*values) - 1) > AXIS_LENGTH:
            self.notes.append(note(element, "normalised", "the axis is used as a direction, its length is not"))
        return axis

    def _linear(self, joint: _Joint) -> tuple[float, str, float]:
        """k, q and c where the joint turns or slides by k q + c: its own coordinate, or that of what it mimics."""
        k, c, chain = 1.0, 0.0, [joint.name]
        while (mimic := joint.element.one("mimic")) is not None:
            other = mimic.get("joint")
            if other not in self.joints:
                near = did_you_mean(other, self.joints)
                raise ModelError(f"joint '{joint.name}' mimics '{other}', which does not exist.{near}", mimic.location)
            if other in chain:
                raise ModelError(f"joint '{other}' mimics itself: {' -> '.join((*chain, other))}.", mimic.location)
            (multiplier,), (offset,) = (numbers(mimic, *a) for a in (("multiplier", 1, (1,)), ("offset", 1, (0,))))
            k, c = k * multiplier, c + k * offset
            joint = self.joints[other]
            if joint.kind not in _ONE_COORDINATE:
                raise ModelError(
                    f"joint '{chain[-1]}' mimics '{other}', a {joint.kind} joint; expected one with one coordinate.",
                    mimic.location,
                )
            chain.append(other)
        return k, self.coordinates[joint.name][0], c

    def _argument(self, joint: _Joint) -> Expr:
        k, q, c = self._linear(joint)
        return k * symbol(q) + c

    def _refuse_mimic(self, joint: _Joint) -> None:
        mimic = joint.element.one("mimic")
        if mimic is not None:
            raise ModelError(
                f"joint '{joint.name}': a {joint.kind} joint cannot mimic; expected a joint with one coordinate.",
                mimic.location,
            )

    def _fixed(self, joint: _Joint) -> list[Motion]:
        return []

    def _turning(self, joint: _Joint) -> list[Motion]:
        return [_along(Rotation, self._axis(joint), self._argument(joint))]

    def _sliding(self, joint: _Joint) -> list[Motion]:
        return [_along(Shift, self._axis(joint), self._argument(joint))]

    def _free(self, joint: _Joint) -> list[Motion]:
        self._refuse_mimic(joint)
        return [Free(self.coordinates[joint.name][0])]

    def _planar(self, joint: _Joint) -> list[Motion]:
        """Two shifts in the plane normal to the axis, and a turn about it: for the axis z along x and y, about z."""
        self._refuse_mimic(joint)
        n = self._axis(joint)
        least = min(range(3), key=lambda i: abs(n[i]))
        first = unit([float(i == least) - n[least] * n[i] for i in range(3)])
        second = unit(_cross(n, first))
        x, y, angle = (symbol(c) for c in self.coordinates[joint.name])
        return [_along(Shift, first, x), _along(Shift, second, y), _along(Rotation, n, angle)]

    def _dampers(self, joints: Iterable[_Joint]) -> list[Damper]:
        taken: set[str] = set()
        dampers = []
        for joint in joints:
            damping = self._resistance(joint, "damping")
            if not damping:
                continue
            k, q, _ = self._linear(joint)
            if k:
                name = _distinct(f"{joint.name}_damping", taken)
                dampers.append(Damper(name, expr(damping), k * symbol(f"{q}'"), joint.element.location))
        return dampers

    def _held(self, joints: Iterable[_Joint]) -> tuple[list[JointRestriction], list[JointRestriction]]:
        """Joints with bounds, and joints with dry friction."""
        bounded, rubbed = [], []
        for joint in joints:
            friction, bounds = self._resistance(joint, "friction"), self._bounds(joint)
            ratio, q, offset = self._linear(joint) if friction or bounds else (0.0, "", 0.0)
            if ratio and bounds:
                bounded.append(JointRestriction(bounds[0], ratio, q, offset, bounds=bounds[1:]))
            if ratio and friction:
                rubbed.append(JointRestriction(joint.element, ratio, q, offset, friction))
        return (bounded, rubbed) if self.limits else ([], [])

    def _bounds(self, joint: _Joint) -> tuple[XMLElement, float, float] | None:
        """Bounds of a joint and their element; None without bounds."""
        element = joint.element.one("limit")
        if element is None or joint.kind not in ("revolute", "prismatic"):
            return None
        if element.attributes.keys().isdisjoint(("lower", "upper")):
            self.notes.append(note(element, "left out", "it has no bounds"))
            return None
        (lower,), (upper,) = (numbers(element, a, 1, (0,)) for a in ("lower", "upper"))
        return element, lower, upper

    def _resistance(self, joint: _Joint, name: str) -> float:
        """The ``damping`` or ``friction`` of a joint; a note if it does not act."""
        element = joint.element.one("dynamics")
        if element is None or joint.kind == "fixed":
            return 0.0
        (value,) = numbers(element, name, 1, (0,))
        if value < 0:
            raise ModelError(f"<dynamics> {name}: expected zero or more, found {value:g}.", element.location)
        if value and joint.kind not in _ONE_COORDINATE:
            self.notes.append(note(element, "approximated", f"{name} of a {joint.kind} joint does not act"))
            return 0.0
        return value


#: Joints that turn or slide.
_ONE_COORDINATE = ("revolute", "continuous", "prismatic")
_JOINTS: dict[str, Callable[[_Robot, _Joint], list[Motion]]] = {
    "fixed": _Robot._fixed,
    "revolute": _Robot._turning,
    "continuous": _Robot._turning,
    "prismatic": _Robot._sliding,
    "floating": _Robot._free,
    "planar": _Robot._planar,
}


def _along(kind: type[Rotation] | type[Shift], axis: Numbers, argument: Expr) -> Motion:
    """A motion about or along *axis*; a negative coordinate axis becomes the positive one with the opposite sign."""
    if sorted(axis)[1:] == [0.0, 0.0]:
        return kind((-axis[0] + 0.0, -axis[1] + 0.0, -axis[2] + 0.0), -argument)
    return kind(axis, argument)


def _cross(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
