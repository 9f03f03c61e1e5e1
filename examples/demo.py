"""The main job on real machines: a model file in; equations, machine code and motion out.

Run by ``make demo``. Reads the two machines of Andreev's paper as printed there, the PUMA 560 and others, and leaves pictures,
equations and C source in the folder ``demo``.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from rich import box
from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table

import kineta as kn
from kineta.codegen import c
from kineta.equations.formulas import kinds
from kineta.notation.printed_form import printed_form
from kineta.notation.text import TEXT
from kineta.views import save
from kineta.views.series import figure

mpl.use("agg")

MODELS = Path(__file__).parent
OUT = Path("demo")
#: Counts printed in the paper (add, mul), by its own method; it has no others.
PAPER = {
    ("hopping_robot", "kinetic_energy"): "52+99",
    ("hopping_robot", "inverse"): "340+583",
    ("puma_andreev", "inverse"): "1903+3708",
}
QUANTITIES = ("kinetic_energy", "inverse", "mass_matrix", "mass_and_bias", "forward")

out = Console(highlight=False)


def say(line: str) -> None:
    out.print(line, soft_wrap=True)


def main() -> None:
    OUT.mkdir(exist_ok=True)
    began = time.perf_counter()
    a_printed_model("hopping_robot")
    count("hopping_robot", "puma_andreev", "puma560")
    check("hopping_robot_stance", "puma_andreev", "puma560", "branched")
    speed("puma560")
    look("puma560", "flyball_governor")
    move("hopping_robot_stance", 10.0, "leg")
    move("puma560", 10.0, "puma560")
    export("hopping_robot")
    out.print(Rule(f"all of it in {time.perf_counter() - began:.1f} s"))
    say(f"Look into {OUT}/: {', '.join(sorted(p.name for p in OUT.iterdir()))}")


def a_printed_model(name: str) -> None:
    """A model as a paper prints it, and its kinetic energy as a paper would like to."""
    out.print(Rule("A machine, written as in the paper"))
    source = (MODELS / f"{name}.kin").read_text(encoding="utf-8")
    out.print(Syntax(source, "text", background_color="default", word_wrap=False), soft_wrap=True)
    equations = kn.derive(kn.load(MODELS / f"{name}.kin"))
    out.print(Rule("its kinetic energy, and the equation of its leg"))
    inverse = equations.formulas("inverse")
    leg = printed_form(inverse.graph, [inverse.array.refs[2]], ["tau[q3']"], kinds(equations.system))
    force = (f"{name} = {value}" for name, value in leg.lines(TEXT, ["tau[q3']"]))
    for line in (*equations.text("kinetic_energy").splitlines(), "", *force):
        out.print(f"  {line}", markup=False, soft_wrap=True)
    (OUT / "equations.tex").write_text(f"$$\n{equations.latex()}\n$$\n", encoding="utf-8")


def count(*names: str) -> None:
    """Operations, and the time to find them."""
    columns = {"add+mul+div": [q.replace("_", " ") for q in QUANTITIES] + ["derived in"]}
    for name in names:
        system = kn.load(MODELS / f"{name}.kin")
        began = time.perf_counter()
        equations = kn.derive(system)
        for quantity in QUANTITIES:
            equations.expressions(quantity)
        took = time.perf_counter() - began
        found = [equations.operations(quantity) for quantity in QUANTITIES]
        shown = [f"{n.add}+{n.mul}" + (f"+{n.div}" if n.div else "") for n in found]
        columns[name.replace("_", "\n")] = [*shown, f"{1e3 * took:.0f} ms"]
        if any(model == name for model, _ in PAPER):
            columns[f"{name.partition('_')[0]}\nin the paper"] = [*(PAPER.get((name, q), "") for q in QUANTITIES), ""]
    table = _table("Operations of one evaluation; the paper's beside ours", *columns)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    out.print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for k, column in enumerate(columns):
        table.add_column(column, justify="right" if k else "left", no_wrap=True)
    return table


def check(*names: str) -> None:
    """Laws of mechanics and agreement of backends, at random states."""
    columns = ("forward undoes\ninverse", "machine code\nand reference", "energy\nand work")
    table = _table("Largest relative differences: 100 random states, a run of 1 s", "", *columns)
    for name in names:
        equations = kn.derive(kn.load(MODELS / f"{name}.kin"))
        table.add_row(name, *(f"{x:.0e}" for x in differences(equations)))
    out.print(table)


def differences(equations: kn.Equations) -> tuple[float, float, float]:
    system = equations.system
    rng = np.random.default_rng(1)
    q, v, vdot = (rng.uniform(-1, 1, (100, n)) for n in (system.nq, system.nv, system.nv))
    inverse, forward = equations.function("inverse"), equations.function("forward")
    reference = equations.function("inverse", "numpy")
    tau = inverse(0.3, q, v, vdot)
    undone = np.abs(forward(0.3, q, v, tau) - vdot).max() / np.abs(vdot).max()
    backends = np.abs(tau - reference(0.3, q, v, vdot)).max() / np.abs(tau).max()
    run = kn.simulate(equations, 1.0, rtol=1e-12, atol=1e-13)
    return float(undone), float(backends), run.energy_balance


def speed(name: str) -> None:
    """Nanoseconds for one evaluation of the explicit accelerations."""
    equations = kn.derive(kn.load(MODELS / f"{name}.kin"))
    forward = equations.function("forward")
    system = equations.system
    rng = np.random.default_rng(2)
    q, v, tau = (rng.uniform(-1, 1, (20_000, system.nv)) for _ in range(3))
    began = time.perf_counter()
    forward(0.0, q, v, tau)
    first = time.perf_counter() - began
    times = []
    for _ in range(9):
        began = time.perf_counter()
        forward(0.0, q, v, tau)
        times.append((time.perf_counter() - began) / len(q))
    ns = 1e9 * statistics.median(times)
    say(
        f"Forward dynamics of {name}, compiled (or found in the cache) in {1e3 * first:.0f} ms: "
        f"{ns:.0f} ns a state, {1e3 / ns:.0f} million states a second on one core.\n"
    )


def move(name: str, seconds: float, picture: str) -> None:
    """A motion, its energy balance, and a picture of it."""
    result = kn.simulate(kn.load(MODELS / f"{name}.kin"), seconds, samples=1001)
    figure(result, OUT / f"{picture}.png")
    say(f"{name}: {result.message}, {result.steps} steps in {1e3 * result.seconds:.1f} ms -> {OUT}/{picture}.png")


def look(*names: str) -> None:
    """Pictures of machines where they stand."""
    for name in names:
        save(kn.posture(kn.load(MODELS / f"{name}.kin")), OUT / f"{name}_machine.png")
    say(f"What they look like: {', '.join(f'{OUT}/{name}_machine.png' for name in names)}\n")


def export(name: str) -> None:
    """C99 source of the equations, for a controller without anything else on it."""
    equations = kn.derive(kn.load(MODELS / f"{name}.kin"))
    header, source = c.source([*equations.programs("forward")], name)
    (OUT / f"{name}.h").write_text(header, encoding="utf-8")
    (OUT / f"{name}.c").write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
