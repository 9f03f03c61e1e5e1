"""The law of least rates: actuator forces that realise the programs with least-squares derivatives.

The forces act on single speeds, and their derivatives are those of scalars: a motor is independent of other axes. For programs
without derivatives of the forces this is the control of least norm (Udwadia and Kalaba), with weights.

With constraints A the forces f of actuators E are the required forces less constraint reactions, which follow from the speeds
without actuators; so do their derivatives, each from the lower ones::

    E f^(r) + A^T nu^(r) = total^(r) - sum over j < r of binomial(r, j) A^(r-j)^T nu^(j)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.linear_algebra.ldl import Factors, SingularError, factored
from kineta.mechanics.programs.laws.law import Law, total
from kineta.threads import memo


def _rate(d: Derivation, r: int) -> list[Ref]:
    g, levels = d.graph, d.symbols.levels
    found = levels.of(total(d), r)
    for j in range(r):
        for row, nu in zip(d.rows, _carried(d, j), strict=True):
            for k, partial in row.gradient.items():
                lost = g.mul(g.mul(g.const(comb(r, j)), levels.of([partial], r - j)[0]), nu)
                found[k] = g.sub(found[k], lost)
    return found


def _carried(d: Derivation, j: int) -> list[Ref]:
    """The derivatives of order *j* of the multipliers of constraints, from the speeds without actuators."""
    if not d.rows:
        return []
    return memo(d, (_carried, j), lambda: _solved(d, j))


def _solved(d: Derivation, j: int) -> list[Ref]:
    g, asked, idle = d.graph, _rate(d, j), _idle(d)
    right = [g.sum(g.mul(row.gradient[k], asked[k]) for k in idle if k in row.gradient) for row in d.rows]
    return _apart(d).solve(right)


def _idle(d: Derivation) -> list[int]:
    """Indices of the speeds without actuators."""
    actuators = dict(d.symbols.system.control.actuators)
    return [k for k, name in enumerate(d.symbols.names) if actuators and name not in actuators]


def _apart(d: Derivation) -> Factors:
    """A A^T on the speeds without actuators, factored once. Raise :class:`ModelError` where these speeds do not determine the
    constraint reactions.
    """
    return memo(d, (_apart,), lambda: _factored(d))


def _factored(d: Derivation) -> Factors:
    g, idle = d.graph, _idle(d)
    own = [{k: row.gradient[k] for k in idle if k in row.gradient} for row in d.rows]
    entries = [[g.sum(g.mul(x, b[k]) for k, x in a.items() if k in b) for b in own] for a in own]
    rows = [{j: x for j, x in enumerate(row) if x != ZERO} for row in entries]
    try:
        if len(own) > len(idle):
            raise SingularError(0)
        return factored(
            g, rows, range(len(rows)), [row[i] for i, row in enumerate(entries)], range(len(rows)), watched=d.watched
        )
    except SingularError:
        system, free = d.symbols.system, len(d.symbols.v) - len(own)
        found = ", ".join(name for name, _ in system.control.actuators) or "none named"
        raise ModelError(
            f"Model '{system.name}': the law least tells the forces of actuators from those of constraints by the speeds on "
            "which no actuator acts; where programs need rates of forces, expected actuators that move with all others, on "
            f"{free} speed{'s' * (free != 1)} at most, found {found}. Name them: control on ...;",
            system.control.location,
        ) from None


def _reactions(d: Derivation) -> list[Ref]:
    return _carried(d, 0)


def _directions(d: Derivation, answers: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """The response to a program, divided by the weights of the actuators, on the speeds with actuators."""
    s, g = d.symbols, d.graph
    weights = dict(s.system.control.actuators)
    shares = [ZERO] * len(s.v)
    for k, name in enumerate(s.names):
        if name in weights or not weights:
            shares[k] = g.div(ONE, d.expression(weights[name])[0]) if weights else ONE
    return [[g.mul(share, x) for share, x in zip(shares, answer, strict=True)] for answer in answers]


LEAST = Law("least", "Udwadia and Kalaba, for r = 0", _rate, directions=_directions, reactions=_reactions)
