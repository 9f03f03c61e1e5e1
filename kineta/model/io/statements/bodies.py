"""Bodies, frames, points, and the order of coordinates."""

from __future__ import annotations

from kineta.errors import ModelError
from kineta.model import units
from kineta.model.body import GROUND, Body, Inertia, Point
from kineta.model.io.kin_inertia import InertiaList
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText
from kineta.model.io.statements.motions import read_motions


def read_coordinates(text: ModelText, node: Node) -> None:
    """Coordinates in the order that the user wants."""
    if text.coordinates is None:
        text.coordinates = []
    text.coordinates += (str(c) for c in node.children)
    text.places |= {f"coordinate {c}": text.at(c) for c in node.children}


def read_body(text: ModelText, node: Node) -> None:
    """A body, the body it moves on, its motions and its inertia."""
    name, base, motions, inertia = node.children
    known = text.shared.get(id(inertia))
    own: Inertia = InertiaList(text.source, str(name), inertia).read() if known is None else known[1]
    text.shared[id(inertia)] = inertia, own
    text.places[f"inertia {name}"] = text.at(inertia)
    text.bodies.append(Body(str(name), str(base or GROUND), read_motions(text, motions), own, text.at(name)))


def read_frame(text: ModelText, node: Node) -> None:
    """A frame: a body without inertia."""
    name, base, motions = node.children
    text.bodies.append(Body(str(name), str(base or GROUND), read_motions(text, motions), Inertia(), text.at(name)))


def read_point(text: ModelText, node: Node) -> None:
    """A point that is fixed in a body."""
    name, body, position = node.children
    if str(name) in text.points:
        raise ModelError(f"point '{name}' is described twice.", text.at(name))
    where = text.source.vector(position, units.LENGTH, "the position of a point")
    text.points[str(name)] = Point(str(name), str(body), where, text.at(name))
