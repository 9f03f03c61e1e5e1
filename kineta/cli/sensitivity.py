"""``kineta sensitivity``: how the end of a motion changes with parameters, forces and initial values."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.options import FILE, Verb, end, json_, model, names, settings, state, whole
from kineta.cli.values import Settings, numbers, print_json, read, with_values
from kineta.errors import ArgumentError


@click.command(
    cls=Verb,
    examples="""
    kineta sensitivity double_pendulum.kin --by m2,q1 --to 1
    kineta sensitivity double_pendulum.kin --by m2 --to 2 --plot slopes.png
    """,
)
@model
@click.option(
    "--by", default="", metavar="NAME,...", help="Parameters, coordinates and speeds (initial), forces tau.q1'."
)
@click.option("--to", type=end, default=1.0, show_default=True, metavar="TIME", help="End of the motion.")
@click.option("--keep", default="", metavar="NAME,...", help="Initial values that stay, where constraints hold.")
@state("q", "Initial coordinates")
@state("v", "Initial speeds")
@click.option("--samples", type=whole(2, 10**6), default=201, show_default=True, metavar="N", help="Times recorded.")
@click.option("--plot", type=FILE, metavar="FILE", help="Write a picture (.png, .svg, .pdf).")
@settings
@json_
def sensitivity(
    model: Path,
    by: str,
    to: float,
    keep: str,
    q: str | None,
    v: str | None,
    samples: int,
    plot: Path | None,
    settings: Settings,
    as_json: bool,
) -> None:
    """Derive a motion by what it depends on.

    The values of coordinates, speeds and outputs at the end, and their exact derivatives.
    """
    from kineta.tasks.sensitivity.sensitivity import sensitivity as find

    system = with_values(read(model, settings))
    if not names(by):
        raise ArgumentError("--by: expected names of parameters, coordinates or speeds, as in --by m1,q1, found none.")
    found = find(
        system,
        to,
        names(by),
        keep=names(keep),
        q=numbers("--q", q, system),
        v=numbers("--v", v, system),
        samples=samples,
    )
    series = list(dict.fromkeys([*found.q_names, *found.v_names, *found.outputs]))
    if plot is not None:
        from kineta.views.series import picture

        picture(found.plot(), plot)
    if as_json:
        values = {n: {"value": float(found.value(n)[-1]), "by": found[n][-1].tolist()} for n in series}
        data = {"model": found.model, "t": float(found.t[-1]), "by": list(found.by), "series": values}
        print_json(data | {"kept": list(found.kept), "notes": list(found.notes)})
        return
    rows = [["", f"at {found.t[-1]:g} s", *(f"by {n}" for n in found.by)]]
    rows += [[n, *(f"{x + 0.0:.6g}" for x in (found.value(n)[-1], *found[n][-1]))] for n in series]
    first, *rest = (max(len(row[k]) for row in rows) for k in range(len(rows[0])))
    for row in rows:
        click.echo("  ".join([row[0].ljust(first), *map(str.rjust, row[1:], rest)]))
    if found.kept:
        click.echo(f"kept of the initial values: {', '.join(found.kept)}")
    for note in found.notes:
        click.echo(note)
    if plot is not None:
        click.echo(f"written: {plot}")
