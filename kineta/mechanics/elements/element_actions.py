"""Action of each kind of element on the equations: one function a kind, in the table ``ACTIONS``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.mechanics.elements.applied_forces import Elements
from kineta.mechanics.elements.element_forces import line, smooth_friction, touches
from kineta.model.elements.compliant_contact import CompliantContact
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

E = TypeVar("E", bound=Elements)


def _force(on: Elements, force: Force) -> None:
    f = on.components(force.at.body, force.components, force.axes)
    link, x = on.in_link(force.at)
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
        way = line(on, force, force.coordinate)
        apart = way * on.graph.div(P, on.graph.sqrt(way.dot(way)))
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
    way = line(on, spring, between)
    if free == ZERO:  # no root is needed, and the force is smooth where the places meet
        pull, twice, reeled, drift = way * C, g.mul(C, way.dot(way)), ZERO, ZERO
    else:
        length = g.sqrt(way.dot(way))
        gamma = g.sub(length, free)
        force = g.mul(C, gamma)
        pull, twice = way * g.div(force, length), g.mul(force, gamma)
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
        way, velocity = line(on, damper, damper.coordinate), on.line_rate(damper.coordinate)
        # D beta e with beta = e . velocity, e = way / |way|: no root is needed.
        pull = way * g.div(g.mul(D, way.dot(velocity)), way.dot(way))
        on.pull(damper.coordinate, pull)
        on.spend(neg(pull.dot(velocity)))
        return
    beta = on.rate(*on.expression(damper.coordinate))
    on.spend(on.along(beta, neg(g.mul(D, beta))))


def _friction(on: Elements, friction: SmoothFriction) -> None:
    """F on sigma with its rate s: Q_k = - F s/sqrt(s^2 + smooth^2) ds/dv_k."""
    rate, force = smooth_friction(on, friction)
    on.spend(on.along(rate, force))


def _compliant(on: Elements, contact: CompliantContact) -> None:
    """N on the rate of the gap, and friction on the slip, at each place that touches."""
    g, kin = on.graph, on.kinematics
    for touch in touches(on, contact):
        force = touch.force
        for (at, shift), f in zip(touch.ends, (force, -force), strict=True):
            link, x = kin.in_link(at)
            if link >= 0:
                R = kin.frames[link][0].T
                on.force(link, x + R @ shift, R @ f)
        on.store(touch.energy)
        on.spend(g.add(g.mul(g.sub(touch.push, touch.elastic), touch.closing), touch.rubbing.dot(touch.velocity)))


def _potential(on: Elements, potential: Potential) -> None:
    """V: Q_k = - dV/dq_k; its partial time derivative is power."""
    (V,) = on.expression(potential.energy)
    on.store(V)
    on.along(on.rate(V), neg(ONE))
    on.spend(on.by_time(V))


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
