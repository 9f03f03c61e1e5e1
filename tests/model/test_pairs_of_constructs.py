"""Any two constructs of the language in one model: what is written back has the same numbers to the bit, and forces add up."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import kineta as kn

BASE = """
gravity 9.81 m/s^2;
parameters m = 2 kg, c = 0.3 N*s/m, r = 10 cm, k = 30 N/m, J = 0.1 kg*m^2, W = 60 rpm, s = 1;
coordinates x, z, q, a;
Body | Sx(x), Sz(z), Ry(q) = m, J, J, J;
Arm ~ Body | Sx(r), Ry(a) = 1 kg, J, J, J, com = (0, 0, -5 cm);
point P on Body = (r, 0, 2 cm);
point Tip on Arm = (0, 0, -20 cm);
initial x = 10 cm, z = 1 m, q = 20 deg, a = -10 deg, x' = 36 km/h, q' = 30 rpm;
"""
GRID = (
    "(0 deg, 20 deg, 40 deg, 60 deg), (0 m, 1 N, 2 N, 3 N, 4 N), (1 m, 2 N, 3 N, 4 N, 5 N), (2 m, 2 N, 2 N, 1 N, 0 N)"
)
CONSTRUCTS = {
    "function": "let hard(u) = k*u + 2 kN/m^3*u^3; force e1 = -hard(x) on x;",
    "named vector": "let sl = v(Tip) - v(P); force e2 at Tip = -c*sl;",
    "function of a place": "let drag(A) = -0.4 kg/m*|v(A)|*v(A); force e3 on Arm at Tip = drag(Tip);",
    "table": "force e4 = table(q'; cubic; (0 rpm, 12 N*m), (100 rpm, 11 N*m), (300 rpm, 2 N*m)) on q;",
    "grid": f"force e5 = table(x, q; cubic; {GRID}, (3 m, 0 N, 1 N, 0 N, 1 N)) on x;",
    "repetition": "for i in 1..3 : damper e6[i] = 0.1*i*1 N*m*s on a';",
    "choice of vectors": "couple e7 on Body = if(x > 0 m, cross(r(P) - r(Body), (1 N, 0, 2 N)), (0, 1 N*m, 0));",
    "products of vectors": "output o8 = dot(v(P), (cos(q), 0, sin(q))), n8 = norm(w(Arm)), h8 = hypot(x, z);",
    "state": "state i in A : i' = (12 V - 2 ohm*i - 0.1 V*s*a')/10 mH; force e9 = 0.1 N*m/A*i on a;",
    "conditions": "force e10 = if(mod(t, 1 s) < 0.2 s and not x > 3 m, 2 N, -1 N) on z;",
    "contact": "contact foot : point between Tip and ground axis (0, 0, 1), friction = 30%;",
    "height": "contact wave : ball = r between Body and ground axis (0, 0, 1) height 2 cm*sin(3 1/m*Body.x), restitution = 50%;",
    "compliant contact": "contact soft : ball = r between Arm and ground axis (0, 0, 1), stiffness = 20 kN/m, damping = 50;",
    "friction": "friction rub = 0.3 N*m, static = 0.4 N*m on a;",
    "smooth friction": "friction rub2 = 0.3 N*m, smooth = 1 deg/s on a;",
    "limit": "limit stops : -60 deg <= a <= 60 deg, restitution = 0.4;",
    "switch": "when trip : t >= 0.1 s : s = 2; force e17 = s*1 N on x;",
    "constraint": "constraint rail : r(P).x = 0.1 m*sin(W*t) + x;",
    "constraint on speeds": "constraint knife : v(Tip in Arm).x = 0.1 m/s;",
    "potential": "potential e20 = 3 J*(1 - cos(q)) + 0.5*k*z^2;",
    "forces in outputs": "output p = u, l = lambda.sp*q'; let u = 3 N*m*q; spring sp = 3 N*m on q; damper e22 = 0.1 N*m*s on q';",
    "inertia element": "inertia rotor = 0.02 kg*m^2 on a' - q';",
    "moving place": "force e24 on Arm at (0, 0, -5 cm*cos(a)) = -c*v(Tip in Body); force e25 = 1 N between P and Tip;",
    "program": "program hold : a'' = 0.3 rad/s^2;",
}
STATE = {"x": 0.3, "z": 1.1, "q": 0.2, "a": -0.3, "i": 0.7, "x'": 1.0, "z'": 0.5, "q'": 0.3, "a'": -0.4}


def bias(system: kn.System) -> np.ndarray:
    """The forces at rest accelerations, by the reference evaluation."""
    function = kn.derive(system).function("bias", "numpy")
    values = {p.name: p.value for p in system.parameters if not p.fixed}
    at = {"q": [STATE[n] for n in system.q_names], "v": [STATE[n] for n in system.v_names]}
    return np.asarray(function(t=0.05, **at, p=list(values.values())), float)


@cache
def alone(name: str) -> np.ndarray:
    """What a construct adds to the forces."""
    return bias(kn.loads(BASE + CONSTRUCTS.get(name, "")))


@pytest.mark.parametrize(
    "first", [pytest.param(n, marks=() if n == "moving place" else pytest.mark.slow) for n in list(CONSTRUCTS)[:-1]]
)
def test_any_two_constructs_go_together(first: str) -> None:
    for one, other in combinations(CONSTRUCTS, 2):
        if one != first:
            continue
        system = kn.loads(f"{BASE}{CONSTRUCTS[one]}\n{CONSTRUCTS[other]}")
        text = kn.dumps(system)
        assert kn.loads(text) == system, other
        assert kn.dumps(kn.loads(text)) == text, other
        found = bias(system)
        assert np.array_equal(bias(kn.loads(text)), found), other
        assert bias(kn.loads(f"{BASE}{CONSTRUCTS[other]}\n{CONSTRUCTS[one]}")) == pytest.approx(
            found, rel=1e-12, abs=1e-12
        )
        assert found - alone("") == pytest.approx(alone(one) + alone(other) - 2 * alone(""), rel=1e-10, abs=1e-10), (
            other
        )
