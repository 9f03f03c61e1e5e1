"""Random systems with every kind of motion and element, and random states for them; all seeded."""

from __future__ import annotations

import math
import random

import numpy as np

from kineta.algebra.expression import Expr, symbol
from kineta.algebra.functions import cos, sin
from kineta.model.body import Body, Station, body, inertia, station, vector
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.elements.couple import Couple
from kineta.model.elements.damper import Damper, line_damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce, line_force
from kineta.model.elements.potential import Potential
from kineta.model.elements.smooth_friction import SmoothFriction
from kineta.model.elements.spring import Spring, line_spring
from kineta.model.joints.ball import Ball
from kineta.model.joints.free import Free
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import R, Rotation, Rx, Ry, Rz
from kineta.model.joints.shift import S, Sx, Sy, Sz
from kineta.model.kind import Element
from kineta.model.system import System

TIME = symbol("t")


def random_inertia(rng: random.Random, mass: Expr | float) -> object:
    """A full inertia of a physical body: particles at random places."""
    points = np.array([[rng.uniform(-0.3, 0.3) for _ in range(3)] for _ in range(6)])
    points -= points.mean(axis=0)
    second = points.T @ points
    J = np.trace(second) * np.eye(3) - second
    com = [rng.uniform(-0.2, 0.2) for _ in range(3)]
    return inertia(mass, J.diagonal(), (J[0, 1], J[0, 2], J[1, 2]), com=com)


def random_motion(rng: random.Random, i: int, coordinates: list[Expr], *, rheonomic: bool) -> list[Motion]:
    """One or two motions with a new coordinate, sometimes between fixed motions."""
    fixed: list[Motion] = rng.choice(
        [[], [Sx(rng.uniform(-1, 1))], [Ry(rng.uniform(-2, 2)), Sz(0.4)], [Rx(math.pi / 2)]]
    )
    q = symbol(f"q{i}")
    axis = [rng.gauss(0, 1) for _ in range(3)]
    kinds = ["turn", "turn", "shift", "axis", "slide", "screw", "universal", "ball", "free", "nonlinear"]
    kinds += ["mimic"] * bool(coordinates) + ["driven"] * rheonomic
    match rng.choice(kinds):
        case "turn":
            own: list[Motion] = [rng.choice((Rx, Ry, Rz))(q)]
        case "shift":
            own = [rng.choice((Sx, Sy, Sz))(q)]
        case "axis":
            own = [R(axis, q)]
        case "slide":
            own = [S(axis, q)]
        case "screw":
            own = [Rz(q), Sz(0.1 * q)]
        case "universal":
            own = [Rx(q), Ry(symbol(f"r{i}")), Sz(0.2)]
        case "ball":
            return [*fixed, Ball(f"ball{i}"), Sy(0.3)]
        case "free":
            return [*fixed, Free(f"free{i}"), Rx(0.4)]
        case "nonlinear":
            own = [Sx(0.3 * cos(q)), Ry(q + 0.2 * sin(q))]
        case "mimic":
            own = [Rz(q), Ry(-0.5 * rng.choice(coordinates) + 0.3)]
        case _:
            own = [Sz(0.2 * sin(3 * TIME)), Rx(q), Ry(0.7 * TIME * q)]
    coordinates.append(q)
    return fixed + own


def random_elements(rng: random.Random, bodies: list[Body], coordinates: list[Expr]) -> list[Element]:
    """One element of every kind."""
    names = [b.name for b in bodies]

    def place(name: str | None = None) -> Station:
        return station(name or rng.choice(names), [rng.uniform(-0.5, 0.5) for _ in range(3)])

    def components() -> tuple[Expr, Expr, Expr]:
        return vector([rng.uniform(-2, 2), sin(TIME), rng.uniform(-2, 2)])

    elements: list[Element] = [
        Force("f1", place(), components(), "ground"),
        Force("f2", place(), components(), "body"),
        Couple("c1", rng.choice(names), components(), "body"),
        Couple("c2", rng.choice(names), components(), "ground"),
        line_spring("s1", symbol("k"), station("ground", (2.0, 1.0, 0.5)), place(names[-1]), length=0.4),
        line_damper("d1", symbol("k"), station("ground", (-2.0, 1.0, 0.5)), place(names[-1])),
        Spring("s3", symbol("k"), symbol(f"{names[-1]}.x") - 0.3),
        Damper("d3", symbol("k"), symbol(f"{names[-1]}.vy")),
        SmoothFriction("r1", symbol("k") * 0.4, symbol(f"{names[-1]}.y"), 0.2),
        CompliantContact(
            "h1",
            "ball",
            (symbol("k") * 0.1,),
            (station(names[-1]),),
            station("ground", (0.1, 0.0, 0.5)),
            (0.3, 0.2, 1.0),
            symbol("k") * 20,
            *("hunt_crossley", 0.3 * symbol("k"), 0.4, 0.2),
        ),
        line_force("g3", cos(TIME), station("ground", (1.0, 2.0, 0.5)), place(names[-1])),
    ]
    if coordinates:
        q = rng.choice(coordinates)
        rate = symbol(f"{q}'")
        elements += [
            Spring("s2", symbol("k") * 3, q * q - 0.1),
            Damper("d2", symbol("k"), 2 * q),
            SmoothFriction("r2", 0.3 + 0.1 * sin(TIME), q * q + q, symbol("k")),
            GeneralizedForce("g1", -0.3 * rate * rate, q),
            GeneralizedForce("g2", cos(TIME), rate * 0.5),
            Potential("v1", symbol("k") * cos(TIME) * symbol(f"{names[-1]}.z") ** 2 + sin(q) * symbol(f"{names[0]}.x")),
            line_spring("s4", symbol("k"), place("ground"), place(names[-1]), length=0.3 * q + 0.1 * sin(TIME)),
            line_spring("s5", symbol("k") * q * q, place("ground"), place(names[-1]), length=0.2 + 0.1 * sin(TIME) * q),
        ]
    return elements


def random_system(seed: int, *, rheonomic: bool = False, elements: bool = False, n: int | None = None) -> System:
    """A random tree of *n* bodies (2 to 6 by default), optionally with prescribed motion and elements."""
    rng = random.Random(seed)
    bodies: list[Body] = []
    coordinates: list[Expr] = []
    for i in range(n or rng.randint(2, 6)):
        base = rng.choice(["ground", *(b.name for b in bodies)]) if rng.random() < 0.3 else (bodies or ["ground"])[-1]
        mass = symbol("m") if i == 0 else rng.uniform(0.5, 2.0)
        motions = random_motion(rng, i, coordinates, rheonomic=rheonomic)
        bodies.append(body(f"b{i}", motions, random_inertia(rng, mass), base=base))
    acting = random_elements(rng, bodies, [c for c in coordinates if _is_used(bodies, c)]) if elements else []
    parameters = {"m": 1.3} | ({"k": 1.7} if elements else {})
    names = list(dict.fromkeys(coordinates_of(bodies)))
    return System(
        f"random{seed}",
        bodies,
        gravity=(1.2, -0.7, -9.81),
        coordinates=names,
        parameters=parameters,
        elements=acting,
    )


def coordinates_of(bodies: list[Body]) -> list[str]:
    """Names of the coordinates, and of joints with several, in the motions of *bodies*."""
    found: list[str] = []
    for b in bodies:
        for motion in b.motions:
            if isinstance(motion, Ball | Free):
                found.append(motion.name)
            else:
                argument = motion.angle if isinstance(motion, Rotation) else motion.distance
                found += [n for n in argument.symbols() if n != "t"]
    return found


def _is_used(bodies: list[Body], coordinate: Expr) -> bool:
    return coordinate.name in coordinates_of(bodies)


def random_state(system: System, seed: int) -> dict[str, float]:
    """Values of t, q (unit quaternions), v, tau, vdot and parameters, by the names that the equations use."""
    rng = np.random.default_rng(seed)
    values = {n: rng.uniform(-1, 1) for n in (*system.q_names, *system.v_names)}
    for name in system.joints:
        parts = [f"{name}.{c}" for c in ("qw", "qx", "qy", "qz")]
        length = math.sqrt(sum(values[n] ** 2 for n in parts))
        values |= {n: values[n] / length for n in parts}
    values |= {f"tau[{n}]": rng.uniform(-3, 3) for n in system.v_names}
    values |= {f"{n}'": rng.uniform(-3, 3) for n in system.v_names}
    values |= {p.name: p.value for p in system.parameters if p.value is not None}
    return values | {"t": rng.uniform(0, 1)}
