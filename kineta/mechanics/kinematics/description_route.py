"""The direct (body-by-body) route: transforms of every body multiplied as described, elements as lists of pairs.

No motions are merged and no masses moved: every body keeps its mass and its axes. Formalisms on this route share neither links
nor regrouped masses with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from kineta.algebra.expression import Expr
from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.mechanics.variables import Symbols
from kineta.model.body import GROUND, Body, Station
from kineta.model.constraints.shapes import Touching, closest, named
from kineta.model.elements.axes import OWN
from kineta.model.elements.compliant_contact import GAP, RATE, CompliantContact
from kineta.model.elements.coordinate import Coordinate, Length
from kineta.model.elements.couple import Couple
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.inertia import InertiaElement
from kineta.model.elements.potential import Potential
from kineta.model.elements.smooth_friction import SmoothFriction
from kineta.model.elements.spring import Spring
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion, Motion
from kineta.model.kind import Element
from kineta.model.name_inference import vector_parts
from kineta.model.reserved_symbols import POINT_COMPONENTS
from kineta.model.vectors import Part
from kineta.records import dataclass
from kineta.spatial.rotation import rodrigues
from kineta.spatial.vector import Matrix, Vector, identity
from kineta.spatial.wrench import Wrench
from kineta.threads import once

#: A characteristic and the rate on which it works.
Pair = tuple[Ref, Ref]


@dataclass(frozen=True, slots=True)
class Frame:
    """Motion of a frame: axes S and origin r in ground axes; velocity v, acceleration a, w and eps in its own axes."""

    S: Matrix
    r: Vector
    v: Vector
    a: Vector
    w: Vector
    eps: Vector

    def turned(self, Q: Matrix, rate: Vector, second: Vector) -> Frame:
        """The frame after the rotation Q with the angular velocity *rate* and its derivative *second* (both in the axes after
        it).
        """
        w = Q.T @ self.w
        eps = Q.T @ self.eps + w.cross(rate) + second
        return Frame(self.S.times(Q), self.r, Q.T @ self.v, Q.T @ self.a, w + rate, eps)

    def shifted(self, d: Vector, rate: Vector, second: Vector) -> Frame:
        """The frame after the translation *d* with the derivatives *rate* and *second* (all in its axes)."""
        two = self.r.graph.const(2.0)
        a = self.a + self.eps.cross(d) + self.w.cross(self.w.cross(d)) + self.w.cross(rate) * two + second
        return Frame(self.S, self.r + self.S @ d, self.v + self.w.cross(d) + rate, a, self.w, self.eps)

    def at(self, place: Vector) -> Frame:
        """The frame with its origin moved to a fixed *place*."""
        zero = Vector(place.graph)
        return self.shifted(place, zero, zero)


class DirectRoute:
    """The frames of all bodies and the pairs of all elements, as described."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.graph = symbols.graph

    @once
    def frames(self) -> Mapping[str, Frame]:
        """The frames of the bodies by name; gravity enters as an acceleration of the ground."""
        weight = -Vector(self.graph, *self.symbols.expression(*self.symbols.system.gravity))
        found = {GROUND: replace(self._still, a=weight)}
        for body in self.symbols.system.tree:
            frame = found[body.base]
            for motion in body.motions:
                frame = self._moved(frame, motion)
            found[body.name] = frame
        return found

    def joint(self, bodies: Sequence[Body]) -> tuple[Frame, Vector]:
        """Relative motion of the last of *bodies*, each carried by the one before, against the carrier of the first: at its
        hinge point, in its own axes; and the hinge point in its frame.

        The hinge point is the end of the last variable motion: constant translations behind it belong to the body.
        """
        motions = [m for body in bodies for m in body.motions]
        moving = [k for k, m in enumerate(motions) if self._moves(m)]
        last = moving[-1] + 1 if moving else len(motions)
        frame = self._still
        for motion in motions[:last]:
            frame = self._moved(frame, motion)
        tail = self._still
        for motion in motions[last:]:
            tail = self._moved(tail, motion)
        zero = Vector(self.graph)
        return frame.turned(tail.S, zero, zero), -(tail.S.T @ tail.r)

    @once
    def _still(self) -> Frame:
        zero = Vector(self.graph)
        return Frame(identity(self.graph), zero, zero, zero, zero, zero)

    def _moves(self, motion: Motion) -> bool:
        """Return whether a motion is variable."""
        rates = self.symbols.levels.of(self.symbols.expression(*motion.arguments), 1)
        return isinstance(motion, Joint) or rates != [ZERO]

    def acting(self) -> Iterator[Pair]:
        """The pairs of all elements."""
        for element in self.symbols.system.elements:
            yield from PAIRS[type(element)](self, element)

    def _moved(self, frame: Frame, motion: Motion) -> Frame:
        if isinstance(motion, Joint):
            return self._joined(frame, motion)
        assert isinstance(motion, ElementaryMotion)
        (p,) = self.symbols.expression(motion.argument)
        rate, second = (self.symbols.levels.of([p], k)[0] for k in (1, 2))
        e = self.symbols.direction(motion.axis)
        if motion.turns:
            return frame.turned(rodrigues(e, p), e * rate, e * second)
        return frame.shifted(e * p, e * rate, e * second)

    def _joined(self, frame: Frame, motion: Joint) -> Frame:
        s = self.symbols
        Q, d = motion.frame(self.graph, s.joint(motion)[0])
        (u, w), (udot, eps) = (s.twist(motion, row) for row in (s.speeds, s.levels.of(s.speeds, 1)))
        if not d.is_zero:
            frame = frame.shifted(d, Q @ u, Q @ (udot + w.cross(u)))
        return frame.turned(Q, w, eps)

    def at(self, station: Station) -> Frame:
        """The frame of a body with its origin moved to a station."""
        return self.frames[station.body].at(Vector(self.graph, *self.symbols.expression(*station.position)))

    def mass(self, body: Body) -> tuple[Ref, Vector, Matrix]:
        """Mass, mass centre and central inertia tensor of a body, in its axes."""
        (m,) = self.symbols.expression(body.inertia.mass)
        a, b, c = self.symbols.expression(*body.inertia.moments)
        ab, ac, bc = self.symbols.expression(*body.inertia.products)
        centre = Vector(self.graph, *self.symbols.expression(*body.inertia.com))
        return m, centre, Matrix(self.graph, ((a, ab, ac), (ab, b, bc), (ac, bc, c)))

    def inertia(self, body: Body) -> Iterator[Pair]:
        """Forces of inertia and the rates on which they work: m a_C on v_C, J eps + w x J w on w."""
        m, centre, J = self.mass(body)
        frame = self.frames[body.name].at(centre)
        moment = J @ frame.eps + frame.w.cross(J @ frame.w)
        yield from zip((frame.a * m).refs, frame.v.refs, strict=True)
        yield from zip(moment.refs, frame.w.refs, strict=True)

    def needed(self) -> dict[str, Wrench]:
        """Force m a and couple J eps + w x J w + c x m a of the masses of the bodies, in ground axes about the origins of their
        frames.
        """
        found = {}
        for body in self.symbols.system.bodies:
            m, centre, J = self.mass(body)
            frame = self.frames[body.name]
            f = frame.at(centre).a * m
            n = J @ frame.eps + frame.w.cross(J @ frame.w) + centre.cross(f)
            found[body.name] = Wrench(frame.S @ f, frame.S @ n)
        return found

    # -- energies -----------------------------------------------------------------------------------------------------

    def kinetic_energy(self) -> Ref:
        """T = sum of (m v_C . v_C + w . J w)/2 (Andreev (1.1))."""
        g, twice = self.graph, [ZERO]
        for body in self.symbols.system.bodies:
            m, centre, J = self.mass(body)
            frame = self.frames[body.name].at(centre)
            twice += [g.mul(m, frame.v.dot(frame.v)), frame.w.dot(J @ frame.w)]
        for element in self.symbols.system.elements:
            if isinstance(element, InertiaElement):
                (I,), k = self.expression(element.inertia), self.coordinate(element.coordinate)[1]
                twice.append(g.mul(I, g.mul(k, k)))
        return g.mul(g.const(0.5), g.sum(twice))

    def potential_energy(self) -> Ref:
        """V of the weight, zero at the origin of the ground, and of all conservative elements."""
        g, symbols = self.graph, self.symbols
        weight = Vector(g, *symbols.expression(*symbols.system.gravity))
        found = [ZERO]
        for body in symbols.system.bodies:
            m, centre, _ = self.mass(body)
            found.append(neg(g.mul(m, weight.dot(self.frames[body.name].at(centre).r))))
        found += (POTENTIALS[type(e)](self, e) for e in symbols.system.elements if type(e) in POTENTIALS)
        return g.sum(found)

    # -- elements -----------------------------------------------------------------------------------------------------

    def expression(self, *expressions: Expr) -> list[Ref]:
        """*expressions* of the description, positions and velocities of points included."""
        known = self.symbols.by_name
        names = sorted({n for e in expressions for n in e.symbols() if n not in known})
        parts = vector_parts(self.symbols.system, names)
        more = {n: self._part(parts[n]) if n in parts else self._component(n) for n in names if "." in n or n in parts}
        return self.symbols.expression(*expressions, more=more)

    def _named(self, name: str) -> Frame:
        """The frame at the point or body *name*."""
        points = {p.name: Station(p.body, p.position) for p in self.symbols.system.points}
        return self.at(points.get(name, Station(name)))

    def _component(self, name: str) -> Ref:
        """The value of the name ``P.x`` or ``P.vx``."""
        owner, _, component = name.rpartition(".")
        frame, place = self._named(owner), POINT_COMPONENTS.index(component)
        return frame.r[place] if place < 3 else (frame.S @ frame.v)[place - 3]

    def _part(self, part: Part) -> Ref:
        """The value of a component or magnitude of a position or velocity, or of the rate of one."""
        at, axes = self._named(part.vector.of), self.frames[part.vector.frame]
        vectors = {"r": at.r - axes.r, "v": at.S @ at.v, "w": at.S @ at.w}
        own = vectors[part.vector.kind]
        value = self.graph.sqrt(own.dot(own)) if part.component is None else (axes.S.T @ own)[part.component]
        return self.symbols.levels.of([value], part.rates)[0] if part.rates else value

    def components(self, frame: Frame, components: Sequence[Expr], axes: str) -> Vector:
        """A vector given in *axes*, in the axes of *frame*, the body on which it acts."""
        own = Vector(self.graph, *self.expression(*components))
        return own if axes == OWN else frame.S.T @ (self.frames[axes].S @ own)

    def rate(self, coordinate: Ref) -> Ref:
        """The rate of a coordinate; an expression that contains speeds is a rate itself."""
        if self.symbols.by_speed(coordinate):
            return coordinate
        return self.symbols.displaced_rates([coordinate])[0]

    def coordinate(self, coordinate: Coordinate) -> tuple[Ref, Ref]:
        """A coordinate and its rate."""
        if isinstance(coordinate, Length):
            line, rate = self.line(coordinate)
            length = self.graph.sqrt(line.dot(line))
            return length, self.graph.div(line.dot(rate), length)
        (rho,) = self.expression(coordinate)
        return rho, self.rate(rho)

    def line(self, length: Length) -> tuple[Vector, Vector]:
        """Vector from the start of a length to its end, and its time derivative, in ground axes."""
        a, b = self.at(length.start), self.at(length.end)
        return b.r - a.r, b.S @ b.v - a.S @ a.v


def _spring_energy(d: DirectRoute, e: Spring) -> Ref:
    """The energy C gamma^2/2 of a spring; no energy where C varies, as such a spring has no potential."""
    g, (C, free) = d.graph, d.expression(e.stiffness, e.free)
    if d.symbols.levels.of([C], 1) != [ZERO] or d.symbols.by_speed(C):
        return ZERO
    if isinstance(e.coordinate, Length) and free == ZERO:
        line, _ = d.line(e.coordinate)
        square = line.dot(line)
    else:
        gamma = g.sub(d.coordinate(e.coordinate)[0], free)
        square = g.mul(gamma, gamma)
    return g.mul(g.const(0.5), g.mul(C, square))


def _force(d: DirectRoute, e: Force) -> Iterator[Pair]:
    frame, x = d.frames[e.at.body], Vector(d.graph, *d.expression(*e.at.position))
    f = d.components(frame, e.components, e.axes)
    if any(d.symbols.by_speed(own) for own in x.refs):  # whose derivatives are none of the rates
        yield from zip((*f.refs, *x.cross(f).refs), (*frame.v.refs, *frame.w.refs), strict=True)
    else:
        yield from zip(f.refs, frame.at(x).v.refs, strict=True)


def _couple(d: DirectRoute, e: Couple) -> Iterator[Pair]:
    frame = d.frames[e.body]
    n = d.components(frame, e.components, e.axes)
    yield from zip(n.refs, frame.w.refs, strict=True)


def _generalized(d: DirectRoute, e: GeneralizedForce) -> Iterator[Pair]:
    (P,) = d.expression(e.characteristic)
    yield P, d.coordinate(e.coordinate)[1]


def _spring(d: DirectRoute, e: Spring) -> Iterator[Pair]:
    C, free = d.expression(e.stiffness, e.free)
    if isinstance(e.coordinate, Length) and free == ZERO:  # no root, where the ends may meet
        line, rate = d.line(e.coordinate)
        yield from zip((line * neg(C)).refs, rate.refs, strict=True)
        return
    length, extending = d.coordinate(e.coordinate)
    gamma = d.graph.sub(length, free)
    yield neg(d.graph.mul(C, gamma)), d.graph.sub(extending, d.rate(free))


def _damper(d: DirectRoute, e: Damper) -> Iterator[Pair]:
    (D,) = d.expression(e.damping)
    beta = d.coordinate(e.coordinate)[1]
    yield neg(d.graph.mul(D, beta)), beta


def _friction(d: DirectRoute, e: SmoothFriction) -> Iterator[Pair]:
    g, (F, v, sigma) = d.graph, d.expression(e.force, e.smooth, e.coordinate)
    s = d.rate(sigma)
    part = g.div(g.mul(F, s), g.sqrt(g.sum([g.mul(s, s), g.mul(v, v)])))
    yield neg(part), s


def _touch(d: DirectRoute, place: Touching) -> tuple[Vector, Vector, dict[str, Ref]]:
    """The normal, the velocity of what touches against the surface, both in ground axes, and the gap with its rate."""
    surface, body = d.at(place.end), d.at(place.start)
    S = surface.S
    axis = None if place.axis is None else (S.T @ (body.S @ d.symbols.direction(place.axis))).refs
    own = None if place.surface_axis is None else d.symbols.direction(place.surface_axis).refs
    found = closest(place)
    more = named((S.T @ (body.r - surface.r)).refs, axis, own)
    gap, *rest = d.symbols.expression(found.gap, *found.normal, *found.arm, more=more)
    n, arm = S @ Vector(d.graph, *rest[:3]), S @ Vector(d.graph, *rest[3:])
    body = body.at(body.S.T @ arm)
    below = surface.at(S.T @ (body.r - surface.r))
    velocity = body.S @ body.v - below.S @ below.v
    return n, velocity, {GAP: gap, RATE: n.dot(velocity)}


def _compliant(d: DirectRoute, e: CompliantContact) -> Iterator[Pair]:
    g = d.graph
    for place in e.touchings:
        n, velocity, of = _touch(d, place)
        (push,) = d.symbols.expression(e.push, more=of)
        force = n * push
        if e.smooth is not None:
            mu, slow = d.expression(e.friction, e.smooth)
            slip = velocity - n * n.dot(velocity)
            force -= slip * g.div(g.mul(mu, push), g.sqrt(g.add(slip.dot(slip), g.mul(slow, slow))))
        yield from zip(force.refs, velocity.refs, strict=True)


def _compliant_energy(d: DirectRoute, e: CompliantContact) -> Ref:
    touches = (_touch(d, place)[2] for place in e.touchings)
    return d.graph.sum(d.symbols.expression(e.energy, more=of)[0] for of in touches)


def _potential(d: DirectRoute, e: Potential) -> Iterator[Pair]:
    (V,) = d.expression(e.energy)
    yield neg(ONE), d.rate(V)


def _inertia(d: DirectRoute, e: InertiaElement) -> Iterator[Pair]:
    (I,), k = d.expression(e.inertia), d.coordinate(e.coordinate)[1]
    yield neg(d.graph.mul(I, d.symbols.levels.of([k], 1)[0])), k


#: The pairs that an element consists of.
PAIRS: Mapping[type[Element], Callable[..., Iterator[Pair]]] = {
    Force: _force,
    Couple: _couple,
    GeneralizedForce: _generalized,
    Spring: _spring,
    Damper: _damper,
    SmoothFriction: _friction,
    CompliantContact: _compliant,
    Potential: _potential,
    InertiaElement: _inertia,
}

#: The energies of the elements that have one.
POTENTIALS: Mapping[type[Element], Callable[..., Ref]] = {
    Spring: _spring_energy,
    CompliantContact: _compliant_energy,
    Potential: lambda d, e: d.expression(e.energy)[0],
}
