"""Units of expressions, derived from the units of their symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import reduce

from kineta.algebra.expression import Expr
from kineta.expr.graph import Graph
from kineta.expr.op import UNARY, Op
from kineta.expr.tables import Table, table_of
from kineta.expr.walk import reachable
from kineta.model import name_inference, units
from kineta.model.constraints.equation import Constraint
from kineta.model.contacts.limit import Limit
from kineta.model.elements.couple import Couple
from kineta.model.kind import Element
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, POINT_COMPONENTS, TIME, added_force, forced, owner
from kineta.model.system import System
from kineta.model.units import NUMBER, Dimension, times
from kineta.model.vectors import KINDS
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class QuantityKind:
    """Kind of a quantity: its ``dimension``; whether it is an ``angle`` or an angular rate; ``weak`` for a
    number without dimension that in a sum may stand for anything, as sin(t) for metres.
    """

    dimension: Dimension
    angle: bool = False
    weak: bool = False


#: None for an unknown kind, as of constants: 0.5 does not show its unit.
Known = QuantityKind | None

#: Components of the velocity of a point.
_VELOCITY = tuple(c for c in POINT_COMPONENTS if c.startswith("v"))

_WEAK, _ANGLE = QuantityKind(NUMBER, weak=True), QuantityKind(NUMBER, angle=True)


def output_units(system: System) -> dict[str, str]:
    """Units of what runs of *system* record by name, where they follow; ``''`` for a number without dimension."""
    return expression_units(system, {o.name: o.value for o in system.expanded.recorded})


def expression_units(system: System, values: Mapping[str, Expr]) -> dict[str, str]:
    """Units of *values*, expressions of the symbols of outputs, by name, where they follow."""
    known, names = _symbols(system), {n for e in values.values() for n in e.symbols()}
    known |= _multipliers(system, {n for n in names if n.startswith(MULTIPLIER)}, known) | _of_motion(
        system, names, known
    )
    found = {name: _kind(e, known) for name, e in values.items()}
    energies = {name for name, e in values.items() if not set(ENERGIES).isdisjoint(e.symbols())}
    return {name: _written(kind, name in energies) for name, kind in found.items() if kind is not None}


def varied_units(system: System) -> dict[str, str]:
    """Units of all that may vary by name: coordinates, speeds, parameters, and forces ``tau[q1']`` on speeds."""
    forces = {
        added_force(n): times(units.POWER, d, -1) for n, d in variable_dimensions(system).items() if n in system.v_names
    }
    named = {p.name: p.dimension for p in system.parameters if p.dimension is not None} | forces
    return {n: units.symbol(d) for n, d in named.items()} | variable_units(system)


def acceleration_units(system: System) -> dict[str, str]:
    """Units of the derivatives of the speeds, ``q1''`` and ``w'``, where they follow."""
    known = _symbols(system)
    found = {f"{n}'": known[n] for n in system.v_names if n in known}
    return {n: _written(replace(x, dimension=times(x.dimension, units.TIME, -1)), False) for n, x in found.items()}


def unit_of(system: System, value: Expr) -> str:
    """The unit of an expression of coordinates, speeds, parameters and points of *system*; ``''`` where none follows."""
    (plain,) = system.expand(value)
    kind = _kind_in(system, plain, _symbols(system))
    return "" if kind is None else _written(kind, False)


def variable_units(system: System) -> dict[str, str]:
    """Units of coordinates and speeds by name, where motions show them, and of quasi-velocities, where they follow."""
    known = _symbols(system)
    return name_inference.units(system) | {
        n: _written(known[n], False) for n in system.v_names if n in known and "'" not in n
    }


def multiplier_units(system: System, names: Iterable[str]) -> dict[str, str]:
    """Units of the multipliers *names*, where they follow."""
    return {n: _written(kind, False) for n, kind in _multipliers(system, names, _symbols(system)).items()}


def multiplier_dimensions(system: System, names: Iterable[str]) -> dict[str, Dimension]:
    """Dimensions of the multipliers *names*, where they follow."""
    return {n: kind.dimension for n, kind in _multipliers(system, names, _symbols(system)).items()}


def level_unit(system: System, row: str, order: int, rate: int) -> str:
    """Unit of the residual of a *row* of constraints of this *order*, or of its derivative of order *rate*; ``''`` if unknown."""
    found = _multipliers(system, [f"{MULTIPLIER}{row}"], _symbols(system)).get(f"{MULTIPLIER}{row}")
    if found is None:
        return ""
    work = units.POWER if order else units.ENERGY
    return units.symbol(times(times(work, found.dimension, -1), units.TIME, -rate))


def variable_dimensions(system: System) -> dict[str, Dimension]:
    """Dimensions of coordinates and speeds by name, as :func:`variable_units` knows them."""
    known = _symbols(system)
    return {n: known[n].dimension for n in (*system.q_names, *system.speeds) if n in known}


def series_dimensions(system: System) -> dict[str, Dimension | None]:
    """Dimensions of what is measured of *system* by name: coordinates, speeds, accelerations, forces on speeds, parameters and
    outputs; None where they do not follow.
    """
    speeds = dict.fromkeys((*system.v_names, *system.base_speeds))
    names = (
        *system.q_names,
        *speeds,
        *(f"{n}'" for n in speeds),
        *map(added_force, speeds),
        *(o.name for o in system.outputs),
    )
    found = varied_units(system) | acceleration_units(system) | output_units(system)
    return dict.fromkeys(names) | {n: units.unit(u).dimension for n, u in found.items()}


def known_dimensions(system: System) -> dict[str, Dimension]:
    """Dimensions of coordinates, speeds and parameters by name, where they are known."""
    return variable_dimensions(system) | {p.name: p.dimension for p in system.parameters if p.dimension is not None}


def _symbols(system: System) -> dict[str, QuantityKind]:
    """Kinds of the symbols that an output may contain."""
    known = {
        n: QuantityKind(units.unit(u).dimension, "rad" in u, not u) for n, u in name_inference.units(system).items()
    }
    known |= {p.name: QuantityKind(p.dimension) for p in system.parameters if p.dimension is not None}
    known |= dict.fromkeys(ENERGIES, QuantityKind(units.ENERGY)) | {TIME: QuantityKind(units.TIME)}
    components = {c: QuantityKind(units.VELOCITY if c.startswith("v") else units.LENGTH) for c in POINT_COMPONENTS}
    owners = [*(b.name for b in system.bodies), *(p.name for p in system.points)]
    known |= {f"{owner}.{c}": kind for owner in owners for c, kind in components.items()}
    quasi = {w.name: _kind(w.value, known) for w in system.expanded.quasi}
    known = {n: kind for n, kind in quasi.items() if kind is not None and not kind.weak} | known
    return known


def _of_motion(system: System, names: set[str], known: Mapping[str, QuantityKind]) -> dict[str, QuantityKind]:
    """Kinds of derivatives of speeds and of added forces, where the kinds of the speeds are known, and of parts of vectors."""
    found = _parts_of_vectors(system, names)
    for name in names:
        if (kind := known.get(forced(name))) is not None:
            found[name] = QuantityKind(times(units.POWER, kind.dimension, -1))
    for name, order in name_inference.speed_derivatives(system, names).items():
        if (kind := known.get(name[: 1 - order])) is not None:
            found[name] = replace(kind, dimension=times(kind.dimension, units.TIME, 1 - order))
    return found


def _multipliers(system: System, names: Iterable[str], known: Mapping[str, QuantityKind]) -> dict[str, QuantityKind]:
    """Kinds of multipliers, where they follow: multiplier times residual, or times its integral over the time, is an energy."""
    conditions = {c.name: c for c in system.expanded.constraints}
    contacts = {c.name: c for c in system.expanded.contacts}
    names, found = tuple(names), dict[str, QuantityKind]()
    for full, (element, part) in name_inference.element_forces(system.expanded, names).items():
        kind = _element_force(system, element, part, known)
        found |= {} if kind is None else {full: kind}
    for full in names:
        name, component = owner(full.removeprefix(MULTIPLIER), conditions.keys() | contacts.keys())
        if (contact := contacts.get(name)) is not None:
            kinds = [_along(system, x, known) for x in (contact.along, *contact.gaps)]
            if isinstance(contact, Limit):  # a bound with a unit in the text tells that of the expression, 2*x <= 9 m
                kinds += [None if d is None else QuantityKind(d) for d in contact.dimensions]
            kind = next((k for k in kinds if k is not None), None)
            found |= {} if kind is None else {full: QuantityKind(times(units.ENERGY, kind.dimension, -1))}
            continue
        if (condition := conditions.get(name)) is None:
            continue
        dimension = condition.kind.reaction(condition, component)
        if isinstance(condition, Constraint) and (kind := _kind_in(system, condition.value, known)) and not kind.weak:
            dimension = times(_work(system, condition.value), kind.dimension, -1)
        if dimension is not None:
            found[full] = QuantityKind(dimension)
    return found


def _element_force(system: System, element: Element, part: str, known: Mapping[str, QuantityKind]) -> Known:
    """Kind of the force of an *element*: its *part* in axes or at a place, or along what it acts on."""
    if isinstance(element, Couple):
        return QuantityKind(units.COUPLE)
    coordinate = getattr(element, "coordinate", None)
    if part or not isinstance(coordinate, Expr):
        return QuantityKind(units.FORCE)
    kind = _along(system, coordinate, known)
    return None if kind is None else QuantityKind(times(_work(system, coordinate), kind.dimension, -1))


def _work(system: System, value: Expr) -> Dimension:
    """Dimension of a force on *value* times this: a power where it moves, else an energy."""
    names = value.symbols()
    moves = any(n in system.speeds or n.rpartition(".")[2] in _VELOCITY for n in names)
    moves |= any(x.order for x in name_inference.vector_parts(system, names).values())
    return units.POWER if moves else units.ENERGY


def _along(system: System, value: Expr | None, known: Mapping[str, QuantityKind]) -> Known:
    """Kind of the displacement that the force of a contact, a limit or friction works on: of an expression, or a distance."""
    if value is None:
        return QuantityKind(units.LENGTH)
    kind = _kind_in(system, value, known)
    return None if kind is None or kind.weak else kind


def _kind_in(system: System, value: Expr, known: Mapping[str, QuantityKind]) -> Known:
    """Kind of *value*, which may have parts of vectors."""
    return _kind(value, {**known, **_parts_of_vectors(system, value.symbols())})


def _parts_of_vectors(system: System, names: Iterable[str]) -> dict[str, QuantityKind]:
    """Kinds of the parts of vectors among *names*."""
    parts = name_inference.vector_parts(system, names)
    return {n: QuantityKind(x.dimension, KINDS[x.vector.kind].turns) for n, x in parts.items()}


def _kind(value: Expr, known: Mapping[str, QuantityKind]) -> Known:
    graph, kinds = value.graph, dict[int, Known]()
    for i in reachable(graph, [value.ref]):
        op = graph.op[i]
        if op == Op.CONST:
            kinds[i] = None
        elif op == Op.SYMBOL:
            kinds[i] = known.get(graph.names[graph.lhs[i]])
        elif op == Op.POW:
            kinds[i] = _power(kinds[graph.lhs[i] >> 1], graph, graph.rhs[i])
        elif op == Op.TABLE:
            kinds[i] = _table(table_of(graph, graph.rhs[i]), kinds[graph.lhs[i] >> 1], kinds)
        else:
            a = kinds[graph.lhs[i] >> 1]
            kinds[i] = _RULES[op](a, a if op in UNARY else kinds[graph.rhs[i] >> 1])
    return kinds[value.ref >> 1]


def _sum(a: Known, b: Known) -> Known:
    """Kind of a sum or comparison, whose terms agree: the kind of the known term."""
    if a is None or b is None:
        other = a or b
        return None if other is None or other.weak else other
    if a.weak or b.weak:
        return b if a.weak else a
    return replace(a, angle=a.angle or b.angle) if a.dimension == b.dimension else None


def _product(a: Known, b: Known) -> Known:
    if a is None or b is None:
        return None
    dimension = times(a.dimension, b.dimension)
    # Radians are seen only where nothing but time is beside them: a length times an angle is a length.
    return QuantityKind(dimension, a.angle != b.angle and dimension == (0, 0, dimension[2], 0, 0), a.weak and b.weak)


def _table(table: Table, quantity: Known, kinds: Mapping[int, Known]) -> Known:
    """Kind of a table: that of its values, of which numbers have none; of a derivative, by that of its *quantity*."""
    whole = reduce(_sum, (kinds[r >> 1] for r in table.columns[0]))
    if whole is None or not table.order:
        return whole
    return None if quantity is None else QuantityKind(times(whole.dimension, quantity.dimension, -table.order))


def _power(base: Known, graph: Graph, exponent: int) -> Known:
    value = graph.value(exponent)
    return None if base is None or value is None else QuantityKind(times(NUMBER, base.dimension, value), weak=base.weak)


_RULES: dict[int, Callable[[Known, Known], Known]] = {
    **dict.fromkeys((Op.ADD, Op.MIN, Op.MAX, Op.ABS), _sum),
    Op.GUARD: lambda a, b: a,
    Op.WHERE: lambda a, b: a,
    Op.PAIR: _sum,
    Op.IF: lambda a, b: b,
    Op.MUL: _product,
    Op.DIV: lambda a, b: None if b is None else _product(a, QuantityKind(times(NUMBER, b.dimension, -1), weak=b.weak)),
    Op.SQRT: lambda a, _: None if a is None else QuantityKind(times(NUMBER, a.dimension, 0.5), weak=a.weak),
    **dict.fromkeys((Op.ASIN, Op.ACOS, Op.ATAN, Op.ATAN2), lambda a, b: _ANGLE),
    **dict.fromkeys((Op.SIN, Op.COS, Op.TAN, Op.SINH, Op.COSH, Op.TANH), lambda a, b: _WEAK),
    **dict.fromkeys((Op.EXP, Op.LOG, Op.SIGN, Op.STEP, Op.FLOOR), lambda a, b: _WEAK),
}


def _written(kind: QuantityKind, energy: bool) -> str:
    """Unit of *kind*; *energy* distinguishes energies from couples, which share a dimension."""
    if energy and kind.dimension == units.ENERGY:
        return "J"
    symbol = units.symbol(kind.dimension)
    return f"rad{symbol.removeprefix('1')}" if kind.angle else symbol
