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
from tests.fetching import fetching

CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.330"
CODEX = "@openai/codex@0.169.0"
PI = "@earendil-works/pi-coding-agent"
PI_VERSIONS = ("0.87.1", "0.99.1")
"""Without an MCP client of its own, and with one."""
_PI_OLDER = ("pi-tui", "chord", "pi-telemetry")
"""What 0.99.1 asks for at a version that the registry need not have; it runs with the one before."""
TYPESCRIPT = ("typescript@5.9.3", "@types/node@22.19.0")
OPENCODE = "1.18.33"
GEMINI_CLI = "@google/gemini-cli@0.61.0"
COPILOT = "@github/copilot@1.0.102"
QWEN_CODE = "@qwen-code/qwen-code@0.24.4"
DROID = "0.215.0"
KILO_CODE = "7.7.9"
CONTINUE = "@continuedev/cli@1.5.47"
CLINE = "3.0.65"
IDENTITY_PROVIDER = "oidc-provider@9.13.3"
"""The certified implementation of OpenID Connect for Node."""
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


@fetching
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


@fetching
def typescript() -> Path:
    """Return the directory of packages in which TypeScript and the types of Node are."""
    home = CACHE / "typescript"
    if not (home / "node_modules" / "typescript" / "package.json").exists():
        wanted = dict(one.rsplit("@", 1) for one in TYPESCRIPT)
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text(json.dumps({"private": True, "dependencies": wanted}))
        _npm(TYPESCRIPT[0], home)
    return home / "node_modules"


@fetching
def identity_provider() -> tuple[str, Path]:
    """Return a Node, and the module of an identity provider."""
    name, _, version = IDENTITY_PROVIDER.partition("@")
    home = CACHE / name
    manifest = home / "node_modules" / name / "package.json"
    if not manifest.exists() or f'"{version}"' not in manifest.read_text():
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text(json.dumps({"private": True, "dependencies": {name: version}}))
        _npm(IDENTITY_PROVIDER, home)
    return node_of(IDENTITY_PROVIDER), manifest.parent / "lib" / "index.js"


def node_of(package: str) -> str:
    """Return a Node that is new enough for all of them."""
    npm = shutil.which("npm")
    return _not_run(package, "there is no npm") if npm is None else node(npm)


def opencode() -> Path:
    """Return opencode's own program; npm has it by the name of the platform."""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    name = f"opencode-{system}-{_chip()}"
    return _program(f"{name}@{OPENCODE}", f"{name}/bin/opencode", f"{name}/bin/opencode.exe")


def droid() -> tuple[str, ...]:
    """Return the command line that starts Droid for one prompt; npm has it by the name of the platform."""
    system = sys.platform if sys.platform in ("darwin", "win32") else "linux"
    name = f"@factory/cli-{system}-{_chip()}"
    return (str(_program(f"{name}@{DROID}", f"{name}/bin/droid", f"{name}/bin/droid.exe")), "exec")


def kilo_code() -> tuple[str, ...]:
    """Return the command line that starts Kilo Code for one prompt; npm has it by the name of the platform."""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    name = f"@kilocode/cli-{system}-{_chip()}"
    return (str(_program(f"{name}@{KILO_CODE}", f"{name}/bin/kilo", f"{name}/bin/kilo.exe")), "run")


def cline() -> tuple[str, ...]:
    """Return the command line that starts Cline's program; npm has it by the name of the platform."""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    name = f"@cline/cli-{system}-{_chip()}"
    return (str(_program(f"{name}@{CLINE}", f"{name}/bin/cline", f"{name}/bin/cline.exe")),)


def _chip() -> str:
    return "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"


def gemini_cli() -> tuple[str, ...]:
    """Return the command line that starts Gemini CLI."""
    return (node_of(GEMINI_CLI), str(_program(GEMINI_CLI, "@google/gemini-cli/bundle/gemini.js")))


def copilot() -> tuple[str, ...]:
    """Return the command line that starts Copilot CLI's own program.

    It unpacks 235 MB below `COPILOT_PKG_CACHE_HOME` when it is started for the first time; here that is done once.
    """
    program = str(_program(COPILOT, "@github/copilot-*/copilot", "@github/copilot-*/copilot.exe"))
    if not any(COPILOT_PARTS.rglob("app.js")):
        _unpack(program)
    return (program,)


@fetching
def _unpack(program: str) -> None:
    variables = {**os.environ, "COPILOT_PKG_CACHE_HOME": str(COPILOT_PARTS), "COPILOT_SEA_EXTRACT_ONLY": "1"}
    subprocess.run([program, "--version"], env=variables, capture_output=True, timeout=PATIENCE, check=True)


def qwen_code() -> tuple[str, ...]:
    """Return the command line that starts Qwen Code."""
    return (node_of(QWEN_CODE), str(_program(QWEN_CODE, "@qwen-code/qwen-code/cli.js")))


def continue_dev() -> tuple[str, ...]:
    """Return the command line that starts Continue's program."""
    return (node_of(CONTINUE), str(_program(CONTINUE, "@continuedev/cli/dist/cn.js")))


def aider() -> tuple[str, ...]:
    """Return the command line that starts the aider that a variable names: with what it needs, it has 560 MB."""
    program = os.environ.get("PALAZZO_AIDER")
    if not program:
        pytest.skip("NOT RUN: nothing was seen in the real aider: PALAZZO_AIDER names no program of version 0.86.")
    return (program,)


COPILOT_PARTS = CACHE / "copilot-parts"
"""What Copilot CLI's program unpacks."""


@fetching
def _program(package: str, *patterns: str) -> Path:
    name, _, version = package.rpartition("@")
    manifest = CACHE / "node_modules" / name / "package.json"
    if not manifest.exists() or f'"{version}"' not in manifest.read_text():
        _fetch(package)
    found = [one for pattern in patterns for one in (CACHE / "node_modules").glob(pattern) if _can_start(one)]
    if not found:
        _not_run(package, "npm has no build of it for this platform")
    return found[0]


def _can_start(program: Path) -> bool:
    """Whether it is a program, or a script for Node."""
    return program.suffix == ".js" or os.access(program, os.X_OK)


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
