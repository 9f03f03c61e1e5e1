"""Kernels whose loops LLVM IR has in vectors, for one motion: entries of an array by fours, then by twos, then one by one.

Each entry has the operations of its Python text in their order, so that bits are the same.
"""

from __future__ import annotations

from kineta.codegen.kernels.tree import KernelTree

#: Entries at once, in turn.
LANES = (4, 2, 1)


def vector_function(kernel: KernelTree, name: str) -> str | None:
    """The function *name* of a *kernel* in vectors; None for one that has no such form."""
    return _take_multiple(name) if kernel.name == "kernel_take_multiple" else None


def _take_multiple(name: str) -> str:
    """``y[i] -= a * x[i]`` for i below n, of arrays that do not overlap."""
    lines = [
        f"define internal void @{name}(ptr %y, double %a, ptr %x, i64 %n) nounwind {{\n.entry:\n  br label %top.4\n"
    ]
    before, begin = ".entry", "0"
    for k, lanes in enumerate(LANES):
        kind, values = ("double", "%a") if lanes == 1 else (f"<{lanes} x double>", f"%all.{lanes}")
        end = f"top.{LANES[k + 1]}" if lanes > 1 else "exit"
        lines.append(f"top.{lanes}:\n  %i.{lanes} = phi i64 [ {begin}, %{before} ], [ %next.{lanes}, %body.{lanes} ]\n")
        lines.append(f"  %next.{lanes} = add nsw i64 %i.{lanes}, {lanes}\n")
        lines.append(f"  %fits.{lanes} = icmp sle i64 %next.{lanes}, %n\n")
        lines.append(f"  br i1 %fits.{lanes}, label %body.{lanes}, label %{end}\nbody.{lanes}:\n")
        if lanes > 1:
            lines.append(f"  %one.{lanes} = insertelement {kind} poison, double %a, i32 0\n")
            splat = f"shufflevector {kind} %one.{lanes}, {kind} poison, <{lanes} x i32> zeroinitializer"
            lines.append(f"  %all.{lanes} = {splat}\n")
        for array in "xy":
            lines.append(f"  %{array}.at.{lanes} = getelementptr double, ptr %{array}, i64 %i.{lanes}\n")
            lines.append(f"  %{array}.{lanes} = load {kind}, ptr %{array}.at.{lanes}, align 8\n")
        lines.append(f"  %taken.{lanes} = fmul {kind} {values}, %x.{lanes}\n")
        lines.append(f"  %left.{lanes} = fsub {kind} %y.{lanes}, %taken.{lanes}\n")
        lines.append(f"  store {kind} %left.{lanes}, ptr %y.at.{lanes}, align 8\n  br label %top.{lanes}\n")
        before, begin = f"top.{lanes}", f"%i.{lanes}"
    return "".join([*lines, "exit:\n  ret void\n}\n"])
