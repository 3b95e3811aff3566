"""A machine that hooks run on: a home, a runtime directory, a project, a palace, and the service of that."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from palazzo.client import rpc
from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.features.mining.contract import MineFilesRequest
from palazzo.features.mining.mine import mine
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.operations.context import Context

ROOT = Path(__file__).parents[2]
TRANSCRIPT = ROOT / "tests" / "fixtures" / "claude-code" / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
LOCKER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""
"""A program that holds the lock of the palace it is given until its standard input ends."""
PATIENT = """
import os, sys
sys.path.append({0!r})
from palazzo.client import hook_client
hook_client._START_SECONDS = hook_client._OWN_PROCESS_SECONDS = {1}
hook_client._SPOOL_SECONDS = {1} / 3
os._exit(hook_client.main(sys.argv[1:]))
"""
"""The hook's program, with another limit of seconds."""
_MARK = re.compile(r"\[redacted:[^]]*\]")
"""What stands for a secret is another in every palace."""


class Machine:
    """A home directory, a runtime directory, a project and a palace of its own."""

    def __init__(self, home: Path, runtime: Path) -> None:
        self.home, self.project = home, home / "api"
        self.project.mkdir(parents=True)
        self.transcripts = home / ".claude" / "projects" / "-home-dev-acme"
        self.transcripts.mkdir(parents=True)
        self.variables = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PATH": os.environ["PATH"],
            "PALAZZO_MIN_MESSAGES": "1",
            "TZ": "UTC",
        }

    @property
    def palace(self) -> Path:
        return Path(rpc.chosen_palace(None, self.variables))

    @property
    def where(self) -> rpc.Address:
        return rpc.address(str(self.palace), self.variables)

    def hook(self, event: str, payload: object, seconds: float = 0.0, **variables: str) -> tuple[bytes, int]:
        """Run a hook as the installed script does; return what it prints and its exit code.

        With `seconds`, a hook that waits for a service, or does its work, may take that long: what it answers then
        does not depend on how busy the machine is.
        """
        return self._run_hook(event, payload, seconds, variables)

    def hook_in_deleted_directory(
        self, event: str, payload: object, seconds: float = 0.0, **variables: str
    ) -> tuple[bytes, int]:
        """Run a hook whose current directory is gone."""
        return self._run_hook(event, payload, seconds, variables, self._enter_deleted_directory)

    def _run_hook(
        self,
        event: str,
        payload: object,
        seconds: float,
        variables: Mapping[str, str],
        before: Callable[[], None] | None = None,
    ) -> tuple[bytes, int]:
        sent = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        command = [sys.executable, "-I", "-S", "-E", str(ROOT / "src" / "palazzo" / "__main__.py"), "hook"]
        if seconds:
            command = [sys.executable, "-I", "-S", "-E", "-c", PATIENT.format(str(ROOT / "src"), seconds), "hook"]
        done = subprocess.run(
            [*command, "claude-code", event],
            input=sent,
            capture_output=True,
            cwd=self.project,
            env={**self.variables, **variables},
            timeout=60,
            check=False,
            preexec_fn=before,
        )
        assert done.stderr == b""
        return done.stdout, done.returncode

    def _enter_deleted_directory(self) -> None:
        directory = self.home / f"deleted by {os.getpid()}"
        directory.mkdir()
        os.chdir(directory)
        directory.rmdir()

    def payload(self, **fields: Any) -> dict[str, Any]:
        return {"session_id": "s-1", "cwd": str(self.project), **fields}

    def alone(self) -> Context:
        """Open the palace in this process."""
        return Context(self.palace, self.project, {**self.variables, "PALAZZO_SERVICE": "off"})

    def note(self, text: str) -> None:
        with self.alone() as context:
            remember(context, RememberRequest(text, kind="decision"))

    def start(self) -> None:
        rpc.ensure_service(self.where, os.environ | self.variables, {"want": "state"}).close()

    def pid(self) -> int | None:
        try:
            stream, answer = rpc.greet(self.where, {"want": "state", "any": True})
        except ServiceUnavailable:
            return None
        stream.close()
        return int(answer["pid"])

    def messages(self) -> list[str]:
        from palazzo.store.items import decode_text

        select = "SELECT text, text_codec FROM item WHERE kind = 'message' AND standing = 'said'"
        try:
            with (
                self.alone() as context,
                context.reading().database.snapshot() as connection,
            ):
                rows = list(connection.execute(select))
                return sorted(_MARK.sub("[key]", decode_text(text, codec)) for text, codec in rows)
        except PalazzoError:
            return []  # it is being made


def eventually(what: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def undisturbed(home: Path, runtime: Path, written: bytes) -> list[str]:
    """Return what a palace has of a transcript that is mined in one piece, in a home of its own."""
    calm = Machine(home, runtime)
    (calm.transcripts / TRANSCRIPT.name).write_bytes(written)
    with calm.alone() as context:
        mine(context, MineFilesRequest((calm.transcripts,)))
    messages = calm.messages()
    assert messages
    return messages
