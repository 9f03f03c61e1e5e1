"""Table of statements, and the system of a whole text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lark import Token, Tree

from kineta.model.body import GROUND
from kineta.model.checks.diagnostics import CheckError
from kineta.model.checks.name_scopes import check_named
from kineta.model.dimensions import multiplier_dimensions
from kineta.model.io.kin_loops import Repetitions
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.bodies import read_body, read_coordinates, read_frame, read_point
from kineta.model.io.statements.declarations import (
    counting_constants,
    read_constants,
    read_gravity,
    read_name,
    read_parameters,
)
from kineta.model.io.statements.dimensions_of_motion import dimensions_of_motion
from kineta.model.io.statements.initial_values import read_initial_values
from kineta.model.io.statements.model_text import ModelText, moving_names
from kineta.model.io.statements.named_expressions import define_names, read_named_expressions, uncalled_functions
from kineta.model.io.statements.outputs import read_outputs
from kineta.model.io.statements.quasi_velocities import read_law_of_control, read_quasi_velocities
from kineta.model.io.statements.robots import read_robot
from kineta.model.io.statements.states import declare_state_dimensions, infer_state_dimensions, read_state
from kineta.model.io.statements.submodels import read_submodel
from kineta.model.named_expressions import Let
from kineta.model.parameters import Initial
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System

#: Statements that name parts of a model, by their rules in the grammar.
_FRAMES: Mapping[str, Callable[[ModelText, Node], None]] = {
    "point": read_point,
    "body": read_body,
    "frame": read_frame,
    "coordinates": read_coordinates,
}
#: The function that reads a statement, by its rule in the grammar. Elements, constraints and contacts are read by productions of
#: their kinds.
STATEMENTS: Mapping[str, Callable[[ModelText, Node], None]] = {
    "include": read_robot,
    "let": read_named_expressions,
    "parameters": read_parameters,
    "constants": read_constants,
    "use": read_submodel,
    **_FRAMES,
    "quasi": read_quasi_velocities,
    "model": read_name,
    "gravity": read_gravity,
    "control": read_law_of_control,
    "state": read_state,
    "initial": read_initial_values,
    "output": read_outputs,
}
#: Statements that others need, in the groups in which they are read; all others come after them.
_EARLY = (("include",), ("let",), ("parameters", "constants"), ("use",), tuple(_FRAMES), ("quasi",))
_INCLUDED, _NAMED, _DECLARED, _USED, _PLACED, _QUASI = _EARLY


def read_statements(text: ModelText, parse: Callable[[str], Tree[Token]], tree: Tree[Token], indexed: bool) -> System:
    """The system of the statements of *tree*: declarations first, so that the order of statements is free. *indexed* tells
    whether there are indices in it, which *parse* reads.
    """
    statements = _written_out(text, parse, [s for s in tree.children if isinstance(s, Tree)], indexed)
    text.moving = moving_names(statements, _PLACED)
    read = partial(_read, text, statements)
    read(_INCLUDED)
    read(_NAMED)  # values of parameters may call functions
    read(_DECLARED)
    define_names(text)
    read(_USED)
    read(_PLACED)
    source = text.source
    source.moving = dimensions_of_motion(text)
    source.bodies = dict.fromkeys([*(b.name for b in text.all_bodies()), GROUND])
    source.declared = {p.name for p in (*(text.parameters or ()), *text.brought["parameters"])}
    declare_state_dimensions(text, statements)
    define_names(text)  # anew, since the dimensions of coordinates and states are known by now
    read(_QUASI)
    infer_state_dimensions(text, statements)
    early = {kind for group in _EARLY for kind in group}
    read({str(s.data) for s in statements} - early)
    unused = uncalled_functions(text)
    try:
        system = _system(text)
        check_named(system, unused)
    except CheckError as fault:
        raise text.placed(fault) from None
    watched = [name for switch in system.switches for name in switch.watched.symbols()]
    if forces := multiplier_dimensions(system, (name for name in watched if name.startswith(MULTIPLIER))):
        source.moving = {**source.moving, **forces}
        read(("when",))  # anew, since the dimensions of forces are known by now
    return system


def _written_out(
    text: ModelText, parse: Callable[[str], Tree[Token]], statements: list[Node], indexed: bool
) -> list[Node]:
    """The *statements* without repetitions and indices."""
    if not indexed and all(s.data != "for" for s in statements):
        return statements
    repetitions = Repetitions(text.file, *counting_constants(text, statements), parse)
    found = list(repetitions.written_out(statements))
    text.counting = repetitions.named
    return found


def _read(text: ModelText, statements: Iterable[Node], kinds: Iterable[str]) -> None:
    """Read those of the *statements* that are of these *kinds*, in the order of the text."""
    for statement in statements:
        kind = str(statement.data)
        if kind not in kinds:
            continue
        if kind in text.grammar.forms:
            record: Any = text.grammar.forms[kind][1].read(text.source, *statement.children)
            text.records[text.grammar.arguments[type(record)]].append(record)
        else:
            STATEMENTS[kind](text, statement)


def _system(text: ModelText) -> System:
    """The system of all parts that are read."""
    robot = (s for s in text.robot_initial if s[0] not in dict(text.initial))
    initial = Initial([*robot, *text.initial], text.measured)
    return System(
        text.name or _name_of(text.file),
        text.bodies,
        gravity=text.gravity,
        coordinates=text.listed_coordinates(),
        parameters=text.parameters,
        points=[p for p in text.points.values() if p not in text.brought["points"]],
        initial=initial,
        outputs=text.outputs,
        quasi=text.quasi,
        states=text.states,
        control=text.control,
        lets=[Let(str(n), text.source.lets[n].value, text.at(n)) for n, _ in text.lets if n in text.source.lets],
        use=text.used,
        **text.records,  # lists of records, by the arguments that take them
    )


def _name_of(file: str) -> str:
    """A name for the model that a file without the statement ``model`` describes."""
    name = re.sub(r"\W", "_", Path(file).stem.strip("<>"))
    return name if name[:1].isidentifier() else f"_{name}"
