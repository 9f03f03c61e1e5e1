"""Mass matrices of bodies with extreme inertias, given by numbers, against fifty digits."""

from __future__ import annotations

import random
from typing import Any

import mpmath
import numpy as np
import pytest

import kineta as kn

#: Of a body: its motions (turn or shift, axis, number of the coordinate or a number), moments, mass, centre of mass, base.
Part = tuple[list[tuple[str, int, int | float]], list[float], float, list[float], int]


def parts(seed: int) -> list[Part]:
    """Slender bodies displaced from their axes by offsets that their mass centres cancel: only central moments remain."""
    rng = random.Random(seed)
    found: list[Part] = []
    count = 0
    for b in range(rng.randint(1, 3)):
        motions: list[tuple[str, int, int | float]] = []
        for _ in range(rng.randint(1, 2)):
            motions.append(("turn", rng.randrange(3), count))
            count += 1
        aside = [round(rng.uniform(-1, 1), 3) for _ in range(3)]
        motions += [("shift", i, x) for i, x in enumerate(aside)]
        small = 10.0 ** -rng.randint(6, 13)
        moments = [small] * 3
        if rng.random() < 0.7:
            moments = [1.0] * 3
            moments[rng.randrange(3)] = small
        com = [-x for x in aside]
        if rng.random() < 0.3:
            com[rng.randrange(3)] = 0.25
        found.append((motions, moments, rng.choice([1.3, 20.0, 0.017]), com, rng.randrange(-1, b)))
    return found


def system(seed: int) -> kn.System:
    turns, shifts = (kn.Rx, kn.Ry, kn.Rz), (kn.Sx, kn.Sy, kn.Sz)
    bodies, names = [], []
    for b, (motions, moments, m, com, base) in enumerate(parts(seed)):
        made = [turns[axis](kn.symbol(f"q{x}")) if kind == "turn" else shifts[axis](x) for kind, axis, x in motions]
        names += [f"q{x}" for kind, _, x in motions if kind == "turn"]
        inertia = kn.inertia(m, tuple(moments), com=tuple(com))
        bodies.append(kn.body(f"b{b}", made, inertia, base="ground" if base < 0 else f"b{base}"))
    return kn.System("needles", bodies, coordinates=names)


def number(x: Any) -> Any:
    """The decimal that *x* was written as, or its elements."""
    return np.vectorize(lambda value: mpmath.mpf(repr(float(value))), otypes=[object])(x)


def expected(seed: int, q: Any) -> Any:
    """The sum of J w_i w_k + m v_i v_k over the bodies."""
    n = len(q)
    places: dict[int, tuple[Any, Any, Any]] = {
        -1: (number(np.eye(3)), number(np.zeros((n, 3))), number(np.zeros((n, 3))))
    }
    M = number(np.zeros((n, n)))
    for b, (motions, moments, m, com, base) in enumerate(parts(seed)):
        R, w, v = (x.copy() for x in places[base])
        for kind, axis, x in motions:
            e = R[:, axis]
            if kind == "shift":
                v = v + np.cross(w, e * number(x))
                continue
            w[x] = w[x] + e
            i, j = (axis + 1) % 3, (axis + 2) % 3
            c, s = mpmath.cos(number(q[x]).item()), mpmath.sin(number(q[x]).item())
            R = np.stack(
                [{axis: e, i: c * R[:, i] + s * R[:, j], j: c * R[:, j] - s * R[:, i]}[k] for k in range(3)], axis=1
            )
        places[b] = R, w, v
        at, own = v + np.cross(w, R @ number(com)), w @ R
        M = M + (own * number(moments)) @ own.T + number(m) * (at @ at.T)
    return M


@pytest.mark.parametrize("seed", range(20))
def test_small_moments_survive_offsets_there_and_back(seed: int) -> None:
    made = system(seed)
    q = np.random.default_rng(seed).uniform(-1, 1, made.nq)
    found = kn.derive(made).function("mass_matrix")(0.0, q, np.zeros(made.nv))
    with mpmath.workdps(50):
        M = expected(seed, q)
        scale = np.vectorize(mpmath.sqrt, otypes=[object])(np.outer(np.diag(M), np.diag(M)))
        off = np.abs((number(found) - M) / scale).astype(float)
    assert off.max() < 4e-15
