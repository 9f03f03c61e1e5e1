"""The directed graph of a system: bodies are its vertices, joints its arcs (Wittenburg (5.1)-(5.6))."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from kineta.errors import ArgumentError, did_you_mean
from kineta.model.body import GROUND
from kineta.model.given import records
from kineta.model.system import System, a_system
from kineta.threads import once
from kineta.values import whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class SystemGraph:
    """Bodies 1..n, the ground as body 0, and one arc for the joint between each body and its base.

    bodies : names, in the order of the rows of S
    starts, ends : numbers of the bodies where the arcs start and end, i+(a) and i-(a); arc a belongs to body a
    """

    bodies: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @once
    def _incidence(self) -> IntArray:
        import numpy as np

        n = len(self.bodies)
        incidence = np.zeros((n + 1, n), dtype=np.int64)
        incidence[list(self.starts), range(n)] += 1
        incidence[list(self.ends), range(n)] -= 1
        return incidence

    @property
    def S0(self) -> IntArray:
        """Incidence of the ground, (n,): +1 where an arc starts at it, -1 where one ends (5.2)."""
        return self._incidence[0]  # type: ignore[no-any-return]  # a row is an array

    @property
    def S(self) -> IntArray:
        """Incidence of the bodies, (n, n): rows are bodies, columns arcs (5.3)."""
        return self._incidence[1:]

    @once
    def T(self) -> IntArray:
        """Path matrix (n, n): T[a, i] is +1 where arc a lies on the path from the ground to body i and points to the ground,
        -1 where it points away (5.4). T S = S T = E.
        """
        import numpy as np

        n = len(self.bodies)
        T = np.zeros((n, n), dtype=np.int64)
        for i in range(n):
            body = i + 1
            while body:
                a = body - 1
                inward = self.starts[a] == body
                T[a, i] = 1 if inward else -1
                body = self.ends[a] if inward else self.starts[a]
        return T

    def base(self, i: int) -> int:
        """Number of the body that carries body *i*, 0 for the ground. Raises :class:`ArgumentError` for another number."""
        a = whole("the body", i, 1, len(self.bodies)) - 1
        return self.ends[a] if self.starts[a] == a + 1 else self.starts[a]

    def __str__(self) -> str:
        head = " ".join(f"{i}: {name}" for i, name in enumerate(self.bodies, 1))
        arcs = ", ".join(f"{a}: {i} -> {j}" for a, (i, j) in enumerate(zip(self.starts, self.ends, strict=True), 1))
        blocks = [f"{name} =\n{matrix}" for name, matrix in (("S0", self.S0), ("S", self.S), ("T", self.T))]
        return "\n".join([f"bodies {head}", f"arcs {arcs}", *blocks])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def system_graph(system: System, order: Sequence[str] | None = None, outward: Collection[str] = ()) -> SystemGraph:
    """The graph of *system*.

    Bodies are numbered as in *order* (bases before the bodies they carry, unless given); arcs lead from a body to its base,
    those of the bodies *outward* the other way. Raises :class:`ArgumentError` for other names than those of all bodies.
    """
    names = [b.name for b in a_system(system).tree]
    numbered = names if order is None else list(records(order, str, "names of bodies", "'B'"))
    for name in (*numbered, *records(outward, str, "names of bodies", "'B'")):
        if name not in names:
            raise ArgumentError(f"Model '{system.name}' has no body '{name}'.{did_you_mean(name, names)}")
    if sorted(numbered) != sorted(names):
        raise ArgumentError(
            f"Expected the {len(names)} bodies of '{system.name}' each once, found {', '.join(numbered)}."
        )
    number = {GROUND: 0} | {name: i for i, name in enumerate(numbered, 1)}
    bases = {b.name: number[b.base] for b in system.tree}
    arcs = [(number[n], bases[n]) if n not in outward else (bases[n], number[n]) for n in numbered]
    return SystemGraph(tuple(numbered), tuple(i for i, _ in arcs), tuple(j for _, j in arcs))
