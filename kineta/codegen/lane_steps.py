"""Programs of steps in the lanes of vectors, for one state, as LLVM IR text."""

from __future__ import annotations

from dataclasses import replace

from kineta.codegen.scalar_ir import Needs, ScalarWriter, core, functions
from kineta.codegen.spilling import spill_plan
from kineta.codegen.target import Target
from kineta.expr.lane_program import ALL, LANES, LaneProgram, LaneStep


def lane_core(program: LaneProgram, target: Target, packed: int, needs: Needs) -> str:
    """Definition of ``@name.core.1(ptr in_0, ..., ptr out)``, and of the set-up and the steps that it calls."""
    setup = replace(program.setup, name=f"{program.name}.setup")
    plan, size, later = spill_plan(setup, target.registers), program.first + setup.n_outputs, program.n_outputs
    parts = [core(plan, setup.results, 1, packed, needs, fused=target.fuses, later=later)]
    calls = []
    for k, step in enumerate(program.steps):
        writer, name = _StepWriter(step, needs, fused=target.fuses), f"@{program.name}.step{k}"
        parts.append(functions(spill_plan(step.program, target.registers), writer, name, ["%in0", "%out"]))
        calls.append(f"  call void {name}(ptr %w, ptr %out)\n")
    inputs = [f"%in{i}" for i in range(len(program.inputs))]
    given, parameters = ("".join(f"{kind} {p}, " for p in inputs) for kind in ("ptr", "ptr noalias"))
    return f"""{"".join(parts)}define internal void @{program.name}.core.1({parameters}ptr noalias %out) nounwind {{
  %w = alloca [{size} x double], align 64
  %given = getelementptr double, ptr %w, i64 {program.first}
  call void @{setup.name}.core.1({given}ptr %given, ptr %out)
{"".join(calls)}  ret void
}}
"""


class _StepWriter(ScalarWriter):
    """Writer of the instructions of a step."""

    def __init__(self, step: LaneStep, needs: Needs, *, fused: bool) -> None:
        super().__init__(step.program, step.program.results, LANES, 1, needs, (), fused=fused)
        self.step, self.wait = step, False

    def _is_zero(self, value: int) -> bool:
        return False  # results are apart from each other

    def _load(self, base: str, index: int) -> str:
        if base != "%in0":
            return super()._load(base, index)
        operand = self.step.operands[index]
        if operand.several:
            p, found = self._at(base, operand.place), f"%l{len(self.lines)}"
            self._put(f"{found} = load {self.T}, ptr {p}, align {8 * LANES}")
        else:
            found = self._spread(base, operand.place)
        if operand.lanes == ALL:
            return found
        # The neutral element of sums: a sum with it is a sum in some lanes.
        none = ", ".join(["double -0.0"] * LANES)
        self._put(f"%o{len(self.lines)} = select {self._lanes(operand.lanes)}, {self.T} {found}, {self.T} <{none}>")
        return f"%o{len(self.lines) - 1}"

    def _store(self, value: str, base: str, index: int) -> None:
        if base != "%out":
            super()._store(value, base, index)
            return
        p = self._at(base if self.step.last else "%in0", self.step.places[index])
        if self.step.width == LANES:
            self._put(f"store {self.T} {value}, ptr {p}, align 8")
        else:
            name, lanes = f"@llvm.masked.store.v{LANES}f64.p0", self._lanes((1 << self.step.width) - 1)
            self._put(f"call void {name}({self.T} {value}, ptr {p}, i32 8, {lanes})")

    def _at(self, base: str, place: int) -> str:
        p = f"%p{len(self.lines)}"
        self._put(f"{p} = getelementptr double, ptr {base}, i64 {place}")
        return p

    def _lanes(self, lanes: int) -> str:
        bits = ", ".join(f"i1 {lanes >> j & 1}" for j in range(LANES))
        return f"<{LANES} x i1> <{bits}>"
