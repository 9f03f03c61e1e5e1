"""Base parameters of closed mechanisms: those of the assembly in which the model starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.consistency.assembly_branch import AssemblyBranch
from kineta.consistency.constraints import NumericConstraints
from kineta.equations.equations import equations_of
from kineta.equations.function import parameter_values
from tests.support import slow

EXAMPLES = Path(__file__).parents[3] / "examples"


def four_bar(a: float, b: float, c: float, d: float, initial: str) -> kn.System:
    """Crank a, coupler b, rocker c on a base d."""
    return kn.loads(f"""model four_bar; gravity (0, -9.81, 0); coordinates theta, beta, gamma;
    Crank | Rz(theta) = m(1.1), Jz(0.02), com = (0.1, 0.03, 0);
    Coupler ~ Crank | Sx({a}), Rz(beta - theta) = m(2.3), Jz(0.21), com = (0.4, 0.15, 0);
    Rocker | Sx({d}), Rz(gamma) = m(1.7), Jz(0.09), com = (0.3, 0.02, 0);
    loop pin : revolute between Rocker at ({c}, 0, 0) axis (0, 0, 1) and Coupler at ({b}, 0, 0); initial {initial};""")


def slider_crank(offset: float) -> kn.System:
    return kn.loads(f"""model slider_crank; gravity (0, -9.81, 0); coordinates theta, beta, x;
    Crank | Rz(theta) = m(1.1), Jz(0.02), com = (0.1, 0.03, 0);
    Rod ~ Crank | Sx(0.3), Rz(beta) = m(0.7), Jz(0.05), com = (0.4, 0.05, 0);
    Slider | Sx(x) = m(1.3);
    loop pin : revolute between Slider at (0, {offset}, 0) axis (0, 0, 1) and Rod at (0.8, 0, 0);
    initial theta = 1, beta = -1.3, x = 0.9;""")


#: Mechanisms of one crank, and their numbers of base parameters.
CASES = {
    "a parallelogram": (four_bar(0.3, 0.8, 0.3, 0.8, "theta = 1, gamma = 1"), 3),
    "its other assembly": (four_bar(0.3, 0.8, 0.3, 0.8, "theta = 1, beta = -0.54, gamma = -1.54"), 8),
    "a rhombus": (four_bar(0.5, 0.5, 0.5, 0.5, "theta = 1, gamma = 1"), 3),
    "a four-bar": (four_bar(0.3, 0.9, 0.7, 0.8, "theta = 0.8, beta = 0.537, gamma = 1.3075"), 8),
    "a slider-crank": (slider_crank(0.0), 6),
    "a slider-crank with an offset": (slider_crank(0.1), 6),
}


def rank(rows: np.ndarray) -> int:
    """The rank of *rows*, columns scaled, where its singular values leave no doubt."""
    size = np.linalg.norm(rows, axis=0)
    found = np.linalg.svd((rows / np.where(size > 0, size, 1.0))[:, size > 1e-9 * size.max()], compute_uv=False)
    count = int((found > 1e-9 * found[0]).sum())
    assert count == len(found) or found[count] < 1e-3 * found[count - 1]
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", ["its other assembly", *slow(name for name in CASES if name != "its other assembly")])
def test_as_many_as_motions_of_the_crank_tell_and_identified_from_them(name: str) -> None:
    system, number = CASES[name]
    system = system.replace(initial=kn.assemble(system, pinned=["theta"]).initial)
    base = kn.base_parameters(system)
    assert len(base) == number
    motion, t = {"theta": "1 + 0.5*sin(2*t) + 0.3*sin(5*t)"}, np.linspace(0, 10, 401)
    path, Y = kn.kinematics(system, motion, t=t), kn.regressor(system, motion, t=t)
    A = kn.derive(system).function("constraint_jacobian")(path.t, path.q, path.v)
    rows = np.array([np.linalg.svd(own)[2][-1] @ y for own, y in zip(A, Y.Y, strict=True)])
    assert rank(rows) == number
    found = kn.identify(base, motion, kn.inverse(system, motion, ["theta'"], t=t).tau, t=t)
    assert found.values == pytest.approx(base.values, abs=1e-7)


def test_a_branch_is_left_neither_at_a_fold_nor_in_time() -> None:
    system = CASES["a parallelogram"][0]
    equations = equations_of(system)
    constraints = NumericConstraints(equations, parameter_values(system))
    states = AssemblyBranch(constraints, 0.0, np.array([1.0, 0.0, 1.0]), np.zeros(3), ()).states(
        np.random.default_rng(0)
    )
    seen = np.array([next(states)[1] for _ in range(60)])
    assert np.abs(seen[:, 1]).max() < 1e-8  # the coupler stays parallel
    assert np.ptp(seen[:, 0]) > 1.5
    driven = kn.loads("coordinates x, y; P | Sx(x), Sy(y) = 1; constraint c : x = 60*t + y^2/10;")
    constraints = NumericConstraints(equations_of(driven), np.zeros(0))
    states = AssemblyBranch(constraints, 0.0, np.zeros(2), np.array([60.0, 0.0]), ()).states(np.random.default_rng(0))
    for t, q in (next(states) for _ in range(30)):
        assert q[0] == pytest.approx(60 * t + q[1] ** 2 / 10, abs=1e-9)
    assert abs(q[0]) > 0.05


def test_base_parameters_of_what_cannot_be_closed_are_refused_with_a_sentence() -> None:
    system = four_bar(0.3, 0.1, 0.1, 2.0, "theta = 1")
    with pytest.raises(
        kn.SimulationError, match=r"no state near the start meets the constraint 'pin\..*base parameters"
    ):
        kn.base_parameters(system)


@pytest.mark.slow
@pytest.mark.parametrize("fold", [0.0, np.pi])
def test_a_start_where_assemblies_meet_is_refused_and_one_beside_it_is_not(fold: float) -> None:
    system = CASES["a parallelogram"][0]
    for beside in (0.0, 1e-9, 1e-6):
        with pytest.raises(
            kn.SimulationError,
            match=r"'four_bar': the start is singular: .*pin\..* there, .* assembly .* Give initial values away from it",
        ):
            kn.base_parameters(system.replace(initial={"theta": fold + beside, "gamma": fold + beside}))
    assert len(kn.base_parameters(system.replace(initial={"theta": fold + 1e-3, "gamma": fold + 1e-3}))) == 3


@pytest.mark.slow
def test_models_whose_constraints_have_a_slope_only_in_motion_or_that_fast_drives_move_have_base_parameters_too() -> (
    None
):
    assert len(kn.base_parameters(kn.load(EXAMPLES / "appell_hamel.kin"))) == 1
    # Drives of parts that the time alone moves are seen as they go.
    assert len(kn.base_parameters(kn.load(EXAMPLES / "snakeboard.kin"))) == 10


@pytest.mark.slow
def test_numbers_too_far_apart_to_move_along_constraints_end_with_a_sentence() -> None:
    text = (EXAMPLES / "four_bars.kin").read_text().replace("L = 1 m", "L = 1e16 m")
    four_bars = kn.loads(text)
    assert dict(four_bars.parameters)["L"] == 1e16
    with pytest.raises(
        kn.SimulationError, match="none of 200 motions in a row from the start keeps to the constraints"
    ):
        kn.base_parameters(four_bars)
