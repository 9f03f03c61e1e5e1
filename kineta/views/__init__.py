"""Pictures of results with Matplotlib: series, modes and responses, branches. Nothing below knows them: this package
fills the table of ``kineta.results.drawing``. Reading order: ``series``, ``linear``, ``branches``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from kineta.results.drawing import FIGURES, draw
from kineta.results.result import Result
from kineta.results.series import Series
from kineta.tasks.equilibria.branches import Family
from kineta.tasks.linear.linear_system import Linear
from kineta.tasks.linear.modes import Modes
from kineta.tasks.linear.response import Response
from kineta.tasks.sensitivity.fit import Fit
from kineta.tasks.sensitivity.sensitivity import Sensitivity
from kineta.views import branches, linear, series

FIGURES.update(
    {
        Result: series.plot,
        Series: series.plot,
        Family: branches.plot,
        Linear: linear.eigenvalues,
        Modes: linear.modes,
        Response: linear.response,
        Sensitivity: linear.sensitivity,
        Fit: linear.fit,
    }
)


def save(record: object, path: Path, *names: str) -> None:
    """Write the picture of *record* to a file without a display: of the series *names*, or of all that it shows."""
    mpl.use("agg")
    if isinstance(record, Result | Series):
        series.figure(record, path, *names)
    elif isinstance(record, Family):
        branches.figure(record, path)
    else:
        series.picture(draw(record, *names), path)
