"""Rules of the quantities that all formalisms share: kinematics, energies, momenta, and quantities with arguments."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import ZERO
from kineta.mechanics.algorithms import energy
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.higher_order_quantities import BY_ORDER
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.point_quantities import RULES
from kineta.mechanics.programs.dynamics import controlled
from kineta.mechanics.quantities import CONTROLLED, ordered, placed
from kineta.model.body import GROUND, Station
from kineta.model.reserved_symbols import added_force
from kineta.passes.substitute import substitute


def parametric(d: Derivation, name: str) -> Array:
    """The quantity *name* of an order or of a place: ``kineta(3)``, ``control(2)``, ``position(P)``."""
    if (found := ordered(name)) is not None:
        kind, order = found
        if kind in CONTROLLED:
            return controlled(d)[kind]
        shape, refs = BY_ORDER[kind](d, order)
    else:
        asked = placed(d.symbols.system, name)
        assert asked is not None, name
        shape, refs = RULES[asked.kind](d, d.elements.stations[asked.of], asked.frame)
    return Array(shape, tuple(refs))


def _kinetic(d: Derivation) -> Array:
    T = energy.kinetic_energy(d.mechanism, d.kinematics)
    return scalar(d.graph.add(T, inertia_elements.kinetic_energy(d.symbols)))


def _momentum(d: Derivation) -> Array:
    of_links = energy.generalized_momentum(d.mechanism, d.kinematics)
    return vector([d.graph.add(p, own) for p, own in zip(of_links, inertia_elements.momentum(d.symbols), strict=True)])


def _rotations(d: Derivation) -> Array:
    bodies = d.symbols.system.bodies
    return Array((len(bodies), 3, 3), tuple(r for b in bodies for r in d.kinematics.axes(b.name).refs))


def _velocities(d: Derivation) -> Array:
    rows = []
    for body in d.symbols.system.bodies:
        w = d.kinematics.angular_velocity(d.mechanism.places[body.name])
        rows.append(d.kinematics.velocity(Station(body.name)).refs + w.refs)
    return matrix(rows, 6)


def _accelerations(d: Derivation) -> Array:
    stations = [Station(b.name) for b in d.symbols.system.bodies]
    return matrix([list(RULES["acceleration"](d, at, GROUND)[1]) for at in stations], 6)


def _jacobian(d: Derivation) -> Array:
    bodies, nv = d.symbols.system.bodies, len(d.symbols.v)
    rows = [row for b in bodies for row in d.kinematics.jacobian(Station(b.name))]
    return Array((len(bodies), 6, nv), tuple(r for row in rows for r in row))


def _momenta(d: Derivation) -> tuple[Array, Array]:
    total = energy.total_momentum(d.described, TreeKinematics(d.described))
    return vector(total.f.refs), vector(total.n.refs)


def _mass_centre(d: Derivation) -> Array:
    m, c = energy.mass_centre(d.described, TreeKinematics(d.described))
    return vector((c * d.graph.div(d.graph.const(1.0), m)).refs if m != ZERO else c.refs)


def _generalized_energy(d: Derivation) -> Array:
    """Jacobi's integral v . dT/dv - T + V: the energy without prescribed motions, and conserved where T and V do not depend on
    time.
    """
    g = d.graph
    work = g.sum(g.mul(p, v) for p, v in zip(d["momentum"].refs, d.symbols.v, strict=True))
    return scalar(g.add(g.sub(work, d["kinetic_energy"].refs[0]), d["potential_energy"].refs[0]))


def _outputs(d: Derivation) -> Array:
    found = d.expression(*(o.value for o in d.symbols.system.outputs))
    return vector(substitute(d.graph, found, dict.fromkeys((added_force(n) for n in d.symbols.names), ZERO)))


COMMON: Mapping[str, Rule] = {
    "kinetic_energy": _kinetic,
    "potential_energy": lambda d: scalar(d.graph.add(energy.gravity_potential(d.mechanism), d.elements.potential)),
    "energy": lambda d: scalar(d.graph.add(d["kinetic_energy"].refs[0], d["potential_energy"].refs[0])),
    "lagrangian": lambda d: scalar(d.graph.sub(d["kinetic_energy"].refs[0], d["potential_energy"].refs[0])),
    "generalized_energy": _generalized_energy,
    "momentum": _momentum,
    "linear_momentum": lambda d: _momenta(d)[0],
    "angular_momentum": lambda d: _momenta(d)[1],
    "mass_centre": _mass_centre,
    "qdot": lambda d: vector(d.symbols.qdot),
    "zdot": lambda d: vector(d.symbols.state_rates),
    "positions": lambda d: matrix([d.kinematics.position(Station(b.name)).refs for b in d.symbols.system.bodies], 3),
    "rotations": _rotations,
    "velocities": _velocities,
    "accelerations": _accelerations,
    "jacobian": _jacobian,
    "outputs": _outputs,
    "state_rate": lambda d: vector((*d.symbols.qdot, *d["forward"].refs)),
}
