"""Atomic writing of files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from kineta.errors import ArgumentError, shown

#: Names of temporary files, before they replace their targets.
TEMPORARY = r"\.kineta-[0-9a-f]{16}\.new"


def path_of(value: object, what: str) -> Path:
    """*value* as a path; errors call it *what*. Raises :class:`ArgumentError` for invalid file names."""
    if not isinstance(value, str | os.PathLike):
        raise ArgumentError(f"Expected {what}, found {shown(value)}.")
    try:
        whole = b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        whole = False
    if not whole:
        raise ArgumentError(f"Expected {what}, found {shown(str(value))}, which no file can be called.")
    return Path(value)


def write(contents: Mapping[Path, bytes]) -> None:
    """Write every file of *contents*, as :func:`put` does. Raises :class:`ArgumentError` with the name of a target that
    cannot be written.
    """
    for path in contents:
        if not path.parent.is_dir():
            raise ArgumentError(f"{path}: there is no folder '{path.parent}'.")
    try:
        put(contents)
    except OSError as error:
        raise ArgumentError(f"{error.filename}: the file cannot be written ({error.strerror}).") from None


def put(contents: Mapping[Path, bytes], mode: int = 0o666) -> None:
    """Write the files of *contents* beside their targets, and rename them once all are complete.

    A file that exists keeps its permissions, and a link is followed; *mode* are the permissions of a new file before the
    umask. Raises :class:`OSError` with the target as its file name; the
    targets are then unchanged, and no temporary file is left.
    """
    # Temporary names are unique: concurrent writers of one target never share a file.
    targets = {path: Path(os.path.realpath(path)) for path in contents}
    beside = {path: target.with_name(f".kineta-{os.urandom(8).hex()}.new") for path, target in targets.items()}
    try:
        for path, content in contents.items():
            with _blamed(path):
                _create(beside[path], content, mode)
                if targets[path].exists():
                    beside[path].chmod(targets[path].stat().st_mode & 0o7777)
        for path, new in beside.items():
            with _blamed(path):
                new.replace(targets[path])
    finally:
        for new in beside.values():
            with suppress(OSError):
                new.unlink()


def _create(path: Path, content: bytes, mode: int) -> None:
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(content)


@contextmanager
def _blamed(path: Path) -> Iterator[None]:
    """Replace the file of an error of the system, a temporary file or none, by *path*."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise
