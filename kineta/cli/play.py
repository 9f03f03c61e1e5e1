"""``kineta play``: the playground in the browser."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from kineta.cli.options import Verb, force
from kineta.cli.values import emit, print_written, write_files
from kineta.errors import ArgumentError


@click.command(
    cls=Verb,
    examples="""
    kineta play
    kineta play double_pendulum.kin
    kineta play --to playground        its files, for a server of yours
    """,
)
@click.argument(
    "model", metavar="[MODEL]", required=False, type=click.Path(path_type=Path), help="A file .kin to begin with."
)
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Write the files there.")
@click.option(
    "--pyodide",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Where Python for browsers lies; by default npm brings it once.",
)
@click.option("--no-open", is_flag=True, help="Only say the address.")
@force
def play(model: Path | None, to: Path | None, pyodide: Path | None, no_open: bool, force: bool) -> None:
    """Write models and see them move, in the browser alone.

    Serves the playground on this machine, for this machine alone, until Ctrl-C.
    """
    import webbrowser

    from kineta.playground.link import fragment
    from kineta.playground.server import Server
    from kineta.playground.site import site

    if model is not None and to is not None:
        raise ArgumentError("Expected either a model to play with or a folder to write to, found both.")
    start = "" if model is None else fragment(_text(model))
    files = site(pyodide)
    if to is not None:
        paths = {to / name: content for name, content in files.items()}
        write_files(paths, force=force)
        print_written([to / "index.html"], as_json=False)
        return
    with Server(files) as server, suppress(KeyboardInterrupt):
        emit(f"{server.address}{start} (Ctrl-C ends it)")
        if not no_open:
            webbrowser.open(server.address + start)
        server.serve_forever()


def _text(model: Path) -> str:
    """Return the text of a model, which may be wrong; of a robot in URDF, its own."""
    from kineta.model.io import dumps, load
    from kineta.model.io.text_file import read_text

    return read_text(model) if model.suffix == ".kin" else dumps(load(model))
