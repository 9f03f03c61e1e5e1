"""Models with contacts, and the rows of these contacts from Jacobians and accelerations of points, as dense matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import kineta as kn
from kineta.equations.initial_values import initial_state
from kineta.integration.contact_records import ALONG, CLOSED, FLAGS, SLIPS, STUCK, ContactMotion
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.runtime.compiled import BoundSystem, bind_system
from kineta.runtime.constraint_treatment import FREE, PROJECTED
from kineta.runtime.parameter_checks import parameters
from tests.support import EXAMPLES

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Touch:
    """A *point* over the plane *height* above the ground along an *axis*, or above the body *on* along its z; or the gap
    *height* + *sign* times a coordinate, whose *speed* is given; or friction at a *speed*. Kinetic friction *mu*, or a force.
    """

    name: str
    mu: float = 0.0
    point: str = ""
    axis: int = 2
    on: str = ""
    height: float = 0.0
    speed: str = ""
    sign: float = 0.0
    smooth: float = 0.0

    @property
    def has_normal(self) -> bool:
        return bool(self.point) or self.sign != 0.0


@dataclass(frozen=True)
class Model:
    """A description, its contacts, and pairs of points that its loops hold together in the plane of x and y."""

    text: str
    touches: tuple[Touch, ...]
    pins: tuple[tuple[str, str], ...] = ()


def _example(name: str) -> str:
    return (EXAMPLES / f"{name}.kin").read_text(encoding="utf-8")


#: What is free, on legs, rocks, closed with a foot and a stop, rubs in its joint, rubs smoothly, and stands on a belt that rises
#: and turns; and two on one another.
MODELS = {
    "thrown_box": Model(_example("thrown_box"), tuple(Touch(f"floor.{k}", 0.4, k) for k in "ABCDEFGH")),
    "hopper": Model(_example("hopper"), (Touch("ground", 0.8, "Foot"),)),
    "rocking_block": Model(_example("rocking_block"), tuple(Touch(f"floor.{k}", 0.8, k) for k in ("Left", "Right"))),
    "footed four-bar": Model(
        _example("fourbar")
        + "contact foot : point between Coupler and ground axis (0, 1, 0), friction = 0.4; limit stop : theta <= 3;"
        "point K on Rocker = (c, 0, 0); point L on Coupler = (b, 0, 0);",
        (Touch("foot", 0.4, "Coupler", axis=1), Touch("stop.upper", speed="theta'", sign=-1.0, height=3.0)),
        (("K", "L"),),
    ),
    "rubbing": Model(_example("friction_oscillator"), (Touch("floor", 0.3, speed="x'"),)),
    "two on one another": Model(
        "gravity 9.81; A | Sx(x), Sz(z), Ry(q) = 2, 1, 1, 1; B | Sx(u), Sz(w), Ry(r) = 1, 1, 1, 1;"
        "point P on A = (1, 0, 0); point Q on A = (-1, 0, 0); point T on B = (0.3, 0, 0);"
        "coordinates x, z, q, u, w, r; friction hinge = 0.3 on r;"
        "contact floor : point between P, Q and ground axis (0, 0, 1), friction = 0.5;"
        "contact top : point between T and A at (0, 0, 0.2) axis (0, 0, 1), friction = 0.2, static = 0.3;",
        (
            Touch("hinge", 0.3, speed="r'"),
            Touch("floor.P", 0.5, "P"),
            Touch("floor.Q", 0.5, "Q"),
            Touch("top", 0.2, "T", on="A", height=0.2),
        ),
    ),
    "smooth": Model(
        "gravity 9.81; B | Sx(x), Sz(z), Ry(q) = 2, 1, 1, 1; coordinates x, z, q;"
        "point P on B = (1, 0, 0); point Q on B = (-1, 0, 0);"
        "contact floor : point between P, Q and ground axis (0, 0, 1), friction = 0.5, smooth = 0.3;",
        (Touch("floor.P", 0.5, "P", smooth=0.3), Touch("floor.Q", 0.5, "Q", smooth=0.3)),
    ),
    "on a belt": Model(
        "gravity 9.81; Belt | Sx(0.4*t), Sz(0.1*sin(3*t)), Ry(0.2*t^2) = 1, 1, 1, 1;"
        "B | Sx(x), Sz(z), Ry(q) = 2, 1, 1, 1; coordinates x, z, q;"
        "point P on B = (1, 0, 0); point Q on B = (-1, 0, 0); initial z = 0.5;"
        "contact floor : point between P, Q and Belt axis (0, 0, 1), friction = 0.5;",
        (Touch("floor.P", 0.5, "P", on="Belt"), Touch("floor.Q", 0.5, "Q", on="Belt")),
    ),
}


@dataclass(frozen=True)
class Rows:
    """Of m contacts: gaps (m,), and rows W (m, 3, nv) along n and two tangents with velocities u (m, 3) and their rates without
    accelerations b (m, 3); rows G (k, nv) of loops with residuals r (k,), velocities s (k,) and rates g (k,).
    """

    gap: FloatArray
    W: FloatArray
    u: FloatArray
    b: FloatArray
    G: FloatArray
    r: FloatArray
    s: FloatArray
    g: FloatArray


class DenseModel:
    """A model without its contacts, whose rows are made of quantities of points and bodies."""

    def __init__(self, name: str) -> None:
        self.model = MODELS[name]
        system = kn.loads(self.model.text)
        self.system = system
        self.equations = kn.derive(kn.loads(self._without(self.model.text)))

    @staticmethod
    def _without(text: str) -> str:
        """The text without contacts, and what speaks of their forces."""
        named = ("contact ", "friction ", "limit ", "output ", "when ")
        return ";".join(s for s in text.split(";") if not s.split("\n")[-1].strip().startswith(named))

    def quantity(self, name: str, q: FloatArray, v: FloatArray) -> FloatArray:
        """A quantity at t = 0.3; an acceleration without accelerations of the coordinates."""
        function = self.equations.function(name)
        more = (np.zeros(len(v)),) if name.startswith("acceleration") else ()
        return np.asarray(function(0.3, q, v, *more))

    def _place(self, name: str, q: FloatArray, v: FloatArray) -> tuple[FloatArray, ...]:
        """Position (3,), Jacobian (6, nv), velocity and acceleration (6,) of a point or body."""
        kinds = ("position", "jacobian", "velocity", "acceleration")
        return tuple(self.quantity(f"{kind}({name})", q, v) for kind in kinds)

    def _row(self, touch: Touch, q: FloatArray, v: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Gap, rows (3, nv), velocities (3,) and rates (3,) of a contact."""
        if not touch.point:
            k = self.system.v_names.index(touch.speed)
            W = np.zeros((3, len(v)))
            W[0 if touch.has_normal else 1, k] = touch.sign or 1.0
            return (touch.height + touch.sign * q[k] if touch.has_normal else 0.0), W, W @ v, np.zeros(3)
        p, J, u, a = self._place(touch.point, q, v)
        D = np.eye(3)[[touch.axis, *(k for k in range(3) if k != touch.axis)]]
        if not touch.on:
            return float(D[0] @ p), D @ J[:3], D @ u[:3], D @ a[:3]
        o, K, s, b = self._place(touch.on, q, v)
        D = D @ self.quantity(f"rotation({touch.on})", q, v).reshape(3, 3).T
        arm, w, e = p - o, s[3:], b[3:]
        jacobian = J[:3] - K[:3] - np.cross(np.eye(3), arm).T @ K[3:]
        slip = u[:3] - s[:3] - np.cross(w, arm)
        rate = a[:3] - b[:3] - np.cross(e, arm) - np.cross(w, np.cross(w, arm)) - 2 * np.cross(w, slip)
        return float(D[0] @ arm) - touch.height, D @ jacobian, D @ slip, D @ rate

    def rows(self, q: FloatArray, v: FloatArray) -> Rows:
        """All rows in a state."""
        found = [self._row(touch, q, v) for touch in self.model.touches]
        gap, W, u, b = (np.array(x) for x in zip(*found, strict=True))
        G, r, s, g = np.zeros((0, len(v))), np.zeros(0), np.zeros(0), np.zeros(0)
        for first, second in self.model.pins:
            (p, J, w, a), (o, K, z, c) = self._place(first, q, v), self._place(second, q, v)
            G, r, s, g = (
                np.concatenate(x) for x in ((G, (J - K)[:2]), (r, (p - o)[:2]), (s, (w - z)[:2]), (g, (a - c)[:2]))
            )
        return Rows(gap, W, u, b, G, r, s, g)

    def mass(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """M (nv, nv)."""
        return self.quantity("mass_matrix", q, v)

    def random_state(self, seed: int) -> tuple[FloatArray, FloatArray]:
        """Coordinates near the initial ones, and speeds, that keep loops and lengths of quaternions."""
        rng = np.random.default_rng(seed)
        q, v = initial_state(self.system)
        q, v = q + 0.1 * rng.normal(size=len(q)), rng.normal(size=len(v))
        for k in self.system.quaternions.values():
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        for _ in range(12 if self.model.pins else 0):
            rows = self.rows(q, v)
            q = q - np.linalg.pinv(rows.G) @ rows.r
        if self.model.pins:
            rows = self.rows(q, v)
            v = v - np.linalg.pinv(rows.G) @ rows.s
        return q, v


@cache
def dense(name: str) -> DenseModel:
    """The dense model of a name, made once."""
    return DenseModel(name)


@cache
def bound(name: str) -> BoundSystem:
    """The compiled system of a model, made once."""
    system = dense(name).system
    return bind_system(kn.derive(system), parameters(system, None), None, (), PROJECTED if system.constraints else FREE)


def motion_of(name: str, modes: Sequence[int], toward: FloatArray | None = None) -> ContactMotion:
    """A motion of a model in *modes*, with directions of slip *toward* (contacts, 2)."""
    contacts = bound(name).code.contacts
    assert contacts is not None
    flags = np.zeros((len(modes), FLAGS))
    for c, mode in enumerate(modes):
        shut = bool(contacts.problem.array("has_normal")[c]) and mode != OPEN
        rubs = contacts.problem.array("tangents")[c] > 0 and not dense(name).model.touches[c].smooth
        flags[c, CLOSED], flags[c, STUCK], flags[c, SLIPS] = shut, mode == STICKING, mode == SLIPPING and rubs
        if toward is not None and mode == SLIPPING and rubs:
            flags[c, ALONG : ALONG + 2] = toward[c]
    return contacts.motion(bound(name).with_flags(flags).h)


def state_of(name: str, q: FloatArray, v: FloatArray) -> FloatArray:
    """The state of a run, with its integrals zero."""
    return np.concatenate([q, v, np.zeros(bound(name).code.layout.sizes[0] - len(q) - len(v))])
