"""Quantities of systems of many components as loops over these: one step for all components that are alike.

The step is the quantity of the first of them, after all passes. Its functions of parameters are operands, so that numbers and
parameters of each component are read from memory. So a thousand equal four-bars take the code of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import Graph, Ref
from kineta.expr.loop_program import LoopProgram
from kineta.expr.lowering import lowered
from kineta.expr.op import Op
from kineta.expr.program import StraightLineProgram
from kineta.mechanics.variables import Symbols
from kineta.model.body import GROUND
from kineta.model.system import System
from kineta.model.transformations.components import names_in
from kineta.passes.step_recorder import Hoisted, Operand, StepRecorder, rebuilt, shape_of
from kineta.passes.substitute import substitute
from kineta.records import dataclass
from kineta.threads import once

#: Coordinates of a system from which on loops over its components are written.
MANY = 100
#: Speeds of a component at most: steps are straight code.
LARGE = 60
#: Components of each kind, at least, in the mean.
REPEATED = 4
#: Quantities that a component has by itself, with an entry for each speed, and what they depend on.
SEPARATE: Mapping[str, tuple[str, ...]] = {"forward": ("t", "q", "v", "tau"), "inverse": ("t", "q", "v", "vdot")}


@dataclass(frozen=True, eq=False)
class ComponentKind:
    """A kind of components: a *quantity* of the first of them, with *symbols*, as *refs* after all passes."""

    symbols: Symbols
    quantity: str
    refs: Sequence[Ref]

    @once
    def parts(self) -> tuple[tuple[tuple[int, ...], ...], list[int], list[int]]:
        """The quantity as a shape and its leaves, and those of its leaves that are functions of parameters."""
        graph = self.symbols.graph
        static = Hoisted(graph, self.symbols.p).static()
        shape, leaves = shape_of(graph, lowered(graph, self.refs), static)
        return shape, leaves, [i for i in leaves if i in static and graph.op[i] != Op.CONST]

    @once
    def places(self) -> dict[int, tuple[str, int]]:
        """The block and the place of each variable."""
        s = self.symbols
        blocks = {"t": (s.t,), "q": s.q, "v": s.v, "tau": s.tau, "vdot": s.vdot}
        return {r >> 1: (name, k) for name in SEPARATE[self.quantity] for k, r in enumerate(blocks[name])}

    def write(self, graph: Graph, given: Sequence[Ref]) -> list[Ref]:
        """The step of a component on the leaves *given* that are no numbers."""
        shape, leaves, _ = self.parts
        own, operands = self.symbols.graph, iter(given)
        numbers = (own.constants[own.lhs[i]] if own.op[i] == Op.CONST else None for i in leaves)
        return rebuilt(graph, shape, [next(operands) if x is None else graph.const(x) for x in numbers])


def perhaps_many(system: System) -> bool:
    """Whether *system* may have so many small components that loops over them are tried."""
    if len(system.q_names) < MANY or system.programs:
        return False
    fixed, roots, moving = {GROUND}, 0, {*system.coordinates}
    for body in system.tree:
        if body.base in fixed:
            if moving.isdisjoint(names_in(body.motions)):
                fixed.add(body.name)
            else:
                roots += 1
                if roots >= REPEATED and roots * LARGE >= len(system.q_names):
                    return True
    return False


def programs(
    system: System, quantity: str, kinds: Sequence[ComponentKind], components: Sequence[System]
) -> tuple[StraightLineProgram, LoopProgram]:
    """The program of the parameters of *system* and that of a *quantity* from its *components*, of these *kinds*.

    Raise :class:`~kineta.passes.step_recorder.UnsuitedError` where steps would be no fewer.
    """
    graph = Graph()
    sizes = {"t": 1, "q": system.nq, "v": system.nv, "tau": system.nv, "vdot": system.nv}
    inputs = {n: [graph.symbol(f"{n}.{k}") for k in range(sizes[n])] for n in SEPARATE[quantity]}
    p = {name: graph.symbol(name) for name in system.parameter_names}
    hoisted = Hoisted(graph, [*p.values()])
    recorder = StepRecorder(graph, inputs, hoisted, len(components) // REPEATED)
    q, v = ({name: k for k, name in enumerate(names)} for names in (system.q_names, system.v_names))
    functions: dict[tuple[int, ...], list[Ref]] = {}
    results = [-1] * system.nv
    for kind, own in zip(kinds, components, strict=True):
        speeds = [v[name] for name in own.v_names]
        places = {"t": [0], "q": [q[name] for name in own.q_names], **dict.fromkeys(("v", "tau", "vdot"), speeds)}
        moving = {i: inputs[block][places[block][k]] for i, (block, k) in kind.places.items()}
        known = dict(zip(kind.parts[2], _fixed(recorder, kind, own, p, functions), strict=True))
        leaves = [i for i in kind.parts[1] if i in moving]
        known |= zip(leaves, recorder.variables([moving[i] for i in leaves]), strict=True)
        operands = [known[i] for i in kind.parts[1] if i in known]
        for k, x in zip(speeds, recorder.call((quantity, id(kind)), kind.write, operands), strict=True):
            results[k] = x
    main = recorder.program(quantity, {quantity: ((len(results),), results)})
    return hoisted.setup([*p.values()], f"{quantity}_setup"), main


def _fixed(
    recorder: StepRecorder,
    kind: ComponentKind,
    own: System,
    p: Mapping[str, Ref],
    functions: dict[tuple[int, ...], list[Ref]],
) -> list[Operand]:
    """The functions of parameters of *kind* for the component *own*, once for all with the same parameters."""
    graph = recorder.source
    values = {x.name: x.value for x in own.parameters if x.value is not None}
    given = [p[name] if name in p else graph.const(values[name]) for name in own.parameter_names]
    key = id(kind), *given
    if key not in functions:
        named = dict(zip(kind.symbols.system.parameter_names, given, strict=True))
        functions[key] = substitute(kind.symbols.graph, [2 * i for i in kind.parts[2]], named, graph)
    return recorder.constants(functions[key])
