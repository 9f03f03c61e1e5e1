"""Components judged together against each judged by itself."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.consistency.alike_systems import plainly_independent
from kineta.consistency.consistent_start import independent_rows
from kineta.equations.equations import components_of
from kineta.equations.function import parameter_values
from kineta.equations.initial_values import initial_state

FOUR_BAR = """
Crank{i} | Sx({x}), Rz(a{i}) = m(0.5), Jz(0.004), com = (0.1, 0, 0);
Coupler{i} ~ Crank{i} | Sx({crank}), Rz(b{i}) = m(1), Jz(0.05), com = (0.3, 0, 0);
Rocker{i} | Sx({x} + 0.6), Rz(c{i}) = m(0.8), Jz(0.02), com = (0.1, 0, 0);
loop pin{i} : revolute between Coupler{i} at (0.6, 0, 0) axis (0, 0, 1) and Rocker{i} at ({rocker}, 0, 0) axis (0, 0, 1);
initial a{i} = {a}, b{i} = {b}, c{i} = {c}, c{i}' = {rate};
"""
FREE = """
Plate{i} | Free(f{i}) = m(2), Jx(0.1), Jy(0.2), Jz(0.3), com = (0.1, 0.01, 0.2);
loop hold{i} : ball between Plate{i} at ({x}, 0, 0.1) and ground at (0.5, {y}, {y});
initial f{i}.wx = 1;
"""


def judged(text: str) -> tuple[np.ndarray, list[bool]]:
    """What is plain of the components of *text*, and what is found of each by itself."""
    equations = kn.derive(kn.loads(f"gravity (0, -9.81, 0); {text}"))
    parts = components_of(equations)[1]
    starts = [(part, parameter_values(part.system), initial_state(part.system)) for part in parts]
    p, q, v = (np.array(x) for x in zip(*((p, *state) for _, p, state in starts), strict=True))
    return plainly_independent(parts[0], p, q, v), [independent_rows(*start) for start in starts]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_plain_together_is_independent_by_itself(seed: int) -> None:
    rng, text = np.random.default_rng(seed), ""
    for i in range(12):
        x, crank, rocker, a, b, c, rate = rng.uniform(
            (0, 0.1, 0.15, 0.5, -1.5, 0.5, -1), (9, 0.3, 0.4, 1.5, -0.5, 1.5, 1)
        )
        text += FOUR_BAR.format(i=i, x=x, crank=crank, rocker=rocker, a=a, b=b, c=c, rate=rate)
    plain, single = judged(text)
    assert plain.sum() >= 9
    assert all(found for found, is_plain in zip(single, plain, strict=True) if is_plain)


def test_bodies_that_move_freely_are_judged_with_their_quaternions() -> None:
    rng = np.random.default_rng(3)
    plain, single = judged("".join(FREE.format(i=i, x=rng.uniform(), y=rng.uniform()) for i in range(6)))
    assert plain.all()
    assert all(single)


def test_loops_that_do_not_close_or_fold_are_not_plain() -> None:
    closing = {"x": 1.5, "crank": 0.2, "rocker": 0.2, "a": 1.1, "b": -1.1, "c": 1.1, "rate": 0.1}
    open_loop = closing | {"x": 4, "crank": 0.05, "rocker": 2.5}
    folded = closing | {"x": 7, "a": 1e-3, "b": -1e-3, "c": 1e-3}
    plain, single = judged("".join(FOUR_BAR.format(i=i, **own) for i, own in enumerate((closing, open_loop, folded))))
    assert plain.tolist() == [True, False, False]
    assert single == [True, False, True]
