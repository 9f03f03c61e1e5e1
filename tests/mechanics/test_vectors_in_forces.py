"""Vectors of places and speeds in forces and constraints: formalisms and plain kinematics agree on them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.mechanics.random_systems import random_system
from tests.mechanics.test_laws import close
from tests.support import quick_but, reads_back

SEEDS = quick_but(range(4), (0, 2, 3))


def with_vectors(seed: int) -> kn.System:
    """A random system with a constraint, forces, a spring and a damper of positions and velocities."""
    rng, bare = random.Random(seed), random_system(seed, rheonomic=True)
    names = [b.name for b in bare.bodies]
    of, other, axes = (rng.choice(names) for _ in range(3))
    point = kn.point("P", of, (0.1, -0.2, 0.3))
    r, v, w = (kn.vector(kind, n, axes) for kind, n in (("r", "P"), ("v", "P"), ("w", other)))
    apart = [a - b for a, b in zip(kn.vector("r", "P"), kn.vector("r", other), strict=True)]
    speed = abs(kn.vector("v", "P"))
    return bare.replace(
        points=[point],
        elements=[
            kn.force(
                "drag", kn.station(point), (-speed * v.x, w.z * kn.norm(kn.cross(w, v)), kn.symbol("m")), axes=axes
            ),
            kn.force("walks", kn.station(of, (kn.symbol("P.y"), v.x, kn.dot(r, w))), (1, -r.z, 0.5), axes=other),
            kn.spring("band", 3.0, kn.norm([*apart[:2], apart[2] + 2]) + r.y),
            kn.damper("oil", 0.4, kn.dot(v, w) + speed),
            kn.generalized_force("slip", -w.x, r.x + kn.symbol("P.z")),
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_formalisms_and_laws_of_mechanics_agree_on_vectors_in_forces(seed: int) -> None:
    system = with_vectors(seed)
    reads_back(system)
    found = kn.verify(system, states=3, digits=0)
    assert found.holds
    assert {"every body is in balance", "another ground frame shows the same motion"} <= {
        finding.law for finding in found.laws
    }


SLEIGH = """
parameters m = 2, J = 0.08;
Sledge | Sx(x), Sy(y), Rz(phi) = m(m), Jz(J), com = (0.3, 0, 0);
coordinates x, y, phi;
point Edge on Sledge = (0.1, 0, 0);
constraint edge : {};
initial phi' = 2, x' = 1, y' = -0.2;
"""


def test_a_knife_edge_is_one_line() -> None:
    by_hand = "y'*cos(phi) - x'*sin(phi) + 0.1*phi'"
    systems = [kn.loads(SLEIGH.format(f"{side} = 0")) for side in ("v(Edge in Sledge).y", by_hand)]
    rng = np.random.default_rng(1)
    for q, v in (rng.uniform(-1, 1, (2, 3)) for _ in range(5)):
        close(*(kn.derive(s).function("forward")(0.0, q, v, tau=np.zeros(3)) for s in systems))


EDGE = """
gravity 9.81;
Blade | Free(b) = 1.5, 0.01, 0.02, 0.03;
Rider ~ Blade | Sz(0.4), Ry(lean), Sz(0.3) = 2, 0.02, 0.02, 0.01;
coordinates b, lean;
point Mid on Blade = (0.05, 0, -0.1);
constraint ice : r(Mid).z = 0;
constraint edge : v(Mid in Blade).y = 0;
initial b.z = 0.1, b.vx = 1, lean = 0.1;
output slip = v(Mid in Blade).y;
"""


@pytest.mark.slow
def test_a_knife_edge_in_space_holds_and_does_no_work() -> None:
    system = kn.loads(EDGE)
    assert kn.verify(system, states=3, digits=0).holds
    run = kn.simulate(system, 0.5)
    assert np.abs(run.outputs["slip"]).max() < 1e-9
    assert np.ptp(run.energy) < 1e-7


SLOT = """
gravity 9.81;
Disk | Rz(turn) = Jz(0.3);
Pin | Sx(x), Sy(y) = m(0.2);
coordinates turn, x, y;
{}
initial x = 0.5, turn' = 2, y' = 1;
"""


@pytest.mark.slow
def test_a_pin_in_a_slot_is_one_line() -> None:
    pair = ("constraint slot : r(Pin in Disk).y = 0;", "constraint slot : y*cos(turn) - x*sin(turn) = 0;")
    runs = [kn.simulate(kn.loads(SLOT.format(text)), 0.5) for text in pair]
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], rel=1e-8)


TASKS = """
gravity (0, -9.81, 0);
parameters c = 0.4, k = 40;
Arm | Rz(a), Sx(0.5) = 1, 0, 0, 0.02;
Hand ~ Arm | Rz(b), Sx(0.4) = 0.6, 0, 0, 0.01;
coordinates a, b;
spring band = k on r(Hand in Arm).y - 0.1;
damper oil = c on w(Hand).z;
force air on Hand = (-c*v(Hand).x, -c*v(Hand).y, 0);
initial a = -1.4, b = 0.1;
output reach = |r(Hand)|, slip = v(Hand in Arm).y;
"""
BY_HAND = (
    TASKS.replace("r(Hand in Arm).y", "0.4*sin(b)")
    .replace("w(Hand).z", "(a' + b')")
    .replace("v(Hand).x", "Hand.vx")
    .replace("v(Hand).y", "Hand.vy")
)


def near(a: Any, b: Any) -> None:
    assert a == pytest.approx(np.asarray(b), rel=1e-8, abs=1e-10)


@pytest.mark.slow
def test_tasks_find_what_they_find_for_the_same_written_by_hand() -> None:
    systems = [kn.loads(text) for text in (TASKS, BY_HAND)]
    rests = [kn.equilibrium(s) for s in systems]
    near(rests[0].q, rests[1].q)
    near(*(kn.linearize(s, rests[0]).A for s in systems))
    by = [kn.sensitivity(s, 0.4, by=["c", "k"]) for s in systems]
    near(by[0].q_by[-1], by[1].q_by[-1])
    runs = [kn.simulate(s, 0.4, p={"c": [0.1, 0.5, 0.9]}) for s in systems]
    near(*(run.case(1).q[-1] for run in runs))
