"""First-order states in the language and in Python: what is read, what is written back, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.support import reads_back

ARM = """
parameters R = 2 V/A, L = 0.1 V*s/A, k = 0.1, m = 1;
Arm | Ry(q1), Sz(-1) = m;
coordinates q1;
"""


def read(text: str) -> kn.System:
    return kn.loads(ARM + text, "m.kin")


def test_states_follow_the_coordinates_and_are_written_back() -> None:
    system = read(
        "state i in A : i' = (1 V - R*i)/L; state z in deg : z' = q1' - z/1 s; force f = k*i + i' on q1; initial i = 3 A;"
    )
    assert system.q_names == ("q1", "i", "z")
    assert system.coordinates == ("q1",)
    assert system.v_names == ("q1'",)
    assert [own.unit for own in system.states] == ["A", "rad"]
    assert "state i in A : i' = (1 V - R*i)/L;" in kn.dumps(system)
    reads_back(system)


def test_python_builds_the_same_states() -> None:
    i, R, L = map(kn.symbol, ("i", "R", "L"))
    read_system = read("state i in A : i' = (1 V - R*i)/L;")
    assert read_system.states == (kn.state("i", (1 - R * i) / L, "A"),)
    assert kn.state("p", 0, "bar").unit == "Pa"
    assert read_system == read("").replace(states=[kn.state("i", (1 - R * i) / L, "A")])


def test_rates_of_states_are_asked_for_as_outputs_goals_and_events() -> None:
    system = read("state i in A : i' = (1 V - R*i - k*q1')/L; force f = k*i on q1;")
    rate, equal = kn.symbol("i'"), system.states[0].rate
    a, b = (kn.linearize(system, outputs={"y": e}) for e in (rate, equal))
    assert np.array_equal(a.C, b.C)
    assert np.any(a.C)
    grown = [kn.sensitivity(system, 0.5, ["R"], goals={"y": e}).value("y")[-1] for e in (rate, equal)]
    assert grown[0] == grown[1]
    ends = [kn.simulate(system, 2.0, events=kn.event(e - 1, terminal=True)).t[-1] for e in (rate, equal)]
    assert ends[0] == ends[1] < 2


def test_a_rate_with_a_unit_tells_that_of_the_state() -> None:
    system = read("state p : p' = 1e5 Pa/s*q1; output same = p, rate = p';")
    assert system.states[0].unit == "Pa"
    run = kn.simulate(system, 0.1)
    assert (run.units["same"], run.units["rate"]) == ("Pa", "kg/m/s^3")


def test_repetitions_and_models_within_models_have_states() -> None:
    system = read("for j in 1..3 : state z[j] : z[j]' = q1 - j*z[j]; force f = z[1] + z[3] on q1;")
    assert system.state_names == ("z[1]", "z[2]", "z[3]")
    leg = read("state i in A : i' = (1 V - R*i)/L; force f = k*i on q1; initial i = 0.5 A;")
    both = kn.System("both", [], parameters={}, use=[leg.placed("a", p={"R": 3}), leg.placed("b")])
    assert both.q_names == ("a.q1", "b.q1", "a.i", "b.i")
    reads_back(both)
    alone = kn.simulate(leg, 0.5)
    assert kn.simulate(both, 0.5)["b.i"][-1] == pytest.approx(alone["i"][-1], rel=1e-9)


STANDS = (
    "A state stands in forces, laws of springs, dry friction, rates of states, switches and outputs; what places, measures or "
    "holds the motion is made of the motion alone."
)
STOPS = (
    "A state stops at a bound where its rate ends there, as in state i : i' = if(i < most or rate < 0, rate, 0), and at two "
    "bounds if((i < most or rate < 0) and (i > least or rate > 0), rate, 0); a run ends there by when ... : stop."
)
RATE = "The rate of a state stands in forces, switches and outputs; write the expression that it is equal to."
MOVING = "coordinates, speeds, parameters, the time, positions and velocities of points"

BAD = [
    (
        "state i : i'' = 1;",
        "m.kin:5:11: state 'i': a state is of first order, found i''; give its rate i', and that of a further state for the next "
        "order, as in state i_rate : i_rate' = ...;",
    ),
    ("state i : j' = 1;", "m.kin:5:11: state 'i': expected the rate i' = ..., found j'."),
    (
        "state i;",
        "m.kin:5:8: expected ':' or 'in', found ';'; for example, state i in A : i' = (u - R*i)/L.",
    ),
    ("state i in foo : i' = 1;", "m.kin:5:12: Expected a unit, found 'foo'."),
    (
        "state i in A : i' = 3 V;",
        "m.kin:5:21: the rate of state 'i' must be a quantity [A/s], found a voltage [kg*m^2/s^3/A].",
    ),
    (
        "state i in A : i' = 1 A/s; initial i = 2 V;",
        "m.kin:5:40: initial 'i' must be a current [A], found a voltage [kg*m^2/s^3/A].",
    ),
    ("state i : i' = kk*i;", "State 'i' (m.kin:5:16): unknown symbol 'kk'. Did you mean 'k'?"),
    (
        "state i : i' = q1'';",
        "State 'i' (m.kin:5:16): the acceleration 'q1''' has no place in the rate of a state, which comes before the "
        "accelerations and the forces of constraints and contacts.",
    ),
    (
        "limit stop : q1 <= 1; state i : i' = lambda.stop.upper;",
        "State 'i' (m.kin:5:38): the force 'lambda.stop.upper' has no place in the rate of a state, which comes before the "
        "accelerations and the forces of constraints and contacts.",
    ),
    (
        "state i : i' = j'; state j : j' = 1;",
        f"State 'i' (m.kin:5:16): the rate 'j'' has no place here; expected {MOVING}, and states only. {RATE}",
    ),
    (
        "state i : i' = 1; constraint c : q1 = i;",
        f"Constraint 'c' (m.kin:5:39): the state 'i' has no place here; expected {MOVING} only. {STANDS}",
    ),
    (
        "state i : i' = 1; limit l : 0 <= i <= 1;",
        "Limit 'l' (m.kin:5:34): the state 'i' has no place here; expected coordinates, parameters, the time and positions of "
        f"points only. {STOPS}",
    ),
    (
        "state i : i' = 1; B | Rz(i) = 1;",
        f"Body 'B' (m.kin:5:26): the state 'i' has no place here; expected coordinates, parameters and the time only. {STANDS}",
    ),
    (
        "state i : i' = 1; force d = 2 on i;",
        f"Force 'd' (m.kin:5:34): the state 'i' has no place here; expected {MOVING} only. {STANDS}",
    ),
    (
        "state m : m' = 1;",
        "State 'm' (m.kin:5:7): the name is taken by a parameter described before (m.kin:2:47). Choose another.",
    ),
    (
        "state i : i' = 1; initial j = 2;",
        "Model 'm' (m.kin:5:27): initial 'j' is neither a coordinate, a speed nor a state. There are q1, i, q1'.",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text for text, _ in BAD])
def test_what_is_no_state_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        read(text)
    assert str(raised.value) == message


@pytest.mark.slow
def test_rate_that_a_limit_of_a_state_names_stops_it_at_both_bounds() -> None:
    system = kn.loads(
        "parameters most = 2 L, least = 1 L; A | Sx(x) = 1; coordinates x; let rate = 3 L/s*cos(t/1 s); "
        "state z in L : z' = if((z < most or rate < 0) and (z > least or rate > 0), rate, 0); initial z = 1.5 L;"
    )
    z = kn.simulate(system, 6)["z"]
    assert (min(z), max(z)) == pytest.approx((1e-3, 2e-3), rel=1e-12)


def test_python_refuses_units_and_names() -> None:
    with pytest.raises(kn.ModelError, match="Expected a unit, found 'amps'"):
        kn.state("i", 1, "amps")
    with pytest.raises(kn.ModelError, match=r"State 'i i': expected a name of letters"):
        read("").replace(states=[kn.state("i i", 1)])


def test_a_rate_of_a_rate_is_a_further_state() -> None:
    with pytest.raises(kn.ModelError, match=r"\(<text>:1:35\): unknown symbol 'z''+\. 'z' is a state of first order"):
        kn.loads("A | Ry(q) = Jy(1); state z : z' = z'';")
