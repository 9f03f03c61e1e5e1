"""``kineta linearize``: a system near a state, as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.options import Verb, at_equilibrium, going_on, json_, model, names, seconds, settings, state
from kineta.cli.values import Settings, numbers, print_json, read, with_values
from kineta.errors import ArgumentError

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.tasks.linear.linear_system import Linear


@click.command(
    cls=Verb,
    examples="""
    kineta linearize double_pendulum.kin
    kineta linearize double_pendulum.kin --q q1=0,q2=0 --input "q1'" --output q2
    kineta linearize fourbar.kin --state beta --json
    """,
)
@model
@state("q", "Coordinates about which")
@state("v", "Speeds about which")
@state("tau", "Constant forces on the speeds")
@at_equilibrium
@going_on
@click.option("--at", type=seconds, default=0.0, show_default=True, metavar="TIME", help="The time, for drives.")
@click.option("--input", "inputs", metavar="NAME,...", help="Speeds, for the forces on them, and parameters.")
@click.option("--output", "outputs", metavar="NAME,...", help="Outputs, coordinates, speeds, and what else is known.")
@click.option("--state", "states", metavar="NAME,...", help="The states to keep.")
@click.option("--formulas", is_flag=True, help="Print the entries as expressions in the parameters.")
@settings
@json_
def linearize(
    model: Path,
    q: str | None,
    v: str | None,
    tau: str | None,
    rest: bool,
    steady: str,
    at: float,
    inputs: str | None,
    outputs: str | None,
    states: str | None,
    settings: Settings,
    formulas: bool,
    as_json: bool,
) -> None:
    """Linearise a system about a state.

    The matrices of x' = A x + B u, y = C x + D u for small changes, with the names of states, inputs and outputs.
    """
    from kineta.tasks.linear.linearize import linearize as find

    system = with_values(read(model, settings))
    about = chosen(system, q, v, rest=rest, steady=names(steady))
    given = {"inputs": inputs, "outputs": outputs, "states": states}
    if formulas:
        _write_out(system, about, {**given, "--tau": tau}, at, as_json=as_json)
        return
    found = find(
        system,
        about,
        t=at,
        tau=numbers("--tau", tau, system) or None,
        **{option: None if text is None else names(text) for option, text in given.items()},
    )
    if as_json:
        print_json(data(found))
        return
    for letter, rows, columns in (
        ("A", found.states, found.states),
        ("B", found.states, found.inputs),
        ("C", found.outputs, found.states),
        ("D", found.outputs, found.inputs),
    ):
        if rows and columns:
            click.echo("\n".join(_table(letter, rows, columns, getattr(found, letter))))
    if not found.states:
        click.echo(f"Model '{system.name}': nothing in it can move, so that it has no states.")
    else:
        click.echo("eigenvalues: " + ", ".join(map(_complex, found.eigenvalues.tolist())))


def _write_out(
    system: System, about: dict[str, float], given: dict[str, str | None], at: float, *, as_json: bool
) -> None:
    """The entries as expressions."""
    from kineta.tasks.linear.symbolic_matrices import linear_formulas

    if given["states"] is not None or given["--tau"] is not None or at:
        raise ArgumentError("--formulas: expected no --state, --tau or --at beside it.")
    asked = {n: names(text) for n in ("inputs", "outputs") if (text := given[n]) is not None}
    found = linear_formulas(system, about, inputs=asked.get("inputs"), outputs=asked.get("outputs"))
    lines = found.text().splitlines()
    if as_json:
        print_json(
            {"model": system.name, "states": list(found.states), "inputs": list(found.inputs), "formulas": lines}
        )
        return
    click.echo("\n".join(lines))


def chosen(system: System, q: str | None, v: str | None, *, rest: bool, steady: Sequence[str]) -> dict[str, float]:
    """The state that ``--q`` and ``--v`` name, or the position of *rest*, or *steady* motion, that is nearest to it."""
    parts = ((system.q_names, numbers("--q", q, system)), (system.v_names, numbers("--v", v, system)))
    about: dict[str, float] = {}
    for known, given in parts:
        about |= given if isinstance(given, dict) else dict(zip(known, given or (), strict=False))
    if not (rest or steady):
        return about
    if v is not None and not steady:
        raise ArgumentError("--v: at rest there are no speeds; leave out --v or --equilibrium.")
    from kineta.tasks.equilibria.equilibrium import equilibrium

    q0, v0 = ({n: x for n, x in about.items() if n in known} for known in (system.q_names, system.v_names))
    return equilibrium(system, q0, v0, steady=steady).initial


def _complex(x: complex) -> str:
    """A complex number, without a part that is but the rounding of the other."""
    real, imag = (0.0 if abs(part) < 1e-12 * abs(x) else part for part in (x.real, x.imag))
    return f"{real:.6g}{imag:+.6g}j" if real and imag else f"{imag:.6g}j" if imag else f"{real:.6g}"


def _table(letter: str, rows: Sequence[str], columns: Sequence[str], M: Any) -> list[str]:
    cells = [[letter, *columns]]
    cells += [[name, *(f"{x + 0.0:.6g}" for x in row)] for name, row in zip(rows, M, strict=True)]
    first, *rest = (max(len(row[k]) for row in cells) for k in range(len(cells[0])))
    return ["  ".join([row[0].ljust(first), *map(str.rjust, row[1:], rest)]) for row in cells]


def data(found: Linear) -> dict[str, Any]:
    """A linearisation as plain data."""
    matrices = {letter: getattr(found, letter).tolist() for letter in "ABCD"}
    return {
        "model": found.model,
        "states": list(found.states),
        "inputs": list(found.inputs),
        "outputs": list(found.outputs),
        **matrices,
        "rate": found.rate.tolist(),
        "eigenvalues": [[x.real, x.imag] for x in found.eigenvalues.tolist()],
    }
