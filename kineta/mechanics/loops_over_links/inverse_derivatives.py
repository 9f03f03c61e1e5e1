"""Derivatives of inverse dynamics of long trees as steps in loops over the links and over pairs of links.

The algorithm is that of ``algorithms.inverse_derivatives``, for links with one rate each that is a speed or its opposite. Links
are looked at in the frame of the first link of their tree: all that a link and a carrier have together is one step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import Graph, Ref
from kineta.mechanics.algorithms.composite_bodies import component, momentum
from kineta.mechanics.algorithms.motion_changes import Change, displaced, displaced_on_ground, gyration
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.kinematics import sweeps
from kineta.mechanics.kinematics.common_frames import axes_beyond, twist_seen, wrench_seen
from kineta.mechanics.kinematics.tree import Link
from kineta.mechanics.loops_over_links.dynamics import Moved, programs, summed, swept
from kineta.mechanics.loops_over_links.operands import LinkLoops, Loops, Programs, kind_of, like_link, listed, upper
from kineta.mechanics.loops_over_links.pairs import LONG, STEPS, LinkPairs, PairOperands, twist_refs
from kineta.passes.step_recorder import Hoisted, Operand, Write
from kineta.spatial.inertia import Moments
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Matrix, Vector, identity, outer
from kineta.spatial.wrench import Wrench


def derivatives(d: Derivation, name: str, blocks: Sequence[str], mass: bool) -> Programs:
    """The derivatives of the forces by *blocks* of q, v, and with them the *mass* matrix. Raise :class:`UnsuitedError` for
    systems that loops do not suit.
    """
    s = d.symbols
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot}
    pairs = _LinkForces(LinkLoops(d, inputs, Hoisted(d.graph, s.p), LONG, STEPS), blocks)
    n = len(s.v)
    outputs = {f"inverse_by_{block}": ((n, n), pairs.matrix(block)) for block in blocks}
    if mass:
        outputs["mass_matrix"] = ((n, n), pairs.matrix("mass"))
    return programs(pairs.loops, name, outputs)


class _LinkForces(LinkPairs):
    """The derivatives by displacements and by rates (*blocks* q, v), and the mass matrix, as operands, (link, link)."""

    def __init__(self, loops: LinkLoops, blocks: Sequence[str]) -> None:
        super().__init__(loops)
        self.blocks = blocks
        self.entries = {block: {} for block in (*blocks, "mass")}
        motions = swept(loops, sweeps.accelerated(loops.d.graph, loops.d.symbols.vdot))
        velocities = self.velocities(motions)
        subtrees = self._inwards(motions, [sums for _, sums in velocities])
        self._outwards(motions, [twice for twice, _ in velocities], subtrees)

    def _inwards(self, motions: Sequence[Moved], sums: Sequence[list[Operand]]) -> list[list[Operand]]:
        """Of every link with its subtree the wrench that its carrier passes on, the moments, p and T."""
        carried: list[list[Operand]] = [[] for _ in self.links]
        found: list[list[Operand]] = []
        for i in reversed(range(len(self.links))):
            link, motion, loaded = self.links[i], motions[i], carried[i]
            operands = [*self.loops.masses(link), *motion.motion, *motion.wrench, *sums[i], *loaded]
            key = "subtree", kind_of(link), bool(loaded)
            results = self.call(key, _subtree(link, bool(loaded)), operands, apart=True)
            found.append(results[:_SUBTREE])
            rest, p = results[_SUBTREE:], link.parent
            if p >= 0:
                carried[p] = self.call("summed", summed, [*carried[p], *rest]) if carried[p] else rest
        return found[::-1]

    def _outwards(
        self, motions: Sequence[Moved], twice: Sequence[list[Operand]], subtrees: Sequence[list[Operand]]
    ) -> None:
        """All links as they are seen, each with its carriers."""
        gravity = self.loops.recorder.constants(self.loops.d.mechanism.gravity.refs)
        axes: list[list[Operand]] = []
        seen: list[list[Operand]] = []
        n = len(self.blocks)
        for i, link in enumerate(self.links):
            p, motion = link.parent, motions[i]
            operands = [*self.loops.placement(link), *motion.motion, *motion.state, *subtrees[i], *twice[i]]
            before = axes[p] if p >= 0 else gravity
            write = _seen(link, self.blocks)
            results = iter(self.call(("seen", kind_of(link)), write, [*operands, *before], apart=True))
            sizes = (12, 6 + 9 * n, 9 + 6 * n, 1 + n)
            frame, own, asked, entries = ([next(results) for _ in range(size)] for size in sizes)
            axes.append(frame)
            seen.append(own)
            for block, x in zip(self.entries, (*entries[1:], entries[0]), strict=True):
                self.entries[block][i, i] = x
            for k in self.carriers[i][1:]:
                self._pair(i, k, self.call("pair", _pair, [*asked, *seen[k]]))

    def _pair(self, i: int, k: int, found: Sequence[Operand]) -> None:
        """The entries *found* of link i and a carrier k."""
        self.entries["mass"][i, k] = self.entries["mass"][k, i] = found[0]
        for j, block in enumerate(self.blocks):
            self.entries[block][i, k], self.entries[block][k, i] = found[2 * j + 1 : 2 * j + 3]

    def matrix(self, block: str) -> list[Operand]:
        """The entries of a *block* between the speeds, row by row, less the changes of the forces of elements."""
        found, n = super().matrix(block), len(self.speeds)
        for l, j, change in self.applied(block) if block in self.blocks else ():
            (found[j * n + l],) = self.call("applied", _without_force, [found[j * n + l], *change])
        return found


#: Results of the sweep inwards for a link and its subtree: a wrench, moments, p and T.
_SUBTREE = 6 + 10 + 3 + 9


def _subtree(like: Link, loaded: bool) -> Write:
    """The step of the sweep inwards for links as *like*, *loaded* by others or not: the sums of the link with its subtree, and
    the same as its carrier sees them.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = PairOperands(graph, refs)
        R, r, K = read.matrix(), read.vector(), read.moments()
        link = like_link(like, read, R, r, K)
        F, p, T = read.wrench(), read.vector(), read.matrix()
        if loaded:
            F, K = F + read.wrench(), K + read.moments()
            p, T = p + read.vector(), T + read.matrix()
        own = _sums(F, K, p, T)
        if link.parent < 0:
            return own
        f, moved = link.inward(F.f), link.inward(p)
        n = link.inward(F.n) + link.offset.cross(f)
        T = link.matrix_inward(T) + outer(moved, link.offset)
        return [*own, *_sums(Wrench(f, n), link.moments_inward(K), moved, T)]

    return write


def _sums(F: Wrench, K: Moments, p: Vector, T: Matrix) -> list[Ref]:
    return [*listed(F), K.m, *K.c.refs, *upper(K.S), *p.refs, *T.refs]


def _seen(like: Link, blocks: Sequence[str]) -> Write:
    """The step of the sweep outwards for links as *like*: axes and origin; S, and y, X of the changes by *blocks*; the momentum
    of the rate, B^T S, and the wrenches that the changes ask for; the entries of the rate with itself.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = PairOperands(graph, refs)
        R, r = read.matrix(), read.vector()
        link = like_link(like, read, R, r)
        rate, first = link.rates[0], link.parent < 0
        w, _, U, a = read.vector(), read.vector(), read.matrix(), read.vector()
        F, K, p, T = read.wrench(), read.moments(), read.vector(), read.matrix()
        twice, S, still = read.twist(), rate.twist(graph), Vector(graph)
        if first:
            seen = identity(graph), still
            changes = {"q": displaced_on_ground(link, S, read.vector()), "v": Change(Twist.zero(graph), S.w)}
        else:
            carrier, at = read.matrix(), read.vector()
            seen = axes_beyond(carrier, link), at + carrier @ link.offset
            changes = {"q": displaced(rate, twice.v, w, a, U), "v": Change(twice.cross(S), S.w)}
        axes, origin = seen
        G, own = gyration(T), momentum(K, S)
        turned = G.T @ S.w + p.cross(S.v)
        found = [*axes.refs, *origin.refs, *twist_refs(twist_seen(seen, S))]
        asked = [*listed(wrench_seen(seen, own)), *(axes @ turned).refs]
        entries = [component(own, rate)]
        for block in blocks:
            change = changes[block]
            # 2 v x S turns by twice as much as y of a displacement.
            w = (axes @ changes["q"].y) * graph.const(2.0) if block == "v" and not first else axes @ change.X.w
            found += [*(axes @ change.y).refs, *w.refs, *(axes @ change.X.v + origin.cross(w)).refs]
            more = momentum(K, change.X) + Wrench(change.y.cross(p), G @ change.y)
            asked += listed(wrench_seen(seen, more + S.cross_wrench(F) if block == "q" else more))
            entries.append(graph.add(turned.dot(change.y), change.X.work(own)))
        return [*found, *asked, *entries]

    return write


def _pair(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """What a link and a carrier have together: the entry of the mass matrix; and for each block the force on the link by the
    change on the carrier, and the force on the carrier by that on the link.
    """
    read = PairOperands(graph, refs)
    n = (len(refs) - 15) // 15
    own, turned = read.wrench(), read.vector()
    asked = [read.wrench() for _ in range(n)]
    S = read.twist()
    found = [S.work(own)]
    for more in asked:
        y, X = read.vector(), read.twist()
        found += [graph.add(turned.dot(y), X.work(own)), S.work(more)]
    return found


def _without_force(graph: Graph, refs: list[Ref]) -> list[Ref]:
    x, change = refs
    return [graph.sub(x, change)]


def _loops(name: str, *blocks: str, mass: bool = False) -> Loops:
    return Loops(lambda d: derivatives(d, name, blocks, mass), lambda: LONG)


#: The derivatives of the forces, and with them the mass matrix.
LOOPS: Mapping[str, Loops] = {
    "inverse_derivatives": _loops("inverse_derivatives", "q", "v", mass=True),
    **{f"inverse_by_{block}": _loops(f"inverse_by_{block}", block) for block in ("q", "v")},
}
