"""A first run derives and compiles no more than is counted here."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import kineta as kn
from kineta.codegen import llvm
from kineta.equations.equations import equations_of
from kineta.mechanics import derivation
from kineta.mechanics.formalisms import formalism

ROOT = Path(__file__).parents[2]


def reactions(system: kn.System) -> None:
    kn.reactions(system, kn.simulate(system, 1.0))


def all_of(system: kn.System) -> None:
    kn.simulate(system, 1.0)
    kn.linearize(system)
    kn.equilibrium(system)


#: Kinematic trees, derivations in graphs of their own, and calls of the compiler.
@pytest.mark.parametrize(
    ("model", "task", "trees", "derivations", "compilations"),
    [
        ("puma560", lambda s: kn.simulate(s, 1.0), 1, 2, 1),
        ("fourbar", lambda s: kn.simulate(s, 1.0), 2, 3, 1),
        # Whatever touches: the motion, its events, and the block h of its parameters.
        ("hopper", lambda s: kn.simulate(s, 1.0), 1, 2, 3),
        ("fourbar", kn.linearize, 2, 3, 0),
        ("fourbar", kn.equilibrium, 2, 4, 1),
        ("fourbar", all_of, 2, 6, 2),
        ("fourbar", reactions, 2, 7, 5),
        ("crane_servo", lambda s: kn.servo(s, 1.0, samples=11), 1, 4, 8),
        # Seven formalisms in doubles and in exact numbers, the formulas of five quantities by each, and equivalent models;
        # formalisms that go by bodies come to the links last.
        ("double_pendulum", kn.verify, 9, 24, 0),
    ],
)
def test_a_first_run_derives_and_compiles_no_more_than_it_needs(
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    task: Callable[[kn.System], object],
    trees: int,
    derivations: int,
    compilations: int,
) -> None:
    made: list[str] = []

    def counted(what: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            made.append(what)
            return function(*args, **options)

        return call

    equations_of.cache_clear()
    derivation._first_mechanisms.cache_clear()
    monkeypatch.setattr(derivation, "kinematic_tree", counted("tree", derivation.kinematic_tree))
    monkeypatch.setattr(formalism, "derivation", counted("derivation", formalism.derivation))
    monkeypatch.setattr(llvm, "compile", counted("compilation", llvm.compile))
    system = kn.load(ROOT / "examples" / f"{model}.kin")
    task(system)
    assert [made.count(x) for x in ("tree", "derivation", "compilation")] == [trees, derivations, compilations]
    made.clear()
    if task is not kn.verify:  # which is to derive anew
        task(system)
        assert "derivation" not in made


def test_compiled_functions_alone_ask_for_machine_code() -> None:
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "kineta").rglob("*.py"))
        if re.search(r"\bllvm\.compile\(|\bllvm import .*\bcompile\b", path.read_text())
    ]
    assert asking == ["kineta/codegen/compiled_functions.py"]
