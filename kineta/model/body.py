"""Bodies: inertia and the motions that lead to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from numbers import Real

from kineta import tolerances
from kineta.algebra.expression import Expr, Scalar
from kineta.errors import ArgumentError, Location, ModelError, shown
from kineta.model.coercion import COERCIONS, ModelRecord, Vector3, coerce_fields, entries, records, scalar, vector
from kineta.model.joints.motion import Motion
from kineta.records import dataclass
from kineta.values import word

#: Name of the fixed frame.
GROUND = "ground"

_NONE: Vector3 = vector((0, 0, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertia:
    """Inertia of a rigid body, about its centre of mass, in the axes of the body's frame.

    Parameters
    ----------
    mass : mass [kg]
    com : position of the centre of mass in the body's frame [m]; the origin unless given
    moments : Jxx, Jyy, Jzz, diagonal of the central inertia tensor [kg m^2]; or the tensor itself, three rows of three
    products : Jxy, Jxz, Jyz, its off-diagonal entries (Jxy = -integral of x y dm) [kg m^2]
    lumped : True for an incomplete list of moments (a column that only turns): the triangle
        inequality of moments is then not checked; False if no moment is zero
    unchecked : True to use impossible moments unchanged, as from measurements
    """

    mass: Expr = _NONE[0]
    com: Vector3 = _NONE
    moments: Vector3 = _NONE
    products: Vector3 = _NONE
    lumped: bool = False
    unchecked: bool = False

    def __post_init__(self) -> None:
        for name, three in zip(("moments", "products"), _entries(self.moments, self.products), strict=True):
            object.__setattr__(self, name, three)
        coerce_fields(self)
        if self.lumped and all(m.value != 0 for m in self.moments):
            object.__setattr__(self, "lumped", False)


def _entries(moments: object, products: object) -> tuple[Vector3, Vector3]:
    """Moments and products, where *moments* may be the whole tensor."""
    rows = entries(moments) or ()
    if not any(entries(row) for row in rows):
        return vector(moments), vector(products)
    if any(p.value != 0 for p in vector(products)):
        raise ArgumentError("Expected a tensor of inertia without products beside it: it holds them.")
    if len(rows) != 3:
        raise ArgumentError(f"Expected a tensor of inertia as three rows of three, found {len(rows)} rows.")
    return _of_tensor([vector(row) for row in rows])


def _of_tensor(J: Sequence[Vector3]) -> tuple[Vector3, Vector3]:
    """Moments and products of the tensor *J*; entries that only rounding keeps from being equal are."""
    sizes = [abs(entry.value) for row in J for entry in row if entry.value is not None]
    products = []
    for i, k in ((0, 1), (0, 2), (1, 2)):
        a, b = J[i][k], J[k][i]
        if a != b:
            if (
                a.value is None
                or b.value is None
                or not abs(a.value - b.value) <= tolerances.INERTIA_TOLERANCE * max(sizes)
            ):
                names = f"J{'xyz'[i]}{'xyz'[k]} = {shown(a)}", f"J{'xyz'[k]}{'xyz'[i]} = {shown(b)}"
                raise ArgumentError(f"Expected a symmetric tensor of inertia, found {' and '.join(names)}.")
            a = scalar((a.value + b.value) / 2)
        products.append(a)
    Jxy, Jxz, Jyz = products
    return (J[0][0], J[1][1], J[2][2]), (Jxy, Jxz, Jyz)


def inertia(
    mass: Scalar = 0.0,
    moments: Sequence[Scalar] | Sequence[Sequence[Scalar]] = (0, 0, 0),
    products: Sequence[Scalar] = (0, 0, 0),
    *more: Scalar,
    com: Sequence[Scalar] = (0, 0, 0),
    lumped: bool = False,
    unchecked: bool = False,
) -> Inertia:
    """:class:`Inertia` from numbers or expressions; *moments* may be three, or a symmetric tensor of 3 x 3."""
    if more or isinstance(moments, Real | Expr):
        raise ArgumentError(
            "Expected a mass and three moments, as in kn.inertia(m, (Jx, Jy, Jz)), found single numbers."
        )
    axial, mixed = _entries(moments, products)
    return Inertia(
        mass=scalar(mass), com=vector(com), moments=axial, products=mixed, lumped=lumped, unchecked=unchecked
    )


@dataclass(frozen=True, slots=True)
class Body(ModelRecord):
    """A body (or, without inertia, a frame).

    ``motions`` lead from the frame of ``base`` (the frame after the base's own last motion) to the frame of this body,
    left to right, each in the frame reached by its predecessor.
    """

    name: str
    base: str
    motions: tuple[Motion, ...]
    inertia: Inertia = Inertia()
    location: Location | None = field(default=None, compare=False, repr=False)


def _motions(value: object, _: str, body: Body) -> tuple[Motion, ...]:
    return records(value, Motion, f"motions of body {shown(body.name)}", "kn.Rz(q1)")


def _inertia(value: object, _: str, body: Body) -> Inertia:
    if isinstance(value, Inertia):
        return value
    example = f"kn.inertia({shown(value)})" if isinstance(value, Real | Expr) else "kn.inertia(m, (Jx, Jy, Jz))"
    raise ArgumentError(f"Body '{body.name}': expected an Inertia, found {shown(value)}; write {example}.")


COERCIONS["tuple[Motion, ...]"] = _motions
COERCIONS["Inertia"] = _inertia


def body(name: str, motions: Iterable[Motion], inertia: Inertia | None = None, *, base: str | Body = GROUND) -> Body:
    """A :class:`Body` on *base* (a body, its name, or the ground)."""
    if isinstance(name, str) and not name:
        raise ModelError("Body '': expected a name of letters, digits and '_', not starting with a digit.")
    own = records(motions, Motion, f"motions of body {shown(name)}", "kn.Rz(q1)")
    return Body(name, _name(base), own, Inertia() if inertia is None else inertia)


def _name(body: Body | str) -> str:
    """The name of a body, or the name itself."""
    return body.name if isinstance(body, Body) else word(body, "a body or its name")


def topological_order(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """*bodies*, every base before the bodies it carries, otherwise in the given order; bodies of a cycle are left out."""
    carried: dict[str, list[Body]] = {}
    for body in bodies:
        carried.setdefault(body.base, []).append(body)
    order = list(reversed(carried.get(GROUND, [])))
    result: list[Body] = []
    while order:
        body = order.pop()
        result.append(body)
        order.extend(reversed(carried.get(body.name, [])))
    return tuple(result)


@dataclass(frozen=True, slots=True)
class Point(ModelRecord):
    """A point fixed in a body: *position* in the body's frame [m].

    ``name.x``, ``name.vx`` ... stand for the components of its inertial position and velocity.
    """

    name: str
    body: str
    position: Vector3
    location: Location | None = field(default=None, compare=False, repr=False)


def point(name: str, body: str | Body, position: Sequence[Scalar] = (0, 0, 0)) -> Point:
    """A :class:`Point` of *body* (a body or its name)."""
    return Point(name, _name(body), vector(position))


@dataclass(frozen=True, slots=True)
class Station(ModelRecord):
    """Point of application of an element: *position* in the frame of *body* [m]."""

    body: str
    position: Vector3 = _NONE

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The components of its position."""
        return self.position

    @property
    def bodies(self) -> tuple[str, ...]:
        """The name of its body."""
        return (self.body,)


def station(at: Station | Point | Body | str, position: Sequence[Scalar] | None = None) -> Station:
    """The place of a point, or *position* in the frame of a body, as a :class:`Station`."""
    if isinstance(at, Station):
        return at
    if isinstance(at, Point):
        return Station(at.body, at.position)
    name = at.name if isinstance(at, Body) else word(at, "a point, a body or the name of one")
    return Station(name, _NONE if position is None else vector(position))


COERCIONS["Station"] = lambda value, *_: station(value)
