"""The store of compiled code: used where it is safe, left alone where it is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kineta import cache
from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.errors import KinetaWarning
from tests.codegen.random_programs import random_program
from tests.codegen.test_backends import blocks, close


class Maker:
    """Counts how often an entry is made."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> bytes:
        self.calls += 1
        return b"some code"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "store"))
    return tmp_path / "store"


def twice(make: Callable[[], bytes]) -> None:
    for _ in range(2):
        assert cache.stored("key", make) == b"some code"


def test_an_entry_is_made_once(here: Path) -> None:
    make = Maker()
    twice(make)
    assert make.calls == 1
    assert here.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in here.iterdir()] == ["key"]


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:-1] + b"X", lambda b: b"X" + b[1:], lambda b: b""])
def test_a_damaged_entry_is_made_anew_with_a_warning(here: Path, damage: Callable[[bytes], bytes]) -> None:
    make = Maker()
    cache.stored("key", make)
    entry = here / "key"
    entry.write_bytes(damage(entry.read_bytes()))
    with pytest.warns(KinetaWarning, match=r"Code cache: the entry key is not used \(its content is damaged\)"):
        assert cache.stored("key", make) == b"some code"
    assert make.calls == 2
    twice(make)
    assert make.calls == 2


def test_what_others_may_write_is_not_run(here: Path) -> None:
    make = Maker()
    cache.stored("key", make)
    (here / "key").chmod(0o666)
    with pytest.warns(KinetaWarning, match="others may write to it"):
        cache.stored("key", make)
    here.chmod(0o777)
    with pytest.warns(KinetaWarning, match="Set KINETA_CACHE_DIR to a private folder"):
        cache.stored("key", make)
    assert make.calls == 3


def test_a_folder_that_cannot_be_made_costs_only_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "file" / "store"))
    with pytest.warns(KinetaWarning, match="is not used"):
        assert cache.stored("key", Maker()) == b"some code"


def test_the_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KINETA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert cache.folder() == Path("/some/where/kineta")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path.home() / ".cache" / "kineta"


def test_old_entries_make_room(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 150)
    for i in range(4):
        cache.stored(f"key{i}", Maker())
    assert sum(p.stat().st_size for p in here.iterdir()) <= 150
    assert (here / "key3").exists()


def test_stored_code_computes_the_same(here: Path) -> None:
    p = random_program(7, 100)
    one = blocks(p, None)
    for _ in range(2):
        close(llvm.compile([p]).function("f")(*one), reference.compile(p)(*one))
    assert len(list(here.iterdir())) == 1
