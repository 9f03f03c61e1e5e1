"""Values of the quantities of a system at random states, to compare equivalent systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache, partial

import numpy as np

import kineta as kn
from kineta.equations.formulas import Formulas, simplified
from kineta.equations.function import Function
from kineta.equations.initial_values import initial_state
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.constraints.rows import Row
from kineta.mechanics.derivation import Array
from kineta.mechanics.quantities import quantity
from kineta.passes.evaluate import evaluate

#: Quantities of a state, of every system, and of one with constraints.
PLAIN = ("kinetic_energy", "potential_energy", "mass_matrix", "bias", "positions", "velocities", "outputs", "power")
HELD = ("constraints", "constraint_jacobian", "multipliers", "constraint_reactions", "loop_reactions")
#: A state: the time, coordinates, speeds.
State = tuple[float, np.ndarray, np.ndarray]


def states(system: kn.System, seed: int, count: int = 2, off: float = 0.2) -> list[State]:
    """States within about *off* of the start, with unit quaternions."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        q, v = initial_state(system)
        q, v = q + off * rng.normal(size=system.nq), v + 2.5 * off * rng.normal(size=system.nv)
        for k in system.quaternions.values():
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        found.append((float(rng.uniform(0, 1)), q, v))
    return found


@lru_cache(maxsize=4)
def derived(system: kn.System, formalism: str = "newton_euler") -> kn.Equations:
    """Equations that are asked again and again for other values of parameters."""
    return kn.derive(system, formalism=formalism)


def names_of(system: kn.System) -> list[str]:
    """Names of the quantities that are compared."""
    more = [*HELD * bool(system.constraints), *["zdot"] * bool(system.states)]
    return [*PLAIN, "forward", "inverse", "reactions", *more]


@lru_cache(maxsize=4)
def functions(system: kn.System, formalism: str) -> dict[str, Function]:
    """The quantities that *system* has, as functions: derived and simplified together, which takes a part of the time."""
    equations, found = derived(system, formalism), dict[str, Function]()
    for solved in (True, False):
        try:
            own = equations.settled() if solved else equations
        except kn.KinetaError:
            continue
        d, arrays = own.alone(), dict[str, Array]()
        for name in names_of(system):
            if quantity(name).solved == solved and not own.method.loops_suit(own.system, name):
                with suppress(kn.KinetaError):
                    arrays[name] = d[name]
        refs = [r for array in arrays.values() for r in array.refs]
        shown, together = simplified(d, {"all": refs}, own.system.parameter_names)
        rest = iter(together["all"])
        for name, array in arrays.items():
            made = Formulas(shown, name, array.of([next(rest) for _ in array.refs]))
            own.memo((Formulas, name), partial(lambda x: x, made))
    for name in names_of(system):
        with suppress(kn.KinetaError):
            found[name] = equations.function(name, "numpy")
    return found


def numbers(
    system: kn.System,
    at: Iterable[State],
    p: Mapping[str, float] | None = None,
    formalism: str = "newton_euler",
) -> dict[str, np.ndarray]:
    """Quantities of the system by name, entry by entry, at the states *at*."""
    t, q, v = (np.array(column) for column in zip(*at, strict=True))
    tau = np.linspace(-1, 1, system.nv)
    found: dict[str, np.ndarray] = {}
    for name, f in functions(system, formalism).items():
        more = {"forward": [tau], "inverse": [-tau]}.get(name, [])
        with np.errstate(all="ignore"):
            value = f(t, q, v, *more, p=p)
        parts = value if isinstance(value, tuple) else (value,)
        found[name] = np.concatenate([np.ravel(x) for x in parts])
    return found


def touching(system: kn.System, at: Iterable[State], p: Mapping[str, float] = {}) -> np.ndarray:
    """Gaps, slip velocities, their derivatives, friction and restitution of all contacts; conditions and settings of switches."""
    d = derived(system).alone()
    refs = [
        r
        for touch in d.contacts
        for row in touch.rows
        for r in (*row.levels, row.rest, *_dense(row, system.nv), touch.bound, touch.static, touch.restitution)
    ]
    refs += [t.smooth for t in d.contacts if t.smooth is not None]
    plain = system.expanded
    refs += d.expression(*(x for s in plain.switches for x in (s.value, *(y for _, y in s.sets))))
    known = {q.name: q.value for q in system.parameters} | dict(p)
    rows = []
    for t, q, v in at:
        state = {"t": t, **dict.fromkeys((f"tau[{n}]" for n in d.symbols.names), 0.0)}
        state |= {**dict(zip(system.q_names, q, strict=True)), **dict(zip(d.symbols.names, v, strict=True))}
        rows += evaluate(d.graph, refs, {**known, **state})
    return np.array(rows)


def _dense(row: Row, speeds: int) -> list[Ref]:
    """The derivatives of a row by all speeds."""
    return [row.gradient.get(k, ZERO) for k in range(speeds)]


def initial(system: kn.System, p: Mapping[str, float] | None = None) -> np.ndarray:
    """The state at the start."""
    return np.concatenate(initial_state(system, p=p))


def same(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray], tolerance: float = 1e-12) -> None:
    """Assert that quantities agree relative to the largest entry of each."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.shape == other[name].shape, name
        size = max(1.0, float(np.abs(value[np.isfinite(value)]).max(initial=0.0)))
        np.testing.assert_allclose(other[name], value, rtol=0, atol=tolerance * size, err_msg=name)
