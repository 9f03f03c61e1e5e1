"""``kineta integrals``: what a motion does not change."""

from __future__ import annotations

from typing import Annotated

import typer

from kineta.cli.common import CHECK_FAILED, Json, Model, Set, print_json, read, seconds, verb, with_values

#: Change along a run, relative to what an integral adds up, that the tolerances of the run explain.
DRIFT = 1e-6


@verb
def integrals(
    model: Model,
    to: Annotated[
        float | None, typer.Option(parser=seconds, metavar="TIME", help="Follow them along a run to this time.")
    ] = None,
    settings: Set = None,
    json: Json = False,
) -> None:
    """Find the first integrals: momenta, angular momenta and energies that stay constant."""
    system = with_values(read(model, settings))
    from kineta.compiler import derive
    from kineta.tasks.integrals import first_integrals
    from kineta.tasks.simulate import simulate

    equations = derive(system)
    found = first_integrals(equations)
    run = simulate(equations, to) if to is not None else None
    drifts = [integral.drift(run) for integral in found] if run is not None else []
    if json:
        known: list[float | None] = [*drifts] or [None] * len(found)
        rows = [
            {"name": i.name, "source": i.source, "weights": list(i.weights), "drift": drift}
            for i, drift in zip(found, known, strict=True)
        ]
        print_json({"model": system.name, "integrals": rows})
    else:
        for k, integral in enumerate(found):
            typer.echo(f"{integral.name}: changes by {drifts[k]:.0e} to t = {to:g} s" if drifts else integral.name)
        if not found:
            typer.echo(f"Model '{system.name}': no momentum, angular momentum or energy stays constant.")
    if any(drift > DRIFT for drift in drifts):
        raise typer.Exit(CHECK_FAILED)
