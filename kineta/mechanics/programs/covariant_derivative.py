"""Covariant derivatives of forces along a motion (theory R.7, law C).

A covector u of forces on the speeds represents the field of forces m y on the particles of a system, y = sum of w_k e_k with
M w = u, tangent to the configuration manifold of motions and constraints. Its covariant derivative is::

    Du/dt = du/dt - G(w)          G_k(w) = sum over particles of m y . d(e_k)/dt

No Christoffel symbols are formed: G takes one inward sweep of p = sum m y, H = sum (x - o) x m y, Z = sum m xdot x y. A
rotation about a through o adds (w x a) . H + a . (Z - odot x p), a translation along a adds (w x a) . p. An inertia I on the
rate k of an expression is a particle on a line: with y = w . dk/dv it adds I y d(dk/dv)/dt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb

from kineta.expr.graph import ZERO, Ref, neg
from kineta.expr.walk import reachable
from kineta.mechanics.constraints.kkt import kkt_factors
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.from_residual import orders
from kineta.mechanics.kinematics.sweeps import inertia_wrench
from kineta.mechanics.linear_algebra.ldl import sparse
from kineta.passes.substitute import substitute
from kineta.passes.time_derivatives import TimeDerivatives, multiple
from kineta.spatial.vector import Matrix, Vector, along, skew

#: The connection term G(w) of a derivation, with derivatives along the motion.
Connection = Callable[[Derivation, Sequence[Ref], TimeDerivatives], list[Ref]]


def connection(d: Derivation, w: Sequence[Ref], levels: TimeDerivatives) -> list[Ref]:
    """The connection term G(w), (nv,); *levels* are derivatives along the motion."""
    mechanism, kinematics, g = d.mechanism, d.kinematics, d.graph
    P, H, Z = [], [], []
    fields = zip(mechanism.links, *_field(d, w), kinematics.v, kinematics.w, strict=True)
    for link, y, A, v, omega in fields:
        own, wrench = link.moments, inertia_wrench(link.moments, y, A)
        AS = A.times(own.S)
        trace = g.sum(AS.rows[i][i] for i in range(3))
        P.append(wrench.f)
        H.append(wrench.n)
        Z.append(v.cross(wrench.f) + omega.cross(own.c).cross(y) + AS.T @ omega - omega * trace)
    found = [ZERO] * len(d.symbols.v)
    for i in reversed(range(len(mechanism.links))):
        link = mechanism.links[i]
        spin = Z[i] - kinematics.v[i].cross(P[i])
        for rate in link.rates:
            axis = along(g, rate.axis)
            turned = kinematics.w[i].cross(axis)
            work = g.add(turned.dot(H[i]), axis.dot(spin)) if rate.turns else turned.dot(P[i])
            plain = (H[i] if rate.turns else P[i])[rate.axis]
            for k, partial in rate.by_speed.items():
                (changing,) = levels.of([partial], 1)
                found[k] = g.sum([found[k], g.mul(partial, work), g.mul(changing, plain)])
        if link.parent >= 0:
            f, p = link.inward(P[i]), link.parent
            P[p], Z[p] = P[p] + f, Z[p] + link.inward(Z[i])
            H[p] = H[p] + link.inward(H[i]) + link.offset.cross(f)
    for element in inertia_elements.given(d.symbols):
        I, k = inertia_elements.rate(d.symbols, element)
        partials = d.symbols.by_speed(k)
        p = g.mul(I, g.sum(g.mul(partial, w[j]) for j, partial in partials.items()))
        for j, changing in zip(partials, levels.of(list(partials.values()), 1), strict=True):
            found[j] = g.add(found[j], g.mul(p, changing))
    return found


def _field(d: Derivation, w: Sequence[Ref]) -> tuple[list[Vector], list[Matrix]]:
    """The field of the virtual speeds *w* in link axes: its value at the origins of the links, and the matrix of its rotation."""
    g = d.graph
    Y: list[Vector] = []
    E: list[Vector] = []
    for link in d.mechanism.links:
        e, y = Vector(g), Vector(g)
        if link.parent >= 0:
            e, y = E[link.parent], Y[link.parent] + E[link.parent].cross(link.offset)
        e, y = link.outward(e), link.outward(y)
        for rate in link.rates:
            speed = g.sum(g.mul(partial, w[k]) for k, partial in rate.by_speed.items())
            e, y = (e.plus(rate.axis, speed), y) if rate.turns else (e, y.plus(rate.axis, speed))
        E.append(e)
        Y.append(y)
    return Y, [skew(e) for e in E]


class Tangents:
    """The tangent fields of covectors, w with M w = u + A^T nu, A w = 0, and their derivatives along the motion.

    Solutions are not differentiated: fields are variables, whose derivatives follow from the differentiated equations::

        K x^(k) = b^(k) - sum of C(k, i) K^(k-i) x^(i), i < k          K = (M, -A^T; A, 0)
    """

    def __init__(self, d: Derivation, connection: Connection = connection) -> None:
        self.d = d
        self.connection = connection
        self.n = len(d.symbols.v)
        self.levels = TimeDerivatives(d.graph, self._rate)
        self._sides: list[Sequence[Ref]] = []
        self._places: dict[str, tuple[int, int]] = {}
        self._known: dict[str, Ref] = {}

    def of(self, u: Sequence[Ref]) -> tuple[list[Ref], list[Ref]]:
        """The field w of the covector *u*, and the constraint reactions nu that remove its normal part, as variables."""
        self._sides.append([*u, *[ZERO] * len(self.d.rows)])
        x = self._variables(len(self._sides) - 1, 0)
        return x[: self.n], [neg(y) for y in x[self.n :]]

    def derivative(self, u: Sequence[Ref]) -> list[Ref]:
        """The covariant derivative Du/dt of the tangent part of *u*, up to constraint reactions."""
        g = self.d.graph
        w, nu = self.of(u)
        turned = self.connection(self.d, w, self.levels)
        found = [g.sub(rate, G) for rate, G in zip(self.levels.of(u, 1), turned, strict=True)]
        for row, reaction in zip(self.d.rows, nu, strict=True):
            for k, rate in zip(row.gradient, self.levels.of(list(row.gradient.values()), 1), strict=True):
                found[k] = g.add(found[k], g.mul(rate, reaction))
        return found

    def solved(self, refs: Sequence[Ref]) -> list[Ref]:
        """*refs* with the values of the variables."""
        g = self.d.graph
        below = (g.name(2 * i) for i in reachable(g, refs))
        for stage, k in sorted({self._places[n] for n in below if n in self._places}):
            self._solve(stage, k)
        return substitute(g, refs, self._known)

    def _solve(self, stage: int, k: int) -> None:
        """Solve for the variables of a *stage*, differentiated *k* times."""
        g, names = self.d.graph, self._names(stage, k)
        if names[0] in self._known:
            return
        right = self.solved(self.levels.of(self._sides[stage], k))
        for i in range(k):
            self._solve(stage, i)
            lower = [self._known[n] for n in self._names(stage, i)]
            for j, x in enumerate(self._product(k - i, lower)):
                right[j] = g.sub(right[j], multiple(g, comb(k, i), x))
        found = kkt_factors(self.d, self.d.rows, orders(self.d)[0]).solve(right[: self.n], right[self.n :])
        self._known |= dict(zip(names, found, strict=True))

    def _product(self, order: int, x: Sequence[Ref]) -> list[Ref]:
        """The derivative of K of this *order*, times *x*."""
        g, n = self.d.graph, self.n
        entries = self.d.symbols.levels.of(self.d["mass_matrix"].refs, order)
        found = [g.sum(g.mul(a, x[k]) for k, a in row.items()) for row in sparse(entries, n)]
        for i, row in enumerate(self.d.rows):
            gradient = dict(
                zip(row.gradient, self.d.symbols.levels.of(list(row.gradient.values()), order), strict=True)
            )
            for k, a in gradient.items():
                found[k] = g.add(found[k], g.mul(a, x[n + i]))
            found.append(g.sum(g.mul(a, x[k]) for k, a in gradient.items()))
        return found

    def _names(self, stage: int, k: int) -> list[str]:
        """Names of the variables of a *stage*, differentiated *k* times."""
        return [f"field {stage}.{j}" + "'" * k for j in range(len(self._sides[stage]))]

    def _variables(self, stage: int, k: int) -> list[Ref]:
        names = self._names(stage, k)
        self._places |= dict.fromkeys(names, (stage, k))
        return [self.d.graph.symbol(n) for n in names]

    def _rate(self, symbol: Ref) -> Ref:
        """The rate of a *symbol* along the motion."""
        name = self.d.graph.name(symbol) or ""
        if name not in self._places:
            return self.d.symbols.rate(symbol)
        stage, k = self._places[name]
        return self._variables(stage, k + 1)[self._names(stage, k).index(name)]
