"""A person's machine: a home, a project with a check that fails until it is mended, `palazzo` as it is installed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
from tests.daemon.conftest import User, made_user, wait_until
from tests.end_to_end.model import Model
from tests.test_script import lay_out

EMBEDDED_WITHIN = 240.0
"""Seconds until vectors must be made. The process that makes them has the lowest priority, and others run beside it."""
CHECK = """\
#!/bin/sh
if [ ! -e .ready ]; then
    echo "ModuleNotFoundError: No module named 'frobnicate'" >&2
    exit 1
fi
echo 3 passed
"""
"""Fails until somebody has made `.ready`."""
NOWHERE = {
    **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
}
"""For a host that would ask others than the model that it is given: it finds nobody."""


@dataclass
class Machine:
    """All of it."""

    user: User
    model: Model
    project: Path

    @property
    def variables(self) -> dict[str, str]:
        return self.user.variables

    @property
    def palace(self) -> Path:
        """The palace that is used without being named."""
        return Path(self.palazzo("status")["palace"])

    def palazzo(self, *arguments: str) -> Any:
        """Run a command in the project; its document."""
        command = ["palazzo", *arguments, "--json"]
        done = subprocess.run(
            command, cwd=self.project, env=self.variables, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, (command, done.stderr)
        return json.loads(done.stdout) if done.stdout else None

    def settle(self) -> None:
        """Wait until all that was said has been made use of, as it will have been before the next day's session."""
        wait_until(lambda: self.palazzo("status")["embedder"]["state"] == "ready", EMBEDDED_WITHIN)

    def archived(self, transcript: Path) -> bytes:
        """The transcript as the palace has it; empty where it has none."""
        command = ["palazzo", "show", transcript.stem[-36:], "--raw"]
        done = subprocess.run(
            command, cwd=self.project, env=self.variables, capture_output=True, timeout=120, check=False
        )
        return done.stdout

    @contextmanager
    def locked_palace(self) -> Iterator[Path]:
        """Let another program write to the palace for as long as the `with` lasts; yield the palace's file."""
        palace = self.palace
        connection = apsw.Connection(str(palace))
        connection.set_busy_timeout(30_000)
        connection.execute("BEGIN EXCLUSIVE")
        try:
            yield palace
        finally:
            connection.close()

    def break_again(self) -> None:
        """Let the check fail."""
        (self.project / ".ready").unlink()


def in_time(tell: Callable[[], None], is_whole: Callable[[], bool]) -> None:
    """Do something, and once or twice more where hooks were late.

    A hook answers within its second or adds nothing: what a machine with other things to do went without then, it is
    told another time.
    """
    for _ in range(3):
        tell()
        if is_whole():
            return


@contextmanager
def machine(directory: Path) -> Iterator[Machine]:
    """Make one; afterwards nothing of it runs."""
    people = made_user(directory / "a home")
    user = next(people)
    try:
        script = lay_out(directory / "where it is installed")
        del user.variables["PYTHONPATH"]  # it is to be found as it is by people: by the script's own means
        user.variables["PATH"] = f"{script.parent}:{user.variables['PATH']}"
        project = user.home / "orders"
        project.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=project, env=user.variables, check=True)
        (project / "check").write_text(CHECK)
        (project / "check").chmod(0o755)
        with Model() as model:
            yield Machine(user, model, project)
    finally:
        for _ in people:
            pass
