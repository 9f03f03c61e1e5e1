"""``kineta examples``: the models that come with kineta."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Annotated

import typer

from kineta.cli.common import Json, print_json, verb
from kineta.cli.export import Force, write_files
from kineta.errors import ArgumentError, did_you_mean
from kineta.library import example_files

examples = typer.Typer(help="The models that come with kineta.", no_args_is_help=True)


@examples.command("list")
@verb
def list_(json: Json = False) -> None:
    """List the examples."""
    found = {p.stem: _description(p) for p in example_files()}
    if json:
        print_json(found)
        return
    width = max(map(len, found))
    for name, comment in found.items():
        typer.echo(f"{name:{width}}  {comment}")


@examples.command()
@verb
def copy(
    names: Annotated[
        list[str] | None, typer.Argument(help="Examples; all, if none are named.", show_default=False)
    ] = None,
    to: Annotated[Path, typer.Option(help="Folder to copy to, made if need be.")] = Path(),
    force: Force = False,
    json: Json = False,
) -> None:
    """Copy examples to a folder."""
    known = {p.stem: p for p in example_files()}
    chosen = names or list(known)
    for name in chosen:
        if name not in known:
            raise ArgumentError(f"There is no example '{name}' (known: {', '.join(known)}).{did_you_mean(name, known)}")
    files = {to / known[name].name: known[name].read_text(encoding="utf-8") for name in chosen}
    write_files(files, force=force)
    if json:
        print_json({"files": [str(p) for p in files]})
    else:
        typer.echo(f"written: {', '.join(map(str, files))}")


def _description(path: Path) -> str:
    """The first sentence of the comment at the head of a model."""
    head = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return " ".join(line.lstrip("# ") for line in head).partition(". ")[0].rstrip(".") + "."
