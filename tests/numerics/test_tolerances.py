"""Tolerances: for each a small problem that a value ten times as large, or ten times as small, spoils, as a user would see it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta import tolerances
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import dependent_rows
from kineta.equations.equations import equations_of
from kineta.results.labelled_matrix import labelled
from kineta.runtime.mass_matrix_rank import vanished_inertia

HOUSE = Path(tolerances.__file__).parent


def refused(problem: Callable[[], object]) -> bool:
    """Whether *problem* ends in a sentence."""
    try:
        problem()
    except kn.KinetaError:
        return True
    return False


def plane(statements: str, initial: str = "x = 0, y = 0") -> kn.System:
    """A point mass in a plane."""
    return kn.loads(f"model plane; Mass | Sx(x), Sy(y) = 1; coordinates x, y; {statements} initial {initial};")


def line(statements: str, initial: str = "x = 0") -> kn.System:
    """A point mass on a line."""
    return kn.loads(f"model line; Mass | Sx(x) = 1; coordinates x; {statements} initial {initial};")


def notes(system: kn.System) -> str:
    return " ".join(kn.simulate(system, 0.1).notes)


def spacing_of_floats() -> bool:
    return 1 + tolerances.EPS > 1 and 1 + tolerances.EPS / 2 == 1


def quotients_are_finite() -> bool:
    return math.isfinite(1e8 / tolerances.LEAST_DIVISOR)


def small_entry_is_printed() -> bool:
    """An entry of five thousandths of a billionth of the largest is a number."""
    return "5e-12" in labelled("A", ["row"], ["a", "b"], np.array([[1.0, 5e-12]]))[-1]


def start_keeps_to_constraints() -> bool:
    """A position off by 5e-14 is projected: what stays is the rounding error of the constraint."""
    system = plane("constraint circle : x^2 + y^2 = 1;", "x = 0.6, y = 0.8")
    constraints = NumericConstraints(kn.derive(system), np.zeros(0))
    q = constraints.project_position(0.0, np.array([0.6, 0.8 + 5e-14]))
    return bool(np.abs(constraints.residuals(0.0, q, np.zeros(2))).max() <= 2e-14)


def equilibrium_within_rounding_is_found() -> bool:
    """A force whose terms are so large that their rounding leaves 3e-11 N of it at its zero."""
    return not refused(
        lambda: kn.equilibrium(line("force f = -(sqrt((x + 4e5)^2 + 1) - 4e5 - 8.7e-11) on x;", "x = 0.3"))
    )


def contradiction_is_refused() -> bool:
    """Constraints that contradict each other by 6e-10 m."""
    return refused(lambda: kn.assemble(plane("constraint a : x = 0; constraint b : x = 6e-10;")))


def rates_at_an_angle_are_independent() -> bool:
    """Quasi-velocities whose gradients have an angle of 5e-9."""
    return not refused(lambda: kn.derive(plane("quasi u = x', w = x' + 5e-9*y';")))


def constraints_at_an_angle_are_independent() -> bool:
    """Constraints whose gradients have an angle of 5e-6 hold the mass."""
    return "redundant" not in notes(plane("constraint a : x = 0; constraint b : x + 5e-6*y = 0;"))


def near_singularity_is_regular() -> bool:
    """A position at which the least singular value of scaled rows is 3e-3."""
    return not singular(3e-3, None)


def singular(beside: float, part: float | None) -> str:
    equations = kn.derive(plane("constraint a : x = 0; constraint b : x + sin(y) = 1;", "y = 1"))
    near, regular = ((np.array([0.0, y]), np.zeros(2)) for y in (np.pi / 2 - 2 * beside, 1.0))
    return dependent_rows(NumericConstraints(equations, np.zeros(0)), [0, 1], 0.0, near, [regular], part)


def poor_rows_are_not_identified() -> bool:
    """Rows at a distance of 3e-3 determine no base parameters: the assemblies on both sides are too near."""
    return bool(singular(3e-3, tolerances.INDEPENDENCE_TOLERANCE))


def small_share_is_named() -> bool:
    """A redundant constraint follows from another one by 5e-6 of it, too."""
    return "c follows from a, b" in notes(
        plane("constraint a : x = 0; constraint b : y = 0; constraint c : x + 5e-6*y = 0;")
    )


def start_is_brought_back() -> bool:
    """A start off its circle by 5e-9 is projected, and the result says so."""
    return "brought back" in notes(
        plane("constraint circle : x^2 + y^2 = 1;", "x = 0.6, y = 0.8 + 3e-9, x' = 0.8, y' = -0.6")
    )


def soft_spring_is_stable() -> bool:
    """The potential 4e-7 x^2 / 2 + x^3 / 6 has its minimum 4e-7 from where its second derivative vanishes."""
    return kn.equilibrium(line("potential V = 4e-7*x^2/2 + x^3/6;")).stability.stable is True


def little_inertia_is_some() -> bool:
    """An inertia of 5e-6 of that at the start has not vanished."""
    equations = kn.derive(kn.loads("Mass | Rz(a), Sx(x) = 1; coordinates a, x; initial x = 1;"))
    start, end = ((0.0, np.array([0.0, x]), np.zeros(2)) for x in (1.0, 5e-6**0.5))
    return not vanished_inertia(equations, np.zeros(0), start, end)


def near_equilibria_are_two() -> bool:
    """Minima of a potential 4e-5 apart."""
    return len(kn.equilibria(line("potential V = 1e6*(x^2 - 4e-10)^2;", "x = 3e-5"), starts=8)) == 2


def slow_mode_has_a_frequency() -> bool:
    """A mode 200000 times slower than another one is no rigid motion."""
    system = plane("spring fast = 1 on x; spring slow = 25e-12 on y;")
    return bool((np.abs(kn.modes(system).eigenvalues) > 0).all())


def small_action_is_one() -> bool:
    """A coordinate that acts on another by 5e-9 of its own spring does not stand alone."""
    system = plane("force f = -x - 5e-9*y on x; force g = -y on y;")
    return refused(lambda: kn.linearize(system).part(["x"]))


def slow_slip_goes_on() -> bool:
    """A box that slides in space with 1e-6 m/s almost without friction moves on."""
    system = kn.loads(
        "model box; gravity 9.81; Box | Sx(x), Sy(y), Sz(z) = 1; coordinates x, y, z;"
        "contact floor : point between Box and ground axis (0, 0, 1), friction = 1e-9; initial x' = 1e-6;"
    )
    return bool(kn.simulate(system, 1.0).q[-1, 0] > 8e-7)


def small_gap_is_open() -> bool:
    """A mass that falls through 5e-8 m strikes."""
    system = kn.loads(
        "gravity 9.81; Mass | Sz(z) = 1; coordinates z; contact floor : point between Mass and ground axis (0, 0, 1);"
        "initial z = 5e-8;"
    )
    return len(kn.simulate(system, 0.1).impacts) > 0


def event_after_the_start_counts() -> bool:
    """A passage through zero at 5e-14 s after t = 1 s is no zero at the start."""
    run = kn.simulate(line("", "x = -5e-14, x' = 1"), (1.0, 2.0), events=[kn.event(kn.symbol("x"))])
    return len(run.t_events[0]) > 0


def long_quaternion_is_refused() -> bool:
    """A quaternion whose length is off in the sixth digit."""
    return refused(lambda: kn.simulate(kn.loads("Body | Ball(b) = 1, 1, 1, 1; initial b.qw = 1 + 5e-6;"), 0.1))


def start_far_off_is_refused() -> bool:
    """A start off its circle by half a millimetre is an error of the user."""
    system = plane("constraint circle : x^2 + y^2 = 1;", "x = 0.6, y = 0.8 + 4e-4, x' = 0.8, y' = -0.6")
    return refused(lambda: kn.simulate(system, 0.1))


def impossible_inertia_is_refused() -> bool:
    """A plate whose largest moment of inertia exceeds the sum of the others in the ninth digit."""
    return refused(lambda: kn.derive(kn.loads("Plate | Ball(b) = 1, 1, 1, 2*(1 + 3e-9);")))


#: For each tolerance the problem, and the factor that spoils it.
PROBLEMS: dict[str, tuple[Callable[[], bool], float]] = {
    "EPS": (spacing_of_floats, 10),
    "LEAST_DIVISOR": (quotients_are_finite, 0.1),
    "ROUNDING_TOLERANCE": (small_entry_is_printed, 10),
    "RESIDUAL_TOLERANCE": (start_keeps_to_constraints, 10),
    "NEWTON_TOLERANCE": (equilibrium_within_rounding_is_found, 0.1),
    "CONSTRAINT_TOLERANCE": (contradiction_is_refused, 10),
    "RANK_TOLERANCE": (rates_at_an_angle_are_independent, 10),
    "DEPENDENCE_TOLERANCE": (constraints_at_an_angle_are_independent, 10),
    "SINGULARITY_TOLERANCE": (near_singularity_is_regular, 10),
    "INDEPENDENCE_TOLERANCE": (poor_rows_are_not_identified, 0.1),
    "PARTICIPATION_TOLERANCE": (small_share_is_named, 10),
    "STATE_TOLERANCE": (start_is_brought_back, 10),
    "SIDE_DISTANCE": (soft_spring_is_stable, 10),
    "STALL_TOLERANCE": (little_inertia_is_some, 10),
    "SOLUTION_DISTANCE": (near_equilibria_are_two, 10),
    "EIGENVALUE_TOLERANCE": (slow_mode_has_a_frequency, 10),
    "FORCE_TOLERANCE": (small_action_is_one, 10),
    "SLIP_TOLERANCE": (slow_slip_goes_on, 10),
    "CONTACT_TOLERANCE": (small_gap_is_open, 10),
    "EVENT_TOLERANCE": (event_after_the_start_counts, 10),
    "WRITTEN_TOLERANCE": (long_quaternion_is_refused, 10),
    "PRINTED_TOLERANCE": (start_far_off_is_refused, 10),
    "INERTIA_TOLERANCE": (impossible_inertia_is_refused, 10),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
def test_a_tolerance_ten_times_another_spoils_its_problem(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    succeeds, factor = PROBLEMS[name]
    assert succeeds()
    monkeypatch.setattr(tolerances, name, factor * getattr(tolerances, name))
    equations_of.cache_clear()  # which know the starts by the former tolerance
    try:
        assert not succeeds()
    finally:
        equations_of.cache_clear()


def test_each_tolerance_has_its_problem() -> None:
    assert set(PROBLEMS) == {name for name in vars(tolerances) if name.isupper()}


def test_code_reads_tolerances_as_attributes() -> None:
    """So that one number, changed in one place, changes them all."""
    wrong = [f for f in HOUSE.rglob("*.py") if "from kineta.tolerances import" in f.read_text(encoding="utf-8")]
    assert wrong == []
