"""``kineta verify``: the certificate that all formalisms agree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kineta.cli.common import CHECK_FAILED, Json, Model, Set, print_json, read, verb, whole


@verb
def verify(
    model: Model,
    states: Annotated[int, typer.Option(parser=whole(1, 10**6), metavar="N", help="Random states to compare at.")] = 40,
    digits: Annotated[
        int, typer.Option(parser=whole(0, 1000), metavar="N", help="Digits of the precise comparison; 0 for none.")
    ] = 50,
    seed: Annotated[int, typer.Option(parser=whole(0, 10**9), metavar="N", help="Seed of the random states.")] = 0,
    html: Annotated[
        Path | None, typer.Option(help="Write the certificate as an HTML page.", show_default=False)
    ] = None,
    settings: Set = None,
    json: Json = False,
) -> None:
    """Derive by every formalism, compare at random states, check the laws of mechanics."""
    system = read(model, settings)
    from kineta.files import write
    from kineta.tasks.verify import verify as certify

    certificate = certify(system, states=states, digits=digits, seed=seed)
    if html is not None:
        write({html: certificate.page().encode()})
    if json:
        print_json(certificate.as_dict())
    else:
        typer.echo(str(certificate))
    if not certificate.holds:
        raise typer.Exit(CHECK_FAILED)
