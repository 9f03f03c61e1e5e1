"""Runs from NetCDF files: declarations are checked before arrays are read, and arrays before a run is made of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta.arrays import FloatArray, Mask
from kineta.errors import MissingPackageError, ModelError
from kineta.files import path_of
from kineta.results.cases import COUNTS, TOLD, Cases
from kineta.results.fingerprint import digest
from kineta.results.impacts import Impact
from kineta.results.result import Result

if TYPE_CHECKING:
    import h5py


#: Fields missing in runs of earlier versions, with their defaults.
_LATER = "impacts"
UNRECORDED = "the file was saved before impulses of impacts were data of a run: it holds none"
#: Largest size of a file [bytes].
LIMIT = 2**32


class UnfitError(Exception):
    """The reason why a file is no run."""


def load_result(path: str | Path) -> Result:
    """Return the run in a file of :meth:`Result.save`, without ``sol``. Raises :class:`ModelError` for any other file."""
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
            run = _unchanged(_run(data), data.attrs.get("digest"))
            return run if _LATER in json.loads(data.attrs["kineta"]) else replace(run, notes=(*run.notes, UNRECORDED))
    except (UnfitError, OSError, RuntimeError, TypeError, ValueError, KeyError) as error:  # those of HDF5 too
        raise ModelError(f"{file}: expected a run saved by kineta as NetCDF ({error}).") from None


def _no_file(path: Path) -> str:
    if not path.exists():
        return "there is no such file"
    return f"expected a run saved by kineta as NetCDF, found {'a folder' if path.is_dir() else 'a device or a pipe'}"


def _unchanged(run: Result, kept: object) -> Result:
    """Return *run*, if its digest is the one *kept* in the file."""
    if not isinstance(kept, str):
        raise UnfitError("it has no attribute 'digest', by which changed numbers are known")
    if digest(run) != kept:
        raise UnfitError("its numbers or names are not those that were saved")
    return run


def _run(file: h5py.File) -> Result:
    """Return the run of a data set, the inverse of :meth:`Result.to_xarray`."""
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
    attributes["impacts"] = tuple(Impact(*x) for x in attributes["impacts"])
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
    """Return the cases of a data set with *k* times, the inverse of :meth:`Cases.variables`."""
    lead = _declared(file, "case.status").shape
    if len(lead) != 1:
        raise UnfitError("'case.status' is no row")
    names, messages = _names(file, "series"), _names(file, "case.message")
    if len(messages) != lead[0]:
        raise UnfitError(f"'case.message' has the shape {(len(messages),)}, expected {lead}")
    end = _numbers(file, "case.end", (*lead, len(names)))
    counts = {name: _numbers(file, f"case.{name}", lead, np.int64) for name in COUNTS}
    told = {
        name: tuple(_told(name, text) for text in _names(file, f"case.{name}")) for name in TOLD if _has(file, name)
    }
    told.setdefault(_LATER, ((),) * lead[0])
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
        impacts=tuple(tuple(Impact(*x) for x in rows) for rows in told["impacts"]),
        notes=told["notes"],
        messages=messages,
        t=_numbers(file, "case.t", lead),
        end=dict(zip(names, end.T, strict=True)),
        energy_balance=_numbers(file, "case.energy_balance", lead),
        events=tuple(of_events),
        residual=_numbers(file, "case.residual", lead) if "case.residual" in file else (),
    )


def _has(file: h5py.File, name: str) -> bool:
    """Return whether *file* has the variable *name* of its cases, or has to have it."""
    return name != _LATER or f"case.{name}" in file


def _told(name: str, text: str) -> Any:
    """Return the decoded record *name* of a case."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise UnfitError(f"'case.{name}' is nested too deep") from None
    if not _ATTRIBUTES[name](found):
        raise UnfitError(f"'case.{name}' is of another kind than a run has")
    return _frozen(found)


def _event(file: h5py.File, i: int, states: int) -> tuple[FloatArray, FloatArray]:
    """Return times and states of an event."""
    m = _declared(file, f"event{i}.t").shape[0]
    return (_numbers(file, f"event{i}.t", (m,), finite=True), _numbers(file, f"event{i}.y", (m, states), finite=True))


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


def _is_impact(value: object) -> bool:
    if not isinstance(value, list) or len(value) != len(Impact._fields):
        return False
    return _is_text(value[1]) and all(_is_number(x) for x in (value[0], *value[2:]))


def _by_name(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(kind, value.values()))


#: The attributes encoded as JSON, with their types.
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
    "impacts": lambda value: isinstance(value, list) and all(map(_is_impact, value)),
}


def _attributes(file: h5py.File) -> dict[str, Any]:
    """Return the fields of a result other than arrays."""
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
        if name == _LATER:
            found.setdefault(name, [])
        if name not in found:
            raise UnfitError(f"it has no '{name}'")
        if not fits(found[name]):
            raise UnfitError(f"'{name}' is of another kind than a run has")
    return {name: _frozen(found[name]) for name in _ATTRIBUTES}


def _frozen(value: object) -> object:
    """Return *value* with tuples for lists at every depth."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _declared(file: h5py.File, name: str) -> h5py.Dataset:
    """Return the array *name*, of one axis or more, if the file itself holds all of it."""
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
    finite: bool | Mask = False,
) -> Any:
    """Return the array *name* of the given *shape*, with finite numbers where *finite* is True or a mask of leading axes."""
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
    """Return the names in the array *name*."""
    import h5py

    found = _declared(file, name)
    if found.ndim != 1 or h5py.check_string_dtype(found.dtype) is None:
        raise UnfitError(f"'{name}' holds {found.dtype}, expected a row of names")
    return tuple(found.asstr()[()])
