"""Second derivatives of inverse and forward dynamics, as differential dynamic programming and Newton's method ask for (Singh,
Russell, Wensing 2023).

Those of the forces are derivatives of the swept first derivatives. Those of the accelerations follow from them: with the residual
F = inverse - tau, linear in vdot, in the directions j, k of the state::

    M vdot_jk = -(F_jk + M_j vdot_k + M_k vdot_j)          M dvdot_j/dtau = -M_j dvdot/dtau

Entry [i, j, k] is the derivative in direction k of the first derivative [i, j]. Displacements of quaternions are small rotations
about the axes of the body, which do not commute: [i, j, k] and [i, k, j] differ there. Under constraints the first derivatives
are differentiated as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import Ref, neg
from kineta.mechanics.derivation import Array, Derivation, Rule
from kineta.mechanics.tangent import DIRECTIONS, derivatives, solved, together
from kineta.passes.substitute import substitute
from kineta.threads import memo

#: The parts of the quantities, with the first derivatives of which they are, and the blocks by which these are differentiated.
INVERSE = {
    "inverse_by_qq": ("inverse_by_q", "q"),
    "inverse_by_qv": ("inverse_by_q", "v"),
    "inverse_by_vv": ("inverse_by_v", "v"),
    "mass_matrix_by_q": ("mass_matrix", "q"),
}
FORWARD = {
    "forward_by_qq": ("forward_by_q", "q"),
    "forward_by_qv": ("forward_by_q", "v"),
    "forward_by_vv": ("forward_by_v", "v"),
    "forward_by_qtau": ("forward_by_q", "tau"),
}


def _differentiated(d: Derivation, first: str, block: str) -> Array:
    """The derivatives of the quantity *first* by a *block* of variables, along a new last axis."""
    own, directions = d[first], DIRECTIONS[block](d)
    rows = derivatives(d.graph, own.refs, directions)
    return Array((*own.shape, len(directions)), tuple(x for row in rows for x in row))


def _accelerations(d: Derivation) -> Mapping[str, Array]:
    """The quantities of ``FORWARD``."""
    if d.rows:
        return {name: _differentiated(d, *of) for name, of in FORWARD.items()}
    g, n = d.graph, len(d.symbols.v)
    factors, values = solved(d)
    forces = {name.removeprefix("inverse_by_"): substitute(g, d[name].refs, values) for name in INVERSE}
    inertia, m = forces["mass_matrix_by_q"], d["forward_by_q"].shape[1]

    def moved(j: int, block: str, k: int) -> list[Ref]:
        """M_j times the first derivative of the accelerations in direction k of a *block*."""
        first = d[f"forward_by_{block}"]
        column = first.refs[k :: first.shape[1]]
        return [g.sum(g.mul(inertia[(i * n + l) * m + j], x) for l, x in enumerate(column)) for i in range(n)]

    def solution(left: str, right: str, j: int, k: int, columns: int) -> list[Ref]:
        """The second derivative in direction j of the block *left* and k of *right*."""
        terms = (
            []
            if right == "tau"
            else [forces[left + right][j * columns + k :: d[f"forward_by_{left}"].shape[1] * columns]]
        )
        terms += [moved(j, right, k)] * (left == "q")
        terms += [moved(k, left, j)] * (right == "q")
        return factors.solve([neg(g.sum(x)) for x in zip(*terms, strict=True)], [])[:n]

    found = {}
    for name, (first, right) in FORWARD.items():
        left, rows, columns = first[-1], d[first].shape[1], len(DIRECTIONS[right](d))
        # Displacements along coordinates commute.
        alike = left == right and not (left == "q" and (d.symbols.system.joints or d.symbols.system.quasi))
        solutions = {
            (j, k): solution(left, right, j, k, columns) for j in range(rows) for k in range(j if alike else 0, columns)
        }
        pairs = [(min(j, k), max(j, k)) if alike else (j, k) for j in range(rows) for k in range(columns)]
        found[name] = Array((n, rows, columns), tuple(solutions[pair][i] for i in range(n) for pair in pairs))
    return found


def _part(name: str) -> Rule:
    if name in INVERSE:
        return lambda d: _differentiated(d, *INVERSE[name])
    return lambda d: memo(d, _accelerations, lambda: _accelerations(d))[name]


RULES: Mapping[str, Rule] = {name: _part(name) for name in (*INVERSE, *FORWARD)} | {
    "inverse_second_derivatives": together(*INVERSE),
    "forward_second_derivatives": together(*FORWARD),
}
