"""The compiled functions of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from kineta.tasks.forces import Forces, forces
from kineta.threads import once

FloatArray = NDArray[np.float64]


class Code:
    """Functions of t, the state y and a block h of what depends on parameters and constant forces only.

    y is (q, v), followed by the work done where the power is not identically zero (``works`` is 1).
    """

    def __init__(self, setup: Program, programs: Mapping[str, Program], works: int) -> None:
        self.works = works
        self._setup = reference.compile(setup)
        self._observed = programs["observed"]
        library = llvm.compile([p for name, p in programs.items() if name != "observed"])
        self.rate = library.function("rate")
        self.event_address = library.function("events").address if "events" in programs else 0

    def h(self, p: FloatArray, constant: FloatArray) -> FloatArray:
        """The block h, from parameters (np,) and constant forces (nv,)."""
        return self._setup(np.concatenate([p, constant]))

    @once
    def observe(self) -> Any:
        """Energies and outputs for rows of states."""
        return llvm.compile([self._observed]).function("observed").batch


@dataclass(frozen=True)
class Bound:
    """:class:`Code` with one set of parameters: ``p`` (np,), the ``forces``, and the block ``h`` made of them."""

    code: Code
    p: FloatArray
    h: FloatArray
    forces: Forces


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
    if forces.expressions:
        acting = {f"tau.{n}": d.expression(e)[0] for n, e in forces.expressions.items()}
        rate = substitute(d.graph, rate, acting)
    observed = [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0], *d["outputs"].refs]
    functions = {"rate": rate, "observed": observed}
    if watched:
        functions["events"] = d.expression(*watched)
    return functions, works


def parameters(system: System, p: Any) -> FloatArray:
    """One set of finite parameters, (np,)."""
    values = parameter_values(system, p)
    for name, value in zip(system.parameter_names, values, strict=True):
        if not np.isfinite(value):
            raise ArgumentError(f"Model '{system.name}': the parameter '{name}' is {value}; expected a finite number.")
    return values
