"""The texts that an editor has open, and what it asks of them: problems, meanings of names, completions, renaming."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from kineta.algebra.expression import symbol
from kineta.editors import words
from kineta.editors.diagnostics import Diagnosis, diagnose, parsed
from kineta.editors.names import (
    CONDITIONS,
    ELEMENTS,
    FRAMES,
    FUNCTIONS,
    LOCAL,
    PREFIXES,
    VARIABLES,
    Declaration,
    Entity,
    Names,
    Occurrence,
    key,
)
from kineta.errors import KinetaError, KinetaWarning, ModelError
from kineta.model import units, vectors
from kineta.model.axis import LETTERS
from kineta.model.dimensions import expression_units
from kineta.model.io import kin_reader
from kineta.model.io.text_file import read_text
from kineta.model.reserved_symbols import LETTER, MULTIPLIER
from kineta.model.system import System
from kineta.records import dataclass

#: The most files beside a model that are searched for names.
_FILES = 200
#: Letters of the longest statement that is shown.
_SHOWN = 300
_NAME = re.compile(rf"(?!\d){LETTER}+")
_WORD = re.compile(rf"[\w{units.LETTERS}]+(?:\[[^\[\]\n]*\])*(?:\.{LETTER}+(?:\[[^\[\]\n]*\])*)*'*")
_WITH_UNIT = re.compile(rf"(?<![\w.'\]])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ \t]*({units.PATTERN})")
_BEHIND_NUMBER = re.compile(rf"(?<![\w.'])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ \t]*[{units.LETTERS}*/·^0-9]*$")


@dataclass(frozen=True, slots=True)
class Edit:
    """A *text* in place of the characters from *start* to *end*."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Completion:
    """A *label* that may stand here, what it is, its *group*, and a line about it."""

    label: str
    group: str
    detail: str = ""


class Documents:
    """The open texts by their files, over those on disk."""

    def __init__(self) -> None:
        self.open: dict[Path, str] = {}
        self._names: dict[Path, Names | None] = {}
        self._diagnoses: dict[Path, Diagnosis] = {}

    # -- texts ------------------------------------------------------------------------------------------------------------

    def put(self, path: Path, text: str) -> None:
        """Open the *text* of a file, or change it."""
        self.open[_resolved(path)] = text
        self.forget()

    def close(self, path: Path) -> None:
        """Close the text of a file: what is on disk counts again."""
        self.open.pop(_resolved(path), None)
        self.forget()

    def forget(self) -> None:
        """Discard cached names and diagnoses, since texts have changed."""
        self._names.clear()
        self._diagnoses.clear()

    def text(self, path: Path) -> str:
        """The text of a file. Raises :class:`ModelError` for one that cannot be read."""
        known = self.open.get(_resolved(path))
        return read_text(path) if known is None else known

    def names(self, path: Path) -> Names | None:
        """The names of the text of a file; None for one that cannot be read, or that is being read."""
        own = _resolved(path)
        if own not in self._names:
            self._names[own] = None
            with suppress(KinetaError):
                text = self.text(own)
                found = parsed(text, str(own))
                if found.tree is not None:
                    self._names[own] = Names(str(own), text, found.grammar, found.tree, self.names)
        return self._names[own]

    def diagnosis(self, path: Path) -> Diagnosis:
        """What the checker says of the text of a file."""
        own = _resolved(path)
        if own not in self._diagnoses:
            self._diagnoses[own] = diagnose(self.text(own), str(own), self.text)
        return self._diagnoses[own]

    # -- names ------------------------------------------------------------------------------------------------------------

    def definition(self, path: Path, offset: int) -> tuple[Path, Declaration] | None:
        """The file and the statement in which the name at an *offset* is described."""
        found = self._at(path, offset)
        return None if found is None else self._description(found.entity)

    def _description(self, entity: Entity) -> tuple[Path, Declaration] | None:
        own = self.names(Path(entity.file))
        found = next((d for d in own.descriptions if d.entity == entity), None) if own is not None else None
        return None if found is None else (Path(entity.file), found)

    def _at(self, path: Path, offset: int) -> Occurrence | None:
        names = self.names(path)
        return None if names is None else names.at(offset)

    def references(self, path: Path, offset: int) -> list[tuple[Path, Occurrence]]:
        """All places at which the name at an *offset* stands, in all files of its model."""
        found = self._at(path, offset)
        return [] if found is None else list(self._everywhere(path, found.entity))

    def _everywhere(self, path: Path, entity: Entity) -> Iterator[tuple[Path, Occurrence]]:
        if entity.group == LOCAL:
            names = self.names(path)
            yield from ((_resolved(path), o) for o in (names.of(entity) if names is not None else ()))
            return
        for own in self._model_files(path, Path(entity.file)):
            names = self.names(own)
            yield from ((own, o) for o in (names.of(entity) if names is not None else ()))

    def _model_files(self, *paths: Path) -> list[Path]:
        """Files that may name what those of *paths* describe: themselves, open ones, and those in the same folders."""
        found = dict.fromkeys(_resolved(p) for p in paths)
        found |= dict.fromkeys(self.open)
        for folder in dict.fromkeys(p.parent for p in [*found]):
            with suppress(OSError):
                beside = sorted(p for p in folder.iterdir() if p.suffix == ".kin")
                found |= dict.fromkeys(map(_resolved, beside[:_FILES]))
        return list(found)

    def symbols(self, path: Path) -> list[Declaration]:
        """What the text of a file describes, in its order."""
        names = self.names(path)
        return [] if names is None else names.descriptions

    # -- renaming ---------------------------------------------------------------------------------------------------------

    def nameable(self, path: Path, offset: int) -> Occurrence:
        """The name at an *offset* that may be changed. Raises :class:`ModelError` where there is none."""
        found = self._at(path, offset)
        if found is None:
            raise ModelError(
                "there is no name of the model here; names of bodies, points, parameters and the like can be changed."
            )
        return found

    def renamed(self, path: Path, offset: int, name: str) -> dict[Path, list[Edit]]:
        """The changes by which the thing named at an *offset* gets another *name*, in all files of its model.

        Raises :class:`ModelError` for a name that cannot be, that is taken, or by which a model would be another one.
        """
        entity = self.nameable(path, offset).entity
        if not _NAME.fullmatch(name):
            raise ModelError(f"expected a name of letters, digits and '_', not starting with a digit, found '{name}'.")
        if name in (*words.keywords(), *words.clauses(), *words.symbols(), *words.functions(), *vectors.KINDS):
            raise ModelError(f"'{name}' is a word of the language; choose another name.")
        edits: dict[Path, list[Edit]] = {}
        for own, place in self._everywhere(path, entity):
            edits.setdefault(own, []).append(Edit(place.start, place.end, name))
        for own in edits:
            names = self.names(own)
            for other in {o.entity for o in names.occurrences} if names is not None else ():
                beside = other.file == entity.file and other != entity  # names of another file have a prefix here
                if beside and other.name.partition("@")[0].replace("[]", "") == name:
                    raise ModelError(
                        f"the name '{name}' is taken by {_kind(other)} in '{own.name}'; choose another name."
                    )
        self._stays(edits)
        return edits

    def _stays(self, edits: Mapping[Path, list[Edit]]) -> None:
        """Raise where a model that can be read would not stay as it is with these *edits*."""
        after = Documents()
        after.open = {**self.open, **{own: _edited(self.text(own), changes) for own, changes in edits.items()}}
        for own in edits:
            before = self.diagnosis(own)
            if before.system is None or any(p.severity == "error" for p in before.problems):
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", KinetaWarning)
                    system = kin_reader.read(after.text(own), str(own), text_of=after.text)
            except ModelError as error:
                raise ModelError(f"with this name the model cannot be read: {error}") from None
            if _counts(system) != _counts(before.system):
                raise ModelError(
                    "with this name the model is another one, for it infers coordinates by their names; list them first: "
                    "coordinates ...;"
                )

    # -- meanings ---------------------------------------------------------------------------------------------------------

    def hover(self, path: Path, offset: int) -> tuple[int, int, str] | None:
        """The range of the word at an *offset*, and what it means, as Markdown; None where there is nothing to say."""
        text = self.text(path)
        found = self._at(path, offset)
        word = _word_at(text, offset)
        if found is None:
            if word is None:
                return None
            start, end, name = word
            if (unit := _unit_at(text, offset)) is not None:
                return unit
            line = words.meaning(name)
            if not line and (told := self._told(path, name)):
                line = f"**{told[0] or 'part'}** `{name}`{told[1]}"
            return (start, end, line) if line else None
        start = word[0] if word is not None and word[0] <= found.start else found.start
        end = found.end + len(text[found.end :]) - len(text[found.end :].lstrip("'"))
        whole = text[start:end]
        kind, value = self._told(path, whole) or self._told(Path(found.entity.file), found.entity.name) or ("", "")
        lines = [f"**{kind or found.entity.kind}** `{whole}`{value}"]
        described = self._description(found.entity)
        if described is not None:
            own, where = described
            statement = " ".join(self.text(own)[where.start : where.end].split())
            file = "" if own == _resolved(path) else f"\n\nin `{own.name}`"
            lines.append(f"```kin\n{statement[:_SHOWN]}{' ...' * (len(statement) > _SHOWN)}\n```{file}")
        return found.start, end, "\n\n".join(lines)

    def _told(self, path: Path, name: str) -> tuple[str, str] | None:
        """What the *name* is in the model of a file, and its unit and value; None where the model does not know it."""
        with suppress(KinetaError):
            system = self.diagnosis(path).system
            return None if system is None else _told(system, name)
        return None

    # -- completion -------------------------------------------------------------------------------------------------------

    def completions(self, path: Path, offset: int) -> list[Completion]:
        """What may stand at an *offset*."""
        text = self.text(path)
        line = text[text.rfind("\n", 0, offset) + 1 : offset]
        if "#" in line or line.count('"') % 2:
            return []
        names = self.names(path)
        behind = re.search(rf"((?:{LETTER}|[\[\].])+|\))\.{LETTER}*$", line)
        if behind is not None:
            return list(_components() if behind[1] == ")" else self._members(names, behind[1]))
        if _BEHIND_NUMBER.search(line) and line[-1:] not in "0123456789.":
            return [Completion(unit, "unit", words.unit_meaning(unit)) for unit in units.UNITS]
        found = [Completion(w, "word", words.meaning(w)) for w in (*words.keywords(), *words.clauses())]
        found += [
            Completion(w, "function", words.meaning(w)) for w in (*words.functions(), *vectors.KINDS, *words.motions())
        ]
        found += [Completion(w, "constant", words.meaning(w)) for w in words.symbols()]
        groups = (FRAMES, VARIABLES, FUNCTIONS, PREFIXES)
        if names is not None:
            found += [Completion(e.name.replace("[]", ""), e.group, e.kind) for e in names.entities(*groups)]
            found += [Completion(w, LOCAL, "index or argument") for w in _locals(names, offset)]
        return _once(found)

    def _members(self, names: Names | None, owner: str) -> Iterator[Completion]:
        """What may stand behind *owner* and a dot."""
        if names is None:
            return
        if f"{owner}." == MULTIPLIER:
            yield from (Completion(e.name, e.group, e.kind) for e in names.entities(CONDITIONS, ELEMENTS))
            return
        if owner.startswith(MULTIPLIER):
            of = (e for e in names.entities(CONDITIONS, ELEMENTS) if e.name == key(owner[len(MULTIPLIER) :]))
            kind = next((e.kind for e in of), "")
            yield from (Completion(w, "member", "part of the force") for w in words.FORCE_PARTS.get(kind, ()))
            return
        name = key(owner)
        used: Names | None = names
        while used is not None and (
            prefix := next((p for p in used.used if name == p or name.startswith(f"{p}.")), None)
        ):
            used, name = used.used[prefix], name[len(prefix) + 1 :]
            if not name:
                inner = used.entities(FRAMES, VARIABLES, PREFIXES) if used is not None else ()
                yield from (Completion(e.name.replace("[]", ""), e.group, e.kind) for e in inner)
                yield Completion("ground", FRAMES, "the ground of the model")
                return
        if used is None:
            return
        if name in used.joints:
            for own, unit in words.coordinates(used.joints[name]):
                yield Completion(own, VARIABLES, f"[{unit}]" if unit != "1" else "")
        if name in used.tables.get(FRAMES, {}):
            for member in words.MEMBERS:
                yield Completion(member, "member", words.member_meaning(member))
        named = used.tables.get(VARIABLES, {}).get(name)
        if named is not None and named.kind == "named expression":  # which may be a vector
            yield from _components()


def _components() -> Iterator[Completion]:
    """The components of a vector."""
    yield from (Completion(w, "member", "component of a vector") for w in LETTERS)


def _told(system: System, name: str) -> tuple[str, str] | None:
    """What the *name* is in a *system*, "" where its statement says so, and its unit and value; None for an unknown one."""
    parameter = next((p for p in system.parameters if p.name == name), None)
    if parameter is not None:
        unit = units.symbol(parameter.dimension) if parameter.dimension is not None else ""
        value = "without a value" if parameter.value is None else f"{parameter.value:g}"
        return (
            "constant" if parameter.fixed else "parameter",
            f" = {value}{f' {unit}' if unit not in ('', '1') else ''}",
        )
    kind = _motion(system, name)
    if kind:
        unit = expression_units(system, {name: symbol(name)}).get(name, "")
        return kind, f" [{unit}]" if unit else ""
    let = next((x for x in system.lets if x.name == name), None)
    if let is not None:
        return "named expression", f" = {let.value}"
    body = next((b for b in system.bodies if b.name == name), None)
    if body is not None:
        return "", f" on `{body.base}`"
    place, _, member = name.rpartition(".")
    if member in words.MEMBERS and place in {*(b.name for b in system.bodies), *(x.name for x in system.points)}:
        kind, unit = words.member_meaning(member).split()
        return kind, f" {unit} of `{place}`"
    force = expression_units(system, {name: symbol(name)}).get(name) if name.startswith(MULTIPLIER) else None
    return ("", f" [{force}]") if force else None


def _motion(system: System, name: str) -> str:
    """The kind of a variable of the motion of a *system*, "" for another *name*."""
    states = system.state_names
    kinds = {"state": states, "rate": [f"{n}'" for n in states], "coordinate": system.q_names, "speed": system.speeds}
    kinds |= {"acceleration": [f"{n}'" for n in system.speeds]}
    return next((kind for kind, names in kinds.items() if name in names), "")


def _counts(system: System) -> tuple[int, ...]:
    """Numbers by which a system is told from one in which names were taken otherwise."""
    own = (
        system.bodies,
        system.q_names,
        system.v_names,
        system.parameters,
        system.elements,
        system.outputs,
        system.contacts,
    )
    return tuple(map(len, own))


def _kind(entity: Entity) -> str:
    return f"{'an' if entity.kind[0] in 'aeiou' else 'a'} {entity.kind}"


def _locals(names: Names, offset: int) -> Iterator[str]:
    """Arguments and indices of the statement around an *offset*."""
    start, end = names.text.rfind(";", 0, offset), names.text.find(";", offset)
    for place in names.occurrences:
        if place.entity.group == LOCAL and place.defines and start <= place.start and (end < 0 or place.end <= end):
            yield place.entity.name.partition("@")[0]


def _once(found: Iterable[Completion]) -> list[Completion]:
    """*found* without the second of two with one label."""
    kept: dict[str, Completion] = {}
    for own in found:
        kept.setdefault(own.label, own)
    return list(kept.values())


def _word_at(text: str, offset: int) -> tuple[int, int, str] | None:
    """The word at an *offset* and its range, without indices of another one."""
    line = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    for found in _WORD.finditer(text, line, len(text) if end < 0 else end):
        if found.start() <= offset <= found.end():
            return found.start(), found.end(), found[0]
    return None


def _unit_at(text: str, offset: int) -> tuple[int, int, str] | None:
    """The unit of a number at an *offset*, its range and its meaning."""
    line, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    for found in _WITH_UNIT.finditer(text, line, len(text) if end < 0 else end):
        if found.start(1) <= offset <= found.end(1) and (meaning := words.unit_meaning(found[1])):
            return found.start(1), found.end(1), meaning
    return None


def _edited(text: str, edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, key=lambda e: -e.start):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _resolved(path: Path) -> Path:
    """*path* without links and steps back, of a file that may be gone."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
