"""Functions of a run as expressions, and the layout of its state."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import sha256

from kineta import tolerances
from kineta.algebra.expression import Expr, symbol
from kineta.cache import stored
from kineta.codegen.llvm import generator
from kineta.equations.formulas import simplified
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.expr.program import StraightLineProgram
from kineta.expr.walk import reachable
from kineta.integration.loop_abi import CLOCK
from kineta.integration.problem import Kinks, Slides
from kineta.mechanics.constraints import projection
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.contact import guards, mode_dynamics
from kineta.mechanics.contact.contact_terms import ContactTermsArrays, contact_terms
from kineta.mechanics.contact.step_terms import step_terms
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Derivation, vector
from kineta.mechanics.loops_over_links.dynamics import accelerations, energies
from kineta.mechanics.loops_over_links.operands import LARGE, LinkLoops
from kineta.mechanics.programs import dynamics
from kineta.mechanics.sliding_modes import held_functions, side_name, sliding
from kineta.mechanics.variables import symbols
from kineta.model.axis import LONGEST
from kineta.model.body import Inertia
from kineta.model.checks.inertia_check import inertia_margins
from kineta.model.dimensions import multiplier_units
from kineta.model.reserved_symbols import TIME, added_force
from kineta.model.system import System
from kineta.passes.differentiate import gradient
from kineta.passes.hoist import hoist
from kineta.passes.nonsmooth_operations import kinks, leaps_in_time, leaps_with_state, switching_functions
from kineta.passes.step_recorder import Hoisted, StepRecorder, UnsuitedError
from kineta.passes.substitute import substitute
from kineta.records import dataclass
from kineta.runtime.applied_forces import AppliedForces

#: Names of the program of the block h, and of that of what switches set, their conditions and margins.
SETUP, SWITCHES = "run_setup", "switches"
#: Names of the functions that tell of kinks and steps of the rate.
GUARDS, CLOCKS, STORED = "guards", "clocks", "stored"
#: Name of the rate whose switching functions are held on their sides.
HELD = "held"
#: Nodes of a graph from which on programs are kept in the cache: simplification takes longer than the disk.
KEPT = 1000
#: Periodic operations.
PERIODIC = frozenset({Op.SIN, Op.COS, Op.TAN})


#: Numbers of guards, clocks, paces, stored quantities and smooth tables of a rate without kinks.
SMOOTH = (0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class KinkNumbers:
    """Numbers of guards, clocks, paces, stored quantities and smooth tables, and their roughness, as in :class:`StateLayout`."""

    numbers: tuple[int, int, int, int, int] = SMOOTH
    roughness: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class StateLayout:
    """Layout of the state y of a run behind q and v, and of its observed quantities.

    order : under programs, the derivatives of v up to order - 2 follow v
    works, controls : 1 with the work, unless the power is identically zero; 1 with the work of controls
    guards, loads, pivots : quadratures for error control: names of guards of contacts and switches, number of loads, number of
        pivots of constraints; no function depends on them
    levels : number of residuals at the end of the observed quantities: constraints, their rates, then ``programs``
    misses : number of those of constraints and their rates, which are the first
    programs : index of the program of each residual, up to its own highest derivative
    multipliers : names and units, ``""`` where unknown
    gradients : numbers of programs and speeds
    edges, kinks : program of each quantity that vanishes where its gradient is undefined; number of quantities that change
        sign at a kink or step of a program
    switching : numbers of functions that tell of kinks and steps of the rate: guards, with five numbers each clocks and paces,
        what is stored and jumps with the time, and smooth tables of the state, as in
        :class:`~kineta.integration.loop_abi.KinkData`
    roughness : of these tables, as in :class:`~kineta.passes.nonsmooth_operations.SwitchingFunctions`
    slides : number of each switching function on which a motion may slide, among the guards; for each of these the state has
        its side behind the work, as in :mod:`kineta.mechanics.sliding_modes`
    carried : of time stepping, number of quantities of the last step behind all of these: accelerations, multipliers, contact
        forces, flags; placed : of time stepping, number of those that place a mass and jump
    touches : all contacts; contact_terms : the terms of their contact problem, None without contacts
    sizes : numbers of states with quadratures, of coordinates, of speeds
    """

    works: int
    controls: int = 0
    guards: tuple[str, ...] = ()
    loads: int = 0
    order: int = 2
    pivots: int = 0
    levels: int = 0
    misses: int = 0
    multipliers: Mapping[str, str] = field(default_factory=dict)
    gradients: tuple[int, int] = (0, 0)
    edges: tuple[int, ...] = ()
    kinks: int = 0
    programs: tuple[int, ...] = ()
    switching: tuple[int, int, int, int, int] = SMOOTH
    roughness: tuple[float, ...] = ()
    slides: tuple[int, ...] = ()
    carried: int = 0
    placed: int = 0
    touches: tuple[UnilateralConstraint, ...] = ()
    contact_terms: ContactTermsArrays | None = None
    sizes: tuple[int, int, int] = (0, 0, 0)

    def states(self, system: System) -> int:
        """Number of states before the quadratures: coordinates, speeds and their derivatives below the highest."""
        return system.nq + (self.order - 1) * system.nv

    @property
    def flags(self) -> int:
        """Number of flags of all contacts behind the block h."""
        return 0 if self.carried else sum(len(touch.flags) for touch in self.touches)

    @property
    def touch_events(self) -> int:
        """Number of guard functions of contacts."""
        return sum((t.normal is not None) + bool(t.tangents and t.smooth is None) + t.varies for t in self.touches)

    @property
    def integrals(self) -> int:
        """Number of quadratures at the end of the state."""
        own = self.works + self.controls + len(self.slides)
        return own + len(self.guards) + self.loads + self.pivots + self.carried


def run_functions(
    d: Derivation,
    forces: AppliedForces,
    watched: Sequence[Expr],
    *,
    resolved: Sequence[Expr] = (),
    stepped: bool = False,
) -> tuple[dict[str, Sequence[Ref]], StateLayout]:
    """Functions of every stage, of every record, and between steps; and the state layout. For time stepping without error
    control and guards, with what the last step has found in the state. Steps end at kinks of *resolved* expressions, too.
    """
    free, d = d, mode_dynamics.under_given_forces(d, stepped=stepped)
    system, power, shown = d.symbols.system, _power(d, forces), [] if stepped else _guard_rates(d)
    pivots = (mode_dynamics if d.contacts else projection).pivots(d) if d.watched else []
    multipliers, labels = _multipliers(d)
    levels: Sequence[Ref] = (
        *(d["constraints"].refs if d.constraint_rows else ()),
        *(mode_dynamics.levels(d) if d.contacts else ()),
    )
    levels = (*levels, *d["programs"].refs, *d["program_tops"].refs) if system.programs else levels
    edges, bends = (dynamics.edges(d), dynamics.kinks(d)) if system.programs else ([], [])
    energies = [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]]
    stored = [] if stepped else _stored(d, *energies)
    works = int(power != ZERO or bool(d.contacts) or bool(system.switches) or stepped or bool(stored))
    spent = d["control_power"].refs if system.programs else ()
    states = (*d["state_rate"].refs, *([power] * works), *spent)
    outputs = d.expression(*map(symbol, system.switched), *(o.value for o in system.recorded))
    observed: Sequence[Ref] = [*energies, *outputs]
    acting = {added_force(n): d.expression(e)[0] for n, e in forces.expressions.items()}
    loaded = [] if stepped else _monitored_loads(free, acting)
    behind = (*(rate for _, rate in shown), *loaded, *pivots)
    carried = len(mode_dynamics.given(d)) if stepped else 0
    terms, slopes = step_terms(free, acting) if stepped else (contact_terms(free) if d.contacts else None, [])
    changing: Sequence[Ref] = (*states, *behind)
    gaps: Sequence[Ref] = ()
    if d.contacts:  # shapes have edges, with guards of their own
        limits = (x for touch in free.contacts for x in (touch.bound, touch.static))
        heights = d.expression(*(x for record in system.contacts for x in record.gaps))
        changing = [*free["inverse"].refs, *(r.rest for r in free.rows), *free.symbols.qdot, *limits, *heights]
        gaps = [row.levels[0] for touch in free.contacts for row in touch.rows]
    residuals = d["constraints"].refs if d.constraint_rows and not d.contacts else ()  # the rest of a step is zero
    jumping = _jumping_places(d) if stepped else []
    leaping = [] if stepped else _leaping(d, d.expression(*_placing(system.expanded)))
    followed = [*changing, *residuals, *d.expression(*resolved), *leaping]
    if acting:
        followed = [*substitute(d.graph, followed, acting), *acting.values()]
    switching, watching = (
        (KinkNumbers(), {}) if stepped else switching_of(d, followed, [*gaps, *energies, *stored], stored)
    )
    slides = [] if stepped else sliding(free, d, watching.get(GUARDS, ())[: switching.numbers[0]], acting)
    rate: Sequence[Ref] = (*states, *[ZERO] * len(slides), *behind)
    layout = StateLayout(
        switching=switching.numbers,
        roughness=switching.roughness,
        slides=tuple(slide.guard for slide in slides),
        works=works,
        controls=int(bool(system.programs)),
        guards=tuple(name for name, _ in shown),
        loads=len(loaded),
        order=d.programs.s if system.programs else 2,
        pivots=len(pivots),
        levels=len(levels),
        misses=len(d["constraints"].refs) if d.constraint_rows else 0,
        multipliers=dict.fromkeys(labels, "") | multiplier_units(system, labels),
        gradients=(len(system.programs), len(d.symbols.v)),
        edges=tuple(k for k, _ in edges),
        kinks=len(bends),
        programs=_program_rows(d.programs.rows),
        touches=d.contacts,
        carried=carried,
        placed=len(jumping),
        contact_terms=terms,
        sizes=(len(rate), len(d.symbols.q), len(d.symbols.v)),
    )
    found: dict[str, Sequence[Ref]] = {"rate": (*rate, *[ZERO] * carried)}
    found["observed"] = [*observed, *acting.values(), *multipliers, *levels]
    found |= _event_functions(d, watched, guarded=not stepped)
    found |= watching
    if stepped:
        found |= {"slopes": slopes, "coordinate_rate": list(d.symbols.qdot)} | ({"placed": jumping} if jumping else {})
    if layout.contact_terms is not None:
        found |= {
            "terms": layout.contact_terms.refs,
            "gaps": layout.contact_terms.gap,
            "residuals": [r.levels[k] if k or not r.order else ZERO for k in (0, -1) for r in free.rows],
            "retraction": mode_dynamics.retraction(d),
        }
        found |= {} if stepped else {"free": mode_dynamics.free_motion(free)}
    elif d.watched:
        found |= _projections(d, layout)
    if acting:
        found = {name: substitute(d.graph, refs, acting) for name, refs in found.items()}
    if slides:
        modes = bool(system.switches or d.contacts)
        found |= held_functions(
            d.graph, slides, found, len(states), ("events", SWITCHES, "terms", "free") if modes else ()
        )
    if system.programs:
        found["regularity"] = [*d["regularity"].refs, *(x for _, x in edges), *bends]
    return found, layout


def looped_run(
    d: Derivation, forces: AppliedForces, watched: Sequence[Expr]
) -> tuple[StraightLineProgram, dict[str, StraightLineProgram], StateLayout]:
    """Setup program, programs by name, and state layout of a run of a long tree, with loops over the links. Raise
    :class:`UnsuitedError` for systems that loops do not suit.
    """
    g, s, system = d.graph, d.symbols, d.symbols.system
    if system.switches or any(r.by_time != ZERO for link in d.mechanism.links for r in link.rates):
        raise UnsuitedError
    acting = {added_force(n): d.expression(e)[0] for n, e in forces.expressions.items()}
    (power,) = substitute(g, [_power(d, forces)], acting)
    leaping = _leaping(d, d.expression(*_placing(system.expanded)))
    if next(kinks(g, [*d.elements.forces, d.elements.potential, power, *acting.values(), *s.qdot, *leaping]), None):
        raise UnsuitedError
    works = int(power != ZERO)
    layout = StateLayout(works=works, gradients=(0, len(s.v)), sizes=(len(s.q) + len(s.v) + works, len(s.q), len(s.v)))
    hoisted = Hoisted(g, [*s.p, *s.tau])
    inputs = {"t": (s.t,), "y": (*s.q, *s.v, *_quadrature_symbols(g, layout))}
    rate = LinkLoops(d, inputs, hoisted)
    motion = [x for r in s.qdot for x in rate.recorder.evaluated([r], LARGE)]
    motion += accelerations(rate, [acting.get(str(g.name(x)), x) for x in s.tau])
    motion += rate.recorder.evaluated([power]) if works else ()
    seen = LinkLoops(d, inputs, hoisted)
    shown = substitute(g, d.expression(*(o.value for o in system.recorded)), acting)
    stored = seen.recorder.evaluated([g.sub(d.elements.potential, d.mechanism.gravity.dot(d.mechanism.ground.c))])
    observed = seen.recorder.call("sums of energies", _energies, [*energies(seen), *stored])
    observed += seen.recorder.evaluated([*shown, *acting.values()])
    recorders = {"rate": (rate.recorder, motion), "observed": (seen.recorder, observed)}
    if watched:
        events = StepRecorder(g, inputs, hoisted, 2)
        recorders["events"] = events, events.evaluated(substitute(g, d.expression(*watched), acting))
    programs = {name: made.program(name, {name: ((len(x),), x)}) for name, (made, x) in recorders.items()}
    return hoisted.setup([*s.p, *s.tau], SETUP), dict(programs), layout


def _energies(g: Graph, refs: Sequence[Ref]) -> list[Ref]:
    """Kinetic and potential energy from twice the one, the work of gravity, and what elements store."""
    twice, work, stored = refs
    return [g.mul(g.const(0.5), twice), g.sub(stored, work)]


def switching_of(
    d: Derivation, refs: Sequence[Ref], timed: Sequence[Ref] = (), stored: Sequence[Ref] = ()
) -> tuple[KinkNumbers, dict[str, Sequence[Ref]]]:
    """Numbers and functions that tell of kinks and steps of *refs*, of those of *timed* that depend on the time alone, and of
    what is *stored*, as in :class:`StateLayout`. The width of a clock stands in the place of the first state.
    """
    g, s, system = d.graph, d.symbols, d.symbols.system
    if not s.q:
        return KinkNumbers(), {}
    states = {x for k in range(d.programs.s if system.programs else 2) for x in s.level(k)}
    constant = {g.symbol(n) for n in (*system.parameter_names, *(added_force(n) for n in system.v_names))}
    found = switching_functions(g, refs, timed, s.t, s.q[0], states, constant - states)
    functions: dict[str, Sequence[Ref]] = {}
    if found.guards or found.knots:
        functions[GUARDS] = [*found.guards, *found.knots]
    if found.clocks or found.paces:
        functions[CLOCKS] = [*found.clocks, *found.paces]
    functions |= {STORED: stored} if stored else {}
    clocks, paces = len(found.clocks) // CLOCK, len(found.paces) // CLOCK
    numbers = (len(found.guards), clocks, paces, len(stored), len(found.roughness))
    return KinkNumbers(numbers, found.roughness), functions


def _stored(d: Derivation, kinetic: Ref, potential: Ref) -> list[Ref]:
    """The energy where it jumps with the time alone, then the generalised momenta where the kinetic energy does, and what places
    a mass, where that jumps with the time or with the state.
    """
    g, s = d.graph, d.symbols
    constant = [g.symbol(n) for n in s.system.parameter_names]
    placing = _jumping_places(d)
    if not (s.q and (placing or leaps_in_time(g, [kinetic, potential], s.t, constant, cuts=True))):
        return []
    moving = leaps_in_time(g, [kinetic], s.t, constant, cuts=True)
    momenta = gradient(g, kinetic, s.v) if moving else {}
    return [g.add(kinetic, potential), *(momenta.get(v, ZERO) for v in s.v if moving), *placing]


def _jumping_places(d: Derivation) -> list[Ref]:
    """What places a mass, where that jumps with the time or with the state."""
    g, s = d.graph, d.symbols
    constant = [g.symbol(n) for n in s.system.parameter_names]
    placing = d.expression(*_placing(s.system.expanded))
    leaping = leaps_in_time(g, placing, s.t, constant) or _leaping(d, placing)
    return [x for x in placing if leaping and (leaps_in_time(g, [x], s.t, constant) or _leaping(d, [x]))]


def _leaping(d: Derivation, placing: Sequence[Ref]) -> list[Ref]:
    """The operations of *placing* that jump with the state."""
    s = d.symbols
    return leaps_with_state(d.graph, placing, s.t, s.q, [d.graph.symbol(n) for n in s.system.parameter_names])


def _placing(system: System) -> list[Expr]:
    """The arguments of the motions on which something with inertia is placed that coordinates move."""
    moving, moved, carrying = {*system.q_names}, set[str](), set[str]()
    for body in system.tree:
        names = (n for m in body.motions for x in m.arguments for n in x.symbols())
        if body.base in moved or not moving.isdisjoint(names):
            moved.add(body.name)
    for body in reversed(system.tree):
        if body.name in carrying or (body.inertia != Inertia() and body.name in moved):
            carrying |= {body.name, body.base}
    return [x for body in system.tree if body.name in carrying for m in body.motions for x in m.arguments]


def kinks_of(layout: StateLayout, addresses: Sequence[int]) -> Kinks:
    """What tells of kinks and steps of a run, with the *addresses* of its functions."""
    guards, clocks, stored = addresses
    return Kinks(guards, clocks, stored, layout.switching, layout.roughness, layout.sizes[0] - layout.integrals)


def slides_of(layout: StateLayout, held: int) -> Slides | None:
    """The sliding modes of a run, with the address of the rate *held*; None where it cannot slide."""
    place = sum(layout.sizes[1:]) + layout.works + layout.controls
    return Slides(held, layout.slides, place) if layout.slides else None


def _program_rows(rows: Sequence[Row]) -> tuple[int, ...]:
    """Program indices of the residuals, followed by the programs with their highest derivative alone."""
    by_level = [i for i, row in enumerate(rows) for _ in row.levels]
    return (*by_level, *(i for i, row in enumerate(rows) if not row.levels))


def _power(d: Derivation, forces: AppliedForces) -> Ref:
    """Power of nonconservative forces; in a conservative system, of the applied *forces*, if any."""
    power = d["power"].refs[0]
    if not forces.none:
        return power
    (power,) = substitute(d.graph, [power], dict.fromkeys((added_force(n) for n in d.symbols.system.v_names), ZERO))
    return power


def _multipliers(d: Derivation) -> tuple[Sequence[Ref], Sequence[str]]:
    """Multipliers of constraints and contacts, under programs also of programs, controls and their power; and their names."""
    held = d["multipliers"] if d.constraint_rows or d.contacts else vector([])
    refs, labels = held.refs, held.labels
    for quantity in ("program_multipliers", "control", "control_power") if d.symbols.system.programs else ():
        refs, labels = (*refs, *d[quantity].refs), (*labels, *d[quantity].labels)
    return refs, labels


def _event_functions(d: Derivation, watched: Sequence[Expr], *, guarded: bool) -> dict[str, Sequence[Ref]]:
    """Functions of switches and events, of these also the guards of contacts where contacts are *guarded*."""
    system = d.symbols.system
    switches = system.switches
    found: dict[str, Sequence[Ref]] = {}
    if switches:
        conditions = (symbol(name) - value for switch in switches for name, value in switch.guards)
        found[SWITCHES] = d.expression(
            *(value for switch in switches for _, value in switch.sets), *conditions, *(x for x, _ in margins(system))
        )
    events = [
        *d.expression(*watched, *(s.watched for s in switches)),
        *(d["contact_guards"].refs if d.contacts and guarded else ()),
    ]
    return found | ({"events": events} if events else {})


def margins(system: System) -> Iterator[tuple[Expr, bool]]:
    """Values that switches change and that must not become negative in runs of *system*; True where they must be positive."""
    for _, bound in system.bounded:
        if not system.switched.keys().isdisjoint(bound.value.symbols()):
            yield bound.value, bound.positive
            if bound.most < math.inf:
                yield bound.most - bound.value, False
    for body in dict.fromkeys(body for name in system.switched for body in system.weighed.get(name, ())):
        yield from ((margin, False) for margin in inertia_margins(body.inertia))
    for _, axis in system.directions:
        if not system.switched.keys().isdisjoint(n for a in axis for n in a.symbols()):
            square = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]
            yield square - tolerances.ROUNDING_TOLERANCE**2, True
            yield LONGEST * LONGEST - square, True


def _projections(d: Derivation, layout: StateLayout) -> dict[str, Sequence[Ref]]:
    """States after a Newton step towards the constraints: of coordinates, and of speeds."""
    way = dynamics if d.symbols.system.programs else projection
    rest, lower = _quadrature_symbols(d.graph, layout), [x for k in range(1, layout.order) for x in d.symbols.level(k)]
    return {"position": [*way.position(d), *lower, *rest], "velocity": [*d.symbols.q, *way.velocity(d), *rest]}


def _guard_rates(d: Derivation) -> list[tuple[str, Ref]]:
    """Rates of gaps and of switch guards that depend on coordinates and the time. As quadratures they bound the step size:
    otherwise a freely rotating body turns once in a step, with its corners through the ground.
    """
    s = d.symbols
    gaps = [(touch.name, guards.gap(d.graph, touch)) for touch in d.contacts if touch.normal is not None]
    switches = s.system.switches
    watched = zip(
        (switch.name for switch in switches), d.expression(*(switch.watched for switch in switches)), strict=True
    )
    found = []
    for name, value in (*gaps, *watched):
        (rate,) = s.rates([value])
        parts = (*s.by_speed(rate).values(), s.at_rest(rate))
        if s.order([value]) == 0 and any(s.graph.value(x) is None for x in parts):
            found.append((name, rate))
    return found


def _monitored_loads(d: Derivation, acting: Mapping[str, Ref]) -> list[Ref]:
    """Loads on contacts at rest as quadratures for error control: at rest alone, steps grow without bound.

    Explicitly time-dependent forces on the speeds, with the forces *acting*, and friction limits; and the sines of their
    periodic arguments, which also vary where the load is switched off. As quadratures they bound the step size by their rate
    of change.
    """
    g, s = d.graph, d.symbols
    bounds = [x for touch in d.contacts for x in (touch.bound, touch.static)]
    if not d.contacts or not _time_dependent(d, [*d["forward"].refs, *bounds, *acting.values()]):
        return []
    forces = [g.sub(tau, bias) for tau, bias in zip(s.tau, d["bias"].refs, strict=True)]
    found = [x for x in dict.fromkeys(substitute(g, [*forces, *bounds], acting)) if _time_dependent(d, [x])]
    alone = {TIME, *s.system.parameter_names}
    angles = (g.lhs[i] for i in reachable(g, found) if g.op[i] in PERIODIC)
    found += (
        g.sin(x) for x in dict.fromkeys(angles) if _time_dependent(d, [x]) and alone.issuperset(Expr(g, x).symbols())
    )
    return found


def _time_dependent(d: Derivation, refs: Sequence[Ref]) -> bool:
    """True where one of *refs* depends explicitly on the time."""
    return d.symbols.t >> 1 in reachable(d.graph, refs)


def lowered(
    d: Derivation,
    functions: Mapping[str, Sequence[Ref]],
    layout: StateLayout,
    direction: Sequence[Ref] = (),
    unknown: Sequence[Ref] = (),
) -> tuple[StraightLineProgram, dict[str, StraightLineProgram]]:
    """Setup program, and programs of *functions* of t, y and, if there is one, a *direction*, by name.

    unknown : symbols behind the states in y
    """
    states = [x for k in range(layout.order) for x in d.symbols.level(k)]
    unknown = (*unknown, *(mode_dynamics.given(d) if layout.touches or layout.carried else ()))
    inputs: dict[str, Sequence[Ref]] = {"y": (*states, *_quadrature_symbols(d.graph, layout), *unknown)}
    if direction:
        inputs["direction"] = direction
    system = d.symbols.system
    constant = (*system.parameter_names, *(added_force(n) for n in system.v_names))
    return state_programs(d, functions, inputs, constant, "run")


def state_programs(
    d: Derivation,
    functions: Mapping[str, Sequence[Ref]],
    inputs: Mapping[str, Sequence[Ref]],
    constant: Sequence[str],
    name: str,
) -> tuple[StraightLineProgram, dict[str, StraightLineProgram]]:
    """Setup program of the symbols *constant*, and simplified programs of *functions* of t and the *inputs*, by name; those of a
    large graph are kept in the cache, under its nodes.
    """

    def made() -> tuple[StraightLineProgram, dict[str, StraightLineProgram]]:
        own, simple = simplified(d, functions, constant)
        inner = {block: [own.graph.symbol(n) for n in names] for block, names in symbols_of.items()}
        outputs = {n: {n: ((len(refs),), refs)} for n, refs in simple.items()}
        return hoist(own.graph, {"t": (own.t,), **inner}, outputs, [own.graph.symbol(n) for n in constant], name)

    symbols_of = {block: [str(d.graph.name(x)) for x in refs] for block, refs in inputs.items()}
    if len(d.graph) < KEPT:
        return made()
    variables = symbols(d.symbols.system, Graph()).graph.digest
    said = repr((variables, {n: tuple(refs) for n, refs in functions.items()}, symbols_of, tuple(constant), name))
    key = sha256(" ".join([generator("passes", "equations", "runtime"), d.graph.digest, said]).encode()).hexdigest()
    found: tuple[StraightLineProgram, dict[str, StraightLineProgram]] = pickle.loads(
        stored(key, lambda: pickle.dumps(made()))
    )
    return found


def _quadrature_symbols(graph: Graph, layout: StateLayout) -> list[Ref]:
    """Entries of y behind q and v."""
    pivots = (f"pivot {i}" for i in range(layout.pivots))
    shown = (f"event {i}" for i in range(len(layout.guards)))
    loaded = (f"load {i}" for i in range(layout.loads))
    works = (*("work done",) * layout.works, *("control work",) * layout.controls)
    sides = (side_name(k) for k in range(len(layout.slides)))
    return [graph.symbol(n) for n in (*works, *sides, *shown, *loaded, *pivots)]
