"""Live pages: their size, the time in which they are made, and their frames in Chromium where it finds no graphics card: of Talos
with meshes and two points of each foot on the ground, whose hand is pulled about, and of a row of a thousand masses that plays.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import kineta as kn
from benchmarks.contact_scenes import talos
from benchmarks.derivation import fresh
from benchmarks.timing import table

#: Where the feet of Talos touch the ground: before and behind the ankle.
SOLE = [(0.1, 0.0), (-0.1, 0.0)]
ROW = """model row;
for i in 1..1000 : A[i] | Sx(0.2*i), Sz(q[i]) = 1;
for i in 1..1000 : spring s[i] = 100 on q[i];
for i in 1..1000 : initial q[i] = 0.3*sin(i/20);
"""
#: Pages by the names of their models.
TEXTS = {"Talos": lambda: talos(SOLE), "a thousand masses": lambda: ROW}

#: Takes hold of the left hand of Talos, which then goes about; plays what has no such hand.
MOVE = """() => {
    const { machine, hand } = kineta, name = [...machine.bodies.keys()].find((n) => /arm_left_7/.test(n));
    kineta.seek(0);
    if (!name) return kineta.play(true);
    const body = machine.bodies.get(name), { matrix } = machine.frames[machine.carried[body]];
    hand.grasp(body, machine.middle.clone().setFromMatrixPosition(matrix));
    const from = hand.target.clone(), go = (now) => {
        const a = now / 640;
        hand.target.set(from.x + 0.15 * Math.sin(a), from.y + 0.1 * Math.sin(2 * a), from.z + 0.15 * Math.sin(a));
        requestAnimationFrame(go);
    };
    requestAnimationFrame(go);
}"""
#: Milliseconds between frames for so many of them.
FRAMES = """(count) => new Promise((done) => {
    const found = [];
    let last = performance.now();
    const next = () => {
        const now = performance.now();
        found.push(now - last);
        last = now;
        if (found.length < count) requestAnimationFrame(next);
        else done(found);
    };
    requestAnimationFrame(next);
})"""
CANVAS = "() => `${kineta.stage.canvas.width} x ${kineta.stage.canvas.height}`"


def made(name: str, folder: str) -> dict[str, float]:
    """Seconds of the processor from the text to a page in a *folder*, at first and again, and its size in kB."""
    seconds, path = [], Path(folder) / "page.html"
    for _ in range(2):
        start = time.process_time()
        kn.posture(kn.loads(TEXTS[name]()), to=5.0).show(path)
        seconds.append(time.process_time() - start)
    return {"first": seconds[0], "again": seconds[1], "kB": path.stat().st_size / 1e3}


def frames(path: Path, count: int) -> tuple[list[float], str]:
    """Milliseconds between *count* frames of a page that moves, in order of size, and the size of its canvas."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser: Any = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        page = browser.new_page(viewport={"width": 900, "height": 560}, reduced_motion="reduce")
        page.goto(path.as_uri())
        page.wait_for_function("() => window.kineta?.ready", timeout=300000)
        page.evaluate(MOVE)
        page.evaluate(FRAMES, min(count, 120))  # in which the detail becomes what there is time for
        found = sorted(page.evaluate(FRAMES, count))
        canvas = page.evaluate(CANVAS)
        browser.close()
    return found, canvas


def main(quick: bool = False) -> None:
    rows = []
    for name in TEXTS:
        with tempfile.TemporaryDirectory() as folder:
            of = fresh(f"made({name!r}, {folder!r})", "page")
            found, canvas = frames(Path(folder) / "page.html", 60 if quick else 300)
        shown = [f"{found[int(part * (len(found) - 1))]:.1f}" for part in (0.5, 0.95, 1)]
        rows.append((name, f"{of['kB']:.0f}", f"{of['first']:.1f}", f"{of['again']:.2f}", *shown, canvas))
    head = ("page", "kB", "made, s", "again, s", "a frame, ms", "95 of 100", "longest", "points")
    print(table(head, rows))
