"""Functions given by points: against SciPy's interpolation, as text, in motions, and with what makes no table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, make_interp_spline

import kineta as kn
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.codegen.numpy import FUNCTIONS
from kineta.passes.differentiate import gradient
from kineta.passes.evaluate import evaluate

X, A, B = kn.symbols("x a b")


def values(e: Expr, **known: Any) -> FloatArray:
    return np.asarray(evaluate(e.graph, [e.ref], known, FUNCTIONS)[0])


def points(n: int, seed: int, periodic: bool = False) -> FloatArray:
    rng = np.random.default_rng(seed)
    x, y = np.cumsum(rng.uniform(0.2, 1.0, n)), rng.normal(size=n)
    y[-1] = y[0] if periodic else y[-1]
    return np.stack([x, y], axis=1)


KINDS = {
    ("linear", False): lambda x, y: make_interp_spline(x, y, 1),
    ("monotone", False): PchipInterpolator,
    ("cubic", False): CubicSpline,
    ("natural", False): lambda x, y: CubicSpline(x, y, bc_type="natural"),
    ("quintic", False): lambda x, y: make_interp_spline(x, y, 5),
    ("cubic", True): lambda x, y: CubicSpline(x, y, bc_type="periodic"),
    ("quintic", True): lambda x, y: make_interp_spline(x, y, 5, bc_type="periodic"),
}


@pytest.mark.parametrize("n", [6, 7, 30])
@pytest.mark.parametrize(("kind", "periodic"), KINDS)
def test_kinds_are_those_of_scipy_with_their_derivatives(kind: str, periodic: bool, n: int) -> None:
    rows = points(n, n, periodic)
    expected = KINDS[kind, periodic](*rows.T)
    e = kn.table(X, rows.tolist(), kind, periodic=periodic, outside="hold" if periodic else "extrapolate")
    inside = np.linspace(rows[0, 0], rows[-1, 0], 203)[1:-1]
    for order in range(2 if kind == "linear" else 4):
        wanted = expected(inside, order)
        assert np.allclose(values(e, x=inside), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())
        e = e.diff("x")
    if periodic:
        turned = inside + 3 * (rows[-1, 0] - rows[0, 0])
        e = kn.table(X, rows.tolist(), kind, periodic=True)
        assert np.allclose(values(e, x=turned), expected(inside), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_short_splines_are_those_of_scipy(n: int) -> None:
    rows = points(n, n)
    inside = np.linspace(rows[0, 0], rows[-1, 0], 23)
    for kind, expected in (("cubic", CubicSpline(*rows.T)), ("monotone", PchipInterpolator(*rows.T))):
        found = values(kn.table(X, rows.tolist(), kind, outside="extrapolate"), x=inside)
        assert np.allclose(found, expected(inside), rtol=1e-12, atol=1e-12)


def test_beyond_its_ends_a_table_holds_or_goes_on() -> None:
    rows = [(0, 1), (1, 3), (2, 2)]
    x = np.array([-1.0, 0.0, 2.0, 4.0])
    assert values(kn.table(X, rows), x=x).tolist() == [1, 1, 2, 2]
    assert values(kn.table(X, rows, outside="extrapolate"), x=x).tolist() == [-1, 1, 2, 0]
    assert values(kn.table(X, rows).diff("x"), x=x).tolist() == [0, 2, 0, 0]


@pytest.mark.parametrize("kind", ["linear", "monotone", "cubic", "natural", "quintic"])
def test_derivatives_by_values_forwards_and_backwards(kind: str) -> None:
    rows = points(8, 3).tolist()
    rows[2][1], rows[5][1] = A, A * B
    e = kn.table(X * B, rows, kind)
    known = {"x": 2.3, "a": 0.7, "b": 1.3}
    back = gradient(e.graph, e.ref, {s.ref for s in (X, A, B)})
    for s in (X, A, B):
        h = 1e-6
        more, less = (values(e, **{**known, str(s): known[str(s)] + d}) for d in (h, -h))
        forwards = values(e.diff(s), **known)
        assert forwards == pytest.approx((more - less) / (2 * h), rel=1e-7, abs=1e-9)
        assert evaluate(e.graph, [back[s.ref]], known)[0] == pytest.approx(float(forwards), rel=1e-12)
    mixed = values(e.diff("a").diff("x"), **known), values(e.diff("x").diff("a"), **known)
    assert mixed[0] == pytest.approx(mixed[1], rel=1e-12)


MACHINE = """
    coordinates x, y; Mass | Sx(x), Sy(y) = 2; parameters F = 3 N, G = 2 N;
    force f = table(x; cubic; (-1 m, F), (0 m, G), (2 m, F*2), (3 m, 1 N)) on x;
    force e = table(t; periodic; (0 s, 0 N), (1 s, G), (2 s, 0 N)) on x;
    force g = table(x'; monotone; (-1, 0), (0, F), (1, G), (2, 1)) on y;
    force h = table(y; quintic, extrapolate; (0, 0), (1, 1), (2, 2), (3, 5), (4, F), (5, 2)) on y;
    force i = table'(x; cubic; (0, 0), (1, 1), (2, 0)) on y;
"""


def test_what_is_written_reads_as_it_was() -> None:
    system = kn.loads(MACHINE)
    assert kn.loads(kn.dumps(system)) == system
    e = kn.table(X, [(0, A), (1, B), (2, 0)], "monotone")
    for shown in (e, e.diff("x"), e.diff("a")):
        read = kn.loads(f"coordinates x; parameters a, b; C | Sx(x) = 1; force f = {shown} on x;").elements[0]
        assert read == kn.generalized_force("f", shown, X)


def test_back_ends_agree() -> None:
    equations = kn.derive(kn.loads(MACHINE))
    state = np.random.default_rng(0).uniform(-3, 6, (33, 4))
    given = np.linspace(-3, 5, 33), state[:, :2], state[:, 2:]
    found, expected = (equations.function("forward", backend=b)(*given) for b in ("llvm", "numpy"))
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_formulas_show_the_points() -> None:
    system = kn.loads("coordinates x; A | Sx(x) = 1; force f = table(x; natural; (0, 0), (1, 2), (2, 1)) on x;")
    formulas = kn.derive(system).formulas("inverse")
    assert "table(x; natural; (0, 0), (1, 2), (2, 1))" in " ".join(formulas.text())
    assert r"\operatorname{table}\left(x;\ \text{natural};\ \left(0, 0\right)" in " ".join(formulas.latex())


@pytest.mark.parametrize(
    "force",
    [
        "table(t; (0, 0), (1, G), (2, F))",
        "table(x; cubic, extrapolate; (-1, F), (0, G), (2, F*2), (3, 1))",
        "table(x'; monotone, extrapolate; (-1, 0), (0, F), (1, G), (2, 1))",
    ],
)
def test_sensitivities_by_values_are_differences_of_motions(force: str) -> None:
    system = kn.loads(f"coordinates x; A | Sx(x) = 2; parameters F = 3, G = 2; force f = {force} on x;")
    slopes = kn.sensitivity(system, 1.8, ["F", "G"], rtol=1e-11)["x"][-1]
    for name, value, slope in (("F", 3.0, slopes[0]), ("G", 2.0, slopes[1])):
        ends = [kn.simulate(system, 1.8, p={name: value + d}, rtol=1e-12, atol=1e-13).q[-1, 0] for d in (1e-4, -1e-4)]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-6)


def test_points_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "torque.csv").write_text("place, force\n0, 1.5\n1, 2\n\n2.5,-1e0\n", encoding="utf-8")
    (tmp_path / "m.kin").write_text(
        'coordinates x; A | Sx(x) = 1; force f = table(x; monotone; "torque.csv") on x;', encoding="utf-8"
    )
    written = kn.dumps(kn.load(tmp_path / "m.kin"))
    assert "table(x; monotone; (0, 1.5), (1, 2), (2.5, -1))" in written


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file has no points; expected lines of 2 numbers, as in '0, 1.5'."),
        ("x, y\n", "the file has no points"),
        ("0; 1\n1; 2\n", "f.csv:1: expected 2 numbers, with commas between them and points in them, found '0; 1'."),
        ("0, 1\n1, nan\n", "f.csv:2: expected a finite number, found 'nan'."),
        ("0, 1\nx, y\n", "f.csv:2: expected a finite number, found 'x'."),
        ("0, 1, 2\n", "f.csv:1: expected 2 numbers, found '0, 1, 2'."),
        ("0, 1\n0, 2\n", "the places of a table must rise, found 0 after 0 at point 2."),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "f.csv").write_text(content, encoding="utf-8")
    (tmp_path / "m.kin").write_text('coordinates x; A | Sx(x) = 1; force f = table(x; "f.csv") on x;', encoding="utf-8")
    with pytest.raises(kn.ModelError, match=r"m\.kin:1:") as error:
        kn.load(tmp_path / "m.kin")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("force", "said"),
    [
        ("table(x; (0, 0))", "a linear table needs 2 points at least, found 1."),
        ("table(x; quintic; (0, 0), (1, 1))", "a quintic table needs 6 points at least, found 2."),
        ("table(x; (0, 0), (0, 1))", "the places of a table must rise, found 0 after 0 at point 2."),
        ("table(x; (0, 0), (a, 1))", "the places of a table are numbers, found 'a' at point 2."),
        ("table(x; qubic; (0, 0), (1, 1))", "unknown kind of table 'qubic'; the kinds are linear, monotone, cubic,"),
        ("table(x; cubic, linear; (0, 0), (1, 1))", "a table has one kind, found cubic and linear."),
        ("table(x; hold, extrapolate; (0, 0), (1, 1))", "holds or extrapolates beyond its ends; one of these."),
        ("table(x; natural, periodic; (0, 0), (1, 1), (2, 0))", "a natural spline has ends"),
        (
            "table(x; periodic; (0, 0), (1, 1), (2, 1))",
            "the last point of a periodic table has the value of the first one",
        ),
        ("table(x; (0, 0), (1, 1, 1))", "point 2 of a table has 3 entries, expected 2: x and y."),
        ("table(1 kg; (0 m, 0), (1 m, 1))", "place 1 of the table must be a mass [kg], found a length [m]."),
        (
            "table(x; (0, 1 N), (1, 1 m))",
            "value 2 of the table must be, as those before, a force [kg*m/s^2], found a length [m].",
        ),
        ("table(x, 0)", "table takes a quantity and points behind a semicolon, as in table(x; (0, 0), (1, 2))."),
        ("sin(x; (0, 0), (1, 1))", "expected ')', ',' or an operator, found ';'"),
        ('table(x; "none.csv")', "none.csv: there is no such file."),
    ],
)
def test_what_makes_no_table(force: str, said: str) -> None:
    with pytest.raises(kn.ModelError, match=r"<text>:1:\d+: ") as error:
        kn.loads(f"coordinates x; parameters a = 1; A | Sx(x) = 1; force f = {force} on x;")
    assert said in str(error.value)
