"""Pictures of families of equilibria, and of periodic motions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta import tolerances
from kineta.errors import ArgumentError, shown
from kineta.views.series import picture, pyplot, with_unit

if TYPE_CHECKING:
    from kineta.tasks.equilibria.branches import Branch, Family
    from kineta.tasks.periodic_motions.family_of_motions import PeriodicFamily

#: Most coordinates in a picture.
MOST = 6
#: Marks of special points.
_MARKS = {"fold": "s", "bifurcation": "o", "period doubling": "D", "torus": "^"}
#: Line styles of stable, unstable and undecided parts.
_STYLES = {1.0: "-", 0.0: "--", -1.0: ":"}


def plot(family: Family, name: str | None = None, *, ax: Any = None) -> Any:
    """Draw a coordinate or speed of *family* over its parameter; returns the axes."""
    chosen = _first(family).names[0] if name is None else name
    series = [branch[chosen] for branch in family.branches]
    if ax is not None and not isinstance(ax, pyplot().Axes):
        raise ArgumentError(f"Expected axes of Matplotlib for ax, found {shown(ax)}.")
    ax = pyplot().subplots(layout="constrained")[1] if ax is None else ax
    special = [s.parameter for s in family.special]
    labels = {1.0: "stable", 0.0: "unstable", -1.0: "undecided"}
    for branch, values in zip(family.branches, series, strict=True):
        kinds = np.nan_to_num(branch.stable, nan=-1.0)
        for i in np.flatnonzero(np.isin(branch.parameter, special) & (kinds < 0)).tolist():
            kinds[i] = kinds[i + 1] if i + 1 < len(kinds) else kinds[i - 1]  # there it changes
        cuts = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
        for a, b in pairwise(cuts):
            kind, part = float(kinds[a]), slice(a, min(b + 1, len(kinds)))
            ax.plot(branch.parameter[part], values[part], _STYLES[kind], color="C0", label=labels.pop(kind, None))
    names = list(_first(family).names)
    for what, mark in _MARKS.items():
        points = [s for s in family.special if s.kind == what]
        places = [np.concatenate([s.q, s.v])[names.index(chosen)] for s in points]
        if points:
            ax.plot([s.parameter for s in points], places, mark, color="C3", label=what, markersize=5)
    ax.set_xlabel(with_unit(family.parameter, family.units))
    ax.set_ylabel(with_unit(chosen, family.units))
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small", framealpha=0.8)
    return ax


def motions(family: PeriodicFamily, name: str = "period", *, ax: Any = None) -> Any:
    """Draw the period, or a coordinate or speed at the start, of a *family* of motions over its parameter; returns the axes."""
    values = family[name]
    if ax is not None and not isinstance(ax, pyplot().Axes):
        raise ArgumentError(f"Expected axes of Matplotlib for ax, found {shown(ax)}.")
    ax = pyplot().subplots(layout="constrained")[1] if ax is None else ax
    labels = {1.0: "stable", 0.0: "unstable", -1.0: "undecided"}
    kinds = np.nan_to_num(family.stable, nan=-1.0)
    cuts = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    for a, b in pairwise(cuts):
        kind, part = float(kinds[a]), slice(a, min(b + 1, len(kinds)))
        ax.plot(family.values[part], values[part], _STYLES[kind], color="C0", label=labels.pop(kind, None))
    for what in dict.fromkeys(s.kind for s in family.special):
        points = [s for s in family.special if s.kind == what]
        places = [s.period if name == "period" else s.initial[name] for s in points]
        ax.plot([s.parameter for s in points], places, _MARKS[what], color="C3", label=what, markersize=5)
    ax.set_xlabel(with_unit(family.parameter, family.units))
    ax.set_ylabel("period [s]" if name == "period" else with_unit(name, family.units))
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small", framealpha=0.8)
    return ax


def figure(family: Family, path: str | Path) -> None:
    """Write a picture of *family* to a file: a panel for each coordinate that changes, the first of them."""
    first = _first(family)
    every = first.names[: first.q.shape[1]]
    moving = [n for n in every if np.ptp(np.concatenate([b[n] for b in family.branches])) > tolerances.STATE_TOLERANCE]
    coordinates = (moving or every)[:MOST]
    columns = min(2, len(coordinates))
    rows = -(-len(coordinates) // columns)
    plt = pyplot()
    fig = plt.figure(figsize=(5.2 * columns, 0.5 + 3.2 * rows), layout="constrained")
    for k, name in enumerate(coordinates):
        plot(family, name, ax=fig.add_subplot(rows, columns, k + 1))
    some = f", first {MOST} of {len(moving)} coordinates" if len(moving) > MOST else ""
    fig.suptitle(f"{family.model}: equilibria along {family.parameter}{some}", fontsize="medium")
    picture(fig, path)


def _first(family: Family) -> Branch:
    """Return the first branch. Raises :class:`ArgumentError` for a family without any."""
    if not family.branches:
        raise ArgumentError(f"Model '{family.model}': there is no branch to draw: {'; '.join(family.notes)}.")
    return family.branches[0]
