"""What several test files need."""

from __future__ import annotations

import importlib.util
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kineta as kn
from kineta.integration.native import NativeRun
from kineta.integration.segment import Segment
from kineta.mechanics.formalisms.table import FORMALISMS

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
#: Reference problems and their sources.
TRUTH = ROOT / "tests" / "truth"

#: Examples with so long formulas that what is done with every example takes a second and more of them.
LONG = frozenset(
    (
        "andrews ball_pile ball_tree bicycle brick_wall bricard hexapod puma560 puma_andreev rolling_torus spatial_chain "
        "stewart_platform trotting_quadruped walking_machine wheelset"
    ).split()
)

#: Examples of many bodies that run as a pile: their equations as a whole, which a run does without, take minutes to print, to
#: export and to verify.
PILES = frozenset(("ball_pile", "brick_wall"))


def seconds(work: Callable[..., object], *arguments: object) -> float:
    """Seconds of the processor that *work* takes."""
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def general(without: Iterable[str] = ()) -> list[str]:
    """The formalisms of the library that apply to every system, with joints and with quasi-velocities; *without* some."""
    systems = [kn.load(EXAMPLES / f"{name}.kin") for name in ("spinning_top", "skate")]
    names = {name for name, f in FORMALISMS.items() if not any(map(f.applies, systems))}
    return [name for name in FORMALISMS if name in names - {*without}]


def slow(values: Iterable[Any]) -> list[Any]:
    """*values* of a parameter with which a test takes long, tuples of several; others keep it among the quick ones."""
    each = (value if isinstance(value, tuple) else (value,) for value in values)
    return [pytest.param(*value, marks=pytest.mark.slow) for value in each]


def quick_but(values: Iterable[Any], long: Sequence[Any]) -> list[Any]:
    """*values* of a parameter, the *long* ones :func:`slow`."""
    return [*(value for value in values if value not in long), *slow(long)]


def some(values: Iterable[Any], of: int) -> list[Any]:
    """*values* of a parameter: one *of* some is quick, others are :func:`slow`."""
    every = [*values]
    return quick_but(every, [value for k, value in enumerate(every) if k % of])


def examples(without: Iterable[str] = (), long: Iterable[str] = (), of: int = 1) -> list[Any]:
    """Names of the examples, *without* some. One *of* some is quick; others, the :data:`LONG` and the *long* ones are
    :func:`slow`.
    """
    names = sorted({p.stem for p in EXAMPLES.glob("*.kin")} - {*without})
    later = {*LONG, *long, *(name for k, name in enumerate(names) if k % of)}
    return quick_but(names, [name for name in names if name in later])


def reads_back(system: kn.System) -> None:
    """Assert that *system* is the same, and is written alike, after it was written and read, in text and in bytes."""
    again = kn.loads(kn.dumps(system))
    assert again == system
    assert hash(again) == hash(system)
    assert kn.dumps(again) == kn.dumps(system)
    assert pickle.loads(pickle.dumps(system)) == system == system.replace(name=system.name)


def reference() -> ModuleType:
    """The script that writes the reference."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hand_back_transitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transitions of contacts are carried out between two runs of the loop, none within it."""
    segment = NativeRun._segment

    def without(self: NativeRun) -> Segment:
        contacts = self._data.contacts
        rows, contacts.rows = contacts.rows, 0
        found = segment(self)
        contacts.rows = rows
        return found

    monkeypatch.setattr(NativeRun, "_segment", without)
