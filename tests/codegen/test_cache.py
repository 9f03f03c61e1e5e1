"""The store of compiled code: used where it is safe, left alone where it is not."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from kineta import cache, preparation
from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.errors import KinetaWarning
from kineta.kernels.ensemble import integrate_cases
from kineta.kernels.integrate import integrate
from kineta.kernels.machine_code import machine_code, machine_code_in_lanes
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.numerics.tableaux import DOPRI5
from tests.codegen.random_programs import random_program
from tests.codegen.test_backends import blocks, close


class Maker:
    """Counts how often an entry is made."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> bytes:
        self.calls += 1
        return b"some code"


#: Keys of additions that make room, and of others.
KEYS, OTHERS = ([f"{digit}{i:063x}" for i in range(4)] for digit in "0f")
KEY = KEYS[0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the store, which is not yet there."""
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "store"))
    return tmp_path / "store" / "kineta-code"


def twice(make: Callable[[], bytes]) -> None:
    for _ in range(2):
        assert cache.stored(KEY, make) == b"some code"


def test_an_entry_is_made_once(here: Path) -> None:
    make = Maker()
    twice(make)
    assert make.calls == 1
    assert here.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in here.iterdir()] == [KEY]
    assert (here / KEY).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:-1] + b"X", lambda b: b"X" + b[1:], lambda b: b""])
def test_a_damaged_entry_is_made_anew_with_a_warning(here: Path, damage: Callable[[bytes], bytes]) -> None:
    make = Maker()
    cache.stored(KEY, make)
    entry = here / KEY
    entry.write_bytes(damage(entry.read_bytes()))
    with pytest.warns(KinetaWarning, match=rf"Code cache: the entry {KEY[:12]} is not used \(its content is damaged\)"):
        assert cache.stored(KEY, make) == b"some code"
    assert make.calls == 2
    twice(make)
    assert make.calls == 2


def test_the_code_of_another_entry_is_not_run(here: Path) -> None:
    cache.stored(KEY, lambda: b"other code")
    shutil.copyfile(here / KEY, here / KEYS[1])
    (here / KEYS[1]).chmod(0o600)
    with pytest.warns(KinetaWarning, match=rf"the entry {KEYS[1][:12]} is not used \(its content is damaged\)"):
        assert cache.stored(KEYS[1], Maker()) == b"some code"
    assert cache.stored(KEY, Maker()) == b"other code"


def test_what_others_may_write_is_not_run(here: Path) -> None:
    make = Maker()
    cache.stored(KEY, make)
    (here / KEY).chmod(0o666)
    with pytest.warns(KinetaWarning, match="others may write to it"):
        cache.stored(KEY, make)
    here.chmod(0o777)
    with pytest.warns(KinetaWarning, match="Set KINETA_CACHE_DIR to a private folder"):
        cache.stored(KEY, make)
    assert make.calls == 3


def test_a_pipe_is_no_entry_and_does_not_wait(here: Path) -> None:
    cache.stored(KEYS[1], Maker())
    os.mkfifo(here / KEY, 0o600)
    with pytest.warns(KinetaWarning, match=r"is not used \(it is no regular file\)"):
        assert cache.stored(KEY, Maker()) == b"some code"
    twice(Maker())


def test_an_enormous_entry_is_not_read(here: Path) -> None:
    cache.stored(KEY, Maker())
    with (here / KEY).open("r+b") as file:
        file.truncate(2**40)
    with pytest.warns(KinetaWarning, match=rf"is not used \(it has {2**40} bytes, more than {cache.LIMIT}\)"):
        assert cache.stored(KEY, Maker()) == b"some code"


# -- the folder --------------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made_costs_only_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "file" / "store"))
    with pytest.warns(KinetaWarning, match="is not used"):
        assert cache.stored(KEY, Maker()) == b"some code"


def test_the_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of/me")
    monkeypatch.setenv("KINETA_CACHE_DIR", "~/kc")
    assert cache.folder() == Path("/home/of/me/kc/kineta-code")
    monkeypatch.delenv("KINETA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert cache.folder() == Path("/some/where/kineta/kineta-code")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path("/home/of/me/.cache/kineta/kineta-code")


@pytest.mark.parametrize("chosen", ["", "~/kc"])
def test_a_user_without_a_home_folder_gets_a_warning(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETA_CACHE_DIR", chosen)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    with pytest.warns(KinetaWarning, match=r"Code cache: the user has no home folder; code is compiled anew\. Set KIN"):
        assert cache.stored(KEY, Maker()) == b"some code"


def test_one_cause_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "file" / "store"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for key in KEYS:
            cache.stored(key, Maker())
    assert len(caught) == 1


# -- room --------------------------------------------------------------------------------------------------------------

SIZE = 64


@pytest.fixture
def room_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 2 * SIZE)


def entry(here: Path, key: str, age: float) -> Path:
    """An entry of 64 bytes, last used *age* seconds ago."""
    cache.stored(key, lambda: b"." * (SIZE - 46))
    os.utime(here / key, times=(time.time() - age,) * 2)
    assert (here / key).stat().st_size == SIZE
    return here / key


@pytest.mark.usefixtures("room_for_two")
def test_entries_unused_for_longest_make_room(here: Path) -> None:
    first, second = entry(here, KEYS[0], 50), entry(here, KEYS[1], 40)
    cache.stored(KEYS[0], Maker())
    assert first.stat().st_mtime > second.stat().st_mtime
    third = entry(here, KEYS[2], 0)
    assert sorted(here.iterdir()) == sorted([first, third])


@pytest.mark.usefixtures("room_for_two")
def test_few_additions_look_at_all_entries(here: Path) -> None:
    for i, key in enumerate(OTHERS):
        entry(here, key, 40 - i)
    assert sorted(p.name for p in here.iterdir()) == OTHERS
    entry(here, KEY, 0)
    assert sorted(p.name for p in here.iterdir()) == [KEY, OTHERS[-1]]


@pytest.mark.usefixtures("room_for_two")
def test_files_of_the_user_are_left_alone(here: Path, tmp_path: Path) -> None:
    here.mkdir(parents=True, mode=0o700)
    own = [here.parent / "thesis.txt", here / "thesis.txt", here / sha256(b"x").hexdigest(), here / ".kineta-notes.new"]
    for path in own:
        path.write_bytes(b"x" * 10 * SIZE)
        os.utime(path, times=(0, 0))
    (here / sha256(b"folder").hexdigest()).mkdir()
    for i, key in enumerate(KEYS):
        entry(here, key, 40 - i)
    assert all(path.read_bytes() == b"x" * 10 * SIZE for path in own)
    assert sorted(p.name for p in here.iterdir() if p.name in KEYS) == sorted(KEYS[2:])


def test_what_killed_processes_left_goes_after_an_hour(here: Path) -> None:
    here.mkdir(parents=True, mode=0o700)
    old, new = here / f".kineta-{'0' * 16}.new", here / f".kineta-{'1' * 16}.new"
    for path in (old, new):
        path.write_bytes(b"half an entry")
    os.utime(old, times=(time.time() - 4000,) * 2)
    cache.stored(KEY, Maker())
    assert sorted(here.iterdir()) == sorted([new, here / KEY])


@pytest.mark.usefixtures("room_for_two")
def test_another_process_may_trim_at_the_same_time(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, kept = entry(here, KEYS[0], 50), entry(here, KEYS[1], 40)
    whole = Path.lstat

    def late(self: Path) -> os.stat_result:
        if self == gone:
            self.unlink()
        return whole(self)

    monkeypatch.setattr(Path, "lstat", late)
    cache.stored(KEYS[2], Maker())
    assert sorted(here.iterdir()) == sorted([kept, here / KEYS[2]])


def test_stored_code_computes_the_same(here: Path) -> None:
    p = random_program(7, 100)
    one = blocks(p, None)
    for _ in range(2):
        close(llvm.compile([p]).function("f")(*one), reference.compile(p)(*one))
    assert len(list(here.iterdir())) == 1


CHOICE = """
import numpy as np
from kineta.codegen import llvm
from kineta.expr.graph import Graph
from kineta.expr.op import Op
from kineta.expr.program import program
g = Graph()
x = [g.symbol("x"), g.symbol("y")]
p = program(g, {"x": x}, {"out": ((1,), [g.call(Op.NAME, *x)])})
print(llvm.compile([p]).function("f")(np.array([1.0, 2.0])))
"""


@pytest.mark.slow
def test_code_from_before_the_operations_were_numbered_anew_is_not_used(here: Path, tmp_path: Path) -> None:
    """The same program, number by number, is a maximum to one version of kineta and a minimum to the other."""
    shutil.copytree(Path(cache.__file__).parent, tmp_path / "kineta", ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "kineta" / "expr" / "op.py"
    now = table.read_text()
    before = now.replace("MIN = ", "M_N = ").replace("MAX = ", "MIN = ").replace("M_N = ", "MAX = ")
    for version, name, expected in ((before, "MAX", "[2.]"), (now, "MIN", "[1.]")):
        table.write_text(version)
        command = [sys.executable, "-B", "-c", CHOICE.replace("NAME", name)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
    assert len(list(here.iterdir())) == 2


METHOD = LoopMethod(DOPRI5, True, False, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop",
    [
        partial(machine_code.__wrapped__, integrate, METHOD),
        partial(machine_code_in_lanes.__wrapped__, 2, integrate_cases, replace(METHOD, sampling=True)),
    ],
)
def test_a_loop_in_the_store_is_not_written_again(
    loop: Callable[[], object], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop()
    (entry,) = here.iterdir()

    def written(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("kineta.kernels.translation.translate_unit", written)
    loop()
    entry.unlink()
    with pytest.raises(AssertionError):
        loop()


def test_what_was_made_at_installation_is_used_where_it_is_whole(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "PREPARED", tmp_path / "prepared")
    monkeypatch.setattr(
        preparation, "ProcessPoolExecutor", ThreadPoolExecutor
    )  # new processes may know nothing of these
    monkeypatch.setattr(preparation, "PARTS", (llvm.sines, partial(llvm.loop_over_rows, 2)))
    preparation.prepare()
    entries = [*cache.PREPARED.iterdir()]
    assert {entry.stat().st_mode & 0o777 for entry in entries} == {0o644}
    monkeypatch.setenv("KINETA_CACHE_DIR", str(here.parent))
    monkeypatch.setattr(llvm, "object_code", lambda ir: pytest.fail("it was compiled anew"))
    for part in preparation.PARTS:
        part()
    assert not here.exists()
    make = Maker()
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:-1])
        assert cache.stored(entry.name, make) == b"some code"
    assert make.calls == len(entries) == 2
