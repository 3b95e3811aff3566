"""Programs of others that come from npm, kept in a cache so that they are fetched once.

They are fetched at the versions named here. Who has no npm, or reaches no registry, is told so; anything else that goes
wrong is a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.fetching import fetching

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
NODE = "node@22.23.3"
"""For who has none that is new enough: the Inspector wants 22.19, and npm has Node itself."""
OLDEST_NODE = (22, 19)
PATIENCE = 600
CACHE = Path(os.environ.get("PALAZZO_NPM_CACHE") or Path.home() / ".cache" / "palazzo-tests") / "npm"


@dataclass(frozen=True)
class Programs:
    """A directory of packages, and the Node that runs them."""

    modules: Path
    node: str

    def command(self, package: str, script: str, *arguments: str) -> list[str]:
        """The command line of a package's script."""
        return [self.node, str(self.modules / package.rpartition("@")[0] / script), *arguments]


@fetching
def programs() -> Programs:
    """Return the Inspector and the conformance suite, installed; skip the test where npm or its registry is missing."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("NOT RUN: there is no npm, which the Inspector and the conformance suite come from.")
    modules = CACHE / "node_modules"
    wanted = [INSPECTOR, CONFORMANCE]
    if not all((modules / one.rpartition("@")[0] / "package.json").exists() for one in wanted):
        ping = subprocess.run([npm, "ping"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        if ping.returncode:
            pytest.skip(f"NOT RUN: npm reaches no registry: {ping.stderr.strip()[-200:]}")
        _install(npm, "--ignore-scripts", *wanted)
    return Programs(modules, node(npm))


@fetching
def node(npm: str) -> str:
    """Return a Node that is new enough: the one that is there, or one from npm."""
    there = shutil.which("node")
    if there is not None:
        told = subprocess.run([there, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=True)
        version = tuple(map(int, re.findall(r"\d+", told.stdout)[:2]))
        if version >= OLDEST_NODE:
            return there
    own = CACHE / "node_modules" / "node" / "bin" / ("node.exe" if os.name == "nt" else "node")
    if not own.exists():
        _install(npm, NODE)  # its script fetches the build for this platform
    return str(own)


def _install(npm: str, *arguments: str) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / "package.json").touch()
    if not (CACHE / "package.json").read_text():
        (CACHE / "package.json").write_text('{"private": true}\n')
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact", *arguments]
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
