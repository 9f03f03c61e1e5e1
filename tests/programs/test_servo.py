"""Servo-constraints: forces of a few actuators that hold programs which they influence through the rest of the system."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import kineta as kn

CRANE = """
model crane;
gravity 9.81 m/s^2;
parameters M = 10 kg, m = 5 kg;
coordinates x, phi, l;
Trolley | Sx(x) = m(M);
Load ~ Trolley | Ry(phi), Sz(-l) = m(m);
program along : Load.x = 1 + 0.5*sin(2*t);
program height : Load.z = -2 + 0.3*cos(3*t);
control least on x, l;
initial x = 1 m, l = 2 m;
"""


def chain(n: int, damping: float = 0.0, stiffness: float = 100.0, more: str = "") -> kn.System:
    """Cars of one kilogram joined by springs; the last follows sin(5 t), the first is driven."""
    names = [f"x{i}" for i in range(1, n + 1)]
    cars = "".join(f"Car_{x} | Sx({x}) = m(1);" for x in names)
    joints = "".join(
        f"spring s{b} = {stiffness} on {b} - {a}; damper d{b} = {damping} on {b}' - {a}';"
        for a, b in zip(names, names[1:], strict=False)
    )
    text = f"coordinates {', '.join(names)}; {cars} {joints} program path : {names[-1]} = sin(5*t); control least on x1; {more}"
    return kn.loads(text)


def at(times: NDArray[np.float64], *formulas: sp.Expr) -> list[NDArray[np.float64]]:
    t = sp.symbols("t")
    return [np.asarray(sp.lambdify(t, f)(times)) * np.ones_like(times) for f in formulas]


def test_a_crane_is_flat_and_its_forces_are_those_of_the_path() -> None:
    found = kn.servo(kn.loads(CRANE), 3.0, samples=61)
    t = sp.symbols("t")
    X, Z = 1 + sp.sin(2 * t) / 2, -2 + sp.Rational(3, 10) * sp.cos(3 * t)
    along, up = sp.diff(X, t, 2), sp.diff(Z, t, 2) + 9.81  # the rope pulls along the acceleration less gravity
    x = X - Z * along / up
    drive = 10 * sp.diff(x, t, 2) + 5 * along
    names = ("x", "phi", "l", "control.x'", "control.l'")
    closed = at(found.t, x, sp.atan(along / up), -Z * sp.sqrt(1 + (along / up) ** 2), drive, -5 * sp.sqrt(along**2 + up**2))
    for name, value in zip(names, closed, strict=True):
        assert found[name] == pytest.approx(value, abs=1e-12 * max(1.0, np.abs(value).max())), name
    assert (found.index, found.flat, found.inversion, found.internal) == (5, True, False, 0)
    assert found.residual < 1e-14
    assert found.left < 1e-14


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_force_on_a_chain_of_cars_takes_two_derivatives_more_with_every_car(n: int) -> None:
    found = kn.servo(chain(n), 2.0, samples=21)
    t = sp.symbols("t")
    x = sp.sin(5 * t)
    force = sp.diff(x, t, 2)
    for _ in range(n - 1):
        x = x + force / 100
        force = force + sp.diff(x, t, 2)
    assert found["control.x1'"] == pytest.approx(at(found.t, force)[0], abs=1e-11)
    assert found["x1"] == pytest.approx(at(found.t, x)[0], abs=1e-12)
    assert (found.index, found.flat) == (2 * n + 1, True)


def test_dampers_between_cars_leave_a_motion_of_their_own() -> None:
    """k x + c x' of the next car is what the path asks for: a free part exp(-k t / c), of every car but the last."""
    start = "initial x1 = 0.3 m, x2 = 0.5 m, x1' = 6.25 m/s, x2' = 3 m/s;"
    k, c, w = 4.0, 1.0, 5.0
    system = kn.loads(
        "coordinates x1, x2; A | Sx(x1) = m(1); B | Sx(x2) = m(1); spring s = 4 on x2 - x1; damper d = 1 on x2' - x1';"
        "program path : x2 = sin(5*t); control least on x1;"
    )
    with pytest.raises(kn.SimulationError, match="the start misses the programs at t = 0 s.*1 of its variables") as told:
        kn.servo(system, 1.0, q={"x1": 0.3})
    assert "nearest" in str(told.value)
    # x1' = x2' + (x2'' + k (x2 - x1)) / c
    found = kn.servo(system, 2.0, q={"x1": 0.3}, v={"x1'": w - k * 0.3 / c, "x2'": w}, samples=21, rtol=1e-12, atol=1e-13)
    particular = (k + 1j * w * c - w**2) / (k + 1j * w * c)
    forced = (particular * np.exp(1j * w * found.t)).imag
    closed = forced + (0.3 - particular.imag) * np.exp(-k / c * found.t)
    assert found["x1"] == pytest.approx(closed, abs=1e-10)
    assert (found.index, found.internal, found.poles) == (4, 1, pytest.approx([-4.0]))
    assert found.stability.startswith("minimum phase: it dies out, by exp(-4 t)")
    assert start


def pendulum(share: float) -> kn.System:
    """Two rods in a vertical plane, point masses at their ends, a motor at the first hinge; the program weighs both angles."""
    return kn.loads(
        f"""
        gravity (0, -9.81, 0);
        coordinates a, b;
        One | Rz(a), Sy(-1) = m(1);
        Two ~ One | Rz(b - a), Sy(-1) = m(1);
        program path : a + {share}*b = 0.4*sin(t)^2;
        control least on a;
        """
    )


def test_a_passive_joint_moves_as_its_own_equation_says() -> None:
    """a'' cos(a - b) - a'^2 sin(a - b) + b'' + 9.81 sin b = 0 is the balance at the second hinge, in absolute angles."""
    share = 0.3
    found = kn.servo(pendulum(share), 3.0, samples=31, rtol=1e-12, atol=1e-13)

    def rate(t: float, y: NDArray[np.float64]) -> list[float]:
        b, db = y
        path, dpath, ddpath = 0.4 * np.sin(t) ** 2, 0.4 * np.sin(2 * t), 0.8 * np.cos(2 * t)
        a, da = path - share * b, dpath - share * db
        # a'' = ddpath - share b''
        rest = -(da**2) * np.sin(b - a) * -1.0 if False else da**2 * np.sin(b - a) + 9.81 * np.sin(b)
        return [db, -(ddpath * np.cos(b - a) + rest) / (1 - share * np.cos(b - a))]

    own = solve_ivp(rate, (0, 3), [0.0, 0.0], "DOP853", t_eval=found.t, rtol=1e-12, atol=1e-13)
    assert found["b"] == pytest.approx(own.y[0], abs=1e-9)
    assert (found.index, found.inversion, found.internal) == (3, True, 2)
    assert found.stability == "neither dies out nor grows to the first order about rest"
    assert found.residual < 1e-13
