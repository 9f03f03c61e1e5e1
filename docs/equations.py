"""Writes ``docs/equations.md``: ``python docs/equations.py``, and ``--sympy`` for the columns of SymPy, which take minutes.

Without it these columns are those of the page; a quantity that is new has none.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import kineta as kn
from kineta.equations.formulas import Formulas, kinds
from kineta.notation.readable.reading_cost import quasi_velocities, reading_cost
from tests.notation.readable.textbooks import TEXTBOOKS, textbook_cost, textbook_formulas

PAGE = Path(__file__).with_name("equations.md")
#: Processor time of SymPy for a quantity at most [s].
LIMIT = 60

HEAD = """# Equations that are read

`kineta derive MODEL` prints the equations of motion in the form that costs least to read; `--latex` and notebooks typeset
them. This page shows ten systems of a course in mechanics as they come, and compares {count} quantities with textbooks and
with SymPy. It is written by `python docs/equations.py`, and tests compare it. Names stand in the order in which the models
declare them.

## Ten systems of a course
"""

#: Title, model, and what is shown of it: name of the quantity, and a word on it.
COURSE: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Pendulum",
        """model pendulum;
gravity (0, -g, 0);
parameters m, g, l;
coordinates theta;
Bob | Rz(theta), Sy(-l) = m;
""",
        (("equations", ""), ("lagrangian", ""), ("hamiltonian", "")),
    ),
    (
        "Double pendulum",
        """model double_pendulum;
gravity (0, -g, 0);
parameters m1, m2, g, l1, l2;
coordinates theta1, theta2;
Upper | Rz(theta1), Sy(-l1) = m1;
Lower ~ Upper | Rz(theta2 - theta1), Sy(-l2) = m2;
""",
        (("equations", "The angles are from the vertical, both."), ("lagrangian", "")),
    ),
    (
        "Pendulum on a cart",
        """model cart;
gravity (0, -g, 0);
parameters M, m, g, l;
coordinates x, theta;
Cart | Sx(x) = M;
Bob ~ Cart | Rz(theta), Sy(-l) = m;
""",
        (("equations", ""), ("forward", "Solved for the accelerations:")),
    ),
    (
        "Spherical pendulum",
        """model spherical_pendulum;
gravity g;
parameters m, g, l;
coordinates theta, phi;
Bob | Rz(phi), Ry(-theta), Sz(-l) = m;
""",
        (("equations", ""), ("effective_potential", "The angle phi is ignorable:")),
    ),
    (
        "Bead on a rotating hoop",
        """model bead;
gravity g;
parameters m, g, R, W;
coordinates theta;
Bead | Rz(W*t), Ry(-theta), Sz(-R) = m;
""",
        (
            ("equations", ""),
            ("lagrangian", ""),
            ("generalized_energy", "The energy in the turning frame, which is kept:"),
        ),
    ),
    (
        "Lagrange's top",
        """model top;
gravity g;
parameters A, C, m, g, l;
coordinates phi, theta, psi;
Top | Rz(phi), Rx(theta), Rz(psi) = Jx(A - m*l^2), Jy(A - m*l^2), Jz(C), m(m), com = (0, 0, l);
""",
        (
            ("equations", "A is the moment across the axis about the tip, l the distance of the mass centre from it."),
            ("kinetic_energy", ""),
            ("hamiltonian", ""),
            ("routhian", ""),
        ),
    ),
    (
        "Rolling disk",
        """model disk;
gravity g;
parameters A, C, m, g, R;
coordinates x, y, z, phi, theta, psi;
Disk | Sx(x), Sy(y), Sz(z), Rz(phi), Rx(theta), Rz(psi) = m, A, A, C;
rolling edge : disk = R between Disk axis (0, 0, 1) and ground axis (0, 0, 1);
quasi u = theta', v = phi'*sin(theta), w = psi' + phi'*cos(theta);
""",
        (
            (
                "equations",
                "In angular velocities about the level line, the steepest line, and the axis; the sign is 1 for 0 < theta < pi:",
            ),
        ),
    ),
    (
        "Atwood's machine",
        """model atwood;
gravity (0, -g, 0);
parameters I, m1, m2, g, R;
coordinates y1, y2, phi;
Left | Sy(y1) = m1;
Right | Sy(y2) = m2;
Pulley | Rz(phi) = Jz(I);
constraint left : y1' = -R*phi';
constraint right : y2' = R*phi';
""",
        (("equations", "With the tensions of the rope, the multipliers:"),),
    ),
    (
        "Foucault's pendulum",
        """model foucault;
parameters m, w, W, beta;
coordinates x, y;
Bob | Rz(W*t), Ry(pi/2 - beta), Sx(x), Sy(y) = m;
spring along = m*w^2 on x;
spring across = m*w^2 on y;
""",
        (("equations", "Small oscillations of the frequency w at the latitude beta, on an earth that turns by W:"),),
    ),
    (
        "Kapitza's pendulum",
        """model kapitza;
gravity (0, -g, 0);
parameters m, g, l, a, W;
coordinates theta;
Bob | Sy(a*cos(W*t)), Rz(theta), Sy(-l) = m;
""",
        (("equations", "Its support goes up and down:"),),
    ),
    (
        "A craft whose acceleration is prescribed",
        """model craft;
parameters m, q, E, e, B, S, c;
coordinates x, y;
Craft | Sx(x), Sy(y) = m;
force field on Craft = (q*B*y', q*(E + e*t - B*x'), 0) in ground;
program hold : m/2*|a(Craft)|^2 = S + c*t;
""",
        (
            (
                "equations",
                "[A program of motion](programs.md) of the second order makes equations of the third (Rodionov):",
            ),
        ),
    ),
)

COSTS = """## What it costs to read

The reading cost counts names, signs, brackets by their depth, fractions, and named parts
([why](design/0029-equations-that-are-read.md)); `kineta derive --json` prints it as `reading_cost`. Below are {count}
quantities with their equations in textbooks (`tests/notation/readable/textbooks.toml`): what kineta prints costs as much as
the book or less; a condition that a book tells in words is counted in both. SymPy's is the
cheaper of `simplify` and `factor(trigsimp(...))` of the same expressions, with the processor time that both took, on one core;
kineta takes {ours:.0f} ms on average.

| quantity | source | kineta | textbook | SymPy | SymPy [s] |
|---|---|---|---|---|---|
"""


def page(*, with_sympy: bool = False) -> str:
    """The whole page."""
    return "\n".join((HEAD.format(count=len(TEXTBOOKS)), *map(_system, COURSE))) + "\n" + _table(with_sympy)


def _system(row: tuple[str, str, tuple[tuple[str, str], ...]]) -> str:
    title, text, asked = row
    equations = kn.derive(kn.loads(text))
    parts = [f"### {title}\n", f"```kin\n{text}```\n"]
    for quantity, word in asked:
        parts += [f"{word}\n"] if word else []
        parts += [f"$$\n{equations.latex(quantity)}\n$$\n", f"```text\n{equations.text(quantity)}\n```\n"]
    return "\n".join(parts)


def _table(with_sympy: bool) -> str:
    known = dict(_known()) if PAGE.exists() else {}
    rows, totals, spent = [], [0.0, 0.0, 0.0, 0.0], []
    for row in TEXTBOOKS:
        began = time.process_time()
        formulas = textbook_formulas(row)
        ours, book = formulas.reading_cost(), textbook_cost(row, formulas)
        spent.append(time.process_time() - began)
        theirs = _by_sympy(formulas) if with_sympy else known.get(row["name"], ("", ""))
        rows.append(f"| {row['name']} | {row['source']} | {ours} | {book} | {theirs[0]} | {theirs[1]} |")
        totals = [a + float(b or 0) for a, b in zip(totals, (ours, book, *theirs), strict=True)]
    sums = f"| sum | | {totals[0]} | {totals[1]} | {totals[2]} | {totals[3]:.1f} |"
    return (
        COSTS.format(count=len(TEXTBOOKS), ours=_stated(1e3 * sum(spent) / len(spent), with_sympy))
        + "\n".join([*rows, sums])
        + "\n"
    )


def _stated(measured: float, anew: bool) -> float:
    """The time that the page states, or with *anew* the one *measured* [ms]."""
    if anew or not PAGE.exists():
        return measured
    return float(PAGE.read_text().partition("kineta takes ")[2].partition(" ms")[0])


def _known() -> Iterator[tuple[str, tuple[str, str]]]:
    """Costs and times of SymPy on the page."""
    for line in PAGE.read_text().partition("| quantity |")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6:
            yield cells[0], (cells[4], cells[5])


def _by_sympy(formulas: Formulas) -> tuple[str, str]:
    """The cost of SymPy's cheaper form, and the processor time of both [s]; a form that takes longer than LIMIT is left out."""
    import sympy

    from kineta.interop.sympy import to_sympy

    given = to_sympy(formulas.graph, (*formulas.array.refs, *formulas.left), {})
    quasi, began, costs = quasi_velocities(kinds(formulas.system)), time.process_time(), list[float]()
    for way in (sympy.simplify, lambda e: sympy.factor(sympy.trigsimp(e))):
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        try:
            lines = [("", sympy.sstr(way(e)).replace("**", "^")) for e in given]
            costs.append(reading_cost(lines, (), quasi))
        except TimeoutError:
            pass
        signal.setitimer(signal.ITIMER_PROF, 0)
    return str(min(costs)) if costs else "", f"{time.process_time() - began:.2f}"


def _stop(*_: Any) -> None:
    raise TimeoutError


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, _stop)
    PAGE.write_text(page(with_sympy="--sympy" in sys.argv))
