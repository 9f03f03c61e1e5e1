"""Second derivatives of inverse and forward dynamics, against differences of first ones and SymPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kineta.algebra.expression import symbol
from kineta.equations.equations import Equations, derive
from kineta.model.body import body, inertia
from kineta.model.io import load
from kineta.model.joints.ball import Ball
from kineta.model.joints.rotation import Rx, Rz
from kineta.model.joints.shift import Sx
from kineta.model.system import System
from tests.support import quick_but

EXAMPLES = Path(__file__).parents[2] / "examples"
PARTS = {
    "inverse_by_qq": ("inverse_by_q", "q"),
    "inverse_by_qv": ("inverse_by_q", "v"),
    "inverse_by_vv": ("inverse_by_v", "v"),
    "mass_matrix_by_q": ("mass_matrix", "q"),
    "forward_by_qq": ("forward_by_q", "q"),
    "forward_by_qv": ("forward_by_q", "v"),
    "forward_by_vv": ("forward_by_v", "v"),
    "forward_by_qtau": ("forward_by_q", "tau"),
}
#: Weights of a derivative by central differences of the order 6, and their step: errors are 1e-12 and 1e-13 / step.
WEIGHTS, STEP = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}, 5e-3


def _arm() -> System:
    """A link that turns, with one on a ball joint."""
    full = inertia(1.2, (0.02, 0.03, 0.025), (0.001, -0.002, 0.003), com=(0.15, 0.02, 0.05))
    bodies = [
        body("a", [Rz(symbol("q1"))], full),
        body("b", [Sx(0.3), Rx(0.7), Ball("s")], full, base="a"),
    ]
    return System("arm", bodies, gravity=(0.3, 0, -9.81))


def _differences(equations: Equations, first: str, block: str, state: dict[str, np.ndarray]) -> np.ndarray:
    """The derivative of the quantity *first* by a *block*, in directions of the speeds, along a last axis."""
    function, qdot = equations.function(first), equations.function("qdot")
    columns = []
    for k in range(equations.system.nv):
        unit = np.eye(equations.system.nv)[k]
        along = qdot(0.0, state["q"], unit) if block == "q" else unit
        total = 0.0
        for n, weight in WEIGHTS.items():
            values = [
                function(*({**state, block: state[block] + s * n * STEP * along}[a] for a in function.arguments))
                for s in (1, -1)
            ]
            total = total + weight * (values[0] - values[1]) / STEP
        columns.append(total)
    return np.stack(columns, axis=-1)


def _state(system: System, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, system.nq)
    for offset in system.quaternions.values():
        q[offset : offset + 4] /= np.linalg.norm(q[offset : offset + 4])
    v, tau, vdot = rng.uniform(-1, 1, (3, system.nv))
    return {"t": np.float64(0.0), "q": q, "v": v, "tau": tau, "vdot": vdot}


@pytest.mark.parametrize("name", quick_but(PARTS, [n for n in PARTS if "qq" in n or n == "forward_by_qv"]))
def test_against_differences_of_first_derivatives(name: str) -> None:
    equations = derive(_arm())
    state, function = _state(equations.system, 1), equations.function(name)
    found = function(*(state[a] for a in function.arguments))
    right = _differences(equations, *PARTS[name], state)
    assert found == pytest.approx(right, rel=1e-9, abs=1e-9 * np.abs(right).max())


@pytest.mark.slow
def test_a_closed_system() -> None:
    equations = derive(load(EXAMPLES / "fourbar.kin")).settled()
    state = _state(equations.system, 2)
    found = equations.function("forward_second_derivatives")(*(state[a] for a in ("t", "q", "v", "tau")))
    for name, own in found._asdict().items():
        right = _differences(equations, *PARTS[name], state)
        assert own == pytest.approx(right, rel=1e-7, abs=1e-7 * max(1, np.abs(right).max())), name


@pytest.mark.slow
def test_against_sympy() -> None:
    """A double pendulum, its accelerations differentiated twice by SymPy."""
    sympy = pytest.importorskip("sympy")
    equations = derive(load(EXAMPLES / "double_pendulum.kin"))
    s = equations.system
    own = equations.sympy("forward")
    names = {str(x): x for x in own.free_symbols}
    q, v, tau = (
        [names.get(n, sympy.Symbol(n)) for n in row] for row in (s.q_names, s.v_names, [f"tau[{n}]" for n in s.v_names])
    )
    state = _state(s, 3)
    p = {x.name: x.value for x in s.parameters}
    values = dict(zip([*q, *v, *tau], [*state["q"], *state["v"], *state["tau"]], strict=True))
    values |= {names[n]: x for n, x in p.items() if n in names}
    found = equations.function("forward_second_derivatives")(*(state[a] for a in ("t", "q", "v", "tau")))
    for part, (left, right) in zip(found, ((q, q), (q, v), (v, v), (q, tau)), strict=True):
        expected = [[[float(own[i].diff(a).diff(b).subs(values)) for b in right] for a in left] for i in range(s.nv)]
        assert part == pytest.approx(np.array(expected), rel=1e-12, abs=1e-12)


@pytest.mark.slow
def test_displacements_along_coordinates_commute() -> None:
    equations = derive(load(EXAMPLES / "puma560.kin"))
    state = _state(equations.system, 4)
    by_qq, by_qv, by_vv, _ = equations.function("inverse_second_derivatives")(
        *(state[a] for a in ("t", "q", "v", "vdot"))
    )
    for tensor in (by_qq, by_vv):
        assert tensor == pytest.approx(tensor.transpose(0, 2, 1), rel=1e-12, abs=1e-12 * np.abs(tensor).max())
    assert by_qv.shape == (6, 6, 6)
