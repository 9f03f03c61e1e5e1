"""``kineta check``: is the model sound, and what was understood."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from kineta.cli.common import CHECK_FAILED, Json, Model, Set, fail, print_json, read, verb

if TYPE_CHECKING:
    from kineta.model.system import System


@verb
def check(model: Model, settings: Set = None, json: Json = False) -> None:
    """Read a model, say what it was taken for, and check it against the laws of mechanics at its initial state."""
    began = time.perf_counter()
    system = read(model, settings)
    findings = laws(system)
    summary = {**described(system), "checks": findings, "seconds": time.perf_counter() - began}
    if json:
        print_json(summary)
    else:
        _print(summary)
    if any(not f["passed"] for f in findings):
        raise typer.Exit(CHECK_FAILED)


def described(system: System) -> dict[str, Any]:
    """What a model consists of."""
    return {
        "model": system.name,
        "bodies": [b.name for b in system.bodies],
        "coordinates": list(system.q_names),
        "speeds": list(system.v_names),
        "parameters": {p.name: p.value for p in system.parameters},
        "elements": {e.name: type(e).__name__ for e in system.elements},
        "outputs": [o.name for o in system.outputs],
    }


def laws(system: System) -> list[dict[str, Any]]:
    """Checks at the initial state: names, figures, and whether they passed."""
    import numpy as np

    from kineta.compiler import derive
    from kineta.tasks.state import initial_state

    missing = [p.name for p in system.parameters if p.value is None]
    if missing:
        return [
            {
                "name": f"parameters without a value: {', '.join(missing)}; the laws were not checked",
                "error": 0.0,
                "passed": True,
            }
        ]
    q, v = initial_state(system)
    equations = derive(system)
    M = equations.function("mass_matrix", "numpy")(0.0, q, v)
    if not np.isfinite(M).all():
        fail(f"Model '{system.name}': the mass matrix is not finite in the initial state.", CHECK_FAILED)
    values = np.linalg.eigvalsh(M) if len(M) else np.ones(1)
    results = [
        {
            "name": "mass matrix is positive definite",
            "error": float(values[0]),
            "passed": bool(values[0] > 1e-12 * values[-1]),
        }
    ]
    if results[0]["passed"]:
        vdot = np.linspace(-1.0, 1.0, system.nv)
        tau = equations.function("inverse", "numpy")(0.0, q, v, vdot)
        back = equations.function("forward", "numpy")(0.0, q, v, tau)
        scale = max(float(np.abs(vdot).max(initial=0)), 1e-9) * float(np.linalg.cond(M))
        error = float(np.abs(back - vdot).max(initial=0)) / scale
        results.append({"name": "forward dynamics undo inverse dynamics", "error": error, "passed": error < 1e-12})
    return results


def _print(summary: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"[bold]{summary['model']}[/]: {len(summary['bodies'])} bodies, {len(summary['speeds'])} degrees of freedom"
    )
    for label in ("bodies", "coordinates", "elements", "outputs"):
        if summary[label]:
            console.print(f"  {label}: {', '.join(summary[label])}", soft_wrap=True)
    shown = ", ".join(n if x is None else f"{n} = {x:g}" for n, x in summary["parameters"].items())
    if shown:
        console.print(f"  parameters: {shown}", soft_wrap=True)
    for finding in summary["checks"]:
        mark = "[green]ok[/]" if finding["passed"] else "[red]FAILED[/]"
        console.print(f"  {mark} {finding['name']} ({finding['error']:.2g})")
