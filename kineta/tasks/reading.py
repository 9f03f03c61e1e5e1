"""Runs from files: what a file declares is checked before it is read, and what it holds before it is believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import MissingPackageError, ModelError
from kineta.files import path_of
from kineta.tasks.result import Result

if TYPE_CHECKING:
    import h5py

FloatArray = NDArray[np.float64]

#: Bytes that a file may have.
LIMIT = 2**32


class UnfitError(Exception):
    """Why a file is no run."""


def load_result(path: str | Path) -> Result:
    """The run in a file that :meth:`Result.save` wrote, all but ``sol``. Raises :class:`ModelError` for any other file."""
    file = path_of(path, "the path of a saved run")
    try:
        import h5py
    except ImportError:
        raise MissingPackageError("h5py", "xarray") from None
    try:
        if not file.is_file():
            raise ModelError(f"{file}: there is no such file.")
        if file.stat().st_size > LIMIT:
            raise UnfitError(f"it has {file.stat().st_size} bytes, more than {LIMIT}")
        with h5py.File(file, "r") as data:
            return _run(data)
    except (UnfitError, OSError, RuntimeError, TypeError, ValueError, KeyError) as error:  # those of HDF5 too
        raise ModelError(f"{file}: expected a run saved by kineta as NetCDF ({error}).") from None


def _run(file: h5py.File) -> Result:
    """The inverse of :meth:`Result.to_xarray`."""
    attributes = _attributes(file)
    names = _names(file, "coordinate"), _names(file, "speed")
    nq, nv = map(len, names)
    if len({*names[0], *names[1]}) < nq + nv:
        raise UnfitError("two of its coordinates and speeds have the same name")
    k = _declared(file, "time").shape[0]
    t = _numbers(file, "time", (k,), finite=True)
    steps = np.diff(t)
    if not ((steps > 0).all() or (steps < 0).all()):
        raise UnfitError("its times are in no order")
    q, v = _numbers(file, "q", (k, nq), finite=True), _numbers(file, "v", (k, nv), finite=True)
    events = [_event(file, i, nq + nv) for i in range(len(attributes["event_names"]))]
    prefix = "output."
    fields: dict[str, Any] = {
        **attributes,
        **{name: _numbers(file, name, (k,)) for name in ("kinetic_energy", "potential_energy", "work")},
    }
    return Result(
        t=t,
        y=np.vstack([q.T, v.T]),
        q_names=names[0],
        v_names=names[1],
        outputs={n.removeprefix(prefix): _numbers(file, n, (k,)) for n in file if n.startswith(prefix)},
        t_events=tuple(e[0] for e in events),
        y_events=tuple(e[1] for e in events),
        **fields,
    )


def _event(file: h5py.File, i: int, states: int) -> tuple[FloatArray, FloatArray]:
    """Times and states of an event."""
    m = _declared(file, f"event{i}.t").shape[0]
    return (
        _numbers(file, f"event{i}.t", (m,), finite=True),
        _numbers(file, f"event{i}.y", (m, states), finite=True),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _by_name(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(kind, value.values()))


#: What is JSON in the file, and what each is.
_ATTRIBUTES: Mapping[str, Callable[[object], bool]] = {
    "model": _is_text,
    "method": _is_text,
    "message": _is_text,
    "status": _is_count,
    "nfev": _is_count,
    "steps": _is_count,
    "rejected": _is_count,
    "seconds": _is_number,
    "energy_balance": _is_number,
    "parameters": _by_name(_is_number),
    "units": _by_name(_is_text),
    "event_names": lambda value: isinstance(value, list) and all(map(_is_text, value)),
}


def _attributes(file: h5py.File) -> dict[str, Any]:
    """The fields of a result that are no arrays."""
    text = file.attrs.get("kineta")
    if not isinstance(text, str):
        raise UnfitError("it has no attribute 'kineta'")
    try:
        found = json.loads(text)
    except RecursionError:
        raise UnfitError("the attribute 'kineta' is nested too deep") from None
    if not isinstance(found, dict):
        raise UnfitError("the attribute 'kineta' is no object of JSON")
    for name, fits in _ATTRIBUTES.items():
        if name not in found:
            raise UnfitError(f"it has no '{name}'")
        if not fits(found[name]):
            raise UnfitError(f"'{name}' is of another kind than a run has")
    return {name: found[name] for name in _ATTRIBUTES} | {"event_names": tuple(found["event_names"])}


def _declared(file: h5py.File, name: str) -> h5py.Dataset:
    """The array *name*, of one axis or more, if the file itself holds all of it."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink) or not isinstance(file[name], h5py.Dataset):
        raise UnfitError(f"it has no '{name}'")
    found = file[name]
    if not found.shape:
        raise UnfitError(f"'{name}' is no array")
    if found.is_virtual or found.external or found.id.get_storage_size() < found.nbytes:
        raise UnfitError(f"'{name}' is not in the file, or not all of it")
    return found


def _numbers(file: h5py.File, name: str, shape: tuple[int, ...], *, finite: bool = False) -> FloatArray:
    """The array *name* of the *shape* that it must have."""
    found = _declared(file, name)
    if found.dtype != np.float64:
        raise UnfitError(f"'{name}' holds {found.dtype}, expected float64")
    if found.shape != shape:
        raise UnfitError(f"'{name}' has the shape {found.shape}, expected {shape}")
    values = found[()]
    if finite and not np.isfinite(values).all():
        raise UnfitError(f"'{name}' is not finite")
    return values  # type: ignore[no-any-return]


def _names(file: h5py.File, name: str) -> tuple[str, ...]:
    """The names in the array *name*."""
    import h5py

    found = _declared(file, name)
    if found.ndim != 1 or h5py.check_string_dtype(found.dtype) is None:
        raise UnfitError(f"'{name}' holds {found.dtype}, expected a row of names")
    return tuple(found.asstr()[()])
