"""Pairs of links of a long tree: what the derivatives of forces and those of accelerations share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.mechanics.algorithms.articulated_bodies import Articulated
from kineta.mechanics.algorithms.forward_derivatives import Mobility
from kineta.mechanics.algorithms.motion_changes import doubled_sums, origin_velocity
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.force_derivatives import applied_changes
from kineta.mechanics.kinematics.tree import Link
from kineta.mechanics.loops_over_links.dynamics import Moved
from kineta.mechanics.loops_over_links.operands import LARGE, LinkLoops, StepOperands, kind_of, like_link
from kineta.passes.step_recorder import Operand, Shape, UnsuitedError, Write, rebuilt
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench

#: Coordinates from which on loops are written: code of fewer is faster, and compiled in some seconds.
LONG = 32
#: Steps at most: chains of one kind of links take some two hundred, of which most are for pairs with links near the ends.
STEPS = 600


#: The place of an entry of a symmetric matrix (6, 6) in the row of those of its upper half.
SIX = {(a, b): k for k, (a, b) in enumerate((a, b) for a in range(6) for b in range(a, 6))}


class PairOperands(StepOperands):
    """Operands of steps of derivatives."""

    def twist(self) -> Twist:
        """The next twist, turning first."""
        return Twist(self.vector(), self.vector())

    def row(self) -> tuple[Wrench, Vector]:
        """The next row G, beta."""
        return self.wrench(), self.vector()

    def articulated(self) -> Articulated:
        """The next articulated inertia with its wrench."""
        return Articulated(self.symmetric(), self.matrix(), self.symmetric(), self.wrench())

    def mobility(self) -> Mobility:
        """The next mobility."""
        found = self.refs(len(SIX))
        return [[found[SIX[min(a, b), max(a, b)]] for b in range(6)] for a in range(6)]


def twist_refs(X: Twist) -> list[Ref]:
    """The components of *X*, turning first."""
    return [*X.w.refs, *X.v.refs]


class LinkPairs:
    """Derivatives by pairs of links whose only rates are speeds or their opposites: *entries*, as operands, by block and
    (link, link). Raise :class:`UnsuitedError` for other links.
    """

    def __init__(self, loops: LinkLoops) -> None:
        self.loops, self.call, self.links = loops, loops.recorder.call, loops.links
        self.speeds, self.opposite = _speeds(loops.d)
        self.zero = loops.recorder.constants([ZERO] * 6)
        self.carriers: list[list[int]] = []
        for i, link in enumerate(self.links):
            self.carriers.append([i, *(self.carriers[link.parent] if link.parent >= 0 else [])])
        self.entries: dict[str, dict[tuple[int, int], Operand]] = {}

    def carries(self, i: int, k: int) -> bool:
        """Return whether link i is link k or carries it."""
        above = len(self.carriers[k]) - len(self.carriers[i])
        return above >= 0 and self.carriers[k][above] == i

    def velocities(self, motions: Sequence[Moved]) -> list[tuple[list[Operand], list[Operand]]]:
        """Twice the velocity of each link, and its own p, T."""
        found: list[tuple[list[Operand], list[Operand]]] = []
        for link, motion in zip(self.links, motions, strict=True):
            p = link.parent
            shape, leaves = self.loops.expression([link.rates[0].speed])
            carrier = found[p][0] if p >= 0 else self.zero
            operands = [*self.loops.masses(link), *motion.motion, *motion.state[:3], *leaves, *carrier]
            key = "velocity", kind_of(link), shape
            results = self.call(key, _velocity(link, shape, len(leaves)), operands, apart=True)
            found.append((results[:6], results[6:]))
        return found

    def matrix(self, block: str) -> list[Operand]:
        """The entries of a *block* between the speeds, row by row."""
        n = len(self.speeds)
        found = [self.zero[0]] * n**2
        for (i, k), x in self.entries[block].items():
            flipped = self.opposite[i] != self.opposite[k]
            found[self.speeds[i] * n + self.speeds[k]] = self.loops.recorder.opposite(x) if flipped else x
        return found

    def applied(self, block: str) -> list[tuple[int, int, list[Operand]]]:
        """The changes of the forces of elements on the speeds j in the directions l of a *block*, where there are any: l, j and
        the change.
        """
        changes = applied_changes(self.loops.d, block)
        return [
            (l, j, self.loops.recorder.evaluated([force], LARGE))
            for l, forces in enumerate(changes)
            for j, force in enumerate(forces)
            if force != ZERO
        ]


def _speeds(d: Derivation) -> tuple[list[int], list[bool]]:
    """For every link the speed that its only rate is, and whether it is the opposite of that."""
    graph, speeds, opposite = d.graph, [], []
    for link in d.mechanism.links:
        if len(link.rates) != 1 or len(link.rates[0].by_speed) != 1 or link.kind not in ("turn", "shift"):
            raise UnsuitedError
        (rate,), ((k, partial),) = link.rates, link.rates[0].by_speed.items()
        if partial not in (ONE, neg(ONE)) or rate.speed != graph.mul(partial, d.symbols.v[k]) or rate.bias != ZERO:
            raise UnsuitedError
        speeds.append(k)
        opposite.append(partial != ONE)
    if len(set(speeds)) < len(speeds):
        raise UnsuitedError
    return speeds, opposite


def _velocity(like: Link, shape: Shape, n: int) -> Write:
    """The step of twice the velocity of a link, and of its own p and T, for links as *like*."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = PairOperands(graph, refs)
        R, r, moments = read.matrix(), read.vector(), read.moments()
        link = like_link(like, read, R, r, moments)
        w = read.vector()
        (speed,) = rebuilt(graph, shape, read.refs(n))
        rate = replace(link.rates[0], speed=speed)
        moving = Link(link.parent, R, r, link.kind, link.axis, link.Q, link.d, (rate,), link.moments)
        two = graph.const(2.0)
        twice = Twist(w * two, origin_velocity(moving, read.twist(), two))
        p, T = doubled_sums(moments, twice)
        return [*twist_refs(twice), *p.refs, *T.refs]

    return write
