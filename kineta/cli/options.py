"""``Verb``, the class of all commands, and the arguments and options that they share."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.values import Settings, said, show_warning
from kineta.errors import KinetaError, KinetaWarning
from kineta.tasks.task import Option, named

if TYPE_CHECKING:
    from kineta.model.units import Dimension


class Verb(click.Command):
    """A command. Errors end it with one sentence on standard error and an exit code; its help ends with *examples*."""

    def __init__(self, *args: Any, examples: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.examples = cleandoc(examples).splitlines()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the rest of the arguments. Raises :class:`click.UsageError` for wrong and repeated options."""
        try:
            _, _, order = self.make_parser(ctx).parse_args([*args])
            for option in order:
                if (
                    isinstance(option, click.Option)
                    and not (option.multiple or option.is_flag)
                    and order.count(option) > 1
                ):
                    several = "; names stand behind it, separated by commas" * (option.metavar or "").endswith(",...")
                    raise click.UsageError(
                        f"Option '{option.opts[0]}': expected once, found {order.count(option)} times{several}."
                    )
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> None:
        """Run the command."""
        with warnings.catch_warnings(), said(ctx.params.get("model")):
            warnings.simplefilter("default", KinetaWarning)
            warnings.showwarning = show_warning
            super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in self.examples))


def completing(known: Callable[[], Iterable[str]]) -> Any:
    """Return the shell completion of a word by *known* names."""
    return lambda context, parameter, word: [name for name in known() if name.startswith(word)]


# -- readers of values -------------------------------------------------------------------------------------------------

#: A folder or file; opening it tells a missing one.
FILE = click.Path(path_type=Path)


def real(text: str | float) -> float:
    """Return a number without dimension."""
    from kineta.model.units import NUMBER

    return _quantity(text, NUMBER)


def seconds(text: str | float) -> float:
    """Return a time [s], from a text in seconds or with a unit."""
    from kineta.model.units import TIME

    return _quantity(text, TIME)


def end(text: str | float) -> float:
    """Return the end [s] of a motion from the time 0."""
    value = seconds(text)
    if value == 0:
        raise click.BadParameter("Expected a time before or after 0, at which the motion starts, found 0.")
    return value


def hertz(text: str | float) -> float:
    """Return a frequency [Hz], from a text in Hz or without a unit."""
    digits = re.fullmatch(r"\s*([^a-zA-Z]*(?:[eE][^a-zA-Z]+)?)\s*(?:Hz)?\s*", str(text))
    if digits is None:
        raise click.BadParameter(f"Expected a frequency in Hz, found '{text}'.")
    return real(digits[1])


def whole(least: int, most: int) -> Callable[[str | int], int]:
    """Return a reader of whole numbers from *least* to *most*."""

    def read_whole(text: str | int) -> int:
        value = int(text) if re.fullmatch(r"[+-]?\d{1,18}", str(text)) else None
        if value is None or not least <= value <= most:
            raise click.BadParameter(f"Expected a whole number from {least} to {most}, found '{text}'.")
        return value

    return read_whole


def _quantity(text: str | float, dimension: Dimension) -> float:
    from kineta.model.units import name
    from kineta.model.units import quantity as read_quantity

    try:
        value, found = read_quantity(str(text))
    except KinetaError as error:
        raise click.BadParameter(str(error)) from None
    if found not in (None, dimension):
        raise click.BadParameter(f"Expected {name(dimension)}, found '{text}'.")
    return value


#: Types of click, by the kind of option; others stay text until the model is read.
TYPES: dict[str, Any] = {
    **dict.fromkeys(("file", "plot", "view", "save", "run", "page", "report"), FILE),
    "time": seconds,
    "end": end,
    "hertz": hertz,
    "real": real,
}


def parameter(option: Option) -> Callable[[Any], Any]:
    """Return an option for click."""
    kind = whole(*option.limits) if option.kind == "whole" else TYPES.get(option.kind)
    if option.positional:
        return click.argument(option.name, type=kind, help=option.help)
    if option.kind in ("flag", "latex"):
        return click.option(option.typed, option.name, is_flag=True, help=option.help)
    default = {} if option.default is None else {"default": option.default}
    return click.option(
        *([f"-{option.short}"] if option.short else []),
        option.typed,
        option.name,
        **default,
        type=kind,
        show_default=option.shown or option.default is not None,
        metavar=option.metavar,
        multiple=option.multiple,
        required=option.required,
        help=option.help,
        shell_complete=completing(lambda: named(option.known)) if option.known else None,
    )


# -- arguments and options ---------------------------------------------------------------------------------------------

model = click.argument("model", type=FILE, help="Model file, .kin or .urdf; - reads .kin from standard input.")
json_ = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output, and nothing else there.")
force = click.option("--force", is_flag=True, help="Overwrite files that exist.")
to = click.option(
    "--to", type=FILE, default=".", show_default=True, metavar="FOLDER", help="Where to; made if need be."
)
_SETTINGS = (
    click.option(
        "--set",
        "values",
        multiple=True,
        metavar="NAME=VALUE",
        help='Value of a parameter, as in --set m=2.5 or --set "l=30 cm"; as often as needed.',
    ),
    click.option(
        "--without",
        default="",
        metavar="NAME,...",
        help="Leave out these contacts, limits, friction, switches or programs.",
    ),
    click.option("--no-limits", is_flag=True, help="Leave out the limits of a URDF robot, and its dry friction."),
)


def settings(verb: Any) -> Any:
    """Add the options of :class:`Settings` to a *verb*, which takes them as one argument."""

    @wraps(verb)
    def gathered(values: Sequence[str], without: str, no_limits: bool, **given: Any) -> Any:
        return verb(**given, settings=Settings(values, without, no_limits))

    for option in reversed(_SETTINGS):
        option(gathered)
    return gathered
