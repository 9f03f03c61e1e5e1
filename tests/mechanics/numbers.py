"""Values of the quantities of a system at random states, to compare equivalent systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

import kineta as kn
from kineta.equations.initial_values import initial_state
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.constraints.rows import Row
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


def numbers(
    system: kn.System,
    at: Iterable[State],
    p: Mapping[str, float] | None = None,
    formalism: str = "newton_euler",
) -> dict[str, np.ndarray]:
    """Quantities of the system by name, a row for each of the states *at*."""
    equations = derived(system, formalism)
    names = [
        *PLAIN,
        "forward",
        "inverse",
        "reactions",
        *HELD * bool(system.constraints),
        *["zdot"] * bool(system.states),
    ]
    found: dict[str, list[np.ndarray]] = {}
    for name in names:
        try:
            f = equations.function(name, "numpy")
        except kn.KinetaError:
            continue
        for t, q, v in at:
            more = {"forward": [np.linspace(-1, 1, system.nv)], "inverse": [np.linspace(1, -1, system.nv)]}.get(
                name, []
            )
            with np.errstate(all="ignore"):
                value = f(t, q, v, *more, p=p)
            parts = value if isinstance(value, tuple) else (value,)
            found.setdefault(name, []).extend(np.ravel(x) for x in parts)
    return {name: np.concatenate(rows) for name, rows in found.items() if rows}


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
