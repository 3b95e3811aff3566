"""The real programs, from npm, kept in a cache so that they are fetched once.

They are fetched at the versions named here, which are those whose behaviour was written down. A test that cannot have
one says so and is skipped; where `PALAZZO_CI` is set, as `.ci/run` does, it fails.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from tests.clients.from_npm import node

CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.330"
CODEX = "@openai/codex@0.169.0"
PI = "@earendil-works/pi-coding-agent"
PI_VERSIONS = ("0.87.1", "0.99.1")
"""Without an MCP client of its own, and with one."""
_PI_OLDER = ("pi-tui", "chord", "pi-telemetry")
"""What 0.99.1 asks for at a version that the registry need not have; it runs with the one before."""
TYPESCRIPT = ("typescript@5.9.3", "@types/node@22.19.0")
OPENCODE = "1.18.33"
PATIENCE = 600
CACHE = Path(os.environ.get("PALAZZO_NPM_CACHE") or Path.home() / ".cache" / "palazzo-tests") / "hosts"
"""Some 800 MB: both are whole programs, of which npm takes the one for this platform."""


def claude_code() -> Path:
    """Return Claude Code's own program, without the Node that starts it."""
    return _program(CLAUDE_CODE, "@anthropic-ai/claude-code-*/claude*")


def codex() -> Path:
    """Return Codex's own program."""
    return _program(CODEX, "@openai/codex-*/vendor/*/bin/codex", "@openai/codex-*/vendor/*/bin/codex.exe")


def pi(version: str) -> tuple[str, ...]:
    """Return the command line that starts pi of that version."""
    return (node_of(PI), str(pi_package(version) / "dist" / "bundle" / "cli.js"))


def pi_package(version: str) -> Path:
    """Return the package of pi of that version, which also says what types its extensions are made of."""
    home = CACHE / f"pi-{version}"
    found = home / "node_modules" / PI
    if not (found / "package.json").exists():
        older = {f"@earendil-works/{name}": "0.87.1" for name in _PI_OLDER}
        wanted = {"private": True, "dependencies": {PI: version}, "overrides": older if version == "0.99.1" else {}}
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text(json.dumps(wanted))
        _npm(f"{PI}@{version}", home)
    return found


def typescript() -> Path:
    """Return the directory of packages in which TypeScript and the types of Node are."""
    home = CACHE / "typescript"
    if not (home / "node_modules" / "typescript" / "package.json").exists():
        wanted = dict(one.rsplit("@", 1) for one in TYPESCRIPT)
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text(json.dumps({"private": True, "dependencies": wanted}))
        _npm(TYPESCRIPT[0], home)
    return home / "node_modules"


def node_of(package: str) -> str:
    """Return a Node that is new enough for all of them."""
    npm = shutil.which("npm")
    return _not_run(package, "there is no npm") if npm is None else node(npm)


def opencode() -> Path:
    """Return opencode's own program; npm has it by the name of the platform."""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    chip = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    name = f"opencode-{system}-{chip}"
    return _program(f"{name}@{OPENCODE}", f"{name}/bin/opencode", f"{name}/bin/opencode.exe")


def _program(package: str, *patterns: str) -> Path:
    name, _, version = package.rpartition("@")
    manifest = CACHE / "node_modules" / name / "package.json"
    if not manifest.exists() or f'"{version}"' not in manifest.read_text():
        _fetch(package)
    found = [one for pattern in patterns for one in (CACHE / "node_modules").glob(pattern) if os.access(one, os.X_OK)]
    if not found:
        _not_run(package, "npm has no build of it for this platform")
    return found[0]


def _fetch(package: str) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (CACHE / "package.json").exists():
        (CACHE / "package.json").write_text('{"private": true}\n')
    _npm(package, CACHE, package)


def _npm(package: str, home: Path, *what: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        _not_run(package, "there is no npm")
    # No script of a package is needed: what is run lies in the build for this platform, whatever Node there is.
    quietly = ("--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", "--loglevel=error")
    command = [npm, "install", "--save-exact", *quietly, *what]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode:
        _not_run(package, f"npm could not fetch it: {done.stderr.strip()[-300:]}")


def _not_run(package: str, why: str) -> NoReturn:
    told = f"NOT RUN: nothing was seen in the real {package.rpartition('@')[0]}: {why}."
    if os.environ.get("PALAZZO_CI"):
        pytest.fail(told)
    pytest.skip(told)
