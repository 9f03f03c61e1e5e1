"""Boxes and capsules that may touch each other, by one statement: beside single contacts, by laws of mechanics, walls, piles."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.runtime import contact_problem

BRICK = "3, 0.0041, 0.0116, 0.0125"
#: Rows of bricks, each a quarter of a brick beside the one below.
WALL = """
gravity 9.81;
constants rows = {rows}, across = {across};
parameters a = 20 cm, b = 10 cm, c = 8 cm, mu = 0.6;
for i in 1..rows*across : Brick[i] | Free(b[i]) = {inertia};
for i in 1..across : for k in 0..rows - 1 :
    initial b[i + across*k].x = (a + 1 mm)*(i + 0.25*mod(k, 2)), b[i + across*k].z = c*(k + 0.5);
{more}
contact wall : box = a, b, c among Brick[1..rows*across] and plane among ground axis (0, 0, 1){shapes}, friction = mu;
"""


def wall(rows: int, across: int, more: str = "", shapes: str = "") -> kn.System:
    return kn.loads(WALL.format(rows=rows, across=across, inertia=BRICK, more=more, shapes=shapes))


def test_a_wall_stands_and_does_not_creep() -> None:
    run = kn.simulate(wall(5, 4), 0.3, samples=4)
    assert run.method == "moreau"
    assert np.abs(run.q[-1] - run.q[0]).max() < 1e-12 * 0.3
    assert (
        np.abs(run.v).max() < 1e-10
    )  # residuals of impulses are 1e-11 of the largest velocity, which counts as 1 m/s at least
    assert not any("approximately" in note for note in run.notes)


BALL = "Ball | Free(f) = 5, 0.03, 0.03, 0.03; initial f.x = 0.5, f.y = -1, f.z = 0.3, f.vy = {speed};"


@pytest.mark.slow
@pytest.mark.parametrize("speed", [5, 12])
def test_a_wall_that_a_ball_strikes_obeys_the_laws_in_its_steps(speed: int) -> None:
    run = kn.simulate(wall(5, 4, BALL.format(speed=speed), " and ball = 0.12 among Ball"), 1.0, samples=101)
    (said,) = [note for note in run.notes if "largest penetration" in note]
    assert float(said.split()[-2]) < 8e-5
    approximate = [int(note.split()[1]) for note in run.notes if "approximately" in note]
    assert sum(approximate) < 50
    assert np.diff(run.kinetic_energy + run.potential_energy).max() < 1e-4


@pytest.mark.slow
def test_a_wall_that_a_ball_strikes_breaks_and_comes_to_rest() -> None:
    system = wall(5, 4, BALL.format(speed=8), " and ball = 0.12 among Ball")
    run = kn.simulate(system, 2.5, samples=126)
    total = run.kinetic_energy + run.potential_energy
    assert np.diff(total).max() < 1e-3 * np.ptp(total)
    heights = np.array([run[f"b[{i}].z"] for i in range(1, 21)])
    assert heights.min() > 0.04 - 1e-3
    assert heights[:, -1].max() < 0.4
    assert run.kinetic_energy[-1] < 0.2 * run.kinetic_energy.max()


def pair(shape: str, place: str, table: bool) -> kn.System:
    """A body over a box that lies on the ground, as a table, or as single contacts."""
    axis = " axis (1, 0, 0)" * shape.startswith("capsule")
    law = "friction = 0.4, restitution = 0.2"
    touching = (
        f"contact pile : {shape} among A{axis} and box = 1, 0.8, 0.2 among B and plane among ground axis (0, 0, 1), {law};"
        if table
        else f"contact on_box : {shape} on box = 1, 0.8, 0.2 between A{axis} and B, {law};"
        f"contact a : {shape} between A{axis} and ground axis (0, 0, 1), {law};"
        f"contact b : box = 1, 0.8, 0.2 between B and ground axis (0, 0, 1), {law};"
    )
    return kn.loads(
        f"gravity 9.81; A | Free(a) = 1, 0.02, 0.03, 0.04; B | Free(b) = 4, 0.3, 0.4, 0.6; {touching}"
        f"initial b.z = 0.1, {place};"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "place"),
    [
        ("ball = 0.15", "a.x = 0.3, a.z = 0.4, a.vx = 0.5"),
        ("capsule = 0.1, 0.6", "a.x = 0.1, a.z = 0.35, a.vy = 0.4, a.wz = 0.3"),
        ("box = 0.4, 0.3, 0.2", "a.x = 0.2, a.z = 0.33, a.vx = 1"),
    ],
)
def test_a_table_has_the_motion_of_single_contacts(shape: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To rounding in steps of one part, which those of tables have; else steps with impacts have several, and times of impacts
    differ by a part of a step.
    """
    table = kn.simulate(pair(shape, place, table=True), 0.4, method="moreau", samples=21)
    single = kn.simulate(pair(shape, place, table=False), 0.4, method="moreau", samples=21)
    monkeypatch.setattr(contact_problem, "PARTS", 1)
    whole = kn.simulate(pair(shape, place, table=False), 0.4, method="moreau", samples=21)
    np.testing.assert_allclose(table.q, whole.q, atol=1e-11)
    # What moves at 1 m/s between an impact at the end of a step of 1 ms and one within it.
    np.testing.assert_allclose(table.q, single.q, atol=1e-3)
    assert table.energy_balance < 1e-2


def test_a_box_slides_as_coulomb_says_over_boxes_that_are_flush() -> None:
    tiles = ", ".join(f"ground at ({k * 0.5}, 0, 0.05)" for k in range(6))
    system = kn.loads(f"""gravity 9.81;
    Box | Free(b) = 2, 0.02, 0.03, 0.04; initial b.x = 0.3, b.z = 0.15, b.vx = 2;
    contact slide : box = 0.4, 0.3, 0.1 among Box and box = 0.5, 1, 0.1 among {tiles}, friction = 0.2;""")
    run = kn.simulate(system, 1.2, samples=3)
    np.testing.assert_allclose(run["b.x"][-1], 0.3 + 2**2 / (2 * 0.2 * 9.81), atol=5e-3)
    assert abs(run["b.z"][-1] - 0.15) < 1e-6
    assert np.abs(run.v[-1]).max() < 1e-9


MIXED = """
gravity 9.81; constants N = 4;
for i in 1..N : Box[i] | Free(b[i]) = 1, 0.005, 0.005, 0.005;
for i in 1..N : Log[i] | Free(l[i]) = 1, 0.002, 0.02, 0.02;
for i in 1..N : Ball[i] | Free(r[i]) = 1, 0.004, 0.004, 0.004;
contact pile : box = 0.2, 0.18, 0.16 among Box[1..N] and capsule = 0.07, 0.3 among Log[1..N] axis (1, 0, 0)
    and ball = 0.1 among Ball[1..N] and plane among ground axis (0, 0, 1), ground at (-0.5, 0, 0) axis (1, 0, 0),
    ground at (0.5, 0, 0) axis (-1, 0, 0), ground at (0, -0.5, 0) axis (0, 1, 0), ground at (0, 0.5, 0) axis (0, -1, 0),
    friction = 0.4, restitution = 0.2;
for i in 1..N : initial b[i].z = 0.2 + 0.8*(i - 1), b[i].x = 0.05*sin(3*i), b[i].wx = sin(5*i);
for i in 1..N : initial l[i].z = 0.45 + 0.8*(i - 1), l[i].y = 0.05*cos(3*i), l[i].wz = 2*sin(i);
for i in 1..N : initial r[i].z = 0.7 + 0.8*(i - 1), r[i].x = 0.08*sin(7*i), r[i].y = 0.06*cos(i);
"""


@pytest.mark.slow
def test_a_mixed_pile_comes_to_rest_in_a_pit() -> None:
    run = kn.simulate(kn.loads(MIXED), 4.0, samples=201)
    assert run.success
    total = run.kinetic_energy + run.potential_energy
    assert np.diff(total).max() < 2e-3 * np.ptp(total)
    assert run.kinetic_energy[-1] < 0.05
    for name, least in (("b", 0.08), ("l", 0.07), ("r", 0.1)):
        for i in range(1, 5):
            assert run[f"{name}[{i}].z"].min() > least - 2e-3
            assert np.abs(run[f"{name}[{i}].x"]).max() < 0.5 - least + 2e-3


def test_boxes_that_overlap_at_the_start_are_refused() -> None:
    system = kn.loads(
        "gravity 9.81; for i in 1..2 : A[i] | Free(a[i]) = 1, 1, 1, 1;"
        "contact c : box = 1, 1, 1 among A[1..2]; initial a[2].x = 0.9;"
    )
    with pytest.raises(kn.SimulationError, match=r"c.A\[1\].A\[2\] overlap by 0.1 m. Start them apart, or give an"):
        kn.simulate(system, 0.1)
