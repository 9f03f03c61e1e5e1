"""Pictures with Matplotlib: series, modes and responses, branches; machines and films of them. Nothing below knows them: this
package fills the tables of ``kineta.drawing``. Reading order: ``series``, ``linear``, ``branches``, ``rendering``,
``overlays``, ``machine_figures``, ``film``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from kineta.drawing import FIGURES, PICTURES, draw
from kineta.model.system import System
from kineta.results.result import Result
from kineta.results.series import Series
from kineta.tasks.assemble import Assembly
from kineta.tasks.equilibria.branches import Family
from kineta.tasks.equilibria.equilibrium import Equilibrium
from kineta.tasks.equilibria.listing import Equilibria
from kineta.tasks.forces.joint_reactions import Reactions
from kineta.tasks.linear.linear_system import Linear
from kineta.tasks.linear.modes import Modes
from kineta.tasks.linear.response import Response
from kineta.tasks.motions.inverse_kinematics import Placements
from kineta.tasks.periodic_motions.family_of_motions import PeriodicFamily
from kineta.tasks.periodic_motions.periodic_motion import Periodic
from kineta.tasks.posture import Posture
from kineta.tasks.sensitivity.fit import Fit
from kineta.tasks.sensitivity.sensitivity import Sensitivity
from kineta.views import branches, linear, machine_figures, series

FIGURES.update(
    {
        Result: series.plot,
        Series: series.plot,
        Family: branches.plot,
        Periodic: lambda found, *names: series.plot(found.run, *names),
        PeriodicFamily: branches.motions,
        Linear: linear.eigenvalues,
        Modes: linear.modes,
        Response: linear.response,
        Sensitivity: linear.sensitivity,
        Fit: linear.fit,
        Posture: machine_figures.of_posture,
        Assembly: machine_figures.of_assembly,
        Equilibria: machine_figures.of_equilibria,
        Placements: machine_figures.of_placements,
    }
)
PICTURES.update(
    {
        System: machine_figures.of_system,
        Result: machine_figures.of_run,
        Assembly: machine_figures.of_assembly,
        Equilibrium: machine_figures.of_equilibrium,
        Modes: machine_figures.of_mode,
        Reactions: machine_figures.of_reactions,
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
        found = draw(record, *names)
        series.picture(getattr(found, "figure", found), path)
