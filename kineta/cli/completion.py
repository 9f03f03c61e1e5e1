"""``kineta completion``: a script for the completion of the shell."""

from __future__ import annotations

import click

from kineta.cli.options import Verb
from kineta.cli.values import emit

#: The environment variable of a request for completions.
COMPLETE = "_KINETA_COMPLETE"


@click.command(
    cls=Verb,
    examples="""
    eval "$(kineta completion bash)"         in ~/.bashrc
    eval "$(kineta completion zsh)"          in ~/.zshrc, after compinit
    kineta completion fish > ~/.config/fish/completions/kineta.fish
    """,
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")), metavar="SHELL", help="bash, zsh or fish.")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes verbs, options and names.

    The shell that runs it completes what is typed behind kineta.
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    emit(made(context.find_root().command, {}, "kineta", COMPLETE).source())
