"""Inverse and forward dynamics of long trees as steps in loops over the links.

The sweeps are those of ``sweeps`` and ``articulated_bodies``, link by link. A step is written for a link as it stands in the
tree: by its motion, the zeros of its placement and of its masses, and those of what its neighbours pass on. The numbers of a
link are read from memory. So a chain of a thousand takes a few steps, and only tables of places grow with it.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import islice

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.loop_program import LoopProgram
from kineta.expr.program import StraightLineProgram
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
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.kinematics.sweeps import Level, accelerated, acceleration_matrix, inertia_wrench, moved, turned
from kineta.mechanics.kinematics.tree import Link, Rate
from kineta.model.system import System
from kineta.passes.step_recorder import Hoisted, Operand, Shape, StepRecorder, UnsuitedError, Write, rebuilt
from kineta.records import dataclass
from kineta.spatial.inertia import Moments, symmetric
from kineta.spatial.vector import Matrix, Vector, identity, skew
from kineta.spatial.wrench import Wrench

#: Links from which on loops are written: straight code of fewer is faster, and soon compiled.
LONG = 100
#: Operations of the motion of a link, or of a force on it, at most.
LARGE = 80
#: Links for each step, at least: without repetition loops gain nothing.
REPEATED = 4

#: The program of the parameters, and that of the quantity.
Programs = tuple[StraightLineProgram, LoopProgram]


def many_links(system: System) -> bool:
    """Whether a tree has so many coordinates that loops over its links are tried."""
    return len(system.q_names) >= LONG


class LinkLoops:
    """The links of a derivation as operands of steps, with *inputs*, blocks of symbols, and *hoisted* functions of parameters.

    Raise :class:`UnsuitedError` for systems that loops do not suit.
    """

    def __init__(self, d: Derivation, inputs: Mapping[str, Sequence[Ref]], hoisted: Hoisted) -> None:
        s, mechanism = d.symbols, d.mechanism
        self.d, self.graph, self.links = d, d.graph, mechanism.links
        special = (*s.system.constraints, *s.system.contacts, *s.system.quasi, *s.system.programs)
        if len(self.links) < LONG or special or inertia_elements.given(s) or not mechanism.one_to_one:
            raise UnsuitedError
        if d.elements.wrenches or any(link.kind == "free" and link.parent >= 0 for link in self.links):
            raise UnsuitedError
        self.recorder = StepRecorder(d.graph, inputs, hoisted, len(self.links) // REPEATED)

    def expression(self, refs: Sequence[Ref]) -> tuple[Shape, list[Operand]]:
        """*refs* as a shape and its leaves."""
        return self.recorder.expression(refs, LARGE)

    def motion(self, link: Link, more: Sequence[Ref]) -> tuple[Shape, list[Operand]]:
        """Q and d of a *link*, the derivatives of its rates by their speeds, and *more* as a shape and its leaves."""
        partials = (partial for rate in link.rates for partial in rate.by_speed.values())
        return self.expression([*link.Q.refs, *link.d.refs, *partials, *more])

    def placement(self, link: Link) -> list[Operand]:
        """R and r of a *link*."""
        return self.recorder.constants([*link.R.refs, *link.r.refs])

    def masses(self, link: Link, more: Sequence[Ref] = ()) -> list[Operand]:
        """Placement, then m, c, S of a *link*, and *more* functions of parameters."""
        own, S = link.moments, link.moments.S.rows
        moments = (own.m, *own.c.refs, *(S[i][j] for i, j in UPPER))
        return self.recorder.constants([*link.R.refs, *link.r.refs, *moments, *more])


#: Places of the entries of a symmetric matrix.
UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class StepOperands:
    """What the operands of a step stand for, read one after the other."""

    def __init__(self, graph: Graph, refs: Sequence[Ref]) -> None:
        self.graph = graph
        self._refs = iter(refs)

    def refs(self, n: int) -> list[Ref]:
        """The next *n* references."""
        return list(islice(self._refs, n))

    def vector(self) -> Vector:
        """The next vector."""
        return Vector(self.graph, *self.refs(3))

    def wrench(self) -> Wrench:
        """The next wrench, the force first."""
        return Wrench(self.vector(), self.vector())

    def matrix(self) -> Matrix:
        """The next matrix."""
        return Matrix(self.graph, [self.refs(3) for _ in range(3)])

    def symmetric(self) -> Matrix:
        """The next symmetric matrix."""
        found: dict[tuple[int, int], Ref] = dict(zip(UPPER, self.refs(6), strict=True))
        return symmetric(Matrix(self.graph, [[found[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]))

    def moments(self) -> Moments:
        """The next mass distribution."""
        (m,) = self.refs(1)
        return Moments(m, self.vector(), self.symmetric())


def _upper(M: Matrix) -> list[Ref]:
    return [M.rows[i][j] for i, j in UPPER]


def _listed(x: Wrench) -> list[Ref]:
    return [*x.f.refs, *x.n.refs]


@dataclass(frozen=True, slots=True)
class _Moved:
    """What the outward sweep leaves of a link, as operands: Q, d, derivatives of its rates by their speeds; angular velocity W_0
    and acceleration W_1, their matrix U_2, the acceleration X_2 of the origin; and the wrench of its masses.
    """

    motion: list[Operand]
    state: list[Operand]
    wrench: list[Operand]


def _kind(link: Link) -> tuple[object, ...]:
    """What does not depend on numbers in a *link*."""
    return link.kind, link.axis, link.parent < 0, tuple((r.turns, r.axis, bool(r.by_speed)) for r in link.rates)


def _link(like: Link, read: StepOperands, R: Matrix, r: Vector, moments: Moments | None = None) -> Link:
    """A link of the kind of *like* with the motion that comes next."""
    Q, d = read.matrix(), read.vector()
    graph = read.graph
    rates = tuple(
        Rate(x.turns, x.axis, ZERO, {0: read.refs(1)[0]} if x.by_speed else {}, ZERO, ZERO) for x in like.rates
    )
    none = Moments(ZERO, Vector(graph), identity(graph)) if moments is None else moments
    return Link(like.parent, R, r, like.kind, like.axis, Q, d, rates, none)


def _motion_size(link: Link) -> int:
    return 12 + sum(len(rate.by_speed) for rate in link.rates)


def _swept(loops: LinkLoops, level: Level) -> list[_Moved]:
    """The sweep outwards of all links, with the derivatives *level* of the rates."""
    ground = loops.recorder.constants([*(ZERO,) * 15, *(-loops.d.mechanism.gravity).refs])
    found: list[_Moved] = []
    for link in loops.links:
        shape, leaves = loops.motion(link, [level(rate, k) for rate in link.rates for k in (0, 1)])
        carrier = found[link.parent].state if link.parent >= 0 else ground
        write = _outwards(link, shape, len(leaves))
        results = loops.recorder.call(("outwards", _kind(link), shape), write, [*loops.masses(link), *leaves, *carrier])
        n = _motion_size(link)
        found.append(_Moved(results[:n], results[n : n + 18], results[n + 18 :]))
    return found


def _outwards(like: Link, shape: Shape, n: int) -> Write:
    """The step of the sweep outwards for links as *like*."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r, moments = read.matrix(), read.vector(), read.moments()
        own = rebuilt(graph, shape, read.refs(n))
        link = _link(like, StepOperands(graph, own), R, r, moments)
        motion = own[: _motion_size(like)]
        levels = {id(rate): own[len(motion) + 2 * j :][:2] for j, rate in enumerate(link.rates)}

        def level(rate: Rate, k: int) -> Ref:
            return levels[id(rate)][k]

        w, wdot, U, x = read.vector(), read.vector(), read.matrix(), read.vector()
        W0 = turned(link, w, [identity(graph)], 0, level)
        lower = [identity(graph), skew(W0)]
        W1 = turned(link, wdot, lower, 1, level)
        if link.parent >= 0:
            x = x + U @ link.offset
        X, U2 = moved(link, x, lower, 2, level), acceleration_matrix(W0, W1)
        return [*motion, *W0.refs, *W1.refs, *U2.refs, *X.refs, *_listed(inertia_wrench(moments, X, U2))]

    return write


def forward(d: Derivation) -> Programs:
    """The accelerations vdot from tau by articulated bodies. Raise :class:`UnsuitedError` for systems that loops do not suit."""
    s = d.symbols
    hoisted = Hoisted(d.graph, s.p)
    loops = LinkLoops(d, {"t": (s.t,), "q": s.q, "v": s.v, "tau": s.tau}, hoisted)
    return _programs(loops, "forward", accelerations(loops, s.tau))


def _programs(loops: LinkLoops, name: str, results: Sequence[Operand]) -> Programs:
    main = loops.recorder.program(name, {name: ((len(results),), results)})
    return loops.recorder.hoisted.setup(loops.d.symbols.p, f"{name}_setup"), main


def accelerations(loops: LinkLoops, tau: Sequence[Ref]) -> list[Operand]:
    """The accelerations of the speeds under *tau* by articulated bodies."""
    d, graph, call = loops.d, loops.graph, loops.recorder.call
    level = accelerated(graph, [ZERO] * len(d.symbols.v))
    motions, bounds = _swept(loops, level), rate_bounds(d.mechanism)
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
        key = "inwards", _kind(link), shape, bool(carried[i])
        results = call(key, _inwards(link, shape, len(leaves), bool(carried[i])), operands)
        own = 8 * sum(map(len, (rate.by_speed for rate in link.rates)))
        solutions[i], rest = results[:own], results[own:]
        carried[i] = []
        if link.parent < 0:
            carried[i] = rest  # the test of the tree
        elif carried[link.parent]:
            carried[link.parent] = call("added", _added, [*carried[link.parent], *rest])
        else:
            carried[link.parent] = rest
    results, tree = [-1] * len(d.symbols.v), list[int]()
    states: list[list[Operand]] = []
    for i, link in enumerate(loops.links):
        tree.append(tree[link.parent] if link.parent >= 0 else i)
        at = states[link.parent] if link.parent >= 0 else loops.recorder.constants([ZERO] * 6)
        operands = [*loops.placement(link), *motions[i].motion, *solutions[i], *at, *carried[tree[i]]]
        found = call(("answers", _kind(link)), _answers(link), operands)
        states.append(found[:6])
        for k, x in zip((k for rate in link.rates for k in rate.by_speed), found[6:], strict=True):
            results[k] = x
    return results


def _added(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """Sums of the articulated inertias and wrenches that two links pass to their carrier, and both tests of pivots."""
    half = len(refs) // 2
    return [*_summed(graph, refs[: half - 1] + refs[half:-1]), graph.guard(refs[half - 1], refs[-1])]


def _inwards(like: Link, shape: Shape, n: int, loaded: bool) -> Write:
    """The step of the elimination for links as *like*, *loaded* by others or not: the solutions of the rates, what the link asks
    of its carrier, and the test of pivots.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r, moments = read.matrix(), read.vector(), read.moments()
        bounds = read.refs(len(like.rates))
        link = _link(like, read, R, r, moments)
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
            found.append([*_listed(step.U), step.inverse, step.u])
            sizes = bounds[: j + 1]
            tests = [pivot_stands(link.rates[: j + 1], rate.by_speed[0], step, sizes, tests)]
            bounds[: j + 1] = sizes
        left = []
        if link.parent >= 0:
            passed = inward(link, I)
            left = [*_upper(passed.A), *passed.B.refs, *_upper(passed.C), *_listed(passed.p)]
        return [*(x for part in reversed(found) for x in part), *left, *(tests or [graph.const(1.0)])]

    return write


def _answers(like: Link) -> Write:
    """The step of the second outward sweep for links as *like*: accelerations of the link and of its speeds."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r = read.matrix(), read.vector()
        link = _link(like, read, R, r)
        steps = [RateSolution(read.wrench(), *read.refs(2)) for rate in link.rates for _ in rate.by_speed]
        own = carried_along(link, read.wrench())
        (test,) = read.refs(1)
        found = []
        for rate, step in zip((rate for rate in link.rates if rate.by_speed), steps, strict=True):
            udot, own = accelerated_by(step, rate, own)
            found.append(reduce(graph.guard, [test], graph.div(udot, rate.by_speed[0])))
        return [*_listed(own), *found]

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
        found = loops.recorder.call(("energies", _kind(link), shape), _energies(link, shape, len(leaves)), operands)
        states.append(found[:-2])
        sums = found[-2:]
    return sums[0], sums[1]


def _energies(like: Link, shape: Shape, n: int) -> Write:
    """The step of the energies for links as *like*: w, v, gravity in link axes, gravity . origin, and the two sums."""

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r, moments = read.matrix(), read.vector(), read.moments()
        own = rebuilt(graph, shape, read.refs(n))
        link = _link(like, StepOperands(graph, own), R, r, moments)
        speeds = {id(rate): speed for rate, speed in zip(link.rates, own[_motion_size(like) :], strict=True)}

        def level(rate: Rate, k: int) -> Ref:
            return speeds[id(rate)]

        carrier, v, gravity = read.vector(), read.vector(), read.vector()
        height, twice, work = read.refs(3)
        unit = [identity(graph)]
        w = turned(link, carrier, unit, 0, level)
        v = moved(link, v + carrier.cross(link.offset), unit, 1, level)
        down, height, more = gravity_work(link, gravity, height)
        sums = graph.add(twice, twice_kinetic_energy(moments, w, v)), graph.add(work, more)
        return [*w.refs, *v.refs, *down.refs, height, *sums]

    return write


def inverse(d: Derivation) -> Programs:
    """The forces tau from vdot by the two sweeps of Newton and Euler. Raise :class:`UnsuitedError` for systems that loops do not
    suit.
    """
    s = d.symbols
    loops = LinkLoops(d, {"t": (s.t,), "q": s.q, "v": s.v, "vdot": s.vdot}, Hoisted(d.graph, s.p))
    call, motions = loops.recorder.call, _swept(loops, accelerated(d.graph, s.vdot))
    carried: list[list[Operand]] = [[] for _ in loops.links]
    results = [-1] * len(d.symbols.v)
    for i in reversed(range(len(loops.links))):
        link = loops.links[i]
        speeds = [k for rate in link.rates for k in rate.by_speed]
        shape, leaves = loops.expression([d.elements.forces[k] for k in speeds])
        operands = [*loops.placement(link), *motions[i].motion, *motions[i].wrench, *leaves, *carried[i]]
        key = "forces", _kind(link), shape, bool(carried[i])
        found = call(key, _forces(link, shape, len(leaves), bool(carried[i])), operands)
        for k, x in zip(speeds, found, strict=False):
            results[k] = x
        rest = found[len(speeds) :]
        if link.parent >= 0:
            held = carried[link.parent]
            carried[link.parent] = call("summed", _summed, [*held, *rest]) if held else rest
    return _programs(loops, "inverse", results)


def _summed(graph: Graph, refs: list[Ref]) -> list[Ref]:
    half = len(refs) // 2
    return [graph.add(a, b) for a, b in zip(refs[:half], refs[half:], strict=True)]


def _forces(like: Link, shape: Shape, n: int, loaded: bool) -> Write:
    """The step of the sweep inwards for links as *like*, *loaded* by others or not: the forces on its speeds, and the wrench that
    its carrier passes on to it, in the axes of this.
    """

    def write(graph: Graph, refs: list[Ref]) -> list[Ref]:
        read = StepOperands(graph, refs)
        R, r = read.matrix(), read.vector()
        link, own = _link(like, read, R, r), read.wrench()
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
