"""Operation counts: what a derivation costs is part of its answer, the same on every machine.

A change that alters a count alters the table here, and says why. Parameter-only work is hoisted and counted apart.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

import kineta as kn
from benchmarks import programs
from benchmarks.chains import chain
from kineta.expr.count import Operations
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from tests.support import EXAMPLES, ROOT

QUANTITIES = ("kinetic_energy", "inverse", "mass_matrix", "mass_and_bias", "forward")


def n(add: int, mul: int, div: int, trig: int, hoisted: int = 0) -> Operations:
    return Operations(add=add, mul=mul, div=div, trig=trig, hoisted=hoisted)


#: add, mul, div, trig, hoisted, in the order of QUANTITIES.
COUNTS: dict[str, tuple[Operations, ...]] = {
    "hopping_robot": (
        n(23, 43, 0, 8, 23),
        n(59, 88, 0, 8, 22),
        n(28, 37, 0, 8, 31),
        n(77, 120, 0, 8, 39),
        n(85, 124, 4, 8, 25),
    ),
    "puma_andreev": (
        n(42, 73, 0, 10, 128),
        n(113, 159, 0, 10, 134),
        n(55, 71, 0, 10, 112),
        n(148, 209, 0, 10, 149),
        n(208, 280, 5, 10, 154),
    ),
    "puma560": (  # the angle of the symmetric hand is needed nowhere
        n(50, 79, 0, 8),
        n(131, 163, 0, 8),
        n(53, 70, 0, 8),
        n(161, 210, 0, 8),
        n(215, 274, 4, 8),
    ),
}

#: Rows of the README's table: their first words, the model, and the quantity.
TOLD = {
    "hopping robot: kinetic energy": ("hopping_robot", "kinetic_energy"),
    "inverse dynamics": ("hopping_robot", "inverse"),
    "mass matrix and bias": ("hopping_robot", "mass_and_bias"),
    "forward dynamics": ("hopping_robot", "forward"),
    "PUMA arm of the paper": ("puma_andreev", "inverse"),
}


@pytest.mark.parametrize("row", TOLD)
def test_the_readme_tells_the_counts(row: str) -> None:
    model, quantity = TOLD[row]
    count = COUNTS[model][QUANTITIES.index(quantity)]
    told = " + ".join(str(x) for x in (count.add, count.mul, count.div) if x)
    assert re.search(rf"^\| {row}[^|]*\| {re.escape(told)} \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)


#: Andreev's paper: the two ways it compares, Lagrange's equations and its own; energies. Without gravity, as the models here.
#: The PUMA 560 with measured parameters, best known: inverse 147 + 180, mass matrix 80 + 127, mass and bias 203 + 310,
#: forward 274 + 396 + 6 div.
PAPER: dict[tuple[str, str], tuple[Operations, ...]] = {
    ("hopping_robot", "kinetic_energy"): (n(52, 99, 0, 10),),
    ("hopping_robot", "inverse"): (n(385, 690, 0, 10), n(340, 583, 0, 10)),
    ("puma_andreev", "inverse"): (n(2074, 4038, 0, 12), n(1903, 3708, 0, 10)),
}


@cache
def equations(model: str) -> kn.Equations:
    return kn.derive(kn.load(EXAMPLES / f"{model}.kin"))


@pytest.mark.parametrize("model", COUNTS)
def test_counts(model: str) -> None:
    found = {q: equations(model).operations(q) for q in QUANTITIES}
    assert found == dict(zip(QUANTITIES, COUNTS[model], strict=True))


#: Add + mul of ``inverse`` by formalism: hopping robot, PUMA 560, Andreev's PUMA (docs/formalisms.md).
BY_FORMALISM: dict[str, tuple[int, int, int]] = {
    "newton_euler": (147, 294, 272),
    "appell": (151, 393, 294),
    "gauss": (151, 393, 294),
    "kane": (154, 353, 325),
    "lagrange": (262, 565, 476),
    "dalembert": (235, 670, 613),
    "wittenburg": (464, 877, 788),
}


@pytest.mark.parametrize("formalism", BY_FORMALISM)
def test_counts_of_the_other_formalisms(formalism: str) -> None:
    models = ("hopping_robot", "puma560", "puma_andreev")
    found = [kn.derive(kn.load(EXAMPLES / f"{m}.kin"), formalism).operations("inverse").total for m in models]
    assert tuple(found) == BY_FORMALISM[formalism]


@pytest.mark.parametrize(("quantity", "most"), [("inverse", 170), ("mass_and_bias", 220), ("forward", 260)])
def test_hopping_robot_stays_within_its_bounds(quantity: str, most: int) -> None:
    assert equations("hopping_robot").operations(quantity).total <= most


@pytest.mark.parametrize(("model", "quantity"), PAPER)
def test_fewer_operations_than_the_paper(model: str, quantity: str) -> None:
    ours = equations(model).operations(quantity)
    for theirs in PAPER[model, quantity]:
        assert (2 if quantity == "kinetic_energy" else 5) * ours.total < theirs.total
        assert ours.trig <= theirs.trig


def test_counts_of_a_quantity_do_not_depend_on_what_was_derived_before() -> None:
    for quantity in reversed(QUANTITIES):
        assert kn.derive(kn.load(EXAMPLES / "puma_andreev.kin")).operations(quantity) == equations(
            "puma_andreev"
        ).operations(quantity)


#: Add + mul + div of the derivatives of forces and of accelerations; those of the planar chain are the graph's.
DERIVATIVES: dict[str, tuple[int, int]] = {
    "puma560": (1229, 2225),
    "spatial_chain": (2148, 4482),
    "ball_tree": (9058, 19842),
    "chain": (17222, 31348),
    "planar_chain": (227, 747),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", DERIVATIVES)
def test_counts_of_derivatives(model: str) -> None:
    found = chain_equations(16) if model == "chain" else equations(model)
    quantities = ("inverse_derivatives", "forward_derivatives")
    assert tuple(found.operations(q).total for q in quantities) == DERIVATIVES[model]


@pytest.mark.slow
def test_count_of_derivatives_in_loops() -> None:
    found = tuple(chain_equations(64).operations(f"{kind}_derivatives").total for kind in ("inverse", "forward"))
    assert found == (175511, 299878)


#: Add + mul of the mass matrices of chains by their numbers of links. Up to nine links momenta are swept from link to link.
MASS_MATRICES = {8: 1047, 10: 1599, 16: 3264, 32: 9640, 64: 30840}


@pytest.mark.parametrize("links", [pytest.param(n, marks=[pytest.mark.slow] * (n > 16)) for n in MASS_MATRICES])
def test_counts_of_mass_matrices_of_chains(links: int) -> None:
    assert chain_equations(links).operations("mass_matrix").total == MASS_MATRICES[links]


@cache
def chain_equations(links: int) -> kn.Equations:
    return kn.derive(chain(links))


#: Add + mul of ``inertia_forces(s)`` without weight, s = 1, 2, 3, 4.
KINETA: dict[str, tuple[int, ...]] = {"puma560": (168, 303, 510, 1064), "chain": (845, 1298, 1779, 2984)}


@pytest.mark.parametrize("model", KINETA)
def test_counts_of_forces_of_inertia_of_any_order(model: str) -> None:
    system = chain(10) if model == "chain" else kn.load(EXAMPLES / "puma560.kin")
    equations = kn.derive(system.replace(gravity=(0, 0, 0)))
    assert tuple(equations.operations(f"inertia_forces({s})").total for s in (1, 2, 3, 4)) == KINETA[model]


@pytest.mark.slow
@pytest.mark.parametrize("order", [3, 4])
def test_forces_of_inertia_of_a_chain_grow_with_its_links_and_no_faster(order: int) -> None:
    totals = [chain_equations(links).operations(f"inertia_forces({order})").total for links in (10, 20, 30)]
    assert totals[2] - totals[1] == totals[1] - totals[0]


#: Add + mul + div of the linear system under |a(tip)|^2 = const, M, c, B, W and the control, by model and law.
UNDER_PROGRAMS: dict[tuple[str, str], int] = {
    ("puma560", "kineta"): 1191,
    ("puma560", "covariant"): 1566,
    ("chain", "kineta"): 5529,
    ("chain", "covariant"): 7499,
}


@pytest.mark.parametrize(("model", "law"), UNDER_PROGRAMS)
def test_counts_of_the_linear_system_under_a_program(model: str, law: str) -> None:
    system = chain(10) if model == "chain" else kn.load(EXAMPLES / "puma560.kin")
    size = programs.programs(system.bodies[-1].name)[programs.SIZE]
    system = system.replace(programs=[kn.program("hold", size)], control=kn.control(law))
    assert programs.operations(run_derivation(kn.derive(system), PROJECTED)) == UNDER_PROGRAMS[model, law]


@pytest.mark.slow
def test_inverse_dynamics_of_a_chain_is_affine_in_its_links() -> None:
    def grown(links: int) -> list[int]:
        longer, shorter = (chain_equations(k).operations("inverse") for k in (links + 10, links))
        return [longer.add - shorter.add, longer.mul - shorter.mul, longer.trig - shorter.trig, longer.div]

    assert grown(10) == grown(20) == grown(30) == grown(70)
    assert grown(10)[2:] == [20, 0]


@pytest.mark.slow
def test_the_graph_grows_with_the_links_and_no_faster() -> None:
    sizes = {}
    for links in (20, 40, 80):
        fresh = kn.derive(chain(links))
        fresh.expressions("inverse")
        sizes[links] = len(fresh.graph)
    assert sizes[80] - sizes[40] <= 2.02 * (sizes[40] - sizes[20])


@pytest.mark.slow
def test_forward_dynamics_of_long_chains_is_linear() -> None:
    totals = [chain_equations(links).operations("forward").total for links in (20, 40, 80)]
    assert totals[1] / totals[0] < 2.1
    assert totals[2] / totals[1] < 2.1
