"""Accelerations under the forces of contacts and dry friction in a contact mode.

With the contact Jacobian W, the accelerations x0 without contact forces, and the response Y to unit forces along the rows::

    x = x0 + Y lambda          S = W Y          b = W x0 + rest

An active row satisfies S lambda + b = 0; an inactive row has no force; at a slipping contact the tangential force is the
friction limit against the slip. The flags in the parameter block h select the mode: one program serves all modes.

Dependent rows share their forces: the distribution is the least-squares solution, weighted with S, or the solution nearest to
the reference forces in the block h.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.mechanics.algorithms.articulated_bodies import forward_dynamics
from kineta.mechanics.constraints.kkt import KKTFactors, kkt_factors
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.constraints.structural_rank import dependent, random_state
from kineta.mechanics.constraints.structural_rank import matrix as numbers_of
from kineta.mechanics.contact.guards import closed, direction, events, stuck
from kineta.mechanics.contact.joint_locking import free, held, locks, signed
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.from_residual import cheapest, named, of_forms, orders, power, recursion
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.passes.substitute import substitute

#: Relative addition to the diagonal of S where rows are dependent; its effect is removed by iterative refinement.
REGULARISATION = 1e-7


def coupled(d: Derivation) -> list[UnilateralConstraint]:
    """The active contacts except locks of single speeds."""
    return [contact for contact in d.active_contacts if contact.speed is None]


def rows(d: Derivation) -> list[Row]:
    """The rows of the :func:`coupled` contacts."""
    return [row for contact in coupled(d) for row in contact.rows]


def active_rows(d: Derivation) -> list[Ref]:
    """1 for active rows, else 0."""
    g, found = d.graph, []
    for contact in coupled(d):
        if contact.normal is not None:
            found.append(closed(g, contact))
        found += [stuck(g, contact)] * len(contact.tangents)
    return found


# -- the response to forces -----------------------------------------------------------------------------------------


def _factors(d: Derivation) -> KKTFactors:
    return kkt_factors(d, d.rows, orders(d)[0])


def _response(d: Derivation) -> Array:
    """The response Y: accelerations, and multipliers of constraints with the opposite sign, to unit forces along the rows."""
    factors, n, m = _factors(d), len(d.symbols.v), len(d.rows)
    found = [factors.solve(r.dense(n), [ZERO] * m) for r in rows(d)]
    return matrix(found, n + m)


def _uncontacted_motion(d: Derivation) -> Array:
    """The accelerations x0, then multipliers of constraints with the opposite sign, without contact forces."""
    g, rubbed = d.graph, [ZERO] * len(d.symbols.v)
    for contact in locks(d):
        if contact.tangents and contact.speed is not None:
            rubbed[contact.speed] = g.add(rubbed[contact.speed], signed(d, contact, _friction_force(g, contact)))
    forces = [g.add(f, more) for f, more in zip(_net_forces(d).refs, rubbed, strict=True)]
    ways = [_factors(d).solve(forces, [neg(r.rest) for r in d.rows])]
    if (
        locks(d)
        and d.mechanism.leading is not None
        and d.mechanism.one_to_one
        and not inertia_elements.given(d.symbols)
    ):
        forces = [g.sum(parts) for parts in zip(d.symbols.tau, d.elements.forces, rubbed, strict=True)]
        ways.append(forward_dynamics(d.mechanism, d.kinematics.w, forces, d.elements.wrenches, free(d)))
    return vector(cheapest(g, ways))


def _net_forces(d: Derivation) -> Array:
    """The net forces tau - bias, without constraints and contacts."""
    return vector([d.graph.sub(t, b) for t, b in zip(d.symbols.tau, d["bias"].refs, strict=True)])


def _friction_force(g: Graph, contact: UnilateralConstraint) -> Ref:
    """The friction force of a lock along its row where it slips."""
    (toward,) = direction(g, contact)
    return neg(g.mul(g.sub(ONE, stuck(g, contact)), g.mul(contact.bound, toward)))


def _delassus(d: Derivation) -> Array:
    """The Delassus operator S: accelerations along the rows by unit forces along them."""
    own, width = rows(d), len(d.symbols.v) + len(d.rows)
    Y = d["response"].refs
    upper = {
        (i, j): own[i].along(d.graph, Y[j * width : (j + 1) * width]) for i in range(len(own)) for j in range(i + 1)
    }
    return matrix([[upper[max(i, j), min(i, j)] for j in range(len(own))] for i in range(len(own))], len(own))


def _free_acceleration(d: Derivation) -> Array:
    """The free acceleration b along the rows, without contact forces."""
    return vector([d.graph.add(r.along(d.graph, d["uncontacted_motion"].refs), r.rest) for r in rows(d)])


def _relative_velocity(d: Derivation) -> Array:
    """Relative velocities along the rows of all active contacts."""
    return vector([r.levels[-1] for contact in d.active_contacts for r in contact.rows])


def _acceleration_bias(d: Derivation) -> Array:
    """Acceleration bias along the rows of all active contacts: their accelerations for vdot = 0."""
    return vector([r.rest for contact in d.active_contacts for r in contact.rows])


def _contact_jacobian(d: Derivation) -> Array:
    """The contact Jacobian W of all active contacts."""
    n = len(d.symbols.v)
    return matrix([r.dense(n) for contact in d.active_contacts for r in contact.rows], n)


def _gaps(d: Derivation) -> Array:
    """Gaps of the contacts, zero for joint friction."""
    return vector([ZERO if t.normal is None else t.normal.levels[0] for t in d.contacts])


def _laws(d: Derivation) -> Array:
    """Friction limit or coefficient, its static value, restitution, and the velocity scale of smooth friction (zero for
    Coulomb's) of every contact.
    """
    return matrix([[t.bound, t.static, t.restitution, ZERO if t.smooth is None else t.smooth] for t in d.contacts], 4)


# -- forces ---------------------------------------------------------------------------------------------------------


def solved(
    g: Graph, A: Sequence[Sequence[Ref]], b: Sequence[Ref], soft: Sequence[Ref], near: Sequence[Ref] = ()
) -> list[Ref]:
    """The solution x of A x = b by Gaussian elimination; for dependent rows regularised by *soft* additions to the diagonal,
    whose effect is removed by refinement, the solution nearest to *near*, by default zero.
    """
    n = len(b)
    U = [list(row) for row in A]
    for i, more in enumerate(soft):
        U[i][i] = g.add(U[i][i], more)
    inverse: list[Ref] = []
    factors: list[list[tuple[int, Ref]]] = []
    for k in range(n):
        inverse.append(g.div(ONE, U[k][k]))
        factors.append([(i, g.mul(U[i][k], inverse[k])) for i in range(k + 1, n) if U[i][k] != ZERO])
        for i, share in factors[k]:
            for j in range(k + 1, n):
                U[i][j] = g.sub(U[i][j], g.mul(share, U[k][j]))

    def found(right: Sequence[Ref]) -> list[Ref]:
        x = list(right)
        for k in range(n):
            for i, share in factors[k]:
                x[i] = g.sub(x[i], g.mul(share, x[k]))
        for k in reversed(range(n)):
            known = g.sum(g.mul(U[k][j], x[j]) for j in range(k + 1, n))
            x[k] = g.mul(g.sub(x[k], known), inverse[k])
        return x

    if all(more == ZERO for more in soft):
        return found(b)
    x = list(near or [ZERO] * n)
    for _ in range(2):
        left = [g.sub(r, g.sum(g.mul(a, v) for a, v in zip(row, x, strict=True))) for row, r in zip(A, b, strict=True)]
        x = [g.add(v, more) for v, more in zip(x, found(left), strict=True)]
    return x


def regularisation(d: Derivation, S: Sequence[Sequence[Ref]], kept: Sequence[Row], others: Sequence[Row]) -> list[Ref]:
    """Additions to the diagonal of S for the rows *kept*: zero where they are independent of each other and of *others*."""
    single = {contact.speed: contact.rows[0] for contact in locks(d)}
    own = [dict(r.gradient) for r in (*others, *single.values(), *kept)]
    refs = [ref for gradient in own for ref in gradient.values()]
    state = random_state(d.symbols.system, d.graph, refs, 0)
    if not dependent(numbers_of(d.graph, own, len(d.symbols.v), state)):
        return [ZERO] * len(kept)
    return [d.graph.mul(d.graph.const(REGULARISATION), size) for size in _sizes(d, S, kept)]


def _sizes(d: Derivation, S: Sequence[Sequence[Ref]], kept: Sequence[Row]) -> list[Ref]:
    """Scales of the diagonal of S, from which locked speeds are not removed."""
    if not locks(d):
        return [S[i][i] for i in range(len(kept))]
    g, n, M = d.graph, len(d.symbols.v), d["mass_matrix"].refs
    squares = ([(k, g.mul(x, x)) for k, x in row.gradient.items()] for row in kept)
    return [g.sum(g.div(square, M[k * n + k]) for k, square in found) for found in squares]


def masked(g: Graph, S: Sequence[Sequence[Ref]], flags: Sequence[Ref]) -> list[list[Ref]]:
    """S in active rows, the unit matrix in inactive rows."""
    n = len(flags)
    return [
        [g.add(g.mul(flags[i], S[i][j]), g.sub(ONE, flags[i]) if i == j else ZERO) for j in range(n)] for i in range(n)
    ]


def _reference_forces(d: Derivation) -> list[str]:
    """The names of the reference forces of redundant contacts, by row."""
    names: list[str] = []
    for contact in coupled(d):
        tangents = contact.flags[3 : 3 + len(contact.tangents)]
        names += tangents if contact.normal is None else (contact.flags[5], *tangents)
    return names


def _row_forces(d: Derivation) -> Array:
    """The forces lambda along the rows, without locks."""
    g, own, flags = d.graph, rows(d), active_rows(d)
    n = len(own)
    S = [d["delassus"].refs[i * n : (i + 1) * n] for i in range(n)]
    A = masked(g, S, flags)
    b = [neg(g.mul(flag, x)) for flag, x in zip(flags, d["free_acceleration"].refs, strict=True)]
    place = 0
    for contact in coupled(d):
        first = place + (contact.normal is not None)
        for i, toward in enumerate(direction(g, contact), first):
            share = g.mul(g.sub(ONE, flags[i]), g.mul(contact.bound, toward))
            if contact.normal is None:
                b[i] = g.sub(b[i], share)
            else:
                A[i][place] = g.add(A[i][place], share)
        place += len(contact.rows)
    soft = [g.mul(flag, x) for flag, x in zip(flags, regularisation(d, S, own, d.rows), strict=True)]
    # Slipping rows first: their diagonal entries are 1.
    order = [i for i, r in enumerate(own) if r.order] + [i for i, r in enumerate(own) if not r.order]
    near = [g.mul(flag, g.symbol(name)) for flag, name in zip(flags, _reference_forces(d), strict=True)]
    ordered = ([part[i] for i in order] for part in (b, soft, near))
    x = solved(g, [[A[i][j] for j in order] for i in order], *ordered)
    return vector([x[order.index(i)] for i in range(n)])


def _forces(d: Derivation) -> Array:
    """The forces along the rows of all active contacts; for locked speeds the remainders of their equations."""
    g, row_forces, own = d.graph, list(d["row_forces"].refs), locks(d)
    left = _remainders(d, row_forces) if own else {}
    limited, found = free(d, limits=True), list[Ref]()
    for contact in d.active_contacts:
        if contact.speed is None:
            found += row_forces[: len(contact.rows)]
            del row_forces[: len(contact.rows)]
            continue
        force = g.mul(held(d, contact), signed(d, contact, left[contact.speed]))
        if contact.tangents:  # an active limit takes the whole force, friction none
            force = g.add(g.mul(limited.get(contact.speed, ONE), force), _friction_force(g, contact))
        found.append(force)
    return vector(found)


def _remainders(d: Derivation, row_forces: Sequence[Ref]) -> dict[int, Ref]:
    """Remainders of the equations of lockable speeds."""
    g, s = d.graph, d.symbols
    places = sorted(free(d))
    moved = dict(zip((f"{n}'" for n in s.system.v_names), d["forward"].refs, strict=True))
    left = dict(zip(places, substitute(g, [d["inverse"].refs[k] for k in places], moved), strict=True))
    for k in places:
        given = [g.mul(row.gradient[k], x) for row, x in zip(rows(d), row_forces, strict=True) if k in row.gradient]
        rubbed = [signed(d, t, _friction_force(g, t)) for t in locks(d) if t.tangents and t.speed == k]
        left[k] = g.sub(left[k], g.sum([s.tau[k], *given, *rubbed]))
    return left


def _moved(d: Derivation) -> list[Ref]:
    """Accelerations, then multipliers of constraints with the opposite sign, under contact forces."""
    g, width = d.graph, len(d.symbols.v) + len(d.rows)
    Y, forces = d["response"].refs, d["row_forces"].refs
    return [
        g.add(x, g.sum(g.mul(Y[r * width + k], f) for r, f in enumerate(forces)))
        for k, x in enumerate(d["uncontacted_motion"].refs)
    ]


def _power(d: Derivation) -> Array:
    """The power without contacts plus that of contact forces. At an active row the rate is the prescribed velocity of the row,
    with a slip of exactly zero.
    """
    g, s, total = d.graph, d.symbols, power(d).refs[0]
    for contact in locks(d):
        if contact.tangents:
            total = g.add(total, g.mul(_friction_force(g, contact), contact.tangents[0].levels[-1]))
    for row, force, flag in zip(rows(d), d["row_forces"].refs, active_rows(d), strict=True):
        slip = row.levels[-1]
        speed = g.sub(g.mul(g.sub(ONE, flag), slip), s.at_rest(slip)) if row.linear(s) else row.along(g, s.v)
        total = g.add(total, g.mul(force, speed))
    return scalar(total)


def _multipliers(d: Derivation) -> Array:
    """Multipliers of constraints, then contact forces."""
    if d.symbols.system.quasi:
        base = d.unconstrained
        left = recursion(base, base.symbols.vdot)
        for row, force in zip(rows(base), d["row_forces"].refs, strict=True):
            for k, partial in row.gradient.items():
                left[k] = d.graph.sub(left[k], d.graph.mul(partial, force))
        constrained, found = d.definitions.kept, of_forms(d, left)
    else:
        kept = iter(_moved(d)[len(d.symbols.v) :])
        constrained = d.constraint_rows
        found = [ZERO if r.constraint in d.left_out else neg(next(kept)) for r in d.constraint_rows]
    return _with_contacts(d, [f"{MULTIPLIER}{r.constraint}" for r in constrained], found)


def _with_contacts(d: Derivation, labels: Sequence[str], refs: Sequence[Ref]) -> Array:
    """Multipliers of constraints, then the forces of all contacts, zero for inactive contacts."""
    own = (r.constraint for contact in d.active_contacts for r in contact.rows)
    forces = dict(zip(own, d["forces"].refs, strict=True))
    names = [r.constraint for t in d.contacts for r in t.rows]
    return named([*labels, *(f"{MULTIPLIER}{n}" for n in names)], [*refs, *(forces.get(n, ZERO) for n in names)])


def in_mode(rules: Mapping[str, Rule], *, pressing: bool) -> Mapping[str, Rule]:
    """*rules* for a run with contacts; with the rules of contact forces, if any are *pressing*."""
    if pressing:
        return {**rules, **RULES, **FORCES}

    def multipliers(d: Derivation) -> Array:
        found = rules["multipliers"](d) if d.constraint_rows else vector([])
        return _with_contacts(d, found.labels, found.refs)

    return {**rules, **RULES, "forces": lambda _: vector([]), "multipliers": multipliers}


#: Contact quantities of a run.
RULES: Mapping[str, Rule] = {"gaps": _gaps, "laws": _laws, "contact_guards": events}

#: Contact forces, and the quantities that depend on them.
FORCES: Mapping[str, Rule] = {
    "response": _response,
    "uncontacted_motion": _uncontacted_motion,
    "delassus": _delassus,
    "free_acceleration": _free_acceleration,
    "relative_velocity": _relative_velocity,
    "acceleration_bias": _acceleration_bias,
    "contact_jacobian": _contact_jacobian,
    "net_forces": _net_forces,
    "row_forces": _row_forces,
    "forces": _forces,
    "forward": lambda d: vector(_moved(d)[: len(d.symbols.v)]),
    "multipliers": _multipliers,
    "power": _power,
}
