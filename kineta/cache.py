"""A store of machine code on disk, by content.

Code from this folder is run, so it is trusted only where nobody else can have written it: the folder and every entry
belong to the user and to nobody else, and the content of an entry carries its own SHA-256. What fails a check is left
alone, named in a warning, and made anew.

The folder is ``$KINETA_CACHE_DIR``, else ``$XDG_CACHE_HOME/kineta``, else ``~/.cache/kineta``.
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from kineta.errors import KinetaWarning

_MAGIC = b"kineta code 1\n"
#: Bytes the folder may hold; beyond it the entries unused for longest are deleted.
LIMIT = 256 * 2**20


def folder() -> Path:
    """Where entries are kept."""
    chosen = os.environ.get("KINETA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kineta"


def stored(key: str, make: Callable[[], bytes]) -> bytes:
    """The entry *key*, or what *make* returns, which is then kept. Failures of the disk are warnings, never errors."""
    here = _usable(folder())
    if here is None:
        return make()
    path = here / key
    found = _read(path)
    if found is not None:
        return found
    payload = make()
    _write(path, payload)
    return payload


def _warn(message: str) -> None:
    warnings.warn(f"Code cache: {message}", KinetaWarning, stacklevel=4)


def _usable(path: Path) -> Path | None:
    """*path*, made if need be, if it is the user's alone."""
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
    """The verified content of an entry, or None."""
    try:
        with path.open("rb") as file:
            blame = _shared(os.fstat(file.fileno()))
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        blame, content = error.strerror or str(error), b""
    head, digest, payload = content[: len(_MAGIC)], content[len(_MAGIC) : len(_MAGIC) + 32], content[len(_MAGIC) + 32 :]
    if not blame and (head != _MAGIC or sha256(payload).digest() != digest):
        blame = "its content is damaged"
    if blame:
        _warn(f"the entry {path.name[:12]} is not used ({blame}).")
        return None
    return payload


def _write(path: Path, payload: bytes) -> None:
    """Keep *payload*: written beside and moved into place, so that no half entry is ever seen."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + sha256(payload).digest() + payload)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _trim(path.parent)
    except OSError as error:
        _warn(f"nothing can be kept in {path.parent} ({error.strerror or error}).")


def _trim(here: Path) -> None:
    """Delete the oldest entries where there are too many bytes."""
    entries = sorted((p.stat().st_mtime, p.stat().st_size, p) for p in here.iterdir() if p.is_file())
    total = sum(size for _, size, _ in entries)
    for _, size, path in entries:
        if total <= LIMIT:
            return
        path.unlink(missing_ok=True)
        total -= size
