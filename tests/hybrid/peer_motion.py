"""Motions of plane machines of :mod:`tests.hybrid.peer` from event to event: each mode is the one solution of the laws, and is
integrated with dense equations, up to a gap, a normal force, an edge of a cone or a slip that comes to zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import solve_ivp

from tests.hybrid.peer import FloatArray, Machine, Solution
from tests.hybrid.random_machines import problem

#: Gap [m] and speed [m/s] at which a foot is on its plane; acceleration [m/s^2] with which it leaves or slips.
NEAR, LEAVES = 1e-7, 1e-6


@dataclass(frozen=True)
class Closed:
    """A *foot* on its plane, which slips in a *direction*, 0 where it sticks."""

    foot: int
    direction: float

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return 1 if self.direction else 2


def project(machine: Machine, q: FloatArray, v: FloatArray, mode: Sequence[Closed]) -> tuple[FloatArray, FloatArray]:
    """Coordinates and speeds on pins and closed feet."""
    still = np.zeros(len(v))
    for _ in range(4):
        poses = machine.poses(q, still)
        open_by = [poses[p.first].at(p.at_first)[0] - poses[p.second].at(p.at_second)[0] for p in machine.pins]
        feet = [machine.contact(q, still, machine.feet[one.foot]) for one in mode]
        A = np.vstack([machine.closure(q, still)[0], *(J[:1] for _, J, _ in feet)])
        q = q - np.linalg.pinv(A) @ np.concatenate([*(r[[0, 2]] for r in open_by), [gap for gap, _, _ in feet]])
    rows = [machine.contact(q, v, machine.feet[one.foot])[1][: one.rows] for one in mode]
    A, W = np.vstack([machine.closure(q, v)[0], *rows]), np.linalg.inv(machine.dynamics(q, v)[0])
    return q, v - W @ A.T @ np.linalg.pinv(A @ W @ A.T, rcond=1e-10) @ (A @ v)


def accelerations(
    machine: Machine, q: FloatArray, v: FloatArray, mode: Sequence[Closed]
) -> tuple[FloatArray, FloatArray]:
    """Accelerations, and forces of the rows of closed feet."""
    M, f = machine.dynamics(q, v)
    G, g = machine.closure(q, v)
    C, R, r = [G.T], [G], [g]
    for one in mode:
        foot = machine.feet[one.foot]
        _, J, bias = machine.contact(q, v, foot)
        slides = one.direction * foot.friction * J[1]
        J, bias = J[: one.rows], bias[: one.rows]
        C.append((J - slides).T if one.direction else J.T)
        R.append(J)
        r.append(-bias)
    W, rows, columns = np.linalg.inv(M), np.vstack(R), np.hstack(C)
    x = np.linalg.lstsq(rows @ W @ columns, np.concatenate(r) - rows @ W @ f, rcond=None)[0]
    return W @ (f + columns @ x), x[len(G) :]


def solution(machine: Machine, q: FloatArray, v: FloatArray, near: list[int], impact: bool, worn: set[int]) -> Solution:
    """The one solution of the laws at the feet *near*, of which the *worn* have a little less friction."""
    own = copy(machine)
    own.feet = [replace(f, friction=f.friction * (1 - 1e-7)) if k in worn else f for k, f in enumerate(machine.feet)]
    own.feet = [own.feet[k] for k in near]
    M = machine.dynamics(q, v)[0]
    found = problem(own, q, v, impact).solutions()
    found = [one for one in found if not impact or one.y @ M @ one.y <= v @ M @ v * (1 + 1e-12)]
    assert len(found) == 1, f"{len(found)} solutions"
    return found[0]


def guards(machine: Machine, mode: Sequence[Closed]) -> list[tuple[int, str, Callable[[float, FloatArray], float]]]:
    """Feet, what ends there, and functions of time and state that then fall to zero."""
    n, found, first = len(machine.q_names), list[tuple[int, str, Callable[[float, FloatArray], float]]](), 0

    def forces(y: FloatArray) -> FloatArray:
        return accelerations(machine, y[:n], y[n:], mode)[1]

    closed = {one.foot for one in mode}
    for k in range(len(machine.feet)):
        if k not in closed:
            found.append((k, "gap", lambda t, y, k=k: machine.contact(y[:n], y[n:], machine.feet[k])[0]))
    for one in mode:
        k, d, mu = one.foot, one.direction, machine.feet[one.foot].friction
        found.append((k, "force", lambda t, y, i=first: forces(y)[i]))
        if d:
            found.append(
                (k, "slip", lambda t, y, k=k, d=d: d * (machine.contact(y[:n], y[n:], machine.feet[k])[1] @ y[n:])[1])
            )
        else:
            found.append((k, "cone", lambda t, y, i=first, mu=mu: mu * forces(y)[i] - abs(forces(y)[i + 1])))
        first += one.rows
    return found


def move(machine: Machine, q: FloatArray, v: FloatArray, until: float) -> tuple[FloatArray, FloatArray]:
    """Coordinates and speeds at the time *until*; at most sixty changes on the way."""
    t, n, loose, worn = 0.0, len(q), set[int](), set[int]()
    for _ in range(60):
        if t >= until:
            return q, v
        at = [machine.contact(q, v, foot) for foot in machine.feet]
        near = [k for k, (gap, J, _) in enumerate(at) if gap < NEAR and (J @ v)[0] < NEAR]
        if any((at[k][1] @ v)[0] < -NEAR for k in near):
            v = solution(machine, q, v, near, True, set()).y
            continue
        near, mode = [k for k in near if k not in loose], list[Closed]()
        if near:
            one = solution(machine, q, v, near, False, worn)
            for k, force in zip(near, one.x, strict=True):
                a, slip = at[k][1] @ one.y + at[k][2], float((at[k][1] @ v)[1])
                begins = abs(a[1]) > LEAVES or k in worn
                if force[0] > 1e-9 or a[0] <= LEAVES:
                    slips = slip if abs(slip) > NEAR else float(a[1]) if begins else 0.0
                    mode.append(Closed(k, float(np.sign(slips))))
        q, v = project(machine, q, v, mode)
        watched = guards(machine, mode)
        events = [function for _, _, function in watched]
        for function in events:
            function.terminal, function.direction = True, -1  # type: ignore[attr-defined]
        run = solve_ivp(
            lambda t, y, mode=tuple(mode): np.concatenate([y[n:], accelerations(machine, y[:n], y[n:], mode)[0]]),
            (t, until),
            np.concatenate([q, v]),
            method="DOP853",
            rtol=1e-11,
            atol=1e-12,
            events=events,
            max_step=0.02,
        )
        t, q, v = run.t[-1], run.y[:n, -1], run.y[n:, -1]
        fired = [(k, what) for (k, what, _), times in zip(watched, run.t_events, strict=True) if len(times)]
        loose, worn = ({k for k, what in fired if what == end} for end in ("force", "cone"))
        stops = {k for k, what in fired if what == "slip"}
        q, v = project(machine, q, v, [Closed(one.foot, 0.0) if one.foot in stops else one for one in mode])
    raise AssertionError(f"sixty changes up to t = {t:g} s")
