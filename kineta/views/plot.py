"""Pictures of a run with Matplotlib. The functions draw into axes and return them; they never show a window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kineta.errors import ArgumentError, MissingPackageError

if TYPE_CHECKING:
    from kineta.tasks.result import Result


def plot(result: Result, *names: str, ax: Any = None) -> Any:
    """Draw the series *names* (all coordinates, if none are given) of *result* over time; returns the axes."""
    chosen = names or _coordinates(result)
    series = [(name, result[name]) for name in chosen]
    if ax is None:
        ax = _pyplot().subplots(layout="constrained")[1]
    for name, values in series:
        ax.plot(result.t, values, label=name, linewidth=1.4)
    units = {result.units.get(name, "") for name in chosen} - {""}
    ax.set_xlabel("t [s]")
    ax.set_ylabel(f"[{', '.join(sorted(units))}]" if units else "")
    ax.grid(alpha=0.3)
    ax.margins(x=0)
    if len(series) > 1:
        ax.legend(fontsize="small", ncols=max(1, len(series) // 4), framealpha=0.8)
    else:
        ax.set_title(chosen[0])
    return ax


def figure(result: Result, path: str | Path) -> None:
    """Write a picture of the run: coordinates, speeds, energies, and how well their balance holds."""
    plt = _pyplot()
    path = Path(path)
    fig, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained", sharex=True)
    try:
        known = fig.canvas.get_supported_filetypes()
        if path.suffix.lstrip(".") not in known:
            raise ArgumentError(f"Expected a picture file ({', '.join(sorted(known))}), found '{path.name}'.")
        fig.suptitle(f"{result.model}: {result.message}", fontsize="medium")
        plot(result, ax=axes[0, 0]).set_title("coordinates", fontsize="medium")
        plot(result, *_speeds(result), ax=axes[0, 1]).set_title("speeds", fontsize="medium")
        _energies(result, axes[1, 0])
        _balance(result, axes[1, 1])
        fig.savefig(path, dpi=130)
    except OSError as error:
        raise ArgumentError(f"{path}: the picture cannot be written ({error.strerror}).") from None
    finally:
        plt.close(fig)


def _coordinates(result: Result) -> Sequence[str]:
    return result.q_names[:12]


def _speeds(result: Result) -> Sequence[str]:
    return result.v_names[:12]


def _energies(result: Result, ax: Any) -> None:
    for name in ("kinetic_energy", "potential_energy", "energy", *(["work"] if result.work.any() else [])):
        # Work lies on energy where all is well: dashes show both.
        style = "--" if name == "work" else "-"
        ax.plot(result.t, result[name] - result[name][0], style, label=name.replace("_", " "), linewidth=1.4)
    ax.set_title("energies, change since the start", fontsize="medium")
    ax.set_xlabel("t [s]")
    ax.set_ylabel("[J]")
    ax.legend(fontsize="small", framealpha=0.8)
    ax.grid(alpha=0.3)


def _balance(result: Result, ax: Any) -> None:
    kept = result.energy - result.work
    ax.plot(result.t, kept - kept[0], linewidth=1.2)
    ax.set_title("energy - work, change since the start", fontsize="medium")
    ax.set_xlabel("t [s]")
    ax.set_ylabel("[J]")
    ax.grid(alpha=0.3)


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingPackageError("matplotlib", "plot") from None
    return plt
