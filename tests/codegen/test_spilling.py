"""The plan of a long program: a step finds what it needs, and few values are kept for later."""

from __future__ import annotations

import re

import pytest

from kineta.codegen import spilling as module
from kineta.codegen.module import module as llvm_module
from kineta.codegen.scalar_ir import WINDOWS, Needs, core
from kineta.codegen.schedule import dependencies
from kineta.codegen.spilling import SpillPlan, spill_plan
from kineta.codegen.target import host, llvm, machine
from kineta.expr.program import StraightLineProgram
from tests.codegen.random_programs import random_program


@pytest.fixture(params=[(seed, at_hand) for seed in range(4) for at_hand in (1, 6)])
def planned(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[StraightLineProgram, SpillPlan]:
    """A program of some hundred operations, cut into pieces of forty steps."""
    seed, at_hand = request.param
    for name, value in (("WHOLE", {16: 100}), ("CHUNK", 40), ("AT_HAND", {16: at_hand})):
        monkeypatch.setattr(module, name, value)
    p = random_program(seed, 300)
    return p, spill_plan(p, 16)


def test_a_step_finds_what_it_needs(planned: tuple[StraightLineProgram, SpillPlan]) -> None:
    p, made = planned
    needs = dependencies(p)
    done: list[int] = []
    memory: dict[int, int] = {}
    for chunk in made.chunks:
        here: set[int] = set()
        for step in chunk:
            assert all(memory[slot] == k for k, slot in step.loads)
            here.update(k for k, _ in step.loads)
            for k in step.operations:
                assert here.issuperset(needs[k])
                here.add(k)
            memory.update({slot: k for k, slot in step.stores})
            done += step.operations
    assert sorted(done) == list(range(len(p.op)))
    assert len(made.chunks) > 3
    assert memory.keys() == set(range(made.slots))


def test_few_values_are_kept_between_steps(planned: tuple[StraightLineProgram, SpillPlan]) -> None:
    p, made = planned
    needs = dependencies(p)
    for chunk in made.chunks:
        wanted: set[int] = set()  # after a step, by the rest of its chunk, and not read again
        for step in reversed(chunk):
            assert len(wanted) <= module.AT_HAND[16]
            wanted.update(i for k in step.operations for i in needs[k])
            wanted.difference_update(step.operations, (k for k, _ in step.loads))
        assert not wanted


@pytest.mark.skipif(not host().triple.startswith("x86_64") or host().width < 4, reason="vectors are those of AVX")
def test_vectors_that_the_compiler_spills_are_aligned() -> None:
    assembly = machine().emit_assembly(llvm().parse_assembly(llvm_module([random_program(1, 200)], host(), batch=True)))
    own = assembly.split(f"f.core.{host().width}:", 1)[1].split("retq", 1)[0]
    spills = re.findall(r"(\w+)\s+%[yz]mm\d+, -?\d*\(%rsp\)", own)
    assert spills
    assert {"vmovups", "vmovupd"}.isdisjoint(spills)


def test_a_short_program_is_left_as_it_is() -> None:
    made = spill_plan(random_program(0, 100), 16)
    assert (len(made.chunks), made.slots) == (1, 0)
    assert not any(step.loads or step.stores for step in made.chunks[0])


@pytest.mark.parametrize(("width", "distance"), [(1, 16), (2, 8), (4, 4), (8, 128)])
def test_distances_within_a_window_take_one_byte(
    planned: tuple[StraightLineProgram, SpillPlan], width: int, distance: int
) -> None:
    p, made = planned
    text = core(made, p.results, width, 1, Needs(), fused=False)
    found = [int(d) for d in re.findall(r"ptr %w\d+, i64 (-?\d+)", text)]
    assert found
    assert all(-distance <= d < distance for d in found)
    assert 0 < text.count("asm") <= WINDOWS * len(made.chunks)
