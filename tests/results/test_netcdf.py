"""Files that are no runs, are damaged, or were made to do harm: a sentence for each, and nothing is loaded."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray

import kineta as kn
from tests.models import PENDULUM

q = kn.symbol("q")


@cache
def whole() -> kn.Result:
    return kn.simulate(PENDULUM, 0.5, samples=5, events=[kn.event(q, name="low")], q=[0.1])


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a run."""
    file = tmp_path_factory.mktemp("whole") / "run.nc"
    whole().save(file)
    return file.read_bytes()


def stored(name: str, value: object) -> Callable[[Any], object]:
    """An edit that puts *value* in the place of an array."""

    def edit(data: Any) -> None:
        del data[name]
        data[name] = value

    return edit


def declared(name: str, shape: tuple[int, ...], **more: object) -> Callable[[Any], object]:
    """An edit that declares an array and does not fill it."""

    def edit(data: Any) -> None:
        del data[name]
        data.create_dataset(name, shape, np.float64, **more)

    return edit


def attribute(**changes: object) -> Callable[[Any], object]:
    """An edit of what is JSON."""

    def edit(data: Any) -> None:
        data.attrs["kineta"] = json.dumps(json.loads(data.attrs["kineta"]) | changes)

    return edit


def written(text: object) -> Callable[[Any], object]:
    """An edit that replaces all JSON by *text*."""
    return lambda data: data.attrs.__setitem__("kineta", text)


def linked(link: object) -> Callable[[Any], object]:
    def edit(data: Any) -> None:
        del data["work"]
        data["work"] = link

    return edit


HUGE = 10**12
NAMES = np.array(["q"], dtype=h5py.string_dtype())

DAMAGES: list[tuple[Callable[[Any], object], str]] = [
    (lambda data: data.attrs.__delitem__("kineta"), "it has no attribute 'kineta'"),
    (written(np.arange(3)), "it has no attribute 'kineta'"),
    (lambda data: data.attrs.__delitem__("digest"), "it has no attribute 'digest', by which changed numbers are known"),
    (lambda data: data["q"].write_direct(np.ones((5, 1))), "its numbers or names are not those that were saved"),
    (attribute(model="Other"), "its numbers or names are not those that were saved"),
    (stored("speed", np.array(["w"], dtype=h5py.string_dtype())), "its numbers or names are not those that were saved"),
    (written("]"), r"Expecting value: line 1 column 1 \(char 0\)"),
    (written("[" * 100_000), "the attribute 'kineta' is nested too deep"),
    (written("[1, 2]"), "the attribute 'kineta' is no object of JSON"),
    (written("{}"), "it has no 'model'"),
    (attribute(model=3), "'model' is of another kind than a run has"),
    (attribute(nfev=True), "'nfev' is of another kind than a run has"),
    (attribute(parameters=["l"]), "'parameters' is of another kind than a run has"),
    (attribute(parameters={"l": "1"}), "'parameters' is of another kind than a run has"),
    (attribute(units={"q": 1}), "'units' is of another kind than a run has"),
    (attribute(event_names=["low", 2]), "'event_names' is of another kind than a run has"),
    (attribute(event_names=["low", "high"]), r"it has no 'event1\.t'"),
    (lambda data: data.__delitem__("potential_energy"), "it has no 'potential_energy'"),
    (linked(h5py.SoftLink("/kinetic_energy")), "it has no 'work'"),
    (linked(h5py.ExternalLink("other.nc", "/work")), "it has no 'work'"),
    (lambda data: (data.__delitem__("work"), data.create_group("work")), "it has no 'work'"),
    (stored("work", 1.0), "'work' is no array"),
    (stored("time", 1.0), "'time' is no array"),
    (stored("work", np.zeros(4)), r"'work' has the shape \(4,\), expected \(5,\)"),
    (stored("q", np.zeros((1, 5))), r"'q' has the shape \(1, 5\), expected \(5, 1\)"),
    (stored("work", np.zeros(5, np.float32)), "'work' holds float32, expected float64"),
    (stored("work", np.zeros(5, complex)), "'work' holds complex128, expected float64"),
    (stored("time", np.array([0.0, 1.0, np.nan, 3.0, 4.0])), "'time' is not finite"),
    (stored("time", np.array([0.0, 1.0, 3.0, 2.0, 4.0])), "its times are in no order"),
    (stored("v", np.full((5, 1), np.inf)), "'v' is not finite"),
    (stored("coordinate", np.zeros(1)), "'coordinate' holds float64, expected a row of names"),
    (stored("speed", NAMES), "two of its coordinates and speeds have the same name"),
    (declared("time", (HUGE,)), "'time' is not in the file, or not all of it"),
    (declared("q", (HUGE, HUGE // 10**6)), "'q' is not in the file, or not all of it"),
    (declared("time", (HUGE,), chunks=(1000,), compression="gzip"), "'time' is not in the file, or not all of it"),
    (declared("time", (5,), external=[("/dev/zero", 0, 40)]), "'time' is not in the file, or not all of it"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "why"), DAMAGES)
def test_what_a_file_holds_is_checked_whole(
    edit: Callable[[Any], object], why: str, content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "run.nc"
    file.write_bytes(content)
    with h5py.File(file, "r+") as data:
        edit(data)
    with pytest.raises(kn.ModelError, match=rf"run\.nc: expected a run saved by kineta as NetCDF \({why}\)\.$"):
        kn.load_result(file)


def test_other_files_get_a_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "cut.nc").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.nc").write_text("hello")
    (tmp_path / "empty.nc").touch()
    xarray.Dataset({"a": ("x", [1.0, 2.0])}).to_netcdf(tmp_path / "foreign.nc", engine="h5netcdf")
    with (tmp_path / "endless.nc").open("wb") as file:
        os.truncate(file.fileno(), 2**40)
    for name, why in {
        "cut": "truncated file",
        "text": "file signature not found",
        "empty": "file signature not found",
        "foreign": "it has no attribute 'kineta'",
        "endless": "it has 1099511627776 bytes, more than 4294967296",
    }.items():
        with pytest.raises(kn.ModelError, match=rf"{name}\.nc: expected a run saved by kineta as NetCDF \(.*{why}"):
            kn.load_result(tmp_path / f"{name}.nc")
    found = "expected a run saved by kineta as NetCDF, found"
    for path, why in {
        tmp_path / "missing.nc": "there is no such file",
        tmp_path: f"{found} a folder",
        Path("/dev/zero"): f"{found} a device or a pipe",
    }.items():
        with pytest.raises(kn.ModelError, match=f"{why}.$"):
            kn.load_result(path)


@pytest.mark.slow
def test_a_damaged_file_is_the_same_run_or_is_refused(content: bytes, tmp_path: Path) -> None:
    chance, refused = random.Random(0), 0
    for size in [1] * 50 + [40] * 50:
        changed = bytearray(content)
        at = chance.randrange(len(changed) - size)
        changed[at : at + size] = [b ^ 1 << chance.randrange(8) for b in changed[at : at + size]]
        (tmp_path / "run.nc").write_bytes(changed)
        try:
            found = kn.load_result(tmp_path / "run.nc")
        except kn.ModelError:
            refused += 1
        else:
            assert all(np.array_equal(found[name], whole()[name]) for name in ("t", *whole().series))
            assert (found.units, found.message, found.parameters) == (
                whole().units,
                whole().message,
                whole().parameters,
            )
    assert 0 < refused < 100


@pytest.mark.parametrize(
    ("path", "found"),
    [(None, "None"), (3, "3"), (b"run.nc", "b'run.nc'"), ("a\0b.nc", r"'a\x00b.nc', which no file can be called")],
)
def test_a_path_is_a_path(path: Any, found: str) -> None:
    with pytest.raises(kn.ArgumentError) as raised:
        kn.load_result(path)
    assert str(raised.value) == f"Expected the path of a saved run, found {found}."
