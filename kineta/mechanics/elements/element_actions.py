"""Action of each kind of element on the equations: one function a kind, in the table ``ACTIONS``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.checks.diagnostics import CheckError
from kineta.model.constraints.shapes import closest, named
from kineta.model.elements.compliant_contact import GAP, RATE, CompliantContact
from kineta.model.elements.coordinate import Length
from kineta.model.elements.couple import Couple
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.inertia import InertiaElement
from kineta.model.elements.potential import Potential
from kineta.model.elements.smooth_friction import SmoothFriction
from kineta.model.elements.spring import Spring
from kineta.model.kind import Element
from kineta.spatial.vector import Vector

E = TypeVar("E", bound=Elements)


def _force(on: Elements, force: Force) -> None:
    f = on.components(force.at.body, force.components, force.axes)
    link, x = on.kinematics.in_link(force.at)
    if link >= 0:
        on.force(link, x, f)
        on.spend(f.dot(on.kinematics.v[link] + on.kinematics.w[link].cross(x)))


def _couple(on: Elements, couple: Couple) -> None:
    n = on.components(couple.body, couple.components, couple.axes)
    link = on.mechanism.places[couple.body].link
    if link >= 0:
        on.couple(link, n)
        on.spend(n.dot(on.kinematics.w[link]))


def _generalized(on: Elements, force: GeneralizedForce) -> None:
    """P on rho: Q_k = P d(rho)/dq_k; on a length, P along the line."""
    (P,) = on.expression(force.characteristic)
    if isinstance(force.coordinate, Length):
        line = _line(on, force, force.coordinate)
        apart = line * on.graph.div(P, on.graph.sqrt(line.dot(line)))
        on.pull(force.coordinate, -apart)
        on.spend(apart.dot(on.line_rate(force.coordinate)))
        return
    (rho,) = on.expression(force.coordinate)
    on.spend(on.along(on.rate(rho), P))


def _spring(on: Elements, spring: Spring) -> None:
    """C on gamma: V = C gamma^2/2 where C is a parameter; else the applied force -C gamma."""
    C, free = on.expression(spring.stiffness, spring.free)
    if isinstance(spring.coordinate, Length):
        _spring_between(on, spring, spring.coordinate, C, free)
        return
    g = on.graph
    (gamma,) = on.expression(spring.coordinate)
    gamma = g.sub(gamma, free)
    force = g.mul(C, gamma)
    power = on.along(on.rate(gamma), neg(force))
    if on.is_parameter(C):
        on.store(g.mul(g.const(0.5), g.mul(force, gamma)))
        power = g.mul(force, on.by_time(gamma))
    on.spend(power)


def _spring_between(on: Elements, spring: Spring, between: Length, C: Ref, free: Ref) -> None:
    """A spring with gamma = length - free: the force C gamma acts along the line, and on the rate of the free length."""
    g = on.graph
    line = _line(on, spring, between)
    if free == ZERO:  # no root is needed, and the force is smooth where the places meet
        pull, twice, reeled, drift = line * C, g.mul(C, line.dot(line)), ZERO, ZERO
    else:
        length = g.sqrt(line.dot(line))
        gamma = g.sub(length, free)
        force = g.mul(C, gamma)
        pull, twice = line * g.div(force, length), g.mul(force, gamma)
        reeled, drift = on.along(on.rate(free), force), g.mul(force, on.by_time(free))
    on.pull(between, pull)
    if on.is_parameter(C):
        on.store(g.mul(g.const(0.5), twice))
        on.spend(neg(drift))
    else:
        on.spend(g.sub(reeled, pull.dot(on.line_rate(between))))


def _damper(on: Elements, damper: Damper) -> None:
    """D on beta: Q_k = - D beta d(beta)/dv_k."""
    g = on.graph
    (D,) = on.expression(damper.damping)
    if isinstance(damper.coordinate, Length):
        line, velocity = _line(on, damper, damper.coordinate), on.line_rate(damper.coordinate)
        # D beta e with beta = e . velocity, e = line / |line|: no root is needed.
        pull = line * g.div(g.mul(D, line.dot(velocity)), line.dot(line))
        on.pull(damper.coordinate, pull)
        on.spend(neg(pull.dot(velocity)))
        return
    beta = on.rate(*on.expression(damper.coordinate))
    on.spend(on.along(beta, neg(g.mul(D, beta))))


def _friction(on: Elements, friction: SmoothFriction) -> None:
    """F on sigma with its rate s: Q_k = - F s/sqrt(s^2 + smooth^2) ds/dv_k."""
    rate, force = on.smooth_friction_force(friction)
    on.spend(on.along(rate, force))


def _compliant(on: Elements, contact: CompliantContact) -> None:
    """N on the rate of the gap, and friction -mu N s/sqrt(s.s + smooth^2) on the slip s, at each place that touches."""
    g, kin, places = on.graph, on.kinematics, on.mechanism.places
    base = contact.end.body
    S = kin.axes(base)
    for place in contact.touchings:
        start = place.start
        way = kin.position(start, base) - kin.position(place.end, base)
        axis = None if place.axis is None else (kin.axes(start.body, base) @ on.direction(place.axis)).refs
        own = None if place.surface_axis is None else on.direction(place.surface_axis).refs
        found = closest(place)
        gap, *rest = on.expression(found.gap, *found.normal, *found.arm, more=named(way.refs, axis, own))
        n, arm = S @ Vector(g, *rest[:3]), S @ Vector(g, *rest[3:])
        apart = S @ way + arm
        velocity = kin.velocity(start) + kin.angular_velocity(places[start.body]).cross(arm)
        velocity -= kin.velocity(place.end) + kin.angular_velocity(places[base]).cross(apart)
        of = {GAP: gap, RATE: n.dot(velocity)}
        push, elastic, energy = on.expression(contact.push, contact.elastic, contact.energy, more=of)
        rubbing = Vector(g)
        if contact.smooth is not None:
            mu, slow = on.expression(contact.friction, contact.smooth)
            slip = velocity - n * of[RATE]
            size = g.sqrt(g.add(slip.dot(slip), g.mul(slow, slow)))
            rubbing = slip * neg(g.div(g.mul(mu, push), size))
        force = n * push + rubbing
        for at, f, shift in ((start, force, arm), (place.end, -force, apart)):
            link, x = kin.in_link(at)
            if link >= 0:
                R = kin.frames[link][0].T
                on.force(link, x + R @ shift, R @ f)
        on.store(energy)
        on.spend(g.add(g.mul(g.sub(push, elastic), of[RATE]), rubbing.dot(velocity)))


def _potential(on: Elements, potential: Potential) -> None:
    """V: Q_k = - dV/dq_k; its partial time derivative is power."""
    (V,) = on.expression(potential.energy)
    on.store(V)
    on.along(on.rate(V), neg(ONE))
    on.spend(on.by_time(V))


def _line(on: Elements, element: GeneralizedForce | Spring | Damper, between: Length) -> Vector:
    """The line of a length. Raise :class:`CheckError` for coincident places."""
    line = on.line(between)
    if line.is_zero:
        text = "the two places between which it acts are always the same."
        raise CheckError(element.kind.word.capitalize(), element.name, element.location, text)
    return line


#: Actions of the kinds of elements.
ACTIONS: Mapping[type, Callable[[Elements, Any], None]] = {
    Force: _force,
    Couple: _couple,
    GeneralizedForce: _generalized,
    Spring: _spring,
    Damper: _damper,
    SmoothFriction: _friction,
    CompliantContact: _compliant,
    Potential: _potential,
    InertiaElement: lambda on, element: None,  # a resistance, not an action: inertia_elements
}


def apply_elements(on: E, acting: Iterable[Element] | None = None) -> E:
    """Add the actions of all elements of a system, or of *acting*, to *on*; return *on*."""
    for element in on.mechanism.symbols.system.elements if acting is None else acting:
        ACTIONS[type(element)](on, element)
    return on
