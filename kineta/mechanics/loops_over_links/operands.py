"""The links of a tree as operands of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.loop_program import LoopProgram
from kineta.expr.program import StraightLineProgram
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.kinematics.tree import Link, Rate
from kineta.passes.step_recorder import Hoisted, Operand, Shape, StepRecorder, UnsuitedError, rebuilt
from kineta.records import dataclass
from kineta.spatial.inertia import Moments, symmetric
from kineta.spatial.vector import Matrix, Vector, identity
from kineta.spatial.wrench import Wrench

#: Links from which on loops are written: straight code of fewer is faster, and soon compiled.
LONG = 100
#: Operations of the motion of a link, or of a force on it, at most.
LARGE = 80
#: Links for each step, at least: without repetition loops gain nothing.
REPEATED = 4

#: The program of the parameters, and that of the quantity.
Programs = tuple[StraightLineProgram, LoopProgram]


@dataclass(frozen=True, slots=True)
class Loops:
    """A quantity in loops: its programs, and from how many coordinates on loops are tried."""

    written: Callable[[Derivation], Programs]
    least: Callable[[], int] = lambda: LONG


class LinkLoops:
    """The links of a derivation as operands of steps, with *inputs*, blocks of symbols, and *hoisted* functions of parameters;
    from *least* links on, with *steps* at most.

    Raise :class:`UnsuitedError` for systems that loops do not suit.
    """

    def __init__(
        self,
        d: Derivation,
        inputs: Mapping[str, Sequence[Ref]],
        hoisted: Hoisted,
        least: int | None = None,
        steps: int | None = None,
    ) -> None:
        s, mechanism = d.symbols, d.mechanism
        self.d, self.graph, self.links = d, d.graph, mechanism.links
        special = (*s.system.constraints, *s.system.contacts, *s.system.quasi, *s.system.programs)
        if (
            len(self.links) < (LONG if least is None else least)
            or special
            or inertia_elements.given(s)
            or not mechanism.one_to_one
        ):
            raise UnsuitedError
        if d.elements.wrenches or any(link.kind == "free" and link.parent >= 0 for link in self.links):
            raise UnsuitedError
        most = len(self.links) // REPEATED if steps is None else steps
        self.recorder = StepRecorder(d.graph, inputs, hoisted, most)

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

    def __init__(self, graph: Graph, refs: Iterable[Ref]) -> None:
        self.graph = graph
        self._refs = iter(refs)

    def refs(self, n: int) -> list[Ref]:
        """The next *n* references."""
        return list(islice(self._refs, n))

    def rest(self) -> Iterator[Ref]:
        """All references that are left."""
        return self._refs

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


def upper(M: Matrix) -> list[Ref]:
    """The entries at :data:`UPPER`."""
    return [M.rows[i][j] for i, j in UPPER]


def listed(x: Wrench) -> list[Ref]:
    """The components of *x*, the force first."""
    return [*x.f.refs, *x.n.refs]


def kind_of(link: Link) -> tuple[object, ...]:
    """What does not depend on numbers in a *link*."""
    return link.kind, link.axis, link.parent < 0, tuple((r.turns, r.axis, bool(r.by_speed)) for r in link.rates)


def like_link(like: Link, read: StepOperands, R: Matrix, r: Vector, moments: Moments | None = None) -> Link:
    """A link of the kind of *like* with the motion that comes next."""
    Q, d = read.matrix(), read.vector()
    graph = read.graph
    rates = tuple(
        Rate(x.turns, x.axis, ZERO, {0: read.refs(1)[0]} if x.by_speed else {}, ZERO, ZERO) for x in like.rates
    )
    none = Moments(ZERO, Vector(graph), identity(graph)) if moments is None else moments
    return Link(like.parent, R, r, like.kind, like.axis, Q, d, rates, none)


def moving_link(like: Link, read: StepOperands, shape: Shape, n: int) -> tuple[Link, list[Ref], list[Ref]]:
    """A link of the kind of *like* with the masses that come next and, in *n* leaves of a *shape*, its motion; the operands of
    this motion, and those behind it.
    """
    R, r, moments = read.matrix(), read.vector(), read.moments()
    own, size = rebuilt(read.graph, shape, read.refs(n)), motion_size(like)
    return like_link(like, StepOperands(read.graph, own), R, r, moments), own[:size], own[size:]


def motion_size(link: Link) -> int:
    """Number of operands of Q, d and the derivatives of the rates of a *link*."""
    return 12 + sum(len(rate.by_speed) for rate in link.rates)
