"""The language server ``kineta lsp``: between the protocol, by ``pygls``, and :class:`~kineta.editors.documents.Documents`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from kineta import __version__
from kineta.editors import names
from kineta.editors.documents import Documents
from kineta.editors.formatting import formatted
from kineta.editors.positions import Lines
from kineta.errors import KinetaError, MissingPackageError

#: Seconds without a change after which a text is checked.
PAUSE = 0.15
_SEVERITIES = {"error": "Error", "warning": "Warning", "hint": "Hint"}
_SYMBOLS = {
    names.FRAMES: "Class",
    names.VARIABLES: "Variable",
    names.FUNCTIONS: "Function",
    names.ELEMENTS: "Event",
    names.CONDITIONS: "Interface",
    names.PREFIXES: "Module",
    names.OUTPUTS: "Property",
}
_COMPLETIONS = {
    "word": "Keyword",
    "function": "Function",
    "constant": "Constant",
    "unit": "Unit",
    "member": "Field",
    names.FRAMES: "Class",
    names.FUNCTIONS: "Function",
    names.PREFIXES: "Module",
}


def serve() -> None:
    """Serve an editor on standard input and output until it ends. Raises :class:`MissingPackageError` without ``pygls``."""
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise MissingPackageError("pygls", "lsp") from None
    _Server().start()


class _Server:
    """The server: it answers what editors ask, and tells them the problems of texts a moment after they change."""

    def __init__(self) -> None:
        from lsprotocol import types
        from pygls.lsp.server import LanguageServer

        self.types: Any = types
        # Whole texts are sent: what ends a line differs between the protocol and Python.
        self.server: Any = LanguageServer(
            "kineta", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.documents = Documents()
        self.versions: dict[str, int] = {}
        #: Addresses of open texts, as the editor writes them.
        self.addresses: dict[Path, str] = {}
        self.told: dict[str, set[str]] = {}
        notices: dict[str, Callable[..., Any]] = {
            types.TEXT_DOCUMENT_DID_OPEN: self.opened,
            types.TEXT_DOCUMENT_DID_CHANGE: self.changed,
            types.TEXT_DOCUMENT_DID_SAVE: self.saved,
            types.TEXT_DOCUMENT_DID_CLOSE: self.closed,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self.files_changed,
        }
        for method, heard in notices.items():
            self.server.feature(method)(partial(heard))  # which takes the marks that pygls puts on it
        answers: dict[str, tuple[Callable[..., Any], Any]] = {
            types.TEXT_DOCUMENT_HOVER: (self.hover, None),
            types.TEXT_DOCUMENT_COMPLETION: (self.completion, types.CompletionOptions(trigger_characters=["."])),
            types.TEXT_DOCUMENT_DEFINITION: (self.definition, None),
            types.TEXT_DOCUMENT_REFERENCES: (self.references, None),
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (self.symbols, None),
            types.TEXT_DOCUMENT_PREPARE_RENAME: (self.nameable, None),
            types.TEXT_DOCUMENT_RENAME: (self.rename, types.RenameOptions(prepare_provider=True)),
            types.TEXT_DOCUMENT_FORMATTING: (self.formatting, None),
        }
        for method, (answer, options) in answers.items():
            self.server.feature(method, options)(partial(_said, answer))

    def start(self) -> None:
        """Read from standard input, and write to standard output."""
        self.server.start_io()

    # -- texts ------------------------------------------------------------------------------------------------------------

    async def opened(self, params: Any) -> None:
        """A text was opened."""
        await self._put(params.text_document.uri, params.text_document.text)

    async def changed(self, params: Any) -> None:
        """A text was changed."""
        await self._put(params.text_document.uri, params.content_changes[-1].text)

    async def _put(self, uri: str, text: str) -> None:
        self.addresses[_path(uri).resolve()] = uri
        self.documents.put(_path(uri), text)
        await self._later(uri)

    async def _later(self, uri: str) -> None:
        """Tell the problems of all open texts, for each may use another, if nothing changes for a moment."""
        number = self.versions[uri] = self.versions.get(uri, 0) + 1
        await asyncio.sleep(PAUSE)
        if self.versions.get(uri) == number:
            for own in [uri, *(u for u in self.versions if u != uri)]:
                self._tell(own)

    async def saved(self, params: Any) -> None:
        """A text was saved."""
        self.documents.forget()
        await self._later(params.text_document.uri)

    async def files_changed(self, _: Any) -> None:
        """Files changed beside the editor."""
        self.documents.forget()
        for uri in [*self.versions]:
            self._tell(uri)

    def closed(self, params: Any) -> None:
        """A text was closed."""
        uri = params.text_document.uri
        self.documents.close(_path(uri))
        self.versions.pop(uri, None)
        for own in self.told.pop(uri, {uri}):
            self._publish(own, [])

    def _tell(self, uri: str) -> None:
        """Tell the problems of a text, and those of the files that it uses in these."""
        types, path = self.types, _path(uri)
        if path.resolve() not in self.documents.open:
            return
        text, found = self.documents.text(path), {uri: list[Any]()}
        lines = self._lines(text)
        for problem in self.documents.diagnosis(path).problems:
            span = self._range(lines, problem.start, problem.end)
            severity = getattr(types.DiagnosticSeverity, _SEVERITIES[problem.severity])
            tags = [types.DiagnosticTag.Unnecessary] if problem.severity == "hint" else None
            own = types.Diagnostic(span, problem.sentence, severity=severity, source="kineta", tags=tags)
            found[uri].append(own)
            if problem.location is not None:
                other = self._elsewhere(problem.location, problem.sentence)
                where = self._uri(Path(problem.location.file))
                if other is not None and where not in self.versions:
                    found.setdefault(where, []).append(other)
        for gone in self.told.get(uri, set()) - found.keys():
            self._publish(gone, [])
        self.told[uri] = {*found}
        for own_uri, diagnostics in found.items():
            self._publish(own_uri, diagnostics)

    def _elsewhere(self, location: Any, sentence: str) -> Any:
        """The diagnostic in the file of a *location*; None for a file that cannot be read."""
        try:
            lines = self._lines(self.documents.text(Path(location.file)))
        except KinetaError:
            return None
        at = lines.of(location)
        shown = sentence.replace(f"{Path(location.file).name}:{location.line}:{location.column}: ", "", 1)
        severity = self.types.DiagnosticSeverity.Error
        return self.types.Diagnostic(self._range(lines, at, at + 1), shown, severity=severity, source="kineta")

    def _publish(self, uri: str, diagnostics: list[Any]) -> None:
        self.server.text_document_publish_diagnostics(self.types.PublishDiagnosticsParams(uri, diagnostics))

    # -- places -----------------------------------------------------------------------------------------------------------

    def _lines(self, text: str) -> Lines:
        return Lines(text, str(getattr(self.server.workspace.position_encoding, "value", "utf-16")))

    def _range(self, lines: Lines, start: int, end: int) -> Any:
        first, last = (self.types.Position(*lines.place(at)) for at in (start, end))
        return self.types.Range(first, last)

    def _asked(self, params: Any) -> tuple[Path, int]:
        """The file and the character that a request is about."""
        path = _path(params.text_document.uri)
        return path, self._lines(self.documents.text(path)).offset(params.position.line, params.position.character)

    def _uri(self, path: Path) -> str:
        """The address of a file, as the editor writes it where it is open."""
        from pygls.uris import from_fs_path

        return self.addresses.get(path.resolve()) or str(from_fs_path(str(path)))

    def _place(self, path: Path, start: int, end: int) -> Any:
        return self.types.Location(self._uri(path), self._range(self._lines(self.documents.text(path)), start, end))

    # -- requests ---------------------------------------------------------------------------------------------------------

    def hover(self, params: Any) -> Any:
        """What the word at a place means."""
        path, offset = self._asked(params)
        found = self.documents.hover(path, offset)
        if found is None:
            return None
        start, end, text = found
        content = self.types.MarkupContent(self.types.MarkupKind.Markdown, text)
        return self.types.Hover(content, self._range(self._lines(self.documents.text(path)), start, end))

    def completion(self, params: Any) -> Any:
        """What may stand at a place."""
        kinds = self.types.CompletionItemKind
        return [
            self.types.CompletionItem(
                c.label, kind=getattr(kinds, _COMPLETIONS.get(c.group, "Variable")), detail=c.detail
            )
            for c in self.documents.completions(*self._asked(params))
        ]

    def definition(self, params: Any) -> Any:
        """Where the name at a place is described."""
        found = self.documents.definition(*self._asked(params))
        return None if found is None else self._place(found[0], *found[1].at)

    def references(self, params: Any) -> Any:
        """All places of the name at a place."""
        found = self.documents.references(*self._asked(params))
        return [self._place(path, own.start, own.end) for path, own in found]

    def symbols(self, params: Any) -> Any:
        """What a text describes."""
        path, kinds = _path(params.text_document.uri), self.types.SymbolKind
        text = self.documents.text(path)
        lines = self._lines(text)
        return [
            self.types.DocumentSymbol(
                text[own.at[0] : own.written],
                getattr(kinds, _SYMBOLS[own.entity.group]),
                self._range(lines, min(own.start, own.at[0]), max(own.end, own.at[1])),
                self._range(lines, *own.at),
                detail=own.entity.kind,
            )
            for own in self.documents.symbols(path)
        ]

    def nameable(self, params: Any) -> Any:
        """The range of the name at a place."""
        path, offset = self._asked(params)
        found = self.documents.nameable(path, offset)
        return self._range(self._lines(self.documents.text(path)), found.start, found.end)

    def rename(self, params: Any) -> Any:
        """The changes that give what is named at a place another name."""
        edits = self.documents.renamed(*self._asked(params), params.new_name)
        changes = {}
        for path, own in edits.items():
            lines = self._lines(self.documents.text(path))
            changes[self._uri(path)] = [self.types.TextEdit(self._range(lines, e.start, e.end), e.text) for e in own]
        return self.types.WorkspaceEdit(changes=changes)

    def formatting(self, params: Any) -> Any:
        """The changes by which a text is formatted: one of the whole, or none."""
        path = _path(params.text_document.uri)
        text = self.documents.text(path)
        found = formatted(text, str(path))
        return [] if found == text else [self.types.TextEdit(self._range(self._lines(text), 0, len(text)), found)]


def _said(answer: Callable[[Any], Any], params: Any) -> Any:
    """The *answer* to a request; a sentence where there is none."""
    from pygls.exceptions import JsonRpcInvalidParams

    try:
        return answer(params)
    except KinetaError as error:
        raise JsonRpcInvalidParams(str(error)) from None


def _path(uri: str) -> Path:
    """The file of an address; a text that has none is one of the working folder."""
    from pygls.uris import to_fs_path

    return Path((to_fs_path(uri) if uri.startswith("file:") else uri.rpartition(":")[2]) or "untitled")
