"""A page with what machines have opens in a real browser: the one quick test of this kind, so that faults are not found late."""

from __future__ import annotations

from pathlib import Path

import kineta as kn
from tests.page.chromium import IN_CHROMIUM, browser, opened

pytestmark = IN_CHROMIUM

#: A cart on a rail with a spring; on it swings a beam with a wheel, and a ball falls on the ground: shapes of each kind, contact,
#: joints, a path, parameters, impacts.
CART = """model cart;
gravity 9.81 m/s^2;
parameters m = 1 kg, r = 5 cm;
coordinates y, phi, x, z;

Cart | Sx(y) = m(2*m);
Beam ~ Cart | Ry(phi) = m(m), Jy(0.05), com = (0, 0, -0.3);
Ball | Sx(x), Sz(z) = m(m);
spring hold = 40 on y;
contact floor : ball = r between Ball and ground axis (0, 0, 1), friction = 0.3, restitution = 0.4;

shape Cart = box(0.2, 0.1, 0.05);
shape Beam = capsule(2*r/3) from (0, 0, 0) to (0, 0, -0.6);
shape Beam = disk(3*r) at (0, 0, -0.6) turned Rx(90 deg);
shape Ball = sphere(r) colour orange;
shape ground = cylinder(r, 0.4) at (0.5, 0, 0.2);
shape ground = ellipsoid(r, 2*r, r) at (-0.5, 0, r);
show path of Ball;
initial phi = 1 rad, x = 0.3 m, z = 0.3 m;
"""


def test_a_page_with_shapes_contact_plots_and_sliders_opens_and_is_worked_without_a_fault(tmp_path: Path) -> None:
    page = kn.loads(CART).show(tmp_path / "cart.html", to=0.5)
    with browser() as chromium, opened(chromium, page, 240, 150) as tab:
        tab.computed()
        tab.drawn()
        before = tab.do("() => kineta.track.column('z').at(-1)")
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'r').change(0.08)")
        tab.computed()
        tab.drawn()
        assert tab.do("() => kineta.panes.map((x) => x.values[0].length > 9 && x.lines.length > 2)") == [True, True]
        assert tab.do("() => kineta.track.changes.length") > 0
        assert tab.do("() => kineta.track.column('z').at(-1)") > before
        assert tab.said == []
