"""Equations without twos, differences and roots that a person would not leave."""

from __future__ import annotations

import pytest

import kineta as kn

ROLLING = """gravity g; parameters m, g, R, r; coordinates theta;
Cyl | Ry(-theta), Sz(-(R - r)), Ry(R*theta/r) = m(m), Jy(m*r^2/2);"""
ROLLING_DISK = """gravity g; parameters A, C, m, g, R; coordinates x, y, z, phi, theta, psi;
Disk | Sx(x), Sy(y), Sz(z), Rz(phi), Rx(theta), Rz(psi) = m, A, A, C;
rolling edge : disk = R between Disk axis (0, 0, 1) and ground axis (0, 0, 1);"""
INCLINE = """gravity (0, -g, 0); parameters M, m, g; coordinates X, s;
W | Sx(X) = M; B ~ W | Rz(30 deg), Sx(-s) = m;"""
TOP = """gravity g; parameters A, C, m, g, l; coordinates phi, theta, psi;
Top | Rz(phi), Rx(theta), Rz(psi) = m, A, A, C, com = (0, 0, l);"""
SPRING = """gravity (0, -g, 0); parameters m, g, k, l0; coordinates r, theta;
Bob | Rz(theta), Sy(-r) = m; spring s = k, l0 on r;"""

TURBINE = """parameters m, M, a, J, W, c; coordinates x, yaw, phi;
Nacelle | Sx(x), Rz(yaw) = m; Rotor ~ Nacelle | Sx(-a), Rx(phi) = M, J, J, J;
let u = W - v(Rotor).x;
force thrust on Rotor = (c*u^2, 0, 0) in Nacelle;
force blades = c*u^3*table(phi'/u, yaw/1 deg; cubic; (0, 5, 10, 20), (0, 1, 2, 3, 4), (1, 2, 3, 4, 5), (2, 3, 4, 5, 7),
    (3, 1, 2, 2, 1)) on phi;"""
ROAD = """parameters m, k, h, l; coordinates x, z; Wheel | Sx(x), Sz(z) = m; spring tyre = k on z - h*sin(2*pi*x/l);"""
SLOPE = """gravity 9.81; parameters m; frame Slope | Ry(20 deg); B ~ Slope | Sx(s), Sz(z) = m; coordinates s, z;"""


@pytest.mark.parametrize(
    ("model", "quantity", "line"),
    [
        (ROLLING, "equations", "tau[theta'] = 3*m*(R - r)^2*theta''/2 + m*g*(R - r)*sin(theta)"),
        (ROLLING, "hamiltonian", "H = p[theta]^2/(3*m*(R - r)^2) - m*g*(R - r)*cos(theta)"),
        (ROLLING_DISK, "equations", "0 = z - R*abs(sin(theta))"),
        (INCLINE, "equations", "tau[X'] = (M + m)*X'' - sqrt(3)*m*s''/2"),
        (TURBINE, "equations", "u = W - x' - a*sin(yaw)*yaw'"),
        (
            TURBINE,
            "equations",
            "tau[x'] = (m + M)*x'' + M*a*sin(yaw)*yaw'' + M*a*cos(yaw)*yaw'^2 - c*u^2*cos(yaw)",
        ),
        (ROAD, "equations", "tau[z'] = m*z'' - k*(h*sin(2*pi*x/l) - z)"),
        (SLOPE, "equations", "tau[s'] = m*s'' - 3.3552176060248105*m"),
        (SPRING, "lagrangian", "L = m*(r'^2 + r^2*theta'^2)/2 + m*g*r*cos(theta) - k*(r - l0)^2/2"),
        (
            TOP,
            "canonical",
            "p[theta]' = tau[theta'] + (p[phi] - cos(theta)*p[psi])*(cos(theta)*p[phi] - p[psi])/((A + m*l^2)*sin(theta)^3)"
            " + m*g*l*sin(theta)",
        ),
    ],
)
def test_equations_are_as_a_person_writes_them(model: str, quantity: str, line: str) -> None:
    assert line in kn.derive(kn.loads(model)).text(quantity).splitlines()


def test_sympy_has_the_same_exact_numbers() -> None:
    sympy = pytest.importorskip("sympy")
    found = kn.derive(kn.loads(INCLINE)).sympy("mass_matrix")[0, 1]
    m = sympy.Symbol("m", real=True)
    assert found == -sympy.sqrt(3) * m / 2
    assert kn.derive(kn.loads(ROLLING)).sympy("kinetic_energy").atoms(sympy.Float) == set()


def test_parts_are_numbered_as_they_are_needed_and_have_one_name() -> None:
    lines = kn.derive(kn.loads(ROLLING_DISK)).text("forward").splitlines()
    parts = dict(line.split(" = ", 1) for line in lines if line.startswith("z") and line[1].isdigit())
    assert list(parts) == [f"z{k + 1}" for k in range(len(parts))]
    assert len(set(parts.values())) == len(parts)
    assert "cos(theta)" not in parts.values()
