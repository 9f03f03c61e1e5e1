"""Coverage of URDF: elements and attributes that are read, left out or refused.

``docs/urdf.md`` shows the same as a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kineta.errors import Location, ModelError, did_you_mean
from kineta.model.io.urdf.xml import XMLElement
from kineta.records import dataclass

#: Elements that are read: their attributes, and the elements in them.
_READ: dict[str, tuple[set[str], set[str]]] = {
    "robot": ({"name"}, {"link", "joint"}),
    "link": ({"name"}, {"inertial"}),
    "inertial": (set(), {"origin", "mass", "inertia"}),
    "mass": ({"value"}, set()),
    "inertia": ({"ixx", "iyy", "izz", "ixy", "ixz", "iyz"}, set()),
    "joint": ({"name", "type"}, {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}),
    "origin": ({"xyz", "rpy", "quat_xyzw"}, set()),
    "parent": ({"link"}, set()),
    "child": ({"link"}, set()),
    "axis": ({"xyz"}, set()),
    "limit": ({"lower", "upper"}, set()),
    "dynamics": ({"damping", "friction"}, set()),
    "mimic": ({"joint", "multiplier", "offset"}, set()),
}
#: Elements that make no sense elsewhere, with where they belong. (Some files give links an <origin>.)
_PLACE = {tag: holder for holder, (_, tags) in _READ.items() for tag in tags - {"origin"}}
_ASIDE = "has no part in the motion"
#: Elements that are left out, with the reason.
_LEFT_OUT = {
    "robot": dict.fromkeys(("material", "transmission", "ros2_control", "sensor", "gazebo"), _ASIDE),
    "link": dict.fromkeys(
        "visual collision collision_checking contact material self_collision_checking self_filter surface".split(),
        _ASIDE,
    ),
    "joint": {
        "safety_controller": "is a matter of control",
        "calibration": "is a matter of measurement",
        "property": _ASIDE,
    },
}
#: Attributes that are left out, with the reason.
_LEFT_OUT_ATTRIBUTES = {
    "robot": {"version": _ASIDE},
    "link": {"type": _ASIDE},
    "joint": {"dont_collapse": _ASIDE},
    "limit": dict.fromkeys(("effort", "velocity"), "is a matter of the drive"),
}
#: Simulator settings that change the motion, in links and in <gazebo>: the neutral value, and the treatment here.
_SWITCHES = {
    "gravity": (1, "gravity acts on every link"),
    "turnGravityOff": (0, "gravity acts on every link"),
    "kinematic": (0, "every link obeys the forces on it"),
    "dampingFactor": (0, "velocities of links are not damped"),
    "springStiffness": (0, "joints have no springs; add one if it matters"),
}


@dataclass(frozen=True, slots=True)
class Note:
    """A part of the file that is not used unchanged: its count, first location and reason.

    treatment : ``left out`` (no part in the motion), or, where the motion or the names may differ from the intention of the
        file, ``ignored``, ``approximated``, ``normalised``, ``renamed``, ``used as it stands``,
        ``moves the start``
    """

    location: Location
    element: str
    treatment: str
    reason: str
    count: int = 1

    @property
    def matters(self) -> bool:
        """Whether to warn."""
        return self.treatment != "left out"

    def __str__(self) -> str:
        times = f" ({self.count} times, first here)" if self.count > 1 else ""
        return f"{self.location}: {self.element} {self.treatment}: {self.reason}{times}"


def note(element: XMLElement, treatment: str, reason: str) -> Note:
    """A note on *element*."""
    return Note(element.location, f"<{element.tag}>", treatment, reason)


def grouped(notes: Iterable[Note]) -> tuple[Note, ...]:
    """One note for all that have the same element, treatment and reason, in the order of the file."""
    groups: dict[tuple[str, str, str], list[Note]] = {}
    for n in sorted(notes, key=lambda n: (n.location.line, n.location.column)):
        groups.setdefault((n.element, n.treatment, n.reason), []).append(n)
    return tuple(Note(g[0].location, *key, count=len(g)) for key, g in groups.items())


def survey(element: XMLElement) -> Iterator[Note]:
    """Notes on unread parts in and below *element*. Raises :class:`ModelError` for probable misspellings."""
    yield from _attributes(element)
    known, left_out = _READ[element.tag][1], _LEFT_OUT.get(element.tag, {})
    for tag in known - {"link", "joint"}:
        element.one(tag)
    for child in element.children:
        if child.tag in known:
            yield from survey(child)
        elif child.tag in left_out:
            yield note(child, "left out", left_out[child.tag])
            if child.tag == "gazebo":
                for inner in child.children:
                    yield from _switch(inner)
        elif element.tag == "link" and child.tag in _SWITCHES:
            yield from _switch(child) or [note(child, "left out", _ASIDE)]
        else:
            yield _unknown(element, child)


def _attributes(element: XMLElement) -> Iterator[Note]:
    known = _READ[element.tag][0]
    missing = [name for name in sorted(known) if name not in element.attributes]
    for name in element.attributes:
        if name in known or name.partition(":")[0] == "xmlns":
            continue
        reason = _LEFT_OUT_ATTRIBUTES.get(element.tag, {}).get(name)
        if reason is not None:
            yield Note(element.location, f"attribute '{name}' of <{element.tag}>", "left out", reason)
            continue
        near = did_you_mean(name, missing)
        if near:
            raise ModelError(f"<{element.tag}>: unknown attribute '{name}'.{near}", element.location)
        yield Note(element.location, f"attribute '{name}' of <{element.tag}>", "ignored", "is not part of URDF")


def _unknown(holder: XMLElement, child: XMLElement) -> Note:
    if child.tag.startswith("xacro:"):
        raise ModelError(f"<{child.tag}>: expected plain URDF; expand the file with xacro first.", child.location)
    if child.tag in _PLACE:
        raise ModelError(
            f"<{child.tag}> stands in <{holder.tag}>; expected it in <{_PLACE[child.tag]}>.", child.location
        )
    near = did_you_mean(child.tag, _READ[holder.tag][1])
    if near:
        raise ModelError(f"unknown element <{child.tag}> in <{holder.tag}>.{near}", child.location)
    return Note(child.location, f"<{child.tag}> in <{holder.tag}>", "ignored", "is not part of URDF")


def _switch(element: XMLElement) -> list[Note]:
    """A note on a setting of a simulator that changes the motion there, and does not here."""
    if element.tag not in _SWITCHES:
        return []
    harmless, reason = _SWITCHES[element.tag]
    text = (element.text.strip() or element.attributes.get("value", "")).lower()
    try:
        value = float({"true": "1", "false": "0"}.get(text, text))
    except ValueError:
        value = None
    return [] if value == harmless else [note(element, "ignored", reason)]
