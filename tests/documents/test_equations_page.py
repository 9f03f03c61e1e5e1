"""The page of printed equations is the one that its script writes."""

from __future__ import annotations

import runpy

import pytest

from tests.support import ROOT


@pytest.mark.slow
def test_the_page_of_equations_is_current() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "equations.py"))["page"]()
    assert page == (ROOT / "docs" / "equations.md").read_text(), "python docs/equations.py writes the page anew"


def test_the_systems_of_a_course_are_printed_as_the_page_shows_them() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "equations.py"))
    page = (ROOT / "docs" / "equations.md").read_text()
    for row in script["COURSE"][:3]:
        assert script["_system"](row) in page
