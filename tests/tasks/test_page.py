"""``docs/simulation.md`` prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from tests.support import ROOT

PAGE = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
#: (code, what the text says it prints)
BLOCKS = re.findall(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", PAGE, re.M | re.S)


def test_every_block_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, said in BLOCKS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "docs/simulation.md", "exec"), names)
        assert out.getvalue() == said, code
