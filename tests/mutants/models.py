"""Small models by what they exercise: what a mutant is judged by."""

# ruff: noqa: E501  # texts stand as they are in files

from __future__ import annotations

_INERTIA = "m(1.3), Jx(0.2), Jy(0.3), Jz(0.4), Jxy(0.01), Jxz(0.02), Jyz(0.03)"


def _crank(loop: str) -> str:
    """Two bodies, each on a chain in space, that a loop closes, with axes that are no coordinate axes."""
    return f"""gravity (1, -9, 3);
        B | Sx(0.2), Rx(0.4), Rz(a), Sx(1), Ry(b), Sy(0.7), Rx(c), Rz(0.4), Sx(0.1) = 0.7, 0.1, 0.2, 0.15;
        C | Sy(1), Rx(-0.3), Ry(e), Sz(0.6), Rx(f), Sy(0.2) = 0.9, 0.3, 0.2, 0.25; coordinates a, b, c, e, f; {loop}"""


_B, _C = "B at (0.2, -0.1, 0.3)", "C at (0.1, 0.2, -0.2)"
_AXES = "axis (0.36, 0.48, 0.8)", "axis (0, 0.6, -0.8)"

#: Two bodies with what acts on them; a body that carries another one, with places and axes anywhere.
_TREE = f"""gravity (1, -9, 3); parameters k = 20, m = 1.4;
    A | Sx(0.3), Rz(a), R[0, 0.6, 0.8](0.4 + b), Sx(1) = m, 0.3, 0.4, 0.5, com = (0.1, 0.2, 0.3);
    B ~ A | Rx(0.3), Sy(s), Ry(c + 0.2*t^2), Sz(0.5) = {_INERTIA}, com = (0.2, -0.1, 0.1);
    D ~ B | Rz(0.4), Sx(0.3) = 0.6, 0.1, 0.2, 0.15; coordinates a, b, s, c; point P on B = (0.1, 0.3, -0.2);
    point Q on A = (-0.2, 0.1, 0.4);"""

#: Two bodies, one on the other, with places and axes anywhere.
_PAIR = f"""gravity (1, -9, 3); parameters k = 20, m = 1.4;
    A | Sx(0.3), Rz(a), R[0, 0.6, 0.8](0.4 + b), Sx(1) = m, 0.3, 0.4, 0.5, com = (0.1, 0.2, 0.3);
    B ~ A | Rx(0.3), Sy(s), Ry(c + 0.2*t^2), Sz(0.5) = {_INERTIA}, com = (0.2, -0.1, 0.1);
    coordinates a, b, s, c; point P on B = (0.1, 0.3, -0.2); point Q on A = (-0.2, 0.1, 0.4);"""

MODELS: dict[str, tuple[str, ...]] = {
    "ball loop": (_crank(f"loop x : ball between {_B} and {_C};"),),
    "turning loops": (
        "gravity (1, -9, 3); A | Rz(a), Sx(1), Rx(0.3) = 1, 0.1, 0.2, 0.3; B ~ A | Rx(b), Ry(c), Sx(0.5), Rz(d) = 1, 0.2, 0.3, 0.1;"
        "C | Sx(0.9), Sz(0.3), Ry(e), Rz(f), Sx(0.8), Rx(g) = 1, 0.1, 0.3, 0.2; coordinates a, b, c, d, e, f, g;"
        "loop x : revolute between B at (0.3, 0, 0.1) axis (0.36, 0.48, 0.8) and C at (-0.1, 0.2, 0) axis (0, 0.6, -0.8);",
        _crank(f"loop x : universal between {_B} {_AXES[0]} and {_C} {_AXES[1]};"),
    ),
    "sliding loops": (
        _crank(f"loop x : cylindrical between {_B} {_AXES[0]} and {_C} {_AXES[1]};"),
        _crank(f"loop x : line between {_B} {_AXES[0]} and {_C};"),
    ),
    "aligned loops": (
        """gravity (1, -9, 3); A | Free(f) = 1.1, 0.2, 0.3, 0.4; B | Rz(a), Sx(1), Rx(b) = 0.9, 0.3, 0.2, 0.25;
        loop x : prismatic between B at (0.2, 0, 0.1) axis (0.36, 0.48, 0.8) and A at (0.1, 0, 0.2);
        initial f.x = 1.2;""",
        """gravity (1, -9, 3); A | Free(f) = 1.1, 0.2, 0.3, 0.4; B | Rz(a), Sx(1), Rx(b) = 0.9, 0.3, 0.2, 0.25;
        loop x : rigid between B and A at (0.1, 0, 0.2); initial f.x = 1;""",
    ),
    "plane and distance": (
        _crank(f"loop x : plane between {_B} {_AXES[0]} and {_C};"),
        _crank(f"loop x : distance = 0.9 + 0.1*t between {_B} and {_C};"),
        """gravity (1, -9, 3); A | Sx(x), Sy(y), Sz(z) = 1; W | Sx(1), Rz(w) = m(1), Jz(2); B ~ W | Sz(b) = 1;
            point P on W = (1, 0.5, 0); coordinates x, y, z, w, b;
            loop x : distance = 1 + 0.1*P.x^2 + 0.2*b between ground and A; initial x = 1.4;""",
    ),
    "gears": (
        """gravity (1, -9, 3); parameters n = 2.5; Arm | Rx(0.3), Rz(a), Sx(1) = 1.2, 0.1, 0.2, 0.3;
        Wheel ~ Arm | Rx(0.5), Sy(0.2), Ry(b) = 0.7, 0.2, 0.3, 0.2, com = (0.1, 0, 0.05);
        Pinion ~ Arm | Sy(0.4), Ry(0.2), R[0, 0, -1](c), Rx(pi/2) = 0.5, 0.1, 0.2, 0.1; coordinates a, b, c;
        loop g : gear = n between Wheel axis (0, 1, 0) and Pinion axis (0, 1, 0);""",
    ),
    "wheel": (
        """gravity (1, -9, -5); parameters r = 0.4; W | Sx(x), Sy(y), Sz(z), Rz(a), Rx(b), Ry(c) = 1.2, 0.1, 0.2, 0.15,
        com = (0.05, 0, 0.1); coordinates x, y, z, a, b, c; initial z = 0.4, b = 0.3;
        rolling w : wheel = r between W at (0, 0.1, 0) axis (0, 1, 0) and ground at (0, 0, 0.05) axis (0, 0, 1);""",
    ),
    "torus": (
        """gravity (1, -9, -5); parameters r = 0.4, q = 0.1; W | Free(f) = 1.2, 0.1, 0.2, 0.15;
        initial f.z = 0.5, f.qw = 0.96, f.qx = 0.28;
        rolling w : torus = r, q between W at (0, 0.1, 0) axis (0, 0.6, 0.8) and ground at (0, 0.1, 0) axis (0, 0.28, 0.96);""",
    ),
    "ellipsoid": (
        """gravity (1, -9, -5); E | Sx(x), Sy(y), Sz(z), Rz(a), Rx(b), Ry(c) = 1.2, 0.1, 0.2, 0.15; coordinates x, y, z, a, b, c;
        initial z = 0.4, b = 0.3;
        rolling e : ellipsoid = 0.5, 0.4, 0.3 between E at (0, 0.05, 0) and ground axis (0, -0.6, 0.8);""",
    ),
    "ball on a plate": (
        """gravity (1, -9, -5); Plate | Rx(p), Sy(0.2), Ry(q) = 2, 0.3, 0.4, 0.5; coordinates p, q, x, y, z, a, b, c;
        S | Sx(x), Sy(y), Sz(z), Rz(a), Rx(b), Ry(c) = 1.2, 0.1, 0.2, 0.15; initial z = 0.4, b = 0.3;
        rolling s : ball = 0.3 between S at (0, 0.05, 0) and Plate at (0.1, 0, 0.1) axis (0, 0, 1);""",
    ),
    "ball in a drum": (
        """gravity (1, -9, -5); Drum | Ry(p), Rz(0.2) = 2, 0.3, 0.4, 0.5; Touch | Rz(0.1), Ry(q) = 0, 0, 0, 0;
        S | Sx(x), Sy(y), Sz(z), Rz(a), Rx(b), Ry(c) = 1.2, 0.1, 0.2, 0.15; coordinates p, q, x, y, z, a, b, c;
        initial z = -0.6; inertia small = 0.1 on q';
        rolling s : ball = 0.3 between S at (0, 0.05, 0) and Touch at (0, 0, -1) axis (0, 0, 1) in Drum;""",
    ),
    "contacts": (
        """gravity (1, -9, -5); parameters mu = 0.4; Plate | Rx(p), Ry(q) = 2, 0.3, 0.4, 0.5;
        S | Sx(x), Sy(y), Sz(z), Rz(a), Rx(b), Ry(c) = 1.2, 0.1, 0.2, 0.15; coordinates p, q, x, y, z, a, b, c;
        point Foot on S = (0.1, -0.2, 0.3); initial z = 0.9, b = 0.3;
        contact one : ball = 0.3 between S at (0, 0.05, 0) and Plate at (0.1, 0, 0.1) axis (0, -0.6, 0.8), restitution = 0.3,
            friction = mu, static = 0.6;
        contact two : wheel = 0.3 between S axis (0, 0, 1) and ground at (0.1, 0, 0.1) axis (0, 0, -1), friction = 0.2;
        contact hills : point between Foot and ground at (0, 0, 0.2) axis (0, 0, 1) height 0.2*sin(Foot.x)*Foot.y, friction = mu;
        limit stop : -0.3 <= p + 0.5*q^2 <= 0.7; friction hinge = 0.4, static = 0.5 on 2*q;""",
    ),
    "vectors": (
        f"""{_TREE} output jerk = jerk(P).x, acc = a(P in A).y, size = |a(P)|, turn = eps(B in A).z, w = w(D).x', v = v(Q in B).y,
            r = r(P in A).z, rates = |w(B)|';
            program lift : a(P).z' - 0.3*w(D in A).x = sin(t);""",
        """A | Sz(q3), Ry(a), Sx(0.5) = 1, 0.1, 0.2, 0.3; F ~ A | Sy(0.2), Free(f) = 1.2, 0.2, 0.3, 0.25; point P on F = (0.1, 0.3, -0.2);
            output jerk = jerk(P in A).x; program j : jerk(P).x + eps(F).z = t;""",
    ),
    "programs": (
        """gravity (0, -9, 3); A | Rz(a), Sx(1), Rx(b) = 1.2, 0.2, 0.3, 0.4; B ~ A | Sy(0.3), Ry(c), Sz(0.4) = 0.8, 0.1, 0.2, 0.15;
            coordinates a, b, c; force f on B at (0.1, 0, 0.2) = (2*a, b', 1) in body; point P on B = (0.1, 0.3, -0.2);
            program p : jerk(P).z = 0.3*t;""",
        """gravity (0, -9, 3); A | Rz(a), Sx(1) = 1.2, 0.2, 0.3, 0.4; B ~ A | Rz(b), Sx(0.6) = 0.8, 0.1, 0.2, 0.15;
            coordinates a, b; spring s = 4 on a; program p : a''^2 + a'^2 = 4 + b*t; control kineta;""",
        """gravity (0, -9, 3); A | Rz(a), Sx(1) = 1.2, 0.2, 0.3, 0.4; B ~ A | Rz(b), Sx(0.6) = 0.8, 0.1, 0.2, 0.15;
            coordinates a, b; spring s = 4 on a; program p : a'' + a'^2 = b*t; control kineta;""",
        "A | Sx(x), Sy(y), Sz(z) = 1.2; force f on A = (x*y, z', t) in ground; coordinates x, y, z; program p : |a(A)|^2 = 4 + t;",
    ),
    "least control": (
        """gravity (0, -9, 0); A | Sx(x) = 2; B ~ A | Rz(b), Sy(-1) = 0.8, 0.1, 0.2, 0.15; C ~ B | Sy(-0.2), Rz(c), Sy(-0.4) = 0.4;
            coordinates x, b, c; program p : C.x = sin(t); control least on x weight 2, c weight 3;""",
        "A | Free(f) = 1.2, 0.2, 0.3, 0.4; program p : f.wx'' + f.vy'^2 = t; control inertial;",
    ),
    "quasi-velocities": (
        """gravity (1, -9, 0); S | Sx(x), Sy(y), Rz(phi) = m(2), Jz(0.4), com = (0.2, 0.1, 0); coordinates x, y, phi;
            point P on S = (0.3, 0, 0); spring s = 3 on x;
            constraint edge : x'*sin(phi) - y'*cos(phi) = 0.3*sin(t); quasi u = x'*cos(phi) + 0.5*P.vy + 0.2*t, w = phi' + 0.3*x';""",
        """gravity (1, -9, 3); T | Rz(a), Rx(b), Rz(c) = 0, 0.2, 0.3, 0.4; coordinates a, b, c; initial b = 1;
            quasi p = a'*sin(b)*sin(c) + b'*cos(c), q = a'*sin(b)*cos(c) - b'*sin(c), r = a'*cos(b) + c';""",
    ),
    "elements": (
        f"""{_PAIR} force f on B at (0.1, 0.2, 0.3) = (1, a*t, 2) in A; couple n on B = (0.3, b, 1) in body;
            force g = 2*t on a' + 0.3*s'; spring s1 = k, 0.2 between Q and P; spring s2 = 5 between P and ground at (1, 2, 1);
            spring s3 = k on s + 0.1*t; damper d1 = 0.7 between Q and B; damper d2 = 0.4 on a*b; potential V = 2*P.x*P.y;
            spring s4 = 3 + t on b; spring s5 = 4, 0.3*a between B and ground; spring s6 = 3, 0.4 on c; inertia i = 0.3 on 2*a' + b';""",
    ),
    "forms of speeds": (
        """gravity (1, -9, 3); A | Sx(x), Ball(b) = 1, 0.4, 0.5, 0.6; coordinates x, b; parameters J = 0.3;
            inertia i = J on b.wx + x'*b.qy; inertia k = 2*J on b.wy*x + sin(t)*x'; spring s = 3 on x;""",
    ),
    "joints": (
        """gravity (1, -9, 3); A | Rz(a), Sx(0.5) = 1.2, 0.1, 0.2, 0.3;
            B ~ A | Sy(0.4), Ry(b) = m(0.8), Jx(0.1), Jy(0.2), Jz(0.15), com = (0.1, 0.2, 0.3);
            C ~ B | Sx(0.2), Rz(c), Sx(0.4) = 0.5, 0.1, 0.2, 0.15; coordinates a, b, c;""",
        f"{_TREE} point R on D = (0.1, 0.1, 0.2);",
        f"""gravity (1, -9, 3); A | Free(f) = {_INERTIA}, com = (0.1, 0.2, 0.3); B ~ A | Sx(0.2), Ry(0.4), Ball(b) = 0.7, 0.2, 0.3, 0.4;
            C ~ B | Sy(0.3), R[0.36, 0.48, 0.8](c), Sz(0.2) = 0.5, 0.1, 0.2, 0.15, com = (0.1, 0, 0.2);""",
    ),
    "reactions": (
        """gravity (1, -9, 3); A | Sx(0.2), Rx(0.4), Rz(a), Sx(1), Ry(b) = 1.1, 0.2, 0.3, 0.4;
            B ~ A | Sy(0.7), Rx(c), Sz(0.3), Rx(0.4), Sx(0.1) = 0.7, 0.1, 0.2, 0.15;
            C | Sy(1), Rx(-0.3), Ry(e), Sz(0.6), Rx(f), Sy(0.2) = 0.9, 0.3, 0.2, 0.25; coordinates a, b, c, e, f;
            loop x : line between B at (0.2, -0.1, 0.3) axis (0.36, 0.48, 0.8) and C at (0.1, 0.2, -0.2);
            loop y : distance = 1.1 between A at (0.1, 0.2, 0) and C; force f on C at (0.1, 0, 0.2) = (1, 2, t) in body;
            constraint z : B.x + 0.3*C.vz = 0.2*c;""",
        """gravity (1, -9, 3); Arm | Rx(0.3), Rz(a), Sx(1) = 1.2, 0.1, 0.2, 0.3; Wheel ~ Arm | Rx(0.5), Sy(0.2), Ry(b) = 0.7, 0.2, 0.3, 0.2;
            Pinion ~ Arm | Sy(0.4), Ry(0.2), Rz(-c), Rx(0.2) = 0.5, 0.1, 0.2, 0.1; coordinates a, b, c;
            loop g : gear = 2 between Wheel axis (0, 1, 0) and Pinion axis (0, 0.19866933079506122, 0.9800665778412416);""",
    ),
}
