"""The machine's Chromium, driven by Playwright, and a page that keeps what it asked for and complained about.

`apt-get install chromium` brings it; Playwright downloads no browser for this. Without Chromium, nothing is run; where
`PALAZZO_CI` is set, as `.ci/run` does, the tests fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from tests.faces.web.served_viewer import ServedViewer
from tools import make_viewer

playwright = pytest.importorskip("playwright.sync_api", reason="NOT RUN: Playwright is not installed.")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
IN_CHROMIUM = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None and "PALAZZO_CI" not in os.environ, reason="NOT RUN: Chromium is not installed."
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
"""The marks of a module that opens pages."""
_SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Watched:
    """A page that has opened a link, and everything that it asked for and complained about."""

    def __init__(self, browser: Any, viewer: ServedViewer, **options: Any) -> None:
        self.viewer = viewer
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(viewer.origin + viewer.link())
        self.page.wait_for_url(f"{viewer.origin}/")

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append("a dialog")
        dialog.dismiss()

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and "404" not in message.text:
            self.complaints.append(message.text)

    def go(self, path: str) -> Any:
        return self.page.goto(self.viewer.origin + path, wait_until="load")

    def assert_clean(self) -> None:
        assert self.complaints == []
        own = (f"{self.viewer.origin}/", f"blob:{self.viewer.origin}/")  # the latter is a picture of the page itself
        assert [url for url in self.requests if not url.startswith(own)] == []

    def close(self) -> None:
        self.context.close()

    def width_too_large(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        overflow: int = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        return overflow


def axe_core() -> str:
    """Return the script that looks for what people with disabilities cannot use; npm brings it once."""
    if shutil.which("npm") is None:
        pytest.skip("NOT RUN: npm, which brings axe-core, is not installed.")
    return (make_viewer.installed_programs() / "axe-core" / "axe.min.js").read_text("utf-8")


_RENDER_ALL = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { content-visibility: visible !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""
"""axe-core compares where elements lie. Entries below the window, which are drawn when they come near it, would move
meanwhile.
"""


def serious_findings(watched: Watched, axe: str) -> list[tuple[str, list[str]]]:
    """Return axe-core's serious findings on the open page: the rule, and the first elements."""
    watched.page.evaluate(_RENDER_ALL)
    watched.page.evaluate(axe)
    return [
        (violation["id"], [node["target"] for node in violation["nodes"]][:3])
        for violation in watched.page.evaluate("axe.run()")["violations"]
        if violation["impact"] in _SERIOUS
    ]
