"""Compiled functions of a run, and their binding to parameters and forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.codegen.llvm import NativeFunction
from kineta.equations.equations import Equations
from kineta.expr.program import StraightLineProgram
from kineta.integration.problem import Kinks, Slides
from kineta.integration.stepping_records import SteppingData
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.model.transformations.isomorphism import named_as
from kineta.passes.step_recorder import UnsuitedError
from kineta.records import dataclass
from kineta.runtime.applied_forces import AppliedForces, applied_forces
from kineta.runtime.constraint_treatment import FREE, PROJECTED, STEPPED, run_derivation
from kineta.runtime.contact_problem import CompiledContacts, ContactFunction, stepping_data
from kineta.runtime.functions import (
    CLOCKS,
    GUARDS,
    HELD,
    STORED,
    SWITCHES,
    StateLayout,
    kinks_of,
    looped_run,
    lowered,
    run_functions,
    slides_of,
)
from kineta.threads import once

#: Machine code called with arrays.
NativeCall = Callable[..., FloatArray]

#: Contact flags of code without closed contacts.
NO_FLAGS: FloatArray = np.zeros(0)


class CompiledSystem:
    """Compiled functions of t, the state y and a block h, precomputed from parameters and constant forces, with the flags of all
    contacts behind it; ``treatment`` is the treatment of constraints.
    """

    def __init__(
        self, setup: StraightLineProgram, programs: Mapping[str, StraightLineProgram], layout: StateLayout, kept: str
    ) -> None:
        self.layout, self.treatment = layout, kept
        self._setup = setup.name
        # Not a method: a circle of references would keep machine code until the garbage collector finds it.
        group = partial(_group, setup.name)
        self._functions = CompiledFunctions([setup, *programs.values()], group=group)
        self._last_block: tuple[bytes | None, FloatArray] = None, NO_FLAGS
        self._open = np.zeros(layout.flags)

    def renamed(self, names: Mapping[str, str]) -> CompiledSystem:
        """The same code of a system whose records have other *names*."""
        layout = self.layout
        own = CompiledSystem(
            self._functions.programs[self._setup],
            {},
            replace(
                layout,
                guards=tuple(named_as(names, n) for n in layout.guards),
                multipliers={named_as(names, n): unit for n, unit in layout.multipliers.items()},
                touches=tuple(replace(touch, name=named_as(names, touch.name)) for touch in layout.touches),
            ),
            self.treatment,
        )
        own._functions = self._functions
        return own

    @property
    def programs(self) -> Mapping[str, StraightLineProgram]:
        """All functions as programs by name, with that of the block h, :data:`~kineta.runtime.functions.SETUP`."""
        return self._functions.programs

    def parameter_block(self, p: FloatArray, constant: FloatArray, flags: FloatArray = NO_FLAGS) -> FloatArray:
        """Block h from parameters (np,) and constant forces (nv,), with the contact *flags* behind it; with a leading axis of
        cases where one of them has it.
        """
        if lead := p.shape[:-1] or constant.shape[:-1]:
            rows = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (p, constant, flags)]
            setup = self._functions.interpreted(self._setup)
            return np.concatenate([setup(np.concatenate(rows[:2], axis=-1)), rows[2]], axis=-1)
        # Runs from other states are often made with the same parameters.
        key = p.tobytes() + constant.tobytes()
        known, block = self._last_block
        if known != key:
            block = self._functions.interpreted(self._setup)(np.concatenate((p, constant)))
            self._last_block = key, block
        return np.concatenate((block, flags))

    def bound(self, p: FloatArray, forces: AppliedForces) -> BoundSystem:
        """The system bound to the parameters *p* and the *forces*, with all contacts open."""
        return BoundSystem(self, p, self.parameter_block(p, forces.constant, self._open), forces, self._open)

    @once
    def setup_function(self) -> NativeFunction:
        """Compiled block h of parameters and constant forces."""
        return self._functions[self._setup]

    @once
    def setup_call(self) -> NativeCall:
        """Compiled block h, for repeated calls during a run."""
        return _state_call(self.setup_function)

    def stepping(self, h: FloatArray, quaternions: Sequence[int], **given: Any) -> SteppingData:
        """Memory of time stepping with the block h; *quaternions* are their offsets in the state, and what else is *given* is for
        :func:`stepping_data`.
        """
        assert self.contacts is not None
        work = sum(self.layout.sizes[1:]) if self.layout.works else -1
        return stepping_data(self.contacts, h, quaternions, work, self.layout.placed, **given)

    @once
    def contacts(self) -> CompiledContacts | None:
        """The contacts; None without any."""
        layout = self.layout
        if layout.contact_terms is None:
            return None
        n, coordinates, speeds = layout.sizes
        block = self._functions.programs[self._setup].n_outputs
        return CompiledContacts(layout.touches, layout.contact_terms, n, (coordinates, speeds), self._functions, block)

    def _function(self, name: str, size: int = 0) -> NativeFunction | ContactFunction:
        """The function *name*, in a system with contacts of the mode in the block h, with results of this *size*."""
        if self.contacts is None or self.treatment == STEPPED:
            return self._functions[name]
        return ContactFunction(self.contacts, name, size)

    @once
    def rate(self) -> NativeFunction | ContactFunction:
        """Rate of the state."""
        return self._function("rate", self.layout.sizes[0])

    def bound_rate(self, h: FloatArray) -> NativeCall:
        """Rate of a time and a state, bound to the memory of h; in a system without contacts."""
        return _state_call(self._functions["rate"], h)

    @once
    def ensemble_rate(self) -> NativeFunction:
        """Rate of many states: by rows, and by SIMD lanes."""
        return self._in_lanes["rate"]

    @once
    def ensemble_events(self) -> NativeFunction | None:
        """:attr:`events` of many states, as :attr:`ensemble_rate`."""
        return self._in_lanes.get("events")

    @once
    def ensemble_projections(self) -> tuple[NativeFunction, NativeFunction]:
        """:attr:`projections` of many states, as :attr:`ensemble_rate`."""
        return self._in_lanes["position"], self._in_lanes["velocity"]

    @once
    def _in_lanes(self) -> CompiledFunctions:
        """Functions of many states."""
        names = ("rate", "events", "position", "velocity", GUARDS, CLOCKS, STORED, HELD)
        own = [program for name, program in self.programs.items() if name in names]
        return CompiledFunctions(own, batch=True, group=lambda name: name)

    @once
    def projections(self) -> tuple[NativeFunction | ContactFunction, NativeFunction | ContactFunction]:
        """State after a Newton step of the coordinates, and of the speeds, towards the constraints."""
        n = self.layout.sizes[0]
        return self._function("position", n), self._function("velocity", n)

    @once
    def regularity(self) -> NativeFunction:
        """Gradients of programs of motion, their input distribution, quantities that vanish where a gradient is undefined, and
        kinks.
        """
        return self._functions["regularity"]

    @once
    def events(self) -> NativeFunction | ContactFunction | None:
        """Values of the event functions; None without events."""
        program = self._functions.programs.get("events")
        return None if program is None else self._function("events", program.n_outputs)

    @once
    def observed_call(self) -> NativeCall:
        """:attr:`observed` of a time, a state and h."""
        function = self.observed
        return function if isinstance(function, ContactFunction) else _state_call(function)

    @property
    def observed_size(self) -> int:
        """Number of observed quantities."""
        return self._functions.programs["observed"].n_outputs

    @once
    def kinks(self) -> Kinks | None:
        """What tells of kinks and steps of the rate; None for a smooth one."""
        return self._kinks(lambda name: self._functions[name].address)

    @once
    def guards(self) -> NativeFunction | None:
        """Guards of kinks and steps of the rate; None without any that depend on the state."""
        return self._functions.get(GUARDS)

    @once
    def stored(self) -> NativeFunction | None:
        """The energy, and generalised momenta, that jump with the time; None where none do."""
        return self._functions.get(STORED)

    @once
    def ensemble_kinks(self) -> Kinks | None:
        """:attr:`kinks` of many states, as :attr:`ensemble_rate`."""
        return self._kinks(lambda name: self._in_lanes[name].lanes_address)

    @once
    def slides(self) -> Slides | None:
        """Sliding modes; None where no rate jumps towards the surface of its jump."""
        if not self.layout.slides:
            return None
        return slides_of(self.layout, (self._functions[HELD] if HELD in self.programs else self.rate).address)

    @once
    def ensemble_slides(self) -> Slides | None:
        """:attr:`slides` of many states, as :attr:`ensemble_rate`."""
        return slides_of(self.layout, self._in_lanes[HELD].lanes_address) if self.layout.slides else None

    def _kinks(self, address: Callable[[str], int]) -> Kinks | None:
        if not any(self.layout.switching):
            return None
        return kinks_of(self.layout, [address(n) if n in self.programs else 0 for n in (GUARDS, CLOCKS, STORED)])

    @property
    def switch_address(self) -> int:
        """Address of the new values set by all switches in a state, one after the other, then their conditions and margins; with
        contacts of states with all that is given behind them.
        """
        return self._functions[SWITCHES].address

    @property
    def event_address(self) -> int:
        """Address of :attr:`events`, 0 without events."""
        return self.events.address if self.events else 0

    @once
    def observe(self) -> Any:
        """Energies, outputs, forces given as expressions, multipliers and residuals, by rows of states."""
        return self.observed.batch

    @once
    def observed(self) -> NativeFunction | ContactFunction:
        """:attr:`observe` for one state."""
        return self._function("observed", self.observed_size)


def _state_call(function: NativeFunction, bound: FloatArray | None = None) -> NativeCall:
    """*function* for repeated calls."""
    from kineta.codegen.python_call import state_wrapper  # which needs llvmlite

    return state_wrapper(function, bound)


def _group(setup: str, name: str) -> str:
    """Group of the function *name* of a run, whose functions are compiled together: those of a motion; by themselves the events,
    which change from run to run, and the block h, *setup*, which few runs evaluate again.
    """
    return name if name in ("events", setup) else "motion"


@dataclass(frozen=True)
class BoundSystem:
    """:class:`CompiledSystem` with parameters: ``p`` (np,) or (cases, np), the ``forces``, the ``flags`` of the contacts, and
    the block ``h`` precomputed from them; whether something is ``closed`` by these flags, or friction of a joint acts.
    """

    code: CompiledSystem
    p: FloatArray
    h: FloatArray
    forces: AppliedForces
    flags: FloatArray = field(default_factory=lambda: NO_FLAGS)
    closed: bool = False

    def regularity(self, t: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Gradients of programs of motion and their input distribution, (k, programs, nv) each, quantities that vanish where a
        gradient is undefined, (k, edges), and quantities that change sign at kinks, (k, kinks), at times *t* (k,) in states
        *y* (k, n).
        """
        layout = self.code.layout
        found = np.asarray(self.code.regularity.batch(t[:, None], y, self.h)).reshape(len(t), -1)
        rest = found.shape[1] - len(layout.edges) - layout.kinks
        parts = found[:, :rest].reshape(len(t), 2, *layout.gradients)
        return parts[:, 0], parts[:, 1], found[:, rest : rest + len(layout.edges)], found[:, rest + len(layout.edges) :]

    def observed_names(self, system: System) -> list[str]:
        """Names of what is observed behind the two energies: parameters that switches set, outputs, rates of first-order
        states, forces given as expressions, multipliers.
        """
        acting = (added_force(n) for n in self.forces.expressions)
        return [*system.switched, *(o.name for o in system.recorded), *acting, *self.code.layout.multipliers]

    def with_forces(self, constant: FloatArray) -> BoundSystem:
        """The system bound to other constant forces (nv,)."""
        h = np.concatenate((self.code.setup_call(np.concatenate([self.p, constant])), self.flags))
        forces = AppliedForces(constant, self.forces.expressions, self.forces.sampled)
        own = (self.code, self.p, h, forces, self.flags, self.closed)
        return BoundSystem(*own)  # dataclasses.replace takes longer than a sample may

    def with_flags(self, flags: FloatArray) -> BoundSystem:
        """The system in another mode, with the *flags* (contacts, flags) of all contacts."""
        own = np.array(flags, dtype=np.float64).ravel()
        h = np.concatenate((self.h[: len(self.h) - len(own)], own))
        return replace(self, h=h, flags=own, closed=bool(own.any()))

    def case(self, i: int) -> BoundSystem:
        """The system bound to one case."""
        p, h = (x[i] if x.ndim > 1 else x for x in (self.p, self.h))
        return replace(self, p=p, h=h, forces=self.forces.case(i))


def bind_system(
    equations: Equations, p: FloatArray, tau: Any, watched: Sequence[Expr], kept: str, resolved: Sequence[Expr] = ()
) -> BoundSystem:
    """Compiled system for a run of *equations* with the parameters *p* under the forces *tau*, the *watched* events and the
    treatment *kept* of constraints; its steps end at kinks of *resolved* expressions, too.
    """
    acting = applied_forces(equations.system, tau)
    return compile_system(equations, acting, watched, kept, resolved).bound(p, acting)


def projected_system(equations: Equations, run: BoundSystem) -> BoundSystem:
    """*run* with code that projects onto constraints and programs."""
    return compile_system(equations, run.forces, (), PROJECTED).bound(run.p, run.forces)


def stepped_system(equations: Equations, run: BoundSystem, watched: Sequence[Expr]) -> BoundSystem:
    """*run* with code for time stepping, and the *watched* events."""
    return compile_system(equations, run.forces, watched, STEPPED).bound(run.p, run.forces)


def compile_system(
    equations: Equations, forces: AppliedForces, watched: Sequence[Expr], kept: str, resolved: Sequence[Expr] = ()
) -> CompiledSystem:
    """Compiled system of *equations* under *forces*, with the *watched* events; memoised with the equations."""
    key = (CompiledSystem, forces.none, tuple(forces.expressions.items()), tuple(watched), kept, tuple(resolved))

    def made() -> CompiledSystem:
        if equations.like is None or watched or forces.expressions or resolved:
            return CompiledSystem(*_run_programs(equations, forces, watched, kept, resolved), kept)
        first, names = equations.like
        return compile_system(first, forces, (), kept).renamed(names)

    return equations.bounded_memo(key, made)


def _run_programs(
    equations: Equations, forces: AppliedForces, watched: Sequence[Expr], kept: str, resolved: Sequence[Expr]
) -> tuple[StraightLineProgram, dict[str, StraightLineProgram], StateLayout]:
    """Setup program, programs by name, and state layout."""
    d = run_derivation(equations, kept)
    if kept == FREE and not resolved and equations.method.loops_suit(equations.system, "forward"):
        try:
            return looped_run(d, forces, watched)
        except UnsuitedError:
            d = run_derivation(equations, kept)  # code does not depend on what was tried
    found, layout = run_functions(d, forces, watched, resolved=resolved, stepped=kept == STEPPED)
    return *lowered(d, found, layout), layout
