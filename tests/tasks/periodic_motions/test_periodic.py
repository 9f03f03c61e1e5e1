"""Periodic motions against closed forms and published ones, their multipliers against motions beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import kineta as kn
from tests.models import COMPASS, EXAMPLES

VAN_DER_POL = kn.loads(
    "model vdp; parameters mu = 1; A | Sx(x) = 1; force f = mu*(1 - x^2)*x' - x on x; initial x = 2;"
)
PENDULUM = kn.loads("model pendulum; gravity 9.81; A | Ry(q), Sz(-1) = 1; coordinates q; initial q = 1;")
RIMLESS = kn.loads(
    "model rimless; gravity 9.81; parameters alpha = 0.4, slope = 0.2; W | Ry(s), Sz(1) = 1; coordinates s;\n"
    "when strike : s >= slope + alpha : s = slope - alpha, s' = s'*cos(2*alpha); initial s = -0.2, s' = 1.2;"
)
TABLE = kn.loads(
    "model table; gravity 9.81; parameters e = 0.5, a = 0.06, w = 14; coordinates z; frame Table | Sz(a*sin(w*t));\n"
    "Ball | Sz(z) = 1; contact c : point between Ball and Table axis (0, 0, 1), restitution = e; initial z = 0.11, z' = -1.8;"
)
DUFFING = kn.loads(
    "model duffing; parameters a = 0.3, w = 1.2; A | Sx(x) = 1; force f = -x - x^3 - 0.2*x' + a*cos(w*t) on x;"
)
HILLS = kn.loads(
    "model hills; coordinates x; A | Sx(x) = 1; force f = 2 - 0.7*x' + 0.5*cos(x/3) on x; initial x' = 2.8;"
)
BEATING = kn.loads("coordinates x; parameters w = 2; A | Sx(x) = 1; force f = cos(w*t) + cos(4*t) - x - x' on x;")
STEEP = {"slope": np.radians(3)}


def test_van_der_pols_cycle_has_the_published_period() -> None:
    found = kn.periodic(VAN_DER_POL, 6.0)
    assert found.period == pytest.approx(6.6632868593231, abs=1e-9)
    assert found.stable
    # Liouville: the product of the multipliers is exp of the integrated divergence, and one of them is 1.
    run = kn.simulate(
        VAN_DER_POL, found.period, q=[found.initial["x"]], v=[found.initial["x'"]], samples=4001, rtol=1e-11
    )
    divergence = np.trapezoid(1 - run["x"] ** 2, run.t)
    assert complex(found.multipliers[0]).real == pytest.approx(np.exp(divergence), rel=1e-5)
    assert found.residual < 1e-9
    assert found.run.t[-1] == pytest.approx(found.period)


def test_time_in_rates_of_states_and_in_switches_is_known() -> None:
    filtered = "state w : w' = sin(pi*t/1 s) - 2*w; force f = 5*w on x;"
    switched = "force f = 5*u on x; parameters u = 1; when a : sin(pi*t/1 s) >= 0 : u = 1; when b : sin(pi*t/1 s) <= 0 : u = 0;"
    for drive in (filtered, switched):
        model = kn.loads(f"A | Sx(x) = 1; coordinates x; spring s = 30 on x; damper d = 0.7 on x; {drive}")
        found = kn.periodic(model, 2.0)
        assert found.period == 2.0
        assert found.stable
        with pytest.raises(kn.SimulationError, match="give a period of theirs"):
            kn.periodic(model, 1.5)


@pytest.mark.slow
def test_a_rest_beside_a_state_that_grows_is_none() -> None:
    model = kn.loads(
        "A | Sx(x) = 1; coordinates x; state E : E' = x'^2; force f = (1 - x^2)*x' - x on x; initial x = 2;"
    )
    with pytest.raises(kn.SimulationError, match=r"is a rest.* among the drifts"):
        kn.periodic(model, 6.6)
    assert kn.periodic(model, 6.6, drifts=["E"]).period == pytest.approx(6.6632868593231, abs=1e-8)


def test_a_libration_has_the_period_of_the_elliptic_integral() -> None:
    found = kn.periodic(PENDULUM, 2.1, keep=["q", "q'"])
    assert found.period == pytest.approx(4 / np.sqrt(9.81) * ellipk(np.sin(0.5) ** 2), abs=1e-10)
    assert found.stable is None
    assert found.lines()[-1].startswith("  stability undecided (a multiplier 1 ")


def test_under_constraints_it_is_the_same_libration() -> None:
    found = kn.periodic(kn.load(EXAMPLES / "simple_pendulum.kin"), 2.3)
    x, y = found.initial["x"], found.initial["y"]
    speed = found.initial["x'"] ** 2 + found.initial["y'"] ** 2
    highest = np.arccos(-(y + speed / (2 * 9.81)))
    assert x * x + y * y == pytest.approx(1.0)
    assert found.period == pytest.approx(4 / np.sqrt(9.81) * ellipk(np.sin(highest / 2) ** 2), rel=1e-7)


def test_a_linear_oscillator_has_the_multipliers_of_its_exponential() -> None:
    forced = kn.loads("A | Sx(x) = 1; force f = -x - 0.1*x' + cos(2*t) on x;")
    found = kn.periodic(forced, np.pi)
    expected = np.exp(np.pi * np.roots([1, 0.1, 1]))
    assert sorted(found.multipliers, key=lambda x: x.imag) == pytest.approx(
        sorted(expected, key=lambda x: x.imag), abs=1e-8
    )
    # -3 a + 0.2 b = 1, -3 b - 0.2 a = 0 of x = a cos 2t + b sin 2t
    assert found.initial["x"] == pytest.approx(-3 / 9.04, abs=1e-9)


@pytest.mark.slow
def test_a_forced_duffing_oscillator_comes_back_to_its_state() -> None:
    found = kn.periodic(DUFFING, 2 * np.pi / 1.2)
    q, v = ([found.initial[n]] for n in ("x", "x'"))
    run = kn.simulate(DUFFING, 3 * found.period, q=q, v=v, samples=4, rtol=1e-11)
    assert run.q == pytest.approx(np.full((4, 1), q[0]), abs=1e-7)


def test_a_rimless_wheel_rolls_as_the_closed_form_says() -> None:
    found = kn.periodic(RIMLESS, section="strike")
    c = np.cos(0.8) ** 2
    gained = 2 * 9.81 * (np.cos(0.2 - 0.4) - np.cos(0.2 + 0.4))
    assert found.initial["s'"] == pytest.approx(np.sqrt(gained * c / (1 - c)), rel=1e-10)
    # The square of the speed is mapped linearly, by c.
    assert found.multipliers == pytest.approx([c], rel=1e-9)
    again = kn.periodic(RIMLESS, section=kn.symbol("strike"))
    assert again.period == found.period


def test_a_ball_bounces_once_a_period_of_the_table() -> None:
    found = kn.periodic(TABLE, 2 * np.pi / 14)
    (impact,) = found.run.impacts
    # It leaves with g T/2 over the table: e of the speed that it comes with, beside twice that of the table.
    v, table = 9.81 * np.pi / 14, 0.06 * 14 * np.cos(14 * impact.t)
    assert table == pytest.approx(v * (1 - 0.5) / (1 + 0.5), rel=1e-7)
    assert found.stable
    assert np.prod(found.multipliers).real == pytest.approx(0.25, rel=1e-6)


def test_goswamis_compass_gait_is_found_from_strike_to_strike_and_from_time_to_time() -> None:
    found = kn.periodic(COMPASS, section="strike", p=STEEP)
    assert found.period == pytest.approx(0.734, abs=5e-4)
    assert found.stable
    assert "strike switches at 0.734346 s" in found.notes[0]
    middle = kn.simulate(COMPASS, 0.3, p=STEEP, q=list(found.initial.values())[:2], v=list(found.initial.values())[2:])
    timed = kn.periodic(COMPASS, 0.73, p=STEEP, q=middle.q[-1] + 0.01, v=middle.v[-1])
    assert timed.period == pytest.approx(found.period, abs=1e-9)
    assert timed.multipliers[:2] == pytest.approx(found.multipliers[:2], abs=1e-6)


def test_multipliers_are_those_of_strides_beside() -> None:
    found = kn.periodic(COMPASS, section="strike", p=STEEP)
    start = np.array(list(found.initial.values()))
    by = kn.sensitivity(
        COMPASS, found.period + 1e-7, ["s", "n", "s'", "n'"], p=STEEP, q=start[:2], v=start[2:], samples=2
    )
    own = np.linalg.eigvals(np.concatenate([by.q_by[-1], by.v_by[-1]]))
    assert sorted(np.abs(own))[-3:-1] == pytest.approx(sorted(np.abs(found.multipliers))[-2:], rel=1e-5)


@pytest.mark.slow
def test_the_compass_gait_doubles_its_period() -> None:
    family = kn.periodic_family(COMPASS, "slope", np.radians(5), 0.72, section="strike", p={"slope": np.radians(4)})
    (doubling,) = family.special
    assert doubling.kind == "period doubling"
    assert np.degrees(doubling.parameter) == pytest.approx(4.37, abs=0.05)
    assert family.reached
    assert list(np.unique(family.stable)) == [0, 1]
    before, after = (x + np.radians([-0.02, 0.02])[k] for k, x in enumerate([doubling.parameter] * 2))
    steps = []
    for slope in (before, after):
        here = kn.periodic(COMPASS, section="strike", p={"slope": slope}, **_start(doubling))
        steps.append(complex(here.multipliers[0]).real)
    assert steps[0] > -1 > steps[1]


def _start(point: Any) -> dict[str, Any]:
    values = list(point.initial.values())
    return {"q": values[:2], "v": values[2:]}


@pytest.mark.slow
def test_a_duffing_oscillator_folds() -> None:
    scaled = kn.loads(
        "model scaled; parameters a = 0.1; A | Sx(x) = 1; force f = -0.5*x - 0.5*x^3 - 0.1*x' + a*cos(t) on x; initial x = 0;"
    )
    family = kn.periodic_family(scaled, "a", 0.9, 2 * np.pi, points=120)
    kinds = [s.kind for s in family.special]
    assert kinds.count("fold") == 2
    at = np.array([s.parameter for s in family.special if s.kind == "fold"])
    assert 0.1 < at[1] < at[0] < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("keep", [["q", "q'"], ["q"]])
def test_conservative_motions_are_followed_at_a_kept_amplitude(keep: list[str]) -> None:
    """The period of a pendulum of one amplitude is as the square root of its length."""
    pendulum = kn.loads("gravity 9.81; parameters l = 1; A | Ry(q), Sz(-l) = 1; coordinates q; initial q = 1;")
    period = kn.periodic(pendulum, 2.1, keep=["q", "q'"]).period
    family = kn.periodic_family(pendulum, "l", 2.0, period, keep=keep)
    assert family.reached
    np.testing.assert_allclose(family.period, period * np.sqrt(family["l"]), rtol=1e-9)  # of motions to rtol = 1e-10
    with pytest.raises(kn.KinetaError, match=r"keep 1 more initial value \(keep\), to choose one of them\."):
        kn.periodic_family(pendulum, "l", 2.0, period)


def test_the_period_of_a_family_is_that_of_the_forces() -> None:
    """An oscillator under cos(w t) begins every period 2 pi/w with its closed form."""
    forced = kn.loads("parameters w = 2; A | Sx(x) = 1; force f = cos(w*t) - x - 0.4*x' on x; coordinates x;")
    family = kn.periodic_family(forced, "w", 1.4, np.pi, points=4)
    w = family["w"]
    np.testing.assert_allclose(family.period, 2 * np.pi / w, rtol=1e-9)
    X = 1 / (1 - w**2 + 0.4j * w)
    # The motions are integrated to rtol = 1e-10.
    np.testing.assert_allclose(family["x"], X.real, rtol=0, atol=1e-10)
    np.testing.assert_allclose(family["x'"], (1j * w * X).real, rtol=0, atol=1e-10)
    assert np.ptp(w) > 0.1


@pytest.mark.slow
def test_a_table_that_moves_has_the_period_of_its_parameter() -> None:
    """A ball on a table at A sin(W t) that flies for g T/2 up: the table then moves by w = g T/2 (1 - e)/(1 + e), and as the
    product of the multipliers e^2 remains.
    """
    model = kn.loads(
        "gravity 9.81; parameters A = 0.04, W = 20, e = 0.5; Table | Sz(A*sin(W*t)) = 1; B | Sz(z) = 1; coordinates z; "
        "contact hit : point between B and Table axis (0, 0, 1), restitution = e;"
    )

    def start(A: float, W: float, t: float) -> list[float]:
        up = 9.81 * np.pi / W
        phase = np.arccos(up / 3 / (A * W))
        s = t - phase / W
        return [A * np.sin(phase) + up * s - 9.81 * s**2 / 2, up - 9.81 * s]

    t0 = 0.1
    z, vz = start(0.04, 20, t0)
    at: dict[str, Any] = {"q": {"z": z}, "v": {"z'": vz}, "t0": t0}
    family = kn.periodic_family(model, "W", 22, 2 * np.pi / 20, points=4, **at)
    np.testing.assert_allclose(family.period, 2 * np.pi / family["W"], rtol=1e-12)
    for W, state, multipliers in zip(family["W"], family.states, family.multipliers, strict=True):
        np.testing.assert_allclose(state, start(0.04, W, t0), rtol=0, atol=1e-10)
        assert np.prod(multipliers) == pytest.approx(0.25, abs=1e-9)
    with pytest.raises(kn.SimulationError, match=r"0\.32.* s later they are others"):
        kn.periodic(model, 2.06 * np.pi / 20, **at)


def test_what_drifts_and_is_depended_on_moves_by_whole_turns() -> None:
    turning = kn.loads(
        "gravity 9.81; A | Ry(q), Sz(-1) = 1; coordinates q; force f = 12 - 0.5*q' on q; initial q' = 24;"
    )
    found = kn.periodic(turning, 0.25, drifts=["q"])
    assert found.drifts["q"] == pytest.approx(2 * np.pi, abs=1e-9)
    to_section = kn.periodic(turning, section=kn.sin(kn.symbol("q")), drifts=["q"])
    assert to_section.period == pytest.approx(found.period, abs=1e-9)


def test_a_shaft_behind_a_universal_joint_is_the_same_after_half_a_turn() -> None:
    """A driven fork whose joint, at the angle b, turns a load: its speed comes back twice in a turn."""
    text = "parameters b = 0.5, J = 0.2; Fork | Rz(q) = 0, 0, 0, 1; "
    text += "Load | Rx(b), Rz(atan2(sin(q), cos(b)*cos(q))) = 0, 0, 0, J; coordinates q; force drive = 3 - q' on q; "
    text += "initial q' = 3;"
    found = kn.periodic(kn.loads(text), 1.0, drifts=["q"])
    assert found.drifts["q"] == pytest.approx(np.pi, abs=1e-9)
    assert found.run.q[-1, 0] - found.initial["q"] == pytest.approx(np.pi, abs=1e-9)


HOPS_DOWNHILL = """
gravity (0, -10, 0);
parameters s = 0.2, b = 0.5, V = 3, c = 0.7, u = 1.5;
P | Sx(x), Sy(y) = 1;
coordinates x, y;
force wind = -c*(x' - u) on x;
when hop : y + s*x <= 0 : y' = V - s*x' - b*(y' + s*x');
initial x' = 1.4, y' = 5;
"""


def test_no_multiplier_is_left_out_where_a_section_depends_on_what_drifts() -> None:
    """A point hops down a slope by b of its speed against it and V more: that speed w goes to V + b w from hop to hop, after
    2 w/g, and what x' is off the wind by shrinks to exp(-c T).
    """
    model = kn.loads(HOPS_DOWNHILL)
    by_switch = kn.periodic(model, section="hop", drifts=["x", "y"])
    height = kn.symbol("y") + kn.symbol("s") * kn.symbol("x")
    by_value = kn.periodic(model, section=height - 0.3, drifts=["x", "y"], q={"y": 0.3})
    T = 2 * 3 / (1 - 0.5) / 10
    for found in (by_switch, by_value):
        assert found.period == pytest.approx(T, abs=1e-10)
        assert found.drifts == pytest.approx({"x": 1.5 * T, "y": -0.3 * T}, abs=1e-9)
        np.testing.assert_allclose(found.multipliers, [0.5, np.exp(-0.7 * T)], rtol=0, atol=1e-8)


def test_a_section_is_met_exactly() -> None:
    found = kn.periodic(VAN_DER_POL, section=kn.symbol("x"))
    assert (found.initial["x"], found.period) == pytest.approx((0.0, 6.6632868593231), abs=1e-9)


@pytest.mark.slow
def test_a_mode_of_a_double_pendulum_is_followed() -> None:
    """The motion comes back after every period, and none is a torus: pairs of conservative motions stay on the circle."""
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    family = kn.periodic_family(system, "m2", 1.5, 2.6, q={"q1": 0.2, "q2": 0.28}, keep=["q1"])
    assert (family.reached, family.special) == (True, ())
    np.testing.assert_allclose(family["q1"], family["q1"][0], rtol=1e-12)
    for m2, T, state in zip(family["m2"], family.period, family.states, strict=True):
        run = kn.simulate(system, T, q=state[:2], v=state[2:], p={"m2": m2}, rtol=1e-12, atol=1e-14)
        # The family is followed to rtol = 1e-10, and motions beside it go away from it within a period.
        np.testing.assert_allclose([*run.q[-1], *run.v[-1]], state, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_a_hopper_hops() -> None:
    found = kn.periodic(kn.load(EXAMPLES / "hopper.kin"), section="airborne", drifts=["x"])
    assert found.period == pytest.approx(0.7880239893, abs=1e-8)
    assert found.drifts["x"] == pytest.approx(0.0, abs=1e-9)
    assert not found.stable


@pytest.mark.slow
def test_records_say_themselves_and_are_drawn() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    found = kn.periodic(VAN_DER_POL, 6.0)
    data = found.as_dict()
    assert (data["stable"], len(data["multipliers"]), data["notes"]) == (True, 1, [])
    assert found.lines()[0] == "period 6.663286859 s"
    assert repr(found) == "<Periodic motion of 'vdp': period 6.66329 s, stable>"
    family = kn.periodic_family(VAN_DER_POL, "mu", 1.2, 6.6, points=6)
    assert family["period"][-1] > family["period"][0]
    assert family.as_dict()["notes"][0].endswith("after 6 points; ask for more (points), if it goes on")
    assert repr(family).endswith("6 motions; no bifurcations>")
    for record in (found, family):
        axes = record.plot()
        assert axes.get_ylabel()
        plt.close("all")


SENTENCES: list[tuple[Callable[[], Any], str]] = [
    (lambda: kn.periodic(PENDULUM), "expected a guess of the period (guess=, --period), or a section at which it ends"),
    (lambda: kn.periodic(PENDULUM, -1.0), "Expected a guess of the period above 0 s, found -1."),
    (
        lambda: kn.periodic(PENDULUM, 2.0, q=[0.0]),
        "the state is a rest, which no period has; begin with one that moves.",
    ),
    (
        lambda: kn.periodic(PENDULUM, section="strike"),
        "has no switch, contact or limit 'strike' as a section. It has none;",
    ),
    (
        lambda: kn.periodic(COMPASS, section="strik"),
        "no switch, contact or limit 'strik' as a section. Did you mean 'strike'?",
    ),
    (lambda: kn.periodic(PENDULUM, 2.0, section=kn.symbol("q") - 5), "'q - 5' does not rise through zero within 5 s"),
    (lambda: kn.periodic(PENDULUM, 2.0, section=3), "Expected an expression, or the name of a switch or contact"),
    (lambda: kn.periodic(PENDULUM, 2.0, drifts=["r"]), "expected a coordinate for drifts, found 'r'."),
    (lambda: kn.periodic(PENDULUM, 2.0, keep=["r"]), "expected a coordinate or speed for keep, found 'r'."),
    (
        lambda: kn.periodic(DUFFING, 3.0),
        "forces depend on the time, and 3 s later they are others: give a period of theirs.",
    ),
    (
        lambda: kn.periodic(kn.loads("gravity 9.81; A | Sx(x), Sz(z) = 1; coordinates x, z; initial x' = 1;"), 1.0),
        "no periodic motion was found near the guess",
    ),
    (
        lambda: kn.periodic(HILLS, 6.0, drifts=["x"]),
        "the equations depend on what drifts: ",
    ),
    (
        lambda: kn.periodic_family(BEATING, "w", 3.0, np.pi),
        "'w' changes the period of the forces, which are no longer periodic, or have another period, before w = 3:",
    ),
    (lambda: kn.periodic_family(VAN_DER_POL, "nu", 2.0, 6.6), "has no parameter 'nu' to go along."),
    (lambda: kn.periodic_family(VAN_DER_POL, "mu", 1.0, 6.6), "Expected an end beside mu = 1, where the family begins"),
]


@pytest.mark.parametrize(("call", "message"), SENTENCES, ids=[text[:40] for _, text in SENTENCES])
def test_what_is_no_periodic_motion_gets_a_sentence(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(kn.KinetaError) as caught:
        call()
    assert message in str(caught.value)
