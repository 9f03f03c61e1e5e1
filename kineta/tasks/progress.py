"""A progress bar on standard error, for runs that take more than a moment."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

#: Seconds before a bar appears, and between two looks of it.
DELAY, PERIOD = 0.5, 0.1


class Progress:
    """Shows how far a run has come, where it is *shown*."""

    def __init__(self, t0: float, t1: float, *, shown: bool) -> None:
        self.t0, self.t1, self.shown = t0, t1, shown
        self._began = self._last = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def at(self, t: float) -> None:
        """The run has reached the time *t*."""
        now = time.monotonic()
        if not self.shown or now - self._began < DELAY or now - self._last < PERIOD:
            return
        self._last = now
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=abs(t - self.t0), description=f"t = {t:.4g} s")

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=abs(self.t1 - self.t0))
        self._bar.start()
