"""``kineta check``: is the model sound, and what was understood."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from kineta.cli.common import CHECK_FAILED, Json, Model, Set, console, print_json, read, verb

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
    """Checks at the initial state: names, figures, and whether they passed; none where a parameter has no value."""
    import numpy as np

    from kineta.compiler import derive
    from kineta.tasks.state import initial_state

    if any(p.value is None for p in system.parameters):
        return []
    q, v = initial_state(system)
    equations = derive(system)
    M = equations.function("mass_matrix", "numpy")(0.0, q, v)
    values = np.linalg.eigvalsh(M) if np.isfinite(M).all() else np.full(len(M), np.nan)
    definite = bool(values[0] > 1e-12 * values[-1])
    results = [_finding("mass matrix is positive definite", "smallest eigenvalue", values[0], passed=definite)]
    if definite:
        vdot = np.linspace(-1.0, 1.0, system.nv)
        tau = equations.function("inverse", "numpy")(0.0, q, v, vdot)
        back = equations.function("forward", "numpy")(0.0, q, v, tau)
        error = float(np.abs(back - vdot).max()) / float(np.linalg.cond(M))
        results.append(
            _finding("forward dynamics undo inverse dynamics", "relative error", error, passed=error < 1e-12)
        )
    return results


def _finding(name: str, measure: str, value: float, *, passed: bool) -> dict[str, Any]:
    return {"name": name, "measure": measure, "value": float(value), "passed": passed}


def _print(summary: dict[str, Any]) -> None:
    bodies, speeds = len(summary["bodies"]), len(summary["speeds"])
    out = console()

    def say(text: str, style: str = "") -> None:
        out.print(text, style=style, markup=False, soft_wrap=True)

    say(
        f"{summary['model']}: {bodies} {'body' if bodies == 1 else 'bodies'}, "
        f"{speeds} {'degree' if speeds == 1 else 'degrees'} of freedom",
        "bold",
    )
    for label in ("bodies", "coordinates", "elements", "outputs"):
        if summary[label]:
            say(f"  {label}: {', '.join(summary[label])}")
    shown = ", ".join(n if x is None else f"{n} = {x:g}" for n, x in summary["parameters"].items())
    if shown:
        say(f"  parameters: {shown}")
    for finding in summary["checks"]:
        mark, style = ("ok", "green") if finding["passed"] else ("FAILED", "red")
        say(f"  {mark}: {finding['name']} ({finding['measure']} {finding['value']:.2g})", style)
    missing = [n for n, x in summary["parameters"].items() if x is None]
    if missing:
        say(f"  not checked against the laws: without values for {', '.join(missing)}")
