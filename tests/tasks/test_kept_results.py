"""Results that were found before come from the cache: starts that are assembled, by what is written of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.tasks import assemble as module
from kineta.tasks.kept_results import Content, key_of
from tests.support import EXAMPLES

#: A bar between two points that are too far from each other for any position.
APART = "model apart; parameters l = {l};\nA | Sx(x) = 1;\nconstraint reach : x^2 + l^2 = 1;\ninitial x = 0.2;\n"


@pytest.fixture
def assembled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that are assembled, with a cache that is empty at first."""
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "cache"))
    made, own = list[str](), module.assemble

    def counted(system: Any, *given: Any, **named: Any) -> Any:
        made.append(system.name)
        return own(system, *given, **named)

    monkeypatch.setattr(module, "assemble", counted)
    return made


def test_a_start_is_assembled_once_and_known_to_the_bit(assembled: list[str]) -> None:
    first, *others = (kn.posture(kn.load(EXAMPLES / "fourbar.kin")) for _ in range(3))
    for other in others:
        assert np.array_equal(first.q, other.q)
        assert np.array_equal(first.v, other.v)
    expected = module.assemble(kn.load(EXAMPLES / "fourbar.kin"))
    assert np.array_equal(first.q, expected.q)
    assert assembled == ["fourbar"] * 2


def test_another_guess_parameter_or_time_is_assembled_anew(assembled: list[str]) -> None:
    system = kn.loads(APART.format(l=0.6))
    given: list[dict[str, Any]] = [{}, {"q": {"x": -0.2}}, {"p": {"l": 0.8}}, {"t": 1.0}]
    found = [kn.posture(system, **x).q[0] for x in given for _ in range(2)]
    assert found == pytest.approx([0.8, 0.8, -0.8, -0.8, 0.6, 0.6, 0.8, 0.8], abs=1e-12)
    assert assembled == ["apart"] * 4


def test_a_start_that_meets_no_constraint_is_told_each_time(assembled: list[str]) -> None:
    first, second = (kn.posture(kn.loads(APART.format(l=2.0))) for _ in range(2))
    assert first.notes == second.notes
    assert first.notes[0].startswith("Shown as given: Model 'apart': the constraint 'reach' cannot be met")
    assert second.q.tolist() == [0.2]
    assert assembled == ["apart"]


@dataclass
class Drag:
    """A kind of another distribution."""

    factor: float


def test_pages_with_kinds_of_other_distributions_are_not_kept() -> None:
    for record, foreign in ((Drag(1.0), True), (kn.spring("s", 1.0, kn.symbol("x")), False)):
        content = Content()
        content.dump(record)
        assert content.foreign == foreign


def test_equal_records_have_one_key_whatever_they_share() -> None:
    name, other = "wheel", "".join(("wh", "eel"))
    assert name is not other
    assert key_of("page", (name, name)) == key_of("page", (name, other)) != key_of("page", (name, "rim"))
