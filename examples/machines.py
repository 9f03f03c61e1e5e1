"""Pictures of the machines of examples, and one of several: ``python examples/machines.py docs/images/machines``."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from PIL import Image

import kineta as kn

mpl.use("agg")

MODELS = Path(__file__).parent
#: The examples that are drawn, each with a direction from which it is looked at, or none.
SHOWN: dict[str, tuple[float, float, float] | None] = {
    **dict.fromkeys(
        ("double_pendulum", "cart_pendulum", "fourbar", "four_bars", "andrews", "slider_crank", "planar_chain")
    ),
    **dict.fromkeys(("oscillator_chain", "hopper", "rocking_block", "thrown_box", "bouncing_ball", "simple_pendulum")),
    **dict.fromkeys(
        ("bicycle", "rolling_coin", "rolling_torus", "rattleback", "turntable_ball", "wheelset", "bricard")
    ),
    **dict.fromkeys(("governor", "flyball_governor", "puma560", "puma_andreev", "walking_machine", "ball_tree")),
    "spinning_top": (0.6, -1.0, 0.15),
    "hopping_robot_stance": None,
}
#: Those in the picture of several.
BEST = (
    "bicycle",
    "puma560",
    "flyball_governor",
    "walking_machine",
    "fourbar",
    "cart_pendulum",
    "rolling_torus",
    "wheelset",
)


def save(figure: plt.Figure, target: Path, dpi: int = 80) -> None:
    """Write a *figure* in few bytes."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=dpi)
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(64).save(target, optimize=True)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, towards in SHOWN.items():
        axes = kn.load(MODELS / f"{name}.kin").picture(towards=towards)
        axes.figure.set_size_inches(3.2, 2.5)
        axes.tick_params(labelsize=6)
        axes.xaxis.label.set_size(7)
        axes.yaxis.label.set_size(7)
        save(axes.figure, folder / f"{name}.png")
    figure = plt.figure(figsize=(8, 4.2), layout="constrained")
    for axes, name in zip(figure.subplots(2, 4).flat, BEST, strict=True):
        kn.load(MODELS / f"{name}.kin").picture(towards=SHOWN[name], ax=axes)
        axes.set_axis_off()
    save(figure, folder / "several.png", 110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "machines"))
