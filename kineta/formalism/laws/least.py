"""The law of least rates: of all forces of actuators that hold the programs those whose derivatives are the least, in squares.

The forces act on single speeds, and their derivatives are those of numbers: a motor knows nothing of other axes. Where programs
need no derivative of them it is the control of least norm (Udwadia and Kalaba), with weights of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ONE, ZERO, Ref
from kineta.formalism.derivation import Derivation
from kineta.formalism.laws.law import Law, total


def _rate(d: Derivation, r: int) -> list[Ref]:
    return d.symbols.levels.of(total(d), r)


def _directions(d: Derivation, answers: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """What answers a program, divided by the weights of the actuators, where these are."""
    s, g = d.symbols, d.graph
    weights = dict(s.system.control.actuators)
    shares = [ZERO] * len(s.v)
    for k, name in enumerate(s.names):
        if name in weights or not weights:
            shares[k] = g.div(ONE, d.expression(weights[name])[0]) if weights else ONE
    return [[g.mul(share, x) for share, x in zip(shares, answer, strict=True)] for answer in answers]


LEAST = Law("least", "Udwadia and Kalaba, for r = 0", _rate, directions=_directions)
