"""Pages in a real browser: they move, sliders and the hand act, numbers are those of ``kn.simulate``."""

from __future__ import annotations

import multiprocessing
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.notation.mathml import CHARACTERS
from tests.hybrid.test_classics import painleve
from tests.page import unfused
from tests.page.chromium import CHROMIUM, browser, opened
from tests.support import EXAMPLES, ROOT
from tests.tasks.export.test_exported_steps import WALL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine, in which pages are opened"),
    pytest.mark.skipif(
        find_spec("playwright") is None, reason="the package playwright, which steers Chromium, is not installed"
    ),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def plain() -> Iterator[Callable[..., tuple[dict[str, float], int]] | None]:
    """The page and the end of a run, computed without fused operations; None where a processor cannot do without."""
    if platform.machine() not in ("x86_64", "AMD64"):
        yield None
        return
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), unfused.begin) as other:
        yield lambda *given: other.submit(unfused.page_and_end, *given).result()


def shown(folder: Path, name: str, to: float) -> Path:
    return kn.load(EXAMPLES / f"{name}.kin").show(folder / f"{name}.html", to=to)


#: The last state, by name.
LAST = "() => Object.fromEntries(kineta.track.names.map((n) => [n, kineta.track.column(n).at(-1)]))"


def test_a_page_plays_and_its_sliders_act_and_come_back_to_the_bit(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "double_pendulum", 3.0)) as tab:
        before = tab.pixels()
        tab.page.keyboard.press("Space")
        tab.page.wait_for_function("() => kineta.t > 0.3", timeout=20000)
        tab.page.keyboard.press("Space")
        assert tab.pixels() != before
        tab.computed()
        last = tab.do(LAST)
        slider = tab.page.locator("#controls input[type=range]").first
        slider.evaluate("(x) => { x.value = 1.7; x.dispatchEvent(new Event('input')); }")
        tab.computed()
        assert abs(tab.do(LAST)["q1"] - last["q1"]) > 1e-3
        tab.page.click("#back")
        tab.computed()
        assert tab.do(LAST) == last
        assert tab.said == []


@pytest.mark.parametrize(
    ("name", "to"),
    [("fourbar", 1.0), ("bouncing_ball", 2.0), ("bicycle", 1.0), ("elevator", 1.0), ("tracking_arm", 1.0)],
)
def test_numbers_are_those_of_simulate(chromium: Any, tmp_path: Path, name: str, to: float) -> None:
    run = kn.simulate(kn.load(EXAMPLES / f"{name}.kin"), to)
    with opened(chromium, shown(tmp_path, name, to)) as tab:
        tab.computed()
        last, changes = tab.do(LAST), tab.do("() => kineta.track.changes.map((x) => [x.t, x.text])")
        for state in (*run.q_names, *run.v_names, *run.level_names, "kinetic_energy"):
            assert last[state] == pytest.approx(run[state][-1], rel=1e-9, abs=1e-9), state
        assert [what for _, what in changes] == [what for _, what in run.changes]
        np.testing.assert_allclose([t for t, _ in changes], [t for t, _ in run.changes], rtol=1e-9)
        if not run.changes:
            assert tab.do("() => kineta.run.steps") == run.steps
        assert tab.said == []


#: Examples whose control is found by ``kineta servo``: its motion is replayed.
SERVO = {"car_chain", "crane_servo"}
#: Tolerances of runs that are compared closely, and how far they may be apart: of a mechanism that amplifies rounding, of
#: ground and flanges whose force has a kink, which steps find as rounding lets them, and of a rotor that begins on a knot of its
#: table: there a change of the wind by 2e-16 moves the end of the run by 5e-11. A cam whose lift is a table and a
#: machine that walks on four legs take a few steps more or less.
CLOSE = 1e-12, 1e-14, 1e-11
KINKED = 1e-12, 1e-14, 1e-9
FAR = {
    "andrews": (1e-9, 1e-12, 1e-4),
    "yielding_ground": KINKED,
    "wheelset": KINKED,
    "wind_turbine": KINKED,
    "cam_follower": CLOSE,
    "walking_machine": CLOSE,
}


@pytest.mark.parametrize("name", sorted({p.stem for p in EXAMPLES.glob("*.kin")} - SERVO))
def test_every_example_moves_as_in_simulate(
    chromium: Any, plain: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """To the last bit where sums of products are rounded twice, as in a browser, and else within rounding."""
    rtol, atol, apart = FAR.get(name, CLOSE)
    monkeypatch.setattr("kineta.page.document.RTOL", rtol)
    monkeypatch.setattr("kineta.page.document.ATOL", atol)
    model, page, end = EXAMPLES / f"{name}.kin", tmp_path / f"{name}.html", None
    run = kn.simulate(kn.load(model), 1.0, rtol=rtol, atol=atol)
    if plain is None:
        kn.load(model).show(page, to=1.0)
    else:
        end = plain(model, page, 1.0, rtol, atol)
    with opened(chromium, page) as tab:
        tab.computed()
        last, steps = tab.do(LAST), tab.do("() => kineta.run.steps")
        for state in (states := (*run.q_names, *run.v_names, *run.level_names)):
            assert last[state] == pytest.approx(run[state][-1], abs=apart * max(np.abs(run[state]).max(), 0.01)), state
        assert tab.do("() => kineta.track.changes.map((x) => x.text)") == [what for _, what in run.changes]
        assert end in (None, ({n: last[n] for n in states}, steps))
        # Fused operations make one step more or less of those that are cut at events, and of those at kinks some.
        assert steps == pytest.approx(run.steps, rel=2e-2 if name in FAR else 4e-3, abs=2)
        assert tab.said == []


@pytest.mark.parametrize(
    ("name", "body", "method"),
    [
        ("double_pendulum", 1, "dop853"),
        ("fourbar", 1, "dop853"),
        ("thrown_box", 0, "dop853"),
        ("thrown_box", 0, "moreau"),
    ],
)
def test_a_body_that_is_pulled_follows(chromium: Any, tmp_path: Path, name: str, body: int, method: str) -> None:
    pull = """async (body) => {
        kineta.play(false);
        const { machine, hand } = kineta, at = machine.box().getCenter(hand.target.clone());
        hand.grasp(body, at);
        const near = hand.held.local.clone(), target = at.clone();
        target.setComponent(0, at.x + 0.3);
        hand.target.copy(target);
        const far = () => near.clone().applyMatrix4(hand.held.frame.matrix).distanceTo(target), before = far();
        for (let k = 0; k < 120 && kineta.t < 0.6; k++) await new Promise(requestAnimationFrame);
        const after = far(), end = kineta.t;
        hand.drop();
        const most = (name) => Math.max(...kineta.track.column(name).map(Math.abs));
        const off = most("residual"), missed = most("balance");
        return { before, after, end, off, missed, handed: kineta.run.handed };
    }"""
    path = shown(tmp_path, name, 2.0)
    if method == "moreau":
        path = kn.simulate(kn.load(EXAMPLES / f"{name}.kin"), 2.0, method=method).show(path)
    with opened(chromium, path) as tab:
        found = tab.do(pull, body)
        if name == "fourbar":  # which goes only where its bars let it
            assert found["off"] < 1e-10
        else:
            assert found["after"] < 0.8 * found["before"]
        assert found["end"] > 0.3
        # Steps of 1 ms have errors of second order.
        assert found["missed"] < (1e-4 if method == "moreau" else 1e-6) * abs(found["handed"])
        tab.computed()
        assert all(map(np.isfinite, tab.do(LAST).values()))
        assert tab.said == []


def test_what_cannot_run_in_a_page_is_replayed_and_said(chromium: Any, tmp_path: Path) -> None:
    run = kn.simulate(kn.load(EXAMPLES / "elevator.kin"), 1.0, method="Radau")
    with opened(chromium, run.show(tmp_path / "elevator.html")) as tab:
        assert "hand: the method Radau is not in the page." in tab.page.inner_text("#controls")
        assert tab.do(LAST)["z"] == pytest.approx(run["z"][-1], rel=1e-9)
        assert tab.said == []


def test_a_machine_whose_contacts_pile_up_runs_live_by_time_stepping(chromium: Any, tmp_path: Path) -> None:
    """A rod of which no forces obey the laws: the page steps it all the way, in the bits of ``moreau`` but for rounding."""
    c, s = np.cos(1.0), np.sin(1.0)
    system = painleve(1.1 * (1 + 3 * c * c) / (3 * s * c))
    run = kn.simulate(system, 0.1, method="moreau")
    with opened(chromium, system.show(tmp_path / "rod.html", to=0.1)) as tab:
        tab.computed()
        last = tab.do(LAST)
        for state in (*run.q_names, *run.v_names):
            assert last[state] == pytest.approx(run[state][-1], rel=1e-9, abs=1e-9), state
        assert tab.do("() => kineta.run.steps") == run.steps
        assert tab.do("() => kineta.track.changes.map((x) => x.text)") == [what for _, what in run.changes]
        assert "all of the motion is found by time stepping" in tab.page.inner_text("#controls")
        assert tab.said == []


def test_bodies_that_touch_each_other_are_live(chromium: Any, tmp_path: Path) -> None:
    """A wall that a ball strikes, and a brick that is pulled out of it; its parameters have sliders."""
    system = kn.loads(WALL)
    run = kn.simulate(system, 0.2)
    pull = """async () => {
        kineta.play(false);
        const { machine, hand } = kineta, at = hand.target.clone().set(0.2, 0, 0.04);
        hand.grasp(0, at);
        hand.target.copy(at.clone().setComponent(1, -0.5));
        for (let k = 0; k < 120 && kineta.t < 0.15; k++) await new Promise(requestAnimationFrame);
        hand.drop();
        return kineta.run.handed;
    }"""
    with opened(chromium, system.show(tmp_path / "wall.html", to=0.2)) as tab:
        tab.computed()
        last = tab.do(LAST)
        for state in (*run.q_names, *run.v_names):
            assert last[state] == pytest.approx(run[state][-1], rel=1e-6, abs=1e-6), state
        assert last["work"] == pytest.approx(run.work[-1], abs=1e-6)
        texts = tab.do("() => kineta.track.changes.map((x) => x.text)")
        assert sorted(texts) == sorted(what for _, what in run.changes)
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'r').change(0.1)")
        tab.computed()
        live = kn.simulate(system, 0.2, p={"r": 0.1})
        assert tab.do(LAST)["f.y"] == pytest.approx(live["f.y"][-1], abs=1e-6)
        assert abs(tab.do(pull)) > 0
        tab.computed()
        assert all(map(np.isfinite, tab.do(LAST).values()))
        assert tab.said == []


def test_a_result_of_time_stepping_is_live_when_something_is_changed(chromium: Any, tmp_path: Path) -> None:
    run = kn.simulate(kn.load(EXAMPLES / "thrown_box.kin"), 1.0, method="moreau", samples=50)
    with opened(chromium, run.show(tmp_path / "box.html")) as tab:
        assert tab.do("() => [...kineta.track.column('box.z')]") == pytest.approx(run["box.z"].tolist(), abs=1e-12)
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'box.vx').change(1.1)")
        tab.computed()
        assert run.system is not None
        live = kn.simulate(run.system, 1.0, v={"box.vx": 1.1}, method="moreau")
        assert tab.do(LAST)["box.x"] == pytest.approx(live["box.x"][-1], rel=1e-6)
        assert tab.said == []


def test_a_machine_under_a_program_runs_live(chromium: Any, tmp_path: Path) -> None:
    """Its start is brought onto the program when values change, the energy has the work of control, and no hand pulls it."""
    with opened(chromium, shown(tmp_path, "satellite_turn", 2.0)) as tab:
        tab.computed()
        first = tab.do(LAST)
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'b.wx').change(0.2)")
        tab.computed()
        last = tab.do(LAST)
        assert abs(last["b.wy"] - first["b.wy"]) > 1e-6
        assert max(abs(x["balance"]) for x in (first, last)) < 1e-8
        assert last["residual"] < 1e-12
        assert "No hand pulls here" in tab.page.inner_text("#controls")
        assert tab.said == []


def test_what_is_refused_is_said_and_mended_by_another_value(chromium: Any, tmp_path: Path) -> None:
    change = "([name, x]) => kineta.sliders.all.find((s) => s.name === name).change(x)"
    told = "() => [document.getElementById('told').textContent, kineta.panes.map((x) => x.values[0].length)]"
    with opened(chromium, shown(tmp_path, "double_pendulum", 1.0)) as tab:
        found = []
        for value in (-1.0, 0.0, 2.0):
            tab.do(change, ["m1", value])
            tab.computed()
            tab.page.wait_for_timeout(50)
            found.append(tab.do(told))
        (refused, empty), (failed, part), (well, whole) = found
        assert refused == "Body 'first': mass is \u22121.000 kg; expected zero or more."
        assert (tab.do("() => kineta.t"), empty) == (0, [0, 0])
        assert "the mass matrix becomes singular there: a force on q1' meets no inertia." in failed
        assert 0 < part[0] < whole[0]
        assert "energy balance" in well
        assert tab.said == []


def test_attitudes_have_sliders(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "thrown_box", 0.3)) as tab:
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'box.roll').change(0.5)")
        tab.computed()
        w, x, y, z = tab.do("() => [...kineta.track.state(0).q]")[3:]
        assert w**2 + x**2 + y**2 + z**2 == pytest.approx(1.0, abs=1e-15)
        assert np.arctan2(2 * (w * x + y * z), 1 - 2 * (x**2 + y**2)) == pytest.approx(0.5, abs=1e-12)


def test_a_machine_that_the_time_alone_moves_has_a_page(chromium: Any, tmp_path: Path) -> None:
    clock = kn.loads("model clock;\nHand | Rz(2*t), Sx(1) = 1;\nWall | Sx(2) = 1;\n")
    with opened(chromium, clock.show(tmp_path / "clock.html", to=2.0)) as tab:
        before = tab.pixels()
        tab.do("() => kineta.seek(0.5)")
        tab.page.wait_for_timeout(100)
        assert tab.pixels() != before
        assert tab.page.inner_text("#controls") == "It moves with the time alone."
        assert tab.said == []


def test_bodies_that_fly_apart_are_shown_while_they_are_together(chromium: Any, tmp_path: Path) -> None:
    system = kn.load(EXAMPLES / "soft_landing.kin")
    with opened(chromium, system.show(tmp_path / "landing.html")) as tab:
        assert tab.do("() => kineta.end") == pytest.approx(2.0, abs=0.02)
        assert tab.page.inner_text("#told").endswith("2.0 s of it, while its bodies are together")
    with opened(chromium, system.show(tmp_path / "longer.html", to=5.0)) as tab:
        assert tab.do("() => kineta.end") == 5.0


def test_a_result_is_replayed_until_something_is_changed(chromium: Any, tmp_path: Path) -> None:
    run = kn.simulate(kn.load(EXAMPLES / "double_pendulum.kin"), 1.0, p={"m1": 2.0}, samples=50)
    with opened(chromium, run.show(tmp_path / "run.html")) as tab:
        q1 = run["q1"]
        assert tab.do("() => [...kineta.track.column('q1')]") == pytest.approx(q1, rel=0, abs=6e-13 * np.ptp(q1))
        tab.page.locator("#controls input[type=range]").first.evaluate(
            "(x) => { x.value = 2.5; x.dispatchEvent(new Event('input')); }"
        )
        tab.computed()
        live = kn.simulate(run.system, 1.0, p={"m1": 2.5})  # type: ignore[arg-type]
        assert tab.do(LAST)["q1"] == pytest.approx(live["q1"][-1], rel=1e-9)
        assert tab.said == []


def test_a_telephone_shows_the_page_and_names_are_no_markup(chromium: Any, tmp_path: Path) -> None:
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    object.__setattr__(system, "name", "<script>alert(1)</script>")  # the grammar of names refuses it
    with opened(chromium, system.show(tmp_path / "evil.html"), 420, 800) as tab:
        assert tab.page.inner_text("h1") == "<script>alert(1)</script>"
        assert tab.do("() => document.documentElement.scrollWidth") <= 420
        assert tab.page.locator("#view").bounding_box()["height"] > 200
        assert tab.said == []


#: Whatever can be worked that a reader of the page aloud has no name for.
NAMELESS = """() => [...document.querySelectorAll("button, input, select, textarea, #view, [role]")].filter((e) => e.id !== "told"
    && !(e.getAttribute("aria-label") || e.title || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"""


def test_a_page_is_worked_by_keys_and_read_aloud(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "thrown_box", 1.0)) as tab:
        tab.computed()
        assert tab.do(NAMELESS) == []
        assert not tab.do("() => kineta.playing")  # who wants little motion starts it
        found = []
        for key in ("ArrowRight", "Shift+ArrowRight", "ArrowLeft", "End", "r"):
            tab.page.keyboard.press(key)
            found.append(round(tab.do("() => kineta.t"), 12))
        assert found == [0.01, 0.11, 0.1, 1.0, 0.0]
        tab.page.keyboard.press("ArrowRight")
        tab.page.wait_for_function("() => document.getElementById('time').getAttribute('aria-valuetext') === '0.01 s'")
        chip = tab.page.locator("#left .chip").first
        chip.click()
        assert chip.get_attribute("aria-pressed") == "false"
        tab.page.keyboard.press("Space")  # on a chip that is in focus, which is pressed by it
        assert chip.get_attribute("aria-pressed") == "true"
        tab.page.focus("#view")
        for key, button in (("p", "flat"), ("t", "trail"), ("l", "loop")):
            before = tab.page.get_attribute(f"#{button}", "aria-pressed")
            tab.page.keyboard.press(key)
            assert tab.page.get_attribute(f"#{button}", "aria-pressed") != before
        assert tab.said == []


def test_events_are_stepped_to_by_keys_and_told(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "bouncing_ball", 2.0)) as tab:
        tab.computed()
        changes = tab.do("() => kineta.track.changes.map((x) => [x.t, x.text])")
        found = []
        for key in (".", ".", ","):
            tab.page.keyboard.press(key)
            found.append((tab.do("() => kineta.t"), tab.page.inner_text("#event")))
        assert found == [(t, f"{t:.3f} s: {text}") for t, text in (changes[0], changes[1], changes[0])]
        tab.page.keyboard.press(",")
        assert tab.page.inner_text("#event") == "No event before this."
        tab.page.keyboard.press("?")
        assert "to the event before, after" in tab.page.inner_text("#keys")
        tab.page.keyboard.press(".")  # which a list of keys in front keeps from the page
        assert tab.do("() => kineta.t") == changes[0][0]
        tab.page.keyboard.press("Escape")
        tab.page.keyboard.press(".")
        assert tab.do("() => kineta.t") == changes[1][0]
        assert tab.said == []


def test_a_window_of_another_shape_shows_all_of_the_machine(chromium: Any, tmp_path: Path) -> None:
    outside = """() => {
        const { machine, stage } = kineta, { min, max } = machine.box();
        stage.camera.updateMatrixWorld();
        return Math.max(...[0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
            const at = min.clone().set(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).project(stage.camera);
            return Math.max(Math.abs(at.x), Math.abs(at.y));
        }));
    }"""
    with opened(chromium, shown(tmp_path, "fourbar", 1.0), 1200, 500) as tab:
        assert tab.do(outside) < 1.0
        tab.page.keyboard.press("x")
        tab.page.set_viewport_size({"width": 380, "height": 1000})
        tab.page.wait_for_function("() => Math.abs(kineta.stage.camera.aspect - 380 / 460) < 0.05")
        assert tab.do(outside) < 1.0
        assert tab.said == []


def test_a_browser_without_webassembly_shows_what_can_be_read(chromium: Any, tmp_path: Path) -> None:
    page = chromium.new_page()
    page.add_init_script("delete window.WebAssembly")
    page.goto(shown(tmp_path, "simple_pendulum", 1.0).as_uri())
    assert page.inner_text(".sorry").startswith("This browser has no WebAssembly, by which the machine moves.")
    assert page.inner_text("#model").startswith("model simple_pendulum;")
    assert not page.is_visible(".tools")
    page.click("text=Equations")
    assert "Equations of motion" in page.inner_text("#equations")
    page.close()


def test_a_browser_that_cannot_draw_says_so(tmp_path: Path) -> None:
    path = shown(tmp_path, "simple_pendulum", 1.0)
    script = "import sys; from tests.page.test_browser import told_without_graphics as t; print(t(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", script, path.as_uri()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("This browser has no WebGL, by which the machine is drawn")


def told_without_graphics(address: str) -> str:
    """What a page says in a browser without WebGL; in a process of its own, since Playwright runs once in each."""
    with browser("--disable-gpu", "--disable-3d-apis") as own:
        page = own.new_page()
        page.goto(address)
        page.wait_for_selector(".sorry", timeout=20000)
        return str(page.inner_text(".sorry"))


#: A crowd of pendulums, each with a spring, on a plate.
CROWD = 144


def crowd() -> kn.System:
    """Bodies of equal shapes, which a page draws at once."""
    rows = [
        f"B{k} | Sx({0.4 * (k % 12):g}), Sy({0.4 * (k // 12):g}), Sz(z{k}) = m, J, J, J;\nspring s{k} = c on z{k};"
        for k in range(CROWD)
    ]
    start = ", ".join(f"z{k} = {0.05 + 0.002 * k:g}" for k in range(CROWD))
    return kn.loads("model crowd;\nparameters m = 1, J = 0.01, c = 40;\n" + "\n".join(rows) + f"\ninitial {start};\n")


def test_a_crowd_is_drawn_at_once_and_each_body_is_met(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, crowd().show(tmp_path / "crowd.html", to=1.0)) as tab:
        tab.computed()
        assert tab.do("() => kineta.stage.renderer.info.render.calls") < 40
        met = """() => {
            const { machine } = kineta, found = [];
            for (const crowd of machine.crowds) crowd.list.forEach(({ frame }, k) => {
                const body = machine.body({ object: crowd.mesh, instanceId: k, faceIndex: crowd.first?.[k] / 3 });
                if (body >= 0) found.push([body, frame]);
            });
            return [new Set(found.map(([body]) => body)).size, found.every(([, frame]) => frame > 0)];
        }"""
        assert tab.do(met) == [CROWD, True]
        tab.page.keyboard.press("Space")
        tab.page.wait_for_function("() => kineta.t > 0.05", timeout=20000)
        assert tab.said == []


def test_many_values_are_searched(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, crowd().show(tmp_path / "crowd.html", to=1.0)) as tab:
        tab.computed()
        assert tab.page.locator("#controls details").count() == 2
        assert tab.page.locator("#controls .control").count() == 3
        tab.page.fill("#controls .search", "z77")
        assert tab.page.locator("#controls .control").count() == 2
        slider = tab.page.locator("#controls input[type=range]").first
        slider.evaluate("(x) => { x.value = 0.3; x.dispatchEvent(new Event('input')); }")
        tab.computed()
        assert tab.do("() => kineta.track.state(0).q[77]") == pytest.approx(0.3, abs=0.02)
        tab.page.fill("#controls .search", "")
        tab.page.locator("#controls details summary").first.click()
        tab.page.wait_for_function("() => document.querySelectorAll('#controls .control').length >= 60")
        tab.page.fill("#left .search", "z100")
        assert tab.do("() => kineta.panes[0].lines.map((x) => x.name)") == ["z100"]
        tab.page.click("#back")
        tab.computed()
        assert tab.do("() => kineta.track.state(0).q[77]") == pytest.approx(0.204, abs=1e-9)
        assert tab.said == []


#: A wheel on a road that waves.
ROAD = """
model road; gravity 9.81;
parameters high = 6 cm, r = 0.3 m;
Wheel | Sx(x), Sz(z), Ry(b) = 5, 0.2, 0.4, 0.2;
coordinates x, z, b;
contact tyre : wheel = r between Wheel axis (0, 1, 0) and ground axis (0, 0, 1) height high*sin(5*Wheel.x), friction = 1;
initial x = 0, z = 0.4, x' = 2, b' = 6;
"""
#: The heights of the ground that is drawn beside those of a formula, and how far it goes to the right of the wheel.
GROUND = """(high) => {
    const place = kineta.ground.sheets[0].mesh.geometry.getAttribute("position"), x = kineta.track.state(kineta.t).q[0];
    let off = 0, ahead = -Infinity, highest = -Infinity;
    for (let k = 0; k < place.count; k++) {
        off = Math.max(off, Math.abs(place.getZ(k) - high * Math.sin(5 * place.getX(k))));
        ahead = Math.max(ahead, place.getX(k) - x);
        highest = Math.max(highest, place.getZ(k));
    }
    return [off, ahead, highest];
}"""


def test_uneven_ground_is_seen_follows_its_parameters_and_goes_along(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, kn.loads(ROAD).show(tmp_path / "road.html", to=8.0)) as tab:
        tab.computed()
        assert tab.do(GROUND, 0.06)[0] < 1e-6  # single precision
        tab.do("() => kineta.seek(7.5)")
        tab.drawn()
        off, ahead, highest = tab.do(GROUND, 0.06)
        assert off < 2e-6
        assert 0.3 < ahead < 6
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'high').change(0.11)")
        tab.drawn()
        off, _, highest = tab.do(GROUND, 0.11)
        assert (off < 2e-6, highest) == (True, pytest.approx(0.11, abs=2e-3))
        tab.computed()
        tab.do("() => document.getElementById('forces').click()")
        tab.drawn()
        assert tab.do("() => kineta.overlay.touches.length") == 1
        assert tab.said == []


def test_the_eye_goes_with_what_travels_and_bounces_are_seen(chromium: Any, tmp_path: Path) -> None:
    within = """() => {
        const { machine, stage } = kineta, at = machine.box().getCenter(machine.middle.clone());
        stage.camera.updateMatrixWorld();
        at.project(stage.camera);
        return Math.max(Math.abs(at.x), Math.abs(at.y));
    }"""
    size = """() => {
        const { machine, stage } = kineta, { camera, orbit } = stage;
        return machine.box().getSize(machine.middle.clone()).length() / camera.position.distanceTo(orbit.target);
    }"""
    for name, big in (("bicycle", 0.25), ("bouncing_ball", 0.02)):
        with opened(chromium, shown(tmp_path, name, 6.0)) as tab:
            tab.computed()
            assert tab.do(size) > big
            for part in (0.0, 0.4, 1.0):
                tab.do("(x) => kineta.seek(x * kineta.track.last)", part)
                tab.drawn()
                assert tab.do(within) < 0.95, (name, part)
            assert tab.said == []


def test_a_window_of_another_size_is_drawn_at_once(chromium: Any, tmp_path: Path) -> None:
    """A canvas of another size is empty, and so would the picture be that is taken then."""
    frames = """() => {
        const { stage } = kineta, before = stage.renderer.info.render.frame;
        stage.resize();
        const same = stage.renderer.info.render.frame;
        stage.canvas.parentElement.style.width = "300px";
        stage.resize();
        return [same - before, stage.renderer.info.render.frame - same, stage.canvas.width];
    }"""
    with opened(chromium, shown(tmp_path, "double_pendulum", 1.0)) as tab:
        tab.computed()
        same, other, width = tab.do(frames)
        assert (same, other, width % 300) == (0, 1, 0)


def test_states_stand_by_themselves_and_series_by_their_units(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "boom", 1.0)) as tab:
        tab.computed()
        groups = """() => [...document.querySelectorAll("#controls section")].map((s) =>
            [s.querySelector("h3").textContent, [...s.querySelectorAll(".control .nm")].map((x) => x.title.split(";")[0])])"""
        found = dict(tab.do(groups))
        assert (found["Coordinates at the start"], found["States at the start"]) == (["q"], ["p"])
        cut = "() => [...document.querySelectorAll('#controls .unit')].filter((x) => x.scrollWidth > x.clientWidth).length"
        assert tab.do(cut) == 0
        tab.page.click("#left .tab:has-text('States')")
        assert tab.do("() => [kineta.panes[0].lines.map((x) => x.name), kineta.panes[0].unit]") == [["p"], "Pa"]
        assert "p'" in tab.do("() => kineta.panes[0].group.of")
        tab.page.click("#left .tab:has-text('Outputs')")
        units = tab.page.locator("#left .unit button")
        shown_units, seen = units.all_inner_texts(), set[str]()
        assert len(set(shown_units)) == len(shown_units) == 2
        for k in range(2):
            if k:  # the first is chosen
                units.nth(k).click()
            names = set(tab.do("() => kineta.panes[0].names"))
            assert names
            assert not names & seen
            seen |= names
        assert "p'" not in seen
        assert tab.said == []


def test_formulas_are_written_in_the_font_of_the_page(chromium: Any, tmp_path: Path) -> None:
    """Each character of formulas is as wide in it whatever stands in for those that it has not."""
    widths = """([characters, other]) => [...characters].map((c) => {
        const made = document.body.appendChild(document.createElement("span"));
        made.style.cssText = `position: absolute; font: 64px "Kineta Math", ${other}`;
        made.textContent = `${c}`;
        const { width } = made.getBoundingClientRect();
        made.remove();
        return width;
    })"""
    with opened(chromium, shown(tmp_path, "double_pendulum", 1.0)) as tab:
        assert tab.do("() => document.fonts.load('16px \"Kineta Math\"').then((x) => x.length)") == 1
        shown_by = [tab.do(widths, [CHARACTERS.replace(" ", ""), other]) for other in ("monospace", "sans-serif")]
        assert shown_by[0] == shown_by[1]
        assert min(shown_by[0][:90]) > 5
        assert tab.said == []


def test_less_detail_is_drawn_while_frames_come_late_and_all_of_it_at_rest(chromium: Any, tmp_path: Path) -> None:
    drawn = """() => {
        kineta.stage.render();
        const { info } = kineta.stage.renderer, { width } = kineta.stage.canvas;
        return [info.render.triangles, info.render.calls, width];
    }"""
    with opened(chromium, shown(tmp_path, "thrown_box", 1.0)) as tab:
        tab.computed()
        tab.page.wait_for_function("() => kineta.detail === 0", timeout=20000)
        tab.drawn()
        whole, pixels = tab.do(drawn), tab.pixels()
        tab.do(
            "() => { kineta.governor.frame = () => false; kineta.governor.level = 4; kineta.loop = true; kineta.play(true); }"
        )
        tab.page.wait_for_function("() => kineta.detail === 4", timeout=20000)
        triangles, calls, width = tab.do(drawn)
        assert calls < whole[1]  # without shadows
        assert (triangles < whole[0], width < whole[2]) == (True, True)
        tab.do("() => { kineta.play(false); kineta.seek(0); }")
        tab.page.wait_for_function("() => kineta.detail === 0", timeout=20000)
        tab.drawn()
        assert tab.do(drawn) == whole
        assert tab.pixels() == pixels
        assert tab.said == []
