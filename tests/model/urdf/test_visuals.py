"""Visuals of URDF files: shapes of bodies, where meshes are found, and what cannot be drawn."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.model.io import urdf
from kineta.scene.construction import pieces
from kineta.scene.machine import Machine
from tests.support import reads_back

ROBOT = """<robot name="r">
  <material name="paint"><color rgba="1 0.5 0 1"/></material>
  <link name="base">
    <visual><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><geometry><box size="1 2 3"/></geometry><material name="paint"/></visual>
    <visual><geometry><cylinder radius="0.1" length="2"/></geometry>
      <material name="own"><color rgba="0 0 1 0.5"/></material></visual>
  </link>
  <link name="arm">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://r_description/meshes/arm.stl" scale="-2 2 2"/></geometry></visual>
    <visual><geometry><mesh filename="meshes/gone.stl"/></geometry></visual>
    <visual><geometry><sphere radius="0"/></geometry></visual>
    <visual><geometry><cone radius="1"/></geometry></visual>
  </link>
  <joint name="q" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
</robot>
"""
#: A tetrahedron of volume 1/6.
STL = (
    "solid t\n"
    + "".join(
        f"facet normal 0 0 0\nouter loop\n{''.join(f'vertex {v}' + chr(10) for v in face)}endloop\nendfacet\n"
        for face in (
            ("0 0 0", "0 1 0", "1 0 0"),
            ("0 0 0", "1 0 0", "0 0 1"),
            ("0 0 0", "0 0 1", "0 1 0"),
            ("1 0 0", "0 1 0", "0 0 1"),
        )
    )
    + "endsolid t\n"
)


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    package = tmp_path / "r_description"
    (package / "meshes").mkdir(parents=True)
    (package / "meshes" / "arm.stl").write_text(STL)
    (package / "urdf").mkdir()
    path = package / "urdf" / "r.urdf"
    path.write_text(ROBOT)
    return path


def test_visuals_are_shapes_of_the_bodies(robot: Path) -> None:
    system, notes = urdf.read_with_report(robot)
    box, cylinder, mesh, gone = system.appearance
    assert (box.solid, cylinder.solid, mesh.solid) == ("box", "cylinder", "mesh")
    assert [x.value for x in (*box.sizes, *box.at)] == [1, 2, 3, 0, 0, 0.1]
    assert [turn.text for turn in box.turns] == ["Rz(0.3)", "Ry(0.2)", "Rx(0.1)"]
    assert (box.colour, cylinder.colour, mesh.colour) == ("#ff8000", "#0000ff", "")
    assert mesh.file == str(robot.parent.parent / "meshes" / "arm.stl")
    assert gone.file == "meshes/gone.stl"
    reads_back(system)
    said = [str(n).partition(": ")[2] for n in notes if "drawn" in n.reason]
    assert said == [
        "<visual> left out: is not drawn: its sizes are not above zero",
        "<visual> left out: is not drawn: it has no geometry of box, cylinder, capsule, sphere, mesh",
    ]


def test_visuals_are_turned_by_quaternions_as_links_are(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    halves = [(math.cos(angle / 2), math.sin(angle / 2)) for angle in (0.1, 0.2, 0.3)]
    (cr, sr), (cp, sp), (cy, sy) = halves
    x, y, z = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    quaternion = f"{x} {y} {z} {cr * cp * cy + sr * sp * sy}"
    path.write_text(ROBOT.replace('rpy="0.1 0.2 0.3"', f'quat_xyzw="{quaternion}"'))
    turns = urdf.read_with_report(path)[0].appearance[0].turns
    assert [turn.text[:2] for turn in turns] == ["Rz", "Ry", "Rx"]
    np.testing.assert_allclose([turn.angle.value for turn in turns], [0.3, 0.2, 0.1], atol=1e-14)


def test_meshes_are_drawn_and_missing_ones_are_not(robot: Path) -> None:
    system = kn.load(robot)
    found = kn.posture(system)
    own = Machine(found.scene, found.p, found.t, found.q, found.v)
    with pytest.warns(kn.KinetaWarning, match=r"a mesh of 'arm' is not drawn: there is no file 'meshes/gone\.stl'"):
        surfaces = {x.solid.file or x.solid.kind: x.surface for x in pieces(own, own.first)}
    arm = surfaces[system.appearance[2].file]
    assert "meshes/gone.stl" not in surfaces
    a, b, c = (arm.vertices[arm.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(8 / 6)  # outside is outside, though mirrored
    np.testing.assert_allclose(
        [arm.vertices.min(axis=0), arm.vertices.max(axis=0)], [[-2, 0, 0], [0, 2, 2]], atol=1e-12
    )


LINK = """<link name="{0}">{2}<inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="q{0}" type="continuous"><parent link="{1}"/><child link="{0}"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>"""
MESH = '<visual><geometry><mesh filename="package://r_description/meshes/{}.stl"/></geometry></visual>'


@pytest.mark.parametrize("have", ["", "gone", "arm"])
def test_bodies_without_geometry_are_drawn_beside_those_with_some(robot: Path, have: str) -> None:
    """With no visuals and with those of an absent mesh the machine is one picture; with a mesh the others are drawn as there."""
    links = zip("abcd", ("base", *"abc"), ("", MESH.format(have) if have else "", "", ""), strict=True)
    path = robot.with_name("chain.urdf")
    path.write_text(f'<robot name="chain"><link name="base"/>{"".join(LINK.format(*x) for x in links)}</robot>')
    scene = kn.posture(kn.load(path)).scene
    seen = {(s.owner, s.kind) for s in scene.solids if s.part == "body" and s.kind != "mesh"}
    whole = {(x, kind) for x in "abcd" for kind in ("rod", "inertia")} - {("d", "rod")}
    assert seen == {x for x in whole if x[0] != "b" or have != "arm"}
    assert {s.name for s in scene.solids if s.kind in ("hinge", "ball")} == {*"abcd"}


def test_a_mesh_that_appears_or_changes_is_drawn_in_place_of_what_was_there(tmp_path: Path) -> None:
    file, path = tmp_path / "bob.stl", tmp_path / "one.kin"
    path.write_text('model one; a | Rz(q) = 1, 1, 1, 1; shape a = mesh "bob.stl";')
    system = kn.load(path)

    def drawn() -> dict[str, float]:
        found = kn.posture(system)
        own = Machine(found.scene, found.p, found.t, found.q, found.v)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kn.KinetaWarning)
            return {
                x.solid.kind: float(np.ptp(x.surface.vertices)) for x in pieces(own, own.first) if x.solid.owner == "a"
            }

    assert "mesh" not in drawn()
    file.write_text(STL)
    assert drawn() == {"mesh": 1.0}
    file.write_text(STL.replace("1 0 0", "20 0 0"))
    assert drawn() == {"mesh": 20.0}


def test_an_absent_mesh_is_named_as_it_is_written(robot: Path) -> None:
    robot.write_text(ROBOT.replace("arm.stl", "leg.stl"))
    with pytest.warns(kn.KinetaWarning) as said:
        kn.load(robot).picture()
    assert "there is no file 'package://r_description/meshes/leg.stl'" in str(said[0].message)


def test_a_broken_mesh_is_told(robot: Path) -> None:
    (robot.parent.parent / "meshes" / "arm.stl").write_bytes(b"solid nonsense")
    system = kn.load(robot)
    with pytest.warns(kn.KinetaWarning, match=r"a mesh of 'arm' is not drawn"):
        system.picture()
