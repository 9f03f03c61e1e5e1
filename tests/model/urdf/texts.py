"""Texts of robots, and what the tests do with them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import kineta as kn
from kineta.model.io import urdf

ENDS = '<parent link="a"/><child link="b"/>'
INERTIAL = """<inertial><origin xyz="0.1 0 0.2"/><mass value="2"/>
  <inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>"""
HEAVY_B = f'<link name="a"/><link name="b">{INERTIAL}</link>'
QUANTITIES = ("mass_matrix", "bias", "inverse", "forward")


def robot(*parts: str) -> str:
    """A file: the first part is on line 2, the second on line 3 where each takes one line."""
    return "\n".join(('<robot name="r">', *parts, "</robot>"))


def joint(kind: str, inner: str = "", name: str = "j", ends: str = ENDS) -> str:
    return f'<joint name="{name}" type="{kind}">{ends}{inner}</joint>'


def between(parent: str, child: str) -> str:
    return f'<parent link="{parent}"/><child link="{child}"/>'


def noted(text: str, tmp_path: Path) -> tuple[kn.System, tuple[urdf.Note, ...]]:
    file = tmp_path / "r.urdf"
    file.write_text(text, encoding="utf-8")
    return urdf.read_with_report(file)


def quietly(text: str, *, floating: bool = False) -> kn.System:
    """The system in *text*; the test is not about warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KinetaWarning)
        return urdf.reads(text, floating=floating)


def random_state(system: kn.System, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    q, v, x = (rng.uniform(-1, 1, n) for n in (system.nq, system.nv, system.nv))
    for name in system.joints:
        k = system.q_names.index(f"{name}.qw")
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, v, x


def assert_same_dynamics(one: kn.System, other: kn.System) -> None:
    """The two agree at random states, with coordinates and speeds in the same order."""
    equations = [kn.derive(s) for s in (one, other)]
    q, v, x = random_state(one, 7)
    for quantity in QUANTITIES:
        extra = (x,) if quantity in ("inverse", "forward") else ()
        a, b = (e.function(quantity, backend="numpy")(0.0, q, v, *extra) for e in equations)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=quantity)


A, AB = '<link name="a"/>', '<link name="a"/><link name="b"/>'
ABC = AB + '<link name="c"/>'


def inertial(inner: str) -> str:
    return robot(f'<link name="a"><inertial>{inner}</inertial></link>')


FINGER = robot(
    HEAVY_B,
    f'<link name="c">{INERTIAL}</link>',
    f'<link name="d">{INERTIAL}</link>',
    joint("revolute", '<dynamics damping="4"/><mimic joint="k" multiplier="-2" offset="0.5"/>', "j"),
    joint("revolute", '<mimic joint="l" multiplier="3"/>', "k", between("b", "c")),
    joint("prismatic", '<dynamics damping="1.5"/>', "l", between("c", "d")),
)
