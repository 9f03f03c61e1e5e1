"""What tells rounding from values: errors that do not grow with powers of sums."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import Graph
from kineta.mechanics.constraints.rows import vanishes

STATES = [dict(zip("abx", row, strict=True)) for row in np.random.default_rng(0).uniform(0.5, 1.5, (4, 3)).tolist()]


@pytest.mark.parametrize("power", [1, 4, 16])
def test_powers_of_differences_are_told_from_zero(power: int) -> None:
    g = Graph()
    a, x = g.symbol("a"), g.symbol("x")
    unit = g.add(g.mul(g.sin(a), g.sin(a)), g.mul(g.cos(a), g.cos(a)))
    f = small = g.sub(g.add(g.mul(g.const(20.0), unit), x), g.const(20.0))  # x, as a sum of larger terms
    for _ in range(power - 1):
        f = g.mul(f, small)
    assert not vanishes(g, f, STATES)


def test_what_is_zero_but_for_rounding_vanishes_at_any_scale() -> None:
    g = Graph()
    a, b, x = (g.symbol(n) for n in "abx")
    for scale in (1e-9, 1.0, 1e9):
        k = g.const(scale)
        parts = g.mul(k, g.add(g.mul(g.sin(a), g.sin(a)), g.sub(g.mul(g.cos(a), g.cos(a)), g.const(1.0))))
        turned = g.mul(k, g.sub(g.sin(g.add(a, b)), g.add(g.mul(g.sin(a), g.cos(b)), g.mul(g.cos(a), g.sin(b)))))
        for f in (parts, turned, g.mul(parts, x), g.sqrt(g.mul(parts, parts))):
            assert vanishes(g, f, STATES)
        assert not vanishes(g, g.mul(k, g.sub(x, a)), STATES)


def test_a_power_of_a_speed_under_directions_of_parameters_is_a_constraint() -> None:
    system = kn.loads("""model turned; parameters a = 1, b = 2, c = 3, d = 3, e = 2, f = 1, g = 0.3, l = 0.2, w = 1;
    coordinates x, q, y; B | S[a, b, c](x), R[d, e, f](q), Sx(y) = 1, 1, 1, 1; frame F ~ B | Rx(g);
    point P on F = (0, 0, l); constraint n : (P.vx^2 + P.vz^2 + P.vy^2)^2 = w; initial y' = 1;""")
    found = kn.derive(system).function("reactions", "numpy")(0.0, [0.3, 0.4, 0.2], [0.1, 0.5, 0.7])
    assert np.isfinite(found).all()
