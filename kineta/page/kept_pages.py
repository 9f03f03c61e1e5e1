"""Pages that were made before, kept in the cache by what they are made from."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from kineta.tasks.kept_results import digest, kept, key_of
from kineta.tasks.posture import Posture

#: Tolerances of runs in pages: those of ``simulate``.
RTOL, ATOL = 1e-9, 1e-12


def posture_page(found: Posture) -> str:
    """The page of a machine that moves from a posture, made once for equal machines and starts."""
    return str(kept(page_key(found), lambda: import_module("kineta.page.document").posture_page(found)))


def page_key(found: Posture) -> str | None:
    """What a page is made from, as SHA-256; None where that is not known."""
    return key_of("page", found, RTOL, ATOL, _parts())


@cache
def _parts() -> str:
    """SHA-256 of the files of all pages."""
    return digest(sorted(path for path in Path(__file__).parent.iterdir() if path.is_file()))
