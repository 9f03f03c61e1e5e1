"""The formalism ``newton_euler``: inverse dynamics by two sweeps, the mass matrix by composite bodies, forward dynamics by the
cheaper of factorisation of the mass matrix and articulated bodies.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.expr.graph import ZERO
from kineta.mechanics import acceleration_derivatives, force_derivatives
from kineta.mechanics.algorithms import articulated_bodies, composite_bodies
from kineta.mechanics.columns import BLOCKS
from kineta.mechanics.derivation import Array, Derivation, matrix, vector
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.from_residual import cheapest, check_regular, eliminated, moving, recursion, seen_motions
from kineta.mechanics.kinematics.common_frames import Sharing
from kineta.mechanics.kinematics.sweeps import carried
from kineta.mechanics.kinematics.tree import Mechanism, rates_below
from kineta.mechanics.loops_over_links import dynamics, forward_derivatives, inverse_derivatives
from kineta.mechanics.loops_over_links.operands import Loops
from kineta.mechanics.narration import Step, applied, links, vectors

#: Largest number of operations of articulated bodies for one rate, against which elimination is compared.
ARTICULATED = 600
#: Mean number of rates driven by a speed beyond which a mechanism counts as crowded.
CROWDED = 16
#: Rates on the way to a link from which on frames that links share are looked at for the mass matrix.
DEEP = 8
#: Mean number of rates on the way to a link beyond which the mass matrix is not swept from link to link.
LONG = 20


def _crowded(mechanism: Mechanism) -> bool:
    """Return whether speeds drive so many rates each that a mass matrix by pairs of rates is too expensive."""
    rates = sum(len(link.rates) for link in mechanism.links)
    return rates > CROWDED * max(1, len(mechanism.symbols.v))


def _mass_matrix(d: Derivation) -> Array:
    if _crowded(d.mechanism):  # the derivatives of the momenta take as many sweeps as there are speeds
        s = d.symbols
        momenta = [s.by_speed(p) for p in d["momentum"].refs]
        n = len(s.v)
        return matrix([[momenta[min(i, j)].get(max(i, j), ZERO) for j in range(n)] for i in range(n)], n)
    found = [composite_bodies.mass_matrix(d.mechanism, sharing) for sharing in _sharings(d.mechanism)]
    if d.held.arms:
        found.append(composite_bodies.mass_matrix(d.held.mechanism, "link", d.held.arms))
    ways = []
    for M in found:
        rows = zip(M, inertia_elements.mass_matrix(d.symbols), strict=True)
        ways.append([d.graph.add(a, b) for row in rows for a, b in zip(*row, strict=True)])
    return Array((len(d.symbols.v),) * 2, tuple(cheapest(d.graph, ways)))


def _sharings(mechanism: Mechanism) -> tuple[Sharing, ...]:
    """The frames in which the mass matrix may be the cheapest."""
    below = rates_below(mechanism.links)
    if max(below, default=0) < DEEP:
        return ("link",)
    return ("limb", "tree") if sum(below) > LONG * len(below) else ("link", "limb", "tree")


def _bias(d: Derivation) -> Array:
    return vector(recursion(d, [ZERO] * len(d.symbols.v)))


def _forward(d: Derivation) -> Array:
    """The accelerations vdot from tau: the cheapest of the applicable algorithms."""
    ways = []
    crowded = _crowded(d.mechanism)
    if d.mechanism.leading is not None and not crowded and not d.rows and not inertia_elements.given(d.symbols):
        forces = [d.graph.add(t, q) for t, q in zip(d.symbols.tau, d.elements.forces, strict=True)]
        for motion, applied in seen_motions(d, [ZERO] * len(forces)):
            ways.append(articulated_bodies.forward_dynamics(motion, forces, applied))
    else:
        check_regular(d)
    if crowded or not ways or _elimination(d.mechanism) < ARTICULATED * len(d.symbols.v):
        ways += eliminated(d)
    return vector(cheapest(d.graph, ways))


def _elimination(mechanism: Mechanism) -> int:
    """Estimate, before derivation, of the operations to set up the mass matrix and to eliminate it: for every rate a few in
    each entry of its row, and a pair for each pair of its carriers.
    """
    pairs = zip(mechanism.links, rates_below(mechanism.links), strict=True)
    return sum(8 * k + k**2 for link, n in pairs for k in range(n - len(link.rates), n))


def _steps(d: Derivation) -> Iterator[Step]:
    motion = moving(d, d.symbols.vdot)
    yield Step(
        "Outwards: angular velocities", "ω_i = Qᵀ ω_p + e u", "Featherstone 5.3", links(d), vectors("w", motion.W(0))
    )
    yield Step(
        "Outwards: accelerations",
        "ε_i = Qᵀ ε_p + e u̇ + ω_i × e u,  a_i = Qᵀ (a_p + ε_p × d + ω_p × (ω_p × d))",
        "Featherstone 5.3",
        "Of the origins of the links. The ground accelerates against gravity, which takes the place of the weight.",
        (*vectors("w'", motion.W(1)), *vectors("a", motion.X(2))),
    )
    own = motion.wrenches(2)
    yield Step(
        "What every link needs by itself",
        "f = m a + ε × c + ω × (ω × c),  n = c × a + J ε + ω × J ω",
        "Featherstone 5.3",
        "Force, and couple about its origin; with `c = ∫ r dm`.",
        (*vectors("f", (x.f for x in own)), *vectors("n", (x.n for x in own))),
    )
    if d.elements.wrenches:
        at = sorted(d.elements.wrenches)
        own = [x - d.elements.wrenches[i] if i in at else x for i, x in enumerate(own)]
    total = carried(d.mechanism, own)
    yield Step(
        "Inwards: what its carrier passes on to it",
        "F_i = f_i + ∑ Q F_j,  N_i = n_i + ∑ (Q N_j + d × Q F_j)",
        "Featherstone 5.3",
        "With the links j that it carries, less the forces that act on it.",
        (*vectors("F", (x.f for x in total)), *vectors("N", (x.n for x in total))),
    )
    yield applied(d, "")
    yield Step(
        "The components along the motions",
        "τ_k = ∑ ∂u/∂v_k e · N_i − Q_k,  τ_k = ∑ ∂u/∂v_k e · F_i − Q_k",
        "Featherstone 5.3",
        "Motions that turn take the couple N, motions that shift the force F.",
    )


NEWTON_EULER = Formalism(
    name="newton_euler",
    source="Featherstone, Rigid Body Dynamics Algorithms, 5.3, 6.2, 7.3",
    residual=lambda d: recursion(d, d.symbols.vdot),
    steps=_steps,
    rules={
        **force_derivatives.RULES,
        **acceleration_derivatives.RULES,
        "mass_matrix": _mass_matrix,
        "bias": _bias,
        "forward": _forward,
    },
    loops={
        "forward": Loops(dynamics.forward),
        "inverse": Loops(dynamics.inverse),
        **forward_derivatives.LOOPS,
        **inverse_derivatives.LOOPS,
    },
    columns=BLOCKS,
)
