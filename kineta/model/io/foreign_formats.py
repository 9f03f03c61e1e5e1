"""Files of other tools: their formats, which are not read, and the way to a readable format."""

from __future__ import annotations

import re
from pathlib import Path

from kineta.errors import ModelError, did_you_mean

#: Formats by the suffixes of their files, with the way to a readable format.
_URDF = "load the URDF from which it was made, or write its bodies in .kin (kineta new)"
_FORMATS = {
    ".mjcf": ("a model of MuJoCo (MJCF)", _URDF),
    ".sdf .world": ("a description in SDFormat (Gazebo, Drake)", _URDF),
    ".usd .usda .usdc .usdz": ("a scene in Universal Scene Description", "export it as URDF, as Isaac Sim does"),
    ".xacro": ("a text of macros that make a URDF", "expand them: xacro {name} > {stem}.urdf"),
    ".osim": ("a model of OpenSim", "write its bodies in .kin (kineta new)"),
    ".lua": ("a Lua model of RBDL", _URDF),
    ".mo": ("a model in Modelica", "write its bodies in .kin (kineta new)"),
    ".slx .mdl": ("a model of Simulink", "export its Simscape bodies as URDF, or write them in .kin (kineta new)"),
    ".fmu": ("a compiled unit (FMI)", "write its bodies in .kin (kineta new)"),
    ".py": ("a program in Python", "run it; kineta.dumps writes the system that it makes as .kin"),
    ".nc .csv": ("a recorded motion", "kineta.load_result reads a run (.nc); a model is another file"),
}
_KNOWN = {suffix: row for suffixes, row in _FORMATS.items() for suffix in suffixes.split()}
#: Formats written in XML, by the first element, with a suffix of ``_FORMATS``.
_ROOTS = {"mujoco": ".mjcf", "mujocoinclude": ".mjcf", "sdf": ".sdf", "world": ".sdf", "OpenSimDocument": ".osim"}
_ROOT = re.compile(rb"<([A-Za-z_][\w:.-]*)")
#: Bytes within which the first element of an XML file is looked for.
_HEAD = 1 << 16


def unsupported_format(path: Path, content: bytes, suffixes: tuple[str, ...]) -> ModelError:
    """Error on a file with this *content* in an unsupported format; readable files end in *suffixes*."""
    suffix = path.suffix.casefold()
    root = _ROOT.search(re.sub(rb"<!--.*?-->", b"", content[:_HEAD], flags=re.S))
    tag = root[1].decode() if root and suffix in ("", ".xml", ".urdf", ".txt") else ""
    if tag == "robot" and b"xmlns:xacro" in content[:_HEAD]:
        suffix = ".xacro"
    elif tag == "robot":
        return ModelError(f"{path}: the file is a URDF robot; its name has to end in .urdf.")
    what, way = _KNOWN.get(_ROOTS.get(tag, suffix), ("", ""))
    if what:
        return ModelError(
            f"{path}: the file is {what}, which is not read; {way.format(name=path.name, stem=path.stem.removesuffix('.urdf'))}."
        )
    inside = f" and XML of <{tag}>" if tag else ""
    near = did_you_mean(path.suffix, suffixes)
    return ModelError(
        f"{path}: expected a model file ({', '.join(suffixes)}), found the suffix '{path.suffix}'{inside}.{near}"
    )


def root_element_advice(tag: str) -> str:
    """Advice on an XML file by its first element *tag*; ``""`` for an unknown format."""
    what, way = _KNOWN.get(_ROOTS.get(tag, ""), ("", ""))
    return f": {what}, which is not read; {way}" if what else ""
