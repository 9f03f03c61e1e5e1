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
from kineta.expr.node import Expr
from kineta.expr.program import Program
from kineta.formalism.touch import standing
from kineta.function import parameter_values
from kineta.model.system import System
from kineta.tasks import arguments
from kineta.tasks.computed import Layout, functions, lowered
from kineta.tasks.forces import Forces, forces
from kineta.tasks.keeping import PROJECTED, derivation
from kineta.tasks.weights import check_weights
from kineta.threads import once

FloatArray = NDArray[np.float64]
#: A function called as machine code.
Quick = Callable[..., FloatArray]

#: The flags of code in which nothing touches.
UNSWITCHED: FloatArray = np.zeros(0)


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
    def setting(self) -> llvm.NativeFunction:
        """The block h of all that it is made of: parameters, flags of what presses, constant forces."""
        return llvm.compile([self._setup_program]).function(self._setup_program.name)

    @once
    def setup(self) -> Quick:
        """The block h again and again, for forces that change in the course of a run."""
        return quick(self.setting)

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
        """The gradients of programs of motion, what answers them, what is zero where one has none, and kinks."""
        return llvm.compile([self._programs["regularity"]]).function("regularity")

    @once
    def events(self) -> llvm.NativeFunction | None:
        """The values of the events watched, if there are any."""
        found = self._programs.get("events")
        return None if found is None else llvm.compile([found]).function("events")

    @once
    def touch(self) -> Quick:
        """What a change of mode is made from, ``TOUCHED``, ``WHOLE`` or ``LOOSE`` of :mod:`~kineta.tasks.computed`, of a time, a
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
    def told(self) -> Quick:
        """The :attr:`events` of a time, a state and h; there are some."""
        assert self.events is not None
        return quick(self.events)

    @once
    def going(self) -> Quick:
        """The :attr:`rate` of a time, a state and h."""
        return quick(self.rate)

    @once
    def seen(self) -> Quick:
        """As :attr:`observe`, of a time, a state and h."""
        return quick(self.observed)

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
        return self.observed.batch

    @once
    def observed(self) -> llvm.NativeFunction:
        """As :attr:`observe`, of one state."""
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

    def gradients(self, t: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The gradients of programs of motion, and what answers them, (k, programs, nv) each, what is zero where one has none,
        (k, edges), and what changes its sign at kinks, (k, kinks), at times *t* (k,) in states *y* (k, n).
        """
        layout = self.code.layout
        found = np.asarray(self.code.regularity.batch(t[:, None], y, self.h)).reshape(len(t), -1)
        rest = found.shape[1] - len(layout.edges) - layout.kinks
        parts = found[:, :rest].reshape(len(t), 2, *layout.gradients)
        return parts[:, 0], parts[:, 1], found[:, rest : rest + len(layout.edges)], found[:, rest + len(layout.edges) :]

    @property
    def given(self) -> FloatArray:
        """What the block h is made of."""
        return np.concatenate([self.p, self.flags, self.forces.constant])

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


def projected(equations: Equations, run: Bound) -> Bound:
    """*run* with code that projects onto constraints and programs."""
    made = code(equations, run.forces, (), PROJECTED)
    return Bound(made, run.p, made.h(run.p, run.forces.constant, np.zeros(len(made.layout.flags))), run.forces)


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
