"""``kineta verify``: the certificate that all formalisms agree."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.options import FILE, Verb, json_, model, settings, whole
from kineta.cli.values import CHECK_FAILED, Settings, print_json, read
from kineta.errors import readable


@click.command(
    cls=Verb,
    examples="""
    kineta verify double_pendulum.kin
    kineta verify double_pendulum.kin --states 5 --html certificate.html
    """,
)
@model
@settings
@click.option("--states", type=whole(1, 10**6), default=40, show_default=True, metavar="N", help="Random states.")
@click.option(
    "--digits",
    type=whole(0, 1000),
    default=50,
    show_default=True,
    metavar="N",
    help="Digits of the precise comparison; 0 for none.",
)
@click.option("--seed", type=whole(0, 10**9), default=0, show_default=True, metavar="N", help="Of the random states.")
@click.option("--html", type=FILE, metavar="FILE", help="Write the certificate as an HTML page.")
@json_
def verify(
    model: Path, settings: Settings, states: int, digits: int, seed: int, html: Path | None, as_json: bool
) -> None:
    """Compare all formalisms at random states.

    Each derives the equations by itself; the laws of mechanics are checked too. A difference ends with 2.
    """
    system = read(model, settings)
    from kineta.files import write
    from kineta.tasks.verification.verify import verify as certify

    certificate = certify(system, states=states, digits=digits, seed=seed)
    if html is not None:
        write({html: certificate.page().encode()})
    if as_json:
        print_json(certificate.as_dict())
    else:
        click.echo(readable(str(certificate)))
    if not certificate.holds:
        raise SystemExit(CHECK_FAILED)
