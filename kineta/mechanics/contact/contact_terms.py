"""Terms of the equations of motion with contacts as data: inertia by blocks, forces, and rows, gaps and laws of all contacts.

Nothing in them depends on which contacts are closed. Multipliers of constraints follow the speeds, as speeds without mass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.contact import guards
from kineta.mechanics.contact.guards import acting
from kineta.mechanics.derivation import Derivation
from kineta.records import dataclass

#: Terms in the order of the compiled function.
TERMS = ("inertia", "force", "jacobian", "velocity", "bias", "law", "gap", "level")
#: Gap of joint friction, which is always closed.
ALWAYS_CLOSED = -1.0


@dataclass(frozen=True, slots=True)
class ContactTermsArrays:
    """Expressions of the terms, with their sparsity.

    blocks : indices of the speeds and multipliers of each block of the inertia, in the order of elimination
    fill : for each of these, the places in its block of those behind it that its elimination couples
    coupled : for each contact, the blocks that its rows depend on
    inertia, force, jacobian, velocity, bias, law, gap, level : numbers in the order of
        :class:`~kineta.kernels.contact.problem.ContactTerms`
    """

    blocks: tuple[tuple[int, ...], ...]
    fill: tuple[tuple[int, ...], ...]
    coupled: tuple[tuple[int, ...], ...]
    inertia: Sequence[Ref]
    force: Sequence[Ref]
    jacobian: Sequence[Ref]
    velocity: Sequence[Ref]
    bias: Sequence[Ref]
    law: Sequence[Ref]
    gap: Sequence[Ref]
    level: Sequence[Ref]

    @property
    def refs(self) -> list[Ref]:
        """All terms, in this order."""
        return [x for name in TERMS for x in getattr(self, name)]

    def speeds(self, contact: int) -> list[int]:
        """Indices of the speeds in the rows of a *contact*: those of its blocks."""
        return [k for b in self.coupled[contact] for k in self.blocks[b]]


def contact_terms(d: Derivation, beside: Iterable[tuple[int, int]] = ()) -> ContactTermsArrays:
    """Terms of all contacts of a derivation. Speeds of the pairs *beside* are in one block, too."""
    g, nv, bound = d.graph, len(d.symbols.v), d.rows
    M = _inertia(d)
    entries = (*M, *beside)
    blocks, fill = eliminated(_blocks(nv + len(bound), entries), entries, nv)
    home = {k: b for b, block in enumerate(blocks) for k in block}
    coupled = list[tuple[int, ...]]()
    jacobian, velocity, bias, law, gap, level = (list[Ref]() for _ in range(6))
    for contact in d.contacts:
        rows = (contact.normal, *contact.tangents, None, None)[:3]
        own = tuple(sorted({home[k] for row in rows if row for k in row.gradient}))
        coupled.append(own)
        for row in rows:
            jacobian += _dense(row, [k for b in own for k in blocks[b]])
            velocity.append(row.levels[-1] if row else ZERO)
            bias.append(row.rest if row else ZERO)
        gap.append(acting(g, contact, guards.gap(g, contact) if contact.normal else g.const(ALWAYS_CLOSED)))
        level.append(contact.normal.levels[0] if contact.normal else g.const(ALWAYS_CLOSED))
        limits = [g.mul(contact.active, x) for x in (contact.bound, contact.static)]
        law += [*limits, contact.restitution, contact.smooth or ZERO]
    inertia = [
        x
        for block in blocks
        for x in (
            *(M.get((i, j), ZERO) for i in block for j in block),
            *(ONE if k >= nv else ZERO for k in block),
            *(ZERO for _ in block),
        )
    ]
    force = [*net_forces(d), *(row.rest for row in bound)]
    return ContactTermsArrays(blocks, fill, tuple(coupled), inertia, force, jacobian, velocity, bias, law, gap, level)


def net_forces(d: Derivation) -> list[Ref]:
    """Generalised forces on the speeds, with those of inertia, (nv,)."""
    return [d.graph.sub(tau, b) for tau, b in zip(d.symbols.tau, d["bias"].refs, strict=True)]


def _inertia(d: Derivation) -> dict[tuple[int, int], Ref]:
    """Entries of the inertia of speeds and multipliers that are not zero."""
    nv = len(d.symbols.v)
    found = {divmod(k, nv): x for k, x in enumerate(d["mass_matrix"].refs) if x != ZERO}
    for j, row in enumerate(d.rows, nv):
        for k, x in row.gradient.items():
            found[j, k] = found[k, j] = neg(x)
    return found


def _blocks(n: int, entries: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Connected components of a symmetric pattern of order n."""
    neighbours: list[set[int]] = [{k} for k in range(n)]
    for i, j in entries:
        neighbours[i].add(j)
    found, seen = [], set[int]()
    for k in range(n):
        if k not in seen:
            block, ahead = set[int](), {k}
            while ahead:
                block |= ahead
                ahead = set[int]().union(*(neighbours[i] for i in ahead)) - block
            seen |= block
            found.append(tuple(sorted(block)))
    return tuple(found)


def eliminated(
    blocks: Iterable[tuple[int, ...]], entries: Iterable[tuple[int, int]], speeds: int
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """The *blocks* of a symmetric pattern in an order of elimination of least degree, with multipliers, which are numbered from
    *speeds* on, behind speeds; and for each number in it the places in its block of those behind it that it couples.
    """
    near: dict[int, set[int]] = {k: set() for block in blocks for k in block}
    for i, j in entries:
        if i != j:
            near[i].add(j)
            near[j].add(i)
    ordered, fill = [], list[tuple[int, ...]]()
    for block in blocks:
        order, coupled, left = list[int](), list[set[int]](), {*block}
        while left:
            k = min(left, key=lambda k: (k >= speeds, len(near[k]), k))
            left.remove(k)
            order.append(k)
            coupled.append(near[k])
            for i in near[k]:
                near[i] = (near[i] | near[k]) - {i, k}
        place = {k: i for i, k in enumerate(order)}
        ordered.append(tuple(order))
        fill += (tuple(sorted(place[i] for i in some)) for some in coupled)
    return tuple(ordered), tuple(fill)


def _dense(row: Row | None, speeds: Sequence[int]) -> list[Ref]:
    return [ZERO if row is None else row.gradient.get(k, ZERO) for k in speeds]
