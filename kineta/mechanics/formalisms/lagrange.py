"""The formalism ``lagrange``: equations of the second kind, from the energies T(t, q, v) and V(t, q)::

    d/dt dT/dv_s + gamma_s - d(T - V)/dpi_s = Q_s          d/dpi_s = sum of d/dq_i d(qdot_i)/dv_s

V is the potential of the weight, of the springs and of the potentials; Q_s are the nonconservative forces.

For speeds that are rates of coordinates gamma is zero. For the angular velocity w and the velocity u of a free motion, which
are quasi-velocities (Boltzmann and Hamel)::

    gamma_u = w x dT/du          gamma_w = w x dT/dw + u x dT/du

Quasi-velocities of the model and the constraints that they satisfy enter last: the equations in the speeds of the motions are
projected on them (Maggi).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.applied_forces import Elements, generalized_forces
from kineta.mechanics.elements.element_actions import apply_elements
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.kinematics.boltzmann_hamel import gyroscopic
from kineta.mechanics.narration import Step, applied, each, nonzero, one, slopes
from kineta.mechanics.narration import momenta as named_momenta
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute


def _residual(d: Derivation) -> list[Ref]:
    """The left side less the generalised nonconservative forces."""
    left = _projected(d) if d.symbols.projected else _left(d)
    return [d.graph.sub(t, Q) for t, Q in zip(left, nonconservative_forces(d), strict=True)]


def nonconservative_forces(d: Derivation) -> list[Ref]:
    """Generalised nonconservative forces."""
    own = [e for e in d.symbols.system.elements if not d.elements.stores(e)]
    acting = apply_elements(Elements(d.mechanism, d.kinematics), own)
    if acting.potential != ZERO:  # of elements that store some of their work; its slope is on the left side
        acting.along(acting.rate(acting.potential), ONE)
    return generalized_forces(acting)


def _projected(d: Derivation) -> list[Ref]:
    """The equations in the speeds of the motions, projected on the quasi-velocities: the sum of dv_k/dw_s times equation k."""
    g, s, base = d.graph, d.symbols, d.unconstrained
    moved = dict(zip(base.symbols.names, s.speeds, strict=True))
    rates = s.levels.of(s.speeds, 1)
    moved |= dict(zip((f"{n}'" for n in base.symbols.names), rates, strict=True))
    tau = [ZERO] * len(s.v)
    for speed, left in zip(s.speeds, substitute(g, _left(base), moved), strict=True):
        for k, share in s.by_speed(speed, left).items():
            tau[k] = g.add(tau[k], share)
    return tau


def _left(d: Derivation) -> list[Ref]:
    """d/dt dT/dv + gamma - d(T - V)/dpi."""
    g, s = d.graph, d.symbols
    _, V, momenta, by = _energies(d)
    falls = gradient(g, V, set(s.q))
    tau = with_slope(d, {q: g.sub(falls.get(q, ZERO), by.get(q, ZERO)) for q in s.q}, s.levels.of(momenta, 1))
    return [g.add(left, x) for left, x in zip(tau, _gamma(d, momenta), strict=True)]


def _gamma(d: Derivation, momenta: Sequence[Ref]) -> list[Ref]:
    """The Boltzmann-Hamel terms on all speeds."""
    gamma = [ZERO] * len(momenta)
    for k, x in gyroscopic(d.symbols, momenta):
        gamma[k] = d.graph.add(gamma[k], x)
    return gamma


def _energies(d: Derivation) -> tuple[Ref, Ref, list[Ref], dict[Ref, Ref]]:
    """Both energies, the momenta, and the derivatives of T by coordinates and speeds."""
    s, T, V = d.symbols, d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]
    by = gradient(d.graph, T, {*s.q, *s.v})
    return T, V, [by.get(v, ZERO) for v in s.v], by


def with_slope(d: Derivation, slope: Mapping[Ref, Ref], forces: Sequence[Ref]) -> list[Ref]:
    """*forces* on the speeds plus the forces of the *slope* by the coordinates."""
    g, s, total = d.graph, d.symbols, list(forces)
    for q, qdot in zip(s.q, s.motion_rates, strict=True):
        for k, share in s.by_speed(qdot, slope.get(q, ZERO)).items():
            total[k] = g.add(total[k], share)
    return total


def _steps(d: Derivation) -> Iterator[Step]:
    base = d.unconstrained
    g, s, names = base.graph, base.symbols, base.symbols.names
    T, V, momenta, by = _energies(base)
    yield Step(
        "Kinetic energy",
        "T = ½ ∑ I_j k_j²",
        "Andreev (1.8)",
        "In the speeds of the motions, without the constraints." if d.symbols.system.quasi else "",
        (one("T", T),),
    )
    yield Step(
        "Potential of the weight, of springs and of potentials", "V = −∑ m g · r + ½ ∑ C_j γ_j²", shown=(one("V", V),)
    )
    yield Step("Momenta", "p_s = ∂T/∂v_s", shown=named_momenta(names, momenta))
    yield Step("Their rates along the motion", "d p_s/d t", shown=named_momenta(names, s.levels.of(momenta, 1), "'"))
    none = [ZERO] * len(s.v)
    pulls = (("T", with_slope(base, by, none)), ("V", with_slope(base, gradient(g, V, set(s.q)), none)))
    shown = tuple(x for letter, row in pulls for x in slopes(letter, _pi(base), row))
    yield Step(
        "Slopes of both energies", "∂T/∂π_s,  ∂V/∂π_s", note="Those that are not shown are zero.", shown=nonzero(shown)
    )
    if gyroscopic(s, momenta):
        yield Step(
            "Terms of Boltzmann and Hamel",
            "γ_u = ω × ∂T/∂u,  γ_ω = ω × ∂T/∂ω + u × ∂T/∂u",
            note="For velocities that are rates of no coordinates.",
            shown=nonzero(each("gamma", names, _gamma(base, momenta))),
        )
    yield applied(d, "Andreev (2.1)", nonconservative_forces(d), "Generalised forces of what has no potential")
    if d.symbols.system.quasi:
        yield Step("Left sides in the speeds of the motions", shown=each("left", names, _left(base)))
        yield Step("Projected on the quasi-velocities", "∑ (∂v_k/∂w_s) left_k = Q_s + τ_s", "Maggi")
    else:
        yield Step(
            "Lagrange's equations of the second kind",
            "d/d t ∂T/∂v_s + γ_s − ∂(T − V)/∂π_s = Q_s + τ_s",
            "Andreev (1.8)",
        )


def _pi(d: Derivation) -> list[str]:
    """The name of the differentiation variable: the coordinate of a speed, or its quasi-coordinate, named by the speed alone."""
    known = set(d.symbols.system.q_names)
    return [n[:-1] if n[:-1] in known else f"pi.{n}" for n in d.symbols.names]


LAGRANGE = Formalism(
    name="lagrange", source="Andreev (1.8); Lagrange, Boltzmann and Hamel", residual=_residual, steps=_steps
)
