"""Outputs of a model along a prescribed motion: functions of coordinates, speeds and accelerations."""

from __future__ import annotations

from collections.abc import Iterator

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations.formulas import simplified
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.derivation import Derivation
from kineta.model.name_inference import element_forces, highest_derivative
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System
from kineta.tasks.motions.trajectory import Trajectory


def outputs(path: Trajectory) -> dict[str, FloatArray]:
    """Return the outputs (k,) along a motion, by name."""
    names = list(_of_motions(path.system))
    if not names:
        return {}
    made = path.equations.compiled("outputs along a motion", _programs)["outputs"]
    found = made.batch(path.t[:, None], path.q, path.v, path.vdot, path.p)
    return dict(zip(names, found.T, strict=True))


def _of_motions(system: System) -> dict[str, Expr]:
    """Return the outputs that depend on the motion alone, not on forces."""
    return {
        o.name: o.value
        for o in system.outputs
        if highest_derivative(system, o.value) <= 2 and not _held(system, o.value)
    }


def _held(system: System, e: Expr) -> bool:
    """Return whether *e* contains forces of constraints."""
    names = [n for n in e.symbols() if n.startswith(MULTIPLIER)]
    return len(element_forces(system, names)) < len(names)


def _programs(d: Derivation) -> Iterator[StraightLineProgram]:
    own, made = simplified(d, {"outputs": d.expression_of_levels(*_of_motions(d.symbols.system).values())}, ())
    inputs = {"t": (own.t,), "q": own.q, "v": own.v, "vdot": own.vdot, "p": own.p}
    shape = {"outputs": ((len(made["outputs"]),), made["outputs"])}
    yield program(own.graph, inputs, shape, "outputs")
