"""Pictures of a run with Matplotlib. The functions draw into axes and return them; they never show a window."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta import tolerances
from kineta.errors import ArgumentError, MissingPackageError, shown
from kineta.files import write
from kineta.records import dataclass
from kineta.results.series import Series

if TYPE_CHECKING:
    from kineta.results.result import Result

#: Most series of a default panel.
MOST = 12
#: Titles of the panels of coordinates, speeds and outputs, by unit; by default the kind of series with the unit.
_TITLES = {
    ("coordinates", "rad"): "angles",
    ("coordinates", "m"): "positions",
    ("speeds", "rad/s"): "angular velocities",
    ("speeds", "m/s"): "velocities",
}
_ENERGIES = ("kinetic_energy", "potential_energy", "energy", "work")
#: Lines differ in colour; Matplotlib has ten of these, and then in style.
_COLOURS, _STYLES = 10, ("-", "--", ":", "-.")
#: Entries of one column of a legend.
_COLUMN = 12


def plot(result: Result | Series, *names: str, ax: Any = None) -> Any:
    """Draw the series *names* (the coordinates, if none are given) of *result* over time; returns the axes."""
    first = tuple(result.series) if isinstance(result, Series) else result.q_names
    chosen = names or first[:MOST]
    own = ax is None
    if not own and not isinstance(ax, pyplot().Axes):
        raise ArgumentError(f"Expected axes of Matplotlib for ax, found {shown(ax)}.")
    if own:
        for name in chosen:
            # An unknown name leaves no empty figure behind.
            result[name]
        ax = pyplot().subplots(layout="constrained")[1]
    _lines(result, chosen, ax)
    if not names and len(first) > MOST:
        ax.set_title(_of("series" if isinstance(result, Series) else "coordinates", first), fontsize="medium")
    if len(chosen) > 1:
        _legend(ax, outside=own)
    else:
        ax.set_title(chosen[0])
    return ax


def figure(result: Result | Series, path: str | Path, *names: str) -> None:
    """Write a picture of the run to a file.

    With *names* it has one panel of these series for each unit. Without, it has such panels of the coordinates, the speeds,
    the rates of first-order states and the outputs of the model, and one each of the energies and of how well their balance
    holds; of other series those that are not zero. Raises :class:`ArgumentError` for an unknown series, for a kind of file
    that Matplotlib does not know, and for a file that cannot be written.
    """
    if isinstance(result, Series):
        panels, title = _chosen(result, names) if names else _moving(result), repr(result)[1:-1]
        if not names and (zero := len(result.series) - len(_not_zero(result))):
            title += f"; {zero} that stay zero are left out"
    else:
        panels = _chosen(result, names) if names else _overview(result)
        title = f"{result.model}: {result.message}"
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    fig = pyplot().figure(figsize=(6.5 * columns, 0.5 + 2.75 * rows), layout="constrained")
    fig.suptitle(textwrap.fill(title, 60 * columns), fontsize="medium")
    grid = fig.add_gridspec(rows, columns)
    for i, panel in enumerate(panels):
        alone = i == len(panels) - 1 and i % columns == 0
        panel.draw(fig.add_subplot(grid[i // columns, :] if alone else grid[i // columns, i % columns]))
    fig.align_ylabels()
    picture(fig, path)


def picture(figure: Any, path: str | Path) -> None:
    """Write a Matplotlib *figure* to a file, and close it. Raises :class:`ArgumentError` for a kind of file that Matplotlib does
    not know.
    """
    path, drawn = Path(path), io.BytesIO()
    try:
        known = figure.canvas.get_supported_filetypes()
        if path.suffix.lstrip(".") not in known:
            raise ArgumentError(f"Expected a picture file ({', '.join(sorted(known))}), found '{path.name}'.")
        figure.savefig(drawn, format=path.suffix.lstrip("."), dpi=110)
    finally:
        pyplot().close(figure)
    write({path: drawn.getvalue()})


# -- panels ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panel:
    """A pair of axes: its title, its drawing function, and whether it has a legend."""

    title: str
    lines: Callable[[Any], None]
    named: bool = True

    def draw(self, ax: Any) -> None:
        self.lines(ax)
        ax.set_title(self.title, fontsize="medium")
        if self.named:
            _legend(ax, outside=True)


def _overview(result: Result) -> list[_Panel]:
    """Return the default panels: coordinates beside their speeds, then all other series."""
    rates = [rate for n in result.q_names if (rate := f"{n}'") in result.outputs]
    states = [
        (_rank(unit), _panel(result, kind, unit, names))
        for kind, series in (("coordinates", result.q_names), ("speeds", result.v_names), ("rates", rates))
        for unit, names in _by_unit(result, series)
    ]
    outputs = _by_unit(result, [n for n in result.outputs if n not in (*_ENERGIES, *rates)])
    return [
        *(panel for _, panel in sorted(states, key=lambda s: s[0])),
        *(_panel(result, "outputs", unit, names) for unit, names in outputs),
        _Panel("energies, change since the start", partial(_energies, result)),
        _Panel("energy - work, change since the start", partial(_balance, result), named=False),
    ]


def _moving(found: Series) -> list[_Panel]:
    """Return the default panels of other series: series that are not zero, by unit."""
    groups = _by_unit(found, _not_zero(found) or [*found.series][:1])
    return [
        _Panel(_of("series", names) if len(names) > MOST else "", partial(_lines, found, names[:MOST]))
        for _, names in groups
    ]


def _not_zero(found: Series) -> list[str]:
    """Return the series above the rounding errors of their unit."""
    largest: dict[str, float] = {}
    sizes = {n: float(np.abs(x).max(initial=0.0)) for n, x in found.series.items()}
    for name, size in sizes.items():
        unit = found.units.get(name, "")
        largest[unit] = max(largest.get(unit, 0.0), size)
    return [n for n, size in sizes.items() if size > tolerances.ROUNDING_TOLERANCE * largest[found.units.get(n, "")]]


def _chosen(result: Result | Series, names: Iterable[str]) -> list[_Panel]:
    for name in names:
        result[name]
    groups = [group for _, group in _by_unit(result, names)]
    return [_Panel(textwrap.shorten(", ".join(g), 60), partial(_lines, result, g), named=len(g) > 1) for g in groups]


def _panel(result: Result, kind: str, unit: str, names: Sequence[str]) -> _Panel:
    title = _TITLES.get((kind, unit), f"{kind} [{unit}]" if unit else kind)
    return _Panel(_of(title, names), partial(_lines, result, names[:MOST]))


def _of(title: str, names: Sequence[str]) -> str:
    """Return *title*, with the number of *names* drawn where some are omitted."""
    return title if len(names) <= MOST else f"{title}, first {MOST} of {len(names)}"


def _by_unit(result: Result | Series, names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return units with the *names* of their series: angles, lengths, all others."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(result.units.get(name, ""), []).append(name)
    return sorted(groups.items(), key=lambda g: _rank(g[0]))


def _rank(unit: str) -> int:
    known = ("rad", "m")
    base = unit.removesuffix("/s")
    return known.index(base) if base in known else len(known)


# -- axes --------------------------------------------------------------------------------------------------------------


def _lines(result: Result | Series, names: Sequence[str], ax: Any) -> None:
    for i, name in enumerate(names):
        style = _STYLES[i // _COLOURS % len(_STYLES)]
        # Matplotlib omits labels with a leading underscore from legends.
        label = f" {name}" if name.startswith("_") else name
        _draw(ax, result, result[name], style, label=label, linewidth=1.4)
    units = {result.units.get(name, "") for name in names} - {""}
    _frame(ax, f"[{', '.join(sorted(units))}]" if units else "")


def _energies(result: Result, ax: Any) -> None:
    # The energy may lie on one of its parts or on the work: it is drawn first, and broad.
    _draw(ax, result, _change(result.energy), color="0.75", label="energy", linewidth=4.0)
    for name, style in (("kinetic", "-"), ("potential", "-"), ("work", "--")):
        values = result.series[name if name == "work" else f"{name}_energy"]
        if name != "work" or values.any():
            _draw(ax, result, _change(values), style, label=name, linewidth=1.4)
    _frame(ax, "[J]")


def _balance(result: Result, ax: Any) -> None:
    _draw(ax, result, _change(result.energy - result.work), linewidth=1.2)
    _frame(ax, "[J]")


def _draw(ax: Any, result: Result | Series, values: Any, *style: str, linewidth: float, **more: Any) -> None:
    """Draw *values* over time as a line; several cases are one thin line with gaps."""
    if result.cases is None:
        ax.plot(result.t, values, *style, linewidth=linewidth, **more)
        return
    gap = np.full((len(values), 1), np.nan)
    t = np.tile(np.append(result.t, np.nan), len(values))
    ax.plot(t, np.hstack([values, gap]).ravel(), *style, linewidth=linewidth / 2, alpha=0.6, **more)


def _change(values: Any) -> Any:
    """Return *values* (..., k), possibly empty, less the first of them."""
    return values - values[..., :1]


def with_unit(name: str, units: Mapping[str, str]) -> str:
    """Return a name with its unit, if known."""
    unit = units.get(name, "")
    return f"{name} [{unit}]" if unit else name


def _frame(ax: Any, unit: str) -> None:
    ax.set_xlabel("t [s]")
    ax.set_ylabel(unit)
    ax.grid(alpha=0.3)
    ax.margins(x=0)
    low, high = ax.dataLim.intervaly
    if 0 < high - low < tolerances.ROUNDING_TOLERANCE * max(abs(low), abs(high)):  # a constant, with rounding errors
        ax.set_ylim(*sorted((0.9 * low, 1.1 * low)))


def _legend(ax: Any, *, outside: bool) -> None:
    """Add a legend right of the axes, or where it covers least of the lines."""
    columns = -(-len(ax.lines) // _COLUMN)
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02)} if outside else {"loc": "best"}
    ax.legend(fontsize="small", labelspacing=0.35, ncols=columns, frameon=not outside, framealpha=0.8, **place)


def pyplot() -> Any:
    """Matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingPackageError("matplotlib", "plot") from None
    return plt
