"""``kineta new``: a template of a model."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.options import Verb, force, json_, to
from kineta.cli.values import print_written, write_files
from kineta.errors import ArgumentError
from kineta.library import TEMPLATE


@click.command(
    cls=Verb,
    examples="""
    kineta new crane
    kineta simulate crane.kin --plot crane.png
    """,
)
@click.argument("name", help="Of the model, and of its file NAME.kin.")
@to
@force
@json_
def new(name: str, to: Path, force: bool, as_json: bool) -> None:
    """Write a small model with comments, to be changed.

    It runs as it stands: a cart on a spring, and a pendulum that hangs from it.
    """
    name = name.removesuffix(".kin")
    if not name.isidentifier():
        raise ArgumentError(
            f"Expected a name of letters, digits and _ that begins with a letter, found '{name}'; --to names the folder."
        )
    text = TEMPLATE.read_text(encoding="utf-8").replace("NAME", name)
    path = to / f"{name}.kin"
    write_files({path: text}, force=force)
    print_written([path], as_json=as_json)
