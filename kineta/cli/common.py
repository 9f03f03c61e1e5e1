"""What the verbs share: reading models, values and states, printing JSON and errors."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kineta.errors import ArgumentError, KinetaError, KinetaWarning, did_you_mean

if TYPE_CHECKING:
    from kineta.model.system import System

#: Exit codes.
BAD_INPUT, CHECK_FAILED = 1, 2

Model = Annotated[Path, typer.Argument(help="Model file: .kin or .urdf.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, and nothing else there.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help='Value of a parameter, as in --set m=2.5 or --set "l=30 cm".'),
]
State = Annotated[
    str | None, typer.Option(help="Values: 1,2,3 or a JSON list, @file.json, or name=value,...", show_default=False)
]


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """*function* as a verb: errors become one sentence on standard error and an exit code."""

    @wraps(function)
    def run(*args: Any, **options: Any) -> None:
        with warnings.catch_warnings(), _said():
            warnings.showwarning = _show_warning
            function(*args, **options)

    return run


@contextmanager
def _said() -> Iterator[None]:
    try:
        yield
    except KinetaError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or 'file'}: {error.strerror or error}.")
    except KeyboardInterrupt:
        fail("Interrupted.", 130)


def fail(message: str, code: int = BAD_INPUT) -> None:
    """Say *message* on standard error and leave."""
    typer.echo(f"kineta: {message}", err=True)
    raise typer.Exit(code)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, KinetaWarning):
        typer.echo(f"kineta: warning: {message}", err=True)


def print_json(data: Any) -> None:
    """*data* on standard output; a number that is not finite becomes null."""
    typer.echo(json.dumps(_finite(data), ensure_ascii=False, allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {k: _finite(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(v) for v in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def read(path: Path, settings: Sequence[str] | None = None) -> System:
    """The model in *path*, with the values that ``--set`` gives to its parameters."""
    from kineta.model.io import load

    return with_settings(load(path), settings or ())


def with_settings(system: System, settings: Sequence[str]) -> System:
    """*system* with other values of parameters. Raises :class:`ArgumentError` for what is no ``name=value``."""
    from dataclasses import replace

    from kineta.model.units import quantity

    values: dict[str, float] = {}
    names = [p.name for p in system.parameters]
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise ArgumentError(f"--set: expected NAME=VALUE, found '{setting}'.")
        if name not in names:
            raise ArgumentError(f"--set: model '{system.name}' has no parameter '{name}'.{did_you_mean(name, names)}")
        try:
            values[name] = quantity(text)[0]
        except KinetaError as error:
            raise ArgumentError(f"--set {name}: {error}") from None
    if not values:
        return system
    return system.replace(parameters=[replace(p, value=values.get(p.name, p.value)) for p in system.parameters])


def numbers(option: str, text: str | None) -> Any:
    """The value of an option such as ``--q``: None, a list of numbers, or a mapping of names to numbers."""
    if text is None:
        return None
    if text.startswith("@"):
        return _from_json(option, Path(text[1:]).read_text(encoding="utf-8"), text[1:])
    if text.lstrip().startswith(("[", "{")):
        return _from_json(option, text, text)
    parts = [p.strip() for p in text.split(",") if p.strip()]
    if parts and all("=" in p for p in parts):
        pairs = (p.split("=", 1) for p in parts)
        return {n.strip(): _number(option, x) for n, x in pairs}
    return [_number(option, p) for p in parts]


def _number(option: str, text: str) -> float:
    from kineta.model.units import quantity

    try:
        return quantity(text)[0]
    except KinetaError as error:
        raise ArgumentError(f"{option}: {error}") from None


def _from_json(option: str, text: str, source: str) -> Any:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"{option}: expected JSON, found '{source[:60]}' ({error}).") from None
    name = option.lstrip("-")
    if isinstance(data, dict) and name in data:
        data = data[name]
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else [None]
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
        raise ArgumentError(
            f"{option}: expected a list of numbers or a mapping of names to numbers, found '{source[:60]}'."
        )
    return data


def terminal() -> bool:
    """True where a person watches standard error."""
    return sys.stderr.isatty()
