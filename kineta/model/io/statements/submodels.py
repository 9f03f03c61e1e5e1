"""Models within a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lark import Token

from kineta.errors import ModelError
from kineta.model.body import GROUND
from kineta.model.io.kin_loops import MOST
from kineta.model.io.kin_quantities import DimensionedExpr, Node
from kineta.model.io.statements.model_text import ModelText
from kineta.model.io.statements.motions import read_motions
from kineta.model.system import System
from kineta.model.transformations.submodel import Submodel


def read_submodel(text: ModelText, node: Node) -> None:
    """A model that this one uses, and its place; all statements read later know its parts."""
    file, prefix, on, at, values = node.children
    pairs = [d.children for d in values.children] if values is not None else []
    names = [str(name) for name, _ in pairs]
    for k, (name, _) in enumerate(pairs):
        if str(name) in names[:k]:
            first = text.at(pairs[names.index(str(name))][0])
            raise ModelError(f"'{name}' is given twice for model '{prefix}', first at {first}.", text.at(name))
    known = {str(name): text.source.quantity(tree) for name, tree in pairs}
    own_values = {n.removeprefix(f"{prefix}."): x for n, x in text.given.items() if n.startswith(f"{prefix}.")}
    known = {name: x for name, x in known.items() if str(name) not in own_values}
    numbers = {name: x.value.value for name, x in known.items() if x.value.value is not None}
    system = used_system(text, file, numbers | own_values)
    own = {p.name: p for p in system.parameters}
    for name, tree in pairs:
        if str(name) in own and str(name) in known and known[str(name)].shown:
            text.source.expect(tree, known[str(name)], own[str(name)].dimension, f"the value of '{name}'")
    place, where = read_motions(text, at), text.at(prefix)
    given = tuple((name, x.value) for name, x in known.items())
    used = Submodel(system, str(prefix), str(on or GROUND), place, given, where)
    text.used.append(used)
    text.parameters = text.parameters or []
    brought = used.parts(p.name for p in text.parameters)
    for name, records in text.brought.items():
        records += brought[name]
    if (count := len(text.brought["bodies"])) > MOST:
        raise ModelError(f"the models in it bring {count} bodies; expected {MOST} at most.", where)
    text.points |= {p.name: p for p in brought["points"]}
    text.dimensions |= {p.name: p.dimension for p in brought["parameters"] if p.dimension is not None}
    for state in brought["states"]:
        if state.dimension is not None:
            text.declare_state(state.name, state.dimension)
    text.source.lets |= {let.name: DimensionedExpr(let.value) for let in brought["lets"]}


def used_system(text: ModelText, name: Token, constants: Mapping[str, float]) -> System:
    """The model in the file of this *name*, from the folder of this one."""
    path = Path(text.file).parent / name[1:-1]
    key = path, tuple(sorted(constants.items()))
    if key not in text.used_files:
        users = (*text.users, Path(text.file).resolve())
        if path.resolve() in users:
            ring = " uses ".join(f"'{p.name}'" for p in (*users[users.index(path.resolve()) :], path))
            raise ModelError(f"a model cannot be part of itself: {ring}.", text.at(name))
        try:
            text.used_files[key] = text.model_file(path, constants, users)
        except ModelError as error:
            if error.location is None:
                raise ModelError(str(error), text.at(name)) from None
            found = ModelError(f"{error} It is used at {text.at(name)}.")
            found.location = error.location
            raise found from None
    return text.used_files[key]
