"""Machines let fall and driven onto the ground by default settings, each varied at random: Talos on his hands, a car over a kerb,
a table with its load on one corner, a cart with one side on ice. A motion comes out, nothing sinks, energy does not grow.
"""

from __future__ import annotations

import sysconfig
from functools import cache
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.hybrid.random_machines import rounded
from tests.hybrid.test_contact_faults import CART, TABLE, Model, body_and_springs, within
from tests.support import quick_but

#: Growth of energy in parts of its range, and depth below planes [m], of steps of 1 ms; a wheel of radius r that rolls over an
#: edge at v turns its row by h v/r in a step, and leaves the arc by a part of h^2 v^2/r, 2e-4 m at 8 m/s.
GROWTH, DEPTH, OVER_EDGES = 1e-4, 1e-5, 1e-4

#: Length of a link of a necklace [m].
LINK = 0.1
KERB = """
gravity 9.81;
parameters m = 800, J = 900, r = 30 cm, kerb = 12 cm, c = 4e4, d = 3e3, mu = 0.8, e = 0;
Body | Sx(x), Sz(z), Ry(pitch) = m(m), Jy(J);
frame Front ~ Body | Sx(1.3), Sz(uf - 0.2); frame Rear ~ Body | Sx(-1.3), Sz(ur - 0.2);
F ~ Front | Ry(pf) = m(30), Jy(1.4); R ~ Rear | Ry(pr) = m(30), Jy(1.4);
coordinates x, z, pitch, uf, pf, ur, pr;
spring sf = c, 0 on uf; spring sr = c, 0 on ur; damper df = d on uf'; damper dr = d on ur';
initial z = 0.6;
contact road : ball = r among F, R and box = 4, 2, 2*kerb among ground at (5, 0, 0) and plane among ground axis (0, 0, 1),
  friction = mu, restitution = e;
output F.x, F.z, R.x, R.z;
"""


def keeps_energy(result: kn.Result) -> None:
    """Assert that a run has come to its end, and that its energy has not grown."""
    assert result.status == 0, result.message
    reach = max(1e-3, float(np.ptp(result.energy)), float(result["kinetic_energy"].max()))
    assert (result.energy - np.minimum.accumulate(result.energy)).max() < GROWTH * reach


@cache
def car() -> kn.Equations:
    return kn.derive(kn.loads(KERB))


@pytest.mark.parametrize("seed", quick_but(range(40), range(1, 40)))
def test_a_car_drives_over_a_kerb(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = {"kerb": rounded(rng, 0.02, 0.2), "c": rounded(rng, 2e4, 8e4), "d": rounded(rng, 1e3, 6e3)}
    p |= {"mu": rounded(rng, 0.1, 1), "e": float(rng.choice([0, 0.3])), "r": rounded(rng, 0.25, 0.35)}
    speed = rounded(rng, 1, 8)
    with within(20.0):
        result = kn.simulate(
            car(), 2.0, p=p, v={"x'": speed, "pf'": speed / p["r"], "pr'": speed / p["r"]}, samples=201
        )
    keeps_energy(result)
    for wheel in "FR":
        x, z = result[f"{wheel}.x"], result[f"{wheel}.z"]
        above = (x > 3) & (x < 7)
        assert (z - p["r"] - np.where(above, p["kerb"], 0.0)).min() > -OVER_EDGES


@cache
def on_hands() -> kn.Equations:
    """Talos with balls for his hands, knees, pelvis, chest and head; nothing drives him."""
    root = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    said = f'include "{root / "talos_data/robots/talos_reduced.urdf"}" floating;\n'
    hands = "gripper_left_base_link, gripper_right_base_link"
    rest = "base_link, torso_2_link, head_2_link, leg_left_4_link, leg_right_4_link"
    said += f"contact hands : ball = 5 cm between {hands} and ground axis (0, 0, 1), friction = 0.7;\n"
    said += f"contact body : ball = 15 cm between {rest} and ground axis (0, 0, 1), friction = 0.7;\n"
    return kn.derive(kn.loads(f"{said}output {', '.join(f'{name}.z' for name in f'{hands}, {rest}'.split(', '))};"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_talos_falls_on_his_hands(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = rounded(rng, 0.7, 1.0)
    q: dict[str, Any] = {"root.z": rounded(rng, 0.9, 1.0), "root.qw": cos(half), "root.qy": sin(half)}
    bend = rounded(rng, -0.9, -0.3)
    q |= {"arm_left_2_joint": 0.3, "arm_right_2_joint": -0.3, "arm_left_4_joint": bend, "arm_right_4_joint": bend}
    with within(60.0):
        result = kn.simulate(on_hands(), 0.45, q=q, v={"root.wy": rounded(rng, -0.5, 0.5)}, samples=46)
    keeps_energy(result)
    assert result["gripper_left_base_link.z"].min() > 0.05 - DEPTH
    assert result["torso_2_link.z"].min() > 0.15 - DEPTH
    assert any(impact.contact.startswith(("hands", "body")) for impact in result.impacts)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "moreau"])
@pytest.mark.parametrize("seed", range(2))
def test_a_quadruped_is_thrown(seed: int, method: str) -> None:
    """Solo with balls for his feet, shoulders and trunk, whose joints nothing drives, in any attitude."""
    root = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    legs = [f"{end}_{part}" for end in ("FL", "FR", "HL", "HR") for part in ("FOOT", "UPPER_LEG")]
    said = f'include "{root / "solo_description/robots/solo12.urdf"}" floating;'
    said += f"contact c : ball = 2 cm between base_link, {', '.join(legs)} and ground axis (0, 0, 1), friction = 0.6;"
    model = kn.derive(kn.loads(f"{said} output {', '.join(f'{name}.z' for name in ('base_link', *legs))};"))
    turn = np.random.default_rng(seed).normal(size=4)
    q = dict(zip(("root.qw", "root.qx", "root.qy", "root.qz"), turn / np.linalg.norm(turn), strict=True))
    with within(60.0):
        result = kn.simulate(
            model, 0.6, q=q | {"root.z": 0.6}, v={"root.vx": 0.5, "root.wy": 1}, method=method, samples=121
        )
    keeps_energy(result)
    assert min(result[f"{name}.z"].min() for name in ("base_link", *legs)) > 0.02 - DEPTH


def necklace(links: int = 12) -> str:
    """A closed chain of capsules on ball joints, which is thrown."""
    first, half = f"m(0.1), Jx(1e-5), Jy(1e-4), Jz(1e-4), com = ({LINK / 2}, 0, 0)", pi / links
    joints, places = range(2, links + 1), ", ".join(f"K[{i}] at ({LINK / 2}, 0, 0)" for i in range(1, links + 1))
    turned = "".join(f", j[{i}].qw = {cos(half)}, j[{i}].qz = {sin(half)}" for i in joints)
    return f"""gravity 9.81; K[1] | Free(b) = {first};
    for i in 2..{links} : K[i] ~ K[i-1] | Sx({LINK}), Ball(j[i]) = {first};
    coordinates b{"".join(f", j[{i}]" for i in joints)}; loop close : ball between K[{links}] at ({LINK}, 0, 0) and K[1];
    contact g : capsule = 2 cm, {LINK} between {places} axis (1, 0, 0) and ground axis (0, 0, 1), friction = 0.5,
      restitution = 0.2;
    initial b.z = 0.3, b.vx = 0.5, b.wx = 1, b.qw = {cos(0.3)}, b.qx = {sin(0.3)}{turned};
    output {", ".join(f"K[{i}].z" for i in range(1, links + 1))};"""


@pytest.mark.slow
def test_a_necklace_is_thrown_by_steps_of_a_millisecond() -> None:
    """Links spin at 180 rad/s beside each other."""
    result = kn.simulate(kn.loads(necklace()), 0.7, method="moreau", samples=701)
    assert result.success, result.message
    assert min(result[f"K[{i}].z"].min() for i in range(1, 13)) > 0.02 - 1e-7
    assert (result.energy - np.minimum.accumulate(result.energy)).max() < 5e-6 * np.ptp(result.energy)


def judge(model: Model, result: kn.Result) -> None:
    """Assert that nothing sinks, and that forces are within their cones."""
    assert result.status == 0, result.message
    largest = max(1.0, *(np.abs(result[f"{prefix}.n"]).max() for _, prefix, _ in model.names()))
    for place, prefix, named in model.names():
        mu = float(result.parameters[named]) if isinstance(named, str) else named
        n, u, w = (result[f"{prefix}.{c}"] for c in "nuw")
        assert result[f"{place}.z"].min() > -DEPTH
        assert n.min() > -1e-7 * largest
        assert (np.hypot(u, w) - mu * n).max() <= 1e-7 * largest


#: A table whose load stands on one corner.
LOADED = Model(TABLE.text.replace("com = (0.75, 0, h)", "com = (1.3, 0.4, h)"), TABLE.contacts, driven=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_table_with_its_load_on_one_corner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "f": rounded(rng, -200, 200)}
    with within(20.0):
        judge(LOADED, kn.simulate(LOADED.equations(), 1.0, p=p, v={"x'": rounded(rng, -1, 1)}, samples=101))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_cart_with_one_side_on_ice(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "ice": rounded(rng, 0, 0.1)}
    v = {"x'": rounded(rng, 0, 6), "y'": rounded(rng, -1, 1), "psi'": rounded(rng, -1, 1)}
    with within(20.0):
        result = kn.simulate(CART.equations(), 1.0, p=p, v=v, samples=101)
    judge(CART, result)
    keeps_energy(result)
