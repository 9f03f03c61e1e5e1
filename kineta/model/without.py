"""A system without some of what acts in its runs alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.node import Expr
from kineta.model.infer import MULTIPLIER, touches
from kineta.model.system import System


def without(system: System, names: Collection[str]) -> System:
    """*system* without the contacts, limits, dry friction, switches and programs of these *names*; outputs show zero for their
    forces. Raises :class:`ArgumentError` for other names.
    """
    acting = {"contacts": system.contacts, "switches": system.switches, "programs": system.programs}
    known = [record.name for records in acting.values() for record in records]
    for name in names:
        if name not in known:
            has = f" It has {', '.join(known)}." if known else " It has none."
            raise ArgumentError(
                f"Model '{system.name}' has no contact, limit, dry friction, switch or program '{name}' to leave out."
                f"{did_you_mean(name, known) or has}"
            )
    kept = {
        kind: left
        for kind, records in acting.items()
        if len(left := [r for r in records if r.name not in names]) < len(records)
    }
    if not kept:
        return system
    rest = system.replace(**kept, outputs=())
    gone: dict[Expr | str, Expr | float | int] = dict.fromkeys(
        (f"{MULTIPLIER}{n}" for n in {*touches(system)} - {*touches(rest)}), 0.0
    )
    return rest.replace(outputs=[replace(o, value=o.value.subs(gone)) for o in system.outputs])
