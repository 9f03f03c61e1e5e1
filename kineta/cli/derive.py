"""``kineta derive``: equations and operation counts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.options import FILE, Verb, json_, model, parameter, settings
from kineta.cli.values import Settings, echo, emit, print_json, read
from kineta.errors import ArgumentError
from kineta.results.ruled_table import ruled
from kineta.tasks import options as o

if TYPE_CHECKING:
    from kineta.equations.equations import Equations
    from kineta.expr.count import Operations
    from kineta.model.system import System

#: Most speeds for which quantities with an entry for each pair of speeds are counted unasked.
LARGE = 200


@click.command(
    cls=Verb,
    examples="""
    kineta derive double_pendulum.kin
    kineta derive double_pendulum.kin --quantity mass_matrix --latex
    kineta derive double_pendulum.kin --fix --set m2=0.5     numbers folded in
    kineta derive double_pendulum.kin --matrix               M q'' + h = tau
    kineta derive double_pendulum.kin --unforced             0 = M q'' + h
    kineta derive double_pendulum.kin --order l2,l1,m2       names as wanted
    kineta derive double_pendulum.kin --formalism appell --explain --save s.html
    """,
)
@model
@parameter(o.printed("equations"))
@click.option("--latex", is_flag=True, help="Print the equations as LaTeX.")
@click.option("--no-parts", is_flag=True, help="Write everything out, without named parts.")
@click.option("--matrix", is_flag=True, help="Print the equations of motion as matrices.")
@click.option("--unforced", is_flag=True, help="Leave out added forces: 0 in the place of tau.")
@click.option("--order", metavar="NAME,...", help="Names that stand first among those of their kind, in this order.")
@click.option("--rising", is_flag=True, help="Begin sums with positions, and end them with accelerations.")
@click.option("--explain", is_flag=True, help="Tell the derivation step by step, as Markdown.")
@click.option("--save", type=FILE, metavar="FILE", help="Write what --explain tells to a .md, .tex or .html file.")
@click.option("--fix", is_flag=True, help="Fold the values of all parameters into the equations.")
@settings
@parameter(o.FORMALISM)
@parameter(o.STRATEGY)
@json_
def derive(
    model: Path,
    quantity: str,
    latex: bool,
    no_parts: bool,
    matrix: bool,
    unforced: bool,
    order: str | None,
    rising: bool,
    explain: bool,
    save: Path | None,
    fix: bool,
    settings: Settings,
    formalism: str,
    strategy: str,
    as_json: bool,
) -> None:
    """Print the equations of motion, and count their operations."""
    from kineta.mechanics.quantities import CONTROLLED
    from kineta.tasks.ignored_features import warn_ignored

    _check(click.get_current_context().params)
    began = time.perf_counter()
    system = read(model, settings)
    whole = quantity == "equations" or ((explain or matrix) and quantity == "inverse")
    held = whole or quantity.partition("(")[0].strip() in CONTROLLED
    warn_ignored(system, "what is derived", whole=True, known=("programs",) if held else ())
    system = system.fixed() if fix else system
    names = [n.strip() for n in order.split(",")] if order is not None else []
    if explain:
        form = "json" if as_json else "latex" if latex else "markdown"
        _explain(system, (formalism, strategy), quantity, save, form, order=names, rising=rising)
        return
    t_read = time.perf_counter() - began
    from kineta.equations.equations import derive as derive_equations
    from kineta.equations.formulas import aligned
    from kineta.mechanics.quantities import COUNTED, SQUARE, nothing

    began = time.perf_counter()
    equations = derive_equations(system, formalism, strategy=strategy).settled()
    large = system.nv > LARGE
    counted = [q for q in COUNTED if q == quantity or not (large and q in SQUARE)]
    counts = {q: equations.operations(q) for q in counted}
    t_derive = time.perf_counter() - began
    made: Any = equations.matrix_form if matrix and whole else partial(equations.printed, quantity)
    shape: Any = made(unforced=unforced)
    if matrix and not whole:
        from kineta.equations.quantity_matrix import quantity_matrix

        shape = quantity_matrix(shape)
    lines = (shape.latex if latex else shape.text)(parts=not no_parts, order=names, rising=rising)
    shown = lines.splitlines() if matrix else list(lines)
    matrices = shape.as_dict(parts=not no_parts, order=names, rising=rising, typeset=latex) if matrix else {}
    began = time.perf_counter()
    if as_json:
        _compile(equations)
    seconds = {"read": t_read, "derive": t_derive, "compile": time.perf_counter() - began}
    if as_json:
        print_json(
            {
                "model": system.name,
                "formalism": formalism,
                "strategy": equations.strategy,
                "coordinates": list(system.q_names[: system.nq - system.nz]),
                "states": list(system.state_names),
                "speeds": list(system.v_names),
                "parameters": list(system.parameter_names),
                "operations": {q: c.as_dict() for q, c in counts.items()},
                "quantity": quantity,
                "equations": shown,
                **({"matrices": matrices} if matrix else {}),
                "reading_cost": None if matrix else shape.reading_cost(parts=not no_parts),
                "seconds": seconds,
            }
        )
    elif latex:
        emit("\n".join(["\\[", *shown, "\\]"]) if matrix else aligned(shown, "align*"))
    else:
        emit("\n".join(shown) or nothing(system, quantity), err=not shown)
        for line in _operations(equations, counts, seconds):
            echo(line, err=True)
        if len(counted) < len(COUNTED):
            left = ", ".join(q for q in COUNTED if q not in counted)
            emit(f"Not counted: {left}, with more than {LARGE} speeds only if asked for by --quantity.", err=True)
        if system.constraints and not system.quasi:
            emit(
                f"The reactions by the strategy '{equations.strategy}': --quantity multipliers, reaction_forces.",
                err=True,
            )


#: Options that exclude each other.
_APART = (
    ("--explain", "--matrix"),
    ("--explain", "--no-parts"),
    ("--explain", "--unforced"),
    ("--save", "--json"),
    ("--save", "--latex"),
)


def _check(given: Mapping[str, Any]) -> None:
    """Raise :class:`ArgumentError` for options that exclude each other."""
    options = {"--json": given["as_json"]}
    options |= {
        f"--{n}": given[n.replace("-", "_")] for n in ("explain", "matrix", "no-parts", "unforced", "latex", "save")
    }
    for one, other in _APART:
        if options[one] and options[other]:
            raise ArgumentError(f"Expected {one} or {other}, found both; leave one out.")
    if given["save"] is not None:
        if not given["explain"]:
            raise ArgumentError("--save writes what --explain tells; add --explain.")
        from kineta.equations.derivation_report import check_form

        check_form(given["save"])
    if given["unforced"] and given["quantity"] != "equations":
        raise ArgumentError(f"--unforced is for the equations of motion; leave out --quantity {given['quantity']}.")


def _explain(
    system: System,
    by: tuple[str, str],
    quantity: str,
    save: Path | None,
    form: str,
    *,
    order: Sequence[str],
    rising: bool,
) -> None:
    """Print the account of the derivation, or write it to the file *save*."""
    from kineta.equations.equations import derive as derive_equations

    account = (
        derive_equations(system, by[0], strategy=by[1])
        .settled()
        .account("inverse" if quantity == "equations" else quantity, order=order, rising=rising)
    )
    if save is not None:
        account.save(save)
        emit(f"{save}: {len(account.steps)} steps")
    elif form == "json":
        print_json(account.as_dict())
    else:
        emit(account.latex() if form == "latex" else account.markdown(), nl=False)


def _compile(equations: Equations) -> None:
    """Compile forward dynamics for one state."""
    _ = equations.function("forward").address


def _operations(equations: Equations, counts: dict[str, Operations], seconds: dict[str, float]) -> list[str]:
    """Return a table of the operation counts of quantities, and the times."""
    rows = ((counted, *(str(x) for x in c.as_dict().values())) for counted, c in counts.items())
    return [
        f"Operations of '{equations.system.name}' by {equations.formalism}",
        *ruled(("quantity", "add", "mul", "div", "sqrt", "trig", "hoisted"), *rows),
        f"read in {seconds['read'] * 1e3:.0f} ms, derived in {seconds['derive'] * 1e3:.0f} ms",
    ]
