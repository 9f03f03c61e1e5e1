"""Ground of a given height: as solids of a scene with a program of its heights, and as surfaces around a machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen import numpy as interpreter
from kineta.expr.graph import ONE, ZERO, Ref
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.contact.ground_height import height_and_slope
from kineta.model.compound import primitive
from kineta.model.contacts.contact import Contact
from kineta.numerics.linear_algebra import norm
from kineta.scene.machine import Machine
from kineta.scene.scene import FIXED, Solid
from kineta.scene.scene_builder import SceneBuilder
from kineta.scene.surfaces import Surface, sheet
from kineta.spatial.rotation import normals
from kineta.spatial.vector import Vector

#: Names of the coordinates of a place along a plane, unlike any name of a model.
PLACE = ("place along u", "place along w")
#: Steps of Newton's method for a height that rises with the height itself, over a plane that leans.
STEPS = 6
#: Cells of a surface in each direction: at first, where it is even, and at most; a surface is refined while the middles of its
#: cells are farther from it than this part of the machine.
FEWEST, MOST, FINE = 24, 96, 0.004
#: By how much a surface is larger than what stands on it, in sizes of that.
MARGIN = 0.2


def height_fields(builder: SceneBuilder) -> StraightLineProgram | None:
    """Add a solid ``field`` for each ground of a given height; the program of their heights, None without one.

    The numbers of a field are the origin of its plane, ``at``, and ``axes`` u, w and the normal n by rows. The program gives from
    t, the place (2,) along u and w, and p the height along n and its slopes along u and w of each field, (n, 3).
    """
    d, found = builder.d, dict[tuple[Ref, ...], list[Ref]]()
    s, g, on = d.symbols, d.graph, d.elements
    a, b = (g.symbol(name) for name in PLACE)
    for contact in primitive(s.system.contacts):
        if not isinstance(contact, Contact) or contact.height is None or contact.normal is None:
            continue
        n, origin = on.direction(contact.normal), d.kinematics.position(contact.end)
        u, w = normals(n)

        def above(
            f: Ref, contact: Contact = contact, foot: Vector = origin + u * a + w * b, n: Vector = n
        ) -> list[Ref]:
            return height_and_slope(on, contact.height, foot + n * f)  # type: ignore[arg-type]  # which is not None here

        f, *slope = above(ZERO)
        rise = Vector(g, *slope).dot(n)
        for _ in range(STEPS if rise != ZERO else 0):
            over, *slope = above(f)
            rise = Vector(g, *slope).dot(n)
            f = g.sub(f, g.div(g.sub(f, over), g.sub(ONE, rise)))
        along = [g.div(Vector(g, *slope).dot(e), g.sub(ONE, rise)) for e in (u, w)]
        axes = [x for e in (u, w, n) for x in e.refs]
        key = (*origin.refs, *axes, f)
        if key not in found:  # the same ground under another wheel is drawn once
            found[key] = [f, *along]
            numbers = {"at": builder.number(origin.refs), "axes": builder.number(axes)}
            builder.add(Solid("field", 0, "", FIXED, numbers, name=contact.name))
    if not found:
        return None
    inputs = {"t": (s.t,), "place": (a, b), "p": s.p}
    return program(g, inputs, {"heights": ((len(found), 3), [x for row in found.values() for x in row])}, "ground")


def waves(heights: StraightLineProgram | None) -> bool:
    """Whether ground of such *heights* moves with the time."""
    return heights is not None and 0 in heights.needed(heights.results)


def fields(machine: Machine) -> list[Solid]:
    """The ground of a given height of a *machine*, in the order of the program of its heights."""
    return [s for s in machine.scene.solids if s.kind == "field"]


def on_field(machine: Machine, k: int, t: float, places: FloatArray) -> FloatArray:
    """The places (..., 3) of field *k* at *places* (..., 2) along its u and w, at the time *t*."""
    program, s = machine.scene.heights, fields(machine)[k]
    assert program is not None
    u, w, n = machine.value(s, "axes").reshape(3, 3)
    found = interpreter.compile(program)(np.array([t]), places, machine.p)
    height = found[..., 3 * k, None]
    return np.asarray(machine.value(s, "at") + places[..., :1] * u + places[..., 1:] * w + height * n)


def along_field(machine: Machine, k: int, points: FloatArray) -> FloatArray:
    """The places (..., 2) along u and w of field *k* over which *points* (..., 3) lie."""
    s = fields(machine)[k]
    return np.asarray((points - machine.value(s, "at")) @ machine.value(s, "axes").reshape(3, 3)[:2].T)


def field_surface(machine: Machine, k: int, t: float, corners: FloatArray) -> tuple[Surface, tuple[int, int]]:
    """The surface of field *k* at the time *t*, under what lies within *corners* (n, 3) and around it; its cells."""
    places = along_field(machine, k, corners)
    margin = MARGIN * float(norm(np.ptp(corners, axis=0)))
    low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
    cells = [FEWEST, FEWEST]
    for i in (0, 1):
        while cells[i] < MOST and _uneven(machine, k, t, (low, high), cells, i) > FINE * machine.size:
            cells[i] *= 2
    return sheet(on_field(machine, k, t, _grid((low, high), cells))), (cells[0], cells[1])


def _grid(ends: tuple[FloatArray, FloatArray], cells: Sequence[int]) -> FloatArray:
    """Places (n + 1, m + 1, 2) between two *ends*."""
    (a, b), (c, d) = ends
    return np.stack(
        np.meshgrid(np.linspace(a, c, cells[0] + 1), np.linspace(b, d, cells[1] + 1), indexing="ij"), axis=-1
    )


def _uneven(
    machine: Machine, k: int, t: float, ends: tuple[FloatArray, FloatArray], cells: Sequence[int], i: int
) -> float:
    """How far the middles of cells in the direction *i* are from a surface through their ends."""
    twice = [FEWEST // 2, FEWEST // 2]
    twice[i] = 2 * cells[i]
    found = np.moveaxis(on_field(machine, k, t, _grid(ends, twice)), i, 0)
    return float(norm(found[1::2] - (found[:-1:2] + found[2::2]) / 2, axis=-1).max())
