"""What the command line says is largest does not depend on how many samples are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command
from tests.results.test_extremes import PENDULUM


@pytest.mark.slow
def test_the_number_of_samples_does_not_change_what_is_largest(kineta: Command, tmp_path: Path) -> None:
    path = tmp_path / "pendulum.kin"
    path.write_text("model pendulum;" + PENDULUM)
    for verb, name in (("reactions", "A.fy"), ("kinematics", "A.ay")):
        found = [kineta(verb, path, "--to", "3", "--samples", n, "--json").json["extremes"][name] for n in ("5", "333")]
        assert found[0]["largest"] == pytest.approx(found[1]["largest"], rel=1e-10)
    given = kineta("inverse", path, "--to", "5", "--motion", "q = sin(t)", "--json").json["extremes"]["tau[q']"]
    t = np.linspace(0, 5, 400001)
    tau = -2 * 0.49 * np.sin(t) + 2 * 0.7 * 9.81 * np.sin(np.sin(t))
    assert (given["least"], given["largest"]) == pytest.approx((tau.min(), tau.max()), rel=1e-9)
    said = kineta("reactions", path, "--to", "3").out
    assert "90.2969" in said
    assert "e-1" not in said
