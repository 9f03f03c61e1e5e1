"""Boxes that touch each other: corners on faces, edges across edges, and which of them may touch.

A place is smooth: a corner against the plane of a face, or an edge against an edge, both as lines. Two boxes are apart by the
largest of the separations along 15 axes, the faces of both and the normals e x f of their edges (Gottschalk, Lin, Manocha 1996).
What may touch lies along one of them that is as large but for a little, and within its face or both of its edges: places of other
axes are those of faces that lie flush, which block nothing.

Edges touch on the sides that face each other. Along a normal n the axis of a box with the larger component of n, the *first*,
tells the side; along the other both edges may touch, as where faces lie on each other. What touches is called by the product of
its sign along the other axis and that of n along the first, which changes neither where the other component of n is zero, nor
where both are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from kineta import tolerances
from kineta.algebra.expression import Expr, expr
from kineta.algebra.functions import maximum, minimum, sign, sqrt, step
from kineta.model.constraints.three import Three, cross, dot, moved, scaled
from kineta.records import dataclass

#: Part of the smallest side by which a separation may fall short of the largest, and a place may be deep.
SHARE = 0.01
#: Square of the sine of the angle of two edges or axes below which they are parallel, and touch at their ends: the normal turns
#: too fast, what is nearest wanders, while the gap where they cross grows by this part of the product of half lengths [1/m].
PARALLEL = tolerances.SINGULARITY_TOLERANCE**2
#: Square of the cosine of two normals that are alike, and the sine by which a normal may leave the directions between faces.
ALIGNED, BEYOND = 0.5, 0.1
#: Pairs of boxes whose largest separation is kept, those last used: features of one pair follow each other.
PAIRS = 8
#: The names of features: a corner of the first box on a face of the second, one of the second on a face of the first, two edges.
CORNER_DOWN, CORNER_UP, EDGES = range(3)


@dataclass(frozen=True, slots=True)
class BoxPlace:
    """Gap, normal and arm of a feature of two boxes; the way it has until it touches no more; 1 where it may touch, else 0."""

    gap: Expr
    normal: Three
    arm: Three
    room: Expr
    over: Expr


def features() -> dict[str, tuple[int, ...]]:
    """All features of two boxes by name: kind, then the signs of a corner and the axis of a face, or the axes of edges and what
    they are called.
    """
    found = dict[str, tuple[int, ...]]()
    for word, kind in (("corner", CORNER_DOWN), ("other_corner", CORNER_UP)):
        for i, signs in enumerate(product((-1, 1), repeat=3), 1):
            found |= {f"{word}{i}_{'xyz'[k]}": (kind, *signs, k) for k in range(3)}
    called = [*product((-1, 1), repeat=2)]
    for i, j in product(range(3), repeat=2):
        found |= {f"edges_{'xyz'[i]}{'xyz'[j]}{n}": (EDGES, i, j, *own) for n, own in enumerate(called, 1)}
    return found


@dataclass(frozen=True, slots=True)
class Boxes:
    """Two boxes in the axes of the second: the way to the centre of the first, its axes, and half sides h and k."""

    way: Three
    axes: tuple[Three, Three, Three]
    h: Three
    k: Three

    def own(self, v: Three) -> Three:
        """Components of *v* along the axes of the first box."""
        a, b, c = self.axes
        return dot(v, a), dot(v, b), dot(v, c)

    def out(self, v: Three) -> Three:
        """A vector with the components *v* along the axes of the first box."""
        (a, b, c), (x, y, z) = self.axes, v
        return moved(moved(scaled(a, x), scaled(b, y)), scaled(c, z))

    def little(self) -> Expr:
        """The part of the smallest side that counts as little."""
        least = minimum(minimum(*self.h[:2]), self.h[2])
        return SHARE * minimum(least, minimum(minimum(*self.k[:2]), self.k[2]))

    def normal(self, i: int, j: int) -> Three:
        """The unit vector across the edges i of the first and j of the second box, towards the first."""
        n = cross(self.axes[i], _unit(j))
        return scaled(n, sign(dot(n, self.way)) / sqrt(maximum(dot(n, n), PARALLEL)))

    def separation(self, n: Three) -> Expr:
        """How far the boxes are apart along a unit vector *n*."""
        reach = sum((abs(x) * h for x, h in zip(self.own(n), self.h, strict=True)), expr(0))
        return abs(dot(n, self.way)) - reach - sum((abs(x) * k for x, k in zip(n, self.k, strict=True)), expr(0))

    def crossing(self, i: int, j: int) -> Expr:
        """The separation across the edges i and j; that of none where they are parallel."""
        n = cross(self.axes[i], _unit(j))
        lean = step(dot(n, n) - PARALLEL)
        return lean * self.separation(self.normal(i, j)) - (1 - lean) * 2 * sum((*self.h, *self.k), expr(0))

    def place(self, feature: Sequence[int]) -> BoxPlace:
        """The place of a *feature*."""
        kind, *rest = feature
        if kind == EDGES:
            return self._edges(*rest)
        *signs, k = rest
        return (self._down if kind == CORNER_DOWN else self._up)(signs, k)

    def _kept(
        self, gap: Expr, normal: Three, arm: Three, room: Expr, separation: Expr, sides: Sequence[Expr] = ()
    ) -> BoxPlace:
        """A place halfway across the gap at the end of *arm* on the first box, which touches where its *separation* is nearly the
        largest, or its normal nearly that of the largest and, of edges, within these *sides* of their faces, and as long as it
        has *room*.
        """
        (largest, along), little = largest_separation(self), self.little()
        lean = dot(normal, along)
        beside = lean * lean - ALIGNED
        for side in sides:
            beside = minimum(beside, side + BEYOND)
        left = minimum(room, maximum(separation - minimum(largest, 0) + little, little * beside))
        return BoxPlace(gap, normal, moved(arm, scaled(normal, -gap / 2)), left, step(gap + self.little()))

    def _down(self, signs: Sequence[int], k: int) -> BoxPlace:
        """A corner of the first box on a face across the axis k of the second."""
        arm = self.out(_signed(signs, self.h))
        x = moved(self.way, arm)
        side, others = sign(self.way[k]), [m for m in range(3) if m != k]
        room = minimum(*(self.k[m] - abs(x[m]) for m in others))
        n = scaled(_unit(k), side)
        return self._kept(side * x[k] - self.k[k], n, arm, room, self.separation(_unit(k)))

    def _up(self, signs: Sequence[int], k: int) -> BoxPlace:
        """A corner of the second box on a face across the axis k of the first."""
        arm = moved(_signed(signs, self.k), scaled(self.way, expr(-1)))
        x, side = self.own(arm), sign(dot(self.way, self.axes[k]))
        room = minimum(*(self.h[m] - abs(x[m]) for m in range(3) if m != k))
        gap, normal = -side * x[k] - self.h[k], scaled(self.axes[k], side)
        return self._kept(gap, normal, moved(arm, scaled(normal, gap)), room, self.separation(self.axes[k]))

    def _edges(self, i: int, j: int, a: int, b: int) -> BoxPlace:
        """An edge along the axis i of the first box, and one along j of the second."""
        n, e, f = self.normal(i, j), self.axes[i], _unit(j)
        one, other = self.out(_facing(self.own(n), i, a, -1, self.h)), _facing(n, j, b, 1, self.k)
        d = moved(moved(self.way, one), scaled(other, expr(-1)))
        c, along, across = dot(e, f), dot(d, e), dot(d, f)
        lean = maximum(1 - c * c, PARALLEL)
        s, t = (c * across - along) / lean, (across - c * along) / lean
        room = minimum(self.h[i] - abs(s), self.k[j] - abs(t))
        faces = [*_outwards(self.own(n), i, a, -1), *_outwards(n, j, b, 1)]
        return self._kept(dot(n, d), n, moved(one, scaled(e, s)), room, self.crossing(i, j), faces)


@lru_cache(maxsize=PAIRS)
def largest_separation(boxes: Boxes) -> tuple[Expr, Three]:
    """The largest separation of two *boxes*, which all their features share, and the normal along which it is."""
    faces = [(boxes.separation(n), n) for n in (*map(_unit, range(3)), *boxes.axes)]
    edges = [(boxes.crossing(i, j), boxes.normal(i, j)) for i in range(3) for j in range(3)]
    found, along = faces[0]
    for other, n in (*faces[1:], *edges):
        more = step(other - found)
        along = moved(scaled(n, more), scaled(along, 1 - more))
        found = maximum(found, other)
    return found, along


def _facing(n: Three, along: int, called: int, towards: int, half: Three) -> Three:
    """The middle of an edge *along* an axis of a box that faces *towards* (1 or -1) the normal n, called 1 or -1."""
    found = [expr(0), expr(0), expr(0)]
    for k, side in _sides(n, along, called, towards).items():
        found[k] = half[k] * side
    return found[0], found[1], found[2]


def _sides(n: Three, along: int, called: int, towards: int) -> dict[int, Expr]:
    """The sides of that edge along the other axes of its box."""
    k, m = ((along + 1) % 3, (along + 2) % 3)
    first = step(abs(n[k]) - abs(n[m]))  # whether k is the first
    return {
        k: first * towards * sign(n[k]) + (1 - first) * called * sign(n[m]),
        m: (1 - first) * towards * sign(n[m]) + first * called * sign(n[k]),
    }


def _outwards(n: Three, along: int, called: int, towards: int) -> list[Expr]:
    """Sines by which the normal lies between the two faces of that edge, negative beyond."""
    return [side * towards * n[k] for k, side in _sides(n, along, called, towards).items()]


def _signed(signs: Sequence[int], half: Three) -> Three:
    x, y, z = (s * h for s, h in zip(signs, half, strict=True))
    return x, y, z


def _unit(k: int) -> Three:
    x, y, z = (expr(float(m == k)) for m in range(3))
    return x, y, z
