"""A store on disk of what was compiled, by content: machine code, and the parser of the language.

Code from this folder is run, so it is trusted only where nobody else can have written it: the folder and every entry
belong to the user and to nobody else, and an entry carries the SHA-256 of its key and its code. What fails a check is not
run: it is named in a warning, and made anew.

The folder is ``kineta-code`` in ``$KINETA_CACHE_DIR``, else in ``$XDG_CACHE_HOME/kineta``, else in ``~/.cache/kineta``.
Files in it that the store has not written are left alone.
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
#: Bytes the entries may have together; beyond it those unused for longest are deleted. None may have more.
LIMIT = 256 * 2**20
#: Keys are spread evenly. An addition with a key below this one, one in 32, looks at all entries and makes room.
_TRIMMING = "08"
#: Seconds after which a file that is still on its way was left by a process that was killed.
_ABANDONED = 3600.0


def folder() -> Path:
    """Where entries are kept. Raises :class:`RuntimeError` for a user without a home folder."""
    chosen = os.environ.get("KINETA_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser() / "kineta-code"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kineta" / "kineta-code"


def stored(key: str, make: Callable[[], bytes]) -> bytes:
    """The entry *key*, a SHA-256 in hexadecimal digits, or what *make* returns, which is then kept.

    Failures of the disk are warnings, never errors.
    """
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
    # At this place, not at that of a caller: what is said of the folder is said once.
    warnings.warn(f"Code cache: {message}", KinetaWarning, stacklevel=1)


def _usable() -> Path | None:
    """The folder, made if need be, if it is the user's alone."""
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
    """Why something with *status* may not be the user's alone; ``''`` where it is."""
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write to it"
    return ""


def _read(path: Path) -> bytes | None:
    """The verified code of an entry, or None; a use is marked by the time of the file."""
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
    """*path*, open to be read; a pipe does not wait for its writer."""
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))


def _unfit(status: os.stat_result) -> str:
    """Why something with *status* is not read as an entry; ``''`` where it is."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_size > LIMIT:
        return f"it has {status.st_size} bytes, more than {LIMIT}"
    return _shared(status)


def _head(key: str, payload: bytes) -> bytes:
    """What an entry begins with. Its name counts: the code of another entry would compute something else."""
    return _MAGIC + sha256(key.encode() + b"\n" + payload).digest()


def _keep(path: Path, payload: bytes) -> None:
    try:
        files.put({path: _head(path.name, payload) + payload}, mode=0o600)
        if path.name < _TRIMMING:
            _trim(path.parent)
    except OSError as error:
        _warn(f"nothing can be kept in {path.parent} ({error.strerror or error}).")


def _trim(here: Path) -> None:
    """Delete the entries unused for longest where there are too many bytes, and what killed processes left behind."""
    entries = sorted(_entries(here))
    total = sum(size for _, size, _ in entries)
    for _, size, path in entries:
        if total <= LIMIT:
            return
        # Another process may delete a file between any two of these statements; what cannot be read is not ours.
        with suppress(OSError):
            if _ours(path):
                path.unlink()
        total -= size


def _entries(here: Path) -> Iterator[tuple[float, int, Path]]:
    """Time of last use, size and path of every file in *here* with the name of an entry."""
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
