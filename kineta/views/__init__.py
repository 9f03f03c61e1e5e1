"""Pictures of results with Matplotlib: series, modes and responses, branches. Nothing below knows them: this package
fills the table of ``kineta.results.drawing``. Reading order: ``series``, ``linear``, ``branches``.
"""

from __future__ import annotations

from kineta.results.drawing import FIGURES
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
