"""``kineta integrals``: what a motion does not change."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.options import Verb, end, json_, model, settings
from kineta.cli.values import CHECK_FAILED, Settings, print_json, read, with_values
from kineta.errors import excerpt

#: Change along a run, relative to what an integral adds up, that the tolerances of the run explain.
DRIFT = 1e-6


@click.command(
    cls=Verb,
    examples="""
    kineta integrals spinning_top.kin
    kineta integrals double_pendulum.kin --to 2
    """,
)
@model
@settings
@click.option("--to", type=end, metavar="TIME", help="Follow them along a run to this time.")
@json_
def integrals(model: Path, settings: Settings, to: float | None, as_json: bool) -> None:
    """Find what a motion does not change.

    First integrals: momenta, angular momenta and energies that stay constant. A drift along a run ends with 2.
    """
    system = with_values(read(model, settings))
    from kineta.equations.equations import derive
    from kineta.results.outcomes import check_complete
    from kineta.simulation.simulate import simulate
    from kineta.tasks.verification.first_integrals import first_integrals

    equations = derive(system)
    found = first_integrals(equations)
    left_out = [c.name for c in (*system.contacts, *system.switches)]
    alone = derive(system.replace(contacts=(), switches=(), outputs=())) if left_out else equations
    run = simulate(alone, to) if to is not None else None
    if run is not None:
        check_complete(system.name, run.status, run.message)
    drifts = [integral.drift(run) for integral in found] if run is not None else []
    if as_json:
        known: list[float | None] = [*drifts] or [None] * len(found)
        rows = [
            {"name": i.name, "source": i.source, "weights": list(i.weights), "drift": drift}
            for i, drift in zip(found, known, strict=True)
        ]
        print_json({"model": system.name, "integrals": rows, "without": left_out})
    else:
        for k, integral in enumerate(found):
            click.echo(f"{integral.name}: changes by {drifts[k]:.0e} to t = {to:g} s" if drifts else integral.name)
        if left_out and drifts:
            click.echo(f"the run is without {excerpt(left_out)}, as the integrals are")
        if not found:
            click.echo(f"Model '{system.name}': no momentum, angular momentum or energy stays constant.")
    if any(drift > DRIFT for drift in drifts):
        raise SystemExit(CHECK_FAILED)
