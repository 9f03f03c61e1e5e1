"""The folder of files of the playground, as any server of files shows it."""

from __future__ import annotations

import io
import json
import re
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from itertools import takewhile
from pathlib import Path
from shutil import which

from kineta import cache
from kineta.errors import ArgumentError, ModelError
from kineta.library import example_files
from kineta.page.document import script_hashes

#: Python for browsers: a package of the registry of npm, and its files that are needed.
PYODIDE = "314.0.7"
PARTS = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: Packages of kineta that no page needs.
LEFT_OUT = ("cli", "views", "interop", "library", "preparation.py", "prepared")
#: Folders with nothing for browsers.
_FOLDERS = {"__pycache__", "node_modules", "tests"}
#: What the playground may do: run its own files and the scripts of pages, which frames inherit, and load what stands beside it.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {script}; style-src 'self' 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; media-src blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
_PACKAGE = Path(__file__).parents[1]
_APP = Path(__file__).parent / "app"
#: Makes byte code of the Python in a browser: to compile kineta there takes seconds.
_COMPILING = """
import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "./pyodide.mjs";
const python = await loadPyodide();
python.FS.mkdirTree("/site");
python.unpackArchive(new Uint8Array(readFileSync("plain.zip")), "zip", { extractDir: "/site" });
python.runPython(readFileSync("compiling.py", "utf8"));
writeFileSync("made.zip", python.FS.readFile("/made.zip"));
"""
#: Kernels are translated from their text, which therefore stays.
_COMPILING_THERE = """
import os, py_compile, zipfile
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
for folder, _, names in sorted(os.walk("/site")):
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith(".py"):
            kernels = "kineta/kernels" in folder
            py_compile.compile(path, None if kernels else path + "c", None, True, 2, mode)
            if not kernels:
                os.remove(path)
with zipfile.ZipFile("/made.zip", "w", zipfile.ZIP_DEFLATED) as made:
    for folder, _, names in sorted(os.walk("/site")):
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                known = zipfile.ZipInfo(os.path.relpath(file.name, "/site"))
                made.writestr(known, file.read(), zipfile.ZIP_DEFLATED)
"""


def site(pyodide: Path | None = None) -> dict[str, bytes]:
    """The files by their names: the page, its scripts, the examples, kineta, and Python, of the folder *pyodide* or from the
    registry of npm.

    Raises :class:`ArgumentError` where Python for browsers cannot be had.
    """
    python = python_files(pyodide)
    packed = packages(python)
    large = sum(map(len, python.values())) + len(packed)
    words = {"POLICY": _POLICY.format(script=script_hashes()), "SIZE": f"{large / 1e6:.0f}"}
    page = re.sub("@([A-Z]+)@", lambda m: words[m[1]], (_APP / "index.html").read_text(encoding="utf-8"))
    own = {name: (_APP / name).read_bytes() for name in ("play.js", "editor.js", "link.js", "worker.js", "play.css")}
    listed = json.dumps(dict(_examples()), ensure_ascii=False).encode()
    return {
        "index.html": page.encode(),
        **own,
        "examples.json": listed,
        "kineta.zip": packed,
        **{f"pyodide/{name}": content for name, content in python.items()},
    }


def _examples() -> Iterator[tuple[str, dict[str, str]]]:
    for path in example_files():
        text = path.read_text(encoding="utf-8")
        head = " ".join(line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), text.splitlines()))
        yield path.stem, {"text": text, "about": head}


# -- Python ----------------------------------------------------------------------------------------------------------------


def python_files(folder: Path | None) -> dict[str, bytes]:
    """The files of Python for browsers by name: those in a *folder*, or those of the package ``pyodide`` that npm brings, which
    are kept in the cache.
    """
    if folder is None:
        folder = cache.folder().parent / f"pyodide-{PYODIDE}"
        if not all((folder / name).is_file() for name in PARTS):
            _fetch(folder)
    missing = [name for name in PARTS if not (folder / name).is_file()]
    if missing:
        raise ArgumentError(
            f"{folder}: expected Python for browsers, the package pyodide {PYODIDE}, found no {missing[0]}."
        )
    return {name: (folder / name).read_bytes() for name in PARTS}


def _fetch(folder: Path) -> None:
    """Bring the package ``pyodide`` by npm into a *folder*."""
    advice = f"Get the package pyodide {PYODIDE} from the registry of npm, and give its folder: --pyodide FOLDER."
    npm = which("npm")
    if npm is None:
        raise ArgumentError(
            f"Python for browsers is not here, and npm, which would bring it, is not installed. {advice}"
        )
    with tempfile.TemporaryDirectory() as here:
        try:
            subprocess.run(
                [npm, "pack", "--silent", f"pyodide@{PYODIDE}"], cwd=here, check=True, capture_output=True, timeout=300
            )
            (packed,) = Path(here).glob("*.tgz")
            with tarfile.open(packed) as held:
                found = {name: held.extractfile(f"package/{name}") for name in PARTS}
                contents = {name: member.read() for name, member in found.items() if member}
        except (subprocess.SubprocessError, OSError, ValueError, KeyError, tarfile.TarError):
            raise ArgumentError(f"Python for browsers is not here, and npm cannot bring it. {advice}") from None
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)


# -- packages --------------------------------------------------------------------------------------------------------------


def packages(python: dict[str, bytes]) -> bytes:
    """The package and the parser of its language as an archive, compiled for the Python of these files where node can do it."""
    plain = _archive()
    node = which("node")
    if node is None:
        return plain
    key = sha256(
        b"playground" + plain + sha256(python["pyodide.asm.wasm"]).digest() + _COMPILING_THERE.encode()
    ).hexdigest()
    return cache.stored(key, lambda: _compiled(node, plain, python))


def _archive() -> bytes:
    """The package and lark as they are."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(_sources()):
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _sources() -> Iterator[tuple[str, Path]]:
    for path in _PACKAGE.rglob("*"):
        parts = path.relative_to(_PACKAGE).parts
        skipped = (
            parts[0] in LEFT_OUT
            or _FOLDERS & {*parts}
            or (path.suffix == ".js" and path.name not in ("app.min.js", "loader.js"))
        )
        if path.is_file() and not skipped:
            yield path.relative_to(_PACKAGE.parent).as_posix(), path
    try:
        lark = distribution("lark")
    except PackageNotFoundError:
        raise ModelError("The package lark is not installed as a distribution.") from None
    for file in lark.files or ():
        if file.parts[0] == "lark" and file.suffix in (".py", ".lark") and "__pyinstaller" not in file.parts:
            yield file.as_posix(), Path(str(lark.locate_file(file)))


def _compiled(node: str, plain: bytes, python: dict[str, bytes]) -> bytes:
    with tempfile.TemporaryDirectory() as held:
        here = Path(held)
        own = {"plain.zip": plain, "compile.mjs": _COMPILING.encode(), "compiling.py": _COMPILING_THERE.encode()}
        for name, content in {**python, **own}.items():
            (here / name).write_bytes(content)
        done = subprocess.run([node, "compile.mjs"], cwd=here, capture_output=True, timeout=300, check=False)
        made = here / "made.zip"
        return made.read_bytes() if done.returncode == 0 and made.is_file() else plain
