"""Messages of runs that end before their time."""

from __future__ import annotations

from kineta.integration.segment import NOT_FINITE
from kineta.results.outcomes import KEPT, failed


def test_a_sentence_that_names_its_cause_guesses_no_others() -> None:
    named = "'tyre' has a gap without a value"
    assert failed(0.5, named, "") == f"failed at t = 0.5 s: {named}. {KEPT}"
    assert failed(0.5, named, "'r' is zero") == f"failed at t = 0.5 s: {named}; 'r' is zero. {KEPT}"
    assert "the mass matrix may be singular there" in failed(0.5, NOT_FINITE, "")
