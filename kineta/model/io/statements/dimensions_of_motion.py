"""Dimensions of coordinates, speeds and components of points, from the motions in which they stand."""

from __future__ import annotations

from kineta.model import joints, units
from kineta.model.io.statements.model_text import ModelText
from kineta.model.joints.joint import Joint
from kineta.model.name_inference import infer_coordinates
from kineta.model.reserved_symbols import POINT_COMPONENTS
from kineta.model.units import Dimension


def coordinate_dimension(text: ModelText, name: str) -> Dimension | None:
    """Dimension of a coordinate or speed that a motion shows, or of a quasi-velocity or state with a known one."""
    bare = name.rstrip("'")
    dimension = text.forms.get(bare, text.coordinate_dimensions.get(bare))
    return None if dimension is None else units.times(dimension, units.TIME, len(bare) - len(name))


def _shown_dimensions(text: ModelText) -> dict[str, Dimension]:
    """Dimensions of the coordinates that are an angle or a distance themselves; an angle, where one is both; of joints."""
    shown: dict[str, Dimension] = {}
    for kind in joints.ELEMENTARY:
        for motion in (m for m in text.all_motions() if isinstance(m, kind)):
            if motion.argument.name is not None:
                shown.setdefault(motion.argument.name, kind.dimension)
    return shown | _joint_dimensions(text)


def _joint_dimensions(text: ModelText) -> dict[str, Dimension]:
    """Dimensions of the coordinates and speeds of joints, by name."""
    motions = text.all_motions()
    return {n: units.unit(own).dimension for m in motions if isinstance(m, Joint) for n, own in m.units.items()}


def dimensions_of_motion(text: ModelText) -> dict[str, Dimension]:
    """Dimensions of coordinates and speeds that motions show, and of components of points and bodies."""
    text.coordinate_dimensions = _shown_dimensions(text)
    declared = {p.name for p in text.parameters or ()}
    listed = [*(text.listed_coordinates() or infer_coordinates(text.bodies, declared, text.moving))]
    listed += (c for own in text.used for c in own.coordinates)
    motions = text.all_motions()
    text.source.coordinates = set(listed) - declared - {m.name for m in motions if isinstance(m, Joint)}
    named = [{m.argument.name for m in motions if isinstance(m, kind)} for kind in joints.ELEMENTARY]
    found: dict[str, Dimension] = {}
    for name in set(listed) - declared:
        if sum(name in own for own in named) == 1:  # a name of both stands for either
            found |= {n: coordinate_dimension(text, n) or units.NUMBER for n in (name, f"{name}'")}
    found |= _joint_dimensions(text)
    for owner in (*(b.name for b in text.all_bodies()), *text.points):
        found |= {f"{owner}.{c}": units.VELOCITY if c[0] == "v" else units.LENGTH for c in POINT_COMPONENTS}
    return found
