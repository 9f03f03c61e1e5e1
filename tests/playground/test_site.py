"""The folder of the playground, its server, and the verb."""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kineta.errors import ArgumentError
from kineta.page.document import script_hashes
from kineta.playground import site as sites
from kineta.playground.link import fragment
from kineta.playground.server import Server
from tests.support import ROOT

APP = ROOT / "kineta" / "playground" / "app"


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of Python for browsers, on a machine without node and npm."""
    monkeypatch.setattr(sites, "which", lambda name: None)
    folder = tmp_path / "python"
    folder.mkdir()
    for name in sites.PARTS:
        (folder / name).write_bytes(name.encode())
    return folder


def test_the_folder_has_all_that_a_browser_asks_for(python: Path) -> None:
    files = sites.site(python)
    page = files["index.html"].decode()
    assert script_hashes() in page
    assert "@" not in page.replace("@", "", 0).partition("<body>")[2]
    examples = json.loads(files["examples.json"])
    assert examples["fourbar"]["text"] == (ROOT / "examples" / "fourbar.kin").read_text(encoding="utf-8")
    assert examples["fourbar"]["about"].startswith("A four-bar under gravity")
    with zipfile.ZipFile(io.BytesIO(files["kineta.zip"])) as packed:
        names = packed.namelist()
    assert {"kineta/playground/browser.py", "kineta/page/app.min.js", "lark/lark.py"} <= {*names}
    unwanted = "/cli/", "/prepared/", "node_modules", "__pycache__"
    assert not any(part in n for n in names for part in unwanted)
    assert all(f"pyodide/{name}" in files for name in sites.PARTS)


def test_python_that_is_not_there_is_a_sentence(python: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (python / "python_stdlib.zip").unlink()
    with pytest.raises(ArgumentError, match=r"expected Python for browsers, .* found no python_stdlib\.zip"):
        sites.site(python)
    monkeypatch.setenv("KINETA_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(ArgumentError, match=r"npm, which would bring it, is not installed\. Get the package pyodide"):
        sites.site()
    broken = tmp_path / "npm"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sites, "which", lambda name: str(broken))
    with pytest.raises(ArgumentError, match="npm cannot bring it"):
        sites.site()
    assert not any(tmp_path.glob("cache/*pyodide*"))


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"index.html": b"<p>here</p>", "pyodide/a.wasm": b"\0asm"}) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def asked(address: str, host: str = "") -> tuple[int, str, bytes]:
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=600) as found:
            return found.status, found.headers["Content-Type"], found.read()
    except urllib.error.HTTPError as error:
        return error.code, "", b""


def test_the_server_shows_its_files_to_this_machine_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert asked(server.address) == (200, "text/html; charset=utf-8", b"<p>here</p>")
    assert asked(f"{server.address}pyodide/a.wasm?x=1") == (200, "application/wasm", b"\0asm")
    assert asked(f"{server.address}../etc/passwd")[0] == 404
    assert asked(server.address, "elsewhere.example")[0] == 403


def test_a_link_carries_the_text() -> None:
    text = "model Нога;\n" * 50
    _, _, packed = fragment(text).partition("#model=")
    assert zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15).decode() == text
    assert len(packed) < 60


@pytest.mark.slow
def test_the_verb_serves_until_it_is_interrupted(python: Path, tmp_path: Path) -> None:
    model = tmp_path / "wrong.kin"
    model.write_text("mode wrong;")
    code = "from kineta.__main__ import main; main()"
    command = [sys.executable, "-c", code, "play", str(model), "--no-open", "--pyodide", str(python)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PATH": ""}) as process:
        assert process.stdout is not None
        address, _, rest = process.stdout.readline().partition("#")
        assert rest.startswith(fragment("mode wrong;")[1:])
        assert asked(address)[0] == 200
        process.send_signal(2)
        assert process.wait(20) == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node, which runs the tests of JavaScript")
def test_the_scripts_keep_their_word() -> None:
    done = subprocess.run(["node", "--test", "tests/"], cwd=APP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
