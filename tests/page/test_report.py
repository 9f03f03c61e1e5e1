"""Reports: one page with all that is known of a run."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kineta as kn
from kineta.page.recorded_run import told
from kineta.page.report import _events
from tests.support import EXAMPLES


@pytest.mark.slow
def test_a_report_is_complete_in_itself(tmp_path: Path) -> None:
    run = kn.simulate(kn.load(EXAMPLES / "bouncing_ball.kin"), 1.0)
    page = run.report(tmp_path / "ball.html").read_text()
    heads = re.findall("<h2>(.*?)</h2>", page)
    assert heads == ["The run", "Series", "Events", "Values", "The model", "Equations", "Certificate"]
    assert len(re.findall("src='data:image/png;base64", page)) == 2
    assert "src='data:image/svg+xml;base64" in page
    assert "floor strikes" in page
    assert f"1 impact takes {run.impacts[0].energy_lost:.4g} J." in page
    assert "formalisms agree" in page
    assert "<math>" in page
    assert not re.search("<script|https?://(?!www.w3.org)", page)
    assert len(page) < 1_000_000


@pytest.mark.slow
def test_a_report_of_a_run_that_fails_says_where() -> None:
    system = kn.loads("model f;\nB | Sx(x) = 1;\nforce pull on B = (x^2, 0, 0);\ninitial x = 1;\n")
    found = kn.report(system, 10.0)
    assert not found.success
    assert "class='bad'>failed at t = " in found.page()
    assert "failed at t = " in found.lines()[0]


def test_events_at_one_time_are_told_in_their_order() -> None:
    changes = (0.5, "trough leaves"), (1.5, "trough strikes"), (1.5, "trough rests"), (1.5, "landed switches")
    run: Any = SimpleNamespace(
        changes=changes, event_names=("x'",), t_events=([1.0],), impacts=[SimpleNamespace(energy_lost=2)]
    )
    assert list(told(run)) == [changes[0], (1.0, "x'"), *changes[1:]]
    page = _events(run)
    assert page.index("strikes") < page.index("rests") < page.index("landed")
    assert page.endswith("<p>1 impact takes 2 J.</p>")


def test_runs_on_which_there_is_no_report() -> None:
    run = kn.simulate(kn.load(EXAMPLES / "simple_pendulum.kin"), 0.1)
    with pytest.raises(kn.ArgumentError, match="expected one motion of a known model to report on"):
        replace(run, system=None).report("a.html")
