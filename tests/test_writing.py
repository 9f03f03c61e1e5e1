"""Files are written completely or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from kineta import files
from kineta.errors import ArgumentError


def test_all_files_are_written(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"old")
    files.write({a: b"new", b: b""})
    assert (a.read_bytes(), b.read_bytes()) == (b"new", b"")
    assert sorted(tmp_path.iterdir()) == [a, b]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write({tmp_path / "a": b""})
        files.put({tmp_path / "b": b""}, mode=0o600)
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


def test_a_file_that_exists_keeps_its_permissions(tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_bytes(b"old")
    a.chmod(0o600)
    files.write({a: b"new"})
    assert a.read_bytes() == b"new"
    assert a.stat().st_mode & 0o777 == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "a", tmp_path / "link"
    link.symlink_to(target)
    for content in (b"first", b"second"):
        files.write({link: content})
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert list((tmp_path / "folder").iterdir()) == [target]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    files.write({tmp_path / ("a" * 255): b"x"})
    assert (tmp_path / ("a" * 255)).read_bytes() == b"x"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"nowhere/a: there is no folder '.*nowhere'\.$"):
        files.write({tmp_path / "nowhere" / "a": b""})


def test_a_failure_names_the_target_and_leaves_everything_as_it_was(tmp_path: Path) -> None:
    a, folder = tmp_path / "a", tmp_path / "folder"
    a.write_bytes(b"old")
    folder.mkdir()
    with pytest.raises(ArgumentError, match=r"folder: the file cannot be written \(Is a directory\)\.$"):
        files.write({folder: b"", a: b"new"})
    assert a.read_bytes() == b"old"
    assert sorted(tmp_path.iterdir()) == [a, folder]


def test_two_writers_of_one_target_do_not_mix(tmp_path: Path) -> None:
    target = tmp_path / "a"
    contents = [bytes([65 + i]) * 200_000 for i in range(4)]
    threads = [Thread(target=lambda c=c: [files.write({target: c}) for _ in range(20)]) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [target]


FULL_DISK = """
import resource, sys
import kineta as kn
run = kn.simulate(kn.loads("model m; A | Sx(q) = 1;"), 1.0, samples=2000)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for name in sys.argv[1:]:
    try:
        run.save(name)
    except kn.ArgumentError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_full_disk_gets_a_sentence_and_leaves_the_old_file(tmp_path: Path) -> None:
    names = ["run.nc", "run.csv"]
    for name in names:
        (tmp_path / name).write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, *names],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{name}: the file cannot be written (File too large)." for name in names]
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old", "old"]
