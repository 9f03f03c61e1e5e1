"""Operation counts beside those of the papers and of the best public tools."""

from __future__ import annotations

import kineta as kn
from benchmarks.robots import EXAMPLES
from benchmarks.timing import table
from kineta.expr.count import Operations

#: Published counts (add, mul, div, trig) by model and quantity, with their source. Andreev counts without gravity.
PUBLISHED: dict[str, dict[str, tuple[tuple[str, int, int, int, int], ...]]] = {
    "hopping_robot": {
        "kinetic_energy": (("Andreev", 52, 99, 0, 10),),
        "inverse": (("Andreev, Lagrange", 385, 690, 0, 10), ("Andreev, d'Alembert", 340, 583, 0, 10)),
        "mass_and_bias": (),
        "forward": (),
    },
    "puma_andreev": {
        "kinetic_energy": (),
        "inverse": (("Andreev, Lagrange", 2074, 4038, 0, 12), ("Andreev, d'Alembert", 1903, 3708, 0, 10)),
        "mass_and_bias": (),
        "forward": (),
    },
    "puma560": {
        "kinetic_energy": (),
        "inverse": (("best public tool", 145, 194, 0, 10), ("best known", 147, 180, 0, 10)),
        "mass_matrix": (("best known", 80, 127, 0, 8),),
        "mass_and_bias": (("best known", 203, 310, 0, 10),),
        "forward": (("best known", 274, 396, 6, 10), ("articulated bodies", 400, 550, 4, 10)),
    },
}


def rows(model: str) -> list[tuple[str, ...]]:
    """kineta's counts for a model of the examples, each followed by the published ones."""
    equations = kn.derive(kn.load(EXAMPLES / f"{model}.kin"))
    found: list[tuple[str, ...]] = []
    for quantity, published in PUBLISHED[model].items():
        ours = equations.operations(quantity)
        found.append((f"{model}, {quantity}", "kineta", *_cells(ours)))
        for source, add, mul, div, trig in published:
            theirs = Operations(add=add, mul=mul, div=div, trig=trig)
            *cells, _ = _cells(theirs)
            found.append(("", source, *cells, "", f"{theirs.total / ours.total:.2f}"))
    return [row if len(row) == 9 else (*row, "") for row in found]


def _cells(n: Operations) -> tuple[str, ...]:
    return tuple(str(x) for x in (n.add, n.mul, n.div, n.trig, n.total, n.hoisted))


def main(quick: bool = False) -> None:
    del quick
    head = ("quantity", "by", "add", "mul", "div", "trig", "add+mul+div", "hoisted", "ratio")
    print(table(head, [row for model in PUBLISHED for row in rows(model)]))
