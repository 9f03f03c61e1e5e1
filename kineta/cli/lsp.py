"""``kineta lsp``: the language server for editors."""

from __future__ import annotations

import click

from kineta.cli.options import Verb


@click.command(
    cls=Verb,
    examples="""
    kineta lsp                  what an editor starts; docs/editors.md shows how
    """,
)
def lsp() -> None:
    """Serve an editor with what kineta knows of models.

    It speaks the language server protocol on standard input and output: errors while a text is written, meanings of names, what
    may stand at a place, names that change in all files of a model, and formatting.
    """
    from kineta.editors.language_server import serve

    serve()
