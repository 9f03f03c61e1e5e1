"""Coefficients whose quotients no double holds raise no false alarm, wherever they stand in a model."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ModelError
from tests.support import some

#: Coefficients, some with quotients that are rounded, some with products.
COEFFICIENTS = (3.0, 5.0, 6.0, 7.0, 0.5, 0.75, 1.5, 0.1, 0.7, 1 / 3, 2.0, 1.0)

#: One place each, in small models.
PLACES = {
    "quasi-velocities": "A | Sx(x), Sy(y) = 2; force f on A = (1, 2, 0); quasi u = x' + 3*y', w = 0.5*x' - y';",
    "ones that make a three": """A | Sx(x), Sy(y), Sz(z) = 2; force f on A = (1, 2, 3);
        quasi u = x' + y' + z', v = y' - x', w = z' - x';""",
    "constraints": """A | Sx(x), Sy(y), Sz(z) = 2; force f on A = (1, 2, 3); constraint c : 0.5*x' - 5*y' + 3*z' = 1;
        quasi u = z' + x', w = x' - 3*y';""",
    "a place under quasi-velocities": "A | Sx(x), Sy(y) = 2; constraint c : x + sin(x)/3 + 3*y = 0.5*t; quasi w = x' + 5*y';",
    "directions": """A | R[0.6, 0.8, 0](x), Sx(1) = 2, 3, 4, 5; B ~ A | R[0.1, 0.3, 1](y), Sy(1) = 2, 3, 4, 5;
        C ~ B | S[1, 2, 3](z) = 3;""",
    "turns": "A | Rz(0.5), Rx(x), Ry(0.25), Rz(y), Sx(1) = m(2), Jx(3), Jy(3), Jz(3);",
    "a loop": """gravity (0, -3, 0); A | Rz(x), Sx(3) = 3, 7, 7, 5; B ~ A | Rz(y), Sx(5) = 3, 7, 7, 5;
        loop l : line between ground at (3, 0.5, 0) axis (3, 0.5, 0) and B; initial y = -0.5;""",
    "a rolling wheel": """gravity 3; Wheel | Sx(x), Sy(y), Sz(3), Rz(phi), Ry(z) = 3, 5, 7, 5; coordinates x, y, z, phi;
        rolling r : wheel = 3 between Wheel axis (0, 1, 0) and ground axis (0, 0, 1); force f on Wheel = (3, 5, 7);""",
}


@pytest.mark.slow
@pytest.mark.parametrize("place", some(PLACES, 3))
def test_no_digit_is_rounded(place: str) -> None:
    text = PLACES[place] if "coordinates" in PLACES[place] else _listed(PLACES[place])
    certificate = kn.verify(kn.loads(text), states=3)
    assert certificate.holds, str(certificate)
    assert all(r.precise is not None and r.precise < 1e-45 for r in certificate.rows)


def _listed(text: str) -> str:
    return f"coordinates {', '.join(n for n in 'xyz' if f'({n})' in text)}; {text}"


def everywhere(seed: int) -> kn.System:
    """A random model with such coefficients in motions, bodies, elements, names, constraints, loops and quasi-velocities."""
    rng = np.random.default_rng(seed)
    q = ["x", "y", "z", "a", "b"]

    def size() -> str:
        return repr(float(rng.choice(COEFFICIENTS)))

    def number() -> str:
        return f"({'-' if rng.random() < 0.5 else ''}{size()})"

    def vector() -> str:
        return f"({number()}, {number()}, {size()})"

    def linear(n: int, prime: str = "'") -> str:
        return " + ".join(f"{number()}*{x}{prime}" for x in rng.permutation(q)[:n])

    parts = [
        f"coordinates {', '.join(q)}; gravity {vector()}; let s = sin({number()}*x)/{size()} + {number()}*y;",
        f"A | Sx({number()}*x), Sy({number()}*y), Sz({number()}*z), Rx({number()})",
        f"  = m({size()}), Jx(7), Jy(6), Jz(5), com = {vector()};",
        f"B ~ A | R[{number()}, {number()}, {size()}](a), Sx({number()}) = m({size()}), Jx(3), Jy(3), Jz(3);",
        f"C ~ B | Ry({number()}), S[{size()}, {number()}, {number()}](b), Sy({number()}) = {size()};",
        f"spring sp = {size()}, {size()} between ground at {vector()} and C at {vector()}; damper da = {size()} on b;",
        f"force f on C at {vector()} = ({number()}*s, {number()}*sin({number()}*t), {number()}/{size()}) in ground;",
        f"inertia i = {size()} on {linear(2)};",
    ]
    kind = seed % 4
    if kind in (0, 2):
        parts.append(f"constraint h : {linear(3)} = {number()};")
    if kind in (2, 3):
        parts.append(f"constraint k : {linear(2, '')} + s/{size()} = {number()}*t;")
    if kind == 1:
        parts.append(f"loop l : line between ground at {vector()} axis {vector()} and C at {vector()};")
    if kind in (0, 3):
        parts.append(f"quasi {', '.join(f'w{k} = {linear(3)}' for k in range(4))};")
    return kn.loads("\n".join(parts))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_no_digit_is_rounded_anywhere(seed: int) -> None:
    try:
        certificate = kn.verify(everywhere(seed), states=4)
    except ModelError as error:
        if "depend on each other" not in str(error):  # quasi-velocities drawn so
            raise
        return
    assert certificate.holds, str(certificate)
    assert all(r.refused or (r.precise is not None and r.precise < 1e-40) for r in certificate.rows)


@pytest.mark.slow
def test_quarter_turns_but_for_rounding_are_quarter_turns() -> None:
    model = kn.loads(
        "A | Ry(q) = 1, 0.1, 0.2, 0.3; coordinates q, p, r;"
        "B ~ A | Rz(5*60 deg - 30 deg), Sx(0.3), Rz(p), Ry(r) = 1, 0.2, 0.3, 0.4;"
    )
    certificate = kn.verify(model, states=2)
    assert certificate.holds, str(certificate)
    assert all(r.precise is not None and r.precise < 1e-40 for r in certificate.rows)
