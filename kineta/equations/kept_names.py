"""The named expressions of a system, and their rates, in the equations that are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kineta.algebra.expression import Expr
from kineta.expr.graph import ONE, ZERO, Graph, Ref
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

#: Angles of which a sine or cosine is given.
ANGLES = frozenset((Op.ASIN, Op.ACOS))
#: Names of angles that the model has no name for.
LETTERS = ("phi", "psi", "beta", "gamma", "delta")


def kept_names(derivation: Derivation, system: System, refs: Sequence[Ref]) -> DefinedNames | None:
    """*refs* of a *derivation* in terms of the named expressions of *system* that stand in them, and of their rates, simplified;
    None where none does.
    """
    found = in_names(derivation, system, refs)
    if not found.named:
        return None
    own = Graph()
    short = simplify(found.graph, [*found.named.values(), *found.refs], system.parameter_names, own)
    return DefinedNames(own, tuple(short[len(found.named) :]), dict(zip(found.named, short, strict=False)), found.fresh)


def in_names(derivation: Derivation, system: System, refs: Sequence[Ref]) -> DefinedNames:
    """*refs* of a *derivation*, in its graph, in terms of the named expressions of *system* that stand in them, of angles whose
    sines or cosines are given, and of rates.
    """
    g = derivation.graph
    known = dict(_named_nodes(derivation, system)) if system.lets else {}
    angles = dict(_angles(derivation, system, known))
    known = angles | known
    stand = _standing(g, refs, known) if known else []
    if not stand:
        return DefinedNames(g, tuple(refs), {})
    symbols = {i: g.symbol(known[i][0]) ^ known[i][1] for i in stand}
    waves, turns = _waves(derivation, symbols)
    rates = waves | symbols
    named = {n: _written(g, i, rates if n.endswith("'") else symbols) ^ sign for i in stand for n, sign in (known[i],)}
    return DefinedNames(
        g,
        tuple(substitute(g, refs, {}, nodes=_squares(g, symbols) | turns | rates)),
        named,
        {n for n, _ in angles.values()},
    )


def names_stand(system: System, graph: Graph) -> bool:
    """Whether :func:`kept_names` may find some in equations of *system* in a *graph*."""
    return bool(system.lets) or not ANGLES.isdisjoint(graph.op)


def _angles(d: Derivation, system: System, known: Mapping[int, object]) -> Iterator[tuple[int, tuple[str, int]]]:
    """Nodes that are angles with moving sines or cosines that are given, and their rates, with names that *system* has not."""
    g = d.graph
    taken = {*system.parameter_names, *system.q_names, *system.v_names, *(let.name for let in system.lets)}
    found = [i for i, op in enumerate(g.op) if op in ANGLES and i not in known and not d.symbols.order([2 * i])]
    moving = [(i, rate) for i, rate in zip(found, d.symbols.rates([2 * i for i in found]), strict=True) if rate != ZERO]
    for (i, rate), name in zip(moving, [n for n in LETTERS if n not in taken], strict=False):
        yield i, (name, 0)
        if g.op[rate >> 1] not in LEAVES:
            yield rate >> 1, (f"{name}'", rate & 1)


def _squares(graph: Graph, symbols: Mapping[int, Ref]) -> dict[int, Ref]:
    """Nodes whose roots have *symbols*, as the squares of these."""
    roots = [(graph.lhs[i], x) for i, x in symbols.items() if graph.op[i] == Op.SQRT]
    return {r >> 1: graph.mul(x, x) ^ (r & 1) for r, x in roots}


def _waves(d: Derivation, symbols: Mapping[int, Ref]) -> tuple[dict[int, Ref], dict[int, Ref]]:
    """Nodes by the angles with *symbols* whose sines or cosines are given: x = sin(phi), sqrt(1 - x^2) = cos(phi) for
    phi = asin(x); and x' = cos(phi)*phi' where phi' has a symbol, too.
    """
    g, found, turns = d.graph, dict[int, Ref](), dict[int, Ref]()
    for i, angle in symbols.items():
        if g.op[i] not in ANGLES:
            continue
        x = g.lhs[i]
        other = g.sqrt(g.sub(ONE, g.mul(x, x)))
        sine, cosine = g.sin(angle), g.cos(angle)
        one, two = (sine, cosine) if g.op[i] == Op.ASIN else (cosine, sine)
        found |= {x >> 1: one ^ (x & 1), other >> 1: two}
        rate, own = d.symbols.rates([x, 2 * i])
        if own >> 1 in symbols:
            turn = g.mul(two, symbols[own >> 1] ^ (own & 1) ^ (g.op[i] == Op.ACOS))
            turns[rate >> 1] = turn ^ (rate & 1)
    return found, turns


def _written(graph: Graph, i: int, nodes: Mapping[int, Ref]) -> Ref:
    """What the node *i* stands for in terms of other *nodes*."""
    (ref,) = substitute(graph, [2 * i], {}, nodes={k: x for k, x in nodes.items() if k != i})
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
