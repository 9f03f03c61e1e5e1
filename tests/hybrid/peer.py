"""A small solver of machines that touch, from the theory, with dense matrices and exact cones.

Bodies are composed of elementary turns and shifts; Jacobians J of places and their rates follow by recursion along the
tree (Wittenburg, chapter 5), the mass matrix M and the forces f from them. At contacts, and at the pins of loops,

    M y = b + G' mu + J' x,   G y = g,   s = J y + c,

where y are accelerations (b = f) or the speeds after an impact (b = M v), and x and s obey Signorini's and Coulomb's
laws (Brogliato, Nonsmooth Mechanics, chapter 5). All solutions are found: every contact may open, stick or slip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import minimize

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def cross(a: FloatArray) -> FloatArray:
    """The matrix of a x."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0.0]])


def turn(axis: FloatArray, angle: float) -> FloatArray:
    """The rotation about a unit *axis*."""
    K = cross(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def quaternion(w: float, x: float, y: float, z: float) -> FloatArray:
    """The rotation of a unit quaternion, scalar first."""
    K = cross(np.array([x, y, z]))
    return np.eye(3) + 2 * w * K + 2 * K @ K


@dataclass(frozen=True)
class Motion:
    """A turn ``R`` or a shift ``S`` along the *axis* x, y or z by a number or a coordinate; ``Free`` by the name of its block."""

    kind: str
    axis: str
    by: float | str


@dataclass(frozen=True)
class Link:
    """A body on the link *base*, or on the ground (-1); *moments* (3,) are central, *com* (3,) is in its frame."""

    name: str
    base: int
    motions: tuple[Motion, ...]
    mass: float
    moments: tuple[float, float, float]
    com: tuple[float, float, float]


@dataclass(frozen=True)
class Foot:
    """A place of a link that may touch the plane z = 0 of a frame, whose *origin* (3,) and axes (3, 3) are in the link *on*."""

    link: int
    place: FloatArray
    on: int
    origin: FloatArray
    axes: FloatArray
    friction: float
    restitution: float


@dataclass(frozen=True)
class Pin:
    """Places (3,) of two links that are one: a ball joint, of a plane machine a revolute one."""

    first: int
    at_first: FloatArray
    second: int
    at_second: FloatArray


@dataclass(frozen=True)
class Pose:
    """Of a frame: axes R (3, 3), place p, Jacobians of velocity and angular velocity (3, nv), their rates at constant speeds."""

    R: FloatArray
    p: FloatArray
    V: FloatArray
    W: FloatArray
    a: FloatArray
    e: FloatArray
    w: FloatArray

    def at(self, place: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, Jacobian and acceleration at constant speeds of a *place* given in the frame."""
        r = self.R @ place
        return (
            self.p + r,
            self.V - cross(r) @ self.W,
            self.a + np.cross(self.e, r) + np.cross(self.w, np.cross(self.w, r)),
        )


@dataclass
class Machine:
    """Links, what they touch, springs and dampers on coordinates: name to stiffness, rest and damping."""

    links: list[Link]
    plane: bool
    springs: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    pins: list[Pin] = field(default_factory=list)
    feet: list[Foot] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.q_names: list[str] = []
        self.v_names: list[str] = []
        for link in self.links:
            for m in link.motions:
                if m.kind == "Free":
                    self.q_names += [f"{m.by}.{k}" for k in "x y z qw qx qy qz".split()]
                    self.v_names += [f"{m.by}.{k}" for k in "vx vy vz wx wy wz".split()]
                elif isinstance(m.by, str):
                    self.q_names.append(m.by)
                    self.v_names.append(m.by + "'")

    def poses(self, q: FloatArray, v: FloatArray) -> list[Pose]:
        """The frames of all links, and that of the ground last."""
        nv = len(v)
        zero, none = np.zeros((3, nv)), np.zeros(3)
        found: list[Pose] = []
        ground = Pose(np.eye(3), none, zero, zero, none, none, none)
        for link in self.links:
            base = found[link.base] if link.base >= 0 else ground
            R, p, V, W, a, e, w = (x.copy() for x in (base.R, base.p, base.V, base.W, base.a, base.e, base.w))
            for m in link.motions:
                if m.kind == "Free":
                    i, k = self.q_names.index(f"{m.by}.x"), self.v_names.index(f"{m.by}.vx")
                    R, p = quaternion(*q[i + 3 : i + 7]), q[i : i + 3].copy()
                    V[:, k : k + 3], W[:, k + 3 : k + 6] = R, R
                    w = W @ v
                    a = np.cross(w, V @ v)
                    continue
                u = R[:, "xyz".index(m.axis)]
                moves = isinstance(m.by, str)
                x = q[self.q_names.index(m.by)] if isinstance(m.by, str) else m.by
                k = self.v_names.index(f"{m.by}'") if moves else -1
                rate = v[k] if moves else 0.0
                if m.kind == "S":
                    r = u * x
                    V -= cross(r) @ W
                    a += np.cross(e, r) + np.cross(w, np.cross(w, r)) + 2 * rate * np.cross(w, u)
                    p += r
                    if moves:
                        V[:, k] += u
                else:
                    if moves:
                        e += rate * np.cross(w, u)
                        W[:, k] += u
                        w = w + rate * u
                    R = R @ turn(np.eye(3)["xyz".index(m.axis)], x)
            found.append(Pose(R, p, V, W, a, e, w))
        return [*found, ground]

    def dynamics(self, q: FloatArray, v: FloatArray, gravity: float = 9.81) -> tuple[FloatArray, FloatArray]:
        """M (nv, nv), and f (nv,): the forces of springs, dampers, weight and inertia."""
        M, f, g = np.zeros((len(v), len(v))), np.zeros(len(v)), np.array([0, 0, -gravity])
        for link, pose in zip(self.links, self.poses(q, v), strict=False):
            _, J, a = pose.at(np.array(link.com))
            inertia = pose.R @ np.diag(link.moments) @ pose.R.T
            M += link.mass * J.T @ J + pose.W.T @ inertia @ pose.W
            f -= link.mass * J.T @ (a - g) + pose.W.T @ (inertia @ pose.e + np.cross(pose.w, inertia @ pose.w))
        for name, (c, rest, d) in self.springs.items():
            i, k = self.q_names.index(name), self.v_names.index(name + "'")
            f[k] -= c * (q[i] - rest) + d * v[k]
        return M, f

    def closure(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """G, and g: the rows of pins are G a = g for accelerations."""
        poses, G, g = self.poses(q, v), [np.zeros((0, len(v)))], [np.zeros(0)]
        keep = [0, 2] if self.plane else [0, 1, 2]
        for pin in self.pins:
            _, J, a = poses[pin.first].at(pin.at_first)
            _, K, b = poses[pin.second].at(pin.at_second)
            G.append((J - K)[keep])
            g.append((b - a)[keep])
        return np.vstack(G), np.concatenate(g)

    def contact(self, q: FloatArray, v: FloatArray, foot: Foot) -> tuple[float, FloatArray, FloatArray]:
        """Gap; rows (3, nv) of the relative velocity along normal and axes of the plane; their rates at constant speeds."""
        poses = self.poses(q, v)
        other = poses[foot.on]
        p, J, a = poses[foot.link].at(foot.place)
        D = (other.R @ foot.axes)[:, [2, 0, 1]]
        _, K, b = other.at(other.R.T @ (p - other.p))
        gap = D[:, 0] @ (p - other.p - other.R @ foot.origin)
        relative = (J - K) @ v
        return float(gap), D.T @ (J - K), D.T @ (a - b - 2 * np.cross(other.w, relative))


@dataclass(frozen=True)
class Solution:
    """Speeds or accelerations, forces (n, 3), and whether the forces are determined."""

    y: FloatArray
    x: FloatArray
    determined: bool


@dataclass
class Problem:
    """Contacts at one instant: rows S (n, 3, nv), what is added to them c (n, 3), friction (n,), directions of slip (n, 2).

    Where a contact slips in the direction d, its force is x_n (1, -mu d); d is NaN where none slips.
    """

    M: FloatArray
    b: FloatArray
    G: FloatArray
    g: FloatArray
    S: FloatArray
    c: FloatArray
    friction: FloatArray
    slip: FloatArray
    plane: bool

    def __post_init__(self) -> None:
        A, n = np.linalg.inv(self.M), len(self.S)
        H = A
        y0 = A @ self.b
        if len(self.G):
            K = A @ self.G.T @ np.linalg.inv(self.G @ A @ self.G.T)
            H = A - K @ self.G @ A
            y0 = y0 + K @ (self.g - self.G @ y0)
        rows = self.S.reshape(3 * n, len(self.M))
        self.H, self.y0 = H, y0
        self.W, self.s0 = rows @ H @ rows.T, rows @ y0 + self.c.reshape(-1)

    def speeds(self, x: FloatArray) -> FloatArray:
        """Y of the forces *x* (n, 3)."""
        return self.y0 + self.H @ self.S.reshape(3 * len(self.S), len(self.M)).T @ x.reshape(-1)

    def modes(self) -> Iterator[tuple[str, ...]]:
        """What each contact may do: ``o`` open, ``t`` stick, ``s`` slip; a digit of a direction where slip begins."""
        begins = "+-" if self.plane else "s"
        yield from product(*("ot" + begins if np.isnan(d).any() else "og" for d in self.slip))

    def solutions(self) -> list[Solution]:
        """All of them; those with the same y are one, determined if all their forces are."""
        found: list[Solution] = []
        for mode in self.modes():
            for one in self._in_mode(mode):
                same = next(
                    (k for k, o in enumerate(found) if np.abs(o.y - one.y).max() < 1e-7 * (1 + np.abs(one.y).max())),
                    None,
                )
                if same is None:
                    found.append(one)
                else:
                    other = found[same]
                    near = np.abs(other.x - one.x).max() < 1e-7 * (1 + np.abs(one.x).max())
                    found[same] = Solution(other.y, other.x, other.determined and one.determined and bool(near))
        return found

    def _in_mode(self, mode: tuple[str, ...]) -> Iterator[Solution]:
        turning = [i for i, m in enumerate(mode) if m == "s"]
        if not turning:
            yield from self._given(mode, {})
            return
        starts = np.linspace(0, 2 * np.pi, 8 if len(turning) < 3 else 5, endpoint=False)
        seen: list[FloatArray] = []
        for start in product(starts, repeat=len(turning)):
            angles = self._directions(mode, turning, np.array(start))
            if angles is None or any(np.abs(np.exp(1j * angles) - np.exp(1j * o)).max() < 1e-6 for o in seen):
                continue
            seen.append(angles)
            yield from self._given(mode, dict(zip(turning, angles.tolist(), strict=True)))

    def _directions(self, mode: tuple[str, ...], turning: list[int], angles: FloatArray) -> FloatArray | None:
        """Angles of slip along which friction acts, by Newton's method."""

        def off(angles: FloatArray) -> FloatArray | None:
            solved = self._linear(mode, dict(zip(turning, angles.tolist(), strict=True)))
            if solved is None:
                return None
            s = (self.W @ solved[0].reshape(-1) + self.s0).reshape(-1, 3)[turning, 1:]
            d = np.stack([np.cos(angles), np.sin(angles)], 1)
            return s[:, 0] * d[:, 1] - s[:, 1] * d[:, 0]

        for _ in range(30):
            r = off(angles)
            if r is None:
                return None
            steps = [off(angles + 1e-7 * e) for e in np.eye(len(angles))]
            if any(s is None for s in steps):
                return None
            J = np.array([(s - r) / 1e-7 for s in steps if s is not None]).T
            if abs(np.linalg.det(J)) < 1e-12:
                return None
            move = np.linalg.solve(J, r)
            angles = angles - move * min(1.0, 0.7 / max(np.abs(move).max(), 0.1))
            if np.abs(move).max() < 1e-12:
                return np.mod(angles, 2 * np.pi)
        return None

    def _columns(self, mode: tuple[str, ...], angles: dict[int, float]) -> tuple[FloatArray, list[int]]:
        """Columns (3n, k) that make forces of unknowns, and the rows that are zero."""
        columns, rows = [], []
        n = len(mode)
        for i, m in enumerate(mode):
            if m == "o":
                continue
            E = np.zeros((3 * n, 3))
            E[3 * i : 3 * i + 3] = np.eye(3)
            if m == "t":
                keep = [0, 1] if self.plane else [0, 1, 2]
                columns.append(E[:, keep])
                rows += [3 * i + k for k in keep]
                continue
            if m == "g":
                d = -self.slip[i]
            elif m == "s":
                d = np.array([np.cos(angles[i]), np.sin(angles[i])])
            else:
                d = np.array([1.0 if m == "+" else -1.0, 0])
            columns.append(E @ np.array([[1.0], [self.friction[i] * d[0]], [self.friction[i] * d[1]]]))
            rows.append(3 * i)
        return np.hstack([np.zeros((3 * n, 0)), *columns]), rows

    def _linear(self, mode: tuple[str, ...], angles: dict[int, float]) -> tuple[FloatArray, FloatArray | None] | None:
        """Forces (n, 3) with which the rows of a mode are zero, and the columns of those that change nothing."""
        C, rows = self._columns(mode, angles)
        if not rows:
            return np.zeros((len(mode), 3)), None
        A, r = self.W[rows] @ C, -self.s0[rows]
        U, sigma, Vt = np.linalg.svd(A)
        rank = int((sigma > 1e-9 * max(sigma[0], 1e-300)).sum())
        z = Vt[:rank].T @ ((U.T @ r)[:rank] / sigma[:rank])
        if np.abs(A @ z - r).max() > 1e-8 * (1 + np.abs(r).max()):
            return None
        return (C @ z).reshape(-1, 3), (C @ Vt[rank:].T if rank < len(rows) else None)

    def _given(self, mode: tuple[str, ...], angles: dict[int, float]) -> Iterator[Solution]:
        solved = self._linear(mode, angles)
        if solved is None:
            return
        x, free = solved
        if free is not None:
            x = self._within(x, free)
        y = self.speeds(x)
        if not self.faults(y, x):
            yield Solution(y, x, free is None)

    def _within(self, x: FloatArray, free: FloatArray) -> FloatArray:
        """Forces *x* moved along the columns *free* so that the least room in a cone is largest."""
        scale = max(1.0, np.abs(x).max())

        def room(z: FloatArray) -> FloatArray:
            f = x + (free @ z[1:] * scale).reshape(-1, 3)
            return np.asarray(self.friction * f[:, 0] - np.sqrt(f[:, 1] ** 2 + f[:, 2] ** 2 + 1e-24)) / scale - z[0]

        start = np.concatenate([[room(np.zeros(free.shape[1] + 1)).min()], np.zeros(free.shape[1])])
        bounds = [(None, 1.0)] + [(None, None)] * free.shape[1]
        best = minimize(
            lambda z: -z[0], start, constraints={"type": "ineq", "fun": room}, bounds=bounds, method="SLSQP"
        )
        return x + (free @ best.x[1:] * scale).reshape(-1, 3)

    def faults(self, y: FloatArray, x: FloatArray, tolerance: float = 1e-7) -> list[str]:
        """What *y* and forces *x* (n, 3) do against the laws, in words; *tolerance* relative to the largest force and speed."""
        said = []
        rows = self.S.reshape(3 * len(self.S), len(self.M))
        left = self.M @ y - self.b - rows.T @ x.reshape(-1)
        if len(self.G):
            Q = null_space(self.G)
            left = Q.T @ left
            if np.abs(self.G @ y - self.g).max() > tolerance * (1 + np.abs(self.g).max()):
                said.append("pins part")
        force, speed = 1 + np.abs(x).max() + np.abs(self.b).max(), 1 + np.abs(self.s0).max()
        if np.abs(left).max() > tolerance * force:
            said.append(f"forces do not balance by {np.abs(left).max():.1e}")
        s = (rows @ y).reshape(-1, 3) + self.c
        for i, (f, u) in enumerate(zip(x, s, strict=True)):
            mu, size, slips = self.friction[i], float(np.hypot(f[1], f[2])), float(np.hypot(u[1], u[2]))
            if f[0] < -tolerance * force:
                said.append(f"contact {i} pulls with {-f[0]:.1e}")
            if size > mu * f[0] + tolerance * force:
                said.append(f"contact {i}: friction {size:.3e} is more than {mu * f[0]:.3e}")
            if u[0] < -tolerance * speed:
                said.append(f"contact {i} closes with {u[0]:.1e}")
            if f[0] > tolerance * force and u[0] > tolerance * speed:
                said.append(f"contact {i} pushes with {f[0]:.1e} while it opens with {u[0]:.1e}")
            if not np.isnan(self.slip[i]).any():
                if np.abs(f[1:] + mu * f[0] * self.slip[i]).max() > tolerance * force:
                    said.append(f"contact {i}: friction is not against its slip")
            elif (
                slips > tolerance * speed
                and u[0] < tolerance * speed
                and np.abs(f[1:] * slips + mu * f[0] * u[1:]).max()
                > tolerance * force * slips + tolerance * speed * size
            ):
                said.append(f"contact {i}: friction is not against the slip that begins")
        return said
