"""The driver: from a system to functions of numbers, and what it says to wrong arguments."""

from __future__ import annotations

import html
import pickle
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.equations.function import BACKENDS, parameter_values
from kineta.errors import ArgumentError
from kineta.mechanics.quantities import quantity as row_of
from tests.support import EXAMPLES, PILES, examples

Q, R = kn.symbol("q"), kn.symbol("r")


def double_pendulum(**parameters: float | None) -> kn.System:
    """Two links with mass m at their ends and lengths l; angles from the vertical, the second relative to the first."""
    m, length, g = kn.symbol("m"), kn.symbol("length"), kn.symbol("g")
    bodies = [
        kn.body("upper", [kn.Ry(Q), kn.Sz(-length)], kn.inertia(m)),
        kn.body("lower", [kn.Ry(R), kn.Sz(-length)], kn.inertia(m), base="upper"),
    ]
    values = {"m": 1.2, "length": 0.8, "g": 9.81} | parameters
    return kn.System("double", bodies, gravity=(0, 0, -g), coordinates=["q", "r"], parameters=values)


def mass_and_bias(q: Any, v: Any, m: Any, length: Any, g: Any) -> tuple[np.ndarray, np.ndarray]:
    """The equations of the textbook, for arrays with any leading axes."""
    q, v, m, length, g = (np.asarray(x, dtype=float) for x in (q, v, m, length, g))
    c, s, J = np.cos(q[..., 1]), np.sin(q[..., 1]), m * length**2
    M = np.stack([J * (3 + 2 * c), J * (1 + c), J * (1 + c), J + 0 * c], axis=-1)
    u, w = v[..., 0], v[..., 1]
    lower = m * g * length * np.sin(q[..., 0] + q[..., 1])
    upper = 2 * m * g * length * np.sin(q[..., 0]) + lower
    bias = np.stack([upper - J * s * (2 * u * w + w**2), lower + J * s * u**2], axis=-1)
    return M.reshape(*M.shape[:-1], 2, 2), bias


def close(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


EQUATIONS = kn.derive(double_pendulum())
OPEN = kn.derive(double_pendulum(m=None, length=None))
RNG = np.random.default_rng(1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lead", [(), (1,), (5,), (2, 3)])
def test_functions_agree_with_the_textbook_for_any_leading_axes(backend: str, lead: tuple[int, ...]) -> None:
    q, v, vdot = (RNG.uniform(-2, 2, (*lead, 2)) for _ in range(3))
    M, bias = mass_and_bias(q, v, 1.2, 0.8, 9.81)
    tau = np.einsum("...ij,...j->...i", M, vdot) + bias
    f = {n: EQUATIONS.function(n, backend) for n in ("mass_matrix", "bias", "mass_and_bias", "inverse", "forward")}
    close(f["mass_matrix"](0, q, v), M)
    close(f["bias"](0, q, v), bias)
    both = f["mass_and_bias"](0, q, v)
    assert both._fields == ("mass_matrix", "bias")
    close(both.mass_matrix, M)
    close(both.bias, bias)
    close(f["inverse"](0, q, v, vdot), tau)
    close(f["forward"](0, q, v, tau), vdot)
    close(f["forward"](0, q, v, tau=0.0), np.linalg.solve(M, -bias[..., None])[..., 0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_argument_broadcasts(backend: str) -> None:
    q, v = RNG.uniform(-1, 1, (4, 1, 2)), RNG.uniform(-1, 1, (3, 2))
    m, length = RNG.uniform(1, 2, 3), RNG.uniform(1, 2, (5, 4, 3))
    M, bias = mass_and_bias(q, v, m, length, 9.81)
    p = {"m": m, "length": length}
    expected = np.linalg.solve(np.broadcast_to(M, (5, 4, 3, 2, 2)), (1 - bias)[..., None])[..., 0]
    f = EQUATIONS.function("forward", backend)
    close(f(np.zeros(3), q, v, 1.0, p), expected)
    close(f(0.0, q, v, p=p, tau=np.ones(2)), expected)
    close(f(0.0, q, v, np.ones((5, 1, 1, 2)), parameter_values(EQUATIONS.system, p)), expected)
    assert f(0.0, np.zeros((0, 2)), [0, 0]).shape == (0, 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_parameters_by_model_by_name_by_array(backend: str) -> None:
    f = EQUATIONS.function("bias", backend)
    state = (0.0, [0.3, -0.5], [1.0, 2.0])
    close(f(*state), mass_and_bias(*state[1:], 1.2, 0.8, 9.81)[1])
    close(f(*state, p={"m": 3}), mass_and_bias(*state[1:], 3, 0.8, 9.81)[1])
    close(f(*state, [3, 0.5, 2]), mass_and_bias(*state[1:], 3, 0.5, 2)[1])
    close(f(*state, p={}), f(*state))  # what was given before is not remembered
    for lead in ((), (1,), (2,), (1, 2), (2, 1), ()):
        assert f(*state, p=np.broadcast_to([1.2, 0.8, 9.81], (*lead, 3))).shape == (*lead, 2)
    close(OPEN.function("bias", backend)(*state, {"length": 0.8, "m": 1.2}), f(*state))


#: Quantities that a double pendulum lacks: outputs, parameters when fixed, ignorable coordinates.
WITHOUT_ENTRIES = ("outputs", "forward_by_p", "routhian", "effective_potential")


@pytest.mark.slow
def test_fixed_parameters_are_numbers_of_the_equations() -> None:
    system = double_pendulum()
    assert system.fixed().parameter_names == ()
    assert system.fixed(["g"]).parameter_names == ("m", "length")
    state = (0.0, [0.3, -0.5], [1.0, 2.0])
    for quantity in EQUATIONS.quantities:
        if "vdot" not in row_of(quantity).inputs and quantity not in WITHOUT_ENTRIES:
            fixed, free = (kn.derive(s).function(quantity) for s in (system.fixed(), system))
            one, other = fixed(*state), free(*state)
            for a, b in zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]:
                close(a, b)
            assert fixed.setup.n_outputs == 0
    part = kn.derive(system.fixed(["g"]))
    close(part.function("bias")(*state, p={"m": 2}), EQUATIONS.function("bias")(*state, p={"m": 2}))
    hoisted = [kn.derive(s).operations("inverse").hoisted for s in (system.fixed(), system.fixed(["m"]), system)]
    assert hoisted == sorted(hoisted)
    assert (hoisted[0], hoisted[-1] > 0) == (0, True)


def test_equations_name_their_quantities_and_derive_each_once() -> None:
    assert EQUATIONS.expressions("forward") is EQUATIONS.expressions("forward")
    assert EQUATIONS.programs("forward") is EQUATIONS.programs("forward")
    assert {n: EQUATIONS.expressions(n).shape for n in ("kinetic_energy", "bias", "mass_matrix", "jacobian")} == {
        "kinetic_energy": (),
        "bias": (2,),
        "mass_matrix": (2, 2),
        "jacobian": (2, 6, 2),
    }
    assert repr(EQUATIONS.function("forward")) == "<forward(t, q, v, tau, p) of 'double', llvm>"
    assert repr(EQUATIONS.function("inverse", "numpy")) == "<inverse(t, q, v, vdot, p) of 'double', numpy>"
    assert EQUATIONS.function("forward") is EQUATIONS.function("forward", "llvm")
    assert repr(EQUATIONS) == "<Equations of 'double' by newton_euler: 2 bodies, 2 coordinates, 2 speeds>"


def test_a_notebook_shows_the_first_formulas_or_how_to_get_them() -> None:
    assert EQUATIONS._repr_latex_() == f"$$\n{EQUATIONS.latex()}\n$$"
    assert EQUATIONS._repr_html_() is None
    shown = kn.derive(kn.load(EXAMPLES / "puma560.kin"))._repr_latex_()
    assert shown is not None
    assert re.search(r"\\text\{and \d\d more lines: equations\.latex\(\)\}\n\\end\{aligned\}\n\$\$$", shown)
    links = [kn.body(f"B{i}", [kn.Rz(kn.symbol(f"q{i}"))], kn.inertia(1, (1, 1, 1))) for i in range(60)]
    large = kn.derive(kn.System("L", links))
    assert large._repr_latex_() is None
    assert (
        large._repr_html_() == f"<p>{html.escape(repr(large))}: <code>equations.text('inverse')</code> writes them</p>"
    )


@pytest.mark.filterwarnings("ignore:.* redundant and left out")  # as Bricard's mechanism has one
@pytest.mark.parametrize("model", examples(without=PILES, of=4))
def test_backends_agree_on_every_example(model: str) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{model}.kin"))
    s = equations.system
    q, v = RNG.uniform(-1, 1, (3, s.nq)), RNG.uniform(-1, 1, (3, s.nv))
    for quantity in ("energy", "forward", "outputs"):  # accelerations have mass matrix and bias in them
        one, other = (equations.function(quantity, backend) for backend in ("llvm", "numpy"))
        np.testing.assert_allclose(one(0.2, q, v), other(0.2, q, v), rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(one(0.2, q[0], v[0]), one(0.2, q, v)[0], rtol=1e-10, atol=1e-11)


ZEROS = ([0, 0], [0, 0])
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "formalism": (
        lambda: kn.derive(double_pendulum(), "newton_eular"),
        "Expected a formalism (newton_euler, ...), found 'newton_eular'. Did you mean 'newton_euler'?",
    ),
    "quantity": (
        lambda: EQUATIONS.function("foward"),
        "Expected a quantity, found 'foward'. Did you mean 'forward'?",
    ),
    "quantity, to count": (
        lambda: EQUATIONS.operations("masses_matrix"),
        "Expected a quantity, found 'masses_matrix'. Did you mean 'mass_matrix'?",
    ),
    "backend": (
        lambda: EQUATIONS.function("forward", "numpi"),
        "Expected a backend (llvm, numpy, cuda), found 'numpi'. Did you mean 'numpy'?",
    ),
    "q": (
        lambda: EQUATIONS.function("bias")(0, [0, 0, 0], [0, 0]),
        "Expected q of shape (2,) or (..., 2) for (q, r), found shape (3,).",
    ),
    "q, a number": (
        lambda: EQUATIONS.function("bias")(0, 0.0, [0, 0]),
        "Expected q of shape (2,) or (..., 2) for (q, r), found shape ().",
    ),
    "v": (
        lambda: EQUATIONS.function("bias")(0, [0, 0], np.zeros((2, 1))),
        "Expected v of shape (2,) or (..., 2) for (q', r'), found shape (2, 1).",
    ),
    "tau": (
        lambda: EQUATIONS.function("forward")(0, *ZEROS, [1, 2, 3]),
        "Expected tau of shape (2,) or (..., 2) for (q', r'), found shape (3,).",
    ),
    "vdot": (
        lambda: EQUATIONS.function("inverse")(0, *ZEROS, 0.0),
        "Expected vdot of shape (2,) or (..., 2) for (q', r'), found shape ().",
    ),
    "vdot, missing": (
        lambda: EQUATIONS.function("inverse")(0, *ZEROS),
        "Expected arguments as in <inverse(t, q, v, vdot, p) of 'double', llvm>, found no vdot.",
    ),
    "argument of another quantity": (
        lambda: EQUATIONS.function("inverse")(0, *ZEROS, vdot=[0, 0], tau=[0, 0]),
        "Expected arguments as in <inverse(t, q, v, vdot, p) of 'double', llvm>, found 'tau'.",
    ),
    "one argument too many": (
        lambda: EQUATIONS.function("bias")(0, *ZEROS, None, 1),
        "Expected arguments as in <bias(t, q, v, p) of 'double', llvm>, found 5 arguments.",
    ),
    "p twice": (
        lambda: EQUATIONS.function("bias")(0, *ZEROS, [1, 1, 1], p=[1, 1, 1]),
        "Expected arguments as in <bias(t, q, v, p) of 'double', llvm>, found 'p' twice.",
    ),
    "leading axes": (
        lambda: EQUATIONS.function("forward")(np.zeros(3), np.zeros((2, 2)), np.zeros((4, 2, 2))),
        "Expected leading axes that agree, found t (3,), q (2,), v (4, 2), tau (), h ().",
    ),
    "p, shape": (
        lambda: EQUATIONS.function("bias")(0, *ZEROS, [1, 2]),
        "Expected p of shape (3,) for (m, length, g), found shape (2,).",
    ),
    "p, a number": (
        lambda: EQUATIONS.function("bias")(0, *ZEROS, 1.0),
        "Expected p of shape (3,) for (m, length, g), found shape ().",
    ),
    "p, unknown name": (
        lambda: EQUATIONS.function("bias")(0, *ZEROS, p={"lenght": 1}),
        "Model 'double': 'lenght' is not a parameter. Did you mean 'length'?",
    ),
    "p, fixed": (
        lambda: kn.derive(double_pendulum().fixed(["g"])).function("bias")(0, *ZEROS, p={"g": 1}),
        "Model 'double': 'g' is a constant, a number in the equations; one that is to vary is a parameter.",
    ),
    "p, fixed, of a function without parameters": (
        lambda: kn.derive(double_pendulum().fixed()).function("bias")(0, *ZEROS, p={"g": 1}),
        "Model 'double': 'g' is a constant, a number in the equations; one that is to vary is a parameter.",
    ),
    "p, shape, of a function without parameters": (
        lambda: EQUATIONS.function("qdot")(0, *ZEROS, [1, 2]),
        "Expected p of shape (3,) for (m, length, g), found shape (2,).",
    ),
    "p, shapes of its values": (
        lambda: EQUATIONS.function("bias")(0, *ZEROS, {"m": [1, 2], "g": [1, 2, 3]}),
        "Expected values of parameters whose shapes agree, found m (2,), g (3,).",
    ),
    "p, no number": (
        lambda: EQUATIONS.function("bias")(0, *ZEROS, {"m": "heavy"}),
        "Expected numbers for the parameter m, found 'heavy'.",
    ),
    "q, no numbers": (
        lambda: EQUATIONS.function("bias")(0, ["a", 0], [0, 0]),
        "Expected numbers for q, found ['a', 0].",
    ),
    "tau twice": (
        lambda: EQUATIONS.function("forward")(0, *ZEROS, [1, 1], tau=[1, 1]),
        "Expected arguments as in <forward(t, q, v, tau, p) of 'double', llvm>, found 'tau' twice.",
    ),
    "p, one without a value": (
        lambda: OPEN.function("bias")(0, *ZEROS, p={"m": 1}),
        "Model 'double': the parameter length needs a value: give p={'length': ...} or a value in the model.",
    ),
    "p, two without a value": (
        lambda: OPEN.function("bias")(0, *ZEROS),
        "Model 'double': the parameters m, length need a value: give p={'m': ...} or a value in the model.",
    ),
    "fixed, unknown name": (
        lambda: double_pendulum().fixed(["lengths"]),
        "Model 'double' has no parameter 'lengths'. Did you mean 'length'?",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_are_named(what: str) -> None:
    call, message = WRONG[what]
    with pytest.raises(ArgumentError) as error:
        call()
    assert re.fullmatch(re.escape(message).replace(re.escape("..."), r".+"), str(error.value)), str(error.value)
    assert isinstance(error.value, ValueError)


def test_a_speed_that_moves_nothing_is_named() -> None:
    bodies: Mapping[str, Any] = {"bodies": [kn.body("shaft", [kn.Rz(Q)], kn.inertia(1.0))]}
    with pytest.raises(kn.ModelError) as error:
        kn.derive(kn.System("wheel", **bodies)).function("forward")
    assert str(error.value) == (
        "Model 'wheel': the speed 'q'' moves nothing that has inertia, so the mass matrix is singular. "
        "Give a body that it moves a mass or a moment of inertia."
    )


def test_rows_of_parameters_are_compiled_and_agree_with_one_at_a_time() -> None:
    f = EQUATIONS.function("forward")
    rows = RNG.uniform(0.5, 2.0, (5, 3))
    q, v = RNG.uniform(-1, 1, (5, 2)), RNG.uniform(-1, 1, (5, 2))
    close(f(0.0, q, v, 0.0, rows), np.stack([f(0.0, *state, 0.0, p) for *state, p in zip(q, v, rows, strict=True)]))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lead", [(3,), (2, 0)])
def test_blocks_without_entries_have_rows_too(backend: str, lead: tuple[int, ...]) -> None:
    """Rows of parameters of which nothing is hoisted, and rows of states of a system that cannot move."""
    cart = kn.System("cart", [kn.body("a", [kn.Sx(Q)], kn.inertia(2.0))], parameters={"unused": 1.0})
    q = v = np.ones((*lead, 1))
    close(kn.derive(cart).function("forward", backend)(0.0, q, v, 6.0, np.ones((*lead, 1))), np.full((*lead, 1), 3.0))
    fixed = kn.System("clock", [kn.body("hand", [kn.Rz(kn.symbol("t"))], kn.inertia(1.0, (1, 1, 1)))])
    energy = kn.derive(fixed).function("kinetic_energy", backend)
    close(energy(0.0, np.ones((*lead, 0)), np.ones((*lead, 0))), np.full(lead, 0.5))


def test_equations_and_functions_are_sent_between_processes() -> None:
    again = pickle.loads(pickle.dumps(EQUATIONS))
    f, g = EQUATIONS.function("bias"), pickle.loads(pickle.dumps(EQUATIONS.function("bias")))
    assert again.system == EQUATIONS.system
    assert {EQUATIONS: 1}[EQUATIONS] == 1
    close(f(0.0, [0.1, 0.2], [1, 2]), g(0.0, [0.1, 0.2], [1, 2]))


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(kn.ArgumentError, match=re.escape("Expected real numbers for q, found complex ones.")):
        EQUATIONS.function("bias")(0.0, np.array([1j, 0]), [0, 0])


def test_explain_counts_after_every_pass() -> None:
    counts = EQUATIONS.explain("forward")
    assert list(counts) == ["derived", "distribute", "factor", "gather", "share", "factor again", "gather again"]
    totals = [n.total for n in counts.values()]
    assert totals == sorted(totals, reverse=True)
    assert counts["gather again"] == EQUATIONS.operations("forward")


def test_results_of_several_parts_are_sent_between_processes() -> None:
    found = EQUATIONS.function("mass_and_bias")(0.0, [0.1, 0.2], [1, 2])
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found)
    close(again.mass_matrix, found.mass_matrix)


def test_what_is_kept_is_not_given_out_to_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        EQUATIONS.function("bias").hoisted()[:] = 0


@pytest.mark.slow
def test_a_constrained_system_is_printed_whole() -> None:
    coin = kn.derive(kn.load(EXAMPLES / "rolling_coin.kin"))
    lines = coin.text().splitlines()
    assert lines[0] == "tau[x'] = m*x'' - lambda.edge.u"
    assert [line.split(" = ")[0] for line in lines[-3:]] == ["0", "0", "0"]
    assert "0 = z - r*abs(sin(theta))" in lines
    assert coin.text("inverse").splitlines()[0] == "tau[x'] = m*x''"
    assert r"0 &= z - r\,\left|\sin \theta\right|" in coin.latex()
    pendulum = kn.derive(kn.load(EXAMPLES / "simple_pendulum.kin")).matrix_form().text()
    assert pendulum.splitlines()[-1] == "0 = x^2 + y^2 - l^2"
