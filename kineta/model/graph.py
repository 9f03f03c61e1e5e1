"""The directed graph of a system: bodies are its vertices, joints its arcs (Wittenburg (5.1)-(5.6))."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from kineta.calls import public
from kineta.errors import ArgumentError, did_you_mean
from kineta.model.body import GROUND, Body, Inertia
from kineta.model.coercion import records
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System, a_system
from kineta.records import dataclass
from kineta.threads import once
from kineta.values import whole, word

if TYPE_CHECKING:
    from kineta.arrays import IntArray


@public
@dataclass(frozen=True)
class SystemGraph:
    """Bodies 1..n, body 0 that carries them, and one arc for the joint between each body and its base.

    Attributes
    ----------
    bodies : names, in the order of the rows of S
    starts, ends : numbers of the bodies where the arcs start and end, i+(a) and i-(a); arc a belongs to body a
    root : name of body 0: the ground, or a body or frame whose motion is given
    """

    bodies: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    root: str = GROUND

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
        """Incidence of body 0, (n,): +1 where an arc starts at it, -1 where one ends (5.2)."""
        return self._incidence[0]  # type: ignore[no-any-return]  # a row is an array

    @property
    def S(self) -> IntArray:
        """Incidence of the bodies, (n, n): rows are bodies, columns arcs (5.3)."""
        return self._incidence[1:]

    @once
    def T(self) -> IntArray:
        """Path matrix (n, n): T[a, i] is +1 where arc a lies on the path from body 0 to body i and points to body 0, -1 where it
        points away (5.4). T S = S T = E.
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
        """Number of the body that carries body *i*. Raises :class:`ArgumentError` for another number."""
        a = whole("the body", i, 1, len(self.bodies)) - 1
        return self.ends[a] if self.starts[a] == a + 1 else self.starts[a]

    def __str__(self) -> str:
        head = " ".join(f"{i}: {name}" for i, name in enumerate((self.root, *self.bodies)))
        arcs = ", ".join(f"{a}: {i} -> {j}" for a, (i, j) in enumerate(zip(self.starts, self.ends, strict=True), 1))
        blocks = [f"{name} =\n{matrix}" for name, matrix in (("S0", self.S0), ("S", self.S), ("T", self.T))]
        return "\n".join([f"bodies {head}", f"arcs {arcs}", *blocks])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def system_graph(
    system: System, order: Sequence[str] | None = None, outward: Collection[str] = (), *, root: str = GROUND
) -> SystemGraph:
    """The graph of *system*: its bodies, and the joints between them.

    order : names of the bodies as they are numbered; bases stand before the bodies they carry, unless given
    outward : names of the bodies whose arcs lead from the base to the body; the others lead to the base
    root : body 0, which carries all others: the ground, or a body or frame whose motion is given

    A frame, which has no inertia, is part of the joint that it stands in; one that moves and carries several bodies is a body
    without mass. Raises :class:`ArgumentError` for names that are none of these bodies, for those that *order* lacks or has
    twice, and for a *root* on which not all bodies hang but those that carry it.
    """
    joints = joints_of(system, root)
    names = list(joints)
    numbered = names if order is None else list(records(order, str, "names of bodies", "'B'"))
    turned = records(outward, str, "names of bodies", "'B'")
    for name in (*numbered, *turned):
        if name not in names:
            raise ArgumentError(_no_body(system, name, names))
    for name in names:
        if (count := numbered.count(name)) != 1:
            found = "it is missing" if not count else f"it stands there {count} times"
            raise ArgumentError(
                f"Expected every body of '{system.name}' once in the order: '{name}', found that {found}."
            )
    number = {root: 0} | {name: i for i, name in enumerate(numbered, 1)}
    arcs = [(number[n], number[joints[n][0]]) for n in numbered]
    arcs = [(j, i) if n in turned else (i, j) for n, (i, j) in zip(numbered, arcs, strict=True)]
    return SystemGraph(tuple(numbered), tuple(i for i, _ in arcs), tuple(j for _, j in arcs), root)


def joints_of(system: System, root: str = GROUND) -> dict[str, tuple[str, tuple[Body, ...]]]:
    """Base and joint of every body of the graph of *system*, bases first: the frames between both, and the body itself."""
    tree = a_system(system).expanded.tree
    if word(root, "the name of a body") not in system.frames:
        raise ArgumentError(f"Model '{system.name}' has no body '{root}'.{did_you_mean(root, system.frames)}")
    bases = {b.name: b.base for b in tree}
    carried = {root: root} | {b.name: root for b in tree if root in _path(bases, b.name)}
    heavy = [b.name for b in tree if b.inertia != Inertia() and b.name not in _path(bases, root)]
    if beside := next((n for n in heavy if n not in carried), ""):
        raise ArgumentError(
            f"Model '{system.name}': expected body 0 to carry all others, found that '{beside}' does not hang on '{root}'. "
            "Take one that carries both, or the ground."
        )
    # Inwards: the number of branches with bodies that a frame carries decides whether it counts as a body.
    branches, kept, moving = dict.fromkeys(carried, 0), set(heavy), {TIME, *system.q_names}
    for b in reversed([b for b in tree if b.name in carried and b.name != root]):
        if branches[b.name] > 1 and any(m.moved_by(moving) for m in b.motions):
            kept.add(b.name)
        branches[b.base] += 1 if b.name in kept else branches[b.name]
    found: dict[str, tuple[str, tuple[Body, ...]]] = {}
    ways: dict[str, tuple[str, tuple[Body, ...]]] = {root: (root, ())}
    for b in tree:
        if b.name in carried and b.name != root:
            base, frames = ways[b.base]
            ways[b.name] = (b.name, ()) if b.name in kept else (base, (*frames, b))
            if b.name in kept:
                found[b.name] = base, (*frames, b)
    return found


def _path(bases: Mapping[str, str], name: str) -> list[str]:
    """The body *name* and its bases up to the ground, which is left out; the ground alone for itself."""
    found = [name]
    while name in bases:
        name = bases[name]
        found.append(name)
    return found


def _no_body(system: System, name: str, names: Sequence[str]) -> str:
    if name in system.frames:
        what = "the ground is body 0" if name == GROUND else f"'{name}' is part of a joint, or carries body 0"
        return f"Expected names of the bodies {', '.join(names)}, found '{name}': {what}."
    return f"Model '{system.name}' has no body '{name}'.{did_you_mean(name, names)}"
