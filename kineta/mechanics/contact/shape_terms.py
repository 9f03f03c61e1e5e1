"""Kinematics of shapes that may touch each other, of each by itself: what rows of a pair are made of."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.constraints.rows import Row, row_of
from kineta.mechanics.derivation import Derivation
from kineta.model.body import Station
from kineta.spatial.vector import Vector


def shape_symbols(number: int) -> list[str]:
    """Names of the radius, the place and the axis of a shape in its body, which its function takes as parameters."""
    return [f"shape {number} {what}" for what in ("radius", "x", "y", "z", "axis x", "axis y", "axis z")]


#: Axes that shapes have: none, one, or those of their body.
NO_AXES, AXIS, ALL_AXES = range(3)


def shape_terms(
    d: Derivation, bodies: Sequence[str], axes: Sequence[int], blocks: Sequence[Sequence[int]]
) -> tuple[list[Ref], tuple[tuple[int, ...], ...], list[list[Row]]]:
    """Numbers of shapes in these *bodies* with these *axes*, the *blocks* of speeds that move each, and rows of the velocities
    of their centres.

    Of each shape: its radius, its centre in ground axes; the velocity of the centre and the angular velocity; the rates of both
    without accelerations; its three axes in those of the ground, zero for what it has not; the derivatives of the six by the
    speeds of its blocks, row by row.
    """
    g, symbols, found, coupled = d.graph, d.symbols, list[Ref](), list[tuple[int, ...]]()
    velocities = list[list[Row]]()
    home = {k: b for b, block in enumerate(blocks) for k in block}
    for number, (body, has) in enumerate(zip(bodies, axes, strict=True)):
        radius, x, y, z, *along = (g.symbol(name) for name in shape_symbols(number))
        frame = d.kinematics.axes(body)
        way = frame @ Vector(g, x, y, z)
        turning = d.kinematics.angular_velocity(d.mechanism.places[body])
        origin = Station(body)
        velocity = d.kinematics.velocity(origin) + turning.cross(way)
        rows = [row_of(symbols, body, x, order=1) for x in (*velocity.refs, *turning.refs)]
        own = tuple(sorted({home[k] for row in rows for k in row.gradient}))
        coupled.append(own)
        velocities.append(rows[:3])
        speeds = [k for b in own for k in blocks[b]]
        found += [radius, *(d.kinematics.position(origin) + way).refs]
        found += [row.levels[-1] for row in rows] + [row.rest for row in rows]
        units = [[ONE if i == k else ZERO for i in range(3)] for k in range(3)]
        own_axes = {NO_AXES: [], AXIS: [along], ALL_AXES: units}[has]
        turned = [x for axis in own_axes for x in (frame @ Vector(g, *axis)).refs]
        found += [*turned, *[ZERO] * (9 - len(turned))]
        found += [row.gradient.get(k, ZERO) for row in rows for k in speeds]
    return found, tuple(coupled), velocities
