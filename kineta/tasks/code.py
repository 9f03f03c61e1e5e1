"""The compiled functions of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.compiler import Equations
from kineta.errors import ArgumentError
from kineta.expr.graph import ZERO, Ref
from kineta.expr.node import Expr
from kineta.expr.program import Program
from kineta.formalism.derivation import Derivation
from kineta.formulas import simplified
from kineta.function import parameter_values
from kineta.model.system import System
from kineta.passes.hoist import hoist
from kineta.passes.substitute import substitute
from kineta.tasks import arguments
from kineta.tasks.forces import Forces, forces
from kineta.tasks.weights import check_weights
from kineta.threads import once

FloatArray = NDArray[np.float64]


class Code:
    """Functions of t, the state y and a block h of what depends on parameters and constant forces only.

    y is (q, v), followed by the work done where the power is not identically zero (``works`` is 1).
    """

    def __init__(self, setup: Program, programs: Mapping[str, Program], works: int) -> None:
        self.works = works
        self._setup_program, self._setup = setup, reference.compile(setup)
        self._programs = programs

    def h(self, p: FloatArray, constant: FloatArray) -> FloatArray:
        """The block h, from parameters (np,) and constant forces (nv,); with an axis of cases where one of them has it."""
        lead = np.broadcast_shapes(p.shape[:-1], constant.shape[:-1])
        rows = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (p, constant)]
        return self._setup(np.concatenate(rows, axis=-1))

    @once
    def setup(self) -> llvm.NativeFunction:
        """The block h again and again, for forces that change in the course of a run."""
        return llvm.compile([self._setup_program]).function(self._setup_program.name)

    @once
    def rate(self) -> llvm.NativeFunction:
        """The rate of the state."""
        return llvm.compile([self._programs["rate"]]).function("rate")

    @once
    def rates(self) -> llvm.NativeFunction:
        """The rate of many states: for rows, and for one in every lane of a vector."""
        return llvm.compile([self._programs["rate"]], batch=True).function("rate")

    @once
    def events(self) -> llvm.NativeFunction | None:
        """The values of the events watched, if there are any."""
        found = self._programs.get("events")
        return None if found is None else llvm.compile([found]).function("events")

    @property
    def event_address(self) -> int:
        """The address of :attr:`events`, 0 for none."""
        return self.events.address if self.events else 0

    @once
    def observe(self) -> Any:
        """Energies, outputs and forces that are expressions, for rows of states."""
        return llvm.compile([self._programs["observed"]]).function("observed").batch


@dataclass(frozen=True)
class Bound:
    """:class:`Code` with parameters: ``p`` (np,) or (cases, np), the ``forces``, and the block ``h`` made of them."""

    code: Code
    p: FloatArray
    h: FloatArray
    forces: Forces

    def under(self, constant: FloatArray) -> Bound:
        """The same under other forces that are numbers, (nv,)."""
        h = self.code.setup(np.concatenate([self.p, constant]))
        return Bound(self.code, self.p, h, replace(self.forces, constant=constant))

    def case(self, i: int) -> Bound:
        """The same for one case."""
        p, h = (x[i] if x.ndim > 1 else x for x in (self.p, self.h))
        return Bound(self.code, p, h, self.forces.case(i))


def bound(equations: Equations, p: Any, tau: Any, watched: Sequence[Expr]) -> Bound:
    """The code for a run of *equations* with the parameters *p* under the forces *tau*, with the events *watched*."""
    values, acting = parameters(equations.system, p), forces(equations.system, tau)
    made = code(equations, acting, watched)
    return Bound(made, values, made.h(values, acting.constant), acting)


def code(equations: Equations, forces: Forces, watched: Sequence[Expr]) -> Code:
    """The code for runs of *equations* under *forces*, with the events *watched*; made once, then kept with the equations."""
    key = (Code, forces.none, tuple(forces.expressions.items()), tuple(watched))
    return equations.kept(key, lambda: Code(*_programs(equations, forces, watched)))


def _programs(equations: Equations, forces: Forces, watched: Sequence[Expr]) -> tuple[Program, dict[str, Program], int]:
    """Setup, programs by name, and whether the work done is part of the state."""
    d = equations.alone()
    found, works = functions(d, forces, watched)
    return *lowered(d, found, works), works


def lowered(
    d: Derivation, functions: Mapping[str, Sequence[Ref]], works: int, direction: Sequence[str] = ()
) -> tuple[Program, dict[str, Program]]:
    """Setup, and *functions* of t, y and, where they contain its symbols, a *direction* as programs by name."""
    system = d.symbols.system
    own, functions = simplified(d, functions, (*system.parameter_names, *(f"tau.{n}" for n in system.v_names)))
    outputs = {name: {name: ((len(refs),), refs)} for name, refs in functions.items()}
    work = [own.graph.symbol("work done")] * works
    inputs: dict[str, Sequence[Ref]] = {"t": (own.t,), "y": (*own.q, *own.v, *work)}
    if direction:
        inputs["direction"] = [own.graph.symbol(n) for n in direction]
    return hoist(own.graph, inputs, outputs, [*own.p, *own.tau], "run")


def functions(d: Derivation, forces: Forces, watched: Sequence[Expr]) -> tuple[dict[str, list[Ref]], int]:
    """What is computed at every stage, at every record, and between steps."""
    power = d["power"].refs[0]
    if forces.none:  # what they would do is the only power of a conservative system
        names = (f"tau.{n}" for n in d.symbols.system.v_names)
        (power,) = substitute(d.graph, [power], dict.fromkeys(names, ZERO))
    works = int(power != ZERO)
    rate = [*d["state_rate"].refs, *([power] * works)]
    acting = {f"tau.{n}": d.expression(e)[0] for n, e in forces.expressions.items()}
    if acting:
        rate = substitute(d.graph, rate, acting)
    observed = [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0], *d["outputs"].refs, *acting.values()]
    functions = {"rate": rate, "observed": observed}
    if watched:
        functions["events"] = d.expression(*watched)
    return functions, works


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
