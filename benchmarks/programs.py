"""Programs of motion: what deriving, compiling and a call of the equations cost, and their operations beside a study's."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import numpy as np

import kineta as kn
from benchmarks.chains import chain
from benchmarks.timing import interleaved, table
from kineta.codegen import python_call
from kineta.equations.formulas import simplified
from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs.laws import LAWS
from kineta.mechanics.programs.rows import without
from kineta.passes.hoist import hoist
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.compiled import CompiledSystem
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from kineta.runtime.functions import lowered, run_functions

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Operations of M, c, B, W and u for |a(tip)|^2 = const in a study, by system and law; under the covariant law with w = M^-1 u
#: eliminated.
STUDY = {
    ("puma560", "kineta"): 1214,
    ("puma560", "covariant"): 1650,
    ("chain10", "kineta"): 5592,
    ("chain10", "covariant"): 7569,
}
#: The programs, of a point.
SIZE, JERK, LINEAR = "|a|^2 = const", "|jerk| = const", "jerk.z = sin t"


def programs(tip: str) -> dict[str, kn.Expr]:
    """What the programs make zero for the point or body *tip*."""
    a, jerk = kn.vector("a", tip), kn.vector("jerk", tip)
    return {SIZE: abs(a) ** 2 - 4, JERK: abs(jerk) - 2, LINEAR: jerk.z - kn.sin(kn.symbol("t"))}


def parts(d: Derivation) -> list[Ref]:
    """M, c, B, W and u: the linear system of an instant before it is solved, and the control."""
    own, n = d.programs, len(d.symbols.v)
    c = without(d.symbols, LAWS[d.symbols.system.control.law].rate(d, own.r), own.s)
    rows = [x for row in own.rows for x in (*row.dense(n), row.rest)]
    return [*d["mass_matrix"].refs, *c, *rows, *(d["inverse"].refs if own.r else ())]


def operations(d: Derivation) -> int:
    """Add + mul + div of :func:`parts`, as they would be compiled."""
    refs, p = parts(d), d.symbols.system.parameter_names
    own, made = simplified(d, {"parts": refs}, p)
    levels = [x for k in range(1, d.programs.s) for x in own.level(k)]
    outputs = {"parts": {"parts": ((len(refs),), made["parts"])}}
    _, mains = hoist(own.graph, {"t": (own.t,), "y": (*own.q, *levels)}, outputs, own.p, "parts")
    return mains["parts"].operations().total


def row(system: kn.System, name: str, law: str, repeats: int) -> tuple[str, ...]:
    """A row of the table."""
    own = system.replace(programs=[kn.program("hold", programs(system.bodies[-1].name)[name])], control=kn.control(law))
    equations = kn.derive(own)
    times = [time.perf_counter()]
    d = run_derivation(equations, PROJECTED)
    found, layout = run_functions(d, applied_forces(own, None), ())
    times.append(time.perf_counter())
    setup, mains = lowered(d, found, layout)
    times.append(time.perf_counter())
    code = CompiledSystem(setup, mains, layout, PROJECTED)
    evaluate = python_call.state_wrapper(code.rate)
    times.append(time.perf_counter())
    state = np.linspace(0.2, 0.9, own.nq + (layout.order - 1) * own.nv)
    y, h = np.concatenate([state, np.zeros(layout.integrals)]), code.parameter_block(np.empty(0), np.zeros(own.nv))
    one = interleaved({"one": lambda: evaluate(0.3, y, h)}, repeats)["one"]
    study = STUDY[system.name, law] if name == SIZE else ""
    counts = operations(run_derivation(equations, PROJECTED)), mains["rate"].operations().total
    derive, program, compile_ = (f"{b - a:.2f}" for a, b in pairwise(times))
    order = f"{d.programs.r}, {d.programs.s}"
    return (
        system.name,
        name,
        order,
        law,
        derive,
        program,
        compile_,
        *map(str, (counts[0], study, counts[1])),
        f"{one * 1e6:.1f}",
    )


def main(quick: bool = False) -> None:
    systems = (kn.load(EXAMPLES / "puma560.kin"), chain(10))
    cases = [(s, name) for s in systems for name in (SIZE, JERK, LINEAR) if s is systems[0] or name == SIZE]
    rows = [row(s, name, law, 3 if quick else 15) for s, name in cases for law in ("covariant", "kineta")]
    head = ("system", "program of its tip", "r, s", "law", "derive, s", "program, s", "compile, s")
    print(table((*head, "M c B W u", "study", "rate", "a call, us"), rows))
