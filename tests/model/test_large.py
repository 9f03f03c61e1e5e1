"""Systems of thousands of bodies: the time grows with their number, not with its square."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import kineta as kn
from kineta.model import name_inference
from tests.support import seconds, slow

#: Statements of one part of a system, of every kind that could look through all others.
PART = """
parameters k{i} = 2, l{i} = 2*k{i};
coordinates q{i}, b{i};
Arm{i} | Rz(q{i}), Sx(l{i}) = 1, 1, 1, 1;
Wheel{i} ~ Arm{i} | Ball(b{i}) = 1, 1, 1, 1;
point P{i} on Arm{i} = (0, 0, l{i});
spring s{i} = k{i} on q{i} - 3 deg;
damper d{i} = 0.1 on q{i}';
damper e{i} = 2 between P{i} and ground;
force f{i} at P{i} = (0, P{i}.vx, 0);
initial q{i} = 0.1 rad, b{i}.qw = 1, b{i}.wx = k{i};
output P{i}.x;
"""


def text(parts: int, *, listed: bool) -> str:
    part = PART if listed else PART.replace("coordinates q{i}, b{i};", "").replace("q{i}", "phi{i}")
    return "".join(part.format(i=i) for i in range(parts))


def grows(work: Callable[[Any], object], few: Any, many: Any, *, times: int) -> bool:
    """Whether *work* on *many* takes more than so many *times* that on *few*, in each of five attempts."""
    return all(seconds(work, many) > times * min(seconds(work, few) for _ in range(3)) + 0.01 for _ in range(5))


@pytest.mark.slow
@pytest.mark.parametrize("listed", [True, False])
def test_time_grows_with_the_number_of_parts(listed: bool) -> None:
    small, large = 50, 400
    texts = [text(n, listed=listed) for n in (small, large)]
    few, many = map(kn.loads, texts)
    assert (len(many.bodies), many.nv) == (2 * large, 4 * large)
    # Eight times for what is linear, 64 times for what is quadratic.
    for work in (lambda s: s.replace(name="S"), name_inference.units, kn.dumps):
        assert not grows(work, few, many, times=24)
    assert not grows(kn.loads, *texts, times=24)


def test_time_grows_with_the_length_of_a_name() -> None:
    few, many = (
        f"parameters {'a' * n} = 1; A | Rz(q1) = 1, 1, 1, 1; force f = {'a' * n} on q1;" for n in (2_000, 100_000)
    )
    # Fifty times for what is linear, 2500 times for what is quadratic.
    assert not grows(kn.loads, few, many, times=200)


def motions(pairs: int) -> str:
    return "A | " + ", ".join(f"Rz(q{2 * i}), Sx(q{2 * i + 1})" for i in range(pairs)) + " = 1, 1, 1, 1;"


def terms(n: int) -> str:
    return f"A | Sx(x) = 1; force f = ({' + '.join(f'k{i}' for i in range(n))})*x on x; coordinates x;"


@pytest.mark.parametrize(("text", "small"), [(motions, 20), *slow([(terms, 400)])])
def test_time_of_deriving_grows_with_the_length_of_a_text(text: Callable[[int], str], small: int) -> None:
    few, many = (kn.loads(text(n)) for n in (small, 16 * small))
    # Sixteen times for what is linear, 256 times for what is quadratic.
    assert not grows(lambda s: kn.derive(s).operations("inverse"), few, many, times=64)


@pytest.mark.slow
@pytest.mark.parametrize("formalism", ["lagrange", "dalembert"])
def test_speeds_that_drive_many_rates_are_taken_by_their_momenta(formalism: str) -> None:
    text = f"coordinates q1, q2; gravity 9.81; A | {', '.join(['Ry(q1), Sx(0.1)'] * 20)}, Rz(q2) = 1, 2, 2.5, 1.5;"
    system = kn.loads(text + "inertia rotor = 0.3 on 7*q1' - q2'; spring s = 4 on q1; initial q1 = 0.2, q2 = 0.4;")
    state = 0.0, [0.2, 0.4], [0.3, -0.5]
    one, other = kn.derive(system), kn.derive(system, formalism)
    for quantity in ("mass_matrix", "forward"):
        found, expected = (e.function(quantity, "numpy")(*state) for e in (one, other))
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_operations_grow_in_proportion_to_the_motions_of_one_coordinate() -> None:
    def size(pairs: int) -> int:
        text = f"coordinates q1; gravity 9.81; A | {', '.join(['Ry(q1), Sx(0.1)'] * pairs)} = 1, 1, 1, 1;"
        return kn.derive(kn.loads(text)).operations("forward").total

    assert size(60) < 2.2 * size(30)


def test_reading_spares_the_collector_and_leaves_it_on() -> None:
    text = f"A | Rz(q1) = 1; force f = {' + '.join(f'{k}*q1' for k in range(1, 1001))} on q1;"
    before = gc.get_stats()[0]["collections"]
    kn.loads(text)
    assert gc.get_stats()[0]["collections"] - before < 30  # one for every ten terms, if it were on
    assert gc.isenabled()
    with pytest.raises(kn.ModelError):
        kn.loads(text + ";;)")
    assert gc.isenabled()
