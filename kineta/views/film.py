"""Films of runs: pictures of the machine, written by ffmpeg or by Pillow into memory, and then into the file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kineta import files
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, MissingPackageError
from kineta.files import path_of
from kineta.results.result import Result
from kineta.scene.construction import pieces
from kineta.scene.machine import Machine, Pose
from kineta.simulation.progress import Progress
from kineta.tasks.moving_machine import machine_of, states
from kineta.tasks.posture import direction
from kineta.values import finite
from kineta.views import overlays, rendering

#: Pictures in a second of a film: of ffmpeg, and of a GIF.
RATE, SLOW_RATE = 30, 20
#: Longest film [s], and pictures by which its frame is chosen.
LONGEST, SAMPLES = 600.0, 60
#: Dots per inch of a picture.
DPI = 110
#: Codecs of the kinds of films of ffmpeg, and what they need.
_CODECS = {".mp4": ("h264", ["-pix_fmt", "yuv420p"]), ".webm": ("libvpx-vp9", ["-pix_fmt", "yuv420p", "-b:v", "1M"])}


def write(run: Result, path: str | Path, case: int, speed: float, towards: Any, *, progress: bool) -> None:
    """Write a film of *run* to a file, at *speed* times its own time; nothing is left of a film that is not completed."""
    path, speed = path_of(path, "the path of a film"), finite("speed", speed)
    if path.suffix not in (*_CODECS, ".gif"):
        raise ArgumentError(f"Expected a film (.mp4, .webm, .gif or .glb), found '{path.name}'.")
    if not path.parent.is_dir():
        raise ArgumentError(f"{path}: there is no folder '{path.parent}'.")
    length = abs(float(run.t[-1] - run.t[0])) / speed if speed > 0 else 0.0
    if not 0 < length <= LONGEST:
        raise ArgumentError(
            f"Run of '{run.model}': expected a film of up to {LONGEST:g} s, found {length:g} s; give a speed above zero that "
            "makes it so, the seconds of the run in one of the film."
        )
    made = _writer(path)
    machine = machine_of(run, case)
    rate = made.fps
    t = np.linspace(run.t[0], run.t[-1], max(2, round(length * rate)))
    q, v = states(run, t, case)
    poses = list(machine.poses(t, q, v))
    figure, pictures = _pictures(machine, t, poses, direction(towards))
    with tempfile.TemporaryDirectory() as folder, Progress(0.0, float(len(t)), shown=progress) as bar:
        target = Path(folder) / path.name
        with made.saving(figure, target, DPI):
            for k, _ in enumerate(pictures):
                made.grab_frame()
                bar.told(f"picture {k + 1} of {len(t)}", k + 1.0)
        files.write({path: target.read_bytes()})


def _writer(path: Path) -> Any:
    """The writer of Matplotlib for a kind of film. Raises :class:`MissingPackageError` without ffmpeg."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if path.suffix == ".gif":
        return PillowWriter(fps=SLOW_RATE)
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingPackageError("imageio-ffmpeg", "show") from None
    mpl.rcParams["animation.ffmpeg_path"] = imageio_ffmpeg.get_ffmpeg_exe()
    codec, more = _CODECS[path.suffix]
    return FFMpegWriter(fps=RATE, codec=codec, extra_args=["-loglevel", "error", *more])


def _pictures(
    machine: Machine, t: FloatArray, poses: Sequence[Pose], towards: tuple[float, float, float] | None
) -> tuple[Any, Iterator[None]]:
    """A figure, and an iterator that draws one pose after another into it."""
    some = poses[:: max(1, len(poses) // SAMPLES)]
    box = rendering.spread(machine, some)
    view = rendering.camera(machine, box, towards)
    wide, high = rendering.proportions(view, box)
    # Codecs ask for even numbers of dots.
    size = [2 * round(x * DPI / 2) / DPI for x in (wide, high)]
    figure = Figure(figsize=(size[0], size[1]), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()

    rendering.prepare(ax, view, box)
    most = max((overlays.largest(overlays.loads(machine, pose)) for pose in poses), default=0.0)

    def drawn() -> Iterator[None]:
        for k, (now, pose) in enumerate(zip(t.tolist(), poses, strict=True)):
            for artist in (*ax.collections, *ax.lines, *ax.patches):
                artist.remove()
            rendering.ground(ax, machine, view, box, pose)
            found = overlays.loads(machine, pose)
            solid = [*pieces(machine, pose), *rendering.uneven_ground(machine, view, box, pose)]
            rendering.put(ax, rendering.drawn(solid, view), zorder=3)
            rendering.put(ax, rendering.drawn(overlays.arrows(machine, found, most), view), zorder=4)
            overlays.paths(ax, machine, poses[: k + 1], view)
            ax.set_title(f"{machine.scene.model}   t = {now:.2f} s", fontsize="medium", family="monospace")
            if k == 0:  # the layout of all that follow
                figure.draw_without_rendering()
                figure.set_layout_engine("none")
            yield

    return figure, drawn()
