"""Base parameters: the combinations of inertial parameters that forces depend on.

Forces are linear in the parameters pi of the bodies, tau = Y pi + forces of elements. Parameters of a link that its joint
transfers to the parent are regrouped by rules (L); numerically dependent columns of Y L^+ at all motions are
regrouped by E::

    tau = Y_b beta          beta = K pi = (E, B) L pi          Y_b = Y K^+

Forms are taken link by link outwards. In a closed system Y is projected onto the motions that constraints allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import islice
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.consistency.assembly_branch import AssemblyBranch
from kineta.consistency.consistent_state import consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import dependent_rows, find_redundancy
from kineta.drawing import listed
from kineta.equations.equations import Equations, equations_of, given_equations
from kineta.equations.formulas import kinds
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, ExpressionError, SimulationError, did_you_mean
from kineta.expr.graph import Graph, Ref
from kineta.mechanics.regressor import regrouped_parameters
from kineta.model.coercion import records
from kineta.model.system import System
from kineta.notation.printed_form import printed_form
from kineta.notation.text import TEXT
from kineta.numerics.linear_algebra import lstsq, norm, null_space, pinv
from kineta.passes.evaluate import evaluate
from kineta.passes.expand import expand
from kineta.records import dataclass
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.identification.regressor import parameter_names
from kineta.tasks.ignored_features import warn_ignored
from kineta.values import whole

#: What errors call what is computed here.
BASE, ALLOWED = "the base parameters", "the motions that constraints allow"
#: Rows of the regressor for every parameter, and the most motions drawn for each.
ROWS_PER_PARAMETER, MOTIONS_PER_PARAMETER = 3, 12
#: Consecutive random motions that may miss the constraints.
MAX_MISSES = 200
#: An innermost pair of brackets.
INNERMOST = re.compile(r"\([^()]*\)")


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a model.

    names : of all parameters, ``A.m A.mx A.my A.mz A.Ixx A.Ixy A.Iyy A.Ixz A.Iyz A.Izz`` of every body
    formulas : of the base parameters in these names; coefficients are numbers for the parameters of the model
    matrix : (b, n) K, base parameters from all; inverse : (n, b) K^+, the regressor of base parameters is Y K^+
    values : (b,) of the model
    known : names of parameters fixed at the values of the model, which enter no base parameter
    none : names of parameters that enter no force
    gap : least orthogonal part of an independent form, and largest of a dependent one
    """

    model: str
    names: tuple[str, ...]
    formulas: tuple[str, ...]
    matrix: FloatArray
    inverse: FloatArray
    values: FloatArray
    known: tuple[str, ...]
    none: tuple[str, ...]
    gap: tuple[float, float]
    equations: Equations = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.formulas)

    def lines(self) -> list[str]:
        """Return the values and formulas, and the parameters without influence, as text."""
        rows = zip(self.values.tolist(), self.formulas, strict=True)
        return [
            f"{self.model}: forces depend on {len(self)} of {len(self.names)} inertial parameters",
            *(f"{k:4}  {round(x, 12) + 0.0:<12.6g}  {formula}" for k, (x, formula) in enumerate(rows, 1)),
            *([f"in no force: {', '.join(self.none)}"] if self.none else []),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return names, formulas, values and matrix as plain data."""
        rows = zip(self.formulas, self.values.tolist(), strict=True)
        return {
            "model": self.model,
            "parameters": list(self.names),
            "base": [{"formula": f, "value": v} for f, v in rows],
            "matrix": self.matrix.tolist(),
            "none": list(self.none),
            "gap": list(self.gap),
        }

    def __repr__(self) -> str:
        return f"<BaseParameters of '{self.model}': {len(self)} of {len(self.names)} parameters>"

    _repr_html_ = listed


def base_parameters(
    system: System | Equations, p: Any = None, *, known: Iterable[str] = (), seed: int = 0
) -> BaseParameters:
    """Return the base parameters of *system* with the parameters *p*, from the rank of its regressor at random motions.

    known : bodies, or single parameters as ``Hand.m``, fixed at the values of the model; base parameters combine the others

    Motions of closed mechanisms stay on the assembly branch of the start. Raises :class:`ArgumentError` for names neither of
    bodies nor of parameters, and for parameters all known; :class:`SimulationError` without a consistent state near the start, or
    with a start near a fold where assembly branches meet.
    """
    equations = given_equations(system)
    model = equations.system
    values = parameters(model, p)
    if values.ndim > 1:
        raise ArgumentError(f"Expected one set of parameters, found p of shape {values.shape}.")
    warn_ignored(model, "the regressor")
    names = parameter_names(model)
    told = _forms(equations, values, len(names))
    rows = _rows(equations, values, len(names), whole("seed", seed, 0))
    L = np.array([[form.get(k, (0.0, ""))[0] for k in range(len(names))] for form in told]).reshape(
        len(told), len(names)
    )
    kept, B, gap = independent(rows @ pinv(L, what=BASE))
    K, held = B @ L, _fixed(model, names, known)
    if held.any():
        # Y = Y_b K at all motions: columns of K have the dependences of the columns of Y.
        told = [{k: (1.0, "1")} for k in range(len(names))]
        kept, K, gap = independent(np.where(held, 0.0, K))
    own = equations.function("inertial_parameters", "numpy")(0.0, *initial_state(model, p=values), p=values).ravel()
    used = np.abs(K).max(axis=0, initial=0.0) > tolerances.RANK_TOLERANCE
    return BaseParameters(
        model=model.name,
        names=names,
        formulas=tuple(_formula(names, told[k], row) for k, row in zip(kept, K, strict=True)),
        matrix=K,
        inverse=pinv(K, what=BASE),
        values=K @ own,
        known=tuple(n for n, x in zip(names, held.tolist(), strict=True) if x),
        none=tuple(n for n, x in zip(names, (used | held).tolist(), strict=True) if not x),
        gap=gap,
        equations=equations,
    )


def _fixed(system: System, names: Sequence[str], known: Iterable[str]) -> Mask:
    """Return the *known* parameters among *names*, a mask."""
    bodies = [b.name for b in system.bodies]
    held = np.zeros(len(names), dtype=bool)
    for name in records(known, str, "names of bodies and parameters", "'Hand'"):
        if name not in bodies and name not in names:
            near = did_you_mean(name, (*bodies, *names))
            raise ArgumentError(f"Model '{system.name}' has no body or inertial parameter '{name}'.{near}")
        held |= [n == name or n.rpartition(".")[0] == name for n in names]
    if held.all() and len(held):
        raise ArgumentError(f"Model '{system.name}': all bodies are known; leave out those that are to be found.")
    return held


#: Coefficients of a form by the place of the parameter: numbers, and texts.
Form = dict[int, tuple[float, str]]


def _forms(e: Equations, p: FloatArray, n: int) -> list[Form]:
    """Return the regrouped forms; every parameter by itself where forms have no values, as in motions driven by time."""
    d = e.alone()
    g, known = d.graph, dict(zip(e.system.parameter_names, p.tolist(), strict=True))
    found = []
    try:
        for form in regrouped_parameters(d):
            short = expand(g, list(form.values()))
            values = evaluate(g, short, known)
            found.append({k: (x, _written(e.system, g, ref, x)) for k, ref, x in zip(form, short, values, strict=True)})
    except ExpressionError:
        return [{k: (1.0, "1")} for k in range(n)]
    return found


def _written(system: System, g: Graph, ref: Ref, value: float) -> str:
    """Return a coefficient in the parameters of *system*, or as a number; a sum in brackets, and a minus in front alone."""
    if g.value(ref) is not None:
        return f"{value:.6g}"
    ((_, text),) = printed_form(g, [ref], ["x"], kinds(system), parts=False).lines(TEXT, ["x"])
    outside = text
    while outside != (outside := INNERMOST.sub("", outside)):
        pass
    return f"({text})" if " " in outside else text


def _formula(names: tuple[str, ...], form: Form, row: FloatArray) -> str:
    """Return the formula of a base parameter: its *form*, and the regrouped parameters of the *row* of all coefficients."""
    terms = []
    for k in sorted(np.flatnonzero(np.abs(row) > tolerances.RANK_TOLERANCE).tolist(), key=lambda k: (k not in form, k)):
        value, text = form.get(k, (0.0, ""))
        text = text if abs(value - row[k]) < tolerances.RANK_TOLERANCE else f"{row[k]:.6g}"
        minus, size = text.startswith("-"), text.removeprefix("-")
        terms.append((minus, size != "1", names[k] if size == "1" else f"{size} {names[k]}"))
    (minus, _, first), *rest = sorted(terms, key=lambda term: term[:2])
    return ("-" if minus else "") + first + "".join(f" {'-' if m else '+'} {term}" for m, _, term in rest)


# -- motions -----------------------------------------------------------------------------------------------------------


def _rows(e: Equations, p: FloatArray, n: int, seed: int) -> FloatArray:
    """Return rows of the regressor at random motions."""
    system, rng = e.system, np.random.default_rng(seed)
    Y, found, count = e.function("regressor").bind(p), [np.zeros((0, n))], 0
    held = bool(system.constraints) and not system.quasi
    for t, q, v, vdot, Z in islice(_held(e, p, rng) if held else _free(system, p, rng), MOTIONS_PER_PARAMETER * n):
        rows = Z.T @ Y(t, q, v, vdot)
        if np.isfinite(rows).all():
            found.append(rows)
            count += len(rows)
        if count >= ROWS_PER_PARAMETER * n or not Z.size:
            break
    return np.concatenate(found)


#: Time, coordinates, speeds, accelerations, and a basis (nv, k) of the free motions.
Motion = tuple[float, FloatArray, FloatArray, FloatArray, FloatArray]


def _free(system: System, p: FloatArray, rng: np.random.Generator) -> Iterator[Motion]:
    """Yield random motions of a system without constraint reactions."""
    constraints, (q, _) = NumericConstraints(equations_of(system), p), initial_state(system, p=p)
    while True:
        t = float(rng.uniform(0, 1))
        there = constraints.retract(t, q, rng.uniform(-np.pi, np.pi, len(system.base_speeds)))
        v, vdot = rng.uniform(-2, 2, (2, system.nv))
        yield t, there, v, vdot, np.eye(system.nv)


def _held(e: Equations, p: FloatArray, rng: np.random.Generator) -> Iterator[Motion]:
    """Yield random motions on the constraints, on the assembly branch of the start. Raises :class:`SimulationError` without a
    consistent state near the start.
    """
    system, constraints = e.system, NumericConstraints(e, p)
    start = consistent_state(constraints, 0.0, *initial_state(system, p=p))
    if not start.satisfied:
        raise SimulationError(
            f"Model '{system.name}': no state near the start meets {constraints.described(start.worst)}, so that its base "
            "parameters are not found. Give initial values near one that does."
        )
    found = find_redundancy(constraints, 0.0, (start.q, start.v))
    branch = AssemblyBranch(constraints, 0.0, start.q, start.v, found.left_out)
    near, state = tolerances.INDEPENDENCE_TOLERANCE, (start.q, start.v)
    if why := dependent_rows(constraints, branch.rows.tolist(), 0.0, state, found.states, near):
        raise SimulationError(
            f"Model '{system.name}': the start is singular: {why}, so that base parameters of one assembly are not told from "
            "those of another. Give initial values away from it, in the assembly that is meant."
        )
    lost = 0
    for t, q in branch.states(rng):
        v, vdot = rng.uniform(-2, 2, (2, system.nv))
        v = constraints.project_velocity(t, q, v)
        lost += 1
        if lost > MAX_MISSES:
            raise SimulationError(
                f"Model '{system.name}': none of {MAX_MISSES} motions in a row from the start keeps to the constraints. "
                "Bring its numbers to a common size, or give other initial values."
            )
        if constraints.satisfied(t, q, v):
            lost = 0
            A, _, rest = constraints.linearised(t, q, v)
            Z = null_space(A, what=ALLOWED, rcond=tolerances.RANK_TOLERANCE)
            yield t, q, v, Z @ (Z.T @ vdot) - lstsq(A, rest, what=ALLOWED, rcond=tolerances.RANK_TOLERANCE), Z


def independent(rows: FloatArray) -> tuple[list[int], FloatArray, tuple[float, float]]:
    """Return the first independent columns of *rows*; the matrix (b, n) of all in these; and the gap of the rank decision."""
    sizes = norm(rows, axis=0)
    largest = sizes.max(initial=0.0)
    kept, basis = list[int](), np.empty((len(rows), 0))
    least, most = 1.0, 0.0
    for k in range(rows.shape[1]):
        if sizes[k] <= tolerances.RANK_TOLERANCE * largest:
            most = max(most, float(sizes[k] / max(largest, tolerances.LEAST_DIVISOR)))
            continue
        column = rows[:, k] / sizes[k]
        for _ in range(2):  # Gram-Schmidt: twice is enough (Kahan)
            column = column - basis @ (basis.T @ column)
        part = float(norm(column))
        if part > tolerances.RANK_TOLERANCE:
            kept.append(k)
            basis = np.hstack([basis, column[:, None] / part])
            least = min(least, part)
        else:
            most = max(most, part)
    B = lstsq(rows[:, kept], rows, what=BASE) if kept else np.zeros((0, rows.shape[1]))
    return kept, np.where(np.abs(B) > tolerances.RANK_TOLERANCE, B, 0.0), (least, most)
