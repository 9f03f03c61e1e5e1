"""First integrals: found where they are, named, and constant along runs."""

from __future__ import annotations

import pytest

import kineta as kn
from kineta.passes.evaluate import evaluate
from kineta.tasks.verification.first_integrals import conservation
from tests.support import EXAMPLES
from tests.tasks.verification.test_verify import FREE_LINKAGE

q, w, r, t = kn.symbols("q w r t")
BODY = kn.inertia(2, (0.1, 0.2, 0.25))


def names(system: kn.System) -> list[str]:
    return [i.name for i in kn.first_integrals(system)]


def test_a_free_system_keeps_its_momenta_and_its_energy() -> None:
    arm = kn.body("B", [kn.Sx(0.3), kn.Rz(q), kn.Sx(0.2)], kn.inertia(1, (0.01, 0.02, 0.02)), base="A")
    free = kn.System("free", [kn.body("A", [kn.Free("f")], BODY), arm])
    assert names(free) == [
        *(f"linear momentum along {c}" for c in "xyz"),
        *(f"angular momentum about the axis {c}" for c in "xyz"),
        "energy",
    ]
    heavy = free.replace(gravity=(0, 0, -9.81))
    assert names(heavy) == [
        "linear momentum along x",
        "linear momentum along y",
        "angular momentum about the axis z",
        "energy",
    ]
    run = kn.simulate(heavy, 1.0, v={"f.wx": 1.0, "f.vy": 0.3, "q'": 2.0})
    assert all(i.drift(run) < 1e-8 for i in kn.first_integrals(heavy))


def test_momenta_that_are_zero_are_measured_by_their_terms() -> None:
    """Two masses on a spring, let go in another place than the origin: sums of terms about 1 that cancel."""
    pair = kn.loads(
        "A | Sx(x1), Sy(y1) = 1; B | Sx(x2), Sy(y2) = 3; coordinates x1, y1, x2, y2; spring s = 10, 1.3 between A and B;"
        "initial x1 = 0.97, y1 = -0.24, x2 = -0.53, y2 = 0.71;"
    )
    found = conservation(pair, 0.5)
    kept = [i.name for i in found.integrals]
    assert kept == ["linear momentum along x", "linear momentum along y", "angular momentum about the axis z", "energy"]
    assert found.holds


def test_an_axis_that_misses_the_origin_is_named_with_its_place() -> None:
    motions = [kn.Sx(0.5), kn.Sy(-0.2), kn.Rx(0.3), kn.Ball("b"), kn.Sz(1)]
    top = kn.System("top", [kn.body("H", motions, kn.inertia(1, (0.2, 0.25, 0.1)))], gravity=(0, 0, -9.81))
    assert names(top) == ["angular momentum about the axis z through (0.5, -0.2, 0)", "energy"]


def test_cyclic_coordinates_and_jacobis_integral() -> None:
    bead = [kn.Rz(w * t), kn.Rx(q), kn.Sz(-1)]
    hoop = kn.System(
        "hoop", [kn.body("H", bead, kn.inertia(1))], gravity=(0, 0, -9.81), coordinates=["q"], parameters={"w": 3.0}
    )
    assert names(hoop) == ["generalised energy (Jacobi's integral)"]
    (jacobi,) = kn.first_integrals(hoop)
    run = kn.simulate(hoop, 3.0, q=[0.5])
    assert jacobi.drift(run) < 1e-8
    assert run.energy.max() - run.energy.min() > 1  # the drive does work
    heavy = kn.System(
        "top",
        [kn.body("H", [kn.Rz(q), kn.Rx(w), kn.Rz(r), kn.Sz(1)], kn.inertia(1, (0.2, 0.2, 0.1)))],
        gravity=(0, 0, -9.81),
        coordinates=["q", "w", "r"],
    )
    assert names(heavy) == ["momentum of the cyclic coordinate q", "momentum of the cyclic coordinate r", "energy"]


def test_a_damped_system_keeps_nothing() -> None:
    assert names(kn.load(EXAMPLES / "cart_pendulum.kin")) == []


@pytest.mark.slow
def test_momenta_are_found_whatever_constraints_say_the_same() -> None:
    """A parallelogram with a third crank floats; of Bricard's mechanism, held by the ground, only the energy stays."""
    momenta = [f"momentum of the cyclic coordinate {c}" for c in "xy"]
    assert names(kn.loads(FREE_LINKAGE)) == [*momenta, "angular momentum about the axis z", "energy"]
    assert names(kn.load(EXAMPLES / "bricard.kin")) == ["energy"]


def test_constraints_that_no_state_meets_are_named() -> None:
    far = kn.loads("model far; P | Sx(q1), Sy(q2) = 1; constraint c : q1^2 + q2^2 + 1 = 0;")
    with pytest.raises(
        kn.SimulationError, match=r"none of 480 random states could be moved onto its constraints \(c\)"
    ):
        kn.first_integrals(far)


@pytest.mark.slow
def test_formulas_have_the_values_along_a_run() -> None:
    top = kn.loads(
        "parameters m = 2, J = 0.1; gravity 9.81; T | Rz(psi), Ry(theta), Rz(phi) = m, 0.3, 0.3, J, com = (0, 0, 0.4);"
    )
    found = kn.first_integrals(top)
    assert [str(next(i.formula().text())).partition(" = ")[0] for i in found] == ["p[psi]", "p[phi]", "E"]
    run = kn.simulate(top, 0.5, q={"theta": 0.6}, v={"phi'": 20.0, "psi'": 0.3}, samples=5)
    known = {p.name: p.value for p in top.parameters}
    for integral in found:
        shown = integral.formula()
        for k in range(len(run.t)):
            state = dict(zip((*top.q_names, *top.v_names), [*run.q[k], *run.v[k]], strict=True))
            assert evaluate(shown.graph, shown.array.refs, known | state)[0] == pytest.approx(
                integral.along(run)[k], rel=1e-12
            )
    assert kn.derive(top).text("momentum").splitlines()[2] == next(found[1].formula().text())


@pytest.mark.slow
def test_long_formulas_are_asked_for() -> None:
    robot = kn.load(EXAMPLES / "hopping_robot.kin")
    momentum = kn.first_integrals(robot)[0]
    assert momentum.short_formula() == []
    assert list(momentum.formula().text())[-1].startswith("p[q1] = ")


def test_momenta_of_quasi_velocities_have_no_cyclic_coordinates() -> None:
    """The kinetic energy of a ball on a turntable has x and y in it, and yet both momenta stay."""
    text = (EXAMPLES / "turntable_ball.kin").read_text().replace("initial", "quasi x', y', w = w(Ball).z; #", 1)
    found = names(kn.loads(text))
    assert found == ["momentum of x'", "momentum of y'", "momentum of w"]


ROD = "gravity (0, -g, 0); parameters m, g, l, R; Rod | "
BOWLS = [
    ROD + "Rz(theta), Sy(-sqrt(R^2 - l^2)) = m(m), Jz(m*l^2/3);",
    ROD + "Sx(x), Sy(y), Rz(theta) = m(m), Jz(m*l^2/3); point P on Rod = (-l, 0, 0); point Q on Rod = (l, 0, 0);"
    "coordinates x, y, theta; constraint left : P.x^2 + P.y^2 = R^2; constraint right : Q.x^2 + Q.y^2 = R^2;",
]


@pytest.mark.parametrize("model", BOWLS, ids=["turning", "constrained"])
def test_a_machine_without_values_is_asked_with_those_for_which_it_moves(model: str) -> None:
    """A rod of length 2 l moves in a bowl of radius R where l < R."""
    assert [x.name for x in kn.first_integrals(kn.loads(model))] == ["energy"]


def test_a_machine_that_closes_with_no_values_says_so() -> None:
    model = "parameters a, m; B | Sx(x), Sy(y) = m; coordinates x, y; constraint c : x^2 + y^2 + a^2 + 1 = 0;"
    with pytest.raises(
        kn.SimulationError, match=r"so it is with \d+ sets of random values of the parameters a, m, which have"
    ):
        kn.first_integrals(kn.loads(model))
