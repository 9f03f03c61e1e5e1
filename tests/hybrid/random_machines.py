"""Machines at random: plane and in space, trees and closed, with feet on planes of the ground and of other links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import kineta as kn
from tests.hybrid.peer import FloatArray, Foot, Link, Machine, Motion, Pin, Problem, turn

Generator = np.random.Generator


def numbers(values: FloatArray) -> str:
    return "(" + ", ".join(repr(float(x)) for x in values) + ")"


def text(machine: Machine, q: FloatArray, v: FloatArray) -> str:
    """The machine in kineta's language, as it starts."""
    said = ["gravity 9.81;"]
    for link in machine.links:
        moves = ", ".join(f"Free({m.by})" if m.kind == "Free" else f"{m.kind}{m.axis}({m.by})" for m in link.motions)
        base = f" ~ {machine.links[link.base].name}" if link.base >= 0 else ""
        said.append(
            f"{link.name}{base} | {moves} = {link.mass}, {', '.join(map(repr, link.moments))}, com = {link.com};"
        )
    blocks = dict.fromkeys(n.split(".")[0] for n in machine.q_names)
    said.append(f"coordinates {', '.join(blocks)};")
    for name, (c, rest, d) in machine.springs.items():
        said.append(f"spring c_{name} = {c}, {rest} on {name}; damper d_{name} = {d} on {name}';")
    for k, pin in enumerate(machine.pins):
        first, second = (machine.links[k].name if k >= 0 else "ground" for k in (pin.first, pin.second))
        kind, axis = ("revolute", " axis (0, 1, 0)") if machine.plane else ("ball", "")
        said.append(
            f"loop pin{k} : {kind} between {first} at {numbers(pin.at_first)}{axis}"
            f" and {second} at {numbers(pin.at_second)};"
        )
    for k, foot in enumerate(machine.feet):
        on = f" ~ {machine.links[foot.on].name}" if foot.on >= 0 else ""
        x, y, z = (repr(float(c)) for c in foot.origin)
        turns = angles(foot.axes)
        said.append(f"point F{k} on {machine.links[foot.link].name} = {numbers(foot.place)};")
        said.append(f"frame P{k}{on} | Sx({x}), Sy({y}), Sz({z}), Rz({turns[0]}), Ry({turns[1]}), Rx({turns[2]});")
        said.append(
            f"contact c{k} : point between F{k} and P{k} axis (0, 0, 1),"
            f" friction = {foot.friction}, restitution = {foot.restitution};"
        )
    start = [f"{n} = {x!r}" for n, x in zip((*machine.q_names, *machine.v_names), np.append(q, v).tolist())]
    outputs = [f"{n}'" for n in machine.v_names]
    outputs += [f"lambda.c{k}.{c}" for k in range(len(machine.feet)) for c in "nuw"]
    outputs += [f"F{k}.position" for k in range(len(machine.feet))]
    return "\n".join([*said, f"initial {', '.join(start)};", f"output {', '.join(outputs)};"])


def angles(R: FloatArray) -> list[float]:
    """Angles of Rz, Ry, Rx whose product is *R*."""
    return [float(np.arctan2(R[1, 0], R[0, 0])), float(-np.arcsin(R[2, 0])), float(np.arctan2(R[2, 1], R[2, 2]))]


def rounded(rng: Generator, low: float, high: float) -> float:
    return round(float(rng.uniform(low, high)), 3)


def inertia(rng: Generator) -> tuple[float, tuple[float, float, float]]:
    m, (a, b, c) = rounded(rng, 0.3, 3), rng.uniform(0.1, 0.4, 3)
    J = [float(m * s / 3) for s in (b * b + c * c, a * a + c * c, a * a + b * b)]
    return m, (round(J[0], 5), round(J[1], 5), round(J[2], 5))


def skeleton(rng: Generator, plane: bool, closed: bool) -> tuple[Machine, FloatArray]:
    """Links with springs, and coordinates at which pins are closed."""
    planar = (Motion("S", "x", "x"), Motion("S", "z", "z"), Motion("R", "y", "th"))
    pivot = (Motion("R", "y", "th"),) if plane else (Motion("R", "z", "ps"), Motion("R", "y", "th"))
    floating = planar if plane else (Motion("Free", "", "b"),)
    root = floating if closed or rng.random() < 0.7 else pivot
    links = [Link("L0", -1, root, *inertia(rng), com(rng, plane))]
    springs = {}
    count = int(rng.integers(3, 5)) if closed else int(rng.integers(0, 4))
    for k in range(1, count + 1):
        base = k - 1 if closed else int(rng.integers(0, k))
        name = f"q{k}"
        slides = not closed and rng.random() < 0.25
        axis = ("xz" if slides else "y") if plane else "xyz"
        motions = [Motion("S", a, rounded(rng, -0.5, 0.5)) for a in ("xz" if plane else "xyz")] + [
            Motion("S" if slides else "R", axis[int(rng.integers(len(axis)))], name)
        ]
        links.append(Link(f"L{k}", base, tuple(motions), *inertia(rng), com(rng, plane)))
        if rng.random() < 0.6:
            springs[name] = (rounded(rng, 5, 80), rounded(rng, -1, 1), rounded(rng, 0, 2))
    machine = Machine(links, plane, springs)
    q = rng.uniform(-1, 1, len(machine.q_names)).round(4)
    if "b.qw" in machine.q_names:
        at = machine.q_names.index("b.qw")
        r = rng.normal(size=4)
        q[at : at + 4] = r / np.linalg.norm(r)
    if closed:
        poses = machine.poses(q, np.zeros(len(machine.v_names)))
        tip = place(rng, plane)
        p = poses[len(links) - 1].at(tip)[0]
        machine.pins.append(Pin(len(links) - 1, tip, 0, poses[0].R.T @ (p - poses[0].p)))
    return machine, q


def com(rng: Generator, plane: bool) -> tuple[float, float, float]:
    x, y, z = place(rng, plane).tolist()
    return x, y, z


def place(rng: Generator, plane: bool) -> FloatArray:
    r = rng.uniform(-0.4, 0.4, 3).round(3)
    if plane:
        r[1] = 0.0
    return np.asarray(r)


def set_down(rng: Generator, machine: Machine, q: FloatArray, count: int) -> None:
    """Put *count* feet on planes through them: of the ground, that hold the machine up, or now and then of another link."""
    poses = machine.poses(q, np.zeros(len(machine.v_names)))
    order = rng.permutation(len(machine.links) * 2)[:count] % len(machine.links)
    for link in order.tolist():
        foot = place(rng, machine.plane)
        others = [k for k in range(len(machine.links)) if k != link]
        on = int(rng.choice(others)) if others and not machine.pins and rng.random() < 0.2 else -1
        tilt = turn(np.array([0.0, 1, 0]), rounded(rng, -0.6, 0.6))
        if not machine.plane:
            tilt = (
                turn(np.array([0, 0, 1.0]), rounded(rng, -3, 3))
                @ tilt
                @ turn(np.array([1.0, 0, 0]), rounded(rng, -0.5, 0.5))
            )
        p = poses[link].at(foot)[0]
        other = poses[on]
        axes = other.R.T @ tilt
        mu, e = rounded(rng, 0.05, 0.9), float(rng.choice([0.0, 0.0, 0.3, 0.6]))
        machine.feet.append(Foot(link, foot, on, other.R.T @ (p - other.p), axes, mu, e))


def motion(rng: Generator, machine: Machine, q: FloatArray, kinds: str) -> FloatArray:
    """Speeds at which pins hold; feet strike (``i``), stick (``t``), slip (``s``) as far as what holds lets them."""
    v = rng.normal(size=len(machine.v_names))
    rows, aims = [machine.closure(q, v)[0]], [np.zeros(len(machine.closure(q, v)[0]))]
    for foot, kind in zip(machine.feet, kinds, strict=True):
        rows.append(machine.contact(q, v, foot)[1][: 3 if kind == "t" else 1])
        aims.append(np.array([-rng.uniform(0.2, 2)] if kind == "i" else [0.0] * len(rows[-1])))
    A, aim = np.vstack(rows), np.concatenate(aims)
    for _ in range(3):
        v = v - np.linalg.pinv(A, rcond=1e-9) @ (A @ v - aim)
    if np.abs(A @ v - aim).max() > 1e-12:  # feet that cannot strike while others stick
        for _ in range(3):
            v = v - np.linalg.pinv(A, rcond=1e-9) @ (A @ v)
    v[np.abs(v) < 1e-13] = 0.0
    return np.asarray(v)


def problem(machine: Machine, q: FloatArray, v: FloatArray, impact: bool) -> Problem:
    """Of accelerations, or of the speeds after an impact; what moves apart takes no part in it."""
    M, f = machine.dynamics(q, v)
    G, g = machine.closure(q, v)
    S, c, slip = [], [], []
    for foot in machine.feet:
        _, J, bias = machine.contact(q, v, foot)
        u = J @ v
        S.append(J)
        speed = float(np.hypot(u[1], u[2]))
        if impact:
            c.append([foot.restitution * min(u[0], 0.0), 0.0, 0.0])
        else:
            c.append(bias.tolist())
        slip.append([np.nan, np.nan] if impact or speed < 1e-9 else (u[1:] / speed).tolist())
    mu = np.array([foot.friction for foot in machine.feet])
    b, g = (M @ v, np.zeros(len(G))) if impact else (f, g)
    return Problem(M, b, G, g, np.array(S), np.array(c), mu, np.array(slip), machine.plane)


def facing(machine: Machine, q: FloatArray, v: FloatArray) -> None:
    """Turn planes over so that what acts presses feet on them."""
    M, f = machine.dynamics(q, v)
    G, g = machine.closure(q, v)
    free = Problem(M, f, G, g, np.zeros((0, 3, len(v))), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 2)), machine.plane)
    for k, foot in enumerate(machine.feet):
        _, S, bias = machine.contact(q, v, foot)
        if (S @ free.y0 + bias)[0] > 0:
            machine.feet[k] = replace(foot, axes=foot.axes @ np.diag([1.0, -1.0, -1.0]))


def at_random(seed: int) -> tuple[Machine, FloatArray, FloatArray, FloatArray]:
    """The machine of a *seed*, its coordinates, speeds without an impact, and with one.

    It is plane where the seed is even, and closed in every other pair.
    """
    rng = np.random.default_rng(seed)
    machine, q = skeleton(rng, seed % 2 == 0, seed // 2 % 2 == 1)
    set_down(rng, machine, q, int(rng.integers(1, 4 if machine.plane or seed % 10 == 1 else 3)))
    count = len(machine.feet)
    resting = motion(rng, machine, q, "".join(rng.choice(list("tts"), count)))
    facing(machine, q, resting)
    striking = motion(rng, machine, q, "i" + "".join(rng.choice(list("iit"), count - 1)))
    return machine, q, resting, striking


def forces(run: kn.Result, body: Machine) -> FloatArray:
    """Of all contacts at all times, (n, 3, k)."""
    return np.array([[run[f"lambda.c{k}.{c}"] for c in "nuw"] for k in range(len(body.feet))])


def agrees(laws: Problem, y: FloatArray, x: FloatArray) -> None:
    """Assert that *y* and forces *x* keep to the laws, and are the solution where there is but one."""
    faults = laws.faults(y, x)
    assert not faults, faults
    solutions = laws.solutions()
    assert solutions, "the laws have no solution"
    if len(solutions) == 1:
        (one,) = solutions
        off = np.abs(y - one.y).max() / (1 + np.abs(y).max())
        assert off < 1e-9, f"found {y}, expected {one.y}"
        if one.determined:
            off = np.abs(x - one.x).max() / (1 + np.abs(x).max())
            assert off < 1e-8, f"found forces {x.tolist()}, expected {one.x.tolist()}"


def stays_admissible(run: kn.Result, body: Machine) -> None:
    """Assert that *run* ends as it should or names a contact, and keeps to the laws at all its times."""
    if run.status != 0:
        assert any(f"'c{k}'" in run.message for k in range(len(body.feet))), run.message
    x = forces(run, body)
    largest = 1 + np.abs(x).max()
    for j, (q, u) in enumerate(zip(run.q, run.v, strict=True)):
        laws = problem(body, q, u, False)
        for k, foot in enumerate(body.feet):
            gap, S, _ = body.contact(q, u, foot)
            n, *t = x[k, :, j].tolist()
            at = f"contact {k} at t = {run.t[j]:g} s"
            place = body.poses(q, u)[foot.link].at(foot.place)[0]
            assert np.abs(run[f"F{k}.x"][j] - place[0]) < 1e-12, f"{at} is elsewhere"
            assert gap > -1e-8, f"{at} is {-gap:.1e} m below its plane"
            assert n > -1e-8 * largest, f"{at} pulls with {-n:.1e} N"
            beyond = np.hypot(*t) - foot.friction * n
            assert beyond <= 1e-7 * largest, f"{at} is {beyond:.1e} N beyond its cone: {n, *t}"
            assert abs(n * gap) < 1e-8 * largest, f"{at} pushes with {n:.1e} N from {gap:.1e} m"
            power = x[k, :, j] @ S @ u
            assert power < 1e-7 * largest, f"{at} gives {power:.1e} W"
        a = np.array([run[f"{name}'"][j] for name in body.v_names])
        left = laws.M @ a - laws.b - laws.S.reshape(-1, len(u)).T @ x[:, :, j].reshape(-1)
        if len(laws.G):
            left = left - laws.G.T @ np.linalg.lstsq(laws.G.T, left, rcond=None)[0]
        off = np.abs(left).max() / (largest + np.abs(laws.b).max())
        assert off < 1e-8, f"forces do not balance at t = {run.t[j]:g} s by {off:.1e}"
