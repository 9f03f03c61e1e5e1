"""``docs/reference.md`` is what the docstrings say."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import kineta as kn
from tests.support import reference


@pytest.fixture(scope="module", name="reference")
def _reference() -> ModuleType:
    return reference()


def test_the_page_is_made_of_the_docstrings(reference: ModuleType, request: pytest.FixtureRequest) -> None:
    page = reference.page()
    if request.config.getoption("--update"):
        reference.PAGE.write_text(page, encoding="utf-8")
    same = reference.PAGE.read_text(encoding="utf-8") == page
    assert same, "A docstring or a public name has changed: write the page anew with 'python docs/reference.py'."


def test_the_stub_has_the_public_names(reference: ModuleType, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        reference.STUB.write_text(reference.stub(), encoding="utf-8")
    same = reference.STUB.read_text(encoding="utf-8") == reference.stub()
    assert same, "A public name has changed: write the stub anew with 'python docs/reference.py'."


def test_every_public_name_stands_in_the_page_with_a_docstring(reference: ModuleType) -> None:
    lines = set(reference.PAGE.read_text(encoding="utf-8").splitlines())
    assert [n for n in kn.__all__ if reference._heading(n) not in lines] == []
    assert [n for n in kn.__all__ if not inspect.getdoc(getattr(kn, n))] == []
    assert ":class:" not in "".join(lines)
    assert "``" not in "\n".join(lines).replace("```", "")


def test_every_link_of_the_page_has_its_heading(reference: ModuleType) -> None:
    anchors = [reference._anchor(n) for n in kn.__all__]
    assert len(set(anchors)) == len(anchors)
    assert all(reference._heading(n)[4:].lower().replace(" ", "-") == reference._anchor(n) for n in kn.__all__)
