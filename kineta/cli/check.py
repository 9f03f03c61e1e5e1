"""``kineta check``: the parts of a model as they were read, and the laws of mechanics in its initial state."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import inf, isfinite, nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta import tolerances
from kineta.cli.options import FILE, Verb, json_, model, settings
from kineta.cli.task_verbs import check_target
from kineta.cli.values import CHECK_FAILED, Settings, echo, print_json, read
from kineta.errors import ExpressionError
from kineta.model.reserved_symbols import MULTIPLIER, owner
from kineta.tasks.options import MACHINE

if TYPE_CHECKING:
    from kineta.equations.equations import Equations
    from kineta.equations.written_start import WrittenStart
    from kineta.model.system import System

#: The name of the first check.
_DEFINITE = "mass matrix is positive definite"
#: Links of a chain from which on its least eigenvalue, which falls with their cube, may be a rounding error of the whole matrix.
#: It is none of forward dynamics, whose errors are those of single links.
_LONG = 1000


@click.command(
    cls=Verb,
    examples="""
    kineta check double_pendulum.kin
    kineta check double_pendulum.kin --set "l2=30 cm" --json
    """,
)
@model
@settings
@click.option("--plot", type=FILE, metavar="FILE", help="Write a picture of the machine (.png, .svg, .pdf).")
@json_
def check(model: Path, settings: Settings, plot: Path | None, as_json: bool) -> None:
    """Show how a model was read, and check its laws.

    The laws of mechanics are checked in the initial state; a check that fails ends with 2.
    """
    began = time.perf_counter()
    if plot is not None:
        check_target(MACHINE, plot)
    system = read(model, settings)
    check_multipliers(system)
    findings = laws(system)
    summary = {**described(system), "notes": notes(system), "checks": findings}
    summary["seconds"] = time.perf_counter() - began
    if as_json:
        print_json(summary)
    else:
        _print(summary)
    if plot is not None:
        _draw(system, plot)
        if not as_json:
            echo(f"written: {plot}")
    if any(not f["passed"] for f in findings):
        raise SystemExit(CHECK_FAILED)


def _draw(system: System, path: Path) -> None:
    """Draw the machine as its initial values put it, whether or not constraints are met."""
    from kineta.tasks.posture import posture
    from kineta.views import save

    save(posture(system, assembled=False), path)


def described(system: System) -> dict[str, Any]:
    """Return the parts of a model by name."""
    from kineta.model.name_inference import derivative_order

    return {
        "model": system.name,
        "bodies": [b.name for b in system.bodies],
        "coordinates": [n for n in system.q_names if n not in system.state_names],
        "inferred": system.inferred,
        "speeds": list(system.v_names),
        "states": {own.name: own.unit for own in system.states},
        "freedom": freedom(system),
        "constraints": [c.name for c in system.constraints],
        "contacts": {c.name: type(c).__name__ for c in system.contacts},
        "places": places(system),
        "contact_laws": contact_laws(system),
        "switches": [s.name for s in system.switches],
        "programs": {p.name: derivative_order(system, p.value) for p in system.programs},
        "law": system.control.law if system.programs else None,
        "parameters": {p.name: p.value for p in system.parameters},
        "taken": dict(system.taken),
        "lets": {let.name: str(let.value) for let in system.lets},
        "elements": {e.name: type(e).__name__ for e in system.elements},
        "outputs": [o.name for o in system.outputs],
    }


def places(system: System) -> dict[str, list[str]]:
    """Return the names of the points and bodies of each contact; unnamed ones have numbers."""
    from kineta.model.constraints import placement
    from kineta.model.contacts.contact import Contact
    from kineta.model.contacts.mutual_contact import MutualContact

    found = {c.name: list(placement.names(system, c.name, c.starts)) for c in system.contacts if isinstance(c, Contact)}
    return found | {c.name: list(c.owners) for c in system.contacts if isinstance(c, MutualContact)}


def freedom(system: System) -> int:
    """Return the degrees of freedom: the speeds less the rank of the constraints."""
    if system.quasi or not system.constraints:
        return system.nv
    from kineta.equations.equations import equations_of
    from kineta.tasks import mobility as counted

    return counted.freedom(equations_of(system))


def notes(system: System) -> list[str]:
    """Return remarks: unused names, values that are hardly meant, and redundant constraints of a consistent start."""
    from kineta.model.checks.doubtful_values import doubtful_values
    from kineta.model.checks.unused_names import unused_declarations

    doubtful = [*unused_declarations(system), *without_effect(system), *doubtful_values(system)]
    if not system.constraints or any(p.value is None for p in system.parameters):
        return doubtful
    from kineta.equations.written_start import written_start

    if written_start(system).regular:
        return doubtful
    # Lazy, here and below: what is regular needs no NumPy.
    from kineta.consistency.consistent_start import consistent, start_violation

    at = _arrays(system)
    return doubtful if start_violation(*at) else [*doubtful, *consistent(*at, reach=0.0).notes]


def _arrays(system: System) -> tuple[Equations, float, Any, Any, Any]:
    """Equations, time, initial state and parameters of *system*, as arrays."""
    from kineta.equations.equations import equations_of
    from kineta.equations.function import parameter_values
    from kineta.equations.initial_values import initial_state

    return equations_of(system), 0.0, *initial_state(system), parameter_values(system)


def without_effect(system: System) -> list[str]:
    """Return sentences on inertial parameters without influence on any force."""
    from kineta.equations.equations import equations_of
    from kineta.equations.written_start import WrittenStart
    from kineta.mechanics.constraints.structural_rank import random_state
    from kineta.model.name_inference import expressions

    plain = system.expanded
    values = {p.name: p.value for p in system.parameters if not p.fixed and p.value is not None}
    bare = [x for b in plain.bodies for x in (b.inertia.mass, *b.inertia.com, *b.inertia.moments, *b.inertia.products)]
    elsewhere = {n for e in {*expressions(plain)} - {*bare} for n in e.symbols()}
    names = [n for n in plain.weighed if n in values and n not in elsewhere]
    if not names or not system.nv or len(values) < len(system.parameter_names):
        return []
    equations = equations_of(system)
    at = random_state(system, equations.alone().graph, (), 0)
    q, v = ([at[n] for n in own] for own in (system.q_names, system.v_names))

    def force(changed: Mapping[str, float]) -> list[float]:
        """Forces of an arbitrary motion for the parameters of the model and *changed* ones."""
        state = WrittenStart(system, q, v, [*{**values, **changed}.values()], 0.7)
        return state.values(equations, "inverse", _spread(1.0, 2.0, system.nv))

    tau = force({})
    least = tolerances.ROUNDING_TOLERANCE * max(map(abs, tau)) if all(map(isfinite, tau)) else -inf
    return [
        f"Parameter '{n}': it stands in inertia that the motions of the model never bring into play."
        for n in names
        if all(abs(x - y) <= least for x, y in zip(force({n: values[n] * 1.01 + (not values[n])}), tau, strict=True))
    ]


def _spread(first: float, last: float, n: int) -> list[float]:
    """*n* numbers from *first* to *last*, at equal distances."""
    return [first + (last - first) * k / max(1, n - 1) for k in range(n)]


def check_multipliers(system: System) -> None:
    """Raise :class:`ModelError` for an expression with a multiplier ``lambda.E.x`` of a component that the constraint E lacks."""
    from kineta.model.name_inference import expressions

    constraints = {f"{MULTIPLIER}{c.name}" for c in system.constraints}
    asked = {
        e: {n for n in e.symbols() if owner(n, constraints)[0] in constraints} for e in expressions(system.expanded)
    }
    if not any(asked.values()):
        return
    from kineta.equations.equations import equations_of

    d = equations_of(system).alone()
    known = {f"{MULTIPLIER}{row.constraint}" for row in d.constraint_rows}
    d.expression(*(e for e, names in asked.items() if names - known))


def laws(system: System) -> list[dict[str, Any]]:
    """Return the checks in the initial state; none for a parameter without value, and none for a model without speeds."""
    from kineta.equations.equations import equations_of

    if any(p.value is None for p in system.parameters) or not system.nv:
        return []
    return _worst([found for own, start in _parts(equations_of(system)) for found in _of_part(own, start)])


def _parts(equations: Equations) -> Iterator[tuple[Equations, WrittenStart]]:
    """Yield equations and start of the model, or of each component of a large one, of those that are alike with the equations of
    the first, and only once for each start.
    """
    from kineta.equations.equations import part_of
    from kineta.equations.written_start import WrittenStart, written_start
    from kineta.numerics.plain_matrices import LARGE

    system = equations.system
    components: tuple[System, ...] = (system,)
    if system.nv > LARGE and not system.programs:  # which distribute controls over all actuators
        from kineta.model.transformations.components import Components

        components = Components(system).systems
    if len(components) == 1:
        yield equations, written_start(system)
        return
    from kineta.model.transformations.isomorphism import isomorphisms

    seen = set[tuple[Any, ...]]()
    firsts: dict[int, Equations] = {}
    for own in isomorphisms(components):
        start = written_start(own.system)
        values = own.first, *start.q, *start.v, *start.p
        first = firsts.setdefault(own.first, part_of(equations, own.system))
        if not start.regular:
            yield part_of(equations, own.system), start
        elif values not in seen:
            seen.add(values)
            yield first, WrittenStart(first.system, start.q, start.v, start.p)


def _worst(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the most critical finding of each check: one that fails, or the one nearest to failing."""
    worst: dict[str, dict[str, Any]] = {}
    for finding in findings:
        known = worst.setdefault(finding["name"], finding)
        nearer = (
            finding["value"] < known["value"] if finding["name"] == _DEFINITE else finding["value"] > known["value"]
        )
        if known["passed"] and (nearer or not finding["passed"]):
            worst[finding["name"]] = finding
    return list(worst.values())


def _of_part(equations: Equations, start: WrittenStart) -> Iterator[dict[str, Any]]:
    """Yield the checks of the system of *equations* at *start*."""
    independent = equations
    if not start.regular:
        from kineta.consistency.consistent_start import consistent

        independent = consistent(*_arrays(equations.system), reach=0.0).equations.settled()
    if equations.system.programs:
        _controlled(independent)
    yield from _of_mass(start, equations, independent)


def _controlled(equations: Equations) -> None:
    """Raise :class:`ModelError` for programs and actuators without a law of control."""
    from kineta.mechanics.programs.dynamics import controlled, law

    d = controlled(equations.alone(watched=True))
    law(d)
    _ = d["transversal"]


def _of_mass(start: WrittenStart, equations: Equations, independent: Equations) -> Iterator[dict[str, Any]]:
    """Yield the checks of the mass matrix of *equations* at *start*, then those of the *independent* ones."""
    size = _inertia_bounds(equations, start)
    ends = _ends_of_spectrum(equations, start, size)
    if ends is not None and ends[0] > tolerances.ROUNDING_TOLERANCE * min(1.0, (_LONG / len(size)) ** 3):
        yield _definite(ends[0])
        yield _inverse(independent, start, [sqrt(x) for x in size], ends)
        return
    M = _mass_matrix(equations, start)
    if not all(map(isfinite, chain(size, *M))):  # or where quasi-velocities depend on each other
        yield _definite(nan, f"it is not finite: {_why(equations)}")
        return
    smallest = _eigenvalues(M, [sqrt(x) if x > 0 else 1.0 for x in size])[0]
    if smallest > tolerances.ROUNDING_TOLERANCE:
        yield _definite(smallest)
        scale = [sqrt(row[k]) for k, row in enumerate(M)]
        sizes = _eigenvalues(M, scale)
        yield _inverse(independent, start, scale, (sizes[0], sizes[-1]), M)
        if equations.system.constraints:
            yield _met(start)
        return
    import numpy as np

    from kineta.runtime.mass_matrix_rank import least_inertia, massless_motion_text, scaling_warning

    _, motion = least_inertia(np.array(M), np.array(size))
    yield _definite(smallest, massless_motion_text(equations.system.v_names, motion, scaling_warning(equations.system)))


def _ends_of_spectrum(equations: Equations, start: WrittenStart, size: Sequence[float]) -> tuple[float, float] | None:
    """Return the smallest and the largest eigenvalue of the mass matrix of a long tree, in units of *size*."""
    from kineta.numerics.plain_matrices import LARGE

    if equations.system.nv <= LARGE or not all(map(isfinite, size)):
        return None
    from kineta.runtime.mass_matrix_rank import ends_of_spectrum

    return ends_of_spectrum(equations, start.q, start.p, size)


def _mass_matrix(equations: Equations, start: WrittenStart) -> list[list[float]]:
    """Return the rows of the mass matrix."""
    from kineta.numerics.plain_matrices import LARGE, shaped

    n = equations.system.nv
    if n <= LARGE:
        return shaped(start.values(equations, "mass_matrix"), n)
    from kineta.runtime.mass_matrix_rank import mass_matrix

    return mass_matrix(equations, 0.0, start.q, start.v).tolist()  # type: ignore[no-any-return]  # of an array


def _inertia_bounds(equations: Equations, start: WrittenStart) -> list[float]:
    """Return upper bounds of the inertia of each speed."""
    from kineta.mechanics.algorithms.rounding_bounds import speed_bounds
    from kineta.passes.evaluate import evaluate

    d = equations.alone()
    try:
        return evaluate(d.graph, speed_bounds(d.mechanism), start.state)
    except ExpressionError:
        return [nan]


def _eigenvalues(M: Sequence[Sequence[float]], scale: Sequence[float]) -> list[float]:
    """Return the eigenvalues of *M*, in rising order, in units of *scale* of the speeds."""
    from kineta.numerics.plain_matrices import LARGE, symmetric_eigenvalues

    A = [[x / (a * b) for x, b in zip(row, scale, strict=True)] for row, a in zip(M, scale, strict=True)]
    if len(A) <= LARGE:
        return symmetric_eigenvalues(A, what="the least inertia")
    from kineta.numerics.linear_algebra import eigvalsh

    return eigvalsh(A, what="the least inertia").tolist()  # type: ignore[no-any-return]  # of an array


def _solved(M: Sequence[Sequence[float]], b: list[float]) -> list[float]:
    """Return the solution x of M x = b."""
    from kineta.numerics import plain_matrices

    what = "the accelerations by reactions"
    if len(M) <= plain_matrices.LARGE:
        return plain_matrices.solve_positive(plain_matrices.cholesky(M, what=what), b)
    from kineta.numerics.linear_algebra import solve_positive

    return solve_positive(M, b, what=what).tolist()  # type: ignore[no-any-return]  # of an array


def _definite(smallest: float, fault: str = "") -> dict[str, Any]:
    return _finding(_DEFINITE, "smallest scaled eigenvalue", smallest, fault)


def _inverse(
    equations: Equations,
    start: WrittenStart,
    scale: Sequence[float],
    ends: tuple[float, float],
    M: Sequence[Sequence[float]] = (),
) -> dict[str, Any]:
    """Return the check that forward dynamics invert inverse dynamics.

    The *scale* of the speeds scales both, so that units do not count. Rounding errors grow with the condition number of the
    scaled matrix, from the *ends* of its spectrum, and with the forces, by which the error is divided. The mass matrix *M* is
    that of a system with constraints.
    """
    vdot = [x / s for x, s in zip(_spread(-1.0, 1.0, len(scale)), scale, strict=True)]
    tau = start.values(equations, "inverse", vdot)
    back = start.values(equations, "forward", tau)
    pushed = [0.0] * len(scale)
    if equations.system.constraints and not equations.system.quasi:
        # Reactions change the accelerations, not the balance.
        pushed = start.values(equations, "reaction_forces", tau)
    error, fault = nan, ""
    if not all(map(isfinite, (*tau, *back, *pushed))):
        from kineta.runtime.mass_matrix_rank import SINGULAR

        why = _why(equations)
        fault = why if why.startswith(SINGULAR) else f"a force is not finite: {why}"
    else:
        by_reactions = pushed
        if any(pushed):
            by_reactions = _solved(M, pushed)
        size = max(1.0, *(abs(x / s) for x, s in zip(tau, scale, strict=True))) * ends[1] / ends[0]
        far = (abs((x - a - b) * s) for x, a, b, s in zip(back, vdot, by_reactions, scale, strict=True))
        error = max(far) / size
        fault = "" if error < tolerances.ROUNDING_TOLERANCE else "they contradict each other; please report the model"
    return _finding("forward dynamics undo inverse dynamics", "relative error over condition number", error, fault)


def _why(equations: Equations) -> str:
    """Return the reason for infinite numbers at the start."""
    from kineta.runtime.mass_matrix_rank import why_infinite

    _, *state = _arrays(equations.system)
    return why_infinite(equations, *state)


def _met(start: WrittenStart) -> dict[str, Any]:
    """Return the check that the start meets the constraints."""
    fault, residual = "", start.residual
    if residual is None:
        from kineta.consistency.consistent_start import largest_violation, start_violation
        from kineta.consistency.constraints import NumericConstraints

        equations, t, q, v, p = _arrays(start.system)
        fault = start_violation(equations, t, q, v, p).partition(": ")[2].rstrip(".")
        _, residual = largest_violation(NumericConstraints(equations, p), t, q, v)
    return _finding("the start meets the constraints", "largest residual", abs(residual), fault)


def _finding(name: str, measure: str, value: float, fault: str) -> dict[str, Any]:
    return {"name": name, "measure": measure, "value": value, "passed": not fault, "fault": fault}


def _print(summary: dict[str, Any]) -> None:
    bodies, speeds = len(summary["bodies"]), summary["freedom"]
    echo(
        f"{summary['model']}: {bodies} {'body' if bodies == 1 else 'bodies'}, "
        f"{speeds} {'degree' if speeds == 1 else 'degrees'} of freedom",
        bold=True,
    )
    if not summary["speeds"]:
        echo("  nothing moves: no motion names a coordinate. Name one q1, or list it: coordinates ...")
    parameters = {n: n if x is None else f"{n} = {x:g}" for n, x in summary["parameters"].items()}
    lines = {
        "bodies": ", ".join(summary["bodies"]),
        "coordinates": _by_rule({n: n for n in summary["coordinates"]}, summary["taken"]),
        "speeds": ", ".join(summary["speeds"]) if summary["constraints"] else "",
        "constraints": ", ".join(summary["constraints"]),
        **_acting_in_runs(summary),
        "programs": ", ".join(f"{n} (order {k})" for n, k in summary["programs"].items()),
        "law of control": summary["law"],
        "states": ", ".join(f"{n} [{unit}]" if unit else n for n, unit in summary["states"].items()),
        "named expressions": ", ".join(summary["lets"]),
        "laws of contact": ", ".join(f"{n} ({law})" for n, law in summary["contact_laws"].items()),
        "elements": ", ".join(summary["elements"]),
        "outputs": ", ".join(summary["outputs"]),
        "parameters": _by_rule(parameters, summary["taken"]),
    }
    for label, line in lines.items():
        if line:
            echo(f"  {label}: {line}")
    for note in summary["notes"]:
        echo(f"  {note}")
    for finding in summary["checks"]:
        mark, colour = ("ok", "green") if finding["passed"] else ("FAILED", "red")
        fault = f": {finding['fault']}." if finding["fault"] else ""
        echo(f"  {mark}: {finding['name']} ({finding['measure']} {finding['value']:.2g}){fault}", fg=colour)
    missing = [n for n, x in summary["parameters"].items() if x is None]
    if missing:
        echo(f"  not checked against the laws: without values for {', '.join(missing)}")


def contact_laws(system: System) -> dict[str, str]:
    """Return the law of each contact by name."""
    from kineta.model.contacts.contact import Contact
    from kineta.model.contacts.mutual_contact import MutualContact
    from kineta.model.elements.compliant_contact import CompliantContact

    kinds = Contact | MutualContact
    hard = {c.name: "poisson" if c.poisson else "newton" for c in system.contacts if isinstance(c, kinds)}
    return hard | {e.name: e.law for e in system.elements if isinstance(e, CompliantContact)}


def _acting_in_runs(summary: dict[str, Any]) -> dict[str, str]:
    """Return lines on contacts with the numbers of their places, on limits, dry friction and switches."""
    many = {n: f"{n} ({len(own)} places)" for n, own in summary["places"].items() if len(own) > 1}
    found: dict[str, list[str]] = {"Contact": [], "Limit": [], "Friction": []}
    for name, kind in summary["contacts"].items():
        mutual = f"{name} ({len(summary['places'].get(name, ()))} among each other)"
        found["Contact" if kind == "MutualContact" else kind].append(
            mutual if kind == "MutualContact" else many.get(name, name)
        )
    labels = ("contacts", "limits", "dry friction")
    lines = {label: ", ".join(names) for label, names in zip(labels, found.values(), strict=True)}
    return lines | {"switches": ", ".join(summary["switches"])}


def _by_rule(shown: dict[str, str], taken: dict[str, str]) -> str:
    """Return the *shown* names in groups, each with the rule of inference in *taken*."""
    groups: dict[str, list[str]] = {}
    for name, text in shown.items():
        groups.setdefault(taken.get(name) or taken[owner(name, taken)[0]], []).append(text)
    return "; ".join(f"{', '.join(texts)} ({rule})" for rule, texts in groups.items())
