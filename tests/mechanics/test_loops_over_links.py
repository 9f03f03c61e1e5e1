"""Loops over links against straight code of the same systems."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from kineta.algebra.expression import symbol
from kineta.algebra.functions import sin
from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.equations.equations import Equations, _lowered, derive
from kineta.expr.loop_program import LoopProgram
from kineta.expr.program import StraightLineProgram
from kineta.mechanics.loops_over_links import forward_derivatives, inverse_derivatives, operands
from kineta.model.body import Body, Station, body, inertia
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.spring import Spring
from kineta.model.joints.ball import Ball
from kineta.model.joints.free import Free
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import R, Rx, Ry, Rz
from kineta.model.joints.shift import Sx, Sz
from kineta.model.system import System
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.constraint_treatment import FREE, run_derivation
from kineta.runtime.functions import looped_run, lowered, run_functions
from tests.mechanics.random_systems import random_inertia

SEEDS = [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops for trees of any length, with as many steps as it takes."""
    for module in (operands, forward_derivatives, inverse_derivatives):
        monkeypatch.setattr(module, "LONG", 3)
    monkeypatch.setattr(operands, "REPEATED", 0.01)


def _motion(rng: random.Random, i: int, base: str) -> list[Motion]:
    q = symbol(f"q{i}")
    kinds: list[list[Motion]] = [
        [Sx(0.3), Rz(q)],
        [Sx(symbol("l")), Rx(0.7), Ry(q)],
        [R((1.0, 2.0, -0.5), 2 * q + 0.1)],
        [Sz(0.2), Rx(q), Ry(symbol(f"r{i}"))],
        [Sx(0.1), Ball(f"ball{i}")],
    ]
    if base == "ground":
        kinds.append([Free(f"free{i}")])
    return rng.choice(kinds)


def random_tree(seed: int, n: int = 5) -> System:
    """A forest of *n* bodies of a few kinds, with elements on their coordinates and parameters."""
    rng = random.Random(seed)
    bodies: list[Body] = []
    elements: list[object] = []
    for i in range(n):
        base = "ground" if i == 0 or rng.random() < 0.1 else rng.choice([b.name for b in bodies][-3:])
        motions = _motion(rng, i, base)
        mass = symbol("m") if i % 2 else rng.uniform(0.5, 2.0)
        bodies.append(body(f"b{i}", motions, random_inertia(rng, mass), base=base))
        if any(f"q{i}" in getattr(x, "angle", symbol("m")).symbols() for x in motions):
            elements.append(Damper(f"d{i}", symbol("k"), symbol(f"q{i}")))
            elements.append(Spring(f"s{i}", symbol("k") * 3, symbol(f"q{i}") - 0.1))
    names = [d.name for d in elements if isinstance(d, Damper)]
    elements.append(GeneralizedForce("g", sin(3 * symbol("t")), symbol(f"q{names[0][1:]}")))
    return System(
        f"tree{seed}", bodies, gravity=(1.2, -0.7, -9.81), parameters={"m": 1.3, "k": 0.7, "l": 0.4}, elements=elements
    )


def _states(equations: Equations, n: int, seed: int) -> dict[str, np.ndarray]:
    s, rng = equations.system, np.random.default_rng(seed)
    q = rng.uniform(-1, 1, (n, s.nq))
    for offset in s.quaternions.values():
        q[:, offset : offset + 4] /= np.linalg.norm(q[:, offset : offset + 4], axis=1, keepdims=True)
    v, tau, vdot = rng.uniform(-1, 1, (3, n, s.nv))
    return {"t": rng.uniform(0, 1, (n, 1)), "q": q, "v": v, "tau": tau, "vdot": vdot, "y": np.hstack([q, v])}


def _close(found: np.ndarray, right: np.ndarray, tolerance: float = 1e-12) -> None:
    assert found == pytest.approx(right, rel=tolerance, abs=tolerance * np.abs(right).max())


def _straight(equations: Equations, quantity: str) -> tuple[StraightLineProgram, StraightLineProgram]:
    shown = equations.formulas(quantity)
    return _lowered(shown.symbols, quantity, shown.array)


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["forward", "inverse"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees(seed: int, quantity: str) -> None:
    _agrees(derive(random_tree(seed)), quantity, seed)


def _agrees(equations: Equations, quantity: str, seed: int, *, compiled: bool = True) -> None:
    """Assert that loops and straight code agree, interpreted and *compiled*."""
    setup, main = equations.programs(quantity)
    assert isinstance(main, LoopProgram)
    once, straight = _straight(equations, quantity)
    states, p = _states(equations, 9, seed), np.array([1.1, 0.6, 0.5])
    given = [states[block.name] for block in straight.inputs[:-1]]
    right = reference.compile(straight)(*given, np.tile(reference.compile(once)(p), (9, 1)))
    h = reference.compile(setup)(p)
    _close(reference.compile(main)(*given, np.tile(h, (9, 1))), right)
    if not compiled:
        return
    native = llvm.compile([main], batch=True).function(quantity)
    _close(np.array([native(*(x[k] for x in given), h) for k in range(9)]), right)
    _close(native.batch(*given, h), right)


def _simple_tree(seed: int, n: int) -> System:
    """A forest of *n* bodies that turn, with branches, opposite rates, elements and parameters."""
    rng = random.Random(seed)
    bodies: list[Body] = []
    elements: list[object] = []
    for i in range(n):
        base = "ground" if i == 0 or rng.random() < 0.1 else rng.choice([b.name for b in bodies][-3:])
        q = symbol(f"q{i}")
        kinds: list[list[Motion]] = [
            [Sx(0.3), Rz(q)],
            [Sx(symbol("l")), Rx(0.7), Ry(-q)],
            [R((1.0, 2.0, -0.5), q + 0.1)],
        ]
        mass = symbol("m") if i % 2 else rng.uniform(0.5, 2.0)
        bodies.append(body(f"b{i}", rng.choice(kinds), random_inertia(rng, mass), base=base))
        elements.append(GeneralizedForce(f"f{i}", -symbol("k") * q**3 - 0.2 * symbol(f"q{(i + 2) % n}'"), q))
    return System(
        f"simple{seed}",
        bodies,
        gravity=(1.2, -0.7, -9.81),
        parameters={"m": 1.3, "k": 0.7, "l": 0.4},
        elements=elements,
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_of_random_trees(seed: int) -> None:
    """By all that accelerations and forces depend on, together; alone, by one of them."""
    equations = derive(_simple_tree(seed, 4))
    for kind in ("forward", "inverse"):
        _agrees(equations, f"{kind}_derivatives", seed)
        for block in (("q", "v", "tau") if kind == "forward" else ("q", "v"))[seed % 2 :]:
            _agrees(equations, f"{kind}_by_{block}", seed, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["forward_derivatives", "inverse_derivatives"])
def test_derivatives_of_longer_chains_take_the_same_steps(quantity: str) -> None:
    short, long = (_chain(n).programs(quantity)[1] for n in (10, 14))
    assert isinstance(short, LoopProgram)
    assert isinstance(long, LoopProgram)
    assert short.code_digest == long.code_digest


@pytest.mark.slow
def test_derivatives_in_loops_are_those_of_straight_code() -> None:
    """The sign of a rate that is the opposite of its speed, and forces that depend on other rates."""
    equations = derive(_simple_tree(1, 4))
    for quantity in ("forward_derivatives", "inverse_derivatives"):
        _agrees(equations, quantity, 1, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_runs_of_random_trees(seed: int) -> None:
    """Rates, energies, outputs and events of a run under forces."""
    equations = derive(random_tree(seed))
    first = equations.system.v_names[0]
    forces = applied_forces(equations.system, {first: 0.3 * sin(symbol("t")), equations.system.v_names[1]: 0.4})
    watched = (symbol(equations.system.q_names[0]) - 0.1,)
    setup, programs, layout = looped_run(run_derivation(equations, FREE), forces, watched)
    d = run_derivation(equations, FREE)
    found, expected = run_functions(d, forces, watched)
    once, straight = lowered(d, found, expected)
    assert (layout, programs.keys()) == (expected, straight.keys())
    states = _states(equations, 5, seed)
    y = np.hstack([states["y"], np.zeros((5, layout.works))])
    p = np.hstack([[1.1, 0.6, 0.5], forces.constant])
    h, right_h = (np.tile(reference.compile(x)(p), (5, 1)) for x in (setup, once))
    for name, program in programs.items():
        right = reference.compile(straight[name])(states["t"], y, right_h)
        _close(reference.compile(program)(states["t"], y, h), right)
        _close(llvm.compile([program]).function(name).batch(states["t"], y, h), right)


def _chain(n: int) -> Equations:
    bodies = [
        body(
            f"b{k}",
            [Sx(0.3), Rx(0.7), Rz(symbol(f"q{k}"))],
            inertia(1.0, (0.02, 0.03, 0.025)),
            base=f"b{k - 1}" if k else "ground",
        )
        for k in range(n)
    ]
    return derive(System("chain", bodies, gravity=(0, 0, -9.81)))


def test_equal_links_take_the_same_steps() -> None:
    """Code for a chain does not grow with its length."""
    short, long = (_chain(n).programs("forward")[1] for n in (20, 40))
    assert isinstance(short, LoopProgram)
    assert isinstance(long, LoopProgram)
    assert short.code_digest == long.code_digest
    assert short.digest != long.digest
    assert len(long.table) < 2.5 * len(short.table)


def test_calls_write_no_operations_out() -> None:
    equations = _chain(20)
    equations.function("forward")(0.0, np.zeros(20), np.zeros(20))
    program = equations.programs("forward")[1]
    assert "op" not in vars(program)
    assert program.n_operations == len(program.op)


def test_what_loops_do_not_suit_is_written_straight() -> None:
    """Forces at points need the kinematics as a whole; trees without repetition gain nothing."""
    tree = random_tree(0)
    pulled = replace(
        tree, elements=(*tree.elements, Force("f", Station("b2", (0.1, 0.0, 0.0)), (1.0, 0.0, 0.0), "ground"))
    )
    assert not isinstance(derive(pulled).programs("forward")[1], LoopProgram)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operands, "REPEATED", 4)
        assert not isinstance(derive(tree).programs("forward")[1], LoopProgram)
    assert not isinstance(derive(tree, "lagrange").programs("inverse")[1], LoopProgram)
