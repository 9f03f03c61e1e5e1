"""Linearisations: deviations from a motion follow them, and they are those of the literature."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError
from kineta.expr.graph import ZERO
from kineta.passes.evaluate import evaluate
from tests.mechanics.truth import load
from tests.support import EXAMPLES, examples, slow

#: Half of the distance of two motions whose difference is compared.
APART = 1e-6


def example(name: str) -> kn.System:
    return kn.load(EXAMPLES / f"{name}.kin")


def directions(system: kn.System, t: float, q: np.ndarray) -> np.ndarray:
    """How coordinates change with unit speeds of the motions, (nq, nb)."""
    plain = system.replace(quasi=(), constraints=(), elements=(), initial={}, outputs=())
    qdot = kn.derive(plain).function("qdot", "numpy")
    return np.array([qdot(t, q, e) for e in np.eye(len(plain.v_names))]).T


#: A coin whose speeds are quasi-velocities, on a table; a slider on a moving guide, whose crank is driven.
COIN = """
quasi lean = theta', W = phi', spin = psi';
initial theta = 1, z = r*sin(1), W = 2, spin = -10;
"""
SLIDER = """
model slider; parameters l = 1, L = 2, w = 3; gravity 9.81 m/s^2;
Crank | Rz(0.3*sin(w*t) + a), Sx(l) = 1; Rod ~ Crank | Rz(b), Sx(L) = 1, 0.1, 0.1, 0.1;
point E on Rod = (0, 0, 0); constraint guide : E.y = 0.1*sin(w*t); initial a = 0.4, b = -0.6, a' = 1;
"""
MOTIONS = (
    "ball_tree",
    "fourbar",
    "rolling_coin",
    "upright_coin",
    "euler_top",
    "branched",
    "free_satellite",
    "coin",
    "slider",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a", "d", "bx", "mb"])
def test_dependent_states_follow_parameters_that_are_inputs(name: str) -> None:
    system, h = example("fourbar"), 1e-6
    at = kn.assemble(system, {"theta": 0.7}, {"theta'": 1.3}, pinned=["theta", "theta'"])
    linear = kn.linearize(system, at, inputs=[name], outputs=["beta", "gamma"], states=["theta"])
    p = np.array([x.value for x in system.parameters], dtype=float)
    ends = []
    for sign in (1, -1):
        moved = p + sign * h * (np.array(system.parameter_names) == name)
        beside = kn.assemble(system, at.q, at.v, moved, pinned=["theta", "theta'"])
        ends.append([*kn.derive(system).function("forward")(0.0, beside.q, beside.v, p=moved)[:1], *beside.q[1:3]])
    slope = (np.array(ends[0]) - ends[1]) / (2 * h)
    assert np.allclose([linear.B[1, 0], *linear.D[:, 0]], slope, rtol=1e-6, atol=1e-8)
    with pytest.warns(kn.KinetaWarning, match="misses the constraint"):
        formulas = kn.linear_formulas(system, at, inputs=[name], outputs=["beta", "gamma"])
    linear = kn.linearize(system, at, inputs=[name], outputs=["beta", "gamma"])
    assert formulas.states == linear.states
    entries = [ref for letter in "BD" for row in formulas.matrices[letter] for ref in row]
    shown = evaluate(formulas.graph, entries, dict(zip(system.parameter_names, p, strict=True)))
    assert np.allclose(shown, [*linear.B[:, 0], *linear.D[:, 0]], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["oscillator_chain", "snakeboard", "free_satellite", "chaplygin_sleigh"])
def test_entries_that_are_zero_in_formulas_are_zero_in_numbers(name: str) -> None:
    linear, formulas = kn.linearize(example(name)), kn.linear_formulas(example(name))
    assert formulas.states == linear.states
    for letter in "ABCD":
        zero = np.array(formulas.matrices[letter]) == ZERO
        assert not getattr(linear, letter)[zero].any()


@pytest.mark.parametrize("name", MOTIONS)
def test_small_deviations_from_a_motion_follow_its_linearisation(name: str) -> None:
    system = moving(name)
    run = kn.simulate(system, 0.4, samples=161)
    linear = kn.linearize(system, run)
    x0 = np.random.default_rng(1).uniform(-1, 1, len(linear.states))
    x, h = x0, run.t[2] - run.t[0]
    for A, B, C in zip(linear.A[:-2:2], linear.A[1:-1:2], linear.A[2::2], strict=True):  # the method of Runge and Kutta
        a = A @ x
        b = B @ (x + h / 2 * a)
        c = B @ (x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + C @ (x + h * c))
    ends = [deviating(system, run, linear.Z[0] @ x0 * sign) for sign in (APART, -APART)]
    dq, dv = ((a - b) / (2 * APART) for a, b in zip(*ends, strict=True))
    d = np.linalg.lstsq(directions(system, run.t[-1], run.q[-1]), dq, rcond=None)[0]
    assert np.allclose(linear.Z[-1] @ x, [*d, *dv], rtol=0, atol=5e-6 * np.abs(x).max())


def moving(name: str) -> kn.System:
    """An example, or one of the systems above."""
    if name == "coin":
        text = (EXAMPLES / "rolling_coin.kin").read_text(encoding="utf-8").partition("initial")[0]
        return kn.loads(text + COIN)
    if name == "slider":
        slider = kn.loads(SLIDER)
        return slider.replace(initial=kn.assemble(slider).initial)
    return example(name)


def deviating(system: kn.System, run: Any, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The end of a motion that starts a little aside."""
    D = directions(system, 0.0, run.q[0])
    q = run.q[0] + D @ change[: D.shape[1]]
    v = run.v[0] + change[D.shape[1] :]
    if system.constraints:
        start = kn.assemble(system, q, v)
        q, v = start.q, start.v
    end = kn.simulate(system, run.t[-1], q=q, v=v, rtol=1e-11, atol=1e-14)
    return end.q[-1], end.v[-1]


def test_the_bicycle_has_the_matrices_and_eigenvalues_of_its_benchmark() -> None:
    expected = load("bicycle/whipple_linear_s.json")["expected"]
    M, C1, K0, K2 = (np.array(expected["own"][name]) for name in ("M", "C1", "K0", "K2"))
    speeds = np.arange(11.0)
    linear = upright(speeds)
    assert linear.states == ("psi", "psif", "psi'", "psif'")
    for v, one in zip(speeds, linear, strict=True):
        mass = np.linalg.inv(one.B[2:])
        assert np.abs(mass - M).max() < 1e-11
        assert np.abs(-mass @ one.A[2:, 2:] - v * C1).max() < 1e-11
        assert np.abs(-mass @ one.A[2:, :2] - (9.81 * K0 + v * v * K2)).max() < 1e-11 * 76.6 * max(1, v * v)
        known = [complex(*x) for x in expected["eigenvalues"][f"{v:.0f}"]]
        assert max(np.abs(one.eigenvalues - x).min() for x in known) < 1e-11


@pytest.mark.slow
def test_the_bicycle_is_stable_between_the_speeds_of_its_benchmark() -> None:
    expected = load("bicycle/whipple_linear_s.json")["expected"]["published_eigenvalues"]
    for bounds, known in (((4, 4.5), "weave_speed"), ((5.8, 6.3), "capsize_speed")):
        low, high = bounds
        for _ in range(6):  # each with ten speeds at once
            speeds = np.linspace(low, high, 11)
            growth = upright(speeds).eigenvalues.real.max(axis=1)
            k = int(np.flatnonzero(np.diff(np.sign(growth)))[0])
            low, high = speeds[k], speeds[k + 1]
        assert abs(low - expected[known]) < 1e-6


def upright(speeds: np.ndarray) -> kn.Linear:
    """The bicycle that runs straight on at these speeds."""
    about = {"psi'": 0.0, "y'": 0.0, "x'": -speeds, "betar'": speeds / 0.3, "betaf'": speeds / 0.35}
    return kn.linearize(example("bicycle"), about, inputs=["psi'", "psif'"], states=["psi", "psif"])


def chain(n: int) -> kn.System:
    """Equal masses on a line between walls, with equal springs."""
    m, k = kn.symbols("m k")
    q = [kn.symbol(f"q{i}") for i in range(1, n + 1)]
    stretch = [q[0], *(b - a for a, b in pairwise(q)), q[-1]]
    bodies = [kn.body(f"b{i}", [kn.Sx(x)], kn.inertia(m), base="ground") for i, x in enumerate(q)]
    springs = [kn.spring(f"s{i}", k, x) for i, x in enumerate(stretch)]
    return kn.System("chain", bodies, parameters={"m": 2.0, "k": 50.0}, elements=springs)


def test_parameters_may_be_put_in_and_anything_put_out() -> None:
    system = kn.loads(
        "model cart; parameters m = 2, k = 8, F = 0; Cart | Sx(q) = m;\n"
        "spring s = k on q; force f = F on q; output twice = 2*q, q, push = m*q'';"
    )
    linear = kn.linearize(system, inputs=["F"])
    assert linear.inputs == ("F",)
    assert np.allclose(linear.A, [[0, 1], [-4, 0]])
    assert np.allclose(linear.B, [[0], [0.5]])
    assert np.allclose(linear.C, [[2, 0], [1, 0], [-8, 0]])
    assert np.allclose(linear.D, [[0], [0], [1]])
    assert np.allclose(kn.linearize(system, outputs=["q'", kn.symbol("q") * 3]).C, [[0, 1], [3, 0]])


FORMULAS: list[tuple[str, dict[str, float]]] = [
    ("double_pendulum", {"q1": 0.0, "q2": 3.0, "q1'": 1.0, "q2'": 0.0}),
    ("free_satellite", {}),
    ("fourbar", {}),
    ("rolling_coin", {}),
    ("euler_top", {}),
]


@pytest.mark.filterwarnings("ignore:.*with other parameters:kineta.errors.KinetaWarning")
@pytest.mark.parametrize(("name", "about"), FORMULAS, ids=[name for name, _ in FORMULAS])
def test_formulas_have_the_values_of_the_matrices(name: str, about: dict[str, float]) -> None:
    system = example(name)
    formulas, numbers = kn.linear_formulas(system, about), kn.linearize(system, about)
    values = {p.name: p.value for p in system.parameters}
    assert (formulas.states, formulas.inputs, formulas.outputs) == (numbers.states, numbers.inputs, numbers.outputs)
    for letter, rows in formulas.matrices.items():
        expected = getattr(numbers, letter)
        found = np.array([evaluate(formulas.graph, row, values) for row in rows]).reshape(expected.shape)
        assert np.abs(found - expected).max(initial=0.0) < 1e-10 * max(1.0, np.abs(expected).max(initial=0.0))


def test_numbers_in_formulas_are_decimals_without_rounding() -> None:
    cart = kn.loads(
        "gravity (0, -9.81, 0); parameters M = 2, m = 0.5, l = 0.4, d = 0.2; Cart | Sx(x) = M;"
        "Bob ~ Cart | Rz(a), Sy(-l) = m; damper friction = d on x'; initial a = 60 deg, x' = 0.5;"
    )
    text = str(kn.linear_formulas(cart))
    assert "A[a',a] = (58.86*m^2 - 78.48*M^2 - 19.62*M*m - sqrt(3)*(4*M + 5*m)*d)/(l*z1^2)" in text


def test_matrices_have_other_names_than_parameters() -> None:
    assert str(
        kn.linear_formulas(kn.loads("parameters A, k; coordinates x; Body | Sx(x) = A; spring s = k on x;"))
    ).splitlines() == [
        "state[x',x] = -k/A",
        "input[x',tau[x']] = 1/A",
    ]


@pytest.mark.slow
def test_formulas_are_about_any_state_that_a_linearisation_takes() -> None:
    pendulum = example("double_pendulum")
    hanging = kn.equilibrium(pendulum, [0.1, 0.1])
    assert str(kn.linear_formulas(pendulum, hanging)) == str(kn.linear_formulas(pendulum, hanging.initial))
    linkage = example("fourbar")
    found = kn.assemble(linkage)
    with pytest.warns(kn.KinetaWarning, match="the formulas hold with the values of the model alone"):
        assert str(kn.linear_formulas(linkage, found)) == str(kn.linear_formulas(linkage, (found.q, found.v)))
    for several in ([[0.0, 0.0], [0.1, 0.0]], [0.0, 0.0]), kn.simulate(pendulum, 1.0, samples=3):
        with pytest.raises(kn.ArgumentError, match="Expected one state for formulas, found several; take them one by"):
            kn.linear_formulas(pendulum, several)
    for given in ({"p": {"l1": 0.25}}, {"tau": [1.0, 0.5]}):
        with pytest.raises(
            kn.ArgumentError, match="has a time, parameters or forces of its own; put them into the model"
        ):
            kn.linear_formulas(pendulum, kn.equilibrium(pendulum, [0, 0], **given))


@pytest.mark.slow
def test_formulas_hold_for_all_parameters_or_say_so() -> None:
    with pytest.warns(
        kn.KinetaWarning, match=r"with other parameters this state misses the constraint 'pin\.[xy]': the"
    ):
        kn.linear_formulas(example("fourbar"))
    with pytest.raises(kn.ArgumentError, match="the state misses the constraint 'pin"):
        kn.linear_formulas(example("fourbar"), {"beta": 0.0})
    smooth = kn.loads("coordinates x; C | Sx(x) = 1; force f = -sin(x)/x on x;")
    with pytest.raises(kn.ArgumentError, match=r"only a limit .* ask for numbers"):
        kn.linear_formulas(smooth)


@pytest.mark.slow
def test_formulas_are_those_of_books() -> None:
    formulas = kn.linear_formulas(example("double_pendulum"), {"q1": 0.0, "q2": 0.0}, inputs=["q1'"], outputs=["q2"])
    assert str(formulas).splitlines()[:2] == ["A[q1',q1] = -9.81*(m1 + m2)/(m1*l1)", "A[q1',q2] = 9.81*m2/(m1*l1)"]
    sympy = pytest.importorskip("sympy")
    m1, m2, l1 = sympy.symbols("m1 m2 l1", real=True)
    assert sympy.simplify(formulas.sympy()["A"][2, 1] * m1 * l1 / m2) == pytest.approx(9.81)
    v, front, rear = kn.symbols("v rF rR")
    running = {"psi'": 0.0, "y'": 0.0, "x'": -v, "betar'": v / rear, "betaf'": v / front}
    assert "v" in kn.linear_formulas(example("bicycle"), running, outputs=[]).graph.names


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("name", examples(of=3))
def test_every_example_has_a_linearisation(name: str) -> None:
    linear = kn.linearize(example(name))
    assert all(np.isfinite(M).all() for M in (linear.A, linear.B, linear.C, linear.D))
    assert linear.C.shape == (len(linear.outputs), len(linear.states))
    assert {*linear.outputs} == {o.name for o in example(name).outputs}


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
def test_outputs_beyond_accelerations_are_refused() -> None:
    arm = example("tracking_arm")
    shaken = arm.replace(outputs=[*arm.outputs, kn.Output("jerk", abs(kn.vector("jerk", "Pen")))])
    assert "jerk" not in kn.linearize(shaken).outputs
    with pytest.raises(kn.ArgumentError, match="'jerk' is made of derivatives beyond accelerations"):
        kn.linearize(shaken, outputs=["jerk"])


@pytest.mark.parametrize(
    "force", ["-3*abs(x)", "-3*sign(x')", "-3*step(x)", "max(0, x)", "min(x, 2*x)", "atan2(x, x' - 1)"]
)
def test_a_corner_or_a_jump_has_no_derivative(force: str) -> None:
    bent = kn.loads(f"coordinates x; C | Sx(x) = 1; force f = {force} on x;")
    for find in (kn.linearize, kn.linear_formulas):
        with pytest.raises(
            kn.ArgumentError, match=r"the rate of '[x']*' has no derivative at this state: it has a corner, a jump"
        ):
            find(bent)
    assert np.isfinite(kn.linearize(bent, {"x": 0.1, "x'": 0.1}).A).all()


def test_what_bends_is_named() -> None:
    bent = kn.loads("coordinates x; C | Sx(x) = 1;\nforce f = -x*abs(x) on x; force g = min(x, 2*x) on x;")
    with pytest.raises(
        kn.ArgumentError, match=r"or 'min\(x, 2\*x\)' of 'g' \(<text>:2:33\) bends\. Linearise beside it"
    ):
        kn.linearize(bent)


@pytest.mark.parametrize("force", ["-sign(x)*sqrt(abs(x))", "-x'*sqrt(abs(x))*sign(x)/abs(x')", "x*abs(x')^0.5"])
def test_a_root_without_its_speed_before_it_has_no_slope_at_rest(force: str) -> None:
    bent = kn.loads(f"coordinates x; C | Sx(x) = 1; force f = {force} on x;")
    with pytest.raises(kn.KinetaError):
        kn.linearize(bent)


def test_what_jumps_is_named() -> None:
    bent = kn.loads("coordinates x; C | Sx(x) = 1;\nforce f = if(tanh(x) < 0.5*x', 1, 2) on x;")
    with pytest.raises(
        kn.ArgumentError, match=r"where 'if\(.* < .*, \.\.\.\)' of 'f' \(<text>:2:7\) jumps\. Linearise beside it"
    ):
        kn.linearize(bent)


@pytest.mark.parametrize(
    ("force", "slope"), [("-3*x*abs(x)", 0.0), ("-3*max(x, 0)^2 - x", -1.0), ("-abs(x')*x' - 2*x", -2.0)]
)
def test_a_corner_that_nothing_shows_has_one(force: str, slope: float) -> None:
    bent = kn.loads(f"coordinates x; C | Sx(x) = 1; force f = {force} on x;")
    assert kn.linearize(bent).A[1] == pytest.approx([slope, 0.0], abs=1e-5)


def test_what_touches_has_no_part_in_it_and_is_named() -> None:
    with pytest.warns(kn.KinetaWarning, match=r"a linearisation is of its equations without floor"):
        linear = kn.linearize(example("bouncing_ball"))
    assert not linear.A[2:].any()
    assert not linear.C[list(linear.outputs).index("lambda.floor.n")].any()


def test_a_limit_that_is_reached_is_named() -> None:
    arm = kn.loads("gravity 9.81; Arm | Ry(q1), Sx(1) = 1; limit stop : q1 <= 0.5;")
    for about in ({"q1": 0.5}, {"q1": [0.1, 0.6]}):
        with pytest.warns(kn.KinetaWarning, match="is of its equations without stop: only runs know limits"):
            kn.linearize(arm, about)
    assert kn.linearize(arm, {"q1": 0.4}).A.shape == (2, 2)


def test_a_state_without_derivatives_has_their_limit_or_says_so() -> None:
    rope = "model rope; coordinates x, y; parameters m = 1, k = {}; B | Sx(x), Sy(y) = m; potential u = {};"
    smooth = kn.loads(rope.format(3, "k*(x^2 + y^2)^1.5"))
    assert np.allclose(kn.linearize(smooth).A[2:, :2], 0, atol=1e-5)
    with pytest.raises(kn.ArgumentError, match=r"the rate of '[xy]'' has no derivative at this state"):
        kn.linearize(kn.loads(rope.format(3, "k*sqrt(x^2 + y^2)")))


SENTENCES = [
    ({"about": {"bta": 1}}, "has no coordinate or speed 'bta' to linearise about. Did you mean 'beta'?"),
    ({"about": 3}, "Expected a state to linearise about: a mapping of names to values, a pair (q, v), or a record"),
    ({"about": {"beta": 0.0}}, "the state misses the constraint 'pin.y': it is -0.461 m at t = 0 s"),
    ({"inputs": ["F"]}, "has no speed or parameter 'F'."),
    ({"inputs": "F"}, "Expected a list of names of inputs, found 'F'"),
    ({"outputs": ["mass.w"]}, "output 'mass.w' has the unknown symbol 'mass.w'"),
    ({"states": ["betta"]}, "has no state 'betta'. Did you mean 'beta'?"),
    ({"states": ["beta", "theta"]}, "has no independent state 'beta' here. It follows from the others."),
    ({"tau": {"beta'": kn.symbol("beta")}}, "Expected numbers for the forces tau"),
    ({"about": ([[0.0, 0.0, 0.0]], [[0, 0], [0, 0]])}, "Expected v of shape (3,)"),
]


@pytest.mark.parametrize(("given", "message"), SENTENCES, ids=lambda x: str(x)[:30])
def test_what_makes_no_sense_gets_a_sentence(given: dict[str, Any], message: str) -> None:
    with pytest.raises(kn.ArgumentError) as caught:
        kn.linearize(example("fourbar"), **given)
    assert message in str(caught.value)


def test_a_dead_centre_is_named() -> None:
    rods = kn.loads(
        "model rods; A | Rz(a), Sx(1) = 1; B ~ A | Rz(b), Sx(1) = 1;\n"
        "point E on B = (0, 0, 0); constraint end : E.x = 2; initial a = 0;"
    )
    message = (
        r"'rods': the state at t = 0 s is singular: the constraint end changes with no motion there\. Take one a little"
    )
    for task in (kn.linearize, kn.linear_formulas):
        with pytest.raises(kn.ArgumentError, match=message):
            task(rods)


def test_names_are_given_once() -> None:
    for given in ({"inputs": ["m1", "m1"]}, {"inputs": ["q1'", "tau[q1']"]}, {"outputs": ["q1", "q1"]}):
        with pytest.raises(kn.ArgumentError, match=r"Expected every (input|output) once, found '.*' twice"):
            kn.linearize(example("double_pendulum"), **given)


def test_states_on_which_others_act_are_no_part() -> None:
    with pytest.raises(kn.ArgumentError, match=r"the state 'q2' acts on 'q1'': keep it as well"):
        kn.linearize(example("double_pendulum"), states=["q1"])
    assert len(kn.linearize(example("double_pendulum"), states=["q1", "q2"]).states) == 4


def test_runs_and_equilibria_bring_their_parameters_and_forces() -> None:
    pendulum = example("double_pendulum")
    run = kn.simulate(pendulum, 1.0, samples=3, tau=[5.0, -3.0], q=[0.3, 0.8], p={"l1": 0.4})
    same = kn.linearize(pendulum, (run.q, run.v), t=run.t, tau=[5.0, -3.0], p={"l1": 0.4})
    assert pytest.approx(same.A, abs=1e-12) == kn.linearize(pendulum, run).A
    found = kn.equilibrium(pendulum, [0, 0], p={"l1": 0.25}, tau=[1.0, 0.5])
    same = kn.linearize(pendulum, (found.q, found.v), p={"l1": 0.25}, tau=[1.0, 0.5])
    assert pytest.approx(same.A, abs=1e-12) == kn.linearize(pendulum, found).A
    assert kn.modes(pendulum, found).eigenvalues == pytest.approx(kn.modes(same).eigenvalues, abs=1e-12)


def test_what_a_linearisation_has_is_not_given_again() -> None:
    linear = kn.linearize(example("double_pendulum"))
    with pytest.raises(ArgumentError, match=r"states, inputs and outputs of its own; leave out inputs"):
        kn.response(linear, inputs=["q2'"], frequency=[1.0])
    with pytest.raises(ArgumentError, match="leave out states"):
        kn.modes(linear, states=["q1"])


def test_what_resists_no_acceleration_is_named() -> None:
    idle = kn.loads(
        "gravity 9.81; coordinates x, y, p; A | Sx(x - y), Ry(p), Sx(1) = 2; loop L : distance = 1 between A and ground;"
    )
    with pytest.raises(ArgumentError, match=r"the mass matrix is singular at t = 0 s: .*x'.*y'"):
        kn.linearize(idle)


TOP = (
    "parameters m = 1.3, l = 0.7, A = 0.2, C = 0.11; gravity (0, 0, -9.81); coordinates psi, theta, phi;"
    "Top | Rz(psi), Rx(theta), Rz(phi), Sz(l) = m, A, A, C;"
)
ANGLES = [np.pi / 2, np.pi / 3, np.pi / 4, np.pi / 6, 2 * np.pi / 3, *np.random.default_rng(5).uniform(0.2, 1.4, 5)]


@pytest.mark.parametrize("theta", ANGLES)
def test_formulas_about_numbers_hold_no_rounding(theta: float) -> None:
    """Lagrange's top: what sines and cosines of numbers cancel to is nothing, and m l^2 + A stands below all fractions."""
    system, about = kn.loads(TOP), {"theta": float(theta), "psi'": 2.0, "phi'": 30.0}
    formulas, numbers = kn.linear_formulas(system, about), kn.linearize(system, about)
    text = str(formulas)
    assert "z1 = A + m*l^2" in text
    assert not re.search(r"e-\d\d", text)
    assert set(re.findall(r"/(\([^()]*\)|\w+)", text.split("\n", 1)[1])) <= {"z1", "C", "(C*z1)", "(3*z1)", "2", "3"}
    values = {p.name: p.value for p in system.parameters}
    for letter, rows in formulas.matrices.items():
        expected = getattr(numbers, letter)
        found = np.array([evaluate(formulas.graph, row, values) for row in rows]).reshape(expected.shape)
        assert np.abs(found - expected).max(initial=0.0) < 1e-12 * max(1.0, np.abs(expected).max(initial=0.0))


@pytest.mark.parametrize(
    "name", ["double_pendulum", "euler_top", "planar_chain", *slow(["cart_pendulum", "flyball_governor"])]
)
@pytest.mark.parametrize("standard", [True, False], ids=["standard", "random"])
def test_formulas_about_numbers_are_those_of_the_matrices(name: str, standard: bool) -> None:
    system, rng = example(name), np.random.default_rng(11)
    names = (*system.q_names, *system.v_names)
    drawn = (
        rng.choice([np.pi / 2, np.pi / 6, np.pi / 4, -np.pi / 3, 1.0], len(names))
        if standard
        else rng.uniform(0.3, 1.3, len(names))  # where no coordinates are singular
    )
    about = dict(zip(names, drawn.tolist(), strict=True))
    formulas, numbers = kn.linear_formulas(system, about), kn.linearize(system, about)
    values = {p.name: p.value for p in system.parameters}
    for letter, rows in formulas.matrices.items():
        expected = getattr(numbers, letter)
        found = np.array([evaluate(formulas.graph, row, values) for row in rows]).reshape(expected.shape)
        assert np.abs(found - expected).max(initial=0.0) < 1e-12 * max(1.0, np.abs(expected).max(initial=0.0))
    assert " at" not in str(formulas)


@pytest.mark.parametrize(
    ("force", "K"),
    [
        ("-100*x*abs(x)", 0.0),
        ("-100*x - x'*abs(x')", -100.0),
        ("-1e4*x - 7*abs(x)^1.5*sign(x)", -1e4),
        ("-100*x - 3*x'*sqrt(abs(2*x'))/7", -100.0),
        ("-100*x - abs(x)^0.4*x*x' - x*abs(x)^0.6", -100.0),
        ("-100*x - sqrt(|v(Slide)|)*v(Slide).x - x'*abs(x')^(mu - 1)", -100.0),
    ],
)
def test_a_slope_that_vanishes_at_a_corner_of_its_parts(force: str, K: float) -> None:
    """However fast it changes beside."""
    found = kn.linearize(kn.loads(f"parameters mu = 1.4; Slide | Sx(x) = 1; coordinates x; force f = {force} on x;"))
    np.testing.assert_allclose(found.A, [[0, 1], [K, 0]], atol=1e-12)


@pytest.mark.parametrize("force", ["-1e6*(x - 0.3) - max(0, x - 0.3)", "1 - exp(x - 0.3) - max(0, 1e8*(x - 0.3))"])
def test_corners_are_known_at_any_size(force: str) -> None:
    """A small corner of a large force, and a large argument that the equilibrium makes no zero."""
    system = kn.loads(f"Slide | Sx(x) = 1; coordinates x; force f = {force} on x;")
    with pytest.raises(kn.ArgumentError, match="a corner, a jump"):
        kn.linearize(system, about=kn.equilibrium(system, q=[0.05]))
