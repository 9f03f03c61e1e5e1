"""The formalism ``gauss``: the true accelerations minimise Gauss's constraint over all possible accelerations::

    Z = sum of m (a - F / m)^2 / 2          dZ/dvdot = tau

Z is quadratic in the accelerations, so its minimum is where its derivatives vanish. Terms without accelerations are omitted:
Z = S - sum of F . a.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation, scalar
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.from_residual import acceleration_energy, moving
from kineta.mechanics.narration import Step, applied, links, one, slopes, vectors
from kineta.passes.differentiate import gradient


def constraint(d: Derivation) -> Ref:
    """Gauss's constraint Z of the accelerations ``vdot``, without added forces tau."""
    g = d.graph
    motion = moving(d, d.symbols.vdot)
    work = [g.mul(Q, a) for Q, a in zip(d.elements.forces, d.symbols.vdot, strict=True)]
    for i, wrench in d.elements.wrenches.items():
        work += [wrench.f.dot(motion.X(2)[i]), wrench.n.dot(motion.W(1)[i])]
    return g.sub(acceleration_energy(d), g.sum(work))


def _residual(d: Derivation) -> list[Ref]:
    by = gradient(d.graph, d["gauss_constraint"].refs[0], set(d.symbols.vdot))
    return [by.get(a, ZERO) for a in d.symbols.vdot]


def _steps(d: Derivation) -> Iterator[Step]:
    s = d.symbols
    motion = moving(d, s.vdot)
    yield Step("Angular velocities", note=links(d), shown=vectors("w", motion.W(0)))
    yield Step(
        "Accelerations of the links, less gravity",
        "a − g",
        shown=(*vectors("w'", motion.W(1)), *vectors("a", motion.X(2))),
    )
    yield applied(d, "")
    yield Step(
        "Gauss's constraint",
        "Z = ∑ m (a − F/m)²/2",
        "Gauss 1829",
        "What does not contain accelerations is of no account and partly left out: `Z = ∑ m a²/2 − ∑ F · a`.",
        (one("Z", d["gauss_constraint"].refs[0]),),
    )
    names = [f"{n}'" for n in s.names]
    yield Step(
        "It is least where its slope is balanced by the added forces",
        "∂Z/∂v̇_s = τ_s",
        shown=slopes("Z", names, _residual(d)),
    )


GAUSS = Formalism(
    name="gauss",
    source="Gauss 1829; Rodionov",
    residual=_residual,
    steps=_steps,
    rules={"gauss_constraint": lambda d: scalar(constraint(d))},
)
