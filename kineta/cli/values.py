"""Input and output of verbs: models, values and states; lines, JSON, files and errors."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kineta.errors import ArgumentError, ExpressionError, KinetaError, KinetaWarning, nearest_or_listed, readable, shown
from kineta.files import write
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.model.units import Dimension

#: Exit codes; the last two are those of a shell for SIGINT and SIGPIPE.
BAD_INPUT, CHECK_FAILED, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

#: The folder of the package.
PACKAGE = Path(__file__).parents[1]

#: Rules of tables in ASCII.
PLAIN_RULES = str.maketrans("━╇┃│", "-+||")
#: The name of standard input, as a model file and in errors.
STDIN, STDIN_NAME = Path("-"), "<stdin>"


@contextmanager
def said(model: Path | None) -> Iterator[None]:
    """End the command for an error inside, with one sentence, which names the *model*, and an exit code."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise  # errors of options have their own sentences
    except ExpressionError as error:
        fail(f"{_shown(model)}: {error}" if model and not error.location else str(error))
    except KinetaError as error:
        fail(str(error))
    except BrokenPipeError:
        # The reader has gone. A second attempt to write the buffers, at the exit, would fail again.
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise SystemExit(BROKEN_PIPE) from None
    except OSError as error:
        fail(f"{error.filename or 'The output cannot be written'}: {error.strerror or error}.")
    except MemoryError:
        fail("There is not enough memory for this.")
    except KeyboardInterrupt:
        fail("Interrupted.", INTERRUPTED)
    except Exception as error:  # a fault of kineta: a traceback would not help its user
        fail(_unforeseen(error))


def _unforeseen(error: Exception) -> str:
    """Return the sentence on an *error* of kineta itself, with its last place in the package."""
    from traceback import extract_tb

    places = [f for f in extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(PACKAGE)]
    where = f" at {Path(places[-1].filename).relative_to(PACKAGE.parent)}:{places[-1].lineno}" if places else ""
    reason = " ".join(str(error).split())
    return (
        f"A fault of kineta itself, {type(error).__name__}{where}{f' ({reason})' if reason else ''}: please report it with the "
        "command and the model."
    )


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """Print *message* on standard error, and end with *code*."""
    emit(f"kineta: {readable(message)}", err=True)
    raise SystemExit(code)


def show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning of kineta on standard error, in place of :func:`warnings.showwarning`."""
    if issubclass(category, KinetaWarning):
        emit(f"kineta: warning: {message}", err=True)


def print_json(data: Any) -> None:
    """Print *data* as JSON on standard output; infinite numbers and NaN become null."""
    unicode = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    import json  # takes as long as much of a short call

    emit(json.dumps(_finite(data), ensure_ascii=not unicode, allow_nan=False))


def echo(line: str, *, err: bool = False, **style: Any) -> None:
    """Print a line in a *style* of click, with rules of ASCII where the encoding of the stream has no others."""
    stream = sys.stderr if err else sys.stdout
    try:
        line.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        line = line.translate(PLAIN_RULES)
    emit(readable(line), err=err, **style)


def emit(text: str, *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print *text* as it is, in a *style* of click: all output of verbs goes through here.

    The stream is named, since click writes UTF-8 to a default stream of another encoding.
    """
    click.secho(text, file=sys.stderr if err else sys.stdout, nl=nl, **style)


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {k: _finite(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(v) for v in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


@dataclass(frozen=True)
class Settings:
    """Changes of a model when it is read.

    values : ``NAME=VALUE`` for parameters
    without : names of contacts, limits, friction, switches and programs that are left out
    no_limits : whether all limits of a robot are left out
    """

    values: Sequence[str] = ()
    without: str = ""
    no_limits: bool = False


#: A model as it is.
UNCHANGED = Settings()


def read(path: Path, settings: Settings = UNCHANGED) -> System:
    """Return the model in *path*, ``-`` for standard input, with the *settings*."""
    from kineta.model.io import load, loads
    from kineta.model.io.text_file import decoded, read_text

    if settings.no_limits and (path == STDIN or path.suffix == ".kin"):
        raise ArgumentError(
            f"--no-limits: expected a URDF robot, found '{_shown(path)}'; --without NAME,... leaves out others."
        )
    if path != STDIN and path.suffix != ".kin":
        return with_settings(load(path, limits=not settings.no_limits), settings)
    if path != STDIN:
        text, name = read_text(path), str(path)
    elif sys.stdin is None:
        raise ArgumentError("Standard input is closed; give the name of a model file.")
    else:
        text, name = decoded(sys.stdin.buffer.read(), STDIN_NAME), STDIN_NAME
    system = loads(text, name)
    counts = {p.name for p in system.parameters if p.counts}
    pairs = (setting.partition("=") for setting in settings.values)
    if given := {n.strip(): number(f"--set {n.strip()}", x, None) for n, _, x in pairs if n.strip() in counts}:
        system = loads(text, name, constants=given)
    return with_settings(system, settings)


def _shown(path: Path) -> str:
    return STDIN_NAME if path == STDIN else str(path)


def with_settings(system: System, settings: Settings) -> System:
    """Return *system* with the *settings*. Raises :class:`ArgumentError` for a wrong ``NAME=VALUE`` and for unknown names."""
    from kineta.model.named_expressions import let_advice
    from kineta.model.transformations.equivalents import with_values
    from kineta.model.transformations.subset import without_parts

    system = without_parts(system, [name.strip() for name in settings.without.split(",") if name.strip()])
    values: dict[str, float] = {}
    known = {p.name: p for p in system.parameters}
    for setting in settings.values:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise ArgumentError(f"--set: expected NAME=VALUE, found '{setting}'.")
        if name not in known:
            near = let_advice(system.lets, name) or nearest_or_listed(name, known)
            raise ArgumentError(f"--set: model '{system.name}' has no parameter '{name}'.{near}")
        values[name] = number(f"--set {name}", text, known[name].dimension)
    return with_values(system, values) if values else system


def number_of(option: str, text: str, dimensions: Mapping[str, Dimension]) -> tuple[str, float]:
    """Return the name and the number of a text such as ``phi'=2``; *dimensions* are those of names, where known."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ArgumentError(f"{option}: expected NAME=VALUE, found '{text}'.")
    return name.strip(), number(f"{option} {name.strip()}", value, dimensions.get(name.strip()))


def interval_of(option: str, text: str, dimensions: Mapping[str, Dimension]) -> tuple[str, tuple[float, float]]:
    """Return the name and the ends of a text such as ``q1=0,2``; an empty end is infinite, *dimensions* are those of names, where
    known.
    """
    name, _, ends = text.partition("=")
    low, comma, high = ends.partition(",")
    if not comma:
        raise ArgumentError(f"{option}: expected NAME=LOW,HIGH, found '{text}'.")
    where, dimension = f"{option} {name.strip()}", dimensions.get(name.strip())
    least = number(where, low, dimension) if low.strip() else -math.inf
    most = number(where, high, dimension) if high.strip() else math.inf
    return name.strip(), (least, most)


def once(option: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the values of an option by name. Raises :class:`ArgumentError` for a repeated name."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"{option}: expected every name once, found '{name}' twice.")
    return dict(pairs)


def with_values(system: System) -> System:
    """Return *system*. Raises :class:`ArgumentError` with the names of parameters without values."""
    missing = [p.name for p in system.parameters if p.value is None]
    if missing:
        raise ArgumentError(
            f"Model '{system.name}': the parameter{'s' * (len(missing) > 1)} {', '.join(missing)} "
            f"need{'s' * (len(missing) == 1)} a value: give --set {missing[0]}=... or a value in the model."
        )
    return system


def numbers(option: str, text: str | None, system: System) -> Any:
    """Return the value of an option such as ``--q``: None, a list of numbers, or a mapping of names to numbers.

    Raises :class:`ArgumentError` for a unit other than that of the coordinate or speed, where the motions of *system* show it.
    """
    if text is None:
        return None
    names: Sequence[str] = system.q_names if option == "--q" else system.v_names
    if text.startswith("@"):
        return _each(option, names, _from_json(option, _file(option, text[1:]), text[1:], names))
    if text.lstrip().startswith(("[", "{")):
        return _each(option, names, _from_json(option, text, text, names))
    parts = [p.strip() for p in text.split(",") if p.strip()]
    named = bool(parts) and all("=" in p for p in parts)
    if named:
        names = [p.partition("=")[0].strip() for p in parts]
        parts = [p.partition("=")[2] for p in parts]
    shown = _dimensions(option, system)
    pairs = zip_longest(names[: len(parts)], parts, fillvalue="")
    values = [number(f"{option} {n}".strip(), x, shown.get(n)) for n, x in pairs]
    return dict(zip(names, values, strict=True)) if named else _each(option, names, values)


def _each(option: str, names: Sequence[str], values: Any) -> Any:
    """Return *values*. Raises :class:`ArgumentError` for a list without a number for each of *names*."""
    if isinstance(values, list) and len(values) != len(names):
        raise ArgumentError(f"{option}: expected {len(names)} numbers for ({', '.join(names)}), found {len(values)}.")
    return values


def _dimensions(option: str, system: System) -> dict[str, Dimension]:
    """Return the dimensions of the values of an option by coordinate or speed, where the motions show them."""
    from kineta.model import units
    from kineta.model.dimensions import variable_dimensions
    from kineta.model.reserved_symbols import added_force

    shown = variable_dimensions(system)
    if option == "--tau":
        forces = {n: units.times(units.POWER, d, -1) for n, d in shown.items()}
        return forces | {added_force(n): d for n, d in forces.items()}
    if option == "--vdot":
        return {n: units.times(d, units.TIME, -1) for n, d in shown.items()}
    return shown


def number(where: str, text: str, dimension: Dimension | None = None) -> float:
    """Return the value of *text*. Raises :class:`ArgumentError` for a unit of another *dimension*."""
    from kineta.model.units import name, quantity

    try:
        value, found = quantity(text)
    except KinetaError as error:
        raise ArgumentError(f"{where}: {error}") from None
    if dimension is not None and found not in (None, dimension):
        raise ArgumentError(f"{where}: Expected {name(dimension)}, found '{text.strip()}'.")
    return value


def _file(option: str, name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ArgumentError(
            f"{option}: expected JSON in UTF-8, found other bytes at position {error.start} of {name}."
        ) from None
    except OSError as error:
        raise ArgumentError(f"{option}: the file '{name}' cannot be read ({error.strerror}).") from None


def _from_json(option: str, text: str, source: str, known: Sequence[str]) -> Any:
    import json  # takes as long as much of a short call

    try:
        data = json.loads(text, parse_int=float)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{option}: expected JSON, found '{source[:60]}' ({error}).") from None
    name = option.lstrip("-")
    if isinstance(data, dict):
        given = name in data and not (name in known and isinstance(data[name], float))
        data = data[name] if given else _found(option, data, source, known)
    if not isinstance(data, dict | list):
        raise ArgumentError(
            f"{option}: expected a list of finite numbers or a mapping of names to them, found {shown(data)} in '{source[:60]}'."
        )
    for own, x in data.items() if isinstance(data, dict) else enumerate(data, 1):
        if not (isinstance(x, float) and math.isfinite(x)):
            entry = f"under '{own}'" if isinstance(data, dict) else f"as number {own} of {len(data)}"
            raise ArgumentError(f"{option}: expected a finite number {entry} in '{source[:60]}', found {shown(x)}.")
    return data


def _found(option: str, data: dict[str, Any], source: str, known: Sequence[str]) -> dict[str, Any]:
    """Return the *known* names of the one state that a task found; *data* of another origin as they are."""
    for several in ("equilibria", "placements"):
        if isinstance(found := data.get(several), list):
            if len(found) != 1:
                raise ArgumentError(
                    f"{option}: expected one state, found {len(found)} {several} in '{source}'; keep one."
                )
            return {n: x for n, x in found[0]["initial"].items() if n in known}
    state = {n: x for n, x in data.items() if n in known}
    return state if state and isinstance(data.get("model"), str) else data


def write_files(files: Mapping[Path, str | bytes], *, force: bool) -> None:
    """Write *files*, all or none. Raises :class:`ArgumentError` for a file that exists, unless *force* is set."""
    for path in files:
        if path.is_dir():
            raise ArgumentError(f"Expected a file, found the folder '{path}'.")
        if path.parent.exists() and not path.parent.is_dir():
            raise ArgumentError(f"Expected a folder, found the file '{path.parent}'.")
        if path.exists() and not force:
            raise ArgumentError(f"{path} exists already; give --force to overwrite it.")
    try:
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"{error.filename}: the file cannot be written ({error.strerror}).") from None
    write({path: content.encode() if isinstance(content, str) else content for path, content in files.items()})


def print_written(files: Iterable[Path], *, as_json: bool, model: str = "", **keys: Any) -> None:
    """Print the paths of *files*, as JSON with the name of the *model* and further *keys*."""
    if as_json:
        print_json({**({"model": model} if model else {}), "files": [str(path) for path in files], **keys})
    else:
        emit(f"written: {', '.join(map(str, files))}")


def terminal() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr.isatty()
