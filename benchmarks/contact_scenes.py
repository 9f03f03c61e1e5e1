"""Bodies that touch: their text, where their corners are, and the same in MuJoCo's language."""

from __future__ import annotations

import sysconfig
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin, tau
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
TALOS = Path(sysconfig.get_path("purelib"), "cmeel.prefix/share/example-robot-data/robots/talos_data/robots")

GRAVITY = "gravity 9.81;\n"


@dataclass(frozen=True)
class Scene:
    """A text, its span [s], gaps that must not be negative, MuJoCo's model for a step [s], and whether something drives it."""

    span: float
    text: Callable[[], str]
    gaps: tuple[str, ...] = ()
    peer: Callable[[float], str] | None = None
    driven: bool = False


def example(name: str) -> Callable[[], str]:
    return lambda: (EXAMPLES / f"{name}.kin").read_text(encoding="utf-8")


def world(step: float, friction: float, bodies: str, more: str = "") -> str:
    """A plane, with elliptic cones; each body has the *friction* of the plane."""
    return f"""<mujoco><option gravity="0 0 -9.81" timestep="{step}" cone="elliptic"><flag energy="enable"/></option>
<default><geom friction="{friction} 0 0" condim="3"/></default>
<worldbody><geom type="plane" size="99 99 1"/>{bodies}</worldbody>{more}</mujoco>"""


def key(q: list[float], v: list[float]) -> str:
    """The start of a model."""
    return f'<keyframe><key qpos="{" ".join(map(str, q))}" qvel="{" ".join(map(str, v))}"/></keyframe>'


# A ball, and a block in the plane.
def lively() -> str:
    return example("bouncing_ball")().replace("e = 0.7", "e = 0.9")


def ball(step: float) -> str:
    body = '<body pos="0 0 1.05"><freejoint/><geom type="sphere" size="0.05" mass="0.2"/></body>'
    return world(step, 0, body)


PLANE = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>'


def block(step: float) -> str:
    b, h, a = 0.1, 0.3, 0.1
    J = (b * b + h * h) / 3
    body = f"""<body>{PLANE}<inertial pos="0 0 0" mass="1" diaginertia="{J} {J} {J}"/>
<geom type="box" size="{b} 0.1 {h}"/></body>"""
    return world(step, 0.8, body, key([h * sin(a) - b * cos(a), b * sin(a) + h * cos(a), a], [0, 0, 0]))


#: A driven mass with dry friction, that turns back and is never held.
RUBBING = """coordinates x; M | Sx(x) = 1; spring k = 4 on x; damper c = 0.1 on x'; force d = 3*sin(1.3*t) on x;
friction f = 0.2 on x; initial x = 0.5;"""


# Boxes and rods, thrown, each differently.
SIGNS = [(i, j, k) for i in (1, -1) for j in (1, -1) for k in (1, -1)]
BOX = (0.2, 0.15, 0.1)


def start(k: int) -> tuple[list[float], list[float]]:
    """Place, quaternion, and velocities of the body *k*."""
    return [2.0 * k, 0, 0.8 + 0.05 * k, 0.9, 0.3, 0.2, 0.06**0.5], [1.5 + 0.1 * k, 0, 0, 2 + 0.2 * k, 3, 1]


def thrown(k: int) -> str:
    q, v = start(k)
    names = [f"b{k}.{n}" for n in "x y z qw qx qy qz vx vy vz wx wy wz".split()]
    return "initial " + ", ".join(f"{n} = {x}" for n, x in zip(names, q + v, strict=True)) + ";\n"


def boxes(count: int) -> Callable[[], str]:
    def text() -> str:
        a, b, c = BOX
        said = GRAVITY
        for k in range(count):
            said += f"B{k} | Free(b{k}) = 1, {(b * b + c * c) / 3}, {(a * a + c * c) / 3}, {(a * a + b * b) / 3};\n"
            for n, (i, j, l) in enumerate(SIGNS):
                said += f"point C{k}_{n} on B{k} = ({i * a}, {j * b}, {l * c});\n"
            corners = ", ".join(f"C{k}_{n}" for n in range(8))
            said += f"contact floor{k} : point between {corners} and ground axis (0, 0, 1), "
            said += f"restitution = 0.3, friction = 0.4;\n{thrown(k)}"
        return said

    return text


def peer_boxes(count: int) -> Callable[[float], str]:
    def model(step: float) -> str:
        size = " ".join(map(str, BOX))
        body = f'<body><freejoint/><geom type="box" size="{size}" mass="1"/></body>'
        return world(step, 0.4, body * count, keys(count))

    return model


def keys(count: int) -> str:
    """Velocities are in the axes of the ground there, and in those of the body in kineta."""
    starts = [start(k) for k in range(count)]
    w, x, y, z = starts[0][0][3:]
    forth = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
    return key([x for q, _ in starts for x in q], [x for _, v in starts for x in (*(v[0] * e for e in forth), *v[3:])])


ROD = 0.3


def rods(count: int) -> Callable[[], str]:
    def text() -> str:
        said = GRAVITY
        for k in range(count):
            said += f"B{k} | Free(b{k}) = 1, {ROD**2 / 3}, {ROD**2 / 3}, 1e-3;\n"
            said += f"point E{k}_0 on B{k} = (0, 0, {ROD}); point E{k}_1 on B{k} = (0, 0, {-ROD});\n"
            said += f"contact floor{k} : point between E{k}_0, E{k}_1 and ground axis (0, 0, 1), friction = 0.4;\n"
            said += thrown(k)
        return said

    return text


def peer_rods(count: int) -> Callable[[float], str]:
    def model(step: float) -> str:
        ends = "".join(f'<geom type="sphere" size="1e-3" pos="0 0 {z}"/>' for z in (ROD, -ROD))
        J = f"{ROD**2 / 3} {ROD**2 / 3} 1e-3"
        body = f'<body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="{J}"/>{ends}</body>'
        return world(step, 0.4, body * count, keys(count))

    return model


# A stack of cubes, each let fall on the one below.
SIDE = 0.1


def stack(count: int) -> Callable[[], str]:
    def text() -> str:
        a, said = SIDE, GRAVITY
        for k in range(count):
            said += f"B{k} | Free(b{k}) = 1, {2 * a * a / 3}, {2 * a * a / 3}, {2 * a * a / 3};\n"
            for n, (i, j) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
                said += f"point C{k}_{n} on B{k} = ({i * a}, {j * a}, {-a});\n"
            below = f"B{k - 1} at (0, 0, {a})" if k else "ground"
            corners = ", ".join(f"C{k}_{n}" for n in range(4))
            said += f"contact c{k} : point between {corners} and {below} axis (0, 0, 1), friction = 0.5;\n"
            said += f"initial b{k}.z = {a * (2 * k + 1) + 0.01 * (k + 1)}, b{k}.x = {0.02 * k}, b{k}.qw = 1;\n"
        return said

    return text


def peer_stack(count: int) -> Callable[[float], str]:
    def model(step: float) -> str:
        a = SIDE
        body = f'<body><freejoint/><geom type="box" size="{a} {a} {a}" mass="1"/></body>'
        q = [x for k in range(count) for x in (0.02 * k, 0, a * (2 * k + 1) + 0.01 * (k + 1), 1, 0, 0, 0)]
        return world(step, 0.5, body * count, key(q, [0.0] * 6 * count))

    return model


# A wall of bricks, each on two of the row below, whose rows may slide.
BRICK = (0.1, 0.05, 0.04)


def wall(sliding: float) -> Callable[[], str]:
    def text() -> str:
        (a, b, c), said = BRICK, GRAVITY
        J = f"{(b * b + c * c) / 3}, {(a * a + c * c) / 3}, {(a * a + b * b) / 3}"
        for row, bricks in enumerate((6, 5, 4, 3, 2)):
            for i in range(bricks):
                k = f"B{row}_{i}"
                said += f"{k} | Free(f{k}) = 1, {J};\n"
                for s, (u, v) in enumerate(((-0.9, -1), (-0.9, 1), (0.9, -1), (0.9, 1))):
                    said += f"point {k}p{s} on {k} = ({u * a}, {v * b}, {-c});\n"
                for side in (0, 1):
                    below = f"B{row - 1}_{i + side} at (0, 0, {c})" if row else "ground"
                    some = f"{k}p{2 * side}, {k}p{2 * side + 1}"
                    said += f"contact c{k}{side} : point between {some} and {below} axis (0, 0, 1), friction = 0.6;\n"
                x, z = 2.05 * a * (i + row / 2), c * (2 * row + 1) + 0.005 * (row + 1)
                said += f"initial f{k}.x = {x}, f{k}.z = {z}, f{k}.qw = 1, f{k}.vx = {sliding * row};\n"
        return said

    return text


# Balls that fall into a box without a lid, in layers, each a little beside its place.
RADIUS, SPACE = 0.05, 0.112


def layers(count: int) -> tuple[int, list[tuple[float, float, float]]]:
    """Number of balls along a side of the box, and places of all."""
    side = round((count / 2) ** (1 / 3))
    found = []
    for i in range(count):
        layer, place = divmod(i, side * side)
        x, y = divmod(place, side)
        shake = 0.004 * sin(12.9898 * i), 0.004 * sin(78.233 * i)
        found.append(
            (
                SPACE * (x - (side - 1) / 2) + shake[0],
                SPACE * (y - (side - 1) / 2) + shake[1],
                0.1 + 1.2 * SPACE * layer,
            )
        )
    return side, found


def pile(count: int) -> Callable[[], str]:
    def text() -> str:
        side, places = layers(count)
        wide, J = SPACE * side / 2 + 0.02, 0.4 * RADIUS**2
        said = f"{GRAVITY}constants N = {count}; parameters r = {RADIUS}, mu = 0.5;\n"
        said += f"for i in 1..N : B[i] | Free(b[i]) = 1, {J}, {J}, {J};\n"
        for name, at, axis in [
            ("floor", (0, 0, 0), (0, 0, 1)),
            *(
                (f"wall{k}", (-wide * u, -wide * v, 0), (u, v, 0))
                for k, (u, v) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1)))
            ),
        ]:
            said += f"for i in 1..N : contact {name}[i] : ball = r between B[i] and ground at {at} axis {axis}, friction = mu;\n"
        said += "contact pile : ball = r among B[1..N], friction = mu;\n"
        for i, (x, y, z) in enumerate(places, 1):
            said += f"initial b[{i}].x = {x}, b[{i}].y = {y}, b[{i}].z = {z};\n"
        return said

    return text


def peer_pile(count: int) -> Callable[[float], str]:
    def model(step: float) -> str:
        side, places = layers(count)
        wide = SPACE * side / 2 + 0.02
        walls = "".join(
            f'<geom type="plane" size="99 99 1" pos="{-wide * u} {-wide * v} 0" zaxis="{u} {v} 0"/>'
            for u, v in ((1, 0), (-1, 0), (0, 1), (0, -1))
        )
        balls = "".join(
            f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="1"/></body>'
            for x, y, z in places
        )
        return world(step, 0.5, walls + balls, '<size memory="200M"/>')

    return model


# A wall of whole bricks, a quarter beside those below, that stands, or that a ball strikes; boxes that fall into a pit.
ROWS, ACROSS = 5, 4
SIDES = (0.1, 0.09, 0.08)


def bricks() -> list[tuple[float, float]]:
    """Places of the bricks of a wall along it and above the ground."""
    a, _, c = BRICK
    return [(2.005 * a * (i + 0.25 * (k % 2)), c * (2 * k + 1)) for k in range(ROWS) for i in range(ACROSS)]


def brick_wall(speed: float | None) -> Callable[[], str]:
    def text() -> str:
        a, b, c = BRICK
        said = f"{GRAVITY}constants N = {ROWS * ACROSS};\n"
        said += f"for i in 1..N : B[i] | Free(b[i]) = 3, {b * b + c * c}, {a * a + c * c}, {a * a + b * b};\n"
        struck = ""
        if speed is not None:
            said += f"Ball | Free(f) = 5, 0.03, 0.03, 0.03; initial f.x = 0.3, f.y = -1, f.z = 0.3, f.vy = {speed};\n"
            struck = " and ball = 0.12 among Ball"
        said += f"contact wall : box = {2 * a}, {2 * b}, {2 * c} among B[1..N]{struck}"
        said += " and plane among ground axis (0, 0, 1), friction = 0.6;\n"
        for i, (x, z) in enumerate(bricks(), 1):
            said += f"initial b[{i}].x = {x}, b[{i}].z = {z};\n"
        return said

    return text


def peer_brick_wall(speed: float | None) -> Callable[[float], str]:
    def model(step: float) -> str:
        size = " ".join(map(str, BRICK))
        body = f'<freejoint/><geom type="box" size="{size}" mass="3"/>'
        bodies = "".join(f'<body pos="{x} 0 {z}">{body}</body>' for x, z in bricks())
        q = [number for x, z in bricks() for number in (x, 0, z, 1, 0, 0, 0)]
        v = [0.0] * 6 * len(bricks())
        if speed is not None:
            bodies += '<body pos="0.3 -1 0.3"><freejoint/><geom type="sphere" size="0.12" mass="5"/></body>'
            q, v = [*q, 0.3, -1, 0.3, 1, 0, 0, 0], [*v, 0, speed, 0, 0, 0, 0]
        return world(step, 0.6, bodies, key(q, v))

    return model


def box_places(count: int) -> tuple[float, list[tuple[float, float, float]]]:
    """Half the width of a pit, and the places of boxes over it."""
    side = max(2, round((count / 3) ** (1 / 3)))
    found = []
    for i in range(count):
        layer, place = divmod(i, side * side)
        x, y = divmod(place, side)
        shake = 0.01 * sin(12.9898 * i), 0.01 * sin(78.233 * i)
        centre = (side - 1) / 2
        found.append((0.16 * (x - centre) + shake[0], 0.16 * (y - centre) + shake[1], 0.1 + 0.17 * layer))
    return 0.08 * side + 0.025, found


def box_pile(count: int) -> Callable[[], str]:
    def text() -> str:
        wide, places = box_places(count)
        a, b, c = SIDES
        J = f"{(b * b + c * c) / 12}, {(a * a + c * c) / 12}, {(a * a + b * b) / 12}"
        said = f"{GRAVITY}constants N = {count};\nfor i in 1..N : B[i] | Free(b[i]) = 1, {J};\n"
        sides = "".join(
            f", ground at ({-wide * u}, {-wide * v}, 0) axis ({u}, {v}, 0)"
            for u, v in ((1, 0), (-1, 0), (0, 1), (0, -1))
        )
        said += f"contact pile : box = {a}, {b}, {c} among B[1..N]"
        said += f" and plane among ground axis (0, 0, 1){sides}, friction = 0.5;\n"
        for i, (x, y, z) in enumerate(places, 1):
            said += (
                f"initial b[{i}].x = {x}, b[{i}].y = {y}, b[{i}].z = {z}, b[{i}].wx = {sin(i)}, b[{i}].wz = {cos(i)};\n"
            )
        return said

    return text


def peer_box_pile(count: int) -> Callable[[float], str]:
    def model(step: float) -> str:
        wide, places = box_places(count)
        size = " ".join(str(s / 2) for s in SIDES)
        body = f'<freejoint/><geom type="box" size="{size}" mass="1"/>'
        walls = "".join(
            f'<geom type="plane" size="99 99 1" pos="{-wide * u} {-wide * v} 0" zaxis="{u} {v} 0"/>'
            for u, v in ((1, 0), (-1, 0), (0, 1), (0, -1))
        )
        bodies = "".join(f'<body pos="{x} {y} {z}">{body}</body>' for x, y, z in places)
        q = [number for place in places for number in (*place, 1, 0, 0, 0)]
        v = [number for i in range(1, count + 1) for number in (0, 0, 0, sin(i), 0, cos(i))]
        return world(step, 0.5, walls + bodies, f'{key(q, v)}<size memory="200M"/>')

    return model


# A table on four sprung feet, pushed aside.
FEET = [(0.0, 0.5), (0.0, -0.5), (1.5, 0.5), (1.5, -0.5)]


def table() -> str:
    said = (
        GRAVITY + "Body | Sx(x), Sy(y), Sz(z), Rz(psi), Ry(pitch), Rx(roll) = 200, 30, 60, 60, com = (0.75, 0, 0.3);\n"
    )
    for k, (x, y) in enumerate(FEET):
        said += f"F{k} ~ Body | Sx({x}), Sy({y}), Sz(u{k}) = 8;\n"
        said += f"spring c{k} = 2e4, -0.03 on u{k}; damper d{k} = 1.5e3 on u{k}';\n"
    said += "coordinates x, y, z, psi, pitch, roll, u0, u1, u2, u3;\n"
    said += "contact legs : point between F0, F1, F2, F3 and ground axis (0, 0, 1), friction = 0.8;\n"
    return said + "force push on Body = (0, 300*t, 0) in ground;\n"


def peer_table(step: float) -> str:
    legs = "".join(
        f'<body pos="{x} {y} 0"><inertial pos="0 0 0" mass="8" diaginertia="1e-9 1e-9 1e-9"/>'
        f'<joint type="slide" axis="0 0 1" stiffness="2e4" springref="-0.03" damping="1.5e3"/>'
        '<geom type="sphere" size="1e-3"/></body>'
        for x, y in FEET
    )
    body = f"""<body><freejoint/><inertial pos="0.75 0 0.3" mass="200" diaginertia="30 60 60"/>{legs}</body>"""
    return world(step, 0.8, body)


#: Feet of a rigid table, under its centre of mass but for 5 cm.
LEGS = [(0.8 * i, 0.6 * j) for j in (1, -1) for i in (1, -1)]


def standing(count: int, push: str) -> Callable[[], str]:
    """So many rigid tables in a row, which springs couple, each pushed."""

    def text() -> str:
        said = GRAVITY
        for b in range(count):
            said += f"B{b} | Sx(x{b}), Sy(y{b}), Sz(z{b}), Rz(psi{b}), Ry(pitch{b}), Rx(roll{b}) = 200, 30, 60, 60, "
            said += f"com = (0.05, 0, 0.3);\nforce push{b} on B{b} = {push} in ground;\n"
            said += f"initial x{b} = {3 * b}, z{b} = 0.5;\n"
            said += "".join(f"point P{b}_{k} on B{b} = ({x}, {y}, -0.5);\n" for k, (x, y) in enumerate(LEGS))
            said += f"spring c{b} = 1e3 on x{b} - x{b - 1} - 3;\n" if b else ""
        feet = ", ".join(f"P{b}_{k}" for b in range(count) for k in range(4))
        names = ", ".join(f"{n}{b}" for b in range(count) for n in ("x", "y", "z", "psi", "pitch", "roll"))
        return (
            said
            + f"coordinates {names};\ncontact legs : point between {feet} and ground axis (0, 0, 1), friction = 0.8;\n"
        )

    return text


# A humanoid that is let fall on his soles.
SOLE = [(x, y) for x in (0.1, -0.1) for y in (0.06, -0.06)]
UPRIGHT = 1.08305


def talos(sole: list[tuple[float, float]] = SOLE) -> str:
    said, names = f'include "{TALOS / "talos_reduced.urdf"}" floating;\n', []
    for side in ("left", "right"):
        for k, (x, y) in enumerate(sole):
            names.append(f"{side[0].upper()}{k}")
            said += f"point {names[-1]} on leg_{side}_6_link = ({x}, {y}, -0.107);\n"
    said += f"contact soles : point between {', '.join(names)} and ground axis (0, 0, 1), friction = 0.7;\n"
    return said + f"initial root.z = {UPRIGHT};\n"


def peer_talos(step: float) -> str:
    import mujoco

    robot = ET.parse(TALOS / "talos_reduced.urdf").getroot()
    for link in robot.iter("link"):
        for kind in ("visual", "collision"):
            for shape in link.findall(kind):
                link.remove(shape)
    compiler = {"fusestatic": "false", "balanceinertia": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
    ET.SubElement(ET.SubElement(robot, "mujoco"), "compiler", compiler)
    spec = mujoco.MjSpec.from_string(ET.tostring(robot, encoding="unicode"))
    spec.option.timestep, spec.option.cone = step, mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    base = spec.body("base_link")
    base.pos = [0, 0, UPRIGHT]
    base.add_freejoint()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[9, 9, 1], friction=[0.7, 0, 0])
    for side in ("left", "right"):
        for x, y in SOLE:
            foot = spec.body(f"leg_{side}_6_link")
            foot.add_geom(size=[1e-3, 0, 0], pos=[x, y, -0.107], friction=[0.7, 0, 0], mass=0)
    spec.compile()
    return str(spec.to_xml())


# A wheel of spokes without a rim, that rolls down.
SPOKES, LENGTH, SLOPE = 12, 0.5, 0.08


def wheel() -> str:
    said = GRAVITY + "Wheel | Sx(x), Sz(z), Ry(q) = m(2), Jy(0.1);\ncoordinates x, z, q;\n"
    for k in range(SPOKES):
        said += f"point S{k} on Wheel = ({LENGTH * sin(tau * k / SPOKES)}, 0, {-LENGTH * cos(tau * k / SPOKES)});\n"
    tips = ", ".join(f"S{k}" for k in range(SPOKES))
    said += f"contact ground : point between {tips} and ground axis ({sin(SLOPE)}, 0, {cos(SLOPE)}), friction = 0.9;\n"
    half = pi / SPOKES
    high = LENGTH * cos(half)
    return (
        said
        + f"initial x = {high * sin(SLOPE)}, z = {high * cos(SLOPE)}, q = {half + SLOPE}, q' = 2, x' = {2 * high};\n"
    )


def peer_wheel(step: float) -> str:
    tips = "".join(
        f'<geom type="sphere" size="1e-3" pos="{LENGTH * sin(tau * k / SPOKES)} 0 {-LENGTH * cos(tau * k / SPOKES)}"/>'
        for k in range(SPOKES)
    )
    half = pi / SPOKES
    high = LENGTH * cos(half)
    body = f'<body>{PLANE}<inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>{tips}</body>'
    start = key([high * sin(SLOPE), high * cos(SLOPE) + 1e-3, half + SLOPE], [2 * high, 0, 2])
    sloped = f'type="plane" size="99 99 1" quat="{cos(SLOPE / 2)} 0 {sin(SLOPE / 2)} 0"'
    return world(step, 0.9, body, start).replace('type="plane" size="99 99 1"', sloped)


# A Stewart platform on three feet: six sprung legs, each closed by a ball joint, let fall with a tilt.
TURNS = [tau / 6 * (k // 2 * 2) for k in range(6)]
SIDEWAYS = [1 if k % 2 else -1 for k in range(6)]
STRUTS = [
    ((0.3 * cos(a), 0.3 * sin(a)), (0.2 * cos(b), 0.2 * sin(b), 0.4))
    for t, s in zip(TURNS, SIDEWAYS, strict=True)
    for a, b in [(t + 0.15 * s, t + s * (tau / 6 - 0.15))]
]
PLATFORM_FEET = [(0.35 * cos(tau * k / 3), 0.35 * sin(tau * k / 3), -0.03) for k in range(3)]
TILT, LIFT, ACROSS_GROUND = 0.15, 0.25, 0.4


def stewart() -> str:
    said = f"{GRAVITY}Base | Free(base) = 4, 0.1, 0.1, 0.2; Top | Free(top) = 2, 0.03, 0.03, 0.06;\n"
    said += "".join(f"point Foot{k} on Base = ({x}, {y}, {z});\n" for k, (x, y, z) in enumerate(PLATFORM_FEET))
    posture = ""
    for k, ((u, w), head) in enumerate(STRUTS):
        x, y, z = head[0] - u, head[1] - w, head[2]
        length = hypot(x, y, z)
        said += (
            f"Tube{k} ~ Base | Sx({u}), Sy({w}), Rx(a{k}), Ry(b{k}) = 0.3, 0.004, 0.004, 2e-4, com = (0, 0, 0.12);\n"
        )
        said += f"Rod{k} ~ Tube{k} | Sz(s{k}) = 0.2, 0.003, 0.003, 1e-4, com = (0, 0, -0.12);\n"
        said += f"loop ball{k} : ball between Rod{k} and Top at ({head[0]}, {head[1]}, 0);\n"
        said += f"spring c{k} = 4e3, {length} on s{k}; damper d{k} = 60 on s{k}';\n"
        posture += f", a{k} = {atan2(-y, z)}, b{k} = {atan2(x, hypot(y, z))}, s{k} = {length}"
    said += "contact floor : point between Foot0, Foot1, Foot2 and ground axis (0, 0, 1), friction = 0.6;\n"
    turned = f"qw = {cos(TILT / 2)}, {{0}}.qy = {sin(TILT / 2)}, {{0}}.vx = {ACROSS_GROUND}"
    said += f"initial base.z = {LIFT}, base.{turned.format('base')}{posture};\n"
    return f"{said}initial top.x = {0.4 * sin(TILT)}, top.z = {LIFT + 0.4 * cos(TILT)}, top.{turned.format('top')};\n"


def peer_stewart(step: float) -> str:
    """Loops are equality constraints, as stiff as the step allows."""
    stiff = f'solref="{2 * step} 1"'

    def link(name: str, x: float, y: float, joint: str, inertia: str, inside: str) -> str:
        return f'<body name="{name}" pos="{x} {y} 0">{joint}<inertial {inertia}/>{inside}</body>'

    legs, heads, loops = "", "", ""
    for k, ((u, w), head) in enumerate(STRUTS):
        length = hypot(head[0] - u, head[1] - w, head[2])
        slide = f'<joint type="slide" axis="0 0 1" stiffness="4e3" damping="60" springref="{length}"/>'
        inertia = 'pos="0 0 -.12" mass=".2" diaginertia=".003 .003 .0001"'
        rod = link(f"rod{k}", 0, 0, slide, inertia, f'<site name="r{k}"/>')
        turns = '<joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>'
        legs += link(f"tube{k}", u, w, turns, 'pos="0 0 .12" mass=".3" diaginertia=".004 .004 .0002"', rod)
        heads += f'<site name="h{k}" pos="{head[0]} {head[1]} 0"/>'
        loops += f'<connect site1="r{k}" site2="h{k}" {stiff}/>'
    feet = "".join(f'<geom type="sphere" size=".001" pos="{x} {y} {z}"/>' for x, y, z in PLATFORM_FEET)
    base = 'pos="0 0 0" mass="4" diaginertia=".1 .1 .2"'
    bodies = link("base", 0, 0, "<freejoint/>", base, feet + legs)
    bodies += link("top", 0, 0, "<freejoint/>", 'pos="0 0 0" mass="2" diaginertia=".03 .03 .06"', heads)
    turned = [cos(TILT / 2), 0, sin(TILT / 2), 0]
    posture = [
        x
        for (u, w), (a, b, c) in STRUTS
        for x in (atan2(w - b, c), atan2(a - u, hypot(b - w, c)), hypot(a - u, b - w, c))
    ]
    # speeds of free bodies are in axes of the ground there, and in those of the body in kineta
    flung = [ACROSS_GROUND * cos(TILT), 0, -ACROSS_GROUND * sin(TILT), 0, 0, 0]
    q = [0, 0, LIFT, *turned, *posture, 0.4 * sin(TILT), 0, LIFT + 0.4 * cos(TILT), *turned]
    return world(step, 0.6, bodies, f"<equality>{loops}</equality>{key(q, [*flung, *[0.0] * 18, *flung])}")


def gaps(*names: str) -> tuple[str, ...]:
    return tuple(f"{n}.z" for n in names)


def corners(count: int) -> tuple[str, ...]:
    return gaps(*(f"C{k}_{n}" for k in range(count) for n in range(8)))


SCENES = {
    "ball, e = 0.9": Scene(20.0, lively, ("Ball.z - 0.05",), ball),
    "rocking block": Scene(4.0, example("rocking_block"), gaps("Left", "Right"), block),
    "driven mass, dry friction": Scene(200.0, lambda: RUBBING, driven=True),
    "hopper": Scene(4.0, example("hopper"), gaps("Foot"), driven=True),
    "thrown box": Scene(1.5, example("thrown_box"), gaps(*"ABCDEFGH"), peer_boxes(1)),
    **{f"{n} boxes": Scene(1.5, boxes(n), corners(n), peer_boxes(n)) for n in (1, 3, 10, 30)},
    "20 rods": Scene(1.5, rods(20), gaps(*(f"E{k}_{e}" for k in range(20) for e in (0, 1))), peer_rods(20)),
    "stack of 3": Scene(1.0, stack(3), gaps("C0_0", "C0_1", "C0_2", "C0_3"), peer_stack(3)),
    "wall of 20 bricks": Scene(1.5, wall(0.0)),
    "rows of a wall slide": Scene(0.5, wall(-1.0)),
    "wall of whole bricks": Scene(1.5, brick_wall(None), (), peer_brick_wall(None)),
    "wall that a ball strikes": Scene(1.5, brick_wall(8.0), (), peer_brick_wall(8.0)),
    **{f"pile of {n} boxes": Scene(2.0, box_pile(n), (), peer_box_pile(n)) for n in (12, 25, 50)},
    "pile of 50 balls": Scene(2.0, pile(50), (), peer_pile(50)),
    "pile of 666 balls": Scene(1.0, pile(666), (), peer_pile(666)),
    "sprung table": Scene(4.0, table, gaps("F0", "F1", "F2", "F3"), peer_table, driven=True),
    "pushed table": Scene(2.0, standing(1, "(0, 2000*sin(3*t), 0)"), gaps("P0_0"), driven=True),
    "ten pushed tables": Scene(2.5, standing(10, "(0, 1000*t, 0)"), gaps("P0_0"), driven=True),
    "trotting quadruped": Scene(
        5.0, example("trotting_quadruped"), gaps(*(f"Foot[{i}]" for i in range(1, 5))), driven=True
    ),
    "Stewart platform": Scene(2.0, stewart, gaps("Foot0", "Foot1", "Foot2"), peer_stewart),
    "Talos on his feet": Scene(0.5, talos, gaps("L0", "L1", "L2", "L3", "R0", "R1", "R2", "R3"), peer_talos),
    "rimless wheel": Scene(
        3.0, wheel, tuple(f"S{k}.x*{sin(SLOPE)} + S{k}.z*{cos(SLOPE)}" for k in range(SPOKES)), peer_wheel
    ),
}
