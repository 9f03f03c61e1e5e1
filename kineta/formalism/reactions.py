"""What joints pass on: the force and the couple that its base exerts on every body, by freeing the bodies (Newton and Euler)::

    f_b = sum of (m a - F)        n_b = sum of (dL/dt - M + r x (m a - F))        over body b and all that it carries

in ground axes about the origin of its frame. Every body keeps its mass and its frame. What elements and the reactions of
constraints do is what they do on the motions that joint b prevents. So forces act where they act, those on positions of points
at the points; what works on coordinates, added forces tau and gears included, goes through the joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kineta.expr.graph import ZERO, Ref
from kineta.expr.node import symbol
from kineta.formalism.constraint import rows
from kineta.formalism.elements import Elements, generalized_forces
from kineta.formalism.kinematics import Kinematics
from kineta.formalism.mechanism import kinematic_tree, moments_of
from kineta.formalism.sweeps import inertia_wrench
from kineta.formalism.symbols import Symbols, symbols
from kineta.formalism.touch import touches
from kineta.model.body import GROUND, Body, Inertia, Station
from kineta.model.constraints import Condition, holding
from kineta.model.constraints.loop import Loop
from kineta.model.motion import Motion, Rx, Ry, Rz, Sx, Sy, Sz
from kineta.passes.substitute import substitute
from kineta.spatial.vector import Vector, zeros
from kineta.spatial.wrench import Wrench

if TYPE_CHECKING:
    from kineta.formalism.derivation import Derivation
    from kineta.formalism.sweeps import Motion as Swept


def swept(d: Derivation, motion: Swept) -> dict[str, Wrench]:
    """What every joint passes on where the links have this *motion*, by one sweep inwards over the bodies::

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


def _inertia(d: Derivation, motion: Swept, body: Body) -> Wrench:
    """Force and couple of the mass of a body against its acceleration less gravity."""
    place = d.mechanism.places[body.name]
    own = moments_of(d.symbols, body.inertia).rotated(place.R)
    if place.link < 0:
        return inertia_wrench(own, -d.mechanism.gravity, zeros(d.graph))
    U, R = motion.U(2)[place.link], d.kinematics.frames[place.link][0]
    held = inertia_wrench(own, motion.X(2)[place.link] + U @ place.r, U)
    return Wrench(R @ held.f, R @ held.n)


def less_loads(d: Derivation, needed: Mapping[str, Wrench]) -> Mapping[str, Wrench]:
    """What is *needed* beyond every joint, with the true accelerations, less what elements and constraints do there."""
    true = dict(zip((f"{n}'" for n in d.symbols.names), d["forward"].refs, strict=True))
    refs = iter(substitute(d.graph, [r for w in needed.values() for r in (*w.f.refs, *w.n.refs)], true))
    return less(d, {name: Wrench(_next(d, refs), _next(d, refs)) for name in needed}, multipliers_of(d))


def less(d: Derivation, needed: Mapping[str, Wrench], multipliers: Mapping[str, Ref]) -> Mapping[str, Wrench]:
    """What is *needed* beyond every joint less what elements, and rows of constraints and touches with these *multipliers*, do
    there.
    """
    if not d.symbols.system.elements and not multipliers:
        return needed
    return {name: needed[name] - load for name, load in _loads(d, multipliers).items()}


def _loads(d: Derivation, multipliers: Mapping[str, Ref]) -> dict[str, Wrench]:
    """What elements and rows with *multipliers* do beyond every joint, in ground axes about the origin of its body."""
    found, shares = _let_go(d, touching=not multipliers.keys() <= {row.constraint for row in d.closures})
    for row, share in shares.items():
        if (multiplier := multipliers.get(row, ZERO)) != ZERO:
            found = {name: load + _times(share[name], multiplier) for name, load in found.items()}
    return {n: Wrench(d.kinematics.axes(n) @ load.f, d.kinematics.axes(n) @ load.n) for n, load in found.items()}


def of_constraints(d: Derivation) -> list[Ref]:
    """What every joint passes on because of a unit multiplier of every constraint, (rows, bodies, 6), as ``swept`` has it."""
    _, shares = _let_go(d)
    refs = []
    for row in d.closures:
        for body in d.symbols.system.bodies:
            share, R = shares.get(row.constraint, {}).get(body.name, Wrench.zero(d.graph)), d.kinematics.axes(body.name)
            refs += [*(-(R @ share.f)).refs, *(-(R @ share.n)).refs]
    return refs


def _times(wrench: Wrench, factor: Ref) -> Wrench:
    return Wrench(wrench.f * factor, wrench.n * factor)


def multipliers_of(d: Derivation) -> dict[str, Ref]:
    """The multipliers of constraints by the names of their rows."""
    kept = d.forms.kept if d.symbols.system.quasi else d.closures
    return dict(zip((r.constraint for r in kept), d["multipliers"].refs if kept else (), strict=True))


def _let_go(d: Derivation, *, touching: bool = False) -> tuple[dict[str, Wrench], dict[str, dict[str, Wrench]]]:
    """What elements, and what unit multipliers of every row of constraints, and of touches where something is *touching*, do on
    the motions that joints prevent, by body, in its axes.
    """
    g, s = d.graph, d.symbols
    freed, names = _freed(d)
    mechanism = kinematic_tree(freed)
    elements = Elements(mechanism, Kinematics(mechanism))
    conditions = [c for c in s.system.constraints if not (isinstance(c, Loop) and c.joint == "gear")]
    forces = dict(zip(freed.names, generalized_forces(elements), strict=True))
    own = [[forces[f"{n}'"] for n in names]]
    found = list(rows(freed, elements, conditions))
    found += (row for touch in touches(elements) for row in touch.rows) if touching else ()
    own += ([row.gradient.get(freed.names.index(f"{n}'"), ZERO) for n in names] for row in found)
    refs = iter(substitute(g, [r for row in own for r in row], _held(d, names)))
    first, *rest = ({b.name: Wrench(_next(d, refs), _next(d, refs)) for b in s.system.bodies} for _ in own)
    return first, dict(zip((r.constraint for r in found), rest, strict=True))


def _held(d: Derivation, names: Sequence[str]) -> dict[str, Ref]:
    """What the variables of the system let go are where its joints hold."""
    still = dict.fromkeys((mark for n in names for mark in (n, f"{n}'")), ZERO)
    return dict(zip(d.symbols.system.base_speeds, d.symbols.speeds, strict=True)) | still


def _freed(d: Derivation) -> tuple[Symbols, list[str]]:
    """The variables of a system whose joints let go, and the names of the coordinates that this brings: six a body, of small
    shifts and turns in its axes.
    """
    system, mark = d.symbols.system, _mark(d)
    bodies, names = [], []
    for body in system.bodies:
        motions, own = _small(f"{mark}{body.name}")
        bodies.append(replace(body, motions=(*body.motions, *motions), inertia=Inertia()))
        names += own
    return _with(d, bodies, names, system.constraints), names


def _mark(d: Derivation) -> str:
    """How names begin that the system does not have."""
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
    """Small shifts and turns, and the names of their coordinates."""
    own = [f"{name}_{k}" for k in range(6)]
    x, y, z, a, b, c = map(symbol, own)
    return (Sx(x), Sy(y), Sz(z), Rx(a), Ry(b), Rz(c)), own


def _with(d: Derivation, bodies: Sequence[Body], names: Sequence[str], constraints: Sequence[Condition]) -> Symbols:
    """The variables of the system with other *bodies* and *constraints*, and coordinates *names* more."""
    system = d.symbols.system
    coordinates = (*system.coordinates, *names)
    left = dict.fromkeys(("quasi", "initial", "outputs", "switches", "programs"), ())
    changed = system.replace(bodies=bodies, coordinates=coordinates, constraints=constraints, control=None, **left)
    known = d.released.symbols.known if system.quasi else {}
    return replace(symbols(changed, d.graph), known=known)


def of_loops(d: Derivation, multipliers: Mapping[str, Ref]) -> list[Ref]:
    """Force and couple of every loop on its second body, about the second place, and of every rolling on the rolling body, about
    its centre, in ground axes, (held, 6): what rows with these *multipliers* do on small motions of a frame there.
    """
    system, mark = d.symbols.system, _mark(d)
    bodies, names, changed, places = list(system.bodies), list[str](), list[Condition](), list[Station]()
    for condition in holding(system.constraints):
        place, marked = condition.end if isinstance(condition, Loop) else condition.start, f"{mark}{condition.name}"
        small, own = _small(marked)
        x, y, z = place.position
        bodies.append(Body(marked, place.body, (Sx(x), Sy(y), Sz(z), *small), Inertia()))
        names, places, there = names + own, [*places, place], Station(marked)
        changed.append(
            replace(condition, end=there) if isinstance(condition, Loop) else replace(condition, start=there)
        )
    freed = _with(d, bodies, names, changed)
    mechanism = kinematic_tree(freed)
    forces = dict.fromkeys(names, ZERO)
    for row in rows(freed, Elements(mechanism, Kinematics(mechanism), ()), changed):
        for k, partial in row.gradient.items():
            if (n := freed.names[k][:-1]) in forces:
                share = d.graph.mul(partial, multipliers.get(row.constraint, ZERO))
                forces[n] = d.graph.add(forces[n], share)
    refs = iter(substitute(d.graph, [forces[n] for n in names], _held(d, names)))
    axes = (d.kinematics.axes(place.body) for place in places)
    return [r for R in axes for _ in range(2) for r in (R @ _next(d, refs)).refs]


def of_place(d: Derivation, at: Station, frame: str) -> list[Ref]:
    """What the joint of a body passes on, about a place and in the axes of *frame*; for the ground, all that it passes on."""
    system, given = d.symbols.system, iter(d["reactions"].refs)
    place = d.kinematics.position(at)
    total = Wrench.zero(d.graph)
    for body in system.bodies:
        f, n = _next(d, given), _next(d, given)
        if body.name == at.body or (at.body == GROUND and body.base == GROUND):
            arm = d.kinematics.position(Station(body.name)) - place
            total = total + Wrench(f, n + arm.cross(f))
    axes = d.kinematics.axes(frame).T
    return [*(axes @ total.f).refs, *(axes @ total.n).refs]


def _next(d: Derivation, refs: Iterator[Ref]) -> Vector:
    return Vector(d.graph, next(refs), next(refs), next(refs))
