"""One contact with Coulomb friction: its impulse for given velocities."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactSolution, ContactTerms
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.memory import Integers, Reals

#: Iterations for the direction of slip: steps of a fixed-point iteration, the first, or of the secant method on its changes; and
#: the largest turn [rad] of the latter.
ITERATIONS = 12
LARGEST_TURN = 0.3
#: Change of the direction at convergence.
DIRECTION_TOLERANCE = 1e-13
#: Change of the direction beyond which bisection takes over.
ASTRAY = 1e-10
#: Number of directions that bracket the one of slip.
DIRECTIONS = 24
#: Cosine of the angle between two of them.
COSINE = 0.9659258262890683
#: Sine of this angle.
SINE = 0.25881904510252074
#: Halvings of a bracket.
HALVINGS = 50


@kernel
def kinetic_friction(terms: ContactTerms, c: int) -> float:
    """The coefficient of kinetic friction of a contact, or the friction of a joint that slips."""
    return max(terms.law[4 * c], 0.0)


@kernel
def slide_all(terms: ContactTerms, solution: ContactSolution, active: Integers, count: int) -> None:
    """Give the *active* contacts their kinetic ``friction``."""
    for a in range(count):
        solution.friction[active[a]] = kinetic_friction(terms, active[a])


@kernel
def static_friction(terms: ContactTerms, c: int) -> float:
    """The coefficient of static friction of a contact, or the largest friction of a joint that sticks."""
    return max(terms.law[4 * c + 1], 0.0)


@kernel
def joint_impulse(D: Reals, u: float, most: float, x: Reals) -> None:
    """The impulse x (3,) of the friction of a joint with the Delassus operator D (3, 3), whose velocity without it is u: it
    sticks, or slips under the friction *most*.
    """
    x[0], x[1], x[2] = 0.0, 0.0, 0.0
    if D[4] > 0.0:
        x[1] = min(max(-u / D[4], -most), most)


@kernel
def contact_impulse(D: Reals, n: float, u: float, w: float, mu: float, least: float, x: Reals) -> None:
    """The impulse x (3,) of one contact with the Delassus operator D (3, 3) whose velocities without it are n, u, w: it parts,
    sticks or slips. Its normal impulse is at least *least*, and the contact closes where it is more. x has four entries.
    """
    d, e = D[4], D[8]
    x[0], x[1], x[2] = least, 0.0, 0.0
    if D[0] > 0.0 and (mu <= 0.0 or d + e <= 0.0):
        x[0] = max(least, -n / D[0])
    elif D[0] > 0.0 and (least > 0.0 or n < 0.0):
        smallest = tolerances.ROUNDING_TOLERANCE * (D[0] + d + e)
        d, e = max(d, smallest), max(e, smallest)
        c0, c1, c2 = d * e - D[5] * D[7], D[5] * D[6] - D[3] * e, D[3] * D[7] - d * D[6]
        det = D[0] * c0 + D[1] * c1 + D[2] * c2
        f = -(c0 * n + (D[2] * D[7] - D[1] * e) * u + (D[1] * D[5] - D[2] * d) * w) / det
        g = -(c1 * n + (D[0] * e - D[2] * D[6]) * u + (D[2] * D[3] - D[0] * D[5]) * w) / det
        h = -(c2 * n + (D[1] * D[6] - D[0] * D[7]) * u + (D[0] * d - D[1] * D[3]) * w) / det
        if f < least:  # it parts after its least impulse, and sticks until then
            f, b, c = least, u + D[3] * least, w + D[6] * least
            g, h = (D[5] * c - e * b) / c0, (D[7] * b - d * c) / c0
            if n + D[0] * f + D[1] * g + D[2] * h < 0.0:
                f = -1.0
        if f >= 0.0 and g * g + h * h <= mu * mu * f * f:
            x[0], x[1], x[2] = f, g, h
        else:
            slipping_impulse(D, n, u, w, mu, least, g, h, x)


@kernel
def impulse_along(
    D: Reals, n: float, u: float, w: float, mu: float, least: float, c: float, s: float, x: Reals
) -> float:
    """The impulse x whose friction has the direction (c, s), and the velocity of slip across it; x[3] is that along it."""
    stiffness = D[0] + mu * (D[1] * c + D[2] * s)
    x[0] = max(least, -n / max(stiffness, tolerances.FORCE_TOLERANCE * D[0]))
    x[1], x[2] = mu * x[0] * c, mu * x[0] * s
    du = u + D[3] * x[0] + D[4] * x[1] + D[5] * x[2]
    dw = w + D[6] * x[0] + D[7] * x[1] + D[8] * x[2]
    x[3] = du * c + dw * s
    return du * s - dw * c


@kernel
def largest_step(D: Reals) -> float:
    """The step of a fixed-point iteration for the friction of a contact in space: the reciprocal of the largest eigenvalue of its
    operator along the tangents.
    """
    half = 0.5 * (D[4] - D[8])
    return 1.0 / (0.5 * (D[4] + D[8]) + sqrt(half * half + D[5] * D[7]))


@kernel
def slipping_impulse(
    D: Reals, n: float, u: float, w: float, mu: float, least: float, c: float, s: float, x: Reals
) -> None:
    """The impulse x of a contact that slips, with a friction near the direction (c, s): its direction by iteration, or by
    bisection where that does not converge to one against the slip.
    """
    across = 0.0
    if D[8] <= tolerances.ROUNDING_TOLERANCE * D[4]:
        c, s = 1.0 if c >= 0.0 else -1.0, 0.0
        across = impulse_along(D, n, u, w, mu, least, c, s, x)
        if x[3] > 0.0:
            across = impulse_along(D, n, u, w, mu, least, -c, s, x)
    else:
        size = sqrt(c * c + s * s)
        c, s = c / size if size > 0.0 else 1.0, s / size if size > 0.0 else 0.0
        step = largest_step(D)
        across, last, turn, tries = 1.0, 0.0, 0.0, 0
        while tries < ITERATIONS and fabs(across) > DIRECTION_TOLERANCE:
            last = across
            across = impulse_along(D, n, u, w, mu, least, c, s, x)
            du = x[1] - step * (u + D[3] * x[0] + D[4] * x[1] + D[5] * x[2])
            dw = x[2] - step * (w + D[6] * x[0] + D[7] * x[1] + D[8] * x[2])
            size = sqrt(du * du + dw * dw)
            across = (du * s - dw * c) / size if size > 0.0 else 0.0
            turn = turn * across / (last - across) if turn != 0.0 and last != across else 0.0
            if turn == 0.0 or fabs(turn) > LARGEST_TURN:
                turn = -across if du * c + dw * s > 0.0 else 0.0
                c, s = du / size if size > 0.0 else c, dw / size if size > 0.0 else s
            else:
                size = sqrt(1.0 + turn * turn)
                c, s = (c - turn * s) / size, (s + turn * c) / size
            tries += 1
        if fabs(across) > ASTRAY or x[3] > tolerances.ROUNDING_TOLERANCE * (fabs(u) + fabs(w)):
            bisect_direction(D, n, u, w, mu, least, c, s, x)


@kernel
def bisect_direction(
    D: Reals, n: float, u: float, w: float, mu: float, least: float, c: float, s: float, x: Reals
) -> None:
    """The impulse x of a contact that slips, by bisection of the direction of friction around the circle from (c, s) on."""
    low, k, opposed = impulse_along(D, n, u, w, mu, least, c, s, x), 0, False
    while k < DIRECTIONS and not opposed:
        c1, s1 = c * COSINE - s * SINE, c * SINE + s * COSINE
        high = impulse_along(D, n, u, w, mu, least, c1, s1, x)
        if low * high <= 0.0:
            halve_direction(D, n, u, w, mu, least, c, s, c1, s1, x)
            opposed = x[3] <= 0.0
        low, c, s = high, c1, s1
        k += 1


@kernel
def halve_direction(
    D: Reals, n: float, u: float, w: float, mu: float, least: float, c: float, s: float, c1: float, s1: float, x: Reals
) -> None:
    """The impulse x whose friction is along the slip, by bisection between the directions (c, s) and (c1, s1)."""
    low = impulse_along(D, n, u, w, mu, least, c, s, x)
    for _ in range(HALVINGS):
        size = sqrt((c + c1) * (c + c1) + (s + s1) * (s + s1))
        c2, s2 = (c + c1) / size, (s + s1) / size
        now = impulse_along(D, n, u, w, mu, least, c2, s2, x)
        if low * now <= 0.0:
            c1, s1 = c2, s2
        else:
            low, c, s = now, c2, s2
