"""Derivatives by sweeps over the links are those of differentiation on the graph, in all ways."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

import kineta as kn
from benchmarks.chains import chain
from kineta.codegen import numpy as reference
from kineta.equations.equations import derive
from kineta.mechanics import tangent
from kineta.mechanics.acceleration_derivatives import PARTS, forward_derivatives
from kineta.mechanics.algorithms import forward_derivatives as algorithm
from kineta.mechanics.derivation import Array, Derivation, vector
from kineta.mechanics.force_derivatives import inverse_derivatives, ways
from kineta.mechanics.kinematics.common_frames import Frames, Sharing
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_elements, random_inertia, random_state, random_system
from tests.support import EXAMPLES, some

#: Balls and free motions, closed systems, quasi-velocities, an arm with parameters.
MODELS = ("bricard", "bicycle", "rolling_coin", "euler_top", "puma_andreev", "hopping_robot")


def joints(seed: int) -> kn.System:
    """Five bodies on turns, shifts, balls and free motions, some on the ground; or two, for odd seeds, with every element."""
    chance, bodies, turns = random.Random(seed), list[kn.Body](), list[kn.Expr]()
    for k in range(2 if seed % 2 else 5):
        q = kn.symbol(f"q{k}")
        motion = chance.choice((kn.Rz(q), kn.Sx(q), kn.Ball(f"b{k}"), kn.Rx(q), kn.Free(f"f{k}")))
        turns += [] if isinstance(motion, kn.Ball | kn.Free) else [q]
        base = "ground" if k == 0 or chance.random() < 0.15 else f"link{chance.randrange(k)}"
        placed = [kn.Sx(chance.gauss(0, 1)), kn.Ry(chance.gauss(0, 1)), kn.Sz(chance.gauss(0, 1)), motion]
        bodies.append(kn.body(f"link{k}", placed, random_inertia(chance, 1.0 + 0.1 * k), base=base))
    elements = random_elements(chance, bodies, turns) if seed % 2 else []
    parameters = {"k": 1.7} if elements else {}
    return kn.System(f"tree{seed}", bodies, gravity=(1, -2, -9.81), elements=elements, parameters=parameters)


def derivation(name: str | int) -> Derivation:
    if isinstance(name, str):
        return derive(kn.load(EXAMPLES / f"{name}.kin")).derivation
    if name < 6:
        return derive(random_system(name, rheonomic=True, elements=True)).derivation
    return derive(joints(name)).derivation


def agree(d: Derivation, ways: Sequence[Mapping[str, Array]], reference: Mapping[str, Sequence[int]]) -> None:
    """All parts are those of the *reference*, relative to the largest entry; where parts are zero, of all parts."""
    every = [*ways, {name: vector(refs) for name, refs in reference.items()}]
    refs = [ref for way in every for name in reference for ref in way[name].refs]
    values = np.array(evaluate(d.graph, refs, random_state(d.symbols.system, 7))).reshape(len(every), -1)
    ends = np.cumsum([len(refs) for refs in reference.values()])[:-1]
    least = 1e-3 * np.abs(values[-1]).max()
    for part in np.split(values, ends, axis=1):
        assert np.abs(part - part[-1]).max(initial=0.0) <= 1e-12 * np.abs(part[-1]).max(initial=least)


@pytest.mark.parametrize("name", [*range(14), *MODELS])
def test_derivatives_of_forces_agree_in_all_ways(name: str | int) -> None:
    d = derivation(name)
    reference = {"mass_matrix": d["mass_matrix"].refs}
    reference |= {part: tangent.RULES[part](d).refs for part in ("inverse_by_q", "inverse_by_v")}
    agree(d, list(inverse_derivatives(d).values()), reference)


@pytest.mark.parametrize("name", [*some(range(14), 2), *MODELS])
def test_derivatives_of_accelerations_agree_in_all_ways(name: str | int) -> None:
    d = derivation(name)
    agree(d, forward_derivatives(d), {part: tangent.RULES[part](d).refs for part in PARTS})


@pytest.mark.slow
def test_a_robot_on_a_free_base_and_a_long_chain_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain is long where mobilities of its links are used."""
    monkeypatch.setattr(algorithm, "FAR", 3)
    for system in (chain(5), four_legs()):
        d = derive(system).derivation
        agree(d, forward_derivatives(d), {part: tangent.RULES[part](d).refs for part in PARTS})


def four_legs() -> kn.System:
    """A free body with four legs of two links."""
    inertia = kn.inertia(1.0, (0.02, 0.03, 0.025), (0.001, -0.002, 0.003), com=(0.15, 0.02, 0.05))
    bodies = [kn.body("trunk", [kn.Free("base")], inertia)]
    for k in range(4):
        motions = [kn.Sx(0.3 * (-1) ** k), kn.Sy(0.2 * (-1) ** (k // 2)), kn.Rx(kn.symbol(f"a{k}"))]
        bodies.append(kn.body(f"thigh{k}", motions, inertia, base="trunk"))
        bodies.append(kn.body(f"shin{k}", [kn.Sz(-0.4), kn.Ry(kn.symbol(f"b{k}"))], inertia, base=f"thigh{k}"))
    return kn.System("four_legs", bodies, gravity=(0, 0, -9.81))


def test_ways_are_compared_where_they_are_short() -> None:
    sharings: tuple[Sharing, ...] = ("link", "limb", "tree")
    plain, held = ([Frames(sharing, held) for sharing in sharings] for held in (False, True))
    assert ways(derive(chain(6)).derivation) == ("graph", *plain)
    assert ways(derivation("puma_andreev")) == ("graph", *plain, *held)
    assert ways(derive(chain(20)).derivation) == tuple(held)
    assert ways(derive(chain(80)).derivation) == (Frames("limb", held=True),)


def test_derivatives_are_no_numbers_where_masses_do_not_determine_them() -> None:
    """A ball without a moment of inertia about one axis; the tree beside it keeps its numbers."""
    text = """model needle; parameters a = 0; coordinates b, x, p;
        Needle | Ball(b) = m(1), Jx(1), Jy(1), Jz(a); Slider | Sx(x), Rz(p), Sx(0.3) = m(1), Jz(0.3); gravity 9.81;"""
    d = derive(kn.loads(text)).derivation
    still, *moving = (d.symbols.names.index(n) for n in ("b.wz", "x'", "p'"))
    state = random_state(d.symbols.system, 1)
    for way in forward_derivatives(d):
        for part in PARTS:
            with np.errstate(all="ignore"):
                values = evaluate(d.graph, way[part].refs, state, reference.FUNCTIONS)
            rows = np.array(values).reshape(way[part].shape)
            assert np.isnan(rows[still, :3]).all()
            assert np.isfinite(rows[moving]).all()


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange"])
@pytest.mark.parametrize("bodies", ["P | Sx(x), Sy(y) = 1;", "A | Ry(x), Sz(-1) = 1; P ~ A | Ry(y), Sz(-1) = 1;"])
def test_quadratic_drag_has_derivatives_at_rest(bodies: str, formalism: str) -> None:
    system = kn.loads(f"parameters c = 0.3; {bodies} coordinates x, y; force drag on P = -c*|v(P)|*v(P);")
    equations = kn.derive(system, formalism)
    rest = {"t": 0.0, "q": np.array([0.3, -0.2]), "v": np.zeros(2), "p": np.array([0.3])}
    for block in "qv":
        forces = equations.function(f"inverse_by_{block}")(**rest, vdot=np.zeros(2))
        np.testing.assert_array_equal(forces, np.zeros((2, 2)))
        accelerations = equations.function(f"forward_by_{block}")(**rest, tau=np.zeros(2))
        np.testing.assert_array_equal(accelerations, np.zeros((2, 2)))
    moved = rest | {"v": np.array([0.4, 0.7]), "tau": np.zeros(2)}
    found, forward = equations.function("forward_by_v")(**moved), equations.function("forward")
    for k, h in ((0, np.array([1e-6, 0])), (1, np.array([0, 1e-6]))):
        ahead, behind = forward(**moved | {"v": moved["v"] + h}), forward(**moved | {"v": moved["v"] - h})
        np.testing.assert_allclose(found[:, k], (ahead - behind) / 2e-6, atol=1e-9)
    assert "if(" not in equations.formulas("inverse_by_v").text()
