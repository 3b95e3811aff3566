"""The viewer of a palace of 100,000 drawers in a real browser: both color schemes, and by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.make_palace import MEASURED_WING, make
from tests.faces.web.served_viewer import ServedViewer, served_viewer
from tests.faces.web.watched_browser import IN_CHROMIUM, Watched, axe_core, browser, serious_findings

pytestmark = [*IN_CHROMIUM, pytest.mark.timeout(900)]
__all__ = ["browser"]
DRAWERS = 100_000
SESSION = "session-1-0"
PAGES = {
    "/": "Search",
    "/?q=timeout": "Search",
    "/sessions": "Sessions",
    f"/session/{SESSION}": "",
    "/palace": "Palace",
    f"/palace?wing={MEASURED_WING}": "Palace",
    f"/room?wing={MEASURED_WING}&room=api": "",
    "/knowledge": "Knowledge",
    "/told": "What agents were told",
    f"/told/{SESSION}": "",
    "/review": "Review",
    "/code": "Code",
    "/code?path=gateway.toml": "Code",
    "/health": "Health",
}
"""The pages, each with a part of its heading."""


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedViewer]:
    row = make(tmp_path_factory.mktemp("made"), DRAWERS)
    with served_viewer(Path(str(row["palace"])).parent) as served:
        assert served.run("status").drawers >= DRAWERS
        yield served


@pytest.mark.parametrize(("scheme", "width"), [("light", 1_280), ("dark", 320)])
def test_every_page_is_usable_and_quiet(browser: Any, viewer: ServedViewer, scheme: str, width: int) -> None:
    axe = axe_core()
    size = {"width": width, "height": 900}
    watched = Watched(browser, viewer, color_scheme=scheme, bypass_csp=True, viewport=size)
    for path, heading in PAGES.items():
        watched.go(path)
        assert heading in watched.page.locator("h1").inner_text(), path
        assert watched.width_too_large() <= 0, path
        assert serious_findings(watched, axe) == [], path
    watched.assert_clean()
    watched.close()


NOTE_FOCUS = """() => {
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const all = "a[href], button, input, select, textarea, summary, [tabindex]";
  const reachable = [...document.querySelectorAll(all)].filter(
    (element) => isShown(element) && element.tabIndex >= 0 && !element.disabled && element.type !== "hidden");
  window.reached = new Set();
  window.hidden = [];
  document.addEventListener("focusin", ({ target }) => {
    window.reached.add(target);
    const box = target.getBoundingClientRect();
    const x = box.x + box.width / 2, y = box.y + Math.min(box.height / 2, 40);
    const inWindow = x >= 0 && y >= 0 && x <= innerWidth && y <= innerHeight;
    const covered = inWindow && !target.closest(".top") && document.elementFromPoint(x, y)?.closest(".top");
    if (!inWindow || covered) window.hidden.push(target.outerHTML.slice(0, 200));
  });
  document.activeElement?.blur();
  window.reachable = reachable;
  return reachable.length;
}"""
SCROLLABLE = 20
"""At most so many boxes that scroll: a browser lets the keyboard reach them, though no attribute says so."""
MISSED = "() => window.reachable.filter((e) => !window.reached.has(e)).map((e) => e.outerHTML.slice(0, 200))"


@pytest.mark.parametrize("path", PAGES)
def test_the_tab_key_reaches_everything_on_a_page(browser: Any, viewer: ServedViewer, path: str) -> None:
    """Everything that can be used gets the focus, is then in the window, and is not under the bar at the top."""
    watched = Watched(browser, viewer, viewport={"width": 1_280, "height": 900}, reduced_motion="reduce")
    watched.go(path)
    count = watched.page.evaluate(NOTE_FOCUS)
    presses = 0
    while (missed := watched.page.evaluate(MISSED)) and presses < count + SCROLLABLE:
        watched.page.keyboard.press("Tab")
        presses += 1
    assert missed == []
    assert watched.page.evaluate("window.hidden") == []
    watched.assert_clean()
    watched.close()


def test_a_way_through_the_palace_by_keyboard_alone(browser: Any, viewer: ServedViewer) -> None:
    """From a search to a hit and its session, to a room from the map, and to every page by its letter."""
    watched = Watched(browser, viewer)
    page = watched.page
    page.keyboard.press("/")
    page.keyboard.type("timeout")
    page.wait_for_selector("article.hit mark")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url("**/drawer/*")
    for path in ("sessions", "knowledge", "told", "review", "code", "health"):
        page.keyboard.press("g")
        page.keyboard.press(path[0])
        page.wait_for_url(f"**/{path}")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/sessions")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url("**/session/*")
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url("**/palace")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/palace?wing=*")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/room?*")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url("**/drawer/*")
    watched.assert_clean()
    watched.close()
