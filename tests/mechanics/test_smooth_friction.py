"""Smooth friction is a force: every quantity, task and backend gives the same results as with the same law written as a force."""

from __future__ import annotations

import ctypes
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.mechanics.formalisms.table import FORMALISMS
from kineta.model.joints.ball import Ball
from kineta.model.joints.free import Free
from kineta.model.transformations.subset import without_parts
from tests.codegen.test_backends import compiled_c
from tests.mechanics.random_systems import random_state, random_system
from tests.support import slow

SEEDS = range(6)
QUANTITIES = ("forward", "inverse", "bias", "power", "mass_matrix", "state_rate", "forward_by_v", "inverse_by_q")

PENDULUM = """
gravity (0, -9.81, 0); parameters m = 1.2, c = 0.4, v = 0.3, l = 0.7;
A | Rz(a), Sy(-l) = m; B ~ A | Rz(b), Sy(-l) = 0.6; coordinates a, b;
{}
initial a = 0.5, b = -0.2, b' = 1;
"""
RUBS = "friction hinge = c, smooth = v on b; friction slide = 0.2, smooth = 0.1 on B.x;"
ACTS = "force hinge = -c*b'/sqrt(b'^2 + v^2) on b; force slide = -0.2*B.vx/sqrt(B.vx^2 + 0.01) on B.x;"


@cache
def pair(seed: int) -> tuple[kn.System, kn.System]:
    """A random system with smooth friction on a form of its coordinates, and the system with the equal force."""
    bare, rng = random_system(seed, rheonomic=True), random.Random(seed)
    joints = {m.name for b in bare.bodies for m in b.motions if isinstance(m, Ball | Free)}
    coordinates = [n for n in bare.coordinates if n not in joints]
    last = bare.bodies[-1].name
    weights = [rng.uniform(-1, 1) for _ in coordinates]
    form = sum((w * kn.symbol(n) for w, n in zip(weights, coordinates, strict=True)), kn.symbol(f"{last}.z"))
    rate = sum((w * kn.symbol(f"{n}'") for w, n in zip(weights, coordinates, strict=True)), kn.symbol(f"{last}.vz"))
    size, smooth = 0.7 + 0.2 * kn.cos(kn.symbol("t")) * kn.symbol("m"), 0.4
    law = -size * rate / kn.sqrt(rate * rate + smooth * smooth)
    rubs = bare.replace(elements=[kn.friction("r", size, form, smooth=smooth)])
    return rubs, bare.replace(elements=[kn.generalized_force("r", law, form)])


def both(task: Any, *args: Any, **options: Any) -> tuple[Any, Any]:
    """The results of a *task* with smooth friction, and with the force."""
    return tuple(task(kn.loads(PENDULUM.format(text)), *args, **options) for text in (RUBS, ACTS))  # type: ignore[return-value]


def same(found: Any, expected: Any, *, rel: float = 1e-12) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) <= rel * max(1.0, np.abs(expected).max(initial=0.0))


#: Newton's and Euler's equations of all systems, and others of one system each, in turn.
TURNS = [(seed, "newton_euler") for seed in SEEDS if seed != 1]
TURNS += [(k % len(SEEDS), name) for k, name in enumerate(FORMALISMS) if name != "newton_euler"]


@pytest.mark.parametrize(("seed", "formalism"), [(1, "newton_euler"), *slow(TURNS)])
def test_every_quantity_of_every_formalism_holds_it(seed: int, formalism: str) -> None:
    rubs, acts = (kn.derive(system, formalism) for system in pair(seed))
    given = arguments(rubs.system, seed)
    known = [n for n in QUANTITIES if n in rubs.quantities]
    assert len(known) >= 6
    for quantity in known:
        functions = [e.function(quantity, "numpy") for e in (rubs, acts)]
        same(*(f(*(given[n] for n in f.arguments)) for f in functions))


def arguments(system: kn.System, seed: int) -> dict[str, Any]:
    state = random_state(system, seed)
    forms = {"q": ("{}", system.q_names), "v": ("{}", system.v_names), "p": ("{}", system.v_names)}
    forms |= {"tau": ("tau[{}]", system.v_names), "vdot": ("{}'", system.v_names)}
    return {"t": 0.3} | {n: np.array([state[form.format(x)] for x in names]) for n, (form, names) in forms.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_backends_agree_on_it(seed: int, tmp_path: Path) -> None:
    rubs, acts = map(kn.derive, pair(seed))
    given = arguments(rubs.system, seed)
    found = rubs.function("forward")
    values = [given[n] for n in found.arguments]
    expected = acts.function("forward", "numpy")(*values)
    same(found(*values), expected, rel=1e-11)
    setup, main = rubs.programs("forward")
    library, h, out = compiled_c([setup, main], tmp_path), np.empty(setup.n_outputs), np.empty(rubs.system.nv)
    p = np.array([x.value for x in rubs.system.parameters])
    for program, blocks in ((setup, [p, h]), (main, [*map(np.atleast_1d, values), h, out])):
        getattr(library, f"model_{program.name}")(*(ctypes.c_void_p(b.ctypes.data) for b in blocks))
    same(out, expected, rel=1e-11)


def test_formulas_show_it() -> None:
    rubs = kn.derive(
        kn.loads("A | Rz(a) = Jz(2); parameters c = 1, v = 0.1; friction f = c, smooth = v on a;"), "lagrange"
    )
    assert "sqrt(a'^2 + v^2)" in rubs.text("inverse").replace("v^2 + a'^2", "a'^2 + v^2")
    assert "sqrt" in rubs.latex("inverse")
    sympy = pytest.importorskip("sympy")
    (tau,) = rubs.sympy("inverse")
    speed, c, v = (next(s for s in tau.free_symbols if str(s) == n) for n in ("a'", "c", "v"))
    assert sympy.simplify(tau.diff(c) - speed / sympy.sqrt(speed**2 + v**2)) == 0


def test_linear_tasks_hold_it() -> None:
    first, second = both(kn.linearize, {"a": 0.1, "b": -0.3, "b'": 0.2})
    same(first.A, second.A)
    first, second = both(kn.modes, {"a": 0.0, "b": 0.0, "b'": 0.0})
    same(first.eigenvalues, second.eigenvalues)
    options = {"frequency": [0.1, 1.0, 10.0], "inputs": ["a'"], "outputs": ["b"]}
    first, second = both(kn.response, {"a": 0.0, "b": 0.0, "b'": 0.0}, **options)
    same(first.values, second.values)
    hinge = kn.loads("A | Rz(q) = Jz(0.25); friction hinge = 0.05, smooth = 0.02 rad/s on q; damper d = 0.01 on q;")
    same(kn.linearize(hinge).A, [[0, 1], [0, -10.04]])


@pytest.mark.slow
def test_rest_and_given_motions_hold_it() -> None:
    first, second = both(kn.equilibrium)
    same(first.q, second.q)
    first, second = both(kn.statics, {"a": 0.3, "b": 0.2})
    for name in first.series:
        same(first[name], second[name])
    t = np.linspace(0, 1, 9)
    for task in (kn.inverse, kn.reactions):
        first, second = both(task, {"a": kn.sin(kn.symbol("t")), "b": 0.4 * kn.cos(2 * kn.symbol("t"))}, t=t)
        for name in first.series:
            same(first[name], second[name])


@pytest.mark.parametrize("method", ["dop853", *slow(["dopri5", "Radau"])])
def test_runs_hold_it_in_one_piece(method: str) -> None:
    first, second = both(kn.simulate, 3.0, method=method, samples=31)
    same(first.y, second.y, rel=1e-8)
    assert not first.changes
    assert first.success
    assert first.energy_balance < 1e-7
    same(first.work, second.work, rel=1e-8)


def test_cases_and_samples_hold_it() -> None:
    q = {"a": np.linspace(0.1, 1.0, 7)}
    first, second = both(kn.simulate, 2.0, q=q, samples=11)
    same(first.y, second.y, rel=1e-8)
    first, second = both(kn.simulate, 2.0, tau={"a'": kn.sampled([0.3, -0.2, 0.4, 0.0], 2.0)}, samples=11)
    same(first.y, second.y, rel=1e-8)


@pytest.mark.slow
def test_what_a_run_depends_on_holds_it() -> None:
    first, second = both(kn.sensitivity, 1.0, ["c", "v", "a"], samples=5)
    same(first.q_by, second.q_by, rel=1e-7)
    same(first.v_by, second.v_by, rel=1e-7)
    goal = {"final": kn.symbol("a") ** 2 + kn.symbol("b'") ** 2}
    for adjoint in (False, True):
        first, second = both(kn.objective, 1.0, ["c", "v"], adjoint=adjoint, **goal)
        same(first.gradient(first.x0), second.gradient(second.x0), rel=1e-7)
    run = kn.simulate(kn.loads(PENDULUM.format(ACTS)), 3.0, samples=61)
    found = kn.fit(kn.loads(PENDULUM.format(RUBS)), run, ["c", "v"], p={"c": 0.3, "v": 0.4})
    same(found.x, [0.4, 0.3], rel=1e-6)


@pytest.mark.slow
def test_identification_knows_it() -> None:
    rubs, acts = both(kn.base_parameters)
    assert len(rubs.names) == len(acts.names)
    run = kn.simulate(kn.loads(PENDULUM.format(ACTS)), 3.0, samples=101)
    first, second = (kn.identify(base, run) for base in (rubs, acts))
    same(first.values, second.values, rel=1e-8)


@pytest.mark.slow
def test_no_energy_is_kept_and_the_certificate_agrees() -> None:
    first, second = both(kn.first_integrals)
    assert [x.name for x in first] == [x.name for x in second]
    for seed in range(2):
        assert kn.verify(pair(seed)[0], states=5).holds
    assert kn.verify(kn.loads(PENDULUM.format(RUBS)), states=5).holds


@pytest.mark.slow
def test_closed_mechanisms_and_quasi_velocities_hold_it() -> None:
    held, quasi = "constraint c : a' + 0.3*b' = 0.3*cos(t);", "quasi u = a', w = a' + b';"
    for more, speed in ((held, "b'"), (quasi, "w")):
        texts = (PENDULUM.format(text + more).replace("b' = 1;", f"{speed} = 1;") for text in (RUBS, ACTS))
        first, second = (kn.simulate(kn.loads(text), 1.0, samples=11) for text in texts)
        same(first.y, second.y, rel=1e-8)


def test_its_force_is_an_output_and_it_may_be_left_out() -> None:
    text = PENDULUM.format(RUBS + "output force = lambda.hinge;")
    run = kn.simulate(kn.loads(text), 1.0, samples=11)
    same(run["force"], -0.4 * run["b'"] / np.sqrt(run["b'"] ** 2 + 0.09))
    assert run.units["force"] == "N*m"
    bare = without_parts(kn.loads(text), ["hinge", "slide"])
    assert not bare.elements
    assert not kn.simulate(bare, 1.0, samples=11)["force"].any()


def test_it_is_an_element_wherever_it_is_given() -> None:
    q = kn.symbol("q")
    rubs = kn.friction("hinge", 0.5, q, smooth=0.1)
    body = kn.body("A", [kn.Rz(q)], kn.inertia(1.0, (1, 1, 1)))
    first, second = (kn.System("s", [body], **{what: [rubs]}) for what in ("elements", "contacts"))
    assert first == second
    assert second.elements == (rubs,)
    assert kn.loads(kn.dumps(second)).elements == (rubs,)
    with pytest.raises(kn.ArgumentError, match="Friction 'hinge': smooth friction never sticks; leave out 'static' or"):
        kn.friction("hinge", 0.5, q, static=1.0, smooth=0.1)
