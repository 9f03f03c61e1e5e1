"""Where bodies that may touch each other press in a recorded run."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

import kineta as kn
from kineta.page.recorded_pressing import STEPS, recorded_pressing
from tests.support import EXAMPLES

#: A box that slides and two balls that hit each other, on a plane that is turned, each named before or behind the others.
TURNED = """
model turned; gravity (-4 m/s^2, 0, -9 m/s^2);
parameters m = 2 kg, a = 20 cm, r = 6 cm, J = m*a^2/6;
B | Free(b) = m, J, J, J;
for i in 1..2 : K[i] | Free(k[i]) = m, J, J, J;
contact all : box = a, a, a among B and ball = r among K[1..2] and plane among ground axis (4/9, 0, 1), friction = 0.4;
initial b.z = 0.2 m, b.x = 1 m, k[1].z = 0.1 m, k[2].z = 0.12 m, k[2].x = 13 cm, k[2].vx = -1 m/s;
"""


def _rows(told: dict[str, object]) -> np.ndarray:
    """Rows of the number of the sample, the place and the normal."""
    octets = np.frombuffer(zlib.decompress(base64.b64decode(str(told["codes"]))), np.uint8).reshape(7, 2, -1)
    rows = (np.cumsum(octets[:, 0] + 256 * octets[:, 1].astype(np.int64), axis=1) & STEPS).T.astype(float)
    rows[:, 1:4] = np.array(told["low"]) + rows[:, 1:4] / STEPS * float(told["size"])  # type: ignore[arg-type]
    rows[:, 4:] = 2 * rows[:, 4:] / STEPS - 1
    return rows


@pytest.mark.slow
def test_places_and_normals_are_those_of_the_shapes() -> None:
    run = kn.simulate(kn.loads(TURNED), 0.4, samples=40)
    told = recorded_pressing(run, np.arange(len(run.t)))
    assert told is not None
    rows, k, up = _rows(told), 0, np.array([4 / 9, 0, 1]) / np.hypot(4 / 9, 1)
    seen = {name.split(".", 1)[1] for name, *_ in told["pairs"]}
    assert {"K[1].ground", "K[2].ground", "B.ground"} <= seen
    for name, count, friction, body, sign in told["pairs"]:
        assert friction == 0.4
        own, k = rows[k : k + count], k + count
        sample = own[:, 0].astype(int)
        pressing = run[f"lambda.{name}.n"][sample]
        force = sign * np.array([run[f"lambda.{name}.{x}"][sample] for x in "xyz"])
        assert (pressing > 0).all()
        assert count == np.count_nonzero(run[f"lambda.{name}.n"] > 0)
        # The force is that of the step before the sample, in which the normal between bodies turns.
        assert np.einsum("ik,ki->k", force, own[:, 4:]) == pytest.approx(pressing, rel=5e-3)
        if not body:
            assert own[:, 4:] == pytest.approx(np.tile(up, (count, 1)), abs=1e-4)
            assert own[:, 1:4] @ up == pytest.approx(0.0, abs=1e-3)
        if name.split(".")[1] == "K[1]" and not body:
            at = np.array([run[f"k[1].{x}"][sample] for x in "xyz"]).T - 0.06 * up
            assert own[:, 1:4] == pytest.approx(at, abs=1e-4)


def test_runs_without_a_table_of_pairs_have_none() -> None:
    run = kn.simulate(kn.load(EXAMPLES / "double_pendulum.kin"), 0.1, samples=5)
    assert recorded_pressing(run, np.arange(5)) is None
