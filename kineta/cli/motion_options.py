"""Options of the verbs that take a motion, and the output of their results."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import click

from kineta.cli.csv_columns import COLUMNS, Columns
from kineta.cli.options import FILE, bundle, names, seconds, whole
from kineta.cli.values import console, number_table, print_json, print_table
from kineta.errors import ArgumentError, readable

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.results.extremes import Extremes
    from kineta.results.series import Series

#: Ratio to the largest value of a unit below which a value counts as zero.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Along:
    """The motion of a verb, and the files for pictures and tables of its result."""

    motion: str | None = None
    to: float | None = None
    samples: int | None = None
    plot: Path | None = None
    series: str = ""
    save: Path | None = None
    time: str | None = None
    column: Sequence[str] = ()


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
    *COLUMNS,
)


def motion_of(system: System, way: Along) -> tuple[Any, Any]:
    """Return the motion of the options, and its times where it has none of its own."""
    import numpy as np

    from kineta.results.outcomes import check_complete
    from kineta.simulation.simulate import simulate

    to, samples = 1.0 if way.to is None else way.to, 101 if way.samples is None else way.samples
    if way.motion is not None and not way.motion.startswith("@") and samples > 1 and to <= 0:
        raise ArgumentError(f"--to: expected a time after 0, found {to:g}; --samples 1 looks at one time alone.")
    t = np.linspace(0.0, to, samples) if samples > 1 else np.array([to])
    if way.motion is None:
        run = simulate(system, (0.0, to), t_eval=t, dense_output=True) if to else _no_run()
        why = f"the motion from the initial state does not come to --to: {run.message}"
        check_complete(run.model, run.status, why)
        return run, None
    if way.motion.startswith("@"):
        for option, value in (("--to", way.to), ("--samples", way.samples)):
            if value is not None:
                raise ArgumentError(f"{option}: a run or a table has times of its own; leave it out.")
        path = Path(way.motion[1:])
        if path.suffix == ".nc":
            return path, None
        from kineta.tasks.motions.trajectory import moving

        times, found = Columns(way.time, way.column).read(path)
        return moving(system, found), times
    from kineta.model.dimensions import known_dimensions
    from kineta.model.io.kin_reader import definitions

    return definitions(re.sub(r"\s+", " ", way.motion), "--motion", known_dimensions(system)), t


def _no_run() -> Any:
    raise ArgumentError(
        "--to: expected a time beside 0 where no --motion is given: the run from the initial state goes there."
    )


def sought(path: Any, t: Any, found: Callable[[Any, Any], Series]) -> dict[str, Extremes] | None:
    """Return the extremes of *found* along a motion *path* with the times *t*: over the steps of a run, else between the times;
    None for a table and a saved run, which have no further times.
    """
    import numpy as np

    from kineta.results.extremes import extremes
    from kineta.results.result import Result

    if t is None and not (isinstance(path, Result) and path.sol is not None):
        return None

    def between(times: Any) -> dict[str, Any]:
        every = np.union1d(t[:1], times)  # what is integrated along a motion starts with it
        return {n: x[np.searchsorted(every, times)] for n, x in found(path, every).series.items()}

    with catch_warnings():  # what was found before has said them
        simplefilter("ignore")
        if t is not None:
            return extremes(between, t)
        return extremes(lambda times: found(path.at(times), None), np.union1d(path.sol.steps, path.t))


def shown(
    found: Series,
    way: Along,
    notes: Sequence[str],
    more: dict[str, Any],
    *,
    as_json: bool,
    most: Mapping[str, Extremes] | None = None,
) -> None:
    """Write the files, and print the result, with the extremes *most*, if they were sought between the times."""
    chosen = names(way.series)
    for name in chosen:
        found[name]
    if chosen and way.plot is None and way.save is None:
        raise ArgumentError("--series: expected --plot FILE or --save FILE beside it.")
    if way.plot is not None:
        from kineta.views.series import figure

        figure(found, way.plot, *chosen)
    if way.save is not None:
        found.save(way.save, *chosen)
    written = [str(path) for path in (way.plot, way.save) if path is not None]
    if as_json:
        data = {"model": found.model, "t": found.t.tolist(), "series": {n: x.tolist() for n, x in found.series.items()}}
        if most is not None:
            more = {**more, "extremes": {n: x._asdict() for n, x in most.items()}}
        print_json({**data, "units": dict(found.units), **more, "files": written})
        return
    _print(found, notes, most)
    for path in written:
        click.echo(f"written: {path}")


def _print(found: Series, notes: Sequence[str], most: Mapping[str, Extremes] | None) -> None:
    from rich.markup import escape

    out = console()
    out.print(escape(repr(found)[1:-1]), soft_wrap=True)
    for note in notes:
        out.print(f"  {escape(readable(note))}", soft_wrap=True)
    columns = ("start", "end", "least", "at t [s]", "largest", "at t [s]") if len(found.t) > 1 else ("",)
    none = _none(found)
    table = number_table("", *columns)
    for name, x in found.series.items():
        unit = found.units.get(name, "")
        values = [x[0]]
        if len(found.t) > 1:
            low, high = x.argmin(), x.argmax()
            own = (x[low], found.t[low], x[high], found.t[high]) if most is None else most[name]
            values += [x[-1], *own]
        times = (3, 5)
        values = [0.0 if k not in times and abs(v) <= none[unit] else v for k, v in enumerate(values)]
        table.add_row(
            escape(readable(f"{name} [{unit}]" if unit else name)),
            *(f"{float(v) + 0.0:.6g}" for v in values),
        )
    print_table(out, table)


def _none(found: Series) -> dict[str, float]:
    """Below which size the series of every unit are zero: sums of what is larger leave rounding."""
    largest: dict[str, float] = {}
    for name, x in found.series.items():
        unit = found.units.get(name, "")
        largest[unit] = max(largest.get(unit, 0.0), float(abs(x).max(initial=0.0)))
    return {unit: ROUNDING * size for unit, size in largest.items()}
