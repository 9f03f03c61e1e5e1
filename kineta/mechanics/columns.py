"""Derivatives of forward dynamics with columns in the lanes of vectors, for one state.

Straight code of large robots is bound by its bytes. Here articulated bodies and motions of the links alone are straight code.
What columns share of a rate, and what they begin with, follow from these in lanes of links (:func:`_link_step`), and the columns
are swept as of ``algorithms.column_sweep``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.lane_program import ALL, LANES, LaneOperand, LaneStep
from kineta.expr.program import program
from kineta.mechanics.acceleration_derivatives import articulated_motion
from kineta.mechanics.algorithms.articulated_bodies import Articulated, RateSolution
from kineta.mechanics.algorithms.column_sweep import Begun, ColumnSweep, SweptRate
from kineta.mechanics.algorithms.forward_derivatives import Loads, asked, first_row
from kineta.mechanics.algorithms.motion_changes import Change, displaced, taken_up
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.force_derivatives import applied_changes
from kineta.mechanics.kinematics.common_frames import CommonFrames, Frames, hubs, twist_seen, wrench_seen
from kineta.mechanics.kinematics.sweeps import acceleration_matrix
from kineta.mechanics.kinematics.tree import At, Rate
from kineta.mechanics.loops_over_links.operands import StepOperands
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Vector, along
from kineta.spatial.wrench import Wrench

#: Blocks of columns of the quantities that are swept so.
BLOCKS: dict[str, tuple[str, ...]] = {
    "forward_derivatives": ("q", "v", "tau"),
    **{f"forward_by_{block}": (block,) for block in ("q", "v", "tau")},
}
#: Results of the step of links at most.
RESULTS = 48


class ColumnNumbers:
    """What columns are swept with, as references of the graph of a derivation."""

    def __init__(self, d: Derivation) -> None:
        g, self.links, leading = d.graph, d.mechanism.links, d.mechanism.leading or {}
        self.m, self.bodies = articulated_motion(d, Frames("tree"))
        self.frames = CommonFrames(self.m.mechanism, hubs(self.m.mechanism, "tree"))
        self.loads = Loads(self.m, self.bodies)
        rates = [at for at in self.m.rates if at in self.bodies.steps]
        self.at_speed = {leading[at]: at for at in rates}
        self.by_speed = {at: self.links[at[0]].rates[at[1]].by_speed[k] for k, at in self.at_speed.items()}
        #: 1 / D, NaN where a pivot is at the level of rounding: so are then all accelerations of the tree.
        self.inverse: dict[At, Ref] = {}
        for k, at in self.at_speed.items():
            self.inverse[at] = self.bodies.guarded_by(g, k, self.bodies.steps[at].inverse)
        self.inputs = {at: self._inputs(at) for at in rates if self._turns_alone(at[0])}
        others = [at for at in rates if at not in self.inputs]
        self.rates = {at: self._rate(at) for at in others}
        self.begun = {at: self._begun(g, at, k) for k, at in self.at_speed.items() if at in others}
        #: Forces on the rates, by block and speed.
        unit = {k: {at: g.div(ONE, self.by_speed[at])} for k, at in self.at_speed.items()}
        self.forces: dict[str, dict[int, dict[At, Ref]]] = {"tau": unit}
        for block in "qv":
            changes = enumerate(applied_changes(d, block))
            self.forces[block] = {
                l: {at: g.div(forces[k], self.by_speed[at]) for k, at in self.at_speed.items() if forces[k] != ZERO}
                for l, forces in changes
            }

    def refs(self) -> list[Ref]:
        """All of them."""
        found = [*self.by_speed.values(), *self.inverse.values(), *(x for own in self.bodies.tests for x in own)]
        found += [x for own in self.inputs.values() for x in own]
        found += [x for rate in self.rates.values() for x in _rate_refs(rate)]
        found += [x for both in self.begun.values() for own in both for x in _begun_refs(own)]
        return found + [x for own in self.forces.values() for by in own.values() for x in by.values()]

    def _turns_alone(self, i: int) -> bool:
        return self.links[i].parent >= 0 and self.links[i].kind == "turn" and len(self.links[i].rates) == 1

    def _rate(self, at: At) -> SweptRate:
        (i, j), frames, inverse = at, self.frames, self.inverse[at]
        step = RateSolution(self.bodies.steps[at].U, inverse, ZERO)
        G, beta = first_row(self.links[i].rates[j], step, self.loads.b[at])
        return SweptRate(frames.twist(i, self.m.S[at]), frames.wrench(i, G), frames.vector(i, beta), inverse)

    def _begun(self, g: Graph, at: At, speed: int) -> tuple[Begun, Begun]:
        m, i, found = self.m, at[0], []
        moved = m.S[at].cross_wrench(m.F[i]), Wrench.zero(g)
        for own, seen, more in zip(m.changes(at), m.seen(self.frames, at), moved, strict=True):
            P = self.frames.wrench(i, self.loads.load(i, own.X, own.y) + more)
            taken = {b: self.bodies.guarded_by(g, speed, x) for b, x in seen.taken.items()}
            found.append(Begun(seen.X, seen.y, P, taken).times(self.by_speed[at]))
        return found[0], found[1]

    def _inputs(self, at: At) -> list[Ref]:
        """What :func:`_link_step` reads of a link, in axes whose last is that of its rate."""
        (i, j), m, left = at, self.m, self.bodies.left[at[0]]
        e = self.links[i].rates[j].axis
        order, U = [(e + 1) % 3, (e + 2) % 3, e], self.bodies.steps[at].U
        (R, r), moved = self.frames.seen(i), self.bodies.moved[i]
        vectors = [U.f, U.n, self.loads.b[at], left.p.f, left.p.n, moved.f, moved.n]
        vectors += [m.w[i], m.wdot[i], m.a[i], m.twice[i].v]
        found = [self.inverse[at], self.by_speed[at], *(v[k] for v in vectors for k in order)]
        for M in (left.A, left.B, left.C, self.loads.N[i], self.loads.F[i]):
            found += [M.rows[k][l] for k in order for l in order]
        return [*found, *(row[k] for row in R.rows for k in order), *r.refs]


class _SweepOperands(StepOperands):
    """What the operands of a step of the columns stand for."""

    def twist(self) -> Twist:
        return Twist(self.vector(), self.vector())

    def rate(self) -> SweptRate:
        return SweptRate(self.twist(), self.wrench(), self.vector(), *self.refs(1))

    def begun(self, taken: Sequence[At]) -> Begun:
        return Begun(self.twist(), self.vector(), self.wrench(), dict(zip(taken, self.refs(len(taken)), strict=True)))


def _rate_refs(x: SweptRate) -> list[Ref]:
    return [*x.S.w.refs, *x.S.v.refs, *x.G.f.refs, *x.G.n.refs, *x.beta.refs, x.inverse]


def _begun_refs(x: Begun) -> list[Ref]:
    return [*x.X.w.refs, *x.X.v.refs, *x.y.refs, *x.P.f.refs, *x.P.n.refs, *x.taken.values()]


def _link_step(read: _SweepOperands) -> list[Ref]:
    """The rate of a link, and what the columns of q and of v that belong to it begin with."""
    g, (inverse, factor) = read.graph, read.refs(2)
    U, b, p, moved = read.wrench(), read.vector(), read.wrench(), read.wrench()
    w, wdot, a, twice = (read.vector() for _ in range(4))
    left, N, F = Articulated(read.matrix(), read.matrix(), read.matrix(), p), read.matrix(), read.matrix()
    seen = read.matrix(), read.vector()
    rate, at, S, two = Rate(True, 2, ZERO, {0: factor}, ZERO, ZERO), (0, 0), Twist(along(g, 2), Vector(g)), g.const(2.0)
    G, beta = first_row(rate, RateSolution(U, inverse, ZERO), b)
    swept = SweptRate(twist_seen(seen, S), wrench_seen(seen, G), seen[0] @ beta, inverse)
    by_q = displaced(rate, twice, w, a, acceleration_matrix(w, wdot))
    by_v = Change(Twist(w * two, twice).cross(S), S.w)
    y = seen[0] @ by_q.y
    transmitted = S.cross_wrench(left.p + left.times(moved))
    found = _rate_refs(swept)
    for change, more in ((by_q, transmitted), (by_v, Wrench.zero(g))):
        own = taken_up(change, {at: rate})
        P = wrench_seen(seen, asked(left, N, F, own.X, own.y) + more)
        if change is by_q:
            X = twist_seen(seen, own.X)
        else:
            # 2 v x S turns by twice as much as y of a displacement.
            X = Twist(y * two, seen[0] @ own.X.v + seen[1].cross(y * two))
            y = swept.S.w
        found += _begun_refs(Begun(X, y, P, own.taken).times(factor))
    return found


class ColumnSteps:
    """Writer of the steps of a quantity of *blocks*; *known* are the simplified references of :meth:`ColumnNumbers.refs` in
    *graph*.

    The workspace begins with the results of the steps of links, RESULTS vectors each; behind them stand *given*, the numbers of
    the set-up.
    """

    def __init__(self, numbers: ColumnNumbers, blocks: Sequence[str], graph: Graph, known: Sequence[Ref]) -> None:
        self.numbers, self.blocks, self.source = numbers, blocks, graph
        self.known = dict(zip(numbers.refs(), known, strict=True))
        self.given: list[Ref] = []
        self._place: dict[Ref, int] = {}
        self._runs = self._shortest_runs()
        self.first = RESULTS * LANES * len(self._runs)
        #: For the rates of links in lanes what each result is: a number, or where it stands in its lane, with a sign.
        self._of_link: dict[At, list[float | tuple[int, int]]] = {}
        links = [step for k, run in enumerate(self._runs) if (step := self._links(k, run)) is not None]
        self.steps = (*links, *(self._columns(run) for run in self._runs))

    def _shortest_runs(self) -> list[range]:
        """Runs of speeds, a vector wide at most, for which the sweeps are shortest in sum."""
        links, at_speed = self.numbers.links, self.numbers.at_speed
        n, carriers = len(at_speed), list[set[int]]()
        for i, link in enumerate(links):
            carriers.append({i, *(carriers[link.parent] if link.parent >= 0 else ())})
        best: list[tuple[int, list[range]]] = [(0, [])]
        for last in range(1, n + 1):
            ways, above = [], set[int]()
            for first in reversed(range(max(0, last - LANES), last)):
                above |= carriers[at_speed[first][0]]
                length, runs = best[first]
                ways.append((length + n + sum(len(links[i].rates) for i in above), [*runs, range(first, last)]))
            best.append(min(ways, key=lambda way: way[0]))
        return best[n][1]

    def _links(self, number: int, run: range) -> LaneStep | None:
        """The step of the links of a *run* that turn."""
        g, inputs = Graph(), self.numbers.inputs
        lanes = {l: at for l, k in enumerate(run) if (at := self.numbers.at_speed[k]) in inputs}
        operands: list[LaneOperand] = []
        refs: list[Ref] = []
        for column in zip(*([self.known[r] for r in inputs[at]] for at in lanes.values()), strict=True):
            value = self.source.value(column[0]) if len(set(column)) == 1 else None
            if value is None:
                self.given += [ZERO] * (-len(self.given) % LANES)
                own = dict(zip(lanes, column, strict=True))
                refs.append(g.symbol(f"x{len(operands)}"))
                operands.append(LaneOperand(self.first + len(self.given), several=True))
                self.given += [own.get(l, ZERO) for l in range(LANES)]
            else:
                refs.append(g.const(value))
        if not lanes:
            return None
        results = _link_step(_SweepOperands(g, refs))
        values = [g.value(r) for r in results]
        places: dict[Ref, int] = {}
        for r, value in zip(results, values, strict=True):
            if value is None:
                places.setdefault(r & -2, LANES * (RESULTS * number + len(places)))
        for l, at in lanes.items():
            found = zip(results, values, strict=True)
            self._of_link[at] = [(places[r & -2] + l, r & 1) if value is None else value for r, value in found]
        symbols = [g.symbol(f"x{k}") for k in range(len(operands))]
        made = program(g, {"x": symbols}, {"y": ((len(places),), list(places))}, "links")
        return LaneStep(made, tuple(operands), tuple(places.values()), LANES, last=False)

    def _columns(self, run: range) -> LaneStep:
        """The step of the columns of a *run* of speeds."""
        g, numbers, n = Graph(), self.numbers, len(self.numbers.at_speed)
        operands: dict[LaneOperand, Ref] = {}

        def symbol(operand: LaneOperand) -> Ref:
            return operands.setdefault(operand, g.symbol(f"x{len(operands)}"))

        def known(x: Ref, lanes: int) -> Ref:
            value = self.source.value(x)
            if value is not None and (lanes == ALL or not value):
                return g.const(value)
            if x & -2 not in self._place:
                self._place[x & -2] = self.first + len(self.given)
                self.given.append(x & -2)
            return symbol(LaneOperand(self._place[x & -2], lanes=lanes)) ^ x & 1

        def given(lanes: int = ALL) -> Callable[[Ref], Ref]:
            return lambda r: known(self.known[r], lanes)

        def of_link(at: At, lane: int | None = None) -> Iterator[Ref]:
            """The results of the step of links for a rate, in all lanes or in its own."""
            for x in self._of_link[at]:
                if isinstance(x, float):
                    yield known(self.source.const(x), ALL if lane is None else 1 << lane)
                elif lane is None:
                    yield symbol(LaneOperand(x[0])) ^ x[1]
                else:
                    yield symbol(LaneOperand(x[0] - lane, several=True, lanes=1 << lane)) ^ x[1]

        rates: dict[At, SweptRate] = {}
        begun: dict[int, tuple[Begun, Begun]] = {}
        for k, at in numbers.at_speed.items():
            if at in self._of_link:
                rates[at] = _SweepOperands(g, of_link(at)).rate()
                if k in run:
                    read = _SweepOperands(g, of_link(at, k - run.start))
                    read.rate()
                    begun[k] = read.begun([at]), read.begun([at])
            else:
                rates[at] = _SweepOperands(g, map(given(), _rate_refs(numbers.rates[at]))).rate()
                if k in run:
                    own = (
                        _SweepOperands(g, map(given(1 << k - run.start), _begun_refs(x))).begun([*x.taken])
                        for x in numbers.begun[at]
                    )
                    begun[k] = next(own), next(own)
        swept = []
        for block in self.blocks:
            starts = [(numbers.at_speed[k][0], begun[k]["qv".index(block)]) for k in run if block != "tau"]
            forces: dict[At, Ref] = {}
            for lane, k in enumerate(run):
                for at, r in numbers.forces[block].get(k, {}).items():
                    forces[at] = g.add(forces.get(at, ZERO), given(1 << lane)(r))
            swept.append(ColumnSweep(g, numbers.links, rates, starts, forces))
        # Sweeps in turns do not wait for each other.
        for i in reversed(range(len(numbers.links))):
            for each in swept:
                each.inwards(i)
        for i in range(len(numbers.links)):
            for each in swept:
                each.outwards(i)
        places = {}
        for k, at in numbers.at_speed.items():
            for number, each in enumerate(swept):
                x = g.div(each.found[at], given()(numbers.by_speed[at]))
                # What is zero in all states has nothing of the pivots.
                for test in numbers.bodies.tests[k] if x == ZERO else ():
                    x = g.guard(x, given()(test))
                places[(number * n + k) * n + run.start] = x
        made = program(g, {"x": list(operands.values())}, {"x": ((len(places),), list(places.values()))}, "columns")
        return LaneStep(made, tuple(operands), tuple(places), len(run), last=True)
