"""Many bodies that may touch each other, stepped together: beside pairs by themselves, by laws of mechanics, at bad input."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import kineta as kn
from kineta.arrays import FloatArray
from kineta.integration.solver import AUTO
from kineta.simulation.inputs import run_inputs
from kineta.simulation.simulate import piles

LAW = "friction = 0.5, restitution = 0.3"
FLOOR = f"for i in 1..N : contact floor[i] : ball = r between P[i] and ground axis (0, 0, 1), {LAW};"
#: Balls in space, whose speeds are those of their centres in ground axes: momentum is kept to rounding.
IN_SPACE = "for i in 1..N : P[i] | Sx(x[i]), Sy(y[i]), Sz(z[i]), Ball(b[i]) = 1, 0.004, 0.004, 0.004;"
IN_PLANE = "for i in 1..N : P[i] | Sx(x[i]), Sz(z[i]), Ry(a[i]) = 1, 0.004, 0.004, 0.004;"


def listed(n: int, names: str) -> str:
    """The coordinates of *n* balls."""
    return f"coordinates {', '.join(f'{name}[{i}]' for i in range(1, n + 1) for name in names)};"


@cache
def pile(n: int, *, plane: bool = False, pairs: bool = False, gravity: float = 9.81, more: str = "") -> kn.System:
    """*n* balls, as a table or as *pairs*."""
    apart = "".join(
        f"contact p{i}_{j} : ball = r on ball = r between P[{i}] and P[{j}], {LAW};"
        for i, j in combinations(range(1, n + 1), 2)
    )
    touching = apart if pairs else f"contact pile : ball = r among P[1..N], {LAW}{more};"
    bodies, names = (IN_PLANE, "xza") if plane else (IN_SPACE, "xyzb")
    floor = FLOOR if gravity else ""
    return kn.loads(
        f"constants N = {n}; parameters r = 0.1; gravity {gravity}; {bodies} {listed(n, names)} {floor} {touching}"
    )


def stacked(n: int, seed: int = 1, wide: float = 0.02) -> dict[str, float]:
    """Balls above each other, beside the line at random."""
    rng = np.random.default_rng(seed)
    return {f"{c}[{i + 1}]": x for i in range(n) for c, x in (("x", wide * rng.normal()), ("z", 0.12 + 0.21 * i))}


def thrown(n: int, seed: int = 2) -> tuple[dict[str, float], dict[str, float]]:
    """A cloud of *n* balls that fly towards each other, and spin."""
    rng, side = np.random.default_rng(seed), int(np.ceil(n ** (1 / 3)))
    q, v = {}, {}
    for i in range(n):
        place = 0.22 * (np.array(np.unravel_index(i, (side, side, side))) - (side - 1) / 2)
        for c, x in zip("xyz", place, strict=True):
            q[f"{c}[{i + 1}]"], v[f"{c}[{i + 1}]'"] = x, -3 * x + 0.3 * rng.normal()
            v[f"b[{i + 1}].w{c}"] = rng.normal()
    return q, v


@pytest.mark.slow
@pytest.mark.parametrize("plane", [True, False])
def test_a_table_has_the_motion_of_its_pairs(plane: bool) -> None:
    """To first order: steps of pairs by themselves have several parts where motion turns fast, and gaps from their start."""
    apart = []
    for step in (1e-3, 1e-3 / 16):
        table, single = (
            kn.simulate(
                pile(3, plane=plane, pairs=pairs), 0.5, q=stacked(3), method="moreau", samples=26, max_step=step
            )
            for pairs in (False, True)
        )
        assert len(table.impacts) == len(single.impacts) > 2
        apart.append(np.abs(table.q - single.q).max())
    assert apart[0] < 1e-3
    assert apart[1] < apart[0] / 8


@pytest.mark.slow
def test_the_motion_of_one_impact_is_that_of_a_pair_to_rounding() -> None:
    q, v = {"x[2]": 0.3, "y[2]": 0.05}, {"x[2]'": -1.0, "b[1].wz": 3.0, "b[1].wx": 1.0}
    table, pair = (
        kn.simulate(pile(2, pairs=pairs, gravity=0), 0.3, q=q, v=v, method="moreau", samples=4)
        for pairs in (False, True)
    )
    np.testing.assert_allclose(table.y, pair.y, atol=1e-12)
    ((one,), (other,)) = (table.impacts, pair.impacts)
    assert one.contact == "pile.P[1].P[2]"
    np.testing.assert_allclose(one[2:], other[2:], atol=1e-12)


def momenta(run: kn.Result, n: int) -> tuple[FloatArray, FloatArray]:
    """Momentum (k, 3), and moment of momentum about the origin (k, 3), of balls of the mass 1."""
    x = np.stack([[run[f"{c}[{i}]"] for c in "xyz"] for i in range(1, n + 1)])
    v = np.stack([[run[f"{c}[{i}]'"] for c in "xyz"] for i in range(1, n + 1)])
    turns = np.zeros(x.shape[1:])
    for i in range(1, n + 1):
        w = np.array([run[f"b[{i}].w{c}"] for c in "xyz"])
        e, u = run[f"b[{i}].qw"], np.array([run[f"b[{i}].q{c}"] for c in "xyz"])
        across = 2 * np.cross(u.T, w.T).T
        turns += 0.004 * (w + e * across + np.cross(u.T, across.T).T)
    orbit = np.cross(x, v, axis=1).sum(axis=0)
    return v.sum(axis=0).T, (orbit + turns).T


def test_a_free_pile_keeps_its_momentum_and_gains_no_energy() -> None:
    q, v = thrown(27)
    run = kn.simulate(pile(27, gravity=0), 0.6, q=q, v=v, method="moreau", samples=61)
    assert len(run.impacts) > 40
    momentum, moment = momenta(run, 27)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-12)
    np.testing.assert_allclose(moment, np.broadcast_to(moment[0], moment.shape), atol=1e-12)
    assert np.diff(run.kinetic_energy).max() < 1e-12 * run.kinetic_energy[0]
    assert run.kinetic_energy[-1] < 0.9 * run.kinetic_energy[0]
    assert run.energy_balance < 1e-10


def test_it_is_taken_without_being_asked_for_where_pairs_are_many() -> None:
    run = kn.simulate(pile(6, plane=True), 0.1, q=stacked(6), samples=3)
    assert run.method == "moreau"
    assert "'pile' is of 15 pairs, of which steps look at those that are near. The method is 'moreau'." in run.notes
    few = pile(3, plane=True)
    assert not piles(kn.derive(few), run_inputs(few, (None,) * 5, (), AUTO), AUTO)


def test_runs_repeat_to_the_bit_and_go_on() -> None:
    system, q = pile(6, plane=True), stacked(6)
    one, other = (kn.simulate(system, 0.4, q=q, samples=5).y for _ in range(2))
    assert (one == other).all()
    first = kn.simulate(system, 0.2, q=q)
    rest = kn.simulate(system, (0.2, 0.4), q=first.q[-1], v=first.v[-1])
    np.testing.assert_allclose(
        rest.y[:, -1], one[:, -1], rtol=1e-5, atol=1e-4
    )  # the impulses of the last step are not known


@pytest.mark.slow
def test_bodies_of_machines_and_of_the_ground_touch() -> None:
    system = kn.loads(f"""gravity 9.81;
    Arm | Ry(p), Sz(-1) = 1, 0.1, 0.1, 0.1;
    Fore ~ Arm | Ry(s), Sz(-1) = 1, 0.1, 0.1, 0.1;
    Ball | Free(b) = 1, 0.004, 0.004, 0.004;
    coordinates p, s, b;
    contact pile : ball = 0.2 among Arm, Fore, Ball, ground at (0, 0, -2.5) and ball = 0.1 among Arm at (0.1, 0, 0.5), {LAW};""")
    run = kn.simulate(system, 0.6, q={"p": -0.6, "s": 0.2, "b.x": 0.05, "b.z": -2.08}, method="moreau", samples=61)
    assert run.success
    struck = {i.contact for i in run.impacts}
    assert struck == {"pile.Fore.Ball", "pile.Ball.ground"}
    assert run.energy_balance < 1e-3


def test_shapes_that_overlap_at_the_start_are_refused_or_pushed_apart() -> None:
    q = {"z[1]": 0.1, "z[2]": 0.299, "z[3]": 1.0}
    with pytest.raises(
        kn.SimulationError, match=r"pile.P\[1\].P\[2\] overlap by 0.001 m. Start them apart, or give an"
    ):
        kn.simulate(pile(3, plane=True), 0.1, q=q, method="moreau")
    with pytest.warns(
        kn.KinetaWarning, match=r"pile.P\[1\].P\[2\] overlap by 0.001 m at the start, and are pushed apart"
    ):
        run = kn.simulate(pile(3, plane=True, more=", overlap = 2 mm"), 0.2, q=q, method="moreau", samples=11)
    assert run["z[2]"][-1] - run["z[1]"][-1] > 0.2 - 1e-6
    assert np.diff(run["z[2]"]).max() < 1e-3


def test_parameters_of_a_run_hold_for_all() -> None:
    q = stacked(3, wide=0.0)
    run = kn.simulate(pile(3, plane=True), 0.25, q=q, p={"r": 0.08}, method="moreau", samples=6)
    assert min(run["z[1]"]) > 0.08 - 1e-6
    with pytest.raises(kn.ModelError, match="expected a radius above zero, found -1"):
        kn.simulate(pile(3, plane=True), 0.25, q=q, p={"r": -1}, method="moreau")


def test_runs_end_early_keep_every_step_and_have_a_solution() -> None:
    system, q = pile(6, plane=True), stacked(6)
    run = kn.simulate(system, 0.2, q=q, max_steps=50)
    assert (run.status, len(run.t)) == (4, 51)
    run = kn.simulate(system, 0.05, q=q, dense_output=True)
    np.testing.assert_allclose(run.sol(0.03), run.y[:, 30], atol=1e-12)
    with pytest.raises(kn.SimulationError, match="works forwards in time only"):
        kn.simulate(system, (0.2, 0.0), q=q)


def test_what_steps_alone_cannot_do_takes_pairs_by_themselves() -> None:
    system, q = pile(3, plane=True), stacked(3)
    run = kn.simulate(system, 0.25, q=q, method="moreau", events=kn.symbol("z[1]") - 0.11)
    assert len(run.t_events[0]) == 1
    many = kn.simulate(system, 0.25, q={**q, "x[1]": [0.0, 0.01]}, method="moreau", samples=3)
    assert many.success


@pytest.mark.slow
def test_a_pile_of_balls_comes_to_rest_between_walls() -> None:
    n = 27
    walls = "".join(
        f"for i in 1..N : contact wall{k}[i] : ball = r between P[i] and ground at ({x}, {y}, 0) axis ({-x}, {-y}, 0), {LAW};"
        for k, (x, y) in enumerate(((0.5, 0), (-0.5, 0), (0, 0.5), (0, -0.5)))
    )
    system = kn.loads(
        f"constants N = {n}; parameters r = 0.1; gravity 9.81; {IN_SPACE} {listed(n, 'xyzb')} {FLOOR} {walls}"
        f"contact pile : ball = r among P[1..N], {LAW};"
    )
    rng, q = np.random.default_rng(4), {}
    for i in range(n):
        k, (a, b) = i // 9, divmod(i % 9, 3)
        for c, x in zip("xyz", (0.27 * (a - 1), 0.27 * (b - 1), 0.15 + 0.24 * k), strict=True):
            q[f"{c}[{i + 1}]"] = x + 0.01 * rng.normal()
    run = kn.simulate(system, 3.0, q=q, samples=31)
    assert run.method == "moreau"
    assert run.success
    x = np.stack([[run[f"{c}[{i}]"] for c in "xyz"] for i in range(1, n + 1)])
    a, b = np.triu_indices(n, 1)
    assert np.linalg.norm(x[a] - x[b], axis=1).min() > 0.2 - 1e-3
    assert x[:, 2].min() > 0.1 - 1e-3
    assert np.abs(x[:, :2]).max() < 0.4 + 1e-3
    assert run.kinetic_energy[-1] < 1e-2
    assert np.diff(run.kinetic_energy + run.potential_energy).max() < 1e-3


#: Three boxes above each other.
STACK = """
gravity 9.81; coordinates xa, za, pa, xb, zb, pb, xc, zc, pc; initial za = 0.1, zb = 0.3, zc = 0.5, xc = 0.03;
A | Sx(xa), Sz(za), Ry(pa) = 1, 0.004, 0.004, 0.004;
B | Sx(xb), Sz(zb), Ry(pb) = 2, 0.004, 0.004, 0.004;
C | Sx(xc), Sz(zc), Ry(pc) = 3, 0.004, 0.004, 0.004;
contact heap : box = 0.2, 0.2, 0.2 among A, B, C and plane among ground axis (0, 0, 1), friction = 0.5;
"""


def test_forces_of_pairs_are_series() -> None:
    model = kn.loads(STACK)
    run = kn.simulate(model, 0.2, samples=3, dense_output=True)
    assert run["lambda.heap.A.ground.n"] == pytest.approx([0, 6 * 9.81, 6 * 9.81], abs=1e-6)
    assert run["lambda.heap.A.B.z"] == pytest.approx([0, -5 * 9.81, -5 * 9.81], abs=1e-6)
    assert run["lambda.heap.B.C.x"] == pytest.approx(0, abs=1e-6)
    assert run.units["lambda.heap.B.C.x"] == "N"
    assert run.at([0.1, 0.15])["lambda.heap.B.C.z"] == pytest.approx(-3 * 9.81, abs=1e-6)
    assert "lambda.heap.A.C.n" not in run.outputs
    with pytest.raises(kn.ArgumentError, match=r"Pairs that do not press each other have no force\."):
        run["lambda.heap.A.C.n"]


def test_forces_of_pairs_change_momentum() -> None:
    run = kn.simulate(pile(3), 0.3, q=stacked(3), method="moreau")
    t, force = run.t, sum(x for n, x in run.outputs.items() if n.startswith("lambda.pile.P[1].") and n.endswith("z"))
    floor = run["lambda.floor[1].n"]
    np.testing.assert_allclose(np.diff(run["z[1]'"]), np.diff(t) * (force + floor - 9.81)[1:], atol=1e-9)


def test_of_many_pairs_the_forces_of_those_that_press_most_are_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kineta.simulation.piles.pair_forces.MOST_SERIES", 2)
    run = kn.simulate(kn.loads(STACK), 0.05, samples=2)
    assert {n.rpartition(".")[0] for n in run.outputs} == {"lambda.heap.A.B", "lambda.heap.A.ground"}
    assert run.notes[-1] == "Of 3 pairs that press each other, the forces of the 2 that press most are series."
