"""The formalism ``kane``: forces of inertia projected on the partial velocities (Gantmacher (15); Kane's equations)::

    sum of f . dv/dv_s + n . dw/dv_s  =  Q_s

with the force of inertia f and the couple n of every link about its origin, v and w its velocities.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.from_residual import moving
from kineta.mechanics.narration import Step, applied, links, nonzero, vector, vectors
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench


def _residual(d: Derivation) -> list[Ref]:
    tau = [d.graph.sub(own, Q) for own, Q in zip(inertia_elements.generalized(d), d.elements.forces, strict=True)]
    resisting = moving(d, d.symbols.vdot).wrenches(2)
    for i, (own, v, w) in enumerate(zip(resisting, d.kinematics.v, d.kinematics.w, strict=True)):
        applied = d.elements.wrenches.get(i, Wrench.zero(d.graph))
        left = own - applied
        for velocity, weight in zip((*v.refs, *w.refs), (*left.f.refs, *left.n.refs), strict=True):
            for s, share in d.symbols.by_speed(velocity, weight).items():
                tau[s] = d.graph.add(tau[s], share)
    return tau


def _steps(d: Derivation) -> Iterator[Step]:
    s = d.symbols
    motion = moving(d, s.vdot)
    v, w = d.kinematics.v, d.kinematics.w
    yield Step("Velocities of the links", note=links(d), shown=(*vectors("w", w), *vectors("v", v)))
    partial = []
    for i in range(len(w)):
        for letter, velocity in (("w", w[i]), ("v", v[i])):
            columns = [s.by_speed(x) for x in velocity.refs]
            for k, name in enumerate(s.names):
                column = Vector(d.graph, *(c.get(k, ZERO) for c in columns))
                partial.append(vector(f"d{letter}{i + 1}/d{name}", column))
    yield Step(
        "Partial velocities",
        "e_νs = ∂v_ν/∂π̇_s",
        "Gantmacher (10), (17)",
        "Those that are not shown are zero.",
        nonzero(partial),
    )
    yield Step(
        "Accelerations of the links, less gravity", shown=(*vectors("w'", motion.W(1)), *vectors("a", motion.X(2)))
    )
    own = motion.wrenches(2)
    yield Step(
        "What the masses need",
        "f = m (a + ε × c + ω × (ω × c)),  n = m c × a + J ε + ω × J ω",
        "Golubev (2.3)",
        "The force, and the couple about the link's origin.",
        (*vectors("f", (x.f for x in own)), *vectors("n", (x.n for x in own))),
    )
    yield applied(d, "Gantmacher (8), (9)")
    yield Step("Kane's equations", "∑ f · ∂v/∂v_s + n · ∂ω/∂v_s = Q_s + τ_s", "Gantmacher (15)")


KANE = Formalism(name="kane", source="Gantmacher (15), (17); Kane and Levinson", residual=_residual, steps=_steps)
