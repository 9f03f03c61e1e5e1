"""Derivatives of forward dynamics by articulated bodies, without the mass matrix and without derivatives of the forces.

A change X, y (``motion_changes``) on a rate j of link i makes the articulated bodies that link i carries ask its carrier for the
load P in addition; B is reduced with the articulated inertia I of the links, rate by rate::

    P = I X + B y,  for displacements + S_j x* F_i          B -= U b^T / D,  b = S^T B

For every rate, rows G, beta say how it answers to the acceleration of a link that carries it and to a y that begins there, and
columns A how links move under a unit force on it. They begin with G = -U / D, beta = -b / D, and go on over the rates c between::

    inwards    g = G . S_c      G += g G_c      beta += g beta_c
    outwards   A += S_c udot_c,  udot_c = G_c . A                      entries of the inverse of the mass matrix

The rate b answers to a change on link i, whose acceleration with it is a_i, by::

    -A_b . P   where b carries i        G . a_i + beta . y   within link i        G . a_k   elsewhere, k the last common carrier
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import MINUS_ONE, ZERO, Ref, neg
from kineta.mechanics.algorithms.articulated_bodies import Articulated, ArticulatedBodies, RateSolution
from kineta.mechanics.algorithms.inverse_derivatives import Pairs
from kineta.mechanics.algorithms.motion_changes import Change, MotionChanges, gyration
from kineta.mechanics.kinematics.common_frames import CommonFrames, Sharing, hubs
from kineta.mechanics.kinematics.tree import At, Link, Rate
from kineta.records import dataclass
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Matrix, Vector, outer, skew
from kineta.spatial.wrench import Wrench

#: Links of a chain from which on the accelerations of carriers follow from mobilities, matrices (6, 6) of the links.
FAR = 16


@dataclass(frozen=True, slots=True)
class RateAnswers:
    """Derivatives of the accelerations of the rates (rows) by displacements along the rates, by the rates, by forces on them."""

    by_displacement: Pairs
    by_rate: Pairs
    by_force: Pairs


@dataclass(frozen=True, slots=True)
class _Row:
    """How a rate answers to an acceleration (G) and to a field y (beta)."""

    G: Wrench
    beta: Vector


class Loads:
    """B of the articulated bodies of all links, n = N y and f = F y, and the rows b of the rates."""

    def __init__(self, m: MotionChanges, bodies: ArticulatedBodies) -> None:
        self.bodies = bodies
        self.N, self.F = [gyration(T) for T in m.T], [skew(-p) for p in m.p]
        self.b: dict[At, Vector] = {}
        for i in reversed(range(len(m.links))):
            link = m.links[i]
            for j in reversed(range(len(link.rates))):
                if (i, j) in bodies.steps:
                    self._eliminate(link, (i, j))
            if link.parent >= 0:
                n, f = load_inward(link, self.N[i], self.F[i])
                self.N[link.parent], self.F[link.parent] = self.N[link.parent] + n, self.F[link.parent] + f

    def _eliminate(self, link: Link, at: At) -> None:
        i, steps = at[0], self.bodies.steps
        self.b[at], self.N[i], self.F[i] = eliminated_load(self.N[i], self.F[i], link.rates[at[1]], steps[at])

    def load(self, i: int, X: Twist, y: Vector) -> Wrench:
        """I X + B y of link i."""
        return asked(self.bodies.left[i], self.N[i], self.F[i], X, y)


def eliminated_load(N: Matrix, F: Matrix, rate: Rate, step: RateSolution) -> tuple[Vector, Matrix, Matrix]:
    """B of a *rate*, and N and F after its elimination."""
    b = (N if rate.turns else F).row(rate.axis)
    share = b * step.inverse
    N, F = N - outer(step.U.n, share), F - outer(step.U.f, share)
    return (b, _without_row(N, rate.axis), F) if rate.turns else (b, N, _without_row(F, rate.axis))


def load_inward(link: Link, N: Matrix, F: Matrix) -> tuple[Matrix, Matrix]:
    """N and F of a *link* for its carrier, about the origin of this."""
    n, f = link.matrix_inward(N), link.matrix_inward(F)
    return n + skew(link.offset).times(f), f


def asked(left: Articulated, N: Matrix, F: Matrix, X: Twist, y: Vector) -> Wrench:
    """I X + B y of a link whose rates are eliminated, with the articulated inertia *left*."""
    return left.times(Wrench(X.v, X.w)) + Wrench(F @ y, N @ y)


def first_row(rate: Rate, step: RateSolution, b: Vector) -> tuple[Wrench, Vector]:
    """G = -U / D, whose component along the *rate* is -1, and beta = -b / D, in link axes."""
    scale = neg(step.inverse)
    parts = [[*(step.U.f * scale).refs], [*(step.U.n * scale).refs]]
    parts[rate.turns][rate.axis] = MINUS_ONE
    f, n = (Vector(b.graph, *part) for part in parts)
    return Wrench(f, n), b * scale


def past(G: Wrench, beta: Vector, S: Twist, first: tuple[Wrench, Vector]) -> tuple[Wrench, Vector, Ref]:
    """The row G, beta beyond a rate S with the row *first*, and how it answers to the rate."""
    x = S.work(G)
    return G + Wrench(first[0].f * x, first[0].n * x), beta + first[1] * x, x


#: How a link answers to wrenches on it, (6, 6), symmetric: turning first.
Mobility = list[list[Ref]]


def mobility_beyond(W: Mobility, G: Wrench, S: Twist, inverse: Ref) -> tuple[Mobility, Twist, Ref]:
    """The mobility behind a rate S with the row G and the pivot D, where all are seen in one frame, and the accelerations A of
    the link and u of the rate under a unit force on this::

    W += S h^T + A S^T,  h = W G,  u = 1 / D + G . h,  A = h + u S
    """
    g = G.f.graph
    under = accelerated(W, G)
    u = g.add(under.work(G), inverse)
    A = under + S * u
    S6, h, A6 = ((*x.w.refs, *x.v.refs) for x in (S, under, A))
    found = [list(row) for row in W]
    for a in range(6):
        for b in range(a, 6):
            found[a][b] = found[b][a] = g.sum([W[a][b], g.mul(S6[a], h[b]), g.mul(A6[a], S6[b])])
    return found, A, u


def accelerated(W: Mobility, F: Wrench) -> Twist:
    """The acceleration W F."""
    g, F6 = F.f.graph, (*F.n.refs, *F.f.refs)
    x = [g.sum(g.mul(w, y) for w, y in zip(row, F6, strict=True)) for row in W]
    return Twist(Vector(g, *x[:3]), Vector(g, *x[3:]))


def _without_row(M: Matrix, e: int) -> Matrix:
    return Matrix(M.graph, [(ZERO,) * 3 if i == e else row for i, row in enumerate(M.rows)])


class _Answers:
    """The rows of all rates at the links that carry them, in the frames of these links, and the columns A."""

    def __init__(self, m: MotionChanges, frames: CommonFrames, loads: Loads, *, far: bool) -> None:
        self.m, self.frames, self.steps = m, frames, loads.bodies.steps
        self.rates = [at for at in m.rates if at in self.steps]
        self.of_link: list[list[At]] = [[] for _ in m.links]
        for at in self.rates:
            self.of_link[at[0]].append(at)
        self.S = {at: frames.twist(at[0], m.S[at]) for at in self.rates}
        self.first = {at: self._first(at, loads) for at in self.rates}
        self.own: dict[At, _Row] = {}
        self.rows: dict[tuple[At, int], _Row] = {}
        self.within: Pairs = {}
        for at in self.rates:
            self._row(at)
        self.by_force: Pairs = {}
        self.A: dict[tuple[At, int], Twist] = {}
        self.mobility = self._mobilities() if far else None
        for at in self.rates:
            self._force(at)

    def _first(self, at: At, loads: Loads) -> _Row:
        """The row of a rate at its own link."""
        i, j = at
        G, beta = first_row(self.m.links[i].rates[j], self.steps[at], loads.b[at])
        return _Row(self.frames.wrench(i, G), self.frames.vector(i, beta))

    def _row(self, at: At) -> None:
        """Sweep the row of the rate *at* inwards."""
        frames, (k, j) = self.frames, at
        row = self.first[at]
        for c in reversed([c for c in self.of_link[k] if c[1] < j]):
            row, self.within[at, c] = self._past(row, c)
        self.own[at] = row
        while (up := self.m.links[k].parent) >= 0:
            row = _Row(frames.inward(k, row.G), frames.vector_inward(k, row.beta))
            k = up
            self.rows[at, k] = row
            for c in reversed(self.of_link[k]):
                row, _ = self._past(row, c)

    def _past(self, row: _Row, c: At) -> tuple[_Row, Ref]:
        first = self.first[c]
        G, beta, x = past(row.G, row.beta, self.S[c], (first.G, first.beta))
        return _Row(G, beta), x

    def _mobilities(self) -> list[Mobility]:
        """The mobility of each link."""
        found: list[Mobility] = []
        for i, link in enumerate(self.m.links):
            W = found[link.parent] if link.parent >= 0 else [[ZERO] * 6 for _ in range(6)]
            for at in self.of_link[i]:
                W, *_ = mobility_beyond(W, self.first[at].G, self.S[at], self.steps[at].inverse)
            found.append(W)
        return found

    def carriers_moved(self, i: int, P: Wrench, answer: Mapping[At, Ref]) -> dict[int, Twist]:
        """Accelerations of link i, which asks for *P* in addition, and of its carriers, whose rates have the *answer*."""
        m = self.m
        found: dict[int, Twist] = {}
        if i >= 0 and self.mobility is not None:
            a = accelerated(self.mobility[i], P)
            return {i: Twist(-a.w, -a.v)}
        a = Twist.zero(m.graph)
        for k in reversed(m.carriers[i]) if i >= 0 else ():
            a = self.frames.outward(k, a) if m.links[k].parent >= 0 else a
            for at in self.of_link[k]:
                a = a + self.S[at] * answer[at]
            found[k] = a
        return found

    def _force(self, c: At) -> None:
        """The accelerations under a unit force on the rate *c*, of all that its link carries."""
        m, g, M, i = self.m, self.m.graph, self.by_force, c[0]
        p = m.links[i].parent
        carriers = {at: M[c, at] for k in m.carriers[i][1:] for at in self.of_link[k]}
        at: dict[int, Twist] = {}
        if p >= 0:
            G = self.rows[c, p].G
            at = self.carriers_moved(p, Wrench(-G.f, -G.n), carriers)
        for k in range(i, len(m.links)):
            if i not in m.carriers[k]:
                continue
            p = m.links[k].parent
            a = self.frames.outward(k, at[p]) if p >= 0 else Twist.zero(g)
            for b in self.of_link[k]:
                u = a.work(self.first[b].G)
                if k == i and b[1] < c[1]:
                    u = g.add(u, g.mul(self.within[c, b], self.steps[b].inverse))
                elif b == c:
                    u = g.add(u, self.steps[b].inverse)
                M.setdefault((b, c), u)
                M.setdefault((c, b), M[b, c])
                a = a + self.S[b] * M[b, c]
            at[k] = self.A[c, k] = a
        for b in self.rates:
            if (b, c) not in M:
                k = self.common(b[0], i)
                M[b, c] = M[c, b] = at[k].work(self.rows[b, k].G) if k >= 0 else ZERO

    def to(self, at: At, change: Change, P: Wrench) -> dict[At, Ref]:
        """The answers of all rates to a *change* on the rate *at*, in the frame of its link, with the load *P*."""
        m, g, frames, i = self.m, self.m.graph, self.frames, at[0]
        p, X, y = m.links[i].parent, change.X, change.y
        answer = {b: neg(x) for b, x in change.taken.items()}
        a: dict[int, Twist] = {}
        if p >= 0:
            P = frames.inward(i, P)
            carriers = {b: neg(self.A[b, p].work(P)) for k in m.carriers[p] for b in self.of_link[k]}
            answer |= carriers
            a = self.carriers_moved(p, P, carriers)
            X = frames.outward(i, a[p]) + X
        total = X
        for b in self.of_link[i]:
            row = self.own[b]
            u = g.add(X.work(row.G), y.dot(row.beta))
            total = total + self.S[b] * u
            answer[b] = g.add(u, answer.get(b, ZERO))
        for b in self.rates:
            if b in answer:
                continue
            if i in m.carriers[b[0]]:
                row = self.rows[b, i]
                answer[b] = g.add(total.work(row.G), y.dot(row.beta))
            else:
                k = self.common(b[0], i)
                answer[b] = a[k].work(self.rows[b, k].G) if k >= 0 else ZERO
        return answer

    def common(self, i: int, k: int) -> int:
        """The last link that carries both links; -1 for the ground."""
        return next((x for x in self.m.carriers[k] if x in self.m.carriers[i]), -1)


def rate_answers(m: MotionChanges, bodies: ArticulatedBodies, sharing: Sharing) -> RateAnswers:
    """The derivatives in the motion of *m* with the accelerations of *bodies*, whose rates are free; answers are swept in the
    frames of *sharing*.
    """
    frames = CommonFrames(m.mechanism, hubs(m.mechanism, sharing))
    loads = Loads(m, bodies)
    chain = all(link.parent == i - 1 for i, link in enumerate(m.links))
    answers = _Answers(m, frames, loads, far=chain and len(m.links) > FAR and len(set(frames.hub)) == 1)
    found = RateAnswers({}, {}, answers.by_force)
    for at in answers.rates:
        i, moved = at[0], m.S[at].cross_wrench(m.F[at[0]])
        ways = zip((found.by_displacement, found.by_rate), m.changes(at), m.seen(frames, at), strict=True)
        for (pairs, own, seen), more in zip(ways, (moved, Wrench.zero(m.graph)), strict=True):
            P = frames.wrench(i, loads.load(i, own.X, own.y) + more)
            pairs.update(((b, at), x) for b, x in answers.to(at, seen, P).items())
    return found
