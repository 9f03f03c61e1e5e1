"""Random chains of bodies that close over the ground, cut open at any of their joints; all seeded.

In the reference position the frames of all bodies coincide with the ground's, and all coordinates are zero.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import kineta as kn
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import Rotation
from kineta.model.joints.shift import Shift
from tests.mechanics.random_systems import coordinates_of, random_inertia

Motions = list[Motion]


@dataclass(frozen=True)
class Kind:
    """A joint: the motions from its near side to its far side, by two coordinates and the name of a ball joint, and back;
    arguments of the loop; distance of the far side along z.
    """

    freedom: int
    there: Callable[[Any, Any, str], Motions]
    back: Callable[[Any, Any, str], Motions]
    given: dict[str, Any] = field(default_factory=lambda: {"axis": (0, 0, 1)})
    apart: float = 0.0


APART = 0.6
KINDS: dict[str, Kind] = {
    "revolute": Kind(1, lambda a, b, n: [kn.Rz(a)], lambda a, b, n: [kn.Rz(a)]),
    "rigid": Kind(0, lambda a, b, n: [], lambda a, b, n: [], {}),
    "prismatic": Kind(1, lambda a, b, n: [kn.Sz(a)], lambda a, b, n: [kn.Sz(a)]),
    "cylindrical": Kind(2, lambda a, b, n: [kn.Rz(a), kn.Sz(b)], lambda a, b, n: [kn.Rz(a), kn.Sz(b)]),
    "universal": Kind(
        2,
        lambda a, b, n: [kn.Rx(a), kn.Ry(b)],
        lambda a, b, n: [kn.Ry(a), kn.Rx(b)],
        {"axis": (1, 0, 0), "end_axis": (0, 1, 0)},
    ),
    "ball": Kind(3, lambda a, b, n: [kn.Ball(n)], lambda a, b, n: [kn.Ball(n)], {}),
    "line": Kind(4, lambda a, b, n: [kn.Sz(a), kn.Ball(n)], lambda a, b, n: [kn.Ball(n), kn.Sz(a)]),
    "plane": Kind(
        5, lambda a, b, n: [kn.Sx(a), kn.Sy(b), kn.Ball(n)], lambda a, b, n: [kn.Ball(n), kn.Sx(a), kn.Sy(b)]
    ),
    "distance": Kind(
        5,
        lambda a, b, n: [kn.Ry(a), kn.Rx(b), kn.Sz(APART), kn.Ball(n)],
        lambda a, b, n: [kn.Ball(n), kn.Sz(-APART), kn.Rx(a), kn.Ry(b)],
        {"value": APART},
        APART,
    ),
}

#: The bodies of a chain; it has one joint more.
BODIES = ("B1", "B2", "B3")


def joints(seed: int) -> list[str]:
    """The kinds of the joints of a chain with one to three degrees of freedom; the first chains contain every kind."""
    rng = random.Random(seed)
    first = list(KINDS)[seed % len(KINDS)]
    while True:
        kinds = [first, *rng.choices(list(KINDS), k=len(BODIES))]
        if 7 <= sum(KINDS[k].freedom for k in kinds) <= 9:
            rng.shuffle(kinds)
            return kinds


def chain(seed: int, cut: int) -> kn.System:
    """The chain number *seed*, open at the joint number *cut*, which a loop closes."""
    kinds = joints(seed)
    rng = random.Random(seed)
    places = [_place(rng) for _ in kinds]
    inertias = {name: random_inertia(rng, rng.uniform(0.5, 2.0)) for name in BODIES}
    bodies = []
    for i in range(cut):
        base = BODIES[i - 1] if i else "ground"
        motions = _joint(kinds[i], places[i], i, back=False)
        bodies.append(kn.body(BODIES[i], motions, inertias[BODIES[i]], base=base))
    for i in reversed(range(cut + 1, len(kinds))):
        base = BODIES[i] if i < len(BODIES) else "ground"
        motions = _joint(kinds[i], places[i], i, back=True)
        bodies.append(kn.body(BODIES[i - 1], motions, inertias[BODIES[i - 1]], base=base))
    near, far = (BODIES[cut - 1] if cut else "ground"), (BODIES[cut] if cut < len(BODIES) else "ground")
    kind, place = KINDS[kinds[cut]], places[cut]
    bodies += [kn.body("Near", place, base=near), kn.body("Far", [*place, *_apart(kind)], base=far)]
    loop = kn.loop("E", kinds[cut], "Near", "Far", **kind.given)
    names = list(dict.fromkeys(coordinates_of(bodies)))
    return kn.System(f"chain{seed}_{cut}", bodies, gravity=(0.7, -1.9, -9.0), coordinates=names, constraints=[loop])


def _place(rng: random.Random) -> Motions:
    """Motions to a random place with random axes."""
    shifts = [shift(rng.uniform(-1, 1)) for shift in (kn.Sx, kn.Sy, kn.Sz)]
    return [*shifts, kn.Rx(rng.uniform(-3, 3)), kn.Ry(rng.uniform(-1.5, 1.5)), kn.Rz(rng.uniform(-3, 3))]


def _apart(kind: Kind) -> Motions:
    return [kn.Sz(kind.apart)] if kind.apart else []


def _joint(name: str, place: Motions, i: int, *, back: bool) -> Motions:
    """The motions over the joint number *i* at a *place*: there, over the joint, and back."""
    kind, letters = KINDS[name], (kn.symbol(f"a{i}"), kn.symbol(f"b{i}"), f"s{i}")
    far = [*place, *_apart(kind)]
    if back:
        return [*far, *kind.back(*letters), *_inverse(place)]
    return [*place, *kind.there(*letters), *_inverse(far)]


def _inverse(motions: Motions) -> Motions:
    return [type(m)(m.axis, -m.argument) for m in reversed(motions) if isinstance(m, Rotation | Shift)]
