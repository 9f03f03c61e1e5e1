"""Inverse and forward dynamics of long trees as steps in loops over the links.

The sweeps are those of ``sweeps`` and ``articulated_bodies``, link by link. A step is written for a link as it stands in the
tree: by its motion, the zeros of its placement and of its masses, and those of what its neighbours pass on. The numbers of a
link are read from memory. So a chain of a thousand takes a few steps, and only tables of places grow with it.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.algorithms.articulated_bodies import (
    Articulated,
    RateSolution,
    accelerated_by,
    carried_along,
    eliminated,
    inward,
    pivot_stands,
    rigid,
)
from kineta.mechanics.algorithms.composite_bodies import component
from kineta.mechanics.algorithms.energy import gravity_work, twice_kinetic_energy
from kineta.mechanics.algorithms.rounding_bounds import rate_bounds
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.kinematics.sweeps import Level, accelerated, acceleration_matrix, inertia_wrench, moved, turned
from kineta.mechanics.kinematics.tree import Link, Rate
from kineta.mechanics.loops_over_links.operands import (
    LinkLoops,
    Programs,
    StepOperands,
    kind_of,
    like_link,
    listed,
    motion_size,
    moving_link,
    upper,
)
from kineta.passes.step_recorder import Hoisted, Operand, Shape, UnsuitedError, Write, rebuilt
from kineta.records import dataclass
from kineta.spatial.vector import identity, skew


@dataclass(frozen=True, slots=True)
class Moved:
    """What the outward sweep leaves of a link, as operands: Q, d, derivatives of its rates by their speeds; angular velocity W_0
    and acceleration W_1, their matrix U_2, the acceleration X_2 of the origin; and the wrench of its masses.
    """

    motion: list[Operand]
    state: list[Operand]
    wrench: list[Operand]


def swept(loops: LinkLoops, level: Level) -> list[Moved]:
    """The sweep outwards of all links, with the derivatives *level* of the rates."""
    ground = loops.recorder.constants([*(ZERO,) * 15, *(-loops.d.mechanism.gravity).refs])
    found: list[Moved] = []
    for link in loops.links:
        shape, leaves = loops.motion(link, [level(rate, k) for rate in link.rates for k in (0, 1)])
        carrier = found[link.parent].state if link.parent >= 0 else ground
        write = _outwards(link, shape, len(leaves))
        results = loops.recorder.call(
            ("outwards", kind_of(link), shape), write, [*loops.masses(link), *leaves, *carrier]
        )
        n = motion_size(link)
        found.append(Moved(results[:n], results[n : n + 18], results[n + 18 :]))
    return found


def _outwards(like: Link, shape: Shape, n: int) -> Write:
    """The step of the sweep outwards for links as *like*."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        link, motion, behind = moving_link(like, read, shape, n)
        levels = {id(rate): behind[2 * j :][:2] for j, rate in enumerate(link.rates)}

        def level(rate: Rate, k: int) -> Ref:
            return levels[id(rate)][k]

        w, wdot, U, x = read.vector(), read.vector(), read.matrix(), read.vector()
        W0 = turned(link, w, [identity(graph)], 0, level)
        lower = [identity(graph), skew(W0)]
        W1 = turned(link, wdot, lower, 1, level)
        if link.parent >= 0:
            x = x + U @ link.offset
        X, U2 = moved(link, x, lower, 2, level), acceleration_matrix(W0, W1)
        return [*motion, *W0.refs, *W1.refs, *U2.refs, *X.refs, *listed(inertia_wrench(link.moments, X, U2))]

    return write


def forward(d: Derivation) -> Programs:
    """The accelerations vdot from tau by articulated bodies. Raise :class:`UnsuitedError` for systems that loops do not suit."""
    s = d.symbols
    hoisted = Hoisted(d.graph, s.p)
    loops = LinkLoops(d, {"t": (s.t,), "q": s.q, "v": s.v, "tau": s.tau}, hoisted)
    return programs(loops, "forward", _column("forward", accelerations(loops, s.tau)))


#: Shapes and operands of results, by name.
Outputs = Mapping[str, tuple[tuple[int, ...], Sequence[Operand]]]


def _column(name: str, results: Sequence[Operand]) -> Outputs:
    return {name: ((len(results),), results)}


def programs(loops: LinkLoops, name: str, outputs: Outputs) -> Programs:
    """The program of the parameters, and that of the *outputs*."""
    main = loops.recorder.program(name, outputs)
    return loops.recorder.hoisted.setup(loops.d.symbols.p, f"{name}_setup"), main


def accelerations(loops: LinkLoops, tau: Sequence[Ref]) -> list[Operand]:
    """The accelerations of the speeds under *tau* by articulated bodies."""
    d, graph, call = loops.d, loops.graph, loops.recorder.call
    level = accelerated(graph, [ZERO] * len(d.symbols.v))
    motions, bounds = swept(loops, level), rate_bounds(d.mechanism)
    n = len(loops.links)
    carried: list[list[Operand]] = [[] for _ in range(n)]
    solutions: list[list[Operand]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        link = loops.links[i]
        forces = []
        for rate in link.rates:
            for k, partial in rate.by_speed.items():
                forces.append(graph.div(graph.add(tau[k], d.elements.forces[k]), partial))
        shape, leaves = loops.expression(forces)
        sizes = [bounds[i, j] for j in range(len(link.rates))]
        operands = [*loops.masses(link, sizes), *motions[i].motion, *motions[i].wrench, *leaves, *carried[i]]
        key = "inwards", kind_of(link), shape, bool(carried[i])
        results = call(key, _inwards(link, shape, len(leaves), bool(carried[i])), operands)
        own = 8 * sum(map(len, (rate.by_speed for rate in link.rates)))
        solutions[i], rest = results[:own], results[own:]
        carried[i] = []
        if link.parent < 0:
            carried[i] = rest  # the test of the tree
        elif carried[link.parent]:
            carried[link.parent] = call("added", added, [*carried[link.parent], *rest])
        else:
            carried[link.parent] = rest
    results, tree = [-1] * len(d.symbols.v), list[int]()
    states: list[list[Operand]] = []
    for i, link in enumerate(loops.links):
        tree.append(tree[link.parent] if link.parent >= 0 else i)
        at = states[link.parent] if link.parent >= 0 else loops.recorder.constants([ZERO] * 6)
        operands = [*loops.placement(link), *motions[i].motion, *solutions[i], *at, *carried[tree[i]]]
        found = call(("answers", kind_of(link)), _answers(link), operands)
        states.append(found[:6])
        for k, x in zip((k for rate in link.rates for k in rate.by_speed), found[6:], strict=True):
            results[k] = x
    return results


def added(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """Sums of the articulated inertias and wrenches that two links pass to their carrier, and both tests of pivots."""
    half = len(refs) // 2
    return [*summed(graph, refs[: half - 1] + refs[half:-1]), graph.guard(refs[half - 1], refs[-1])]


def _inwards(like: Link, shape: Shape, n: int, loaded: bool) -> Write:
    """The step of the elimination for links as *like*, *loaded* by others or not: the solutions of the rates, what the link asks
    of its carrier, and the test of pivots.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r, moments = read.matrix(), read.vector(), read.moments()
        bounds = read.refs(len(like.rates))
        link = like_link(like, read, R, r, moments)
        I = rigid(link, read.wrench())
        forces = iter(rebuilt(graph, shape, read.refs(n))[::-1])
        tests: list[Ref] = []
        if loaded:
            I = I + Articulated(read.symmetric(), read.matrix(), read.symmetric(), read.wrench())
            tests = read.refs(1)
        found: list[list[Ref]] = []
        for j in reversed(range(len(link.rates))):
            rate = link.rates[j]
            if not rate.by_speed:
                continue
            solved = eliminated(I, rate, next(forces))
            if solved is None:
                raise UnsuitedError
            I, step = solved
            found.append([*listed(step.U), step.inverse, step.u])
            sizes = bounds[: j + 1]
            tests = [pivot_stands(link.rates[: j + 1], rate.by_speed[0], step, sizes, tests)]
            bounds[: j + 1] = sizes
        left = []
        if link.parent >= 0:
            passed = inward(link, I)
            left = [*upper(passed.A), *passed.B.refs, *upper(passed.C), *listed(passed.p)]
        return [*(x for part in reversed(found) for x in part), *left, *(tests or [graph.const(1.0)])]

    return write


def _answers(like: Link) -> Write:
    """The step of the second outward sweep for links as *like*: accelerations of the link and of its speeds."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r = read.matrix(), read.vector()
        link = like_link(like, read, R, r)
        steps = [RateSolution(read.wrench(), *read.refs(2)) for rate in link.rates for _ in rate.by_speed]
        own = carried_along(link, read.wrench())
        (test,) = read.refs(1)
        found = []
        for rate, step in zip((rate for rate in link.rates if rate.by_speed), steps, strict=True):
            udot, own = accelerated_by(step, rate, own)
            found.append(reduce(graph.guard, [test], graph.div(udot, rate.by_speed[0])))
        return [*listed(own), *found]

    return write


def energies(loops: LinkLoops) -> tuple[Operand, Operand]:
    """Twice the kinetic energy, and the work of gravity from the origin of the ground, of all links."""
    gravity = loops.d.mechanism.gravity
    ground = loops.recorder.constants([*(ZERO,) * 6, *gravity.refs, ZERO])
    states: list[list[Operand]] = []
    sums = loops.recorder.constants([ZERO, ZERO])
    for link in loops.links:
        shape, leaves = loops.motion(link, [rate.speed for rate in link.rates])
        carrier = states[link.parent] if link.parent >= 0 else ground
        operands = [*loops.masses(link), *leaves, *carrier, *sums]
        found = loops.recorder.call(("energies", kind_of(link), shape), _energies(link, shape, len(leaves)), operands)
        states.append(found[:-2])
        sums = found[-2:]
    return sums[0], sums[1]


def _energies(like: Link, shape: Shape, n: int) -> Write:
    """The step of the energies for links as *like*: w, v, gravity in link axes, gravity . origin, and the two sums."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        link, _, behind = moving_link(like, read, shape, n)
        speeds = {id(rate): speed for rate, speed in zip(link.rates, behind, strict=True)}

        def level(rate: Rate, k: int) -> Ref:
            return speeds[id(rate)]

        carrier, v, gravity = read.vector(), read.vector(), read.vector()
        height, twice, work = read.refs(3)
        unit = [identity(graph)]
        w = turned(link, carrier, unit, 0, level)
        v = moved(link, v + carrier.cross(link.offset), unit, 1, level)
        down, height, more = gravity_work(link, gravity, height)
        sums = graph.add(twice, twice_kinetic_energy(link.moments, w, v)), graph.add(work, more)
        return [*w.refs, *v.refs, *down.refs, height, *sums]

    return write


def inverse(d: Derivation) -> Programs:
    """The forces tau from vdot by the two sweeps of Newton and Euler. Raise :class:`UnsuitedError` for systems that loops do not
    suit.
    """
    s = d.symbols
    loops = LinkLoops(d, {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot}, Hoisted(d.graph, s.p))
    call, motions = loops.recorder.call, swept(loops, accelerated(d.graph, s.vdot))
    carried: list[list[Operand]] = [[] for _ in loops.links]
    results = [-1] * len(d.symbols.v)
    for i in reversed(range(len(loops.links))):
        link = loops.links[i]
        speeds = [k for rate in link.rates for k in rate.by_speed]
        shape, leaves = loops.expression([d.elements.forces[k] for k in speeds])
        operands = [*loops.placement(link), *motions[i].motion, *motions[i].wrench, *leaves, *carried[i]]
        key = "forces", kind_of(link), shape, bool(carried[i])
        found = call(key, _forces(link, shape, len(leaves), bool(carried[i])), operands)
        for k, x in zip(speeds, found, strict=False):
            results[k] = x
        rest = found[len(speeds) :]
        if link.parent >= 0:
            held = carried[link.parent]
            carried[link.parent] = call("summed", summed, [*held, *rest]) if held else rest
    return programs(loops, "inverse", _column("inverse", results))


def summed(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """Sums of what two links pass to their carrier."""
    half = len(refs) // 2
    return [graph.add(a, b) for a, b in zip(refs[:half], refs[half:], strict=True)]


def _forces(like: Link, shape: Shape, n: int, loaded: bool) -> Write:
    """The step of the sweep inwards for links as *like*, *loaded* by others or not: the forces on its speeds, and the wrench that
    its carrier passes on to it, in the axes of this.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r = read.matrix(), read.vector()
        link, own = like_link(like, read, R, r), read.wrench()
        applied = rebuilt(graph, shape, read.refs(n))
        if loaded:
            own = own + read.wrench()
        rates = [rate for rate in link.rates if rate.by_speed]
        found = [
            graph.sub(graph.mul(rate.by_speed[0], component(own, rate)), force)
            for rate, force in zip(rates, applied, strict=True)
        ]
        if link.parent < 0:
            return found
        f = link.inward(own.f)
        return [*found, *f.refs, *(link.inward(own.n) + link.offset.cross(f)).refs]

    return write
