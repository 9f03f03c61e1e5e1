"""Pictures and films of machines: made without error, not blank, and sentences where they cannot be made."""

from __future__ import annotations

import dataclasses
import io
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import kineta as kn
from tests.models import PENDULUM
from tests.support import EXAMPLES

mpl.use("agg")
import matplotlib.pyplot as plt

FOURBAR = kn.load(EXAMPLES / "fourbar.kin")


def colours(axes: Any) -> int:
    """How many colours the picture of *axes* has."""
    axes.figure.set_dpi(40)
    axes.figure.canvas.draw()
    pixels = np.asarray(axes.figure.canvas.buffer_rgba())[..., :3].reshape(-1, 3)
    plt.close(axes.figure)
    return len(np.unique(pixels, axis=0))


@pytest.mark.parametrize(
    "name", ["fourbar", "hopper", "bicycle", "governor", "turntable_ball", "euler_top", "car_axis"]
)
def test_a_system_is_drawn(name: str) -> None:
    assert colours(kn.load(EXAMPLES / f"{name}.kin").picture()) > 40


def test_the_plane_has_equal_scales_in_metres() -> None:
    axes = FOURBAR.picture()
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_aspect()) == ("x [m]", "y [m]", 1.0)
    (low, high), (down, up) = axes.get_xlim(), axes.get_ylim()
    assert low < -0.1 < 0.9 < high
    assert down < 0.0 < 0.7 < up
    plt.close(axes.figure)


def test_a_direction_of_sight_makes_a_picture_in_space() -> None:
    axes = FOURBAR.picture(towards=(1, -2, 1))
    assert not axes.axison
    assert colours(axes) > 40


def test_the_picture_of_a_run_is_that_of_its_state() -> None:
    run = kn.simulate(PENDULUM, 1.0)
    drawn = [collection_extent(run.picture(t)) for t in (0.0, 1.0)]
    posed = [collection_extent(PENDULUM.picture([q])) for q in (run["q"][0], run["q"][-1])]
    np.testing.assert_allclose(drawn, posed, atol=1e-8)


def collection_extent(axes: Any) -> list[float]:
    (solids,) = axes.collections[-1:]
    points = np.concatenate([path.vertices for path in solids.get_paths()])
    plt.close(axes.figure)
    return [*points.min(axis=0), *points.max(axis=0)]


@pytest.mark.slow
def test_an_equilibrium_and_an_assembly_are_drawn() -> None:
    assert colours(kn.equilibrium(FOURBAR).picture()) > 40
    assert colours(kn.assemble(FOURBAR).picture()) > 40


@pytest.mark.slow
def test_cases_are_drawn() -> None:
    many = kn.simulate(PENDULUM, 1.0, q=[[0.1], [1.0]])
    first, second = (collection_extent(many.picture(0.0, case=k)) for k in (0, 1))
    assert abs(first[2] - second[2]) > 0.1


def test_a_mode_has_ghosts_and_reactions_have_arrows() -> None:
    modes = kn.modes(FOURBAR, kn.equilibrium(FOURBAR))
    axes = modes.picture(0)
    assert len([c for c in axes.collections if c.get_zorder() == 2]) == 4
    assert axes.get_title() == f"fourbar: mode 1, {modes.eigenvalues[0].real:.4g} 1/s"
    plt.close(axes.figure)
    hung = kn.reactions(PENDULUM, kn.statics(PENDULUM, {"q": 0.0}))
    axes = hung.picture()
    assert [text.get_text() for text in axes.texts] == ["bob 9.81 N"]
    plt.close(axes.figure)
    with pytest.raises(kn.ArgumentError, match=r"expected reactions in the axes of the ground to draw, found 'bob'"):
        kn.reactions(PENDULUM, kn.statics(PENDULUM, {"q": 0.0}), frame="bob").picture()


def test_a_mode_turns_what_has_a_quaternion() -> None:
    top = kn.loads("gravity 9.81; A | Ball(b) = 1, 1, 1, 1, com = (0, 0, -1);")
    axes = kn.modes(top, kn.equilibrium(top)).picture(-1)
    assert len([c for c in axes.collections if c.get_zorder() == 2]) == 4
    plt.close(axes.figure)


def test_what_cannot_be_drawn_is_said() -> None:
    run = kn.simulate(PENDULUM, 1.0)
    with pytest.raises(kn.ArgumentError, match=r"Run of 'pendulum': expected a time from 0 to 1 s, found 2 s\."):
        run.picture(2.0)
    with pytest.raises(kn.ArgumentError, match=r"it comes from a file and knows no model to draw"):
        dataclasses.replace(run, system=None).picture()
    with pytest.raises(kn.ArgumentError, match=r"Expected a direction of three numbers for towards"):
        PENDULUM.picture(towards=3)
    with pytest.raises(kn.ArgumentError, match=r"Expected axes of Matplotlib for ax, found 3\."):
        PENDULUM.picture(ax=3)
    with pytest.warns(kn.KinetaWarning, match=r"Shown as given: Model 'fourbar'"):
        plt.close(FOURBAR.picture(p={"a": 10.0}).figure)


@pytest.mark.slow
def test_a_film_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = kn.simulate(PENDULUM, 0.2)
    run.animate(tmp_path / "run.gif", progress=False)
    from PIL import Image

    film = Image.open(io.BytesIO((tmp_path / "run.gif").read_bytes()))
    assert film.n_frames == 4
    for path, speed, message in (
        ("run.avi", 1.0, r"Expected a film \(.mp4, .webm, .gif or .glb\), found 'run.avi'\."),
        ("run.gif", 0.0, r"expected a film of up to 600 s"),
        ("nowhere/run.gif", 1.0, r"there is no folder"),
    ):
        with pytest.raises(kn.ArgumentError, match=message):
            run.animate(tmp_path / path, speed=speed)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(kn.MissingPackageError, match=r"imageio-ffmpeg.*kineta\[show\]"):
        run.animate(tmp_path / "run.mp4")
    assert [p.name for p in tmp_path.iterdir()] == ["run.gif"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_films_of_ffmpeg(tmp_path: Path, suffix: str) -> None:
    kn.simulate(PENDULUM, 0.2).animate(tmp_path / f"run{suffix}", progress=False)
    assert (tmp_path / f"run{suffix}").stat().st_size > 2000


def test_arrows_of_forces_are_within_their_picture_and_rounding_is_none() -> None:
    text = (
        "model m;\nparameters free = 1;\nB | Sx(x), Sy(y) = 1;\npoint top on ground = (0, 0, 0);\n"
        "spring leg = 1000, free between top and B;\nshow force of leg;\ninitial x = 1.1, y = 0.3;\n"
    )
    system = kn.loads(text)
    axes = system.picture()
    low, high = axes.get_ylim()
    (label,) = axes.texts
    assert label.get_text() == "leg 140 N"
    assert low < label.xy[1] < high
    length = float(np.hypot(1.1, 0.3))
    assert not system.picture(p={"free": np.nextafter(length, 2.0)}).texts
