"""Vectors as wholes: forces, couples, points and gravity, named vectors, and places as arguments of functions."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

BASE = """
gravity 9.81 m/s^2;
parameters m = 2 kg, c = 0.3 N*s/m, r = 0.1 m, J = 0.1 kg*m^2, k = 0.4 kg/m;
coordinates x, z, q;
Body | Sx(x), Sz(z), Ry(q) = m, J, J, J;
point P on Body = (r, 0, 0);
"""
THREE = "(-c*v(P).x, -c*v(P).y, -c*v(P).z)"
OWN = "(-c*v(P in Body).x, -c*v(P in Body).y, -c*v(P in Body).z)"


def read(text: str) -> kn.System:
    return kn.loads(BASE + text, "a.kin")


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("force f at P = -c*v(P);", f"force f at P = {THREE};"),
        ("force f on Body at P = -c*v(P);", f"force f at P = {THREE};"),
        ("force f at P = (1 N, 0, 0) - c*v(P);", "force f at P = (1 N - c*v(P).x, -c*v(P).y, -c*v(P).z);"),
        ("force f at P = -c*v(P in Body);", f"force f at P = {OWN} in Body;"),
        ("force f at P = -c*v(P in Body) in body;", f"force f at P = {OWN} in body;"),
        ("let u = -c*v(P); force f at P = u; output y = u.x;", f"force f at P = {THREE}; output y = -c*v(P).x;"),
        ("let u = v(P), g = -c*u; force f at P = g;", f"force f at P = {THREE};"),
        (
            "let d(A) = -c*v(A); force f at P = d(P); force h on Body = d(Body);",
            f"force f at P = {THREE}; force h on Body = {THREE.replace('P', 'Body')};",
        ),
        ("let d(P) = -c*v(P).x; output y = d(Body);", "output y = -c*v(Body).x;"),
        ("let d(A, B) = r(A in B).x + A.vx*1 s; output y = d(P, Body);", "output y = r(P in Body).x + P.vx*1 s;"),
        ("let e(A) = -c*v(A), d(A) = e(A); force f at P = d(P);", f"force f at P = {THREE};"),
        (
            "couple f on Body = if(x > 0 m, cross(r(P), (1 N, 0, 0)), (0, 0, 0));",
            "couple f on Body = (0, if(x > 0, r(P).z, 0), if(x > 0, -r(P).y, 0));",
        ),
        ("point Q on Body = 2*r*(1, 0, 0) + (0, 0, r);", "point Q on Body = (2*r, 0, r);"),
    ],
)
def test_whole_vectors_are_their_components(whole: str, parts: str) -> None:
    assert read(whole) == read(parts)
    assert kn.loads(kn.dumps(read(whole))) == read(whole)


def test_gravity_may_be_a_multiple_of_a_direction() -> None:
    A, B = "A | Rx(q) = Jx(1);", "parameters g = 9.81 m/s^2;"
    assert kn.loads(f"{B} gravity g*(0, -1, 0); {A}") == kn.loads(f"{B} gravity (0, -g, 0); {A}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("force f on Body = 3 N;", "7:19: force 'f' must be a vector, as in (1, 0, 0), found the number '3'."),
        ("force f on Body = c*3 m/s*v(P);", "7:19: force 'f' must be a force [kg*m/s^2], found a power [kg*m^2/s^3]."),
        ("force f on Body = v(P) + 2;", "7:19: v(P) is a vector and cannot be added to a number."),
        (
            "force f at P = c*v(P in Body) in ground;",
            "7:34: the vector has the axes of 'Body', found 'in ground'; leave that out, or write vectors as v(Body in ground).",
        ),
        (
            "let s = v(P in Body); force f at P = c*(s - v(P));",
            "7:41: s has the axes of 'Body' and v(P) those of 'ground'; expected both in the axes of one body.",
        ),
        (
            "point Q on ground = (0, 0, 0); force f on Body at Q = (1, 0, 0);",
            "7:51: expected a point of 'Body', found 'Q'. It has P.",
        ),
        (
            "let d(P) = c*v(P); force f at P = d(x);",
            "7:14: in d(P), called at a.kin:7:35: 'P' stands for a point or body here; expected the name of one in the call, "
            "found 'x'.",
        ),
        ("let u = cc*v(P);", "Let 'u' (a.kin:7:9): unknown symbol 'cc'. Did you mean 'c'?"),
        (
            "let u = u.x*v(P);",
            "Let 'u' (a.kin:7:5): the name stands for itself: u = u. One must do without the others.",
        ),
        (
            "output y = v(P);",
            "7:12: v(P) is a vector; expected a component of it, as in v(P).x, or its magnitude, |v(P)|.",
        ),
    ],
)
def test_errors_of_vectors_are_sentences(text: str, said: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        read(text)
    assert str(raised.value).removeprefix("a.kin:") == said


def test_python_says_the_same() -> None:
    c, k = kn.symbol("c"), kn.symbol("k")
    text = read(
        "force f at P = -k*|v(P in Body)|*v(P in Body); force g at P = (1 N, 0, 0) - c*v(P); couple h on Body = -0.1*w(Body);"
        "force s on Body = cross((0, 0, 1), v(P))*c/2;"
    )
    body, point = text.bodies[0], text.points[0]
    v, own = kn.vector("v", "P"), kn.vector("v", "P", "Body")
    elements = [
        kn.force("f", point, -k * abs(own) * own),
        kn.force("g", point, (1, 0, 0) - c * v),
        kn.couple("h", body, np.float64(-0.1) * kn.vector("w", "Body")),
        kn.force("s", body, kn.cross((0, 0, 1), v) * c / 2),
    ]
    assert text.replace(elements=elements) == text


WRONG = {
    "v(P in Body) has the axes of 'Body' and v(P) those of 'ground'; expected both in the axes of one body.": lambda v, u: (
        u + v
    ),
    "The vector has the axes of 'Body', found axes 'ground'; leave that out.": lambda v, u: kn.force(
        "f", "Body", u, "ground"
    ),
    "Expected a number or an expression beside a vector, found two vectors; write kn.dot or kn.cross.": lambda v, u: (
        v * u
    ),
    "Expected three components, as in (0, 0, 1), found 1.": lambda v, u: v + 1,
}


@pytest.mark.parametrize("said", WRONG)
def test_errors_of_vectors_in_python_are_sentences(said: str) -> None:
    with pytest.raises(kn.ArgumentError) as raised:
        WRONG[said](kn.vector("v", "P"), kn.vector("v", "P", "Body"))
    assert str(raised.value) == said


def test_a_slipping_wheel_keeps_its_momentum_about_the_ground() -> None:
    """Whatever the friction, m r s' + J phi' stays; at the end the wheel rolls."""
    system = kn.loads("""
        parameters m = 6 kg, r = 0.3 m, mu = 0.8, v0 = 0.1 m/s, J = 0.4 kg*m^2;
        Wheel | Sx(s), Sz(r), Ry(phi) = m, J, J, J;
        coordinates s, phi;
        let slip = v(Wheel) + cross(w(Wheel), (0, 0, -r));
        force ground on Wheel at (r*sin(phi), 0, -r*cos(phi)) = -mu*m*9.81 m/s^2*tanh(slip.x/v0)*(1, 0, 0);
        initial phi' = 300 rpm;
        output slip = slip.x, about = m*r*s' + J*phi';
    """)
    run = kn.simulate(system, 3.0)
    assert run["about"] == pytest.approx(run["about"][0], rel=1e-9)
    assert run["slip"][-1] == pytest.approx(0, abs=1e-6)
