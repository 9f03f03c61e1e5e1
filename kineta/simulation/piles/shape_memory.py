"""Memory of the shapes of bodies that may touch each other, and of the pairs of them that are near."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration.stepping_records import (
    IMPACT_SUMS,
    NearPairs,
)
from kineta.kernels.time_stepping.pair_features import FEATURE_NUMBERS
from kineta.kernels.time_stepping.pair_rows import ROW_NUMBERS
from kineta.memory import CompiledFunction
from kineta.numerics.linear_algebra import norm
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.piles.component_places import ComponentPlaces
from kineta.simulation.piles.touching_shapes import AXES, KINDS, ShapeFunction, TouchingShape, TouchLaw, shape_function
from kineta.spatial.rotation import ASIDE

#: The shapes of each component, and their function; none where it has none.
ShapesOfComponents = Sequence[tuple[ShapeFunction, list[TouchingShape]] | None]
#: Fields of features that are kept from the last step, and the size of the work array of their search.
LAST = ("pair", "feature", "pressed", "stuck")
WORK = 42


def shapes_of_component(
    k: int, task: SimulationProblem, shapes: Sequence[TouchingShape]
) -> tuple[ShapeFunction, list[TouchingShape]] | None:
    """The *shapes* of the component k, whose run is *task*, and their function; none where it has none."""
    own = [s for s in shapes if s.component == k]
    if not own:
        return None
    terms = task.made.code.layout.contact_terms
    assert terms is not None
    axes = tuple(AXES[KINDS[s.shape]] for s in own)
    return shape_function(task.equations, tuple(s.body for s in own), axes, terms.blocks), own


def near_pairs(
    of: ComponentPlaces,
    functions: ShapesOfComponents,
    shapes: Sequence[TouchingShape],
    laws: Sequence[TouchLaw],
    places_of: int,
) -> NearPairs:
    """Memory of pairs of *shapes* that are near, with their *laws*, and their *functions* at the address *places_of*."""
    n, room = len(shapes), of.room
    starts, blocks, total = np.zeros(n, dtype=np.int64), [list[int]() for _ in shapes], 0
    for k, function in enumerate(functions):
        which = [i for i, s in enumerate(shapes) if s.component == k]
        for i, size, coupled in zip(which, function[0].sizes, function[0].coupled, strict=True) if function else ():
            starts[i], blocks[i] = total, [of.blocks[k] + b for b in coupled]
            total += size
    bodies = {key: i for i, key in enumerate(dict.fromkeys((s.component, s.body) for s in shapes))}
    owner = np.zeros(of.v[-1] + of.multipliers[-1], dtype=np.int64)
    for k, place in enumerate(of.of_each):
        owner[place.speeds] = k

    def integers(*values: int) -> IntArray:
        return np.array(values, dtype=np.int64)

    marks = ("key", "feature_kind", "one", "other", "pair", "feature", *(f"last_{n}" for n in LAST))
    zeros = {name: np.zeros(room, dtype=np.int64) for name in marks}
    return NearPairs(
        shapes=n,
        room=room,
        fixed=of.fixed,
        places_of=CompiledFunction(places_of),
        places=np.zeros(total),
        place_start=starts,
        kind=integers(*(KINDS[s.shape] for s in shapes)),
        **sizes_of(shapes),
        features=np.zeros(FEATURE_NUMBERS * (room + 1)),
        extent=np.zeros(3 * n),
        block_start=integers(0, *accumulate(map(len, blocks))),
        blocks=integers(*(b for own in blocks for b in own)),
        body=integers(*(bodies[s.component, s.body] for s in shapes)),
        group=integers(*(s.group for s in shapes)),
        groups=len(laws),
        **laws_of(laws),
        group_poisson=integers(*(int(law.poisson) for law in laws)),
        aside=np.array([x for g in range(len(laws)) for x in _aside(functions, g)]),
        **{name: np.zeros(n) for name in ("lower", "upper", "reach")},
        order=np.arange(n),
        **zeros,
        last_impulse=np.zeros(3 * room),
        last_sums=np.zeros(IMPACT_SUMS * room),
        frames=np.zeros(0),
        forces=np.zeros(0),
        axes=np.zeros(ROW_NUMBERS),
        rates=np.zeros(6),
        work=np.zeros(WORK),
        owner=owner,
    )


def _aside(functions: ShapesOfComponents, group: int) -> tuple[float, ...]:
    """The direction that tangents of a group lean towards: the axis of the ground along which none moves, if there is one."""
    own = [own[0].still for own in functions if own is not None and any(s.group == group for s in own[1])]
    k = next((k for k in range(3) if all(still[k] for still in own)), None)
    return ASIDE if k is None else tuple(float(i == k) for i in range(3))


def sizes_of(shapes: Sequence[TouchingShape]) -> dict[str, FloatArray]:
    """Sizes of *shapes*, in the order in which cases give them."""
    return {
        "half": np.array([x for s in shapes for x in s.half]),
        "bulk": np.array([s.bulk for s in shapes]),
        "swing": np.array([norm(s.half) for s in shapes]),
    }


def laws_of(laws: Sequence[TouchLaw]) -> dict[str, FloatArray]:
    """The laws of groups."""
    return {"group_law": np.array([x for law in laws for x in (law.friction, law.static, law.restitution, 0.0)])}
