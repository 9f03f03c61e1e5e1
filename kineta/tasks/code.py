"""The compiled functions of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.codegen.call import quick
from kineta.compiler import Equations
from kineta.errors import ArgumentError
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.node import Expr, symbol
from kineta.expr.program import Program
from kineta.formalism import bounce, holding, manifold, programmed
from kineta.formalism.derivation import Derivation, vector
from kineta.formalism.locking import locks
from kineta.formalism.touch import Touch, standing
from kineta.formulas import simplified
from kineta.function import parameter_values
from kineta.model.dimensions import multiplier_units
from kineta.model.switch import changed
from kineta.model.system import System
from kineta.passes.hoist import hoist
from kineta.passes.substitute import substitute
from kineta.tasks import arguments
from kineta.tasks.forces import Forces, forces
from kineta.tasks.keeping import derivation
from kineta.tasks.weights import check_weights
from kineta.threads import once

FloatArray = NDArray[np.float64]
#: A function called as machine code.
Quick = Callable[..., FloatArray]

#: The flags of code in which nothing touches.
UNSWITCHED: FloatArray = np.zeros(0)
#: What a change of mode is made from; without programs for each set of touches, and where nothing presses.
TOUCHED = ("gaps", "laws", "slip", "drift", "delassus", "answers")
WHOLE = ("gaps", "laws", "slip", "rests", "gradients", "mass_matrix", "unbalanced")
LOOSE = ("gaps", "laws")


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands in the state y of a run behind q and v: under programs the derivatives of v below the highest, v^(order - 1);
    then the work done, where the power is not identically zero (``works`` is 1), that of controls (``controls`` is 1), as many
    events as are ``shown`` to the steps, and the integrals of as many pivots of constraints as are ``watched``. Nothing else
    depends on these last ones. ``levels`` is how many of the last numbers observed have to vanish: constraints, and rates of
    those on the position; then what the program of each of these numbers in ``programs`` says. ``multipliers`` are names with
    units, ``""`` where none is known; ``gradients`` how many programs and speeds there are. ``touches`` are what may touch or
    stick; the flags of those *pressed* stand between the parameters and the forces in what h is made of.
    """

    works: int
    controls: int = 0
    shown: int = 0
    order: int = 2
    watched: int = 0
    levels: int = 0
    multipliers: Mapping[str, str] = field(default_factory=dict)
    gradients: tuple[int, int] = (0, 0)
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
        return self.works + self.controls + self.shown + self.watched


class Code:
    """Functions of t, the state y and a block h of what depends on parameters and constant forces only; ``kept`` is how they
    keep constraints.
    """

    def __init__(self, setup: Program, programs: Mapping[str, Program], layout: Layout, kept: str) -> None:
        self.layout, self.kept = layout, kept
        self._setup_program, self._setup = setup, reference.compile(setup)
        self._programs = programs
        pressed = [touch.name in layout.pressed for touch in layout.touches]
        #: Which touches press, whether some of these hold single speeds, and their rows among those of all.
        self.presses = np.array(pressed, dtype=bool)
        self.locks = any(t.speed is not None and t.name in layout.pressed for t in layout.touches)
        self.rows = np.flatnonzero(np.repeat(self.presses, [len(touch.rows) for touch in layout.touches]))

    def h(self, p: FloatArray, constant: FloatArray, flags: FloatArray = UNSWITCHED) -> FloatArray:
        """The block h, from parameters (np,), the *flags* of what touches and constant forces (nv,); with an axis of cases where
        one of them has it.
        """
        lead = np.broadcast_shapes(p.shape[:-1], constant.shape[:-1])
        rows = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (p, flags, constant)]
        return self._setup(np.concatenate(rows, axis=-1))

    @once
    def setup(self) -> Quick:
        """The block h again and again, for forces that change in the course of a run."""
        return quick(llvm.compile([self._setup_program]).function(self._setup_program.name))

    @once
    def rate(self) -> llvm.NativeFunction:
        """The rate of the state."""
        return llvm.compile([self._programs["rate"]]).function("rate")

    @once
    def rates(self) -> llvm.NativeFunction:
        """The rate of many states: for rows, and for one in every lane of a vector."""
        return llvm.compile([self._programs["rate"]], batch=True).function("rate")

    @once
    def returns(self) -> tuple[llvm.NativeFunction, llvm.NativeFunction]:
        """The state with coordinates nearer to the constraints, and with speeds nearer to them."""
        made = llvm.compile([self._programs["position"], self._programs["velocity"]])
        return made.function("position"), made.function("velocity")

    @once
    def regularity(self) -> llvm.NativeFunction:
        """The gradients of programs of motion, and what answers them."""
        return llvm.compile([self._programs["regularity"]]).function("regularity")

    @once
    def events(self) -> llvm.NativeFunction | None:
        """The values of the events watched, if there are any."""
        found = self._programs.get("events")
        return None if found is None else llvm.compile([found]).function("events")

    @once
    def touch(self) -> Quick:
        """What a change of mode is made from, :data:`TOUCHED`, :data:`WHOLE` or :data:`LOOSE` one after the other, of a time, a
        state and h.
        """
        return quick(llvm.compile([self._programs["touch"]]).function("touch"))

    @once
    def bounce(self) -> llvm.NativeFunction | None:
        """What every contact does that strikes alone, as in :mod:`kineta.numerics.layout`; None where that has no closed form."""
        found = self._programs.get("bounce")
        return None if found is None else llvm.compile([found]).function("bounce")

    @once
    def nearer(self) -> tuple[Quick, Quick]:
        """The :attr:`returns` of a time, a state and h."""
        position, velocity = self.returns
        return quick(position), quick(velocity)

    @once
    def seen(self) -> Quick:
        """As :attr:`observe`, of a time, a state and h."""
        return quick(self._observed)

    def settings(self, k: int) -> llvm.NativeFunction:
        """What the switch number k sets."""
        return self._settings[k]

    @once
    def _settings(self) -> list[llvm.NativeFunction]:
        named = [n for n in self._programs if n.startswith("switch")]
        made = llvm.compile([self._programs[n] for n in named])
        return [made.function(n) for n in named]

    @property
    def event_address(self) -> int:
        """The address of :attr:`events`, 0 for none."""
        return self.events.address if self.events else 0

    @once
    def observe(self) -> Any:
        """Energies, outputs and forces that are expressions, for rows of states."""
        return self._observed.batch

    @once
    def _observed(self) -> llvm.NativeFunction:
        return llvm.compile([self._programs["observed"]]).function("observed")


@dataclass(frozen=True)
class Bound:
    """:class:`Code` with parameters: ``p`` (np,) or (cases, np), the ``forces``, the ``flags`` of what touches, and the block
    ``h`` made of them.
    """

    code: Code
    p: FloatArray
    h: FloatArray
    forces: Forces
    flags: FloatArray = field(default_factory=lambda: UNSWITCHED)

    def under(self, constant: FloatArray) -> Bound:
        """The same under other forces that are numbers, (nv,)."""
        h = self.code.setup(np.concatenate([self.p, self.flags, constant]))
        return replace(self, h=h, forces=replace(self.forces, constant=constant))

    def switched(self, p: FloatArray, flags: FloatArray, code: Code | None = None) -> Bound:
        """The same with other parameters, and *flags* (touches, flags) of all touches; perhaps with other *code*."""
        code = self.code if code is None else code
        own = flags[code.presses].ravel()
        return Bound(code, p, code.setup(np.concatenate([p, own, self.forces.constant])), self.forces, own)

    def case(self, i: int) -> Bound:
        """The same for one case."""
        p, h = (x[i] if x.ndim > 1 else x for x in (self.p, self.h))
        return replace(self, p=p, h=h, forces=self.forces.case(i))


def bound(equations: Equations, p: FloatArray, tau: Any, watched: Sequence[Expr], kept: str) -> Bound:
    """The code for a run of *equations* with the parameters *p* under the forces *tau*, with the events *watched* and with
    constraints *kept* in this way.
    """
    acting = forces(equations.system, tau)
    made = code(equations, acting, watched, kept, _standing(equations, kept))
    flags = np.zeros(len(made.layout.flags))
    return Bound(made, p, made.h(p, acting.constant, flags), acting, flags)


def _standing(equations: Equations, kept: str) -> frozenset[str]:
    """What always presses in a run, made out once."""
    if not equations.system.contacts:
        return frozenset()
    return equations.kept((standing, kept), lambda: standing(derivation(equations, kept).touches))


def code(
    equations: Equations, forces: Forces, watched: Sequence[Expr], kept: str, pressed: frozenset[str] = frozenset()
) -> Code:
    """The code for runs of *equations* under *forces*, with the events *watched* and the forces of touches that are *pressed*;
    made once, then kept with the equations.
    """
    key = (Code, forces.none, tuple(forces.expressions.items()), tuple(watched), kept, pressed)
    return equations.kept(key, lambda: Code(*_programs(equations, forces, watched, kept, pressed), kept))


def _programs(
    equations: Equations, forces: Forces, watched: Sequence[Expr], kept: str, pressed: frozenset[str]
) -> tuple[Program, dict[str, Program], Layout]:
    """Setup, programs by name, and what the state is made of."""
    d = derivation(equations, kept, pressed)
    found, layout = functions(d, forces, watched)
    return *lowered(d, found, layout), layout


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
    shown = (f"event {i}" for i in range(layout.shown))
    works = (*("work done",) * layout.works, *("control work",) * layout.controls)
    return [graph.symbol(n) for n in (*works, *shown, *pivots)]


def functions(d: Derivation, forces: Forces, watched: Sequence[Expr]) -> tuple[dict[str, Sequence[Ref]], Layout]:
    """What is computed at every stage, at every record, and between steps."""
    power = d["power"].refs[0]
    if forces.none:  # what they would do is the only power of a conservative system
        names = (f"tau.{n}" for n in d.symbols.system.v_names)
        (power,) = substitute(d.graph, [power], dict.fromkeys(names, ZERO))
    pivots = manifold.pivots(d) if d.watched else []
    levels: Sequence[Ref] = (*(d["constraints"].refs if d.closures else ()), *holding.levels(d))
    held = d["multipliers"] if d.closures or d.touches else vector([])
    multipliers, labels, order = held.refs, held.labels, 2
    if d.symbols.system.programs:
        order, levels = d.programs.s, (*levels, *d["programs"].refs)
        for quantity in ("program_multipliers", "control", "control_power"):
            multipliers, labels = (*multipliers, *d[quantity].refs), (*labels, *d[quantity].labels)
    works = int(power != ZERO or bool(d.touches) or bool(d.symbols.system.switches))
    shown = _shown(d)
    layout = Layout(
        works=works,
        controls=int(bool(d.symbols.system.programs)),
        shown=len(shown),
        order=order,
        watched=len(pivots),
        levels=len(levels),
        multipliers=_multipliers(d, labels),
        gradients=(len(d.symbols.system.programs), len(d.symbols.v)),
        programs=tuple(i for i, row in enumerate(d.programs.rows) for _ in row.labels),
        touches=d.touches,
        pressed=d.pressed,
    )
    spent = d["control_power"].refs if layout.controls else ()
    rate = (*d["state_rate"].refs, *([power] * layout.works), *spent, *shown, *pivots)
    outputs = d.expression(*map(symbol, changed(d.symbols.system)), *(o.value for o in d.symbols.system.outputs))
    observed: Sequence[Ref] = [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0], *outputs]
    acting = {f"tau.{n}": d.expression(e)[0] for n, e in forces.expressions.items()}
    if acting:
        rate, multipliers, observed = (tuple(substitute(d.graph, x, acting)) for x in (rate, multipliers, observed))
    functions: dict[str, Sequence[Ref]] = {
        "rate": rate,
        "observed": [*observed, *acting.values(), *multipliers, *levels],
    }
    if d.touches:
        asked = (WHOLE if locks(d) else TOUCHED) if d.pressing else LOOSE
        touched = [ref for name in asked for ref in d[name].refs]
        functions["touch"] = substitute(d.graph, touched, acting)
        if bounce.closed_form(d):
            functions["bounce"] = substitute(d.graph, _bounces(d), acting)
    switches = d.symbols.system.switches
    for k, switch in enumerate(switches):
        functions[f"switch_{k}"] = d.expression(*(value for _, value in switch.sets))
    watched = (*watched, *(s.value for s in switches))
    events = [*d.expression(*watched), *(d["touch_events"].refs if d.touches else ())]
    if events:
        functions["events"] = substitute(d.graph, events, acting)
    if d.watched:
        way = programmed if d.symbols.system.programs else holding if d.pressing else manifold
        rest, lower = _behind(d.graph, layout), (x for k in range(1, order) for x in d.symbols.level(k))
        functions["position"] = [*way.position(d), *lower, *rest]
        functions["velocity"] = [*d.symbols.q, *way.velocity(d), *rest]
    if d.symbols.system.programs:
        functions["regularity"] = d["regularity"].refs
    return functions, layout


def _shown(d: Derivation) -> list[Ref]:
    """The rates of gaps, and of what switches watch of coordinates and the time. Integrated along a motion they make its steps as
    short as these need to be seen: a body that turns freely goes round in one step else, and its corners through the ground.
    """
    s = d.symbols
    gaps = [touch.normal.levels[0] for touch in d.touches if touch.normal is not None]
    found = []
    for value in (*gaps, *d.expression(*(switch.value for switch in s.system.switches))):
        (rate,) = s.rates([value])
        parts = (*s.by_speed(rate).values(), s.at_rest(rate))
        if s.order([value]) == 0 and any(s.graph.value(x) is None for x in parts):
            found.append(rate)
    return found


def _bounces(d: Derivation) -> list[Ref]:
    """The numbers of all bounces, in the order of :mod:`kineta.numerics.layout`."""
    return [x for b in bounce.bounces(d) for x in (b.law, b.approach, b.leaving, b.fall, b.work, *b.speeds)]


def _multipliers(d: Derivation, names: Sequence[str]) -> dict[str, str]:
    """The *names* of multipliers, with their units where these are known."""
    return dict.fromkeys(names, "") | multiplier_units(d.symbols.system, names)


def parameters(system: System, p: Any) -> FloatArray:
    """Finite parameters, (np,) or (cases, np), with which all inertia is that of some body.

    Raises :class:`ArgumentError` for other parameters, :class:`~kineta.errors.ModelError` for other inertia.
    """
    values = parameter_values(system, p)
    if values.ndim > 2:
        raise ArgumentError(f"Expected p of shape (np,) or (cases, np), found shape {values.shape}.")
    arguments.finite(system, "the parameter", system.parameter_names, values)
    check_weights(system, values)
    return values
