"""``kineta equilibrium``: positions of rest and steady motions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.options import FILE, Verb, json_, model, names, settings, state, whole
from kineta.cli.values import CHECK_FAILED, Settings, number_of, numbers, print_json, read, with_values
from kineta.errors import ArgumentError
from kineta.model.reserved_symbols import MULTIPLIER

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.tasks.equilibria.branches import Family
    from kineta.tasks.equilibria.equilibrium import Equilibrium

#: Coordinates of the largest stiffness that is printed.
WIDEST = 8


@click.command(
    cls=Verb,
    examples="""
    kineta equilibrium double_pendulum.kin
    kineta equilibrium double_pendulum.kin --starts 20
    kineta equilibrium fourbar.kin --along mc=5
    """,
)
@model
@state("q", "A guess of coordinates")
@state("v", "Speeds that go on")
@click.option("--steady", default="", metavar="NAME,...", help="Speeds that go on; the others are zero.")
@click.option("--free", default="", metavar="NAME,...", help="Those of them that are looked for as well.")
@click.option("--pin", default="", metavar="NAME,...", help="Coordinates that stay as they are.")
@click.option("--starts", type=whole(0, 10**6), metavar="N", help="Look from so many random positions too.")
@click.option("--points", type=whole(2, 10**6), metavar="N", help="Points of a branch at most; 400, if not given.")
@click.option("--along", metavar="NAME=VALUE", help="Follow it to this value of a parameter or steady speed.")
@click.option("--plot", type=FILE, metavar="FILE", help="A picture of the family: .png, .svg, .pdf, ...")
@settings
@json_
def equilibrium(
    model: Path,
    q: str | None,
    v: str | None,
    steady: str,
    free: str,
    pin: str,
    starts: int | None,
    points: int | None,
    along: str | None,
    plot: Path | None,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find where a mechanism rests, or moves steadily.

    The equilibrium nearest to the guess, or to the initial position, with its stability.
    """
    from kineta.tasks.equilibria.equilibrium import equilibria
    from kineta.tasks.equilibria.equilibrium import equilibrium as find

    system = with_values(read(model, settings))
    if plot is not None and along is None:
        raise ArgumentError("--plot: expected --along NAME=VALUE beside it; a picture shows a family.")
    if along is not None and starts is not None:
        raise ArgumentError("--starts: a family begins from one guess; leave out --starts or --along.")
    if points is not None and along is None:
        raise ArgumentError("--points: expected --along NAME=VALUE beside it; the points are those of a family.")
    given: dict[str, Any] = {"q": numbers("--q", q, system), "v": numbers("--v", v, system)}
    given |= {"steady": names(steady), "free": names(free), "pinned": names(pin)}
    if along is not None:
        _follow(system, along, plot, given if points is None else {**given, "points": points}, as_json=as_json)
        return
    found = (find(system, **given),) if starts is None else equilibria(system, starts=starts, **given)
    if as_json:
        print_json({"model": system.name, "equilibria": [_data(e) for e in found]})
        return
    if not system.nv:
        click.echo(f"Model '{system.name}': nothing in it can move, so that it rests as it is.")
        return
    for k, one in enumerate(found):
        click.echo(f"{k + 1}: {one.stability}" if len(found) > 1 else str(one.stability))
        for line in _lines(one):
            click.echo(f"  {line}")
    if len(found) == 1 and len(found[0].stiffness.names) <= WIDEST:
        for line in str(found[0].stiffness).splitlines():
            click.echo(f"  {line}")


def _follow(system: System, along: str, plot: Path | None, given: dict[str, Any], *, as_json: bool) -> None:
    from kineta.model.dimensions import known_dimensions
    from kineta.tasks.equilibria.branches import family

    name, end = number_of("--along", along, known_dimensions(system))
    found = family(system, name, end, **given)
    if plot is not None:
        from kineta.views.branches import figure

        figure(found, plot)
    if as_json:
        print_json(_of_family(found) | {"files": [str(plot)] if plot else []})
    else:
        _print_family(system, found)
        if plot is not None:
            click.echo(f"written: {plot}")
    if not found.reached:
        raise SystemExit(CHECK_FAILED)


def _print_family(system: System, found: Family) -> None:
    name = found.parameter
    click.echo(f"{found.model}: {len(found.branches)} branch{'es' * (len(found.branches) > 1)} along {name}")
    for branch in found.branches:
        a, b = branch.parameter[[0, -1]]
        click.echo(f"  {len(branch.parameter)} equilibria from {name} = {a:.6g} to {b:.6g}, {branch.verdict}")
    for point in found.special:
        place = ", ".join(f"{n} = {round(x, 9) + 0.0:.6g}" for n, x in zip(system.q_names, point.q, strict=True))
        click.echo(f"  {point.kind} at {name} = {point.parameter:.9g}: {place}")
    for note in found.notes:
        click.echo(f"  {note}")


def _lines(found: Equilibrium) -> list[str]:
    shown = {n: x for n, x in found.initial.items() if n in found.steady or not n.endswith("'")}
    lines = [", ".join(f"{n} = {round(x, 12) + 0.0:.9g}" for n, x in shown.items())]
    if found.multipliers:
        lines.append(", ".join(f"{MULTIPLIER}{n} = {x:.6g}" for n, x in found.multipliers.items()))
    if len(found.stability.omega_squared):
        lines.append("omega^2: " + ", ".join(f"{x:.6g}" for x in found.stability.omega_squared))
    return lines


def _data(found: Equilibrium) -> dict[str, Any]:
    return {
        "initial": found.initial,
        "stable": found.stable,
        "reason": found.stability.reason,
        "omega_squared": found.stability.omega_squared.tolist(),
        "stiffness": found.stiffness.as_dict(),
        "poles": [[s.real, s.imag] for s in found.stability.poles.tolist()],
        "multipliers": found.multipliers,
        "potential_energy": found.potential_energy,
        "residual": found.residual,
    }


def _of_family(found: Family) -> dict[str, Any]:
    branches = [
        {"parameter": b.parameter.tolist(), "stable": b.stable.tolist(), **{n: b[n].tolist() for n in b.names}}
        for b in found.branches
    ]
    special = [{"kind": s.kind, "parameter": s.parameter, "q": s.q.tolist()} for s in found.special]
    return {
        "model": found.model,
        "parameter": found.parameter,
        "branches": branches,
        "special": special,
        "notes": list(found.notes),
        "reached": found.reached,
    }
