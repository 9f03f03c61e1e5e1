"""The command ``kineta``."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from kineta import __version__
from kineta.cli.check import check
from kineta.cli.common import BAD_INPUT, INTERRUPTED, said
from kineta.cli.derive import derive
from kineta.cli.evaluate import evaluate
from kineta.cli.examples import examples
from kineta.cli.export import export, import_
from kineta.cli.integrals import integrals
from kineta.cli.simulate import simulate
from kineta.cli.verify import verify

app = typer.Typer(
    help="A compiler for mechanics: equations of motion, derived, counted, compiled and simulated.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(check)
app.command()(derive)
app.command("eval")(evaluate)
app.command()(simulate)
app.command()(verify)
app.command()(integrals)
app.command()(export)
app.command("import")(import_)
app.add_typer(examples, name="examples")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"kineta {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Common options."""


#: Base of the errors that options of the wrong form raise.
_UsageError: Any = typer.BadParameter.__bases__[0]


def main() -> None:
    """Entry point. Wrong options are bad input and end with 1, as all bad input does; 2 is for checks that failed."""
    for stream in (sys.stdout, sys.stderr):
        # Names of any script are printed even where the encoding has no letters for them.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        typer.echo("kineta: The output cannot be written: standard output is closed.", err=True)
        raise SystemExit(BAD_INPUT)
    try:
        with said(None):
            code = app(prog_name="kineta", standalone_mode=False)
    except typer.Exit as left:
        raise SystemExit(left.exit_code) from None
    except typer.Abort:
        typer.echo("kineta: Interrupted.", err=True)
        raise SystemExit(INTERRUPTED) from None
    except _UsageError as error:
        _explain(error)
        raise SystemExit(BAD_INPUT) from None
    raise SystemExit(code or 0)


def _explain(error: Any) -> None:
    """What is wrong with the options, and where they are listed; nothing where the help was shown instead."""
    message = error.format_message()
    verb = error.ctx.command_path if error.ctx else "kineta"
    if message:
        end = "" if message.endswith((".", "?")) else "."
        typer.echo(f"kineta: {message}{end} See {verb} --help.", err=True)
