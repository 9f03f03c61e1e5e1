"""Loops over states in C and C++, compiled here, once."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build" / "benchmarks"


class CannotCompileError(Exception):
    """There is no machine code, for this reason."""


def library(source: Path, compiler: str, flags: Sequence[str], headers: Sequence[Path], version: str) -> ctypes.CDLL:
    """The *source* as a loaded library. *headers* are folders that must be there, *version* that of what they hold.

    Raises :class:`CannotCompileError` with what is missing, or with what the compiler says.
    """
    if shutil.which(compiler) is None:
        raise CannotCompileError(f"{compiler} is missing (in Debian the package g++ has it)")
    for folder in headers:
        if not folder.is_dir():
            raise CannotCompileError(f"the headers {folder} are missing: pip install 'kineta[bench]', or make bench")
    command = [compiler, "-shared", "-fPIC", str(source), *flags, "-o"]
    key = hashlib.sha256(f"{source.read_text()} {command} {version}".encode()).hexdigest()[:16]
    target = BUILD / f"{source.stem}-{key}.so"
    if not target.exists():
        print(f"Compiling {source.name}, once ...", flush=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            made = Path(folder) / "made.so"
            done = subprocess.run([*command, str(made)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise CannotCompileError(f"{compiler} fails\n{done.stderr[:2000]}")
            made.rename(target)
    return ctypes.CDLL(str(target))
