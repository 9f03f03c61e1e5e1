"""Time stepping beside closed forms and the event-driven method."""

from __future__ import annotations

import re
from math import cos, sin

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError, SimulationError

BALL = """gravity 9.81;
Ball | Sx(x), Sz(z) = 1;
coordinates x, z;
contact floor : point between Ball and ground axis (0, 0, 1), restitution = 0.8;
initial z = 1;
"""
INCLINE = """gravity 9.81;
parameters a = 0.5;
B | Sx(x), Sz(z) = 1;
coordinates x, z;
contact floor : point between B and ground axis (sin(a), 0, cos(a)), friction = 0.3;
"""
ROCKING = """gravity 9.81;
parameters b = 10 cm, h = 30 cm, tilt = 0.1;
Block | Sx(x), Sz(z), Ry(q) = m(1), Jy((b^2 + h^2)/3);
coordinates x, z, q;
point Left on Block = (-b, 0, -h); point Right on Block = (b, 0, -h);
contact floor : point between Left, Right and ground axis (0, 0, 1), friction = 0.8;
initial q = tilt, x = h*sin(tilt) - b*cos(tilt), z = b*sin(tilt) + h*cos(tilt);
"""
SPRUNG_BAR = """gravity 9.81;
Bar | Sx(x), Sz(z), Ry(th) = 10, 1, 1, 1;
F1 ~ Bar | Sx(-0.5), Sz(u1 - 0.5) = 1;
F2 ~ Bar | Sx(0.5), Sz(u2 - 0.5) = 1;
coordinates x, z, th, u1, u2;
spring c1 = 2e3 on u1; spring c2 = 2e3 on u2; damper d1 = 50 on u1'; damper d2 = 50 on u2';
contact g : point between F1, F2 and ground axis (0, 0, 1), friction = 0.8;
initial z = 0.55, th = 0.02, x' = 0.3;
"""
PENDULUM = """gravity 9.81;
P | Ry(a) = m(1), Jy(0.1), com = (0, 0, -0.5);
coordinates a;
limit stop : -0.3 <= a <= 0.5, restitution = 0.5;
friction f = 0.05 on a;
initial a = 0.4;
"""
FOUR_BAR = """gravity (0, -9.81, 0);
Crank | Rz(theta) = m(1.1), Jz(0.02), com = (0.15, 0, 0);
Coupler ~ Crank | Sx(0.3), Rz(beta - theta) = m(2.3), Jz(0.21), com = (0.4, 0.15, 0);
Rocker | Sx(0.8), Rz(gamma) = m(1.7), Jz(0.09), com = (0.35, 0, 0);
coordinates theta, beta, gamma;
loop pin : revolute between Rocker at (0.7, 0, 0) axis (0, 0, 1) and Coupler at (0.9, 0, 0);
point Tip on Coupler = (0.45, -0.1, 0);
contact g : point between Tip and ground at (0, 0.16981, 0) axis (0, 1, 0), friction = 0.4;
initial theta = 0.8, beta = 0.5373459551871638, gamma = 1.3075149269961162,
    theta' = 9, beta' = -2.094085512590407, gamma' = 1.4383863170941085;
"""
SPINNING_LINKS = """gravity 9.81;
K[1] | Free(b) = m(0.1), Jx(1e-5), Jy(1e-4), Jz(1e-4), com = (0.05, 0, 0);
for i in 2..4 : K[i] ~ K[i-1] | Sx(0.1), Ball(j[i]) = m(0.1), Jx(1e-5), Jy(1e-4), Jz(1e-4), com = (0.05, 0, 0);
contact floor : point between K[1] and ground at (0, 0, -10) axis (0, 0, 1);
initial b.wx = 20, b.wz = 30, j[2].wy = 40, j[3].wx = -60, j[4].wz = 50;
"""
STRUCK_ROD = """gravity 9.81;
Rod | Sx(x), Sz(z), Ry(q) = m(1), Jy(0.02);
coordinates x, z, q;
point Tip on Rod = (0.2, 0, -0.2);
contact floor : point between Tip and ground axis (0, 0, 1), friction = 0.8, restitution = 0.6;
initial z = 0.4, x' = -0.5, z' = -2, q' = 3;
"""
THROWN_BOX = """gravity 9.81;
parameters m = 2.5, a = 25 cm, b = 10 cm, c = 6 cm;
Box | Free(box) = m, m*(b^2 + c^2)/3, m*(a^2 + c^2)/3, m*(a^2 + b^2)/3;
point A on Box = (a, b, c); point B on Box = (a, b, -c); point C on Box = (a, -b, c); point D on Box = (a, -b, -c);
point E on Box = (-a, b, c); point F on Box = (-a, b, -c); point G on Box = (-a, -b, c); point H on Box = (-a, -b, -c);
contact floor : point between A, B, C, D, E, F, G, H and ground axis (0, 0, 1), restitution = 0.8, friction = 0.9;
initial box.z = 0.9, box.qw = 0.6, box.qy = 0.8, box.vx = -3, box.wx = 40, box.wy = 3, box.wz = -20;
"""
COIN = """gravity 9.81;
parameters tilt = 0.3;
Coin | Free(c) = 1, 0.0025, 0.0025, 0.005;
contact floor : disk = 0.1 between Coin axis (0, 0, 1) and ground axis (0, 0, 1), friction = 0.6;
initial c.z = 0.1*cos(tilt), c.qw = cos(pi/4 - tilt/2), c.qx = sin(pi/4 - tilt/2), c.wz = 15, c.vx = 1.5;
"""


def stack(count: int, growing: float) -> str:
    """Cubes dropped on each other, each so many times as heavy as the one below."""
    a, text = 0.1, "gravity 9.81;\n"
    for k in range(count):
        J = growing**k * 2 * a * a / 3
        text += f"B{k} | Free(b{k}) = {growing**k}, {J}, {J}, {J};\n"
        corners = [(i, j) for i in (1, -1) for j in (1, -1)]
        text += "".join(f"point B{k}{c} on B{k} = ({i * a}, {j * a}, {-a});\n" for c, (i, j) in enumerate(corners))
        below = "ground" if k == 0 else f"B{k - 1} at (0, 0, {a})"
        names = ", ".join(f"B{k}{c}" for c in range(4))
        text += f"contact c{k} : point between {names} and {below} axis (0, 0, 1), friction = 0.5;\n"
        text += f"initial b{k}.z = {a * (2 * k + 1) + 0.01 * (k + 1)}, b{k}.x = {0.02 * k}, b{k}.qw = 1;\n"
    return text


def wall(*rows: int) -> str:
    """Rows of bricks, each on two of the row below, dropped on each other."""
    a, b, c, text = 0.1, 0.05, 0.04, "gravity 9.81;\n"
    J = f"{(b * b + c * c) / 3}, {(a * a + c * c) / 3}, {(a * a + b * b) / 3}"
    for row, bricks in enumerate(rows):
        for i in range(bricks):
            k = f"B{row}_{i}"
            text += f"{k} | Free(f{k}) = 1, {J};\n"
            for s, (u, v) in enumerate(((-0.9, -1), (-0.9, 1), (0.9, -1), (0.9, 1))):
                text += f"point {k}p{s} on {k} = ({u * a}, {v * b}, {-c});\n"
            for side in (0, 1):
                below = f"B{row - 1}_{i + side} at (0, 0, {c})" if row else "ground"
                some = f"{k}p{2 * side}, {k}p{2 * side + 1}"
                text += f"contact c{k}{side} : point between {some} and {below} axis (0, 0, 1), friction = 0.6;\n"
            x, z = 2.05 * a * (i + row / 2), c * (2 * row + 1) + 0.005 * (row + 1)
            text += f"initial f{k}.x = {x}, f{k}.z = {z}, f{k}.qw = 1;\n"
    return text


def largest_depths(run: kn.Result) -> list[float]:
    """The largest penetrations, from the notes."""
    (told,) = (note.split("largest penetration is ")[1] for note in run.notes if "largest penetration" in note)
    return [float(part.split()[0]) for part in told.split(" and ")]


def off(model: kn.System, t: float, steps: tuple[float, ...]) -> list[float]:
    """The largest distances of coordinates from the event-driven motion, for several steps."""
    exact, found = kn.simulate(model, t, samples=51), []
    for step in steps:
        run = kn.simulate(model, t, method="moreau", max_step=step, samples=51)
        assert run.status == 0
        found.append(float(np.abs(run.q - exact.q).max()))
    return found


def test_a_ball_bounces() -> None:
    coarse, fine = off(kn.loads(BALL), 4.0, (2e-3, 2.5e-4))
    assert fine < 2e-3 < coarse < 8e-3
    assert kn.simulate(kn.loads(BALL), 4.0, method="moreau").energy_balance < 1e-13


def test_a_block_slides_down_an_incline() -> None:
    run = kn.simulate(kn.loads(INCLINE), 1.0, method="moreau")
    assert np.hypot(*run.q[-1]) == pytest.approx(9.81 * (sin(0.5) - 0.3 * cos(0.5)) / 2, rel=1e-12)
    assert run.outputs["lambda.floor.n"][1:] == pytest.approx(9.81 * cos(0.5), rel=1e-9)
    assert np.abs(run.outputs["lambda.floor.w"][1:]) == pytest.approx(0.3 * 9.81 * cos(0.5), rel=1e-9)
    assert run.energy_balance < 1e-12


def test_friction_of_a_joint_stops_a_slider() -> None:
    slider = kn.loads("Slider | Sx(x) = 1; coordinates x; friction f = 2 on x; initial x' = 3;")
    run = kn.simulate(slider, 2.0, method="moreau")
    assert run.y[:, -1] == pytest.approx([9 / 4, 0.0], abs=1e-12)


def test_a_block_rocks() -> None:
    coarse, fine = off(kn.loads(ROCKING), 3.0, (2e-3, 2.5e-4))
    assert fine < 7e-3 < coarse < 3e-2


def test_stiff_springs_are_implicit() -> None:
    errors = off(kn.loads(SPRUNG_BAR), 1.0, (2e-3, 1e-3, 5e-4))
    assert np.all(np.array(errors) < (4e-4, 8e-5, 2e-5))
    stiff = kn.loads(SPRUNG_BAR.replace("2e3", "2e9").replace("50", "1e6"))
    assert np.isfinite(kn.simulate(stiff, 0.2, method="moreau").y).all()


def test_loops_are_of_second_order_where_nothing_strikes() -> None:
    free = kn.loads(FOUR_BAR.replace("0.16981", "-10"))
    coarse, fine = off(free, 0.5, (1e-3, 5e-4))
    assert coarse < 4e-5
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("speed", [300, 3e3, 1e4])
def test_a_free_body_keeps_its_energy_however_fast_it_spins(speed: float) -> None:
    """About an axis in which it tumbles, by up to ten radians in a step; so do the cases of an ensemble, to the bit."""
    model = kn.derive(
        kn.loads("B | Free(b) = 1, 0.01, 0.02, 0.028; contact c : point between B and ground axis (0, 0, 1);")
    )
    spin = {"b.wx": speed / 50, "b.wy": speed, "b.wz": speed / 100}
    run = kn.simulate(model, 0.2, q={"b.z": 1}, v=spin, method="moreau", samples=201)
    assert run.success, run.message
    assert run.energy == pytest.approx(run.energy[0], rel=5e-4)
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 2e-5 * run.energy[0]
    cases = kn.simulate(model, 0.2, q={"b.z": 1}, v=spin | {"b.wx": [speed / 50] * 2}, method="moreau", samples=201)
    np.testing.assert_array_equal(cases.q[1], run.q)


def test_a_coin_that_starts_on_its_edge_bears_no_blow() -> None:
    exact = kn.simulate(kn.loads(COIN), 0.01, samples=11)
    run = kn.simulate(kn.loads(COIN), 0.01, method="moreau", samples=11)
    assert run["lambda.floor.n"][1:] == pytest.approx(exact["lambda.floor.n"][1:], rel=0.02)
    assert np.abs(run.q - exact.q).max() < 5e-6


def test_energy_is_balanced_amid_the_steps_of_a_blow() -> None:
    """Of what turns as it strikes, whose forces of inertia are those at the mean speeds, in one part of a step or in several."""
    model = kn.loads(
        "gravity 9.81; B | Rz(a), Sx(r), Sz(z) = 1; coordinates a, r, z; initial a' = 10, r = 0.5, z = 5.15 cm;"
        "contact g : point between B and ground axis (0, 0, 1), friction = 0.5;"
    )
    result = kn.simulate(model, 0.15, method="moreau", samples=1501)
    assert len(result.impacts) == 2
    assert result.energy_balance < 5e-4


@pytest.mark.slow
def test_links_that_spin_in_flight_are_of_second_order() -> None:
    """By 20 to 60 rad/s, for which steps of 1 ms are divided. Derivatives of forces of inertia by coordinates alone had led
    astray by 1.8.
    """
    coarse, fine = off(kn.loads(SPINNING_LINKS), 0.3, (1e-3, 6.25e-5))
    assert coarse < 5e-3
    assert fine < coarse / 16


@pytest.mark.slow
def test_a_closed_mechanism_comes_to_rest_on_the_ground() -> None:
    model = kn.loads(FOUR_BAR)
    exact = kn.simulate(model, 2.0, samples=21)
    run = kn.simulate(model, 2.0, method="moreau", max_step=5e-4, samples=21)
    assert run.q[-1] == pytest.approx(exact.q[-1], abs=1e-6)


def test_limits_and_friction_of_joints_converge() -> None:
    coarse, middle, fine = off(kn.loads(PENDULUM), 3.0, (2e-3, 1e-3, 5e-4))
    assert fine < 0.7 * middle < 0.5 * coarse < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("growing", [1.0, 3.0])
def test_stacks_stand(growing: float) -> None:
    run = kn.simulate(kn.loads(stack(5, growing)), (0.0, 1.2), method="moreau", max_step=2e-3, samples=41)
    late = run.q[run.t > 0.7]
    assert np.abs(late - late[-1]).max() < 1e-8
    weight = 9.81 * sum(growing**k for k in range(5))
    assert sum(run.outputs[f"lambda.c0.B0{c}.n"][-1] for c in range(4)) == pytest.approx(weight, rel=1e-5)


def test_restitution_with_friction_gains_no_energy() -> None:
    run = kn.simulate(kn.loads(THROWN_BOX), 0.8, method="moreau")
    assert any("restore less than restitution says" in note for note in run.notes)
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 2e-4 * run.energy[0]


@pytest.mark.parametrize("mu", [0.5, 0.9, 1.0, 1.5])
def test_what_friction_jams_is_not_thrown_back(mu: float) -> None:
    slider = kn.loads(
        "parameters mu; A | S[1, 0, -1](s) = 1; coordinates s; initial s' = 1;"
        "contact c : point between A and ground at (0, 0, -0.1) axis (0, 0, 1), friction = mu, restitution = 0.5;"
    )
    run = kn.simulate(slider, 0.5, p={"mu": mu}, method="moreau", samples=3)
    assert run["s'"][-1] == pytest.approx(-0.5 if mu < 1 else 0.0, abs=1e-8)
    assert run.impacts[0].impulse_n < 22
    assert run.impacts[0].energy_lost == pytest.approx(0.375 if mu < 1 else 0.5, abs=1e-8)
    assert any("In 1 step impulses neither restore" in note for note in run.notes) == (mu >= 1)


@pytest.mark.parametrize("law", ["", " poisson"])
def test_both_laws_of_restitution_are_those_of_events(law: str) -> None:
    model = kn.loads(STRUCK_ROD.replace("0.6;", f"0.6{law};"))
    exact = kn.simulate(model, 0.12)
    found = [kn.simulate(model, 0.12, method="moreau", max_step=h).v[-1] for h in (1e-3, 1e-4)]
    coarse, fine = (float(np.abs(v - exact.v[-1]).max()) for v in found)
    assert fine < 1.5e-3 < coarse < 1.5e-2


def test_a_coin_rolls_on_its_edge() -> None:
    exact = kn.simulate(kn.loads(COIN), 1.0, samples=11)
    run = kn.simulate(kn.loads(COIN), 1.0, method="moreau", samples=101)
    assert np.abs(run.q[::10] - exact.q).max() < 0.02
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 1e-3
    assert max(largest_depths(run)) < 1e-6


def test_impulses_bring_other_contacts_to_close() -> None:
    """A rod whose joint to a body that strikes is thrown beyond its limit by the impact."""
    model = kn.loads("""gravity 9.81;
Body | Sz(z) = 1; Flap ~ Body | Ry(a) = m(0.5), Jy(0.01), com = (0.3, 0, 0);
coordinates z, a;
contact floor : point between Body and ground axis (0, 0, 1);
limit stop : -0.1 <= a <= 0.0011;
initial z = 0.5, z' = -6;
""")
    run = kn.simulate(model, 0.3, method="moreau")
    assert run["a"].max() < 0.0011 + 1e-6


def test_bodies_that_start_below_the_ground() -> None:
    model = kn.loads(BALL)
    with pytest.raises(SimulationError, match=r"'floor' is 0\.2 m beyond its contact; expected a gap of zero or more"):
        kn.simulate(model, 1.0, method="moreau", q={"z": -0.2})
    run = kn.simulate(model, 1.0, method="moreau", q={"z": -5e-5})
    assert np.abs(run.v).max() < 0.02
    assert run.q[-1] == pytest.approx([0.0, 0.0], abs=1e-8)


def test_kinks_of_the_ground_are_told() -> None:
    model = kn.loads("""gravity 9.81; A | Sx(x), Sz(z) = 1; coordinates x, z;
contact f : point between A and ground axis (0, 0, 1) height 0.1*abs(A.x); initial z = 0.3, x = -0.5, x' = 1;""")
    run = kn.simulate(model, 1.0, method="moreau")
    assert "'f' has a kink or a step that the motion passes, 'abs(A.x)'" in run.notes[-1]
    assert not any("kink" in note for note in kn.simulate(model, 0.3, method="moreau").notes)


def test_what_moves_no_mass_is_refused() -> None:
    """A spring would be inertia to an implicit step."""
    model = kn.loads("""gravity 9.81; A | Sz(z) = 1; Foot ~ A | Sz(-s) = 0; coordinates z, s; spring k = 100, 0.2 on s;
contact f : point between Foot and ground axis (0, 0, 1); initial z = 1, s = 0.2;""")
    with pytest.raises(SimulationError, match="the speed 's'' moves no inertia"):
        kn.simulate(model, 2.0, method="moreau")


@pytest.mark.parametrize("size", [0.5, 5.0])
def test_steps_longer_than_the_flight_gain_nothing(size: float) -> None:
    run = kn.simulate(kn.loads(BALL), 3.0, method="moreau", max_step=size)
    assert run.q[:, 1].min() >= 0.0
    assert np.diff(run.energy).max() <= 1e-12


def test_a_law_that_is_none_along_the_motion() -> None:
    rising = kn.loads(BALL.replace("restitution = 0.8", "friction = 0.5 - t"))
    run = kn.simulate(rising, 1.0, method="moreau")
    assert run.t[-1] == pytest.approx(0.5, abs=2e-3)
    assert "'floor' has the friction -" in run.message


@pytest.mark.slow
def test_a_wall_of_twenty_bricks_stands() -> None:
    run = kn.simulate(kn.loads(wall(6, 5, 4, 3, 2)), 1.5, method="moreau", max_step=2e-3, samples=151)
    assert len(run.notes) == 1
    assert max(largest_depths(run)) < 1e-7
    assert np.diff(run.energy).max() < 1e-9
    assert np.abs(run.v[-1]).max() < 1e-9
    weights = [run.outputs[name][-1] for name in run.outputs if name.startswith("lambda.cB0_") and name.endswith(".n")]
    assert sum(weights) == pytest.approx(20 * 9.81, rel=1e-6)


@pytest.mark.slow
def test_rows_of_a_wall_slide_on_each_other() -> None:
    sliding = re.sub(r"initial f(B(\d)_\d)\.x", r"initial f\1.vx = -\2, f\1.x", wall(6, 5, 4, 3, 2))
    run = kn.simulate(kn.loads(sliding), 0.5, method="moreau", max_step=2e-3, samples=51)
    assert len(run.notes) == 1
    assert max(largest_depths(run)) < 1e-3
    assert np.diff(run.energy).max() < 2e-3 * run.energy[0]


def test_events_are_located_between_steps() -> None:
    z = kn.symbol("z")
    model = kn.loads(BALL)
    run = kn.simulate(model, 0.4, method="moreau", events=kn.event(z - 0.5))
    assert run.t_events[0] == pytest.approx([(2 * 0.5 / 9.81) ** 0.5], abs=1e-9)
    ended = kn.simulate(model, 1.0, method="moreau", events=kn.event(z - 0.5, terminal=True))
    assert ended.t[-1] == run.t_events[0][0]


def test_smooth_friction_is_that_of_events() -> None:
    model = kn.loads("""gravity 9.81; B | Sx(x), Sy(y), Sz(z) = 1; coordinates x, y, z;
contact floor : point between B and ground axis (sin(0.3), 0, cos(0.3)), friction = 0.5, smooth = 0.02;
initial x' = 1, y' = 0.7;""")
    coarse, fine = off(model, 1.0, (2e-3, 2.5e-4))
    assert fine < 1e-4 < coarse < 4e-4
    run = kn.simulate(model, 1.0, method="moreau")
    assert run.energy_balance < 1e-12
    n, u, w = (run.outputs[f"lambda.floor.{axis}"][-1] for axis in "nuw")
    speed = float(np.hypot(run.v[-1] @ [cos(0.3), 0.0, -sin(0.3)], run.v[-1, 1]))
    assert np.hypot(u, w) == pytest.approx(0.5 * n * speed / np.hypot(speed, 0.02), rel=1e-9)


def test_what_is_refused() -> None:
    with pytest.raises(SimulationError, match="forwards in time only"):
        kn.simulate(kn.loads(BALL), (1.0, 0.0), method="moreau")
    with pytest.raises(ArgumentError, match="is for models with contacts, limits or dry friction"):
        kn.simulate(kn.loads("B | Sx(x) = 1; coordinates x;"), 1.0, method="moreau")


def test_a_short_allowance_of_steps() -> None:
    run = kn.simulate(kn.loads(BALL), 1.0, method="moreau", max_steps=100)
    assert run.t[-1] == pytest.approx(0.1)
    assert "out of steps" in run.message
    assert "max_steps allows more steps, and a larger max_step needs fewer" in run.message


def test_a_part_without_contacts_moves_as_alone() -> None:
    beside = kn.loads("""gravity 9.81; A | Sz(z) = 1; B | Ry(w), Sz(-1) = 1; coordinates z, w;
contact f : point between A and ground axis (0, 0, 1); initial z = 0.3, w = 0.2;""")
    alone = kn.loads("gravity 9.81; B | Ry(w), Sz(-1) = 1; coordinates w; initial w = 0.2;")
    run, other = kn.simulate(beside, 1.0, method="moreau", samples=11), kn.simulate(alone, 1.0, samples=11)
    assert np.abs(run["w"] - other["w"]).max() < 1e-9
    assert abs(run["z"][-1]) < 1e-9


def test_steps_too_small_to_be_counted_are_refused() -> None:
    model = kn.loads(
        "gravity 9.81; A | Sz(z) = 1; coordinates z; contact f : point between A and ground axis (0, 0, 1); initial z = 1;"
    )
    with pytest.raises(SimulationError, match="too many to be counted"):
        kn.simulate(model, 1.0, method="moreau", max_step=1e-300)
