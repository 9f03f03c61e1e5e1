"""Parametric directions: the same equations as with numbers, correct derivatives, errors for zero directions."""

from __future__ import annotations

import ctypes
import random
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import Expr
from kineta.expr.graph import Graph
from kineta.model.axis import unit
from kineta.passes.differentiate import gradient
from kineta.passes.evaluate import evaluate
from kineta.spatial.rotation import normal, normals
from kineta.spatial.vector import Vector
from tests.codegen.test_backends import compiled_c
from tests.mechanics.numbers import numbers, same, states
from tests.mechanics.random_loops import chain
from tests.mechanics.random_systems import random_system
from tests.support import reads_back, slow

FORMALISMS = ("newton_euler", "dalembert", "lagrange", "appell", "kane", "gauss", "wittenburg")


def directed(system: kn.System, seed: int) -> kn.System:
    """*system* with parameters for its directions, of any length: of coordinate axes half of the zeros stay numbers."""
    rng, values = random.Random(seed), dict[str, float]()

    def component(x: float, length: float) -> Expr | float:
        if not x and rng.random() < 0.5:
            return 0.0
        name = f"d{len(values)}"
        values[name] = x * length
        return kn.symbol(name)

    def changed(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(changed, value))
        if not is_dataclass(value) or isinstance(value, type):
            return value
        found = {}
        for f in fields(value):
            own = getattr(value, f.name)
            if f.type in ("Axis", "Axis | None") and own is not None:
                length = rng.uniform(0.3, 3)
                found[f.name] = tuple(component(x, length) for x in own)
            else:
                found[f.name] = changed(own)
        return replace(value, **found)

    bodies, constraints, contacts = (changed(x) for x in (system.bodies, system.constraints, system.contacts))
    parameters = [*system.parameters, *(kn.Parameter(n, x) for n, x in values.items())]
    return system.replace(
        coordinates=system.coordinates, bodies=bodies, constraints=constraints, contacts=contacts, parameters=parameters
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_directions_of_parameters_are_those_of_numbers(seed: int) -> None:
    plain = random_system(seed, elements=True, rheonomic=seed % 2 == 1, n=2)
    system = directed(plain, seed)
    assert system.directions
    reads_back(system)
    at = states(plain, seed)
    expected = numbers(plain, at)
    for formalism in FORMALISMS[:: 1 if seed == 0 else 3]:
        same(numbers(system, at, formalism=formalism), expected, 1e-10)
    same(numbers(system.fixed(), at), expected, 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 20, 3))
def test_directions_of_parameters_are_those_of_numbers_in_every_formalism(seed: int) -> None:
    """One formalism has a turn beside Newton's and Euler's equations."""
    plain = random_system(seed, elements=True, rheonomic=seed % 2 == 1)
    system = directed(plain, seed)
    at = states(plain, seed)
    expected = numbers(plain, at)
    for formalism in (FORMALISMS[0], FORMALISMS[seed // 3]):
        same(numbers(system, at, formalism=formalism), expected, 1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("seed", range(4))
def test_loops_along_directions_of_parameters_are_those_along_numbers(seed: int) -> None:
    plain = chain(seed, seed % 4)
    system = directed(plain, seed)
    at = states(plain, seed)
    same(numbers(system, at), numbers(plain, at), 1e-8)
    same(numbers(system.fixed(), at), numbers(plain, at), 1e-10)


@pytest.mark.parametrize(
    "text",
    [
        "A | R[sin(a), 0.2, cos(a)](q), Sx(0.5) = 1, 0.1, 0.2, 0.15;",
        "A | S[sin(a), 0.2, cos(a)](q), Sx(0.5) = 1, 0.1, 0.2, 0.15;",
        "A | Sz(q + 1) = 1; contact ramp : point between A and ground axis (sin(a), 0, cos(a));",
    ],
)
def test_directions_of_constants_alone_need_no_parameters(text: str) -> None:
    text = f"coordinates q; gravity 9.81; {text}"
    system = kn.loads("constants a = 0.3;" + text)
    assert not [x for x in system.parameters if not x.fixed]
    ends = [kn.simulate(x, 0.1, rtol=1e-12).q[-1] for x in (system, kn.loads("parameters a = 0.3;" + text))]
    assert ends[0] == pytest.approx(ends[1], rel=1e-11)


@pytest.mark.parametrize("seed", slow([0, 1, 2]))
def test_the_certificate_holds_for_directions_of_parameters(seed: int) -> None:
    system = directed(random_system(seed, n=2), seed)
    found = kn.verify(system, states=4, digits=30 if seed == 0 else 0)
    assert found.holds, found.sentence


def test_exported_code_has_directions_as_parameters(tmp_path: Path) -> None:
    system = directed(random_system(1, n=2), 1)
    equations = kn.derive(system)
    setup, main = equations.programs("forward")
    library = compiled_c([setup, main], tmp_path)
    ((t, q, v),) = states(system, 1, 1)
    p = np.array([x.value for x in system.parameters if not x.fixed])
    for values in (p, p * np.linspace(0.9, 1.1, len(p))):
        h, out, tau = np.empty(setup.n_outputs), np.empty(system.nv), np.zeros(system.nv)
        _called(library, f"model_{setup.name}", values, h)
        _called(library, f"model_{main.name}", np.array([t]), q, v, tau, h, out)
        expected = equations.function("forward")(t, q, v, p=values)
        np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def _called(library: ctypes.CDLL, name: str, *blocks: np.ndarray) -> None:
    getattr(library, name)(*(ctypes.c_void_p(b.ctypes.data) for b in blocks))


def test_directions_of_parameters_cost_what_turns_by_parameters_do() -> None:
    """Lengths cost nothing: expressions of parameters alone are hoisted out of every step."""
    text = """parameters a = 0.4, b = 2, c = 1; A | {} = 1, 0.01, 0.02, 0.03, com = (0.1, 0.2, 0.3); gravity 9.81;
    B ~ A | Sx(0.3), S[1, b, 0](q2) = 1, 0.1, 0.2, 0.25;"""
    turned, leaning, whole = (
        kn.derive(kn.loads(text.format(motions)))
        for motions in ("Rx(a), Rz(q1), Rx(-a)", "R[0, -a, c](q1)", "R[b, -a, c](q1)")
    )
    for quantity in ("inverse", "forward", "mass_matrix"):
        one, other, third = (e.operations(quantity) for e in (turned, leaning, whole))
        assert other.total <= one.total
        assert other.sqrt == third.sqrt == one.sqrt
        work, bound = (n.total + 3 * n.div for n in (third, one))  # a quotient counts as four, as for the passes
        assert work <= 1.5 * bound


# -- normals --------------------------------------------------------------------------------------------------------

DIRECTIONS = [
    *(
        (s * x, s * y, s * z)
        for s in (1.0, -1.0)
        for x, y, z in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 3, 4))
    ),
    *((1, 0, -1), (1, 2, 3), (-3, 1, -0.2), (1e-5, 0, 1), (1e-4, -2e-4, -1), (0.1, 0.2, 1e-7)),
]


@pytest.mark.parametrize("axis", DIRECTIONS)
def test_normals_of_symbols_are_those_of_numbers_and_stay_normal(axis: tuple[float, float, float]) -> None:
    """Their derivatives along a path of unit vectors keep them normal to it, of length one, right-handed."""
    g = Graph()
    fixed = Vector(g, *map(g.const, unit(axis)))
    e = Vector(g, *(g.symbol(c) for c in "xyz"))
    values = dict(zip("xyz", unit(axis), strict=True))
    u, w = normals(e)
    for found, numeric in zip((u, w), normals(fixed), strict=True):
        np.testing.assert_allclose(evaluate(g, found.refs, values), evaluate(g, numeric.refs, {}), rtol=0, atol=2e-15)
    way = np.cross(unit(axis), (0.3, -0.5, 0.7))  # of e, which stays a unit vector
    for first in (u, w, normal(e, 0), normal(e, 1), normal(e, 2)):
        rate = [
            sum(x * evaluate(g, [partials.get(c, 0)], values)[0] for x, c in zip(way, e.refs, strict=True))
            for partials in (gradient(g, r, e.refs) for r in first.refs)
        ]
        own = np.array(evaluate(g, first.refs, values))
        assert own @ own == pytest.approx(1, abs=1e-14)
        assert own @ unit(axis) == pytest.approx(0, abs=1e-14)
        assert own @ rate == pytest.approx(0, abs=1e-13)
        assert rate @ np.array(unit(axis)) == pytest.approx(-own @ way, abs=1e-12)


# -- derivatives ----------------------------------------------------------------------------------------------------

SLOPE = """gravity 9.81; parameters slope = {}, tilt = 0.2;
Block | Sx(x), Sz(z), Ry(q) = 1, 0.02, 0.02, 0.02; point Foot on Block = (0.1, 0, -0.1);
loop way : plane between ground axis (-sin(slope), 0, cos(slope)) and Foot;
spring s = 40, 0.3 on x; damper d = 1 on q';
Arm ~ Block | R[tilt, 1, 0](a), Sx(0.2) = 0.5;
initial z = 0.1, x = -0.1, a = 0.2; output Arm.position;
"""


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_sensitivities_to_directions_are_differences_of_runs(slope: float) -> None:
    """On the level too, where the normal is a coordinate axis."""
    system, h = kn.loads(SLOPE.format(slope)), 1e-4
    found = kn.sensitivity(system, 0.3, by=["slope", "tilt"], samples=4, rtol=1e-11, atol=1e-12)
    for k, name in enumerate(found.by):
        value = next(p.value for p in system.parameters if p.name == name)
        ends = [
            kn.simulate(system, 0.3, p={name: value + s * h}, samples=4, rtol=1e-11, atol=1e-12).y[:, -1]
            for s in (1, -1)
        ]
        wanted = (ends[0] - ends[1]) / (2 * h)
        assert np.abs(wanted).max() > 1e-3
        np.testing.assert_allclose(np.hstack([found.q_by[-1, :, k], found.v_by[-1, :, k]]), wanted, rtol=0, atol=2e-5)


def test_cases_of_an_ensemble_have_their_own_directions() -> None:
    system = kn.loads("gravity 9.81; parameters a = 0.3; A | R[sin(a), 0, cos(a)](q), Sx(0.3) = 1; initial q = 0.5;")
    angles = np.linspace(0.1, 1.2, 5)
    found = kn.simulate(system, 1, p={"a": angles}, samples=3)
    for i, a in enumerate(angles):
        alone = kn.simulate(kn.loads(kn.dumps(system).replace("a = 0.3", f"a = {float(a)!r}")), 1, samples=3)
        np.testing.assert_allclose(found.y[i, :, -1], alone.y[:, -1], rtol=1e-12)


def test_small_motions_about_an_axis_that_leans() -> None:
    """A gate on a hinge that leans by a from the vertical: w^2 = (g/l) sin(a)."""
    text = "gravity 9.81; parameters a = 0.3, l = 0.5; "
    system = kn.loads(f"{text} Gate | R[sin(a), 0, cos(a)](q), S[cos(a), 0, -sin(a)](l) = 1;")
    turned = kn.loads(f"{text} frame Post | Ry(a); Gate ~ Post | Rz(q), Sx(l) = 1;")
    for p in ({"a": 0.3}, {"a": 0.05}, {"a": 1.2}):
        one, other = (kn.linearize(s.replace(parameters={"l": 0.5} | p)) for s in (system, turned))
        np.testing.assert_allclose(one.A, other.A, rtol=0, atol=1e-12)
        assert one.A[1, 0] == pytest.approx(-9.81 / 0.5 * np.sin(p["a"]), rel=1e-9)


# -- directions that are none -----------------------------------------------------------------------------------------

ZERO = (
    r"Body 'A' .*: the direction \(a, b, 0\) for a = 0, b = 0 is \(0, 0, 0\); expected one of non-zero, finite length\."
)


@pytest.fixture
def leaning() -> kn.System:
    return kn.loads(
        "parameters a = 1, b = 0, c = 1; A | R[a, b, 0](q), Sz(c) = 1; gravity 9.81; when w : q >= 0.1 : a = 0;", "m"
    )


def test_a_direction_that_is_zero_is_refused_wherever_parameters_get_values(leaning: kn.System) -> None:
    equations = kn.derive(leaning)
    forward, state = equations.function("forward"), (0.0, [0.1], [0.2])
    with pytest.raises(kn.ModelError, match=ZERO):
        kn.loads(kn.dumps(leaning).replace("a = 1", "a = 0"))
    with pytest.raises(kn.ModelError, match=ZERO):
        forward(*state, p={"a": 0.0})
    with pytest.raises(kn.ModelError, match=ZERO):
        forward(*state, p=[0.0, 0.0, 2.0])
    with pytest.raises(kn.ModelError, match=ZERO):
        forward(*state, p=[[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]])
    with pytest.raises(kn.ModelError, match=ZERO):
        forward.bind({"a": 0.0})
    with pytest.raises(kn.ModelError, match=ZERO):
        kn.simulate(leaning, 1, p={"a": [1.0, 0.0]})
    assert np.isfinite(forward(*state, p={"a": 0.0, "b": -1.0})).all()


def test_a_switch_that_makes_a_direction_zero_ends_the_run_with_a_sentence(leaning: kn.System) -> None:
    started = leaning.replace(initial={"q'": 1.0})
    assert re.search(r"when 'w' switches: Body 'A' .* for a = 0, b = 0 is \(0, 0, 0\)", kn.simulate(started, 1).message)


def test_python_takes_expressions_for_directions() -> None:
    al, q = kn.symbol("al"), kn.symbol("q1")
    body = kn.body("A", [kn.R((kn.sin(al), 0, 1), q), kn.S(np.array([0, al, 1], dtype=object), 0.3)], kn.inertia(1))
    system = kn.System("s", [body], parameters={"al": 0.3})
    assert system == kn.loads("model s; parameters al = 0.3; A | R[sin(al), 0, 1](q1), S[0, al, 1](0.3) = 1;")
    assert kn.R((kn.symbol("x") * 0, 0, 2.0), q).axis == (0.0, 0.0, 1.0)
    wheel = kn.rolling("w", "wheel", 0.3, "A", "ground", normal=(0, al, 1), axis=(kn.cos(al), 0, 0))
    assert wheel.normal[1] == al
    assert isinstance(wheel.axis[0], Expr)
    hinge = kn.loop("l", "revolute", "A", "ground", axis=(al, 0, 1))
    assert hinge.axis == hinge.end_axis
    with pytest.raises(
        kn.ModelError, match=r"the speed 'q1'' has no place here; expected parameters and constants only"
    ):
        kn.System("s", [kn.body("A", [kn.R((kn.symbol("q1'"), 0, 1), q)], kn.inertia(1))])


def test_a_gear_about_axes_that_other_parameters_would_part_is_refused() -> None:
    text = """parameters a = 0.3, b = 0.3; A | R[a, 0, 1](q1) = Jz(1); B | Sx(1), Rz(q2) = Jz(1);
    loop g : gear = 2 between A axis ({}, 0, 1) and B axis (0, 0, 1);"""
    kn.derive(kn.loads(text.format("a")))
    with pytest.raises(kn.ModelError, match="to turn against 'ground' about the axis of its gear only"):
        kn.derive(kn.loads(text.format("b"))).function("forward")


def test_defaults_of_parameters_follow_what_they_are_computed_from() -> None:
    from kineta.cli.values import Settings, with_settings

    text = "constants L = {}; parameters m = {}, J = m*L^2/12, k = 2*J; A | Ry(q), Sz(-L/2) = m, J, J, 0; spring s = k on q;"
    system = kn.loads(text.format(1.2, 2))
    reads_back(system)
    assert "J = m*L^2/12" in kn.dumps(system)
    assert with_settings(system, Settings(["m=3"])) == kn.loads(text.format(1.2, 3))
    assert with_settings(system, Settings(["L=1", "m=4"])) == kn.loads(text.format(1, 4))
    given = with_settings(system, Settings(["J=1", "m=3"]))
    assert {p.name: p.value for p in given.parameters} == {"L": 1.2, "m": 3, "J": 1, "k": 2}
    reads_back(given)
    assert "J = 1, k = 2*J" in kn.dumps(given)
