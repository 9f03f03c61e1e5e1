"""Pages as text, and the functions of their modules: poses and the forces of a hand."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import zlib
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.equations.equations import equations_of
from kineta.page.equations import equations_html, terms
from kineta.page.live_run import PageModule, live_module, live_run
from kineta.page.sample_encoding import BYTES, STEPS, encoded_series, one_sample
from kineta.scene.machine import Machine
from kineta.scene.system_scene import scene
from kineta.tasks.export.exported_run import exported_problem
from tests.kernels.wasm_machine import Instance
from tests.support import EXAMPLES, ROOT

APP = ROOT / "kineta" / "page" / "app"
NODE = pytest.mark.skipif(
    shutil.which("npm") is None or not (APP / "node_modules").is_dir(),
    reason="there is no npm, or its packages are not in kineta/page/app: npm install brings them",
)


def data(page: str) -> dict[str, Any]:
    """What a page is told."""
    found = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    told: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(found[1])))
    return told


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "pendulum.html"
    return kn.load(EXAMPLES / "double_pendulum.kin").show(path, to=3.0).read_text()


def test_a_page_is_complete_in_itself_and_small(pendulum: str) -> None:
    assert len(pendulum) < 400_000
    assert not re.search(r"""<(?:script|link|img)[^>]*\s(?:src|href)=["'](?!data:)""", pendulum)
    assert "default-src 'none'" in pendulum
    assert "three.js authors" in pendulum
    assert "Leon Sorokin" in pendulum
    told = data(pendulum)
    assert (told["model"], told["t"], told["why"]) == ("double_pendulum", [0.0, 3.0], "")
    assert told["module"]["known"]["INFORMATION"]["units"]["q1'"] == "rad/s"
    assert re.search("<math>.*</math>", pendulum)


def test_names_are_labelled_as_equations_have_them() -> None:
    model = "coordinates th, phi1, lift; parameters om = 2; A | Rz(th), Rx(phi1), Sx(lift) = 1, 1, 1, 1; output seen = om*th;"
    told = data(kn.posture(kn.loads(model)).page())
    assert "<mi>θ</mi><mo>˙</mo>" in told["labels"]["th'"]
    assert "<mi>φ</mi><mn>1</mn>" in told["labels"]["phi1"]
    assert told["labels"]["om"] == "<math><mi>ω</mi></math>"
    assert not {"lift", "lift'", "seen", "kinetic_energy"} & {*told["labels"]}


def test_a_hostile_name_is_text(tmp_path: Path) -> None:
    name = "</script><script>alert(1)</script>"
    system = kn.load(EXAMPLES / "simple_pendulum.kin")
    object.__setattr__(system, "name", name)  # the grammar of names refuses it
    page = system.show(tmp_path / "a.html").read_text()
    assert page.count("<script") == 4
    assert data(page)["model"] == name
    assert unescape(re.findall("<title>(.*)</title>", page)[0]) == name


@pytest.mark.slow
def test_a_machine_whose_run_cannot_be_computed_stands_at_its_start() -> None:
    uncontrolled = kn.posture(kn.load(EXAMPLES / "car_chain.kin"), p={"k": 0.0})
    torn = kn.posture(kn.load(EXAMPLES / "fourbar.kin"), {"theta": 1.0, "beta": 2.0, "gamma": 0.1}, assembled=False)
    for found, why in (
        (uncontrolled, "no control on x1' changes it"),
        (torn, "the start misses the constraint 'pin.x'"),
    ):
        with pytest.warns(kn.KinetaWarning, match=f"{re.escape(why)}.*The page shows the machine at rest"):
            told = data(found.page())
        assert why in told["why"] == told["recorded"]["message"]
        assert set(told["recorded"]["samples"]["columns"]) == {"t", *told["q"], *told["v"]}


@pytest.mark.slow
def test_a_run_that_fails_is_told_where_its_page_or_file_is_made() -> None:
    exploding = kn.loads("""
        coordinates x;
        Ball | Sx(x) = 1;
        force push = 3*x^2 on x;
        initial x = 1, x' = 1;
    """)
    sentence = r"failed at t = 1\.4793\d* s: the step size became too small .*\. The {} shows it up to there\.$"
    for _ in "made", "kept":
        with pytest.warns(kn.KinetaWarning, match=sentence.format("page")):
            kn.posture(exploding).page()
    with pytest.warns(kn.KinetaWarning, match=sentence.format("file")):
        kn.posture(exploding).gltf()


@pytest.mark.slow
def test_programs_that_are_held_through_the_rest_of_the_system_are_replayed() -> None:
    told = data(kn.posture(kn.load(EXAMPLES / "car_chain.kin")).page())
    assert "kineta servo" in told["why"]
    assert told["recorded"]["message"] == ""
    assert told["recorded"]["units"]["control.x1'"] == "N"
    series = read_series(told["recorded"]["samples"])
    assert series["x4"][-1] == pytest.approx(1.0, abs=1e-9)
    assert series["x1"][-1] == pytest.approx(1.0, abs=1e-6)


def read_series(told: dict[str, Any]) -> dict[str, Any]:
    """Series as the page reads them."""
    codes, at, found = zlib.decompress(base64.b64decode(told["codes"])), 0, {}
    n = told["rows"]
    for name, (low, high, order) in told["columns"].items():
        if order < 0:
            found[name] = np.full(n, low)
            continue
        octets = np.frombuffer(codes, np.uint8, BYTES * n, at).reshape(BYTES, n).astype(np.int64)
        at += BYTES * n
        x = (octets << 8 * np.arange(BYTES)[:, None]).sum(axis=0)
        x = (x >> 1) ^ -(x & 1)
        for _ in range(order):
            x = x.cumsum()
        part = (x - 1) / STEPS
        found[name] = np.where(x == 0, np.nan, low * (1 - part) + high * part)
    assert at == len(codes)
    return found


def test_series_are_read_within_half_a_step_and_take_little_room() -> None:
    t = np.linspace(0.0, 10.0, 1001)
    noise = np.random.default_rng(0).normal(size=t.size)
    given = {"t": t, "sine": np.sin(3 * t), "flat": np.full(t.size, 1e300), "noise": noise * 1e-9}
    given |= {"steps": np.sign(np.sin(t)), "broken": np.where(t > 8, np.nan, t**2), "nothing": np.full(t.size, np.inf)}
    given["huge"] = np.where(t > 5, 1.7e308, -1.7e308)
    told = encoded_series(given)
    found = read_series(told)
    for name, x in given.items():
        known = np.isfinite(x)
        assert np.isnan(found[name][~known]).all()
        half = float(np.ptp(x[known] / 2)) if known.any() else 0.0
        np.testing.assert_allclose(found[name][known], x[known], rtol=4e-16, atol=1.1 / STEPS * half)
        if known.any():
            assert (found[name][known].min(), found[name][known].max()) == (x[known].min(), x[known].max())
    assert len(told["codes"]) < 0.3 * 8 * sum(map(len, given.values()))
    assert read_series(one_sample({"t": 1.5, "q": -0.1})) == {"t": [1.5], "q": [-0.1]}


def module(system: kn.System) -> tuple[PageModule, Instance, Any]:
    """The module of a run of *system* from its start, and its problem."""
    limits = 1e-9, 1e-12, np.inf
    task = exported_problem(equations_of(system), (0.0, 1.0), (None,) * 5, (), "dop853", limits, None)
    found = live_module(live_run(task))
    return found, Instance(found.module), task


def put(made: PageModule, instance: Instance, **arrays: Any) -> None:
    for name, values in arrays.items():
        instance.put(made.arena[name], np.asarray(values, "<f8").tobytes())


def read(made: PageModule, instance: Instance, name: str, size: int) -> Any:
    return np.frombuffer(instance.get(made.arena[name], 8 * size), "<f8")


def test_poses_in_a_page_are_those_of_pictures() -> None:
    system = kn.load(EXAMPLES / "cart_pendulum.kin")
    made, instance, task = module(system)
    q, v, p = np.linspace(0.3, 0.7, system.nq), np.linspace(-1, 1, system.nv), task.made.p
    put(made, instance, t=[0.0], q=q, v=v, p=p)
    at = made.arena
    instance.call("scene", at["t"], at["q"], at["v"], at["p"], at["seen"])
    pose = Machine(scene(system), p, 0.0, q, v).first
    np.testing.assert_allclose(read(made, instance, "seen", pose.frames.size), pose.frames.ravel(), rtol=0, atol=1e-15)


def test_a_hand_pulls_by_the_transposed_jacobian() -> None:
    system = kn.load(EXAMPLES / "cart_pendulum.kin")
    made, instance, task = module(system)
    q, v, at = np.array([0.3, 0.5]), np.array([0.2, -0.4]), made.arena
    body, target = system.tree[-1].name, np.array([1.0, 0.5, -0.25])
    weights = [float(b.name == body) for b in system.tree]
    put(made, instance, t=[0.0], q=q, v=v, p=task.made.p, grip=[*weights, 0, 0, 0, *target, 30.0, 4.0])
    instance.call("hand", at["t"], at["q"], at["v"], at["p"], at["grip"], at["held"])
    found = read(made, instance, "held", system.nv + 6)
    equations = equations_of(system)
    position, jacobian = (equations.function(f"{n}({body})", "numpy")(0.0, q, v) for n in ("position", "jacobian"))
    J = np.asarray(jacobian)[:3]
    pull = 30.0 * (target - position) - 4.0 * (J @ v)
    np.testing.assert_allclose(found[system.nv : system.nv + 3], position, atol=1e-15)
    np.testing.assert_allclose(found[system.nv + 3 :], pull, atol=1e-12)
    np.testing.assert_allclose(found[: system.nv], J.T @ pull, atol=1e-12)


def test_runs_that_no_page_can_show() -> None:
    run = kn.simulate(kn.load(EXAMPLES / "simple_pendulum.kin"), 0.1)
    with pytest.raises(kn.ArgumentError, match=r"expected one motion of a known model to show, found one from a file"):
        replace(run, system=None).show("a.html")
    with pytest.raises(kn.ArgumentError, match=r"Expected a page '\.html', found 'a\.htm'\."):
        run.show("a.htm")


def test_a_page_without_a_name_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))
    path = kn.load(EXAMPLES / "simple_pendulum.kin").show()
    assert (path, opened) == (tmp_path / "simple_pendulum.html", [path.as_uri()])


@pytest.mark.slow
@NODE
def test_the_bundle_is_that_of_its_sources(tmp_path: Path) -> None:
    copy = tmp_path / "kineta"
    shutil.copytree(ROOT / "kineta" / "page" / "app", copy / "page" / "app", symlinks=True)
    shutil.copytree(ROOT / "kineta" / "tasks" / "export" / "templates", copy / "tasks" / "export" / "templates")
    subprocess.run(["npm", "run", "--silent", "build"], cwd=copy / "page" / "app", check=True, capture_output=True)
    for name in ("app.min.js", "app.min.css"):
        assert (copy / "page" / name).read_bytes() == (ROOT / "kineta" / "page" / name).read_bytes(), name


@pytest.mark.slow
@NODE
def test_the_parts_of_the_script_that_need_no_browser() -> None:
    done = subprocess.run(["npm", "test", "--silent"], cwd=APP, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_long_equations_may_begin_new_lines_at_signs_outside_of_brackets() -> None:
    lines = [r"a - b = (c + d)\,e + \frac{f - g}{h} - \left( i + j \right)^{2 - k}", r"\text{a + b} + c"]
    assert [terms(x) for x in lines] == [
        [r"a - b = (c + d)\,e ", r"+ \frac{f - g}{h} ", r"- \left( i + j \right)^{2 - k}"],
        [lines[1]],
    ]
    shown = equations_html(kn.derive(kn.load(EXAMPLES / "fourbar.kin")))
    assert '</math><wbr><math><mrow><mo form="infix">+</mo>' in shown
