"""Pages in a real browser: they play, are worked by sliders and keys, and fit windows of any size."""

from __future__ import annotations

import base64
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.notation.mathml import CHARACTERS
from tests.page.chromium import LAST, OPENS_PAGES, browser, opened, shown
from tests.support import EXAMPLES, ROOT

pytestmark = OPENS_PAGES


def test_a_page_plays_and_its_sliders_act_and_come_back_to_the_bit(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "double_pendulum", 3.0)) as tab:
        before = tab.pixels()
        tab.page.keyboard.press("Space")
        tab.page.wait_for_function("() => kineta.t > 0.3", timeout=300000)
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


def test_a_telephone_shows_the_page_and_names_are_no_markup(chromium: Any, tmp_path: Path) -> None:
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    object.__setattr__(system, "name", "<script>alert(1)</script>")  # the grammar of names refuses it
    with opened(chromium, system.show(tmp_path / "evil.html"), 420, 800) as tab:
        assert tab.page.inner_text("h1") == "<script>alert(1)</script>"
        assert tab.do("() => document.documentElement.scrollWidth") <= 420
        assert tab.page.locator("#view").bounding_box()["height"] > 200
        for name in ("along-x", "along-z", "home", "state", "png", "csv", "webm"):
            box = tab.page.locator(f"#{name}").bounding_box()
            assert (box["x"] >= 0, box["x"] + box["width"] <= 420, box["height"] > 20) == (True, True, True), name
        tab.do(
            "() => kineta.announce('0.452 s: a sentence that is so long that it takes two lines of a narrow window')"
        )
        told, tools = (tab.page.locator(x).bounding_box() for x in ("#event", ".tools"))
        assert told["y"] + told["height"] < tools["y"]
        assert tab.page.locator("#told").is_hidden()
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


STOPPED = """model stopping;
Disk | Rz(phi) = Jz(0.1);
spring bend = 0.06 on phi;
when late : t >= 0.7 s : stop;
initial phi' = 3;
"""


def test_a_run_that_is_stopped_names_what_stops_it_and_when(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, kn.loads(STOPPED).show(tmp_path / "stopping.html", to=2.0)) as tab:
        tab.computed()
        assert tab.page.inner_text("#told") == "Stopped at t = 0.7000 s by 'late'."
        assert tab.do("() => kineta.track.last") == pytest.approx(0.7, abs=1e-12)
        assert tab.said == []


def test_curves_are_kept_beside_those_of_other_values(chromium: Any, tmp_path: Path) -> None:
    drawn = "() => kineta.panes[0].lines.length === 2 && kineta.panes[0].values.length === 5"
    with opened(chromium, shown(tmp_path, "double_pendulum", 2.0)) as tab:
        tab.computed()
        before = tab.do("() => [...kineta.track.column('q1')]")
        tab.page.focus("#view")
        tab.page.keyboard.press("k")
        assert tab.page.get_attribute("#keep", "aria-pressed") == "true"
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'q1').change(1.9)")
        tab.computed()
        tab.page.wait_for_function(drawn, timeout=300000)
        assert tab.do("() => kineta.panes[0].values[3]") == pytest.approx(before, abs=1e-12)
        assert tab.do("() => kineta.track.column('q1')[0]") == pytest.approx(1.9)
        assert tab.page.locator("#left .legend .note").inner_text() == "dashed: the motion that is kept"
        pane, plot = (tab.page.locator(x).bounding_box() for x in ("#left", "#left .u-wrap"))
        assert plot["y"] + plot["height"] <= pane["y"] + pane["height"]
        chip = tab.page.locator("#left .chip").first
        chip.click()
        assert tab.do("() => kineta.panes[0].plot.series.map((x) => x.show).slice(1)") == [False, True, False, True]
        tab.page.click("#left .tab:has-text('Phase')")
        assert tab.do("() => kineta.panes[0].values[1].length === kineta.track.rows")
        tab.page.click("#keep")
        assert tab.do("() => kineta.beside") is None
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


#: What a video of the film of a page is at times in it: how long it takes, and the pictures at these.
FILMED = """async ([bytes, times]) => {
    const video = document.createElement("video"), canvas = document.createElement("canvas"), made = canvas.getContext("2d");
    video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], { type: "video/webm" }));
    await new Promise((go, fail) => { video.onloadeddata = go; video.onerror = () => fail(video.error.message); });
    const pictures = [];
    for (const t of times) {
        await new Promise((go) => { video.onseeked = go; video.currentTime = t; });
        [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
        made.drawImage(video, 0, 0);
        pictures.push(canvas.toDataURL());
    }
    return [video.duration, video.videoWidth, video.videoHeight, pictures];
}"""


def test_a_film_has_each_frame_at_its_own_time(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "double_pendulum", 1.0)) as tab:
        tab.computed()
        tab.do("""() => {
            const own = kineta.show;
            window.drawn = [];
            kineta.show = function (now) { own.call(this, now); drawn.push(this.t); };
        }""")
        with tab.page.expect_download(timeout=300000) as found:
            tab.page.click("#webm")
        drawn = tab.do("() => drawn")
        np.testing.assert_allclose(drawn[:31], np.arange(31) / 30, atol=1e-12)
        content = base64.b64encode(found.value.path().read_bytes()).decode()
        seconds, width, height, pictures = tab.do(FILMED, [content, [0.01, 0.51, 0.91]])
        assert (seconds, len(set(pictures))) == (pytest.approx(31 / 30, abs=0.04), 3)
        assert (width, height) == (
            tab.do("() => kineta.stage.canvas.width") // 2 * 2,
            tab.do("() => kineta.stage.canvas.height") // 2 * 2,
        )
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


def test_a_browser_that_cannot_draw_says_so_and_plots_and_sliders_work(tmp_path: Path) -> None:
    path = shown(tmp_path, "double_pendulum", 1.0)
    script = "import sys; from tests.page.test_browser import told_without_graphics as t; print(t(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", script, path.as_uri()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told, *last = done.stdout.splitlines()
    assert told.startswith("This browser has no WebGL, by which the machine is drawn")
    known = kn.simulate(kn.load(EXAMPLES / "double_pendulum.kin"), 1.0, p={"l1": 0.8})
    assert float(last[0]) == pytest.approx(known["q2"][-1], abs=1e-9)
    assert last[1:] == ["True", "[]"]


def told_without_graphics(address: str) -> str:
    """Lines on a page in a browser without WebGL, in a process of its own, since Playwright runs once in each: what it says, the
    last value of q2 after a length was changed, whether a plot shows it, and what the console has said.
    """
    with (
        browser("--disable-gpu", "--disable-3d-apis") as own,
        opened(own, Path(address.removeprefix("file://"))) as tab,
    ):
        tab.page.fill(".control:has([title^='l1;']) .value", "0.8")
        tab.page.keyboard.press("Enter")
        tab.computed()
        x = tab.do("() => kineta.track.column('q2').at(-1)")
        drawn = tab.do("(x) => kineta.panes[0].plot.data.some((d) => d.at(-1) === x)", x)
        return f"{tab.page.inner_text('.sorry')}\n{x!r}\n{drawn}\n{tab.said}"


def test_initial_values_follow_parameters_until_they_are_set(chromium: Any, tmp_path: Path) -> None:
    swing = kn.loads(
        "parameters tilt = 0.1 rad; gravity (0, -9.81, 0); A | Rz(q), Sx(1) = 1; initial q = 2*tilt, q' = tilt/1 s;"
    )
    with opened(chromium, swing.show(tmp_path / "swing.html", to=1.0)) as tab:

        def put(name: str, value: str) -> float:
            tab.page.fill(f".control:has([title^='{name};']) .value", value)
            tab.page.keyboard.press("Enter")
            tab.computed()
            found: float = tab.do("() => kineta.track.column('q')[0]")
            return found

        tab.computed()
        assert [put("tilt", "0.5"), put("q", "0.2"), put("tilt", "0.75")] == [1.0, 0.2, 0.2]
        assert tab.do('() => kineta.track.column("q\'")[0]') == 0.75
        tab.page.click("#back")
        tab.computed()
        assert put("tilt", "0.25") == 0.5
        assert tab.said == []


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
        # Of what is gathered, triangles are drawn that show their front, and the picture is that of all of them.
        drawn = "() => kineta.stage.renderer.info.render.triangles"
        half, picture = tab.do(drawn), tab.pixels()
        tab.do("""() => {
            kineta.machine.face = (eye) => {
                for (const x of kineta.machine.crowds) {
                    x.material.side = 2;
                    x.face(eye);
                    x.material.side = 0;
                }
            };
            kineta.dirty = true;
        }""")
        tab.drawn()
        assert (half < 0.7 * tab.do(drawn), tab.pixels() == picture) == (True, True)
        tab.page.keyboard.press("Space")
        tab.page.wait_for_function("() => kineta.t > 0.05", timeout=300000)
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


def test_a_body_that_is_pulled_away_is_brought_back_into_the_picture(chromium: Any, tmp_path: Path) -> None:
    model = "model two;\nparameters m = 1, J = 0.01;\nA | Free(a) = m, J, J, J;\nB | Free(b) = m, J, J, J;\n"
    body = "shape A = sphere(0.1);\nshape B = sphere(0.1);\ninitial b.x = 0.5;\n"
    seen = """(body) => {
        const { machine, stage } = kineta, { matrix } = machine.frames[machine.carried[body]];
        const at = machine.middle.clone().setFromMatrixPosition(matrix);
        stage.camera.updateMatrixWorld();
        at.project(stage.camera);
        return Math.max(Math.abs(at.x), Math.abs(at.y));
    }"""
    with opened(chromium, kn.loads(model + body).show(tmp_path / "two.html", to=2.0)) as tab:
        tab.computed()
        eye = "() => kineta.stage.camera.position.toArray()"
        before = tab.do(eye)
        tab.do("() => kineta.sliders.all.find((s) => s.name === 'b.vx').change(4)")
        tab.computed()
        tab.do("() => kineta.seek(0.9)")
        tab.drawn()
        assert tab.do(seen, 1) > 1.0
        tab.page.focus("#view")
        tab.page.keyboard.press("h")
        tab.drawn()
        assert max(tab.do(seen, k) for k in (0, 1)) < 0.95
        tab.page.keyboard.press("r")
        tab.page.keyboard.press("h")
        tab.drawn()
        assert tab.do(eye) == pytest.approx(before, abs=1e-9)
        assert tab.said == []


#: The ends of names of an axis of a turn.
AXIS = ("axis_x", "axis_y", "axis_z")


def test_attitudes_are_plotted_as_angles(chromium: Any, tmp_path: Path) -> None:
    with opened(chromium, shown(tmp_path, "free_satellite", 2.0)) as tab:
        tab.computed()
        tab.page.click("#left .tab:has-text('Attitude')")
        (body,) = {n.rpartition(".")[0] for n in tab.do("() => kineta.panes[0].group.of")}
        units = tab.page.locator("#left .unit button[aria-pressed]")
        assert units.all_inner_texts() == ["[rad]", "[1]"]
        last = tab.do(LAST)
        w, x, y, z, angle, *axis = (last[f"{body}.{end}"] for end in ("qw", "qx", "qy", "qz", "angle", *AXIS))
        turned = [math.cos(angle / 2), *(math.sin(angle / 2) * a for a in axis)]
        assert abs(sum(a * b for a, b in zip(turned, (w, x, y, z), strict=True))) == pytest.approx(1.0, abs=1e-9)
        assert (
            tab.do("() => kineta.panes[0].lines.map((l) => kineta.panes[0].hidden.has(l.name))")
            == [False] * 3 + [True] * 4
        )
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


#: Names beside or above plots that are cut, and the widths of the plots.
LEGENDS = """() => {
    const all = (x) => [...document.querySelectorAll(x)], cut = all(".legend .nm").filter((e) => e.scrollWidth > e.clientWidth);
    const panes = all(".pane").filter((e) => e.offsetWidth);
    return [cut.map((e) => e.textContent), panes.map((e) => e.querySelector(".plot").clientWidth / e.clientWidth)];
}"""


@pytest.mark.parametrize("width", [420, 900, 1400])
def test_names_of_series_are_whole_and_plots_are_wide(chromium: Any, tmp_path: Path, width: int) -> None:
    with opened(chromium, shown(tmp_path, "double_pendulum", 1.0), width, 800) as tab:
        cut, parts = tab.do(LEGENDS)
        assert cut == []
        assert min(parts) > 0.6
        assert tab.said == []


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
        units = tab.page.locator("#left .unit button[aria-pressed]")
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
        tab.page.wait_for_function("() => kineta.detail === 0", timeout=300000)
        tab.drawn()
        whole, pixels = tab.do(drawn), tab.pixels()
        tab.do(
            "() => { kineta.governor.frame = () => false; kineta.governor.level = 4; kineta.loop = true; kineta.play(true); }"
        )
        tab.page.wait_for_function("() => kineta.detail === 4", timeout=300000)
        triangles, calls, width = tab.do(drawn)
        assert calls < whole[1]  # without shadows
        assert (triangles < whole[0], width < whole[2]) == (True, True)
        tab.do("() => { kineta.play(false); kineta.seek(0); }")
        tab.page.wait_for_function("() => kineta.detail === 0", timeout=300000)
        tab.drawn()
        assert tab.do(drawn) == whole
        assert tab.pixels() == pixels
        assert tab.said == []
