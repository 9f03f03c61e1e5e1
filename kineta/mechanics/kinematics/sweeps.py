"""The outward and inward sweeps over the links, for time derivatives of any order.

The outward sweep yields derivatives of the motion, *absolute and in link axes*, so that no rotation is differentiated. With
W_k = d^k w/dt^k, U_k = R^T d^k R/dt^k and X_k the k-th derivative of the position of the link's origin::

    W_k   = Q^T W_p,k + sum of C(k, a) U_a e u^(k-a)             e u: the relative angular velocity
    U_k+1 = sum of C(k, a) [W_a x] U_k-a,  U_0 = E               U_1 = [w x],  U_2 = [wdot x] + [w x][w x]
    X_k   = Q^T (X_p,k + U_p,k d)                                plus a translation along its own axis

A particle at r has the derivative X_k + U_k r. All mass enters through its moments m, c = int r dm, S = int r r^T dm about
the link's origin; the wrench of the masses for this derivative is::

    f = m X + U c        n = c x X + vee(U S)        vee(A) = (A_zy - A_yz, A_xz - A_zx, A_yx - A_xy)

For k = 1 these are momentum and angular momentum, for k = 2 the forces of inertia. Inward, wrenches become forces on the
rates, and these forces on the speeds. For k = 1, 2, 3 ... the two sweeps give dK_k/dv^(k-1), K_k = int (r^(k))^2 dm / 2:
the momenta, Newton-Euler, and the gradients of Rodionov's kineta.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import comb
from types import MappingProxyType

from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.mechanics.kinematics.parallel_axes import Arm, along_carrier
from kineta.mechanics.kinematics.tree import Link, Mechanism, Rate
from kineta.mechanics.variables import Symbols
from kineta.passes.time_derivatives import multiple
from kineta.spatial.inertia import Moments
from kineta.spatial.vector import Matrix, Vector, identity, outer, skew, zeros
from kineta.spatial.wrench import Wrench

#: The k-th derivative of a rate.
Level = Callable[[Rate, int], Ref]


class LinkMotion:
    """Time derivatives of the motion of all links; each order is swept outwards when first used.

    level : derivatives of the rates
    ground : derivatives of the ground's origin, by order; gravity enters as ``{2: -gravity}``
    lower : a motion with the same velocities, which are reused
    """

    def __init__(
        self,
        mechanism: Mechanism,
        level: Level,
        ground: Mapping[int, Vector] = MappingProxyType({}),
        lower: LinkMotion | None = None,
    ) -> None:
        graph = self.graph = mechanism.graph
        self.mechanism = mechanism
        self.level = level
        self.ground = ground
        self._W: list[list[Vector]] = lower._W[:1] if lower else []
        self._U: list[list[Matrix]] = lower._U[:2] if lower else [[identity(graph)] * len(mechanism.links)]
        self._X: list[list[Vector]] = lower._X[:2] if lower else [[]]

    def W(self, k: int) -> list[Vector]:
        """The k-th derivatives of the angular velocities."""
        while len(self._W) <= k:
            self._turn(len(self._W))
        return self._W[k]

    def U(self, k: int) -> list[Matrix]:
        """R^T d^k R/dt^k of every link."""
        while len(self._U) <= k:
            order = len(self._U)
            lower = [self.W(a) for a in range(order)]
            self._U.append(
                [_turning(order, [W[i] for W in lower], [U[i] for U in self._U]) for i in range(len(lower[0]))]
            )
        return self._U[k]

    def X(self, k: int) -> list[Vector]:
        """The k-th derivatives of the positions of the origins, k > 0."""
        while len(self._X) <= k:
            self._move(len(self._X))
        return self._X[k]

    def wrenches(self, k: int) -> list[Wrench]:
        """Force and couple of the masses of every link for their k-th derivatives."""
        rows = zip(self.mechanism.links, self.X(k), self.U(k), strict=True)
        return [inertia_wrench(link.moments, x, u) for link, x, u in rows]

    def _turn(self, k: int) -> None:
        """Sweep W_k."""
        if k:
            self.U(k)
        W: list[Vector] = []
        self._W.append(W)
        for i, link in enumerate(self.mechanism.links):
            carrier = W[link.parent] if link.parent >= 0 else Vector(self.graph)
            W.append(self._tidy(turned(link, carrier, self._own_U(i, k + 1), k, self.level)))

    def _move(self, k: int) -> None:
        """Sweep X_k."""
        U = self.U(k)
        X: list[Vector] = []
        base = self.ground.get(k, Vector(self.graph))
        for i, link in enumerate(self.mechanism.links):
            p = link.parent
            x = X[p] if p >= 0 else base
            if link.kind == "free" and p >= 0:
                x = x + self._carried(i, link, k)
            elif p >= 0:
                x = x + U[p] @ link.offset
            X.append(self._tidy(moved(link, x, self._own_U(i, k), k, self.level)))
        self._X.append(X)

    def _tidy(self, v: Vector) -> Vector:
        return Vector(self.graph, *map(self.mechanism.symbols.tidy, v.refs))

    def _own_U(self, i: int, n: int) -> list[Matrix]:
        """U_0 ... U_n-1 of link i."""
        return [self.U(a)[i] for a in range(n)]

    def _carried(self, i: int, link: Link, k: int) -> Vector:
        """Contribution of the rotation of its carrier to X_k of a free motion, whose offset moves in all directions::

        sum of C(k-1, a) W_p,a x D_k-1-a        D_b = Q X_b - X_p,b, D_0 = d
        """
        p, total = link.parent, Vector(self.graph)
        for a in range(k):
            b = k - 1 - a
            D = link.inward(self.X(b)[i]) - self.X(b)[p] if b else link.offset
            total = total + self.W(a)[p].cross(D) * self.graph.const(comb(k - 1, a))
        return total


def turned(link: Link, carrier: Vector, U: Sequence[Matrix], k: int, level: Level) -> Vector:
    """W_k of a *link* from that of its *carrier* and its own U_0 ... U_k."""
    return link.outward(carrier) + _own_terms(link, True, k, U, k, level)


def moved(link: Link, x: Vector, U: Sequence[Matrix], k: int, level: Level) -> Vector:
    """X_k of a *link* from that of its origin held on the carrier, *x* in the axes of the carrier, and its own U_0 ... U_k-1."""
    # U_p,k acts on the offset of a prismatic link: the sum holds the other terms of d^k (R_p d)/dt^k.
    return link.outward(x) + _own_terms(link, False, k if link.kind == "shift" else k - 1, U, k - 1, level)


def _own_terms(link: Link, turns: bool, n: int, U: Sequence[Matrix], k: int, level: Level) -> Vector:
    """Sum of C(n, a) U_a e u^(k-a) over the matrices *U* of a link, for its angular (*turns*) or linear rates."""
    g = link.r.graph
    total = Vector(g)
    for rate in link.rates:
        if rate.turns == turns:
            for a, matrix in enumerate(U):
                total = total + matrix.column(rate.axis) * multiple(g, comb(n, a), level(rate, k - a))
    return total


def velocity_level(rate: Rate, k: int) -> Ref:
    """The level of a motion at the order of velocities."""
    assert k == 0
    return rate.speed


def accelerated(graph: Graph, vdot: Sequence[Ref]) -> Level:
    """The levels 0 and 1 of the rates for the accelerations *vdot*."""

    def level(rate: Rate, k: int) -> Ref:
        if k == 0:
            return rate.speed
        assert k == 1
        return graph.add(graph.sum(graph.mul(partial, vdot[n]) for n, partial in rate.by_speed.items()), rate.bias)

    return level


def leveled(symbols: Symbols) -> Level:
    """The levels of the rates of any order, for the derivatives ``symbols.level(k)`` of the speeds."""
    return lambda rate, k: symbols.levels.of([rate.speed], k)[0]


def _turning(k: int, W: Sequence[Vector], U: Sequence[Matrix]) -> Matrix:
    """U_k from W_0 .. W_k-1 and U_0 .. U_k-1."""
    if k == 1:
        return skew(W[0])
    if k in _CLOSED:
        return _CLOSED[k](*W)
    total = zeros(W[0].graph)
    for a in range(k):
        total = total + skew(W[a] * W[0].graph.const(comb(k - 1, a))).times(U[k - 1 - a])
    return total


def acceleration_matrix(w: Vector, wdot: Vector) -> Matrix:
    """U_2 = [wdot x] + [w x][w x]."""
    graph = w.graph
    add, sub, mul = graph.add, graph.sub, graph.mul
    x, y, z = w.refs
    xx, yy, zz = mul(x, x), mul(y, y), mul(z, z)
    xy, xz, yz = mul(x, y), mul(x, z), mul(y, z)
    a, b, c = wdot.refs
    return Matrix(
        graph,
        (
            (neg(add(yy, zz)), sub(xy, c), add(xz, b)),
            (add(xy, c), neg(add(xx, zz)), sub(yz, a)),
            (sub(xz, b), add(yz, a), neg(add(xx, yy))),
        ),
    )


def _third(w: Vector, w1: Vector, w2: Vector) -> Matrix:
    """U_3 = [(w2 - w^2 w) x] + 2 w w1^T + w1 w^T - 3 (w . w1) E."""
    graph = w.graph
    add, sub = graph.add, graph.sub
    p = outer(w, w1).rows
    x, y, z = (w2 - w * w.dot(w)).refs
    minus_three = graph.const(-3.0)

    def twice(i: int, j: int) -> Ref:
        return add(add(p[i][j], p[j][i]), p[i][j])

    def rest(i: int, j: int) -> Ref:
        return graph.mul(minus_three, add(p[i][i], p[j][j]))

    return Matrix(
        graph,
        (
            (rest(1, 2), sub(twice(0, 1), z), add(twice(0, 2), y)),
            (add(twice(1, 0), z), rest(0, 2), sub(twice(1, 2), x)),
            (sub(twice(2, 0), y), add(twice(2, 1), x), rest(0, 1)),
        ),
    )


_CLOSED: Mapping[int, Callable[..., Matrix]] = {2: acceleration_matrix, 3: _third}


def inertia_wrench(own: Moments, x: Vector, U: Matrix) -> Wrench:
    """Force f and couple n of a mass for the derivatives x + U r (see the module docstring)."""
    A = U.times(own.S)
    sub = U.graph.sub
    vee = Vector(
        U.graph, sub(A.rows[2][1], A.rows[1][2]), sub(A.rows[0][2], A.rows[2][0]), sub(A.rows[1][0], A.rows[0][1])
    )
    return Wrench(x * own.m + U @ own.c, own.c.cross(x) + vee)


def rate_forces(
    mechanism: Mechanism, wrenches: Sequence[Wrench], arms: Mapping[int, Arm] = MappingProxyType({})
) -> dict[tuple[int, int], Ref]:
    """Forces on the rates in equilibrium with the *wrenches* of all links, by (link, rate): the inward sweep::

    phi = e . n  or  e . f          f_p += Q f          n_p += Q n + d x Q f
    """
    links, total = mechanism.links, carried(mechanism, wrenches)
    phi: dict[tuple[int, int], Ref] = {}
    for i in reversed(range(len(links))):
        for j, rate in enumerate(links[i].rates):
            phi[i, j] = (total[i].n if rate.turns else total[i].f)[rate.axis]
    for k, arm in arms.items():
        p = links[k].parent
        phi[p, 0] = mechanism.graph.add(wrenches[p].n[links[p].axis], along_carrier(links[k], links[p], total[k], arm))
    return phi


def carried(mechanism: Mechanism, wrenches: Sequence[Wrench]) -> list[Wrench]:
    """For every link the sum of the *wrenches* of its subtree, about its origin."""
    total = list(wrenches)
    for i in reversed(range(len(mechanism.links))):
        link, own = mechanism.links[i], total[i]
        if link.parent >= 0:
            f = link.inward(own.f)
            total[link.parent] = total[link.parent] + Wrench(f, link.inward(own.n) + link.offset.cross(f))
    return total


def generalized(mechanism: Mechanism, phi: Mapping[tuple[int, int], Ref]) -> list[Ref]:
    """Forces on the speeds from forces on the rates: tau_k = sum of phi du/dv_k."""
    add, mul = mechanism.graph.add, mechanism.graph.mul
    tau = [ZERO] * len(mechanism.symbols.v)
    for (i, j), force in phi.items():
        for k, partial in mechanism.links[i].rates[j].by_speed.items():
            tau[k] = add(tau[k], mul(partial, force))
    return [mechanism.symbols.tidy(force) for force in tau]
