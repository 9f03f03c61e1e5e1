"""Which inertia a body may have: lists of one moment are lumped where the body turns about that axis only."""

from __future__ import annotations

import pytest

import kineta as kn

RULE = "the largest exceeds the sum of the others|the inertia tensor has the principal moment -0.01"

PLANAR = [
    "A | Rz(q1) = 2, 0, 0, 0.1;",
    "A | Sx(x), Sy(y), Rz(q1) = 2, 0, 0, 0.1; coordinates x, y, q1;",
    "A | Sx(0.3*q1) = 2, 0, 0, 0.1;",  # never turns
    "A | Rz(q1) = 2, 0, 0, 0.1; B ~ A | Sx(1), Rz(q2), Sy(1) = 2, 0, 0, 0.1;",
    "A | R[0, 0, -1](q1) = 2, 0, 0, 0.1; B ~ A | Rx(pi/2), Ry(q2) = 2, 0, 0.1, 0;",
    "frame F | Rx(30 deg), Ry(50 deg); A ~ F | Rz(q1), Rz(0.2) = 2, 0, 0, 0.1;",
    "A | Ry(q1 - 3*t), Rx(pi/2) = 2, 0, 0, 0.1;",
    "parameters a = 90 deg, J = 0.1, none = 0; A | Ry(q1), Rx(a) = 2, none, none, J;",
]

SPATIAL = [
    "A | Rz(q1) = 2, 0.1, 0, 0;",
    "A | Rz(q1), Rx(0.1) = 2, 0, 0, 0.1;",
    "A | Rz(q1), Rx(q2) = 2, 0, 0, 0.1;",
    "A | Rx(q1) = 1; B ~ A | Rz(q2) = 2, 0, 0, 0.1;",
    "frame A | Ry(0.2*t); B ~ A | Rz(q2) = 2, 0, 0, 0.1;",
    "A | Ball(b) = 2, 0, 0, 0.1;",
    "A | Sx(q1), Free(f) = 2, 0, 0, 0.1;",
    "parameters J = 1, a; A | Rz(q1), Rx(a) = 2, 0, 0, J;",
    "A | Rz(q1) = 2, 0.01, 0.01, 0.1;",  # all moments are given, and one of them is wrong
    "A | Rz(q1) = m(2), Jx(0), Jy(0), Jz(0.1), Jxy(0.01);",
]


@pytest.mark.parametrize("text", PLANAR)
def test_one_moment_is_lumped_inertia_of_a_body_that_turns_about_that_axis_only(text: str) -> None:
    system = kn.loads(text)
    assert kn.loads(kn.dumps(system)) == system


@pytest.mark.parametrize("text", SPATIAL)
def test_moments_that_would_matter_obey_the_triangle_rule(text: str) -> None:
    with pytest.raises(kn.ModelError, match=RULE):
        kn.loads(text)


def test_a_negative_moment_is_refused_even_where_it_would_not_matter() -> None:
    with pytest.raises(kn.ModelError, match=r"Jx is -1 kg\*m\^2; expected zero or more\."):
        kn.loads("A | Rz(q1) = 2, -1, 0, 0.1;")


def test_moments_about_other_axes_do_not_enter_planar_motion() -> None:
    chain = "A | Rz(q1), Sx(0.4) = 2, {0}, {0}, 0.1; B ~ A | Sx(0.4), Rz(q2), Sx(0.3) = 1, {0}, {0}, 0.05;"
    lumped, full = (kn.derive(kn.loads(chain.format(J))).function("inverse", "numpy") for J in (0, 0.08))
    state = (0.0, [0.3, -1.2], [2.0, 0.7], [1.0, -3.0])
    assert lumped(*state) == pytest.approx(full(*state), rel=1e-14)


@pytest.mark.slow
def test_the_rule_takes_time_in_proportion_to_the_bodies() -> None:
    n = 1500
    links = [
        kn.body(
            f"b{i}",
            [kn.Rz(kn.symbol(f"q{i}")), kn.Sx(1)],
            kn.inertia(1, (0, 0, 0.1)),
            base=f"b{i - 1}" if i else "ground",
        )
        for i in range(n)
    ]
    assert kn.System("chain", links).nv == n
