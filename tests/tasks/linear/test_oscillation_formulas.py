"""Matrices and the characteristic polynomial of small oscillations, against linearisation in numbers and against books."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import Ref
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_system
from tests.support import EXAMPLES

PENDULUM = EXAMPLES / "double_pendulum.kin"
HANGING = {"q1": 0.0, "q2": 0.0}
CART = """parameters m = 1, k = 2, c = 3, M = 2, l = 1, g = 9.81; gravity g;
Cart | Sx(x) = M; Bob ~ Cart | Ry(q), Sz(-l) = m; spring s = k on x; damper d = c on x';"""
ROTOR = "parameters J = 1, C = 2, k = 2, W = 3; R | Rx(a), Ry(b), Rz(W*t) = 1, J, J, C; spring e = k on a; spring f = k on b;"


def values(found: kn.OscillationFormulas, refs: Iterable[Ref]) -> np.ndarray:
    """The values of *refs* at the parameters of the model."""
    known = {p.name: p.value for p in found.system.parameters}
    return np.array(evaluate(found.graph, list(refs), known), float)


def block(found: kn.OscillationFormulas, letter: str) -> np.ndarray:
    n = len(found.coordinates)
    return values(found, (ref for row in found.matrices[letter] for ref in row)).reshape(n, n)


def by_size(x: np.ndarray) -> np.ndarray:
    return x[np.lexsort((x.real.round(6), x.imag.round(6)))]


def test_books() -> None:
    assert kn.oscillation_formulas(kn.loads(CART)).lines() == [
        "mass[x,x] = m + M",
        "mass[x,q] = -m*l",
        "mass[q,q] = m*l^2",
        "damping[x,x] = c",
        "stiffness[x,x] = k",
        "stiffness[q,q] = m*l*g",
        "det(mass*s^2 + damping*s + stiffness) = m*M*l^2*s^4 + m*c*l^2*s^3 + m*l*(m*g + k*l + M*g)*s^2 + m*c*l*g*s + m*k*l*g",
    ]
    rotor = kn.oscillation_formulas(kn.loads(ROTOR))
    assert rotor.lines()[2:4] == ["D[a,b] = C*W", "D[b,a] = -C*W"]
    assert rotor.lines()[-1] == "det(M*s^2 + D*s + K) = J^2*s^4 + (C^2*W^2 + 2*J*k)*s^2 + k^2"
    assert r"\det\left(M\,{s}^{2} + D\,s + K\right) &= {J}^{2}\,{s}^{4}" in rotor.latex()
    assert str(rotor.sympy()["polynomial"].as_expr()) == "J**2*s**4 + k**2 + s**2*(C**2*W**2 + 2*J*k)"
    upright = kn.loads("parameters m = 1, l = 1, g = 9.81; gravity g; B | Ry(q), Sz(l) = m;")
    assert kn.oscillation_formulas(upright).lines()[-1] == "det(M*s^2 + D*s + K) = m*l^2*s^2 - m*l*g"


@pytest.mark.parametrize("text", [CART, ROTOR, PENDULUM.read_text().replace("initial", "# initial")])
def test_its_zeros_are_the_eigenvalues(text: str) -> None:
    system = kn.loads(text)
    found, linear = kn.oscillation_formulas(system), kn.linearize(system)
    zeros = np.roots(values(found, found.polynomial)[::-1])
    assert by_size(zeros) == pytest.approx(by_size(linear.eigenvalues), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_matrices_of_random_trees_give_the_linearisation(seed: int) -> None:
    """A of x' = A x has -M^-1 K and -M^-1 D in its lower half."""
    tree = random_system(seed, n=3).replace(gravity=(0, 0, 0))
    plain = [n for n in tree.q_names if f"{n}'" in tree.v_names]
    acting = "".join(
        f"spring s{n} = k on {n}; damper d{n} = 0.3 on {n}'; potential V{n} = {n}*{plain[0]};" for n in plain
    )
    system = kn.loads(f"parameters k = 1.7; {kn.dumps(tree)} {acting}")
    found, linear = kn.oscillation_formulas(system), kn.linearize(system)
    M, D, K = (block(found, letter) for letter in "MDK")
    assert K.any()
    assert D.any()
    lower = np.linalg.solve(M, -np.hstack([K, D]))
    assert lower == pytest.approx(linear.A[len(M) :], rel=1e-9, abs=1e-9 * np.abs(linear.A).max())


@pytest.mark.slow
def test_closed_mechanisms_move_as_their_independent_coordinates() -> None:
    linkage = kn.load(EXAMPLES / "fourbar.kin")
    at = kn.equilibrium(linkage)
    with pytest.warns(kn.KinetaWarning, match="with other parameters this state misses"):
        found = kn.oscillation_formulas(linkage, at)
    assert len(found.coordinates) == 1
    M, K = (block(found, letter)[0, 0] for letter in "MK")
    assert kn.modes(linkage, at).eigenvalues ** 2 == pytest.approx(-K / M, rel=1e-9)
    assert not any(line.startswith("det") for line in found.lines())  # too long to be read


def test_a_parameter_s_leaves_its_name() -> None:
    model = kn.loads("parameters s = 2, m = 3; coordinates x; B | Sx(x) = m; spring c = s on x;")
    assert kn.oscillation_formulas(model).lines()[-1] == "det(M*sigma^2 + D*sigma + K) = m*sigma^2 + s"


@pytest.mark.parametrize(
    ("system", "about", "sentence"),
    [
        (PENDULUM, {"q1": 1.0, "q2": 0.0}, "the state is no equilibrium: q1' changes by -"),
        (PENDULUM, {**HANGING, "q1'": 1.0}, r"found q1' other than 0; .* kineta linearize --formulas"),
        (EXAMPLES / "skate.kin", None, "its constraints are on speeds"),
        (EXAMPLES / "vertical_disk.kin", None, "its constraints are on speeds"),
    ],
)
def test_other_states_and_systems_are_told(system: str, about: object, sentence: str) -> None:
    with pytest.raises(kn.ArgumentError, match=sentence):
        kn.oscillation_formulas(kn.load(system), about)
