"""Exported runs in WebAssembly: by wasmtime the motions of ``kn.simulate`` to the last bit, by node to rounding."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.tasks.export.run_names import CONTACT_OUTCOMES
from tests.hybrid.test_classics import CRADLE, ORDERS, cradle
from tests.kernels.wasm_machine import Instance
from tests.support import EXAMPLES, slow
from tests.tasks.export.test_exported_run import SENSING
from tests.tasks.export.unfused import unfused

REACHED, EVENT, CHANGED = 0, 2, 8
NODE = shutil.which("node")
q2 = kn.symbol("q2")

#: A closed mechanism; a tree with events, quaternions, redundant constraints.
RUNS = [
    ("fourbar", 1.0, []),
    *slow([("puma560", 2.0, [q2, kn.symbol("q3")]), ("spinning_top", 0.5, []), ("bricard", 1.0, [])]),
]


def told(run: kn.ExportedRun) -> dict[str, Any]:
    """What the loader knows of a module."""
    (loader,) = (text.decode() for name, text in run.files.items() if name.endswith(".mjs"))
    found = re.search(r"^const INFO = ({.*?^});$", loader, re.MULTILINE | re.DOTALL)
    assert found is not None
    info: dict[str, Any] = json.loads(found[1])
    return info


def check_motion(instance: Instance, places: Mapping[str, int], states: int, result: kn.Result) -> None:
    """A run that has begun has the states and the changes of a *result* with contacts, to the last bit."""
    rows, times = [], []
    for t in result.t.tolist():
        while (status := instance.call("advance", places["root"], t)) == CHANGED:
            (found,) = struct.unpack("<q", instance.get(places["found"], 8))
            times += struct.unpack("<d", instance.get(places["t"], 8)) * found
        assert status == REACHED
        rows.append(instance.get(places["state"], 8 * states))
    assert b"".join(rows) == result.y.T.tobytes()
    assert times == [t for t, _ in result.changes]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*redundant and left out:kineta.errors.KinetaWarning")
@pytest.mark.parametrize(("name", "end", "events"), RUNS)
def test_a_run_is_that_of_simulate_to_the_last_bit(name: str, end: float, events: Sequence[Any]) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{name}.kin"))
    with unfused():
        result = kn.simulate(equations, end, samples=11, events=events)
    run = kn.export_run(equations, end, events=events, language="wasm")
    info, instance = told(run), Instance(run.files[f"{name}_run.wasm"])
    places = info["places"]
    assert instance.call("begin", places["root"]) == REACHED
    rows, values, times = [], [], []
    for t in result.t.tolist():
        while (status := instance.call("advance", places["root"], t)) == EVENT:
            times += struct.unpack("<d", instance.get(places["t"], 8))
        assert status == REACHED
        instance.call("observe", places["root"])
        rows.append(instance.get(places["state"], 8 * len(run.states)))
        values.append(instance.get(places["values"], 8))
    assert b"".join(rows) == result.y.T.tobytes()
    assert b"".join(values) == result.kinetic_energy.tobytes()
    assert times == sorted(x for t in result.t_events for x in t.tolist())
    counts = [struct.unpack("<q", instance.get(places[n], 8))[0] for n in ("rejected", "evaluations")]
    assert counts == [result.rejected, result.nfev]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "end"), [("bouncing_ball", 2.0), ("thrown_box", 0.5), ("sensing", 2.0)])
def test_contacts_are_those_of_simulate_to_the_last_bit(name: str, end: float) -> None:
    equations = kn.derive(SENSING if name == "sensing" else kn.load(EXAMPLES / f"{name}.kin"))
    with unfused():
        result = kn.simulate(equations, end, samples=11)
    run = kn.export_run(equations, end, language="wasm")
    info, instance = told(run), Instance(run.files[f"{name}_run.wasm"])
    places = info["places"]
    assert instance.call("begin", places["root"]) == REACHED
    check_motion(instance, places, len(run.states), result)


BALL = """
import { load } from "./bouncing_ball_run.mjs";
const model = await load();
const { changes, impacts, columns } = model.simulate({ t1: 1.2, samples: 3 });
const status = model.begin({ q: { z: 0.01 } });
console.log(JSON.stringify({ changes, impacts, z: [...columns.z], said: model.message(status) }));
"""


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed: the loader in JavaScript does not run")
def test_the_loader_tells_changes_and_impacts(tmp_path: Path) -> None:
    system = kn.load(EXAMPLES / "bouncing_ball.kin")
    kn.export_run(system, language="wasm").save(tmp_path)
    (tmp_path / "use.mjs").write_text(BALL)
    assert NODE is not None
    done = subprocess.run([NODE, "use.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found, result = json.loads(done.stdout), kn.simulate(system, 1.2, samples=3)
    assert [f"{c['contact']} {c['what']}" for c in found["changes"]] == [what for _, what in result.changes]
    np.testing.assert_allclose([c["t"] for c in found["changes"]], [t for t, _ in result.changes], rtol=1e-9)
    np.testing.assert_allclose([i["impulse"][0] for i in found["impacts"]], [i.impulse_n for i in result.impacts])
    np.testing.assert_allclose([i["energyLost"] for i in found["impacts"]], [i.energy_lost for i in result.impacts])
    np.testing.assert_allclose(found["z"], result["z"], rtol=1e-8)
    assert found["said"] == f"'floor': {CONTACT_OUTCOMES['PENETRATES'][1]}"


SWINGS = """
import { load } from "./cradle_run.mjs";
const model = await load(), { t, columns, impacts } = model.simulate({ t1: 1, samples: 41, rtol: 1e-12, atol: 1e-14 });
console.log(JSON.stringify({ t: [...t], q: [1, 2, 3, 4, 5].map((i) => [...columns[`q[${i}]`]]), hits: impacts.length }));
"""


@pytest.mark.slow
@pytest.mark.parametrize("between", ORDERS)
@pytest.mark.skipif(NODE is None, reason="node is not installed: the loader in JavaScript does not run")
def test_newtons_cradle_swings_in_javascript(tmp_path: Path, between: str) -> None:
    kn.export_run(kn.loads(CRADLE.format(between=between)), language="wasm").save(tmp_path)
    (tmp_path / "use.mjs").write_text(SWINGS)
    assert NODE is not None
    done = subprocess.run([NODE, "use.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["hits"] == 4
    np.testing.assert_allclose(found["q"], cradle(np.array(found["t"])), atol=1e-11)


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed: the loader in JavaScript does not run")
def test_impacts_of_steps_are_wholes_in_javascript(tmp_path: Path) -> None:
    system = kn.loads(
        "model bouncing_ball; gravity 9.81; P | Sz(z) = 1; coordinates z; limit floor : z >= 0; initial z = 0.5;"
    )
    kn.export_run(system, language="wasm", method="moreau").save(tmp_path)
    (tmp_path / "use.mjs").write_text(BALL)
    assert NODE is not None
    done = subprocess.run([NODE, "use.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    (found,), (one,) = json.loads(done.stdout)["impacts"], kn.simulate(system, 1.2, method="moreau").impacts
    assert found["impulse"][0] == pytest.approx(one.impulse_n, rel=1e-12)
    assert (found["t"], found["before"]) == pytest.approx((one.t, one.before))
    assert found["goesOn"]


PROGRAM = """
import { load, STATUS } from "./pendulum_run.mjs";
const model = await load();
const { t, columns, events, counts, message } = model.simulate({ t1: 3, samples: 7, p: { m1: 1.5 }, q: { q1: 0.4 } });
const refused = [{ p: { m7: 1 } }, { tol: 1e-3 }, { samples: 2.5 }, { maxSteps: 0.5 }, { rtol: "small" }].map((given) => {
  try {
    return model.simulate(given).message;
  } catch (error) {
    return error.message;
  }
});
const held = [0, 5].map((force) => {
  model.begin({ t1: 1 });
  model.advance(0.1);
  if (force) model.hold({ "q1'": force });
  model.advance(0.2);
  return [...model.state];
});
const statuses = [model.begin({ t1: 5, maxSteps: 2 }), model.advance(5)];
console.log(JSON.stringify({
  t: [...t], q2: [...columns.q2], energy: [...columns.kinetic_energy], events, counts, message, refused, statuses, held,
  units: model.units, m1: model.parameters.m1, enough: statuses[1] === STATUS.OUT_OF_STEPS,
}));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed: the loader in JavaScript does not run")
def test_the_loader_runs_in_node(tmp_path: Path) -> None:
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    run = kn.export_run(system, events=[q2], language="wasm", name="pendulum")
    assert list(run.files) == ["pendulum_run.wasm", "pendulum_run.mjs"]
    run.save(tmp_path)
    (tmp_path / "use.mjs").write_text(PROGRAM)
    assert NODE is not None
    done = subprocess.run([NODE, "use.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    result = kn.simulate(system, 3.0, samples=7, events=[q2], p={"m1": 1.5}, q={"q1": 0.4})
    assert found["t"] == result.t.tolist()
    # The power of JavaScript is not that of C: step sizes differ by rounding.
    np.testing.assert_allclose(found["q2"], result.y[1], rtol=1e-8)
    np.testing.assert_allclose(found["energy"], result.kinetic_energy, rtol=1e-8)
    assert [e["name"] for e in found["events"]] == ["q2"] * len(result.t_events[0])
    np.testing.assert_allclose([e["t"] for e in found["events"]], result.t_events[0], rtol=1e-9)
    assert found["counts"] == {"steps": result.steps, "rejected": result.rejected, "evaluations": result.nfev}
    assert found["message"] == "The time is reached."
    for sentence, begun in zip(
        found["refused"],
        [
            "Model 'double_pendulum' has no parameter 'm7'. Name one of: m1",
            "Model 'double_pendulum': a run has no option 'tol'. Give some of: p, q, v, levels, tau, t0, t1, rtol",
            "Model 'double_pendulum': 'samples' is a whole number of 2 or more, found 2.5.",
            "Model 'double_pendulum': 'maxSteps' is a whole number of 0 or more, found 0.5.",
            "Model 'double_pendulum': 'rtol' is a number, found small.",
        ],
        strict=True,
    ):
        assert sentence.startswith(begun)
    assert found["enough"]
    start = kn.simulate(system, 0.1)
    held = kn.simulate(system, (0.1, 0.2), q=start.y[:2, -1], v=start.y[2:, -1], tau={"q1'": 5})
    np.testing.assert_allclose(found["held"][1], held.y[:, -1], rtol=1e-8)
    assert found["held"][0] != found["held"][1]
    assert found["units"]["q1"] == "rad"
    assert found["m1"] == {"value": system.parameters["m1"], "unit": "kg"}
