"""What joints pass on: the force and the couple that its base exerts on every body, by freeing the bodies (Newton and Euler)::

    f_b = sum of (m a - F)        n_b = sum of (dL/dt - M + r x (m a - F))        over body b and all that it carries

in ground axes about the origin of its frame. Every body keeps its mass and its frame. What elements and the reactions of
constraints do is what they do on the motions that joint b prevents. So forces act where they act, those on positions of points
at the points; what works on coordinates, added forces tau and gears included, goes through the joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from kineta.model.body import GROUND, Body, Inertia, Station
from kineta.model.constraints.loop import Loop
from kineta.model.motion import Rx, Ry, Rz, Sx, Sy, Sz
from kineta.passes.substitute import substitute
from kineta.spatial.vector import Vector, zeros
from kineta.spatial.wrench import Wrench

if TYPE_CHECKING:
    from kineta.formalism.derivation import Derivation
    from kineta.formalism.sweeps import Motion


def swept(d: Derivation, motion: Motion) -> dict[str, Wrench]:
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


def _inertia(d: Derivation, motion: Motion, body: Body) -> Wrench:
    """Force and couple of the mass of a body against its acceleration less gravity."""
    place = d.mechanism.places[body.name]
    own = moments_of(d.symbols, body.inertia).rotated(place.R)
    if place.link < 0:
        return inertia_wrench(own, -d.mechanism.gravity, zeros(d.graph))
    U, R = motion.U(2)[place.link], d.kinematics.frames[place.link][0]
    held = inertia_wrench(own, motion.X(2)[place.link] + U @ place.r, U)
    return Wrench(R @ held.f, R @ held.n)


def less_loads(d: Derivation, needed: Mapping[str, Wrench]) -> dict[str, Wrench]:
    """What is *needed* beyond every joint, with the true accelerations, less what elements and constraints do there."""
    true = dict(zip((f"{n}'" for n in d.symbols.names), d["forward"].refs, strict=True))
    refs = iter(substitute(d.graph, [r for w in needed.values() for r in (*w.f.refs, *w.n.refs)], true))
    happening = {name: Wrench(_next(d, refs), _next(d, refs)) for name in needed}
    system = d.symbols.system
    if not system.elements and not system.constraints:
        return happening
    return {name: happening[name] - load for name, load in _loads(d).items()}


def _loads(d: Derivation) -> dict[str, Wrench]:
    """What elements and the reactions of constraints do beyond every joint, in ground axes about the origin of its body."""
    g, s = d.graph, d.symbols
    freed, names = _freed(d)
    mechanism = kinematic_tree(freed)
    elements = Elements(mechanism, Kinematics(mechanism))
    forces = dict(zip(freed.names, generalized_forces(elements), strict=True))
    conditions = [c for c in s.system.constraints if not (isinstance(c, Loop) and c.joint == "gear")]
    kept = d.forms.kept if s.system.quasi else d.closures
    multipliers = dict(zip((r.constraint for r in kept), d["multipliers"].refs if kept else (), strict=True))
    for row in rows(freed, elements, conditions):
        for k, partial in row.gradient.items():
            share = g.mul(partial, multipliers.get(row.constraint, ZERO))
            forces[freed.names[k]] = g.add(forces[freed.names[k]], share)
    still = dict.fromkeys((mark for n in names for mark in (n, f"{n}'")), ZERO)
    moved = dict(zip(s.system.base_speeds, s.speeds, strict=True)) | still
    refs = iter(substitute(g, [forces[f"{n}'"] for n in names], moved))
    found = {}
    for body in s.system.bodies:
        R = d.kinematics.axes(body.name)
        found[body.name] = Wrench(R @ _next(d, refs), R @ _next(d, refs))
    return found


def _freed(d: Derivation) -> tuple[Symbols, list[str]]:
    """The variables of a system whose joints let go, and the names of the coordinates that this brings: six a body, of small
    shifts and turns in its axes.
    """
    system, mark = d.symbols.system, "joint_"
    while any(n.startswith(mark) for n in (*system.coordinates, *(p.name for p in system.parameters))):
        mark += "_"
    bodies, names = [], []
    for body in system.bodies:
        own = [f"{mark}{body.name}_{k}" for k in range(6)]
        x, y, z, a, b, c = map(symbol, own)
        motions = (*body.motions, Sx(x), Sy(y), Sz(z), Rx(a), Ry(b), Rz(c))
        bodies.append(replace(body, motions=motions, inertia=Inertia()))
        names += own
    let_go = system.replace(bodies=bodies, coordinates=(*system.coordinates, *names), quasi=(), initial=(), outputs=())
    known = d.released.symbols.known if system.quasi else {}
    return replace(symbols(let_go, d.graph), known=known), names


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
