"""Subsets of a system without contacts, friction, switches or programs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kineta.algebra.expression import Expr
from kineta.errors import ArgumentError, did_you_mean
from kineta.model.name_inference import contact_rows, force_names, yielding
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System


def without_parts(system: System, names: Collection[str]) -> System:
    """*system* without the contacts, limits, friction, switches and programs of these *names*; outputs show zero for their
    forces. Raises :class:`ArgumentError` for other names.
    """
    acting = {"contacts": system.contacts, "switches": system.switches, "programs": system.programs}
    soft = yielding(system)
    known = [record.name for records in (*acting.values(), soft) for record in records]
    for name in names:
        if name not in known:
            has = f" It has {', '.join(known)}." if known else " It has none."
            raise ArgumentError(
                f"Model '{system.name}' has no contact, limit, friction, switch or program '{name}' to leave out."
                f"{did_you_mean(name, known) or has}"
            )
    kept: dict[str, object] = {
        kind: left
        for kind, records in acting.items()
        if len(left := [r for r in records if r.name not in names]) < len(records)
    }
    if gone := [e for e in soft if e.name in names]:
        kept["elements"] = [e for e in system.elements if e not in gone]
    if not kept:
        return system
    rest = system.replace(**kept, outputs=())
    zeros: dict[Expr | str, Expr | float | int] = dict.fromkeys(
        (
            *(f"{MULTIPLIER}{n}" for n in {*contact_rows(system)} - {*contact_rows(rest)}),
            *force_names(system, gone),
        ),
        0.0,
    )
    return rest.replace(outputs=[replace(o, value=o.value.subs(zeros)) for o in system.outputs])
