"""Readers of options."""

from __future__ import annotations

import pytest

from kineta.cli.readers import READERS
from kineta.errors import ArgumentError
from kineta.tasks.task import Option


def test_a_weight_is_given_once() -> None:
    option = Option("weights", "weight", "")
    assert READERS["weights"](option, ("a=1", "b=2"), None) == {"a": 1.0, "b": 2.0}
    with pytest.raises(ArgumentError, match=r"expected every name once, found 'a' twice\.$"):
        READERS["weights"](option, ("a=1", "a=2"), None)
