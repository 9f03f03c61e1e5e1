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
from kineta.tasks.cases import COUNTS, TOLD, Cases
from kineta.tasks.digest import digest
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
            raise ModelError(f"{file}: {_no_file(file)}.")
        if file.stat().st_size > LIMIT:
            raise UnfitError(f"it has {file.stat().st_size} bytes, more than {LIMIT}")
        with h5py.File(file, "r") as data:
            return _unchanged(_run(data), data.attrs.get("digest"))
    except (UnfitError, OSError, RuntimeError, TypeError, ValueError, KeyError) as error:  # those of HDF5 too
        raise ModelError(f"{file}: expected a run saved by kineta as NetCDF ({error}).") from None


def _no_file(path: Path) -> str:
    if not path.exists():
        return "there is no such file"
    return f"expected a run saved by kineta as NetCDF, found {'a folder' if path.is_dir() else 'a device or a pipe'}"


def _unchanged(run: Result, kept: object) -> Result:
    """*run*, if it is the one of which the digest was *kept*."""
    if not isinstance(kept, str):
        raise UnfitError("it has no attribute 'digest', by which changed numbers are known")
    if digest(run) != kept:
        raise UnfitError("its numbers or names are not those that were saved")
    return run


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
    if not ((steps >= 0).all() or (steps <= 0).all()):
        raise UnfitError("its times are in no order")
    cases = _cases(file, k, len(attributes["event_names"])) if "case.status" in file else None
    lead = () if cases is None else (len(cases),)
    reached = np.ones(k, dtype=bool) if cases is None else np.arange(k) < cases.recorded[:, None]
    higher = _names(file, "level") if "levels" in file else ()
    blocks = (("q", nq), ("v", nv), *((("levels", len(higher)),) if higher else ()))
    states = [_numbers(file, n, (*lead, k, size), finite=reached) for n, size in blocks]
    events = [_event(file, i, nq + nv + len(higher)) for i in range(len(attributes["event_names"]))]
    output = "output."
    for name, value in attributes["parameters"].items():
        if value is None:  # one for every case
            attributes["parameters"][name] = _numbers(file, f"parameter.{name}", (*lead,))[:, None]
    fields: dict[str, Any] = {
        **attributes,
        **{name: _numbers(file, name, (*lead, k)) for name in ("kinetic_energy", "potential_energy", "work")},
    }
    return Result(
        t=t,
        y=np.ascontiguousarray(np.swapaxes(np.concatenate(states, axis=-1), -1, -2)),
        q_names=names[0],
        v_names=names[1],
        level_names=higher,
        outputs={n.removeprefix(output): _numbers(file, n, (*lead, k)) for n in file if n.startswith(output)},
        t_events=tuple(e[0] for e in events),
        y_events=tuple(e[1] for e in events),
        cases=cases,
        **fields,
    )


def _cases(file: h5py.File, k: int, events: int) -> Cases:
    """The inverse of :meth:`Cases.variables`, for *k* times."""
    lead = _declared(file, "case.status").shape
    if len(lead) != 1:
        raise UnfitError("'case.status' is no row")
    names, messages = _names(file, "series"), _names(file, "case.message")
    if len(messages) != lead[0]:
        raise UnfitError(f"'case.message' has the shape {(len(messages),)}, expected {lead}")
    end = _numbers(file, "case.end", (*lead, len(names)))
    counts = {name: _numbers(file, f"case.{name}", lead, np.int64) for name in COUNTS}
    told = {name: tuple(_told(name, text) for text in _names(file, f"case.{name}")) for name in TOLD}
    if wrong := [name for name, rows in told.items() if len(rows) != lead[0]]:
        raise UnfitError(f"'case.{wrong[0]}' has the shape {(len(told[wrong[0]]),)}, expected {lead}")
    of_events = []
    for i in range(events):
        found = _numbers(file, f"event{i}.case", _declared(file, f"event{i}.t").shape, np.int64)
        if ((found < 0) | (found >= lead[0])).any():
            raise UnfitError(f"'event{i}.case' holds cases that there are not")
        of_events.append(found)
    if ((counts["recorded"] < 0) | (counts["recorded"] > k)).any():
        raise UnfitError("'case.recorded' holds more times than there are")
    return Cases(
        **counts,
        changes=told["changes"],
        notes=told["notes"],
        messages=messages,
        t=_numbers(file, "case.t", lead),
        end=dict(zip(names, end.T, strict=True)),
        energy_balance=_numbers(file, "case.energy_balance", lead),
        events=tuple(of_events),
    )


def _told(name: str, text: str) -> Any:
    """What is told of a case."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise UnfitError(f"'case.{name}' is nested too deep") from None
    if not _ATTRIBUTES[name](found):
        raise UnfitError(f"'case.{name}' is of another kind than a run has")
    return _frozen(found)


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


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_change(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_number(value[0]) and _is_text(value[1])


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
    "residual": _is_number,
    "parameters": _by_name(lambda value: value is None or _is_number(value)),
    "units": _by_name(_is_text),
    "event_names": _is_texts,
    "notes": _is_texts,
    "changes": lambda value: isinstance(value, list) and all(map(_is_change, value)),
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
    return {name: _frozen(found[name]) for name in _ATTRIBUTES}


def _frozen(value: object) -> object:
    """*value* with tuples for lists, all the way down."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


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


def _numbers(
    file: h5py.File,
    name: str,
    shape: tuple[int, ...],
    kind: type[np.generic] = np.float64,
    *,
    finite: bool | NDArray[np.bool_] = False,
) -> Any:
    """The array *name* of the *shape* that it must have, with numbers that are *finite*, or those whose first axes say so."""
    found = _declared(file, name)
    if found.dtype != kind:
        raise UnfitError(f"'{name}' holds {found.dtype}, expected {kind.__name__}")
    if found.shape != shape:
        raise UnfitError(f"'{name}' has the shape {found.shape}, expected {shape}")
    values = found[()]
    if not np.isfinite(values[finite]).all():
        raise UnfitError(f"'{name}' is not finite")
    return values


def _names(file: h5py.File, name: str) -> tuple[str, ...]:
    """The names in the array *name*."""
    import h5py

    found = _declared(file, name)
    if found.ndim != 1 or h5py.check_string_dtype(found.dtype) is None:
        raise UnfitError(f"'{name}' holds {found.dtype}, expected a row of names")
    return tuple(found.asstr()[()])
