"""The kinematic tree: bodies and motions reduced to *links*.

A link is one variable motion together with all mass that moves with it. Constant motions are merged into the placement of the
next link; bodies without a variable motion of their own belong to the link that carries them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from kineta.errors import ModelError
from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.mechanics.exact_arithmetic import copied, exact, rounding
from kineta.mechanics.kinematics.normal_form import borrowed, inverse, normal_form
from kineta.mechanics.variables import Symbols
from kineta.model.body import GROUND, Inertia
from kineta.model.checks.scaling_check import mass_spread
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion, Motion
from kineta.model.reserved_symbols import TIME
from kineta.records import dataclass
from kineta.spatial.inertia import Moments, nothing, second_moments, symmetric
from kineta.spatial.rotation import about, conjugated, normal, normals, rodrigues, turn, turn_matrix
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Matrix, Vector, along, identity
from kineta.threads import once

Kind = Literal["turn", "shift", "ball", "free"]
#: A rate: its link, and its number there.
At = tuple[int, int]
#: Axes and origin after a constant motion, by the motion and by the axes and origin before it.
Held = dict[tuple[Motion, tuple[Ref, ...], tuple[Ref, ...]], tuple[Matrix, Vector]]


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate u of a motion: a component of its relative angular (``turns``) or linear velocity along a link axis.

    u = ``speed`` = sum over k of ``by_speed[k]`` v_k + ``by_time``;  du/dt = sum of ``by_speed[k]`` dv_k/dt + ``bias``.
    """

    turns: bool
    axis: int
    speed: Ref
    by_speed: Mapping[int, Ref]
    by_time: Ref
    bias: Ref

    def twist(self, graph: Graph) -> Twist:
        """S: the motion of the link at the unit rate."""
        e, o = along(graph, self.axis), Vector(graph)
        return Twist(e, o) if self.turns else Twist(o, e)


@dataclass(frozen=True, slots=True)
class Link:
    """A variable motion and the mass that moves with it.

    parent : index of the carrying link, -1 for the ground; always smaller than the own index
    R, r : constant placement: axes and origin before the motion, in the parent's link frame
    kind, axis : type of the motion, and the coordinate axis about or along which it goes
    Q, d : the motion: rotation (link axes to axes before it) and translation (in the axes before it)
    rates : the rates of the motion, in link axes
    moments : mass distribution about the link's origin, in link axes
    """

    parent: int
    R: Matrix
    r: Vector
    kind: Kind
    axis: int
    Q: Matrix
    d: Vector
    rates: tuple[Rate, ...]
    moments: Moments

    @property
    def offset(self) -> Vector:
        """Vector from the parent's origin to the link's, in the parent's axes."""
        return self.r + self.R @ self.d

    def before(self, v: Vector) -> Vector:
        """Components in the axes before the motion of a vector given in link axes."""
        if self.kind == "turn":
            i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
            return turn(v, self.axis, self.Q.rows[i][i], self.Q.rows[j][i])
        return v if self.kind == "shift" else self.Q @ v

    def inward(self, v: Vector) -> Vector:
        """Components in the parent's axes of a vector given in link axes."""
        v = self.before(v)
        return v if self.R.is_identity else self.R @ v

    def matrix_before(self, M: Matrix) -> Matrix:
        """Components in the axes before the motion of a tensor given in link axes."""
        if self.kind == "turn":
            i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
            return turn_matrix(M, self.axis, self.Q.rows[i][i], self.Q.rows[j][i])
        return M if self.kind == "shift" else self.Q.times(M).times(self.Q.T)

    def matrix_inward(self, M: Matrix) -> Matrix:
        """Components in the parent's axes of a tensor given in link axes."""
        return conjugated(self.R, self.matrix_before(M))

    def moments_inward(self, moments: Moments) -> Moments:
        """The distribution *moments* about the link's origin, transformed to the origin and axes of the parent."""
        S = symmetric(self.matrix_inward(moments.S))
        return Moments(moments.m, self.inward(moments.c), S).shifted(self.offset)

    def outward(self, v: Vector) -> Vector:
        """Components in link axes of a vector given in the parent's axes."""
        v = v if self.R.is_identity else self.R.T @ v
        if self.kind == "turn":
            i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
            return turn(v, self.axis, self.Q.rows[i][i], self.Q.rows[i][j])
        return v if self.kind == "shift" else self.Q.T @ v


@dataclass(frozen=True, slots=True)
class Place:
    """Placement of a frame: axes R and origin r in the frame of link ``link`` (-1: ground).

    In a rotor, whose axes do not turn with it, R is its turn times the constant axes ``held``.
    """

    link: int
    R: Matrix
    r: Vector
    held: Matrix | None = None


@dataclass(frozen=True)
class Mechanism:
    """All links, carriers first; the placements of all bodies; the mass fixed to the ground."""

    symbols: Symbols
    links: tuple[Link, ...]
    places: Mapping[str, Place]
    ground: Moments
    gravity: Vector

    @property
    def graph(self) -> Graph:
        """The graph of all references."""
        return self.symbols.graph

    @once
    def leading(self) -> dict[tuple[int, int], int] | None:
        """For every rate (link, number) driven by speeds, its leading speed, on which no rate before it depends; None unless
        rates and speeds correspond one to one, so that each follow from the others in sequence.
        """
        seen: set[int] = set()
        found: dict[tuple[int, int], int] = {}
        for i, link in enumerate(self.links):
            for j, rate in enumerate(link.rates):
                new = rate.by_speed.keys() - seen
                if len(new) > 1 or (rate.by_speed and not new):
                    return None
                for k in new:
                    found[i, j] = k
                seen |= new
        return found if len(seen) == len(self.symbols.v) else None

    @property
    def one_to_one(self) -> bool:
        """True where every speed drives exactly one rate, and every rate at most one speed: coordinates are relative."""
        return self.leading is not None and all(len(r.by_speed) < 2 for link in self.links for r in link.rates)


def kinematic_tree(symbols: Symbols) -> Mechanism:
    """The links of the system of *symbols* and the placements of its bodies, without mass."""
    graph = symbols.graph
    links: list[Link] = []
    places = {GROUND: Place(-1, identity(graph), Vector(graph))}
    variables = frozenset((TIME, *symbols.system.q_names))
    ends = dict(places)  # start of the next body: a massless frame may have taken some of its motions
    taken = borrowed(symbols.system.tree, variables)
    held: Held = {}
    for body in symbols.system.tree:
        place, more = ends[body.base], taken.get(body.name, [])
        for motion in normal_form([*body.motions[len(taken.get(body.base, [])) :], *more], variables):
            place = _advance(symbols, links, place, motion, held)
        ends[body.name] = place
        for motion in inverse(more):
            place = _advance(symbols, links, place, motion, held)
        places[body.name] = place
    gravity = Vector(graph, *symbols.expression(*symbols.system.gravity))
    return Mechanism(symbols, tuple(links), places, nothing(graph), gravity)


def with_mass(mechanism: Mechanism) -> Mechanism:
    """The mechanism with the mass of every body on its link, in exact arithmetic, to be :func:`rounded`."""
    symbols, graph = mechanism.symbols, exact(mechanism.graph)
    moments = [nothing(graph)] * (len(mechanism.links) + 1)  # of the ground, then of each link
    known: dict[Hashable, Moments] = {}  # of bodies that are alike
    for body in symbols.system.tree:
        place = mechanism.places[body.name]
        key = body.inertia, place.R.refs, place.r.refs
        own = known.get(key)
        if own is None:
            own = known[key] = moments_of(symbols, body.inertia, graph).rotated(place.R).shifted(place.r)
        moments[place.link + 1] = moments[place.link + 1] + own
    links = tuple(replace(link, moments=m) for link, m in zip(mechanism.links, moments[1:], strict=True))
    return replace(mechanism, links=links, ground=moments[0])


def rounded(mechanism: Mechanism) -> Mechanism:
    """The mechanism with the numbers of its masses rounded to doubles."""
    every = [*(link.moments for link in mechanism.links), mechanism.ground]
    refs = iter(rounding(mechanism.ground.c.graph, [ref for m in every for ref in (m.m, *m.c.refs, *m.S.refs)]))
    found = []
    for _ in every:
        m, c, S = next(refs), [next(refs) for _ in range(3)], [[next(refs) for _ in range(3)] for _ in range(3)]
        found.append(Moments(m, Vector(mechanism.graph, *c), symmetric(Matrix(mechanism.graph, S))))
    links = tuple(replace(link, moments=m) for link, m in zip(mechanism.links, found, strict=False))
    return replace(mechanism, links=links, ground=found[-1])


def rebased(mechanism: Mechanism, symbols: Symbols) -> Mechanism:
    """The *mechanism* in the variables *symbols* of a graph with the same nodes."""
    graphs: dict[int, Graph] = {}

    def graph(old: Graph) -> Graph:
        found = graphs.get(id(old))
        if found is None:
            found = graphs[id(old)] = copied(old, symbols.graph)
        return found

    def vector(v: Vector) -> Vector:
        return Vector(graph(v.graph), v.x, v.y, v.z)

    def matrix(M: Matrix) -> Matrix:
        return Matrix(graph(M.graph), M.rows)

    def moments(own: Moments) -> Moments:
        return Moments(own.m, vector(own.c), matrix(own.S))

    links = tuple(
        Link(
            *(link.parent, matrix(link.R), vector(link.r), link.kind, link.axis),
            *(matrix(link.Q), vector(link.d), link.rates, moments(link.moments)),
        )
        for link in mechanism.links
    )
    places = {
        name: Place(p.link, matrix(p.R), vector(p.r), None if p.held is None else matrix(p.held))
        for name, p in mechanism.places.items()
    }
    return Mechanism(symbols, links, places, moments(mechanism.ground), vector(mechanism.gravity))


def _advance(symbols: Symbols, links: list[Link], place: Place, motion: Motion, held: Held) -> Place:
    """The placement after *motion*: moved by a constant motion, else at the origin of a new link. Constant placements are *held*
    by those before them: they are the same for links that are alike.
    """
    graph = symbols.graph
    if isinstance(motion, Joint):
        links.append(_joint(symbols, place, motion))
        return Place(len(links) - 1, identity(graph), Vector(graph))
    key = motion, place.R.refs, place.r.refs
    if key in held:
        return Place(place.link, *held[key])
    assert isinstance(motion, ElementaryMotion)
    turns = motion.turns
    (argument,) = symbols.expression(motion.argument)
    (speed,) = symbols.rates([argument])
    e = symbols.direction(motion.axis)
    if speed == ZERO:
        if turns:
            axis = _coordinate_axis(e)
            c, s = graph.cos(argument), graph.sin(argument)
            own = rodrigues(e, argument) if axis is None else about(graph, axis[0], c, _times(s, axis[1]))
            held[key] = place.R.times(own), place.r
        else:
            held[key] = place.R, place.r + place.R @ (e * argument)
        return Place(place.link, *held[key])
    C, axis_index, sign = _aligned(e)
    argument, speed = _times(argument, sign), _times(speed, sign)
    rate = _rate(symbols, turns, axis_index, speed)
    d = Vector(graph) if turns else along(graph, axis_index, argument)
    Q = about(graph, axis_index, graph.cos(argument), graph.sin(argument)) if turns else identity(graph)
    R = place.R.times(C)
    links.append(Link(place.link, R, place.r, "turn" if turns else "shift", axis_index, Q, d, (rate,), nothing(graph)))
    return Place(len(links) - 1, C.T, Vector(graph))


def _rate(symbols: Symbols, turns: bool, axis: int, speed: Ref) -> Rate:
    """The rate *speed* in its parts: derivatives by the speeds, explicit time dependence, and bias."""
    place = symbols.place_of_speed(speed)
    if place is not None:
        return Rate(turns, axis, speed, {place: ONE ^ speed & 1}, ZERO, ZERO)
    by_time, bias = symbols.at_rest(speed), symbols.rates([speed])[0]
    return Rate(turns, axis, symbols.tidy(speed), symbols.by_speed(speed), symbols.tidy(by_time), symbols.tidy(bias))


def _joint(symbols: Symbols, place: Place, motion: Joint) -> Link:
    """The link of a joint; its rates are speeds themselves."""
    graph = symbols.graph
    q, places = symbols.joint(motion)
    Q, d = motion.frame(graph, q)
    rates = tuple(
        _rate(symbols, turns, axis, symbols.speeds[k])
        for (turns, axis), k in zip(motion.components, places, strict=True)
    )
    kind: Kind = "ball" if d.is_zero else "free"
    return Link(place.link, place.R, place.r, kind, 0, Q, d, rates, nothing(graph))


def _times(ref: Ref, sign: int) -> Ref:
    return ref ^ 1 if sign < 0 and ref > 1 else ref


def _coordinate_axis(e: Vector) -> tuple[int, int] | None:
    """Index and sign of the coordinate axis equal to the unit vector *e*, or None."""
    found = [(i, -1 if e[i] & 1 else 1) for i in range(3) if e[i] >> 1 == ONE >> 1]
    return found[0] if found and sum(r == ZERO for r in e.refs) == 2 else None


def _aligned(e: Vector) -> tuple[Matrix, int, int]:
    """Axes C in which the unit vector *e* is a coordinate axis: C, its index and its sign."""
    graph, found = e.graph, _coordinate_axis(e)
    if found is not None:
        return identity(graph), *found
    for k in range(3):
        if e[k] == ZERO:  # a turn about one coordinate axis maps another one onto e: fewer products
            i, j = (k + 1) % 3, (k + 2) % 3
            return about(graph, k, e[i], e[j]), i, 1
    # The third axis along `e`; the first, of all directions normal to numbers, lies in a coordinate plane: one zero.
    numbers = all(graph.value(r) is not None for r in e.refs)
    u, w = normals(e) if numbers else (u := normal(e, 2), e.cross(u))
    return Matrix(graph, [u.refs, w.refs, e.refs]).T, 2, 1


def moments_of(symbols: Symbols, inertia: Inertia, graph: Graph) -> Moments:
    """Moments of a body about the origin of its frame, summed in *graph*."""
    (m,) = symbols.expression(inertia.mass)
    c = Vector(graph, *symbols.expression(*inertia.com))
    a, b, d = symbols.expression(*inertia.moments)
    ab, ad, bd = symbols.expression(*inertia.products)
    J = Matrix(graph, ((a, ab, ad), (ab, b, bd), (ad, bd, d)))
    central = Moments(m, Vector(graph), symmetric(second_moments(J)))
    return central.shifted(c)


def no_inertia(mechanism: Mechanism, speed: int) -> ModelError:
    """The error for the *speed* (its index in v) that moves no mass."""
    system = mechanism.symbols.system
    return ModelError(
        f"Model '{system.name}': the speed '{system.v_names[speed]}' moves nothing that has inertia, so the mass matrix is "
        "singular. Give a body that it moves a mass or a moment of inertia."
    )


def dependent(mechanism: Mechanism, speed: int) -> ModelError:
    """The error for the *speed* (its index in v) whose inertia moves in the same way by other speeds."""
    system = mechanism.symbols.system
    if len(system.v_names) == 1:
        return no_inertia(mechanism, speed)
    if far := mass_spread(system, system.parameters.numbers):
        return ModelError(
            f"Model '{system.name}': the mass matrix is singular up to rounding in '{system.v_names[speed]}'. {far}."
        )
    return ModelError(
        f"Model '{system.name}': the mass matrix is singular: all inertia that the speed '{system.v_names[speed]}' moves is "
        "moved in the same way by others. Leave out a coordinate, or give mass to what lies between their motions."
    )


def rates_below(links: Sequence[Link]) -> list[int]:
    """Numbers of rates of every link together with its carriers."""
    found: list[int] = []
    for link in links:
        found.append(len(link.rates) + (found[link.parent] if link.parent >= 0 else 0))
    return found


def children(links: Sequence[Link]) -> list[list[int]]:
    """Indices of the links that each link carries."""
    carried: list[list[int]] = [[] for _ in links]
    for i, link in enumerate(links):
        if link.parent >= 0:
            carried[link.parent].append(i)
    return carried
