"""The formalism ``dalembert``: inertia and forces reduced to the speeds by structure matrices (Andreev (2.2)-(2.5))::

    sum of S_R^T m a_C + S_M^T (J eps + w x J w)  =  S_P^T P          S_R = dv_C/dv,  S_M = dw/dv,  S_P = drho'/dv

On the direct route: the transforms of every body are multiplied as described, every body keeps its mass and its own axes, and
every element is a list of pairs, a characteristic P and the rate rho' on which it works. The energies are::

    T = sum of (m v_C . v_C + w . J w) / 2     (1.1)          V = sum of C gamma^2 / 2 - sum of m g . r_C
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics.constraints.joint_reactions import without_loads
from kineta.mechanics.derivation import Derivation, scalar
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.from_residual import transmitted
from kineta.mechanics.kinematics.description_route import DirectRoute
from kineta.mechanics.narration import Shown, Step, each, nonzero, table, vectors
from kineta.model.body import GROUND
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench


def _residual(d: Derivation) -> list[Ref]:
    """The left side of (2.3) less the right side."""
    g, symbols, described = d.graph, d.symbols, DirectRoute(d.symbols)
    tau = [ZERO] * len(symbols.v)
    resisting = [p for body in symbols.system.bodies for p in described.inertia(body)]
    resisting += [p for r in inertia_elements.resistances(d) for p in inertia_elements.turning(d, r)]
    acting = [(neg(P), rate) for P, rate in described.acting()]
    for P, rate in (*resisting, *acting):
        for k, share in symbols.by_speed(rate, P).items():
            tau[k] = g.add(tau[k], share)
    return tau


def _freed(d: Derivation) -> dict[str, Wrench]:
    """The joint reactions: inertia and loads of all bodies beyond each joint, reduced to the origin of its body."""
    g, described, system = d.graph, DirectRoute(d.symbols), d.symbols.system
    bases, found = {b.name: b.base for b in system.bodies}, {b.name: Wrench.zero(g) for b in system.bodies}
    for name, own in described.needed().items():
        body = name
        while body != GROUND:
            arm = described.frames[name].r - described.frames[body].r
            found[body] = found[body] + Wrench(own.f, own.n + arm.cross(own.f))
            body = bases[body]
    return found


def _steps(d: Derivation) -> Iterator[Step]:
    s, described = d.symbols, DirectRoute(d.symbols)
    bodies = [b for b in s.system.bodies if any(P != ZERO for P, _ in described.inertia(b))]
    pairs = [list(described.inertia(b)) for b in bodies]
    what = "Bodies: " + ", ".join(f"{k} {b.name}" for k, b in enumerate(bodies, 1)) + "."
    v = [Vector(d.graph, *(rate for _, rate in own[:3])) for own in pairs]
    w = [Vector(d.graph, *(rate for _, rate in own[3:])) for own in pairs]
    yield Step(
        "Rates of the inertia elements",
        "v_C = ∑ (∂r_C/∂q_k) q̇_k + ∂r_C/∂t",
        "Andreev (1.2), (1.3), (1.5)",
        f"Velocities of the mass centres and angular velocities, in body axes. {what}",
        (*vectors("v", v), *vectors("w", w)),
    )
    structures = []
    for k, (velocity, turning) in enumerate(zip(v, w, strict=True), 1):
        structures += [_structure(d, f"SR{k}", velocity.refs), _structure(d, f"SM{k}", turning.refs)]
    yield Step(
        "Structure matrices of inertia",
        "S_R = ∂v_C/∂v,  S_M = ∂ω/∂v",
        "Andreev (2.2)",
        f"Columns belong to {', '.join(s.names)}. Those that are not shown are zero.",
        nonzero(structures),
    )
    f = [Vector(d.graph, *(P for P, _ in own[:3])) for own in pairs]
    n = [Vector(d.graph, *(P for P, _ in own[3:])) for own in pairs]
    yield Step(
        "What the masses resist with",
        "m a_C,  J ε + ω × J ω",
        "Andreev (2.2)",
        "The acceleration is measured against free fall, so the weight is in it.",
        (*vectors("f", f), *vectors("n", n)),
    )
    acting = list(described.acting())
    if acting:
        count = [str(j) for j in range(1, len(acting) + 1)]
        yield Step(
            "Force, elastic and dissipative elements",
            "δA = ∑ P_j δρ_j",
            "Andreev (1.10)",
            "Each a characteristic P and the rate on which it works.",
            (*each("P", count, (P for P, _ in acting)), *each("rate", count, (rate for _, rate in acting))),
        )
        yield Step(
            "Structure matrix of the forces",
            "Q = S_Pᵀ P",
            "Andreev (2.1)",
            shown=(_structure(d, "SP", [rate for _, rate in acting]),),
        )
    yield Step("D'Alembert's principle", "∑ S_Rᵀ m a_C + S_Mᵀ (J ε + ω × J ω) = S_Pᵀ P + τ", "Andreev (2.3)")


def _structure(d: Derivation, name: str, rates: Sequence[Ref]) -> Shown:
    """Structure matrix: derivatives of *rates* by the speeds, a row for each rate."""
    rows = [d.symbols.by_speed(rate) for rate in rates]
    return table(name, [[row.get(k, ZERO) for k in range(len(d.symbols.v))] for row in rows])


DALEMBERT = Formalism(
    name="dalembert",
    source="Andreev (1.1), (2.2)-(2.5)",
    residual=_residual,
    steps=_steps,
    rules={
        "reactions": lambda d: transmitted(d, without_loads(d, _freed(d))),
        "kinetic_energy": lambda d: scalar(DirectRoute(d.symbols).kinetic_energy()),
        "potential_energy": lambda d: scalar(DirectRoute(d.symbols).potential_energy()),
    },
)
