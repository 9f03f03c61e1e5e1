"""Rows of numbers in LLVM IR: constant arrays, and the search for the place of a quantity among knots."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen.sincos import literal

#: The function that counts the knots that are not above a quantity, all for what is not a number.
SEARCH = "piece"
_SEARCH = f"""define internal i64 @{SEARCH}(double %x, ptr %knots, i64 %n) nounwind {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %first = phi i64 [0, %entry], [%first.next, %loop]
  %left = phi i64 [%n, %entry], [%left.next, %loop]
  %half = lshr i64 %left, 1
  %middle = add i64 %first, %half
  %at = getelementptr double, ptr %knots, i64 %middle
  %knot = load double, ptr %at, align 8
  %below = fcmp olt double %x, %knot
  %behind = add i64 %middle, 1
  %first.next = select i1 %below, i64 %first, i64 %behind
  %others = sub i64 %left, %half
  %others.behind = sub i64 %others, 1
  %left.next = select i1 %below, i64 %half, i64 %others.behind
  %more = icmp sgt i64 %left.next, 0
  br i1 %more, label %loop, label %end
end:
  %found = phi i64 [0, %entry], [%first.next, %loop]
  ret i64 %found
}}
"""


class Arrays:
    """Constant arrays of a module, each once."""

    def __init__(self) -> None:
        self._names: dict[tuple[float, ...], str] = {}

    def name(self, numbers: Sequence[float]) -> str:
        """The global name of the array of *numbers*."""
        return self._names.setdefault(tuple(numbers), f"@row.{len(self._names)}")

    def definitions(self) -> str:
        """The arrays, and what searches them; nothing without any."""
        arrays = (
            f"{name} = internal constant [{len(row)} x double] [{', '.join(f'double {literal(x)}' for x in row)}], align 8\n"
            for row, name in self._names.items()
        )
        return "".join([*arrays, _SEARCH]) if self._names else ""
