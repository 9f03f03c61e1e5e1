"""What small changes of the motion add to accelerations: of a displacement along a rate, and of the rate itself.

A change of one rate of link i, or of the coordinate behind it, moves all that link i carries as one body. With the unit twist S
of the rate, seen from what is moved along, a particle at r has in addition the acceleration::

    X(r) + 2 y x rdot       X, y = a_p x S + v_p x (v_p x S), w of v_p x S      for a displacement
                            X, y = v_p x S + v_i x S, w of S                    for a change of the rate

X is a field as of a rigid body; velocities v and the acceleration a_p of the carrier are twists at the origin of link i. To
follow, a body has to be given the wrench I X + B y, with the moments I of its mass and::

    B y = 2 (n: tr(T) y - T y,  f: y x p)           p = int rdot dm,  T = int rdot r^T dm

(Carpentier and Mansard, 2018; Singh, Russell and Wensing, 2022.) Velocities are those relative to a free first link: forces on
the rates do not depend on them, but for the acceleration w x v of its origin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics.kinematics.common_frames import CommonFrames
from kineta.mechanics.kinematics.sweeps import acceleration_matrix
from kineta.mechanics.kinematics.tree import At, Link, Mechanism, Rate
from kineta.records import dataclass
from kineta.spatial.inertia import Moments
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Matrix, Vector, along, outer, skew
from kineta.spatial.wrench import Wrench


@dataclass(frozen=True, slots=True)
class Change:
    """The acceleration X(r) + 2 y x rdot, in link axes about the link's origin.

    taken : components of X along rates of the link, which are left out of X: the accelerations that these rates take up
    """

    X: Twist
    y: Vector
    taken: Mapping[At, Ref] = field(default_factory=dict)


class MotionChanges:
    """The changes of all rates of a mechanism in a motion.

    Attributes
    ----------
    w, wdot, a : angular velocities, angular accelerations and accelerations of the origins relative to free fall, of the links
    F : wrenches that carriers pass on to the links
    free : rates that take up themselves what changes add along them
    rates : all rates, carriers first
    carriers : of every link, itself first
    S : the unit twists of the rates
    T, p : of every link by itself, doubled (see the module docstring)
    """

    def __init__(
        self,
        mechanism: Mechanism,
        w: Sequence[Vector],
        wdot: Sequence[Vector],
        a: Sequence[Vector],
        F: Sequence[Wrench],
        free: Collection[At] = (),
    ) -> None:
        self.mechanism, self.graph, self.links = mechanism, mechanism.graph, mechanism.links
        self.w, self.wdot, self.a, self.F, self.free = w, wdot, a, F, free
        self.U = [acceleration_matrix(*both) for both in zip(w, wdot, strict=True)]
        self.rates: list[At] = [(i, j) for i, link in enumerate(self.links) for j in range(len(link.rates))]
        self.S = {(i, j): self.links[i].rates[j].twist(self.graph) for i, j in self.rates}
        self.carriers: list[list[int]] = []
        for i, link in enumerate(self.links):
            self.carriers.append([i, *(self.carriers[link.parent] if link.parent >= 0 else [])])
        self.twice, self.v = self._velocities()
        self.p: list[Vector] = []
        self.T: list[Matrix] = []
        for link, twice in zip(self.links, self.twice, strict=True):
            p, T = doubled_sums(link.moments, twice)
            self.p.append(p)
            self.T.append(T)

    def _velocities(self) -> tuple[list[Twist], list[Vector]]:
        """Twice the velocities of the links, and the velocities of their origins, relative to a free first link. They are doubled
        before they are swept where that is all they are asked for.
        """
        several = any(link.parent >= 0 and len(link.rates) > 1 for link in self.links)
        swept, found = self.graph.const(1.0 if several else 2.0), list[Twist]()
        for link, w in zip(self.links, self.w, strict=True):
            carrier = found[link.parent] if link.parent >= 0 else Twist.zero(self.graph)
            found.append(Twist(w * swept, origin_velocity(link, carrier, swept)))
        double, single = (self.graph.const(x) for x in ((2.0, 1.0) if several else (1.0, 0.5)))
        return [Twist(x.w * double, x.v * double) for x in found], [x.v * single for x in found]

    def by_displacement(self, at: At) -> Change:
        """The change by a unit displacement along the rate *at*."""
        return self._left(at[0], self._by_displacement(at), {})

    def by_rate(self, at: At) -> Change:
        """The change by a unit change of the rate *at*."""
        return self._left(at[0], self._by_rate(at), self.base_rates(at))

    def changes(self, at: At) -> tuple[Change, Change]:
        """The changes by a unit displacement along the rate *at*, and by a unit change of it."""
        return self.by_displacement(at), self.by_rate(at)

    def seen(self, frames: CommonFrames, at: At) -> tuple[Change, Change]:
        """:meth:`changes` in the frame of the link."""
        i, (displaced, changed) = at[0], self.changes(at)
        y = frames.vector(i, displaced.y)
        alone = self.links[i].parent >= 0 and len(self.links[i].rates) == 1
        w = y * self.graph.const(2.0) if alone else None  # v_p x S + v_i x S is then twice v_p x S
        return (
            Change(frames.twist(i, displaced.X), y, displaced.taken),
            Change(frames.twist(i, changed.X, w), frames.vector(i, changed.y), changed.taken),
        )

    def _left(self, i: int, change: Change, more: Mapping[At, Ref]) -> Change:
        """*change* on link i, and *more* accelerations, without what rates take up themselves."""
        rates = {(i, j): rate for j, rate in enumerate(self.links[i].rates) if (i, j) in self.free}
        own = taken_up(change, rates)
        return Change(own.X, own.y, {at: self.graph.add(x, more.get(at, ZERO)) for at, x in own.taken.items()})

    def _by_displacement(self, at: At) -> Change:
        i, j = at
        link, S = self.links[i], self.S[at]
        if link.parent < 0:
            return displaced_on_ground(link, S, self.mechanism.gravity)
        if len(link.rates) > 1:
            return self._carried(link, S)
        return displaced(link.rates[j], self.twice[i].v, self.w[i], self.a[i], self.U[i])

    def _carried(self, link: Link, S: Twist) -> Change:
        p, v = link.parent, self._carrier_velocity(link)
        a = link.outward(self.a[p] + self.U[p] @ link.offset) - v.w.cross(v.v)
        turned = v.cross(S)
        return Change(Twist(link.outward(self.wdot[p]), a).cross(S) + v.cross(turned), turned.w)

    def _by_rate(self, at: At) -> Change:
        g, (i, _) = self.graph, at
        link, S = self.links[i], self.S[at]
        if len(link.rates) == 1:
            return Change(self.twice[i].cross(S) if link.parent >= 0 else Twist.zero(g), S.w)
        turned = Twist(self.w[i], self.v[i]).cross(S)
        if link.parent < 0:
            return Change(turned, S.w)
        return Change(self._carrier_velocity(link).cross(S) + turned, S.w)

    def _carrier_velocity(self, link: Link) -> Twist:
        """The velocity of the carrier at the origin of *link*, in link axes."""
        p = link.parent
        return Twist(link.outward(self.w[p]), link.outward(self.v[p] + self.w[p].cross(link.offset)))

    def base_rates(self, at: At) -> dict[At, Ref]:
        """By how much a change of the turning rate *at* of a free first link changes its linear accelerations, apart from
        :meth:`by_rate`: e x v, by rate.
        """
        i, j = at
        link = self.links[i]
        if link.parent >= 0 or not _free(link) or not link.rates[j].turns:
            return {}
        v = Vector(self.graph)
        for rate in link.rates:
            if not rate.turns:
                v = v.plus(rate.axis, rate.speed)
        x = along(self.graph, link.rates[j].axis).cross(v)
        shifts = ((k, rate) for k, rate in enumerate(link.rates) if not rate.turns)
        return {(i, k): x[rate.axis] for k, rate in shifts if x[rate.axis] != ZERO}


def gyration(T: Matrix) -> Matrix:
    """tr(T) E - T."""
    g, (a, b, c) = T.graph, T.rows
    add = g.add
    rows = (
        (add(b[1], c[2]), neg(a[1]), neg(a[2])),
        (neg(b[0]), add(a[0], c[2]), neg(b[2])),
        (neg(c[0]), neg(c[1]), add(a[0], b[1])),
    )
    return Matrix(g, rows)


def doubled_sums(own: Moments, twice: Twist) -> tuple[Vector, Matrix]:
    """P and T, doubled, of a link with the moments *own* and twice its velocity."""
    return twice.v * own.m + twice.w.cross(own.c), outer(twice.v, own.c) + skew(twice.w).times(own.S)


def origin_velocity(link: Link, carrier: Twist, factor: Ref) -> Vector:
    """The velocity of the origin of *link* times a *factor*, from that of its *carrier*; relative to a free first link."""
    v = link.outward(carrier.v + carrier.w.cross(link.offset)) if link.parent >= 0 else Vector(carrier.v.graph)
    if link.parent >= 0 or not _free(link):
        for rate in link.rates:
            if not rate.turns:
                v = v.plus(rate.axis, carrier.v.graph.mul(factor, rate.speed))
    return v


def displaced_on_ground(link: Link, S: Twist, gravity: Vector) -> Change:
    """The change by a unit displacement along S of a *link* that the ground carries."""
    still = Vector(gravity.graph)
    return Change(Twist(still, link.outward(-gravity).cross(S.w)), still)


def displaced(rate: Rate, twice: Vector, w: Vector, a: Vector, U: Matrix) -> Change:
    """The change by a unit displacement along the only *rate* of a link, which moves with *twice* = 2 v, w, a, U."""
    still = Vector(w.graph)
    if not rate.turns:
        return Change(Twist(still, U.column(rate.axis)), still)
    e = along(w.graph, rate.axis)
    y = w.cross(e)
    return Change(Twist(U.column(rate.axis), a.cross(e) + twice.cross(y)), y)


def taken_up(change: Change, rates: Mapping[At, Rate]) -> Change:
    """*change* on a link without its components along *rates* of the link, which take these up themselves."""
    g, taken = change.y.graph, dict[At, Ref]()
    w, v = [*change.X.w.refs], [*change.X.v.refs]
    for at, rate in rates.items():
        half = w if rate.turns else v
        taken[at], half[rate.axis] = half[rate.axis], ZERO
    return Change(Twist(Vector(g, *w), Vector(g, *v)), change.y, taken)


def _free(link: Link) -> bool:
    return link.kind == "free"
