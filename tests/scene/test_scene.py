"""The structure of scenes: which solids stand for what, where they are, and that numbers follow parameters."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.codegen import numpy as interpreter
from kineta.scene.construction import COLOURS, between, pieces
from kineta.scene.height_fields import along_field, field_surface, fields, on_field, waves
from kineta.scene.machine import Machine, Pose
from kineta.scene.meshes import MeshError, mesh
from kineta.scene.surfaces import SOLIDS, Surface, bar, coil, hull, rod, rope
from kineta.scene.system_scene import scene
from tests.support import EXAMPLES, ROOT, examples


def load(name: str) -> kn.System:
    return kn.load(EXAMPLES / f"{name}.kin")


def machine(system: kn.System, p: dict[str, float] | None = None) -> Machine:
    found = kn.posture(system, p=p)
    return Machine(found.scene, found.p, found.t, found.q, found.v)


def kinds(name: str) -> Counter[str]:
    return Counter(s.kind for s in scene(load(name)).solids)


def test_a_four_bar_linkage_has_its_bars_and_pins() -> None:
    assert (
        kinds("fourbar") == {"hinge": 3, "rod": 5, "inertia": 3, "pin": 2, "dot": 1} or kinds("fourbar")["hinge"] == 3
    )
    found = scene(load("fourbar"))
    assert found.normal == 2
    assert {s.owner for s in found.solids if s.kind == "rod"} >= {"", "Crank", "Coupler", "Rocker"}


@pytest.mark.parametrize(
    ("name", "normal"),
    [("double_pendulum", 2), ("cart_pendulum", 1), ("hopper", 1), ("puma560", None), ("bicycle", None)],
)
def test_the_plane_in_which_a_machine_lives(name: str, normal: int | None) -> None:
    assert scene(load(name)).normal == normal


@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [
        ("bicycle", "wheel", 2),
        ("rolling_coin", "disk", 1),
        ("rolling_torus", "torus", 1),
        ("rattleback", "ellipsoid", 1),
        ("bouncing_ball", "sphere", 1),
        ("thrown_box", "hull", 1),
        ("rocking_block", "hull", 1),
        ("simple_pendulum", "link", 1),
        ("pulleys", "line", 2),
        ("flyball_governor", "spring", 2),
        ("flyball_governor", "damper", 2),
        ("cart_pendulum", "rail", 1),
        ("slider_crank", "block", 1),
        ("cam_follower", "hull", 1),
        ("circular_orbit", "pin", 1),
    ],
)
def test_what_rolls_touches_springs_and_slides(name: str, kind: str, count: int) -> None:
    assert kinds(name)[kind] == count


def test_a_block_on_the_rail_of_a_loop_stays_along_it_and_is_the_mass_there() -> None:
    text = "coordinates a, b; A | Rz(a), Sx(1) = m(1), Jz(1); B ~ A | Rz(b), Sx(2) = 1;"
    rail = "loop slot : line between ground axis (1, 0, 0) and B; initial a = 0.5;"
    own = machine(kn.loads(text + rail))
    pin, block = [p.surface.vertices for p in pieces(own, own.first) if p.solid.owner == "B" and p.solid.kind != "rod"]
    assert pin.mean(axis=0) == pytest.approx(block.mean(axis=0), abs=1e-9)
    assert np.ptp(block, axis=0) == pytest.approx(np.array([6.4, 4, 4]) * own.radius)
    a = own.q[0]  # as the loop closes
    assert block.mean(axis=0) == pytest.approx([np.cos(a) + np.sqrt(4 - np.sin(a) ** 2), 0, 0], abs=1e-9)


def test_a_cam_has_the_outline_on_which_its_follower_stands() -> None:
    text = "parameters r = 2, e = 0.5; coordinates a, z; C | Ry(a) = Jy(1); F | Sz(z) = 1;"
    own = machine(kn.loads(text + "constraint cam : z = r + e*sin(a); initial a = 0.3;"))
    (cam,) = [p.surface.vertices for p in pieces(own, own.first) if p.solid.kind == "hull"]
    assert np.hypot(cam[:, 0], cam[:, 2]).max() == pytest.approx(2.5, abs=1e-12)
    below = np.argmin(np.abs(np.arctan2(cam[:, 0], cam[:, 2])))  # the corner closest to the follower
    assert cam[below, 2] == pytest.approx(own.q[1], abs=0.05)
    assert not any(p.solid.kind == "hull" for p in pieces(*rolling("z = 0.1*a + r")))


def rolling(law: str) -> tuple[Machine, Pose]:
    """A machine whose second body is shifted by a *law* of the angle of the first."""
    text = "parameters r = 2; coordinates a, z; C | Ry(a) = Jy(1); F | Sz(z) = 1; constraint lift : "
    own = machine(kn.loads(f"{text}{law};"))
    return own, own.first


@pytest.mark.parametrize(
    ("field", "at"),
    [
        ("potential U = -1/sqrt((x - c)^2 + (A.y + 1)^2 + 0.1)", [(2, -1, 0)]),
        ("force f on A = (-x/|r(A)|^3, 0, 0)", [(0, 0, 0)]),
        ("potential U = (x - c)^2 + y^2", []),
        ("potential U = -1/sqrt((x - y)^2 + y^2)", []),
    ],
)
def test_centres_of_fields_are_marked(field: str, at: list[tuple[float, ...]]) -> None:
    own = machine(kn.loads(f"parameters c = 2; coordinates x, y; A | Sx(x), Sy(y) = 1; {field}; initial x = 1;"))
    assert [tuple(own.value(s, "at")) for s in own.scene.solids if s.kind == "pin"] == at


def test_a_rod_grows_with_its_length() -> None:
    system = load("double_pendulum")
    for l1 in (1.0, 2.5):
        own = machine(system, {"l1": l1})
        (first, *_) = [s for s in own.scene.solids if s.kind == "rod"]
        assert np.linalg.norm(own.value(first, "end") - own.value(first, "start")) == pytest.approx(l1, abs=1e-15)


def test_a_body_on_a_hinge_is_no_top() -> None:
    def reach(motion: str) -> float:
        text = f"coordinates a, b; A | {motion} = 1, 0.5, 2, 2, com = (1, 0, 0);"
        own = machine(kn.loads(text.replace("a, b", "a") if "b" not in motion else text))
        return max(float(p.surface.vertices[:, 0].max()) for p in pieces(own, own.first) if p.solid.kind == "inertia")

    assert reach("Ry(a), Rz(b)") == pytest.approx(1.7)
    assert reach("Ry(a)") != pytest.approx(1.7)


@pytest.mark.parametrize("solid", ["disk(1)", "disk(1, 0.3)", "cylinder(0.2, 3)", "cylinder(1, 1)", "sphere(1)"])
def test_round_bodies_have_marks_by_which_one_sees_them_turn(solid: str) -> None:
    text = "coordinates a; A | Rz(a) = 1, 1, 1, 1; shape A = {0} colour {1}; shape ground = {0} at (5, 0, 0);"
    for colour, mark in ("orange", COLOURS["joint"]), ("black", COLOURS["mark"]):
        own = machine(kn.loads(text.format(solid, colour)))
        (turned,) = own.poses(np.zeros(1), np.ones((1, 1)), np.zeros((1, 1)))
        shaped = [
            [p for p in pieces(own, pose) if p.solid.kind == solid.partition("(")[0]] for pose in (own.first, turned)
        ]
        marks = [[p for p in found if p.colour == mark] for found in shaped]
        assert {p.solid.part for p in marks[0]} == {"body"}
        first, then = (np.array([p.surface.vertices.mean(axis=0) for p in found]) for found in marks)
        assert np.abs(first - then).max() > 0.05
        (whole,) = [p for p in shaped[0] if p.solid.part == "body" and p.colour != mark]
        assert np.linalg.norm(first, axis=1).max() < np.linalg.norm(whole.surface.vertices, axis=1).max()


def train(count: int, apart: float) -> str:
    """Carts on one line, each on a spring and a damper from that before it."""
    rows = [f"B{k} | Sx({apart}*{k} + x{k}) = 1;" for k in range(count)]
    rows += [f"spring s{k} = 1 on x{k} - x{k - 1}; damper d{k} = 1 on x{k}' - x{k - 1}';" for k in range(1, count)]
    return f"coordinates {', '.join(f'x{k}' for k in range(count))};" + "\n".join(rows)


def test_carts_on_one_line_share_a_rail_and_stand_beside_each_other() -> None:
    own = machine(kn.loads(train(30, 0.1)))
    found = list(pieces(own, own.first))
    (rail,) = [p for p in found if p.solid.kind == "rail" and len(p.surface.vertices)]
    ends = [
        (np.ptp(p.surface.vertices[:, 0]), p.surface.vertices[:, 0].mean()) for p in found if p.solid.kind == "inertia"
    ]
    assert np.diff([at for _, at in ends]) == pytest.approx(0.1, abs=1e-14)
    assert max(long for long, _ in ends) == pytest.approx(0.064, abs=1e-14)
    assert rail.surface.vertices[:, 0].min() < 0.0 < 2.9 < rail.surface.vertices[:, 0].max()
    assert Counter(p.solid.kind for p in found if p.solid.to >= 0 and p.solid.kind != "rail") == {
        "spring": 29,
        "damper": 58,
    }


def test_a_mass_without_size_that_touches_a_plane_is_a_bead() -> None:
    text = "A | Sx(x), Sz(z) = 2; coordinates x, z; contact floor : point between A and ground axis (0, 0, 1);"
    assert [s.kind for s in kn.posture(kn.loads(text)).scene.solids].count("bead") == 1


def test_the_wall_of_a_spring_stands_close_to_its_cart_in_a_long_row() -> None:
    own = machine(kn.loads(train(30, 0.1) + "spring first = 1 on x0;"))
    (wall, _) = [p for p in pieces(own, own.first) if p.solid.kind == "spring_on_rail"]
    assert wall.surface.vertices[:, 0].max() == pytest.approx(-0.15, abs=1e-14)


def test_a_hull_on_a_leg_is_low_and_one_beside_nothing_a_cube() -> None:
    hull = "gravity 9.81; Hull | Sx(x), Sz(z), Ry(b) = m(7.5), Jy(0.42); coordinates x, z, b{0};"
    sides = []
    for leg in ("", ", s"):
        own = machine(kn.loads(hull.format(leg) + ("Foot ~ Hull | Sz(-s) = 0.4; initial s = 0.5;" if leg else "")))
        (box,) = [p for p in pieces(own, own.first) if p.solid.kind == "inertia" and p.solid.owner == "Hull"]
        sides.append(np.ptp(box.surface.vertices, axis=0))
    cube, low = sides
    assert np.ptp(cube) < 1e-12
    assert (low[2] < 0.5 * low[0], low[2] / 2 < 0.5 * 0.5, low[0] > cube[0]) == (True, True, True)


def test_springs_on_sums_and_across_rails_are_not_drawn_between_bodies() -> None:
    text = "coordinates x, y; A | {0}(x) = 1; B | Sx(1), Sx(y) = 1; spring s = 1 on x {1} y;"
    found = {(a, sign): kn.posture(kn.loads(text.format(a, sign))).scene for a in ("Sx", "Sy") for sign in "+-"}
    assert {key for key, x in found.items() if any(s.kind == "spring" for s in x.solids)} == {("Sx", "-")}


@pytest.mark.parametrize(("count", "pairs"), [(3, ["p.B0.B1", "p.B0.B2", "p.B1.B2"]), (6, [])])
def test_few_balls_that_touch_have_their_forces_drawn_as_contacts(count: int, pairs: list[str]) -> None:
    bodies = "".join(f"B{k} | Sx({k}), Ry(a{k}), Sz(-1) = m(1), Jy(0.1); " for k in range(count))
    names = ", ".join(f"B{k}" for k in range(count))
    system = kn.loads(
        f"coordinates {', '.join(f'a{k}' for k in range(count))}; {bodies} contact p : ball = 0.5 among {names};"
    )
    assert [x.name for x in scene(system).touches] == pairs


def test_a_road_is_no_measure_of_what_stands_on_it_under_gravity() -> None:
    text = "{0} coordinates a; A | Rz(a), Sx(1) = 1; {1}"
    alone, road = (
        machine(kn.loads(text.format("gravity (0, -9, 0);", x))) for x in ("", "shape ground = box(50, 0.1, 5);")
    )
    assert (road.size, road.radius) == (alone.size, alone.radius)
    assert machine(kn.loads(text.format("", "shape ground = sphere(50);"))).size > 10 * alone.size


def test_frames_are_those_of_kinematics() -> None:
    system = load("puma560")
    q = np.linspace(0.1, 1.2, system.nq)
    own = Machine(scene(system), np.zeros(0), 0.0, q, np.zeros(system.nv))
    for body in own.scene.bodies:
        R, r = own.first.frame(own.scene.places[body])
        pose = kn.derive(system).function(f"pose({body})")(0.0, q, np.zeros(system.nv))
        np.testing.assert_allclose(np.column_stack([R, r]), pose[:3], atol=1e-14)


def test_a_closed_machine_is_seen_closed() -> None:
    own = machine(load("fourbar"))
    pins = [s for s in own.scene.solids if s.kind == "pin"]
    places = [R @ own.value(s, "at") + r for s in pins for R, r in (own.first.frame(s.frame),)]
    np.testing.assert_allclose(places[0], places[1], atol=1e-9)


@pytest.mark.parametrize("name", examples())
def test_every_example_has_finite_surfaces(name: str) -> None:
    own = machine(load(name))
    found = list(pieces(own, own.first))
    assert found
    assert all(np.isfinite(x.surface.vertices).all() for x in found)
    assert own.size > 0


SHAPED = """
model shaped; gravity 9.81;
parameters l = 1 m, r = 2 cm;
A | Ry(q), Sz(-l) = 1 kg;
point P on A = (0, 0, l);
spring leg = 30 N/m, 0.4 between A and ground at (1, 0, 0);
damper dash = 3 N*s/m between A and ground at (1, 0, 0);
initial q = 0.9, q' = 2;
output A.z, energy;
"""
SHAPES = """
shape A = capsule(r) from P to (0, 0, 0) colour orange;
shape A = box(0.4, 0.3, 5*r) at (0, 0, l/2) turned Rx(90 deg);
shape ground = cylinder(0.1, 0.4) at (1, 0, 0.2) colour "#446688";
show path of A; show force of leg; show force of dash;
view from (1, -2, 1);
"""


def test_shapes_of_the_model_take_the_place_of_those_that_follow() -> None:
    own = machine(kn.loads(SHAPED + SHAPES), {"l": 2.0})
    assert Counter(s.kind for s in own.scene.solids if s.part == "body") == {"capsule": 1, "box": 1}
    capsule, solid, post = (s for s in own.scene.solids if s.kind in ("capsule", "box", "cylinder"))
    assert (capsule.colour, solid.colour, post.colour) == ("#e08a3c", "", "#446688")
    np.testing.assert_allclose(own.value(capsule, "start"), [0, 0, 2])
    np.testing.assert_allclose(own.value(solid, "at"), [0, 0, 1])
    np.testing.assert_allclose(own.value(solid, "axes").reshape(3, 3) @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(own.value(post, "sizes"), [0.1, 0.4])
    np.testing.assert_allclose(own.numbers[list(own.scene.towards)], np.array([1, -2, 1]) / np.sqrt(6))


def test_arrows_are_the_forces_and_paths_the_positions() -> None:
    system = kn.loads(SHAPED + SHAPES)
    own, (path,) = machine(system), scene(system).trails
    tip, v = np.array([-np.sin(0.9), 0, -np.cos(0.9)]), 2 * np.array([-np.cos(0.9), 0, np.sin(0.9)])
    line = np.array([1.0, 0, 0]) - tip
    length = np.linalg.norm(line)
    spring, damper = (own.first.moving[list(a.force)] for a in own.scene.arrows)
    np.testing.assert_allclose(own.first.moving[list(path.at)], tip, atol=1e-14)
    np.testing.assert_allclose(spring, 30 * (length - 0.4) * line / length, atol=1e-12)
    np.testing.assert_allclose(damper, -3 * (v @ line) * line / length**2, atol=1e-12)


def test_arrows_on_a_body_of_the_ground_stand_at_its_places() -> None:
    system = kn.loads(
        "gravity 9.81; coordinates q; Post | Sz(2) = 0; A | Ry(q), Sx(1) = 1; point P on Post = (0.5, 0, 0);"
        "spring rope = 3, 0.1 between P and A; show force of rope; force f on A at (A.z, 0, 0) = (1, 0, 0); show force of f;"
        "initial q = 0.4;"
    )
    own = machine(system)
    post, tip, moved = (own.first.moving[list(a.at)] for a in own.scene.arrows)
    A = np.array([np.cos(0.4), 0, -np.sin(0.4)])
    np.testing.assert_allclose(post, [0.5, 0, 2], atol=1e-14)
    np.testing.assert_allclose(tip, A, atol=1e-14)
    np.testing.assert_allclose(moved, A * (1 - np.sin(0.4)), atol=1e-14)


def test_shapes_change_neither_equations_nor_counts_nor_results() -> None:
    plain, shaped = kn.loads(SHAPED), kn.loads(SHAPED + SHAPES)
    one, other = kn.derive(plain), kn.derive(shaped)
    assert one.text() == other.text()
    assert one.operations("forward") == other.operations("forward")
    runs = [kn.simulate(s, 1.0) for s in (plain, shaped)]
    assert runs[0].y.tobytes() == runs[1].y.tobytes()
    assert shaped.replace(appearance=()) == plain


def volume(surface: Surface) -> float:
    """The volume within a closed surface, by Gauss."""
    a, b, c, d = (surface.vertices[surface.faces[:, k]] for k in range(4))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) + np.einsum("ij,ij->", a, np.cross(c, d))) / 6


def test_surfaces_are_closed_and_face_outwards() -> None:
    sizes = {"box": (1.0, 2.0, 3.0), "ellipsoid": (1.0, 2.0, 3.0), "cylinder": (1.0, 3.0), "capsule": (1.0, 3.0)}
    sizes |= {"sphere": (1.0,), "disk": (1.0, 0.5), "torus": (2.0, 0.5)}
    true = {"box": 6.0, "ellipsoid": 8 * np.pi, "cylinder": 3 * np.pi, "capsule": (3 + 4 / 3) * np.pi}
    true |= {"sphere": 4 / 3 * np.pi, "disk": 0.5 * np.pi, "torus": np.pi**2}
    for kind, own in sizes.items():
        assert volume(SOLIDS[kind](*own)) == pytest.approx(true[kind], rel=0.1), kind
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    assert volume(hull(corners)) == pytest.approx(1.0)
    for surface in (rod(np.zeros(3), np.ones(3), 0.1), bar(np.zeros(3), np.ones(3), 0.1)):
        assert volume(surface) > 0
    assert coil(np.zeros(3), np.array([0, 0, 1.0]), 0.2, 0.02).vertices[:, 2].max() == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
def test_pictures_ask_for_matplotlib_alone_when_they_are_drawn() -> None:
    import subprocess
    import sys

    code = (
        "import sys, kineta as kn; from kineta.scene.system_scene import scene; "
        "scene(kn.load('examples/fourbar.kin')); assert not {'matplotlib', 'trimesh'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_contacts_are_where_they_touch() -> None:
    own = machine(load("bouncing_ball"))
    (touch,) = own.scene.touches
    place, axes = (own.first.moving[list(x)] for x in (touch.at, touch.axes))
    centre, r = own.first.frame(own.scene.places["Ball"])[1], own.p[1]
    np.testing.assert_allclose(place, centre - [0, 0, r], atol=1e-15)
    np.testing.assert_allclose(axes[:3], [0, 0, 1])
    box = scene(load("thrown_box")).touches
    assert [x.name for x in box] == [f"floor.{c}" for c in "ABCDEFGH"]


ROAD = """
model road; gravity 9.81;
parameters high = 6 cm, r = 0.3 m;
A | Sx(x), Sy(y), Sz(z), Ry(b) = 5, 0.2, 0.4, 0.2;
B ~ A | Sx(1.5), Ry(c) = 1, 0.01, 0.02, 0.01;
coordinates x, y, z, b, c;
contact rear : wheel = r between A axis (0, 1, 0)
    and ground at (0, 0, 0.2) axis (0, 0, 1) height high*sin(4*A.x) + 0.1*A.y, friction = 1;
contact front : wheel = r between B axis (0, 1, 0)
    and ground at (0, 0, 0.2) axis (0, 0, 1) height high*sin(4*B.x) + 0.1*B.y, friction = 1;
contact mud : point between A and ground axis (0.6, 0, 0.8) height 0.02*sin(5*A.x - t) + 0.1*A.z, friction = 1;
initial z = 0.6;
"""


def test_ground_of_a_given_height_is_drawn_as_it_is_touched() -> None:
    own = machine(kn.loads(ROAD), {"high": 0.3})
    assert [s.name for s in fields(own)] == ["rear", "mud"]  # the same ground under both wheels is drawn once
    assert not any(s.kind == "plane" for s in own.scene.solids)
    places = np.random.default_rng(0).uniform(-2, 2, (5, 6, 2))
    x, y, z = np.moveaxis(on_field(own, 0, 0.0, places), -1, 0)
    np.testing.assert_allclose(np.stack([x, y], axis=-1), places, atol=1e-15)
    np.testing.assert_allclose(z, 0.2 + 0.3 * np.sin(4 * x) + 0.1 * y, atol=1e-15)
    point = on_field(own, 1, 0.7, places)  # which rises with itself
    high = 0.02 * np.sin(5 * point[..., 0] - 0.7) + 0.1 * point[..., 2]
    np.testing.assert_allclose(point @ [0.6, 0, 0.8], high, atol=1e-14)
    np.testing.assert_allclose(on_field(own, 1, 0.7, along_field(own, 1, point)), point, atol=1e-14)
    surface, cells = field_surface(own, 0, 0.0, np.array([own.box[0], own.box[1]]))
    assert cells[0] > cells[1]  # finer where it waves
    x, y, z = surface.vertices.T
    np.testing.assert_allclose(z, 0.2 + 0.3 * np.sin(4 * x) + 0.1 * y, atol=1e-15)
    assert waves(own.scene.heights)
    assert not waves(scene(load("fourbar")).heights)


def test_slopes_of_ground_are_those_of_its_height() -> None:
    own, h = machine(kn.loads(ROAD)), 1e-6
    assert own.scene.heights is not None
    height = interpreter.compile(own.scene.heights)
    for place in np.random.default_rng(1).uniform(-1, 1, (4, 2)):
        at = [
            height(np.zeros(1), place + h * np.array(d), own.p).reshape(2, 3)
            for d in ([0, 0], [1, 0], [-1, 0], [0, 1], [0, -1])
        ]
        for k in (0, 1):
            slopes = (at[2 * k + 1][:, 0] - at[2 * k + 2][:, 0]) / (2 * h)
            np.testing.assert_allclose(slopes, at[0][:, k + 1], atol=1e-9)


def test_contacts_with_uneven_ground_are_where_they_touch() -> None:
    own = machine(kn.loads(ROAD))
    rear = next(x for x in own.scene.touches if x.name == "rear")
    place, axes = own.first.moving[list(rear.at)], own.first.moving[list(rear.axes)].reshape(3, 3)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    centre = own.first.frame(own.scene.places["A"])[1]
    # In the plane of the wheel, which leans against ground that rises aside.
    inside = (axes[0] - axes[0, 1] * np.array([0, 1, 0])) / np.hypot(axes[0, 0], axes[0, 2])
    np.testing.assert_allclose(place, centre - 0.3 * inside, atol=1e-12)
    slope = 0.24 * np.cos(4 * place[0])
    np.testing.assert_allclose(axes[0], np.array([-slope, -0.1, 1]) / np.sqrt(slope**2 + 0.01 + 1), atol=1e-12)


@pytest.mark.parametrize(
    ("statement", "given", "text"),
    [
        ("shape B = sphere(1e300);", {}, r"sizes of the sphere of 'B' above zero and below 1e\+15 m, found 1e\+300\."),
        ("shape B = box(a, a, a);", {"a": -1.0}, r"sizes of the box of 'B' above zero and below 1e\+15 m, found -1\."),
        ("", {"a": 1e300}, r"places of a machine within 1e\+15 m to draw, found one 1e\+300 m from the origin\."),
    ],
)
def test_sizes_that_no_solid_has(statement: str, given: dict[str, float], text: str) -> None:
    system = kn.loads(f"model m;\nparameters a = 1;\nB | Rz(q), Sx(a) = 1;\n{statement}\n")
    with pytest.raises(kn.SimulationError, match=text):
        system.picture(p=given)


def test_a_damaged_mesh_is_told_as_such(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    broken = tmp_path / "broken.stl"
    broken.write_bytes(b"solid x\xff\xfe\x80\x81 garbage\x00\x01")
    with pytest.raises(MeshError, match=r"broken\.stl' is damaged: its content is not that of a \.stl file"):
        mesh(broken, (0, 0), 100)


SLING = """gravity 9.81;
parameters l = 1;
Load | Sx(x), Sz(z) = 1;
coordinates x, z;
point Hook on ground = (0, 0, 0);
limit rope : |r(Load) - r(Hook)| <= l;
initial x = 0.6, z = -0.2;
"""


@pytest.mark.parametrize("length", [0.64, 0.8, 1.0, 1.5])
def test_a_rope_of_a_limit_is_slack_in_its_length_and_taut_beyond(length: float) -> None:
    own = machine(kn.loads(SLING), {"l": length})
    (sling,) = [s for s in own.scene.solids if s.kind == "rope"]
    (surface,) = between(own, sling, own.first)
    low = surface.vertices[:, 2].min()
    line = rope(np.zeros(3), np.array([0.6, 0.0, -0.2]), length, own.up, 1e-6)
    rings = line.vertices[: len(line.vertices) // 8 * 8].reshape(-1, 8, 3).mean(axis=1)
    along = np.linalg.norm(np.diff(rings, axis=0), axis=1).sum()
    assert along == pytest.approx(length, rel=0.06)  # of a parabola through both ends
    assert low < -0.2
    taut = machine(kn.loads(SLING), {"l": 0.5})
    assert next(between(taut, sling, taut.first)).vertices[:, 2].min() > -0.2 - 2 * taut.radius
