"""Threads that share systems and equations, and processes that are forked while others work."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any, TypeVar

import pytest
import sympy

import kineta as kn
from kineta.threads import computed_once, once
from tests.support import EXAMPLES

T = TypeVar("T")

FORKS = """
import faulthandler, os, sys, threading, time
faulthandler.dump_traceback_later(100, exit=True)
import kineta as kn

system = kn.load(sys.argv[1])
state = 0.0, [0.1] * system.nq, [0.2] * system.nv
expected = kn.derive(system).function("bias")(*state)
kn.simulate(system, 0.001)
sys.setswitchinterval(1e-5)

def work(k):
    for i in range(10**6):
        other = kn.derive(system.replace(gravity=(0, k, -i / 1000)))
        other.expressions("kinetic_energy")
        other.function("mass_matrix")(*state)

for k in range(2):
    threading.Thread(target=work, args=(k,), daemon=True).start()

def child():
    found = kn.derive(system).function("bias")(*state)
    kn.derive(system.replace(gravity=(0, 0, -os.getpid()))).function("energy")(*state)
    os._exit(0 if (found == expected).all() else 1)

for _ in range(8):
    process = os.fork()
    if process == 0:
        child()
    assert os.waitpid(process, 0)[1] == 0
os._exit(0)
"""


@pytest.fixture(autouse=True)
def _impatient() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*calls: Callable[[], T]) -> list[T]:
    """The results of *calls*, each made in a thread of its own, all at the same time."""
    start = Barrier(len(calls))

    def call(k: int) -> T:
        start.wait(600)
        return calls[k]()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, range(len(calls)), timeout=600))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_forked_while_threads_derive_derives_and_compiles() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS, str(EXAMPLES / "double_pendulum.kin")]
    # Each of eight forks waits up to ten seconds for imports.
    done = subprocess.run(command, timeout=600, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "ask",
    [
        lambda e: e.formulas("forward"),
        lambda e: e.function("forward"),
        lambda e: e.programs("inverse")[1],
        lambda e: e.expressions("mass_matrix"),
    ],
)
def test_threads_get_the_same_objects(ask: Callable[[kn.Equations], Any]) -> None:
    equations = kn.derive(kn.load(EXAMPLES / "puma560.kin"))
    first, *others = together(*[lambda: ask(equations)] * 4)
    assert all(other is first for other in others)


def test_threads_run_the_same_equations_side_by_side() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
    names = equations.system.q_names
    runs = together(*(lambda x=x: kn.simulate(equations, 0.1, q={names[0]: x}) for x in (0.1, 0.2, 0.3, 0.4)))
    for run, x in zip(runs, (0.1, 0.2, 0.3, 0.4), strict=True):
        assert (run.y == kn.simulate(equations, 0.1, q={names[0]: x}).y).all()


@pytest.mark.slow
def test_threads_read_a_sympy_expression_as_the_same_nodes() -> None:
    for k in range(8):
        long = sympy.Add(*(sympy.sin(i * sympy.Symbol("x")) * sympy.Symbol(f"a{k}_{i}") for i in range(1, 200)))
        first, *others = together(*[partial(kn.from_sympy, long)] * 4)
        assert all(other == first for other in others)


def test_what_could_not_be_made_is_tried_again() -> None:
    store: dict[str, int] = {}
    with pytest.raises(ZeroDivisionError):
        computed_once(store, "a", lambda: 1 // 0)
    assert computed_once(store, "a", lambda: 2) == computed_once(store, "a", lambda: 3) == 2


def test_a_value_is_worked_out_once_for_each_object() -> None:
    class Thing:
        @once
        def list(self) -> list[int]:
            """A list."""
            return []

    thing, other = Thing(), Thing()
    assert thing.list is thing.list is not other.list
    assert Thing.list.__doc__ == "A list."


SLOW = """import time
time.sleep(0.5)
"""

IMPORTS = """import importlib, os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
import kineta
kineta.symbol('q')
thread = threading.Thread(target=importlib.import_module, args=("slow_to_import",))
thread.start()
time.sleep(0.1)
child = os.fork()
if not child:
    signal.alarm(300)
    import slow_to_import
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_fork_waits_for_an_import(tmp_path: Path) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", IMPORTS.format(folder=str(tmp_path))], check=False, timeout=600)
    assert done.returncode == 0


LATE = """import importlib, os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
begins = threading.Event()

def last():
    begins.set()
    while "slow_to_import" not in sys.modules:
        time.sleep(0.01)

os.register_at_fork(before=last)
import kineta.threads

def work():
    begins.wait()
    import slow_to_import

threading.Thread(target=work).start()
child = os.fork()
if not child:
    signal.alarm(300)
    import slow_to_import
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_forked_process_imports_anew_what_a_thread_began_to_import(tmp_path: Path) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", LATE.format(folder=str(tmp_path))], check=False, timeout=600)
    assert done.returncode == 0


PAUSES = """import gc, os, sys, threading
from kineta.threads import collector_paused

paused, over = threading.Event(), threading.Event()

def work():
    with collector_paused():
        paused.set()
        over.wait()

threading.Thread(target=work).start()
paused.wait()
child = os.fork()
if not child:
    with collector_paused():
        pauses = not gc.isenabled()
    os._exit(0 if gc.isenabled() and pauses else 1)
over.set()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_process_forked_in_a_pause_of_the_collector_collects_garbage() -> None:
    assert subprocess.run([sys.executable, "-c", PAUSES], check=False, timeout=600).returncode == 0
