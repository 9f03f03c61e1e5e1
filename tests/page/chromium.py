"""A Chromium on this machine, and pages in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import kineta as kn
from tests.support import EXAMPLES

#: The browser. Where it finds no graphics card it draws WebGL by a program in place of one, which it has to be allowed, and all
#: else without one.
CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--enable-unsafe-swiftshader"]

#: Marks of tests in Chromium.
IN_CHROMIUM = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine, in which pages are opened"),
    pytest.mark.skipif(
        find_spec("playwright") is None, reason="the package playwright, which steers Chromium, is not installed"
    ),
]
#: Marks of tests that open pages.
OPENS_PAGES = [pytest.mark.slow, *IN_CHROMIUM]
#: What Chromium says by itself where it shows a picture of WebGL without a graphics card.
OWN = "GPU stall due to ReadPixels"
#: The last state, by name.
LAST = "() => Object.fromEntries(kineta.track.names.map((n) => [n, kineta.track.column(n).at(-1)]))"


@dataclass
class Tab:
    """A page that is open, and what its console has said and it has asked for from elsewhere."""

    page: Any
    said: list[str] = field(default_factory=list)

    def do(self, script: str, given: Any = None) -> Any:
        """The value of a function in JavaScript."""
        return self.page.evaluate(script, given)

    def computed(self) -> None:
        """Wait until the run is computed to its end."""
        self.page.wait_for_function("() => !kineta.run || kineta.run.done", timeout=300000)

    def drawn(self) -> None:
        """Wait until what was asked for is drawn."""
        self.page.wait_for_function("() => !kineta.dirty", timeout=300000)

    def pixels(self) -> bytes:
        """The picture of the machine."""
        shot: bytes = self.page.locator("#view").screenshot()
        return shot


@contextmanager
def browser(*more: str) -> Iterator[Any]:
    """A browser without a window, with *more* arguments."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *more])
        yield found
        found.close()


@contextmanager
def opened(browser: Any, path: Path, width: int = 900, height: int = 560) -> Iterator[Tab]:
    """A page from a file, at rest at its start."""
    own = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    tab = Tab(own)
    own.on("console", lambda m: None if OWN in m.text else tab.said.append(f"{m.type}: {m.text}"))
    own.on("pageerror", lambda e: tab.said.append(f"error: {e}"))
    own.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else tab.said.append(r.url))
    own.goto(path.as_uri())
    own.wait_for_function("() => window.kineta?.ready", timeout=300000)
    yield tab
    own.close()


def shown(folder: Path, name: str, to: float) -> Path:
    """The page of an example, for so many seconds."""
    return kn.load(EXAMPLES / f"{name}.kin").show(folder / f"{name}.html", to=to)
