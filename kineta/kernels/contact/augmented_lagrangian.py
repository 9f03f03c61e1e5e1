"""The augmented Lagrangian of the contacts of an island with De Saxcé's term.

With forces c so far, velocities u = W v + target, and De Saxcé's lift s = mu |u_t| of the normal velocity, the speeds minimise::

    (v - free)' M (v - free)/2 + sum of R |P(c - (u + s n)/R)|^2 / 2

where P projects onto the friction cones. Its minimum gives c = P(...), and the compliance R disappears as c is repeated: then
Signorini's and Coulomb's laws hold. The minimum exists where forces over contacts are not unique, as on four feet.
"""

from __future__ import annotations

from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms, IslandWork
from kineta.kernels.contact.block_inertia import rates_along
from kineta.kernels.contact.friction_cone import kinetic_friction, project_onto_cone, project_onto_interval
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import maximum
from kineta.memory import Integers, Reals

#: Part of the step before beyond which a step with the factors of an earlier one wants factors of its own.
CHORD = 0.1
#: Newton steps for each repetition of the forces.
STEPS = 30
#: Least part of a step.
SHORTEST = 1e-12
#: Least decrease in a step, relative to that of the slope (Armijo's rule).
DECREASE = 1e-4
#: Multiple of the tolerance within which a result that still changes is accepted.
ACCEPTED = 1e3


@kernel
def compliance(solution: ContactSolution, work: IslandWork, c: int) -> float:
    """The compliance R of a contact."""
    D = solution.delassus[9 * c :]
    return work.compliance * max(D[0], max(D[4], D[8]))


@kernel
def contact_energy(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
) -> float:
    """Projected forces and their derivatives at the speeds v, and the rates along all rows; the energy of the contacts."""
    energy, rates = 0.0, solution.rates
    for a in range(count):
        c = active[a]
        rates_along(problem, terms, c, v, rates)
        for i in range(3):
            work.rates[3 * c + i] = rates[i]
        b, f, x, R = (
            solution.target[3 * c :],
            work.force[3 * c :],
            work.projected[3 * c :],
            compliance(solution, work, c),
        )
        u = f[1] - (rates[1] + b[1]) / R
        if problem.has_normal[c] == 0:
            project_onto_interval(u, kinetic_friction(terms, c), x, work.cones[9 * c :])
            energy += R * x[1] * (u - x[1])  # an interval is no cone
        else:
            project_onto_cone(
                f[0] - (rates[0] + b[0] + work.lift[c]) / R,
                u,
                f[2] - (rates[2] + b[2]) / R,
                kinetic_friction(terms, c),
                x,
                work.cones[9 * c :],
            )
        energy += 0.5 * R * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    return energy


@kernel
def lift_normals(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
) -> float:
    """De Saxcé's terms at the speeds v; their largest change."""
    most, rates = 0.0, solution.rates
    for a in range(count):
        c = active[a]
        rates_along(problem, terms, c, v, rates)
        du, dw = rates[1] + solution.target[3 * c + 1], rates[2] + solution.target[3 * c + 2]
        s = kinetic_friction(terms, c) * sqrt(du * du + dw * dw) if problem.has_normal[c] != 0 else 0.0
        most = maximum(most, fabs(s - work.lift[c]))
        work.lift[c] = s
    return most
