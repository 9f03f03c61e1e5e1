"""The command ``kineta``: its verbs, its entry point and its exit codes."""

from __future__ import annotations

import os
import re
import sys
from io import TextIOWrapper

import click

from kineta import __version__
from kineta.cli.check import check
from kineta.cli.completion import COMPLETE, completion
from kineta.cli.derive import derive
from kineta.cli.evaluate import evaluate
from kineta.cli.examples import examples
from kineta.cli.export import export, import_
from kineta.cli.lsp import lsp
from kineta.cli.new import new
from kineta.cli.play import play
from kineta.cli.task_verbs import verbs
from kineta.cli.values import BAD_INPUT, emit, said
from kineta.errors import readable, suggestion


class Verbs(click.Group):
    """A group with its commands in the order of their addition."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="kineta %(version)s", help="Print the version.")
def app() -> None:
    """A compiler for mechanics: equations of motion, derived, counted, compiled and simulated."""


for verb in (new, check, derive, evaluate, *verbs(), export, import_, play, lsp, examples, completion):
    app.add_command(verb)


def main() -> None:
    """Run the command. Bad input, wrong options included, ends with 1, a failed check with 2."""
    for stream in (sys.stdout, sys.stderr):
        # An encoding without the letters of a name prints their codes.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        emit("kineta: The output cannot be written: standard output is closed.", err=True)
        raise SystemExit(BAD_INPUT)
    with said(None):
        raise SystemExit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    """Return the exit code of the command with *arguments*; click itself would end with codes of its own."""
    try:
        if COMPLETE in os.environ:
            from click.shell_completion import shell_complete

            return shell_complete(app, {}, "kineta", COMPLETE, os.environ[COMPLETE])
        with app.make_context("kineta", arguments) as context:
            app.invoke(context)
    except click.exceptions.Exit as left:
        return left.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        emit(error.format_message())
        return BAD_INPUT
    except click.UsageError as error:
        _explain(error)
        return BAD_INPUT
    return 0


def _near(error: click.UsageError) -> str:
    """Return the sentence on an unknown option or verb, with a suggestion; ``""`` for other errors."""
    verb = re.match(r"No such command '(.+)'", error.message)
    if verb is not None:
        return f"No such command '{verb[1]}'.{suggestion(verb[1], app.commands)}"
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return ""
    known = [o.removeprefix("--") for p in error.ctx.command.params for o in p.opts if o.startswith("--")]
    near = re.sub("'(.+?)'", r"'--\1'", suggestion(error.option_name.lstrip("-"), known), count=1)
    return f"No such option '{error.option_name}'.{near}"


def _explain(error: click.UsageError) -> None:
    """Return the sentence on wrong options, with the command that lists them."""
    message = readable(_near(error) or " ".join(error.format_message().split()))
    verb = error.ctx.command_path if error.ctx else "kineta"
    end = "" if message.endswith((".", "?")) else "."
    emit(f"kineta: {message}{end} See {verb} --help.", err=True)
