"""Time to derive and to compile, each in a fresh process without a cache; speed and size of the graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.timing import table

ROOT = Path(__file__).resolve().parent.parent
CHAINS = (10, 25, 50, 100, 200, 400)


def derive(name: str) -> dict[str, Any]:
    """Seconds for the forward dynamics of *name* or ``chain:n``, in a process of its own.

    ``derive``: the expressions; ``program``: these, simplified and scheduled; ``compile``: machine code of the program.
    """
    import kineta as kn
    from benchmarks.chains import chain
    from kineta.codegen import llvm
    from kineta.codegen.target import machine as target

    kn.derive(chain(1)).programs("forward")  # imports are not what is measured
    target()
    times = [time.perf_counter()]
    system = chain(int(name.split(":")[1])) if ":" in name else _robot(name)
    times.append(time.perf_counter())
    equations = kn.derive(system)
    equations.expressions("forward")
    times.append(time.perf_counter())
    programs = kn.derive(system).programs("forward")
    times.append(time.perf_counter())
    if not name.startswith("chain"):
        llvm.compile([programs[1]])
    times.append(time.perf_counter())
    seconds = [b - a for a, b in pairwise(times)]
    return {
        **dict(zip(("read", "derive", "program", "compile"), seconds, strict=True)),
        "operations": programs[1].operations().total,
        "nodes": len(equations.graph),
        "nv": system.nv,
    }


def function(name: str) -> dict[str, Any]:
    """Seconds of the processor from the file of an example with constraints to its accelerations as machine code, with the
    decision which constraints are redundant.
    """
    import kineta as kn
    from benchmarks.robots import EXAMPLES

    _ = kn.derive(kn.load(EXAMPLES / "fourbar.kin")).function("forward").address  # imports are not what is measured
    start = time.process_time()
    _ = kn.derive(kn.load(EXAMPLES / f"{name}.kin")).function("forward").address
    return {"seconds": time.process_time() - start}


def _robot(name: str) -> Any:
    import kineta as kn
    from benchmarks.robots import EXAMPLES, SOURCES

    return SOURCES[name].system() if name in SOURCES else kn.load(EXAMPLES / f"{name}.kin")


def graph() -> dict[str, float]:
    """Nodes a second and bytes a node of a graph of a million products and sums."""
    from kineta.expr.graph import Graph

    def build(n: int) -> Graph:
        g = Graph()
        x = [g.symbol(f"x{i}") for i in range(64)]
        add, mul = g.add, g.mul
        a = b = x[0]
        for i in range(n):
            a = add(mul(a, x[i & 63]), b)
            b = x[i >> 6 & 63]
        return g

    build(1000)
    start = time.perf_counter()
    nodes = len(build(500_000))
    seconds = time.perf_counter() - start
    tracemalloc.start()
    kept = build(500_000)
    size = tracemalloc.get_traced_memory()[0]
    return {"nodes a second": nodes / seconds, "bytes a node": size / len(kept)}


def fresh(call: str, module: str = "derivation") -> dict[str, Any]:
    """What the *call* of a function of a *module* of the benchmarks gives in a fresh process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", f"import json; from benchmarks.{module} import *; print(json.dumps({call}))"]
        environment = {**os.environ, "KINETA_CACHE_DIR": cache}
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def median(name: str, repeats: int) -> dict[str, Any]:
    """The run of *repeats* with the median time to derive."""
    runs = sorted((fresh(f"derive({name!r})") for _ in range(repeats)), key=lambda r: float(r["derive"]))
    return runs[len(runs) // 2]


def main(quick: bool = False) -> None:
    repeats = 1 if quick else 5
    stages = ("read", "derive", "program", "compile")
    rows = []
    for name in ("puma", "hopping_robot", "puma_andreev", "quadruped", "humanoid"):
        r = median(name, repeats)
        rows.append((name, *(f"{1e3 * r[k]:.1f}" for k in stages), f"{r['operations']}"))
    print(table(("forward dynamics, ms", *stages, "operations"), rows), "\n")
    rows = []
    for n in CHAINS[: 4 if quick else None]:
        r = median(f"chain:{n}", repeats)
        ms = [f"{1e3 * r[k]:.1f}" for k in ("derive", "program")]
        rows.append((f"{n}", *ms, f"{1e3 * r['derive'] / n:.3f}", f"{r['operations']}", f"{r['nodes']}"))
    print(table(("links of a chain", "derive, ms", "program, ms", "ms a link", "operations", "nodes"), rows), "\n")
    for name, value in fresh("graph()").items():
        print(f"{name:20}{value:,.0f}")
