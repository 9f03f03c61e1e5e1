"""Nonlinear Gauss-Seidel method (Moreau, Jean): sweeps over the contacts, each solved exactly beside the others."""

from __future__ import annotations

from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms
from kineta.kernels.contact.block_inertia import push, rates_along
from kineta.kernels.contact.friction_cone import contact_impulse, joint_impulse, kinetic_friction
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import maximum
from kineta.memory import Integers, Reals


@kernel
def relax(
    problem: ContactProblem, terms: ContactTerms, solution: ContactSolution, c: int, mu: float, v: Reals
) -> float:
    """The impulse of the contact c with friction mu beside all others, and the speeds v after it; its change of velocity."""
    D, r, b, x = solution.delassus[9 * c :], solution.impulse[3 * c :], solution.target[3 * c :], solution.local
    rates = solution.rates
    rates_along(problem, terms, c, v, rates)
    u = rates[1] + b[1] - D[3] * r[0] - D[4] * r[1] - D[5] * r[2]
    if problem.has_normal[c] == 0:
        joint_impulse(D, u, mu, x)
    else:
        n = rates[0] + b[0] - D[0] * r[0] - D[1] * r[1] - D[2] * r[2]
        w = rates[2] + b[2] - D[6] * r[0] - D[7] * r[1] - D[8] * r[2]
        contact_impulse(D, n, u, w, mu, solution.least[c], x)
    dn, du, dw = x[0] - r[0], x[1] - r[1], x[2] - r[2]
    r[0], r[1], r[2] = x[0], x[1], x[2]
    push(problem, solution, c, dn, du, dw, v)
    return maximum(fabs(D[0] * dn), maximum(fabs(D[4] * du), fabs(D[8] * dw)))


@kernel
def sweep(
    problem: ContactProblem, terms: ContactTerms, solution: ContactSolution, active: Integers, count: int, v: Reals
) -> float:
    """One sweep over the *active* contacts; the largest change of a velocity."""
    most = 0.0
    for a in range(count):
        change = relax(problem, terms, solution, active[a], kinetic_friction(terms, active[a]), v)
        most = maximum(most, change)
    return most
