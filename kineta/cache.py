"""A content-addressed cache on disk: machine code, and the parser of the language.

Code from this folder is executed, so it is trusted only if no other user can have written it: the folder and every entry
belong to the user alone, and an entry carries the SHA-256 of its key and its code. An entry that fails a check is not
executed: a warning names it, and it is computed anew.

The folder is ``kineta-code`` in ``$KINETA_CACHE_DIR``, else in ``$XDG_CACHE_HOME/kineta``, else in ``~/.cache/kineta``.
Other files in it are left alone.

What no model decides is made when kineta is installed (:mod:`kineta.preparation`). Its entries stand in the package, and are
trusted as the sources beside them.
"""

from __future__ import annotations

import os
import re
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from kineta import files
from kineta.errors import KinetaWarning

_FAMILY = b"kineta code "
_MAGIC = _FAMILY + b"2\n"
_HEAD = len(_MAGIC) + 32
_KEY = re.compile(r"[0-9a-f]{64}")
#: Total bytes of the entries at most, and of each entry; the least recently used entries are deleted beyond it.
LIMIT = 256 * 2**20
#: The entries that were made when kineta was installed.
PREPARED = Path(__file__).with_name("prepared")
#: Keys are uniformly distributed: an addition with a key below this, one in 32, trims the cache.
_TRIMMING = "08"
#: Age in seconds at which a temporary file counts as abandoned by a killed process.
_ABANDONED = 3600.0


def folder() -> Path:
    """The folder of the entries. Raises :class:`RuntimeError` for a user without a home folder."""
    chosen = os.environ.get("KINETA_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser() / "kineta-code"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kineta" / "kineta-code"


def stored(key: str, make: Callable[[], bytes]) -> bytes:
    """The entry *key*, a SHA-256 in hexadecimal digits, or the result of *make*, which is then stored.

    Failures of the disk are warnings, never errors.
    """
    with suppress(OSError):
        content = (PREPARED / key).read_bytes()
        if content[:_HEAD] == _head(key, content[_HEAD:]):
            return content[_HEAD:]
    here = _usable()
    if here is None:
        return make()
    path = here / key
    found = _read(path)
    if found is not None:
        return found
    payload = make()
    _keep(path, payload)
    return payload


def _warn(message: str) -> None:
    # At this line, not at the caller's: Python shows a warning once per line.
    warnings.warn(f"Code cache: {message}", KinetaWarning, stacklevel=1)


def _usable() -> Path | None:
    """The folder, created if necessary, if it belongs to the user alone."""
    try:
        path = folder()
    except RuntimeError:
        _warn("the user has no home folder; code is compiled anew. Set KINETA_CACHE_DIR to a private folder.")
        return None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        blame = _shared(path.stat())
    except OSError as error:
        blame = error.strerror or str(error)
    if blame:
        _warn(
            f"the folder {path} is not used ({blame}); code is compiled anew. Set KINETA_CACHE_DIR to a private folder."
        )
        return None
    return path


def _shared(status: os.stat_result) -> str:
    """The reason why a folder of *status* may not belong to the user alone; ``''`` if it does."""
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write to it"
    return ""


def _read(path: Path) -> bytes | None:
    """The verified code of an entry, or None; its use is recorded in the time of the file."""
    try:
        with _open(path) as file:
            blame = _unfit(os.fstat(file.fileno()))
            content = b"" if blame else file.read(LIMIT)
    except FileNotFoundError:
        return None
    except OSError as error:
        blame, content = error.strerror or str(error), b""
    if not blame and content[:_HEAD] != _head(path.name, content[_HEAD:]):
        blame = "its content is damaged"
    if blame:
        _warn(f"the entry {path.name[:12]} is not used ({blame}).")
        return None
    with suppress(OSError):
        os.utime(path)
    return content[_HEAD:]


def _open(path: Path) -> BinaryIO:
    """*path* opened for reading; without waiting for the writer of a pipe."""
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))


def _unfit(status: os.stat_result) -> str:
    """The reason why a file of *status* is no valid entry; ``''`` if it is."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_size > LIMIT:
        return f"it has {status.st_size} bytes, more than {LIMIT}"
    return _shared(status)


def _head(key: str, payload: bytes) -> bytes:
    """The header of an entry. It covers the key, since the code of another entry computes something else."""
    return _MAGIC + sha256(key.encode() + b"\n" + payload).digest()


def _keep(path: Path, payload: bytes) -> None:
    try:
        files.put({path: _head(path.name, payload) + payload}, mode=0o600)
        if path.name < _TRIMMING:
            _trim(path.parent)
    except OSError as error:
        _warn(f"nothing can be kept in {path.parent} ({error.strerror or error}).")


def _trim(here: Path) -> None:
    """Delete the least recently used entries beyond the limit, and abandoned temporary files."""
    entries = sorted(_entries(here))
    total = sum(size for _, size, _ in entries)
    for _, size, path in entries:
        if total <= LIMIT:
            return
        # Another process may delete a file between any two statements; unreadable files belong to others.
        with suppress(OSError):
            if _ours(path):
                path.unlink()
        total -= size


def _entries(here: Path) -> Iterator[tuple[float, int, Path]]:
    """Time of last use, size and path of every entry in *here*."""
    for path in here.iterdir():
        with suppress(OSError):
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                continue
            if _KEY.fullmatch(path.name):
                yield status.st_mtime, status.st_size, path
            elif re.fullmatch(files.TEMPORARY, path.name) and time.time() - status.st_mtime > _ABANDONED:
                path.unlink()


def _ours(path: Path) -> bool:
    with _open(path) as file:
        return file.read(len(_FAMILY)) == _FAMILY
