"""Growth of chains of links: from a file or a description to the first accelerations, with nothing of the model cached, each in
a fresh process. Seconds are of the processor, without imports.
"""

from __future__ import annotations

import math
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.derivation import fresh
from benchmarks.timing import table

LENGTHS = (100, 300, 1000, 3000, 10000)

TEXT = """gravity (0, 0, -9.81);
constants N = {n};
Link[0] | Rx(0.7), Rz(q[0]) = m(1), Jx(0.02), Jy(0.03), Jz(0.025), com = (0.15, 0.02, 0.05);
for i in 1..N - 1 : Link[i] ~ Link[i - 1] | Sx(0.3), Sz(0.1), Rx(0.7), Rz(q[i])
  = m(1), Jx(0.02), Jy(0.03), Jz(0.025), com = (0.15, 0.02, 0.05);
"""
INERTIAL = (
    '<inertial><origin xyz="0.15 0.02 0.05"/><mass value="1"/>'
    '<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def _urdf(n: int) -> str:
    links = "".join(f'<link name="l{k}">{INERTIAL}</link>' for k in range(1, n + 1))
    joints = "".join(
        f'<joint name="q{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
        '<origin xyz="0.3 0 0.1" rpy="0.7 0 0"/><axis xyz="0 0 1"/></joint>'
        for k in range(1, n + 1)
    )
    return f'<robot name="chain"><link name="l0"/>{links}{joints}</robot>'


def first(kind: str, n: int) -> dict[str, Any]:
    """Seconds of the parts of the way of a chain of *n* links of this *kind* of description, and its memory in MB."""
    import resource
    import time

    import numpy as np

    import kineta as kn
    from benchmarks.chains import chain

    kn.derive(kn.loads(TEXT.format(n=2))).function("forward")(0.0, np.zeros(2), np.zeros(2))  # imports, and the grammar
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"chain.{'kin' if kind == 'text' else 'urdf'}"
        path.write_text(TEXT.format(n=n) if kind == "text" else _urdf(n), encoding="utf-8")
        times = [time.process_time()]
        system = chain(n) if kind == "Python" else kn.load(path)
        times.append(time.process_time())
        function = kn.derive(system).function("forward")
        times.append(time.process_time())
        function(0.0, np.full(n, 0.1), np.zeros(n))
        times.append(time.process_time())
    read, derived, compiled = (b - a for a, b in pairwise(times))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"read": read, "derive": derived, "first": compiled, "MB": memory}


def main(quick: bool = False) -> None:
    rows = []
    lengths = LENGTHS[: 2 if quick else None]
    for kind in ("text", "Python", "URDF"):
        totals = []
        for n in lengths:
            found = fresh(f"first({kind!r}, {n})", "growth")
            totals.append(sum(found[part] for part in ("read", "derive", "first")))
            parts = [f"{found[part]:.2f}" for part in ("read", "derive", "first")]
            rows.append((kind, f"{n}", *parts, f"{totals[-1]:.2f}", f"{found['MB']:.0f}"))
        exponent = math.log(totals[-1] / totals[0]) / math.log(lengths[-1] / lengths[0])
        rows.append(("", "", "", "", "grows as n to the", f"{exponent:.2f}", ""))
    print(table(("links of a chain", "n", "read, s", "derive, s", "first call, s", "all", "MB"), rows))
