"""Reports: a run with all that is known of it, to be read and printed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from kineta.equations.equations import Equations
from kineta.model.system import System
from kineta.records import dataclass
from kineta.results.result import Result
from kineta.simulation.simulate import simulate


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A *run* as a page of HTML: pictures, series, events, values, the model, its equations and their certificate."""

    run: Result

    def __repr__(self) -> str:
        return f"<Report of '{self.run.model}': {self.run.message}>"

    @property
    def success(self) -> bool:
        """Whether the run has come to its end, or to a terminal event."""
        return self.run.success

    def lines(self) -> list[str]:
        """Return the outcome as text."""
        return [f"{self.run.model}: {self.run.message}", *self.run.notes]

    def as_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        return self.run.as_dict()

    def page(self) -> str:
        """Return the page, complete in itself."""
        return str(import_module("kineta.page.report").report_page(self.run))

    def show(self, path: str | Path | None = None) -> Path:
        """Write the page to a file ``.html``, by default one that is opened in the browser; return its path."""
        made: Path = import_module("kineta.page.page_file").put(self.page(), self.run.model, path)
        return made


def report(
    system: System | Equations, t: float | tuple[float, float] = 10.0, *, q: Any = None, v: Any = None, p: Any = None
) -> Report:
    """Return the report of the run of *system* to the time *t* [s], with arguments of
    :func:`~kineta.simulation.simulate.simulate`, of one case.
    """
    return Report(simulate(system, t, q=q, v=v, p=p))
