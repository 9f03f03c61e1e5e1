"""``kineta examples``: the models in the library of kineta."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path

import click

from kineta.cli.options import Verb, completing, force, json_, to
from kineta.cli.values import emit, print_json, print_written, write_files
from kineta.errors import ArgumentError, did_you_mean
from kineta.library import example_files


def _names() -> Iterable[str]:
    return (p.stem for p in example_files())


@click.group()
def examples() -> None:
    """List or copy the models that come with kineta."""


@examples.command("list", cls=Verb, examples="kineta examples list")
@json_
def list_(as_json: bool) -> None:
    """List the examples."""
    found = {p.stem: _description(p) for p in example_files()}
    if as_json:
        print_json(found)
        return
    width = max(map(len, found))
    for name, comment in found.items():
        emit(f"{name:{width}}  {comment}")


@examples.command(
    cls=Verb,
    examples="""
    kineta examples copy                              all of them, here
    kineta examples copy puma560 spinning_top --to models
    """,
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=completing(_names), help="Examples; none: all.")
@to
@force
@json_
def copy(names: Sequence[str], to: Path, force: bool, as_json: bool) -> None:
    """Copy examples to a folder."""
    known = {p.stem: p for p in example_files()}
    chosen = names or list(known)
    for name in chosen:
        if name not in known:
            raise ArgumentError(f"There is no example '{name}' (known: {', '.join(known)}).{did_you_mean(name, known)}")
    files = {to / known[name].name: known[name].read_text(encoding="utf-8") for name in chosen}
    write_files(files, force=force)
    print_written(files, as_json=as_json)


def _description(path: Path) -> str:
    """Return the first sentence of the comment at the head of a model."""
    head = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    return " ".join(line.lstrip("# ") for line in head).partition(". ")[0].rstrip("., ") + "."
