"""What a run computes: its functions as expressions, and what its state is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.node import Expr, symbol
from kineta.expr.program import Program
from kineta.formalism import bounce, manifold, programmed, restoring
from kineta.formalism.constraint import Row
from kineta.formalism.derivation import Derivation, vector
from kineta.formalism.locking import locks
from kineta.formalism.touch import Touch
from kineta.formulas import simplified
from kineta.model.dimensions import multiplier_units
from kineta.model.switch import changed
from kineta.model.system import System
from kineta.passes.hoist import hoist
from kineta.passes.substitute import substitute
from kineta.tasks.forces import Forces
from kineta.tasks.loads import loads

#: What a change of mode is made from; without programs for each set of touches, and where nothing presses.
TOUCHED = ("gaps", "laws", "slip", "drift", "delassus", "answers")
WHOLE = ("gaps", "laws", "slip", "rests", "gradients", "mass_matrix", "unbalanced")
LOOSE = ("gaps", "laws")


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands in the state y of a run behind q and v: under programs the derivatives of v below the highest, v^(order - 1);
    then the work done, where the power is not identically zero (``works`` is 1), that of controls (``controls`` is 1), what
    contacts and switches of these names watch, which is ``shown`` to the steps, as the integrals of so many ``loads`` are, and
    those of as many pivots of constraints as are ``watched``. Nothing else depends on these last ones. ``levels`` is how many of
    the last numbers observed have to vanish: constraints, and rates of those on the position; then what the program of each of
    these numbers in ``programs`` says, up to its own highest derivative. ``multipliers`` are names with units, ``""`` where none
    is known; ``gradients`` how many programs and speeds there are, ``edges`` of which of these each number is that is zero where
    it has a value but no gradient, ``kinks`` how many numbers change their signs where one has a kink or a step. ``touches`` are
    what may touch or stick; the flags of those *pressed* stand between the parameters and the forces in what h is made of.
    """

    works: int
    controls: int = 0
    shown: tuple[str, ...] = ()
    loads: int = 0
    order: int = 2
    watched: int = 0
    levels: int = 0
    multipliers: Mapping[str, str] = field(default_factory=dict)
    gradients: tuple[int, int] = (0, 0)
    edges: tuple[int, ...] = ()
    kinks: int = 0
    programs: tuple[int, ...] = ()
    touches: tuple[Touch, ...] = ()
    pressed: frozenset[str] = frozenset()

    def states(self, system: System) -> int:
        """How many states stand before what depends on them: coordinates, speeds and their derivatives below the highest."""
        return system.nq + (self.order - 1) * system.nv

    @property
    def flags(self) -> tuple[str, ...]:
        """Names of the flags of the touches that are pressed."""
        return tuple(name for touch in self.touches if touch.name in self.pressed for name in touch.flags)

    @property
    def touch_events(self) -> int:
        """How many events tell of touches."""
        return sum((t.normal is not None) + bool(t.tangents and t.smooth is None) + t.varies for t in self.touches)

    @property
    def integrals(self) -> int:
        """How many of the last states are integrals along the others."""
        return self.works + self.controls + len(self.shown) + self.loads + self.watched


def functions(d: Derivation, forces: Forces, watched: Sequence[Expr]) -> tuple[dict[str, Sequence[Ref]], Layout]:
    """What is computed at every stage, at every record, and between steps."""
    system, power, shown = d.symbols.system, _power(d, forces), _shown(d)
    pivots = manifold.pivots(d) if d.watched else []
    multipliers, labels = _multipliers(d)
    levels: Sequence[Ref] = (*(d["constraints"].refs if d.closures else ()), *restoring.levels(d))
    levels = (*levels, *d["programs"].refs, *d["program_tops"].refs) if system.programs else levels
    edges, kinks = (programmed.edges(d), programmed.kinks(d)) if system.programs else ([], [])
    works = int(power != ZERO or bool(d.touches) or bool(system.switches))
    spent = d["control_power"].refs if system.programs else ()
    states = (*d["state_rate"].refs, *([power] * works), *spent, *(rate for _, rate in shown))
    outputs = d.expression(*map(symbol, changed(system)), *(o.value for o in system.outputs))
    observed: Sequence[Ref] = [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0], *outputs]
    acting = {f"tau.{n}": d.expression(e)[0] for n, e in forces.expressions.items()}
    loaded = loads(d, acting)
    rate: Sequence[Ref] = (*states, *loaded, *pivots)
    layout = Layout(
        works=works,
        controls=int(bool(system.programs)),
        shown=tuple(name for name, _ in shown),
        loads=len(loaded),
        order=d.programs.s if system.programs else 2,
        watched=len(pivots),
        levels=len(levels),
        multipliers=dict.fromkeys(labels, "") | multiplier_units(system, labels),
        gradients=(len(system.programs), len(d.symbols.v)),
        edges=tuple(k for k, _ in edges),
        kinks=len(kinks),
        programs=_programs(d.programs.rows),
        touches=d.touches,
        pressed=d.pressed,
    )
    if acting:
        own = rate, multipliers, observed, levels
        rate, multipliers, observed, levels = (tuple(substitute(d.graph, x, acting)) for x in own)
    found: dict[str, Sequence[Ref]] = {"rate": rate}
    found["observed"] = [*observed, *acting.values(), *multipliers, *levels]
    found |= _changing(d, acting, watched)
    if d.watched:
        found |= _returning(d, layout)
    if system.programs:
        found["regularity"] = [*d["regularity"].refs, *(x for _, x in edges), *kinks]
    return found, layout


def _programs(rows: Sequence[Row]) -> tuple[int, ...]:
    """The numbers of the programs whose levels have to vanish, then of those that have none but the highest."""
    by_level = [i for i, row in enumerate(rows) for _ in row.levels]
    return (*by_level, *(i for i, row in enumerate(rows) if not row.levels))


def _power(d: Derivation, forces: Forces) -> Ref:
    """The power of what is not conservative; in a conservative system only that of given *forces*, where there are some."""
    power = d["power"].refs[0]
    if not forces.none:
        return power
    (power,) = substitute(d.graph, [power], dict.fromkeys((f"tau.{n}" for n in d.symbols.system.v_names), ZERO))
    return power


def _multipliers(d: Derivation) -> tuple[Sequence[Ref], Sequence[str]]:
    """Multipliers of constraints and touches and, under programs, those of these, the control and its power; and their names."""
    held = d["multipliers"] if d.closures or d.touches else vector([])
    refs, labels = held.refs, held.labels
    for quantity in ("program_multipliers", "control", "control_power") if d.symbols.system.programs else ():
        refs, labels = (*refs, *d[quantity].refs), (*labels, *d[quantity].labels)
    return refs, labels


def _changing(d: Derivation, acting: Mapping[str, Ref], watched: Sequence[Expr]) -> dict[str, Sequence[Ref]]:
    """What a change of mode needs, what switches set, and the events, with the forces *acting*."""
    found: dict[str, Sequence[Ref]] = {}
    if d.touches:
        asked = (WHOLE if locks(d) else TOUCHED) if d.pressing else LOOSE
        found["touch"] = substitute(d.graph, [ref for name in asked for ref in d[name].refs], acting)
        if bounce.closed_form(d):
            found["bounce"] = substitute(d.graph, _bounces(d), acting)
    switches = d.symbols.system.switches
    for k, switch in enumerate(switches):
        found[f"switch_{k}"] = d.expression(*(value for _, value in switch.sets))
    events = [*d.expression(*watched, *(s.value for s in switches)), *(d["touch_events"].refs if d.touches else ())]
    if events:
        found["events"] = substitute(d.graph, events, acting)
    return found


def _returning(d: Derivation, layout: Layout) -> dict[str, Sequence[Ref]]:
    """The states nearer to the constraints: by coordinates, and by speeds."""
    way = programmed if d.symbols.system.programs else restoring if d.pressing else manifold
    rest, lower = _behind(d.graph, layout), [x for k in range(1, layout.order) for x in d.symbols.level(k)]
    return {"position": [*way.position(d), *lower, *rest], "velocity": [*d.symbols.q, *way.velocity(d), *rest]}


def _shown(d: Derivation) -> list[tuple[str, Ref]]:
    """The rates of gaps, and of what switches watch of coordinates and the time. Integrated along a motion they make its steps as
    short as these need to be seen: a body that turns freely goes round in one step else, and its corners through the ground.
    """
    s = d.symbols
    gaps = [(touch.name, touch.normal.levels[0]) for touch in d.touches if touch.normal is not None]
    switches = s.system.switches
    watched = zip(
        (switch.name for switch in switches), d.expression(*(switch.value for switch in switches)), strict=True
    )
    found = []
    for name, value in (*gaps, *watched):
        (rate,) = s.rates([value])
        parts = (*s.by_speed(rate).values(), s.at_rest(rate))
        if s.order([value]) == 0 and any(s.graph.value(x) is None for x in parts):
            found.append((name, rate))
    return found


def _bounces(d: Derivation) -> list[Ref]:
    """The numbers of all bounces, in the order of :mod:`kineta.numerics.layout`."""
    return [x for b in bounce.bounces(d) for x in (b.law, b.approach, b.leaving, b.fall, b.work, *b.speeds)]


def lowered(
    d: Derivation, functions: Mapping[str, Sequence[Ref]], layout: Layout, direction: Sequence[str] = ()
) -> tuple[Program, dict[str, Program]]:
    """Setup, and *functions* of t, y and, where they contain its symbols, a *direction* as programs by name."""
    system = d.symbols.system
    constant = (*system.parameter_names, *layout.flags, *(f"tau.{n}" for n in system.v_names))
    own, functions = simplified(d, functions, constant)
    outputs = {name: {name: ((len(refs),), refs)} for name, refs in functions.items()}
    levels = (x for k in range(1, layout.order) for x in own.level(k))
    inputs: dict[str, Sequence[Ref]] = {"t": (own.t,), "y": (*own.q, *levels, *_behind(own.graph, layout))}
    if direction:
        inputs["direction"] = [own.graph.symbol(n) for n in direction]
    return hoist(own.graph, inputs, outputs, [own.graph.symbol(n) for n in constant], "run")


def _behind(graph: Graph, layout: Layout) -> list[Ref]:
    """The entries of y behind q and v."""
    pivots = (f"pivot {i}" for i in range(layout.watched))
    shown = (f"event {i}" for i in range(len(layout.shown)))
    loaded = (f"load {i}" for i in range(layout.loads))
    works = (*("work done",) * layout.works, *("control work",) * layout.controls)
    return [graph.symbol(n) for n in (*works, *shown, *loaded, *pivots)]
