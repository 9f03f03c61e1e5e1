"""``kineta response``: what a system near a state puts out, to oscillations or to a step."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.linearize import chosen
from kineta.cli.options import (
    FILE,
    Verb,
    at_equilibrium,
    going_on,
    hertz,
    json_,
    model,
    names,
    seconds,
    settings,
    state,
)
from kineta.cli.values import Settings, print_json, read, with_values
from kineta.errors import ArgumentError

#: Times of a step response.
TIMES = 501


@click.command(
    cls=Verb,
    examples="""
    kineta response double_pendulum.kin --q q1=0,q2=0 --output q1
    kineta response double_pendulum.kin --q q1=0,q2=0 --step 10 --plot step.png
    """,
)
@model
@state("q", "Coordinates about which")
@state("v", "Speeds about which")
@at_equilibrium
@going_on
@click.option("--input", "inputs", metavar="NAME,...", help="Speeds, for the forces on them, and parameters.")
@click.option("--output", "outputs", metavar="NAME,...", help="Outputs, coordinates, speeds, and what else is known.")
@click.option("--step", type=seconds, metavar="TIME", help="The response to a step, up to this time.")
@click.option("--from", "low", type=hertz, metavar="HERTZ", help="The lowest frequency.")
@click.option("--to", "high", type=hertz, metavar="HERTZ", help="The highest frequency.")
@click.option("--plot", type=FILE, metavar="FILE", help="Write a picture (.png, .svg, .pdf).")
@settings
@json_
def response(
    model: Path,
    q: str | None,
    v: str | None,
    rest: bool,
    steady: str,
    inputs: str | None,
    outputs: str | None,
    step: float | None,
    low: float | None,
    high: float | None,
    plot: Path | None,
    settings: Settings,
    as_json: bool,
) -> None:
    """Respond to oscillations, or to a step.

    The frequency response about an equilibrium; with --step what follows when an input goes from 0 to 1.
    """
    import numpy as np

    from kineta.tasks.linear.response import FREQUENCIES
    from kineta.tasks.linear.response import response as find

    system = with_values(read(model, settings))
    about = chosen(system, q, v, rest=rest, steady=names(steady))
    if (low is None) != (high is None) or (step is not None and low is not None):
        raise ArgumentError("Expected both --from and --to, without --step, or neither of them.")
    if low is not None and high is not None and not 0 < low < high:
        raise ArgumentError(f"Expected frequencies above 0 that rise, found --from {low:g} --to {high:g}.")
    if step is not None and step <= 0:
        raise ArgumentError(f"--step: expected a time above 0, found {step:g}.")
    found = find(
        system,
        about,
        frequency=None if low is None or high is None else np.geomspace(low, high, FREQUENCIES),
        time=None if step is None else np.linspace(0.0, step, TIMES),
        inputs=None if inputs is None else names(inputs),
        outputs=None if outputs is None else names(outputs),
    )
    if plot is not None:
        from kineta.views.series import picture

        picture(found.plot(), plot)
    if as_json:
        values = found.values
        print_json(
            {
                "model": found.model,
                "inputs": list(found.inputs),
                "outputs": list(found.outputs),
                "frequency": None if found.frequency is None else found.frequency.tolist(),
                "time": None if found.time is None else found.time.tolist(),
                "values": values.tolist() if step is not None else np.stack([values.real, values.imag], -1).tolist(),
            }
        )
        return
    at_all = found.over
    for i, name in enumerate(found.inputs):
        for k, output in enumerate(found.outputs):
            size = np.abs(found.values[:, k, i])
            at = int(size.argmax())
            where = f"after {at_all[at]:.6g} s" if found.frequency is None else f"at {at_all[at]:.6g} Hz"
            click.echo(f"{output} to {name}: at most {size[at]:.6g} {where}, {size[0]:.6g} first, {size[-1]:.6g} last")
    if plot is not None:
        click.echo(f"written: {plot}")
