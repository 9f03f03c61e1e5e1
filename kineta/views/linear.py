"""Pictures of small motions with Matplotlib: modes, responses, derivatives of motions, fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray
from kineta.views.series import pyplot, with_unit

if TYPE_CHECKING:
    from kineta.tasks.linear.linear_system import Linear
    from kineta.tasks.linear.modes import Modes
    from kineta.tasks.linear.response import Response
    from kineta.tasks.sensitivity.fit import Fit
    from kineta.tasks.sensitivity.sensitivity import Sensitivity


#: Most shapes, and most coordinates of each, in a picture.
MOST, COORDINATES = 12, 24
#: Distance, relative to the picture, within which two eigenvalues share a label.
NEAR = (0.012, 0.06)


def modes(found: Modes) -> Any:
    """The eigenvalues in their plane, and the shape of every mode as bars; returns the figure."""
    plt = pyplot()
    shown = [i for i in range(len(found)) if found.eigenvalues[i] != 0][:MOST] or list(range(len(found)))[:MOST]
    columns = 3
    rows = 1 + -(-len(shown) // columns)
    fig = plt.figure(figsize=(4 * columns, 2.6 * rows), layout="constrained")
    grid = fig.add_gridspec(rows, columns)
    _plane(found, fig.add_subplot(grid[0, :]))
    moving = np.flatnonzero(
        np.abs(found.shapes[shown, : found.coordinates]).max(axis=0, initial=0.0) > tolerances.PARTICIPATION_TOLERANCE
    )[:COORDINATES]
    names = [found.names[k] for k in moving]
    for place, i in enumerate(shown):
        ax = fig.add_subplot(grid[1 + place // columns, place % columns])
        shape = found.shapes[i, moving]
        at = np.arange(len(names))
        ax.bar(at, shape.real, width=0.7, color="C0", label="in phase")
        if np.abs(shape.imag).max(initial=0.0) > tolerances.PARTICIPATION_TOLERANCE:
            ax.bar(at, shape.imag, width=0.35, color="C1", label="a quarter ahead")
        ax.set_xticks(at, names, rotation=90 if len(names) > 6 else 0, fontsize="small")
        ax.axhline(0.0, color="black", linewidth=0.6)
        ax.set_ylim(-1.15, 1.15)
        value = found.eigenvalues[i]
        title = (
            f"{found.frequency[i]:.4g} Hz, damping {found.damping[i]:.3g}" if value.imag else f"{value.real:.4g} 1/s"
        )
        ax.set_title(f"{i + 1}: {title}", fontsize="medium")
    for ax in fig.axes[1:]:
        if len(handles := ax.get_legend_handles_labels()[0]) > 1:
            fig.legend(handles=handles, loc="outside lower center", ncols=2, fontsize="small", frameon=False)
            break
    rest = f" ({len(shown)} of {len(found)} drawn)" if len(shown) < len(found) else ""
    fig.suptitle(f"{found.model}: modes{rest}", fontsize="medium")
    return fig


def _together(values: ComplexArray) -> list[tuple[complex, str]]:
    """Return groups of eigenvalues that coincide in the picture, with their numbers."""
    wide, high = (part * np.ptp(x) if len(x) else 0.0 for part, x in zip(NEAR, (values.real, values.imag), strict=True))
    groups: list[tuple[complex, list[int]]] = []
    for i, value in enumerate(values.tolist()):
        own = next(
            (
                numbers
                for other, numbers in groups
                if abs((value - other).real) <= wide and abs((value - other).imag) <= high
            ),
            None,
        )
        if own is None:
            groups.append((value, [i + 1]))
        else:
            own.append(i + 1)
    return [(value, _ranges(numbers)) for value, numbers in groups]


def _ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers in words: ``1-3, 5``."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _plane(found: Modes, ax: Any) -> None:
    both = np.concatenate([found.eigenvalues, found.eigenvalues.conj()])
    grows = both.real > 0
    ax.plot(both.real[~grows], both.imag[~grows], "x", color="C0", label="does not grow")
    if grows.any():
        ax.plot(both.real[grows], both.imag[grows], "x", color="C3", label="grows")
        ax.legend(fontsize="small")
    for value, numbers in _together(found.eigenvalues):
        ax.annotate(numbers, (value.real, value.imag), textcoords="offset points", xytext=(5, 4), fontsize="small")
    ax.axvline(0.0, color="black", linewidth=0.6)
    ax.axhline(0.0, color="black", linewidth=0.6)
    ax.set_xlabel("growth [1/s]")
    ax.set_ylabel("[rad/s]")
    ax.margins(0.1)


def eigenvalues(found: Linear, over: FloatArray, name: str) -> Any:
    """Real and imaginary parts of the eigenvalues over a row of numbers; returns the figure."""
    fig, axes = pyplot().subplots(2, 1, figsize=(6.5, 5.2), sharex=True, layout="constrained")
    values = found.eigenvalues
    turning = np.abs(values.imag) > tolerances.PARTICIPATION_TOLERANCE * np.abs(values).max(initial=0.0)
    for ax, part, label in zip(axes, (values.real, values.imag), ("growth [1/s]", "[rad/s]"), strict=True):
        x = np.broadcast_to(over[:, None], part.shape)
        ax.plot(x[~turning], part[~turning], ".", color="C0", markersize=3, label="does not oscillate")
        ax.plot(x[turning], part[turning], ".", color="C1", markersize=3, label="oscillates")
        ax.axhline(0.0, color="black", linewidth=0.6)
        ax.set_ylabel(label)
        ax.grid(visible=True, linewidth=0.3)
    calm = values.real.max(axis=1) <= tolerances.PARTICIPATION_TOLERANCE * np.abs(values).max(initial=0.0)
    axes[0].fill_between(over, 0, 1, where=calm, transform=axes[0].get_xaxis_transform(), color="C2", alpha=0.15)
    axes[0].legend(fontsize="small")
    axes[1].set_xlabel(name)
    fig.suptitle(f"{found.model}: eigenvalues", fontsize="medium")
    return fig


def response(found: Response) -> Any:
    """Amplitudes and phases over the frequency, or outputs over time, a column for every input; returns the figure."""
    moving = [k for k in range(len(found.outputs)) if found.values[:, k].any()] or [0]
    groups: dict[str, list[int]] = {}
    for k in moving:
        groups.setdefault(found.units.get(found.outputs[k], ""), []).append(k)
    steps = found.frequency is None
    columns, rows = len(found.inputs), len(groups) if steps else len(groups) + 1
    size = (max(6.5, 4.2 * columns), 2.6 * rows + 0.5)
    fig, axes = pyplot().subplots(rows, columns, figsize=size, squeeze=False, sharex="col", layout="constrained")
    for i, name in enumerate(found.inputs):
        for ax, group in zip(axes[:, i], groups.values(), strict=False):
            (_steps if steps else _amplitudes)(ax, found, group, i)
        if not steps:
            _phases(axes[-1, i], found, moving, i)
        axes[0, i].set_title(f"by {with_unit(name, found.units)}", fontsize="medium")
        axes[-1, i].set_xlabel("t [s]" if steps else "frequency [Hz]")
    for ax in axes.flat:
        ax.grid(visible=True, linewidth=0.3)
    for row, (unit, group) in zip(axes, groups.items(), strict=False):
        alone = with_unit(found.outputs[group[0]], found.units) if len(group) == 1 else f"[{unit}]" if unit else ""
        row[0].set_ylabel(alone)
        if len(moving) > len(groups) or not steps:
            row[-1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False)
    if not steps:
        axes[-1, 0].set_ylabel("phase [deg]")
    fig.align_ylabels()
    what = "response to a step by 1" if steps else "amplitude and phase"
    still = ", ".join(n for k, n in enumerate(found.outputs) if k not in moving)
    fig.suptitle(f"{found.model}: {what}{f'; {still} not moved' if still else ''}", fontsize="medium")
    return fig


def _steps(ax: Any, found: Response, group: Sequence[int], i: int) -> None:
    """Outputs of one unit after a step of the input number *i*."""
    for k in group:
        ax.plot(found.over, found.values[:, k, i], f"C{k}", label=found.outputs[k])


def _amplitudes(ax: Any, found: Response, group: Sequence[int], i: int) -> None:
    """Amplitudes of outputs of one unit by the input number *i*; zeros have no place among logarithms."""
    for k in group:
        size = np.abs(found.values[:, k, i])
        ax.loglog(found.over, np.where(size > 0, size, np.nan), f"C{k}", label=found.outputs[k])


def _phases(ax: Any, found: Response, moving: Sequence[int], i: int) -> None:
    for k in moving:
        ax.semilogx(found.over, np.degrees(np.unwrap(np.angle(found.values[:, k, i]))), f"C{k}")


def sensitivity(found: Sensitivity, names: Sequence[str] = ()) -> Any:
    """Derivatives over time, a row of panels for every series, a column for what it is derived by; returns the figure."""
    chosen = list(names) or list(found.q_names[:MOST])
    for name in chosen:
        found.value(name)
    rows, columns = len(chosen), len(found.by)
    size = (max(6.5, 3.4 * columns), 0.6 + 2.2 * rows)
    fig, axes = pyplot().subplots(rows, columns, figsize=size, squeeze=False, sharex=True, layout="constrained")
    for row, name in zip(axes, chosen, strict=True):
        for k, ax in enumerate(row):
            ax.plot(found.t, found[name][:, k])
            ax.grid(visible=True, linewidth=0.3)
        row[0].set_ylabel(with_unit(name, found.units))
    for k, by in enumerate(found.by):
        axes[0, k].set_title(f"by {with_unit(by, found.units)}", fontsize="medium")
        axes[-1, k].set_xlabel("t [s]")
    fig.align_ylabels()
    first = f", first {MOST} of {len(found.q_names)} coordinates" if not names and len(found.q_names) > MOST else ""
    fig.suptitle(f"{found.model}: derivatives{first}", fontsize="medium")
    return fig


def fit(found: Fit) -> Any:
    """Data as points and the motion as lines, a panel for every series; returns the figure."""
    fig, axes = _panels(len(found.data))
    for ax, (name, values) in zip(axes, found.data.items(), strict=False):
        ax.plot(found.t, values, ".", color="C1", markersize=3, label="data")
        ax.plot(found.t, found.model_values[name], color="C0", label="motion")
        ax.set_title(with_unit(name, found.units), fontsize="medium")
    axes[0].legend(fontsize="small")
    lines = [" ".join(line.split()) for line in found.table()]
    fig.suptitle("\n".join([f"{found.model}:", *lines]), fontsize="small")
    return fig


def _panels(n: int) -> tuple[Any, Any]:
    """A figure with *n* panels over time."""
    columns = min(2, n)
    rows = -(-n // columns)
    fig, axes = pyplot().subplots(
        rows, columns, figsize=(6.0 * columns, 0.6 + 2.5 * rows), squeeze=False, sharex=True, layout="constrained"
    )
    flat = list(axes.flat)
    for ax in flat[n:]:
        ax.remove()
    for ax in flat[:n]:
        ax.set_xlabel("t [s]")
        ax.grid(visible=True, linewidth=0.3)
    return fig, flat[:n]
