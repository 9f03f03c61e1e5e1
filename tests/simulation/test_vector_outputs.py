"""Vectors and derivatives of speeds in outputs and events of runs: they are the rates of each other."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

TREE = """gravity 9.81; A | Ry(q1), Sx(1) = 1; B ~ A | Rx(q2), Sz(0.5), Rz(q3) = 1, 1, 1, 1; point Tip on B = (0.2, 0.1, 0.3);
initial q1' = 1, q2' = 2, q3' = 0.4, q2 = 0.3;
output a = a(Tip).x, v = v(Tip).x, r = r(Tip).x, e = eps(B in B).y, w = w(B in B).y, s = |v(Tip)|, along = |v(Tip)|';"""
QUASI = """B | Ball(b) = 1, 1, 2, 2.5; quasi u = b.wx + b.wy, b.wy, b.wz; initial u = 1, b.wz = 2; point Tip on B = (1, 0, 0.5);
output a = a(Tip).x, v = v(Tip).x;"""
HELD = """A | Sx(x), Sy(y) = 1; C ~ A | Rz(phi) = 1, 1, 1, 1; coordinates x, y, phi; point Tip on C = (1, 0, 0);
program thrust : |a(A)| = 2 + sin(t); program swing : phi''' = 1; initial x' = 1, phi' = 0.3, x'' = 2;
output j = jerk(Tip).x, a = a(Tip).x, v = v(Tip).x, c = phi''', b = phi'';"""


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        (TREE, {"v": "a", "r": "v", "w": "e", "s": "along"}),
        (QUASI, {"v": "a"}),
        (HELD, {"a": "j", "v": "a", "b": "c"}),
    ],
)
def test_each_output_is_the_rate_of_the_one_below_it(text: str, rates: dict[str, str]) -> None:
    run = kn.simulate(kn.loads(text), 0.4, samples=4001, rtol=1e-11, atol=1e-12)
    for below, rate in rates.items():
        found = np.gradient(run[below], run.t)[1:-1]
        np.testing.assert_allclose(run[rate][1:-1], found, atol=5e-6, err_msg=rate)


def test_an_acceleration_may_end_a_run() -> None:
    system = kn.loads("gravity 9.81; B | Ry(q1), Sz(-1) = 1; initial q1 = 1.5;")
    event = kn.event(abs(kn.vector("a", "B")) - 12, terminal=True, name="pull")
    run = kn.simulate(system, 2.0, events=[event], rtol=1e-10)
    q, w = run["q1"][-1], run["q1'"][-1]
    assert np.hypot(9.81 * np.sin(q), w * w) == pytest.approx(12, abs=1e-7)


def test_a_derivative_that_no_motion_has_is_told() -> None:
    with pytest.raises(kn.ModelError, match=r"up to the order 2, which the motion has, found \|jerk\(B\)\| of order 3"):
        kn.simulate(kn.loads("B | Ry(q1), Sz(-1) = 1; output j = |jerk(B)|;"), 1.0)
    with pytest.raises(kn.ModelError, match="up to the order 3, which the motion has, found phi'''' of order 4"):
        kn.simulate(kn.loads(HELD.replace("output", "output d = phi'''',")), 1.0)
