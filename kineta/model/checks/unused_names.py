"""Unused declarations, and parameter values computed at reading."""

from __future__ import annotations

from collections.abc import Iterator

from kineta.model.name_inference import expressions
from kineta.model.system import System


def unused_declarations(system: System) -> Iterator[str]:
    """Sentences on unused parameters, constants and named expressions, and on parameters with values computed from other
    parameters at reading.
    """
    plain = {n for e in expressions(system.expanded) for n in e.symbols()}
    plain |= {n for x in system.expanded.appearance for e in x.expressions for n in e.symbols()}
    plain |= {n for s in system.switches for n, _ in (*s.sets, *s.guards)}
    plain |= {n for c in system.expanded.contacts for n, _ in c.conditions}
    for own in system.parameters:
        word, place = "Constant" if own.fixed else "Parameter", f" ({own.location})" if own.location else ""
        named = [p.name for p in system.parameters if p.default is not None and own.name in p.default.symbols()]
        if own.name not in plain and not own.counts:
            idle = [f"let '{x.name}'" for x in system.lets if own.name in x.value.symbols()]
            users = [*(f"the value of '{n}'" for n in named), *idle]
            what = f"only {', '.join(users)} use{'s' * (len(users) == 1)} it" if users else "nothing uses it"
            yield f"{word} '{own.name}'{place}: {what}{'' if users else '; leave it out, or name it in an expression'}."
        if own.default is not None:
            yield (
                f"{word} '{own.name}'{place}: its value {own.value:g} is that of {own.default} in the text, which --set computes "
                f"again and a run does not; write let {own.name} = {own.default} for one that follows in runs."
            )
    written = {n for e in expressions(system) for n in e.symbols()} | {
        n for x in system.lets for n in x.value.symbols()
    }
    written |= {n for x in system.appearance for e in x.expressions for n in e.symbols()}
    for let in system.lets:
        if let.name not in written:
            place = f" ({let.location})" if let.location else ""
            yield f"Let '{let.name}'{place}: nothing uses it; leave it out, or name it in an expression."
