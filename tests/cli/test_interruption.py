"""Ctrl-C at any moment ends any command, and an ensemble, within a second: as a shell expects it, without a traceback."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CART, Command
from tests.support import EXAMPLES, slow

#: Work of the processor that may follow the signal [s]: that of the clock depends on what else runs on the machine. The longest
#: is a kernel that LLVM optimises, which does not hear of signals: 1.5 s on a slow processor.
SOON = 3.0
#: Work after which signals come, at a random moment [s]: from when the interpreter has started.
FROM, TO = 0.1, 3.0
#: How often every command is tried; how often in the quick test.
TRIES, FEW = 2, 1

TICK = 1.0 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
MAIN = "from kineta.__main__ import main; main()"
ENSEMBLE = """
import kineta as kn, numpy as np, sys
run = kn.simulate(kn.load('double_pendulum.kin'), 1000.0, q=np.random.default_rng(0).standard_normal((2000, 2)))
sys.exit(130 if run.status == 2 else 0)
"""

COMMANDS = {
    "simulate": "simulate puma560.kin --to 1e6",
    "foreign": "simulate puma560.kin --to 1e6 --method DOP853",
    "contact": "simulate rocking_block.kin --to 1e4",
    "verify": "verify puma560.kin --states 500",
    "equilibria": "equilibrium double_pendulum.kin --starts 5000",
    "family": "equilibrium fourbar.kin --along mc=5",
    "sensitivity": "sensitivity cart_pendulum.kin --by m2 --to 1e5",
    "fit": "fit double_pendulum.kin data.csv --by m2",
    "derive": "derive walking_machine.kin",
    "export": "export walking_machine.kin --force",
}

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="this system does not tell how long work took"
)


def worked(pid: int) -> float:
    """Time of the processor that a process has taken [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def interrupted(arguments: list[str], moment: float, folder: Path) -> tuple[int, str, float]:
    """The code and the complaints of a command that is interrupted after so much work, and how much followed."""
    said = folder / "said.txt"
    with said.open("w") as errors:
        process = subprocess.Popen([sys.executable, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        before = 0.0
        while before < moment and process.poll() is None:
            time.sleep(0.005)
            before = worked(process.pid) if process.returncode is None else before
        if process.returncode is not None:
            return process.returncode, said.read_text(), 0.0
        os.kill(process.pid, signal.SIGINT)  # not send_signal, which reaps a process that has just ended
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, said.read_text(), usage.ru_utime + usage.ru_stime - before


def tried(name: str, tries: int, folder: Path) -> None:
    for model in EXAMPLES.glob("*.kin"):
        (folder / model.name).write_bytes(model.read_bytes())
    rows = [f"{k / 500},{0.5 - k / 1e4},{k / 1e4}" for k in range(500)]
    (folder / "data.csv").write_text("\n".join(["t,q1,q2", *rows]))
    arguments = ["-c", ENSEMBLE] if name == "ensemble" else ["-c", MAIN, *COMMANDS[name].split()]
    chance = random.Random(name)
    for _ in range(tries):
        moment = chance.uniform(FROM, TO)
        code, said, after = interrupted(arguments, moment, folder)
        where = f"{name}, interrupted after {moment:.3f} s: code {code}, {after:.2f} s of work followed; {said}"
        assert code in (0, 130, -signal.SIGINT), where  # the last where the interpreter is about to leave
        assert after < SOON, where
        # What was said before a signal that comes as the interpreter leaves is an answer; the ensemble is a program of a user.
        answered = code in (0, -signal.SIGINT) and "Traceback" not in said
        own = name == "ensemble" and "Traceback" in said
        assert said in ("", "kineta: Interrupted.\n") or answered or own, where


@pytest.mark.parametrize("name", ["simulate", *slow(["verify"])])
def test_ctrl_c_ends_a_command(name: str, tmp_path: Path) -> None:
    tried(name, FEW, tmp_path)


#: An interruption of long work within machine code, and one of an object that goes, whose errors Python only tells of.
INSTEAD = {
    "native": "threading.Timer(0.2, interrupt).start(); return hashlib.pbkdf2_hmac('sha256', b'', b'', 10**8)",
    "lost": "Thing(); return {}",
    "half made": "Half()",
}
BEFORE = """
import hashlib, os, signal, threading
import kineta.cli.check as check
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
class Thing:
    def __del__(self):
        interrupt()
class Half:
    def __init__(self):
        interrupt()
        self.made = True
    def __del__(self):
        self.made
def instead(*_):
    INSTEAD
check.described = instead
"""


@pytest.mark.parametrize("kind", ["lost", "half made", *slow(["native"])])
def test_an_interruption_is_never_lost(kind: str) -> None:
    code = BEFORE.replace("INSTEAD", INSTEAD[kind]) + MAIN
    command = [sys.executable, "-c", code, "check", str(EXAMPLES / "simple_pendulum.kin"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "kineta: Interrupted.\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COMMANDS, "ensemble"])
def test_ctrl_c_ends_a_command_at_any_moment(name: str, tmp_path: Path) -> None:
    tried(name, TRIES, tmp_path)


@pytest.mark.parametrize(
    "command", ["sensitivity CART --by m2 --to 1", "integrals CART --to 1", "reactions CART --to 1"]
)
def test_an_interrupted_run_of_another_question_is_an_interruption(
    command: str, kineta: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A simulation keeps what was computed; others have no answer."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kineta.runtime.domain_watch.DomainWatch.process", interrupt)
    done = kineta(*command.replace("CART", str(CART)).split())
    assert (done.code, done.out, done.err) == (130, "", "kineta: Interrupted.\n")
