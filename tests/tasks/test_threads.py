"""Threads that give one record of equations to the same task at the same time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from threading import get_ident
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import LOCK
from kineta.codegen import compiled_functions
from kineta.expr.graph import Graph
from kineta.tasks.mobility import freedom
from kineta.tasks.table import TASKS
from tests.support import EXAMPLES, slow, some
from tests.test_threads import together

THREADS = 8


def run(e: kn.Equations) -> kn.Result:
    return kn.simulate(e, 0.05, samples=5)


def course(e: kn.Equations) -> dict[str, Any]:
    """A motion of the first joint speeds."""
    return {e.system.q_names[0]: "0.3*sin(t)"}


#: What tasks give for equations, and the example that has them. A letter leads to the public name before it.
CALLS: dict[str, tuple[str, Callable[[kn.Equations], Any]]] = {
    "simulate": ("fourbar", run),
    "simulate contacts": ("rattleback", run),
    "simulate switches": ("hopper", lambda e: kn.simulate(e, 0.4)),
    "simulate programs": ("tracking_arm", run),
    "export_run": ("double_pendulum", lambda e: kn.export_run(e, 0.1)),
    "report": ("double_pendulum", lambda e: kn.report(e, 0.1).run),
    "posture": ("fourbar", lambda e: kn.posture(e.system)),
    "assemble": ("fourbar", lambda e: kn.assemble(e.system)),
    "equilibrium": ("fourbar", kn.equilibrium),
    "equilibria": ("double_pendulum", lambda e: kn.equilibria(e, starts=4)),
    "family": ("double_pendulum", lambda e: kn.family(e, "m1", 1.2, points=3)),
    "linearize": ("fourbar", kn.linearize),
    "linear_formulas": ("double_pendulum", lambda e: str(kn.linear_formulas(e))),
    "oscillation_formulas": ("double_pendulum", lambda e: str(kn.oscillation_formulas(e, {"q1": 0.0, "q2": 0.0}))),
    "modes": ("double_pendulum", lambda e: kn.modes(e, {"q1": 0.0, "q2": 0.0})),
    "response": ("double_pendulum", lambda e: kn.response(e, {"q1": 0.0, "q2": 0.0}, frequency=[1.0])),
    "io_system": ("double_pendulum", lambda e: kn.io_system(e).updfcn(0.0, np.full(4, 0.1), np.zeros(2), {})),
    "statics": ("fourbar", kn.statics),
    "inverse": ("fourbar", lambda e: kn.inverse(e, course(e), t=[0.0, 0.1])),
    "inverse of a run": ("fourbar", lambda e: kn.inverse(e, run(e))),
    "kinetostatics": ("fourbar", lambda e: kn.kinetostatics(e, course(e), t=[0.0, 0.1])),
    "reactions": ("fourbar", lambda e: kn.reactions(e, run(e))),
    "reactions of contacts": ("hopper", lambda e: kn.reactions(e, kn.simulate(e, 0.4, samples=3))),
    "kinematics": ("fourbar", lambda e: kn.kinematics(e, course(e), t=[0.0, 0.1])),
    "inverse_kinematics": (
        "double_pendulum",
        lambda e: kn.inverse_kinematics(e, {"second": (0.3, -1.2, 0.0)}, starts=3),
    ),
    "servo": ("crane_servo", lambda e: kn.servo(e, 0.1, samples=3)),
    "base_parameters": ("double_pendulum", kn.base_parameters),
    "regressor": ("fourbar", lambda e: kn.regressor(e, run(e))),
    "excitation": ("double_pendulum", lambda e: kn.excitation(e, course(e) | {"q2": "0.1*t"}, t=[0.0, 0.1, 0.2])),
    "identify": ("cart_pendulum", lambda e: kn.identify(e, run(e))),
    "sensitivity": ("fourbar", lambda e: kn.sensitivity(e, 0.05, ["ma", "theta"], samples=3)),
    "fit": ("double_pendulum", lambda e: kn.fit(e, {"q1": run(e)["q1"]}, ["m1"], t=run(e).t)),
    "objective": (
        "double_pendulum",
        lambda e: kn.objective(e, 0.05, ["m1"], final=kn.symbol("q1"), adjoint=True)([1.1]),
    ),
    "verify": ("double_pendulum", lambda e: kn.verify(e.system, states=4, digits=0).laws),
    "first_integrals": ("fourbar", kn.first_integrals),
    # To ten digits: derivatives of a motion are found piece by piece, and where the loop pauses depends on the processor.
    "periodic": (
        "double_pendulum",
        lambda e: round(kn.periodic(e, 2.6, q={"q1": 0.2, "q2": 0.28}, keep=["q1"]).period, 10),
    ),
    "periodic_family": (
        "double_pendulum",
        lambda e: kn.periodic_family(e, "m2", 1.02, 2.6, q={"q1": 0.2, "q2": 0.28}, keep=["q1"], points=3).period.round(
            8
        ),
    ),
    "structure_matrices": ("double_pendulum", kn.structure_matrices),
    "augmented_bodies": ("double_pendulum", kn.augmented_bodies),
    "freedom": ("four_bars", freedom),
    "settled": ("four_bars", lambda e: (e.settled().multipliers, e.without(["P1.x"]).rows)),
}


#: What takes a second or more.
LONG = ("simulate", "simulate switches", "base_parameters", "verify", "identify", "periodic", "periodic_family")


def bits(x: Any) -> Any:
    """What *x* says, to the last bit: numbers, words and arrays of records, without times of work and without functions."""
    if isinstance(x, np.ndarray) and x.dtype != object:
        return x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, float):
        return x.hex()
    if isinstance(x, kn.Equations | kn.System | kn.Expr) or callable(x):
        return None
    if isinstance(x, Mapping):
        return [(key, bits(value)) for key, value in x.items()]
    if is_dataclass(x):
        return [(f.name, bits(getattr(x, f.name))) for f in fields(x) if "seconds" not in f.name]
    return [bits(y) for y in x] if isinstance(x, list | tuple | np.ndarray) else x


class Writers:
    """The threads that extend each graph: a second one without the lock is an error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.of: dict[int, tuple[Graph, int]] = {}
        self.wrong: list[str] = []
        for name in ("const", "symbol", "add", "mul", "div", "call", "guard", "copy_from"):
            monkeypatch.setattr(Graph, name, self.watched(name, getattr(Graph, name)))

    def watched(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(graph: Graph, *arguments: Any) -> Any:
            before = len(graph)
            found = method(graph, *arguments)
            if len(graph) > before:
                owner = self.of.setdefault(id(graph), (graph, get_ident()))[1]
                if not LOCK._is_owned():  # type: ignore[attr-defined]
                    if owner != get_ident():
                        self.wrong.append(f"{name} of a graph of {before} nodes")
                elif owner != get_ident():
                    self.of[id(graph)] = graph, -1
            return found

        return call


@pytest.fixture
def _impatient() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("task", [*some([task for task in CALLS if task not in LONG], 3), *slow(LONG)])
def test_threads_share_equations_to_the_bit(monkeypatch: pytest.MonkeyPatch, task: str) -> None:
    example, call = CALLS[task]
    monkeypatch.setattr(compiled_functions, "CALLS", 0)  # interpreted functions round in another way than compiled ones
    system = kn.load(EXAMPLES / f"{example}.kin")
    expected = bits(call(kn.derive(system)))
    shared, writers = kn.derive(system), Writers(monkeypatch)
    for found in together(*[lambda: call(shared)] * THREADS):
        assert bits(found) == expected
    assert not writers.wrong


READ = """
gravity 9.81;
A | Sx(x{k}), Sz(z{k}) = 1;
inertia I = 2 on x{k}'*(1 + {k}*z{k});
force f = -abs(x{k} - {k}) on x{k};
contact floor : point between A and ground axis (0, 0, 1) height 0.1*sin({k}*A.x);
initial z{k} = 2;
"""


@pytest.mark.slow
@pytest.mark.usefixtures("_impatient")
def test_threads_read_and_run_models_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(k: int) -> Any:
        return kn.simulate(kn.loads(READ.format(k=k)), 0.01, samples=2).y

    writers = Writers(monkeypatch)
    found = together(*(partial(call, k) for k in range(2, 2 + THREADS)))
    assert not writers.wrong
    assert [y.tolist() for y in found] == [call(k).tolist() for k in range(2, 2 + THREADS)]


def test_every_public_task_is_shared() -> None:
    names = {name for task in TASKS for name in task.public.split() if name[0].islower()}
    assert sorted(names - {name.partition(" ")[0] for name in CALLS}) == []
