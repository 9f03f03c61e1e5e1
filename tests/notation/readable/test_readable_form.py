"""Equations as textbooks print them: the same values, and no dearer to read."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import kineta as kn
from kineta.equations.formulas import Formulas
from kineta.expr.graph import Graph
from kineta.expr.op import Op
from kineta.notation.readable.readable_form import readable_form
from kineta.notation.readable.reading_cost import reading_cost
from kineta.notation.text import TEXT
from kineta.notation.typesetting import FactorKind
from kineta.passes.evaluate import evaluate
from tests.expr.random_graphs import random_graph
from tests.notation.readable.textbooks import TEXTBOOKS, textbook_cost, textbook_formulas
from tests.notation.text_reader import computed
from tests.support import ROOT, some

#: The textbook's form, and another one of the same value.
PAIRS = [
    ("l1^2*(m1 + m2 + m3)", "m1*l1^2 + l1^2*(m2 + m3)"),
    ("(m2 + m3)*l2", "m2*l2 + m3*l2"),
    ("m*l^2*theta'' + m*g*l*sin(theta)", "m*l*(l*theta'' + g*sin(theta))"),
    ("(A*sin(theta)^2 + C*cos(theta)^2)*phi''", "A*sin(theta)^2*phi'' + C*cos(theta)^2*phi''"),
    ("cos(q1 + q2)", "cos(q1)*cos(q2) - sin(q1)*sin(q2)"),
    ("A*p' + (C - B)*q*r", "A*p' + C*q*r - B*q*r"),
    ("m*r'' - m*r*phi'^2", "m*(r'' - r*phi'^2)"),
    ("m2*l1*a2*sin(q2)*(2*q1'*q2' + q2'^2)", "2*m2*l1*a2*sin(q2)*q1'*q2' + m2*l1*a2*sin(q2)*q2'^2"),
    ("p[r]^2/(2*m) + p[phi]^2/(2*m*r^2)", "(p[r]^2 + p[phi]^2/r^2)/(2*m)"),
    ("m*l^2*sin(theta)*cos(theta)*phi'^2", "m*l^2*sin(2*theta)*phi'^2/2"),
    ("A*(x'^2 + s^2*y'^2)/2 + C*(z' + c*y')^2/2", "A*x'^2/2 + A*s^2*y'^2/2 + C*(z' + c*y')^2/2"),
    ("(tau[p] + (B - C)*q*r)/A", "tau[p]/A + (B - C)*q*r/A"),
    ("M + m*sin(theta)^2", "M + m - m*cos(theta)^2"),
    ("m*(x'^2 + y'^2)/2 + J*phi'^2/2", "(m*x'^2 + m*y'^2 + J*phi'^2)/2"),
    ("(A*p^2 + B*q^2 + C*r^2)/2", "A*p^2/2 + B*q^2/2 + C*r^2/2"),
    ("k/r + h/r^3", "(k*r^2 + h)/r^3"),
    ("k*x/(x^2 + y^2)^(3/2)", "k*x/((x^2 + y^2)*sqrt(x^2 + y^2))"),
    ("(2*M + m)*R^2*phi'^2/2", "(M + m/2)*R^2*phi'^2"),
    ("(J + m*b^2/4)*q''", "(4*J + m*b^2)*q''/4"),
    ("(4*J + m*b^2)*q'^2/8", "(J + m*b^2/4)*q'^2/2"),
    ("m1*m2*(r'' - r*phi'^2)/(m1 + m2)", "(m1*m2*r'' - m1*m2*r*phi'^2)/(m1 + m2)"),
    ("I + m*a^2", "I*cos(q)^2 + (I + m*a^2)*sin(q)^2 + m*a^2*cos(q)^2"),
]

BALL = "Ball | Ball(b) = Jx(J), Jy(J), Jz(J); quasi wx = w(Ball).x, wy = w(Ball).y, wz = w(Ball).z;"
TURNTABLE = """Ball | Sx(x), Sy(y), Ball(b) = m, 2*m*r^2/5, 2*m*r^2/5, 2*m*r^2/5; constraint along : x' = r*w(Ball).y - W*y;
constraint across : y' = W*x - r*w(Ball).x; quasi x', y', spin = w(Ball).z;"""


@pytest.mark.parametrize(("book", "other"), PAIRS)
def test_the_reading_cost_ranks_forms_as_textbooks_do(book: str, other: str) -> None:
    assert reading_cost([("x", book)]) <= reading_cost([("x", other)])


@pytest.mark.parametrize("row", some(TEXTBOOKS, 6), ids=lambda row: row["name"])
def test_a_textbook_costs_no_less_to_read(row: dict[str, Any]) -> None:
    formulas = textbook_formulas(row)
    book, ours = textbook_cost(row, formulas), formulas.reading_cost()
    assert ours <= book
    told = {name: costs for name, *costs in _table()}
    assert [float(x) for x in told[row["name"]][1:3]] == [ours, book], "python docs/equations.py writes the table anew"


def _table() -> list[list[str]]:
    """The rows of the table of reading costs: quantity, source, kineta, textbook, SymPy, milliseconds of the latter."""
    lines = (ROOT / "docs" / "equations.md").read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("| quantity | source |"))
    rows = (line for line in lines[first + 2 :] if line.startswith("| "))
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("row", some(TEXTBOOKS, 4), ids=lambda row: row["name"])
def test_a_textbook_prints_the_same_values(row: dict[str, Any]) -> None:
    formulas = textbook_formulas(row)
    rng, (low, high) = random.Random(1), row.get("range", (0.3, 1.2))
    labels = _labels(formulas)
    for _ in range(2):
        known = {n: rng.uniform(low, high) for n in formulas.graph.names}
        known |= {n: 1 + known[n] for n in known if n in ("m", "l", "M", "A", "B", "C", "m1", "m2", "m3")}
        for name in formulas.system.quaternions:
            entries = [f"{name}.q{axis}" for axis in "wxyz"]
            size = math.hypot(*(known[n] for n in entries))
            known |= {n: known[n] / size for n in entries}
        wanted = evaluate(formulas.graph, formulas.array.refs, known)
        for lines in (formulas.text(), formulas.text(parts=False), (f"{n} = {e}" for n, e in row["equations"].items())):
            scope = dict(known)
            found = {line.split(" = ")[0]: computed(line, scope) for line in lines}
            assert [found[n] for n in labels] == pytest.approx(wanted, rel=1e-12, abs=1e-12 * max(map(abs, wanted)))


@pytest.mark.parametrize("seed", some(range(30), 2))
def test_random_expressions_keep_their_values(seed: int) -> None:
    graph, refs = random_graph(seed, 24, ("x", "y", "z"))
    graph.constants[:] = [round(x, 2) for x in graph.constants]
    rng = random.Random(seed)
    form = readable_form(graph, refs, {}, [f"R{k}" for k in range(len(refs))])
    if form is None:
        return
    for _ in range(3):
        known = {n: rng.uniform(0.3, 0.9) for n in "xyz"}
        scope = dict(known)
        found = [computed(f"{n} = {e}", scope) for n, e in form.lines(TEXT, [f"R{k}" for k in range(len(refs))])]
        wanted = evaluate(graph, refs, known)
        assert found[-len(refs) :] == pytest.approx(wanted, rel=1e-8, abs=1e-8 * max(map(abs, wanted)))


def test_names_of_parts_are_none_of_the_model() -> None:
    graph = Graph()
    x, y, z = (graph.symbol(n) for n in ("z_1", "y", "z2"))
    shared = graph.add(graph.mul(x, graph.call(6, y)), graph.mul(z, graph.call(7, graph.mul(x, z))))
    refs = [graph.mul(shared, graph.symbol(f"a{k}")) for k in range(6)]
    form = readable_form(graph, refs, {}, [f"R{k}" for k in range(6)])
    assert form is not None
    assert list(form.parts) == ["z3"]


def test_sines_of_their_inverses_are_roots() -> None:
    graph = Graph()
    x = graph.mul(graph.symbol("x"), graph.symbol("k"))
    angles = [graph.call(op, x) ^ sign for op in (Op.ASIN, Op.ACOS) for sign in (0, 1)]
    refs = [graph.call(op, angle) for op in (Op.SIN, Op.COS, Op.TAN) for angle in angles]
    labels = [f"R{k}" for k in range(len(refs))]
    form = readable_form(graph, refs, {}, labels, parts=False)
    assert form is not None
    lines, known = [f"{n} = {e}" for n, e in form.lines(TEXT, labels)], {"x": 0.7, "k": 0.9}
    assert lines[:2] == ["R0 = k*x", "R1 = -k*x"]
    assert not any("asin" in line or "acos" in line for line in lines)
    assert [computed(line, dict(known)) for line in lines] == pytest.approx(evaluate(graph, refs, known), rel=1e-12)


def test_angles_within_triangles_are_roots() -> None:
    """Sines of sums with an inverse sine: a rod that a crank turns."""
    graph = Graph()
    angle = graph.add(graph.symbol("q"), graph.call(Op.ASIN, graph.symbol("x")))
    refs = [graph.call(op, angle) for op in (Op.SIN, Op.COS)]
    form = readable_form(graph, refs, {}, ["R0", "R1"], parts=False)
    assert form is not None
    lines, known = [f"{n} = {e}" for n, e in form.lines(TEXT, ["R0", "R1"])], {"x": 0.7, "q": 0.4}
    assert not any("asin" in line for line in lines)
    assert [computed(line, dict(known)) for line in lines] == pytest.approx(evaluate(graph, refs, known), rel=1e-12)


def test_roots_with_names_are_on_no_common_denominator() -> None:
    system = kn.loads("""parameters m, k, a; coordinates x, y; let r1 = sqrt((x + a)^2 + y^2), r2 = sqrt((x - a)^2 + y^2);
    P | Sx(x), Sy(y) = m(m); potential pull = k/r1 - k/r2;""")
    text = kn.derive(system).text()
    assert "y*(k/r2^3 - k/r1^3)" in text


def test_distances_are_roots_of_squares_of_differences() -> None:
    system = kn.loads("""gravity 9.81; parameters M, m, k, l; coordinates x, X, Z; let s = sqrt((X - x)^2 + Z^2);
    T | Sx(x) = m(M); L | Sx(X), Sz(-Z) = m(m); spring rope = k, l on s;""")
    assert "sqrt((x - X)^2 + Z^2)" in kn.derive(system).text()


@pytest.mark.slow
def test_sums_that_vanish_are_no_distances() -> None:
    """The pulls on a disk that rolls down: what sine and cosine cancel is squared in them."""
    system = kn.loads("""gravity g; parameters m, R, alpha, g; coordinates x, y, psi, phi;
    frame Plane | Ry(alpha); Disk ~ Plane | Sx(x), Sy(y), Sz(R), Rz(psi), Ry(phi) = m, m*R^2/4, m*R^2/2, m*R^2/4;
    rolling rim : wheel = R between Disk axis (0, 1, 0) and Plane axis (0, 0, 1);""")
    assert "lambda.rim.u = " in kn.derive(system).text("multipliers")


@pytest.mark.parametrize(("start", "shown"), [("", "x^2"), ("initial x = 2;", "x^2"), ("initial x = -2;", "-x^2")])
def test_signs_that_no_motion_changes_are_conditions(start: str, shown: str) -> None:
    """A particle that a fixed body attracts cannot pass it, one on a spring can."""
    head = f"parameters m, k, l, r = 2; coordinates x; {start} P | Sx(x) = m(m);"
    attracted = kn.derive(kn.loads(f"{head} potential pull = -k*r^2/sqrt(x^2);")).printed("inverse")
    minus = shown.startswith("-")
    told = ["tau[x'] = m*x'' %s k*r^2/x^2" % ("-" if minus else "+"), "x < 0" if minus else "x > 0"]
    assert list(attracted.text()) == told
    assert attracted.reading_cost() == reading_cost(
        [line.split(" = ") if " = " in line else ("", line) for line in told]
    )
    sprung = kn.derive(kn.loads(f"{head} potential spring = k*(sqrt(x^2) - l)^2/2;")).printed("inverse")
    assert list(sprung.text()) == ["tau[x'] = m*x'' + k*(x - l*sign(x))"]


@pytest.mark.parametrize(
    ("force", "shown"),
    [
        ("table(y; (0, 0), (1, m)) + x on x", ["z1 = table(y; (0, 0), (1, m))", "tau[x'] = m*x'' - z1 - x"]),
        ("sin(1) + table(1.6; (0, 1), (2, 5)) on x", ["z1 = table(1.6; (0, 1), (2, 5))", "- z1 - 0.8414709848078965"]),
        ("2*law on x", ["law = table(x; (0, 0), (1, m))", "tau[x'] = m*x'' - 2*law"]),
        ("atan2(k*x - l*y, max(k + l, a*x)) on x^2*y", ["z1 = atan2(k*x - l*y, max(k + l, a*x))"]),
        ("if(k*x/m < -2, a, l) on x", ["if(k*x/m < -2, a, l)"]),
        ("if(1 < k*(l - x)/m, a, l) on x", ["if(k*(l - x)/m > 1, a, l)"]),
        ("min(m, k*(l - x) - a*x') on x", ["min(m, k*(l - x) - a*x')"]),
        ("cos(2*pi*k*t + 2*pi/3) + cos(2*pi*k*t) on x", ["cos(2*pi*k*t + 2*pi/3)"]),
    ],
)
def test_tables_functions_and_conditions_are_fit_for_a_slide(force: str, shown: list[str]) -> None:
    """Tables and long functions have names, conditions compare with numbers, arguments are whole lines, phases stay."""
    system = kn.loads(
        f"""parameters m, k, l, a; coordinates x, y; P | Sx(x), Sy(y) = m(m); let law = table(x; (0, 0), (1, m));
        force f = {force};"""
    )
    text = kn.derive(system).text()
    assert all(line in text for line in shown), text


@pytest.mark.parametrize(
    ("model", "quantity", "shown"),
    [
        ("spring k1 = k, l on sqrt(x^2 + (y - a)^2);", "energy", "k*(l - sqrt(x^2 + (y - a)^2))^2/2"),
        ("potential u = k*((x - a)/x)^6;", "inverse", "6*k*a*(x - a)^5/x^7"),
        ("potential u = m*(x + y) - k*x + k*y;", "energy", "+ (m - k)*x + (m + k)*y"),
        ("constraint rod : x^2 - 2*x*y + y^2 = a^2;", "equations", "0 = (x - y)^2 - a^2"),
    ],
)
def test_energies_and_powers_are_as_written(model: str, quantity: str, shown: str) -> None:
    system = kn.loads(f"parameters m, k, l, a; coordinates x, y; P | Sx(x), Sy(y) = m(m); {model}")
    assert shown in kn.derive(system).text(quantity)


@pytest.mark.slow
def test_an_ignorable_angle_is_in_no_canonical_equation() -> None:
    """A pendulum on a disk that rolls: the angle of the disk stands in its sines, and in no value."""
    equations = kn.derive(
        kn.loads("""gravity (0, -g, 0); parameters M, m, g, R, l; coordinates phi, theta;
    Disk | Sx(R*phi), Rz(-phi) = m(M), Jz(M*R^2/2); Bob ~ Disk | Rz(phi + theta), Sy(-l) = m;""")
    )
    energy, *lines = [
        line for quantity in ("hamiltonian", "canonical") for line in equations.text(quantity).splitlines()
    ]
    assert "(R^2*l^2*(3*M + 2*m*sin(theta)^2))" in energy
    assert not any(f"{op}(phi" in line for line in (energy, *lines) for op in ("sin", "cos"))
    assert all(len(line) < 200 for line in lines)


@pytest.mark.parametrize(
    ("model", "quantity", "shown"),
    [
        (BALL, "equations", "J*wx'"),
        (BALL, "lagrangian", "J*(wx^2 + wy^2 + wz^2)/2"),
        (TURNTABLE, "equations", "7*m*x''/5 + 2*m*W*y'/5"),
        (
            TURNTABLE,
            "lagrangian",
            "m*(7*x'^2 + 7*y'^2 + 2*r^2*spin^2)/10 + 2*m*W*(y*x' - x*y')/5 + m*W^2*(x^2 + y^2)/5",
        ),
    ],
)
def test_unit_quaternions_are_left_out_where_the_values_do_not_have_them(model: str, quantity: str, shown: str) -> None:
    """A ball, and one that rolls on a table that turns."""
    coordinates = "x, y, b" if "Sx(x)" in model else "b"
    text = kn.derive(kn.loads(f"parameters J, m, r, W; coordinates {coordinates}; {model}")).text(quantity)
    assert shown in text
    assert "b.q" not in text


def test_terms_of_an_energy_stand_apart_by_degrees() -> None:
    """Wilberforce's pendulum, and a bead on a hoop that is turned: kinetic terms first, the potential by its degrees."""
    wilberforce = kn.derive(
        kn.loads("""gravity g; parameters m, J, g, k, c, e; coordinates z, theta;
        Bob | Sz(z), Rz(theta) = m(m), Jz(J); potential V = k*z^2/2 + c*theta^2/2 + e*z*theta;""")
    )
    assert "p[z]^2/(2*m) + p[theta]^2/(2*J) + k*z^2/2 + e*z*theta + c*theta^2/2 + m*g*z" in wilberforce.text(
        "hamiltonian"
    )
    hoop = kn.derive(
        kn.loads("gravity g; parameters m, g, R, W; coordinates theta; Bead | Rz(W*t), Ry(-theta), Sz(-R) = m;")
    )
    assert "p[theta]^2/(2*m*R^2) - m*R^2*W^2*sin(theta)^2/2 - m*g*R*cos(theta)" in hoop.text("hamiltonian")


def test_no_square_begins_with_a_minus() -> None:
    """A cylinder that rolls within another, which turns."""
    system = kn.loads("""gravity 9.81; parameters m, M, R, r; coordinates a, th; O | Ry(a) = Jy(M*R^2);
    C | Ry(th), Sz(r - R), Ry(R*(a - th)/r) = m(m), Jy(m*r^2/2);""")
    assert "(-" not in kn.derive(system).text("energy")


@pytest.mark.slow
def test_functions_within_functions_take_a_time_that_grows_with_their_number() -> None:
    """Written out, each of thirty has twice as many names as the one within it."""
    lets = "".join(f"let a{k} = if(a{k - 1} < q, x, a{k - 1} + 1);" for k in range(1, 31))
    system = kn.loads(f"A | Sx(x), Rz(q) = m(1), Jz(2); coordinates x, q; let a0 = x; {lets} force f = a30 on x;")
    lines = kn.derive(system).text().splitlines()
    assert len(lines) == 31
    assert lines[1] == "a2 = if(a1 < q, x, a1 + 1)"


@pytest.mark.slow
def test_squares_within_squares_are_found_or_named() -> None:
    """Written out, eight of them are a sum of 129 powers, whose factors stand within each other."""
    lets = "".join(f"let a{k} = a{k - 1}*a{k - 1} + 1;" for k in range(1, 9))
    system = kn.loads(f"A | Sx(x) = 1; coordinates x; let a0 = x; {lets} force f = a8 on x;")
    assert kn.derive(system).text().splitlines() == [
        "a1 = x^2 + 1",
        "a2 = a1^2 + 1",
        "tau[x'] = x'' - (((((a2^2 + 1)^2 + 1)^2 + 1)^2 + 1)^2 + 1)^2 - 1",
    ]


def _labels(formulas: Formulas) -> list[str]:
    lines = [line.split(" = ")[0] for line in formulas.text() if " = " in line]
    return lines[len(lines) - len(formulas.array.refs) :]


def test_what_is_left_of_one_by_the_cosine_between_two_directions_is_its_square() -> None:
    graph = Graph()
    a, b, c, m = (graph.symbol(n) for n in ("a", "b", "c", "m"))
    cosine = graph.add(
        graph.mul(graph.mul(graph.sin(a), graph.sin(b)), graph.cos(c)), graph.mul(graph.cos(a), graph.cos(b))
    )
    square = graph.mul(graph.sin(a), graph.mul(graph.sin(b), graph.sin(c)))  # sines alone, as elimination leaves them
    rest = graph.sub(graph.sub(1 * 2, graph.mul(cosine, cosine)), graph.mul(square, square))
    ref = graph.add(m, graph.mul(m, graph.add(rest, graph.mul(square, square))))
    kinds = {n: (FactorKind.POSITION, k) for k, n in enumerate("abc")} | {"m": (FactorKind.PARAMETER, 0)}
    form = readable_form(graph, [ref], kinds, ["R"])
    assert form is not None
    ((_, text),) = form.lines(TEXT, ["R"])
    assert text == "m*(2 - (sin(a)*sin(b)*cos(c) + cos(a)*cos(b))^2)"


def test_conditions_on_places_have_nothing_below_them() -> None:
    arm = "A | Sx(x), Sz(z) = 1; B | Ry(q) = Jy(J); coordinates x, z, q; parameters a, b, J;"
    rod = "loop rod : distance = b between B at (a, 0, 0) and A at (2*a, 0, 0);"
    assert kn.derive(kn.loads(arm + rod)).text().splitlines()[-1] == (
        "0 = (2*a - a*cos(q) + x)^2 - b^2 + (a*sin(q) + z)^2"
    )


def test_harmonics_stay_as_they_are_written() -> None:
    system = kn.loads("coordinates x; parameters a, w; A | Sx(x) = 1; force f = a*(1 + sin(3*w*t)) - cos(2*w*t) on x;")
    assert kn.derive(system).text() == "tau[x'] = x'' - a*sin(3*w*t) + cos(2*w*t) - a"
