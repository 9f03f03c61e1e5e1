"""Pictures of small motions with Matplotlib: modes, responses, derivatives of motions, fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kineta.views.plot import pyplot

if TYPE_CHECKING:
    from kineta.tasks.fit import Fit
    from kineta.tasks.linear import Linear
    from kineta.tasks.modes import Modes
    from kineta.tasks.response import Response
    from kineta.tasks.sensitivity import Sensitivity

FloatArray = NDArray[np.float64]

#: Shapes that are drawn, at most, and coordinates of each.
MOST, COORDINATES = 12, 24
#: Part of a shape below which a coordinate does not move in it.
LITTLE = 1e-6


def modes(found: Modes) -> Any:
    """The eigenvalues in their plane, and the shape of every mode as bars; returns the figure."""
    plt = pyplot()
    shown = [i for i in range(len(found)) if found.eigenvalues[i] != 0][:MOST] or list(range(len(found)))[:MOST]
    columns = 3
    rows = 1 + -(-len(shown) // columns)
    fig = plt.figure(figsize=(4 * columns, 2.6 * rows), layout="constrained")
    grid = fig.add_gridspec(rows, columns)
    _plane(found, fig.add_subplot(grid[0, :]))
    moving = np.flatnonzero(np.abs(found.shapes[shown, : found.coordinates]).max(axis=0, initial=0.0) > LITTLE)[
        :COORDINATES
    ]
    names = [found.names[k] for k in moving]
    for place, i in enumerate(shown):
        ax = fig.add_subplot(grid[1 + place // columns, place % columns])
        shape = found.shapes[i, moving]
        at = np.arange(len(names))
        ax.bar(at, shape.real, width=0.7, color="C0", label="in phase")
        if np.abs(shape.imag).max(initial=0.0) > 1e-6:
            ax.bar(at, shape.imag, width=0.35, color="C1", label="a quarter ahead")
            ax.legend(fontsize="x-small")
        ax.set_xticks(at, names, rotation=90 if len(names) > 6 else 0, fontsize="small")
        ax.axhline(0.0, color="black", linewidth=0.6)
        ax.set_ylim(-1.15, 1.15)
        value = found.eigenvalues[i]
        title = (
            f"{found.frequency[i]:.4g} Hz, damping {found.damping[i]:.3g}" if value.imag else f"{value.real:.4g} 1/s"
        )
        ax.set_title(f"{i + 1}: {title}", fontsize="medium")
    fig.suptitle(f"{found.model}: modes", fontsize="medium")
    return fig


def _plane(found: Modes, ax: Any) -> None:
    both = np.concatenate([found.eigenvalues, found.eigenvalues.conj()])
    grows = both.real > 0
    ax.plot(both.real[~grows], both.imag[~grows], "x", color="C0", label="does not grow")
    if grows.any():
        ax.plot(both.real[grows], both.imag[grows], "x", color="C3", label="grows")
        ax.legend(fontsize="small")
    for i, value in enumerate(found.eigenvalues):
        ax.annotate(str(i + 1), (value.real, value.imag), textcoords="offset points", xytext=(5, 4), fontsize="small")
    ax.axvline(0.0, color="black", linewidth=0.6)
    ax.axhline(0.0, color="black", linewidth=0.6)
    ax.set_xlabel("growth, 1/s")
    ax.set_ylabel("rad/s")
    ax.margins(0.1)


def eigenvalues(found: Linear, over: FloatArray, name: str) -> Any:
    """Real and imaginary parts of the eigenvalues over a row of numbers; returns the figure."""
    fig, axes = pyplot().subplots(2, 1, figsize=(6.5, 5.2), sharex=True, layout="constrained")
    values = found.eigenvalues
    turning = np.abs(values.imag) > LITTLE * np.abs(values).max(initial=0.0)
    for ax, part, label in zip(axes, (values.real, values.imag), ("growth, 1/s", "rad/s"), strict=True):
        x = np.broadcast_to(over[:, None], part.shape)
        ax.plot(x[~turning], part[~turning], ".", color="C0", markersize=3, label="does not oscillate")
        ax.plot(x[turning], part[turning], ".", color="C1", markersize=3, label="oscillates")
        ax.axhline(0.0, color="black", linewidth=0.6)
        ax.set_ylabel(label)
        ax.grid(visible=True, linewidth=0.3)
    calm = values.real.max(axis=1) <= LITTLE * np.abs(values).max(initial=0.0)
    axes[0].fill_between(over, 0, 1, where=calm, transform=axes[0].get_xaxis_transform(), color="C2", alpha=0.15)
    axes[0].legend(fontsize="small")
    axes[1].set_xlabel(name)
    fig.suptitle(f"{found.model}: eigenvalues", fontsize="medium")
    return fig


def response(found: Response) -> Any:
    """Amplitudes and phases over the frequency, or outputs over time, a column for every input; returns the figure."""
    plt = pyplot()
    columns = len(found.inputs)
    rows = 1 if found.frequency is None else 2
    size = (max(6.5, 4.2 * columns), 2.9 * rows + 0.5)
    fig, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, sharex="col", layout="constrained")
    for i, name in enumerate(found.inputs):
        for k, output in enumerate(found.outputs):
            values = found.values[:, k, i]
            if found.frequency is None:
                axes[0, i].plot(found.over, values, label=output)
                continue
            size_ = np.abs(values)
            axes[0, i].loglog(found.over, np.where(size_ > 0, size_, np.nan), label=output)
            axes[1, i].semilogx(found.over, np.degrees(np.unwrap(np.angle(values))), label=output)
        axes[0, i].set_title(name, fontsize="medium")
        axes[-1, i].set_xlabel("t, s" if found.frequency is None else "frequency, Hz")
        for ax in axes[:, i]:
            ax.grid(visible=True, linewidth=0.3)
    axes[0, 0].set_ylabel("after a step by 1" if found.frequency is None else "amplitude")
    if found.frequency is not None:
        axes[1, 0].set_ylabel("phase, deg")
    axes[0, -1].legend(fontsize="small")
    fig.suptitle(f"{found.model}: response", fontsize="medium")
    return fig


def sensitivity(found: Sensitivity, names: Sequence[str] = ()) -> Any:
    """Derivatives over time, a panel for every series; returns the figure."""
    chosen = list(names) or list(found.q_names[:MOST])
    for name in chosen:
        found.value(name)
    fig, axes = _panels(len(chosen))
    for ax, name in zip(axes, chosen, strict=False):
        for k, by in enumerate(found.by):
            ax.plot(found.t, found[name][:, k], label=by)
        ax.set_title(name, fontsize="medium")
    axes[0].legend(fontsize="small")
    fig.suptitle(f"{found.model}: derivatives", fontsize="medium")
    return fig


def fit(found: Fit) -> Any:
    """Data as points and the motion as lines, a panel for every series; returns the figure."""
    fig, axes = _panels(len(found.data))
    for ax, (name, values) in zip(axes, found.data.items(), strict=False):
        ax.plot(found.t, values, ".", color="C1", markersize=3, label="data")
        ax.plot(found.t, found.model_values[name], color="C0", label="motion")
        ax.set_title(name, fontsize="medium")
    axes[0].legend(fontsize="small")
    fig.suptitle(f"{found.model}: {', '.join(found.lines())}", fontsize="small")
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
        ax.set_xlabel("t, s")
        ax.grid(visible=True, linewidth=0.3)
    return fig, flat[:n]
