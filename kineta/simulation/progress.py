"""Progress bar of a run on standard error."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any

#: Seconds before the bar appears, and between updates.
DELAY, PERIOD = 0.5, 0.1


class Progress:
    """Progress of a run, if *shown*: ``compiling``, then the time, the steps and their size.

    A thread opens the bar, because compilation blocks the caller.
    """

    def __init__(self, t0: float, t1: float, *, shown: bool) -> None:
        self.t0, self.t1, self.shown = t0, t1, shown
        self._last = 0.0
        self._state: dict[str, Any] = {"description": "compiling"}
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if self.shown:
            self._opener = threading.Timer(DELAY, self._open)
            self._opener.daemon = True
            self._opener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            self._opener.cancel()
            self._opener.join()
        if self._bar is not None:
            self._bar.stop()

    def at(self, t: float, steps: int, size: float) -> None:
        """Show the time *t*, the number of *steps*, and the *size* of the last one."""
        if self.shown:
            self._show(f"t = {t:.4g} s, {steps} steps, the last of {size:.1e} s", abs(t - self.t0))

    def ended(self, cases: int, of: int) -> None:
        """Show the number of finished cases."""
        if self.shown:
            self._show(f"{cases} of {of} cases", abs(self.t1 - self.t0) * cases / of)

    def told(self, what: str, completed: float) -> None:
        """Show *what* is done, and how much is *completed*, from t0 to t1."""
        if self.shown:
            self._show(what, completed)

    def _show(self, description: str, completed: float) -> None:
        now = time.monotonic()
        if now - self._last < PERIOD:
            return
        self._last = now
        self._state = {"description": description, "completed": completed}
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], **self._state)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(16), TaskProgressColumn(), TimeRemainingColumn())
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        bar.add_task(**self._state, total=abs(self.t1 - self.t0))
        bar.start()
        self._bar = bar
