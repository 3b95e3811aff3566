"""The real programs, from npm, kept in a cache so that they are fetched once.

They are fetched at the versions named here, which are those whose behaviour was written down. A test that cannot have
one says so and is skipped; where `PALAZZO_CI` is set, as `.ci/run` does, it fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.330"
CODEX = "@openai/codex@0.169.0"
PATIENCE = 600
CACHE = Path(os.environ.get("PALAZZO_NPM_CACHE") or Path.home() / ".cache" / "palazzo-tests") / "hosts"
"""Some 800 MB: both are whole programs, of which npm takes the one for this platform."""


def claude_code() -> Path:
    """Return Claude Code's own program, without the Node that starts it."""
    return _program(CLAUDE_CODE, "@anthropic-ai/claude-code-*/claude*")


def codex() -> Path:
    """Return Codex's own program."""
    return _program(CODEX, "@openai/codex-*/vendor/*/bin/codex", "@openai/codex-*/vendor/*/bin/codex.exe")


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
    npm = shutil.which("npm")
    if npm is None:
        _not_run(package, "there is no npm")
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (CACHE / "package.json").exists():
        (CACHE / "package.json").write_text('{"private": true}\n')
    # No script of the package is needed: what is run lies in the build for this platform, whatever Node there is.
    quietly = ("--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", "--loglevel=error")
    command = [npm, "install", "--save-exact", *quietly, package]
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode:
        _not_run(package, f"npm could not fetch it: {done.stderr.strip()[-300:]}")


def _not_run(package: str, why: str) -> NoReturn:
    told = f"NOT RUN: nothing was seen in the real {package.rpartition('@')[0]}: {why}."
    if os.environ.get("PALAZZO_CI"):
        pytest.fail(told)
    pytest.skip(told)
