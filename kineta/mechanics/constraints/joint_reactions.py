"""Joint reactions: force and couple of its base on every body, by releasing the joints (Newton and Euler)::

    f_b = sum of (m a - F)        n_b = sum of (dL/dt - M + r x (m a - F))        over body b and all that it carries

in ground axes about the origin of the frame of b. Every body keeps its mass and its frame. Loads of elements and of constraint
reactions are their generalised forces on the motions that joint b prevents. Forces thus act at their points of application,
also those on coordinates of points; forces on joint coordinates, added forces tau and gears included, are transmitted by the
joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kineta.algebra.expression import symbol
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.constraints.rows import rows
from kineta.mechanics.contact.unilateral_rows import unilateral_constraints
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.applied_forces import Elements, generalized_forces
from kineta.mechanics.elements.element_actions import apply_elements
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.kinematics.sweeps import LinkMotion, inertia_wrench
from kineta.mechanics.kinematics.tree import kinematic_tree, moments_of
from kineta.mechanics.variables import Symbols, symbols
from kineta.model.body import GROUND, Body, Inertia, Station
from kineta.model.constraints import at, holding, place
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import Rx, Ry, Rz
from kineta.model.joints.shift import Sx, Sy, Sz
from kineta.model.kind import Condition
from kineta.model.motion_program import Control
from kineta.passes.substitute import substitute
from kineta.spatial.vector import Vector, zeros
from kineta.spatial.wrench import Wrench


def inertial_reactions(d: Derivation, motion: LinkMotion) -> dict[str, Wrench]:
    """The joint reactions to the inertia of the bodies in this *motion* of the links, by one sweep inwards over the bodies::

    f_p += f_b        n_p += n_b + (r_b - r_p) x f_b
    """
    found: dict[str, Wrench] = {}
    origins = {b.name: d.kinematics.position(Station(b.name)) for b in d.symbols.system.bodies}
    for body in reversed(d.symbols.system.tree):
        own = found[body.name] = _inertia(d, motion, body) + found.get(body.name, Wrench.zero(d.graph))
        if body.base != GROUND:
            arm, carried = origins[body.name] - origins[body.base], found.get(body.base, Wrench.zero(d.graph))
            found[body.base] = carried + Wrench(own.f, own.n + arm.cross(own.f))
    return found


def _inertia(d: Derivation, motion: LinkMotion, body: Body) -> Wrench:
    """Force and couple of a body for its acceleration less gravity."""
    place = d.mechanism.places[body.name]
    own = moments_of(d.symbols, body.inertia, d.graph).rotated(place.R)
    if place.link < 0:
        return inertia_wrench(own, -d.mechanism.gravity, zeros(d.graph))
    U, R = motion.U(2)[place.link], d.kinematics.frames[place.link][0]
    held = inertia_wrench(own, motion.X(2)[place.link] + U @ place.r, U)
    return Wrench(R @ held.f, R @ held.n)


def without_loads(d: Derivation, needed: Mapping[str, Wrench]) -> Mapping[str, Wrench]:
    """The reactions *needed* beyond every joint, with the true accelerations, less the loads of elements and constraints."""
    true = dict(zip((f"{n}'" for n in d.symbols.names), d["forward"].refs, strict=True))
    refs = iter(substitute(d.graph, [r for w in needed.values() for r in (*w.f.refs, *w.n.refs)], true))
    return without_loads_of(d, {name: Wrench(_next(d, refs), _next(d, refs)) for name in needed}, multipliers_of(d))


def without_loads_of(
    d: Derivation, needed: Mapping[str, Wrench], multipliers: Mapping[str, Ref]
) -> Mapping[str, Wrench]:
    """The reactions *needed* beyond every joint less the loads of elements, and of rows of constraints and contacts with these
    *multipliers*.
    """
    if not d.symbols.system.elements and not multipliers:
        return needed
    return {name: needed[name] - load for name, load in _loads(d, multipliers).items()}


def _loads(d: Derivation, multipliers: Mapping[str, Ref]) -> dict[str, Wrench]:
    """Loads of elements and of rows with *multipliers* beyond every joint, in ground axes about the origin of its body."""
    found, shares = _released_loads(
        d, with_contacts=not multipliers.keys() <= {row.constraint for row in d.constraint_rows}
    )
    for row, share in shares.items():
        if (multiplier := multipliers.get(row, ZERO)) != ZERO:
            found = {name: load + _times(share[name], multiplier) for name, load in found.items()}
    return {n: Wrench(d.kinematics.axes(n) @ load.f, d.kinematics.axes(n) @ load.n) for n, load in found.items()}


def of_constraints(d: Derivation) -> list[Ref]:
    """Joint reactions to a unit multiplier of every constraint, (rows, bodies, 6), in the order of :func:`inertial_reactions`."""
    _, shares = _released_loads(d)
    refs = []
    for row in d.constraint_rows:
        for body in d.symbols.system.bodies:
            share, R = shares.get(row.constraint, {}).get(body.name, Wrench.zero(d.graph)), d.kinematics.axes(body.name)
            refs += [*(-(R @ share.f)).refs, *(-(R @ share.n)).refs]
    return refs


def _times(wrench: Wrench, factor: Ref) -> Wrench:
    return Wrench(wrench.f * factor, wrench.n * factor)


def multipliers_of(d: Derivation) -> dict[str, Ref]:
    """The multipliers of constraints by the names of their rows."""
    rows = d.constraint_rows
    return dict(zip((r.constraint for r in rows), d["multipliers"].refs if rows else (), strict=True))


def _released_loads(
    d: Derivation, *, with_contacts: bool = False
) -> tuple[dict[str, Wrench], dict[str, dict[str, Wrench]]]:
    """Loads of the elements, and of unit multipliers of every row of constraints, and of contacts if *with_contacts*, on the
    motions that joints prevent, by body, in its axes.
    """
    g, s = d.graph, d.symbols
    freed, names = _released_variables(d)
    mechanism = kinematic_tree(freed)
    elements = apply_elements(Elements(mechanism, TreeKinematics(mechanism)))
    conditions = [c for c in s.system.constraints if not c.kind.in_joints(c)]
    forces = dict(zip(freed.names, generalized_forces(elements), strict=True))
    own = [[forces[f"{n}'"] for n in names]]
    found = list(rows(freed, elements, conditions))
    found += (row for contact in unilateral_constraints(elements) for row in contact.rows) if with_contacts else ()
    own += ([row.gradient.get(freed.names.index(f"{n}'"), ZERO) for n in names] for row in found)
    refs = iter(substitute(g, [r for row in own for r in row], _closed_configuration(d, names)))
    first, *rest = ({b.name: Wrench(_next(d, refs), _next(d, refs)) for b in s.system.bodies} for _ in own)
    return first, dict(zip((r.constraint for r in found), rest, strict=True))


def _closed_configuration(d: Derivation, names: Sequence[str]) -> dict[str, Ref]:
    """Values of the variables of the released system at the configuration of the joints."""
    still = dict.fromkeys((mark for n in names for mark in (n, f"{n}'")), ZERO)
    return dict(zip(d.symbols.system.base_speeds, d.symbols.speeds, strict=True)) | still


def _released_variables(d: Derivation) -> tuple[Symbols, list[str]]:
    """The variables of the system with released joints, and the names of the additional coordinates: six for a body, of small
    translations and rotations in its axes.
    """
    system, mark = d.symbols.system, _mark(d)
    bodies, names = [], []
    for body in system.bodies:
        motions, own = _small(f"{mark}{body.name}")
        bodies.append(replace(body, motions=(*body.motions, *motions), inertia=Inertia()))
        names += own
    return _with(d, bodies, names, system.constraints), names


def _mark(d: Derivation) -> str:
    """A prefix that no name of the system has."""
    system, mark = d.symbols.system, "joint_"
    known = (
        *system.coordinates,
        *(p.name for p in system.parameters),
        *system.frames,
        *(p.name for p in system.points),
    )
    while any(n.startswith(mark) for n in known):
        mark += "_"
    return mark


def _small(name: str) -> tuple[tuple[Motion, ...], list[str]]:
    """Small translations and rotations, and the names of their coordinates."""
    own = [f"{name}_{k}" for k in range(6)]
    x, y, z, a, b, c = map(symbol, own)
    return (Sx(x), Sy(y), Sz(z), Rx(a), Ry(b), Rz(c)), own


def _with(d: Derivation, bodies: Sequence[Body], names: Sequence[str], constraints: Sequence[Condition]) -> Symbols:
    """The variables of the system with other *bodies* and *constraints*, and the additional coordinates *names*."""
    system = d.symbols.system
    coordinates = (*system.coordinates, *names)
    left = dict.fromkeys(("quasi", "initial", "outputs", "switches", "programs"), ())
    changed = system.unchecked(
        bodies=tuple(bodies), coordinates=coordinates, constraints=tuple(constraints), control=Control(), **left
    )
    return replace(symbols(changed, d.graph), known=d.unconstrained.symbols.known)


def of_loops(d: Derivation, multipliers: Mapping[str, Ref]) -> list[Ref]:
    """Force and couple of every loop on its second body, about the second place, and of every rolling on the rolling body,
    about its centre, in ground axes, (loops and rollings, 6): generalised forces of rows with these *multipliers* on small
    motions of a frame there.
    """
    system, mark = d.symbols.system, _mark(d)
    bodies, names, changed, places = list(system.bodies), list[str](), list[Condition](), list[Station]()
    for condition in holding(system.constraints):
        held, marked = place(condition), f"{mark}{condition.name}"
        small, own = _small(marked)
        x, y, z = held.position
        bodies.append(Body(marked, held.body, (Sx(x), Sy(y), Sz(z), *small), Inertia()))
        names, places = names + own, [*places, held]
        changed.append(at(condition, Station(marked)))
    freed = _with(d, bodies, names, changed)
    mechanism = kinematic_tree(freed)
    forces = dict.fromkeys(names, ZERO)
    for row in rows(freed, Elements(mechanism, TreeKinematics(mechanism)), changed):
        for k, partial in row.gradient.items():
            if (n := freed.names[k][:-1]) in forces:
                share = d.graph.mul(partial, multipliers.get(row.constraint, ZERO))
                forces[n] = d.graph.add(forces[n], share)
    refs = iter(substitute(d.graph, [forces[n] for n in names], _closed_configuration(d, names)))
    axes = (d.kinematics.axes(held.body) for held in places)
    return [r for R in axes for _ in range(2) for r in (R @ _next(d, refs)).refs]


def of_place(d: Derivation, station: Station, frame: str) -> list[Ref]:
    """The joint reaction of a body about a place, in the axes of *frame*; for the ground, the sum over all bodies on it."""
    system, given = d.symbols.system, iter(d["reactions"].refs)
    about = d.kinematics.position(station)
    total = Wrench.zero(d.graph)
    for body in system.bodies:
        f, n = _next(d, given), _next(d, given)
        if body.name == station.body or (station.body == GROUND and body.base == GROUND):
            arm = d.kinematics.position(Station(body.name)) - about
            total = total + Wrench(f, n + arm.cross(f))
    axes = d.kinematics.axes(frame).T
    return [*(axes @ total.f).refs, *(axes @ total.n).refs]


def _next(d: Derivation, refs: Iterator[Ref]) -> Vector:
    return Vector(d.graph, next(refs), next(refs), next(refs))
