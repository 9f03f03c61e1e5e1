"""Compiled functions of a run, and their binding to parameters and forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.codegen.llvm import NativeFunction
from kineta.codegen.python_call import state_wrapper
from kineta.equations import case_arguments
from kineta.equations.equations import Equations
from kineta.equations.function import parameter_values
from kineta.errors import ArgumentError
from kineta.expr.program import StraightLineProgram
from kineta.mechanics.contact.unilateral_rows import permanently_active
from kineta.model.system import System
from kineta.runtime.applied_forces import AppliedForces, applied_forces
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from kineta.runtime.functions import StateLayout, lowered, run_functions
from kineta.runtime.parameter_checks import check_parameters
from kineta.threads import memo, once

#: Machine code called with arrays.
NativeCall = Callable[..., FloatArray]

#: Functions of transitions between modes of contacts, beside the block h.
TRANSITION = ("position", "velocity", "touch", "bounce")

#: Contact flags of code without closed contacts.
NO_FLAGS: FloatArray = np.zeros(0)


class CompiledSystem:
    """Compiled functions of t, the state y and a block h, precomputed from parameters, contact flags and constant forces;
    ``treatment`` is the treatment of constraints.
    """

    def __init__(
        self, setup: StraightLineProgram, programs: Mapping[str, StraightLineProgram], layout: StateLayout, kept: str
    ) -> None:
        self.layout, self.treatment = layout, kept
        self._setup = setup.name
        # Not a method: a circle of references would keep machine code until the garbage collector finds it.
        group = partial(_group, setup.name, bool(layout.touches))
        self._functions = CompiledFunctions([setup, *programs.values()], group=group)
        self._last_block: tuple[bytes | None, FloatArray] = None, NO_FLAGS
        pressed = [touch.name in layout.pressed for touch in layout.touches]
        #: Closed contacts, True where one locks a single speed, and their rows among those of all contacts.
        self.closed = np.array(pressed, dtype=bool)
        self.locks_joints = any(t.speed is not None and t.name in layout.pressed for t in layout.touches)
        self.rows = np.flatnonzero(np.repeat(self.closed, [len(touch.rows) for touch in layout.touches]))

    @property
    def programs(self) -> Mapping[str, StraightLineProgram]:
        """All functions as programs by name, with that of the block h, :data:`~kineta.runtime.functions.SETUP`."""
        return self._functions.programs

    def parameter_block(self, p: FloatArray, constant: FloatArray, flags: FloatArray = NO_FLAGS) -> FloatArray:
        """Block h from parameters (np,), contact *flags* and constant forces (nv,); with a leading axis of cases where one of
        them has it.
        """
        setup = self._functions.interpreted(self._setup)
        if lead := p.shape[:-1] or constant.shape[:-1]:
            rows = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (p, flags, constant)]
            return setup(np.concatenate(rows, axis=-1))
        # Runs from other states are often made with the same parameters.
        given = np.concatenate((p, flags, constant))
        known, block = self._last_block
        if known != given.tobytes():
            block = setup(given)
            self._last_block = given.tobytes(), block
        return block.copy()

    @once
    def setup_function(self) -> NativeFunction:
        """Compiled block h of parameters, flags of closed contacts and constant forces."""
        return self._functions[self._setup]

    @once
    def setup_call(self) -> NativeCall:
        """Compiled block h, for repeated calls during a run."""
        return state_wrapper(self.setup_function)

    @once
    def rate(self) -> NativeFunction:
        """Rate of the state."""
        return self._functions["rate"]

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
        names = ("rate", "events", "position", "velocity")
        own = [program for name, program in self.programs.items() if name in names]
        return CompiledFunctions(own, batch=True, group=lambda name: name)

    @once
    def projections(self) -> tuple[NativeFunction, NativeFunction]:
        """State after a Newton step of the coordinates, and of the speeds, towards the constraints."""
        return self._functions["position"], self._functions["velocity"]

    @once
    def regularity(self) -> NativeFunction:
        """Gradients of programs of motion, their input distribution, quantities that vanish where a gradient is undefined, and
        kinks.
        """
        return self._functions["regularity"]

    @once
    def events(self) -> NativeFunction | None:
        """Values of the event functions; None without events."""
        return self._functions.get("events")

    @once
    def contact_call(self) -> NativeCall:
        """Contact quantities of a time, a state and h, in the order of ``CONTACT_QUANTITIES``, ``LOCKING_QUANTITIES`` or
        ``OPEN_QUANTITIES`` of :mod:`~kineta.runtime.functions`.
        """
        return state_wrapper(self._functions["touch"])

    @once
    def closed_form_impact(self) -> NativeFunction | None:
        """Closed-form impact of every single contact, laid out as in :mod:`kineta.integration.loop_abi`; None without a closed
        form.
        """
        return self._functions.get("bounce")

    @once
    def projection_calls(self) -> tuple[NativeCall, NativeCall]:
        """:attr:`projections` of a time, a state and h."""
        position, velocity = self.projections
        return state_wrapper(position), state_wrapper(velocity)

    @once
    def event_call(self) -> NativeCall:
        """:attr:`events` of a time, a state and h; requires events."""
        assert self.events is not None
        return state_wrapper(self.events)

    @once
    def rate_call(self) -> NativeCall:
        """:attr:`rate` of a time, a state and h."""
        return state_wrapper(self.rate)

    @once
    def observed_call(self) -> NativeCall:
        """:attr:`observed` of a time, a state and h."""
        return state_wrapper(self.observed)

    def switch_function(self, k: int) -> NativeFunction:
        """New values set by the switch number *k*."""
        return self._functions[f"switch_{k}"]

    @property
    def event_address(self) -> int:
        """Address of :attr:`events`, 0 without events."""
        return self.events.address if self.events else 0

    @once
    def observe(self) -> Any:
        """Energies, outputs, forces given as expressions, multipliers and residuals, by rows of states."""
        return self.observed.batch

    @once
    def observed(self) -> NativeFunction:
        """:attr:`observe` for one state."""
        return self._functions["observed"]


def _group(setup: str, touches: bool, name: str) -> str:
    """Group of the function *name* of a run, whose functions are compiled together: those of a motion, and where anything
    *touches* those of a transition, since some modes have no motion; by themselves the events, which change from run to run, and
    the block h, *setup*, which few runs without contacts evaluate again.
    """
    if name == "events" or (name == setup and not touches):
        return name
    return "transition" if touches and name in (setup, *TRANSITION) else "motion"


@dataclass(frozen=True)
class BoundSystem:
    """:class:`CompiledSystem` with parameters: ``p`` (np,) or (cases, np), the ``forces``, the ``flags`` of the contacts, and
    the block ``h`` precomputed from them.
    """

    code: CompiledSystem
    p: FloatArray
    h: FloatArray
    forces: AppliedForces
    flags: FloatArray = field(default_factory=lambda: NO_FLAGS)

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

    @property
    def block_inputs(self) -> FloatArray:
        """Inputs of the block h: parameters, contact flags, constant forces."""
        return np.concatenate([self.p, self.flags, self.forces.constant])

    def with_forces(self, constant: FloatArray) -> BoundSystem:
        """The system bound to other constant forces (nv,)."""
        h = self.code.setup_call(np.concatenate([self.p, self.flags, constant]))
        return replace(self, h=h, forces=replace(self.forces, constant=constant))

    def with_flags(self, p: FloatArray, flags: FloatArray, code: CompiledSystem | None = None) -> BoundSystem:
        """The system bound to other parameters and the *flags* (contacts, flags) of all contacts, with other *code* if given."""
        code = self.code if code is None else code
        own = flags[code.closed].ravel()
        return BoundSystem(code, p, code.setup_call(np.concatenate([p, own, self.forces.constant])), self.forces, own)

    def case(self, i: int) -> BoundSystem:
        """The system bound to one case."""
        p, h = (x[i] if x.ndim > 1 else x for x in (self.p, self.h))
        return replace(self, p=p, h=h, forces=self.forces.case(i))


def bind_system(equations: Equations, p: FloatArray, tau: Any, watched: Sequence[Expr], kept: str) -> BoundSystem:
    """Compiled system for a run of *equations* with the parameters *p* under the forces *tau*, the *watched* events and the
    treatment *kept* of constraints.
    """
    acting = applied_forces(equations.system, tau)
    pressed = frozenset[str]()
    if equations.system.contacts:
        with equations.shared() as d:
            pressed = permanently_active(d.contacts)
    made = compile_system(equations, acting, watched, kept, pressed)
    flags = np.zeros(len(made.layout.flags))
    return BoundSystem(made, p, made.parameter_block(p, acting.constant, flags), acting, flags)


def projected_system(equations: Equations, run: BoundSystem) -> BoundSystem:
    """*run* with code that projects onto constraints and programs."""
    made = compile_system(equations, run.forces, (), PROJECTED)
    return BoundSystem(
        made, run.p, made.parameter_block(run.p, run.forces.constant, np.zeros(len(made.layout.flags))), run.forces
    )


def compile_system(
    equations: Equations,
    forces: AppliedForces,
    watched: Sequence[Expr],
    kept: str,
    pressed: frozenset[str] = frozenset(),
) -> CompiledSystem:
    """Compiled system of *equations* under *forces*, with the *watched* events and closed contacts *pressed*; memoised with the
    equations.
    """
    key = (CompiledSystem, forces.none, tuple(forces.expressions.items()), tuple(watched), kept, pressed)
    return equations.bounded_memo(
        key, lambda: CompiledSystem(*_run_programs(equations, forces, watched, kept, pressed), kept)
    )


def _run_programs(
    equations: Equations, forces: AppliedForces, watched: Sequence[Expr], kept: str, pressed: frozenset[str]
) -> tuple[StraightLineProgram, dict[str, StraightLineProgram], StateLayout]:
    """Setup program, programs by name, and state layout."""
    d = run_derivation(equations, kept, pressed)
    found, layout = run_functions(d, forces, watched)
    return *lowered(d, found, layout), layout


def parameters(system: System, p: Any) -> FloatArray:
    """Finite parameters, (np,) or (cases, np), with a physical inertia of every body.

    Raises :class:`ArgumentError` for other parameters, :class:`~kineta.errors.ModelError` for other inertia.
    """
    if p is None:
        return memo(system, parameters, lambda: parameters(system, {})).copy()
    values = parameter_values(system, p)
    if values.ndim > 2:
        raise ArgumentError(f"Expected p of shape (np,) or (cases, np), found shape {values.shape}.")
    case_arguments.check_finite(system, "the parameter", system.parameter_names, values)
    check_parameters(system, values)
    return values
