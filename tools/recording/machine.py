"""A throw-away home with a project, the sessions of two agents, and the program of this checkout on its PATH.

The home's path is as long as `/home/you`, which replaces it in all output, so that lines break as they would there.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from benchmarks.coding.sessions import session_id, write_session
from tools.recording.cast import RECORDED_AT

ROOT = Path(__file__).resolve().parents[2]
SHOWN_HOME = "/home/you"
PROJECT = "shop"
_GIT = {
    "GIT_AUTHOR_NAME": "You", "GIT_AUTHOR_EMAIL": "you@example.org", "GIT_AUTHOR_DATE": "2026-11-02T09:00:00Z",
    "GIT_COMMITTER_NAME": "You", "GIT_COMMITTER_EMAIL": "you@example.org", "GIT_COMMITTER_DATE": "2026-11-02T09:00:00Z",
    "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip
"""So that the project's first commit, by which it is known, has the same id in each recording."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The home of an invented person."""

    home: Path

    @property
    def project(self) -> Path:
        """The directory in which commands run."""
        return self.home / PROJECT

    @property
    def environment(self) -> dict[str, str]:
        """All variables of a command; none of the caller's."""
        return {
            "HOME": str(self.home), "PATH": f"{self.home}/.local/bin:/usr/local/bin:/usr/bin:/bin", "TZ": "UTC",
            "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8",
            "PALAZZO_PAGER": "cat", "PYTHONDONTWRITEBYTECODE": "1", **_GIT,
        }  # fmt: skip

    def transcript(self, name: str) -> Path:
        """Return where Claude Code keeps a session of the project."""
        slug = str(self.project).replace("/", "-")
        return self.home / ".claude" / "projects" / slug / f"{session_id(name)}.jsonl"

    def shown(self, text: str) -> str:
        """Return output with the home as it is shown."""
        slug = str(self.home).replace("/", "-")
        return text.replace(str(self.home), SHOWN_HOME).replace(slug, SHOWN_HOME.replace("/", "-"))


@contextmanager
def make_machine(python: str = sys.executable, source: Path = ROOT / "src") -> Iterator[Machine]:
    """Make the home; remove it afterwards."""
    home = Path("/tmp") / secrets.token_hex(2)  # as long as the home that is shown
    home.mkdir(mode=0o700)
    machine = Machine(home)
    try:
        install_program(machine, python, source)
        make_project(machine)
        for session in read_sessions():
            write_session(home / ".claude" / "projects", session | {"cwd": str(machine.project)})
        shutil.copytree(ROOT / "tests/fixtures/codex/0.169.0", home / ".codex/sessions/2026/11/21")
        yield machine
    finally:
        stop = ["/bin/sh", "-c", "palazzo service stop"]
        subprocess.run(stop, env=machine.environment, capture_output=True, check=False)
        shutil.rmtree(home, ignore_errors=True)


def read_sessions() -> list[dict[str, Any]]:
    """Return the sessions of the invented project, oldest first."""
    sessions: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "sessions.yaml").read_text("utf-8"))
    return sessions


def install_program(machine: Machine, python: str, source: Path) -> None:
    """Install the program as `docs/how-to/set-up-a-new-machine.md` does: an environment, and a link to it on PATH."""
    environment = machine.home / ".palazzo-venv"
    subprocess.run([python, "-m", "venv", "--without-pip", str(environment)], check=True)
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    directories = [
        subprocess.check_output([each, "-c", find], text=True).strip() for each in (environment / "bin/python", python)
    ]
    (Path(directories[0]) / "recorded.pth").write_text(f"{source}\n{directories[1]}\n", encoding="utf-8")
    clock, shift = Path(__file__).with_name("clock"), RECORDED_AT - int(time.time())
    words = ["env", f"PYTHONPATH={clock}", f"RECORDING_SHIFT={shift}", f"{environment}/bin/python", "-m", "palazzo"]
    program = environment / "bin" / "palazzo"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    link = machine.home / ".local" / "bin" / "palazzo"
    link.parent.mkdir(parents=True)
    link.symlink_to(program)


def make_project(machine: Machine) -> None:
    """Make the project's directory: a repository with one commit, of which the id is always the same."""
    for name, text in PROJECT_FILES.items():
        path = machine.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (RECORDED_AT - DAYS_OLD * 86_400,) * 2)
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "."],
        ["commit", "--quiet", "-m", "Begin the shop"],
    ):
        subprocess.run(
            ["git", *arguments], cwd=machine.project, env=machine.environment | {"PATH": os.environ["PATH"]}, check=True
        )


DAYS_OLD = 9
"""The age of the project's files."""
PROJECT_FILES = {
    "README.md": "# Shop\n\nTakes orders, and hands payments to the gateway.\n",
    "docs/deploy.md": "# Deploy\n\nRun `make deploy` from main, after the tests have passed. Deploys are frozen on "
    "Fridays, because nobody\nwatches the checkout at the weekend.\n\n## Roll back\n\nTo roll back a deploy, run "
    "`make rollback VERSION=…` with the version before it. It takes two minutes, and loses\nno orders: they wait in "
    "the queue meanwhile.\n",
    "src/gateway.py": "RETRIES = 6\nTIMEOUT = 2.0\n",
}
