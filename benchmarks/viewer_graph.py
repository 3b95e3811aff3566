"""Measure how smoothly the viewer draws a large graph while it is laid out: frames and drawings a second.

    python benchmarks/viewer_graph.py [--nodes 5000] [--edges 7500] [--seconds 15] [--seed 1] [--json]

It needs Playwright, which is a development dependency, and the machine's Chromium. The page is the viewer's own, of a
palace with one fact; the facts that its script draws are replaced by a random graph, in which some names have many
facts. `frames a second` counts what the browser shows while the worker computes; `drawings a second` counts positions
that the script has drawn. Goal: 30 of each with 5,000 nodes.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.measuring import Row, report
from tests.faces.web.served_viewer import ServedViewer, served_viewer

COUNTERS = """
window.frameTimes = []; window.drawTimes = [];
const follow = (time) => { window.frameTimes.push(time); requestAnimationFrame(follow); };
requestAnimationFrame(follow);
const setTransform = CanvasRenderingContext2D.prototype.setTransform;
CanvasRenderingContext2D.prototype.setTransform = function (...matrix) {
  window.drawTimes.push(performance.now());  // a drawing begins with its scale
  return setTransform.apply(this, matrix);
};
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one graph."""
    parser = argparse.ArgumentParser(description="Measure how smoothly the viewer draws a large graph.")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--edges", type=int, default=7_500)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed.")
    edges = make_edges(options.nodes, options.edges, random.Random(options.seed))
    with tempfile.TemporaryDirectory(prefix="pz") as place, served_viewer(Path(place)) as served:
        served.run("kg_add", subject="gateway", predicate="listens on", object="8443")
        row = measure(served, chromium, edges, options.seconds)
    report("The viewer's graph", [row], options.json, nodes=options.nodes, edges=len(edges))
    return 0


def make_edges(nodes: int, count: int, dice: random.Random) -> list[tuple[str, str, str]]:
    """Return edges that reach every node; later nodes prefer nodes that have many already."""
    ends = [0]
    edges = []
    for node in range(1, nodes):
        edges.append((f"name {node}", "knows", f"name {dice.choice(ends)}"))
        ends += [node, int(edges[-1][2].split()[1])]
    edges += [(f"name {dice.choice(ends)}", "uses", f"name {dice.randrange(nodes)}") for _ in range(count - len(edges))]
    return edges


def measure(served: ServedViewer, chromium: str, edges: list[tuple[str, str, str]], seconds: float) -> Row:
    """Return the frames and the drawings a second from the first drawing on, and how long frames took."""
    body = json.dumps({"edges": edges, "complete": True})
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(served.origin + served.link())
        page.wait_for_url(f"{served.origin}/")
        page.add_init_script(COUNTERS)
        page.route("**/knowledge?part=graph*", lambda route: route.fulfill(body=body, content_type="application/json"))
        page.goto(f"{served.origin}/knowledge")
        page.locator("#graph canvas").wait_for(timeout=120_000)
        while not page.evaluate("window.drawTimes.length"):  # the page's policy forbids Playwright to wait for it
            page.wait_for_timeout(100)
        page.wait_for_timeout(1_000 * seconds)
        times = page.evaluate("({ frames: window.frameTimes, drawings: window.drawTimes })")
        browser.close()
    return rates(times)


def rates(times: dict[str, Any]) -> Row:
    """Return the rates between the first and the last drawing, while the layout moves."""
    drawings = times["drawings"]
    frames = [time for time in times["frames"] if drawings[0] <= time <= drawings[-1]]
    lasted = (drawings[-1] - drawings[0]) / 1_000
    gaps = sorted(later - earlier for earlier, later in pairwise(frames))
    return {
        "layout s": round(lasted, 1),
        "frames a second": round(len(frames) / lasted, 1),
        "drawings a second": round(len(drawings) / lasted, 1),
        "frame ms median": round(statistics.median(gaps), 1),
        "frame ms p95": round(gaps[int(0.95 * len(gaps))], 1),
    }


if __name__ == "__main__":
    sys.exit(main())
