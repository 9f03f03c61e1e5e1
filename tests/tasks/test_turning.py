"""Friction along a line that changes while all else goes on: what is tried first is what the search for all of it finds."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.tasks.touching import Touching


def arm(n: int) -> str:
    """A chain of *n* links with friction in all joints, driven so that each of them turns back and stands still."""
    links = (
        f"L{i} {f'~ L{i - 1} | Sx(0.3),' if i else '|'} {'Rz' if i % 2 else 'Ry'}(q{i}), Sx(0.3) = 1, 0.02, 0.02, 0.02;"
        f"friction f{i} = 0.2, static = 0.25 on q{i}; force d{i} = {9 - i}*sin({1.3 + 0.37 * i}*t + {i}) on q{i};"
        f"damper c{i} = 0.5 on q{i}';"
        for i in range(n)
    )
    return "gravity 9.81;" + "".join(links)


MODELS = {
    "a chain": (arm(4), 3.0),
    "a belt": (
        "gravity 9.81; frame Belt | Sx(0.3*t); M | Sx(x), Sz(z) = 1; spring k = 40 on x; coordinates x, z;"
        "contact c : point between M and Belt axis (0, 0, 1), friction = 0.3, static = 0.4;",
        5.0,
    ),
    "one on the other": (
        "coordinates x, y; A | Sx(x) = 1; B ~ A | Sx(y) = 0.5; friction f = 0.3, static = 0.4 on x; friction g = 0.2 on y;"
        "spring k = 20 on y; force h on A = (3*sin(2*t) + sin(7*t), 0, 0);",
        10.0,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_tried_first_is_what_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, end = MODELS[name]
    system, tried = kn.loads(text), list[bool]()
    turned = Touching._turned

    def counted(self: Touching, *given: object) -> object:
        tried.append((found := turned(self, *given)) is not None)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(Touching, "_turned", counted)
    run = kn.simulate(system, end)
    monkeypatch.setattr(Touching, "_turned", lambda *_: None)
    other = kn.simulate(system, end)
    assert run.success
    assert run.changes == other.changes
    assert np.abs(run.y - other.y).max() < 1e-9
    assert sum(tried) >= 10
    assert np.mean(tried) > 0.7
