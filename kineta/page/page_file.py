"""The file that a page is written to, or opened from."""

from __future__ import annotations

import re
import tempfile
import webbrowser
from pathlib import Path

from kineta.errors import ArgumentError
from kineta.files import path_of, write


def put(page: str, name: str, path: str | Path | None) -> Path:
    """Write a page to a file ``.html``, by default a temporary one of this *name*, which is opened; return its path."""
    if path is None:
        stem = re.sub(r"[^\w-]", "_", name)
        target = Path(tempfile.mkdtemp(prefix="kineta-")) / f"{stem}.html"
        write({target: page.encode()})
        webbrowser.open(target.as_uri())
        return target
    path = path_of(path, "the path of a page")
    if path.suffix != ".html":
        raise ArgumentError(f"Expected a page '.html', found '{path.name}'.")
    write({path: page.encode()})
    return path
