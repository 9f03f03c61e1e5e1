"""Robots of URDF files that a model includes."""

from __future__ import annotations

from pathlib import Path

from kineta.errors import ModelError
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText


def read_robot(text: ModelText, node: Node) -> None:
    """An included robot, whose gravity and initial values the text may replace."""
    text.only_once(node)
    from kineta.model.io import urdf

    name, floating = node.children
    path = Path(text.file).parent / name[1:-1]
    if path.suffix != ".urdf":
        raise ModelError(f'expected the file of a robot, as in "robot.urdf", found {name}.', text.at(name))
    try:
        robot = urdf.read(path, floating=floating is not None)
    except ModelError as error:
        if error.location is not None:
            raise
        raise ModelError(str(error), text.at(name)) from None
    text.gravity, text.robot_coordinates = robot.gravity, robot.coordinates
    text.bodies += robot.bodies
    for argument, own in text.records.items():
        own += getattr(robot, argument)
    text.robot_initial = robot.initial
