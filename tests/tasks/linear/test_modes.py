"""Modes and responses of systems whose closed forms are known."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.support import EXAMPLES
from tests.tasks.linear.test_linearize import chain, upright

OSCILLATOR = (
    "model oscillator; parameters m = 2, k = 8, d = 0.8, F = 0; Mass | Sx(q) = m;\n"
    "spring s = k on q; damper b = d on q; force f = F on q; output q;"
)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_a_uniform_chain_has_the_modes_of_its_closed_form(n: int) -> None:
    modes = kn.modes(chain(n))
    k = np.arange(1, n + 1)
    omega = 2 * np.sqrt(50 / 2) * np.sin(k * np.pi / (2 * (n + 1)))
    assert np.allclose(modes.eigenvalues, 1j * omega, rtol=1e-12, atol=0)
    assert np.array_equal(modes.damping, np.zeros(n))
    expected = np.sin(np.outer(k, k) * np.pi / (n + 1))
    shapes = modes.shapes[:, :n].real
    assert np.allclose(np.abs(shapes), np.abs(expected) / np.abs(expected).max(axis=1, keepdims=True), atol=1e-10)


def test_the_examples_chain_of_oscillators_has_its_frequencies() -> None:
    system = kn.load(EXAMPLES / "oscillator_chain.kin")
    free = system.replace(elements=[e for e in system.elements if type(e).__name__ != "Damper"])
    squares = np.abs(kn.modes(free, kn.equilibrium(free)).eigenvalues) ** 2
    assert np.allclose(squares, [5.53998, 45.79499, 70.99895, 102.30893], rtol=1e-6)


def test_damping_is_that_of_an_oscillator() -> None:
    modes = kn.modes(kn.loads(OSCILLATOR))
    assert np.allclose(modes.damping, 0.8 / (2 * np.sqrt(8 * 2)))
    assert np.allclose(modes.frequency, np.sqrt(4 * (1 - 0.1**2)) / (2 * np.pi))
    assert modes.stable
    assert str(modes).splitlines()[1].split() == ["1", "0.316714", "0.1", "-0.2", "q", "1"]
    assert kn.modes(kn.loads(OSCILLATOR), p={"d": -0.1}).stable is False


def test_rigid_motions_have_no_frequency_and_a_body_turns_as_euler_says() -> None:
    free = kn.load(EXAMPLES / "free_satellite.kin")
    still = kn.modes(free, dict.fromkeys(free.v_names, 0.0))
    assert (still.eigenvalues[np.abs(still.eigenvalues.imag) == 0] == 0).all()
    body = kn.body("B", [kn.Ball("b")], kn.inertia(1.0, (3.0, 2.0, 1.0)))
    spinning = kn.modes(kn.System("top", [body]), {"b.wz": 5.0})
    nutation = 5.0 * np.sqrt((3 - 1) * (2 - 1) / (3 * 2))  # of angular velocities in the axes of the body
    assert np.abs(spinning.eigenvalues.imag - nutation).min() < 1e-9


@pytest.mark.slow
def test_about_what_is_not_steady_the_modes_are_those_of_the_moment() -> None:
    with pytest.warns(kn.KinetaWarning, match="neither an equilibrium nor a steady motion: theta' changes by -75.9"):
        kn.modes(kn.load(EXAMPLES / "fourbar.kin"))
    assert len(kn.modes(upright(np.array([4.6]))[0])) == 3


def test_responses_are_those_of_an_oscillator() -> None:
    linear = kn.linearize(kn.loads(OSCILLATOR), inputs=["F"])
    w = np.array([0.5, 2.0, 9.0])
    found = kn.response(linear, frequency=w / (2 * np.pi)).of("q")
    assert np.allclose(found, 1 / (8 - 2 * w**2 + 0.8j * w), rtol=1e-12)
    t = np.array([0.0, 0.3, 0.6, 2.0, 5.0])
    decay, wd = 0.2, np.sqrt(4 - 0.04)
    expected = (1 - np.exp(-decay * t) * (np.cos(wd * t) + decay / wd * np.sin(wd * t))) / 8
    assert np.allclose(kn.response(linear, time=t).of("q", "F"), expected, atol=1e-14)
    assert kn.response(linear).values.shape == (400, 1, 1)
    assert np.isinf(kn.response(kn.loads(OSCILLATOR), p={"d": 0.0}, frequency=[1 / np.pi]).values).all()


def test_about_what_is_not_steady_the_response_is_that_of_the_moment() -> None:
    with pytest.warns(kn.KinetaWarning, match="The response is that of this moment"):
        kn.response(kn.loads(OSCILLATOR), {"q": 1.0}, inputs=["F"], outputs=["q"])


def test_a_response_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(kn.ArgumentError, match="grows beyond all numbers before t = 100 s"):
        kn.response(kn.loads(OSCILLATOR), p={"k": -200.0}, inputs=["F"], outputs=["q"], time=[0.0, 1.0, 100.0])


def test_python_control_takes_the_matrices_and_names() -> None:
    control = pytest.importorskip("control")
    linear = kn.linearize(kn.loads(OSCILLATOR), inputs=["F"])
    space = linear.control()
    assert (space.state_labels, space.input_labels, space.output_labels) == (["q", "q'"], ["F"], ["q"])
    w = 1.3
    assert np.allclose(
        control.frequency_response(space, [w]).complex, kn.response(linear, frequency=[w / 2 / np.pi]).of("q")
    )


def test_python_control_takes_the_nonlinear_system() -> None:
    control = pytest.importorskip("control")
    pendulum = kn.load(EXAMPLES / "double_pendulum.kin")
    system = kn.io_system(pendulum, inputs=["q1'", "m2"], outputs=["q2", "second.x"])
    assert (system.state_labels, system.output_labels) == (["q1", "q2", "q1'", "q2'"], ["q2", "second_x"])
    t = np.linspace(0, 1, 21)
    start = [2.0, 2.5, 0.0, 0.0]
    found = control.input_output_response(system, t, [0.3, 1.2], start, solve_ivp_kwargs={"rtol": 1e-9, "atol": 1e-12})
    run = kn.simulate(pendulum, 1.0, samples=21, tau={"q1'": 0.3}, p={"m2": 1.2})
    assert np.allclose(found.outputs, [run["q2"], run["second.x"]], atol=1e-6)
    linear = kn.linearize(pendulum, {"q1": 0.0, "q2": 0.0}, inputs=["q1'"])
    theirs = control.linearize(kn.io_system(pendulum, inputs=["q1'"]), [0, 0, 0, 0], [0])
    assert np.allclose(theirs.A, linear.A, atol=1e-4)
    with pytest.raises(kn.ArgumentError, match=r"Expected outputs of the state, found .*, which names q1"):
        kn.io_system(pendulum, outputs=["q1''"])


@pytest.mark.slow
def test_pictures_are_drawn() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    figures = [kn.modes(chain(3)).plot(), kn.response(kn.loads(OSCILLATOR)).plot()]
    figures.append(kn.response(kn.loads(OSCILLATOR), time=[0, 1, 2]).plot())
    figures.append(upright(np.linspace(0, 10, 5)).plot(np.linspace(0, 10, 5), "m/s"))
    assert [len(f.axes) for f in figures] == [4, 2, 1, 2]
    for figure in figures:
        plt.close(figure)


def test_labels_of_modes_that_lie_on_each_other_are_one() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    free = kn.loads("model free; Hull | Free(b) = 1, 1, 1, 1; Arm ~ Hull | Ry(q) = 1, 1, 1, 1; spring s = 4 on q;")
    figure = kn.modes(free).plot()
    assert [text.get_text() for text in figure.axes[0].texts] == ["1-12", "13"]
    assert "1 of 13 drawn" in figure.get_suptitle()
    plt.close(figure)


def test_responses_are_drawn_with_their_units_and_without_what_stays() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    cart = kn.loads(
        "model cart; parameters F = 0 N; Cart | Sx(q) = 2 kg; spring s = 8 on q; force f = F on q; output q, q', Cart.y;"
    )
    figure = kn.response(cart, inputs=["F"], time=[0, 1, 2]).plot()
    assert [ax.get_ylabel() for ax in figure.axes] == ["q [m]", "q' [m/s]"]
    assert figure.axes[0].get_title() == "by F [N]"
    assert "Cart.y not moved" in figure.get_suptitle()
    plt.close(figure)


def test_an_unknown_output_of_a_response_is_named_before_a_missing_input() -> None:
    system = kn.loads("coordinates x, y; A | Sx(x), Sy(y) = 1; spring s = 1 on x; spring r = 1 on y;")
    linear = kn.linearize(system, outputs=["x"])
    assert len(linear.inputs) == 2
    with pytest.raises(kn.ArgumentError, match="has no output 'foo' here"):
        kn.response(linear, frequency=[1.0]).of("foo")
