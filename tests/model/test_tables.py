"""Functions given by points: against SciPy's interpolation, as text, in motions, and with what makes no table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import (
    CubicSpline,
    PchipInterpolator,
    RectBivariateSpline,
    RegularGridInterpolator,
    make_interp_spline,
)

import kineta as kn
from kineta.algebra import tables as tables_of_points
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.codegen.numpy import FUNCTIONS
from kineta.expr import tables
from kineta.model.dimensions import output_units
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.io.kin_reader import parsed
from kineta.passes.differentiate import gradient
from kineta.passes.evaluate import evaluate
from kineta.tolerances import EPS

X, Y, A, B = kn.symbols("x y a b")


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


@pytest.mark.parametrize(("kind", "degree"), [("cubic", 3), ("quintic", 5)])
@pytest.mark.parametrize("n", [6, 7, 8, 12])
@pytest.mark.parametrize("gap", [1e-1, 1e-3])
def test_splines_go_on_with_their_digits_beyond_short_pieces(kind: str, degree: int, n: int, gap: float) -> None:
    """Of a polynomial, which they are: as many digits as its values have, which lose more the farther it goes on."""
    x = np.linspace(0.0, 1.0, n)
    x[1], x[-2] = gap / n, 1 - gap / n
    exact = np.polynomial.Polynomial(np.arange(1.0, degree + 2))
    e = kn.table(X, np.stack([x, exact(x)], axis=1).tolist(), kind, outside="extrapolate")
    for order in range(3):
        for far in (0.1, 1.0, 10.0):
            wanted = exact.deriv(order)(np.array([-far, 1 + far])) if order else exact(np.array([-far, 1 + far]))
            lost = 100 / gap * (1 + far * n) ** degree * n**order * 2.2e-16
            np.testing.assert_allclose(values(e, x=np.array([-far, 1 + far])), wanted, rtol=0, atol=lost * exact(1.0))
        e = e.diff("x")


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("periodic", [False, True])
def test_quintic_splines_keep_their_digits_between_places_near_each_other(periodic: bool, gap: float) -> None:
    rows = points(9, 4, periodic)
    rows[3, 0] = rows[2, 0] + gap
    expected = KINDS["quintic", periodic](*rows.T)
    inside = np.linspace(rows[0, 0], rows[-1, 0], 203)[1:-1]
    wanted = expected(inside)
    given: list[list[Any]] = rows.tolist()
    given[2][1], given[3][1] = A, B
    of_numbers = values(kn.table(X, rows.tolist(), "quintic", periodic=periodic), x=inside)
    of_parameters = values(kn.table(X, given, "quintic", periodic=periodic), x=inside, a=rows[2, 1], b=rows[3, 1])
    # The length of the gap is known to eps/gap only, and so is the spline that follows from the slope across it.
    allowed = 8 * EPS / gap * np.abs(wanted).max()
    assert np.allclose(of_numbers, wanted, rtol=0, atol=allowed)
    assert np.allclose(of_parameters, wanted, rtol=0, atol=allowed)


def test_quintic_splines_of_two_quantities_keep_their_digits_between_places_near_each_other() -> None:
    x, y, known, _ = grid(8, 7, 5)
    x[3], y[3] = x[2] + 1e-3, y[2] + 1e-3
    rows: list[tuple[Any, ...]] = [tuple(y), *((a, *row) for a, row in zip(x, known, strict=True))]
    rng = np.random.default_rng(0)
    at, beside = rng.uniform(x[0], x[-1], 40), rng.uniform(y[0], y[-1], 40)
    wanted = make_interp_spline(x, make_interp_spline(y, known, 5, axis=1)(beside), 5)(at)[range(40), range(40)]
    found = values(kn.table((X, Y), rows, "quintic"), x=at, y=beside)
    assert np.allclose(found, wanted, rtol=0, atol=8 * EPS / 1e-3 * np.abs(wanted).max())


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


def test_a_peak_between_slopes_that_are_opposite_is_flat() -> None:
    points = "(t; monotone; (0, 0), (1, F), (2, 0))"
    system = kn.loads(f"A | Sx(1) = 1; parameters F = 3; output peak = table{points}, slope = table'{points};")
    np.testing.assert_array_equal(kn.derive(system).function("outputs")(1.0, [], []), [3.0, 0.0])


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
    force j = table(x, y'; cubic, extrapolate; (0 m/s, 1 m/s, 2), (0 m, 1 N, 2 N, F), (1 m, 0, 0, 0), (3, 4, 5, F)) on x;
    force k = table(x, y; (0, 1), (-1, 0, 0), (1, 2, G)) on y;
    force l = table(y; periodic; (0, 1), (2, table(x; monotone; (0, 1), (1, 3))), (3, 1)) on y;
"""


def grid(n: int, m: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray, list[tuple[Any, ...]]]:
    rng = np.random.default_rng(seed)
    x, y, values = *(np.cumsum(rng.uniform(0.3, 1.0, k)) for k in (n, m)), rng.normal(size=(n, m))
    return x, y, values, [tuple(y), *((a, *row) for a, row in zip(x, values, strict=True))]


def test_tables_of_two_quantities_are_those_of_scipy_with_their_derivatives() -> None:
    x, y, known, rows = grid(7, 6, 1)
    rng = np.random.default_rng(0)
    at, beside = rng.uniform(x[0], x[-1], 40), rng.uniform(y[0], y[-1], 40)
    flat = values(kn.table((X, Y), rows), x=at, y=beside)
    assert np.allclose(flat, RegularGridInterpolator((x, y), known)(np.stack([at, beside], 1)), rtol=1e-12, atol=1e-14)
    for kind, degree in (("cubic", 3), ("quintic", 5)):
        wanted = RectBivariateSpline(x, y, known, kx=degree, ky=degree, s=0)
        for i, j in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1)):
            e = kn.table((X, Y), rows, kind)
            for s in (X,) * i + (Y,) * j:
                e = e.diff(s)
            expected = wanted.ev(at, beside, i, j)
            assert np.allclose(values(e, x=at, y=beside), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_beyond_the_ends_of_both_quantities_a_table_holds_goes_on_or_repeats() -> None:
    rows = [(0, 1), (0, 1, 2), (1, 3, 5)]
    at = {"x": np.array([-1.0, 2.0, 0.5]), "y": np.array([0.5, 2.0, -1.0])}
    assert values(kn.table((X, Y), rows), **at).tolist() == [1.5, 5.0, 2.0]
    assert values(kn.table((X, Y), rows, outside="extrapolate"), **at).tolist() == [-1.0, 11.0, 0.5]
    rows = [(0, 1, 3), (0, 1, 2, 1), (1, 3, 5, 3), (3, 1, 2, 1)]
    e = kn.table((X, Y), rows, "cubic", periodic=True)
    turned = values(e, x=at["x"] + 6, y=at["y"] - 9)
    assert np.allclose(values(e, **at), turned, rtol=1e-12)


def test_derivatives_of_two_quantities_by_values_forwards_and_backwards() -> None:
    rows = [(0, 1, 3), (0, A, 2, B), (1, 0, 0, 0), (3, 1, A * B, 4)]
    known = {"x": 0.7, "y": 1.2, "a": 0.4, "b": 1.3}
    for kind in ("linear", "cubic"):
        e = kn.table((X, Y), rows, kind)
        back = gradient(e.graph, e.ref, {s.ref for s in (X, Y, A, B)})
        for s in (X, Y, A, B):
            ends = (values(e, **{**known, str(s): known[str(s)] + d}) for d in (1e-6, -1e-6))
            forwards = values(e.diff(s), **known)
            assert forwards == pytest.approx(-float(np.diff([*ends])[0]) / 2e-6, rel=1e-8, abs=1e-9)
            assert evaluate(e.graph, [back[s.ref]], known)[0] == pytest.approx(float(forwards), rel=1e-12)


def test_what_is_written_reads_as_it_was() -> None:
    system = kn.loads(MACHINE)
    assert kn.loads(kn.dumps(system)) == system
    e = kn.table(X, [(0, A), (1, B), (2, 0)], "monotone")
    both = kn.table((X, X * A), [(0, 1), (0, A, 0), (2, 3, B)], "cubic")
    for shown in (e, e.diff("x"), e.diff("a"), both, both.diff("x"), both.diff("a")):
        text = f"coordinates x; parameters a, b; C | Sx(x) = 1; force f = {shown} on x;"
        (read,) = kn.loads(text).elements
        assert isinstance(read, GeneralizedForce)
        known = {"x": 0.7, "a": 1.3, "b": 0.4}
        assert values(read.characteristic, **known) == pytest.approx(float(values(shown, **known)), rel=1e-13)
        assert shown in (both.diff("x"), both.diff("a")) or read == kn.generalized_force("f", shown, X)


def test_back_ends_agree() -> None:
    equations = kn.derive(kn.loads(MACHINE))
    state = np.random.default_rng(0).uniform(-3, 6, (33, 4))
    given = np.linspace(-3, 5, 33), state[:, :2], state[:, 2:]
    found, expected = (equations.function("forward", backend=b)(*given) for b in ("llvm", "numpy"))
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "ends"),
    [("linear", "hold"), ("monotone", "extrapolate"), ("cubic", "periodic"), ("quintic", "extrapolate")],
)
def test_long_tables_have_the_bits_of_choices(kind: str, ends: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = points(20, 3, periodic=ends == "periodic")
    shown = ", ".join(f"({a!r}, {b!r})" for a, b in rows.tolist())
    text = (
        f"coordinates x; A | Sx(x) = 1; force f = table(x; {kind}, {ends}; {shown}) - table(x; {kind}'; {shown}) on x;"
    )
    text = text.replace(f"table(x; {kind}'", f"table'(x; {kind}")
    q = np.array([*rows[:, 0], *np.random.default_rng(1).uniform(-9, 40, 99), -1e30, 1e30, np.nan])[:, None]
    found = []
    for longest in (tables.LONG, 99):
        monkeypatch.setattr(tables, "LONG", longest)
        equations = kn.derive(kn.loads(text))
        for quantity in ("forward", "forward_derivatives"):
            given = (0.0, q, 0 * q) if quantity == "forward" else (0.0, q, 0 * q, 0 * q)
            found.append([np.asarray(equations.function(quantity, backend=b)(*given)) for b in ("llvm", "numpy")])
    for long, short in zip(found[:2], found[2:], strict=True):
        for x, y in zip(long, short, strict=True):
            np.testing.assert_array_equal(x, y)


def test_formulas_show_the_points() -> None:
    system = kn.loads("coordinates x; A | Sx(x) = 1; force f = table(x; natural; (0, 0), (1, 2), (2, 1)) on x;")
    formulas = kn.derive(system).formulas("inverse")
    assert "table(x; natural; (0, 0), (1, 2), (2, 1))" in " ".join(formulas.text())
    assert r"\operatorname{table}\left(x;\ \text{natural};\ \left(0, 0\right)" in " ".join(formulas.latex())


@pytest.mark.slow
def test_grids_are_shown_as_rows_in_formulas_and_derivations() -> None:
    rows = "(0, 1, 2), (0, a*b, 2, 3), (1, a*b, 2, 3), (2, 0, 0, 4)"
    system = kn.loads(f"""
        coordinates x, y; parameters a = 1, b = 2; A | Sx(x), Sy(y) = 1; force f = table(x, y; cubic; {rows}) on x;
        force g = if(x < a, table(y; cubic; {", ".join(f"({k}, {k + 1}*a*b)" for k in range(30))}), 1) on y;
    """)
    equations = kn.derive(system)
    shown = [" ".join(equations.formulas("inverse").text(parts=parts)) for parts in (True, False)]
    shown += [str(equations.account()), str(equations.matrix_form())]
    for text in shown:
        assert f"table(x, y; cubic; {rows})" in text
        assert "table(y; cubic; (0, a*b), (1, 2*a*b), (2, 3*a*b), (3, 4*a*b), ..., (29, 30*a*b))" in text


@pytest.mark.slow
def test_the_values_of_a_table_are_fitted_to_a_motion() -> None:
    text = "coordinates x; A | Sx(x) = 1; parameters a = {}, b = {}; force f = table(x, x'; (0, 4), (0, a, 2), (2, b, 1)) on x;"
    truth = kn.simulate(kn.loads(text.format(3, 1)), 1.0, rtol=1e-11)
    found = kn.fit(kn.loads(text.format(2.5, 1.5)), {"x": truth["x"]}, ["a", "b"], t=truth.t, rtol=1e-11)
    assert found.x == pytest.approx([3, 1], rel=1e-8)


@pytest.mark.parametrize(
    "force",
    [
        "table(t; (0, 0), (1, G), (2, F))",
        "table(x; cubic, extrapolate; (-1, F), (0, G), (2, F*2), (3, 1))",
        "table(x'; monotone, extrapolate; (-1, 0), (0, F), (1, G), (2, 1))",
        "table(x, x'; (0, 1), (-1, F, 2), (0.5, G, 1), (2, F*2, 3))",
        "table(x, x'; cubic; (0, 1), (-1, F, 2), (0.5, G, 1), (5, F*2, 3))",
        "table(t; cubic; (0, F), (0.5, G - x'), (1, t - x^2), (2, F*x))",
        "table(x; quintic; (-1, F), (0, G), (1, -x'), (2, t*x'), (3, 1 - x), (4, F*x))",
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


MOTOR = """\
speed [rpm], "torque [N*m]", losses
0, 12, 0
1000, 10, 0.5
3000, 4, 2
"""


def test_columns_of_a_file_are_chosen_by_their_headings(tmp_path: Path) -> None:
    (tmp_path / "motor.csv").write_text(MOTOR, encoding="utf-8")
    (tmp_path / "map.csv").write_text("x, 0, 1\n0, 5, 6\n2, 7, 9\n", encoding="utf-8")
    (tmp_path / "m.kin").write_text(
        """coordinates phi; Rotor | Rz(phi) = Jz(1);
        force a = table(phi'; "motor.csv"; torque)
            - table(phi'; cubic; "motor.csv"; speed, losses) + table(phi, phi'; "map.csv") on phi;
        """,
        encoding="utf-8",
    )
    force = kn.load(tmp_path / "m.kin").elements[0]
    turn, omega = kn.symbols("phi phi'")
    speeds = [n * (2 * np.pi / 60) for n in (0.0, 1000.0, 3000.0)]
    torque = kn.table(omega, zip(speeds, (12, 10, 4), strict=True))
    losses = kn.table(omega, zip(speeds, (0, 0.5, 2), strict=True), "cubic")
    both = kn.table((turn, omega), [(0, 1), (0, 5, 6), (2, 7, 9)])
    assert force == kn.generalized_force("a", torque - losses + both, turn)


@pytest.mark.parametrize(
    ("table", "content", "said"),
    [
        ('x; "f.csv"', "0, 1_0\n1, 2\n", "f.csv:1: expected a finite number, found '1_0'."),
        (
            'x; "f.csv"',
            f"0, 1{' ' * 200000}\n",
            "f.csv:1: expected numbers with commas between them, found a line that is not div",
        ),
        ('x; "f.csv"; c', "a, b\n0, 1\n", "f.csv: there is no column 'c'; the headings are a, b."),
        ('x; "f.csv"; torqe', "a, torque\n0, 1\n", "Did you mean 'torque'?"),
        ('x; "f.csv"; b', "a, b, b\n0, 1, 2\n", "f.csv: the heading 'b' stands 2 times."),
        ('x; "f.csv"; b', "0, 1\n", "f.csv: the file has no headings, so that no columns can be chosen by name."),
        (
            'x; "f.csv"; a, b, c',
            "a, b, c\n0, 1, 2\n",
            "has 2 columns, of which the first one need not be named, found 3 names.",
        ),
        ('x; "f.csv"; b', "a, b [Nmm]\n0, 1\n1, 2\n", "f.csv: in the heading 'b [Nmm]': Expected a unit, found 'Nmm'."),
        ('1 m; "f.csv"', "a [s], b\n0, 1\n1, 2\n", "place 1 of the table must be a length [m], found a time [s]."),
        ('t; "f.csv"', "w [m], b\n0, 1\n1, 2\n", "place 1 of the table must be a time [s], found a length [m]."),
        ('x; "f.csv"; b', "a, b, c\n0, 1\n", "f.csv:2: expected 3 numbers, found '0, 1'."),
        (
            'x, t; "f.csv"',
            "",
            "f.csv: the file has no grid; expected a line of places and lines of a place and values.",
        ),
        ('x, t; "f.csv"', "0, 1\n1, 2\n", "f.csv:1: expected an empty cell or a word, then places, found '0'."),
        ('x, t; "f.csv"', ", 0, 1\n1, 2\n", "f.csv:2: expected 3 numbers, found '1, 2'."),
        ('x, t; "f.csv"', ", 0, 1\n1, 2, x\n", "f.csv:2: expected a finite number, found 'x'."),
    ],
)
def test_columns_and_grids_that_are_none(tmp_path: Path, table: str, content: str, said: str) -> None:
    (tmp_path / "f.csv").write_text(content, encoding="utf-8")
    (tmp_path / "m.kin").write_text(f"coordinates x; A | Sx(x) = 1; force f = table({table}) on x;", encoding="utf-8")
    with pytest.raises(kn.ModelError, match=r"m\.kin:1:") as error:
        kn.load(tmp_path / "m.kin")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file has no points; expected lines of 2 numbers, as in '0, 1.5'."),
        ("x, y\n", "the file has no points"),
        ("0; 1\n1; 2\n", "f.csv:1: expected 2 numbers, with commas between them and points in them, found '0; 1'."),
        ("0, 1\n1, nan\n", "f.csv:2: expected a finite number, found 'nan'."),
        ("0, 1\nx, y\n", "f.csv:2: expected a finite number, found 'x'."),
        ("0, 1, 2\n", "f.csv:1: expected 2 numbers, found '0, 1, 2'."),
        ("x, y\n0, 1\n2, 2\n\n1, 3\n", "f.csv:5: expected places that rise, found 1 after 2."),
        ("0, 1\n0, 2\n", "f.csv:2: expected places that rise, found 0 after 0."),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "f.csv").write_text(content, encoding="utf-8")
    (tmp_path / "m.kin").write_text('coordinates x; A | Sx(x) = 1; force f = table(x; "f.csv") on x;', encoding="utf-8")
    with pytest.raises(kn.ModelError, match=r"m\.kin:1:") as error:
        kn.load(tmp_path / "m.kin")
    assert said in str(error.value)


def test_tables_have_a_largest_number_of_points(tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_text("\n" * 400_001)
    text = 'coordinates x; A | Sx(x) = 1; force f = table(x; "many.csv") on x;'
    (tmp_path / "m.kin").write_text(text)
    with pytest.raises(
        kn.ModelError, match=r"expected 200000 lines of points at most, found 400002; take some of them"
    ):
        kn.load(tmp_path / "m.kin")
    with pytest.raises(kn.ExpressionError, match="a table has 200000 points at most, found 200001; take some"):
        kn.table(X, zip(range(200_001), range(200_001), strict=True))


def test_points_of_numbers_in_a_text_are_one_word() -> None:
    rows = [(0.5 * i, (7919 * i) % 1000 / 1000) for i in range(3000)]
    text = ", ".join(f"({x} m, {y} N)" for x, y in rows[:-1])
    model = f"A | Sx(x) = 1 kg; force f = table(x; {text}, # the last one\n ({rows[-1][0]}, F)) on x;"
    _, tree = parsed(model, "<text>")
    assert len(list(tree.scan_values(lambda token: True))) < 50
    (force,) = kn.loads(f"parameters F = {rows[-1][1]} N; coordinates x; {model}").elements
    assert isinstance(force, GeneralizedForce)
    expected = kn.table(kn.symbol("x"), [*rows[:-1], (rows[-1][0], kn.symbol("F"))])
    assert force.characteristic == expected


def test_numbers_of_points_are_told_where_they_stand() -> None:
    with pytest.raises(kn.ModelError, match=r"^<text>:2:9: Expected a unit, found 'foo'"):
        kn.loads("A | Sx(x) = 1; force f = table(x; (0, 1 N),\n  (1 m, 2 foo)) on x;")
    with pytest.raises(kn.ModelError, match=r"^<text>:1:43: expected '\)', ',' or an operator, found '\('"):
        kn.loads("A | Sx(x) = 1; force f = table(x; (0, 1)  (1, 2), (2, 3)) on x;")


def test_slopes_of_a_spline_hang_on_near_values_only() -> None:
    y = [kn.symbol(f"y{i}") for i in range(120)]
    ((*_, slope),) = tables_of_points._slopes("natural", range(120), y, periodic=False)
    assert 20 < len(slope.symbols()) < 35


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "m.kin").write_text('coordinates x; A | Sx(x) = 1; force f = table(x; ".") on x;', encoding="utf-8")
    with pytest.raises(kn.ModelError, match=r"m\.kin:1:41: .*: expected a file of points, found a folder\.$"):
        kn.load(tmp_path / "m.kin")


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
        ("table(t; (0 m, 0), (1 m, 1))", "place 1 of the table must be a time [s], found a length [m]."),
        ("table(x/t; (0 m, 0), (1 m, 1))", "place 1 of the table must be a velocity [m/s], found a length [m]."),
        (
            "table(x; (0, 1 N), (1, 1 m))",
            "value 2 of the table must be, as those before, a force [kg*m/s^2], found a length [m].",
        ),
        ("table(x, 0)", "table takes a quantity and points behind a semicolon, as in table(x; (0, 0), (1, 2)), or two"),
        (
            "table(x, x', x; (0, 1), (0, 5, 6), (1, 7, 9))",
            "or two quantities and a grid, as in table(x, y; (0, 1), (0, 5,",
        ),
        (
            "table(x, x'; monotone; (0, 1), (0, 5, 6), (1, 7, 9))",
            "is linear, cubic, natural or quintic, found monotone.",
        ),
        (
            "table(x, x'; (0, 1), (0, 5), (1, 7, 9))",
            "row 2 of a table of two quantities has 2 entries, expected 3: a place and 2",
        ),
        ("table(x, x'; (0, 1))", "and a row (x, values) for each place of the first one, found 1 row."),
        ("table(x, x'; (0, 1), (1, 5, 6), (1, 7, 9))", "the places of a table must rise, found 1 after 1 at point 2."),
        ("table(x, x'; (1, 1), (0, 5, 6), (1, 7, 9))", "the places of a table must rise, found 1 after 1 at point 2."),
        ("table'(x, x'; (0, 1), (0, 5, 6), (1, 7, 9))", "has no prime, since it has two derivatives."),
        (
            "table(1 kg, 1 s; (0 m, 1 s), (0, 5, 6), (1, 7, 9))",
            "place 1 in the first row of the table must be a time [s], found",
        ),
        (
            "table(1 kg, 1 s; (0, 1), (0 m, 5, 6), (1, 7, 9))",
            "the place of row 2 of the table must be a mass [kg], found a l",
        ),
        (
            "table(1 kg, 1 s; (0, 1), (0, 5 m, 6 N), (1, 7, 9))",
            "value 2 in row 2 of the table must be, as others, a length",
        ),
        ('table(x, x\'; "f.csv"; a, b)', "is one grid, of which no columns are chosen."),
        ("sin(x; (0, 0), (1, 1))", "expected ')', ',' or an operator, found ';'"),
        ('table(x; "none.csv")', "none.csv: there is no such file."),
    ],
)
def test_what_makes_no_table(force: str, said: str) -> None:
    with pytest.raises(kn.ModelError, match=r"<text>:1:\d+: ") as error:
        kn.loads(f"coordinates x; parameters a = 1; A | Sx(x) = 1; force f = {force} on x;")
    assert said in str(error.value)


@pytest.mark.slow
def test_sympy_has_tables_in_pieces() -> None:
    e = kn.derive(kn.loads(MACHINE))
    system, entries = e.system, e.formulas("inverse").sympy()
    rng = np.random.default_rng(2)
    for q, v in zip(rng.uniform(-1, 4, (3, 2)), rng.uniform(-1, 4, (3, 2)), strict=True):
        known = dict(zip((*system.q_names, *system.v_names, "x''", "y''"), (*q, *v, 0.0, 0.0), strict=True)) | {
            "F": 3,
            "G": 2,
        }
        found = [float(entry.subs({s: known.get(str(s), 0.4) for s in entry.free_symbols})) for entry in entries]
        assert found == pytest.approx(e.function("inverse")(0.4, q, v, [0.0, 0.0]), rel=1e-12)


def test_units_of_tables_are_those_of_their_values() -> None:
    system = kn.loads("""
        coordinates x; parameters F = 1 N; A | Sx(x) = 1;
        output a = table(x; (0, F), (1, 2*F)), b = table'(x; (0, F), (1, 0)), c = table(x, x'; (0, 1), (0, F, 0), (1, 0, 0)),
            d = table(x; (0, 0), (1, 1));
    """)
    assert output_units(system) == {"a": "N", "b": "N/m", "c": "N"}
