"""Visuals of URDF links, as shapes of bodies: boxes, cylinders, spheres, capsules and meshes, with origins and colours.

What of them makes no sense is left out with a note: no picture is a reason to refuse a robot.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from kineta.errors import KinetaError
from kineta.model.appearance.shape import BodyShape, shape
from kineta.model.io.urdf.coverage import Note, note
from kineta.model.io.urdf.frames_and_inertia import turns
from kineta.model.io.urdf.xml import XMLElement

#: The attributes of geometries that are sizes, in the order of those of the solid.
_SIZES: Mapping[str, tuple[str, ...]] = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "mesh": (),
}


def visuals(link: XMLElement, body: str, robot: XMLElement, notes: list[Note]) -> Iterator[BodyShape]:
    """The shapes of a *link*, which is the body of this name; *notes* tell of what is not drawn."""
    for visual in link.all("visual"):
        if not any(geometry.children for geometry in visual.all("geometry")):
            continue
        try:
            yield _shape(visual, body, robot)
        except (KinetaError, ValueError) as error:
            notes.append(note(visual, "left out", f"is not drawn: {str(error).rstrip('.')}"))


def _shape(visual: XMLElement, body: str, robot: XMLElement) -> BodyShape:
    geometry = next(iter(visual.all("geometry")), None)
    found = None if geometry is None else next((x for x in geometry.children if x.tag in _SIZES), None)
    if found is None:
        raise ValueError(f"it has no geometry of {', '.join(_SIZES)}")
    sizes = [x for name in _SIZES[found.tag] for x in _numbers(found, name)]
    if not all(math.isfinite(x) and x > 0 for x in sizes):
        raise ValueError("its sizes are not above zero")
    origin = next(iter(visual.all("origin")), None)
    at = (0.0, 0.0, 0.0) if origin is None else _numbers(origin, "xyz", (0.0, 0.0, 0.0))
    own = shape(
        body,
        found.tag,
        sizes,
        file=_path(found.attributes.get("filename", ""), Path(robot.location.file)) if found.tag == "mesh" else "",
        scale=_numbers(found, "scale", (1.0, 1.0, 1.0)) if found.tag == "mesh" else 1.0,
        at=at,
        turns=[] if origin is None else turns(origin),
        colour=_colour(visual, robot),
    )
    if fault := BodyShape.kind.fault(None, own):  # type: ignore[arg-type]  # a shape asks nothing of its scope
        raise ValueError(fault[0])
    return own


def _numbers(element: XMLElement, attribute: str, default: tuple[float, ...] = ()) -> tuple[float, ...]:
    text = element.attributes.get(attribute)
    if text is None and default:
        return default
    found = tuple(float(x) for x in (text or "").split())
    wanted = 3 if attribute in ("size", "xyz", "scale") else 1
    if len(found) != wanted or not all(map(math.isfinite, found)):
        raise ValueError(
            f"<{element.tag}> {attribute} has {'three numbers' if wanted == 3 else 'a number'}, not '{text}'"
        )
    return found


def _colour(visual: XMLElement, robot: XMLElement) -> str:
    """The colour of a visual, of its own or of the material of its name; "" without one."""
    material = next(iter(visual.all("material")), None)
    if material is None:
        return ""
    named = (m for m in robot.all("material") if m.attributes.get("name") == material.attributes.get("name"))
    for own in (material, *named):
        for colour in own.all("color"):
            parts = [min(max(float(x), 0.0), 1.0) for x in colour.attributes.get("rgba", "").split()[:3]]
            if len(parts) == 3:
                return "#" + "".join(f"{round(255 * x):02x}" for x in parts)
    return ""


def _path(filename: str, robot: Path) -> str:
    """The file of a mesh: of a package that lies around the robot or on ``ROS_PACKAGE_PATH``, or beside the robot; as it is
    written, where there is none.
    """
    package, inside = filename.partition("://")[::2] if "://" in filename else ("", filename)
    if package in ("package", "model"):
        name, _, rest = inside.partition("/")
        above = [*robot.absolute().parents]
        places = [p / rest for p in above if p.name == name] + [p / name / rest for p in above]
        places += [Path(p) / name / rest for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
    else:
        places = [robot.absolute().parent / inside]
    return next((str(p) for p in places if p.is_file()), filename)
