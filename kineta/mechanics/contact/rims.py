"""Rims of wheels, disks and tori that touch a surface: the lowest place, and those on which they lie flat.

With the normal n and the axis e, the lowest place lies from the centre along a = n - (n e) e, of the length s, and none is the
lowest where s = 0. There a rim bears at places along directions d_k of the surface, which turn neither with the body nor with
its lean; r is the radius, t that of the tube::

    lowest      rho = - r a / max(s, FLAT) - t n              h = r s + t, from FLAT on
    others      rho = r (d_k - (d_k e) e) - t n               h = - n rho - r (s^2/2 - FLAT)

Below FLAT h is r (s^2/FLAT + FLAT)/2, which goes on with its slope. The others are places of the disk, lifted by s^2/2: they are
above the lowest wherever the disk leans by more than sqrt(2 FLAT), so that what rolls rolls on the lowest place alone. Flat, they
bear, and the lowest place, which is in the middle then and would hold no spin, is r FLAT/2 above them.

On ground of a given height a rim has the lowest place alone, and in place of FLAT a sine that grows with the curvature of the
ground (:func:`~kineta.mechanics.contact.ground_height.dome`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from kineta.expr.graph import ONE, ZERO, Ref, neg
from kineta.expr.op import Op
from kineta.mechanics.constraints.rolling_residuals import ShapeContact
from kineta.model.constraints.shapes import CORNERS
from kineta.spatial.vector import Vector

#: Sine of the lean below which a rim lies flat; a part of it of the radius is how far above the surface it lies.
FLAT = 1e-6


def lean(e: Vector, n: Vector) -> Ref:
    """Square of the sine of the angle between the axis *e* and the normal *n*."""
    g, along = n.graph, n.dot(e)
    return g.sub(ONE, g.mul(along, along))


def lowest_place(e: Vector, n: Vector, sizes: Sequence[Ref], flat: Ref | None = None) -> ShapeContact:
    """The lowest place of a rim with the axis *e* over a surface with the normal *n*, on which it lies flat below the sine
    *flat*, or FLAT.
    """
    g, (r, tube) = n.graph, (*sizes, ZERO)[:2]
    square = lean(e, n)
    s = g.sqrt(g.call(Op.MAX, square, g.const(FLAT**2) if flat is None else g.mul(flat, flat)))
    outwards = (n - e * n.dot(e)) * g.div(r, s)
    height = g.mul(g.const(0.5), g.add(g.div(square, s), s))
    return ShapeContact(-(outwards + n * tube), g.add(g.mul(r, height), tube))


def domed_place(e: Vector, n: Vector, sizes: Sequence[Ref], flat: Ref) -> ShapeContact:
    """The lowest place of a rim with domes on both sides, which are the radius times half of *flat* high: a smooth convex shape,
    of which the height of :func:`lowest_place` is the support function.
    """
    g, found = n.graph, lowest_place(e, n, sizes, flat)
    return ShapeContact(found.arm - n * g.add(found.height, n.dot(found.arm)), found.height)


def flat_place(e: Vector, axes: Sequence[Vector], sizes: Sequence[Ref], number: int) -> ShapeContact:
    """The place of this *number*, from 1, on which a rim with the axis *e* lies flat; *axes* are the normal and two tangents."""
    n, u, w = axes
    g, (r, tube), angle = n.graph, (*sizes, ZERO)[:2], 2 * pi * (number - 1) / CORNERS
    along = u * g.const(round(cos(angle), 15)) + w * g.const(round(sin(angle), 15))
    arm = (along - e * along.dot(e)) * r - n * tube
    lift = g.sub(g.mul(g.const(0.5), lean(e, n)), g.const(FLAT))
    return ShapeContact(arm, neg(g.add(n.dot(arm), g.mul(r, lift))))
