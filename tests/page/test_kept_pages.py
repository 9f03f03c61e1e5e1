"""Pages that were made before come from the cache, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kineta as kn
from kineta.page import document, kept_pages
from kineta.page.kept_pages import page_key

MODEL = "model swing; gravity 9.81;\nparameters m = {m}, l = 1 m;\nBob | Ry(phi), Sz(-l) = m;\ninitial phi = 0.3;\n"


@pytest.fixture
def makings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models of the pages that are made, with a cache that is empty at first."""
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "cache"))
    made, own = list[str](), document.posture_page

    def counted(found: Any) -> str:
        made.append(found.system.name)
        return own(found)

    monkeypatch.setattr(document, "posture_page", counted)
    return made


def test_a_page_of_the_same_machine_and_start_is_made_once(makings: list[str]) -> None:
    first = kn.posture(kn.loads(MODEL.format(m=1.5)))
    page = first.page()
    moved = kn.loads("# A remark, by which all that follows stands elsewhere.\n" + MODEL.format(m=1.5))
    assert kn.posture(moved).page() == first.page() == page
    assert makings == ["swing"]


def test_another_machine_or_start_has_another_page(makings: list[str]) -> None:
    first = kn.posture(kn.loads(MODEL.format(m=1.5)))
    others = [
        kn.posture(kn.loads(MODEL.format(m=1.6))),
        kn.posture(kn.loads(MODEL.format(m="1.5 kg")), {"phi": 0.31}),
        *(
            replace(first, **change)
            for change in ({"t": 1.0}, {"to": 2.0}, {"towards": (1.0, 0.0, 0.0)}, {"notes": ("!",)})
        ),
    ]
    assert len({page_key(found) for found in (first, *others)}) == 1 + len(others)
    assert others[0].page() != first.page()
    assert makings == ["swing", "swing"]


def test_pages_follow_their_meshes_and_warn_each_time(makings: list[str], tmp_path: Path) -> None:
    path, mesh = tmp_path / "swing.kin", tmp_path / "bob.stl"
    path.write_text(MODEL.format(m=1.5) + 'shape Bob = mesh "bob.stl";\n')
    found = kn.posture(kn.load(path))
    for _ in range(2):
        with pytest.warns(kn.KinetaWarning, match=r"Model 'swing': a mesh of 'Bob' is not drawn: there is no file"):
            found.page()
    assert makings == ["swing"]
    before = page_key(found)
    mesh.write_text("solid")
    assert page_key(found) != before


def test_tolerances_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kn.posture(kn.loads(MODEL.format(m=1.5)))
    keys = [page_key(found)]
    for name, value in (("RTOL", 1e-12), ("ATOL", 1e-14)):
        monkeypatch.setattr(kept_pages, name, value)
        keys.append(page_key(found))
    assert len(set(keys)) == 3
