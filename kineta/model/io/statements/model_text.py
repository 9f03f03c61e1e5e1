"""``ModelText``: what the statements of a text say, as far as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from lark import Token, Tree

from kineta.algebra.expression import Expr
from kineta.errors import Location, ModelError
from kineta.model import units
from kineta.model.body import Body, Point
from kineta.model.checks.diagnostics import CheckError
from kineta.model.coercion import Vector3, vector
from kineta.model.io.kin_grammar import Grammar
from kineta.model.io.kin_quantities import Node
from kineta.model.io.kin_source import Source
from kineta.model.joints.motion import Motion
from kineta.model.motion_program import Control
from kineta.model.motion_variables import Quasi, State
from kineta.model.name_inference import infer_coordinates
from kineta.model.named_expressions import Output
from kineta.model.parameters import Parameter
from kineta.model.system import System
from kineta.model.transformations.submodel import Submodel
from kineta.model.units import Dimension
from kineta.records import dataclass

#: The model in a file that a text uses, for these constants and the files that use one another on the way to it.
ModelFile = Callable[[Path, Mapping[str, float], tuple[Path, ...]], System]


@dataclass
class ModelText:
    """The parts of a model that are read so far, with the places where they stand and the dimensions of names.

    ``given`` are values of constants that replace those in the text, ``users`` the files that use this one, and ``model_file``
    reads the files that it uses; ``reader`` makes the reader of its expressions.
    """

    file: str
    grammar: Grammar
    given: Mapping[str, float]
    users: tuple[Path, ...]
    model_file: ModelFile
    reader: Callable[..., Source] = Source
    name: str = ""
    gravity: Vector3 = field(default_factory=lambda: vector((0, 0, 0)))
    bodies: list[Body] = field(default_factory=list)
    points: dict[str, Point] = field(default_factory=dict)
    parameters: list[Parameter] | None = None
    coordinates: list[str] | None = None
    #: Records of elements, constraints and contacts, by the arguments of a system that take them.
    records: dict[str, list[Any]] = field(init=False)
    quasi: list[Quasi] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    control: Control | None = None
    initial: list[tuple[str, Expr]] = field(default_factory=list)
    #: Names of those that are given with a unit.
    measured: set[str] = field(default_factory=set)
    outputs: list[Output] = field(default_factory=list)
    lets: list[tuple[Token, Node]] = field(default_factory=list)
    #: Coordinates and initial values of an included robot.
    robot_coordinates: tuple[str, ...] = ()
    robot_initial: tuple[tuple[str, Expr], ...] = ()
    #: Models that are used, the systems of their files by path and constants, and the parts that they bring.
    used: list[Submodel] = field(default_factory=list)
    used_files: dict[Any, System] = field(default_factory=dict)
    brought: dict[str, list[Any]] = field(default_factory=lambda: {"bodies": [], "points": [], "parameters": []})
    #: Values of parameters, and dimensions of parameters, of quasi-velocities and states, and of coordinates.
    values: dict[str, float] = field(default_factory=dict)
    dimensions: dict[str, Dimension] = field(default_factory=dict)
    forms: dict[str, Dimension] = field(default_factory=dict)
    coordinate_dimensions: dict[str, Dimension] = field(default_factory=dict)
    #: Constants that count repetitions, and names that must be coordinates since the text gives a speed or a start of theirs.
    counting: set[str] = field(default_factory=set)
    moving: set[str] = field(default_factory=set)
    places: dict[str, Location] = field(default_factory=dict)
    #: Parts of bodies by the ids of the nodes of which they are read, with these nodes: bodies of a repetition share them.
    shared: dict[int, tuple[Node, Any]] = field(default_factory=dict)
    source: Source = field(init=False)

    def __post_init__(self) -> None:
        self.records = {argument: [] for argument in self.grammar.kinds}
        self.source = self.reader(self.file, self.dimensions, self.points, self.values)

    def at(self, node: Any) -> Location:
        """The place of a *node* of the syntax tree."""
        return self.source.location(node)

    def declare_state(self, name: str, dimension: Dimension) -> None:
        """Let a first-order state, and its rate, count with its *dimension*."""
        self.forms[name] = dimension
        self.dimensions |= {name: dimension, f"{name}'": units.times(dimension, units.TIME, -1)}

    def only_once(self, node: Node) -> None:
        """Raise for a repeated statement of a kind that is allowed once."""
        first = self.places.setdefault(f"the {node.data}", self.at(node))
        if first != self.at(node):
            raise ModelError(f"'{node.data}' is given twice, first at {first}.", self.at(node))

    def all_bodies(self) -> tuple[Body, ...]:
        """Bodies of the text and of the models that it uses."""
        return (*self.bodies, *self.brought["bodies"])

    def all_motions(self) -> list[Motion]:
        """Motions of all bodies."""
        return [motion for body in self.all_bodies() for motion in body.motions]

    def listed_coordinates(self) -> list[str] | None:
        """Coordinates in the order of the text, those of a robot first; None if they are to be inferred."""
        if not self.robot_coordinates:
            return self.coordinates
        own = self.coordinates
        if own is None:
            found = infer_coordinates(self.bodies, {p.name for p in self.parameters or ()}, self.moving)
            own = [c for c in found if c not in self.robot_coordinates]
        return [*(c for c in self.robot_coordinates if c not in own), *own]

    def placed(self, fault: CheckError) -> CheckError:
        """*fault* at the place that it is about: that of its part of the model, or of its symbol inside a record."""
        start = self.places.get(fault.part) or fault.location or Location(self.file, 1, 1)
        uses = self.source.places.get(fault.symbol, ()) if start.file == self.file else ()
        own = [u for u in uses if (u.read_for.line, u.read_for.column) >= (start.line, start.column)]
        if not own:
            return fault.at(start)
        first = min(own, key=lambda u: (u.read_for.line, u.read_for.column))
        return fault.at(first.at, first.within)


def names_in(tree: Tree[Token]) -> Iterator[str]:
    """All names in *tree*."""
    for part in tree.iter_subtrees():
        yield from (str(c) for c in part.children if isinstance(c, Token) and c.type == "NAME")


def moving_names(statements: Iterable[Node], frames: Iterable[str]) -> set[str]:
    """Names with an initial value or a speed in statements that are not read yet, other than *frames*:
    :func:`kineta.model.name_inference.moving`.
    """
    own = list(statements)
    initial = [str(s.children[0]) for t in own if t.data == "initial" for s in t.children]
    speeds = (n for t in own if t.data not in frames for n in names_in(t) if n.endswith("'"))
    return {n.rstrip("'") for n in (*initial, *speeds)}
