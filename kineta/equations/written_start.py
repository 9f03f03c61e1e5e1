"""Written start of a model: its initial state, and the values of quantities there, in plain numbers without an array library."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt

from kineta import tolerances
from kineta.consistency.constraint_arrays import regular_residual
from kineta.equations.equations import Equations, equations_of
from kineta.errors import ExpressionError
from kineta.expr.loop_program import LoopProgram
from kineta.model.parameters import constants
from kineta.model.system import System
from kineta.passes.evaluate import evaluate, evaluate_program
from kineta.records import dataclass


@dataclass(frozen=True)
class WrittenStart:
    """Coordinates q (nq,), speeds v (nv,) and parameters p (np,) of *system* at the time t [s]."""

    system: System
    q: Sequence[float]
    v: Sequence[float]
    p: Sequence[float]
    t: float = 0.0

    @property
    def state(self) -> dict[str, float]:
        """Values by the names of the symbols."""
        s = self.system
        names = ("t", *s.q_names, *s.v_names, *s.parameter_names)
        return dict(zip(names, (self.t, *self.q, *self.v, *self.p), strict=True))

    @property
    def regular(self) -> bool:
        """True where all constraints are satisfied, and clearly independent of each other."""
        return not self.system.constraints or self.residual is not None

    @property
    def residual(self) -> float | None:
        """Largest residual of the constraints at a regular start, None elsewhere."""
        return regular_residual(equations_of(self.system), self.q, self.v, self.p)

    def values(self, equations: Equations, quantity: str, *given: Sequence[float]) -> list[float]:
        """Entries of *quantity* of *equations* at the start, for the last arguments *given*.

        Where plain numbers have none, as infinite ones on the way to a finite result, they are those of the backend ``numpy``;
        loops over links are compiled.
        """
        setup, main = equations.programs(quantity)
        backend = "llvm" if isinstance(main, LoopProgram) else "numpy"
        if backend == "numpy":
            try:
                return evaluate_program(main, [self.t], self.q, self.v, *given, evaluate_program(setup, self.p))
            except ExpressionError:
                pass
        found = equations.function(quantity, backend)(self.t, self.q, self.v, *given, p=self.p)
        return found.ravel().tolist()  # type: ignore[no-any-return]  # of an array


def written_start(system: System) -> WrittenStart:
    """The start of *system*; parameters without a value are one. Raises :class:`ArgumentError` as
    :func:`~kineta.equations.initial_values.initial_state` does.
    """
    p = {x.name: 1.0 if x.value is None else x.value for x in system.parameters if not x.fixed}
    known = p | constants(system.parameters)
    state = dict.fromkeys((*system.q_names, *system.v_names), 0.0)
    turned = set(system.quaternions)
    for name, e in system.expanded.initial:
        state[name] = evaluate(e.graph, [e.ref], known)[0] if e.value is None else e.value
        turned.discard(name.partition(".q")[0])
    state |= {f"{joint}.qw": 1.0 for joint in turned}
    plain = all(map(isfinite, state.values()))
    for joint in system.joints.values():
        if parts := joint.quaternion:
            length = sqrt(sum(state[n] ** 2 for n in parts))
            plain = plain and abs(length - 1) <= tolerances.WRITTEN_TOLERANCE
            state |= {n: state[n] / (length or 1.0) for n in parts}
    if not plain:
        # Lazy: it needs NumPy, and says what is wrong.
        from kineta.equations.initial_values import initial_state

        initial_state(system, p=p)
    q, v = ([state[n] for n in names] for names in (system.q_names, system.v_names))
    return WrittenStart(system, q, v, list(p.values()))
