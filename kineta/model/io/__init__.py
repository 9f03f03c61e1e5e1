"""Systems from files and text, and back.

The language ``.kin``: ``kin_grammar``, ``kin_quantities``, ``kin_vectors``, ``kin_tables``, ``kin_operations``,
``kin_functions``, ``kin_expressions``, ``kin_source``, ``kin_inertia``, ``kin_loops``, ``kin_diagnostics``, ``statements``,
``kin_reader``, ``kin_writer``, ``kin_units``.
Files: ``text_file``, ``column_headings``, ``point_files``, ``foreign_formats``, ``urdf``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kineta.errors import ArgumentError, ModelError, nearest_or_listed, shown
from kineta.files import path_of
from kineta.model.coercion import named_pairs
from kineta.model.io.foreign_formats import unsupported_format
from kineta.model.io.text_file import is_file, is_folder, read_bytes, read_text
from kineta.model.system import System, a_system
from kineta.values import flag, number, word

_SUFFIXES = (".kin", ".urdf")


def load(
    path: str | Path, *, floating: bool = False, limits: bool = True, constants: Mapping[str, float] | None = None
) -> System:
    """The system in a file: ``.kin`` or ``.urdf``. Raises :class:`ModelError` for an unreadable or inconsistent file.

    *floating* is for URDF, which does not say how the root link stands: True lets it float freely, else it is fixed.
    So is *limits*: False leaves out the limits of joints, and their dry friction. *constants* are other values of the constants
    of a text by name, as for :func:`loads`.
    """
    path, floating = path_of(path, "the path of a model file"), flag("floating", floating)
    limits = flag("limits", limits)
    if path.suffix == ".urdf":
        if constants:
            raise ArgumentError(f"{path}: constants are those of a text in .kin; a robot has none.")
        from kineta.model.io import urdf

        return urdf.read(path, floating=floating, limits=limits)
    if path.suffix != ".kin":
        if is_folder(path):
            raise ModelError(f"{path}: expected a model file ({', '.join(_SUFFIXES)}), found a folder.")
        raise unsupported_format(path, read_bytes(path) if is_file(path) else b"", _SUFFIXES)
    if floating:
        raise ArgumentError(f"{path}: floating=True is for URDF robots; in .kin write a motion Free(name).")
    if not limits:
        raise ArgumentError(
            f"{path}: limits=False is for URDF robots; in .kin leave out the statements limit and friction."
        )
    return loads(read_text(path), str(path), constants=constants)


def loads(text: str, file: str = "<text>", *, constants: Mapping[str, float] | None = None) -> System:
    """The system that a text in the language ``.kin`` describes; *file* is the name shown in errors.

    *constants* are other values of its constants by name, in SI units: they may tell how often its repetitions go round.
    """
    from kineta.model.io import kin_reader

    if not isinstance(text, str):
        raise ArgumentError(f"Expected a text in the language .kin, found {shown(text)}; kineta.load reads a file.")
    given = {name: number(f"constant '{name}'", x) for name, x in named_pairs(constants or {}, "constants", "{'N': 6}")}
    system = kin_reader.read(text, word(file, "a name for the text"), given)
    known = [p.name for p in system.parameters if p.fixed]
    for name in given:
        if name not in known:
            raise ArgumentError(f"Model '{system.name}' has no constant '{name}'.{nearest_or_listed(name, known)}")
    return system


def dumps(system: System) -> str:
    """*system* as text in the language ``.kin``; reading it gives an equal system."""
    from kineta.model.io import kin_writer

    return kin_writer.write(a_system(system))
