"""Surfaces of the solids of a machine, kind by kind: what a rod, a pin, a coil or a body of some inertia looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import det, eigh, matrix_rank, norm
from kineta.records import dataclass
from kineta.scene import meshes, surfaces
from kineta.scene.machine import MANY, Machine, Pose
from kineta.scene.rails import rails
from kineta.scene.scene import BODY, Solid
from kineta.scene.surfaces import Surface, along
from kineta.threads import memo

#: Colours: of bodies in turn, of the axes of a frame, of joints, elements and the ground.
PALETTE = ("#4e79c4", "#e08a3c", "#4f9d69", "#c8575b", "#7d6bb3", "#3d9aa8", "#b9902f", "#a8638f")
TRIAD = ("#c8575b", "#4f9d69", "#4e79c4")
COLOURS: Mapping[str, str] = {"joint": "#3b414b", "element": "#8d96a1", "ground": "#8a9099", "mark": "#ccd2da"}
#: Sides of a box on which other bodies hang, level and vertical, in those of a cube of its moment.
LEVEL, LOW = 1.35, 0.42
#: Sides of what slides on the rail of a loop, in radii of a rod.
BLOCK = (4.0, 4.0, 6.4)
#: Length beyond which a cylinder is marked along its side, in its radii; sum of channels below which a colour is dark.
LONG, DARK = 2.0, 300


@dataclass(frozen=True, eq=False)
class Piece:
    """A surface of one colour, ``#rrggbb``, with the solid that it is of."""

    surface: Surface
    colour: str
    solid: Solid


def pieces(machine: Machine, pose: Pose) -> Iterator[Piece]:
    """All surfaces of a *machine* in a *pose*, in ground axes; planes of the ground are left to the picture."""
    for solid, fixed in fixed_surfaces(machine):
        R, r = pose.frame(solid.frame)
        yield from (Piece(s.placed(R, r), c or colour(machine, solid), solid) for s, c in fixed)
    for solid in machine.scene.solids:
        if solid.to >= 0:
            for surface in between(machine, solid, pose):
                yield Piece(surface, colour(machine, solid), solid)


def colour(machine: Machine, solid: Solid) -> str:
    """The colour of a *solid*."""
    if solid.colour:
        return solid.colour
    if solid.part == BODY and solid.owner in machine.scene.bodies:
        return PALETTE[machine.scene.bodies.index(solid.owner) % len(PALETTE)]
    return COLOURS.get(solid.part, COLOURS["ground"])


def fixed_surfaces(machine: Machine) -> list[tuple[Solid, list[tuple[Surface, str]]]]:
    """The surfaces of the solids that are fixed to one frame, in its axes, with a colour of their own or none."""
    return memo(machine, fixed_surfaces, lambda: _fixed(machine))


def _fixed(machine: Machine) -> list[tuple[Solid, list[tuple[Surface, str]]]]:
    found = []
    for s in machine.scene.solids:
        if s.to < 0 or s.kind == "rail":
            build = _BUILD.get(s.kind, _sized)
            found.append((s, [(x, c) for x, c in build(machine, s) if np.isfinite(x.vertices).all()]))
    return found


#: Surfaces of a solid in the axes of its frame, with a colour of their own or none.
Dressed = Iterator[tuple[Surface, str]]
_Builder = Callable[[Machine, Solid], Dressed]


def _at(surface: Surface, at: FloatArray) -> Surface:
    return surface.placed(np.eye(3), at)


def _rod(m: Machine, s: Solid) -> Dressed:
    a, b = m.value(s, "start"), m.value(s, "end")
    if norm(b - a) > tolerances.STATE_TOLERANCE * m.size:
        yield surfaces.rod(a, b, m.radius), ""


def _hinge(m: Machine, s: Solid) -> Dressed:
    at, axis, r = m.value(s, "at"), m.value(s, "axis"), m.radius
    yield surfaces.cylinder(1.5 * r, 3.2 * r).placed(along(axis), at), ""
    yield from _foot(m, s, at)


def _ball(m: Machine, s: Solid) -> Dressed:
    at = m.value(s, "at")
    yield _at(surfaces.sphere(1.7 * m.radius), at), ""
    yield from _foot(m, s, at)


def _foot(m: Machine, s: Solid, at: FloatArray) -> Dressed:
    """A stand for a joint that is fixed to the ground."""
    up = m.up if m.up.any() else np.array([0.0, 0.0, 1.0])
    if (s.frame == 0 and m.scene.normal is None) or (s.frame == 0 and m.up.any()):
        r = m.radius
        foot = surfaces.cylinder(2.6 * r, 2.4 * r, tip=1.5 * r).placed(along(up), at - 2.4 * r * up)
        yield foot, COLOURS["ground"]


def _knob(size: float) -> _Builder:
    def built(m: Machine, s: Solid) -> Dressed:
        yield _at(surfaces.sphere(size * m.radius), m.value(s, "at")), COLOURS["joint"]
        if s.kind == "dot":
            yield from _beside(m, s, m.value(s, "at"))

    return built


def _beside(m: Machine, s: Solid, place: FloatArray) -> Dressed:
    """A thin bar from a *place* beside the rods of its body to the nearest of them."""
    best, least = None, np.inf
    for other in m.scene.solids:
        if other.kind == "rod" and other.frame == s.frame:
            a, b = m.value(other, "start"), m.value(other, "end")
            d = b - a
            foot = a + d * np.clip((place - a) @ d / max(float(d @ d), tolerances.LEAST_DIVISOR), 0, 1)
            if (own := float(norm(place - foot))) < least:
                best, least = foot, own
    if best is None:
        best, least = np.zeros(3), float(norm(place))
    if least > 1.2 * m.radius:
        yield surfaces.bar(best, place, 0.5 * m.radius), ""


def _rail(m: Machine, s: Solid) -> Dressed:
    ends = rails(m)[s.frame, s.to].ends
    if ends is not None:
        yield surfaces.bar(*ends, 0.4 * m.radius), COLOURS["element"]


def _hull(m: Machine, s: Solid) -> Dressed:
    """The hull of corners; where they lie in a plane or line also of their mirror images about the centre of mass."""
    points, com = m.value(s, "points").reshape(-1, 3), m.value(s, "com")
    if matrix_rank(points - points[0], tolerances.STATE_TOLERANCE * m.size, what="the plane of the places") < (
        2 if m.scene.normal is not None else 3
    ):
        points = np.concatenate([points, 2 * com - points])
    if m.scene.normal is not None and not np.ptp(points[:, m.scene.normal]) > 0:
        thick = 0.25 * float(np.ptp(points, axis=0).max()) * np.eye(3)[m.scene.normal]
        points = np.concatenate([points - thick, points + thick])
    yield surfaces.hull(points), ""


def _bead(m: Machine, s: Solid) -> Dressed:
    """A mass without size that stands on a plane."""
    radius, axis = 1.8 * m.radius, m.value(s, "axis")
    yield _at(surfaces.sphere(radius), m.value(s, "at") + radius * axis), ""


def _block(m: Machine, s: Solid) -> Dressed:
    """What slides on the rail of a loop."""
    yield surfaces.box(np.array(BLOCK) * m.radius).placed(along(m.value(s, "axis")), m.value(s, "at")), ""


def _plane(m: Machine, s: Solid) -> Dressed:
    """A plane that moves with its frame, as a round plate under the machine; that of the ground is left to the picture."""
    if s.frame == 0 or m.scene.normal is not None:
        return
    R, r = m.first.frame(s.frame)
    at, axis = m.value(s, "at"), m.value(s, "axis")
    reach = norm(m.box - (R @ at + r), axis=1).max() + 2 * m.radius
    thick = 0.6 * m.radius
    yield surfaces.disk(float(reach), thick).placed(along(axis), at - thick / 2 * axis), ""


def _triad(m: Machine, s: Solid) -> Dressed:
    """The axes of a frame, in red, green and blue."""
    for axis, colour in zip(np.eye(3), TRIAD, strict=True):
        yield surfaces.bar(np.zeros(3), 0.3 * m.size * axis, 0.6 * m.radius), colour
        yield surfaces.bar(0.3 * m.size * axis, 0.38 * m.size * axis, 1.6 * m.radius, tip=0.0), colour


def _inertia(m: Machine, s: Solid) -> Dressed:
    """A body that its mass alone describes: a cart on a rail, a weight, a cylinder, or a box of the same inertia."""
    mass, com, r = float(m.value(s, "mass")[0]), m.value(s, "com"), m.radius
    if not mass > 0:
        return
    moments, axes = _principal(m, s)
    big, rods, far = float(moments.max()), m.rods.get(s.owner, 0), float(norm(com))
    slides = [x for x in m.scene.solids if x.kind in ("rail", "slide") and x.owner == s.owner and x.to == s.frame]
    many = len(m.scene.bodies) > MANY
    if slides and not rods:
        R, on_rail = along(m.value(slides[0], "axis")), slides[0].kind == "rail"
        length = rails(m)[slides[0].frame, slides[0].to].cart if on_rail else 0.0
        cart = surfaces.box(np.array([3.6 * r, 3.6 * r, length])) if on_rail else surfaces.cylinder(2.6 * r, 4.4 * r)
        yield cart.placed(R, com), ""
    elif (
        len(m.scene.bodies) == 1 and _on_a_ball(m) and (axial := _axial(moments, axes, com)) is not None
    ):  # a top, on its tip
        radius = float(np.sqrt(10 * axial / (3 * mass)))
        yield surfaces.bar(np.zeros(3), 4 / 3 * com, 0.02 * radius, tip=radius, around=2 * surfaces.AROUND), ""
        yield surfaces.bar(4 / 3 * com, 1.7 * com, 0.08 * radius), COLOURS["joint"]
    elif not big > 0 or rods:  # a weight, or one on rods
        if rods:
            yield from _beside(m, s, com)
        elif far > tolerances.WRITTEN_TOLERANCE * m.size:
            yield surfaces.bar(np.zeros(3), com, r), ""
        if far > tolerances.WRITTEN_TOLERANCE * m.size or not big > 0:
            yield _at(surfaces.sphere((2.6 if not big > 0 else 1.6) * r), com), ""
    elif not m.value(s, "complete")[0]:
        yield _at(surfaces.box(_sides(m, s, mass, big)), com), ""
    else:
        if far > 3 * r:
            yield surfaces.bar(np.zeros(3), com, 0.8 * r), ""
        yield from _equivalent(m, mass, moments, axes, com, many=many)


def _sides(m: Machine, s: Solid, mass: float, moment: float) -> FloatArray:
    """Sides (3,) of a box of which one moment is known.

    Beside other bodies it is thinner across its plane, and under gravity long and low, so that those are seen which hang on it.
    """
    half = float(np.clip(np.sqrt(1.5 * moment / mass), 2 * m.radius, 0.45 * m.size))
    sides, normal = np.full(3, 1.9 * half), m.scene.normal if m.scene.normal is not None else 2
    if len(m.scene.bodies) > 1:
        sides[normal] *= 0.55
        up = np.abs(m.first.frame(s.frame)[0].T @ m.up)
        if (vertical := int(np.argmax(up))) != normal and up[vertical] > 0:
            sides *= np.where(np.arange(3) == normal, 1.0, LEVEL)
            sides[vertical] *= LOW / LEVEL
    return sides


def _principal(m: Machine, s: Solid) -> tuple[FloatArray, FloatArray]:
    """Principal moments of inertia, rising, and right-handed axes (columns)."""
    a, b, c, ab, ac, bc = m.value(s, "tensor")
    moments, axes = eigh(np.array([[a, ab, ac], [ab, b, bc], [ac, bc, c]]), what="the axes of inertia")
    axes[:, 2] *= np.sign(det(axes))
    return moments, axes


def _on_a_ball(m: Machine) -> bool:
    """Whether a joint lets the only body turn in all directions."""
    return any(s.kind == "ball" for s in m.scene.solids)


def _axial(moments: FloatArray, axes: FloatArray, com: FloatArray) -> float | None:
    """The moment about the line from the origin to the centre of mass, where those about all lines across it are equal."""
    for i, j, k in ((0, 1, 2), (1, 2, 0)):
        if (
            abs(moments[i] - moments[j]) < 0.004 * moments[2]
            and norm(np.cross(axes[:, k], com)) < tolerances.STATE_TOLERANCE
        ):
            return float(moments[k]) if com.any() else None
    return None


def _equivalent(
    m: Machine, mass: float, moments: FloatArray, axes: FloatArray, com: FloatArray, *, many: bool
) -> Dressed:
    """A cylinder, or else a box or ellipsoid, with these principal moments."""
    total, thin = float(moments.sum()) / 2, 0.35 * m.radius
    pairs = [(i, j, 3 - i - j) for i, j in ((0, 1), (1, 2)) if moments[j] - moments[i] < 0.004 * moments[2]]
    if len(pairs) == 1 and not many:
        i, _, k = pairs[0]
        radius = float(np.sqrt(2 * moments[k] / mass))
        height = float(np.sqrt(max(12 * moments[i] / mass - 3 * radius**2, (0.08 * radius) ** 2)))
        if radius > 0.03 * height:
            R = along(axes[:, k])
            yield surfaces.cylinder(radius, height, 2 * surfaces.AROUND).placed(R, com), ""
            lift = 0.7 * radius if height < 0.3 * radius else 0.0  # through a long one it would shine
            spot = replace(surfaces.cylinder(0.12 * radius, height * 1.01 + 0.02 * radius), lift=lift)
            yield spot.placed(R, com + 0.66 * radius * axes[:, i]), COLOURS["joint"]
            return
    halves = np.sqrt(np.maximum((total - moments) * (3.4 if many else 3.0) / mass, thin**2))
    halves = np.minimum(halves, 0.5 * m.size)
    shape = surfaces.ellipsoid(halves, 16) if many else surfaces.box(2 * halves)
    yield shape.placed(axes, com), ""


def _sized(m: Machine, s: Solid) -> Dressed:
    """A solid with sizes: about its axis, turned, or along the axes of its frame."""
    if s.kind not in surfaces.SOLIDS:
        return
    sizes = m.value(s, "sizes")
    R = np.eye(3)
    if "axis" in s.numbers:
        R = along(m.value(s, "axis"))
    if "axes" in s.numbers:
        R = m.value(s, "axes").reshape(3, 3) @ R
    if "start" in s.numbers:
        start, end = m.value(s, "start"), m.value(s, "end")
        length = float(norm(end - start))
        R, at, sizes = along(end - start), (start + end) / 2, np.array([sizes[0], length])
        yield surfaces.SOLIDS[s.kind](*sizes.tolist()).placed(R, at), ""
        yield from _markings(s, sizes.tolist(), R, at)
        return
    at = m.value(s, "at")
    yield surfaces.SOLIDS[s.kind](*sizes.tolist()).placed(R, at), ""
    yield from _markings(s, sizes.tolist(), R, at)


def _markings(s: Solid, sizes: list[float], R: FloatArray, at: FloatArray) -> Dressed:
    """Marks by which one sees a round body turn, dark ones on light and light ones on dark."""
    if s.part != BODY:
        return
    dark = bool(s.colour) and sum(int(s.colour[k : k + 2], 16) for k in (1, 3, 5)) < DARK
    colour, (r, *others) = COLOURS["mark" if dark else "joint"], sizes
    if s.kind in ("disk", "cylinder"):
        length = others[0] if others else surfaces.THIN * r
        if length <= LONG * r:
            spot = replace(surfaces.cylinder(0.1 * r, 1.01 * length + 0.015 * r), lift=0.7 * r)
            yield spot.placed(R, at + 0.62 * r * R[:, 0]), colour
        else:
            stripe = replace(surfaces.cylinder(0.14 * r, 0.98 * length, 8), lift=0.5 * r)
            yield stripe.placed(R, at + 0.92 * r * R[:, 0]), colour
    elif s.kind == "torus":
        yield _at(surfaces.sphere(1.06 * others[0], 12), at + r * R[:, 0]), colour
    elif s.kind == "sphere":
        for axis in (*R.T, *-R.T):
            spot = replace(surfaces.cylinder(0.16 * r, 0.012 * r, 12), lift=0.3 * r)
            yield spot.placed(along(axis), at + 0.987 * r * axis), colour


def _mesh(m: Machine, s: Solid) -> Dressed:
    """The mesh of a file, where it can be drawn."""
    scale, R, at = m.value(s, "scale"), m.value(s, "axes").reshape(3, 3), m.value(s, "at")
    if (found := meshes.mesh_of(m.scene, s)) is None:
        return
    faces = found.faces[:, [2, 1, 0, 0]] if np.prod(scale) < 0 else found.faces  # outside stays outside
    yield Surface(found.vertices * scale, faces, found.closed).placed(R, at), ""


_BUILD: Mapping[str, _Builder] = {
    "mesh": _mesh,
    "rod": _rod,
    "hinge": _hinge,
    "ball": _ball,
    "pin": _knob(1.35),
    "dot": _knob(0.8),
    "tip": _knob(1.25),
    "rail": _rail,
    "hull": _hull,
    "inertia": _inertia,
    "bead": _bead,
    "block": _block,
    "plane": _plane,
    "triad": _triad,
}


def ends(m: Machine, s: Solid, pose: Pose) -> tuple[FloatArray, FloatArray]:
    """Where a solid between two frames begins and ends, in ground axes."""
    (R, r), (A, a) = pose.frame(s.frame), pose.frame(s.to)
    start = R @ m.value(s, "start" if "start" in s.numbers else "at") + r
    if s.kind.endswith("_on_rail"):
        start = start - rails(m)[s.frame, s.to].wall * (R @ m.value(s, "axis"))
    return start, A @ m.value(s, "end") + a if "end" in s.numbers else a


def between(m: Machine, s: Solid, pose: Pose) -> Iterator[Surface]:
    """Surfaces between two frames, in ground axes."""
    if s.kind == "rail":
        return
    (start, end), w = ends(m, s, pose), m.radius
    if s.kind.endswith("_on_rail"):
        axis = pose.frame(s.frame)[0] @ m.value(s, "axis")
        yield surfaces.box(np.array([5 * w, 5 * w, 0.8 * w])).placed(along(axis), start - 0.4 * w * axis)
    if not norm(end - start) > tolerances.STATE_TOLERANCE * m.size:
        return
    kind = s.kind.removesuffix("_on_rail")
    if kind == "spring":
        yield surfaces.coil(start, end, 1.6 * w, 0.24 * w)
    elif kind == "rope":
        yield surfaces.rope(start, end, float(m.value(s, "length")[0]), m.up, 0.3 * w)
    elif kind == "damper":
        middle = start + 0.6 * (end - start)
        yield surfaces.bar(start, middle, 0.9 * w)
        yield surfaces.bar(middle, end, 0.4 * w)
    else:
        yield surfaces.bar(start, end, (0.6 if kind in ("slide", "link") else 0.3) * w)
