"""A system for python-control, nonlinear as it is: ``NonlinearIOSystem``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations, equations_of, given_equations
from kineta.errors import ArgumentError, MissingPackageError
from kineta.model.name_inference import response_symbols
from kineta.model.named_expressions import Output
from kineta.model.system import System
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.linear.linear_system import plain
from kineta.tasks.linear.linearize import put_in, put_out


def io_system(
    system: System | Equations,
    *,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str | Expr] | Mapping[str, Expr] | None = None,
    p: Any = None,
) -> Any:
    """Return *system* as a ``NonlinearIOSystem`` of python-control, with coordinates and speeds as states and compiled rates.

    inputs, outputs : as for :func:`~kineta.tasks.linear.linearize.linearize`; outputs are functions of the state. Dots in names
        become underscores
    p : the parameters

    Rates satisfy the constraints; the integrator of the caller adds drift.

    Raises :class:`ArgumentError` for names that do not exist, and :class:`MissingPackageError` without python-control.
    """
    equations = given_equations(system)
    model = equations.system
    given, taken, values = put_in(model, inputs), put_out(model, outputs), parameters(model, p)
    if values.ndim > 1:
        raise ArgumentError(f"Expected one set of parameters, found p of shape {values.shape}.")
    for name, e in taken.items():
        if forced := sorted(response_symbols(model, e.symbols())):
            raise ArgumentError(f"Expected outputs of the state, found '{name}', which names {forced[0]}.")
    if jumps := [c.name for c in (*model.contacts, *model.switches)]:
        raise ArgumentError(
            f"Model '{model.name}': a system for python-control has rates alone, no jumps, as at {', '.join(jumps[:4])}; "
            "system.replace(contacts=(), switches=()) leaves out what it jumps at."
        )
    try:
        import control
    except ImportError:
        raise MissingPackageError("control", "control") from None
    rate = equations.function("state_rate")
    seen = equations_of(model.replace(outputs=[Output(plain(f"y{k}"), e) for k, e in enumerate(taken.values())]))
    show = seen.function("outputs")
    forces = [(k, model.v_names.index(i.name)) for k, i in enumerate(given) if i.force]
    changed = [(k, model.parameter_names.index(i.name)) for k, i in enumerate(given) if not i.force]

    def parts(x: Any, u: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return coordinates, speeds, forces and parameters of a state and an input."""
        state, put = (np.atleast_1d(np.asarray(a, dtype=np.float64)) for a in (x, u))
        tau, own = np.zeros(model.nv), values.copy()
        for k, at in forces:
            tau[at] = put[k]
        for k, at in changed:
            own[at] = put[k]
        return state[: model.nq], state[model.nq :], tau, own

    def update(t: float, x: Any, u: Any, _: Any) -> FloatArray:
        q, v, tau, own = parts(x, u)
        return np.asarray(rate(float(t), q, v, tau, p=own))

    def output(t: float, x: Any, u: Any, _: Any) -> FloatArray:
        q, v, _, own = parts(x, u)
        return np.asarray(show(float(t), q, v, p=own))

    return control.NonlinearIOSystem(
        update,
        output if taken else None,
        inputs=[plain(i.label) for i in given],
        outputs=[plain(n) for n in taken] or None,
        states=[plain(n) for n in (*model.q_names, *model.v_names)],
        name=model.name,
    )
