"""Position, motion and relative kinematics of bodies and points by name."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ONE
from kineta.mechanics.quantities import PLACED, placed
from kineta.passes.differentiate import forward
from tests.mechanics.random_systems import random_state, random_system
from tests.mechanics.test_laws import close, values
from tests.support import EXAMPLES

SEEDS = range(12)


def with_point(seed: int) -> tuple[kn.System, str, str]:
    """A random system with a point P, and the names of two of its frames; the first holds the point."""
    system = random_system(seed, rheonomic=True)
    of, other = random.Random(seed).choices([b.name for b in system.bodies], k=2)
    return system.replace(points=[kn.point("P", of, (0.1, -0.2, 0.3))]), of, other


@pytest.mark.parametrize("seed", SEEDS)
def test_of_a_body_they_are_what_they_are_among_those_of_all(seed: int) -> None:
    system, of, _ = with_point(seed)
    equations, state = kn.derive(system), random_state(system, seed)
    i = [b.name for b in system.bodies].index(of)
    every = {"position": "positions", "rotation": "rotations", "velocity": "velocities", "jacobian": "jacobian"}
    for kind, all_of_them in every.items():
        close(values(equations, f"{kind}({of})", state), values(equations, all_of_them, state)[i])


@pytest.mark.parametrize("seed", SEEDS)
def test_seen_in_a_frame_points_have_their_coordinates_and_velocities_their_components(seed: int) -> None:
    system, of, other = with_point(seed)
    equations, state = kn.derive(system), random_state(system, seed)

    def found(name: str) -> Any:
        return values(equations, name, state)

    R = found(f"rotation({other})")
    close(found(f"position(P in {other})"), R.T @ (found("position(P)") - found(f"position({other})")))
    close(found(f"rotation(P in {other})"), R.T @ found(f"rotation({of})"))
    close(found(f"pose(P in {other})"), np.linalg.solve(found(f"pose({other})"), found("pose(P)")))
    for kind in ("velocity", "jacobian"):
        close(found(f"{kind}(P in {other})"), np.kron(np.eye(2), R.T) @ found(f"{kind}(P)"))
    assert found(f"pose({of} in {of})").tolist() == np.eye(4).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_velocity_is_the_rate_of_the_position(seed: int) -> None:
    system, _, _ = with_point(seed)
    equations, state = kn.derive(system), random_state(system, seed)
    s, position = equations.derivation.symbols, equations.expressions("position(P)")
    rate = forward(equations.graph, position.refs, {s.t: ONE, **dict(zip(s.q, s.qdot, strict=True))})
    close(values(equations, "velocity(P)", state)[:3], values(equations, rate, state))


@pytest.mark.slow
def test_they_are_compiled_shown_and_counted_as_all_quantities_are() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "hopping_robot.kin"))
    pose = equations.function(" pose( Корпус  in Нога ) ")
    assert repr(pose) == "<pose(Корпус in Нога)(t, q, v, p) of 'hopping_robot', llvm>"
    assert pose is equations.function("pose(Корпус in Нога)")
    q = np.linspace(0.1, 0.6, 6)
    assert pose(0.0, q, np.zeros(6)) == pytest.approx(
        equations.function("pose(Корпус in Нога)", "numpy")(0.0, q, np.zeros(6))
    )
    assert equations.text("position(Корпус in Нога)").splitlines() == ["r[1] = 0", "r[2] = 0", "r[3] = b3"]
    assert equations.operations("position(Корпус in Нога)").total == 0
    assert equations.sympy("jacobian(Корпус)").shape == (6, 6)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("position(Hand)", "Model 'S' has no body or point 'Hand'."),
        ("position(Pt)", "Model 'S' has no body or point 'Pt'. Did you mean 'P'?"),
        ("position(P in Q)", "Model 'S' has no body 'Q'."),
        ("velocity(B in P)", "Model 'S' has no body 'P'."),
        ("positon(P)", "Expected a quantity of a body or point (position, ...), found 'positon'. Did you mean 'position'?"),
        ("energy(B)", "Expected a quantity of a body or point (position, ...), found 'energy'."),
        ("pose", "Expected a body or point in brackets, pose(A) or pose(A in B), found 'pose'."),
        ("pose(B, P)", "Expected a body or point in brackets, pose(A) or pose(A in B), found 'pose(B, P)'."),
    ],
)  # fmt: skip
def test_what_is_not_there_is_named(name: str, sentence: str) -> None:
    bodies = [kn.body("B", [kn.Rz(kn.symbol("q"))], kn.inertia(1, (1, 1, 1)))]
    equations = kn.derive(kn.System("S", bodies, points=[kn.point("P", "B")]))
    with pytest.raises(kn.ArgumentError) as raised:
        equations.function(name)
    assert str(raised.value) == sentence.replace("(position, ...)", f"({', '.join(PLACED)})")


def test_a_name_is_written_in_one_way() -> None:
    system = kn.load(EXAMPLES / "hopping_robot.kin")
    assert str(placed(system, "pose( Нога in ground)")) == "pose(Нога)"
    assert str(placed(system, "pose(Нога   in Корпус)")) == "pose(Нога in Корпус)"
    assert placed(system, "jacobian") is None
