"""Derivatives of forward dynamics of long trees as steps in loops over the links and over pairs of links.

The algorithm is that of ``algorithms.forward_derivatives``, for links with one rate each that is a speed or its opposite. Links
are looked at in the frame of the first link of their tree, so that the steps of pairs know nothing of joints: rows inwards,
columns of unit forces and answers to changes are a step each. Accelerations of carriers follow from mobilities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.mechanics.algorithms.articulated_bodies import (
    Articulated,
    RateSolution,
    accelerated_by,
    carried_along,
    eliminated,
    inward,
    pivot_stands,
    rigid,
)
from kineta.mechanics.algorithms.forward_derivatives import (
    accelerated,
    asked,
    eliminated_load,
    first_row,
    load_inward,
    mobility_beyond,
    past,
)
from kineta.mechanics.algorithms.motion_changes import Change, displaced, displaced_on_ground, gyration, taken_up
from kineta.mechanics.algorithms.rounding_bounds import rate_bounds
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.kinematics import sweeps
from kineta.mechanics.kinematics.common_frames import axes_beyond, twist_seen, wrench_seen
from kineta.mechanics.kinematics.tree import Link
from kineta.mechanics.loops_over_links.dynamics import Moved, added, programs, swept
from kineta.mechanics.loops_over_links.operands import (
    LinkLoops,
    Loops,
    Programs,
    StepOperands,
    kind_of,
    like_link,
    listed,
    upper,
)
from kineta.mechanics.loops_over_links.pairs import LONG, SIX, STEPS, LinkPairs, PairOperands, twist_refs
from kineta.passes.step_recorder import Hoisted, Operand, Shape, UnsuitedError, Write, rebuilt
from kineta.records import dataclass
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Vector, identity, skew
from kineta.spatial.wrench import Wrench


@dataclass(frozen=True, slots=True)
class _SweptLink:
    """What the elimination leaves of a link, as operands.

    solution : U, 1 / D, u
    left : what the wrench asked of the link is, and its loads: A, B, C, p, N, F, b
    twice : twice its velocity
    """

    solution: list[Operand]
    left: list[Operand]
    twice: list[Operand]


@dataclass(frozen=True, slots=True)
class _SeenLink:
    """A link in the frame of the first link of its tree, as operands.

    S : the twist of its rate
    row : G, beta
    changes : X, y, what the rate takes up itself, and P, by block
    W : its mobility
    A, u : the accelerations of the link and of its rate under a unit force on this
    """

    S: list[Operand]
    row: list[Operand]
    changes: list[list[Operand]]
    W: list[Operand]
    A: list[Operand]
    u: Operand


def derivatives(d: Derivation, name: str, blocks: Sequence[str]) -> Programs:
    """The derivatives of the accelerations by *blocks* of q, v, tau. Raise :class:`UnsuitedError` for systems that loops do not
    suit.
    """
    s = d.symbols
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "tau": s.tau}
    loops = LinkLoops(d, inputs, Hoisted(d.graph, s.p), LONG, STEPS)
    pairs = _LinkAnswers(loops, [block for block in blocks if block != "tau"])
    n = len(s.v)
    return programs(loops, name, {f"forward_by_{block}": ((n, n), pairs.matrix(block)) for block in blocks})


class _LinkAnswers(LinkPairs):
    """The derivatives by displacements and by rates (*blocks* q, v) and by forces, as operands, (link, link)."""

    def __init__(self, loops: LinkLoops, blocks: Sequence[str]) -> None:
        super().__init__(loops)
        self.blocks, n = blocks, len(loops.links)
        motions = swept(loops, sweeps.accelerated(loops.d.graph, [ZERO] * n))
        self.swept, tests = self._eliminated(motions)
        self.tests = [[tests[carriers[-1]]] for carriers in self.carriers]
        self.tips = set(range(n)) - {link.parent for link in self.links}
        self.seen = self._outwards(motions)
        self.rows: dict[tuple[int, int], list[Operand]] = {}
        self.A: dict[tuple[int, int], list[Operand]] = {}
        self.entries = {block: {} for block in (*blocks, "tau")}
        for i in range(n):
            self._row(i)
        for i in range(n):
            self._force(i)
        for i in range(n) if blocks else ():
            self._change(i)

    def _eliminated(self, motions: Sequence[Moved]) -> tuple[list[_SweptLink], list[Operand]]:
        """Velocities outwards and the elimination inwards, and the tests of the trees, at their first links."""
        loops, call, d = self.loops, self.call, self.loops.d
        bounds, velocities, n = rate_bounds(d.mechanism), self.velocities(motions), len(self.links)
        carried: list[list[Operand]] = [[] for _ in range(n)]
        swept: list[_SweptLink] = []
        for i in reversed(range(n)):
            link, motion, (twice, sums) = self.links[i], motions[i], velocities[i]
            ((k, partial),) = link.rates[0].by_speed.items()
            force = d.graph.add(d.symbols.tau[k], d.elements.forces[k])
            shape, leaves = loops.expression([d.graph.mul(partial, force)])
            masses = loops.masses(link, [bounds[i, 0]])
            operands = [*masses, *motion.motion, *motion.wrench, *leaves, *sums, *carried[i]]
            key = "reduced", kind_of(link), shape, bool(carried[i])
            found = call(key, _reduced(link, shape, len(leaves), bool(carried[i])), operands, apart=True)
            swept.append(_SweptLink(found[:8], found[8:56], twice))
            rest, carried[i] = found[56:], []
            if link.parent < 0:
                carried[i] = rest
            elif carried[link.parent]:
                carried[link.parent] = call("added", added, [*carried[link.parent], *rest])
            else:
                carried[link.parent] = rest
        return swept[::-1], [rest[0] if rest else -1 for rest in carried]

    def _outwards(self, motions: Sequence[Moved]) -> list[_SeenLink]:
        """The accelerations, and all links as they are seen."""
        loops, constants = self.loops, self.loops.recorder.constants
        gravity = constants(loops.d.mechanism.gravity.refs)
        accelerations: list[list[Operand]] = []
        axes: list[list[Operand]] = []
        found: list[_SeenLink] = []
        for i, link in enumerate(self.links):
            p, own, before = link.parent, self.swept[i], gravity
            if p >= 0:
                before = [*accelerations[p], *axes[p]]
            operands = [*loops.placement(link), *motions[i].motion, *motions[i].state, *own.solution, *own.left]
            write = _seen(link, self.blocks)
            refs = iter(self.call(("seen", kind_of(link)), write, [*operands, *own.twice, *before], apart=True))
            taken = [[next(refs) for _ in range(size)] for size in (6, 12, 6, 9, *(16 for _ in self.blocks))]
            accelerations.append(taken[0])
            axes.append(taken[1])
            S, row, changes = taken[2], taken[3], taken[4:]
            W = found[p].W if p >= 0 else constants([ZERO] * len(SIX))
            operands = [*W, *row[:6], *S, own.solution[6], *self.tests[i]]
            u, *mobile = self.call("mobility", _mobility, operands, apart=True)
            found.append(_SeenLink(S, row, changes, mobile[6:], mobile[:6], u))
        return found

    def _row(self, i: int) -> None:
        """Sweep the row of link i inwards."""
        row = self.seen[i].row
        for k in self.carriers[i][1:]:
            self.rows[i, k] = row
            if self.links[k].parent >= 0:
                row = self.call("row", _past, [*row, *self.seen[k].S, *self.seen[k].row])

    def _force(self, c: int) -> None:
        """The accelerations under a unit force on the rate of link c."""
        entries = self.entries["tau"]
        self.A[c, c], entries[c, c] = self.seen[c].A, self.seen[c].u
        for k in range(c + 1, len(self.links)):
            own, at = self.seen[k], self.links[k].parent
            if self.carries(c, k):
                operands = [*self.A[c, at], *own.row[:6], *self.tests[c]]
                if k in self.tips:
                    (entries[k, c],) = self.call("apart", _apart, operands)
                else:
                    *self.A[c, k], entries[k, c] = self.call("forced", _forced, [*operands, *own.S])
            elif (common := self.common(k, c)) >= 0:
                key = c, common
                if key not in self.A:
                    operands = [*self.seen[common].W, *self.rows[c, common][:6]]
                    self.A[key] = self.call("mobile", _mobile, operands)
                operands = [*self.A[key], *self.rows[k, common][:6], *self.tests[c]]
                (entries[k, c],) = self.call("apart", _apart, operands)
            if (k, c) in entries:
                entries[c, k] = entries[k, c]

    def _change(self, i: int) -> None:
        """The answers of all rates to the changes of the rate of link i."""
        p, own, test = self.links[i].parent, self.seen[i], self.tests[i]
        loads = [x for change in own.changes for x in change[10:]]
        changes = [x for change in own.changes for x in change[:10]]
        operands = [*own.S, *own.row, *test, *changes]
        key, n = ("moved", p >= 0), len(self.blocks)
        moved = self.call(key, _moved(n), [*operands, *self.seen[p].W, *loads] if p >= 0 else operands)
        totals = moved[n:]
        ys = [x for change in own.changes for x in change[6:9]]
        found = {i: moved[:n]}
        for b in self.carriers[i][1:]:
            found[b] = self.call("carrier", _carrier, [*self.A[b, p], *test, *loads])
        branched: dict[int, list[Operand]] = {}
        for b in range(len(self.links)):
            if b != i and self.carries(i, b):
                found[b] = self.call("subtree", _subtree(n), [*self.rows[b, i], *test, *totals, *ys])
            elif b not in found and (common := self.common(b, i)) >= 0:
                if not branched:
                    branched = self._branched(i, found)
                operands = [*self.rows[b, common][:6], *test, *branched[common]]
                found[b] = self.call("beside", _beside, operands)
        for b, answers in found.items():
            for block, x in zip(self.blocks, answers, strict=True):
                self.entries[block][b, i] = x

    def _branched(self, i: int, answers: dict[int, list[Operand]]) -> dict[int, list[Operand]]:
        """The accelerations of the carriers of link i, whose rates have the *answers*."""
        found: dict[int, list[Operand]] = {}
        at = self.zero * len(self.blocks)
        for k in reversed(self.carriers[i][1:]):
            at = found[k] = self.call("along", _along, [*self.seen[k].S, *answers[k], *at])
        return found

    def common(self, i: int, k: int) -> int:
        """The last link that carries both links; -1 for the ground."""
        return next((x for x in self.carriers[k] if x in self.carriers[i]), -1)

    def matrix(self, block: str) -> list[Operand]:
        """The derivatives by a *block* of variables, row by row, with those of the forces of elements."""
        found = super().matrix(block)
        if block == "tau":
            return found
        n, compliance = len(self.speeds), super().matrix("tau")
        for l, j, change in self.applied(block):
            for k in range(n):
                at = k * n + l
                (found[at],) = self.call("applied", _with_force, [found[at], compliance[k * n + j], *change])
        return found


def _reduced(like: Link, shape: Shape, n: int, loaded: bool) -> Write:
    """The step of the elimination for links as *like*, *loaded* by others or not: U, 1 / D, u; A, B, C, p, N, F, b; what the link
    asks of its carrier, and the test of pivots.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = PairOperands(graph, refs)
        R, r, moments = read.matrix(), read.vector(), read.moments()
        bounds = read.refs(1)
        link = like_link(like, read, R, r, moments)
        rate = link.rates[0]
        I = rigid(link, read.wrench())
        (force,) = rebuilt(graph, shape, read.refs(n))
        F, N = skew(-read.vector()), gyration(read.matrix())
        tests: list[Ref] = []
        if loaded:
            I, N, F = I + read.articulated(), N + read.matrix(), F + read.matrix()
            tests = read.refs(1)
        solved = eliminated(I, rate, force)
        if solved is None:
            raise UnsuitedError
        left, step = solved
        b, N, F = eliminated_load(N, F, rate, step)
        test = pivot_stands(link.rates, rate.by_speed[0], step, bounds, tests)
        own = [*listed(step.U), step.inverse, step.u, *_articulated(left), *N.refs, *F.refs, *b.refs]
        if link.parent < 0:
            return [*own, test]
        carried = load_inward(link, N, F)
        return [*own, *_articulated(inward(link, left)), *carried[0].refs, *carried[1].refs, test]

    return write


def _articulated(I: Articulated) -> list[Ref]:
    return [*upper(I.A), *I.B.refs, *upper(I.C), *listed(I.p)]


def _seen(like: Link, blocks: Sequence[str]) -> Write:
    """The step of the second sweep outwards for links as *like*: the acceleration; axes and origin, S, G and beta, and the
    changes with the loads in the frame of the first link of the tree.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = PairOperands(graph, refs)
        R, r = read.matrix(), read.vector()
        link = like_link(like, read, R, r)
        rate = link.rates[0]
        w, _, U2, X2 = read.vector(), read.vector(), read.matrix(), read.vector()
        step = RateSolution(read.wrench(), *read.refs(2))
        left, N, F, b = read.articulated(), read.matrix(), read.matrix(), read.vector()
        twice, first = read.twist(), link.parent < 0
        gravity = read.vector() if first else Vector(graph)
        moved = carried_along(link, Wrench.zero(graph) if first else read.wrench())
        _, own = accelerated_by(step, rate, moved)
        axes, origin = identity(graph), Vector(graph)
        if not first:
            carrier, at = read.matrix(), read.vector()
            axes, origin = axes_beyond(carrier, link), at + carrier @ link.offset
        S, U, a = rate.twist(graph), U2 + skew(own.n), X2 + own.f
        if first:
            changes = {"q": displaced_on_ground(link, S, gravity), "v": Change(Twist.zero(graph), S.w)}
        else:
            by_q = displaced(rate, twice.v, w, a, U)
            changes = {"q": by_q, "v": Change(twice.cross(S), S.w)}
        transmitted = S.cross_wrench(left.p + left.times(moved))
        G, beta = first_row(rate, step, b)
        found = [
            *listed(own),
            *axes.refs,
            *origin.refs,
            *twist_refs(twist_seen((axes, origin), S)),
        ]
        found += [*listed(wrench_seen((axes, origin), G)), *(axes @ beta).refs]
        for block in blocks:
            change = taken_up(changes[block], {(0, 0): rate})
            P = asked(left, N, F, change.X, change.y)
            P = wrench_seen((axes, origin), P + transmitted if block == "q" else P)
            # 2 v x S turns by twice as much as y of a displacement.
            twofold = (axes @ changes["q"].y) * graph.const(2.0) if block == "v" and not first else axes @ change.X.w
            X = Twist(twofold, axes @ change.X.v + origin.cross(twofold))
            found += [*twist_refs(X), *(axes @ change.y).refs, change.taken[0, 0], *listed(P)]
        return found

    return write


def _mobility(graph: Graph, refs: list[Ref]) -> list[Ref]:
    read = PairOperands(graph, refs)
    W, A, u = mobility_beyond(read.mobility(), read.wrench(), read.twist(), *read.refs(1))
    return [graph.guard(u, *read.refs(1)), *twist_refs(A), *(W[a][b] for a, b in SIX)]


def _past(graph: Graph, refs: list[Ref]) -> list[Ref]:
    read = PairOperands(graph, refs)
    G, beta, _ = past(*read.row(), read.twist(), read.row())
    return [*listed(G), *beta.refs]


def _mobile(graph: Graph, refs: list[Ref]) -> list[Ref]:
    read = PairOperands(graph, refs)
    return twist_refs(accelerated(read.mobility(), read.wrench()))


def _forced(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """The acceleration of a link, and that of its rate."""
    read = PairOperands(graph, refs)
    a, G, (test,) = read.twist(), read.wrench(), read.refs(1)
    u = a.work(G)
    return [*twist_refs(a + read.twist() * u), graph.guard(u, test)]


def _apart(graph: Graph, refs: list[Ref]) -> list[Ref]:
    read = PairOperands(graph, refs)
    x = read.twist().work(read.wrench())
    return [graph.guard(x, *read.refs(1))]


def _moved(n: int) -> Write:
    """The step of the answers of a rate to its own *n* changes, and of the accelerations of its link with these."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = PairOperands(graph, refs)
        S, (G, beta), (test,) = read.twist(), read.row(), read.refs(1)
        changes = [(read.twist(), read.vector(), read.refs(1)[0]) for _ in range(n)]
        rest = list(read.rest())
        answers: list[Ref] = []
        totals: list[Ref] = []
        carried = PairOperands(graph, rest)
        W = carried.mobility() if rest else None
        for X, y, taken in changes:
            if W is not None:
                a = accelerated(W, carried.wrench())
                X = Twist(-a.w, -a.v) + X
            u = graph.add(X.work(G), y.dot(beta))
            answers.append(graph.guard(graph.sub(u, taken), test))
            totals += twist_refs(X + S * u)
        return [*answers, *totals]

    return write


def _carrier(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """The answers of the rate of a carrier to loads."""
    read = PairOperands(graph, refs)
    A, (test,) = read.twist(), read.refs(1)
    return [graph.guard(neg(A.work(_wrench(graph, P))), test) for P in _sixes(read)]


def _sixes(read: StepOperands) -> list[list[Ref]]:
    rest = list(read.rest())
    return [rest[k : k + 6] for k in range(0, len(rest), 6)]


def _wrench(graph: Graph, refs: Sequence[Ref]) -> Wrench:
    return Wrench(Vector(graph, *refs[:3]), Vector(graph, *refs[3:]))


def _subtree(n: int) -> Write:
    """The step of the answers of a rate in the subtree of a link to its *n* changes."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = PairOperands(graph, refs)
        (G, beta), (test,) = read.row(), read.refs(1)
        totals = [read.twist() for _ in range(n)]
        return [graph.guard(graph.add(X.work(G), read.vector().dot(beta)), test) for X in totals]

    return write


def _along(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """The accelerations of a carrier, from the answers of its rate and the accelerations of its own carrier."""
    read = PairOperands(graph, refs)
    S, rest = read.twist(), list(read.rest())
    n = len(rest) // 7
    found: list[Ref] = []
    for k, u in enumerate(rest[:n]):
        at = rest[n + 6 * k :]
        found += twist_refs(Twist(Vector(graph, *at[:3]), Vector(graph, *at[3:6])) + S * u)
    return found


def _beside(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """The answers of a rate to the accelerations of the last link that also carries what changes."""
    read = PairOperands(graph, refs)
    G, (test,) = read.wrench(), read.refs(1)
    twists = (Twist(Vector(graph, *x[:3]), Vector(graph, *x[3:])) for x in _sixes(read))
    return [graph.guard(X.work(G), test) for X in twists]


def _with_force(graph: Graph, refs: list[Ref]) -> list[Ref]:
    x, compliance, change = refs
    return [graph.add(x, graph.mul(compliance, change))]


def _loops(name: str, *blocks: str) -> Loops:
    return Loops(lambda d: derivatives(d, name, blocks), lambda: LONG)


#: The derivatives of the accelerations.
LOOPS: Mapping[str, Loops] = {
    "forward_derivatives": _loops("forward_derivatives", "q", "v", "tau"),
    **{f"forward_by_{block}": _loops(f"forward_by_{block}", block) for block in ("q", "v", "tau")},
}
