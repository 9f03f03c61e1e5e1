"""Derivatives by sweeps over the links are those of differentiation on the graph, in all frames."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

import kineta as kn
from benchmarks.chains import chain
from kineta.equations.equations import derive
from kineta.mechanics.derivation import Array, Derivation, vector
from kineta.mechanics.swept_derivatives import inverse_derivatives, ways
from kineta.mechanics.tangent import DIRECTIONS, derivatives
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_inertia, random_state, random_system
from tests.support import EXAMPLES

#: Balls and free motions, closed systems, quasi-velocities, an arm with parameters.
MODELS = ("bricard", "bicycle", "rolling_coin", "euler_top", "puma_andreev", "hopping_robot")


def joints(seed: int) -> kn.System:
    """Five bodies on turns, shifts, balls and free motions, some of them on the ground, some under applied forces."""
    chance, bodies = random.Random(seed), []
    for k in range(5):
        q = kn.symbol(f"q{k}")
        motion = chance.choice((kn.Rz(q), kn.Sx(q), kn.Ball(f"b{k}"), kn.Rx(q), kn.Free(f"f{k}")))
        base = "ground" if k == 0 or chance.random() < 0.15 else f"link{chance.randrange(k)}"
        placed = [kn.Sx(chance.gauss(0, 1)), kn.Ry(chance.gauss(0, 1)), kn.Sz(chance.gauss(0, 1)), motion]
        bodies.append(kn.body(f"link{k}", placed, random_inertia(chance, 1.0 + 0.1 * k), base=base))
    return kn.System(f"tree{seed}", bodies, gravity=(1.0, -2.0, -9.81))


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


@pytest.mark.parametrize("name", [*range(12), *MODELS])
def test_derivatives_of_forces_agree_in_all_ways(name: str | int) -> None:
    d = derivation(name)
    reference = {"mass_matrix": d["mass_matrix"].refs}
    for block in ("q", "v"):
        rows = derivatives(d.graph, d["inverse"].refs, DIRECTIONS[block](d))
        reference[f"inverse_by_{block}"] = tuple(x for row in rows for x in row)
    agree(d, inverse_derivatives(d), reference)


def test_ways_are_compared_where_they_are_short() -> None:
    assert ways(derive(chain(6)).derivation) == ("graph", "link", "limb", "tree")
    assert ways(derive(chain(20)).derivation) == ("link", "limb", "tree")
    assert ways(derive(chain(80)).derivation) == ("limb",)
