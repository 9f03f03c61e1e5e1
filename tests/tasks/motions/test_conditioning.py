"""How near positions are to singular ones, and the stiffness of equilibria by names: against closed forms and differences."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import kineta as kn
from kineta.cli.main import app
from tests.mechanics.truth import load
from tests.models import FOURBAR
from tests.support import EXAMPLES, slow

ARM = kn.loads("""
coordinates a, b; parameters l1 = 0.7, l2 = 0.4;
Upper | Rz(a) = 1; Lower ~ Upper | Sx(l1), Rz(b) = 1; Hand ~ Lower | Sx(l2) = 0.1;
""")


@pytest.mark.slow
@pytest.mark.parametrize("b", [0.02, 0.5, 2.0, -1.0])
def test_an_arm_of_two_links(b: float) -> None:
    """Yoshikawa: the manipulability is l1 l2 |sin b|, and J its slope."""
    a = 0.3
    x, y = 0.7 * np.cos(a) + 0.4 * np.cos(a + b), 0.7 * np.sin(a) + 0.4 * np.sin(a + b)
    (found,) = (
        one
        for one in kn.inverse_kinematics(ARM, {"Hand.x": x, "Hand.y": y}, {"a": a, "b": b})
        if one.initial["b"] == pytest.approx(b)
    )
    measured = found.conditioning
    assert measured is not None
    assert measured.manipulability == pytest.approx(0.7 * 0.4 * abs(np.sin(b)), rel=1e-9)
    J = np.array([[-y, -0.4 * np.sin(a + b)], [x, 0.4 * np.cos(a + b)]])
    assert measured.values == pytest.approx(np.linalg.svd(J)[1], rel=1e-9)
    assert measured.condition == pytest.approx(np.linalg.cond(J), rel=1e-9)
    assert measured.length is None
    direction = np.array([measured.direction.get(n, 0.0) for n in ("Hand.x", "Hand.y")])
    motion = np.array([measured.motion.get(n, 0.0) for n in ("a'", "b'")])
    assert np.abs(J @ motion) == pytest.approx(np.abs(measured.least * direction), abs=1e-9)


def test_a_stretched_arm_is_singular_along_itself() -> None:
    found = kn.inverse_kinematics(ARM, {"Hand.x": 1.1, "Hand.y": 0.0}, {"a": 0.1, "b": -0.2}, starts=5)[0].conditioning
    assert found is not None
    assert found.condition > 1e3
    assert next(iter(found.direction)) == "Hand.x"
    assert "along Hand.x" in str(found)


def test_turns_are_compared_with_shifts_at_a_length_that_is_said() -> None:
    """The condition is the same in millimetres: turns are measured at the mean arm."""
    found = []
    for scale in (1.0, 1000.0):
        arm = kn.loads(
            f"coordinates a, s; Upper | Rz(a), Sx(s) = 1; Hand ~ Upper | Sx({0.4 * scale}) = 0.1; initial s = {0.5 * scale};"
        )
        placed = kn.inverse_kinematics(arm, {"Hand.x": 0.9 * scale, "Hand.y": 0.0}, starts=0)[0].conditioning
        assert placed is not None
        assert placed.length == pytest.approx(0.9 * scale)
        found.append(placed.condition)
    assert found == pytest.approx([1.0, 1.0])


def test_constraints_in_their_dead_points() -> None:
    """With the crank pinned, the rest of a four-bar is singular where coupler and rocker are in line."""
    free, pinned = (kn.assemble(FOURBAR, pinned=names).conditioning[0] for names in ((), ("theta",)))
    assert free.condition < 10
    assert set(pinned.motion) <= {"beta'", "gamma'"}
    d = kn.derive(FOURBAR)
    q, v, _ = kn.assemble(FOURBAR).q, kn.assemble(FOURBAR).v, None
    A = d.function("constraint_jacobian")(0.0, q, v)
    assert free.values == pytest.approx(np.linalg.svd(A)[1], rel=1e-9)
    assert pinned.values == pytest.approx(np.linalg.svd(A[:, 1:])[1], rel=1e-9)
    # Links of 0.2 and 0.3 that reach 0.5: in line, though constraints say nothing twice.
    stretched = kn.loads("""
    coordinates a, b; initial b = 1e-7;
    A | Rz(a) = 1; B ~ A | Sx(0.2), Rz(b) = 1; point end on B = (0.3, 0, 0); point there on ground = (0.5, 0, 0);
    constraint reach : end.x = 0.5 - 1e-16; constraint level : end.y = 0;
    """)
    (found,) = kn.assemble(stretched).conditioning
    assert found.condition > 1e5
    assert next(iter(found.direction)) == "reach"
    assert kn.assemble(ARM).conditioning == ()


@pytest.mark.parametrize("name", ["appell_hamel", "skate", "upright_coin"])
def test_constraints_on_speeds_are_measured_where_they_have_a_slope(name: str) -> None:
    """Nonlinear in speeds, and with quasi-velocities in place of the speeds of the motions."""
    system = kn.load(EXAMPLES / f"{name}.kin")
    for one in kn.assemble(system).conditioning:
        assert np.isfinite(one.condition)
        assert set(one.motion) <= set(system.base_speeds)


def test_constraints_that_say_what_others_say_everywhere_are_no_singularity() -> None:
    (found,) = kn.assemble(kn.load(EXAMPLES / "bricard.kin")).conditioning
    assert found.condition < 100


def test_conditioning_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    app.main(["place", str(EXAMPLES / "double_pendulum.kin"), "--put", "second.x=1,second.y=-1"], standalone_mode=False)
    assert "condition 1, manipulability 1; least singular value 1, along second." in capsys.readouterr().out
    app.main(["assemble", str(EXAMPLES / "fourbar.kin"), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["conditioning"]["condition"] == pytest.approx(2.676, abs=1e-3)


SERVO_ARM = """
coordinates a, b; parameters l1 = 0.7 m, l2 = 0.4 m;
Upper | Rz(a) = m(1), Jz(0.1); Lower ~ Upper | Sx(l1), Rz(b) = 1; Hand ~ Lower | Sx(l2) = m(0.1);
program px : Hand.x = 1 + 0.0999*sin(t); program py : Hand.y = 0; control least on a, b; initial a = -0.5, b = 0.9;
"""


@pytest.mark.slow
@pytest.mark.parametrize("level", ["Hand.y = 0", "l1*a'*cos(a) + l2*(a' + b')*cos(a + b) = 0"])
def test_an_arm_that_nearly_stretches_on_its_way_is_measured_where_it_does(level: str) -> None:
    """The decoupling matrix is J M^-1, its determinant l1 l2 sin b / det M; of positions and speeds it is the same."""
    system = kn.loads(SERVO_ARM)
    start = kn.servo(system, 1e-3, samples=2)
    initial = {n: float(start[n][0]) for n in (*system.q_names, *system.v_names)}
    system = kn.loads(SERVO_ARM.replace("Hand.y = 0", level)).replace(initial=initial)
    found = kn.servo(system, 3.0, samples=61)
    mass, maps = kn.derive(system).function("mass_matrix"), []
    for a, b in found.q:
        x, y = 0.7 * np.cos(a) + 0.4 * np.cos(a + b), 0.7 * np.sin(a) + 0.4 * np.sin(a + b)
        J = np.array([[-y, -0.4 * np.sin(a + b)], [x, 0.4 * np.cos(a + b)]])
        maps.append(J @ np.linalg.inv(mass(0.0, np.array([a, b]), np.zeros(2))))
    worst = int(np.argmin([np.linalg.svd(one)[1][-1] for one in maps]))
    near, sine, M = found.conditioning, np.sin(found["b"][worst]), mass(0.0, found.q[worst], np.zeros(2))
    assert near.t == found.t[worst]
    assert near.t == pytest.approx(np.pi / 2, abs=0.05)
    assert near.values == pytest.approx(np.linalg.svd(maps[worst])[1], rel=1e-9)
    assert near.manipulability == pytest.approx(0.7 * 0.4 * abs(sine) / np.linalg.det(M), rel=1e-9)
    assert near.condition > 500
    assert near.length is None
    direction = np.array([near.direction[n] for n in ("px''", "py''" if level == "Hand.y = 0" else "py'")])
    motion = np.array([near.motion[f"control.{n}'"] for n in "ab"])
    assert np.abs(maps[worst] @ motion) == pytest.approx(np.abs(near.least * direction), abs=1e-9)


@pytest.mark.slow
def test_trolley_and_arm_are_compared_at_a_length_that_is_said() -> None:
    """The same in millimetres: moments count as forces at the mean arm."""
    found = []
    for scale in (1.0, 1000.0):
        m = f"gravity {9.81 * scale}; coordinates x, b; T | Sx(x) = m(2); B ~ T | Rz(b), Sx({0.4 * scale}) = m(1);"
        path = (
            f"program px : B.x = {scale}*(1 + 0.1*sin(t)); program py : B.y = {scale}*(0.1 + 0.2*t); control on x, b;"
        )
        near = kn.servo(kn.loads(f"{m} {path} initial x = {0.6 * scale}, b = 0.3;"), 1.0, samples=21).conditioning
        assert near.length is not None
        assert near.length / scale == pytest.approx(0.4, abs=0.05)
        found.append((near.condition, *near.values, near.t))
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.slow
def test_the_crane_is_measured_across_its_rope() -> None:
    """Fourth derivatives of the path turn the rope, and x'' of the trolley, of 10 kg, answers by h / (a cos^2 phi):
    h its height over the load, a the acceleration of the load less gravity."""
    text = """
    gravity 9.81; coordinates x, phi, l;
    Trolley | Sx(x) = m(10); Load ~ Trolley | Ry(phi), Sz(-l) = m(5);
    program along : Load.x = 1 + 0.5*sin(2*t); program height : Load.z = -2 + 0.3*cos(3*t);
    control least on x, l; initial x = 1, l = 2;
    """
    found = kn.servo(kn.loads(text), 3.0, samples=61)
    X, Z = -2 * np.sin(2 * found.t), -2.7 * np.cos(3 * found.t) + 9.81
    height = 2 - 0.3 * np.cos(3 * found.t)
    least = Z**2 / np.hypot(X, Z) / (10 * height)
    worst, near = int(np.argmin(least)), found.conditioning
    assert near.t == found.t[worst]
    assert near.values == pytest.approx([least[worst]], rel=1e-9)
    assert near.motion == pytest.approx({"control.x'": 1.0})
    rope = np.array([Z[worst], -X[worst]]) / np.hypot(X[worst], Z[worst])
    direction = np.array([near.direction[n] for n in ("along''''", "height''''")])
    assert abs(direction @ rope) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("n", "k"), [(2, 100.0), *slow([(4, 1e6), (5, 1e4)])])
def test_a_chain_of_cars_is_far_from_singular_as_its_springs_are_soft(n: int, k: float) -> None:
    """Of cars of one kilogram: the force takes the derivative of order 2 n by 1 / k^(n - 1)."""
    names = [f"x{i}" for i in range(1, n + 1)]
    cars = "".join(f"C{x} | Sx({x}) = m(1);" for x in names)
    springs = "".join(f"spring s{b} = {k} on {b} - {a};" for a, b in pairwise(names))
    text = f"coordinates {', '.join(names)}, y; {cars} {springs} Beside | Sx(y) = m(3); program path : {names[-1]} = sin(5*t);"
    found = kn.servo(kn.loads(f"{text} program beside : y = cos(t); control on x1, y; initial y = 1;"), 1.0, samples=5)
    near = found.conditioning
    assert near.values == pytest.approx([k ** (n - 1), 1 / 3], rel=1e-9)
    assert near.direction == pytest.approx({"beside''": 1.0})
    alone = kn.servo(
        kn.loads(f"{text} control on x1;".replace(", y;", ";").replace("Beside | Sx(y) = m(3);", "")), 1.0, samples=5
    )
    assert alone.conditioning.values == pytest.approx([k ** (n - 1)], rel=1e-9)
    assert list(alone.conditioning.direction) == ["path" + "'" * (2 * n)]


# -- stiffness ---------------------------------------------------------------------------------------------------------


def test_the_stiffness_of_a_chain_is_that_of_the_vector() -> None:
    truth = load("vectors/andreev_oscillator_chain.json")
    chain = kn.load(EXAMPLES / "oscillator_chain.kin")
    found = kn.equilibrium(chain).stiffness
    assert found.names == ("q1", "q2", "q3", "q4")
    assert found.matrix == pytest.approx(np.array(truth["expected"]["stiffness_matrix"]), rel=1e-9)
    assert {unit for row in found.units for unit in row} == {"N/m"}
    assert str(found).splitlines()[0].split() == ["K", "[N/m]", "q1", "q2", "q3", "q4"]


def test_the_stiffness_of_a_closed_system_is_that_of_an_independent_coordinate() -> None:
    rest = kn.equilibrium(FOURBAR)
    (name,) = rest.stiffness.names
    assert rest.stiffness.units == (("N*m/rad",),)
    h, at = 1e-4, rest.initial[name]
    near = FOURBAR.replace(initial={n: x for n, x in rest.initial.items() if not n.endswith("'")})
    ahead, back = (kn.statics(near, {name: at + x}, [f"{name}'"])[f"tau[{name}']"][0] for x in (h, -h))
    assert rest.stiffness.matrix[0, 0] == pytest.approx((ahead - back) / (2 * h), rel=1e-5)


def test_the_stiffness_of_what_quasi_velocities_move_is_by_displacements() -> None:
    top = "gravity 9.81; Top | Ball(b) = m(0.35), Jx(0.002), Jy(0.002), Jz(0.001), com=(0,0,-0.06); "
    found = kn.equilibrium(
        kn.loads(top + "spring s = 5 between Top at (0.02,0,-0.1) and ground at (0.02,0,-0.3);")
    ).stiffness
    assert found.names == ("b.wx", "b.wy", "b.wz")
    assert {unit for row in found.units for unit in row} == {"N*m/rad"}
    plane = "coordinates x, y; A | Sx(x), Sy(y) = 1; spring s = 3 N/m on x; spring r = 2 on y; quasi u = x' + y', w = x' - y';"
    assert {unit for row in kn.equilibrium(kn.loads(plane)).stiffness.units for unit in row} == {"N/m"}


def test_the_stiffness_has_units_by_entry_where_shifts_and_turns_mix(capsys: pytest.CaptureFixture[str]) -> None:
    text = """
    gravity (0, 0, -9.81 m/s^2); coordinates z, phi;
    Seat | Sz(z), Ry(phi) = m(2 kg), Jy(0.1); spring s = 300 N/m on z; spring t = 5 N*m on phi; point P on Seat = (0.2, 0, 0);
    spring u = 10 N/m on P.z;
    """
    found = kn.equilibrium(kn.loads(text)).stiffness
    assert found.units == (("N/m", "N/rad"), ("N*m/m", "N*m/rad"))
    assert "units of phi: N*m/m, N*m/rad" in str(found)
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame)
    app.main(["equilibrium", str(EXAMPLES / "oscillator_chain.kin"), "--json"], standalone_mode=False)
    (one,) = json.loads(capsys.readouterr().out)["equilibria"]
    assert one["stiffness"]["names"] == ["q1", "q2", "q3", "q4"]
