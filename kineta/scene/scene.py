"""``Scene``: what a machine looks like, as data: frames that move, solids fixed to them, and what else pictures show.

Nothing here knows how it is drawn. Poses of frames and numbers of solids are results of one program, so that whatever runs
the program draws the same machine: a parameter that is changed changes its rod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kineta.expr.program import StraightLineProgram
from kineta.records import dataclass

#: What a solid belongs to: a body, a joint, the ground, or an element between bodies.
BODY, JOINT, FIXED, ELEMENT = "body", "joint", "ground", "element"


@dataclass(frozen=True, slots=True)
class Solid:
    """A solid of a *kind*, fixed to the frame of this number, or between it and the frame ``to``.

    owner : the body of its colour; "" for the ground; part : what it belongs to
    numbers : of each measure, as ``at`` or ``sizes``, the places of its components among the numbers of the scene
    name : of the element, constraint or contact for which it stands; of a described shape, of the text that describes it
    colour : ``#rrggbb``; "" for that of its owner; file : of a mesh, beside the text
    """

    kind: str
    frame: int
    owner: str
    part: str
    numbers: Mapping[str, tuple[int, ...]]
    to: int = -1
    name: str = ""
    colour: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Trail:
    """The path of a point or body of this *name*: the places of its position among what moves with the scene."""

    name: str
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A force of the element *name* as an arrow: the places of its point of application, and of its components [N] in ground
    axes, among what moves with the scene.
    """

    name: str
    at: tuple[int, ...]
    force: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """A contact of this *name*: the places of where it acts, of its normal and two directions along the surface, in
    ground axes (9), and of its coefficient of friction, among what moves with the scene.
    """

    name: str
    at: tuple[int, ...]
    axes: tuple[int, ...]
    friction: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Scene:
    """The machine of a model.

    bodies : their names, carriers first; frames : the owner of each frame, the ground ("") first; places : the frame of each body
    program : from t, q, v and the parameters p to ``frames`` (n, 12), axes by rows (to ground axes) and origin, ``numbers`` [SI],
        which depend on p alone, and ``moving``, vectors in ground axes
    normal : the number of the ground axis to which all motion is normal; None for motion in space
    up : against gravity, in ground axes: (3,) places among the numbers
    towards : the direction of sight, as up, where the model gives one
    trails, arrows : the paths and the forces that are shown
    touches : the contacts with planes, bodies and ground of a given height
    hinges : of each body, the frame at whose origin its joint acts on it
    grips : of each loop or rolling, the place (3,) where it acts, among what moves
    heights : from t, a place (2,) along the plane of each solid ``field``, and p to its height above that plane and the slopes
        of it, (n, 3); None without such ground
    """

    model: str
    bodies: tuple[str, ...]
    frames: tuple[str, ...]
    places: Mapping[str, int]
    solids: tuple[Solid, ...]
    program: StraightLineProgram
    normal: int | None
    up: tuple[int, ...]
    towards: tuple[int, ...] = ()
    trails: tuple[Trail, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    touches: tuple[Touch, ...] = ()
    hinges: Mapping[str, int] = field(default_factory=dict)
    grips: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    heights: StraightLineProgram | None = None
