"""What no model decides, made once where kineta is installed: the tables of the parser, and the kernels that most runs need.

They are entries of the cache that stand in the package. What else is needed, as by ensembles or by sources that were changed
behind the installation, is made at first use, as models are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from tempfile import TemporaryDirectory

from kineta import cache
from kineta.codegen.llvm import loop_over_rows, sines
from kineta.kernels.integrate import integration_loop, transition
from kineta.model.io.kin_grammar import GRAMMAR
from kineta.numerics.tableaux import DOP853
from kineta.runtime.contact_problem import UNITS, contact_kernel
from kineta.simulation.energy_balance import measuring
from kineta.simulation.piles.function_tables import TableFunctions

#: The parts, dearest first: they are made side by side.
PARTS: Sequence[Callable[[], object]] = (
    *(partial(contact_kernel, unit[0].__name__) for unit in UNITS),
    partial(transition, DOP853, projecting=True, touching=True, sliding=False),
    partial(integration_loop, DOP853, touching=True),
    partial(getattr, GRAMMAR, "parser"),
    partial(transition, DOP853, projecting=False, touching=False, sliding=False),
    *(
        partial(integration_loop, DOP853, projecting=projecting, kinked=kinked)
        for projecting in (True, False)
        for kinked in (True, False)
    ),
    partial(TableFunctions().kernel, "follow_table"),
    measuring,
    sines,
    *(partial(loop_over_rows, inputs) for inputs in range(1, 6)),
)


def prepare() -> None:
    """Make all parts anew, in processes side by side."""
    shutil.rmtree(cache.PREPARED, ignore_errors=True)
    with TemporaryDirectory(dir=cache.PREPARED.parent) as here:
        os.environ["KINETA_CACHE_DIR"] = here
        with ProcessPoolExecutor() as processes:
            for made in [processes.submit(_make, k) for k in range(len(PARTS))]:
                made.result()
        made_here = cache.folder()
        for entry in made_here.iterdir():
            entry.chmod(0o644)
        made_here.chmod(0o755)
        made_here.rename(cache.PREPARED)


def _make(k: int) -> None:
    PARTS[k]()


if __name__ == "__main__":
    prepare()
