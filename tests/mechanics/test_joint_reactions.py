"""Joint reactions: closed forms, and one result by three routes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system
from tests.support import some

ROUTES = ("newton_euler", "dalembert", "wittenburg")
q, t = kn.symbol("q"), kn.symbol("t")


def pendulum(**more: Any) -> kn.System:
    return kn.System("pendulum", [kn.body("Bob", [kn.Rz(q), kn.Sx(0.5)], kn.inertia(2))], gravity=(0, -9.81, 0), **more)


def pull(angle: float, w: float) -> Any:
    """Force on the bob of the pendulum, in ground axes."""
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    return 2 * (0.5 * (-(w**2) * along - 9.81 * np.cos(angle) / 0.5 * across) + np.array([0, 9.81]))


@pytest.mark.parametrize("route", ROUTES)
def test_a_pendulum_hangs_on_its_rod(route: str) -> None:
    equations = kn.derive(pendulum(), route)
    found = equations.function("reaction(Bob)", "numpy")(0.0, [0.3], [2.0], 0.0)
    assert found == pytest.approx([*pull(0.3, 2.0), 0, 0, 0, 0], abs=1e-13)
    whole = equations.function("reaction(ground)", "numpy")(0.0, [0.3], [2.0], [0.7])
    assert whole[5] == pytest.approx(0.7)  # an added force is passed on
    assert whole[:3] @ [np.cos(0.3), np.sin(0.3), 0] == pytest.approx(found[:3] @ [np.cos(0.3), np.sin(0.3), 0])


@pytest.mark.parametrize("route", ROUTES)
def test_a_driven_arm_is_drawn_to_its_axis(route: str) -> None:
    m, r, w = (kn.symbol(n) for n in "mrw")
    tip = kn.body("Tip", [kn.Sx(r), kn.Ry(q)], kn.inertia(m, (1, 1, 1)), base="Arm")
    system = kn.System("arm", [kn.body("Arm", [kn.Rz(w * t)]), tip], parameters={"m": 2, "r": 0.5, "w": 3})
    force = kn.derive(system, route).function("reaction(Arm in Arm)", "numpy")(0.4, [0.0], [0.0], 0.0)
    assert force == pytest.approx([-2 * 9 * 0.5, 0, 0, 0, 0, 0], abs=1e-12)


@pytest.mark.parametrize("route", ROUTES)
def test_a_ball_joint_passes_on_no_couple(route: str) -> None:
    top = kn.body("Top", [kn.Ball("a")], kn.inertia(1.2, (0.4, 0.3, 0.2), com=(0.3, 0, 0)))
    equations = kn.derive(kn.System("top", [top], gravity=(0, 0, -9.81)), route)
    state = 0.0, [0.8, 0.36, 0.48, 0.0], [1.0, -2.0, 3.0], 0.0
    found = equations.function("reactions", "numpy")(*state)[0]
    assert found[3:] == pytest.approx([0, 0, 0], abs=1e-13)
    w, e = np.array(state[2]), np.array(equations.function("forward", "numpy")(*state))
    R, c = equations.function("rotation(Top)", "numpy")(*state[:3]), np.array([0.3, 0, 0])
    assert found[:3] == pytest.approx(1.2 * (R @ (np.cross(e, c) + np.cross(w, np.cross(w, c))) + [0, 0, 9.81]))


def test_welds_and_massless_frames_pass_on_what_they_carry() -> None:
    system = kn.loads("""model m; gravity (0, 0, -10);
        Table | Sz(1) = 3; frame Stand ~ Table | Sx(1); Load ~ Stand | Sy(q1) = 2; spring s = 5 between Table and Load;""")
    table, stand, load = kn.derive(system).function("reactions", "numpy")(0.0, [0.0], [0.0], 0.0)
    assert load == pytest.approx([5, 0, 20, 0, 0, 0])  # and against the spring
    assert stand == pytest.approx([5, 0, 20, 0, 0, 0])
    assert table == pytest.approx([0, 0, 50, 0, -20, 0])


HELD = {
    "constraints": [kn.constraint("a", kn.symbol("Hook.x")), kn.constraint("b", kn.symbol("Hook.y"))],
    "a loop": [kn.loop("pin", "ball", "ground", kn.station("Bob", (-0.5, 0, 0)))],
}


@pytest.mark.parametrize("held", HELD)
def test_reactions_of_constraints_act_where_they_hold_and_not_through_the_joints(held: str) -> None:
    x, y = kn.symbol("x"), kn.symbol("y")
    free = kn.System(
        "free",
        [kn.body("Bob", [kn.Sx(x), kn.Sy(y), kn.Rz(q)], kn.inertia(2, (0, 0, 1e-9), lumped=True))],
        gravity=(0, -9.81, 0),
        coordinates=["x", "y", "q"],
        points=[kn.point("Hook", "Bob", (-0.5, 0, 0))],
        constraints=HELD[held],
    )
    state = 0.0, [0.5 * np.cos(0.3), 0.5 * np.sin(0.3), 0.3], [-np.sin(0.3), np.cos(0.3), 2.0], 0.0
    equations = kn.derive(free)
    assert equations.function("multipliers", "numpy")(*state) == pytest.approx(pull(0.3, 2.0), rel=1e-6)
    assert equations.function("reaction(Bob)", "numpy")(*state) == pytest.approx(np.zeros(6), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(4), 2))
def test_three_routes_lead_to_the_same_reactions(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True, n=4)
    state, found = random_state(system, seed), []
    for route in ROUTES:
        equations = kn.derive(system, route)
        found.append(np.array(evaluate(equations.graph, equations.expressions("reactions").refs, state)))
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-12, abs=1e-12 * np.abs(found[0]).max())
