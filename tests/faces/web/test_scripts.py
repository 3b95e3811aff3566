"""The viewer's scripts as modules, without a page: what they compute."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tools import make_viewer

CHECKS = Path(__file__).with_name("script_checks.ts")


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("npm") is None or shutil.which("node") is None,
    reason="NOT RUN: Node.js and npm, which brings esbuild, are not installed.",
)
def test_scripts_compute_what_they_say(tmp_path: Path) -> None:
    programs = make_viewer.installed_programs()
    bundle = tmp_path / "checks.mjs"
    subprocess.run(
        [
            *(programs / ".bin" / "esbuild", CHECKS, "--bundle", "--platform=node", "--format=esm"),
            *("--banner:js=globalThis.window ??= {};", "--log-level=warning", f"--outfile={bundle}"),
        ],
        check=True,
    )
    done = subprocess.run(["node", bundle], capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == CHECKS.read_text("utf-8").count('"() {')
