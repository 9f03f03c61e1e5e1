"""The command as a process of its own: pipes, signals, encodings, and how little it loads before it answers."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kineta as kn
from tests.cli.conftest import CART, HOPPER, Command
from tests.model.urdf.texts import FINGER
from tests.support import EXAMPLES, PILES, slow

MAIN = "from kineta.__main__ import main; main()"


def run(*arguments: str | Path, code: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, after some *code*."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([sys.executable, "-c", code + MAIN, *map(str, arguments)], text=True, timeout=600, **streams)


def watching(*packages: str) -> str:
    """Code that says at the end which of *packages* have been loaded."""
    return (
        f"import atexit, sys\natexit.register(lambda: print('loaded:', [p for p in {packages} if p in sys.modules]))\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--version"], [f"kineta {kn.__version__}"]),
        (["--help"], ["check", "derive", "eval", "simulate", "export", "import", "examples"]),
        (["derive", "--help"], ["--formalism", "--quantity", "--latex", "--fix", "--set", "--json"]),
        (["simulate", "-h"], ["--to", "--plot", "--save", "--method", "in seconds"]),
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str], said: list[str]) -> None:
    done = run(*arguments, code=watching("numpy", "scipy", "llvmlite", "lark", "rich", "matplotlib"))
    assert (done.returncode, done.stderr) == (0, "")
    assert all(word in done.stdout for word in said)
    assert done.stdout.endswith("loaded: []\n")


#: What tells derivations and writes formulas for print, and what runs many cases at once.
TOLD = ("kineta.equations.derivation_report", "kineta.equations.matrix_form", "kineta.notation.latex")
LANES = ("kineta.simulation.ensemble", "kineta.integration.native_ensemble", "kineta.kernels.ensemble")


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (("derive", CART), ("numpy", "llvmlite", "scipy", "matplotlib", "rich", *TOLD)),
        (("check", CART), ("numpy", "llvmlite", "scipy", "matplotlib", "rich", *TOLD)),
        (("check", EXAMPLES / "fourbar.kin"), ("numpy", "llvmlite", "scipy", "matplotlib", "rich", *TOLD)),
        *slow(
            [(("simulate", CART, "--to", "1"), ("scipy", "matplotlib", "xarray", "concurrent", "rich", *LANES, *TOLD))]
        ),
    ],
)
def test_a_verb_loads_only_what_it_needs(arguments: tuple[str, ...], spared: tuple[str, ...]) -> None:
    done = run(*arguments, code=watching(*spared))
    assert done.returncode == 0
    assert done.stdout.endswith("loaded: []\n")


#: Where NumPy and LLVM cannot be imported: the findings of ``check`` for models, by their paths.
CHECKED = """
import json, sys
sys.modules.update(dict.fromkeys({blocked}))
import kineta as kn
from kineta.cli.check import described, laws, notes
models = {{path: kn.load(path) for path in {models}}}
print(json.dumps({{p: [described(s), notes(s), laws(s)] for p, s in models.items()}}))
"""


@pytest.mark.slow
def test_check_and_derive_do_without_arrays(tmp_path: Path) -> None:
    """Of every second example but the one with redundant constraints, which projected states show, and those of more than a
    hundred speeds; and of a robot in URDF.
    """
    robot = tmp_path / "robot.urdf"
    robot.write_text(FINGER)
    models = [str(p) for p in (*sorted(EXAMPLES.glob("*.kin"))[1::2], robot) if p.stem not in ("bricard", *PILES)]
    found = [
        subprocess.run(
            [sys.executable, "-c", CHECKED.format(blocked=blocked, models=models)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for blocked in (["numpy", "scipy", "llvmlite"], [])
    ]
    assert found[0] == found[1]
    assert len(json.loads(found[0])) == len(models)


@pytest.mark.parametrize("given", [None, "2"])
def test_linear_algebra_has_one_thread_unless_the_user_asks_for_more(given: str | None) -> None:
    known = {n: x for n, x in os.environ.items() if n != "OPENBLAS_NUM_THREADS"}
    told = "import atexit, os\natexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n"
    done = run("--version", code=told, env=known | ({"OPENBLAS_NUM_THREADS": given} if given else {}))
    assert done.stdout.endswith(f"\n{given or 1}\n")


def test_the_package_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "kineta", "--version"], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, f"kineta {kn.__version__}\n")


@pytest.mark.slow
def test_a_model_is_read_from_standard_input() -> None:
    text = CART.read_text(encoding="utf-8")
    assert run("derive", "-", input=text).stdout == run("derive", CART).stdout
    done = run("check", "-", input="A | Rz(q) = 1, 1, 1, 1;\nB ~ C | Rx(q2) = 1;")
    assert (done.returncode, done.stderr) == (1, "kineta: Body 'B' (<stdin>:2:1): base 'C' does not exist.\n")
    done = run("derive", "-", "--fix", input="parameters k = 0; A | Sx(q) = 1; force f = 1/k on q;")
    assert (done.returncode, done.stderr) == (1, "kineta: Force 'f' (<stdin>:1:40): Division by zero.\n")
    done = run("check", "-", preexec_fn=lambda: os.close(0))
    message = "kineta: Standard input is closed; give the name of a model file.\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_without_a_verb_the_help_is_shown(kineta: Command) -> None:
    done = kineta()
    assert (done.code, done.err) == (1, "")
    assert "Usage: kineta" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [("derive", HOPPER), ("check", CART), ("eval", CART, "--json"), ("--help",), ("derive", "-h"), ("--version",)],
)
def test_a_reader_that_leaves_ends_the_command_in_silence(arguments: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        done = run(*arguments, stdout=gone)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.slow
def test_a_reader_of_both_streams_may_leave() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        assert run("derive", HOPPER, stdout=gone, stderr=subprocess.STDOUT).returncode == 141


@pytest.mark.parametrize("arguments", [("eval", CART), ("check", CART, "--json"), ("--version",)])
def test_a_closed_output_is_said(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, stdout=None, preexec_fn=lambda: os.close(1))
    message = "kineta: The output cannot be written: standard output is closed.\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_a_full_disk_is_said(kineta: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", io.TextIOWrapper(Full(), write_through=True))
        for arguments in (("eval", CART, "--json"), ("--help",), ("check", "--help")):
            done = kineta(*arguments)
            assert (done.code, done.err) == (1, "kineta: The output cannot be written: No space left on device.\n")


@pytest.mark.slow
def test_names_of_any_script_are_printed_in_any_encoding() -> None:
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = run("check", HOPPER, env=plain)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"bodies: \u041d\u043e\u0433\u0430, " in done.stdout
    done = run("check", HOPPER, "--json", env=plain)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["bodies"] == ["Нога", "Корпус"]
    for arguments in (["derive", HOPPER], ["derive", HOPPER, "--latex"], ["check", "Нога"]):
        done = run(*arguments, env=plain)
        assert (done.stdout + done.stderr).isascii()


def test_all_output_goes_through_one_writer() -> None:
    """Which names the stream: click writes UTF-8 to a default stream of ASCII."""
    files = (Path(kn.__file__).parent / "cli").glob("*.py")
    text = {f.name: f.read_text(encoding="utf-8") for f in files}
    assert [name for name, t in text.items() if re.search(r"\bclick\.s?echo\(|\bprint\(", t)] == ["values.py"]
    assert text["values.py"].count("click.secho(") == 1


#: Signals that ask a command to end, and the codes that it ends with.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "name", "code"),
    [
        ("dop853", "SIGINT", 130),
        *slow([("dop853", "SIGTERM", 143), ("DOP853", "SIGINT", 130), ("DOP853", "SIGTERM", 143)]),
    ],
)
def test_an_interrupted_run_keeps_and_saves_what_was_computed(
    tmp_path: Path, method: str, name: str, code: int
) -> None:
    before = (
        "import os, signal, threading\n"
        "import scipy.integrate\n"
        "import kineta.simulation.run as s\n"
        "integrate = s._integrate\n"
        "def soon_interrupted(*arguments):\n"
        "    threading.Timer(0.4, os.kill, (os.getpid(), signal." + name + ")).start()\n"
        "    return integrate(*arguments)\n"
        "s._integrate = soon_interrupted\n"
    )
    options = ["--to", "1e6", "--samples", "1000001", "--method", method, "--save", "run.nc", "--json"]
    done = run("simulate", CART, *options, code=before, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, "")
    found = json.loads(done.stdout)
    assert found["success"] is False
    assert "interrupted at t = " in found["outcome"]
    saved = kn.load_result(tmp_path / "run.nc")
    assert saved.status == 2
    assert 0 < saved.t[-1] == found["t"][-1] < 1e6
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("module", ["kineta.cli.main", "numpy"])
def test_an_interrupted_import_ends_in_silence(module: str, name: str, code: int) -> None:
    before = (
        "import os, signal, sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *where):\n"
        f"        if name == '{module}': os.kill(os.getpid(), signal.{name})\n"
        "sys.meta_path.insert(0, Interrupts())\n"
    )
    done = run("eval", CART, code=before)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "kineta: Interrupted.\n")


def test_an_interrupted_export_leaves_nothing(tmp_path: Path) -> None:
    """The signal comes when both files are written and the first is about to be moved into place."""
    code = (
        "import os, pathlib, signal\n"
        "move = pathlib.Path.replace\n"
        "def interrupted(path, to):\n"
        "    if to.suffix == '.h': os.kill(os.getpid(), signal.SIGINT)\n"
        "    return move(path, to)\n"
        "pathlib.Path.replace = interrupted\n"
    )
    done = run("export", CART, code=code, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "kineta: Interrupted.\n")
    assert list(tmp_path.iterdir()) == []
