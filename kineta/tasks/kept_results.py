"""Results that were found before, kept in the cache by what they are found from: records, meshes, and the sources of the
package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pickle import Pickler, PicklingError
from typing import Any

import numpy as np

from kineta.cache import stored
from kineta.errors import heard, warn
from kineta.model.appearance.shape import BodyShape

#: Packages that thin meshes.
_THINNING = ("trimesh", "fast-simplification")


def kept(key: str | None, make: Callable[[], Any]) -> Any:
    """The result of *make*, plain data, made once for each *key*, and each time without one; its warnings come each time."""
    known = True

    def made() -> bytes:
        nonlocal known
        known = False
        with heard() as told:
            return json.dumps([make(), told]).encode()

    if key is None:
        return make()
    found, told = json.loads(stored(key, made))
    for sentence in told if known else ():
        warn(sentence)
    return found


def key_of(what: str, *records: Any) -> str | None:
    """The word *what*, and what *records* and meshes that they show consist of, as SHA-256; None where kinds of other
    distributions take part, whose sources are not known.
    """
    content = Content()
    try:
        content.dump(records)
    except (PicklingError, TypeError, AttributeError):
        return None
    if content.foreign:
        return None
    meshes = [*map(_mesh, content.meshes)]
    own = [_sources(), str(sys.version_info[:2]), np.__version__, *(_version(x) for x in _THINNING if meshes), *meshes]
    return sha256(" ".join([what, *own]).encode() + content.file.getvalue()).hexdigest()


class Content(Pickler):
    """Records as what they consist of, without what was computed of them, and without the places of their texts.

    meshes : the files of meshes; foreign : whether there are records of other distributions
    """

    def __init__(self) -> None:
        self.file, self.meshes, self.foreign = BytesIO(), list[Path](), False
        super().__init__(self.file)
        self.fast = True  # which of equal objects are one and the same is not what they consist of

    def reducer_override(self, x: Any) -> Any:
        """A record as its kind and its fields."""
        if isinstance(x, type) or not is_dataclass(x):
            return NotImplemented
        self.foreign |= type(x).__module__.partition(".")[0] != "kineta"
        if isinstance(x, BodyShape) and x.file:
            self.meshes.append(Path(x.location.file if x.location else "").parent / x.file)
        return type(x), tuple(getattr(x, f.name) for f in fields(x) if f.name != "location")


def _mesh(path: Path) -> str:
    """The name and the content of a file, if it is there."""
    try:
        return f"{path} {sha256(path.read_bytes()).hexdigest()}"
    except OSError:
        return f"{path} -"


def _version(name: str) -> str:
    metadata = import_module("importlib.metadata")  # which takes longer to import than a page to read
    try:
        return str(metadata.version(name))
    except metadata.PackageNotFoundError:
        return "-"


@cache
def _sources() -> str:
    """SHA-256 of all modules of the package."""
    return digest(sorted(Path(__file__).parents[1].rglob("*.py")))


def digest(paths: list[Path]) -> str:
    """SHA-256 of the contents of files, one after the other."""
    return sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
