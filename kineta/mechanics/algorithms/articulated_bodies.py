"""Forward dynamics by articulated bodies (Featherstone; RBDA, section 7.3): cost linear in the number of links.

In link axes about link origins the wrench that a link asks of its motion is affine in its acceleration::

    n = A wdot + B a + p_n          f = B^T wdot + C a + p_f

Accelerations (wdot, a) are those beyond the motion in which no speed changes. This motion, with all that velocities and gravity
ask for, is swept outwards first, as for inverse dynamics; the elimination then knows no velocities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.mechanics.algorithms.composite_bodies import component, composites, momentum_of_rate
from kineta.mechanics.algorithms.rounding_bounds import rate_bounds
from kineta.mechanics.kinematics.sweeps import LinkMotion
from kineta.mechanics.kinematics.tree import Link, Mechanism, Rate, dependent, no_inertia
from kineta.mechanics.linear_algebra.ldl import stands
from kineta.passes.magnitude import running_errors
from kineta.records import dataclass
from kineta.spatial.inertia import symmetric
from kineta.spatial.vector import Matrix, Vector, along, identity, skew
from kineta.spatial.wrench import Wrench


@dataclass(frozen=True, slots=True)
class Articulated:
    """Articulated inertia A, B, C of a link and its subtree, and the wrench p at zero acceleration."""

    A: Matrix
    B: Matrix
    C: Matrix
    p: Wrench

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.A + other.A, self.B + other.B, self.C + other.C, self.p + other.p)

    def times(self, a: Wrench) -> Wrench:
        """The wrench that the acceleration *a* (f: of the origin, n: angular) asks for in addition to p."""
        return Wrench(self.B.T @ a.n + self.C @ a.f, self.A @ a.n + self.B @ a.f)


@dataclass(frozen=True, slots=True)
class RateSolution:
    """The solution for one rate: udot = (u - U . (wdot, a)) / D."""

    U: Wrench
    inverse: Ref
    u: Ref


@dataclass(frozen=True, slots=True)
class ArticulatedBodies:
    """The articulated bodies of a mechanism under forces, and its accelerations.

    left : articulated inertias of the links after the elimination of their rates
    steps : the solutions for the rates that speeds drive, by link and number
    moved : accelerations of the links with their carriers, without own rates (f: of the origin, n: angular), in link axes
    accelerations : of the links
    vdot : accelerations of the speeds
    tests : for every speed what is positive where its acceleration does not depend on a pivot at the level of rounding
    """

    left: Sequence[Articulated]
    steps: Mapping[tuple[int, int], RateSolution]
    moved: Sequence[Wrench]
    accelerations: Sequence[Wrench]
    vdot: Sequence[Ref]
    tests: Sequence[Sequence[Ref]]

    def transmitted(self, i: int) -> Wrench:
        """The wrench that the carrier of link *i* passes on to it, about its origin, in link axes."""
        return self.left[i].p + self.left[i].times(self.moved[i])

    def guarded(self, graph: Graph, refs: Sequence[Ref]) -> list[Ref]:
        """*refs* for the speeds, one for each: NaN where a pivot is at the level of rounding."""
        return [self.guarded_by(graph, k, x) for k, x in enumerate(refs)]

    def guarded_by(self, graph: Graph, speed: int, x: Ref) -> Ref:
        """The reference *x*: NaN where the acceleration of a *speed* depends on a pivot at the level of rounding."""
        return reduce(graph.guard, self.tests[speed], x)


def forward_dynamics(motion: LinkMotion, tau: Sequence[Ref], applied: Mapping[int, Wrench]) -> list[Ref]:
    """Accelerations of the speeds as of :func:`articulated_bodies`; NaN where they depend on a pivot at the level of rounding."""
    found = articulated_bodies(motion, tau, applied)
    return found.guarded(motion.graph, found.vdot)


def articulated_bodies(motion: LinkMotion, tau: Sequence[Ref], applied: Mapping[int, Wrench]) -> ArticulatedBodies:
    """The articulated bodies under the generalised forces *tau* and the wrenches *applied* to the links; *motion* is that in
    which no speed changes.

    For mechanisms whose speeds and rates follow from each other (``leading``), as with absolute coordinates.
    """
    mechanism, links = motion.mechanism, motion.mechanism.links
    phi = _rate_forces(mechanism, tau)
    own = [rigid(link, p, applied.get(i)) for i, (link, p) in enumerate(zip(links, motion.wrenches(2), strict=True))]
    steps: dict[tuple[int, int], RateSolution] = {}
    tests: list[list[Ref]] = [[] for _ in links]  # of the pivots of a link and its subtree
    bounds = dict(rate_bounds(mechanism))
    for i in reversed(range(len(links))):
        link = links[i]
        for j in reversed(range(len(link.rates))):
            if (i, j) not in phi:
                continue
            found = eliminated(own[i], link.rates[j], phi[i, j])
            if found is None:
                raise _singular(mechanism, (i, j))
            own[i], step = found
            steps[i, j] = step
            sizes = [bounds[i, k] for k in range(j + 1)]
            leading = link.rates[j].by_speed[(mechanism.leading or {})[i, j]]
            tests[i] = [pivot_stands(link.rates[: j + 1], leading, step, sizes, tests[i])]
            bounds.update({(i, k): size for k, size in enumerate(sizes)})
        if link.parent >= 0:
            own[link.parent] = own[link.parent] + inward(link, own[i])
            tests[link.parent] += tests[i]
    return ArticulatedBodies(own, steps, *_outward(mechanism, steps), _decisive(mechanism, tests))


def pivot_stands(
    rates: Sequence[Rate], leading: Ref, step: RateSolution, bounds: list[Ref], others: Sequence[Ref]
) -> Ref:
    """Return a reference that is positive where the pivot of the last of the *rates* of a link, and *others*, exceed rounding
    errors; *leading* is its derivative by its leading speed. The *bounds* of the rates before it grow by the errors of this
    pivot.
    """
    graph = step.U.f.graph
    for k, other in enumerate(rates[:-1]):
        L = graph.mul(component(step.U, other), step.inverse)
        bounds[k] = graph.add(bounds[k], graph.mul(graph.mul(L, L), bounds[-1]))
    # Not at dead centres, where the speed moves no inertia.
    moved = stands(graph, leading, *running_errors(graph, [leading]))
    return stands(graph, component(step.U, rates[-1]), bounds[-1], moved, *others)


def _decisive(mechanism: Mechanism, tests: Sequence[Sequence[Ref]]) -> list[Sequence[Ref]]:
    """For every speed, the *tests* of the root links on which it depends: those of its own tree, or of all trees that may share
    it.
    """
    grounded = [i for i, link in enumerate(mechanism.links) if link.parent < 0]
    if not mechanism.one_to_one:
        return [[test for i in grounded for test in tests[i]]] * len(mechanism.symbols.v)
    decisive: dict[int, Sequence[Ref]] = {}
    tree: list[int] = []
    for i, link in enumerate(mechanism.links):
        tree.append(tree[link.parent] if link.parent >= 0 else i)
        decisive |= {k: tests[tree[i]] for rate in link.rates for k in rate.by_speed}
    return [decisive[k] for k in range(len(mechanism.symbols.v))]


def _rate_forces(mechanism: Mechanism, tau: Sequence[Ref]) -> dict[tuple[int, int], Ref]:
    """Forces phi on the rates with tau_k = sum of phi du/dv_k, from the tips inwards: the last rate with a speed comes first."""
    graph = mechanism.graph
    rest = list(tau)
    phi: dict[tuple[int, int], Ref] = {}
    for (i, j), k in reversed((mechanism.leading or {}).items()):
        by_speed = mechanism.links[i].rates[j].by_speed
        phi[i, j] = graph.div(rest[k], by_speed[k])
        for m, partial in by_speed.items():
            if m != k:
                rest[m] = graph.sub(rest[m], graph.mul(partial, phi[i, j]))
    return phi


def rigid(link: Link, p: Wrench, applied: Wrench | None = None) -> Articulated:
    """The articulated inertia of a *link* alone, with the wrench *p* of its masses in the motion without changes of speeds."""
    own, graph = link.moments, link.moments.c.graph
    return Articulated(own.J, skew(own.c), identity(graph).scaled(own.m), p if applied is None else p - applied)


def eliminated(I: Articulated, rate: Rate, phi: Ref) -> tuple[Articulated, RateSolution] | None:
    """The articulated inertia *I* after elimination of a *rate* under its force *phi*; None where the rate moves nothing::

    u = phi - e . p        I - U U^T / D        p + U u / D
    """
    graph, e = I.p.f.graph, rate.axis
    U = Wrench(I.B.row(e), I.A.column(e)) if rate.turns else Wrench(I.C.column(e), I.B.column(e))
    D = component(U, rate)
    if D == ZERO:
        return None
    inverse = graph.div(ONE, D)
    u = graph.sub(phi, component(I.p, rate))
    n, f = U.n * inverse, U.f * inverse
    left = Articulated(
        _without(I.A, n, U.n, e if rate.turns else -1),
        _without(I.B, n, U.f, e if rate.turns else -1, -1 if rate.turns else e),
        _without(I.C, f, U.f, -1 if rate.turns else e),
        _transmitted(I.p + Wrench(f * u, n * u), rate, phi),
    )
    return left, RateSolution(U, inverse, u)


def _transmitted(p: Wrench, rate: Rate, phi: Ref) -> Wrench:
    """*p* with its component along the *rate*, which is the force on it."""
    parts = [[*p.f.refs], [*p.n.refs]]
    parts[rate.turns][rate.axis] = phi
    f, n = (Vector(p.f.graph, *part) for part in parts)
    return Wrench(f, n)


def _singular(mechanism: Mechanism, at: tuple[int, int]) -> ModelError:
    """The error for the rate *at* (link, number), which moves no inertia."""
    speed = (mechanism.leading or {})[at]
    rate, K = mechanism.links[at[0]].rates[at[1]], composites(mechanism)[at[0]]
    alone = component(momentum_of_rate(mechanism.graph, rate, K), rate) == ZERO
    return (no_inertia if alone else dependent)(mechanism, speed)


def _without(M: Matrix, a: Vector, b: Vector, row: int, column: int | None = None) -> Matrix:
    """M - a b^T, where *row* and *column* are structurally zero (-1: none; by default the column is the row)."""
    sub, mul = M.graph.sub, M.graph.mul
    j0 = row if column is None else column
    return Matrix(
        M.graph,
        [[ZERO if i == row or j == j0 else sub(M.rows[i][j], mul(a[i], b[j])) for j in range(3)] for i in range(3)],
    )


def inward(link: Link, I: Articulated) -> Articulated:
    """*I* of a link in the axes of its parent, about the origin of the parent::

    C' = C        B' = B + [d] C        A' = A - B [d] + [d] B'^T
    """
    A, B, C = (link.matrix_inward(M) for M in (I.A, I.B, I.C))
    f = link.inward(I.p.f)
    d = link.offset
    p = Wrench(f, link.inward(I.p.n) + d.cross(f))
    if not d.is_zero:
        D = skew(d)
        A, B = A - B.times(D), B + D.times(C)
        A = A + D.times(B.T)
    return Articulated(symmetric(A), B, symmetric(C), p)


def _outward(
    mechanism: Mechanism, steps: Mapping[tuple[int, int], RateSolution]
) -> tuple[list[Wrench], list[Wrench], list[Ref]]:
    """Accelerations by the sweep outwards, udot = (u - U . (wdot, a)) / D: of the links with their carriers, of the links, of the
    speeds.
    """
    graph = mechanism.graph
    leading = mechanism.leading or {}
    vdot = [ZERO] * len(mechanism.symbols.v)
    moved: list[Wrench] = []
    accelerations: list[Wrench] = []
    for i, link in enumerate(mechanism.links):
        at = accelerations[link.parent] if link.parent >= 0 else Wrench.zero(graph)
        own = carried_along(link, at)
        moved.append(own)
        for j, rate in enumerate(link.rates):
            if (step := steps.get((i, j))) is None:
                continue
            k = leading[i, j]
            udot, own = accelerated_by(step, rate, own)
            known = graph.sum([graph.mul(partial, vdot[m]) for m, partial in rate.by_speed.items() if m != k])
            vdot[k] = graph.div(graph.sub(udot, known), rate.by_speed[k])
        accelerations.append(own)
    return moved, accelerations, vdot


def carried_along(link: Link, at: Wrench) -> Wrench:
    """The acceleration of a *link* with its carrier, whose own is *at* (f: of the origin, n: angular)."""
    return Wrench(link.outward(at.f + at.n.cross(link.offset)), link.outward(at.n))


def accelerated_by(step: RateSolution, rate: Rate, own: Wrench) -> tuple[Ref, Wrench]:
    """The acceleration udot of a *rate* on the acceleration *own* of its link, and this with udot."""
    graph = own.f.graph
    resisted = graph.add(step.U.f.dot(own.f), step.U.n.dot(own.n))
    udot = graph.mul(graph.sub(step.u, resisted), step.inverse)
    e = along(graph, rate.axis, udot)
    return udot, own + (Wrench(Vector(graph), e) if rate.turns else Wrench(e, Vector(graph)))
