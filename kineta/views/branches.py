"""Pictures of families of equilibria, and of periodic motions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
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
    first = _first(family)
    chosen = first.names[0] if name is None else name
    curves = []
    special = [s.parameter for s in family.special]
    for branch in family.branches:
        kinds = np.nan_to_num(branch.stable, nan=-1.0)
        for i in np.flatnonzero(np.isin(branch.parameter, special) & (kinds < 0)).tolist():
            kinds[i] = kinds[i + 1] if i + 1 < len(kinds) else kinds[i - 1]  # there it changes
        curves.append((branch.parameter, branch[chosen], kinds))
    place = list(first.names).index(chosen)
    points = [(s.kind, s.parameter, np.concatenate([s.q, s.v])[place]) for s in family.special]
    labels = with_unit(family.parameter, family.units), with_unit(chosen, family.units)
    return _drawn(curves, points, labels, ax)


def motions(family: PeriodicFamily, name: str = "period", *, ax: Any = None) -> Any:
    """Draw the period, or a coordinate or speed at the start, of a *family* of motions over its parameter; returns the axes."""
    curve = family.values, family[name], np.nan_to_num(family.stable, nan=-1.0)
    points = [(s.kind, s.parameter, s.period if name == "period" else s.initial[name]) for s in family.special]
    label = "period [s]" if name == "period" else with_unit(name, family.units)
    return _drawn([curve], points, (with_unit(family.parameter, family.units), label), ax)


def _drawn(
    curves: Iterable[tuple[FloatArray, FloatArray, FloatArray]],
    points: Sequence[tuple[str, float, float]],
    names: tuple[str, str],
    ax: Any,
) -> Any:
    """Draw *curves*, each with its kinds of stability, and special *points* by kind; *names* are those of the axes."""
    if ax is not None and not isinstance(ax, pyplot().Axes):
        raise ArgumentError(f"Expected axes of Matplotlib for ax, found {shown(ax)}.")
    ax = pyplot().subplots(layout="constrained")[1] if ax is None else ax
    labels = {1.0: "stable", 0.0: "unstable", -1.0: "undecided"}
    for x, y, kinds in curves:
        cuts = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
        for a, b in pairwise(cuts):
            kind, part = float(kinds[a]), slice(a, min(b + 1, len(kinds)))
            ax.plot(x[part], y[part], _STYLES[kind], color="C0", label=labels.pop(kind, None))
    for what in (kind for kind in _MARKS if any(kind == own for own, _, _ in points)):
        places = [place for own, *place in points if own == what]
        ax.plot(*zip(*places, strict=True), _MARKS[what], color="C3", label=what, markersize=5)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
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
