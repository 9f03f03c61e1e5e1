"""The named expressions of a system, and their rates, in the equations that are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kineta.algebra.expression import Expr
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES, Op
from kineta.expr.walk import operands, reachable
from kineta.mechanics.derivation import Derivation
from kineta.model.name_inference import highest_derivative
from kineta.model.named_expressions import expanded_values
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, forced
from kineta.model.system import System
from kineta.notation.defined_names import DefinedNames
from kineta.passes.simplify import simplify
from kineta.passes.substitute import substitute


def kept_names(derivation: Derivation, system: System, refs: Sequence[Ref]) -> DefinedNames | None:
    """*refs* of a *derivation* in terms of the named expressions of *system* that stand in them, and of their rates, simplified;
    None where none does.
    """
    found = in_names(derivation, system, refs)
    if not found.named:
        return None
    own = Graph()
    short = simplify(found.graph, [*found.named.values(), *found.refs], system.parameter_names, own)
    return DefinedNames(own, tuple(short[len(found.named) :]), dict(zip(found.named, short, strict=False)))


def in_names(derivation: Derivation, system: System, refs: Sequence[Ref]) -> DefinedNames:
    """*refs* of a *derivation*, in its graph, in terms of the named expressions of *system* that stand in them, and of rates."""
    g = derivation.graph
    known = dict(_named_nodes(derivation, system)) if system.lets else {}
    stand = _standing(g, refs, known) if known else []
    if not stand:
        return DefinedNames(g, tuple(refs), {})
    symbols = {i: g.symbol(known[i][0]) ^ known[i][1] for i in stand}
    named = {known[i][0]: _written(g, i, symbols) ^ known[i][1] for i in stand}
    return DefinedNames(g, tuple(substitute(g, refs, {}, nodes=_squares(g, symbols) | symbols)), named)


def _squares(graph: Graph, symbols: Mapping[int, Ref]) -> dict[int, Ref]:
    """Nodes whose roots have *symbols*, as the squares of these."""
    roots = [(graph.lhs[i], x) for i, x in symbols.items() if graph.op[i] == Op.SQRT]
    return {r >> 1: graph.mul(x, x) ^ (r & 1) for r, x in roots}


def _written(graph: Graph, i: int, symbols: Mapping[int, Ref]) -> Ref:
    """What the node *i* stands for in terms of the *symbols* of other nodes."""
    (ref,) = substitute(graph, [2 * i], {}, nodes={k: x for k, x in symbols.items() if k != i})
    return ref


def _named_nodes(derivation: Derivation, system: System) -> Iterator[tuple[int, tuple[str, int]]]:
    """Nodes with the names of the expressions, or of their rates, that they are up to a sign, and this sign."""
    values = {name: x for name, x in expanded_values(system.lets).items() if _is_of_state(system, x)}
    refs = derivation.expression_of_levels(*values.values())
    s = derivation.symbols
    rates = [s.rates([r])[0] if not s.order([r]) else r for r in refs]
    for name, ref, rate in reversed([*zip(values, refs, rates, strict=True)]):
        for own, x in ((f"{name}'", rate), (name, ref)):
            if derivation.graph.op[x >> 1] not in LEAVES:
                yield x >> 1, (own, x & 1)


def _is_of_state(system: System, value: Expr) -> bool:
    """Whether a *value* is a function of the state and of the time, without reactions, energies and accelerations."""
    names = value.symbols()
    given = any(n.startswith(MULTIPLIER) or n in ENERGIES or forced(n) for n in names)
    return not given and highest_derivative(system, value) < 2


def _standing(graph: Graph, refs: Sequence[Ref], known: Mapping[int, tuple[str, int]]) -> list[int]:
    """Nodes of *known* that stand in *refs*, or in what those that do stand for, each behind those that it is made of."""
    found, ahead = set[int](), [*refs]
    while ahead:
        new = {i for i in reachable(graph, ahead, known) if i in known} - found
        found |= new
        ahead = [r for i in new for r in operands(graph, i)]
    return sorted(found)
