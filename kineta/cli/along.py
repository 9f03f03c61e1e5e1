"""What the verbs share that go along a motion: how it is given, and what is said and written of what is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.common import console, print_json
from kineta.cli.options import FILE, bundle, names, seconds, whole
from kineta.errors import ArgumentError, readable

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.tasks.series import Series


@dataclass(frozen=True)
class Along:
    """The motion along which a verb goes, and where what it finds is drawn and written."""

    motion: str | None = None
    to: float | None = None
    samples: int | None = None
    plot: Path | None = None
    series: str = ""
    save: Path | None = None


#: Its options, in the order in which help lists them.
along = bundle(
    Along,
    "way",
    click.option(
        "--motion",
        metavar="MOTION",
        help='Coordinates as expressions of t, "q1 = 0.3*sin(2*t), q2 = 1", or a run or table @file. Not given: the run from the '
        "initial state.",
    ),
    click.option("--to", type=seconds, show_default="1", metavar="TIME", help="End of the motion."),
    click.option("--samples", type=whole(1, 10**7), show_default="101", metavar="NUMBER", help="Equidistant times."),
    click.option("--plot", type=FILE, metavar="FILE", help="Write a picture (.png, .svg, .pdf)."),
    click.option("--series", default="", metavar="NAME,...", help="Draw and write just these."),
    click.option("--save", type=FILE, metavar="FILE", help="Write a table (.csv)."),
)


def motion_of(system: System, way: Along) -> tuple[Any, Any]:
    """The motion that the options give, and its times where it has none of its own."""
    import numpy as np

    from kineta.errors import SimulationError
    from kineta.tasks.simulate import simulate
    from kineta.tasks.status import FAILED, OUT_OF_STEPS

    to, samples = 1.0 if way.to is None else way.to, 101 if way.samples is None else way.samples
    t = np.linspace(0.0, to, samples) if samples > 1 else np.array([to])
    if way.motion is None:
        run = simulate(system, (0.0, to), t_eval=t) if to else _no_run()
        if run.status in (FAILED, OUT_OF_STEPS):
            raise SimulationError(
                f"Model '{run.model}': the motion from the initial state does not come to --to: {run.message}."
            )
        return run, None
    if way.motion.startswith("@"):
        for option, value in (("--to", way.to), ("--samples", way.samples)):
            if value is not None:
                raise ArgumentError(f"{option}: a run or a table has times of its own; leave it out.")
        return Path(way.motion[1:]), None
    from kineta.model.dimensions import known_dimensions
    from kineta.model.io.kin import definitions

    return definitions(re.sub(r"\s+", " ", way.motion), "--motion", known_dimensions(system)), t


def _no_run() -> Any:
    raise ArgumentError(
        "--to: expected a time beside 0 where no --motion is given: the run from the initial state goes there."
    )


def shown(found: Series, way: Along, notes: Sequence[str], more: dict[str, Any], *, as_json: bool) -> None:
    """Write the files, and say what was found."""
    chosen = names(way.series)
    for name in chosen:
        found[name]
    if chosen and way.plot is None and way.save is None:
        raise ArgumentError("--series: expected --plot FILE or --save FILE beside it.")
    if way.plot is not None:
        from kineta.views.plot import figure

        figure(found, way.plot, *chosen)
    if way.save is not None:
        found.save(way.save, *chosen)
    written = [str(path) for path in (way.plot, way.save) if path is not None]
    if as_json:
        data = {"model": found.model, "t": found.t.tolist(), "series": {n: x.tolist() for n, x in found.series.items()}}
        print_json({**data, "units": dict(found.units), **more, "files": written})
        return
    _print(found, notes)
    for path in written:
        click.echo(f"written: {path}")


def _print(found: Series, notes: Sequence[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    out.print(escape(repr(found)[1:-1]), soft_wrap=True)
    for note in notes:
        out.print(f"  {escape(readable(note))}", soft_wrap=True)
    table = Table(show_edge=False, pad_edge=False)
    columns = ("start", "end", "least", "largest") if len(found.t) > 1 else ("",)
    for column in ("", *columns):
        table.add_column(column, justify="right" if column else "left")
    for name, x in found.series.items():
        values = (x[0], x[-1], x.min(), x.max()) if len(found.t) > 1 else (x[0],)
        unit = found.units.get(name, "")
        table.add_row(
            escape(readable(f"{name} [{unit}]" if unit else name)),
            *(f"{round(float(v), 12) + 0.0:.6g}" for v in values),
        )
    out.print(table)
