"""Reading of files, and the sentences on unreadable files."""

from __future__ import annotations

from pathlib import Path

from kineta.errors import ModelError, did_you_mean


def is_folder(path: Path) -> bool:
    """Whether *path* is a folder; False for a path that the operating system refuses."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Whether *path* is a file; False for a path that the operating system refuses."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_bytes(path: Path, kind: str = "a model file") -> bytes:
    """The content of a file of a *kind*. Raises :class:`ModelError` with the reason, and the near name, where there is none."""
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise ModelError(f"{path}: expected {kind}, found a folder.") from None
    except FileNotFoundError:
        if path.is_symlink():
            raise ModelError(f"{path}: the link leads to '{path.readlink()}', where there is no file.") from None
        beside = path.parent.glob(f"*{path.suffix}") if path.parent.is_dir() else ()
        siblings = [p.name for p in beside if did_you_mean(path.stem, [p.stem])]
        raise ModelError(f"{path}: there is no such file.{did_you_mean(path.name, siblings)}") from None
    except OSError as error:
        raise ModelError(f"{path}: the file cannot be read ({error.strerror}).") from None


def read_text(path: Path, kind: str = "a model file") -> str:
    """The text of a file of a *kind*. Raises :class:`ModelError` as :func:`read_bytes` and :func:`decoded` do."""
    return decoded(read_bytes(path, kind), str(path))


def decoded(content: bytes, file: str) -> str:
    """*content* in UTF-8, with line ends as ``\\n``. Raises :class:`ModelError`, which names *file*, for other bytes."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"{file}: expected text in UTF-8, found other bytes at position {error.start}.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
