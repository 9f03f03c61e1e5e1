"""``kineta eval``: the numbers of a quantity in one state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.options import Verb, json_, model, parameter, settings
from kineta.cli.values import Settings, emit, numbers, print_json, read, with_values
from kineta.errors import ArgumentError, did_you_mean
from kineta.tasks import options as o

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kineta.equations.equations import Equations
    from kineta.model.system import System


@click.command(
    "eval",
    cls=Verb,
    examples="""
    kineta eval double_pendulum.kin                  accelerations at the start
    kineta eval double_pendulum.kin --q "q1=30 deg, q2=0" --tau 1,2
    kineta eval double_pendulum.kin --quantity inverse --vdot 1,0
    kineta eval double_pendulum.kin --quantity 'kineta(3)' --levels "q1'''=2"
    """,
)
@model
@parameter(o.quantity("forward"))
@parameter(o.time("t", "Time, in seconds or with a unit.", default=0.0))
@parameter(o.state("q", "Coordinates"))
@parameter(o.state("v", "Speeds"))
@parameter(o.state("tau", "Forces on the speeds"))
@parameter(o.state("vdot", "Accelerations"))
@click.option(
    "--levels", metavar="VALUES", help="Derivatives of the accelerations, by name: \"q1'''=2, q2''''=1\", or JSON."
)
@settings
@parameter(o.FORMALISM)
@parameter(o.STRATEGY)
@parameter(
    o.choice(
        "backend",
        "llvm",
        "What computes: llvm, numpy, or cuda on a graphics processor.",
        "kineta.equations.function:BACKENDS",
    )
)
@json_
def evaluate(
    model: Path,
    quantity: str,
    t: float,
    q: str | None,
    v: str | None,
    tau: str | None,
    vdot: str | None,
    levels: str | None,
    settings: Settings,
    formalism: str,
    strategy: str,
    backend: str,
    as_json: bool,
) -> None:
    """Print the numbers of a quantity in one state.

    What is not given of the state is the model's initial state; forces and accelerations are then zero.
    """
    import numpy as np

    from kineta.consistency.consistent_start import consistent, start_violation
    from kineta.equations.equations import derive
    from kineta.equations.function import parameter_values
    from kineta.equations.initial_values import initial_state, initial_values
    from kineta.mechanics.quantities import CONTROLLED, DERIVATIVES, nothing
    from kineta.runtime.mass_matrix_rank import why_infinite
    from kineta.tasks.ignored_features import warn_ignored

    system = with_values(read(model, settings))
    held = quantity.partition("(")[0].strip() in CONTROLLED
    warn_ignored(system, f"the quantity {quantity}", whole=True, known=("programs",) if held else ())
    equations = derive(system, formalism, strategy=strategy)
    function = equations.function(quantity, backend)
    at = initial_state(system, numbers("--q", q, system), numbers("--v", v, system))
    given = {"tau": numbers("--tau", tau, system), "vdot": numbers("--vdot", vdot, system)}
    takes = function.arguments
    for name, text in (("tau", tau), ("vdot", vdot)):
        if text is not None and name not in takes:
            raise ArgumentError(f"--{name}: {quantity} depends on {', '.join(takes)} and the parameters only.")
    extra = {n: _speeds(system, f"--{n}", x) for n, x in given.items() if x is not None}
    first = initial_values(system, parameter_values(system)) if held else {}
    start = {
        n: np.array([float(first.get(v + "'" * (k + 1), 0.0)) for v in system.v_names])
        for k, n in enumerate(DERIVATIVES)
        if n in takes
    }
    extra = start | extra | _levels(system, quantity, start, numbers("--levels", levels, system))
    state, at = at, (at[0], equations.function("momentum", backend)(t, *at)) if "momentum" in takes else at
    parts = _parts(function(t, *at, **extra), quantity)
    if system.constraints and not all(np.isfinite(x).all() for x in parts.values()):
        begin = consistent(equations, t, *state, parameter_values(system), reach=0.0)
        equations = begin.equations
        parts = _parts(equations.function(quantity, backend)(t, *at, **extra), quantity)
        for note in begin.notes:
            emit(f"kineta: warning: {note}.", err=True)
    if note := start_violation(equations, t, *state, parameter_values(system), "state"):
        emit(f"kineta: warning: {note}", err=True)
    if not all(np.isfinite(x).all() for x in parts.values()):
        why = why_infinite(equations, t, *state, parameter_values(system))
        if held and (flat := _without_gradient(equations, t, *at, extra)):
            option = "--vdot" if "vdot" in takes else "--levels"
            why = f"the program '{flat}' has no gradient by its highest derivatives there; give others with {option}"
        raise ArgumentError(f"Model '{system.name}': {quantity} is not finite in this state: {why}.")
    if as_json:
        shapes, values = ({n: f(x) for n, x in parts.items()} for f in (lambda x: list(x.shape), np.ndarray.tolist))
        print_json(
            {
                "model": system.name,
                "quantity": quantity,
                "t": t,
                "q": at[0].tolist(),
                "v": at[1].tolist(),
                **{n: x.tolist() for n, x in extra.items()},
                "parameters": {p.name: p.value for p in system.parameters if not p.fixed},
                "shape": shapes if len(parts) > 1 else shapes[quantity],
                "value": values if len(parts) > 1 else values[quantity],
            }
        )
    elif not any(x.size for x in parts.values()):
        emit(nothing(system, quantity), err=True)
    else:
        for name, x in parts.items():
            shown = np.array2string(x, precision=12, separator=", ", threshold=10**6, max_line_width=120)
            emit(shown if len(parts) == 1 else f"{name}:\n{shown}")


def _parts(value: Any, quantity: str) -> dict[str, Any]:
    """Return the arrays of a quantity by name."""
    return value._asdict() if hasattr(value, "_asdict") else {quantity: value}


def _levels(system: System, quantity: str, start: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """Return the derivatives of the accelerations that a *quantity* takes: those *given* by name, the others of the *start*."""
    from kineta.mechanics.quantities import DERIVATIVES

    blocks = [n for n in start if n in DERIVATIVES[1:]]
    known = {v + "'" * (k + 2): (block, i) for k, block in enumerate(blocks) for i, v in enumerate(system.v_names)}
    found = {block: start[block].copy() for block in blocks}
    if not isinstance(given, dict | None):
        raise ArgumentError("--levels: expected values by name, as in \"q1'''=2\", found a list.")
    for name, x in (given or {}).items():
        if name not in known and name.removesuffix("'") in system.v_names and "vdot" in start:
            raise ArgumentError(
                f"--levels: '{name}' is an acceleration; give it as --vdot \"{name.removesuffix(chr(39))}={x:g}\"."
            )
        if name not in known:
            what = ", ".join(known) if known else "no such derivatives, kineta(3) does"
            raise ArgumentError(f"--levels: {quantity} has no '{name}'; it takes {what}.{did_you_mean(name, known)}")
        block, i = known[name]
        found[block][i] = x
    return found


def _speeds(system: Any, option: str, given: Any) -> Any:
    """Return one number for each speed, zero by default, from a list or a mapping."""
    import numpy as np

    from kineta.model.name_inference import forced_speed

    if isinstance(given, dict):
        values = np.zeros(system.nv)
        for name, x in given.items():
            try:
                speed = forced_speed(system, name) if option == "--tau" or name in system.v_names else ""
            except ArgumentError as error:
                raise ArgumentError(f"{option}: m{str(error)[1:]}") from None
            if not speed:
                raise ArgumentError(
                    f"{option}: model '{system.name}' has no speed '{name}'.{did_you_mean(name, system.v_names)}"
                )
            values[system.v_names.index(speed)] = x
        return values
    return np.asarray(given, dtype=float)


def _without_gradient(
    equations: Equations, t: float, q: NDArray[Any], v: NDArray[Any], levels: Mapping[str, NDArray[Any]]
) -> str:
    """Return the first program without a gradient by its highest derivatives at the given *levels*; ``""`` if all have one."""
    from kineta.equations.function import parameter_values
    from kineta.mechanics.programs.dynamics import edges
    from kineta.mechanics.quantities import DERIVATIVES
    from kineta.model.reserved_symbols import TIME
    from kineta.passes.evaluate import evaluate

    system, d = equations.system, equations.alone()
    names = [TIME, *system.q_names, *system.v_names, *system.parameter_names]
    state = dict(zip(names, [t, *q.tolist(), *v.tolist(), *parameter_values(system).tolist()], strict=True))
    for k, own in enumerate(DERIVATIVES):
        rates = levels.get(own, 0 * v).tolist()
        state |= {name + "'" * (k + 1): x for name, x in zip(system.v_names, rates, strict=True)}
    found = (system.programs[k].name for k, edge in edges(d) if evaluate(d.graph, [edge], state)[0] == 0.0)
    return next(found, "")
