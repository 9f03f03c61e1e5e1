"""Words that a user brings from elsewhere: wrong arguments of public functions, and names of other tools."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.tables import LEAST
from kineta.cli.main import app
from kineta.errors import ArgumentError
from kineta.expr.op import FUNCTIONS
from kineta.integration.solver import METHODS
from kineta.mechanics.formalisms.table import FORMALISMS
from kineta.mechanics.quantities import QUANTITIES
from kineta.vocabulary import _ROWS, meaning
from tests.support import EXAMPLES

SYSTEM = kn.loads("parameters m = 1; coordinates q; B | Rz(q), Sx(1) = m; gravity (0, -9.81, 0);")
EQUATIONS = kn.derive(SYSTEM)
RUN = kn.simulate(SYSTEM, 0.1)


def functions() -> list[tuple[str, Callable[..., Any]]]:
    """Public functions, constructors and methods, by name."""
    found: list[tuple[str, Callable[..., Any]]] = []
    for name in kn.__all__:
        value = getattr(kn, name)
        if isinstance(value, FunctionType) or (
            isinstance(value, type) and not issubclass(value, Exception) and "__init__" in vars(value)
        ):
            found.append((name, value))
    for one in (
        SYSTEM,
        EQUATIONS,
        RUN,
        EQUATIONS.function("bias"),
        kn.Rz(1.0),
        kn.symbol("q"),
        kn.modes(SYSTEM, {"q": -np.pi / 2}),
    ):
        methods = {n: getattr(one, n, None) for n in vars(type(one)) if not n.startswith("_")}
        found += [(f"{type(one).__name__}.{n}", m) for n, m in methods.items() if inspect.ismethod(m)]
    return found


@pytest.mark.parametrize(("name", "function"), functions(), ids=lambda x: x if isinstance(x, str) else "")
def test_every_public_function_names_an_unknown_argument(name: str, function: Callable[..., Any]) -> None:
    taken = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in taken):
        return
    with pytest.raises(ArgumentError, match=rf"^{re.escape(name)} takes no argument 'qqq'\."):
        function(qqq=1)
    needed = [p for p in taken if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if needed:
        with pytest.raises(
            ArgumentError, match=rf"^{re.escape(name)} needs the arguments? '{needed[0].name}'.*, found no '"
        ):
            function()
    if not any(p.kind is p.VAR_POSITIONAL for p in taken):
        with pytest.raises(ArgumentError, match=rf"^{re.escape(name)} takes .* by place.*, found {len(taken) + 1}"):
            function(*range(len(taken) + 1))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: kn.simulate(SYSTEM, 1.0, q0=[0.0]), "simulate takes no argument 'q0'. Did you mean 'q'?"),
        (lambda: kn.simulate(SYSTEM, 1.0, x0=[0.0]), "simulate takes no argument 'x0'. Did you mean 'q'?"),
        (lambda: kn.simulate(SYSTEM, t_span=(0, 1)), "simulate takes no argument 't_span'. Did you mean 't'?"),
        (lambda: kn.simulate(SYSTEM, 1.0, dt=0.1), "Did you mean 'samples' (of the record; rtol and atol choose the steps"),
        (lambda: kn.simulate(SYSTEM, 1.0, torque=0.1), "simulate takes no argument 'torque'. Did you mean 'tau'?"),
        (lambda: kn.simulate(SYSTEM, 1.0, solver="x"), "simulate takes no argument 'solver'. Did you mean 'method'?"),
        (lambda: kn.simulate(SYSTEM, 1.0, params={}), "simulate takes no argument 'params'. Did you mean 'p'?"),
        (lambda: kn.fit(SYSTEM, {"q": [0.0, 1.0]}, params=["m"]), "fit takes no argument 'params'. Did you mean 'by'?"),
        (lambda: kn.fit(SYSTEM, {"q": [0.0, 1.0]}, ["m"], params={}), "fit takes no argument 'params'. Did you mean 'p'?"),
        (lambda: kn.kinematics(SYSTEM, {"q": 1}, t_eval=[0]), "kinematics takes no argument 't_eval'. Did you mean 't'?"),
        (lambda: kn.objective(SYSTEM, 1.0, ["m"], running=1), "objective takes no argument 'running'. Did you mean 'integral'?"),
        (lambda: kn.linearize(SYSTEM, q=[0.0]), "linearize takes no argument 'q'. Did you mean 'about'?"),
        (lambda: kn.control(on="q'"), "control takes no argument 'on'. Did you mean 'actuators'?"),
        (lambda: kn.program("p", 1, 2), "program takes 2 arguments by place (name, value), found 3."),
        (lambda: kn.simulate(SYSTEM), "simulate needs the arguments 'system' and 't', found no 't'."),
        (lambda: kn.simulate(SYSTEM, 1.0, system=SYSTEM), "takes every argument once, found 'system' by place and by name."),
        (lambda: EQUATIONS.function(quanity="bias"), "Equations.function takes no argument 'quanity'. Did you mean 'quantity'?"),
        (lambda: kn.symbol("x").subs(), "Expr.subs needs the argument 'old', found no 'old'."),
        (lambda: kn.symbol("x").diff(), "Expr.diff needs the argument 'x', found no 'x'."),
        (lambda: kn.body("B", parent="A"), "body takes no argument 'parent'. Did you mean 'base'?"),
    ],
)  # fmt: skip
def test_arguments_that_other_tools_take(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert sentence in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_expressions_are_shown_as_texts_and_not_as_numbers() -> None:
    x = kn.symbol("x")
    assert f"{x + 1:>8}|{(x - x) + 2.5:.3f}" == "   1 + x|2.500"
    with pytest.raises(kn.ExpressionError, match=r"The format '\.3f' is one of numbers, found the expression 'x'; put"):
        f"{x:.3f}"


@pytest.mark.parametrize("found", [lambda: 3, lambda t: {}["a"], lambda t: 3])
def test_errors_in_a_function_of_the_user_are_one_sentence(found: Callable[..., Any]) -> None:
    with pytest.raises(ArgumentError, match=r"which extremes are sought raised (Type|Key)Error: |found 3\.") as caught:
        kn.extremes(found, [0.0, 1.0])
    assert caught.value.__cause__ is None


def test_an_error_of_kineta_in_a_function_of_the_user_passes_unchanged() -> None:
    system = kn.loads("A | Rz(a) = 1; B ~ A | Sx(1), Rz(b), Sx(1) = 1; constraint c : B.x^2 + B.y^2 = 1;")
    with pytest.raises(kn.SimulationError, match=r"^Model 'text': no motion of this kind meets"):
        kn.extremes(lambda t: kn.inverse(system, {"a": t, "b": t}, t=t), [0.0, 1.0])


def test_a_run_has_extremes() -> None:
    run = kn.simulate(SYSTEM, 0.1, dense_output=True)
    assert kn.extremes(run.at, run.sol.steps)["q"] == kn.extremes(lambda t: run.at(t).series, run.sol.steps)["q"]


def test_errors_further_in_stay_what_they_are() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        kn.sin(kn.symbol("q")) + {}  # type: ignore[operator]


def test_public_functions_keep_their_names_and_signatures() -> None:
    assert kn.simulate.__name__ == "simulate"
    assert list(inspect.signature(kn.simulate).parameters)[:2] == ["system", "t"]
    assert pickle.loads(pickle.dumps(kn.simulate)) is kn.simulate
    assert pickle.loads(pickle.dumps(kn.Rz(1.0))) == kn.Rz(1.0)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("gravity", "Did you mean 'inverse' (at rest: v = 0, vdot = 0)?"),
        ("rnea", "Did you mean 'inverse'?"),
        ("mj_inverse", "Did you mean 'inverse'?"),
        ("InverseDynamics", "Did you mean 'inverse'?"),
        ("aba", "Did you mean 'forward'?"),
        ("mj_forward", "Did you mean 'forward'?"),
        ("crba", "Did you mean 'mass_matrix'?"),
        ("CalcMassMatrix", "Did you mean 'mass_matrix'?"),
        ("M", "Did you mean 'mass_matrix'?"),
        ("coriolis", "Did you mean 'bias' (less its value at v = 0)?"),
        ("nonLinearEffects", "Did you mean 'bias'?"),
        ("qfrc_bias", "Did you mean 'bias'?"),
        ("forcing", "Did you mean 'bias' (with the other sign)?"),
        ("Jacobian", "Did you mean 'jacobian'?"),
        ("L", "Did you mean 'lagrangian'?"),
        ("gibbs", "Did you mean 'appell_function'?"),
        ("appell_function", "The quantity appell_function needs formalism='appell'."),
        ("gauss_constraint", "The quantity gauss_constraint needs formalism='gauss'."),
    ],
)
def test_quantities_of_other_tools(word: str, sentence: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        EQUATIONS.function(word)


@pytest.mark.parametrize(
    ("formalism", "sentence"), [("KanesMethod", "'kane'"), ("rnea", "'newton_euler'"), ("gibbs_appell", "'appell'")]
)
def test_formalisms_of_other_tools(formalism: str, sentence: str) -> None:
    with pytest.raises(ArgumentError, match=f"Did you mean {sentence}"):
        kn.derive(SYSTEM, formalism)


@pytest.mark.parametrize(
    ("name", "near"), [("solve_ivp", "simulate"), ("arctan2", "atan2"), ("max", "maximum"), ("KanesMethod", "derive")]
)
def test_public_names_of_other_tools(name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'. Did you mean '{near}'"):
        getattr(kn, name)


def test_the_vocabulary_names_what_there_is() -> None:
    arguments = {n for _, f in functions() for n in inspect.signature(f).parameters}
    known = {
        *QUANTITIES,
        *FORMALISMS,
        "multipliers",
        *METHODS,
        *arguments,
        *FUNCTIONS,
        *kn.__all__,
        *app.commands,
        *LEAST,
        "if",
        "q'",
    }
    for words, name, _ in _ROWS:
        assert name in known, name
        for word in words.split():
            found = meaning(word, [name])
            assert word == name or (found is not None and found[0] == name)


def test_quantities_of_one_formalism_are_those_of_its_rules() -> None:
    for name, method in FORMALISMS.items():
        if not method.applies(SYSTEM):
            own = kn.derive(SYSTEM, name).quantities
            assert {q for q, row in QUANTITIES.items() if row.formalism in ("", name)} == set(own) & set(QUANTITIES)


def test_parameters_are_records_and_values_by_name() -> None:
    system = kn.loads("parameters m = 2, k; coordinates x; B | Sx(x) = m; spring s = k on x;")
    assert {**system.parameters, "k": 0.9} == {"m": 2.0, "k": 0.9}
    assert dict(system.parameters) == {"m": 2.0, "k": None}
    assert system.parameters["m"] == 2.0
    assert [p.name for p in system.parameters] == ["m", "k"]
    assert system.parameters[0] == kn.Parameter("m", 2.0)
    assert system.replace(parameters={**system.parameters, "k": 3.0}).parameters["k"] == 3.0
    assert system.replace(parameters=system.parameters) == system
    with pytest.raises(ArgumentError, match=r"There is no parameter 'mm'. Did you mean 'm'\?"):
        system.parameters["mm"]
    with pytest.raises(ArgumentError, match=r"'q3' is not a parameter\. There are m, k\."):
        kn.simulate(system, 1.0, p={"q3": 1})


def test_what_has_values_by_name_is_a_mapping_too() -> None:
    system = kn.loads("A | Sx(x) = 1; initial x = 1; let s = x^2; output o = 2*s;")
    x = kn.symbol("x")
    assert {**system.initial, "x'": 2} == {"x": kn.symbol("x") * 0 + 1, "x'": 2}
    assert {**system.lets} == {"s": x**2}
    assert {**system.outputs}.keys() == {"o"}
    assert dict(system.initial) == dict(tuple(system.initial)) == {**system.initial}
    assert system.replace(initial={**system.initial, "x'": 2}).initial["x'"].value == 2
    assert system.replace(outputs={**system.outputs, "e": x}).outputs["e"] == x
    assert system.replace(gravity=(0, 0, -1)).initial["x"].value == 1
    with pytest.raises(ArgumentError, match=r"There is no initial value 'y'\. There is x\.$"):
        system.initial["y"]


def test_a_part_of_a_name_is_enough() -> None:
    robot = kn.loads("coordinates elbow_joint; B | Rz(elbow_joint), Sx(1) = 1;")
    with pytest.raises(ArgumentError, match=r"has no speed 'elbow'\. Did you mean 'elbow_joint''\?"):
        kn.simulate(robot, 0.1, tau={"elbow": 1})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: kn.simulate(s, 0.1, tau={"elbow": 1}), "has no speed 'elbow'. There are q1', q2'."),
        (lambda s: kn.simulate(s, 0.1, q={"elbow": 1}), "has no coordinate 'elbow'. There are q1, q2."),
        (lambda s: s.replace(initial={"q3": 1}), "neither a coordinate nor a speed. There are q1, q2, q1', q2'."),
        (lambda s: s.outputs["nope"], "There is no output 'nope'. There are second.x, second.y, second.z, energy."),
        (lambda s: kn.linearize(s, x=1), "linearize takes no argument 'x'. Did you mean 'about'"),
        (lambda s: kn.equilibrium(s, guess=1), "equilibrium takes no argument 'guess'. Did you mean 'q' (and v for"),
    ],
)
def test_unknown_names_are_answered_with_those_that_are_there(
    call: Callable[[kn.System], object], sentence: str
) -> None:
    with pytest.raises(kn.KinetaError) as caught:
        call(kn.load(EXAMPLES / "double_pendulum.kin"))
    assert sentence in str(caught.value)
