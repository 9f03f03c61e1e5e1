"""Systems of the reference problems, built from their files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from kineta.algebra.expression import symbol
from kineta.model.body import Body, body, inertia
from kineta.model.joints.ball import Ball
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import Rx, Ry, Rz
from kineta.model.joints.shift import Sx, Sy, Sz
from kineta.model.system import System
from tests.support import TRUTH

_MOTIONS = {"rx": Rx, "ry": Ry, "rz": Rz, "tx": Sx, "ty": Sy, "tz": Sz}


def load(path: str) -> dict[str, Any]:
    """A file of the reference problems."""
    return json.loads((TRUTH / path).read_text())


def vectors(name: str) -> dict[str, Any]:
    """The cases of a file of vectors, by name."""
    return {case["name"]: case for case in load(f"vectors/{name}.json")["cases"]}


def error(found: Any, expected: Any) -> float:
    """Largest deviation, relative to the largest entry."""
    expected = np.asarray(expected)
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1.0))


def tree_files() -> list[str]:
    """The reference trees."""
    return sorted(str(p.relative_to(TRUTH)) for p in (TRUTH / "trees").glob("*.json"))


def tree_system(model: dict[str, Any]) -> System:
    """The system of a neutral tree model: sequences of constant and coordinate motions."""
    bodies: list[Body] = []
    order: dict[int, str] = {}
    for record in model["bodies"]:
        motions: list[Motion] = []
        for kind, value in record["sequence"]:
            if kind == "quat":
                name = f"ball{value['q'][0]}"
                order[value["q"][0]] = name
                motions.append(Ball(name))
            elif isinstance(value, dict):
                name = order[value["q"]] = f"q{value['q']}"
                motions.append(_MOTIONS[kind](symbol(name)))
            else:
                motions.append(_MOTIONS[kind](value))
        (a, ab, ad), (_, b, bd), (_, _, d) = record["inertia"]
        own = inertia(record["mass"], (a, b, d), (ab, ad, bd), com=record["com"])
        bodies.append(body(record["name"], motions, own, base=record["parent"] or "ground"))
    return System("tree", bodies, gravity=model["gravity"], coordinates=[order[k] for k in sorted(order)])
