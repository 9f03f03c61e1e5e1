"""Applied forces along a run: added forces, controls of programs and contact forces; and the parameters, which switches may
have changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kineta.algebra.expression import symbol
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.equations.formulas import simplified
from kineta.errors import ArgumentError, excerpt
from kineta.expr.graph import ZERO
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs.dynamics import CONTROL
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System
from kineta.results.result import Result


def check_of(system: System, run: Result) -> None:
    """Raise :class:`ArgumentError` for a *run* of another model."""
    if (run.q_names, run.v_names) != (system.q_names, system.v_names):
        raise ArgumentError(f"Expected a run of '{system.name}', found one of '{run.model}' with other coordinates.")
    if run.model != system.name or tuple(run.parameters) != system.parameter_names:
        raise ArgumentError(
            f"Expected a run of '{system.name}', found one of '{run.model}' with the parameters "
            f"{excerpt(run.parameters) or 'none'}. Give its motion instead: coordinates with arrays, and t."
        )


def given(system: System, run: Result) -> FloatArray:
    """Return the added forces on the speeds (k, nv) in a *run*, and the forces of control of its programs."""
    if not system.programs:
        return run.tau
    return run.tau + np.stack([_series(run, f"{CONTROL}{n}") for n in system.v_names], axis=-1)


def rows(equations: Equations) -> tuple[str, ...]:
    """Return the names of the rows of contacts, limits and dry friction."""
    if not equations.system.contacts:
        return ()
    return equations.contact_rows


def touching(equations: Equations, run: Result) -> FloatArray | None:
    """Return the forces (k, rows) of contacts, limits and dry friction along their rows in a *run*; None without any."""
    names = rows(equations)
    return np.stack([_series(run, f"{MULTIPLIER}{n}") for n in names], axis=-1) if names else None


def on_speeds(equations: Equations, t: FloatArray, q: FloatArray, v: FloatArray, p: FloatArray) -> FloatArray:
    """Return the Jacobian of the rows of contacts, limits and dry friction, (k, rows, nv)."""
    made = equations.compiled("forces of touches on the speeds", _programs)
    return np.asarray(made["shares"].batch(t[:, None], q, v, p).reshape(len(t), -1, equations.system.nv))


def _programs(d: Derivation) -> Iterator[StraightLineProgram]:
    speeds = range(len(d.symbols.v))
    refs = [row.gradient.get(k, ZERO) for touch in d.contacts for row in touch.rows for k in speeds]
    own, made = simplified(d, {"shares": refs}, ())
    inputs = {"t": (own.t,), "q": own.q, "v": own.v, "p": own.p}
    yield program(own.graph, inputs, {"shares": ((len(refs),), made["shares"])}, "shares")


def parameters(system: System, run: Result) -> FloatArray:
    """Return the parameters of a *run*: (np,), or (k, np) where switches may have changed some."""
    start = np.array([run.parameters[n] for n in system.parameter_names], dtype=np.float64)
    names = system.switched
    if not names:
        return start
    values = np.tile(start, (len(run.t), 1))
    shown = {o.name: o.value for o in system.outputs}
    for name in names:
        if name in shown and shown[name] != symbol(name):
            raise ArgumentError(
                f"Model '{system.name}': its output '{name}' hides the parameter of that name, which switches set; give the "
                "output another name."
            )
        values[:, system.parameter_names.index(name)] = _series(run, name)
    return values


def _series(run: Result, name: str) -> FloatArray:
    found: Mapping[str, FloatArray] = run.outputs
    if name not in found:
        raise ArgumentError(
            f"Run of '{run.model}': it does not tell '{name}', on which its accelerations depend; run the model again with this "
            "version."
        )
    return found[name]
