#!/usr/bin/env python3
"""Take the pictures of the viewer for the documentation: each page in the machine's Chromium, as PNG.

    python tools/record_viewer.py [PAGE…] [--width 1280] [--scheme light] [--out DIRECTORY]

The palace is that of an invented person (`tools/recording/`), with the hand-written sessions of the coding suite beside
it, so that there are several projects. `palazzo view` itself opens the pages. Needs Playwright, Chromium and what
`requirements-docs.lock` lists.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.coding.sessions import DIGESTS, session_id, write_sessions  # noqa: E402
from tools.recording.machine import Machine, make_machine  # noqa: E402
from tools.recording.terminal import run_hook, wait_until_indexed  # noqa: E402

PYTHON = ROOT / ".venv" / "bin" / "python"
PICTURES = ROOT / "docs" / "pictures"
HEIGHT = 900
Scheme = Literal["light", "dark"]
THURSDAY = "shop-thursday"
PAGES = {
    "search": "/?q=why+did+we+double+the+retries",
    "sessions": "/sessions",
    "session": f"/session/{session_id('shop-retries')}",
    "palace": "/palace",
    "knowledge": "/knowledge",
    "told": f"/told/{session_id(THURSDAY)}",
    "review": "/review",
    "code": "/code?path=src/gateway.py",
    "health": "/health",
}
COMMANDS = (
    "palazzo init --yes",
    "palazzo feed --wait",
    "palazzo mine . --wait",
    "palazzo kg add gateway 'listens on' 8443 --from 2026-11-02",
    "palazzo kg add gateway 'retries' 3 --from 2026-11-02",
    "palazzo kg supersede gateway 'retries' 3 6 --at 2026-11-25",
    "palazzo kg add checkout 'calls' gateway --from 2026-11-02",
    "palazzo kg add checkout 'gives up after' '10 seconds' --from 2026-11-10",
    "palazzo kg add gateway 'is owned by' Ada --from 2026-11-05",
    "palazzo kg add Ada 'works on' checkout --from 2026-11-05",
    "palazzo kg add orders 'are stored in' PostgreSQL --from 2026-11-02",
    "palazzo kg add checkout 'writes' orders --from 2026-11-02",
    "palazzo todo add 'Look into the nightly export: it takes forty minutes' --due friday",
    "palazzo remind 'Check the retries after the rollout' --on-file src/gateway.py",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures that the arguments name."""
    parser = argparse.ArgumentParser(description="Take the pictures of the viewer for the documentation.")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"one of {', '.join(PAGES)} [all]")
    parser.add_argument("--width", type=int, default=1280, help="the window's width [1280]")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light", help="the colours [light]")
    parser.add_argument("--out", type=Path, default=PICTURES, help="where the files go [docs/pictures]")
    parser.add_argument("--python", default=str(PYTHON), help="an interpreter with Palazzo's dependencies [.venv's]")
    options = parser.parse_args(arguments)
    unknown = [page for page in options.pages if page not in PAGES]
    if unknown:
        parser.error(f"there is no page {unknown[0]!r}; there are {', '.join(PAGES)}")
    with make_machine(options.python, ROOT / "src") as machine:
        fill_palace(machine)
        take_pictures(machine, options.pages or [*PAGES], options.width, options.scheme, options.out)
    return 0


def fill_palace(machine: Machine) -> None:
    """Archive sessions and documents, state facts and tasks, and let hooks give a new session its context."""
    write_sessions(machine.home / ".claude" / "projects", DIGESTS)
    for command in COMMANDS:
        run_program(machine, command)
    wait_until_indexed(machine)
    for event, prompt in (("session-start", ""), ("prompt", "Why did we double the retries?")):
        run_hook({"hook": event, "session": THURSDAY, "prompt": prompt}, machine)


def run_program(machine: Machine, command: str) -> str:
    """Run a command of the shell in the project; return what it prints."""
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=machine.project, env=machine.environment, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"'{command}' failed:\n{done.stderr.decode()}")
    return done.stdout.decode()


def take_pictures(machine: Machine, names: Sequence[str], width: int, scheme: Scheme, out: Path) -> None:
    """Open each page, and write its picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed.")
    link = json.loads(run_program(machine, "palazzo view --no-browser --json"))["link"]
    origin = link.partition("/open/")[0]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
        page.goto(link)
        page.wait_for_url(f"{origin}/")
        for name in names:
            page.goto(origin + PAGES[name])
            while page.locator("[data-later]").count():  # parts that take long are fetched after the page
                page.wait_for_timeout(200)
            if name == "knowledge":
                page.locator("#graph canvas").wait_for()
                page.wait_for_timeout(5_000)  # the layout comes to rest
            page.screenshot(path=out / f"viewer-{name}.png")
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
