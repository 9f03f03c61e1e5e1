"""Files of glTF: the machine stands in them where it stands in the run, and other readers find it there."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.scene.construction import pieces
from kineta.scene.gltf import cornered
from kineta.scene.surfaces import box, sphere
from kineta.tasks.moving_machine import machine_of, states
from tests.support import EXAMPLES, ROOT

APP = ROOT / "kineta" / "page" / "app"


class Read:
    """A file as its records and numbers."""

    def __init__(self, data: bytes) -> None:
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert (kind, size % 4) == (b"JSON", 0)
        self.known = json.loads(data[20 : 20 + size])
        self.data = data[28 + size :]

    def numbers(self, k: int) -> Any:
        accessor = self.known["accessors"][k]
        view = self.known["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = "<f4" if accessor["componentType"] == 5126 else "<u4"
        return np.frombuffer(self.data, kind, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)

    def places(self, row: int) -> Any:
        """The vertices of all meshes at a time, in the axes of the scene."""
        moved: dict[tuple[int, str], Any] = {}
        for animation in self.known.get("animations", ()):
            for channel in animation["channels"]:
                target = channel["target"]
                moved[target["node"], target["path"]] = self.numbers(
                    animation["samplers"][channel["sampler"]]["output"]
                )[row]
        found = []

        def walk(k: int, A: Any) -> None:
            node = self.known["nodes"][k]
            plain = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
            at = {p: np.asarray(moved.get((k, p), node.get(p, x))) for p, x in plain.items()}
            x, y, z, w = at["rotation"]
            R = np.array(
                [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                    [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                    [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
                ]
            )
            B = np.eye(4)
            B[:3, :3] = R * at["scale"]
            B[:3, 3] = at["translation"]
            A = A @ B
            if "mesh" in node:
                parts = [part["attributes"]["POSITION"] for part in self.known["meshes"][node["mesh"]]["primitives"]]
                found.extend(self.numbers(part) @ A[:3, :3].T + A[:3, 3] for part in parts)
            for child in node.get("children", ()):
                walk(child, A)

        (root,) = self.known["scenes"][0]["nodes"]
        walk(root, np.eye(4))
        return np.concatenate(found)


def box_of(points: Any) -> Any:
    return np.array([points.min(axis=0), points.max(axis=0)])


@pytest.mark.parametrize(("name", "upright"), [("fourbar", "y"), ("thrown_box", "z"), ("car_axis", None)])
def test_the_machine_stands_where_it_stands_in_the_run(tmp_path: Path, name: str, upright: str | None) -> None:
    run = kn.simulate(kn.load(EXAMPLES / f"{name}.kin"), 0.5)
    run.animate(tmp_path / "run.glb", speed=0.5)
    read = Read((tmp_path / "run.glb").read_bytes())
    (animation,) = read.known["animations"]
    t = read.numbers(animation["samplers"][0]["input"]).ravel()
    assert (t[0], t[-1], len(t)) == (0.0, 1.0, 61)
    machine = machine_of(run, 0)
    # Between steps, quaternions of the solution are no unit ones; wires of springs are stretched with them.
    slack = {"thrown_box": 5e-3, "car_axis": 5e-3}.get(name, 1e-6)
    for row in (0, 17, 60):
        at = np.array([0.5 * t[row]], float)
        (pose,) = machine.poses(at, *states(run, at, 0))
        shown = np.concatenate([p.surface.vertices[np.unique(p.surface.faces)] for p in pieces(machine, pose)])
        if upright == "z" or (upright is None and machine.up[2] > 0.5):
            shown = shown @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
        np.testing.assert_allclose(box_of(read.places(row)), box_of(shown), atol=slack * machine.size)


def test_edges_are_sharp_and_round_faces_smooth() -> None:
    vertices, normals, triangles = cornered(box(np.array([1.0, 2.0, 3.0])))
    assert {tuple(np.rint(np.abs(n)).tolist()) for n in normals} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), normals[triangles[:, 0]]) > 0).all()
    vertices, normals, _ = cornered(sphere(2.0))
    np.testing.assert_allclose(normals, vertices / 2.0, atol=0.06)


def test_a_machine_that_does_not_move_and_one_of_the_time_alone(tmp_path: Path) -> None:
    clock = kn.loads("model clock;\nHand | Rz(2*t), Sx(1) = 1;\nWall | Sx(2) = 1;\n")
    assert clock.show(tmp_path / "clock.glb", to=1.0) == tmp_path / "clock.glb"
    channels = Read((tmp_path / "clock.glb").read_bytes()).known["animations"][0]["channels"]
    assert {c["target"]["path"] for c in channels} <= {"rotation", "translation"}
    still = kn.loads("model still;\nB | Sx(x) = 1;\ncoordinates x;\n")
    still.show(tmp_path / "still.glb", to=0.1)
    assert "animations" not in Read((tmp_path / "still.glb").read_bytes()).known
    run = kn.simulate(still, 0.1)
    with pytest.raises(kn.ArgumentError, match="expected a speed above zero, found -1"):
        run.animate(tmp_path / "a.glb", speed=-1)
    assert not (tmp_path / "a.glb").exists()


#: Where bodies are at a time in a file that three.js reads.
SCRIPT = """
import { readFile } from "node:fs/promises";
import * as THREE from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
const bytes = new Uint8Array(await readFile(process.env.GLB));
const found = await new GLTFLoader().parseAsync(bytes.buffer, "");
const mixer = new THREE.AnimationMixer(found.scene), [clip] = found.animations;
mixer.clipAction(clip).play();
mixer.setTime(Number(process.env.TIME));
found.scene.updateMatrixWorld(true);
const { min, max } = new THREE.Box3().setFromObject(found.scene, true);
console.log(JSON.stringify([clip.duration, min.toArray(), max.toArray()]));
"""


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None or not (APP / "node_modules").is_dir(),
    reason="there is no node, or its packages are not in kineta/page/app: npm install brings them",
)
def test_the_loader_of_three_finds_it_there(tmp_path: Path) -> None:
    run = kn.simulate(kn.load(EXAMPLES / "fourbar.kin"), 0.5)
    path = tmp_path / "run.glb"
    run.animate(path)
    done = subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT],
        cwd=APP,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "GLB": str(path), "TIME": "0.25"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    duration, *ends = json.loads(done.stdout)
    assert duration == pytest.approx(0.5)
    np.testing.assert_allclose(ends, box_of(Read(path.read_bytes()).places(15)), atol=1e-6)
