"""Writer of the text language; reading the text of a system gives an equal system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import groupby
from typing import Any

from kineta.algebra.expression import Expr
from kineta.algebra.infix import number
from kineta.algebra.written_order import operands_in_order
from kineta.model import name_inference, units
from kineta.model.body import GROUND, Body, Inertia, Station
from kineta.model.coercion import ModelRecord, Vector3
from kineta.model.description import Description
from kineta.model.io.kin_units import with_units
from kineta.model.kind import KindRecord
from kineta.model.motion_program import Control, write_control
from kineta.model.motion_variables import Quasi, State
from kineta.model.phrases import vector

_KEYS = ("m", "Jx", "Jy", "Jz", "Jxy", "Jxz", "Jyz")


def write(system: Description) -> str:
    """*system* as text, with units where its parameters or states have some."""
    with operands_in_order([*(p.name for p in system.parameters), *(let.name for let in system.lets)]):
        text = _text(system)
    known = {p.name: p.dimension for p in system.parameters if p.dimension is not None}
    return with_units(text, known, everywhere=bool(known) or any(s.unit for s in system.states))


def _text(system: Description) -> str:
    named = partial(_with_points, {(p.body, p.position): p.name for p in reversed(system.points)})
    blocks = [
        _head(system),
        [_body(b) for b in system.bodies],
        _points(system),
        *(
            [_statement(named(record)) for record in own]
            for own in (system.elements, system.constraints, system.contacts, system.switches)
        ),
        [*map(_statement, system.programs), *_control(system)],
        [f"quasi {_form(w)};" for w in system.quasi],
        list(map(_state, system.states)),
        list(_runs(system)),
        list(map(_statement, system.appearance)),
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _head(system: Description) -> list[str]:
    lines = [f"model {system.name};"]
    if any(g.value != 0 for g in system.gravity):
        lines.append(f"gravity {vector(system.gravity)};")
    for fixed, run in groupby(system.parameters, key=lambda p: p.fixed):
        shown = [
            p.name if p.value is None else f"{p.name} = {number(p.value) if p.default is None else p.default}"
            for p in run
        ]
        lines.append(f"{'constants' if fixed else 'parameters'} {', '.join(shown)};")
    lines += (f"let {let.name} = {let.value};" for let in system.lets)
    if system.coordinates:
        lines.append(f"coordinates {', '.join(system.coordinates)};")
    return lines


def _form(form: Quasi) -> str:
    return form.name if form.value.name == form.name else f"{form.name} = {form.value}"


def _state(state: State) -> str:
    unit = f" in {state.unit}" if state.unit else ""
    return f"state {state.name}{unit} : {state.name}' = {state.rate};"


def _body(body: Body) -> str:
    base = "" if body.base == GROUND else f" ~ {body.base}"
    motions = ", ".join(m.text for m in body.motions)
    if body.inertia == Inertia():
        return f"frame {body.name}{base} | {motions};"
    return f"{body.name}{base} | {motions} = {_inertia(body.inertia)};"


def _inertia(inertia: Inertia) -> str:
    values = (inertia.mass, *inertia.moments, *inertia.products)
    full = not inertia.lumped and all(p.value == 0 for p in inertia.products)
    if full and all(m.value == 0 for m in inertia.moments):
        shown = str(inertia.mass)
    elif full:
        shown = ", ".join(map(str, values[:4]))
    else:
        shown = ", ".join(_keyed(inertia, values))
    if any(c.value != 0 for c in inertia.com):
        shown += f", com = {vector(inertia.com)}"
    return f"{shown}, unchecked" if inertia.unchecked else shown


def _keyed(inertia: Inertia, values: Sequence[Expr]) -> Iterator[str]:
    """Entries with keys: all moments of a full list; the nonzero entries of a lumped list, at least a moment."""
    zero = [key for key, value in zip(_KEYS, values, strict=True) if value.value == 0]
    bare = inertia.lumped and set(zero) >= set(_KEYS[1:])
    shown = {"Jz"} if bare else set() if inertia.lumped else set(_KEYS[1:4])
    for key, value in zip(_KEYS, values, strict=True):
        if key not in zero or key in shown:
            yield f"{key}({value})"


def _points(system: Description) -> list[str]:
    return [f"point {p.name} on {p.body} = {vector(p.position)};" for p in system.points]


def _with_points(points: Mapping[tuple[str, Vector3], str], record: Any) -> Any:
    """A *record* with the names of *points* in place of their bodies and positions."""
    if isinstance(record, Station):
        name = points.get((record.body, record.position))
        return record if name is None else Station(name)
    if isinstance(record, tuple):
        return tuple(_with_points(points, entry) for entry in record)
    if not isinstance(record, ModelRecord):
        return record
    own: Any = record
    given = {f.name: getattr(record, f.name) for f in fields(own)}
    found = {name: _with_points(points, value) for name, value in given.items()}
    return replace(own, **found) if found != given else record


def _statement(record: KindRecord) -> str:
    return f"{record.kind.word} {record.name} {record.kind.write(record)};"


def _angle(value: Expr) -> str:
    """An angle with its unit behind a number, as it was given: ``45 rad`` are not meant to be degrees."""
    if not value.value:
        return str(value)
    return units.shorter(value.value, units.ANGLE) or f"{value} rad"


def _control(system: Description) -> Iterator[str]:
    if system.control != Control():
        yield write_control(system.control)


def _runs(system: Description) -> Iterator[str]:
    if system.initial:
        angles = {n for n, unit in name_inference.units(system).items() if unit == "rad"} & set(system.initial.measured)
        yield f"initial {', '.join(f'{n} = {_angle(v) if n in angles else v}' for n, v in system.initial)};"
    for output in system.outputs:
        yield (
            f"output {output.name};" if output.value.name == output.name else f"output {output.name} = {output.value};"
        )
