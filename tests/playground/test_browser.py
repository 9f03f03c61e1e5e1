"""The playground in a real browser: models move, mistakes are marked, links carry texts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from kineta.errors import ArgumentError
from kineta.playground.link import fragment
from kineta.playground.server import Server
from kineta.playground.site import site
from tests.page.chromium import CHROMIUM, OWN, browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine, in which pages are opened"),
    pytest.mark.skipif(
        find_spec("playwright") is None, reason="the package playwright, which steers Chromium, is not installed"
    ),
]


@pytest.fixture(scope="module")
def playground() -> Iterator[Any]:
    """A page of the playground in which Python has started, and what its console has said."""
    try:
        files = site()
    except ArgumentError as error:
        pytest.skip(f"Python for browsers cannot be had: {error}")
    with Server(files) as server, browser() as found:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, said = found.new_page(viewport={"width": 1400, "height": 800}), list[str]()
        page.on("console", lambda m: None if OWN in m.text else said.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: said.append(f"error: {e}"))
        page.on(
            "request", lambda r: None if r.url.startswith((server.address, "data:", "blob:")) else said.append(r.url)
        )
        page.goto(server.address)
        page.click("#start")
        page.wait_for_function("() => window.made", timeout=300000)
        yield page, said, server
        server.shutdown()


def write(page: Any, change: str) -> Any:
    """What becomes of a *change* of the text, a function in JavaScript."""
    page.evaluate(
        f"() => {{ window.made = null; const t = document.getElementById('text'); t.value = ({change})(t.value);"
        " t.dispatchEvent(new Event('input')); }"
    )
    page.wait_for_function("() => window.made", timeout=300000)
    page.wait_for_timeout(100)
    return page.evaluate("() => window.made")


def test_a_model_moves_and_its_equations_come(playground: Any) -> None:
    page, said, _ = playground
    frame = page.frame_locator("#page")
    frame.locator("#clock").wait_for()
    page.wait_for_function("() => document.getElementById('told').textContent.startsWith('Derived')")
    inside = page.frames[1]
    inside.wait_for_function("() => window.kineta?.t > 0.3", timeout=300000)
    frame.locator("button[data-page=equations]").click()
    frame.locator("#equations math").first.wait_for(timeout=300000)
    assert said == []


def test_a_mistake_is_marked_and_mended(playground: Any) -> None:
    page, said, _ = playground
    made = write(page, "(text) => text.replace('spring wall', 'sprnig wall')")
    assert "Did you mean 'spring'?" in made["mistake"]
    assert page.inner_text("#shade mark") == "sprnig"
    assert page.get_attribute("#text", "aria-invalid") == "true"
    page.click("#told button")
    assert (
        page.evaluate(
            "() => { const t = document.activeElement; return t.value.slice(t.selectionStart, t.selectionEnd); }"
        )
        == "sprnig"
    )
    assert write(page, "(text) => text.replace('sprnig wall', 'spring wall')")["mistake"] is None
    assert page.locator("#shade mark").count() == 0
    assert said == []


def test_examples_and_links_bring_their_text(playground: Any) -> None:
    page, said, _server = playground
    page.evaluate("() => { window.made = null; }")
    page.select_option("#examples", "bouncing_ball")
    page.wait_for_function("() => window.made", timeout=300000)
    assert page.evaluate("() => window.made.mistake") is None
    text = "model linked;\ngravity 9.81;\nA | Ry(q), Sz(-1) = 1;\ninitial q = 1;\n"
    page.evaluate("(hash) => { window.made = null; location.hash = hash; }", fragment(text))
    page.wait_for_function("() => window.made", timeout=300000)
    assert page.input_value("#text") == text
    page.click("#share")
    page.wait_for_function("() => document.getElementById('told').textContent.includes('link')")
    page.evaluate("() => { window.made = null; location.hash = '#model=AAAA'; }")
    page.wait_for_function("() => document.getElementById('told').textContent.includes('damaged')", timeout=300000)
    assert said == []
