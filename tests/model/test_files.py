"""Model files: what can be read, and what is said where that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import kineta as kn

MODEL = "A | Rz(q1) = 1;\n"


def refused(path: Path) -> str:
    with pytest.raises(kn.ModelError) as raised:
        kn.load(path)
    return str(raised.value)


def test_a_file_is_read_whatever_its_newlines_and_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "leg.kin"
    path.write_bytes("\ufeffНога | Rx(q1) = m_n;\r\n# Конец\r\n".encode())
    system = kn.load(str(path))
    assert (system.name, system.bodies[0].name) == ("leg", "Нога")


@pytest.mark.parametrize(("stem", "name"), [("my-robot v2", "my_robot_v2"), ("2dof", "_2dof"), ("Нога", "Нога")])
def test_a_model_without_a_name_is_called_by_its_file(tmp_path: Path, stem: str, name: str) -> None:
    path = tmp_path / f"{stem}.kin"
    path.write_text(MODEL, encoding="utf-8")
    system = kn.load(path)
    assert system.name == name
    assert kn.loads(kn.dumps(system)) == system


def test_a_missing_file_is_named_with_the_near_one(tmp_path: Path) -> None:
    (tmp_path / "pendulum.kin").write_text(MODEL)
    assert refused(tmp_path / "pendulm.kin") == (
        f"{tmp_path}/pendulm.kin: there is no such file. Did you mean 'pendulum.kin'?"
    )
    assert refused(tmp_path / "cart.kin") == f"{tmp_path}/cart.kin: there is no such file."
    assert refused(tmp_path / "no" / "a.kin") == f"{tmp_path}/no/a.kin: there is no such file."


@pytest.mark.parametrize(("suffix", "advice"), [(".kim", " Did you mean '.kin'?"), (".txt", ""), ("", "")])
def test_a_wrong_suffix_is_named(tmp_path: Path, suffix: str, advice: str) -> None:
    path = tmp_path / f"model{suffix}"
    assert refused(path) == f"{path}: expected a model file (.kin, .urdf), found the suffix '{suffix}'.{advice}"


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "folder.kin"
    path.mkdir()
    assert refused(path) == f"{path}: expected a model file, found a folder."


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.kin"
    path.write_bytes("Нога | Rx(q1) = m;".encode("cp1251"))
    assert refused(path) == f"{path}: expected text in UTF-8, found other bytes at position 0."


def test_a_floating_base_is_for_urdf(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    path.write_text(MODEL)
    with pytest.raises(
        kn.ArgumentError, match=r"floating=True is for URDF robots; in \.kin write a motion Free\(name\)\.$"
    ):
        kn.load(path, floating=True)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    path.write_text("\n  A | Rz(q1) = 1, 2;\n")
    assert refused(path).startswith(f"{path}:2:16: Body 'A': expected 1 entry (mass) or 4 (m, Jx, Jy, Jz), found 2;")
    path.write_text("")
    assert refused(path) == f"Model 'a' ({path}:1:1): expected at least one body, found none."


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.mjcf", "<mujoco/>", "a model of MuJoCo (MJCF), which is not read; load the URDF from which it was made"),
        ("a.xml", "<?xml version='1.0'?>\n<!-- <sdf> -->\n<mujoco model='a'/>", "a model of MuJoCo (MJCF), which is not read"),
        ("a.xml", "<sdf version='1.9'/>", "a description in SDFormat (Gazebo, Drake), which is not read"),
        ("a.xml", "<robot name='a'/>", "the file is a URDF robot; its name has to end in .urdf."),
        ("a.xml", "<robot xmlns:xacro='x'/>", "a text of macros that make a URDF, which is not read; expand them: xacro"),
        ("a.xml", "<svg/>", "found the suffix '.xml' and XML of <svg>."),
        ("a.sdf", "", "a description in SDFormat (Gazebo, Drake), which is not read"),
        ("a.usda", "#usda 1.0", "a scene in Universal Scene Description, which is not read; export it as URDF"),
        ("a.xacro", "", "expand them: xacro a.xacro > a.urdf."),
        ("a.csv", "t,q", "a recorded motion, which is not read"),
        ("a.urdf", "<mujoco/>", "expected <robot>, found <mujoco>: a model of MuJoCo (MJCF), which is not read; load the URDF"),
    ],
)  # fmt: skip
def test_files_of_other_tools_are_called_what_they_are(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert sentence in refused(path)


def test_a_text_of_macros_is_expanded_under_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "f.urdf.xacro").write_text("<robot/>")
    with pytest.raises(kn.ModelError, match=r"xacro f\.urdf\.xacro > f\.urdf\.$"):
        kn.load(tmp_path / "f.urdf.xacro")
