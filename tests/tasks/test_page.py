"""The pages that say what their Python prints: it does."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from tests.support import ROOT

PAGES = ("python.md", "simulation.md")
#: Code, and what the page says it prints.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_prints_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, said in BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8")):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, page, "exec"), names)
        assert out.getvalue() == said, code
