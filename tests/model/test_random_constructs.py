"""Random models with constructs of the language are those that other code writes out, in forces, linearised, in runs and in C."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from tests.model.random_constructs import random_model
from tests.support import quick_but

RUN = 0.3


def written(seed: int, folder: Path) -> tuple[kn.System, kn.System]:
    """The random model with constructs, and written out."""
    model = random_model(seed)
    (folder / "part.kin").write_text(model.part)
    for name, text in (("model", model.text), ("plain", model.plain)):
        (folder / f"{name}.kin").write_text(f"model m{seed};\n{text}")
    return kn.load(folder / "model.kin"), kn.load(folder / "plain.kin")


def accelerations(system: kn.System, seed: int) -> dict[str, float]:
    """Accelerations by the reference evaluation at a state that depends on names alone."""
    rng = np.random.default_rng(seed)
    at = {n: rng.uniform(-1, 1) for n in sorted((*system.q_names, *system.v_names))}
    q, v = ([at[n] for n in names] for names in (system.q_names, system.v_names))
    values = [p.value for p in system.parameters if not p.fixed]
    found = kn.derive(system).function("forward", "numpy")(t=0.3, q=q, v=v, p=values)
    return dict(zip(system.v_names, np.asarray(found).tolist(), strict=True))


@pytest.mark.parametrize("seed", quick_but(range(24), range(2, 24)))
def test_constructs_are_what_they_stand_for(seed: int, tmp_path: Path) -> None:
    system, plain = written(seed, tmp_path)
    found = accelerations(system, seed)
    assert found == pytest.approx(accelerations(plain, seed), rel=1e-12, abs=1e-12)
    text = kn.dumps(system)
    again = kn.loads(text)
    assert again == system
    assert kn.dumps(again) == text
    assert accelerations(again, seed) == found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_constructs_are_linearised_and_run_as_what_they_stand_for(seed: int, tmp_path: Path) -> None:
    system, plain = written(seed, tmp_path)
    one, other = (kn.linearize(s, t=0.1) for s in (system, plain))
    order = [other.states.index(n) for n in one.states]
    np.testing.assert_allclose(one.A, other.A[np.ix_(order, order)], rtol=1e-11, atol=1e-11)
    result = kn.simulate(system, RUN, samples=11)
    beside = kn.simulate(plain, RUN, samples=11)
    for name in (*system.q_names, *system.v_names, "o"):
        np.testing.assert_allclose(result[name], beside[name], rtol=1e-9, atol=1e-9, err_msg=name)
    if shutil.which("cc"):
        from tests.tasks.export.test_exported_run import InC

        table = InC(tmp_path, kn.export_run(kn.derive(system), RUN), f"m{seed}").simulate(11)
        np.testing.assert_allclose(table[:, 1 : 1 + len(result.y)].T, result.y, rtol=1e-9, atol=1e-9)
