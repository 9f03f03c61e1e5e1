"""The language server, driven over standard input and output by a real client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

pytest.importorskip("pygls", reason="the extra kineta[lsp]")
types = pytest.importorskip("lsprotocol.types")

TEXT = "parameters m = 2 kg, l = 50 cm;\nНога | Ry(q1), Sz(-l) = m; # 😀😀 x\nforce f on Нога = (0, 0, m*l/(1 s^2));\n"


class Editor:
    """A client, the server that it started, and what that has told."""

    def __init__(self) -> None:
        from pygls.lsp.client import LanguageClient

        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("tests", "1")
        self.told: dict[str, list[Any]] = {}
        self.news = asyncio.Event()
        self.versions: dict[str, int] = {}
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._heard))
        path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
        self.run(self.client.start_io(sys.executable, "-m", "kineta", "lsp", env={**os.environ, "PYTHONPATH": path}))
        self.server = self.run(self.client.initialize_async(types.InitializeParams(types.ClientCapabilities())))
        self.client.initialized(types.InitializedParams())

    def _heard(self, params: Any) -> None:
        self.told[params.uri] = [*params.diagnostics]
        self.news.set()

    def run(self, work: Awaitable[Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 60))

    async def _wait(self, uri: str, *, some: bool = False) -> list[Any]:
        while uri not in self.told or (some and not self.told[uri]):
            self.news.clear()
            await self.news.wait()
        return self.told[uri]

    def open(self, path: Path, text: str) -> list[Any]:
        """What is told of a text that is opened."""
        uri = path.as_uri()
        self.told.pop(uri, None)
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "kin", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self.run(self._wait(uri))

    def type(self, path: Path, *texts: str) -> list[Any]:
        """What is told of the last of the *texts* that are typed one after another."""
        uri = path.as_uri()
        self.told.pop(uri, None)
        for text in texts:
            self.versions[uri] += 1
            own = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
            change = types.TextDocumentContentChangeWholeDocument(text)
            self.client.text_document_did_change(types.DidChangeTextDocumentParams(own, [change]))
        return self.run(self._wait(uri))

    def close(self, path: Path) -> None:
        own = types.TextDocumentIdentifier(path.as_uri())
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(own))

    def ask(self, method: str, path: Path, line: int, column: int, **more: Any) -> Any:
        """The answer to a request about a place."""
        own = {"text_document": types.TextDocumentIdentifier(path.as_uri()), "position": types.Position(line, column)}
        name = {"prepare_rename": "PrepareRenameParams"}.get(method, f"{method.title().replace('_', '')}Params")
        if method == "references":
            more["context"] = types.ReferenceContext(include_declaration=True)
            name = "ReferenceParams"
        return self.run(getattr(self.client, f"text_document_{method}_async")(getattr(types, name)(**own, **more)))

    def stop(self) -> None:
        self.run(self.client.shutdown_async(None))
        self.client.exit(None)
        self.run(self.client.stop())
        self.loop.close()


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    own = Editor()
    yield own
    own.stop()


def span(found: Any) -> tuple[int, int, int, int]:
    own = found.range if hasattr(found, "range") else found
    return own.start.line, own.start.character, own.end.line, own.end.character


@pytest.mark.slow
def test_errors_come_and_go_while_a_text_is_typed(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    assert editor.open(path, TEXT) == []
    wrong = TEXT.replace("(-l)", "(-length)").replace("on Нога", "on 😀Нога")
    found = editor.type(path, wrong[:20], wrong[:60], wrong)
    assert [(span(d), d.severity.name) for d in found] == [((1, 19, 1, 25), "Error"), ((2, 11, 2, 13), "Error")]
    assert found[0].message.startswith("Body 'Нога': unknown symbol 'length'. ")
    assert {d.source for d in found} == {"kineta"}
    assert editor.type(path, TEXT) == []
    editor.close(path)


def test_columns_are_units_of_utf_16_and_lines_end_as_on_windows(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "b.kin"
    text = "parameters m = 1;\r\nB | Sx(q1) = m; shape B = none; /* 😀 */\r\n".replace("/* 😀 */", "# 😀")
    text += 'shape B = mesh "😀😀.stl" scale wrong;\r\nforce f on B = (m*x, 0, 0);\r\n'
    found = editor.open(path, text)
    assert span(found[-1]) == (3, 18, 3, 19)
    assert any(span(d)[:2] == (2, 32) for d in found)
    hover = editor.ask("hover", path, 3, 11)
    assert (span(hover), hover.contents.value.partition("\n")[0]) == ((3, 11, 3, 12), "**body** `B` on `ground`")
    editor.close(path)


def test_meanings_definitions_symbols_and_completions(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "c.kin"
    editor.open(path, TEXT)
    assert editor.ask("hover", path, 0, 11).contents.value.startswith("**parameter** `m` = 2 kg")
    assert editor.ask("hover", path, 0, 13) is None
    assert span(editor.ask("definition", path, 2, 12)) == (1, 0, 1, 4)
    assert [span(x) for x in editor.ask("references", path, 2, 12)] == [(1, 0, 1, 4), (2, 11, 2, 15)]
    own = types.DocumentSymbolParams(types.TextDocumentIdentifier(path.as_uri()))
    symbols = editor.run(editor.client.text_document_document_symbol_async(own))
    assert [(s.name, s.detail) for s in symbols] == [
        ("m", "parameter"),
        ("l", "parameter"),
        ("Нога", "body"),
        ("f", "force"),
    ]
    labels = {item.label for item in editor.ask("completion", path, 2, 0)}
    assert labels >= {"Нога", "m", "force", "sin", "t"}
    editor.type(path, f"{TEXT}output Нога.")
    assert {item.label for item in editor.ask("completion", path, 3, 12)} >= {"x", "vz", "position"}
    editor.close(path)


def test_names_change_in_all_files_of_a_model(editor: Editor, tmp_path: Path) -> None:
    leg, whole = tmp_path / "leg.kin", tmp_path / "whole.kin"
    leg.write_text("parameters m = 1;\nThigh | Ry(hip), Sz(1) = m;\ncoordinates hip;\n")
    text = 'parameters M = 2;\nuse "leg.kin" as left with m = M;\nforce f on left.Thigh = (M, 0, 0);\n'
    assert editor.open(whole, text) == []
    assert span(editor.ask("prepare_rename", whole, 2, 18)) == (2, 16, 2, 21)
    changes = editor.ask("rename", whole, 2, 18, new_name="Oberschenkel").changes
    assert {uri: [span(e) for e in edits] for uri, edits in changes.items()} == {
        whole.as_uri(): [(2, 16, 2, 21)],
        leg.as_uri(): [(1, 0, 1, 5)],
    }
    for name, sentence in (
        ("force", "'force' is a word of the language"),
        ("m", "the name 'm' is taken by a parameter in "),
    ):
        with pytest.raises(Exception, match=sentence):
            editor.ask("rename", whole, 2, 18, new_name=name)
    with pytest.raises(Exception, match="there is no name of the model here"):
        editor.ask("prepare_rename", whole, 2, 0)
    editor.close(whole)


@pytest.mark.slow
def test_texts_are_formatted_and_repeated_bodies_stand_in_the_outline(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "d.kin"
    text = "parameters m=1 ;\r\nfor i in 1..2 : {\r\nLeg[i] | Sx(q[i]) = m; # 😀 ;x=\r\n}"
    editor.open(path, text)
    document = types.TextDocumentIdentifier(path.as_uri())
    asked = types.DocumentFormattingParams(document, types.FormattingOptions(tab_size=4, insert_spaces=True))
    (edit,) = editor.run(editor.client.text_document_formatting_async(asked))
    assert span(edit) == (0, 0, 3, 1)
    assert edit.new_text == "parameters m = 1;\r\nfor i in 1..2 : {\r\n    Leg[i] | Sx(q[i]) = m; # 😀 ;x=\r\n}\r\n"
    editor.type(path, edit.new_text)
    assert not editor.run(editor.client.text_document_formatting_async(asked))
    own = types.DocumentSymbolParams(document)
    symbols = editor.run(editor.client.text_document_document_symbol_async(own))
    assert [s.name for s in symbols] == ["m", "Leg[i]"]
    editor.type(path, "parameters m = ;")
    with pytest.raises(Exception, match="only a text without errors can be formatted"):
        editor.run(editor.client.text_document_formatting_async(asked))
    editor.close(path)


@pytest.mark.parametrize("method", ["hover", "completion", "definition", "references", "prepare_rename"])
def test_files_that_were_never_opened_are_read_or_missed_by_a_sentence(
    editor: Editor, tmp_path: Path, method: str
) -> None:
    path = tmp_path / "e.kin"
    if method in ("hover", "completion"):  # what does without names reads the text
        with pytest.raises(Exception, match=r"e\.kin: there is no such file"):
            editor.ask(method, path, 0, 11)
    path.write_text(TEXT, encoding="utf-8")
    assert editor.ask(method, path, 0, 11)


@pytest.mark.slow
def test_used_files_are_told_of_while_they_are_typed_and_when_they_disappear(editor: Editor, tmp_path: Path) -> None:
    leg, whole = tmp_path / "leg.kin", tmp_path / "whole.kin"
    good = "parameters m = 1;\nThigh | Ry(hip), Sz(1) = m;\ncoordinates hip;\n"
    leg.write_text(good)
    assert editor.open(whole, 'parameters M = 2;\nuse "leg.kin" as left with m = M;\n') == []
    assert editor.open(leg, good) == []
    editor.told.pop(whole.as_uri(), None)
    (wrong,) = editor.type(leg, good.replace("Sz(1)", "Sz(1 kg)"))
    assert span(wrong) == (1, 20, 1, 24)
    (here,) = editor.run(editor._wait(whole.as_uri(), some=True))
    assert (span(here), here.message.partition(":")[0]) == ((1, 4, 1, 13), "leg.kin")
    editor.close(leg)
    leg.unlink()
    editor.type(whole, 'parameters M = 2;\n\nuse "leg.kin" as left with m = M;\n')
    (gone,) = editor.run(editor._wait(whole.as_uri(), some=True))
    assert span(gone) == (2, 4, 2, 13)
    assert "there is no such file" in gone.message
    whole.unlink(missing_ok=True)
    assert editor.ask("hover", whole, 0, 11).contents.value.startswith("**parameter** `M`")
    editor.close(whole)


@pytest.mark.parametrize(
    "text", ["", "((((", "\x00\x01", "for i in 1..3 : {", "é" * 1000, "(" * 11_000, "x | = ;\n" * 60]
)
def test_broken_texts_are_told_of(editor: Editor, tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.kin"
    assert editor.open(path, text)
    editor.ask("hover", path, 0, 0)
    editor.ask("completion", path, 0, 3)
    editor.close(path)


@pytest.mark.slow
def test_an_untitled_text_is_told_of(editor: Editor) -> None:
    uri = "untitled:Untitled-1"
    item = types.TextDocumentItem(uri, "kin", 1, "B | Sx(q1) = 1; force f on C = (1, 0, 0);")
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    (problem,) = editor.run(editor._wait(uri))
    assert span(problem) == (0, 27, 0, 28)


@pytest.mark.slow
def test_a_huge_text_is_told_of(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "huge.kin"
    text = "".join(f"B{i} | Sx(x{i}) = 1; spring s{i} = 2 on x{i};\n" for i in range(1000))
    assert [d.severity.name for d in editor.open(path, text) if d.severity.name == "Error"] == []
    (problem,) = (
        d for d in editor.type(path, text[:500], text[:5000], f"{text}output nothing") if d.severity.name == "Error"
    )
    assert problem.range.start.line == 1000
    editor.close(path)
